"""What the lifting says of values on their way into and out of Python, asked of Spark itself."""

from __future__ import annotations

import datetime as dt
import importlib
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TYPES = {
    "s": ("string", "'x'", "str:x"),
    "b": ("boolean", "true", "bool:True"),
    "i8": ("tinyint", "1", "int:1"),
    "i16": ("smallint", "2", "int:2"),
    "i32": ("int", "3", "int:3"),
    "i64": ("bigint", "9007199254740993", "int:9007199254740993"),
    "d": ("double", "1.5", "float:1.5"),
    "de": ("decimal(10,2)", "1.5", "Decimal:1.50"),
    "dw": ("decimal(38,10)", "-1E-10BD", "Decimal:-1E-10"),
    "dt": ("date", "'2020-02-29'", "date:2020-02-29"),
    "ts": (
        "timestamp",
        "'2020-01-01 00:00:00.123456'",
        "Timestamp:2020-01-01 00:00:00.123456",
    ),
    "bin": ("binary", "X'00ff'", r"bytes:b'\x00\xff'"),
    "tn": (
        "timestamp_ntz",
        "'2020-03-29 02:30:00.123456'",
        "Timestamp:2020-03-29 02:30:00.123456",
    ),
}
NULLS = {
    "s": "None",
    "de": "None",
    "dw": "None",
    "b": "None",
    "dt": "None",
    "ts": "NaT",
    "tn": "NaT",
    "bin": "None",
}
ROUNDED = {"i8": "1.0", "i16": "2.0", "i32": "3.0", "i64": "9007199254740992.0"}


def _table(spark: SparkSession, nulls: bool) -> DataFrame:
    def select(null: bool) -> str:
        cells = (f"CAST({'NULL' if null else v} AS {t}) AS {n}" for n, (t, v, _) in TYPES.items())
        return f"SELECT 'k' AS k, 7 AS j, {', '.join(cells)}"

    query = select(False) + (" UNION ALL " + select(True) if nulls else "")
    return spark.sql(query)


def _look(key: Any, pdf: Any) -> Any:
    """What each way of iterating gives, as text."""

    def show(value: Any) -> str:
        return f"{type(value).__name__}:{value}"

    names = list(pdf.columns)[2:]
    rows = pdf.itertuples(index=False)
    tuples = [f"{n}={show(getattr(r, n))}" for r in rows for n in names]
    series = [f"{n}={show(v)}" for n in names for v in pdf[n]]
    labels = [f"{n}={show(r[n])}" for _, r in pdf.iterrows() for n in names]
    keys = [show(k) for k in key]
    return pd.DataFrame({"seen": [";".join(x) for x in (tuples, series, labels, keys)]})


def _seen(table: DataFrame) -> list[set[str]]:
    found = table.groupBy("k", "j").applyInPandas(_look, "seen string").collect()
    return [set(r.seen.split(";")) for r in found]


def test_values_without_null_are_pythons_own(spark: SparkSession) -> None:
    tuples, series, labels, keys = _seen(_table(spark, nulls=False))
    wanted = {f"{n}={v}" for n, (_, _, v) in TYPES.items()}
    assert tuples == series == labels == wanted
    assert keys == {"str:k", "int32:7"}  # a key is taken out of a Series: a numpy scalar


def test_null_is_none_or_nan_or_nat(spark: SparkSession) -> None:
    tuples, series, labels, _ = _seen(_table(spark, nulls=True))
    wanted = set()
    for name, (_, _, value) in TYPES.items():
        wanted.add(f"{name}=float:{ROUNDED[name]}" if name in ROUNDED else f"{name}={value}")
        null = NULLS.get(name, "nan")
        kind = {"None": "NoneType", "NaT": "NaTType", "nan": "float"}[null]
        wanted.add(f"{name}={kind}:{null}")
    assert tuples == series == labels == wanted


@pytest.mark.parametrize(
    ("value", "kind", "stored"),
    [
        (None, "double", None),
        (float("nan"), "double", None),
        (-0.0, "double", -0.0),
        (0, "double", 0.0),
        (None, "bigint", None),
        (2**40 + 5, "int", 5),  # wraps around, which is why it is assumed to fit
        (300, "tinyint", 44),
        (2**63, "bigint", -(2**63)),
        (True, "boolean", True),
        ("", "string", ""),
        (b"\x00\xff", "binary", b"\x00\xff"),
        (b"", "binary", b""),
        (dt.date(1, 1, 1), "date", dt.date(1, 1, 1)),
        (
            pd.Timestamp("2020-01-01 00:00:00.123456"),
            "timestamp",
            dt.datetime(2020, 1, 1, 0, 0, 0, 123456),
        ),
    ],
)
def test_results(spark: SparkSession, value: object, kind: str, stored: object) -> None:
    def returned(v: pd.Series) -> float:
        return value  # type: ignore[return-value]

    returned.__annotations__ = {"v": pd.Series, "return": float}
    spark.conf.set("spark.sql.execution.pandas.convertToArrowArraySafely", "false")
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    udf = pandas_udf(returned, kind)
    found = spark.range(1).agg(udf("id").alias("o")).select("o").collect()[0].o
    if isinstance(stored, dt.datetime):
        found = found.astimezone(dt.UTC).replace(tzinfo=None)
    assert (type(found), str(found)) == (type(stored), str(stored))


def test_times_without_zone_are_of_no_zone(spark: SparkSession) -> None:
    """Not even where the session's clocks skip an hour, in which these would be."""
    skipped = dt.datetime(2020, 3, 29, 2, 30, 0, 123456)

    def latest(n: pd.Series) -> Any:
        best = None
        for t in n:
            if t == skipped and type(t) is pd.Timestamp and t.tzinfo is None:
                best = t
        return best

    latest.__annotations__ = {"n": pd.Series, "return": float}
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    table = spark.sql(f"SELECT TIMESTAMP_NTZ '{skipped}' AS n")
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        found = table.agg(pandas_udf(latest, "timestamp_ntz")("n").alias("o")).collect()[0].o
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    assert found == skipped
