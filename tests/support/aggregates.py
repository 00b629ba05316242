"""Folds of groups as aggregates, as the search finds them, and both by the interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.certificate.group_aggregates import AggregatedCertificate, AggregateText, ListText
from presieve.certificate.row_expressions import Expression
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.errors import Declined
from presieve.ir.fold import Fold, Mode, Output, Problem
from presieve.ir.sorts import INT, strip
from presieve.ir.terms import SQL_TRUE, TRUE, Scope
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn
from presieve.semantics.interpret import Raised, evaluate, run_fold
from presieve.semantics.smart_constructors import some, substitute
from presieve.semantics.values import MOST_ROWS, Value
from presieve.smt.side_by_side import with_raised
from presieve.synthesis.aggregates.aggregate_invariant import Aggregates
from presieve.synthesis.aggregates.aggregate_search import aggregates_of

Rows = Sequence[dict[str, Value]]


def problem_of(fold: object, schema: str, returns: str, keys: str = "") -> Problem:
    """The problem that a class is read as, with what it assumes."""
    inputs = read_inputs(fold, schema, returns, keys, "grouped")
    assert isinstance(inputs, Inputs), inputs
    return Problem(inputs.fold, SQL_TRUE, Mode.GROUPED, tuple(inputs.lifted.assumptions))


def searched(
    fold: object, schema: str, returns: str, keys: str = "", codes: str | None = None
) -> Aggregates | Declined:
    """What the search finds; of the assumptions, those of these ``codes`` (None: all) are made."""
    problem = problem_of(fold, schema, returns, keys)
    kept = tuple(a for a in problem.assumptions if codes is None or a.code in codes.split())
    return aggregates_of(replace(problem, assumptions=kept))


def claim(found: Aggregates | Declined) -> AggregatedCertificate:
    """The claim, with terms of its own in place of what Spark would make of texts."""
    assert isinstance(found, Aggregates), found
    raises = substitute(with_raised(found.problem.fold).finish_raises, found.images)
    expressions = tuple(
        Expression(o.name, "", some(substitute(o.term, found.images)), TRUE, raises)
        for o in found.problem.fold.outputs
    )
    lists = tuple(ListText(c, "") for c in found.lists)
    return AggregatedCertificate(
        found.problem,
        tuple(map(_text, found.calls)),
        found.invariant,
        expressions,
        MOST_ROWS,
        lists,
    )


def _text(column: AggregateColumn) -> AggregateText:
    """Sums are of decimals, so that none overflows."""
    if column.function != "sum" or strip(column.argument.sort) != INT:
        return AggregateText(column, "")
    return AggregateText(replace(column, type="decimal(38,0)"), "", most=10**20)


def by_fold(problem: Problem, rows: Rows) -> tuple[Value, ...] | Raised:
    """What the fold gives of a group."""
    names = {c.name for c in problem.fold.columns}
    return run_fold(problem.fold, [{n: r[n] for n in names} for r in rows], {})


def by_aggregates(
    certificate: AggregatedCertificate, rows: Rows, key: Mapping[str, Value] | None = None
) -> tuple[Value, ...] | Raised:
    """What the expressions over the aggregates give of it."""
    key = key or {}
    env: dict[tuple[Scope, str], Value] = {(Scope.KEY, n): v for n, v in key.items()}
    for a in certificate.aggregates:
        (env[Scope.ACC, a.column.name],) = _run(a.column.fold, rows, key)
    for one in certificate.lists:
        outputs = tuple(Output(v.name, v.sort, "", v) for v in one.column.results)
        fold = Fold(one.column.name, (), (), one.column.fields, outputs)
        for v, value in zip(one.column.results, _run(fold, rows, key), strict=True):
            env[Scope.ACC, v.name] = value
    if any(evaluate(e.raises, env) for e in certificate.expressions):
        return Raised()
    return tuple(evaluate(e.value, env) for e in certificate.expressions)


def _run(fold: Fold, rows: Rows, key: Mapping[str, Value]) -> tuple[Value, ...]:
    made = run_fold(fold, rows, key)
    assert isinstance(made, tuple)
    return made
