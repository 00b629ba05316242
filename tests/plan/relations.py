"""Paths, rows and random ones of both: what the operators of a path mean, written to be read."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from presieve.errors import Declined
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, Sort, strip
from presieve.ir.terms import Op, Scope, Term, Var, lit
from presieve.plan.algebra import (
    Alias,
    Expr,
    Filter,
    Operator,
    Path,
    Project,
    ProjectColumn,
    attribute_id,
    attribute_var,
)
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value, same
from presieve.sql.case_values import CaseValue, decide, is_present

Row = dict[int, Value]
UNKNOWN = Declined("sql-unsupported", "an expression of which nothing is known")

VALUES: dict[Sort, list[Value]] = {
    INT: [None, -1, 0, 1, 2, 2**63 - 1],
    FLOAT: [None, float("nan"), -0.0, 0.0, 1.5, float("inf")],
    STRING: [None, "", "a", "é"],
    BOOL: [None, True, False],
}


def run(path: Path, rows: Sequence[Row]) -> list[Row]:
    """The rows at the top of a path. Only for paths whose expressions all have a meaning."""
    for operator in path:
        rows = step(operator, rows)
    return list(rows)


def step(operator: Operator, rows: Sequence[Row]) -> list[Row]:
    match operator:
        case Filter(conjuncts):
            return [r for r in rows if all(value(c.term, r) is True for c in conjuncts)]
        case Project(columns):
            return [{c.id: value(c.expr.value, r) for c in columns} for r in rows]
        case Alias():
            return list(rows)
        case _:
            raise NotImplementedError("what joins and windows mean is in test_joins.py")


def value(term: Term | CaseValue | Declined, row: Row) -> Value:
    assert not isinstance(term, Declined)
    if isinstance(term, CaseValue):
        return value(term.then if value(term.condition, row) is True else term.other, row)
    return evaluate(term, {(Scope.OUT, f"#{i}"): v for i, v in row.items()})


def equal(a: Sequence[Row], b: Sequence[Row]) -> bool:
    return len(a) == len(b) and all(
        x.keys() == y.keys() and all(same(x[k], y[k]) for k in x) for x, y in zip(a, b, strict=True)
    )


def expr(term: Term, *refs: Var) -> Expr:
    return Expr(term, frozenset(attribute_id(v) for v in refs))


@st.composite
def comparisons(draw: st.DrawFn, columns: tuple[Var, ...]) -> Expr:
    """A conjunct over one or two columns: a comparison, a null test or their connections."""
    here = draw(st.sampled_from(columns))
    there = draw(st.sampled_from([c for c in columns if strip(c.sort) == strip(here.sort)]))
    constant = lit(
        strip(here.sort),
        draw(st.sampled_from([v for v in VALUES[strip(here.sort)] if v is not None])),  # type: ignore[arg-type]
    )
    ops = [Op.SQL_EQ, Op.SQL_LT, Op.SQL_GE, Op.SQL_EQ_NULLSAFE]
    others: list[Term] = [there, constant]
    first = app(draw(st.sampled_from(ops)), here, draw(st.sampled_from(others)))
    second = app(Op.SQL_IS_NULL, there)
    joined = draw(
        st.sampled_from([first, second, app(Op.SQL_OR, first, second), app(Op.SQL_NOT, first)])
    )
    return expr(joined, here, there)


@st.composite
def choices(draw: st.DrawFn, columns: tuple[Var, ...]) -> Expr:
    """CASE of two columns, or COALESCE, perhaps in a CASE again."""
    here = draw(st.sampled_from([c for c in columns if strip(c.sort) != BOOL] or list(columns)))
    there = draw(st.sampled_from([c for c in columns if strip(c.sort) == strip(here.sort)]))
    condition = draw(comparisons(columns)).term
    assert not isinstance(condition, Declined)
    first = decide(is_present(here), here, there)
    found = draw(st.sampled_from([first, decide(condition, here, there)]))
    if draw(st.booleans()):
        found = decide(condition, found, here)
    return Expr(found, frozenset(map(attribute_id, columns)))


@st.composite
def operators(draw: st.DrawFn, columns: tuple[Var, ...], fresh: int) -> Operator:
    """A filter, an alias, or a projection that renames, drops and computes."""
    kind = draw(st.sampled_from(["filter", "project", "alias"]))
    if kind == "alias":
        return Alias()
    if kind == "filter":
        return Filter(tuple(draw(st.lists(comparisons(columns), min_size=1, max_size=2))))
    kept = draw(st.lists(st.sampled_from(columns), min_size=1, unique=True))
    made: list[ProjectColumn] = []
    for number, column in enumerate(kept):
        renamed = draw(st.booleans())
        new = fresh + number if renamed else attribute_id(column)
        made.append(ProjectColumn(new, expr(column, column), plain=True))
    condition = draw(comparisons(columns))
    made.append(ProjectColumn(fresh + len(kept), condition, plain=False))
    made.append(ProjectColumn(fresh + len(kept) + 1, draw(choices(columns)), plain=False))
    return Project(tuple(made))


def columns_above(operator: Operator, columns: tuple[Var, ...]) -> tuple[Var, ...]:
    if not isinstance(operator, Project):
        return columns
    values = ((c.id, c.expr.value) for c in operator.columns)
    return tuple(
        attribute_var(i, Option(strip(v.sort))) for i, v in values if not isinstance(v, Declined)
    )


SORTS: tuple[Sort, ...] = (INT, INT, FLOAT, FLOAT, STRING, BOOL)
INPUT = tuple(attribute_var(i, Option(s)) for i, s in enumerate(SORTS))


@st.composite
def paths(draw: st.DrawFn) -> tuple[Path, tuple[Row, ...]]:
    """A path that ends in a filter, and rows to run it on."""
    columns = INPUT
    path: list[Operator] = []
    for level in range(draw(st.integers(0, 4))):
        operator = draw(operators(columns, 100 * (level + 1)))
        columns = columns_above(operator, columns)
        path.append(operator)
    path.append(Filter(tuple(draw(st.lists(comparisons(columns), min_size=1, max_size=3)))))
    row = st.fixed_dictionaries(
        {attribute_id(v): st.sampled_from(VALUES[strip(v.sort)]) for v in INPUT}
    )
    return tuple(path), tuple(draw(st.lists(row, max_size=6)))
