"""Which versions of Spark are served, and that of others nothing is read."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from tests.support.pages import ROOT

import presieve
from presieve.backend.classic.version_differences import ADAPTERS
from presieve.backend.versions import CONF, VERSIONS, Version, version_of
from presieve.errors import Declined
from presieve.lift.evaluation_types import EVALUATION_TYPES, SCALAR
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Session:
    """A session that has a configuration and says which Spark it is."""

    def __init__(self, version: str, conf: dict[str, str] | None = None) -> None:
        self.version = version
        known = conf or {}
        self.conf = SimpleNamespace(get=lambda key, default: known.get(key, default))


class ConnectSession(Session):
    """The same on Spark Connect."""

    __module__ = "pyspark.sql.connect.session"


def answer(session: Session, client: str, patch: pytest.MonkeyPatch) -> Version | Declined:
    patch.setattr(pyspark, "__version__", client)
    return version_of(session)


@pytest.mark.parametrize("number", ["3.5.9", "3.5.6-amzn-1", "4.0.5", "4.1.4", "4.2.1", "4.3.0"])
def test_a_version_is_known_by_major_and_minor(
    number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(Session(number), number, monkeypatch) is VERSIONS[number[:3]]


@pytest.mark.parametrize("number", ["3.4.4", "2.4.8", "4.4.0", "4.30.1", "5.0.0", "trunk"])
def test_others_are_declined(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answer(Session(number), number, monkeypatch)
    assert isinstance(found, Declined)
    assert found.code == "spark-version"
    assert found.reason.startswith(f"this is Spark {number[:3] if number != 'trunk' else number}")


def test_client_and_server_of_different_versions_are_declined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = answer(Session("4.3.0"), "4.2.1", monkeypatch)
    assert isinstance(found, Declined)
    assert found.reason == "this is PySpark 4.2 with Spark 4.3"


@pytest.mark.parametrize("name", VERSIONS)
def test_on_connect_the_versions_that_are_known_there(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer(ConnectSession(name + ".0"), name + ".0", monkeypatch)
    assert isinstance(found, Declined) == (not VERSIONS[name].connect)


def test_the_configuration_says_what_a_version_is_taken_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = answer(Session("4.4.0", {CONF: "4.3"}), "4.4.0", monkeypatch)
    assert found is VERSIONS["4.3"]
    found = answer(Session("4.3.0", {CONF: "4.4"}), "4.3.0", monkeypatch)
    assert isinstance(found, Declined)
    assert found.reason.startswith(f"{CONF} is '4.4', not one of 3.5, ")


def test_each_version_has_an_adapter() -> None:
    assert list(ADAPTERS) == list(VERSIONS)
    derived = [type(a).__mro__.index(type(ADAPTERS["4.3"])) for a in ADAPTERS.values()]
    assert derived == sorted(derived, reverse=True)


def test_unread_evaluation_types_are_such_as_others_read() -> None:
    for version in VERSIONS.values():
        assert version.unread <= EVALUATION_TYPES.keys()
        assert version.reads(SCALAR) == SCALAR - version.unread
    assert not VERSIONS["4.3"].unread


@pytest.fixture
def filtered(spark: SparkSession, tables: Any) -> Iterator[DataFrame]:
    yield tables.plain.groupBy("team").agg({"v": "max"}).filter("`max(v)` > 10")
    spark.conf.unset(CONF)


def test_this_version_is_served(spark: SparkSession, filtered: DataFrame) -> None:
    assert spark.version.startswith(version_of(spark).name)  # type: ignore[union-attr]
    assert presieve.optimize(filtered, cost="always") is not filtered


def test_nothing_is_read_of_an_unknown_version(spark: SparkSession, filtered: DataFrame) -> None:
    rows = sorted(map(str, filtered.collect()))
    spark.conf.set(CONF, "4.4")
    assert presieve.optimize(filtered, cost="always") is filtered
    report = presieve.explain(filtered, cost="always")
    assert not report.boundaries
    assert "[spark-version] spark.presieve.version is '4.4'" in str(report)
    with presieve.enabled(spark, cost="always"):
        assert sorted(map(str, filtered.collect())) == rows


# --- the recipe for a version ---------------------------------------------------------------------


def test_a_planted_version_is_served(
    spark: SparkSession, filtered: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It differs from the one that runs in nothing: a row, and the adapter of the one before."""
    running = version_of(spark)
    assert isinstance(running, Version)
    spark.conf.set(CONF, "4.4")
    assert presieve.optimize(filtered, cost="always") is filtered
    monkeypatch.setitem(VERSIONS, "4.4", replace(running, name="4.4"))
    monkeypatch.setitem(ADAPTERS, "4.4", ADAPTERS[running.name])
    better = presieve.optimize(filtered, cost="always")
    assert better is not filtered
    assert sorted(map(str, better.collect())) == sorted(map(str, filtered.collect()))


def test_each_version_has_an_environment() -> None:
    """In which ``make versions`` runs the tests; that of the newest is the project's own."""
    spec = spec_from_file_location("versions_script", ROOT / "scripts" / "versions.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    *older, newest = VERSIONS
    assert list(script.PACKAGES) == older
    assert f'"pyspark[connect]>={newest},<' in (ROOT / "pyproject.toml").read_text("utf-8")
