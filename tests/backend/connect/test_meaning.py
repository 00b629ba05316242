"""Expressions of Spark Connect mean what the same condition means as SQL text. No server is asked:
the client writes its messages without one.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from presieve.errors import Declined
from presieve.plan.algebra import variable_of
from presieve.sql.emit import normalize
from presieve.sql.parse import parse_predicate
from presieve.sql.split_sql import arguments, calls, conjuncts

if TYPE_CHECKING:
    from pyspark.sql.connect.column import Column

    from presieve.backend.connect.scope import OperatorScope

COLUMNS = {
    "i": "integer",
    "l": "long",
    "d": "double",
    "s": "string",
    "b": "boolean",
    "x": "decimal(10,2)",
    "day": "date",
    "t": "timestamp",
    "n": "timestamp_ntz",
    "y": "binary",
}


def scope() -> OperatorScope:
    from presieve.backend.connect.resolved_plan import Operator, ResolvedColumn, Schema
    from presieve.backend.connect.scope import OperatorScope

    fields = [
        {"name": name, "type": type_, "nullable": True, "metadata": {}}
        for name, type_ in COLUMNS.items()
    ]
    schema = Schema(lambda: fields)
    output = tuple(ResolvedColumn(at, name, schema, at) for at, name in enumerate(COLUMNS))
    return OperatorScope((Operator("test", {}, (), output, None),), "UTC")


def message(column: Column) -> Any:
    client: Any = None  # asked only for Python functions
    return column.to_plan(client)


SAME: list[tuple[str, Callable[[Any], Any]]] = [
    ("i > 5", lambda F: F.col("i") > 5),
    ("l <= 9223372036854775807", lambda F: F.col("l") <= 2**63 - 1),
    ("i > 5L", lambda F: F.col("i") > F.lit(5).cast("bigint")),
    ("d >= 2.5D", lambda F: F.col("d") >= 2.5),
    ("d = double('nan')", lambda F: F.col("d") == float("nan")),
    ("d < double('infinity')", lambda F: F.col("d") < float("inf")),
    ("s = 'a''b'", lambda F: F.col("s") == "a'b"),
    ("NOT s = ''", lambda F: F.col("s") != ""),
    ("s <=> NULL", lambda F: F.col("s").eqNullSafe(None)),
    ("b", lambda F: F.col("b")),
    ("NOT b OR b IS NULL", lambda F: ~F.col("b") | F.col("b").isNull()),
    ("b IS NOT NULL AND b", lambda F: F.col("b").isNotNull() & F.col("b")),
    ("isnan(d)", lambda F: F.col("d").isNaN()),
    ("x > CAST(2 AS DECIMAL(10,0))", lambda F: F.col("x") > decimal.Decimal("2")),
    ("x >= 3", lambda F: F.col("x") >= 3),
    ("day > DATE '2024-02-29'", lambda F: F.col("day") > datetime.date(2024, 2, 29)),
    (
        "n >= TIMESTAMP_NTZ '2024-01-01 00:00:01'",
        lambda F: F.col("n") >= F.lit("2024-01-01 00:00:01").cast("timestamp_ntz"),
    ),
    ("day > '2024-02-29'", lambda F: F.col("day") > "2024-02-29"),
    ("y = X'00FF'", lambda F: F.col("y") == F.lit(b"\x00\xff")),
    ("i IN (1, 2)", lambda F: F.col("i").isin(1, 2)),
    ("NOT s IN ('a', NULL)", lambda F: ~F.col("s").isin("a", None)),
    ("i >= 1 AND i <= 3", lambda F: F.col("i").between(1, 3)),
    ("d + d * 2.0D > 1.0D", lambda F: F.col("d") + F.col("d") * 2.0 > 1.0),
    ("d / 2 - 0.5D > -1", lambda F: F.col("d") / 2 - 0.5 > -1),
    ("-d < 1.0D", lambda F: -F.col("d") < 1.0),
    ("i > 2.5D", lambda F: F.col("i") > 2.5),
    ("l / 3 >= 2", lambda F: F.col("l") / 3 >= 2),
    ("CAST(l AS DOUBLE) * 3.0D > 7", lambda F: F.col("l").cast("double") * 3.0 > 7),
    ("i < l", lambda F: F.col("i") < F.col("l")),
    ("i > d", lambda F: F.col("i") > F.col("d")),
    (
        "CASE WHEN i > 1 THEN 'a' WHEN i > 0 THEN 'b' END = 'a'",
        lambda F: F.when(F.col("i") > 1, "a").when(F.col("i") > 0, "b") == "a",
    ),
    ("coalesce(i, 0) > 1", lambda F: F.coalesce(F.col("i"), F.lit(0)) > 1),
    ("nullif(i, 3) = 1", lambda F: F.nullif(F.col("i"), F.lit(3)) == 1),
    ("i > 1 AND s = 'a'", lambda F: F.expr("i > 1 AND s = 'a'")),
    ("3 > d", lambda F: F.lit(3) > F.col("D")),
]

DECLINED: list[tuple[str, Callable[[Any], Any]]] = [
    # The client sends it as a DECIMAL(10,0).
    ("sql-unsupported", lambda F: F.col("x") > decimal.Decimal("2.50")),
    ("sql-unsupported", lambda F: F.col("i") + 1 > 2),
    ("sql-unsupported", lambda F: F.upper("s") == "A"),
    ("sql-unsupported", lambda F: F.rand() > 0.5),
    ("sql-unsupported", lambda F: F.col("s").like("a%")),
    ("sql-unsupported", lambda F: F.col("s").cast("int") > 1),
    ("sql-unsupported", lambda F: F.col("l").cast("int") > 1),
    ("sql-types", lambda F: F.col("s") > 1),
    ("sql-types", lambda F: F.col("i") > "1"),
    ("sql-unsupported", lambda F: F.col("d") / F.col("d") > 2),
    ("sql-unsupported", lambda F: F.col("d") / 0 > 2),
    ("sql-unsupported", lambda F: -F.col("i") > 2),
    ("unknown-column", lambda F: F.col("nobody") > 1),
    ("sql-unsupported", lambda F: F.expr("s = '${x}'")),
    ("sql-unsupported", lambda F: F.col("s.i") > 1),
]


@pytest.mark.parametrize(("text", "column"), SAME, ids=[t for t, _ in SAME])
def test_a_column_means_what_the_text_means(text: str, column: Callable[[Any], Any]) -> None:
    import pyspark.sql.connect.functions as F

    from presieve.backend.connect.meaning import meaning

    here = scope()
    found = meaning(message(column(F)), here)
    expected = parse_predicate(text, here.names(), "UTC")
    assert not isinstance(found, Declined), found
    assert not isinstance(expected, Declined), expected
    assert normalize(found) == normalize(expected)
    for field in here.fields:
        assert variable_of(field.attribute) is not None


@pytest.mark.parametrize(("code", "column"), DECLINED)
def test_what_is_not_known_declines(code: str, column: Callable[[Any], Any]) -> None:
    import pyspark.sql.connect.functions as F

    from presieve.backend.connect.meaning import meaning

    found = meaning(message(column(F)), scope())
    assert isinstance(found, Declined), found
    assert found.code == code


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a > 1 AND b", ("a > 1", "b")),
        ("a BETWEEN 1 AND 2 AND b", ("a BETWEEN 1 AND 2", "b")),
        ("a > 1 AND b OR c", ("a > 1 AND b OR c",)),
        ("(a AND b) and NOT c AnD f(x AND y)", ("(a AND b)", "NOT c", "f(x AND y)")),
        ("CASE WHEN a AND b THEN c END AND d", ("CASE WHEN a AND b THEN c END", "d")),
        ("s = 'x AND y' AND `a AND b`", ("s = 'x AND y'", "`a AND b`")),
        ("a AND", ("a AND",)),
        ("a -- AND b\nAND c", ("a -- AND b\nAND c",)),
        ("a AND b)", ("a AND b)",)),
        ("exists(xs, x -> x AND y) AND a", ("exists(xs, x -> x AND y)", "a")),
    ],
)
def test_conjunctions_are_taken_apart(text: str, parts: tuple[str, ...]) -> None:
    assert conjuncts(text) == parts


def test_arguments_and_calls() -> None:
    assert arguments("a, f(b, c), 'x,y'") == ("a", "f(b, c)", "'x,y'")
    assert arguments("DISTINCT a") == ()
    assert arguments("a) + (b") == ()
    assert calls("f(a) + G (b)") == frozenset(("f", "g"))
    assert calls("`f`(a)") is None
    assert calls("max(a) OVER (PARTITION BY b)") is None
