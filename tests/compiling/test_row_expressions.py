"""Functions written as text: by what Spark would misread, and what has no text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from presieve.compiling.row_expressions import ErrorToRaise, Writer
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, STRING, Option, strip
from presieve.ir.terms import FALSE, Op, float_lit, int_lit, none_lit
from presieve.lift.values.ranges import column_ranges
from presieve.semantics.smart_constructors import get, some
from presieve.semantics.types import SchemaColumn


def text(function: Callable[..., Any], schema: str, returns: str) -> str:
    """The expression for a function."""
    inputs = read_inputs(function, schema, f"value {returns}", "", "row")
    assert isinstance(inputs, Inputs), inputs
    fold = inputs.fold
    columns = {fold.key(c.name): c for c in fold.keys}
    types = {v: c.type for v, c in columns.items() if strip(c.sort) == INT}
    ranges = column_ranges(tuple(SchemaColumn(c.name, c.type) for c in fold.keys))
    (output,) = fold.outputs
    writer = Writer({v: v.name for v in columns}, types, ranges)
    return writer.output(output.term, output.type, ErrorToRaise(fold.finish_raises, "it raises"))


PLAIN = Writer({}, {}, column_ranges(()))


def test_two_signs_in_a_row_are_no_comment() -> None:
    for term in (app(Op.FLOAT_NEG, float_lit(-2.5)), app(Op.INT_NEG, int_lit(-7))):
        assert "--" not in PLAIN.text(term).sql
    assert PLAIN.text(app(Op.FLOAT_NEG, float_lit(2.5))).sql == "(-2.5D)"


def test_literals_inside_options_are_of_the_type_of_their_branch() -> None:
    choice = app(Op.ITE, FALSE, some(int_lit(3)), some(int_lit(2**40)))
    assert PLAIN.text(choice).sql.endswith("THEN 3L ELSE 1099511627776L END")


@pytest.mark.parametrize(
    ("sort", "type_"), [(INT, "bigint"), (FLOAT, "double"), (STRING, "string")]
)
def test_null_alone_is_of_the_declared_type(sort: Any, type_: str) -> None:
    """Spark's own NULL is of another type, so that the schema would change."""
    null = none_lit(sort)
    for term in (null, app(Op.ITE, FALSE, null, null)):
        assert term.sort == Option(sort)
        made = PLAIN.output(term, type_)
        assert made.startswith("CAST(")
        assert made.endswith(f" AS {type_.upper()})")


def floored(x):  # type: ignore[no-untyped-def]
    return None if x is None else x // 3


def remainder(i):  # type: ignore[no-untyped-def]
    return None if i is None else i % 7


def small(x):  # type: ignore[no-untyped-def]
    return None if x is None else x < 1.5


def least(x):  # type: ignore[no-untyped-def]
    return None if x is None else x > 1.5


def sums(x):  # type: ignore[no-untyped-def]
    return None if x is None else x + 1 > 5


WRITTEN: list[tuple[Callable[..., Any], str, str, str]] = [
    (floored, "x bigint", "bigint", "-(-(x + 1L) div 3L) - 1L"),
    (remainder, "i int", "bigint", "pmod(CAST(i AS BIGINT), 7L)"),
    (least, "x double", "boolean", "x > 1.5D AND NOT isnan(x)"),
    (sums, "x bigint", "boolean", "CAST(x AS DECIMAL(20,0)) + 1BD > 5BD"),
    (sums, "x int", "boolean", "CAST(x AS BIGINT) + 1L > 5"),
]


@pytest.mark.parametrize(("function", "schema", "returns", "part"), WRITTEN)
def test_what_differs_from_python_is_written_out(
    function: Callable[..., Any], schema: str, returns: str, part: str
) -> None:
    assert part in text(function, schema, returns)


def test_nan_is_greater_than_all_for_spark_too() -> None:
    """So that a lower bound must ask for it, and an upper one need not."""
    assert "isnan" not in text(small, "x double", "boolean")


def by_a_column(x, y):  # type: ignore[no-untyped-def]
    return None if x is None or y is None or y <= 0 else x // y


def huge(x):  # type: ignore[no-untyped-def]
    return None if x is None else x * x * x > 5


@pytest.mark.parametrize(
    ("function", "schema", "returns"),
    [(by_a_column, "x bigint, y bigint", "bigint"), (huge, "x bigint", "boolean")],
)
def test_what_has_no_text(function: Callable[..., Any], schema: str, returns: str) -> None:
    with pytest.raises(DeclineSignal) as caught:
        text(function, schema, returns)
    assert caught.value.declined.code == "no-text"


def test_a_value_that_is_used_again_and_again_is_no_text() -> None:
    """Each round doubles what SQL would have to say."""
    term = some(float_lit(2.0))
    for _ in range(24):
        term = some(app(Op.FLOAT_MUL, get(term), get(term)))
    with pytest.raises(DeclineSignal, match="more than 2000 operators"):
        PLAIN.output(term, "double")
