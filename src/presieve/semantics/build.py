"""Trusted. Terms with the obvious simplified away, so that a lifted fold reads like its source.

Only identities that hold for every value are used. A term that is evaluated under a condition in
the source stays under that condition: ``GET`` of none has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import (
    BOOL,
    FLOAT,
    INT,
    SEQUENCE,
    TEXTS,
    TIMESTAMP,
    Decimal,
    Option,
    Sort,
    strip,
)
from presieve.ir.terms import (
    FALSE,
    TRUE,
    App,
    Lit,
    Op,
    Term,
    Var,
    float_lit,
    int_lit,
    literal_value,
    none_lit,
)
from presieve.ir.walk import subterms
from presieve.semantics.interpret import evaluate
from presieve.semantics.operators import Undefined


def and_(*terms: Term) -> Term:
    """Conjunction, evaluated from left to right; repeated parts are dropped."""
    whole = conjunction(terms)
    if not (isinstance(whole, App) and whole.op is Op.AND):
        return whole
    parts = tuple(dict.fromkeys(whole.args))
    if any(negate(p) in parts for p in parts):
        return FALSE
    return conjunction(parts)


def or_(*terms: Term) -> Term:
    """Disjunction, evaluated from left to right; nested ones are flattened."""
    parts: dict[Term, None] = {}
    for term in terms:
        inner = term.args if isinstance(term, App) and term.op is Op.OR else (term,)
        parts.update(dict.fromkeys(inner))
    parts.pop(FALSE, None)
    if TRUE in parts or any(negate(p) in parts for p in parts):
        return TRUE
    if not parts:
        return FALSE
    return next(iter(parts)) if len(parts) == 1 else app(Op.OR, *parts)


def ite(condition: Term, then: Term, other: Term) -> Term:
    """``then`` where the condition holds, else ``other``."""
    if isinstance(condition, App) and condition.op is Op.NOT:
        return ite(condition.args[0], other, then)
    then = _under(condition, then, 1)
    other = _under(condition, other, 2)
    if condition == TRUE or then == other:
        return then
    if condition == FALSE:
        return other
    if then.sort == BOOL:
        return _ite_bool(condition, then, other)
    return app(Op.ITE, condition, then, other)


def _under(condition: Term, term: Term, branch: int) -> Term:
    """The branch that is taken of a term that asks for the same condition again."""
    while isinstance(term, App) and term.op is Op.ITE and term.args[0] == condition:
        term = term.args[branch]
    return term


def _ite_bool(condition: Term, then: Term, other: Term) -> Term:
    if then == TRUE:
        return or_(condition, other)
    if then == FALSE:
        return and_(negate(condition), other)
    if other == TRUE:
        return or_(negate(condition), then)
    if other == FALSE:
        return and_(condition, then)
    return app(Op.ITE, condition, then, other)


def applied(op: Op, *args: Term) -> Term:
    """A function of single values. Of a choice between a constant and something else it is a choice
    between what it gives for each.
    """
    for i, arg in enumerate(args):
        match arg:
            case App(Op.ITE, (test, then, other)) if isinstance(then, Lit) or isinstance(
                other, Lit
            ):
                sides = ((*args[:i], side, *args[i + 1 :]) for side in (then, other))
                return ite(test, *(applied(op, *side) for side in sides))
    return folded(app(op, *args))


def some(term: Term) -> Term:
    """The term as an option; one that is an option already stays."""
    if isinstance(term.sort, Option):
        return term
    if isinstance(term, App) and term.op is Op.GET:
        return term.args[0]  # the same where GET has a value; elsewhere nobody asks
    if isinstance(term, App) and term.op is Op.ITE and _has_get(term):
        condition, then, other = term.args
        return ite(condition, some(then), some(other))
    return app(Op.SOME, term)


def _has_get(term: App) -> bool:
    """Whether a branch is the value of an option."""
    for branch in term.args[1:]:
        if isinstance(branch, App):
            if branch.op is Op.GET or (branch.op is Op.ITE and _has_get(branch)):
                return True
    return False


def is_none(term: Term) -> Term:
    """Whether an option is none; false for what is no option."""
    if not isinstance(term.sort, Option):
        return FALSE
    if isinstance(term, Lit):
        return TRUE if term.value is None else FALSE
    if isinstance(term, App) and term.op is Op.SOME:
        return FALSE
    if isinstance(term, App) and term.op is Op.OPEN_ZERO:
        return is_none(term.args[0])
    if isinstance(term, App) and term.op is Op.ITE:
        condition, then, other = term.args
        a, b = is_none(then), is_none(other)
        if isinstance(a, Lit) or isinstance(b, Lit):
            return ite(condition, a, b)
    return app(Op.IS_NONE, term)


def get(term: Term) -> Term:
    """The value of an option that is not none here; what is no option stays."""
    if not isinstance(term.sort, Option):
        return term
    if isinstance(term, Lit) and term.value is not None:
        return Lit(term.sort.of, term.value)
    if isinstance(term, App) and term.op is Op.SOME:
        return term.args[0]
    if isinstance(term, App) and term.op is Op.OPEN_ZERO:
        return app(Op.OPEN_ZERO, get(term.args[0]), term.args[1])
    if isinstance(term, App) and term.op is Op.ITE:
        condition, then, other = term.args
        presence = is_none(then), is_none(other)
        if FALSE in presence and TRUE not in presence:
            return ite(condition, get(then), get(other))
    return app(Op.GET, term)


def substituted(term: Term, values: Mapping[Var, Term]) -> Term:
    """The term with these values for variables. What is asked of options that are choices is
    asked of what is chosen.
    """
    done: dict[int, Term] = {}
    for node in subterms(term):
        match node:
            case Var():
                done[id(node)] = values.get(node, node)
            case App(op, args):
                given = tuple(done[id(a)] for a in args)
                done[id(node)] = _OF_OPTIONS.get(op, partial(app, op))(*given)
            case _:
                done[id(node)] = node
    return done[id(term)]


def unwrapped(term: Term) -> Term:
    """The value of an option that is not none here, of a choice the one of what is chosen then."""
    match term:
        case App(Op.ITE, (_, Lit(_, None), value)) | App(Op.ITE, (_, value, Lit(_, None))):
            return unwrapped(value)
    return get(term)


_OF_OPTIONS: dict[Op, Callable[..., Term]] = {
    Op.GET: unwrapped,
    Op.IS_NONE: is_none,
    Op.ITE: ite,
    Op.AND: and_,
    Op.OR: or_,
    Op.NOT: negate,
}


def folded(term: Term) -> Term:
    """The constant that an operation on constants gives; the term as it is where there is none."""
    if not isinstance(term, App) or not all(isinstance(a, Lit) for a in term.args):
        return term
    try:
        value = evaluate(term, {})
    except Undefined:
        return term
    if isinstance(value, float):
        return float_lit(value)
    # There are no constants of texts that are cut into parts, or of nothing.
    return Lit(term.sort, value) if isinstance(value, bool | int | str) else term


def _added(a: Term, b: Term) -> Term:
    zero = int_lit(0)
    return b if a == zero else a if b == zero else applied(Op.INT_ADD, a, b)


def _open_zero(term: Term, is_open: Term) -> Term:
    return term if is_open == FALSE else app(Op.OPEN_ZERO, term, is_open)


_SIMPLER: dict[Op, Callable[..., Term]] = {
    **_OF_OPTIONS,
    Op.INT_ADD: _added,
    Op.OPEN_ZERO: _open_zero,
}

_THROUGH: dict[Op, Callable[..., Term]] = {
    op: partial(applied, op) for op in (Op.IS_NAN, Op.PY_EQ, Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE)
}


def simplified(term: Term, *, through: bool = True) -> Term:
    """The same, where operations on constants are constants and choices by them are made.
    ``through``: of a choice between a constant and something else, what is asked is a choice, too.
    """
    rules = {**_SIMPLER, **_THROUGH} if through else _SIMPLER
    done: dict[int, Term] = {}
    for node in subterms(term):
        if isinstance(node, App):
            given = tuple(done[id(a)] for a in node.args)
            made = rules.get(node.op, partial(app, node.op))(*given)
            done[id(node)] = made if isinstance(made.sort, Option) else folded(made)
        else:
            done[id(node)] = node
    return done[id(term)]


def default(sort: Sort) -> Term:
    """Some value of the sort: what stands where the source has no value."""
    match sort:
        case Option(of):
            return none_lit(of)
    if sort == BOOL:
        return FALSE
    if sort == FLOAT:
        return float_lit(0.0)
    if sort in TEXTS:
        return Lit(sort, "")
    if sort == SEQUENCE:
        return app(Op.SEQ_EMPTY)
    return int_lit(0) if sort == INT else Lit(sort, 0)


def as_float(term: Term) -> Term:
    """An Int term as Float; exact where the caller knows that every value is."""
    if isinstance(term.sort, Option):
        return ite(is_none(term), none_lit(FLOAT), some(as_float(get(term))))
    if isinstance(term, Lit):
        return float_lit(float(literal_value(term) or 0))
    if isinstance(term, App) and term.op is Op.ITE:
        condition, then, other = term.args
        return ite(condition, as_float(then), as_float(other))
    return app(Op.INT_TO_FLOAT, term)


def as_instant(term: Term, ahead: int) -> Term:
    """A TimestampNTZ term as the instant at which clocks so far ahead of UTC show it."""
    if isinstance(term.sort, Option):
        return ite(is_none(term), none_lit(TIMESTAMP), some(as_instant(get(term), ahead)))
    if isinstance(term, Lit):
        return Lit(TIMESTAMP, int(literal_value(term) or 0) - ahead)
    if isinstance(term, App) and term.op is Op.ITE:
        condition, then, other = term.args
        return ite(condition, as_instant(then, ahead), as_instant(other, ahead))
    return app(Op.INSTANT, term, int_lit(ahead))


def widen(term: Term, scale: int) -> Term:
    """A decimal term with this many digits after the point, at least its own: the same number."""
    base = strip(term.sort)
    assert isinstance(base, Decimal)
    more = scale - base.scale
    if more == 0:
        return term
    if isinstance(term.sort, Option):
        return ite(is_none(term), none_lit(Decimal(scale)), some(widen(get(term), scale)))
    if isinstance(term, Lit):
        return Lit(Decimal(scale), int(term.value or 0) * 10**more)
    if isinstance(term, App) and term.op is Op.ITE:
        condition, then, other = term.args
        return ite(condition, widen(then, scale), widen(other, scale))
    return app(Op.DECIMAL_WIDEN, term, int_lit(more))


def as_int(term: Term) -> Term:
    """A Bool term as the integer that Python takes it for in arithmetic."""
    return ite(term, int_lit(1), int_lit(0)) if strip(term.sort) == BOOL else term
