"""Parquet scans keep every decimal that the filter keeps: row groups of one value, all encodings.

Spark hands comparisons to the scan, which skips row groups by statistics and dictionaries. That it
loses no decimals is taken for granted by proofs (:mod:`presieve.semantics.scan` names what it does
lose), so it is seen to here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from presieve.ir.sorts import Decimal as DecimalSort
from presieve.ir.terms import Lit
from presieve.semantics.types import bounds
from presieve.semantics.values import decimal_of
from presieve.sql.emit import literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MANY = 300
"""Rows of one value in a row group, so that it has a dictionary."""
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _units(type_: str) -> list[int]:
    limits = bounds(type_)
    assert limits is not None
    low, high = limits
    return [low, -1, 0, 128, 9050, high]


def _write_by_spark(spark: SparkSession, path: Path, type_: str, values: list[Decimal]) -> None:
    for value in values:
        frame = spark.range(MANY).selectExpr(f"CAST('{value:f}' AS {type_}) AS p")
        frame.coalesce(1).write.mode("append").parquet(str(path))


def _write_by_arrow(path: Path, precision: int, scale: int, values: list[Decimal]) -> None:
    path.mkdir()
    many = [v for v in values for _ in range(MANY)]
    table = pa.table({"p": pa.array(many, pa.decimal128(precision, scale))})
    pq.write_table(table, path / "t.parquet", row_group_size=MANY)


@pytest.mark.parametrize("writer", ["spark", "legacy", "arrow"])
@pytest.mark.parametrize(
    "digits",
    [
        pytest.param((7, 2), marks=pytest.mark.slow),
        (10, 2),
        pytest.param((38, 10), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_no_decimal_is_lost(
    spark: SparkSession, tmp_path: Path, writer: str, digits: tuple[int, int]
) -> None:
    precision, scale = digits
    type_ = f"decimal({precision},{scale})"
    units = _units(type_)
    values = [decimal_of(u, scale) for u in units]
    path = tmp_path / "t"
    if writer == "arrow":
        _write_by_arrow(path, precision, scale, values)
    else:
        spark.conf.set("spark.sql.parquet.writeLegacyFormat", str(writer == "legacy").lower())
        _write_by_spark(spark, path, type_, values)
        spark.conf.unset("spark.sql.parquet.writeLegacyFormat")
    table = spark.read.parquet(str(path))
    texts = {u: literal(Lit(DecimalSort(scale), u)) for u in units}
    queries = [(sign, u) for sign in OPERATORS for u in units]
    parts = [
        table.filter(f"p {sign} {texts[u]}").selectExpr(f"{i} AS query", "p")
        for i, (sign, u) in enumerate(queries)
    ]
    parts.append(
        table.filter(f"p IN ({texts[0]}, {texts[-1]}, {texts[9050]})").selectExpr("-1", "p")
    )
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    assert "PushedFilters: [IsNotNull(p), EqualTo(p," in str(
        parts[0]._jdf.queryExecution().executedPlan().toString()
    )
    found: dict[int, set[Decimal]] = {}
    for query, value in whole.distinct().collect():
        found.setdefault(query, set()).add(value)
    for i, (sign, u) in enumerate(queries):
        wanted = {v for v, own in zip(values, units, strict=True) if OPERATORS[sign](own, u)}
        assert found.get(i, set()) == wanted, (sign, texts[u])
    assert found[-1] == {decimal_of(u, scale) for u in (0, -1, 9050)}
