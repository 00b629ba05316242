"""Trusted. Columns of which a function asks whether a value is missing.

That a column is without NaN is no part of what a fold means: it makes proofs easier. Of a column
that is asked for missing values it would answer the question, so there it is not assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from presieve.ir.fold import Fold
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import subterms, variables
from presieve.lift.forms import Lifted

OPTIONAL = "no-nan"
"""The code of an assumption that a fold's meaning does not rest on."""


EXACT = "exact-int"
"""The code of the assumption that integers are the same numbers as doubles."""
NO_NULL = "no-null"
"""The code of the assumption that no NULL is in a column, without which the fold is another one."""


def without_tested(lifted: Lifted, tested: frozenset[Var]) -> Lifted:
    """The same, with nothing assumed of these columns that can be done without, nor of the size
    of integers that nobody looks at.
    """
    read = _read(lifted)
    kept = tuple(
        a
        for a in lifted.assumptions
        if (a.code != OPTIONAL or tested.isdisjoint(variables(a.term)))
        and (a.code != EXACT or not read.isdisjoint(variables(a.term)))
    )
    return replace(lifted, assumptions=kept)


def _read(lifted: Lifted) -> frozenset[Var]:
    """The variables of which more is read than whether they are none."""
    terms = (*_terms(lifted.fold), lifted.kept)
    nodes = (n for n in subterms(*terms) if isinstance(n, App) and n.op is not Op.IS_NONE)
    whole = (*terms, *(a for n in nodes for a in n.args))
    return frozenset(t for t in whole if isinstance(t, Var))


def _terms(fold: Fold) -> tuple[Term, ...]:
    steps = (t for f in fold.fields for t in (f.init, f.step))
    outputs = (o.term for o in fold.outputs)
    return (*steps, fold.step_raises, fold.finish_raises, *outputs)


def assumed_not_null(lifted: Lifted) -> frozenset[Var]:
    """The columns that the fold's meaning takes to be without NULL."""
    return frozenset(variables(*(a.term for a in lifted.assumptions if a.code == NO_NULL)))


def tested_columns(lifted: Lifted, asked: Iterable[Term]) -> frozenset[Var]:
    """The columns and keys that are read by what is ``asked`` whether it is missing, at once or by
    way of the state.
    """
    steps = {f.name: (f.init, f.step) for f in lifted.fold.fields}
    left, seen = list(asked), set[Var]()
    while left:
        for v in variables(left.pop()):
            if v not in seen and v.scope is Scope.ACC:
                left += steps.get(v.name, ())
            seen.add(v)
    return frozenset(seen)
