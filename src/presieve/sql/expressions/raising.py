# SPDX-License-Identifier: Apache-2.0
"""Trusted. Decides which Catalyst expressions never raise an error.

The catalogue says it of most classes; for some it depends on types and constants. An expression of
a class without an entry may raise. A class must not raise with ANSI mode on or off, for any value
of a type: a test evaluates each class on the ends of its types. An expression that is not evaluated
for some rows, as in a branch of CASE, counts like any other.

Source: ``eval`` of each class in ``org.apache.spark.sql.catalyst.expressions``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from presieve.errors import Declined
from presieve.semantics.java_patterns import python_pattern
from presieve.semantics.types import decimal_type
from presieve.semantics.values import INTEGERS
from presieve.sql.catalyst import expression
from presieve.sql.catalyst_tree import MEANING, ExprNode
from presieve.sql.expressions import basics, choices, composites, numeric, textual, times
from presieve.sql.expressions.entry import Entry
from presieve.sql.monotone_times import FORMAT, UNITS
from presieve.sql.piecewise import is_null, type_name

Condition: TypeAlias = Callable[[ExprNode], bool]
"""Whether an expression never raises by itself, whatever the values of its operands."""


def can_raise(tree: Sequence[Mapping[str, object]]) -> bool:
    """Whether an expression has a node that is not known never to raise. The tree is the output of
    ``TreeNode.toJSON``; LIKE has its escape character only if it was added.
    """
    nodes = list(_nodes(tree))
    tried = {id(d) for n in nodes if n.entry is numeric.TRY_DIVIDE for d in _find_tried_division(n)}
    return not all(id(node) in tried or _never_raises(node) for node in nodes)


def _find_tried_division(node: ExprNode) -> Iterator[ExprNode]:
    """Yield the division of numbers below ``try_divide``, which is NULL where it would raise. Of
    other types ``TryEval`` stands in between.
    """
    yield from (c for c in node.children if c.entry is numeric.DIVIDE and _type(c) in _DOUBLES)


def _never_raises(node: ExprNode) -> bool:
    if node.name == MEANING:
        # An expression whose meaning is known consists of expressions that do not raise.
        return node.fields.get("total") is True
    condition, quiet = CONDITIONS.get(node.entry), node.entry.never_raises
    if condition is not None:
        return condition(node)
    return quiet if isinstance(quiet, bool) else _has_operands_of(node, quiet)


def _nodes(tree: Sequence[Mapping[str, object]]) -> Iterator[ExprNode]:
    """Yield all nodes of a tree, each after its children, without recursion: trees may be deep."""
    pending: list[ExprNode] = []
    for fields in reversed(tree):
        count = int(str(fields["num-children"]))
        children = tuple(pending.pop() for _ in range(count))
        node = ExprNode(str(fields["class"]), children, fields)
        yield node
        pending.append(node)


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


def _type(node: ExprNode) -> str:
    """Spark's type of an expression; "" if it is not visible."""
    if node.entry in numeric.OF_ONE_TYPE:
        # Both operands have the same type once a plan is analyzed.
        return _type(node.children[0])
    if node.entry in (*choices.CASES, choices.COALESCE):
        # So have all values to choose from.
        return _type(node.children[int(node.entry in choices.CASES)])
    declared = node.fields.get("dataType")
    plain = node.entry in (basics.ATTRIBUTE, basics.LITERAL, basics.CAST)
    return type_name(node) or (declared if plain and isinstance(declared, str) else "")


def _number(node: ExprNode) -> float | None:
    """The value of a literal, or of a literal that is cast to another numeric type; None if it is
    not a literal, or not a number.
    """
    if node.entry is basics.CAST:
        (node,) = node.children
    value = node.fields.get("value") if node.entry is basics.LITERAL else None
    try:
        return None if value is None else float(str(value))
    except ValueError:
        return None


def _has_operands_of(node: ExprNode, types: Sequence[str]) -> bool:
    """Whether all operands have one of these types."""
    return all(_type(child) in types for child in node.children)


# --- arithmetic ---------------------------------------------------------------------------------


def _divides_doubles(node: ExprNode) -> bool:
    return _type(node) in _DOUBLES and bool(_number(node.children[1]))


def _divides_integers(node: ExprNode) -> bool:
    """Whether integers are divided by a safe constant: division by zero has no result, and the
    least integer has no opposite.
    """
    return _has_operands_of(node, INTEGERS) and _number(node.children[1]) not in (None, 0, -1)


def _leaves_rest(node: ExprNode) -> bool:
    return _has_operands_of(node, _WIDER) and bool(_number(node.children[1]))


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
    if after == "string" or is_null(child) or (before, after) in _CASTS or before == after != "":
        return True
    if child.entry is basics.ATTRIBUTE and child.fields["dataType"] == node.fields["dataType"]:
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
    if child.entry is not basics.LITERAL or not isinstance(zone, str):
        return False
    return not isinstance(expression([cast.fields, child.fields], {}, zone), Declined)


# --- days, instants and texts -------------------------------------------------------------------


def _is_formatted(node: ExprNode) -> bool:
    """Whether the pattern consists of parts of an instant from the year on."""
    return FORMAT.fullmatch(_text(node.children[1]) or "") is not None


def _is_cut(node: ExprNode) -> bool:
    """Whether days are truncated, but not to the quarter, which would begin before all days."""
    return UNITS.get((_text(node.children[1]) or "").upper(), "quarter") != "quarter"


def _text(node: ExprNode) -> str | None:
    """The text of a literal."""
    literal = node.entry is basics.LITERAL and node.fields.get("dataType") == "string"
    value = node.fields.get("value") if literal else None
    return value if isinstance(value, str) else None


def _splits(node: ExprNode) -> bool:
    """Whether the part's number is not zero: parts are counted from 1, or from the end."""
    return bool(_number(node.children[2]))


def _ignores_other_digits(node: ExprNode) -> bool:
    """Whether this is ``unhex``, and not ``to_binary``."""
    return node.fields.get("failOnError") is False


def _takes_element(node: ExprNode) -> bool:
    """Whether this is ``try_element_at`` of a text as key, or of a place that is not zero."""
    is_text = _text(node.children[1]) is not None
    return node.fields.get("failOnError") is False and (is_text or bool(_number(node.children[1])))


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
    """Whether the pattern is surely valid, and no text is too long for Java's stack."""
    pattern = _text(node.children[1])
    if pattern is None:
        return False
    return bool(_EXPRESSION.fullmatch(pattern)) or python_pattern(pattern) is not None


# --- the table ----------------------------------------------------------------------------------

CONDITIONS: Mapping[Entry, Condition] = {
    numeric.DIVIDE: _divides_doubles,
    numeric.INTEGRAL_DIVIDE: _divides_integers,
    numeric.PMOD: _leaves_rest,
    numeric.REMAINDER: _leaves_rest,
    basics.CAST: _cast,
    times.UNIX_TIMESTAMP: lambda node: _type(node.children[0]) in _INSTANTS,
    times.DATE_FORMAT: _is_formatted,
    times.TRUNC_DATE: _is_cut,
    textual.LIKE: _like,
    textual.RLIKE: _rlike,
    textual.SPLIT_PART: _splits,
    textual.UNHEX: _ignores_other_digits,
    composites.ELEMENT_AT: _takes_element,
}
"""When an expression never raises, if more than the types of its operands decides."""
