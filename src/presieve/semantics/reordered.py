"""Trusted. Folds of which it is said that sums of doubles may be rounded otherwise.

``Series.sum()`` of doubles adds in pairs (``pairwise_sum`` of NumPy), so that a proof knows it as a
function of the sequence of all values. Where rounding makes no difference it is the sum of the
values one after the other, of which those that are NaN count as zero. A sum that begins with its
first value begins with zero, as Spark's does: it differs where all values are -0.0.
"""

from __future__ import annotations

from dataclasses import replace

from presieve.ir.fold import Field, Fold
from presieve.ir.ops import app, negate
from presieve.ir.sorts import FLOAT, SEQUENCE, Option
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, float_lit
from presieve.ir.walk import replace_nodes, subterms
from presieve.semantics.build import get, is_none, ite, simplified, some


def with_sums(fold: Fold) -> Fold:
    """The fold with sums in place of sequences of which nothing else is asked than their sum."""
    sums = {
        Var(Scope.ACC, f.name, f.sort): Var(Scope.ACC, f.name, FLOAT)
        for f in fold.fields
        if f.sort == SEQUENCE and _is_summed(f, fold)
    }

    def summed(term: Term) -> Term:
        return replace_nodes(term, lambda node: _sum(node, sums))

    fields = tuple(
        _added(_from_zero(f), sums.get(Var(Scope.ACC, f.name, f.sort))) for f in fold.fields
    )
    outputs = tuple(replace(o, term=summed(o.term)) for o in fold.outputs)
    ends = summed(fold.finish_raises)
    return replace(fold, fields=fields, outputs=outputs, finish_raises=ends)


def _from_zero(f: Field) -> Field:
    """A field that begins with the first value and adds the others, begun with zero."""
    own = Var(Scope.ACC, f.name, f.sort)
    sums = (n for n in subterms(f.step) if isinstance(n, App) and n.op is Op.FLOAT_ADD)
    if f.init != Lit(Option(FLOAT), None) or not any(get(own) in n.args for n in sums):
        return f
    step = _step_from_zero(f.step, own, first=False)
    return f if step is None else replace(f, step=simplified(step))


def _step_from_zero(step: Term, own: Var, *, first: bool) -> Term | None:
    """``first``: there is no value yet. None where values are not added."""
    match step:
        case App(Op.ITE, (condition, then, other)):
            begins, goes_on = condition == is_none(own), condition == negate(is_none(own))
            if not (begins or goes_on) and own in set(subterms(condition)):
                return None
            one = _step_from_zero(then, own, first=begins or (first and not goes_on))
            two = _step_from_zero(other, own, first=goes_on or (first and not begins))
            return None if one is None or two is None else ite(condition, one, two)
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
    """Whether values are added to a sequence, and it is asked for its sum, and nothing else."""
    own = Var(Scope.ACC, f.name, f.sort)
    ends = (*(o.term for o in fold.outputs), fold.finish_raises)
    others = (*(g.step for g in fold.fields if g is not f), fold.step_raises)
    asking = [n for n in subterms(*ends) if isinstance(n, App) and own in n.args]
    summed = own not in ends and all(n.op is Op.SEQ_SUM for n in asking)
    alone = own not in set(subterms(*others))
    return f.init == app(Op.SEQ_EMPTY) and _adds(f.step, own) and summed and alone


def _adds(step: Term, own: Var) -> bool:
    match step:
        case App(Op.ITE, (condition, then, other)):
            return own not in set(subterms(condition)) and _adds(then, own) and _adds(other, own)
        case App(Op.SEQ_ADD, (sequence, value)):
            return sequence == own and own not in set(subterms(value))
    return step == own


def _added(f: Field, own: Var | None) -> Field:
    """The field as a sum."""
    if own is None:
        return f
    return Field(f.name, FLOAT, float_lit(0.0), _as_sum(f.step, own))


def _as_sum(step: Term, own: Var) -> Term:
    match step:
        case App(Op.ITE, (condition, then, other)):
            return ite(condition, _as_sum(then, own), _as_sum(other, own))
        case App(Op.SEQ_ADD, (_, value)):
            counted = ite(app(Op.IS_NAN, value), float_lit(0.0), value)
            return app(Op.FLOAT_ADD, own, counted)
    return own
