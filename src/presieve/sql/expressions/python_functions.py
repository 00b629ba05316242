# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of Python that Spark has as compositions of its own functions only.

None of them raises, for any argument, and NULL gives NULL. To add one, add its form, the parameters
that are read from a constant in it, and a case to the tests that compare it with Python. Sources,
Spark 4.3.0: ``stringExpressions.scala``, ``regexpExpressions.scala``, ``UTF8String.java``,
``Cast.scala``; JDK: ``DecimalFormat`` and ``DigitList``, which round the exact value of a double.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

from msgspec import Struct

from presieve.ir.terms import App, Lit, Op, Term, literal_value
from presieve.semantics.function_meanings import WHITESPACE
from presieve.semantics.preimages import REPLACEMENT
from presieve.semantics.smart_constructors import without_options
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.expressions import (
    basics,
    choices,
    numeric,
    predicates,
    python_texts,
    textual,
)
from presieve.sql.expressions.compositions import (
    ARGUMENT,
    Form,
    Operand,
    Value,
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
    ``mark``. Its operand number ``place`` tells the ``parameters``, if there are any. ``compared``:
    it says whether the function's value equals the only parameter.
    """

    op: Op
    form: Callable[..., Form | None]
    root: Entry
    path: tuple[int, ...]
    mark: Entry
    parameters: Callable[[Value | None], Iterator[Parameters]]
    place: int = 1
    compared: bool = False


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
    something else if that is not None.
    """

    op: Op
    argument: ExprNode
    parameters: tuple[Lit, ...]
    compared: Lit | None = None


def recognize(node: ExprNode) -> Recognized | None:
    """Return the function of which the tree is a composition; None if it is none."""
    for composition in _COMPOSITIONS:
        mark = _node_at(node, composition.path)
        if node.entry is not composition.root or mark is None or mark.entry is not composition.mark:
            continue
        told = _node_at(mark, (composition.place,))
        for parameters in composition.parameters(None if told is None else constant(told)):
            form = composition.form(*parameters)
            argument = None if form is None else argument_of(form, node)
            literals = tuple(map(literal_of, parameters))
            if argument is not None and composition.compared:
                return Recognized(composition.op, argument, (), *literals)
            if argument is not None:
                return Recognized(composition.op, argument, literals)
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


def _format(digits: int) -> str:
    return "0." + "0" * digits if digits else "0"


def _digits_of(shown: object) -> Iterator[Parameters]:
    if isinstance(shown, str):
        yield (max(0, len(shown) - 2),)


def _text_of(value: object) -> Iterator[Parameters]:
    if isinstance(value, str):
        yield (value,)


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
        Op.TEXT_WORDS, _words, textual.REGEXP_REPLACE, (), textual.REGEXP_REPLACE, _text_of, 2
    ),
    Composition(Op.TEXT_FIND, _find, numeric.SUBTRACT, (0,), textual.INSTR, _text_of),
    Composition(Op.TEXT_COUNT, _count, numeric.SUBTRACT, (1, 0), textual.REPLACE, _text_of),
    Composition(Op.TEXT_IS, _is, textual.RLIKE, (), textual.RLIKE, _kind_of),
    Composition(Op.TEXT_IS, _is, predicates.AND, (0, 0), textual.RLIKE, _float_kind),
    Composition(Op.TEXT_TO_FLOAT, _to_float, basics.CAST, (0,), textual.TRANSLATE, _no_parameters),
    Composition(Op.FLOAT_ROUND, _round, choices.CASE, (1, 2, 0), textual.FORMAT_NUMBER, _digits_of),
)
_BY_OP = {(c.op, c.compared): c for c in _COMPOSITIONS}

ROOTS = frozenset(c.root for c in _COMPOSITIONS)
"""The classes of which a tree may be a composition."""
