"""Scalar UDFs made by ``functools.partial``: the arguments by name are constants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F
from tests.support.running import same_rows

import presieve
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.driver.optimize import explain, optimize
from presieve.errors import Declined
from presieve.ir.terms import Scope
from presieve.semantics.interpret import evaluate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def grade(x: Any, least: Any, names: Any = ("low", "high")) -> Any:
    return names[1] if x is not None and x >= least else names[0]


def labelled(x: Any, *, labels: Any, other: Any = None) -> Any:
    return labels.get(x, other)


class Rule:
    def __init__(self, least: int) -> None:
        self.least = least

    def holds(self, x: Any, more: Any) -> Any:
        return x is not None and x >= self.least + more


PARTIALS: dict[str, tuple[Callable[..., Any], str, str, str]] = {
    "a number": (partial(grade, least=10), "string", "r = 'high'", "x > 10"),
    "texts": (partial(grade, least=3, names=["a", "b"]), "string", "r = 'b'", "x > 10"),
    "a dict": (partial(labelled, labels={1: "one", 12: "12"}), "string", "r = '12'", "x = 1"),
    "twice": (partial(partial(grade, least=3), least=10), "string", "r = 'high'", "x > 10"),
    "a method": (partial(Rule(4).holds, more=6), "boolean", "r", "x > 10"),
}
ROWS = (None, -1, 0, 1, 3, 9, 10, 11, 12, 2**31 - 1)


@pytest.mark.parametrize("name", PARTIALS)
def test_they_are_read_with_their_arguments(name: str) -> None:
    function, returns, where, wrong = PARTIALS[name]
    inputs = read_inputs(function, "x int", f"r {returns}", (), "row")
    assert isinstance(inputs, Inputs), inputs
    (output,) = inputs.fold.outputs
    for x in ROWS:
        assert evaluate(output.term, {(Scope.KEY, "x"): x}) == function(x)
    how: dict[str, Any] = {"schema": "x int", "returns": f"r {returns}", "mode": "row"}
    found = presieve.synthesize(function, where, **how)
    assert found.kind == "exact"
    refuted = presieve.verify(function, where, prefilter=wrong, **how)
    assert refuted.status == "refuted"


def takes_two(x: Any, y: Any, least: Any = 3) -> Any:
    return x + y > least


@pytest.mark.parametrize(
    ("function", "schema"),
    [
        (partial(grade, 10), "x int"),
        (partial(grade, least=10, most=11), "x int"),  # type: ignore[call-arg]
        (partial(takes_two, y=1), "x int, y int"),
        (partial(takes_two, least=1), "x int, y int, z int"),
        (partial(len), "x string"),
    ],
)
def test_what_is_not_read(function: Callable[..., Any], schema: str) -> None:
    """By position, of other names, given twice, too many columns, and functions of a library."""
    assert isinstance(read_inputs(function, schema, "r string", (), "row"), Declined)


@pytest.mark.spark
def test_the_rows_are_the_same(spark: SparkSession) -> None:
    table = spark.createDataFrame([(x,) for x in ROWS], "x int")
    for function, returns, where, _ in PARTIALS.values():
        df = table.withColumn("r", F.udf(function, returns)("x")).filter(where)
        report = explain(df, cost="always")
        assert report.boundaries[0].kind == "exact"
        assert same_rows(df, optimize(df, cost="always")) > 0
