"""Untrusted. A fold as a fold of the list of all rows of a group.

The step is that of the user's fold over the fields of a struct. Whether the order of the list makes
no difference is what is asked of it.
"""

from __future__ import annotations

from presieve.ir.fold import Field, Fold, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import Decimal, Option, Sort, strip
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.semantics.aggregates import ListColumn
from presieve.semantics.build import and_, get, is_none, some, substituted
from presieve.semantics.states import facts
from presieve.smt.side_by_side import RAISED, SideBySide, with_raised
from presieve.sql.operands import TYPE_NAMES
from presieve.synthesis.aggregates.candidates import unless_raised, values
from presieve.synthesis.aggregates.invariant import (
    Aggregates,
    holds,
    invariant,
    without_negative_zero,
)
from presieve.synthesis.order.commute import only_live


def as_list(problem: Problem, prefix: str) -> Aggregates | None:
    """The fold as a fold of a list, if the order of rows makes no difference. None where it does,
    or where that is not proved.
    """
    live = only_live(problem)
    fold = with_raised(live.fold)
    states = [Var(Scope.ACC, f.name, f.sort) for f in fold.fields]
    column = _column(fold, states, f"{prefix}list")
    images = {v: _image(v, b) for v, b in zip(states, column.results, strict=True)}
    claims = [
        _equal(v, image) if v.name == RAISED else unless_raised(fold, _equal(v, image))
        for v, image in images.items()
    ]
    read = variables(*(f.step for f in fold.fields))
    rows = [v for v in read if v.scope is Scope.ROW]
    for tried in dict.fromkeys((problem, without_negative_zero(problem, rows))):
        if not holds(next(iter(SideBySide.of(tried, (column,)).commuting(column)))):
            continue  # the first two rows may not change places
        about = [*values(fold), *facts(column.fields)]
        kept = invariant(tried, (column,), (*about, *claims))
        if not set(claims) <= set(kept):
            return None
        both = SideBySide.of(tried, (column,), tuple(kept))
        if all(map(holds, both.commuting(column))):
            return Aggregates(tried, tuple(kept), images, lists=(column,))
    return None


def _column(fold: Fold, states: list[Var], name: str) -> ListColumn:
    """The fold over fields of a struct, which may be NULL."""
    own = {v: Var(Scope.ACC, f"{name}.{v.name}", Option(strip(v.sort))) for v in states}
    images = {v: _image(v, b) for v, b in own.items()}
    fields = tuple(
        Field(b.name, b.sort, some(f.init), some(substituted(f.step, images)))
        for f, b in zip(fold.fields, own.values(), strict=True)
    )
    return ListColumn(name, fields, tuple(_type(v.sort) for v in states))


def _image(state: Var, column: Var) -> Term:
    return column if isinstance(state.sort, Option) else get(column)


def _equal(state: Var, image: Term) -> Term:
    same = app(Op.SAME, state, image)
    if isinstance(state.sort, Option):
        return same
    return and_(negate(is_none(some(image))), same)


def _type(sort: Sort) -> str:
    inner = strip(sort)
    return "" if isinstance(inner, Decimal) else TYPE_NAMES.get(inner, "")
