# SPDX-License-Identifier: Apache-2.0
"""Trusted. Texts: methods, slices and f-strings; for constants the result is computed.

A test for a prefix is an interval of texts. Other operations on texts that are not constants are
functions of single values (:mod:`presieve.ir.function_signatures`). Sources: the Python library
reference, "Text Sequence Type".
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import INT, STRING, Option
from presieve.ir.terms import FALSE, TRUE, App, Lit, Op, Term, int_lit, string_lit
from presieve.lift.execution.state import Flow, ModelCall, Operation, SymbolicMachine
from presieve.lift.models.builtins import composite_values
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.models.builtins.regular_expressions import count_findings, word_at, words_of
from presieve.lift.models.builtins.written_texts import concatenate_texts, fill_fields, fill_form
from presieve.lift.models.registry import ANY, method
from presieve.lift.python.names import as_constant
from presieve.lift.values.join_values import there
from presieve.lift.values.symbolic import GrowingV, ListV, Scalar, TupleV, Value, constant_of
from presieve.lift.values.text_parts import FindingsV, SplitV
from presieve.semantics import preimages
from presieve.semantics.function_meanings import EXTENTS, WHITESPACE
from presieve.semantics.preimages import of_arguments, spell_as, two_valued
from presieve.semantics.smart_constructors import (
    apply_function,
    fold_constants,
    get,
    is_none,
    ite,
    or_,
)

LONGEST = 10_000
"""Maximum width, in characters, of a padded constant that is computed."""
_END = 2**63
"""The end of a slice that goes to the end of the text."""
_PADDING = ("ljust", "rjust", "center")
_PLACES = {
    **dict.fromkeys(("find", "index"), Op.TEXT_FIND),
    **dict.fromkeys(("rfind", "rindex"), Op.TEXT_RFIND),
    "count": Op.TEXT_COUNT,
}
_CASES = {"upper": Op.TEXT_UPPER, "lower": Op.TEXT_LOWER}
_STRIPS = {"strip": Op.TEXT_STRIP, "lstrip": Op.TEXT_LSTRIP, "rstrip": Op.TEXT_RSTRIP}


def _text(call: ModelCall, owner: Value) -> Scalar | None:
    text = call.m.force(owner, call.flow)
    return text if isinstance(text, Scalar) and text.base == STRING else None


text_method = partial(method, Scalar, owner=_text)
"""Register a model of methods of texts."""


def term_of(call: ModelCall, text: Scalar) -> Term:
    """Return the text's term, where it is not None, which has no such method."""
    return call.m.scalar(call.flow, text, AttributeError).term


@text_method("splitlines", "center")
def compute_constant(call: ModelCall, text: Scalar) -> Value | None:
    """``text.center(9)`` and the like of constants."""
    name, zone = call.name, call.m.columns.zone
    plain = [constant_of(v, STRING, INT) for v in (text, *call.args)]
    if None in plain:
        return None
    if name in _PADDING and any(isinstance(n, int) and n > LONGEST for n in plain):
        raise call.decline("too-large", f"a string of more than {LONGEST} characters")
    try:
        python_value = getattr(plain[0], name)(*plain[1:])
    except (TypeError, ValueError) as e:
        raise call.decline("always-raises", f".{name}() raises: {e}") from e
    if isinstance(python_value, list):
        return ListV(tuple(as_constant(x, name, zone) for x in python_value))
    return as_constant(python_value, name, zone)


def _apply(op: Op, *args: Term) -> Scalar:
    return Scalar(apply_function(op, *args))


def _literals(call: ModelCall) -> list[Lit] | None:
    """Return the arguments as literals; None unless all are constant texts."""
    texts = [constant_of(a, STRING) for a in call.args]
    return None if None in texts else [string_lit(str(x)) for x in texts]


@text_method(
    *("isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "isspace", "isupper", "islower"),
    arguments=0,
)
def is_of_kind(call: ModelCall, text: Scalar) -> Value:
    """``text.isdigit()`` and the like."""
    term = term_of(call, text)
    return boolean(apply_function(Op.TEXT_IS, term, string_lit(call.name)))


def number_in(call: ModelCall, text: Scalar, kind: str) -> Term:
    """Return ``float(text)`` or ``int(text)`` as an opaque function: only Python defines which
    texts are accepted, and their values. Other texts raise ValueError.
    """
    whole = digits_of(text.term) if kind == "int" else None
    if whole is not None:
        return whole[0]
    call.m.fail(
        call.flow, negate(apply_function(Op.TEXT_IS, text.term, string_lit(kind))), ValueError
    )
    return apply_function(Op.TEXT_TO_INT if kind == "int" else Op.TEXT_TO_FLOAT, text.term)


def digits_of(text: Term) -> tuple[Term, int] | None:
    """Return the number that a text of digits is, and how many there are, or 0 if that depends on
    the row; None for other texts.
    """
    match text:
        case Lit(_, str() as digits) if digits.isascii() and digits.isdigit():
            return int_lit(int(digits)), len(digits)
        case App(Op.TEXT_OF_INT, (App(Op.DATE_YEAR) as year,)):
            return year, 0  # Python's years begin with 1
        case App(
            Op.TEXT_ZFILL, (App(Op.TEXT_OF_INT, (App(op) as number,)), Lit(_, int() as width))
        ):
            low, high = (1, 9999) if op is Op.DATE_YEAR else EXTENTS.get(op, (-1, 0))
            return (number, width) if low >= 0 and high < 10**width else None
        case App(Op.TEXT_CONCAT, (first, second)):
            before, after = digits_of(first), digits_of(second)
            if before is None or after is None or not after[1]:
                return None
            shifted = fold_constants(app(Op.INT_MUL, before[0], int_lit(10 ** after[1])))
            total = fold_constants(app(Op.INT_ADD, shifted, after[0]))
            return total, before[1] + after[1] if before[1] else 0
    return None


@text_method("upper", "lower", arguments=0)
def change_case(call: ModelCall, text: Scalar) -> Value | None:
    """``text.upper()`` and ``text.lower()``."""
    return _apply(_CASES[call.name], term_of(call, text))


@text_method("strip", "lstrip", "rstrip")
def strip_text(call: ModelCall, text: Scalar) -> Value | None:
    """``text.strip()``, ``lstrip`` and ``rstrip``, also of constant characters."""
    characters = _literals(call)
    if characters is None or len(characters) > 1:
        return None
    term = term_of(call, text)
    return _apply(_STRIPS[call.name], term, *(characters or [string_lit(WHITESPACE)]))


@text_method("replace")
def replace_text(call: ModelCall, text: Scalar) -> Value | None:
    """``text.replace(part, by)`` of constants."""
    literals = _literals(call)
    if literals is None or len(literals) != 2 or not literals[0].value:
        return compute_constant(call, text)
    return _apply(Op.TEXT_REPLACE, term_of(call, text), *literals)


@text_method("removeprefix")
def without_prefix(call: ModelCall, text: Scalar) -> Value | None:
    """``text.removeprefix(prefix)`` of a constant."""
    literals = _literals(call)
    if literals is None or len(literals) != 1:
        return None
    term = term_of(call, text)
    prefix = str(literals[0].value)
    return Scalar(ite(starts_with(term, prefix), _text_from(term, len(prefix)), term))


@text_method("endswith", arguments=1)
def ends_with(call: ModelCall, text: Scalar) -> Value | None:
    """``text.endswith(end)`` of a constant, also of a tuple of them."""
    ends = ends_with_any(term_of(call, text), call.args[0])
    return None if ends is None else boolean(call.flow.decide(ends))


def ends_with_any(text: Term, ends: Value) -> Term | None:
    """Return whether a text ends with this, or with one of a tuple; None unless constant."""
    candidates = ends.items if isinstance(ends, TupleV) else (ends,)
    words = [constant_of(e, STRING) for e in candidates]
    tests = (_ends_with(text, str(w)) if w else TRUE for w in words)
    return None if None in words else or_(*tests)


def _ends_with(text: Term, end: str) -> Term:
    return apply_function(Op.TEXT_ENDS, spell_as(text, end) or text, string_lit(end))


@text_method("find", "rfind", "index", "rindex", "count")
def place_of(call: ModelCall, text: Scalar) -> Value | None:
    """``text.find(part)``, ``rfind``, ``index`` and ``rindex``, which raise where there is none,
    and ``count``: of constants that are not empty.
    """
    literals = _literals(call)
    if literals is None or len(literals) != 1 or not literals[0].value:
        return compute_constant(call, text)
    m, flow = call.m, call.flow
    term = term_of(call, text)
    if call.name in ("index", "rindex"):
        m.fail(flow, negate(apply_function(Op.TEXT_CONTAINS, term, *literals)), ValueError)
    return _apply(_PLACES[call.name], term, *literals)


@text_method("capitalize", "title", "casefold", "swapcase", arguments=0)
def recase(call: ModelCall, text: Scalar) -> Value | None:
    """``text.title()``, ``capitalize``, ``casefold`` and ``swapcase``."""
    return _apply(Op.TEXT_RECASED, term_of(call, text), string_lit(call.name))


@text_method("removesuffix", arguments=1)
def without_suffix(call: ModelCall, text: Scalar) -> Value | None:
    """``text.removesuffix(suffix)`` of a constant."""
    literals = _literals(call)
    if literals is None:
        return None
    term, suffix = term_of(call, text), str(literals[0].value)
    if not suffix:
        return Scalar(term)
    ends = apply_function(Op.TEXT_ENDS, term, *literals)
    return Scalar(ite(ends, without_last(term, len(suffix)), term))


@text_method("partition", "rpartition", arguments=1)
def partition(call: ModelCall, text: Scalar) -> Value | None:
    """``text.partition(separator)`` and ``rpartition`` of a constant that is not empty."""
    literals = _literals(call)
    if literals is None or not literals[0].value:
        return None
    if call.name == "rpartition" and _overlaps(str(literals[0].value)):
        return None
    term, separator = term_of(call, text), literals[0]
    cut, first = apply_function(Op.TEXT_CONTAINS, term, separator), call.name == "partition"
    before, after = _sides(SplitV(term, separator, False, True, not first))
    none = string_lit("")
    parts = (ite(cut, before, term if first else none), ite(cut, separator, none))
    return TupleV(tuple(map(Scalar, (*parts, ite(cut, after, none if first else term)))))


def _sides(parts: SplitV) -> tuple[Term, Term]:
    """Return what stands before and after the first or last separator, where there is one."""
    text, separator = parts.text, parts.separator
    place = apply_function(Op.TEXT_RFIND if parts.last else Op.TEXT_FIND, text, separator)
    end = app(
        Op.INT_ADD, place, int_lit(len(str(separator.value if isinstance(separator, Lit) else "")))
    )
    if parts.last:
        before = apply_function(Op.TEXT_SLICE, text, int_lit(0), place)
        return before, apply_function(Op.TEXT_PART, text, separator, int_lit(-1))
    after = apply_function(Op.TEXT_SLICE, text, end, int_lit(_END))
    return apply_function(Op.TEXT_PART, text, separator, int_lit(0)), after


@text_method("split", "rsplit")
def split(call: ModelCall, text: Scalar) -> Value | None:
    """``text.split(separator)`` and ``rsplit`` of a constant, of which one part is used; of parts
    that are counted off (``split("-", 1)``) both, or the first; and ``text.split()``.
    """
    computed_value = compute_constant(call, text)
    if computed_value is not None or len(call.args) > 2:
        return computed_value
    if not call.args:
        return words_of(term_of(call, text))
    separator, most = constant_of(call.args[0], STRING), -1
    if len(call.args) == 2:
        number = constant_of(call.args[1], INT)
        if type(number) is not int or number == 0:
            return None
        most = number
    if not separator or (call.name == "rsplit" and _overlaps(str(separator))):
        return None
    term, literal = term_of(call, text), string_lit(str(separator))
    if most < 0:
        return SplitV(term, literal, True)
    return SplitV(term, literal, False, most == 1, call.name == "rsplit")


def _overlaps(separator: str) -> bool:
    """Return whether two places of a separator may overlap, as in ``"aaa".rsplit("aa")``: then the
    parts from the right are others than those from the left.
    """
    return any(separator[:i] == separator[-i:] for i in range(1, len(separator)))


def part_at(m: SymbolicMachine, flow: Flow, parts: SplitV, key: Value) -> Scalar:
    """Return one part of a split text; IndexError if there are fewer parts."""
    place = constant_of(key, INT)
    part = find_part(parts, place) if type(place) is int else None
    if part is None:
        raise DeclineSignal("unsupported-expression", "this part of a text")
    m.fail(flow, part.lacks, IndexError)
    return Scalar(part.text)


class PartOrLack(NamedTuple):
    """A part of a text, and whether the text has no such part."""

    text: Term
    lacks: Term


def find_part(parts: SplitV, place: int) -> PartOrLack | None:
    """Return a part of a split text; None for a place that is not read."""
    if parts.once and place in (0, 1, -1):
        return _part_of_two(parts, place)
    if not parts.counted and (place != 0 or parts.last):
        return None
    least = place if place >= 0 else -place - 1
    number = app(Op.TEXT_COUNT, parts.text, parts.separator)
    lacks = of_arguments(app(Op.PY_LT, number, int_lit(least))) if least else FALSE
    part = apply_function(Op.TEXT_PART, parts.text, parts.separator, int_lit(place))
    return PartOrLack(part, lacks)


def count_parts(parts: SplitV) -> Term | None:
    """Return the number of parts of a split text; None if it is not known."""
    if parts.once:
        cut = apply_function(Op.TEXT_CONTAINS, parts.text, parts.separator)
        return ite(cut, int_lit(2), int_lit(1))
    if not parts.counted:
        return None
    return app(Op.INT_ADD, app(Op.TEXT_COUNT, parts.text, parts.separator), int_lit(1))


def unpack(
    m: SymbolicMachine, flow: Flow, parts: SplitV | FindingsV, count: int
) -> tuple[Value, ...] | None:
    """Return the parts or words of a text that are assigned to so many variables; ValueError if
    there are more or fewer. None if their number is not known.
    """
    if isinstance(parts, FindingsV):
        other = negate(app(Op.PY_EQ, count_findings(parts), int_lit(count)))
        m.fail(flow, of_arguments(other), ValueError)
        words = tuple(word_at(m, flow, parts, i) for i in range(count))
        return None if None in words else tuple(w for w in words if w is not None)
    if parts.once and count <= _MOST_OF_TWO:
        cut = apply_function(Op.TEXT_CONTAINS, parts.text, parts.separator)
        m.fail(flow, negate(cut) if count == _MOST_OF_TWO else cut, ValueError)
    elif parts.counted:
        number = app(Op.TEXT_COUNT, parts.text, parts.separator)
        other = negate(app(Op.PY_EQ, number, int_lit(count - 1)))
        m.fail(flow, of_arguments(other), ValueError)
    else:
        return None
    return tuple(part_at(m, flow, parts, Scalar(int_lit(i))) for i in range(count))


_MOST_OF_TWO = 2


def _part_of_two(parts: SplitV, place: int) -> PartOrLack:
    """Return a part of a text that is cut once, or not at all."""
    cut = apply_function(Op.TEXT_CONTAINS, parts.text, parts.separator)
    before, after = _sides(parts)
    if place == 1:
        return PartOrLack(after, negate(cut))
    return PartOrLack(ite(cut, before if place == 0 else after, parts.text), FALSE)


@text_method("format", keywords=ANY)
def fill_in(call: ModelCall, text: Scalar) -> Scalar | None:
    """``"{}-{name}".format(a, name=b)`` of texts and integers."""
    form = constant_of(text, STRING)
    if not isinstance(form, str):
        return None
    return fill_fields(call.m, call.flow, form, call.args, call.named)


@text_method("join", arguments=1)
def join_texts(call: ModelCall, text: Scalar) -> Value | None:
    """``text.join([a, b])`` of texts that are written out, and ``text.join(other.split())``."""
    of = call.flow.dereference(call.args[0])
    if isinstance(of, FindingsV) and of == words_of(of.text):
        separator = constant_of(text, STRING)
        return (
            None
            if separator is None
            else _apply(Op.TEXT_WORDS, of.text, string_lit(str(separator)))
        )
    m, flow = call.m, call.flow
    array = m.force(call.args[0], flow)
    if composite_values.is_composite(array):
        return composite_values.join(m, flow, text, array)
    if isinstance(of, GrowingV) and of.kind != "heap":
        # Each is None where it is missing, and the place of a pending one is not computed.
        return _join_optional(m.scalar(flow, text, None), (*of.items, *of.pending))
    if not isinstance(of, ListV | TupleV):
        return None
    parts = [m.scalar(flow, i, None) for i in of.items]
    if any(p.base != STRING for p in parts):
        return None
    between = m.scalar(flow, text, None)
    joined_text = Scalar(string_lit(""))
    for number, part in enumerate(parts):
        before = concatenate_texts(joined_text, between) if number else joined_text
        joined_text = concatenate_texts(before, part)
    return joined_text


def _join_optional(between: Scalar, items: Sequence[Value]) -> Scalar | None:
    """Join items of which each is None where it is missing."""
    texts = [i for i in items if isinstance(i, Scalar) and i.base == STRING]
    if len(texts) < len(items):
        return None
    if len(texts) <= _MOST_CASES:
        return _join_by_cases(between, texts, any_before=False)
    joined_text = nothing = Scalar(string_lit(""))
    any_before: Term = FALSE
    for item in texts:
        separator = Scalar(ite(any_before, between.term, nothing.term))
        present = partial(concatenate_texts, separator)
        added = _map_item(item.term, present, lambda: nothing)
        joined_text = concatenate_texts(joined_text, added)
        any_before = or_(any_before, there(item))
    return joined_text


_MOST_CASES = 4
"""Maximum number of items of which all cases are written out, so that each is a plain text."""


def _join_by_cases(between: Scalar, items: Sequence[Scalar], *, any_before: bool) -> Scalar:
    """Join items; each choice is made once, and what follows depends on it."""
    if not items:
        return Scalar(string_lit(""))
    first, *others = items

    def present(text: Scalar) -> Scalar:
        after = _join_by_cases(between, others, any_before=True)
        joined_text = concatenate_texts(text, after) if others else text
        return concatenate_texts(between, joined_text) if any_before else joined_text

    def missing() -> Scalar:
        return _join_by_cases(between, others, any_before=any_before)

    return _map_item(first.term, present, missing)


def _map_item(
    item: Term, present: Callable[[Scalar], Scalar], missing: Callable[[], Scalar]
) -> Scalar:
    """Return a text that depends on an item, and on whether it is missing."""
    match item:
        case App(Op.ITE, (test, then, otherwise)):
            sides = (_map_item(side, present, missing).term for side in (then, otherwise))
            return Scalar(ite(test, *sides))
        case Lit(_, None):
            return missing()
        case App(Op.SOME, (inner,)):
            return present(Scalar(inner))
    if not isinstance(item.sort, Option):
        return present(Scalar(item))
    return Scalar(ite(is_none(item), missing().term, present(Scalar(get(item))).term))


def sum_of(operation: Operation) -> Scalar | None:
    """Evaluate ``a + b`` of texts, and a constant text times a number; None for others."""
    m, flow, op, left, right = operation
    if isinstance(op, ast.Mult):
        return _repeat(left, right) or _repeat(right, left)
    if isinstance(op, ast.Mod):
        return fill_form(m, flow, left, right)
    texts = all(isinstance(v, Scalar) and v.base == STRING for v in (left, right))
    if not texts or not isinstance(op, ast.Add):
        return None
    a, b = (m.scalar(flow, v) for v in (left, right))
    return concatenate_texts(a, b)


def _repeat(text: Value, times: Value) -> Scalar | None:
    part, number = constant_of(text, STRING), constant_of(times, INT)
    if not isinstance(part, str) or type(number) is not int or len(part) * number > LONGEST:
        return None
    return Scalar(string_lit(part * number))


# --- slices ---------------------------------------------------------------------------------------


def slice_text(m: SymbolicMachine, flow: Flow, text: Scalar, where: ast.Slice) -> Scalar | None:
    """Evaluate ``text[a:b]``, and ``text[::-1]``."""
    if where.step is not None:
        return _read_backwards(m, flow, text, where)
    bounds = [None if e is None else m.evaluate(e, flow) for e in _ends(where)]
    ends = [None if b is None else constant_of(b, INT) for b in bounds]
    if any(b is not None and type(e) is not int for b, e in zip(bounds, ends, strict=True)):
        return _slice_between(m, flow, text, bounds)
    start, stop = (e if type(e) is int else None for e in ends)
    term = m.scalar(flow, text).term
    if start is not None and start < 0:
        last = apply_function(Op.TEXT_LAST, term, int_lit(-start))
        if stop is None:
            return Scalar(last)
        return Scalar(without_last(last, -stop)) if stop < 0 else None
    if stop is None:
        return Scalar(_text_from(term, start or 0))
    if stop < 0:
        return Scalar(without_last(_text_from(term, start or 0), -stop))
    size = stop - (start or 0)
    if size <= 0:
        return Scalar(string_lit(""))
    return _apply(Op.TEXT_HEAD, _text_from(term, start or 0), int_lit(size))


def _read_backwards(
    m: SymbolicMachine, flow: Flow, text: Scalar, where: ast.Slice
) -> Scalar | None:
    assert where.step is not None
    if constant_of(m.evaluate(where.step, flow), INT) != -1 or _ends(where) != (None, None):
        return None
    return _apply(Op.TEXT_REVERSE, m.scalar(flow, text).term)


def _slice_between(
    m: SymbolicMachine, flow: Flow, text: Scalar, bounds: list[Value | None]
) -> Scalar | None:
    """Evaluate a slice whose bounds are integers that depend on the row."""
    term = m.scalar(flow, text).term
    ends = [None if b is None else m.scalar(flow, b) for b in bounds]
    if any(e is not None and (e.base != INT or e.traits.numpy) for e in ends):
        return None
    start, stop = (
        int_lit(d) if e is None else e.term for e, d in zip(ends, (0, _END), strict=True)
    )
    return _apply(Op.TEXT_SLICE, term, start, stop)


def without_last(text: Term, count: int) -> Term:
    """Return the text without its last characters."""
    backwards = apply_function(Op.TEXT_REVERSE, text)
    return apply_function(Op.TEXT_REVERSE, _text_from(backwards, count))


def _ends(where: ast.Slice) -> tuple[ast.expr | None, ast.expr | None]:
    return where.lower, where.upper


def _text_from(text: Term, start: int) -> Term:
    return apply_function(Op.TEXT_TAIL, text, int_lit(start)) if start else text


def character(m: SymbolicMachine, flow: Flow, text: Scalar, key: Value) -> Scalar | None:
    """Evaluate ``text[i]`` for a constant ``i``; IndexError if the text is too short."""
    place = constant_of(key, INT)
    if type(place) is not int:
        return None
    term = m.scalar(flow, text).term
    least = place + 1 if place >= 0 else -place
    length = apply_function(Op.TEXT_LENGTH, term)
    short = of_arguments(fold_constants(app(Op.PY_LT, length, int_lit(least))))
    m.fail(flow, short, IndexError)
    tail = (
        _text_from(term, place)
        if place >= 0
        else apply_function(Op.TEXT_LAST, term, int_lit(-place))
    )
    return _apply(Op.TEXT_HEAD, tail, int_lit(1))


# --- beginnings -----------------------------------------------------------------------------------


@text_method("startswith")
def startswith(call: ModelCall, text: Scalar) -> Value | None:
    """``text.startswith(prefix)`` of a string with constants, also with a tuple of them."""
    computed_value = compute_constant(call, text)
    if computed_value is not None or len(call.args) != 1:
        return computed_value
    term = term_of(call, text)
    starts = starts_with_any(term, call.args[0])
    return None if starts is None else boolean(call.flow.decide(starts))


def starts_with_any(text: Term, prefixes: Value) -> Term | None:
    """Return whether a text starts with a prefix, or with one of a tuple; None unless constant."""
    candidates = prefixes.items if isinstance(prefixes, TupleV) else (prefixes,)
    words = [constant_of(p, STRING) for p in candidates]
    return None if None in words else or_(*(starts_with(text, str(w)) for w in words))


def starts_with(text: Term, prefix: str) -> Term:
    """Return whether a text starts with a prefix."""
    if not prefix:
        return TRUE
    return two_valued(preimages.starts_with(spell_as(text, prefix) or text, prefix))
