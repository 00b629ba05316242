# SPDX-License-Identifier: Apache-2.0
"""Trusted. Prints predicates of the IR as Spark SQL text.

The text has two readers. A person wants few parentheses, ``IN`` lists and ``<>``; Spark's optimizer
wants conjunctions of comparisons of one column with one literal, which it pushes to the scan.
:func:`emit_checked` reads its own output back, so a mistake here is an error, not a wrong filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import IntEnum

from presieve.errors import Declined, PresieveError
from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    COMPOSITES,
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Option,
    strip,
)
from presieve.ir.terms import App, Lit, Op, Term, Var, literal_value
from presieve.semantics.types import MAX_DIGITS
from presieve.semantics.values import INT_RANGES, bytes_of
from presieve.sql import function_texts
from presieve.sql.coerce import flat
from presieve.sql.operands import NEGATIVE_ZERO, TYPE_NAMES, Width
from presieve.sql.parse import parse_predicate
from presieve.sql.quoted_names import InexpressibleError, quote
from presieve.sql.temporal import print_date, print_timestamp, print_timestamp_ntz
from presieve.sql.whole_decimals import BIGINT


class Level(IntEnum):
    """The binding strength of text, loosest first, as in Spark's grammar."""

    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4  # with IS, IN and BETWEEN, which take no other comparison beside them
    SUM = 5
    PRODUCT = 6
    PRIMARY = 7


COMPARISONS = {
    Op.SQL_EQ: "=",
    Op.SQL_EQ_NULLSAFE: "<=>",
    Op.SQL_LT: "<",
    Op.SQL_LE: "<=",
    Op.SQL_GT: ">",
    Op.SQL_GE: ">=",
}
_INTEGERS = {
    Op.SQL_INT_ADD: ("+", Level.SUM),
    Op.SQL_INT_SUB: ("-", Level.SUM),
    Op.SQL_INT_MUL: ("*", Level.PRODUCT),
}
ARITHMETIC = {
    Op.SQL_FLOAT_ADD: ("+", Level.SUM),
    Op.SQL_FLOAT_SUB: ("-", Level.SUM),
    Op.SQL_FLOAT_MUL: ("*", Level.PRODUCT),
    Op.SQL_FLOAT_DIV: ("/", Level.PRODUCT),
}


def emit(term: Term, timezone: str) -> str:
    """Print a predicate (``SQL_*`` operators over ROW, OUT or KEY variables) as Spark SQL text.

    Instants are written in UTC, so the text means the same in every ``timezone``, unless it reads
    what a clock shows at an instant: that is a clock of the session, and :func:`emit_checked` makes
    sure of its offset. Raises :class:`InexpressibleError` for operators and constants that have no
    text of the same meaning.
    """
    return _text(term)[0]


def emit_checked(term: Term, names: Mapping[str, Var], timezone: str) -> str:
    """Like :func:`emit`, with a proof that the text parses back: ``parse_predicate(text) == term``.

    Equality is up to :func:`normalize`. Raises :class:`InexpressibleError` as ``emit`` does, and
    :class:`PresieveError` if the text means something else, which would be a bug in presieve.
    """
    text = emit(term, timezone)
    back = parse_predicate(text, names, timezone)
    if isinstance(back, Declined):
        raise PresieveError(f"our own SQL does not parse: {text} ({back})")
    if normalize(back) != normalize(term):
        raise PresieveError(f"our own SQL parses as another predicate: {text}")
    return text


def aside(sql: str) -> str:
    """Rewrite the condition into a form that Spark passes to no data source.

    It is true, false or NULL where the condition is. Catalyst does not simplify it, derives nothing
    from it (``InferFiltersFromConstraints``), and cannot translate it for sources
    (``DataSourceStrategy.translateFilter`` and ``V2ExpressionBuilder`` of Spark 4.3). As any
    comparison it looks selective, so that joins still select directories by it
    (``PartitionPruning.isLikelySelective``).
    """
    return f"array_contains(array({sql}), true) >= true"


def normalize(term: Term) -> Term:
    """Remove from a term the differences that SQL text cannot show; none of them changes the
    meaning.

    Nested AND and OR are flattened (those of one argument become the argument), literals that are
    not NULL lose their ``Option``, and a boolean that is at least TRUE is the boolean.
    """
    match term:
        case Lit(Option(of), value) if value is not None:
            return Lit(of, value)
        case App(Op.SQL_AND | Op.SQL_OR as op, args):
            return flat(op, [normalize(a) for a in args])
        case App(Op.SQL_GE, (value, Lit(_, True))) if strip(value.sort) == BOOL:
            return normalize(value)
        case App(op, args):
            return app(op, *(normalize(a) for a in args))
    return term


def _text(term: Term) -> tuple[str, Level]:
    match term:
        case Var(_, name, _):
            return quote(name), Level.PRIMARY
        case Lit():
            return literal(term), Level.PRIMARY
        case App(Op.SQL_AND | Op.SQL_OR, (only,)):
            return _text(only)
        case App(Op.SQL_AND, args):
            return " AND ".join(_inside(_text(a), Level.AND) for a in args), Level.AND
        case App(Op.SQL_OR, args):
            return _disjunction(args)
        case App(Op.SQL_NOT, (negated,)):
            return _negation(negated)
        case App(Op.SQL_IS_NULL, (value,)):
            return f"{_inside(_text(value), Level.SUM)} IS NULL", Level.COMPARISON
        case App(Op.SQL_IS_NAN, (value,)):
            return f"isnan({_text(value)[0]})", Level.PRIMARY
        case App(Op.SQL_IS_NEGATIVE_ZERO, (value,)):
            return f"CAST({_text(value)[0]} AS STRING) = {NEGATIVE_ZERO!r}", Level.COMPARISON
        case App(Op.SQL_INT_TO_FLOAT, (value,)) if isinstance(value, Var) or _is_call(value):
            return f"CAST({_text(value)[0]} AS DOUBLE)", Level.PRIMARY
        case App(op, _) if op in _INTEGERS:
            return _exact(term)[0]
        case App(op, (a, b)) if op in COMPARISONS:
            return _binary(a, COMPARISONS[op], b, Level.COMPARISON, Level.SUM)
        case App(op, (a, b)) if op in ARITHMETIC:
            sign, level = ARITHMETIC[op]
            return _binary(a, sign, b, level, level)
        case App():
            text = function_texts.write_call(term, lambda t: _text(t)[0])
            if text is not None:
                return text, Level.PRIMARY
    unwritten = f"{term.op.value} has no Spark SQL text"
    raise InexpressibleError(function_texts.OF_INSTANTS_ALONE.get(term.op, unwritten))


def _inside(text: tuple[str, Level], least: Level) -> str:
    """The text for a place where everything below ``least`` needs parentheses."""
    return text[0] if text[1] >= least else f"({text[0]})"


def _binary(a: Term, sign: str, b: Term, level: Level, left_level: Level) -> tuple[str, Level]:
    """Print both sides; the right one must bind tighter, because operators associate left."""
    texts = (_beside(a, b), _beside(b, a))
    return f"{_inside(texts[0], left_level)} {sign} {_inside(texts[1], Level(level + 1))}", level


def _beside(term: Term, partner: Term) -> tuple[str, Level]:
    """Print a term beside another one, from which a NULL takes its type if that has one."""
    if _is_null(term) and not _is_null(partner):
        return "NULL", Level.PRIMARY
    if isinstance(partner, App) and partner.op in _INTEGERS:
        return _exact(term)[0]
    return _text(term)


def _exact(term: Term) -> tuple[tuple[str, Level], Width]:
    """Print an integer as a decimal, and return the width of its type, in which nothing overflows
    (:mod:`presieve.sql.whole_decimals`).
    """
    match term:
        case Var() | App() if isinstance(term, Var) or _is_call(term):
            text = f"CAST({_text(term)[0]} AS DECIMAL({BIGINT.digits},0))"
            return (text, Level.PRIMARY), BIGINT
        case Lit(_, int() as value):
            text = _decimal(value, 0)
            return (text, Level.PRIMARY), Width(len(text.strip("-BD")), abs(value))
        case App(op, (a, b)) if op in _INTEGERS and not (isinstance(a, Lit) and isinstance(b, Lit)):
            sign, level = _INTEGERS[op]
            (left_text, left_width), (right_text, right_width) = _exact(a), _exact(b)
            width = left_width.combine(op, right_width)
            if width is not None:
                right = _inside(right_text, Level(level + 1))
                return (f"{_inside(left_text, level)} {sign} {right}", level), width
    raise InexpressibleError("an integer without an exact text in Spark SQL")


def _is_null(term: Term) -> bool:
    return isinstance(term, Lit) and term.value is None


def _is_call(term: Term) -> bool:
    return isinstance(term, App) and term.op in SIGNATURES


def _negation(term: Term) -> tuple[str, Level]:
    match term:
        case App(Op.SQL_EQ, (a, b)):
            return _binary(a, "<>", b, Level.COMPARISON, Level.SUM)
        case App(Op.SQL_IS_NULL, (value,)):
            return f"{_inside(_text(value), Level.SUM)} IS NOT NULL", Level.COMPARISON
        case App(Op.SQL_OR, args) if len(runs := list(_runs(args))) == 1 and len(runs[0]) > 1:
            return _membership(runs[0], "NOT IN"), Level.COMPARISON
    return f"NOT {_inside(_text(term), Level.PRIMARY)}", Level.NOT


def _disjunction(args: tuple[Term, ...]) -> tuple[str, Level]:
    """Print OR; runs of equalities of one expression with literals become ``IN``."""
    texts = [
        (_membership(run, "IN"), Level.COMPARISON) if len(run) > 1 else _text(run[0])
        for run in _runs(args)
    ]
    if len(texts) == 1:
        return texts[0]
    # parentheses around AND are not needed, but few readers remember the precedence
    return " OR ".join(_inside(t, Level.NOT) for t in texts), Level.OR


def _runs(args: tuple[Term, ...]) -> Iterator[list[Term]]:
    """Yield the arguments in order, grouping neighbours that fit one ``IN`` list."""
    run: list[Term] = []
    for term in args:
        if (
            run
            and _fits_in_list(run[0])
            and _fits_in_list(term)
            and _subject(run[0]) == _subject(term)
        ):
            run.append(term)
            continue
        if run:
            yield run
        run = [term]
    if run:
        yield run


def _fits_in_list(term: Term) -> bool:
    match term:
        case App(Op.SQL_EQ, (a, Lit(_, value))):
            return value is not None and not isinstance(a, Lit)
    return False


def _subject(term: Term) -> Term:
    assert isinstance(term, App)
    return term.args[0]


def _membership(run: list[Term], word: str) -> str:
    subject = _subject(run[0])
    literals = ", ".join(_beside(t.args[1], subject)[0] for t in run if isinstance(t, App))
    return f"{_inside(_text(subject), Level.SUM)} {word} ({literals})"


# --- literals -------------------------------------------------------------------------------


def literal(term: Lit) -> str:
    """Print a literal as SQL text of the type that its sort has in Spark."""
    value = literal_value(term)
    base = strip(term.sort)
    match value:
        case None if isinstance(base, COMPOSITES):
            raise InexpressibleError("a missing array, map or struct has no text")
        case None:
            exact = f"decimal({MAX_DIGITS},{base.scale})" if isinstance(base, Decimal) else ""
            return f"CAST(NULL AS {exact or TYPE_NAMES[base]})"
        case bool():
            return "true" if value else "false"
        case float():
            return _double(value)
        case str() if base == STRING:
            return string(value)
        case str() if base == BINARY:
            # not X'..': the tree that Spark gives back does not show the value of such a literal
            return f"unhex('{bytes_of(value).hex().upper()}')"
        case int() if base == INT:
            return _integer(value)
        case int() if isinstance(base, Decimal):
            return _decimal(value, base.scale)
        case int() if base == DATE:
            return _date(value)
        case int() if base == TIMESTAMP:
            return _timestamp(value)
        case int() if base == TIMESTAMP_NTZ and (text := print_timestamp_ntz(value)):
            return f"TIMESTAMP_NTZ '{text}'"
    raise InexpressibleError(f"a literal of sort {term.sort} has no Spark SQL text")


def _check_range(value: int, type_: str) -> int:
    low, high = INT_RANGES[type_]
    if not low <= value <= high:
        raise InexpressibleError(f"{value} is not a {type_}")
    return value


def _integer(value: int) -> str:
    low, high = INT_RANGES["int"]
    return str(value) if low <= value <= high else f"{_check_range(value, 'bigint')}L"


def _decimal(units: int, scale: int) -> str:
    """Print all digits after the point, so that the literal has the column's own scale."""
    if abs(units) >= 10**MAX_DIGITS or scale > MAX_DIGITS:
        raise InexpressibleError(f"{units} units are too many digits for a decimal")
    digits, sign = f"{abs(units):0{scale + 1}}", "-" if units < 0 else ""
    integer_digits, fraction_digits = digits[: len(digits) - scale], digits[len(digits) - scale :]
    return (
        f"{sign}{integer_digits}.{fraction_digits}"
        if fraction_digits
        else f"{sign}{integer_digits}BD"
    )


def _double(value: float) -> str:
    """Print the shortest text with the same bits; without ``D``, ``90.0`` would be a decimal."""
    if math.isnan(value):
        return "double('NaN')"
    if math.isinf(value):
        return "double('Infinity')" if value > 0 else "double('-Infinity')"
    return f"{value!r}D"


def _date(days: int) -> str:
    text = print_date(days)
    return f"DATE '{text}'" if text else f"date_from_unix_date({_check_range(days, 'int')})"


def _timestamp(microseconds: int) -> str:
    text = print_timestamp(microseconds)
    if text:
        return f"TIMESTAMP '{text}'"
    return f"timestamp_micros({_check_range(microseconds, 'bigint')}L)"


def string(text: str) -> str:
    r"""A string literal. Whatever Spark could read in another way is written as ``\uXXXX``.

    That is control characters, and ``$`` before ``{``, which would start a variable reference.
    """
    written: list[str] = []
    for i, c in enumerate(text):
        if c in "'\\":
            written.append("\\" + c)
        elif not c.isprintable() or (c == "$" and text[i + 1 : i + 2] == "{"):
            if 0xD800 <= ord(c) <= 0xDFFF:
                raise InexpressibleError("half of a surrogate pair in a string")
            written.append(f"\\u{ord(c):04x}" if ord(c) <= 0xFFFF else f"\\U{ord(c):08x}")
        else:
            written.append(c)
    return "'" + "".join(written) + "'"
