# SPDX-License-Identifier: Apache-2.0
"""Trusted. A table that refutes a pushdown, run on the reference interpreter for display."""

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
    """Run both pipelines and show their results."""
    from presieve.report.trace_steps import ran
    from presieve.synthesis.events import Group

    fold = problem.fold
    keys = dict(zip((c.name for c in fold.keys), wrong.key, strict=True))
    names = [c.name for c in fold.columns]
    rows: list[Row] = [dict(zip(names, r, strict=True)) for r in wrong.table]
    is_kept = [bool(interpret.keep(prefilter, [row], keys)) for row in rows]
    passed = [row for row, stays in zip(rows, is_kept, strict=True) if stays]
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
        kept=is_kept,
        written=ran("as written", group, wrong.table),
        pushed=ran("as pushed", group, few, residual),
        blame=_wrong_part(problem, passed, keys, residual),
        columns=tuple(c.name for c in schema if c.name in parts),
    )


def _wrong_part(
    problem: Problem, kept_rows: Sequence[Row], keys: Mapping[str, Value], residual: Term
) -> Blame:
    """Decide which part is wrong.

    The kept rows form a table, and the pre-filter keeps all of it. If the residual judges the
    output of that table differently from the filter, the residual is wrong, whatever is dropped
    elsewhere. If it judges it as the filter does, it is not to blame, and no other residual could
    be right, because it would be wrong on that table.
    """
    own = interpret.outcome(problem, kept_rows, keys)
    pushed = interpret.outcome(problem, kept_rows, keys, residual)
    if _agree(own, pushed):
        return "prefilter"
    return "residual-accepts" if isinstance(pushed, Result) else "residual-rejects"


def _agree(first: interpret.Outcome, second: interpret.Outcome) -> bool:
    if isinstance(first, Result) and isinstance(second, Result):
        return same(first.outputs, second.outputs)
    return type(first) is type(second)
