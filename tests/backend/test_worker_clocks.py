"""Functions of timestamps where the clocks of the workers are known, and where they are not."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from tests.backend.worker_clock_functions import CASES, hour
from tests.support.running import same_rows
from tests.support.spark_version import is_before

from presieve.backend.classic import session_configuration
from presieve.backend.classic.session_configuration import workers_show_utc
from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("a client of Spark Connect does not see where the workers run"),
]


ROOT = Path(__file__).parents[2]
CODE = (ROOT / "src", ROOT)


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """An entry of the configuration, for a while."""
    before = spark.conf.get(key)
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.set(key, before or "")


@pytest.fixture(params=["true", "false"], ids=["arrow", "pickled"])
def times(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[DataFrame]:
    """Around changes of clocks, before 1970, at the ends of a day and of Python's years, NULL."""
    if request.param == "true" and is_before("4.1"):
        pytest.skip("scalar UDFs with Arrow are declined: values go through pandas")
    near = [
        dt.datetime(2024, 3, 10, 7, tzinfo=dt.UTC),
        dt.datetime(1969, 12, 31, 23, tzinfo=dt.UTC),
    ]
    steps = [
        dt.timedelta(hours=h, microseconds=u) for h in (-30, -5, -1, 0, 1, 22) for u in (-1, 0, 1)
    ]
    ends = [dt.datetime(1, 1, 2, tzinfo=dt.UTC), dt.datetime(9999, 12, 30, 22, tzinfo=dt.UTC)]
    values = [*(n + s for n in near for s in steps), *ends, None]
    table = pa.table({"t": pa.array(values, pa.timestamp("us", "UTC")), "n": range(len(values))})
    pq.write_table(table, tmp_path / "times.parquet", row_group_size=4)
    with setting(spark, "spark.sql.execution.pythonUDF.arrow.enabled", request.param):
        yield spark.read.parquet(str(tmp_path / "times.parquet"))


@pytest.fixture(params=["UTC", "America/New_York", "+05:30"])
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    with setting(spark, "spark.sql.session.timeZone", str(request.param)):
        yield str(request.param)


utc_here = pytest.mark.skipif(
    not (os.path.islink("/etc/localtime") and os.path.realpath("/etc/localtime").endswith("UTC")),
    reason="the machine's clock shows another time",
)


@utc_here
@pytest.mark.parametrize("name", CASES)
def test_what_a_clock_shows_is_known(times: DataFrame, zone: str, name: str) -> None:
    function, returns, where = CASES[name]
    df = times.select("n", F.udf(function, returns)("t").alias("r")).where(where)
    same_rows(df, optimize(df, cost="always", compile="never"))
    same_rows(df, optimize(df, cost="always", compile="always"))
    report = explain(df, cost="always", compile="always")
    if zone == "UTC":
        assert all(f.compiled is not None for f in report.functions), str(report)
        assert report.boundaries[0].prefilter != "true"


@utc_here
def test_a_filter_that_takes_the_clock_for_another_loses_rows(times: DataFrame, zone: str) -> None:
    df = times.select("n", F.udf(hour, "int")("t").alias("r")).where("r = 2")
    below = (
        times.where("hour(t) = 2").select("n", F.udf(hour, "int")("t").alias("r")).where("r = 2")
    )
    assert (sorted(df.collect()) == sorted(below.collect())) == (zone == "UTC")


def test_whose_clock_is_known(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def shows_utc(master: str, variable: str | None, **environment: str) -> bool:
        context = SimpleNamespace(master=master, environment=environment)
        system = SimpleNamespace(getenv=lambda _: variable)
        monkeypatch.setattr(session_configuration, "java_class", lambda *_: system)
        session: Any = SimpleNamespace(sparkContext=context)
        return workers_show_utc(session, spark._jvm)

    assert shows_utc("local[2]", "UTC")
    assert shows_utc("local", "Etc/UTC")
    assert not shows_utc("local[2]", "America/New_York")
    assert not shows_utc("local[2]", "UTC+3")
    assert not shows_utc("local[2]", "UTC", TZ="UTC")
    assert not shows_utc("local-cluster[1,1,1024]", "UTC")
    assert not shows_utc("spark://host:7077", "UTC")
    assert not shows_utc("yarn", "UTC")


@pytest.mark.parametrize("variable", ["America/New_York", "UTC"])
def test_a_process_with_another_clock_knows_less(tmp_path: Path, variable: str) -> None:
    """In a process of its own, whose JVM and workers have its environment."""
    job = tmp_path / "job.py"
    job.write_text(
        """
import sys
from pyspark.sql import SparkSession, functions as F
import presieve
from tests.backend.worker_clock_functions import hour

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
path = sys.argv[1] + "/times"
spark.range(100).selectExpr("id", "timestamp_seconds(id * 3600) AS t").write.parquet(path)
df = spark.read.parquet(path).select("id", F.udf(hour, "int")("t").alias("r")).where("r = 2")
better = presieve.optimize(df, cost="always")
assert sorted(df.collect()) == sorted(better.collect())
print("compiled", sum(f.compiled is not None for f in presieve.explain(df).functions))
"""
    )
    done = subprocess.run(
        [sys.executable, str(job), str(tmp_path)],
        env={**os.environ, "TZ": variable, "PYTHONPATH": os.pathsep.join(map(str, CODE))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"compiled {int(variable == 'UTC')}" in done.stdout, done.stderr[-2000:]
