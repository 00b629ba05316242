# SPDX-License-Identifier: Apache-2.0
"""Trusted. The sort of every operator's result, and the smart constructors.

:func:`app` builds exactly the term that it is asked for and checks sorts, so a printed term is the
term that was built. Connectives flatten, and leave out constants that change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from presieve.errors import SortError
from presieve.ir.function_signatures import COMPOSED, SIGNATURES
from presieve.ir.sorts import (
    BOOL,
    COMPOSITES,
    DATE,
    FLOAT,
    INT,
    SEQUENCE,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Option,
    Sequence,
    Sort,
    Tuple,
    is_ordered,
    option,
    strip,
)
from presieve.ir.terms import FALSE, SQL_FALSE, SQL_TRUE, TRUE, App, Lit, Op, Term, literal_value

Sorts: TypeAlias = tuple[Sort, ...]
Rule: TypeAlias = Callable[[Sorts], Sort | None]
"""From argument sorts to the result's sort; None if the arguments do not fit."""

OPTION_BOOL = Option(BOOL)


def _takes(arguments: Sorts, result: Sort) -> Rule:
    return lambda s: result if s == arguments else None


def _takes_nullable(arguments: Sorts, result: Sort) -> Rule:
    """Sorts of arguments that may be options."""
    return lambda s: result if tuple(map(strip, s)) == arguments else None


def _logic(s: Sorts) -> Sort | None:
    return BOOL if all(x == BOOL for x in s) else None


def _ite(s: Sorts) -> Sort | None:
    return s[1] if len(s) == 3 and s[0] == BOOL and s[1] == s[2] else None


def _same(s: Sorts) -> Sort | None:
    return BOOL if len(s) == 2 and s[0] == s[1] else None


def _some(s: Sorts) -> Sort | None:
    return Option(s[0]) if len(s) == 1 and not isinstance(s[0], Option) else None


def _is_none(s: Sorts) -> Sort | None:
    return BOOL if len(s) == 1 and isinstance(s[0], Option) else None


def _get(s: Sorts) -> Sort | None:
    return s[0].of if len(s) == 1 and isinstance(s[0], Option) else None


def _py_eq(s: Sorts) -> Sort | None:
    unequal = (Tuple, Sequence, *COMPOSITES)
    composed = len(s) == 2 and isinstance(strip(s[0]), unequal)
    return BOOL if len(s) == 2 and s[0] == s[1] and not composed else None


def _py_order(s: Sorts) -> Sort | None:
    return BOOL if len(s) == 2 and s[0] == s[1] and is_ordered(s[0]) else None


def _open_zero(s: Sorts) -> Sort | None:
    return s[0] if len(s) == 2 and strip(s[0]) == FLOAT and s[1] == BOOL else None


def _sql_logic(s: Sorts) -> Sort | None:
    return OPTION_BOOL if s and all(strip(x) == BOOL for x in s) else None


def _sql_compare(s: Sorts) -> Sort | None:
    base = strip(s[0])
    fits = len(s) == 2 and base == strip(s[1]) and (base == BOOL or is_ordered(base))
    return OPTION_BOOL if fits else None


def _sql_is_null(s: Sorts) -> Sort | None:
    return OPTION_BOOL if len(s) == 1 and not isinstance(strip(s[0]), Tuple) else None


def _sql_int_add(s: Sorts) -> Sort | None:
    """Add integers, or days to a date, or microseconds to a moment."""
    numbers = (INT, DATE, TIMESTAMP, TIMESTAMP_NTZ)
    fits = len(s) == 2 and strip(s[0]) in numbers and strip(s[1]) == INT
    return option(strip(s[0])) if fits else None


_SQL_FLOAT = _takes_nullable((FLOAT, FLOAT), Option(FLOAT))

RULES: dict[Op, Rule] = {
    Op.NOT: _takes((BOOL,), BOOL),
    **dict.fromkeys((Op.AND, Op.OR), _logic),
    Op.IMPLIES: _takes((BOOL, BOOL), BOOL),
    Op.ITE: _ite,
    Op.SAME: _same,
    Op.SOME: _some,
    Op.IS_NONE: _is_none,
    Op.GET: _get,
    Op.TUPLE: Tuple,
    Op.PY_EQ: _py_eq,
    **dict.fromkeys((Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE), _py_order),
    **dict.fromkeys((Op.INT_ADD, Op.INT_SUB, Op.INT_MUL), _takes((INT, INT), INT)),
    **dict.fromkeys((Op.INT_FLOORDIV, Op.INT_MOD), _takes((INT, INT), INT)),
    Op.INT_NEG: _takes((INT,), INT),
    **dict.fromkeys((Op.FLOAT_ADD, Op.FLOAT_SUB), _takes((FLOAT, FLOAT), FLOAT)),
    **dict.fromkeys((Op.FLOAT_MUL, Op.FLOAT_DIV), _takes((FLOAT, FLOAT), FLOAT)),
    Op.FLOAT_NEG: _takes((FLOAT,), FLOAT),
    Op.INT_TO_FLOAT: _takes((INT,), FLOAT),
    Op.IS_NAN: _takes((FLOAT,), BOOL),
    Op.OPEN_ZERO: _open_zero,
    Op.INSTANT: _takes((TIMESTAMP_NTZ, INT), TIMESTAMP),
    Op.SEQ_EMPTY: _takes((), SEQUENCE),
    Op.SEQ_ADD: _takes((SEQUENCE, FLOAT), SEQUENCE),
    **dict.fromkeys((Op.SEQ_SUM, Op.SEQ_VAR), _takes((SEQUENCE,), FLOAT)),
    **dict.fromkeys((Op.SEQ_STD, Op.SEQ_MEDIAN), _takes((SEQUENCE,), FLOAT)),
    **dict.fromkeys((Op.SQL_AND, Op.SQL_OR), _sql_logic),
    Op.SQL_NOT: _takes_nullable((BOOL,), OPTION_BOOL),
    **dict.fromkeys((Op.SQL_EQ, Op.SQL_EQ_NULLSAFE), _sql_compare),
    **dict.fromkeys((Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE), _sql_compare),
    Op.SQL_IS_NULL: _sql_is_null,
    Op.SQL_IS_NAN: _takes_nullable((FLOAT,), OPTION_BOOL),
    Op.SQL_IS_NEGATIVE_ZERO: _takes_nullable((FLOAT,), OPTION_BOOL),
    **dict.fromkeys((Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB), _SQL_FLOAT),
    **dict.fromkeys((Op.SQL_FLOAT_MUL, Op.SQL_FLOAT_DIV), _SQL_FLOAT),
    Op.SQL_INT_TO_FLOAT: _takes_nullable((INT,), Option(FLOAT)),
    Op.SQL_INT_ADD: _sql_int_add,
    **dict.fromkeys((Op.SQL_INT_SUB, Op.SQL_INT_MUL), _takes_nullable((INT, INT), Option(INT))),
    Op.SQL_IS_TRUE: _takes_nullable((BOOL,), BOOL),
}


def app(op: Op, *args: Term) -> App:
    """Apply ``op``. Raises :class:`SortError` if the arguments' sorts do not fit."""
    if op is Op.ITEM:
        return _item(args)
    if op is Op.DECIMAL_WIDEN:
        return _widen_decimal(args)
    if op in SIGNATURES:
        return _function(op, args)
    sort = RULES[op](tuple(a.sort for a in args))
    if sort is None or (op is Op.SQL_FLOAT_DIV and not _is_divisor(args[1])):
        raise SortError(f"{op.value} does not take {[a.sort for a in args]}")
    return App(op, args, sort)


def _is_divisor(term: Term) -> bool:
    """Whether the term is a constant by which a division never raises."""
    return isinstance(term, Lit) and term.value is not None and literal_value(term) != 0


def _item(args: tuple[Term, ...]) -> App:
    """Build an ``ITEM``, whose index, a literal, determines its sort."""
    components, index = args
    if not isinstance(components.sort, Tuple) or not isinstance(index, Lit) or index.sort != INT:
        raise SortError(f"item does not take {[a.sort for a in args]}")
    position = int(index.value or 0)
    if not 0 <= position < len(components.sort.of):
        raise SortError(f"item {position} of a tuple of {len(components.sort.of)}")
    return App(Op.ITEM, args, components.sort.of[position])


def _widen_decimal(args: tuple[Term, ...]) -> App:
    """Build a ``DECIMAL_WIDEN``, whose number of further digits, a literal, determines its sort."""
    number, digits = args
    if not isinstance(number.sort, Decimal) or not isinstance(digits, Lit) or digits.sort != INT:
        raise SortError(f"decimal-widen does not take {[a.sort for a in args]}")
    added_digits = int(digits.value or 0)
    if added_digits < 0:
        raise SortError("decimal-widen takes no digits away")
    return App(Op.DECIMAL_WIDEN, args, Decimal(number.sort.scale + added_digits))


def _function(op: Op, args: tuple[Term, ...]) -> App:
    """Build a function of single values: strict, with literals for parameters."""
    signature = SIGNATURES[op]
    values = args[: len(signature.arguments)]
    parameters = args[len(values) :]
    if op in COMPOSED:
        return _of_composite(op, args, values, parameters)
    sorts = tuple(strip(a.sort) for a in values), tuple(p.sort for p in parameters)
    fits = sorts == (signature.arguments, signature.parameters)
    if not fits or not all(isinstance(p, Lit) for p in parameters):
        raise SortError(f"{op.value} does not take {[a.sort for a in args]}")
    optional = any(isinstance(a.sort, Option) for a in values)
    return App(op, args, option(signature.result) if optional else signature.result)


def _of_composite(
    op: Op, args: tuple[Term, ...], values: tuple[Term, ...], parameters: tuple[Term, ...]
) -> App:
    """Build a function of an array, a map or a struct."""
    literals = tuple(p for p in parameters if isinstance(p, Lit))
    complete = len(literals) == len(parameters) == len(SIGNATURES[op].parameters)
    result = COMPOSED[op](strip(values[0].sort), literals) if complete and values else None
    if result is None:
        raise SortError(f"{op.value} does not take {[a.sort for a in args]}")
    return App(op, args, option(result) if isinstance(values[0].sort, Option) else result)


def negate(term: Term) -> Term:
    """Two-valued negation, without stacking double negations."""
    if isinstance(term, App) and term.op is Op.NOT:
        return term.args[0]
    if term == TRUE:
        return FALSE
    if term == FALSE:
        return TRUE
    return app(Op.NOT, term)


def conjunction(terms: Iterable[Term]) -> Term:
    """Two-valued conjunction; no terms give true, one gives itself, nested ones are flattened."""
    parts = [t for term in terms for t in conjuncts(term)]
    if FALSE in parts:
        return FALSE
    return TRUE if not parts else parts[0] if len(parts) == 1 else app(Op.AND, *parts)


def disjunction(terms: Iterable[Term]) -> Term:
    """Two-valued disjunction; no terms give false, one gives itself."""
    parts = [t for t in terms if t != FALSE]
    if TRUE in parts:
        return TRUE
    return FALSE if not parts else parts[0] if len(parts) == 1 else app(Op.OR, *parts)


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The parts of a two-valued conjunction."""
    if term == TRUE:
        return ()
    if isinstance(term, App) and term.op is Op.AND:
        return tuple(t for a in term.args for t in conjuncts(a))
    return (term,)


def sql_conjunction(terms: Iterable[Term]) -> Term:
    """Three-valued conjunction; no terms give true, one gives itself, nested ones are flattened."""
    parts = [t for term in terms for t in sql_conjuncts(term)]
    return SQL_TRUE if not parts else parts[0] if len(parts) == 1 else app(Op.SQL_AND, *parts)


def sql_disjunction(terms: Iterable[Term]) -> Term:
    """Three-valued disjunction; no terms give false, one gives itself, nested ones flatten."""
    parts = [t for term in terms for t in sql_disjuncts(term)]
    return SQL_FALSE if not parts else parts[0] if len(parts) == 1 else app(Op.SQL_OR, *parts)


def sql_disjuncts(term: Term) -> tuple[Term, ...]:
    """The parts of a three-valued disjunction. If one is true, the disjunction is true."""
    if isinstance(term, App) and term.op is Op.SQL_OR:
        return tuple(t for a in term.args for t in sql_disjuncts(a))
    return (term,)


def sql_conjuncts(term: Term) -> tuple[Term, ...]:
    """The parts of a three-valued conjunction. All must be true for the conjunction to be true."""
    if term in (SQL_TRUE, TRUE):
        return ()
    if isinstance(term, App) and term.op is Op.SQL_AND:
        return tuple(t for a in term.args for t in sql_conjuncts(a))
    return (term,)
