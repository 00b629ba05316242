"""Functions of Python that Spark has as compositions of its own only: on Spark, the same values."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.functions import udf
from tests.support.spark_version import is_before

from presieve.driver.optimize import optimize_and_report
from presieve.driver.options import Options
from presieve.errors import Declined
from presieve.ir.sorts import FLOAT, STRING, Option
from presieve.ir.terms import Scope, Var
from presieve.sql.catalyst_values import value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("what a server makes of an expression cannot be read back"),
]

LETTERS = "aAΣσς.':·İßŉΐև 1ﬃᾷͅˠ^Ǆ_eE-+٣nfiN\t\x1c\u2003\u212aſı,USD\U0001f600𐐨\ua7c1\u0264"  # noqa: RUF001
NOT_UTF8 = [0x41, 0x61, 0xC3, 0x9F, 0xFF, 0x80, 0xCE, 0xA3, 0xED, 0xA0, 0xF0, 0x9F, 0xE2, 0x31]


def make_texts() -> list[str | None]:
    draw = random.Random(11)
    drawn = ["".join(draw.choice(LETTERS) for _ in range(draw.randrange(8))) for _ in range(6000)]
    numbers = ["".join(draw.choice("0123.eE+-_ ") for _ in range(6)) for _ in range(3000)]
    letters = [chr(i) for i in range(1, 0x600)]
    known = [None, "", "+nan", "-NaN", "iNf", "1_0", "1__0", "1e999", "١٢", " 12 ", "paid", "PAİD"]
    return [*known, *drawn, *numbers, *letters, *(f"A{c}Σ" for c in letters)]


def make_numbers() -> list[float | None]:
    draw = random.Random(5)
    numbers: list[float | None] = [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 2.0**52, -1e300]
    numbers += [float(f"{sign}5e-{n + 1}") for n in range(9) for sign in ("", "-")]
    for _ in range(8000):
        digits = draw.randrange(9)
        tie = float(f"{draw.randrange(10 ** draw.randrange(1, 14))}5e-{digits + 1}")
        numbers.append(draw.choice((tie, -tie, math.nextafter(tie, 0.0))))
        numbers.append(draw.uniform(-1, 1) * 10.0 ** draw.randrange(-12, 17))
    return numbers


@pytest.fixture(scope="module")
def tables(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, DataFrame]]:
    """The columns s and x, in files of both writers; of Spark's, also bytes that are no UTF-8."""
    draw = random.Random(2)
    folder: Path = tmp_path_factory.mktemp("python")
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "s": (make_texts(), pa.string()),
        "x": (make_numbers(), pa.float64()),
    }
    written: dict[str, dict[str, DataFrame]] = {"spark": {}, "pyarrow": {}, "bytes": {}}
    for name, (values, type_) in columns.items():
        file = str(folder / f"{name}.parquet")
        pq.write_table(pa.table({name: pa.array(values, type_)}), file, row_group_size=500)
        written["pyarrow"][name] = spark.read.parquet(file)
        written["pyarrow"][name].repartition(2).write.parquet(str(folder / name))
        written["spark"][name] = spark.read.parquet(str(folder / name))
    texts = [(bytes(draw.choices(NOT_UTF8, k=draw.randrange(1, 7))),) for _ in range(3000)]
    of_bytes = spark.createDataFrame(texts, "b binary").selectExpr("CAST(b AS string) AS s")
    of_bytes.write.parquet(str(folder / "bytes"))
    written["bytes"]["s"] = spark.read.parquet(str(folder / "bytes"))
    return written


RATES = {"USD": 1.0, "EUR": 1.1, "A": 2.0}


def upper(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.upper()


def lower(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.lower()


def same_lower(s):  # type: ignore[no-untyped-def]
    return (s or "").strip().lower() in ("k", "i", "s", "paid")


def same_upper(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.upper() == "SS" or s.upper() == "FFI"


def rate(s):  # type: ignore[no-untyped-def]
    found = RATES.get((s or "USD").upper())
    return math.nan if found is None else round(3.14159 * found, 2)


def find(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.find("Σ")


def count(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.count("a")


def words(s):  # type: ignore[no-untyped-def]
    return None if s is None else " ".join(s.split())


def is_digit(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.isdigit()


def is_alpha(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.isalpha()


def number(s):  # type: ignore[no-untyped-def]
    if s is None:
        return None
    try:
        return float(s.replace(",", ""))
    except ValueError:
        return None


def cleaned(s):  # type: ignore[no-untyped-def]
    return None if s is None else s.strip().lower().replace(" ", "_")


def rounded(x):  # type: ignore[no-untyped-def]
    return None if x is None else round(x, 3)


def whole(x):  # type: ignore[no-untyped-def]
    return None if x is None else round(x, 0)


FUNCTIONS: list[tuple[Callable[..., Any], str, str, str]] = [
    (upper, "string", "s", "upper(s)"),
    (lower, "string", "s", "lower(s)"),
    (same_lower, "boolean", "s", "lower(trim(s)) IN ('k', 'i', 's', 'paid')"),
    (same_upper, "boolean", "s", "s IN ('SS', 'FFI', 'ss', 'ffi')"),
    (rate, "double", "s", "CASE upper(s) WHEN 'A' THEN 6.28D ELSE 3.14D END"),
    (find, "int", "s", "instr(s, 'Σ')"),
    (count, "int", "s", "length(s) - length(replace(lower(s), 'a', ''))"),
    (words, "string", "s", r"regexp_replace(trim(s), '\\s+', ' ')"),
    (is_digit, "boolean", "s", "s RLIKE '^[0-9]+$'"),
    (is_alpha, "boolean", "s", "s RLIKE '^[a-zA-Z]+$'"),
    (number, "double", "s", "try_cast(replace(s, ',', '') AS double)"),
    (cleaned, "string", "s", "replace(lower(trim(s)), ' ', '_')"),
    (rounded, "double", "x", "round(x, 3)"),
    (whole, "double", "x", "round(x, 0)"),
]
"""With what one would write by hand, which gives something else for some row."""


def values(df: DataFrame, column: str) -> dict[str, str]:
    """The results, by what they are of; NaN and -0.0 by name."""
    return {repr(r[0]): repr(r[1]) for r in df.select(column, "r").collect()}


@pytest.mark.parametrize("arrow", [True, False], ids=["arrow", "pickled"])
@pytest.mark.parametrize(
    ("function", "type_", "column", "by_hand"), FUNCTIONS, ids=lambda p: getattr(p, "__name__", "")
)
def test_the_same_values(
    tables: dict[str, dict[str, DataFrame]],
    function: Callable[..., Any],
    type_: str,
    column: str,
    by_hand: str,
    arrow: bool,
) -> None:
    if arrow and is_before("4.1"):
        pytest.skip("scalar UDFs with Arrow are declined: values go through pandas")
    writers = [w for w in tables if column in tables[w] and not (arrow and w == "bytes")]
    differs = False
    for writer in writers:
        df = tables[writer][column]
        out = df.select(column, udf(function, type_, useArrow=arrow)(column).alias("r"))
        compiled = optimize_and_report(out, Options(compile="always"), at_once=True)[0]
        plan = str(compiled._jdf.queryExecution().optimizedPlan())
        assert "EvalPython" not in plan
        assert compiled.schema == out.schema
        expected = values(out, column)
        assert values(compiled, column) == expected
        differs |= values(df.selectExpr(column, f"{by_hand} AS r"), column) != expected
    assert differs


READ = [
    ("lower(s)", "lower()"),
    ("CASE WHEN rlike(s, '[^a-z]') THEN false ELSE lower(s) = 'a' END", "lower()"),
    ("round(x, 2)", "round()"),
    ("CAST(format_number(x, '0.00') AS DOUBLE)", "format_number()"),
    ("instr(s, 'a') - 2", "instr()"),
]


@pytest.mark.parametrize(("sql", "name"), READ)
def test_another_shape_is_not_read(
    tables: dict[str, dict[str, DataFrame]], sql: str, name: str
) -> None:
    df = tables["spark"]["x" if "x," in sql else "s"]
    (column,) = df.columns
    plan = json.loads(df.selectExpr(f"{sql} AS r")._jdf.queryExecution().analyzed().toJSON())
    (tree,) = plan[0]["projectList"]
    numbers = {n["exprId"]["id"] for n in tree if n["class"].endswith("AttributeReference")}
    variable = Var(Scope.KEY, column, Option(FLOAT if column == "x" else STRING))
    read = value(tree[1:], dict.fromkeys(numbers, variable), "UTC")
    assert isinstance(read, Declined)
    assert name in read.reason
