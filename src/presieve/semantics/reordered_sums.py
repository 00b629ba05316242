# SPDX-License-Identifier: Apache-2.0
"""Trusted. Rewrites folds under the assumption that sums of doubles may be rounded differently.

``Series.sum()`` of doubles adds in pairs (``pairwise_sum`` of NumPy), so a proof treats it as a
function of the sequence of all values. If rounding makes no difference, it is the sum of the values
one after the other, in which NaN counts as zero. A sum that begins with its first value is
rewritten to begin with zero, as Spark's does: the two differ where all values are -0.0.
"""

from __future__ import annotations

from presieve.ir.fold import Field, Fold
from presieve.ir.ops import app, negate
from presieve.ir.sorts import FLOAT, SEQUENCE, Option
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, float_lit
from presieve.ir.walk import replace_nodes, subterms
from presieve.records import replace
from presieve.semantics.smart_constructors import get, is_none, ite, simplify, some


def with_sums(fold: Fold) -> Fold:
    """Replace sequences that are used only for their sum by sums."""
    sums = {
        Var(Scope.ACC, f.name, f.sort): Var(Scope.ACC, f.name, FLOAT)
        for f in fold.fields
        if f.sort == SEQUENCE and _is_summed(f, fold)
    }

    def replace_sums(term: Term) -> Term:
        return replace_nodes(term, lambda node: _sum(node, sums))

    fields = tuple(
        _turn_into_sum(_from_zero(f), sums.get(Var(Scope.ACC, f.name, f.sort))) for f in fold.fields
    )
    outputs = tuple(replace(o, term=replace_sums(o.term)) for o in fold.outputs)
    ends = replace_sums(fold.finish_raises)
    return replace(fold, fields=fields, outputs=outputs, finish_raises=ends)


def _from_zero(f: Field) -> Field:
    """Rewrite a field that begins with the first value and adds others to begin with zero."""
    own = Var(Scope.ACC, f.name, f.sort)
    sums = (n for n in subterms(f.step) if isinstance(n, App) and n.op is Op.FLOAT_ADD)
    if f.init != Lit(Option(FLOAT), None) or not any(get(own) in n.args for n in sums):
        return f
    step = _step_from_zero(f.step, own, first=False)
    return f if step is None else replace(f, step=simplify(step))


def _step_from_zero(step: Term, own: Var, *, first: bool) -> Term | None:
    """Rewrite a step to begin with zero. ``first``: there is no value yet. None if values are not
    added.
    """
    match step:
        case App(Op.ITE, (condition, then, otherwise)):
            begins, goes_on = condition == is_none(own), condition == negate(is_none(own))
            if not (begins or goes_on) and own in set(subterms(condition)):
                return None
            then_step = _step_from_zero(then, own, first=begins or (first and not goes_on))
            else_step = _step_from_zero(otherwise, own, first=goes_on or (first and not begins))
            return (
                None
                if then_step is None or else_step is None
                else ite(condition, then_step, else_step)
            )
        case App(Op.SOME, (App(Op.FLOAT_ADD, args),)) if not first and get(own) in args:
            (value,) = [a for a in args if a != get(own)] or [get(own)]
            return step if own not in set(subterms(value)) else None
    if step == own:
        return step
    if not first or own in set(subterms(step)):
        return None
    return ite(is_none(step), step, some(app(Op.FLOAT_ADD, float_lit(0.0), get(step))))


def _sum(node: Term, sums: dict[Var, Var]) -> Term | None:
    match node:
        case App(Op.SEQ_SUM, (Var() as sequence,)) if sequence in sums:
            return sums[sequence]
    return None


def _is_summed(f: Field, fold: Fold) -> bool:
    """Whether values are added to a sequence that is used only for its sum."""
    own = Var(Scope.ACC, f.name, f.sort)
    ends = (*(o.term for o in fold.outputs), fold.finish_raises)
    others = (*(g.step for g in fold.fields if g is not f), fold.step_raises)
    asking = [n for n in subterms(*ends) if isinstance(n, App) and own in n.args]
    summed = own not in ends and all(n.op is Op.SEQ_SUM for n in asking)
    alone = own not in set(subterms(*others))
    return f.init == app(Op.SEQ_EMPTY) and _adds(f.step, own) and summed and alone


def _adds(step: Term, own: Var) -> bool:
    match step:
        case App(Op.ITE, (condition, then, otherwise)):
            return (
                own not in set(subterms(condition)) and _adds(then, own) and _adds(otherwise, own)
            )
        case App(Op.SEQ_ADD, (sequence, value)):
            return sequence == own and own not in set(subterms(value))
    return step == own


def _turn_into_sum(f: Field, own: Var | None) -> Field:
    """The field as a sum, if ``own`` is its variable as a sum."""
    if own is None:
        return f
    return Field(f.name, FLOAT, float_lit(0.0), _as_sum(f.step, own))


def _as_sum(step: Term, own: Var) -> Term:
    match step:
        case App(Op.ITE, (condition, then, otherwise)):
            return ite(condition, _as_sum(then, own), _as_sum(otherwise, own))
        case App(Op.SEQ_ADD, (_, value)):
            counted = ite(app(Op.IS_NAN, value), float_lit(0.0), value)
            return app(Op.FLOAT_ADD, own, counted)
    return own
