# SPDX-License-Identifier: Apache-2.0
"""Trusted. What follows from a function's value where no condition on the arguments is equivalent.

``re.sub(r"[^0-9]", "", s) == "12"`` needs a text with "1" and "2" in it, and ``math.log(x) > 3``
an x above 20. Each rule holds for every argument on which the function has a value. A condition is
that of Spark, and NULL where an argument is NULL.

The functions of a platform's library of mathematics are monotone up to the last bits, which differ
between platforms. A bound on the argument therefore belongs to a bound on the value that is looser
by far more than that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import TypeAlias

from presieve.ir.ops import app, negate, sql_conjunction, sql_disjunction
from presieve.ir.sorts import TIMESTAMP, String
from presieve.ir.terms import App, Lit, Op, Term, int_lit, lit, literal_value, string_lit
from presieve.semantics.function_meanings import FUNCTIONS, SQUARE, is_whole_quotient
from presieve.semantics.pattern_prefixes import beginning, part
from presieve.semantics.preimages import CASELESS, least, spell_as, starts_with
from presieve.semantics.values import INT_RANGES

_SLACK = 1e-9
"""The relative error that a function of mathematics certainly stays below."""
_RISING = ("exp", "expm1", "log", "log10", "log2", "log1p", "atan", "sinh", "tanh", "cbrt", SQUARE)
_FEW = 4
"""The largest number of ways in which a text is cut into two."""
_MOST = 12
"""The largest number of characters that a text is asked for."""

Rule: TypeAlias = Callable[[Op, App, Lit], Term | None]


def consequence(computed: Term) -> Term | None:
    """Spark's predicate on the arguments that holds where the function returns true."""
    match computed:
        case App(Op.TEXT_MATCHES, (text, Lit(_, str() as pattern), Lit(_, int() as flags))):
            first, inside = beginning(pattern, flags), part(pattern, flags)
            conjuncts = [starts_with(text, first)] if first else []
            if len(inside) > len(first):
                conjuncts.append(app(Op.TEXT_CONTAINS, text, string_lit(inside)))
            return sql_conjunction(conjuncts) if conjuncts else None
        case App(Op.TEXT_CONTAINS | Op.TEXT_ENDS, (App() as text, Lit(_, str() as wanted))):
            inner = value_of(text)
            if not isinstance(inner, App):
                return None
            rule = _IMPLIED.get(inner.op)
            if inner.op in (*_PARTS, *_KEEPS_EMPTY) and rule is not None:
                return rule(Op.SQL_EQ, inner, string_lit(wanted))
            around = _text_around(inner, wanted) if computed.op is Op.TEXT_CONTAINS else inner
            return None if around == inner else app(computed.op, around, string_lit(wanted))
        case App(Op.TEXT_IS, (text, Lit(_, str() as kind))):
            start = LEAST.get(kind)
            bound = string_lit("" if start is None else start)
            return app(Op.SQL_GT if start is None else Op.SQL_GE, text, bound)
    return None


def respell_test(test: Term) -> Term | None:
    """The same test of the text that is spelled as what it asks for, where the text is one of
    changed case; None for other tests.
    """
    match test:
        case App(Op.TEXT_CONTAINS | Op.TEXT_ENDS as op, (text, Lit(_, str() as wanted))):
            spelled = spell_as(value_of(text), wanted)
            return None if spelled is None else app(op, spelled, string_lit(wanted))
    return None


def value_of(optional: Term) -> Term:
    """The value of an option that has one for sure; any other term as it is."""
    while isinstance(optional, App) and optional.op is Op.SOME:
        (optional,) = optional.args
    return optional


def respelled_prefixes(conjuncts: tuple[Term, ...]) -> Iterator[tuple[Term, Term]]:
    """For each text of changed case that begins with a prefix according to these conjuncts, that
    test, and the same of the text that is spelled so.
    """
    tests = [c.args[0] if isinstance(c, App) and c.op is Op.SQL_IS_TRUE else c for c in conjuncts]
    for conjunct in tests:
        match conjunct:
            case App(Op.SQL_GE, (text, Lit(String(), str() as prefix))) if prefix:
                test, spelled = starts_with(text, prefix), spell_as(value_of(text), prefix)
                assert isinstance(test, App)
                if spelled is not None and {*test.args} <= {*tests}:
                    yield test, starts_with(spelled, prefix)


LEAST = {"isdigit": "0", "isdecimal": "0", "isnumeric": "0", "isalnum": "0", "isalpha": "A"}
LEAST |= {"isspace": "\t", "float": "\t", "int": "\t"}
"""The least first character of texts of a kind. No text of any kind is empty."""


def facts_of(node: App) -> Iterator[Term]:
    """Conditions, of sort Bool, that hold whatever the arguments are."""
    match node:
        case App(Op.FLOAT_SQRT | Op.FLOAT_ROUND, (x, *_)):
            yield app(Op.SAME, app(Op.SQL_IS_NAN, node), app(Op.SQL_IS_NAN, x))
        case App(Op.ARRAY_AT, (array, Lit(_, int() as place))):
            number = place + 1 if place >= 0 else -place
            yield _only_if(negate(_is_null(node)), _has(array, number))
        case App(Op.ARRAY_FIND, (array, _)):
            is_found = app(Op.SQL_IS_TRUE, app(Op.SQL_GT, node, int_lit(0)))
            yield _only_if(is_found, _has(array, 1))
        case App(Op.MAP_AT, (pairs, key)):
            found = app(Op.ARRAY_FIND, app(Op.MAP_KEYS, pairs), key)
            has_key = app(Op.SQL_IS_TRUE, app(Op.SQL_GT, found, int_lit(0)))
            yield _only_if(negate(_is_null(node)), has_key)


def _is_null(term: Term) -> Term:
    return app(Op.SQL_IS_TRUE, app(Op.SQL_IS_NULL, term))


def _only_if(condition: Term, conclusion: Term) -> Term:
    return app(Op.IMPLIES, condition, conclusion)


def _has(array: Term, number: int) -> Term:
    return app(Op.SQL_IS_TRUE, app(Op.SQL_GE, app(Op.ARRAY_SIZE, array), int_lit(number)))


def same_truth(op: Op, computed: Term, constant: Term) -> Term | None:
    """A predicate on the arguments that is true exactly where ``computed op constant`` is; where it
    is not, one may be false and the other NULL. None if there is none.
    """
    match computed, constant:
        case App(Op.TEXT_CONCAT, (first, second)), Lit(_, str() as wanted) if op is Op.SQL_EQ:
            cuts = [(wanted[:i], wanted[i:]) for i in range(len(wanted) + 1)]
            cuts = [(a, b) for a, b in cuts if _may_be(first, a) and _may_be(second, b)]
            if len(cuts) <= _FEW:
                return sql_disjunction(
                    sql_conjunction([app(op, first, string_lit(a)), app(op, second, string_lit(b))])
                    for a, b in cuts
                )
    return None


@lru_cache(maxsize=10_000)
def _may_be(text: Term, wanted: str) -> bool:
    """Whether a text may be this one, as far as is seen at once. It is asked again and again for
    the parts of a text that is put together.
    """
    match text:
        case App(Op.ITE, (_, then, otherwise)):
            return _may_be(then, wanted) or _may_be(otherwise, wanted)
        case Lit(_, value):
            return value == wanted
        case App(Op.TEXT_OF_INT, _):
            return re.fullmatch(r"0|-?[1-9][0-9]*", wanted) is not None
        case App(Op.TEXT_ZFILL, (inner, Lit(_, int() as width))):
            digits = re.fullmatch(r"-?[0-9]+", wanted) or not _is_number(inner)
            return len(wanted) >= width and bool(digits)
        case App(Op.TEXT_CONCAT, (first, second)):
            cuts = ((wanted[:i], wanted[i:]) for i in range(len(wanted) + 1))
            return any(_may_be(first, a) and _may_be(second, b) for a, b in cuts)
    return True


def _is_number(text: Term) -> bool:
    return isinstance(text, App) and text.op is Op.TEXT_OF_INT


def find_implied(op: Op, computed: Term, constant: Term) -> Term | None:
    """A predicate on the arguments that is true where ``computed op constant`` is, by Spark's
    operator; None if nothing is known.
    """
    if not isinstance(computed, App) or not isinstance(constant, Lit) or constant.value is None:
        return None
    rule = _IMPLIED.get(computed.op)
    return None if rule is None else rule(op, computed, constant)


def find_implied_by_unequal(computed: Term, constant: Term) -> Term | None:
    """A predicate on the arguments that is true where the value is not this constant."""
    match computed, constant:
        case App(op, (text, *parameters)), Lit(_, str() as unwanted) if op in _KEEPS_EMPTY:
            values = [literal_value(p) for p in parameters if isinstance(p, Lit)]
            if FUNCTIONS[op]("", *values) == unwanted:
                return app(Op.SQL_NOT, app(Op.SQL_EQ, text, string_lit("")))
        case App(Op.TEXT_CONCAT), _:
            alike = same_truth(Op.SQL_EQ, computed, constant)
            return None if alike is None else app(Op.SQL_NOT, alike)
    return None


def _contains(text: Term, parts: Iterable[str]) -> Term | None:
    """Whether a text contains these parts, of which the empty ones do not count."""
    wanted = [p for p in dict.fromkeys(parts) if p][:_MOST]
    tests = [app(Op.TEXT_CONTAINS, text, string_lit(p)) for p in wanted]
    return sql_conjunction(tests) if tests else None


def _infer_from_part(op: Op, computed: App, constant: Lit) -> Term | None:
    """A part of a text is in the text."""
    return _contains(computed.args[0], [str(constant.value)]) if op is Op.SQL_EQ else None


def _infer_from_words(op: Op, computed: App, constant: Lit) -> Term | None:
    """Each word stands in the text, whatever stands between them."""
    text, between = computed.args
    if op is not Op.SQL_EQ or not isinstance(between, Lit):
        return None
    wanted, separator = str(constant.value), str(between.value)
    if not separator.isspace():  # it may be a part of a word, or a word may end with a part of it
        wanted = " ".join(c for c in wanted if c not in separator)
    return _contains(text, wanted.split())


def _infer_from_replacement(op: Op, computed: App, constant: Lit) -> Term | None:
    """A character that is not in the replacement comes from the text, and so do several in a row,
    unless the replacement may be missing between them.
    """
    text, _, _, by = computed.args
    replacement = str(by.value) if isinstance(by, Lit) else "\\"
    if op is not Op.SQL_EQ or "\\" in replacement:
        return None
    return _contains(text, _split_at(str(constant.value), replacement))


def _infer_from_translation(op: Op, computed: App, constant: Lit) -> Term | None:
    """A character that takes no other one's place comes from the text, and so do several in a row,
    unless some are dropped before.
    """
    text, _, new = computed.args
    if op is not Op.SQL_EQ or not isinstance(new, Lit):
        return None
    parts = _split_at(str(constant.value), str(new.value))
    match text:
        case App(Op.TEXT_SUBSTITUTED, (whole, _, _, Lit(_, ""))):
            return _contains(whole, "".join(parts))
    return _contains(text, parts)


def _split_at(wanted: str, characters: str) -> Iterable[str]:
    """Return the parts of a text between these characters, or its characters if there are none."""
    return re.split(f"[{re.escape(characters)}]", wanted) if characters else wanted


def _text_around(text: Term, wanted: str) -> Term:
    """Return a text that contains ``wanted`` where ``text`` does: the one of which it is a part, or
    in which parts are replaced by what is not in ``wanted``, with the same letters changed.
    """
    match text:
        case App(op, (inner, *_)) if op in _PARTS:
            return _text_around(inner, wanted)
        case App(Op.TEXT_SUBSTITUTED, (inner, _, _, Lit(_, str() as by))):
            if by and "\\" not in by and set(by).isdisjoint(wanted):
                return _text_around(inner, wanted)
        case App(Op.TEXT_TRANSLATE | Op.TEXT_REPLACE as op, (inner, Lit(_, str() as old), new)):
            if op is Op.TEXT_TRANSLATE or len(old) == 1:
                # What is not among the changed letters, either, is not among the wanted ones.
                return app(op, _text_around(inner, wanted + old), string_lit(old), new)
    return text


def _infer_from_case(op: Op, computed: App, constant: Lit) -> Term | None:
    """A character that no other one becomes is in the text; nothing becomes of an empty text."""
    text, name = computed.args
    wanted = str(constant.value)
    if op is not Op.SQL_EQ or not wanted or not isinstance(name, Lit):
        return None
    kept = [c for c in wanted if c not in _list_case_results() and ord(c) < CASELESS]
    present = app(Op.SQL_NOT, app(Op.SQL_EQ, text, string_lit("")))
    return _contains(text, kept) or present


@cache
def _list_case_results() -> frozenset[str]:
    """The characters that another one becomes, alone or with others, by a method of any name."""
    letters: set[str] = set()
    for c in map(chr, range(CASELESS)):
        forms = {c.upper(), c.lower(), c.title(), c.casefold(), c.swapcase(), c.capitalize()}
        if forms != {c}:
            letters.update(c, *forms)
    return frozenset(letters)


def _infer_from_count(op: Op, computed: App, constant: Lit) -> Term | None:
    """A part that is counted, or has a place, is in the text."""
    text, part_text = computed.args
    number = literal_value(constant)
    first = 1 if computed.op is Op.TEXT_COUNT else 0
    if not isinstance(number, int) or not isinstance(part_text, Lit):
        return None
    enough = {
        Op.SQL_EQ: number >= first,
        Op.SQL_GE: number >= first,
        Op.SQL_GT: number >= first - 1,
    }
    return app(Op.TEXT_CONTAINS, text, part_text) if enough.get(op) else None


def _infer_from_length(op: Op, computed: App, constant: Lit) -> Term | None:
    """A text from which parts are dropped was at least as long."""
    number = literal_value(constant)
    if op not in (Op.SQL_EQ, Op.SQL_GE, Op.SQL_GT) or not isinstance(number, int):
        return None
    match computed.args[0]:
        case App(Op.TEXT_SUBSTITUTED, (text, _, _, Lit(_, ""))) if number + (op is Op.SQL_GT) > 0:
            least_length = int_lit(number + (op is Op.SQL_GT))
            return app(Op.SQL_GE, app(Op.TEXT_LENGTH, text), least_length)
    return None


def _infer_from_match(op: Op, computed: App, constant: Lit) -> Term | None:
    """A pattern that is found leaves its characters in the text."""
    text, *parameters = computed.args
    pattern, flags = (a.value if isinstance(a, Lit) else a for a in parameters)
    number = literal_value(constant)
    if not isinstance(number, int) or not isinstance(pattern, str) or not isinstance(flags, int):
        return None
    enough = {Op.SQL_EQ: number >= 1, Op.SQL_GE: number >= 1, Op.SQL_GT: number >= 0}
    return _contains(text, [part(pattern, flags)]) if enough.get(op) else None


def _call(op: Op, computed: App, constant: Lit) -> Term | None:
    """Bounds for the argument of a function that rises."""
    x, name = computed.args
    number = literal_value(constant)
    if not isinstance(name, Lit) or not isinstance(number, float):
        return None
    if not math.isfinite(number):
        return None
    if is_whole_quotient(str(name.value)):
        return _quotient(op, computed, number)
    if name.value not in _RISING:
        return None
    slack = abs(number) * _SLACK + 1e-300
    conditions = []
    if op in (Op.SQL_EQ, Op.SQL_GE, Op.SQL_GT):
        low = least(computed, lambda y: y >= number - slack)
        conditions += [app(Op.SQL_GE, x, low)] if low is not None else []
    if op in (Op.SQL_EQ, Op.SQL_LE, Op.SQL_LT):
        high = least(computed, lambda y: y > number + slack)
        conditions += [app(Op.SQL_LE, x, high)] if high is not None else []
    return sql_conjunction(conditions) if conditions else None


def _quotient(op: Op, computed: App, number: float) -> Term | None:
    """The same of ``x // c``, which no platform rounds otherwise."""
    x, conditions = computed.args[0], []
    if op in (Op.SQL_EQ, Op.SQL_GE, Op.SQL_GT):
        low = least(computed, lambda y: y > number if op is Op.SQL_GT else y >= number)
        conditions += [app(Op.SQL_GE, x, low)] if low is not None else []
    if op in (Op.SQL_EQ, Op.SQL_LE, Op.SQL_LT):
        end = least(computed, lambda y: y >= number if op is Op.SQL_LT else y > number)
        conditions += [app(Op.SQL_LT, x, end)] if end is not None else []
    return sql_conjunction(conditions) if conditions else None


_PARTS = (
    *(Op.TEXT_SLICE, Op.TEXT_GROUP, Op.TEXT_PART, Op.TEXT_HEAD, Op.TEXT_TAIL, Op.TEXT_LAST),
    *(Op.TEXT_STRIP, Op.TEXT_LSTRIP, Op.TEXT_RSTRIP),
)
"""Functions whose value is a part of the text that is their first argument."""


def _local(op: Op, computed: App, constant: Lit) -> Term | None:
    """A clock shows a time that is less than a day from UTC, whatever its zone."""
    (instant,), shown = computed.args, literal_value(constant)
    low, high = INT_RANGES["bigint"]
    if not isinstance(shown, int) or not low + _DAY <= shown <= high - _DAY:
        return None
    bounds = []
    if op in (Op.SQL_EQ, Op.SQL_GE, Op.SQL_GT):
        bounds.append(app(Op.SQL_GE, instant, lit(TIMESTAMP, shown - _DAY)))
    if op in (Op.SQL_EQ, Op.SQL_LE, Op.SQL_LT):
        bounds.append(app(Op.SQL_LE, instant, lit(TIMESTAMP, shown + _DAY)))
    return sql_conjunction(bounds)


_DAY = 86_400_000_000
_KEEPS_EMPTY = (Op.TEXT_WORDS, Op.TEXT_RECASED, Op.TEXT_SUBSTITUTED)
_IMPLIED: dict[Op, Rule] = {
    Op.TEXT_WORDS: _infer_from_words,
    Op.TEXT_RECASED: _infer_from_case,
    **dict.fromkeys(_PARTS, _infer_from_part),
    Op.TEXT_SUBSTITUTED: _infer_from_replacement,
    Op.TEXT_FOUND: _infer_from_match,
    Op.TEXT_TRANSLATE: _infer_from_translation,
    Op.TEXT_LENGTH: _infer_from_length,
    **dict.fromkeys((Op.TEXT_COUNT, Op.TEXT_FIND, Op.TEXT_RFIND), _infer_from_count),
    Op.FLOAT_CALL: _call,
    Op.LOCAL_TIME: _local,
}
"""By function."""
