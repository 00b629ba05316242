# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of Python that Spark has as compositions of its own functions only.

None of them raises, for any argument, and NULL gives NULL. To add one, add its form, the parameters
that are read from a constant in it, and a case to the tests that compare it with Python. Sources,
Spark 4.3.0: ``stringExpressions.scala``, ``regexpExpressions.scala``, ``UTF8String.java``,
``datetimeExpressions.scala``, ``Cast.scala``; JDK: ``DecimalFormat`` and ``DigitList``, which round
the exact value of a double.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

from msgspec import Struct

from presieve.ir.terms import App, Lit, Op, Term, literal_value
from presieve.semantics.function_meanings import WHITESPACE
from presieve.semantics.java_patterns import (
    java_matcher,
    java_replacement,
    python_matcher,
    python_replacement,
)
from presieve.semantics.pattern_prefixes import parse
from presieve.semantics.preimages import REPLACEMENT
from presieve.semantics.smart_constructors import without_options
from presieve.semantics.values import INT_RANGES
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.expressions import (
    basics,
    choices,
    numeric,
    predicates,
    python_texts,
    textual,
    times,
)
from presieve.sql.expressions.compositions import (
    ARGUMENT,
    Form,
    Operand,
    argument_of,
    constant,
    literal_of,
)
from presieve.sql.expressions.entry import Entry
from presieve.sql.expressions.python_texts import Steps

Parameters = tuple[str | int, ...]


class Composition(Struct, frozen=True):
    """How one function is written: the ``form`` for its parameters, None if there is none.

    A tree of this form is a call of ``root`` and has, at the ``path`` from there, a call of
    ``mark``. Constants at ``places`` in that tell the ``parameters``, if there are any.
    ``compared``: it says whether the function's value equals the only parameter. ``fits``: Spark
    gives the function's value where this type of integers has it, or the number of its day.
    """

    op: Op
    form: Callable[..., Form | None]
    root: Entry
    path: tuple[int, ...]
    mark: Entry
    parameters: Callable[..., Iterator[Parameters]]
    places: tuple[tuple[int, ...], ...] = ((1,),)
    compared: bool = False
    fits: str = ""


class Composed(Struct, frozen=True):
    """The form of a function's call, and its argument."""

    form: Form
    argument: Term


def compose(term: App) -> Composed | None:
    """Return the form of a function's call, or of its comparison with a constant; None if there is
    none.
    """
    compared = term.op is Op.PY_EQ
    call = without_options(term.args[0]) if compared else term
    if not isinstance(call, App) or not call.args:
        return None
    composition = _BY_OP.get((call.op, compared))
    others = [*call.args[1:], *(term.args[1:] if compared else ())]
    parameters = [literal_value(a) for a in map(without_options, others) if isinstance(a, Lit)]
    if composition is None or len(parameters) < len(others):
        return None
    form = composition.form(*parameters)
    return None if form is None else Composed(form, call.args[0])


class Recognized(Struct, frozen=True):
    """The call that a tree stands for: of a function of ``argument``, and ``compared`` with
    something else if that is not None; only where it ``fits``, as in :class:`Composition`.
    """

    op: Op
    argument: ExprNode
    parameters: tuple[Lit, ...]
    compared: Lit | None = None
    fits: str = ""


def recognize(node: ExprNode) -> Recognized | None:
    """Return the function of which the tree is a composition; None if it is none."""
    for composition in _COMPOSITIONS:
        mark = _node_at(node, composition.path)
        if node.entry is not composition.root or mark is None or mark.entry is not composition.mark:
            continue
        operands = (_node_at(mark, place) for place in composition.places)
        told = (None if o is None else constant(o) for o in operands)
        for parameters in composition.parameters(*told):
            form = composition.form(*parameters)
            argument = None if form is None else argument_of(form, node)
            if form is None or argument is None:
                continue
            literals = tuple(map(literal_of, parameters))
            if composition.compared:
                return Recognized(composition.op, argument, (), literals[0])
            return Recognized(composition.op, argument, literals, fits=composition.fits)
    return None


def _node_at(node: ExprNode, path: tuple[int, ...]) -> ExprNode | None:
    for place in path:
        if place >= len(node.children):
            return None
        node = node.children[place]
    return node


def _no_parameters(_: object) -> Iterator[Parameters]:
    yield ()


# --- forms ----------------------------------------------------------------------------------------


def _case(test: Form, then: Operand, otherwise: Operand) -> Form:
    return Form(choices.CASE, (test, then, otherwise), "CASE WHEN {0} THEN {1} ELSE {2} END")


def _finds(pattern: str, text: Operand = ARGUMENT) -> Form:
    return Form(textual.RLIKE, (text, pattern))


def _take(steps: Steps) -> Form:
    """The composition that takes steps, one inside of the other."""
    text: Operand = ARGUMENT
    for pattern, by in ((r.pattern, r.by) for r in steps.replacements):
        text = Form(textual.REGEXP_REPLACE, (text, pattern, by, 1))
    return Form(textual.TRANSLATE, (text, steps.letters, steps.others))


_NO_UPPER = f"[^{python_texts.SETTLED_UPPER}]"
_NO_LOWER = f"[^{python_texts.SETTLED_LOWER}]"
"""Patterns of characters whose case Spark may not know as Python does."""


@cache
def _upper() -> Form:
    steps = python_texts.steps_to_upper()
    longer = f"[{python_texts.expanded_by_upper()}]"
    each_one = _case(_finds(longer), _take(steps), _take(Steps((), steps.letters, steps.others)))
    return _case(_finds(_NO_UPPER), each_one, Form(textual.UPPER, (ARGUMENT,)))


@cache
def _lower() -> Form:
    steps = _take(python_texts.steps_to_lower())
    return _case(_finds(_NO_LOWER), steps, Form(textual.LOWER, (ARGUMENT,)))


def _equals(call: Entry, unsettled: str, text: str) -> Form | None:
    """Compare a case with a text of ASCII characters, which no unsettled character has."""
    if not text.isascii():
        return None
    same = Form(predicates.EQUAL, (Form(call, (ARGUMENT,)), text), "{0} = {1}")
    return _case(_finds(unsettled), False, same)


@cache
def _decoded() -> Form:
    """Spark decodes a text to translate it, as it does to hand it to a worker without Arrow."""
    return _case(_finds(REPLACEMENT), Form(textual.TRANSLATE, (ARGUMENT, "a", "a")), ARGUMENT)


def _words(separator: str) -> Form | None:
    """The words of a text, joined. Java's replacements read ``$`` and the backslash."""
    if not separator.isprintable() or "$" in separator or "\\" in separator:
        return None
    trimmed = Form(textual.TRIM, (ARGUMENT, WHITESPACE), "trim(BOTH {1} FROM {0})")
    return Form(textual.REGEXP_REPLACE, (trimmed, f"[{WHITESPACE}]+", separator, 1))


def _substituted(pattern: str, flags: int, by: str) -> Form | None:
    """The text in which all matches are replaced. Matches of no character are not read: Java and
    Python may look for them in other places.
    """
    java, java_by = java_matcher(pattern), java_replacement(by)
    if flags or java is None or java_by is None or not parse(pattern, 0).getwidth()[0]:
        return None
    return Form(textual.REGEXP_REPLACE, (ARGUMENT, java, java_by, 1))


def _group(pattern: str, flags: int, method: str, number: int) -> Form | None:
    java = java_matcher(pattern)
    if flags or method != "search" or java is None:
        return None
    return Form(textual.REGEXP_EXTRACT, (ARGUMENT, java, number))


def _zfill(width: int) -> Form | None:
    """A sign stays in front of the zeros."""
    if not 0 < width <= _MOST_ZEROS:
        return None
    missing = Form(numeric.SUBTRACT, (width, Form(textual.LENGTH, (ARGUMENT,))), "({0} - {1})")
    zeros = Form(textual.SUBSTRING, ("0" * width, 1, missing))
    sign = Form(textual.SUBSTRING, (ARGUMENT, 1, 1))
    digits = Form(textual.SUBSTRING, (ARGUMENT, 2, _ALL))
    signed = Form(textual.CONCAT, (sign, zeros, digits))
    return _case(_finds("^[+-]"), signed, Form(textual.CONCAT, (zeros, ARGUMENT)))


_MOST_ZEROS = 100
_ALL = INT_RANGES["int"][1]
"""As the length of a part of a text: up to its end."""


def _shift(days: int) -> Form | None:
    low, high = INT_RANGES["int"]
    return (
        Form(times.DATE_ADD, (ARGUMENT, days), "date_add({0}, {1})") if low < days <= high else None
    )


def _iso_year() -> Form:
    year = Form(times.YEAR_OF_WEEK, (ARGUMENT,), "{0}")
    return Form(times.EXTRACT, (year,), "extract(YEAROFWEEK FROM {0})")


def _slice(start: int, stop: int) -> Form | None:
    """A part that ends so many characters before the end. Spark takes places before the beginning
    of a text into account, too.
    """
    if stop >= 0 or not -_ALL < start - stop <= _ALL:
        return None
    if start < 0:
        return Form(textual.SUBSTRING, (ARGUMENT, start, max(0, stop - start)))
    length = Form(textual.LENGTH, (ARGUMENT,))
    rest = Form(numeric.SUBTRACT, (length, start - stop), "({0} - {1})")
    return Form(textual.SUBSTRING, (ARGUMENT, start + 1, rest))


def _find(part: str) -> Form | None:
    if not part:
        return None
    return Form(numeric.SUBTRACT, (Form(textual.INSTR, (ARGUMENT, part)), 1), "({0} - {1})")


def _count(part: str) -> Form | None:
    """The number of places of one character."""
    if len(part) != 1:
        return None
    without = Form(textual.REPLACE, (ARGUMENT, part, ""))
    lengths = tuple(Form(textual.LENGTH, (text,)) for text in (ARGUMENT, without))
    return Form(numeric.SUBTRACT, lengths, "({0} - {1})")


def _is(kind: str) -> Form | None:
    if kind == "float":
        without = Form(textual.REPLACE, (ARGUMENT, "_", ""))
        misplaced = Form(predicates.NOT, (_finds(python_texts.misplaced_underscore()),), "NOT {0}")
        number = _finds(python_texts.float_pattern(), without)
        return Form(predicates.AND, (misplaced, number), "({0} AND {1})")
    pattern = python_texts.pattern_of_kind(kind)
    return None if pattern is None else _finds(pattern)


@cache
def _to_float() -> Form:
    digits = _take(python_texts.steps_to_ascii_number())
    return Form(basics.CAST, (digits,), "try_cast({0} AS DOUBLE)", "double")


@cache
def _to_int() -> Form:
    digits = _take(python_texts.steps_to_ascii_number())
    return Form(basics.CAST, (digits,), "try_cast({0} AS BIGINT)", "bigint")


_MOST_DIGITS = 12
_WHOLE = 2.0**52
"""Doubles from here on are whole."""


@cache
def _round(digits: int) -> Form | None:
    """Java shows the exact value of a double, rounded to even where it is a tie. Java 17 errs for
    half a unit of the last digit, and for nothing else.
    """
    if not 0 <= digits <= _MOST_DIGITS:
        return None
    size = Form(numeric.ABS, (ARGUMENT,), "abs({0})")
    half_unit = float(f"5e-{digits + 1}")
    factor = 2.0 if round(half_unit, digits) else 0.0
    as_half = Form(numeric.MULTIPLY, (ARGUMENT, factor), "{0} * {1}")
    shown = Form(textual.FORMAT_NUMBER, (ARGUMENT, _format(digits)))
    as_shown = Form(basics.CAST, (shown,), "CAST({0} AS DOUBLE)", "double")
    is_half = Form(predicates.EQUAL, (size, half_unit), "{0} = {1}")
    is_small = Form(predicates.LESS, (size, _WHOLE), "{0} < {1}")
    return _case(is_small, _case(is_half, as_half, as_shown), ARGUMENT)


_EXACT = 2.0**53
"""Integers of a smaller size are doubles, and their quotient is rounded once."""


def _ratio(divisor: int) -> Form | None:
    """The quotient of an integer and a power of ten, rounded once: Java rounds the number that a
    text shows once, too.
    """
    power = len(str(divisor)) - 1
    if divisor != 10**power or power == 0:
        return None
    number = Form(basics.CAST, (ARGUMENT,), "CAST({0} AS DOUBLE)", "double")
    shown = Form(basics.CAST, (ARGUMENT,), "CAST({0} AS STRING)", "string")
    scaled = Form(textual.CONCAT, (shown, f"E-{power}"))
    size = Form(numeric.ABS, (number,), "abs({0})")
    is_exact = Form(predicates.LESS, (size, _EXACT), "{0} < {1}")
    quotient = Form(numeric.DIVIDE, (number, float(divisor)), "{0} / {1}")
    return _case(is_exact, quotient, Form(basics.CAST, (scaled,), "CAST({0} AS DOUBLE)", "double"))


def _divisor_of(divisor: object) -> Iterator[Parameters]:
    if isinstance(divisor, float) and divisor.is_integer():
        yield (int(divisor),)


def _format(digits: int) -> str:
    return "0." + "0" * digits if digits else "0"


def _digits_of(shown: object) -> Iterator[Parameters]:
    if isinstance(shown, str):
        yield (max(0, len(shown) - 2),)


def _text_of(value: object) -> Iterator[Parameters]:
    if isinstance(value, str):
        yield (value,)


def _substitution_of(java: object, by: object) -> Iterator[Parameters]:
    if isinstance(java, str) and isinstance(by, str):
        pattern, replacement = python_matcher(java), python_replacement(by)
        if pattern is not None and replacement is not None:
            yield pattern, 0, replacement


def _group_of(java: object, number: object) -> Iterator[Parameters]:
    pattern = python_matcher(java) if isinstance(java, str) else None
    if pattern is not None and isinstance(number, int):
        yield pattern, 0, "search", number


def _days_of(days: object) -> Iterator[Parameters]:
    if isinstance(days, int):
        yield (days,)


def _slice_of(start: object, length: object, left_out: object) -> Iterator[Parameters]:
    if not isinstance(start, int):
        return
    if isinstance(length, int) and start < 0:
        yield start, start + length
    elif isinstance(left_out, int) and start > 0:
        yield start - 1, start - 1 - left_out


def _width_of(zeros: object) -> Iterator[Parameters]:
    if isinstance(zeros, str):
        yield (len(zeros),)


def _kind_of(pattern: object) -> Iterator[Parameters]:
    yield from ((k,) for k in python_texts.KINDS if python_texts.pattern_of_kind(k) == pattern)


def _float_kind(_: object) -> Iterator[Parameters]:
    yield ("float",)


_is_upper = partial(_equals, textual.UPPER, _NO_UPPER)
_is_lower = partial(_equals, textual.LOWER, _NO_LOWER)

_COMPOSITIONS = (
    Composition(Op.TEXT_UPPER, _upper, choices.CASE, (2,), textual.UPPER, _no_parameters),
    Composition(Op.TEXT_LOWER, _lower, choices.CASE, (2,), textual.LOWER, _no_parameters),
    *(
        Composition(op, form, choices.CASE, (2,), predicates.EQUAL, _text_of, compared=True)
        for op, form in ((Op.TEXT_UPPER, _is_upper), (Op.TEXT_LOWER, _is_lower))
    ),
    Composition(Op.TEXT_DECODED, _decoded, choices.CASE, (1,), textual.TRANSLATE, _no_parameters),
    Composition(
        Op.TEXT_WORDS, _words, textual.REGEXP_REPLACE, (), textual.REGEXP_REPLACE, _text_of, ((2,),)
    ),
    Composition(
        *(Op.TEXT_SUBSTITUTED, _substituted, textual.REGEXP_REPLACE, (), textual.REGEXP_REPLACE),
        *(_substitution_of, ((1,), (2,))),
    ),
    Composition(
        *(Op.TEXT_GROUP, _group, textual.REGEXP_EXTRACT, (), textual.REGEXP_EXTRACT),
        *(_group_of, ((1,), (2,))),
    ),
    Composition(
        *(Op.TEXT_SLICE, _slice, textual.SUBSTRING, (), textual.SUBSTRING),
        *(_slice_of, ((1,), (2,), (2, 1))),
    ),
    Composition(
        *(Op.DATE_SHIFT, _shift, times.DATE_ADD, (), times.DATE_ADD, _days_of),
        fits="int",
    ),
    Composition(
        *(Op.DATE_ISO_YEAR, _iso_year, times.EXTRACT, (0,), times.YEAR_OF_WEEK, _no_parameters),
        ((0,),),
    ),
    Composition(Op.TEXT_ZFILL, _zfill, choices.CASE, (2, 0), textual.SUBSTRING, _width_of, ((0,),)),
    Composition(Op.TEXT_FIND, _find, numeric.SUBTRACT, (0,), textual.INSTR, _text_of),
    Composition(Op.TEXT_COUNT, _count, numeric.SUBTRACT, (1, 0), textual.REPLACE, _text_of),
    Composition(Op.TEXT_IS, _is, textual.RLIKE, (), textual.RLIKE, _kind_of),
    Composition(Op.TEXT_IS, _is, predicates.AND, (0, 0), textual.RLIKE, _float_kind),
    Composition(Op.TEXT_TO_FLOAT, _to_float, basics.CAST, (0,), textual.TRANSLATE, _no_parameters),
    Composition(
        *(Op.TEXT_TO_INT, _to_int, basics.CAST, (0,), textual.TRANSLATE, _no_parameters),
        fits="bigint",
    ),
    Composition(Op.INT_RATIO, _ratio, choices.CASE, (1,), numeric.DIVIDE, _divisor_of),
    Composition(Op.FLOAT_ROUND, _round, choices.CASE, (1, 2, 0), textual.FORMAT_NUMBER, _digits_of),
)
_BY_OP = {(c.op, c.compared): c for c in _COMPOSITIONS}

ROOTS = frozenset(c.root for c in _COMPOSITIONS)
"""The classes of which a tree may be a composition."""
