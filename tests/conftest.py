"""Fixtures and order of the whole run: one Spark session, started as late as possible."""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.support.amount import be_thorough, left_to_make_slow, of_several_cases
from tests.support.reading_more import why_reading_more
from tests.support.running import compare_compiled
from tests.support.scans import compare_scans
from tests.support.since import why_left_out
from tests.support.spark_version import WITHOUT_REBASING, is_before
from tests.support.statements import compare_statements, remember_reports

# How long an example takes says more of the machine than of the test.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# What somebody's last run left behind must not answer for a search that is broken today.
os.environ["PRESIEVE_CACHE"] = "off"

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def scans_are_compared(request: pytest.FixtureRequest) -> None:
    """No pipeline reads more once it is optimized, except in the tests that are listed."""
    compare_scans(why_reading_more(request.node.nodeid) is None)


@pytest.fixture(autouse=True)
def reports_are_remembered() -> Iterator[None]:
    """What is reported of each pipeline is compared with its plans when its rows are compared."""
    with pytest.MonkeyPatch.context() as patch:  # tests undo their own patches earlier
        remember_reports(patch)
        yield


@pytest.fixture(autouse=True)
def nothing_is_recalled() -> Iterator[None]:
    """A test that switches the cache on switches it off again, for those that come after it."""
    yield
    assert os.environ["PRESIEVE_CACHE"] == "off"


class _Bugs(logging.Handler):
    """Collects what is said of passes that fail or are taken back, of searches that fail, and of
    proofs that are not well-formed, which none of our own should be.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message.startswith(("[check]", "[internal]")):
            self.messages.append(message)


@pytest.fixture(autouse=True)
def nothing_is_taken_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """The check of what comes out objects to nothing, nor does the checker to a proof's form; but
    for tests that plant a bug.
    """
    recorder = _Bugs()
    logger = logging.getLogger("presieve")
    logger.addHandler(recorder)
    yield
    logger.removeHandler(recorder)
    assert not recorder.messages or request.node.get_closest_marker("planted") is not None


def pytest_addoption(parser: pytest.Parser) -> None:
    """One process has sessions of one kind only."""
    parser.addoption(
        "--connect", action="store_true", help="run on Spark Connect instead of a classic session"
    )
    parser.addoption(
        "--thorough", action="store_true", help="draw four times as much in tests that draw"
    )
    parser.addoption(
        "--part", action="store_true", help="run one in six cases of tests that take long"
    )
    parser.addoption(
        "--compiled", action="store_true", help="compare all rows with those of compiled functions"
    )
    parser.addoption("--statements", action="store_true", help="compare all reports with the plans")
    parser.addoption(
        "--stop-after", type=float, help="begin no test after so many seconds; no failure by itself"
    )
    parser.addoption(
        "--record", help="add outcomes to this file, and leave out what has passed by it"
    )


def pytest_configure(config: pytest.Config) -> None:
    """``classic`` marks what there is in classic sessions only; it gives the reason."""
    config.addinivalue_line("markers", "classic(reason): not on Spark Connect")
    config.addinivalue_line("markers", "planted(bug): a bug is planted, and told of")
    be_thorough(config.getoption("--thorough"))
    compare_compiled(config.getoption("--compiled"))
    compare_statements(config.getoption("--statements"))
    record = config.getoption("--record")
    if record is not None:
        writes = not hasattr(config, "workerinput")
        config.pluginmanager.register(Record(Path(record), writes=writes), "record")


class Record:
    """The outcomes of tests in a file, so that a run that was ended goes on. Workers read it, and
    the process that started them writes it.
    """

    def __init__(self, path: Path, *, writes: bool) -> None:
        self.path, self.writes = path, writes
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.outcomes = dict(json.loads(line) for line in lines)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what has not failed."""
        left = [i for i in items if self.outcomes.get(i.nodeid) not in ("passed", "skipped")]
        kept = set(left)
        config.hook.pytest_deselected(items=[i for i in items if i not in kept])
        items[:] = left

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Nothing is left to run: that is no failure."""
        if self.outcomes and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that has ended, or whose preparation ended it."""
        if self.writes and (report.when == "call" or report.outcome != "passed"):
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([report.nodeid, report.outcome]) + "\n")


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[_STARTED] = time.monotonic()


_STARTED = pytest.StashKey[float]()


def pytest_runtest_protocol(item: pytest.Item) -> None:
    """With ``--stop-after``, the test that has begun by then is the last."""
    seconds = item.config.getoption("--stop-after")
    if seconds is not None and time.monotonic() - item.config.stash[_STARTED] > seconds:
        item.session.shouldstop = f"stopped after {seconds:.0f} seconds"


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run that was stopped in time has failed only if a test has."""
    stopped = str(session.shouldstop).startswith("stopped after")
    if stopped and exitstatus == pytest.ExitCode.INTERRUPTED:
        failed = session.testsfailed > 0
        session.exitstatus = pytest.ExitCode.TESTS_FAILED if failed else pytest.ExitCode.OK


@pytest.fixture
def only_connect(connect: bool) -> None:
    """For tests of what there is on Spark Connect only."""
    if not connect:
        pytest.skip("Spark Connect only")


# A test's queries are short: what the JVM's second compiler and parallel collector cost, they never
# earn. Without room for all code of a run the JVM throws some away and compiles it again. The
# archive is that of the Makefile; a JVM that it does not fit starts without. Jobs in processes of
# their own inherit this.
ARCHIVE = Path(sys.prefix) / "spark.jsa"
JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -Xms1g -Xmn600m"
if ARCHIVE.exists():
    JVM += f" -XX:SharedArchiveFile={ARCHIVE} -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
os.environ.setdefault("SPARK_SUBMIT_OPTS", JVM)


@pytest.fixture(scope="session")
def connect(request: pytest.FixtureRequest) -> bool:
    """Whether the tests run on Spark Connect."""
    return bool(request.config.getoption("--connect"))


@pytest.fixture(scope="session")
def spark(connect: bool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session of a test run. A test that changes a conf puts it back.

    Functions stay in Python, so that tests see what filters become; those about compiling ask for
    it, and with ``--compiled`` the rows of every pipeline are compared with it, too.
    """
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # A remote "local[2]" is a server that PySpark starts for this process.
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if connect else builder.master("local[2]")
    with pytest.MonkeyPatch.context() as patch:
        # The JVM starts the daemon of the workers, wherever this process was started.
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
        session = (
            builder.appName("presieve-tests")
            .config("spark.ui.enabled", "false")
            .config("spark.python.daemon.module", "tests.support.spark_daemon")
            .config("spark.driver.memory", "2g")
            .config("spark.sql.codegen.cache.maxEntries", "2000")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.presieve.compile", "never")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
    if is_before("4.0"):
        for name, value in WITHOUT_REBASING.items():
            session.conf.set(name, value)
    if connect:
        # Workers of a server do not stand where its client does, and find neither package.
        import benchmarks
        import tests
        from pyspark import cloudpickle

        for package in (benchmarks, tests):
            cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]
    else:
        session.sparkContext.setLogLevel("ERROR")
    _sessions.append(session)
    yield session
    session.stop()


_sessions: list[SparkSession] = []


@pytest.fixture(autouse=True, scope="module")
def nothing_stays_cached() -> Iterator[None]:
    """What a module has cached is no matter of those that come after it."""
    yield
    for session in _sessions:
        session.catalog.clearCache()


def pytest_collection_finish() -> None:
    """All modules and tests are there by now and stay: the collector need not look at them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that need Spark come last, and carry the marker, so that others fail fast."""
    if config.getoption("--connect"):
        for item in items:
            classic = item.get_closest_marker("classic")
            if classic is not None:
                item.add_marker(pytest.mark.skip(reason=f"classic only: {classic.args[0]}"))
    for item in items:
        why = why_left_out(item.nodeid)
        if why is not None:
            item.add_marker(pytest.mark.skip(reason=why))
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    second = [item for item in items if item.get_closest_marker("second")]
    several = list(of_several_cases(items))
    for item in chain(second, *several):
        item.add_marker(pytest.mark.random)
    if config.getoption("--part"):
        left_out = [*second, *chain.from_iterable(map(left_to_make_slow, several))]
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    items.sort(key=lambda item: item.get_closest_marker("spark") is not None)
