# SPDX-License-Identifier: Apache-2.0
"""Trusted. Builds terms and simplifies the obvious away, so that a lifted fold reads like its
source.

Only identities that hold for every value are used. A term that the source evaluates under a
condition stays under that condition: ``GET`` of none has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

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
    Scope,
    Term,
    Var,
    float_lit,
    int_lit,
    literal_value,
    none_lit,
    string_lit,
)
from presieve.ir.walk import subterms, variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.java_patterns import java_replacement, plain_matcher, simplified
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.pattern_prefixes import is_number


def and_(*terms: Term) -> Term:
    """Conjunction, evaluated from left to right; repeated conjuncts are dropped."""
    joined = conjunction(terms)
    if not (isinstance(joined, App) and joined.op is Op.AND):
        return joined
    parts = tuple(dict.fromkeys(joined.args))
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


def ite(condition: Term, then: Term, otherwise: Term) -> Term:
    """``then`` where the condition holds, else ``otherwise``."""
    if isinstance(condition, App) and condition.op is Op.NOT:
        return ite(condition.args[0], otherwise, then)
    then = _under(condition, then, 1)
    otherwise = _under(condition, otherwise, 2)
    if condition == TRUE or then == otherwise:
        return then
    if condition == FALSE:
        return otherwise
    if then.sort == BOOL:
        return _ite_bool(condition, then, otherwise)
    return app(Op.ITE, condition, then, otherwise)


def choose(condition: Term, then: Term, otherwise: Term) -> Term:
    """As :func:`ite`; what a condition only adds to is written once, ``x + (k if c else 0)`` for
    ``x + k if c else x``: a score to which many rules add stays as long as its rules. A counter of
    rows keeps its form, and so do doubles, of whose sums solvers know little.
    """
    zero = int_lit(0)
    match then, otherwise:
        case App(Op.INT_ADD, (x, more)), _ if x == otherwise and _is_of_row(x):
            return app(Op.INT_ADD, x, ite(condition, more, zero))
        case _, App(Op.INT_ADD, (x, more)) if x == then and _is_of_row(x):
            return app(Op.INT_ADD, x, ite(condition, zero, more))
    return ite(condition, then, otherwise)


def combine_choices(op: Op, a: Term, b: Term) -> Term:
    """Apply an operator to two terms. Of choices between a few constants, such as those that a dict
    holds for a key, it is the choice between the results.
    """
    if any(_count_leaves(t) is None for t in (a, b)) or all(isinstance(t, Lit) for t in (a, b)):
        return app(op, a, b)
    chosen = _combine_leaves(op, a, b)
    return app(op, a, b) if _count_leaves(chosen) is None else chosen


_MOST_LEAVES = 24
"""The maximum number of constants between which a term chooses, so that it is combined."""


def _count_leaves(term: Term) -> int | None:
    """Count the constants between which a term chooses; None for other terms, and for many."""
    match term:
        case Lit():
            return 1
        case App(Op.ITE, (_, then, otherwise)):
            counts = _count_leaves(then), _count_leaves(otherwise)
            count = sum(c or _MOST_LEAVES + 1 for c in counts)
            return count if count <= _MOST_LEAVES else None
    return None


def _combine_leaves(op: Op, a: Term, b: Term) -> Term:
    match a, b:
        case (App(Op.ITE, (test, *_)), _) | (_, App(Op.ITE, (test, *_))):
            sides = ((_under(test, a, i), _under(test, b, i)) for i in (1, 2))
            return ite(test, *(_combine_leaves(op, *side) for side in sides))
    return fold_constants(app(op, a, b))


def _is_of_row(term: Term) -> bool:
    return isinstance(term, App) and all(v.scope is not Scope.ACC for v in variables(term))


def _under(condition: Term, term: Term, branch: int) -> Term:
    """If the term tests the same condition again, return the branch that is taken."""
    while isinstance(term, App) and term.op is Op.ITE and term.args[0] == condition:
        term = term.args[branch]
    return term


def _ite_bool(condition: Term, then: Term, otherwise: Term) -> Term:
    if then == TRUE:
        return or_(condition, otherwise)
    if then == FALSE:
        return and_(negate(condition), otherwise)
    if otherwise == TRUE:
        return or_(negate(condition), then)
    if otherwise == FALSE:
        return and_(condition, then)
    return app(Op.ITE, condition, then, otherwise)


def apply_function(op: Op, *args: Term) -> Term:
    """Apply a function of single values. A choice between a constant and another term becomes a
    choice between the two results. What is known of the argument's own function is used.
    """
    for i, arg in enumerate(args):
        match arg:
            case App(Op.ITE, (test, then, otherwise)) if isinstance(then, Lit) or isinstance(
                otherwise, Lit
            ):
                sides = ((*args[:i], side, *args[i + 1 :]) for side in (then, otherwise))
                return ite(test, *(apply_function(op, *side) for side in sides))
    match op, args:
        case Op.CLOCK_DATE, (App(Op.DATE_MIDNIGHT, (day,)),):
            return day
        case Op.TEXT_IS, (App(Op.TEXT_GROUP, (_, *how)), Lit(_, ("int" | "float") as kind)):
            pattern, flags, _, group = (literal_value(x) for x in how if isinstance(x, Lit))
            if is_number(str(pattern), int(flags or 0), int(group or 0), kind):
                return TRUE
    return fold_constants(app(op, *args))


def matches_pattern(text: Term, pattern: str, flags: int) -> Term:
    """Return whether a regular expression of Python fits at the beginning of a text. It is written
    in its plain form, which Spark has, too, if it has one.
    """
    pattern, flags = simplified(pattern, flags)
    return apply_function(Op.TEXT_MATCHES, text, string_lit(pattern), int_lit(flags))


def group_of_match(text: Term, pattern: str, flags: int, method: str, number: int) -> Term:
    """Return a group, which takes part, of the match that ``method`` of ``re`` finds."""
    plain = plain_matcher(pattern, flags, method)
    if plain is not None:
        pattern, flags, method = plain, 0, "search"
    parameters = string_lit(pattern), int_lit(flags), string_lit(method), int_lit(number)
    return apply_function(Op.TEXT_GROUP, text, *parameters)


def substitute_matches(text: Term, pattern: str, flags: int, by: str) -> Term:
    """Return the text in which ``by`` takes the place of all matches, as ``re.sub`` reads it. The
    plain form has no names of groups, which ``by`` may have.
    """
    plain = plain_matcher(pattern, flags)
    if plain is not None and java_replacement(by) is not None:
        pattern, flags = plain, 0
    parameters = string_lit(pattern), int_lit(flags), string_lit(by)
    return apply_function(Op.TEXT_SUBSTITUTED, text, *parameters)


def some(term: Term) -> Term:
    """Return the term as an option; an option stays."""
    if isinstance(term.sort, Option):
        return term
    if isinstance(term, App) and term.op is Op.GET:
        return term.args[0]  # the same where GET has a value; elsewhere the value is never used
    if isinstance(term, App) and term.op is Op.ITE and _has_get(term):
        condition, then, otherwise = term.args
        return ite(condition, some(then), some(otherwise))
    return app(Op.SOME, term)


def _has_get(term: App) -> bool:
    """Whether a branch is the value of an option."""
    for branch in term.args[1:]:
        if isinstance(branch, App):
            if branch.op is Op.GET or (branch.op is Op.ITE and _has_get(branch)):
                return True
    return False


def is_none(term: Term) -> Term:
    """Whether an option is none; false for a term that is not an option."""
    if not isinstance(term.sort, Option):
        return FALSE
    if isinstance(term, Lit):
        return TRUE if term.value is None else FALSE
    if isinstance(term, App) and term.op is Op.SOME:
        return FALSE
    if isinstance(term, App) and term.op is Op.OPEN_ZERO:
        return is_none(term.args[0])
    if isinstance(term, App) and term.op is Op.ITE:
        condition, then, otherwise = term.args
        a, b = is_none(then), is_none(otherwise)
        if isinstance(a, Lit) or isinstance(b, Lit):
            return ite(condition, a, b)
    return app(Op.IS_NONE, term)


def get(term: Term) -> Term:
    """The value of an option that is not none here; a term that is not an option stays."""
    if not isinstance(term.sort, Option):
        return term
    if isinstance(term, Lit) and term.value is not None:
        return Lit(term.sort.of, term.value)
    if isinstance(term, App) and term.op is Op.SOME:
        return term.args[0]
    if isinstance(term, App) and term.op is Op.OPEN_ZERO:
        return app(Op.OPEN_ZERO, get(term.args[0]), term.args[1])
    if isinstance(term, App) and term.op is Op.ITE:
        condition, then, otherwise = term.args
        presence = is_none(then), is_none(otherwise)
        if FALSE in presence and TRUE not in presence:
            return ite(condition, get(then), get(otherwise))
    return app(Op.GET, term)


def nan_to_null(term: Term) -> Term:
    """Return a double as an option that is none for NaN, as pandas' values come back to Spark:
    ``_create_array`` of ``pyspark/sql/pandas/serializers.py`` masks what ``isnull()`` finds.
    """
    return ite(is_missing(term), none_lit(FLOAT), some(unwrap_option(term)))


def is_missing(term: Term) -> Term:
    """Return whether pandas counts a value as missing: none, or NaN."""
    absent = is_none(term)
    if strip(term.sort) != FLOAT:
        return absent
    return or_(absent, and_(negate(absent), app(Op.IS_NAN, unwrap_option(term))))


def without_options(term: Term) -> Term:
    """Return a term without GET and SOME around it, which have no meaning in Spark."""
    while isinstance(term, App) and term.op in (Op.GET, Op.SOME):
        (term,) = term.args
    return term


def substitute(term: Term, values: Mapping[Var, Term]) -> Term:
    """Replace variables by these values. Tests of a choice become tests of the chosen branch."""
    results: dict[int, Term] = {}
    for node in subterms(term):
        match node:
            case Var():
                results[id(node)] = values.get(node, node)
            case App(op, args):
                new_args = tuple(results[id(a)] for a in args)
                results[id(node)] = _OF_OPTIONS.get(op, partial(app, op))(*new_args)
            case _:
                results[id(node)] = node
    return results[id(term)]


def unwrap_option(term: Term) -> Term:
    """The value of an option that is not none; of a choice with a none branch, the other one."""
    match term:
        case App(Op.ITE, (_, Lit(_, None), value)) | App(Op.ITE, (_, value, Lit(_, None))):
            return unwrap_option(value)
    return get(term)


_OF_OPTIONS: dict[Op, Callable[..., Term]] = {
    Op.GET: unwrap_option,
    Op.IS_NONE: is_none,
    Op.ITE: ite,
    Op.AND: and_,
    Op.OR: or_,
    Op.NOT: negate,
}


def fold_constants(term: Term) -> Term:
    """Evaluate an operation on constants to a constant; the term stays if it has no value."""
    if not isinstance(term, App) or not all(isinstance(a, Lit) for a in term.args):
        return term
    try:
        value = evaluate(term, {})
    except Undefined:
        return term
    if isinstance(value, float):
        return float_lit(value)
    # There are no constants for texts that are split into parts, or for none.
    return Lit(term.sort, value) if isinstance(value, bool | int | str) else term


def _add_integers(a: Term, b: Term) -> Term:
    zero = int_lit(0)
    return b if a == zero else a if b == zero else apply_function(Op.INT_ADD, a, b)


def _open_zero(term: Term, is_open: Term) -> Term:
    return term if is_open == FALSE else app(Op.OPEN_ZERO, term, is_open)


_SIMPLER: dict[Op, Callable[..., Term]] = {
    **_OF_OPTIONS,
    Op.INT_ADD: _add_integers,
    Op.OPEN_ZERO: _open_zero,
}

_THROUGH: dict[Op, Callable[..., Term]] = {
    op: partial(apply_function, op)
    for op in (Op.IS_NAN, Op.PY_EQ, Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE)
}


def simplify(term: Term, *, through: bool = True) -> Term:
    """Simplify: operations on constants become constants, and choices by constants are made.
    ``through``: a comparison or test for NaN of a choice that has a constant branch becomes a
    choice of comparisons or tests.
    """
    rules = {**_SIMPLER, **_THROUGH} if through else _SIMPLER
    results: dict[int, Term] = {}
    for node in subterms(term):
        if isinstance(node, App):
            new_args = tuple(results[id(a)] for a in node.args)
            simpler = rules.get(node.op, partial(app, node.op))(*new_args)
            results[id(node)] = (
                simpler if isinstance(simpler.sort, Option) else fold_constants(simpler)
            )
        else:
            results[id(node)] = node
    return results[id(term)]


def any_value(sort: Sort) -> Term:
    """An arbitrary value of the sort, for places where the source has no value."""
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


def _convert(term: Term, sort: Sort, constant: Callable[[Any], Lit], apply: Converter) -> Term:
    """Convert a term to another sort, with its options and its choices: a constant to a constant,
    and anything else by applying an operator.
    """
    if isinstance(term.sort, Option):
        present = _convert(get(term), sort, constant, apply)
        return ite(is_none(term), none_lit(sort), some(present))
    if isinstance(term, Lit):
        return constant(literal_value(term) or 0)
    if isinstance(term, App) and term.op is Op.ITE:
        condition, *values = term.args
        return ite(condition, *(_convert(v, sort, constant, apply) for v in values))
    return apply(term)


Converter: TypeAlias = Callable[[Term], Term]


def as_float(term: Term) -> Term:
    """Convert an Int term to Float; exact if the caller knows that every value is exact."""
    return _convert(term, FLOAT, lambda n: float_lit(float(n)), partial(app, Op.INT_TO_FLOAT))


def as_instant(term: Term, ahead: int) -> Term:
    """Convert a TimestampNTZ term to the instant at which clocks this far ahead of UTC show it."""
    return _convert(
        term,
        TIMESTAMP,
        lambda shown: Lit(TIMESTAMP, shown - ahead),
        lambda local: app(Op.INSTANT, local, int_lit(ahead)),
    )


def widen_decimal(term: Term, scale: int) -> Term:
    """Give a decimal term this many digits after the point, at least as many as it has: the same
    number.
    """
    base = strip(term.sort)
    assert isinstance(base, Decimal)
    added_digits = scale - base.scale
    if added_digits == 0:
        return term
    return _convert(
        term,
        Decimal(scale),
        lambda units: Lit(Decimal(scale), units * 10**added_digits),
        lambda decimal: app(Op.DECIMAL_WIDEN, decimal, int_lit(added_digits)),
    )


def as_int(term: Term) -> Term:
    """Convert a Bool term to the integer that Python uses for it in arithmetic."""
    return ite(term, int_lit(1), int_lit(0)) if strip(term.sort) == BOOL else term
