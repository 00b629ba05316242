# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Writes a lifted function's results as expressions of Spark SQL.

Python's operators become those of Spark where both give the same result for the values that can
occur: integers are bigints if their intervals fit and decimals if they do not, comparisons of
doubles handle NaN explicitly, ``//`` and ``%`` round down. A term without such a text is declined.
The text is not trusted: Spark's reading of it is translated back and proved to be the function
(:mod:`presieve.certificate.row_expressions`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import accumulate

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, TIMESTAMP, ArrayOf, MapOf, strip
from presieve.ir.terms import (
    FALSE,
    SQL_TRUE,
    App,
    Lit,
    Op,
    Term,
    Var,
    float_lit,
    literal_value,
    string_lit,
)
from presieve.ir.walk import size
from presieve.lift.values.ranges import Interval, Ranges
from presieve.records import replace
from presieve.semantics.smart_constructors import get, without_options
from presieve.semantics.types import MAX_DIGITS
from presieve.semantics.values import INT_RANGES
from presieve.sql import function_texts
from presieve.sql.emit import Level, emit, literal
from presieve.sql.expressions.compositions import write
from presieve.sql.expressions.python_functions import Composed, compose
from presieve.sql.operands import NEGATIVE_ZERO
from presieve.sql.quoted_names import InexpressibleError, quote
from presieve.sql.whole_decimals import BIGINT_DIGITS

_COMPARED = {Op.PY_EQ: "=", Op.PY_LT: "<", Op.PY_LE: "<=", Op.PY_GT: ">", Op.PY_GE: ">="}
_MUST_BE_NUMBER = {Op.PY_EQ: 0, Op.PY_LT: 1, Op.PY_LE: 1, Op.PY_GT: 0, Op.PY_GE: 0}
"""The side that must not be NaN, which is greater than all other doubles in Spark."""

_SUMS = {
    Op.INT_ADD: ("+", Level.SUM),
    Op.INT_SUB: ("-", Level.SUM),
    Op.INT_MUL: ("*", Level.PRODUCT),
}
_FLOATS = {
    Op.FLOAT_ADD: ("+", Level.SUM),
    Op.FLOAT_SUB: ("-", Level.SUM),
    Op.FLOAT_MUL: ("*", Level.PRODUCT),
    Op.FLOAT_DIV: ("/", Level.PRODUCT),
}

_VOID = "void"


class Text(Struct, frozen=True):
    """The text of an expression, how tightly it binds, and its type: of integers and NULL alone."""

    sql: str
    level: Level = Level.PRIMARY
    type: str = ""

    def inside(self, least: Level) -> str:
        """The text for a place where everything below ``least`` needs parentheses."""
        return self.sql if self.level >= least else f"({self.sql})"


class ErrorToRaise(Struct, frozen=True):
    """When an expression raises: where ``raises`` and the condition ``called_if`` of SQL hold."""

    raises: Term
    message: str = ""
    called_if: Term = SQL_TRUE

    def text(self, type_: str) -> str:
        """The text of the error as an expression of a type."""
        error = f"CAST(raise_error({literal(string_lit(self.message))}) AS {type_.upper()})"
        if self.called_if == SQL_TRUE:
            return error
        return f"CASE WHEN {emit(self.called_if, 'UTC')} THEN {error} END"


NO_ERROR = ErrorToRaise(FALSE)


class Writer(Struct, frozen=True):
    """Writes terms over columns: their ``names`` in SQL, and ``types`` of integers."""

    names: Mapping[Var, str]
    types: Mapping[Var, str]
    ranges: Ranges

    @classmethod
    def of_columns(cls, columns: Mapping[Var, str], ranges: Ranges) -> Writer:
        """A writer for columns of these Spark types that have the names of their variables."""
        integers = {v: type_ for v, type_ in columns.items() if strip(v.sort) == INT}
        of_spark = replace(ranges, of_python=False)
        return cls({v: quote(v.name) for v in columns}, integers, of_spark)

    def hiding(self, columns: Collection[str]) -> Writer:
        """The same writer, with the columns of these names written in a form that equals the
        column, to the bit, and that Spark passes to no data source: it does not translate the form
        for sources (``DataSourceStrategy.translateFilter``), and does not simplify it. It passes no
        comparison with an element of an array or a map either.
        """
        hidden = {
            v: f"greatest({n}, {n})"
            for v, n in self.names.items()
            if v.name in columns and not isinstance(strip(v.sort), ArrayOf | MapOf)
        }
        return replace(self, names={**self.names, **hidden})

    def output(self, term: Term, type_: str, error: ErrorToRaise = NO_ERROR) -> str:
        """Write an output, which raises as the function does. Raises :class:`DeclineSignal`."""
        _check_size(term, error.raises)
        try:
            text = self._cast_to_declared(term, type_)
            if error.raises == FALSE:
                return text.sql
            raised = error.text(type_)
            return f"CASE WHEN {self.text(error.raises).sql} THEN {raised} ELSE {text.sql} END"
        except InexpressibleError as inexpressible:
            raise DeclineSignal("no-text", str(inexpressible)) from None

    def condition(self, term: Term) -> str:
        """Write a condition. Raises :class:`DeclineSignal`."""
        _check_size(term)
        try:
            return self.text(term).sql
        except InexpressibleError as error:
            raise DeclineSignal("no-text", str(error)) from None

    def _cast_to_declared(self, term: Term, type_: str) -> Text:
        text = self.text(term)
        if text.type in ("", type_):
            return text
        cast = f"CAST({text.sql} AS {type_.upper()})"
        if type_ in INT_RANGES and text.type != _VOID and not self.ranges.fits(term, type_):
            # Spark has dates that Python does not have, for which the number may be larger.
            low, high = INT_RANGES[type_]
            cast = f"CASE WHEN {text.sql} >= {low}L AND {text.sql} <= {high}L THEN {cast} END"
        return Text(cast, type=type_)

    def text(self, term: Term) -> Text:
        """Write a term. Raises :class:`InexpressibleError`."""
        match term:
            case Var():
                return Text(self.names[term], type=self.types.get(term, ""))
            case Lit(_, None):
                return Text("NULL", type=_VOID)
            case Lit(sort, value):
                wide = strip(sort) == INT
                return Text(literal(Lit(strip(sort), value)), type="literal" if wide else "")
        rule = _RULES.get(term.op)
        if rule is not None:
            return rule(self, term)
        if term.op in SIGNATURES:
            sql = function_texts.write_any_call(term, lambda t: self.text(t).sql)
            if sql is not None:
                return Text(sql, type=_type_of_call(term))
        composed = compose(term)
        if composed is not None:
            return self.compose(composed, term)
        raise InexpressibleError(_without_counterpart(term))

    def compose(self, composed: Composed, term: App) -> Text:
        """Write a function that Spark has as a composition, which repeats the argument."""
        argument = self.text(composed.argument).inside(Level.PRIMARY)
        if len(argument) > MAX_REPEATED:
            raise InexpressibleError("a long expression would be repeated")
        if composed.form.type in INT_RANGES and self.is_wide(term):
            raise InexpressibleError("an integer of more than 64 bits")
        type_ = composed.form.type if composed.form.type in INT_RANGES else _type_of_call(term)
        return Text(write(composed.form, argument), type=type_)

    # --- integers -------------------------------------------------------------------------

    def interval(self, term: Term) -> Interval:
        """The interval of an integer's values. Raises :class:`InexpressibleError` if unknown."""
        values = self.ranges.interval(term)
        if values is None:
            raise InexpressibleError("an integer of unknown size")
        return values

    def is_wide(self, term: Term) -> bool:
        """Whether an integer may need more than 64 bits."""
        low, high = INT_RANGES["bigint"]
        least, most = self.interval(term)
        return not (low <= least and most <= high)

    def whole(self, term: Term, wide: bool) -> Text:
        """Write an integer as a bigint, or as a decimal."""
        term = without_options(term)
        if wide:
            return self._decimal(term)
        text = self.text(term)
        if text.type == "literal":
            assert isinstance(term, Lit)
            return Text(f"{literal_value(term)}L", type="bigint")
        return text if text.type == "bigint" else Text(f"CAST({text.sql} AS BIGINT)", type="bigint")

    def _decimal(self, term: Term) -> Text:
        value = literal_value(term) if isinstance(term, Lit) else None
        if isinstance(value, int):
            return Text(f"{value}BD", type=_decimal_type(len(str(abs(value)))))
        text = self.text(term)
        if text.type.startswith("DECIMAL"):
            return text
        return Text(
            f"CAST({text.sql} AS {_decimal_type(BIGINT_DIGITS)})", type=_decimal_type(BIGINT_DIGITS)
        )


def _type_of_call(term: App) -> str:
    if strip(term.sort) != INT:
        return ""
    return "bigint" if term.op is Op.CLOCK_MICROS else "int"


MAX_REPEATED = 20_000
"""The length of a text beyond which it is not repeated."""
MAX_SIZE = 2_000
"""The number of operators, columns and constants beyond which an expression is not written: SQL has
no names for a subexpression that is used more than once.
"""


def _without_counterpart(term: App) -> str:
    """Say that Spark has nothing for a function, by the name that Python gives it."""
    name = term.args[-1] if term.op in (Op.TEXT_RECASED, Op.TEXT_IS, Op.FLOAT_CALL) else None
    called = literal_value(name) if isinstance(name, Lit) else term.op.value
    named = f"Python's {called}()" if term.op in SIGNATURES else f"Python's operator {called}"
    named = _NAMES_IN_PYTHON.get(term.op, named)
    return f"nothing in Spark SQL gives the same as {named} for every value"


_NAMES_IN_PYTHON = {
    Op.TEXT_MATCHES: "this regular expression",
    Op.TEXT_GROUP: "a group of this regular expression",
    Op.TEXT_FOUND: "Python's re.findall()",
    Op.TEXT_SUBSTITUTED: "Python's re.sub()",
    Op.TEXT_SLICE: "a slice of a text",
    Op.TEXT_WORDS: "Python's split()",
    Op.TEXT_PART: "a part of a text",
    Op.TEXT_TO_FLOAT: "Python's float()",
    Op.TEXT_TO_INT: "Python's int()",
    Op.INT_RATIO: "Python's operator /",
    Op.ELEMENTS: "a computation over the elements of an array",
    Op.SAME: "a test that tells zeros of both signs apart",
}
"""What the source has, where the name of our operator does not say it."""


def _check_size(*terms: Term) -> None:
    if sum(map(size, terms)) > MAX_SIZE:
        raise DeclineSignal("no-text", f"its expression would have more than {MAX_SIZE} operators")


def _decimal_type(digits: int) -> str:
    if digits > MAX_DIGITS:
        raise InexpressibleError("an integer of more than 38 digits")
    return f"DECIMAL({digits},0)"


def _digits(text: Text) -> int:
    return int(text.type.removeprefix("DECIMAL(").removesuffix(",0)"))


# --- rules ----------------------------------------------------------------------------------------


def _same(writer: Writer, term: App) -> Text:
    return writer.text(term.args[0])


def _is_none(writer: Writer, term: App) -> Text:
    tested = function_texts.instant_of(term.args[0])
    return Text(f"{writer.text(tested).inside(Level.SUM)} IS NULL", Level.COMPARISON)


def _not(writer: Writer, term: App) -> Text:
    (inner,) = term.args
    if isinstance(inner, App) and inner.op is Op.IS_NONE:
        text = writer.text(function_texts.instant_of(inner.args[0])).inside(Level.SUM)
        return Text(f"{text} IS NOT NULL", Level.COMPARISON)
    return Text(f"NOT {writer.text(inner).inside(Level.PRIMARY)}", Level.NOT)


def _logic(word: str, level: Level) -> _Rule:
    def write(writer: Writer, term: App) -> Text:
        parts = [writer.text(a).inside(Level(level + 1)) for a in term.args]
        return Text(f" {word} ".join(parts), level)

    return write


def _equal(writer: Writer, term: App) -> Text:
    """Write an equality: of a choice that a composition takes part in, for each of its values."""
    composed = compose(term)
    if composed is not None:
        return writer.compose(composed, term)
    choice, other = without_options(term.args[0]), term.args[1]
    if not isinstance(choice, App) or choice.op is not Op.ITE or not isinstance(other, Lit):
        return _compare(writer, term)
    test, *values = choice.args
    equal = [app(Op.PY_EQ, get(v), other) for v in values]
    if not any(compose(e) for e in equal):
        return _compare(writer, term)
    return writer.text(app(Op.ITE, test, *equal))


def _compare(writer: Writer, term: App) -> Text:
    a, b = _as_instants(*term.args)
    if strip(a.sort) == INT:
        wide = writer.is_wide(a) or writer.is_wide(b)
        left, right = (writer.whole(x, wide) if wide else writer.text(x) for x in (a, b))
    else:
        left, right = writer.text(a), writer.text(b)
    sign = _COMPARED[term.op]
    text = f"{left.inside(Level.SUM)} {sign} {right.inside(Level.SUM)}"
    suspect = term.args[_MUST_BE_NUMBER[term.op]]
    of_integer = isinstance(suspect, App) and suspect.op is Op.INT_TO_FLOAT
    if strip(a.sort) != FLOAT or isinstance(suspect, Lit) or of_integer:
        return Text(text, Level.COMPARISON)
    return Text(f"{text} AND NOT isnan({writer.text(suspect).sql})", Level.AND)


def _as_instants(a: Term, b: Term) -> tuple[Term, Term]:
    """Two times of which one is what a clock shows at an instant and the other a constant, as that
    instant and another one; other operands stay.
    """
    match without_options(a), without_options(b):
        case App(Op.WALL_TIME, (instant, Lit(_, int() as ahead))), Lit(_, int() as shown):
            return instant, Lit(TIMESTAMP, shown - ahead)
        case Lit(_, int() as shown), App(Op.WALL_TIME, (instant, Lit(_, int() as ahead))):
            return Lit(TIMESTAMP, shown - ahead), instant
    return a, b


def _case(writer: Writer, term: App) -> Text:
    whens: list[tuple[str, Term]] = []
    last: Term = term
    while isinstance(last, App) and last.op is Op.ITE:
        condition, then, last = last.args
        whens.append((writer.text(condition).sql, then))
        last = without_options(last)
    values = [*(then for _, then in whens), last]
    if strip(term.sort) != INT:
        texts = [writer.text(v) for v in values]
        type_ = _VOID if all(t.type == _VOID for t in texts) else ""
    else:
        wide = not all(map(_is_null, values)) and writer.is_wide(term)
        texts = [writer.text(v) if _is_null(v) else writer.whole(v, wide) for v in values]
        type_ = next((t.type for t in texts if t.type != _VOID), _VOID)
        if wide:
            most = max(_digits(t) for t in texts if t.type != _VOID)
            type_ = _decimal_type(most)
    branches = (f"WHEN {c} THEN {v.sql}" for (c, _), v in zip(whens, texts, strict=False))
    return Text(f"CASE {' '.join(branches)} ELSE {texts[-1].sql} END", type=type_)


def _is_null(term: Term) -> bool:
    return isinstance(term, Lit) and term.value is None


def _may_overflow_reordered(writer: Writer, term: App) -> bool:
    """Whether a sum or product may overflow in the order in which Spark computes it: the constants
    of all sums, or products, inside of each other come last (``ReorderAssociativeOperator``).
    """
    operands = list(_operands(term.op, term))
    others = [o for o in operands if not isinstance(o, Lit)]
    if term.op is Op.INT_SUB or len(others) == len(operands):
        return False
    constants = [o for o in operands if isinstance(o, Lit)]
    compute = partial(app, term.op)
    steps = (*accumulate(others, compute), *accumulate(constants, compute))
    return any(map(writer.is_wide, steps))


def _operands(op: Op, term: Term) -> Iterator[Term]:
    """Yield the operands of sums, or products, inside of each other."""
    inner = without_options(term)
    if isinstance(inner, App) and inner.op is op:
        for argument in inner.args:
            yield from _operands(op, argument)
    else:
        yield term


def _sum(writer: Writer, term: App) -> Text:
    wide = writer.is_wide(term) or _may_overflow_reordered(writer, term)
    sign, level = _SUMS[term.op]
    left, right = (writer.whole(a, wide) for a in term.args)
    type_ = "bigint"
    if wide:
        digits = [_digits(t) for t in (left, right)]
        type_ = _decimal_type(1 + (sum(digits) if term.op is Op.INT_MUL else max(digits)))
    return Text(f"{left.inside(level)} {sign} {right.inside(Level(level + 1))}", level, type_)


def _negate(writer: Writer, term: App) -> Text:
    if writer.is_wide(term):
        text = writer.whole(term.args[0], True)
        type_ = _decimal_type(1 + max(_digits(text), 1))
        return Text(f"0BD - {text.inside(Level.PRODUCT)}", Level.SUM, type_)
    return Text(_minus(writer.whole(term.args[0], False)), type="bigint")


def _minus(text: Text) -> str:
    """The text with the opposite sign. Two signs in a row would begin a comment."""
    inner = text.inside(Level.PRIMARY)
    return f"(-({inner}))" if inner.startswith("-") else f"(-{inner})"


def _divisor(writer: Writer, term: App) -> tuple[Text, int]:
    """The dividend as a bigint, and the constant divisor."""
    a, b = term.args
    by = literal_value(b) if isinstance(b, Lit) else None
    if not isinstance(by, int) or by <= 0 or writer.is_wide(a):
        raise InexpressibleError("a division by what is no positive constant")
    return writer.whole(a, False), by


def _floor_division(writer: Writer, term: App) -> Text:
    text, by = _divisor(writer, term)
    inner = text.inside(Level.PRODUCT)
    towards_zero = f"{inner} div {by}L"
    if writer.interval(term.args[0])[0] >= 0:
        return Text(towards_zero, Level.PRODUCT, "bigint")
    below = f"-(-({text.sql} + 1L) div {by}L) - 1L"
    return Text(f"CASE WHEN {text.sql} >= 0L THEN {towards_zero} ELSE {below} END", type="bigint")


def _remainder(writer: Writer, term: App) -> Text:
    text, by = _divisor(writer, term)
    return Text(f"pmod({text.sql}, {by}L)", type="bigint")


def _float(writer: Writer, term: App) -> Text:
    sign, level = _FLOATS[term.op]
    left, right = (writer.text(a) for a in term.args)
    return Text(f"{left.inside(level)} {sign} {right.inside(Level(level + 1))}", level)


def _to_float(writer: Writer, term: App) -> Text:
    if writer.is_wide(term.args[0]):
        raise InexpressibleError("an integer of more than 64 bits as a double")
    return Text(f"CAST({writer.whole(term.args[0], False).sql} AS DOUBLE)")


def _function(name: str) -> _Rule:
    return lambda writer, term: Text(f"{name}({writer.text(term.args[0]).sql})")


def _same_double(writer: Writer, term: App) -> Text:
    """Tell a double from a constant by its bits. All NaN are one."""
    value, constant = term.args
    bits = literal_value(constant) if isinstance(constant, Lit) else None
    if strip(value.sort) != FLOAT or not isinstance(bits, float):
        raise InexpressibleError(_without_counterpart(term))
    text = writer.text(value)
    if math.isnan(bits):
        return Text(f"isnan({text.sql})")
    equal = f"{text.inside(Level.SUM)} = {literal(float_lit(bits))}"
    if bits:
        return Text(equal, Level.COMPARISON)
    is_negative = f"CAST({text.sql} AS STRING) = {literal(string_lit(NEGATIVE_ZERO))}"
    if math.copysign(1, bits) < 0:
        return Text(is_negative, Level.COMPARISON)
    return Text(f"{equal} AND NOT ({is_negative})", Level.AND)


_Rule = Callable[[Writer, App], Text]

_RULES: dict[Op, _Rule] = {
    Op.GET: _same,
    Op.SOME: _same,
    Op.IS_NONE: _is_none,
    Op.NOT: _not,
    Op.AND: _logic("AND", Level.AND),
    Op.OR: _logic("OR", Level.OR),
    Op.ITE: _case,
    Op.IS_NAN: _function("isnan"),
    Op.SAME: _same_double,
    Op.INT_NEG: _negate,
    Op.INT_FLOORDIV: _floor_division,
    Op.INT_MOD: _remainder,
    Op.INT_TO_FLOAT: _to_float,
    Op.FLOAT_NEG: lambda writer, term: Text(_minus(writer.text(term.args[0]))),
    Op.FLOAT_SQRT: _function("sqrt"),
    **dict.fromkeys(_COMPARED, _compare),
    Op.PY_EQ: _equal,
    **dict.fromkeys(_SUMS, _sum),
    **dict.fromkeys(_FLOATS, _float),
}
"""The rule that writes each Python operator."""
