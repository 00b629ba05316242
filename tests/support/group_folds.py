"""Folds of groups, most of which are aggregates of Spark's, with groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.support.aggregates import Rows, claim, problem_of, searched

from presieve.certificate.group_aggregates import AggregatedCertificate, AggregateText
from presieve.certificate.row_expressions import Expression
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, Option
from presieve.ir.terms import TRUE, Op, Scope, Var, int_lit
from presieve.semantics.aggregates import AggregateColumn
from presieve.semantics.smart_constructors import and_, get, is_none, or_, some
from presieve.smt.side_by_side import RAISED

V = Var(Scope.ROW, "v", Option(INT))
X = Var(Scope.ROW, "x", Option(FLOAT))


class Fold:
    """Those below: a start, and what a row makes of it."""

    start: Any = None

    def zero(self):  # type: ignore[no-untyped-def]
        return self.start

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc


class Greatest(Fold):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.v is None:
            return acc
        return row.v if acc is None or row.v > acc else acc


class Least(Fold):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.v is None:
            return acc
        return row.v if acc is None or row.v < acc else acc


class Lowered(Fold):
    """A constant, from another one on."""

    start = 7

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return 3 if row.v is not None and row.v > 3 else acc


class Number(Fold):
    start = 0

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc + 1


class NumberFromFive(Fold):
    start = 5

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc + 1 if row.v is not None and row.v > 3 else acc


class Total(Fold):
    start = 10

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.v is None else acc + row.v


class Some(Fold):
    start = False

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc or (row.v is not None and row.v > 3)


class Every(Fold):
    start = True

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc and row.v is not None and row.v > 3


class Seen(Fold):
    """Two fields, of which one says whether the other is there."""

    start = (0, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        number, best = acc
        if row.v is None:
            return acc
        if number == 0 or best is None or row.v > best:
            return (number + 1, row.v)
        return (number + 1, best)

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[1]


class Refuses(Fold):
    start = 0

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.v is None:
            raise ValueError("no")
        return acc + 1


class Empty(Fold):
    """Raises at the end."""

    start = 0

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc + 1 if row.v is not None else acc

    def finish(self, acc):  # type: ignore[no-untyped-def]
        if acc == 0:
            raise ValueError("no")
        return acc


class Highest(Fold):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.x is None or row.x != row.x:
            return acc
        return row.x if acc is None or row.x > acc else acc


class Last(Fold):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return row.v


@dataclass(frozen=True)
class Case:
    """A class, the aggregates that are found, and groups."""

    fold: type[Fold]
    functions: tuple[str, ...]
    returns: str = "m bigint"
    schema: str = "v bigint"


CASES = [
    Case(Greatest, ("max",)),
    Case(Least, ("min",)),
    Case(Lowered, ("min",)),
    Case(Number, ("count",)),
    Case(NumberFromFive, ("count_if",)),
    Case(Total, ("sum",)),
    Case(Some, ("bool_or",), "m boolean"),
    Case(Every, ("bool_and",), "m boolean"),
    Case(Seen, ("count_if", "max")),
    Case(Empty, ("count_if",)),
    Case(Highest, ("max",), "m double", "x double"),
]
GROUPS: tuple[list[Any], ...] = (
    *([None], [None, None], [3], [4], [-1, 8, None, 8], [9, 5, 2], [2**62, -(2**62)]),
    *([4, 5, 6], [0, 0, None, 1]),
)


def found(case: Case) -> AggregatedCertificate:
    """The claim that the search makes."""
    return claim(searched(case.fold, case.schema, case.returns))


def rows(values: list[Any], name: str = "v") -> Rows:
    return [{name: v} for v in values]


def refusing() -> AggregatedCertificate:
    """The claim for :class:`Refuses`, by hand."""
    problem = problem_of(Refuses, "v bigint", "m bigint")
    counts = AggregateColumn("a0", "count", "bigint", some(int_lit(1)))
    nulls = AggregateColumn("a1", "bool_or", "boolean", some(is_none(V)))
    (field,) = problem.fold.fields
    raised, number = Var(Scope.ACC, RAISED, TRUE.sort), Var(Scope.ACC, field.name, field.sort)
    invariant = (
        and_(app(Op.NOT, is_none(nulls.state)), app(Op.SAME, raised, get(nulls.state))),
        or_(raised, app(Op.SAME, number, counts.state)),
    )
    value = Expression("m", "", some(counts.result), TRUE, get(nulls.result))
    texts = (AggregateText(counts, ""), AggregateText(nulls, ""))
    return AggregatedCertificate(problem, texts, invariant, (value,))
