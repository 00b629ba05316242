# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of single values as Spark SQL text, and back.

Each function is written as one call whose text says its meaning; Spark functions that are
compositions of several of ours (``substring(s, 2, 3)``) are also read. None of them raises, for any
argument. Sources, Spark 4.3.0: ``stringExpressions.scala``, ``datetimeExpressions.scala``,
``UTF8String.java``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from presieve.errors import DeclineSignal, SortError
from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.sorts import FLOAT, TIMESTAMP, MapOf, strip
from presieve.ir.terms import App, Lit, Op, Term, Var, int_lit, string_lit
from presieve.semantics.fixed_offsets import fixed_offset
from presieve.semantics.java_patterns import java_pattern, python_pattern
from presieve.semantics.preimages import starts_with
from presieve.semantics.smart_constructors import without_options
from presieve.semantics.values import INT_RANGES
from presieve.sql.coerce import settle
from presieve.sql.operands import AsText, Constant, Operand
from presieve.sql.quoted_names import quote

Reader = Callable[[Sequence[Term]], Term | None]
"""From the arguments to the meaning of a call; None if it is not known."""

_OF_CLOCKS = (Op.CLOCK_HOUR, Op.CLOCK_MINUTE, Op.CLOCK_SECOND)
"""Functions that Spark has of instants, too: of the time that the session's clocks show."""

OF_INSTANTS_ALONE = {
    Op.CLOCK_MICROS: "Spark has unix_micros of a TIMESTAMP, and none of a TIMESTAMP_NTZ",
}
"""Functions of a clock that Spark has of instants alone, with the reason to tell."""

TRIMS = {"BOTH": Op.TEXT_STRIP, "LEADING": Op.TEXT_LSTRIP, "TRAILING": Op.TEXT_RSTRIP}
"""``trim(BOTH characters FROM text)``."""

_OF_ONE: dict[str, Op] = {
    "length": Op.TEXT_LENGTH,
    "reverse": Op.TEXT_REVERSE,
    "unix_date": Op.DATE_DAYS,
    "year": Op.DATE_YEAR,
    "month": Op.DATE_MONTH,
    "day": Op.DATE_DAY,
    "weekday": Op.DATE_WEEKDAY,
    "weekofyear": Op.DATE_ISO_WEEK,
    "unix_micros": Op.CLOCK_MICROS,
    "hour": Op.CLOCK_HOUR,
    "minute": Op.CLOCK_MINUTE,
    "second": Op.CLOCK_SECOND,
}
"""Functions of one argument that mean the same in Spark, by Spark's name."""

_WRITTEN: dict[Op, str] = {
    **{op: f"trim({word} {{1}} FROM {{0}})" for word, op in TRIMS.items()},
    **{op: f"{name}({{0}})" for name, op in _OF_ONE.items()},
    Op.TEXT_HEAD: "left({0}, {1})",
    Op.TEXT_CONTAINS: "contains({0}, {1})",
    Op.TEXT_ENDS: "endswith({0}, {1})",
    Op.TEXT_REPLACE: "replace({0}, {1}, {2})",
    Op.TEXT_TRANSLATE: "translate({0}, {1}, {2})",
    Op.TEXT_CONCAT: "concat({0}, {1})",
    Op.TEXT_OF_INT: "CAST({0} AS STRING)",
    Op.INT_REMAINDER: "pmod({0}, {1})",
    Op.CLOCK_DATE: "CAST({0} AS DATE)",
    Op.ARRAY_SIZE: "array_size({0})",
    Op.ARRAY_FIND: "array_position({0}, {1})",
    Op.MAP_KEYS: "map_keys({0})",
    Op.MAP_AT: "try_element_at({0}, {1})",
}


def write_call(term: App, write: Callable[[Term], str]) -> str | None:
    """The call as text; None if Spark has no function of this meaning, or if an argument is neither
    a column nor such a call. ``write`` returns an argument's text for a place where nothing binds
    tighter.
    """
    plain = all(isinstance(a, Var | Lit) or a.op in SIGNATURES for a in term.args)
    return write_any_call(term, write) if plain else None


def write_any_call(term: App, write: Callable[[Term], str]) -> str | None:
    """Like :func:`written`, for any arguments."""
    match term:
        case App(op, (time,)) if op in (Op.CLOCK_DATE, *_OF_CLOCKS):
            # Of an instant, Spark takes what the clocks of the session show.
            return _WRITTEN[op].format(write(instant_of(time)))
        case App(Op.CLOCK_MICROS, (time,)):
            match without_options(time):
                case App(Op.WALL_TIME, (instant, Lit(_, 0))):
                    return _WRITTEN[term.op].format(write(instant))
            return None
        case App(Op.TEXT_TAIL, (text, Lit(_, int() as start))) if start < INT_RANGES["int"][1]:
            return f"substring({write(text)}, {start + 1})"
        case App(Op.TEXT_LAST, (text, Lit(_, int() as count))) if count <= INT_RANGES["int"][1]:
            return f"substring({write(text)}, -{count})"
        case App(Op.ARRAY_AT, (array, Lit(_, int() as place) as at)):
            name = "get" if place >= 0 else "try_element_at"
            return f"{name}({write(array)}, {write(at)})"
        case App(Op.STRUCT_FIELD, (struct, Lit(_, str() as name))):
            struct = without_options(struct)
            named = isinstance(struct, Var) or getattr(struct, "op", None) is Op.STRUCT_FIELD
            return f"{write(struct)}.{quote(name)}" if named else None
        case App(Op.TEXT_MATCHES, (text, Lit(_, str() as pattern), Lit(_, 0))):
            java = java_pattern(pattern)
            return None if java is None else f"rlike({write(text)}, {write(string_lit(java))})"
        case App(Op.TEXT_PART, (text, separator, Lit(_, int() as place))):
            place += place >= 0
            return f"split_part({write(text)}, {write(separator)}, {place})"
    form = _WRITTEN.get(term.op)
    return None if form is None else form.format(*(write(a) for a in term.args))


def _plain(op: Op) -> Reader:
    return lambda args: app(op, *args)


def _prefix(args: Sequence[Term]) -> Term | None:
    text, prefix = args
    has_prefix = isinstance(prefix, Lit) and prefix.value
    return starts_with(text, str(prefix.value)) if isinstance(prefix, Lit) and has_prefix else None


def _containment_reader(op: Op) -> Reader:
    """Read a containment test of a constant part, but not of "", which every text contains."""

    def read(args: Sequence[Term]) -> Term | None:
        part = args[1]
        return app(op, *args) if isinstance(part, Lit) and part.value else None

    return read


def _read_replace(args: Sequence[Term]) -> Term | None:
    """If the part is empty, Spark replaces nothing, but Python replaces every place."""
    return app(Op.TEXT_REPLACE, *args) if _constant_value(args[1]) else None


def _read_translate(args: Sequence[Term]) -> Term | None:
    letters, others = (_constant_value(a) for a in args[1:])
    if not isinstance(letters, str) or not isinstance(others, str):
        return None
    # If a letter occurs twice, Spark takes the first occurrence and Python the last.
    plain = len(set(letters)) == len(letters) == len(others)
    return app(Op.TEXT_TRANSLATE, *args) if plain else None


def _substring(args: Sequence[Term]) -> Term | None:
    """``substring(text, start[, length])``: from 1 on, or counted from the end. The greatest length
    stands for a call without one.
    """
    text, *numbers = args
    start, length = (_constant_value(n) for n in (*numbers, _ALL)[:2])
    if not isinstance(start, int) or not isinstance(length, int) or length < 1:
        return None
    is_unlimited = length == _ALL.value
    if start < 0:
        return app(Op.TEXT_LAST, text, int_lit(-start)) if is_unlimited else None
    tail = app(Op.TEXT_TAIL, text, int_lit(start - 1)) if start > 1 else text
    return tail if is_unlimited else app(Op.TEXT_HEAD, tail, int_lit(length))


_ALL = int_lit(INT_RANGES["int"][1])


def _read_rlike(args: Sequence[Term]) -> Term | None:
    """Read a test of a constant pattern that Python and Java read alike."""
    text, java = args
    plain = python_pattern(str(java.value)) if isinstance(java, Lit) else None
    if plain is None or isinstance(text, Lit):
        return None
    return app(Op.TEXT_MATCHES, text, string_lit(plain), int_lit(0))


def _read_like(args: Sequence[Term]) -> Term | None:
    """Read a constant pattern without escapes that asks for a beginning, an end or a part."""
    text, pattern = args
    wanted = pattern.value if isinstance(pattern, Lit) else None
    if not isinstance(wanted, str) or "_" in wanted or "\\" in wanted:
        return None
    start, *parts = re.split("%+", wanted)
    if not parts:
        return app(Op.SQL_EQ, text, pattern)
    *middle, end = parts
    if len(middle) > 1 or (middle and (start or end)):
        return None
    tests = [starts_with(text, start)] if start else []
    tests += [app(Op.TEXT_ENDS, text, string_lit(end))] if end else []
    if start and end:
        least = int_lit(len(start) + len(end))
        tests.append(app(Op.SQL_GE, app(Op.TEXT_LENGTH, text), least))
    tests += [app(Op.TEXT_CONTAINS, text, string_lit(part)) for part in middle]
    return sql_conjunction(tests) if tests else app(Op.SQL_GE, text, string_lit(""))


def _end_reader(op: Op) -> Reader:
    """Read ``left`` and ``right`` for at least one character."""

    def read(args: Sequence[Term]) -> Term | None:
        count = _constant_value(args[1])
        return app(op, *args) if isinstance(count, int) and count > 0 else None

    return read


def _read_split_part(args: Sequence[Term]) -> Term | None:
    text, separator, place = args
    number = _constant_value(place)
    if not _constant_value(separator) or not isinstance(number, int) or not number:
        return None
    return app(Op.TEXT_PART, text, separator, int_lit(number - (number > 0)))


def _remainder(args: Sequence[Term]) -> Term | None:
    divisor = _constant_value(args[1])
    is_supported = isinstance(divisor, int) and divisor > 0
    return app(Op.INT_REMAINDER, *args) if is_supported else None


def _read_concat(args: Sequence[Term]) -> Term | None:
    first, *remaining_texts = args
    for text in remaining_texts:
        first = app(Op.TEXT_CONCAT, first, text)
    return first


def _constant_value(term: Term) -> int | str | None:
    value = term.value if isinstance(term, Lit) else None
    return value if isinstance(value, int | str) else None


def _read_get(args: Sequence[Term]) -> Term | None:
    """Read an element of an array by its place, from 0."""
    place = _constant_value(args[1])
    return app(Op.ARRAY_AT, *args) if type(place) is int and place >= 0 else None


def _read_element_at(args: Sequence[Term]) -> Term | None:
    """Read a value of a map by its key, or an element of an array, counted from the end."""
    container, place = args
    if isinstance(strip(container.sort), MapOf):
        return app(Op.MAP_AT, container, place)
    number = _constant_value(place)
    return app(Op.ARRAY_AT, container, place) if type(number) is int and number < 0 else None


def read_field(struct: Operand, name: str) -> Term:
    """Read ``struct.name``. Raises :class:`DeclineSignal`."""
    unknown = DeclineSignal("sql-unsupported", f".{name} is supported for fields of structs")
    if not isinstance(struct, Var | App):
        raise unknown
    return _make_or_decline(lambda: app(Op.STRUCT_FIELD, struct, string_lit(name)), unknown)


READERS: dict[str, tuple[range, Reader]] = {
    **{name: (range(1, 2), _plain(op)) for name, op in _OF_ONE.items()},
    "char_length": (range(1, 2), _plain(Op.TEXT_LENGTH)),
    "dayofmonth": (range(1, 2), _plain(Op.DATE_DAY)),
    "left": (range(2, 3), _end_reader(Op.TEXT_HEAD)),
    "right": (range(2, 3), _end_reader(Op.TEXT_LAST)),
    "substring": (range(2, 4), _substring),
    "substr": (range(2, 4), _substring),
    "startswith": (range(2, 3), _prefix),
    "contains": (range(2, 3), _containment_reader(Op.TEXT_CONTAINS)),
    "like": (range(2, 3), _read_like),
    "rlike": (range(2, 3), _read_rlike),
    "endswith": (range(2, 3), _containment_reader(Op.TEXT_ENDS)),
    "replace": (range(3, 4), _read_replace),
    "translate": (range(3, 4), _read_translate),
    "split_part": (range(3, 4), _read_split_part),
    "concat": (range(2, 9), _read_concat),
    "pmod": (range(2, 3), _remainder),
    "array_size": (range(1, 2), _plain(Op.ARRAY_SIZE)),
    "array_position": (range(2, 3), _plain(Op.ARRAY_FIND)),
    "map_keys": (range(1, 2), _plain(Op.MAP_KEYS)),
    "get": (range(2, 3), _read_get),
    "try_element_at": (range(2, 3), _read_element_at),
}
"""By Spark's name: the possible numbers of arguments, and the meaning of a call."""


def read_call(name: str, operands: Sequence[Operand], timezone: str) -> Term:
    """Read a call of a function of single values; instants are read in this time zone. Raises
    :class:`DeclineSignal`.
    """
    counts, reader = READERS[name]
    unknown = DeclineSignal("sql-unsupported", f"{name} of these arguments is not supported")
    if len(operands) not in counts:
        raise unknown
    args = [settle(o) if isinstance(o, Constant) else o for o in operands]
    terms = [a for a in args if isinstance(a, Var | Lit | App)]
    if len(terms) < len(args) or all(isinstance(t, Lit) for t in terms):
        raise unknown
    if name == "unix_micros":
        terms = [_convert_to_wall_time(terms[0], "UTC")]
    elif _OF_ONE.get(name) in _OF_CLOCKS:
        terms = [_convert_to_wall_time(terms[0], timezone)]
    return _make_or_decline(lambda: reader(terms), unknown)


def instant_of(time: Term) -> Term:
    """The instant at which a clock shows a time; other times stay."""
    shown = without_options(time)
    return shown.args[0] if isinstance(shown, App) and shown.op is Op.WALL_TIME else time


def _convert_to_wall_time(time: Term, timezone: str) -> Term:
    """What the clocks of a time zone show at an instant; other values stay. Raises
    :class:`DeclineSignal` if they may change.
    """
    if strip(time.sort) != TIMESTAMP:
        return time
    ahead = fixed_offset(timezone)
    if ahead is None:
        reason = f"what a timestamp shows in {timezone} depends on daylight saving time"
        raise DeclineSignal("timezone", reason)
    return app(Op.WALL_TIME, time, int_lit(ahead))


def read_trim(word: str, characters: Operand, text: Operand) -> Term:
    """Read ``trim(word characters FROM text)``. Raises :class:`DeclineSignal`."""
    unknown = DeclineSignal("sql-unsupported", "trim of these arguments is not supported")
    if not isinstance(characters, Constant) or not isinstance(text, Var | App):
        raise unknown
    return _make_or_decline(lambda: app(TRIMS[word], text, settle(characters)), unknown)


def read_shown_number(number: Operand) -> Operand:
    """Read ``CAST(number AS STRING)`` of an integer or a double. Raises :class:`DeclineSignal`."""
    unknown = DeclineSignal("sql-unsupported", "only integers and doubles are cast to strings")
    if not isinstance(number, Var | App):
        raise unknown
    if strip(number.sort) == FLOAT:
        return AsText(number)
    return _make_or_decline(lambda: app(Op.TEXT_OF_INT, number), unknown)


def day_of(time: Operand, timezone: str) -> Term:
    """Read ``CAST(time AS DATE)``, where an instant is read in this time zone. Raises
    :class:`DeclineSignal`.
    """
    unknown = DeclineSignal("sql-unsupported", "only timestamps are cast to a date")
    if not isinstance(time, Var | App):
        raise unknown
    return _make_or_decline(
        lambda: app(Op.CLOCK_DATE, _convert_to_wall_time(time, timezone)), unknown
    )


def _make_or_decline(make: Callable[[], Term | None], unknown: DeclineSignal) -> Term:
    """Return what ``make`` returns; raise ``unknown`` for None and for sorts that do not fit."""
    try:
        term = make()
    except SortError:
        raise unknown from None
    if term is None:
        raise unknown
    return term
