# SPDX-License-Identifier: Apache-2.0
"""Trusted. Translates Catalyst's resolved expressions to values, with the conditions under which
they are safe.

A predicate with a part that could raise is declined (:mod:`presieve.sql.catalyst`). In a value that
was compiled from Python, such a part is translated, and the fact that it relies on becomes a
condition to be proved: that a sum of bigints stays within 64 bits, that a divisor is not zero.
Where the condition holds, the expression neither raises, wraps around, nor rounds, with ANSI mode
on and off. A branch of CASE is evaluated only where it is chosen.

Sources, Spark 4.3.0: ``arithmetic.scala``, ``mathExpressions.scala``, ``Cast.scala``,
``conditionalExpressions.scala``, ``misc.scala``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from presieve.errors import Declined, DeclineSignal
from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import FLOAT, INT, Option, Sort, strip
from presieve.ir.terms import FALSE, Lit, Op, Term, float_lit, int_lit, literal_value, none_lit
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, get, is_none, or_, some
from presieve.semantics.types import decimal_type, sort_of
from presieve.semantics.values import INT_RANGES, INTEGERS
from presieve.sql import catalyst, whole_decimals
from presieve.sql.case_values import CaseValue
from presieve.sql.catalyst import meaning
from presieve.sql.catalyst_tree import (
    ExprNode,
    ReadingContext,
    Rule,
    Typed,
    one_type,
    shape,
    type_of,
    whole_tree,
)
from presieve.sql.coerce import fit, truth
from presieve.sql.expressions import basics, choices, numeric
from presieve.sql.expressions.entry import Entry
from presieve.sql.expressions.python_functions import ROOTS, recognize
from presieve.sql.operands import NULL, TYPE_NAMES, AsDecimal, AsInstant, AsText, Constant, Width


class ValueOf(Struct, frozen=True):
    """The result of an expression of a Spark ``type``: the value of ``term``, an option, wherever
    ``safe`` holds and ``raises`` does not. Where ``raises`` holds, the expression raises. Both are
    of sort Bool.
    """

    term: Term
    type: str
    safe: Term
    raises: Term


def value(
    tree: Sequence[Mapping[str, object]], attributes: Mapping[int, Term], timezone: str
) -> ValueOf | Declined:
    """Translate one expression to a value. ``attributes`` are the known columns by the number of
    their exprId; codes are those of :func:`presieve.sql.catalyst.expression`. Decimals without
    digits after the point are integers if they are computed, or if a column is known as an integer.
    """
    context = ReadingContext(attributes, timezone, RULES)
    try:
        node = whole_tree(tree)
        if len(list(_errors(node))) > len(list(_reached_errors(node))):
            raise DeclineSignal("sql-unsupported", "raise_error in an operand may not be reached")
        typed = meaning(node, context)
        term = _term(typed, context)
    except DeclineSignal as signal:
        return signal.declined
    conditions = context.found
    return ValueOf(term, typed.type, conjunction(conditions.safe), disjunction(conditions.raised))


# --- operands -------------------------------------------------------------------------------------


def _term(typed: Typed, context: ReadingContext) -> Term:
    """Convert an operand to an option of the sort of its type."""
    sort, operand = sort_of(typed.type), typed.operand
    if sort is None:
        raise DeclineSignal("column-type", f"values of type {typed.type} are not supported")
    match operand:
        case AsDecimal(whole):
            return _option(whole)
        case AsInstant() | AsText():
            raise DeclineSignal("sql-types", "a cast that nothing follows")
        case Constant():
            return _option(fit(operand, sort, context.timezone))
        case CaseValue():
            raise DeclineSignal("sql-unsupported", "write CASE in place of COALESCE and the like")
    return _option(operand)


def _attribute(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate a column. A decimal one may be known as an integer that its type can hold."""
    digits = decimal_type(str(node.fields.get("dataType")))
    column = context.attributes.get(catalyst.number_of(node))
    if digits is None or digits[1] or column is None or strip(column.sort) != INT:
        return catalyst.attribute(node, context)
    return Typed(AsDecimal(column, Width.of_any(digits[0])), type_of(node))


def _option(term: Term) -> Term:
    if isinstance(term, Lit) and not isinstance(term.sort, Option):
        return Lit(Option(term.sort), term.value)
    return some(term)


def _strict(op: Op, *operands: Term) -> Term:
    """Apply an operator of values that are present; NULL if one of the options is none."""
    missing = or_(*(is_none(t) for t in operands))
    applied = some(app(op, *(get(t) for t in operands)))
    return (
        applied
        if missing == FALSE
        else app(Op.ITE, missing, none_lit(strip(applied.sort)), applied)
    )


def _require(context: ReadingContext, operands: Sequence[Term], condition: Term) -> None:
    """Require a condition on values that are present, wherever the expression is evaluated."""
    holds = or_(*(is_none(t) for t in operands), condition)
    context.found.safe.append(app(Op.IMPLIES, context.path, holds))


def _fits(number: Term, type_: str) -> Term:
    low, high = INT_RANGES[type_]
    return and_(app(Op.PY_LE, int_lit(low), number), app(Op.PY_LE, number, int_lit(high)))


def _fitting(term: Term, type_: str, context: ReadingContext) -> Typed:
    """An integer of a type, if it is within the type's range."""
    _require(context, [term], _fits(get(term), type_))
    return Typed(term, type_)


# --- arithmetic -----------------------------------------------------------------------------------


_OF_INTEGERS = {
    Op.SQL_FLOAT_ADD: Op.INT_ADD,
    Op.SQL_FLOAT_SUB: Op.INT_SUB,
    Op.SQL_FLOAT_MUL: Op.INT_MUL,
}


def _arithmetic(node: ExprNode, context: ReadingContext) -> Typed:
    op = node.entry.operator
    left, right = (meaning(child, context) for child in node.children)
    if left.type == right.type == "double":
        return Typed(app(op, _term(left, context), _term(right, context)), "double")
    if left.type == right.type and left.type in INTEGERS:
        a, b = _term(left, context), _term(right, context)
        return _fitting(_strict(_OF_INTEGERS[op], a, b), left.type, context)
    decimals = whole_decimals.arithmetic(op, _decimal(left), _decimal(right))
    numbers = (_option(whole_decimals.read_integer(x.operand)) for x in (left, right))
    term = _strict(_OF_INTEGERS[op], *numbers)
    return Typed(replace(decimals, term=term), f"decimal({decimals.width.digits},0)")


def _decimal(typed: Typed) -> AsDecimal | Constant:
    if not isinstance(typed.operand, AsDecimal | Constant):
        raise DeclineSignal("sql-unsupported", f"{typed.type} beside a decimal")
    return typed.operand


def _divide(node: ExprNode, context: ReadingContext) -> Typed:
    left, right = (meaning(child, context) for child in node.children)
    if not left.type == right.type == "double":
        raise DeclineSignal("sql-unsupported", "only division of doubles is supported")
    a, b = _term(left, context), _term(right, context)
    _require(context, [b], negate(app(Op.PY_EQ, get(b), float_lit(0.0))))
    return Typed(_strict(Op.FLOAT_DIV, a, b), "double")


def _rounded_down(op: Op, type_: str | None) -> Rule:
    """The rule of ``div`` and ``pmod`` of an integer by a positive constant."""

    def convert(node: ExprNode, context: ReadingContext) -> Typed:
        left, right = (meaning(child, context) for child in node.children)
        if left.type not in INTEGERS or right.type not in INTEGERS:
            raise DeclineSignal("sql-unsupported", f"division of {left.type}")
        a, b = _term(left, context), _term(right, context)
        divisor = literal_value(b) if isinstance(b, Lit) else None
        if not isinstance(divisor, int) or divisor <= 0:
            raise DeclineSignal("sql-unsupported", "division by what is no positive constant")
        if op is Op.INT_FLOORDIV:  # Spark rounds towards zero
            _require(context, [a], app(Op.PY_GE, get(a), int_lit(0)))
        return Typed(_strict(op, a, _option(int_lit(divisor))), type_ or left.type)

    return convert


def _negative(node: ExprNode, context: ReadingContext) -> Typed:
    inner = meaning(node.children[0], context)
    term = _term(inner, context)
    if inner.type == "double":
        return Typed(_strict(Op.FLOAT_NEG, term), "double")
    if inner.type in INTEGERS:
        return _fitting(_strict(Op.INT_NEG, term), inner.type, context)
    raise DeclineSignal("sql-unsupported", f"a sign before {inner.type}")


def _root(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate a square root, rounded alike in Spark and Python; Spark's of a negative is NaN."""
    term = _term(meaning(node.children[0], context), context)
    if strip(term.sort) != FLOAT:
        raise DeclineSignal("sql-unsupported", "a root of what is no double")
    _require(context, [term], negate(app(Op.PY_LT, get(term), float_lit(0.0))))
    return Typed(app(Op.FLOAT_SQRT, term), "double")


def _to_integer(op: Op) -> Rule:
    """The rule of ``floor`` and ``ceil`` of a double, which return a bigint."""

    def convert(node: ExprNode, context: ReadingContext) -> Typed:
        inner = meaning(node.children[0], context)
        if inner.type != "double":
            raise DeclineSignal("sql-unsupported", f"rounding of {inner.type}")
        return _of_double(op, _term(inner, context), "bigint", context)

    return convert


def _of_double(op: Op, term: Term, type_: str, context: ReadingContext) -> Typed:
    """Convert a double to an integer. Beyond the type Spark raises, or gives its greatest value."""
    number = get(term)
    low, high = INT_RANGES[type_]
    inside = and_(
        app(Op.PY_GE, number, float_lit(float(low))),
        app(Op.PY_LT, number, float_lit(float(high + 1))),
    )
    _require(context, [term], inside)
    return _fitting(app(op, term), type_, context)


# --- casts ----------------------------------------------------------------------------------------


def _cast(node: ExprNode, context: ReadingContext) -> Typed:
    inner = meaning(node.children[0], context)
    target = type_of(node)
    if isinstance(inner.operand, Constant) or inner.type == target:
        return catalyst.cast_of(node, inner, context)
    rule = _CASTS.get((_kind(inner.type), _kind(target)))
    converted = None if rule is None else rule(inner, target, context)
    return catalyst.cast_of(node, inner, context) if converted is None else converted


def _kind(type_: str) -> str:
    return "integer" if type_ in INTEGERS else "decimal" if decimal_type(type_) else type_


def _resize(inner: Typed, target: str, context: ReadingContext) -> Typed:
    term = _term(inner, context)
    if INTEGERS.index(inner.type) < INTEGERS.index(target):
        return Typed(term, target)
    return _fitting(term, target, context)


def _as_decimal(inner: Typed, target: str, context: ReadingContext) -> Typed | None:
    digits = decimal_type(target)
    if digits is None or digits[1] != 0 or digits[0] < whole_decimals.longest(inner.type):
        return None
    width = Width.of_integer(inner.type, digits[0])
    return Typed(AsDecimal(_term(inner, context), width), target)


def _as_integer(inner: Typed, target: str, context: ReadingContext) -> Typed | None:
    if not isinstance(inner.operand, AsDecimal):
        return None
    return _fitting(_option(inner.operand.term), target, context)


_Cast = Callable[[Typed, str, ReadingContext], Typed | None]

_CASTS: dict[tuple[str, str], _Cast] = {
    ("integer", "integer"): _resize,
    ("integer", "double"): lambda inner, target, context: Typed(
        app(Op.SQL_INT_TO_FLOAT, _term(inner, context)), target
    ),
    ("integer", "decimal"): _as_decimal,
    ("decimal", "integer"): _as_integer,
    ("double", "integer"): lambda inner, target, context: _of_double(
        Op.FLOAT_TRUNC, _term(inner, context), target, context
    ),
}
"""By the kinds of both types; None for a cast that :mod:`presieve.sql.catalyst` handles."""


# --- choices --------------------------------------------------------------------------------------


def _case(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate CASE: conditions and values alternate, and the ELSE value may follow."""
    if len(node.children) < 2:
        raise shape("CaseWhen has no branch")
    pairs = len(node.children) // 2
    branches: list[tuple[Term, Typed]] = []
    path = context.path
    for i in range(pairs):
        branch_context = replace(context, path=path)
        chosen = _is_true(truth(meaning(node.children[2 * i], branch_context).operand))
        inside = replace(context, path=and_(path, chosen))
        branches.append((chosen, meaning(node.children[2 * i + 1], inside)))
        path = and_(path, negate(chosen))
    else_value = Typed(NULL, "void")
    if len(node.children) % 2:
        else_value = meaning(node.children[-1], replace(context, path=path))
    values = (*(typed for _, typed in branches), else_value)
    type_ = one_type([typed for typed in values if typed.type != "void"])
    result = _branch(else_value, type_, context)
    for chosen, typed in reversed(branches):
        result = _choose(chosen, _branch(typed, type_, context), result)
    digits = decimal_type(type_)
    return Typed(result if digits is None else AsDecimal(result, Width.of_any(digits[0])), type_)


def _is_true(condition: Term) -> Term:
    if isinstance(condition, Lit):
        return Lit(strip(condition.sort), condition.value is True)
    return app(Op.SQL_IS_TRUE, condition)


def _choose(condition: Term, then: Term, otherwise: Term) -> Term:
    if isinstance(condition, Lit):
        return then if condition.value else otherwise
    return app(Op.ITE, condition, then, otherwise)


def _branch(typed: Typed, type_: str, context: ReadingContext) -> Term:
    """An option of one sort for all branches; decimals are integers."""
    if decimal_type(type_):
        return _option(whole_decimals.read_integer(typed.operand))
    return _term(replace(typed, type=type_), context)


def _twice(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate the greatest of a value and itself, which Spark returns as it is."""
    if len(node.children) != 2:
        raise shape(f"{node.entry.name} has {len(node.children)} children")
    left, right = (meaning(child, context) for child in node.children)
    if left != right:
        raise DeclineSignal("sql-unsupported", "the greatest of several values")
    return left


def _errors(node: ExprNode) -> Iterator[ExprNode]:
    """Yield all calls of ``raise_error``."""
    if node.entry is basics.RAISE_ERROR:
        yield node
    for child in node.children:
        yield from _errors(child)


def _reached_errors(node: ExprNode) -> Iterator[ExprNode]:
    """Yield the calls that are evaluated wherever their branches are chosen. As an operand, a call
    may not be evaluated: Spark evaluates nothing after a NULL, or after an operand that decides.
    """
    if node.entry is basics.RAISE_ERROR:
        yield node
    elif node.entry in choices.CASES:
        last = len(node.children) - 1
        for i, child in enumerate(node.children):
            if i % 2 or i == last:
                yield from _reached_errors(child)
    elif node.entry is basics.CAST:
        yield from _reached_errors(node.children[0])


def _raise_error(node: ExprNode, context: ReadingContext) -> Typed:
    """Translate ``raise_error('...')``, which has no value."""
    context.found.raised.append(context.path)
    return Typed(NULL, "void")


def _or_function_of_python(rule: Rule) -> Rule:
    """The rule of a class of which a tree may be a composition."""

    def convert(node: ExprNode, context: ReadingContext) -> Typed:
        recognized = recognize(node)
        if recognized is None:
            return rule(node, context)
        argument = meaning(recognized.argument, context)
        signature = SIGNATURES[recognized.op]
        passed = _argument(argument, signature.arguments[0], context)
        term = app(recognized.op, passed, *recognized.parameters)
        if recognized.fits:
            number = get(term) if signature.result == INT else app(Op.DATE_DAYS, get(term))
            _require(context, [term], _fits(number, recognized.fits))
        if recognized.compared is not None:
            return Typed(app(Op.SQL_EQ, term, recognized.compared), "boolean")
        if signature.result == INT:
            return Typed(term, recognized.fits or "int")
        return Typed(term, TYPE_NAMES[signature.result])

    return convert


def _argument(typed: Typed, sort: Sort, context: ReadingContext) -> Term:
    """Return the argument of a function; an integer may be of every type that holds integers."""
    if typed.type == TYPE_NAMES[sort] or (sort == INT and _kind(typed.type) == "integer"):
        return _term(typed, context)
    if sort == INT and isinstance(typed.operand, AsDecimal):
        return _branch(typed, typed.type, context)
    raise DeclineSignal("sql-unsupported", f"a function of Python over {typed.type}")


def _unread(node: ExprNode, _: ReadingContext) -> Typed:
    raise DeclineSignal("sql-unsupported", f"{node.entry.name} is not supported")


_RULES: dict[Entry, Rule] = {
    **catalyst.RULES,
    basics.ATTRIBUTE: _attribute,
    **dict.fromkeys((numeric.ADD, numeric.SUBTRACT, numeric.MULTIPLY), _arithmetic),
    numeric.DIVIDE: _divide,
    numeric.INTEGRAL_DIVIDE: _rounded_down(Op.INT_FLOORDIV, "bigint"),
    numeric.PMOD: _rounded_down(Op.INT_MOD, None),
    numeric.UNARY_MINUS: _negative,
    numeric.SQRT: _root,
    numeric.FLOOR: _to_integer(Op.FLOAT_FLOOR),
    numeric.CEIL: _to_integer(Op.FLOAT_CEIL),
    basics.CAST: _cast,
    **dict.fromkeys(choices.CASES, _case),
    choices.GREATEST: _twice,
    basics.RAISE_ERROR: _raise_error,
}
RULES: dict[Entry, Rule] = {
    **_RULES,
    **{root: _or_function_of_python(_RULES.get(root, _unread)) for root in ROOTS},
}
"""Every expression that is supported in a value."""
