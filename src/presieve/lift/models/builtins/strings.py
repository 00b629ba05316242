# SPDX-License-Identifier: Apache-2.0
"""Trusted. Texts: methods, slices and f-strings; for constants the result is computed.

A test for a prefix is an interval of texts. Other operations on texts that are not constants are
functions of single values (:mod:`presieve.ir.functions`). Sources: the Python library reference,
"Text Sequence Type".
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, INT, STRING, Sort
from presieve.ir.terms import TRUE, Lit, Op, Term, int_lit, string_lit
from presieve.lift.execution.state import Flow, ModelCall, Operation, SymbolicMachine
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.models.registry import method
from presieve.lift.python.names import as_constant
from presieve.lift.values.symbolic import (
    ListV,
    NoneV,
    Scalar,
    SplitV,
    TupleV,
    Value,
    constant_of,
    describe,
)
from presieve.semantics import preimages
from presieve.semantics.functions import WHITESPACE
from presieve.semantics.preimages import of_arguments, two_valued
from presieve.semantics.smart_constructors import (
    apply_function,
    fold_constants,
    get,
    is_none,
    ite,
    or_,
)

_LONGEST = 10_000
"""Maximum width, in characters, of a padded constant that is computed."""
_PADDING = ("zfill", "ljust", "rjust", "center")
_CASES = {"upper": Op.TEXT_UPPER, "lower": Op.TEXT_LOWER}
_STRIPS = {"strip": Op.TEXT_STRIP, "lstrip": Op.TEXT_LSTRIP, "rstrip": Op.TEXT_RSTRIP}
_WRITTEN: dict[Sort, Callable[[Term], Term]] = {
    STRING: lambda text: text,
    INT: lambda number: apply_function(Op.TEXT_OF_INT, number),
    BOOL: lambda truth: ite(truth, string_lit("True"), string_lit("False")),
}


def _text(call: ModelCall, owner: Value) -> Scalar | None:
    text = call.m.force(owner, call.flow)
    return text if isinstance(text, Scalar) and text.base == STRING else None


text_method = partial(method, Scalar, owner=_text)
"""Register a model of methods of texts."""


def _term(call: ModelCall, text: Scalar) -> Term:
    """Return the text's term, where it is not None, which has no such method."""
    return call.m.scalar(call.flow, text, AttributeError).term


@text_method(
    *("rsplit", "splitlines", "partition", "rpartition", "capitalize", "title", "casefold"),
    *("swapcase", "zfill", "ljust", "rjust", "center", "removesuffix"),
)
def compute_constant(call: ModelCall, text: Scalar) -> Value | None:
    """``text.title()`` and the like of constants."""
    name, zone = call.name, call.m.columns.zone
    plain = [constant_of(v, STRING, INT) for v in (text, *call.args)]
    if None in plain:
        return None
    if name in _PADDING and any(isinstance(n, int) and n > _LONGEST for n in plain):
        raise call.decline("too-large", f"a string of more than {_LONGEST} characters")
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
    term = _term(call, text)
    return boolean(apply_function(Op.TEXT_IS, term, string_lit(call.name)))


def number_in(call: ModelCall, text: Scalar, kind: str) -> Term:
    """Return ``float(text)`` or ``int(text)`` as an opaque function: only Python defines which
    texts are accepted, and their values. Other texts raise ValueError.
    """
    call.m.fail(
        call.flow, negate(apply_function(Op.TEXT_IS, text.term, string_lit(kind))), ValueError
    )
    return apply_function(Op.TEXT_TO_INT if kind == "int" else Op.TEXT_TO_FLOAT, text.term)


@text_method("upper", "lower", arguments=0)
def change_case(call: ModelCall, text: Scalar) -> Value | None:
    """``text.upper()`` and ``text.lower()``."""
    return _apply(_CASES[call.name], _term(call, text))


@text_method("strip", "lstrip", "rstrip")
def strip_text(call: ModelCall, text: Scalar) -> Value | None:
    """``text.strip()``, ``lstrip`` and ``rstrip``, also of constant characters."""
    characters = _literals(call)
    if characters is None or len(characters) > 1:
        return None
    term = _term(call, text)
    return _apply(_STRIPS[call.name], term, *(characters or [string_lit(WHITESPACE)]))


@text_method("replace")
def replace_text(call: ModelCall, text: Scalar) -> Value | None:
    """``text.replace(part, by)`` of constants."""
    literals = _literals(call)
    if literals is None or len(literals) != 2 or not literals[0].value:
        return compute_constant(call, text)
    return _apply(Op.TEXT_REPLACE, _term(call, text), *literals)


@text_method("removeprefix")
def without_prefix(call: ModelCall, text: Scalar) -> Value | None:
    """``text.removeprefix(prefix)`` of a constant."""
    literals = _literals(call)
    if literals is None or len(literals) != 1:
        return None
    term = _term(call, text)
    prefix = str(literals[0].value)
    return Scalar(ite(starts_with(term, prefix), _text_from(term, len(prefix)), term))


@text_method("endswith", arguments=1)
def ends_with(call: ModelCall, text: Scalar) -> Value | None:
    """``text.endswith(end)`` of a constant, also of a tuple of them."""
    ends = ends_with_any(_term(call, text), call.args[0])
    return None if ends is None else boolean(call.flow.decided(ends))


def ends_with_any(text: Term, ends: Value) -> Term | None:
    """Return whether a text ends with this, or with one of a tuple; None unless constant."""
    candidates = ends.items if isinstance(ends, TupleV) else (ends,)
    words = [constant_of(e, STRING) for e in candidates]
    tests = (apply_function(Op.TEXT_ENDS, text, string_lit(str(w))) if w else TRUE for w in words)
    return None if None in words else or_(*tests)


@text_method("find", "index", "count")
def place_of(call: ModelCall, text: Scalar) -> Value | None:
    """``text.find(part)``, ``index``, which raises where there is none, and ``count``: of constants
    that are not empty.
    """
    literals = _literals(call)
    if literals is None or len(literals) != 1 or not literals[0].value:
        return compute_constant(call, text)
    m, flow = call.m, call.flow
    term = _term(call, text)
    if call.name == "index":
        m.fail(flow, negate(apply_function(Op.TEXT_CONTAINS, term, *literals)), ValueError)
    return _apply(Op.TEXT_COUNT if call.name == "count" else Op.TEXT_FIND, term, *literals)


@text_method("split")
def split(call: ModelCall, text: Scalar) -> Value | None:
    """``text.split(separator)`` of a constant, of which one part is used; of parts that are counted
    off (``split("-", 1)``) the first.
    """
    computed_value = compute_constant(call, text)
    if computed_value is not None or not 1 <= len(call.args) <= 2:
        return computed_value
    separator, most = constant_of(call.args[0], STRING), None
    if len(call.args) == 2:
        most = constant_of(call.args[1], INT)
        if not isinstance(most, int) or most == 0:
            return None
    if not separator:
        return None
    term = _term(call, text)
    return SplitV(term, string_lit(str(separator)), most is None or int(most) < 0)


def part_at(m: SymbolicMachine, flow: Flow, parts: SplitV, key: Value) -> Scalar:
    """Return one part of a split text; IndexError if there are fewer parts."""
    place = constant_of(key, INT)
    if type(place) is not int or (not parts.counted and place != 0):
        raise DeclineSignal("unsupported-expression", "this part of a text")
    least = place if place >= 0 else -place - 1
    if least:
        number = app(Op.TEXT_COUNT, parts.text, parts.separator)
        m.fail(flow, of_arguments(app(Op.PY_LT, number, int_lit(least))), IndexError)
    return _apply(Op.TEXT_PART, parts.text, parts.separator, int_lit(place))


@text_method("join", arguments=1)
def join_texts(call: ModelCall, text: Scalar) -> Value | None:
    """``text.join([a, b])`` of texts that are written out."""
    of = call.flow.opened(call.args[0])
    if not isinstance(of, ListV | TupleV):
        return None
    m, flow = call.m, call.flow
    parts = [m.scalar(flow, i, None) for i in of.items]
    if any(p.base != STRING for p in parts):
        return None
    between = m.scalar(flow, text, None)
    joined_text = Scalar(string_lit(""))
    for number, part in enumerate(parts):
        before = concatenate_texts(joined_text, between) if number else joined_text
        joined_text = concatenate_texts(before, part)
    return joined_text


def sum_of(operation: Operation) -> Scalar | None:
    """Evaluate ``a + b`` of texts; None for other operations."""
    m, flow, op, left, right = operation
    texts = all(isinstance(v, Scalar) and v.base == STRING for v in (left, right))
    if not texts or not isinstance(op, ast.Add):
        return None
    a, b = (m.scalar(flow, v) for v in (left, right))
    return concatenate_texts(a, b)


def concatenate_texts(a: Scalar, b: Scalar) -> Scalar:
    """Concatenate two texts."""
    if a.term == string_lit(""):
        return b
    return a if b.term == string_lit("") else _apply(Op.TEXT_CONCAT, a.term, b.term)


def write_as_text(m: SymbolicMachine, flow: Flow, value: Value) -> Scalar:
    """Evaluate ``str(value)`` of a text, an integer, a truth value or None."""
    forced = m.force(value, flow)
    none = string_lit("None")
    if isinstance(forced, NoneV):
        return Scalar(none)
    if isinstance(forced, Scalar) and forced.base in _WRITTEN:
        term = get(forced.term)
        shown = _WRITTEN[forced.base](term)
        return Scalar(ite(is_none(forced.term), none, shown))
    raise DeclineSignal("unsupported-operation", f"str() of {describe(value)} is not read")


def format_text(m: SymbolicMachine, node: ast.JoinedStr, flow: Flow) -> Scalar:
    """Evaluate an f-string whose values are formatted as by ``str``."""
    formatted_text = Scalar(string_lit(""))
    for part in node.values:
        match part:
            case ast.FormattedValue(value, -1 | 115, None):
                shown = write_as_text(m, flow, m.evaluate(value, flow))
            case ast.Constant(str() as text):
                shown = Scalar(string_lit(text))
            case _:
                reason = "a format, as in f'{x:.2f}', is not read"
                raise DeclineSignal("unsupported-expression", reason)
        formatted_text = concatenate_texts(formatted_text, shown)
    return formatted_text


# --- slices ---------------------------------------------------------------------------------------


def slice_text(m: SymbolicMachine, flow: Flow, text: Scalar, where: ast.Slice) -> Scalar | None:
    """Evaluate ``text[a:b]`` with constant bounds; ``b`` must not be negative."""
    bounds = (None if e is None else constant_of(m.evaluate(e, flow), INT) for e in _ends(where))
    ends = [e if type(e) is int else None for e in bounds]
    unknown = sum(e is not None for e in _ends(where)) != sum(e is not None for e in ends)
    if unknown or where.step is not None:
        return None
    start, stop = ends
    term = m.scalar(flow, text).term
    if start is not None and start < 0:
        return _apply(Op.TEXT_LAST, term, int_lit(-start)) if stop is None else None
    if stop is None:
        return Scalar(_text_from(term, start or 0))
    if stop < 0:
        return None
    size = stop - (start or 0)
    if size <= 0:
        return Scalar(string_lit(""))
    return _apply(Op.TEXT_HEAD, _text_from(term, start or 0), int_lit(size))


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
    term = _term(call, text)
    starts = starts_with_any(term, call.args[0])
    return None if starts is None else boolean(call.flow.decided(starts))


def starts_with_any(text: Term, prefixes: Value) -> Term | None:
    """Return whether a text starts with a prefix, or with one of a tuple; None unless constant."""
    candidates = prefixes.items if isinstance(prefixes, TupleV) else (prefixes,)
    words = [constant_of(p, STRING) for p in candidates]
    return None if None in words else or_(*(starts_with(text, str(w)) for w in words))


def starts_with(text: Term, prefix: str) -> Term:
    """Return whether a text starts with a prefix."""
    if not prefix:
        return TRUE
    return two_valued(preimages.starts_with(text, prefix))
