"""Trusted. A table against a pushdown, run on the reference interpreter and made to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from presieve.driver.python_rows import python_result, python_row, sorts_of
from presieve.errors import PresieveError
from presieve.ir.fold import Problem
from presieve.ir.terms import Term
from presieve.report.verdict_model import Blame, Counterexample
from presieve.semantics import interpret
from presieve.semantics.interpret import Result, Row
from presieve.semantics.types import SchemaColumn
from presieve.semantics.values import Value, same

if TYPE_CHECKING:
    from presieve.synthesis.invariant.candidate import Wrong


def refutation(
    schema: Sequence[SchemaColumn],
    problem: Problem,
    wrong: Wrong,
    prefilter: Term,
    residual: Term,
) -> Counterexample:
    """Run both pipelines and show what they give."""
    from presieve.report.trace_steps import ran
    from presieve.synthesis.events import Group

    fold = problem.fold
    keys = dict(zip((c.name for c in fold.keys), wrong.key, strict=True))
    names = [c.name for c in fold.columns]
    rows: list[Row] = [dict(zip(names, r, strict=True)) for r in wrong.table]
    kept = [bool(interpret.keep(prefilter, [row], keys)) for row in rows]
    passed = [row for row, stays in zip(rows, kept, strict=True) if stays]
    original = interpret.outcome(problem, rows, keys)
    optimized = interpret.pushed_outcome(problem, rows, keys, prefilter, residual)
    if interpret.agree(original, optimized):
        raise PresieveError("a counterexample does not differ when it is run")
    group = Group(problem, wrong.key, wrong.table)
    few = tuple(tuple(row[n] for n in names) for row in passed)
    sorts = sorts_of(problem)
    parts = {*keys, *(c.name for c in fold.columns if not c.hidden)}
    return Counterexample(
        [python_row(schema, {**keys, **r}, sorts) for r in rows],
        python_result(problem, original, keys),
        python_result(problem, optimized, keys),
        kept=kept,
        written=ran("as written", group, wrong.table),
        pushed=ran("as pushed", group, few, residual),
        blame=_wrong_part(problem, passed, keys, residual),
        columns=tuple(c.name for c in schema if c.name in parts),
    )


def _wrong_part(
    problem: Problem, kept: Sequence[Row], keys: Mapping[str, Value], residual: Term
) -> Blame:
    """Which part is wrong.

    The rows that are kept are a table of their own, of which the pre-filter keeps all. A residual
    that judges their outputs otherwise than the filter is wrong there, whatever is dropped
    elsewhere. One that judges them as the filter does cannot be blamed, nor could another be right:
    it would be wrong on that table.
    """
    own = interpret.outcome(problem, kept, keys)
    pushed = interpret.outcome(problem, kept, keys, residual)
    if _agree(own, pushed):
        return "prefilter"
    return "residual-accepts" if isinstance(pushed, Result) else "residual-rejects"


def _agree(one: interpret.Outcome, other: interpret.Outcome) -> bool:
    if isinstance(one, Result) and isinstance(other, Result):
        return same(one.outputs, other.outputs)
    return type(one) is type(other)
