# SPDX-License-Identifier: Apache-2.0
"""Trusted. Rewrites comparisons of a function's result into conditions on its arguments.

``year(d) = 2024`` is ``d >= DATE '2024-01-01' AND d < DATE '2025-01-01'``, and ``s.lower() ==
"de"`` is ``s IN ('DE', 'De', 'dE', 'de')``: the preimage of a value. Both sides have the same of
three truth values, for every argument on which the function has a value; for NULL they are NULL.
Such a condition reaches a scan, and a proof knows a function by its preimages.

Monotone functions (``floor``, ``sqrt``, ``year``, the first characters of a text) have a threshold
for every value: the least argument whose result is at least that value. For doubles, 64 evaluations
find it (:mod:`presieve.semantics.thresholds`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import TypeAlias

from presieve.ir.ops import app, conjunction, disjunction, negate, sql_conjunction, sql_disjunction
from presieve.ir.sorts import DATE, STRING, TIMESTAMP, strip
from presieve.ir.terms import App, Lit, Op, Term, float_lit, int_lit, lit, literal_value, string_lit
from presieve.ir.walk import subterms
from presieve.semantics.function_meanings import FIRST_DAYS, FUNCTIONS, YEARS, Undefined, extent_of
from presieve.semantics.java_patterns import simplified
from presieve.semantics.pattern_prefixes import anywhere
from presieve.semantics.thresholds import AS_SPARK, DOUBLES, MIRRORED, STEPS, threshold
from presieve.semantics.values import INT_RANGES

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
"""Replaces invalid UTF-8 bytes in a decoded text."""
_MOST = 16
"""The largest number of texts that are listed; for more, letters are replaced one by one."""
_DAY = 86_400_000_000
_SIGMAS = {"\N{GREEK SMALL LETTER SIGMA}", "\N{GREEK SMALL LETTER FINAL SIGMA}"}
"""The lower case of a capital sigma is one of these, depending on the letters around it."""
CASELESS = 0x20000
"""No character from here on has another case."""
_LAST = chr(0x10FFFF)
_SURROGATES = range(0xD800, 0xE000)

Preimage: TypeAlias = Callable[[Op, App, Lit], Term | None]
"""Rewrites Spark's comparison with a literal as a condition on the arguments."""


def preimage(op: Op, computed: Term, constant: Term) -> Term | None:
    """The preimage of a comparison with a constant; None if there is none."""
    if not isinstance(computed, App) or not isinstance(constant, Lit) or constant.value is None:
        return None
    rule = PREIMAGES.get(computed.op)
    return None if rule is None else rule(op, computed, constant)


_TWO_VALUED = {
    **{sql: python for python, sql in AS_SPARK.items()},
    Op.SQL_AND: Op.AND,
    Op.SQL_OR: Op.OR,
    Op.SQL_NOT: Op.NOT,
}


def of_arguments(comparison: Term) -> Term:
    """Rewrite Python's comparison of a function's value with a constant as a condition on the
    function's arguments, and theirs, if that condition has no function; other terms stay.
    """
    if not isinstance(comparison, App) or comparison.op not in AS_SPARK:
        return comparison
    op, (computed, constant) = AS_SPARK[comparison.op], comparison.args
    if isinstance(computed, Lit):
        op, computed, constant = MIRRORED[op], constant, computed
    if not isinstance(computed, App) or computed.op in STEPS:
        return comparison
    meant = preimage(op, computed, constant)
    direct = comparison if meant is None else _of_their_arguments(two_valued(meant))
    has_function = any(t.op in FUNCTIONS for t in subterms(direct) if isinstance(t, App))
    return comparison if has_function else direct


def _of_their_arguments(condition: Term) -> Term:
    """Rewrite the comparisons that a condition of Python consists of."""
    if not isinstance(condition, App):
        return condition
    if condition.op in (Op.AND, Op.OR, Op.NOT):
        return app(condition.op, *map(_of_their_arguments, condition.args))
    return of_arguments(condition)


def two_valued(meant: Term) -> Term:
    """Convert Spark's condition on values that are present to Python's. No comparison of doubles in
    it may stand under NOT, so that NaN makes the result false, as in Python.
    """
    if not isinstance(meant, App) or meant.op not in _TWO_VALUED:
        return meant
    args = (two_valued(a) for a in meant.args)
    match meant.op:
        case Op.SQL_AND:
            return conjunction(args)
        case Op.SQL_OR:
            return disjunction(args)
        case Op.SQL_NOT:
            return negate(*args)
    return app(_TWO_VALUED[meant.op], *args)


def bounds_of(computed: App) -> tuple[Term, ...]:
    """The conditions that the function's value lies between its bounds, if it has bounds."""
    if strip(computed.sort) == STRING:
        below = app(Op.SQL_LT, computed, string_lit(""))
        return (negate(app(Op.SQL_IS_TRUE, below)),)
    extent = extent_of(computed)
    if extent is None:
        return ()
    low, high = map(int_lit, extent)
    bounds = (app(Op.SQL_LT, computed, low), app(Op.SQL_GT, computed, high))
    return tuple(negate(app(Op.SQL_IS_TRUE, b)) for b in bounds)


# --- monotone functions ---------------------------------------------------------------------------


def _compare_with_thresholds(
    op: Op, value: Term, reached: Lit | None, passed: Lit | None
) -> Term | None:
    """Compare by the least arguments whose results reach and exceed the constant."""
    if reached is None or passed is None:
        return None
    match op:
        case Op.SQL_GE:
            return app(Op.SQL_GE, value, reached)
        case Op.SQL_LT:
            return app(Op.SQL_LT, value, reached)
        case Op.SQL_GT:
            return app(Op.SQL_GE, value, passed)
        case Op.SQL_LE:
            return app(Op.SQL_LT, value, passed)
        case Op.SQL_EQ:
            parts = (app(Op.SQL_GE, value, reached), app(Op.SQL_LT, value, passed))
            return sql_conjunction(parts)
    return None


def _integer_preimage(threshold: Callable[[App, int], Lit | None]) -> Preimage:
    """The preimage rule of a function that returns integers or dates."""

    def rule(op: Op, computed: App, constant: Lit) -> Term | None:
        number = literal_value(constant)
        assert isinstance(number, int)
        reached, passed = threshold(computed, number), threshold(computed, number + 1)
        return _compare_with_thresholds(op, computed.args[0], reached, passed)

    return rule


def _double(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage for a function to doubles. NaN, above all numbers in Spark, gives NaN."""
    number = literal_value(constant)
    assert isinstance(number, float)
    if math.isnan(number) or math.isinf(number):
        return None
    reached = least(computed, lambda y: y >= number)
    passed = least(computed, lambda y: y > number)
    return _compare_with_thresholds(op, computed.args[0], reached, passed)


def least(computed: App, reaches: Callable[[float | int], bool]) -> Lit | None:
    """The least double whose value reaches far enough; None if none of them does, or all do."""
    meaning = FUNCTIONS[computed.op]
    parameters = [literal_value(p) for p in computed.args[1:] if isinstance(p, Lit)]

    def holds(place: int) -> bool:
        x = DOUBLES.number(place)
        try:
            return reaches(meaning(x, *parameters))
        except Undefined:
            return x > 0

    first, end = DOUBLES.ends[0], DOUBLES.ends[1] + 1
    while first < end:
        middle = (first + end) // 2
        first, end = (first, middle) if holds(middle) else (middle + 1, end)
    if first in (DOUBLES.ends[0], DOUBLES.ends[1] + 1):
        return None
    return float_lit(float(DOUBLES.number(first)) or 0.0)


def _ratio(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage for an integer divided by a positive one, as Python rounds the quotient."""
    number, (value, divisor) = literal_value(constant), computed.args
    assert isinstance(number, float)
    if not math.isfinite(number):
        return None
    low, high = INT_RANGES["bigint"]

    def first(reaches: Callable[[float], bool]) -> Lit | None:
        start, end = low, high + 1
        while start < end:
            middle = (start + end) // 2
            start, end = (
                (start, middle) if reaches(middle / _number(divisor)) else (middle + 1, end)
            )
        return None if start in (low, high + 1) else int_lit(start)

    reached, passed = first(lambda q: q >= number), first(lambda q: q > number)
    return _compare_with_thresholds(op, value, reached, passed)


def _year(computed: App, year: int) -> Lit | None:
    return _days(computed, FIRST_DAYS[computed.op](year)) if year in YEARS else None


def _days(_: App, days: int) -> Lit | None:
    low, high = INT_RANGES["int"]
    return lit(DATE, days) if low <= days <= high else None


def _midnight(computed: App, days: int) -> Lit | None:
    low, high = INT_RANGES["bigint"]
    sort = strip(computed.args[0].sort)
    return lit(sort, days * _DAY) if low <= days * _DAY <= high else None


def _time(computed: App, micros: int) -> Lit | None:
    low, high = INT_RANGES["bigint"]
    return lit(strip(computed.args[0].sort), micros) if low <= micros <= high else None


def _wall_time(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage for a local time, which is an instant on another scale."""
    instant, ahead = computed.args
    shown = _number(constant) - _number(ahead)
    low, high = INT_RANGES["bigint"]
    return app(op, instant, lit(TIMESTAMP, shown)) if low <= shown <= high else None


# --- texts ----------------------------------------------------------------------------------------


def starts_with(text: Term, prefix: str) -> Term:
    """Whether a text starts with a prefix: it is at least the prefix, and below all texts above
    those that start with it.

    Texts are ordered by code points, and no column holds surrogates.
    """
    above, end = app(Op.SQL_GE, text, string_lit(prefix)), after(prefix)
    return above if end is None else sql_conjunction((above, app(Op.SQL_LT, text, string_lit(end))))


def after(prefix: str) -> str | None:
    """The least text above all texts that start with the prefix; None if there is none."""
    head = prefix.rstrip(_LAST)
    if not head:
        return None
    code = ord(head[-1]) + 1
    return head[:-1] + chr(_SURROGATES.stop if code in _SURROGATES else code)


def _never(computed: App) -> Term:
    """False, and NULL where an argument is NULL."""
    text = computed.args[0]
    return app(Op.SQL_LT, text, string_lit(""))


def _head_preimage(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage for the first characters of a text; a short text is compared as a whole."""
    text, count = computed.args
    wanted, most = str(constant.value), _number(count)
    if op is Op.SQL_EQ:
        if len(wanted) > most:
            return _never(computed)
        if len(wanted) < most:
            return app(op, text, constant)
        return starts_with(spell_as(text, wanted) or text, wanted)
    if len(wanted) <= most:
        reached = wanted
        passed = after(wanted) if len(wanted) == most else wanted + "\0"
    else:  # it lies between two texts of that many characters
        reached = passed = after(wanted[:most]) or ""
    if not passed or not reached:
        return None
    return _compare_with_thresholds(op, text, string_lit(reached), string_lit(passed))


def _find_or_count(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage for ``find`` and ``count`` where only containment of the part is asked."""
    text, part = computed.args
    number = _number(constant)
    first = 1 if computed.op is Op.TEXT_COUNT else 0
    contains = app(Op.TEXT_CONTAINS, text, part)
    if (op, number) in ((Op.SQL_GE, first), (Op.SQL_GT, first - 1)):
        return contains
    if (op, number) in ((Op.SQL_LT, first), (Op.SQL_LE, first - 1), (Op.SQL_EQ, first - 1)):
        return app(Op.SQL_NOT, contains)
    if computed.op is Op.TEXT_FIND and (op, number) == (Op.SQL_EQ, 0):
        return starts_with(text, str(_text(part)))
    return None


def _length(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage for a length: a text without characters is the empty one."""
    text, number = computed.args[0], _number(constant)
    empty = app(Op.SQL_EQ, text, string_lit(""))
    if (op, number) in ((Op.SQL_EQ, 0), (Op.SQL_LE, 0), (Op.SQL_LT, 1)):
        return empty
    if (op, number) in ((Op.SQL_GT, 0), (Op.SQL_GE, 1)):
        return app(Op.SQL_NOT, empty)
    return None


def _concat(op: Op, computed: App, constant: Lit) -> Term | None:
    """Remove a constant prefix from both sides, or a constant suffix where the sides are equal."""
    first, second = computed.args
    wanted = str(constant.value)
    start, end = _text(first), _text(second)
    if start is not None and end is None:
        if wanted.startswith(start):
            return app(op, second, string_lit(wanted[len(start) :]))
        low = app(Op.SQL_GE, second, string_lit(""))
        below = start < wanted
        holds = op in (Op.SQL_LT, Op.SQL_LE) if below else op in (Op.SQL_GT, Op.SQL_GE)
        return low if holds else app(Op.SQL_NOT, low)
    if end is not None and start is None and op is Op.SQL_EQ:
        if not wanted.endswith(end):
            return app(Op.SQL_LT, first, string_lit(""))
        return app(op, first, string_lit(wanted[: len(wanted) - len(end)]))
    return None


def _reverse(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage of a text that is read backwards: one text."""
    if op is not Op.SQL_EQ:
        return None
    return app(op, computed.args[0], string_lit(str(constant.value)[::-1]))


def _zfill(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage of a text with leading zeros: the texts with fewer of them."""
    if op is not Op.SQL_EQ:
        return None
    text, width = computed.args[0], _number(computed.args[1])
    wanted = str(constant.value)
    sign = wanted[:1] if wanted[:1] in ("+", "-") else ""
    ends = (sign + wanted[len(sign) + i :] for i in range(min(width, len(wanted)) + 1))
    few = [t for t in dict.fromkeys(ends) if t.zfill(width) == wanted]
    if len(few) > _MOST:
        return None
    return sql_disjunction(app(op, text, string_lit(t)) for t in few) if few else _never(computed)


def _invert_match_count(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage of a number of matches where only their existence is asked."""
    text, pattern, flags = computed.args
    tested, flags_left = simplified(anywhere(str(_text(pattern))), _number(flags))
    matches = app(Op.TEXT_MATCHES, text, string_lit(tested), int_lit(flags_left))
    asked = op, _number(constant)
    if asked in ((Op.SQL_GE, 1), (Op.SQL_GT, 0)):
        return matches
    is_none = asked in ((Op.SQL_LT, 1), (Op.SQL_LE, 0), (Op.SQL_EQ, 0))
    return app(Op.SQL_NOT, matches) if is_none else None


def _of_int(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage for an integer as text: a number is written in one way only."""
    number, wanted = computed.args[0], str(constant.value)
    if op is not Op.SQL_EQ:
        return None
    if re.fullmatch(r"0|-?[1-9][0-9]{0,99}", wanted):
        return app(op, number, int_lit(int(wanted)))
    if len(wanted) > 100:
        return None
    is_zero = app(Op.SQL_EQ, number, int_lit(0))
    return sql_conjunction((is_zero, app(Op.SQL_NOT, is_zero)))


def _decoded_preimage(op: Op, computed: App, constant: Lit) -> Term | None:
    """The preimage of a constant that decoding yields for that text only."""
    has_preimage = op is Op.SQL_EQ and REPLACEMENT not in str(constant.value)
    return app(op, computed.args[0], constant) if has_preimage else None


# --- upper and lower case -------------------------------------------------------------------------


def _case(op: Op, computed: App, constant: Lit) -> Term | None:
    """The texts of this upper or lower case: a few as a list, else by replacing letters."""
    if op is not Op.SQL_EQ:
        return None
    text, wanted = computed.args[0], str(constant.value)
    few = texts_with(computed.op, wanted)
    if few is not None:
        if not few:
            return _never(computed)
        return sql_disjunction(app(Op.SQL_EQ, text, string_lit(x)) for x in few)
    return _replace_letters(computed.op, text, wanted)


def texts_with(op: Op, wanted: str) -> list[str] | None:
    """All texts whose upper or lower case is ``wanted``; None if there are many."""
    # The lower case of a final sigma depends on the letters around it, so candidates built letter
    # by letter are checked as a whole.
    candidates = list(islice(_spell_letterwise(op, wanted), 4 * _MOST))
    if len(candidates) == 4 * _MOST:
        return None
    matching = sorted(x for x in candidates if FUNCTIONS[op](x) == wanted)
    return matching if len(matching) <= _MOST else None


def _spell_letterwise(op: Op, wanted: str) -> Iterator[str]:
    """Yield the texts that become ``wanted`` letter by letter."""
    longest = _longest(op)
    ends = {len(wanted)}  # positions from which the remaining text can be spelled
    for i in reversed(range(len(wanted))):
        sizes = range(1, min(len(wanted) - i, longest) + 1)
        if any(i + n in ends and _letters(op, wanted[i : i + n]) for n in sizes):
            ends.add(i)

    def spell_from(i: int) -> Iterator[str]:
        if i == len(wanted):
            yield ""
        for n in range(1, min(len(wanted) - i, longest) + 1):
            for letter in _letters(op, wanted[i : i + n]) if i + n in ends else ():
                for suffix in spell_from(i + n):
                    yield letter + suffix

    return spell_from(0)


def _letters(op: Op, piece: str) -> tuple[str, ...]:
    """The characters that become this piece."""
    stays = len(piece) == 1 and FUNCTIONS[op](piece) == piece
    return (*((piece,) if stays else ()), *_pieces(op).get(piece, ()))


@cache
def _pieces(op: Op) -> dict[str, tuple[str, ...]]:
    """The characters that become something else, by the piece that they become."""
    change, by_piece = FUNCTIONS[op], dict[str, list[str]]()
    for letter in map(chr, range(CASELESS)):
        piece = change(letter)
        if piece != letter:
            by_piece.setdefault(piece, []).append(letter)
    if op is Op.TEXT_LOWER:
        by_piece.setdefault("ς", []).append("Σ")
    return {piece: tuple(letters) for piece, letters in by_piece.items()}


@cache
def _changed_letters(op: Op) -> tuple[tuple[str, str], ...]:
    """The letters that become something else, with that, in its order."""
    pieces = sorted(_pieces(op).items())
    return tuple((x, p) for p, letters in pieces for x in dict.fromkeys(letters))


@cache
def _longest(op: Op) -> int:
    return max(len(piece) for piece in _pieces(op))


def _replace_letters(op: Op, text: Term, wanted: str) -> Term | None:
    """Replace every letter that becomes one letter of ``wanted`` by that letter, and every one that
    becomes several letters of it by those. A letter that becomes anything else makes the text a
    different one.
    """
    if _SIGMAS & set(wanted) or any(FUNCTIONS[op](c) != c for c in wanted):
        return None
    replaced = text
    for size in range(2, _longest(op) + 1):
        parts = {wanted[i : i + size] for i in range(len(wanted) - size + 1)}
        for piece in sorted(parts):
            for letter in _letters(op, piece):
                replaced = app(Op.TEXT_REPLACE, replaced, string_lit(letter), string_lit(piece))
    pairs = [(x, c) for c in sorted(set(wanted)) for x in _letters(op, c) if x != c]
    letters, others = ("".join(p[i] for p in pairs) for i in (0, 1))
    replaced = app(Op.TEXT_TRANSLATE, replaced, string_lit(letters), string_lit(others))
    return app(Op.SQL_EQ, replaced, string_lit(wanted))


def spell_as(text: Term, part: str) -> Term | None:
    """A text that contains the part, or starts or ends with it, where ``text`` does, which is made
    of the upper or lower case of another one: the letters that become letters of the part are
    replaced, and no others. None if that takes too many replacements.
    """
    return _spell(text, frozenset(part))


def _spell(text: Term, wanted: frozenset[str]) -> Term | None:
    """Spell the letters that become ``wanted`` ones as these; other letters may be any others. What
    is stripped or replaced is among the wanted letters, so that it stands at the same places.
    """
    match text:
        case App(Op.TEXT_UPPER | Op.TEXT_LOWER as op, (inner,)):
            return _spell_case(op, inner, wanted)
        case App(Op.TEXT_REPLACE as op, (inner, Lit(_, str() as letters), *rest)) | App(
            Op.TEXT_STRIP | Op.TEXT_LSTRIP | Op.TEXT_RSTRIP as op,
            (inner, Lit(_, str() as letters), *rest),
        ):
            spelled = _spell(inner, wanted | set(letters))
            return None if spelled is None else app(op, spelled, string_lit(letters), *rest)
        case App(Op.SOME, (inner,)):
            spelled = _spell(inner, wanted)
            return None if spelled is None else app(Op.SOME, spelled)
        case App(Op.ITE, (_, Lit(), Lit())):
            return None  # there is no letter to respell
        case App(Op.ITE, (test, then, otherwise)):
            sides = [s if isinstance(s, Lit) else _spell(s, wanted) for s in (then, otherwise)]
            known_sides = [side for side in sides if side is not None]
            return app(Op.ITE, test, *known_sides) if len(known_sides) == len(sides) else None
    return None


def _spell_case(op: Op, text: Term, wanted: frozenset[str]) -> Term | None:
    if _SIGMAS & wanted or any(FUNCTIONS[op](c) != c for c in wanted):
        return None
    changed = [(x, p) for x, p in _changed_letters(op) if wanted & set(p)]
    longer = [(x, p) for x, p in changed if len(p) > 1]
    if len(longer) > _MOST or any(FUNCTIONS[op](p) != p for _, p in longer):
        return None
    replaced = text
    for letter, piece in longer:
        replaced = app(Op.TEXT_REPLACE, replaced, string_lit(letter), string_lit(piece))
    letters, others = ("".join(pair[i] for pair in changed if len(pair[1]) == 1) for i in (0, 1))
    if not letters:
        return replaced
    return app(Op.TEXT_TRANSLATE, replaced, string_lit(letters), string_lit(others))


def _text(term: Term) -> str | None:
    return str(term.value) if isinstance(term, Lit) and term.sort == STRING else None


def _number(term: Term) -> int:
    assert isinstance(term, Lit)
    return int(term.value or 0)


def _square(op: Op, computed: App, constant: Lit) -> Term | None:
    """``n * n < c`` for integers, which no text of Spark says: it raises where Python counts on."""
    x, y = computed.args
    number = literal_value(constant)
    if x != y or not isinstance(number, int):
        return None
    if op in (Op.SQL_GT, Op.SQL_LT):
        op, number = (Op.SQL_GE, number + 1) if op is Op.SQL_GT else (Op.SQL_LE, number - 1)
    if number < 0 or (op is Op.SQL_GE and number == 0):
        return None
    root = math.isqrt(number - 1) + 1 if op is Op.SQL_GE else math.isqrt(number)
    low, high = int_lit(-root), int_lit(root)
    match op:
        case Op.SQL_LE:
            return sql_conjunction([app(Op.SQL_GE, x, low), app(Op.SQL_LE, x, high)])
        case Op.SQL_GE:
            return sql_disjunction([app(Op.SQL_GE, x, high), app(Op.SQL_LE, x, low)])
        case Op.SQL_EQ if root * root == number:
            return sql_disjunction(app(Op.SQL_EQ, x, e) for e in dict.fromkeys((high, low)))
    return None


PREIMAGES: dict[Op, Preimage] = {
    Op.TEXT_DECODED: _decoded_preimage,
    **dict.fromkeys((Op.TEXT_UPPER, Op.TEXT_LOWER), _case),
    Op.TEXT_LENGTH: _length,
    Op.TEXT_HEAD: _head_preimage,
    **dict.fromkeys((Op.TEXT_FIND, Op.TEXT_RFIND), _find_or_count),
    Op.TEXT_COUNT: _find_or_count,
    Op.TEXT_CONCAT: _concat,
    Op.TEXT_REVERSE: _reverse,
    Op.TEXT_ZFILL: _zfill,
    Op.TEXT_FOUND: _invert_match_count,
    Op.TEXT_OF_INT: _of_int,
    Op.INT_RATIO: _ratio,
    Op.INT_QUOTIENT: _integer_preimage(lambda c, n: int_lit(n * _number(c.args[1]))),
    **dict.fromkeys(
        (Op.FLOAT_FLOOR, Op.FLOAT_CEIL, Op.FLOAT_TRUNC),
        _integer_preimage(lambda computed, n: least(computed, lambda y: y >= n)),
    ),
    **dict.fromkeys((Op.FLOAT_ROUND, Op.FLOAT_SQRT), _double),
    **dict.fromkeys((Op.INT_MUL, Op.SQL_INT_MUL), _square),
    Op.DATE_DAYS: _integer_preimage(_days),
    **dict.fromkeys(FIRST_DAYS, _integer_preimage(_year)),
    Op.DATE_SHIFT: _integer_preimage(lambda c, n: _days(c, n - _number(c.args[1]))),
    Op.DATE_MIDNIGHT: _integer_preimage(lambda c, n: _days(c, -(-n // _DAY))),
    Op.CLOCK_DATE: _integer_preimage(_midnight),
    Op.CLOCK_MICROS: _integer_preimage(_time),
    Op.WALL_TIME: _wall_time,
    **dict.fromkeys(STEPS, threshold),
}
"""By function."""
