"""Trusted. Decides which Catalyst expressions never raise an error.

This is the only such table. An expression of a class that is not listed may raise; for some classes
it depends on types and constants. A class must not raise with ANSI mode on or off, for any value of
a type: a test evaluates each class on the ends of its types. An expression that is not evaluated
for some rows, as in a branch of CASE, counts like any other.

Source: ``eval`` of each class in ``org.apache.spark.sql.catalyst.expressions``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from presieve.errors import Declined
from presieve.semantics.types import decimal_type
from presieve.sql.catalyst import expression
from presieve.sql.catalyst_tree import BETWEEN, MEANING, ONE_OF, PACKAGE, ExprNode
from presieve.sql.monotone_times import FORMAT, UNITS
from presieve.sql.piecewise import INTEGERS, is_null, type_name

Condition: TypeAlias = Callable[[ExprNode], bool]
"""Whether an expression never raises by itself, whatever the values of its operands."""


def can_raise(tree: Sequence[Mapping[str, object]]) -> bool:
    """Whether an expression has a node that is not known never to raise. The tree is the output of
    ``TreeNode.toJSON``; LIKE has its escape character only if it was added.
    """
    return not all(map(_never_raises, _nodes(tree)))


def _never_raises(node: ExprNode) -> bool:
    condition = TOTAL.get(node.name)
    return condition is not None and condition(node)


def _nodes(tree: Sequence[Mapping[str, object]]) -> Iterator[ExprNode]:
    """Yield all nodes of a tree, each after its children. Conditions may nest deeper than Python
    calls can.
    """
    pending: list[ExprNode] = []
    for fields in reversed(tree):
        count = int(str(fields["num-children"]))
        children = tuple(pending.pop() for _ in range(count))
        node = ExprNode(str(fields["class"]), children, fields)
        yield node
        pending.append(node)


def _always(_: ExprNode) -> bool:
    return True


# --- types and constants ------------------------------------------------------------------------

_WIDER = (*INTEGERS, "float", "double")
"""Each type fits into those after it."""
_DOUBLES = ("float", "double")
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""The digits of the greatest value."""
_ROOM = {name: digits - 1 for name, digits in _DIGITS.items()} | dict.fromkeys(_DOUBLES, 400)
"""The number of digits before the point that always fit into each type. The digits after it are cut
off or rounded, which is not an error.
"""
_INSTANTS = ("timestamp", "timestamp_ntz")


def _name(node: ExprNode) -> str:
    return node.name.removeprefix(PACKAGE)


def _type(node: ExprNode) -> str:
    """Spark's type of an expression; "" if it is not visible."""
    if _name(node) in _OF_DOUBLES:
        # Both operands have the same type once a plan is analyzed.
        return _type(node.children[0])
    declared = node.fields.get("dataType")
    plain = _name(node) in ("AttributeReference", "Literal", "Cast") and isinstance(declared, str)
    return type_name(node) or (str(declared) if plain else "")


def _number(node: ExprNode) -> float | None:
    """The value of a literal, or of a literal that is cast to another numeric type; None if it is
    not a literal, or not a number.
    """
    if _name(node) == "Cast":
        (node,) = node.children
    value = node.fields.get("value") if _name(node) == "Literal" else None
    try:
        return None if value is None else float(str(value))
    except ValueError:
        return None


def _of_type(*types: str) -> Condition:
    """A condition that holds if all operands have one of these types."""
    return lambda node: all(_type(child) in types for child in node.children)


# --- arithmetic ---------------------------------------------------------------------------------

_OF_DOUBLES = ("Add", "Subtract", "Multiply", "Divide", "UnaryMinus", "Abs")
"""Arithmetic of one type. On doubles it has a result for all values, but a division by
zero raises.
"""


def _divides_doubles(node: ExprNode) -> bool:
    return _type(node) in _DOUBLES and bool(_number(node.children[1]))


def _divides_integers(node: ExprNode) -> bool:
    """Whether integers are divided by a safe constant: division by zero has no result, and the
    least integer has no opposite.
    """
    return _of_type(*INTEGERS)(node) and _number(node.children[1]) not in (None, 0, -1)


def _leaves_rest(node: ExprNode) -> bool:
    return _of_type(*INTEGERS, *_DOUBLES)(node) and bool(_number(node.children[1]))


# --- casts --------------------------------------------------------------------------------------

_CASTS = frozenset(
    (
        *((instant, "date") for instant in _INSTANTS),
        *(("timestamp", number) for number in ("bigint", *_DOUBLES)),
        *(("boolean", number) for number in _WIDER),
    )
)
"""Instants are included: every 64-bit number of microseconds has a day."""


def _cast(node: ExprNode) -> bool:
    """Whether a cast never raises: to a string, to a wider number or to the same type, between
    numbers and decimals with room for their digits, and of constants that have a result.
    """
    (child,) = node.children
    before, after = _type(child), _type(node)
    if after == "string" or is_null(child) or (before, after) in _CASTS:
        return True
    if _name(child) == "AttributeReference" and child.fields["dataType"] == node.fields["dataType"]:
        return True
    if before in _WIDER and after in _WIDER:
        return _WIDER.index(before) <= _WIDER.index(after) or _has_result(node)
    digits, target = decimal_type(before), decimal_type(after)
    if digits is not None and target is not None:
        room = digits[0] - digits[1] <= target[0] - target[1] and digits[1] <= target[1]
    elif digits is not None:
        room = digits[0] - digits[1] <= _ROOM.get(after, -1)
    else:
        room = target is not None and _DIGITS.get(before, 99) <= target[0] - target[1]
    return room or _has_result(node)


def _has_result(cast: ExprNode) -> bool:
    """Whether the cast is of a constant that has a value in the other type."""
    (child,) = cast.children
    zone = cast.fields.get("timeZoneId")
    if _name(child) != "Literal" or not isinstance(zone, str):
        return False
    return not isinstance(expression([cast.fields, child.fields], {}, zone), Declined)


# --- days, instants and texts -------------------------------------------------------------------


def _is_formatted(node: ExprNode) -> bool:
    """Whether the pattern consists of parts of an instant from the year on."""
    return FORMAT.fullmatch(_text(node.children[1]) or "") is not None


def _is_cut(node: ExprNode) -> bool:
    """Whether days are truncated, but not to the quarter: that of the first days would begin before
    all days.
    """
    return UNITS.get((_text(node.children[1]) or "").upper(), "quarter") != "quarter"


def _text(node: ExprNode) -> str | None:
    """The text of a literal."""
    literal = _name(node) == "Literal" and node.fields.get("dataType") == "string"
    value = node.fields.get("value") if literal else None
    return value if isinstance(value, str) else None


def _splits(node: ExprNode) -> bool:
    """Whether the part's number is not zero: parts are counted from 1, or from the end."""
    return bool(_number(node.children[2]))


def _ignores_other_digits(node: ExprNode) -> bool:
    """Whether this is ``unhex``, and not ``to_binary``."""
    return node.fields.get("failOnError") is False


def _like(node: ExprNode) -> bool:
    """Whether the pattern is constant, the escape character is known, and each one in the pattern
    stands before a special character.
    """
    text, escape = _text(node.children[1]), node.fields.get("escapeChar")
    if text is None or not isinstance(escape, str) or len(escape) != 1:
        return False
    characters = iter(text)
    return all(c != escape or next(characters, "") in ("_", "%", escape) for c in characters)


_ATOM = r"(?:[A-Za-z0-9 _\-/:,;=@#%&'\"<>!~`.]|\\[dDsSwW.]|\[(?:a-z|A-Z|0-9|_)+\])"
_EXPRESSION = re.compile(rf"\^?(?:{_ATOM}[*+?]?)*\$?")
"""Some regular expressions that are surely valid. Groups may overflow Java's stack."""


def _rlike(node: ExprNode) -> bool:
    return _EXPRESSION.fullmatch(_text(node.children[1]) or "(") is not None


# --- the table ----------------------------------------------------------------------------------

_ALWAYS = (
    *("Alias", "AttributeReference", "Literal", "SortOrder"),
    *("And", "Or", "Not", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual"),
    *("GreaterThan", "GreaterThanOrEqual", "Between", "In", "InSet", "IsNull", "IsNotNull"),
    *("IsNaN", "AtLeastNNonNulls"),
    *("CaseWhen", "If", "Coalesce", "Nvl", "Nvl2", "NullIf", "NullIfResult", "Greatest", "Least"),
    *("With", "CommonExpressionDef", "CommonExpressionRef"),
    *("ArrayContains", "CreateArray", "CreateNamedStruct", "GetStructField"),
    *("Explode", "PosExplode", "Stack"),
    *("Concat", "Contains", "EndsWith", "StartsWith", "IsValidUTF8", "Length", "Left", "Lower"),
    *("StringReplace", "StringTranslate", "StringTrim", "StringTrimLeft", "StringTrimRight"),
    *("Substring", "Upper"),
    # These take dates; timestamps are cast.
    *("Year", "Quarter", "Month", "DayOfMonth", "DayOfYear", "DayOfWeek", "WeekDay", "WeekOfYear"),
    *("Hour", "Minute", "Second", "DateAdd", "DateSub", "DateDiff", "LastDay"),
    *("DateFromUnixDate", "UnixDate", "UnixMicros", "UnixSeconds", "MicrosToTimestamp"),
    *("aggregate.AggregateExpression", "aggregate.AnyValue", "aggregate.BoolAnd"),
    *("aggregate.BoolOr", "aggregate.CollectList", "aggregate.CollectSet", "aggregate.Count"),
    *("aggregate.CountIf", "aggregate.First", "aggregate.HyperLogLogPlusPlus", "aggregate.Last"),
    *("aggregate.Max", "aggregate.MaxBy", "aggregate.Min", "aggregate.MinBy"),
    *("aggregate.StddevPop", "aggregate.StddevSamp"),
    *("aggregate.VariancePop", "aggregate.VarianceSamp"),
)
"""Classes that never raise, for any operands, or that stand for their only child."""

_SOMETIMES: Mapping[str, Condition] = {
    **dict.fromkeys(("Add", "Subtract", "Multiply", "UnaryMinus", "Abs"), _of_type(*_DOUBLES)),
    "Divide": _divides_doubles,
    "IntegralDivide": _divides_integers,
    **dict.fromkeys(("Pmod", "Remainder"), _leaves_rest),
    "Cast": _cast,
    **dict.fromkeys(
        ("UnixTimestamp", "ToUnixTimestamp"), lambda n: _type(n.children[0]) in _INSTANTS
    ),
    **dict.fromkeys(("SecondsToTimestamp", "MillisToTimestamp"), _of_type(*INTEGERS[:3])),
    "DateFormatClass": _is_formatted,
    "TruncDate": _is_cut,
    "Like": _like,
    "RLike": _rlike,
    "SplitPart": _splits,
    "Unhex": _ignores_other_digits,
    "aggregate.Average": _of_type(*_WIDER),
    "aggregate.Sum": _of_type(*_DOUBLES),
}

TOTAL: Mapping[str, Condition] = {
    # An expression whose meaning is known consists of expressions that do not raise.
    MEANING: lambda node: node.fields.get("total") is True,
    # These stand for columns of an operator.
    **dict.fromkeys((ONE_OF, BETWEEN), _always),
    **{PACKAGE + name: _always for name in _ALWAYS},
    **{PACKAGE + name: condition for name, condition in _SOMETIMES.items()},
}
"""By class, the condition under which an expression never raises."""
