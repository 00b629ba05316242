# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns that a function tests for missing values.

The assumption that a column has no NaN is not part of the meaning of a fold: it makes proofs
easier. ``no-nan`` is not assumed for a column that the function tests for missing values, because
it would decide the test.
"""

from __future__ import annotations

from collections.abc import Iterable

from presieve.ir.assumption_codes import EXACT_INT, NO_NAN, NO_NULL
from presieve.ir.fold import Fold
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import subterms, variables
from presieve.lift.forms import Lifted
from presieve.records import replace


def without_tested(lifted: Lifted, tested: frozenset[Var]) -> Lifted:
    """Drop optional assumptions on these columns, and those on the size of unread integers."""
    read = _read_values(lifted)
    assumptions = tuple(
        a
        for a in lifted.assumptions
        if (a.code != NO_NAN or tested.isdisjoint(variables(a.term)))
        and (a.code != EXACT_INT or not read.isdisjoint(variables(a.term)))
    )
    return replace(lifted, assumptions=assumptions)


def _read_values(lifted: Lifted) -> frozenset[Var]:
    """Return the variables whose values are read, and not only tested for being none."""
    terms = (*_terms(lifted.fold), lifted.kept)
    nodes = (n for n in subterms(*terms) if isinstance(n, App) and n.op is not Op.IS_NONE)
    read_terms = (*terms, *(a for n in nodes for a in n.args))
    return frozenset(t for t in read_terms if isinstance(t, Var))


def _terms(fold: Fold) -> tuple[Term, ...]:
    steps = (t for f in fold.fields for t in (f.init, f.step))
    outputs = (o.term for o in fold.outputs)
    return (*steps, fold.step_raises, fold.finish_raises, *outputs)


def assumed_not_null(lifted: Lifted) -> frozenset[Var]:
    """Return the columns that the meaning of the fold assumes to be without NULL."""
    return frozenset(variables(*(a.term for a in lifted.assumptions if a.code == NO_NULL)))


def tested_columns(lifted: Lifted, tested: Iterable[Term]) -> frozenset[Var]:
    """Return the columns and keys that the ``tested`` terms depend on, also through the state."""
    steps = {f.name: (f.init, f.step) for f in lifted.fold.fields}
    pending, reached = list(tested), set[Var]()
    while pending:
        for v in variables(pending.pop()):
            if v not in reached and v.scope is Scope.ACC:
                pending += steps.get(v.name, ())
            reached.add(v)
    return frozenset(reached)
