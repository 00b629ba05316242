"""Columns with the worst values that files hold, in every way in which functions are sent them.

A value either comes to Python as Spark has it, or the job raises, and then the report says that an
error may be gone. Where neither is so, nothing is moved.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from tests.support.amount import some
from tests.support.running import is_connect, plan_text, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOT_UTF8 = ("61E9", "E9", "FF", "C0AF", "EDA080", "EDA0BDEDB880", "F4908080", "80")
"""Latin-1, bytes that never stand in UTF-8, an overlong slash, surrogates, beyond U+10FFFF."""


@pytest.fixture(scope="module")
def texts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Groups 1 and 2 have texts that are none, 3 and 4 odd ones that are, 5 plain ones."""
    rows = [f"({1 + n % 2}, CAST(unhex('{h}') AS STRING))" for n, h in enumerate(NOT_UTF8)]
    rows += [f"({3 + n % 2}, CAST(unhex('{h}') AS STRING))" for n, h in enumerate(VALID)]
    rows += ["(5, 'abc')", "(5, 'é')", "(5, 'z')", "(5, NULL)", "(5, '')", "(1, 'abc')"]
    path = str(tmp_path_factory.mktemp("texts") / "t")
    query = f"SELECT CAST(g AS BIGINT) AS g, s FROM VALUES {', '.join(rows)} AS t(g, s)"
    spark.sql(query).repartition(1).write.parquet(path)
    return spark.read.parquet(path)


VALID = ("00", "EFBFBD", "EFBFBE", "F48FBFBF", "C3A9", "65CC81")
"""U+0000, U+FFFD and U+FFFE themselves, the last character there is, é in one and in two."""


def functions() -> Any:
    return importlib.import_module("pyspark.sql.functions")


def after(s: str | None) -> bool:
    return s is not None and s > "é"


def not_after(s: str | None) -> bool:
    return s is None or s <= "é"


def is_abc(s: str | None) -> bool:
    return s == "abc"


def is_not_abc(s: str | None) -> bool:
    return s != "abc"


def is_replacement(s: str | None) -> bool:
    return s == "\N{REPLACEMENT CHARACTER}"


def one_of(s: str | None) -> bool:
    return s in ("abc", "z", "é")


def itself(s: str | None) -> str | None:
    return s


def called(df: DataFrame, function: Callable[..., Any], type_: str, *, arrow: bool) -> DataFrame:
    call = functions().udf(function, type_, useArrow=arrow)
    return df.withColumn("r", call("s")).select("g", "r", functions().hex("s").alias("bytes"))


SAME = [
    (is_abc, "boolean", "r", True),
    (is_not_abc, "boolean", "r", True),
    (one_of, "boolean", "NOT r", True),
    (itself, "string", "r = 'abc'", True),
    (itself, "string", "r IS NULL OR r <> 'abc'", True),
    (itself, "string", "r IN ('abc', 'z')", True),
    (itself, "string", "r IS NOT NULL", True),
    (after, "boolean", "r", False),
    (not_after, "boolean", "r", False),
    (is_replacement, "boolean", "r", False),
    (itself, "string", "r > 'é'", False),
    (itself, "string", "r = '\N{REPLACEMENT CHARACTER}'", False),
    (itself, "string", "r BETWEEN 'a' AND 'f'", False),
]


@pytest.mark.parametrize(("function", "type_", "where", "moved"), SAME)
def test_texts_that_are_no_utf8_without_arrow(
    texts: DataFrame, function: Callable[..., Any], type_: str, where: str, moved: bool
) -> None:
    df = called(texts, function, type_, arrow=False).filter(where)
    same_rows(df, optimize(df, cost="always"))
    (boundary,) = explain(df, cost="always").boundaries
    assert ("text-encoding" in [d.code for d in boundary.declined]) != moved
    assert boundary.kind == "exact" or not moved


@pytest.mark.parametrize("where", ["r", "NOT r"])
@pytest.mark.parametrize("below", ["filter", "cast"])
def test_texts_that_are_known_to_be(texts: DataFrame, where: str, below: str) -> None:
    table = texts.filter("is_valid_utf8(s)")
    if below == "cast":
        table = texts.selectExpr("g", "CAST(g AS STRING) AS s")
    df = called(table, after, "boolean", arrow=False).filter(where)
    better = optimize(df, cost="always")
    if is_connect(df):  # where neither is known to be UTF-8
        (boundary,) = explain(df, cost="always").boundaries
        known = {"filter": "nondeterministic", "cast": "text-encoding"}[below]
        assert known in [d.code for d in boundary.declined]
        same_rows(df, better)
        return
    assert better is not df
    same_rows(df, better)


def test_texts_of_csv_files(spark: SparkSession, tmp_path: Path) -> None:
    lines = [b"1,abc", b"1,\xe9", b"2,\xff\xfe", "2,é".encode(), b"3,\xf4\x90\x80\x80", b"3,z"]
    (tmp_path / "t.csv").write_bytes(b"\n".join(lines) + b"\n")
    table = spark.read.schema("g bigint, s string").csv(str(tmp_path))
    df = called(table, after, "boolean", arrow=False).filter("r")
    better = optimize(df, cost="always")
    assert better is not df
    same_rows(df, better)
    same_rows(df, optimize(df, cost="always", policy="strict"))


def test_lines_of_a_latin_1_file(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes("abc\né\nzebra\n".encode("latin-1"))
    table = spark.read.text(str(tmp_path)).selectExpr("1L AS g", "value AS s")
    df = called(table, after, "boolean", arrow=False).filter("r")
    assert {r.r for r in df.collect()} == {True}
    assert df.count() == 1
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert "> z" not in plan_text(better), "a comparison of bytes"


def last_text(s: pd.Series) -> str | None:
    best = None
    for x in s:
        if x is not None and (best is None or x > best):
            best = x
    return best


def last_of(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for x in pdf["s"]:
        if x is not None and (best is None or x > best):
            best = x
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "m": [best]})


def last_in(table: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    return pa.table({"g": table.column("g")[:1], "m": [pc.max(table.column("s")).as_py()]})


def by_series(df: DataFrame) -> DataFrame:
    last_text.__annotations__ = {"s": pd.Series, "return": str}
    return df.groupBy("g").agg(functions().pandas_udf(last_text, "string")("s").alias("m"))


def by_tables(df: DataFrame) -> DataFrame:
    return df.groupBy("g").applyInPandas(last_of, "g bigint, m string")


def by_arrow(df: DataFrame) -> DataFrame:
    return df.groupBy("g").applyInArrow(last_in, "g bigint, m string")


def by_row(df: DataFrame) -> DataFrame:
    call = functions().udf(itself, "string", useArrow=True)
    return df.select("g", call("s").alias("m"))


@pytest.mark.parametrize("form", [by_series, by_tables, by_arrow, by_row])
@pytest.mark.parametrize("where", ["m > 'p'", "m = 'z'"])
def test_texts_by_arrow_raise_and_that_is_told(
    texts: DataFrame, form: Callable[[DataFrame], DataFrame], where: str
) -> None:
    df = form(texts).filter(where)
    better = optimize(df, cost="always")
    if better is not df:
        (boundary,) = explain(df, cost="always").boundaries
        assert "may-erase-error" in {a["code"] for a in boundary.assumptions}
    assert optimize(df, cost="always", policy="strict") is df
    assert optimize(df, cost="always", policy="strict", declare="is_valid_utf8(g)") is df
    declared = ["is_valid_utf8(`S`)"]
    if is_connect(df):  # where no footer shows it of the keys
        declared.append("g IS NOT NULL")
    said = optimize(df, cost="always", policy="strict", declare=declared)
    assert (said is df) == (better is df)
    valid = form(texts.filter("is_valid_utf8(s)")).filter(where)
    same_rows(valid, optimize(valid, cost="always"))
    if better is not df:
        (boundary,) = explain(valid, cost="always").boundaries
        assert "may-erase-error" not in {a["code"] for a in boundary.assumptions}


# --- numbers --------------------------------------------------------------------------------


def doubles(path: Path) -> str:
    import numpy as np
    import pyarrow.parquet as pq

    bits = [1 << 63, 0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001, 0x7FF << 52, 1, 0]
    bits += [0xFFF << 52, 0x4059000000000000]
    v = np.array(bits, dtype=np.uint64).view(np.float64)
    pq.write_table(pa.table({"g": pa.array(range(len(bits)), pa.int64()), "v": v}), path)
    return "g bigint, v double"


def integers(path: Path, *, bits: int) -> str:
    import pyarrow.parquet as pq

    values = [0, 44, 50, 300, 65536 + 44, -1, 2**31 - 1, -(2**31), None]
    g = pa.array(range(len(values)), pa.int64())
    pq.write_table(pa.table({"g": g, "v": pa.array(values, pa.int32())}), path)
    return f"g bigint, v {'tinyint' if bits == 8 else 'smallint'}"


def decimals(path: Path, *, digits: int) -> str:
    import pyarrow.parquet as pq

    beyond = 10**digits
    units = [0, 1, 100, beyond - 1, beyond, 2 * beyond, -beyond, 1 - beyond]
    raw = b"".join(n.to_bytes(16, "little", signed=True) for n in units)
    v = pa.Array.from_buffers(pa.decimal128(digits, 2), len(units), [None, pa.py_buffer(raw)])
    table = pa.table({"g": pa.array(range(len(units)), pa.int64()), "v": v})
    pq.write_table(table, path, store_decimal_as_integer=True)
    return f"g bigint, v decimal({digits},2)"


def float32(path: Path) -> str:
    import pyarrow.parquet as pq

    v = pa.array([0.1, -0.0, float("nan"), 3e38, 1e-45, None], pa.float32())
    pq.write_table(pa.table({"g": pa.array(range(6), pa.int64()), "v": v}), path)
    return "g bigint, v float"


FILES: dict[str, Callable[[Path], str]] = {
    "double": doubles,
    "tinyint": lambda path: integers(path, bits=8),
    "smallint": lambda path: integers(path, bits=16),
    "decimal in 32 bits": lambda path: decimals(path, digits=5),
    "decimal in 64 bits": lambda path: decimals(path, digits=10),
    "float": float32,
}


def above_40(v: Any) -> bool:
    return v is not None and v > 40


def seen(v: Any) -> str:
    return repr(v)


def largest(v: pd.Series) -> Any:
    best = None
    for x in v:
        if x is not None and (best is None or x > best):
            best = x
    return best


def beyond(kind: str) -> str:
    """A filter that values within the type do not pass."""
    return {"decimal in 32 bits": "m > 999.99", "decimal in 64 bits": "m > 99999999.99"}.get(
        kind, "m > 40"
    )


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("arrow", [False, True])
def test_numbers_row_by_row(spark: SparkSession, tmp_path: Path, kind: str, arrow: bool) -> None:
    schema = FILES[kind](tmp_path / "t.parquet")
    table = spark.read.schema(schema).parquet(str(tmp_path))
    call = functions().udf(above_40, "boolean", useArrow=arrow)
    told(table.withColumn("r", call("v")).filter("r").selectExpr("g", "CAST(v AS STRING) AS v"))


@pytest.mark.parametrize("kind", FILES)
def test_numbers_of_groups(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    schema = FILES[kind](tmp_path / "t.parquet")
    table = spark.read.schema(schema).parquet(str(tmp_path)).filter("v IS NOT NULL")
    type_ = schema.partition(" v ")[2]
    largest.__annotations__ = {"v": pd.Series, "return": float}
    udf = functions().pandas_udf(largest, type_)
    told(table.groupBy("g").agg(udf("v").alias("m")).filter(beyond(kind)))


@some("kind, name", product(FILES, ["max", "min", "sum"]), of=2)
def test_numbers_in_aggregates_of_sparks_own(
    spark: SparkSession, tmp_path: Path, kind: str, name: str
) -> None:
    schema = FILES[kind](tmp_path / "t.parquet")
    table = spark.read.schema(schema).parquet(str(tmp_path))
    df = table.groupBy("g").agg(getattr(functions(), name)("v").alias("m")).filter(beyond(kind))
    told(df.selectExpr("g", "CAST(m AS STRING) AS m"))


def told(df: DataFrame) -> None:
    """The rows are the same; where the job raises as written, that an error may be gone is told."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    better = optimize(df, cost="always")
    (boundary,) = explain(df, cost="always").boundaries
    if {a["code"] for a in boundary.assumptions} - {"may-erase-error"}:
        better = optimize(df, cost="always", policy="strict")  # the data are not as it assumes
    if better is df:
        return
    try:
        df.collect()
    except (PySparkException, Py4JError):
        assert "may-erase-error" in {a["code"] for a in boundary.assumptions}
        assert optimize(df, cost="always", policy="strict") is df
        return
    same_rows(df, better)


MOMENTS = ("0001-01-01", "1500-01-01", "1677-01-01", "2020-01-01", "2300-01-01", "9999-12-31")


YEARS = [*MOMENTS, "+12000-01-01", "-0005-01-01"]


@some("year, type_", product(YEARS, ["date", "timestamp", "timestamp_ntz"]), of=2)
def test_days_and_moments(spark: SparkSession, tmp_path: Path, type_: str, year: str) -> None:
    rows = f"(1L, {type_}'{year}'), (2L, {type_}'2020-05-05'), (3L, NULL)"
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(g, v)").write.parquet(str(tmp_path / "t"))
    table = spark.read.parquet(str(tmp_path / "t")).filter("v IS NOT NULL")
    largest.__annotations__ = {"v": pd.Series, "return": float}
    udf = functions().pandas_udf(largest, type_)
    told(table.groupBy("g").agg(udf("v").alias("m")).filter(f"m > {type_}'2021-01-01'"))
