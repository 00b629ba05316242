# SPDX-License-Identifier: Apache-2.0
"""Trusted. Evaluates Catalyst expressions over boxes, for columns with values in given sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from presieve.semantics.intervals import (
    ALL,
    NAN,
    NOTHING,
    NULL,
    PRESENT,
    Interval,
    ValueSet,
    after,
    intersection,
    is_empty,
    last,
    only,
    values,
)
from presieve.sql.catalyst import number_of
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.expressions import predicates
from presieve.sql.expressions.condition_fold import ConditionFold
from presieve.sql.expressions.entry import Entry
from presieve.sql.piecewise import (
    Monotone,
    Piece,
    Zones,
    domain,
    is_null,
    literal_in_order,
    type_name,
)
from presieve.sql.prefixes import beginning_of, beginning_with

Truths: TypeAlias = frozenset[bool | None]
UNKNOWN: Truths = frozenset((True, False, None))

Box: TypeAlias = Mapping[int, ValueSet]
"""The possible values of columns, by number; other columns may have any value."""


def _possible(*, true: object = False, false: object = False, null: object = False) -> Truths:
    """The truth values that are possible."""
    return frozenset(t for t, is_ in ((True, true), (False, false), (None, null)) if is_)


class NoRowError(Exception):
    """A column cannot have a value in the box."""


def may_hold(condition: ExprNode, zones: Zones, box: Box) -> bool:
    """Whether a condition may be true for some row in the box."""
    try:
        return True in Evaluation(zones, box).truth(condition)
    except NoRowError:
        return False


class Evaluation(ConditionFold[ValueSet, Truths]):
    """Evaluates expressions over a box."""

    def __init__(self, zones: Zones, box: Box) -> None:
        super().__init__(zones)
        self._box = box

    def as_truth(self, value: ValueSet) -> Truths:
        true, false = (value.intersection(values([only(n)])).intervals for n in (1, 0))
        return _possible(true=true, false=false, null=value.null)

    def of_truth(self, truth: Truths) -> ValueSet:
        return values((only(int(t)) for t in truth if t is not None), null=None in truth)

    def image(self, function: Monotone | None) -> ValueSet:
        if function is None:
            return ALL
        arguments = self.value(function.argument)
        return _image(function.pieces_of(arguments), arguments)

    def attribute(self, node: ExprNode) -> ValueSet:
        within = values([domain(type_name(node))], null=True)
        column_values = self._box.get(number_of(node), ALL).intersection(within)
        if column_values.is_nothing:
            raise NoRowError
        return column_values

    def literal(self, node: ExprNode) -> ValueSet:
        point = literal_in_order(node, self.zones)
        return NULL if is_null(node) else ALL if point is None else values([only(point)])

    def case_value(self, node: ExprNode) -> ValueSet:
        """The values of the branches up to the first one that is certain."""
        parts = list(node.children)
        otherwise = parts.pop() if len(parts) % 2 else None
        possible_values = NOTHING
        for test, value in zip(parts[::2], parts[1::2], strict=True):
            truths = self.truth(test)
            if True in truths:
                possible_values = possible_values.union(self.value(value))
            if truths == {True}:
                return possible_values
        return possible_values.union(NULL if otherwise is None else self.value(otherwise))

    def first(self, node: ExprNode) -> ValueSet:
        possible_values = NOTHING
        for child in node.children:
            child_values = self.value(child)
            possible_values = possible_values.union(child_values.intersection(PRESENT))
            if not child_values.null:
                return possible_values
        return possible_values.union(NULL)

    def one_of(self, node: ExprNode) -> ValueSet:
        possible_values = NOTHING
        for child in node.children:
            possible_values = possible_values.union(self.value(child))
        return possible_values

    def between(self, node: ExprNode) -> ValueSet:
        every = [self.value(child).intersection(PRESENT) for child in node.children]
        if any(child_values.is_nothing for child_values in every):
            return NOTHING
        intervals = self.one_of(node).intervals
        return values([(intervals[0][0], intervals[-1][1])])

    def extreme(self, node: ExprNode, *, greatest: bool) -> ValueSet:
        """It is one of the operands, and at least as far out as each operand that is never NULL."""
        every = [self.value(child) for child in node.children]
        possible_values = NOTHING
        for child_values in every:
            possible_values = possible_values.union(child_values)
        for child_values in every:
            if not child_values.null and child_values.intervals:
                low, high = child_values.intervals[0][0], child_values.intervals[-1][1]
                side = (low, None) if greatest else (None, high)
                possible_values = possible_values.intersection(values([side], null=True))
        return values(
            possible_values.intervals, null=all(child_values.null for child_values in every)
        )

    def all(self, node: ExprNode) -> Truths:
        return _all(self.each_truth(node))

    def some(self, node: ExprNode) -> Truths:
        return _not(_all([_not(t) for t in self.each_truth(node)]))

    def opposite(self, truth: Truths) -> Truths:
        return _not(truth)

    def comparison(self, node: ExprNode) -> Truths:
        compare = _COMPARE[node.entry]
        left, right = (self.value(c) for c in node.children)
        truths = _possible(null=left.null or right.null)
        return truths.union(*(compare(a, b) for a in left.intervals for b in right.intervals))

    def same(self, node: ExprNode) -> Truths:
        left, right = (self.value(c) for c in node.children)
        one_null = (left.null and right.intervals) or (right.null and left.intervals)
        truths = _possible(true=left.null and right.null, false=one_null)
        return truths.union(*(_equal(a, b) for a in left.intervals for b in right.intervals))

    def member(self, node: ExprNode) -> Truths:
        """False is impossible if every value is one of the constants."""
        value, *others = (self.value(c) for c in node.children)
        type_ = type_name(node.children[0])
        sure = (i for o in others for i in o.intervals if len(o.intervals) == 1 and _is_point(i))
        listed = values(i for i in sure if type_ and not (type_ == "double" and i[0] == 0))
        return _possible(
            true=any(value.intersection(o).intervals for o in others),
            false=value.intersection(listed.complement()).intervals,
            null=value.null or any(o.null for o in others),
        )

    def is_null(self, node: ExprNode) -> Truths:
        operand_values = self.value(node.children[0])
        return _possible(true=operand_values.null, false=operand_values.intervals)

    def is_nan(self, node: ExprNode) -> Truths:
        operand = node.children[0]
        if type_name(operand) != "double":
            return frozenset((True, False))
        operand_values, nan = self.value(operand), values([only(NAN)])
        is_nan, others = (operand_values.intersection(s) for s in (nan, nan.complement()))
        return _possible(true=not is_nan.is_nothing, false=not others.is_nothing)

    def at_least_n(self, node: ExprNode) -> Truths:
        wanted = node.fields["n"]
        if not isinstance(wanted, int):
            return UNKNOWN
        parts = [(self.value(c), *missing_and_there(c)) for c in node.children]
        most = sum(not v.intersection(countable).is_nothing for v, _, countable in parts)
        least = sum(v.intersection(missing).is_nothing for v, missing, _ in parts)
        return _possible(true=most >= wanted, false=least < wanted)

    def text_match(self, node: ExprNode) -> Truths:
        text, pattern = node.children
        text_values = self.value(text)
        start = beginning_of(node, literal_in_order(pattern, self.zones))
        if start and text_values.intersection(values([beginning_with(start)])).is_nothing:
            return _possible(false=True, null=True)
        return UNKNOWN


def missing_and_there(node: ExprNode) -> tuple[ValueSet, ValueSet]:
    """The values of an expression that ``AtLeastNNonNulls`` may treat as missing, and those that it
    may count. NaN is missing; for a type that is not known, any value may be missing.
    """
    type_ = type_name(node)
    if type_ == "double":
        missing = NULL.union(values([only(NAN)]))
        return missing, missing.complement()
    return ALL if type_ in ("", "float") else NULL, PRESENT


def _image(pieces: Sequence[Piece], arguments: ValueSet) -> ValueSet:
    """The possible results of a function on these arguments."""
    present = arguments.intersection(PRESENT)
    if present.intersection(values(p.within for p in pieces).complement()).intervals:
        return ALL
    parts = [
        (piece, part)
        for piece in pieces
        for interval in present.intervals
        if not is_empty(part := intersection(interval, piece.within))
    ]
    null = arguments.null or any(piece.nullable for piece, _ in parts)
    return values((_of_piece(*part) for part in parts), null=null)


def _of_piece(piece: Piece, part: Interval) -> Interval:
    low, end = part
    final = last(end)
    if not piece.rising:
        lowest = None if final is None else piece.least(final)
        return lowest, None if low is None else after(piece.most(low))
    lowest = None if low is None else piece.least(low)
    if not isinstance(end, str):
        return lowest, None if final is None else after(piece.most(final))
    # The prefix of a text is not above the text.
    return lowest, min(end, str(after(piece.most(end))))


def _less(a: Interval, b: Interval) -> Truths:
    """The truth values of ``x < y``."""
    (least_a, most_a), (least_b, most_b) = ((i[0], last(i[1])) for i in (a, b))
    return _possible(
        true=least_a is None or most_b is None or least_a < most_b,  # type: ignore[operator]
        false=most_a is None or least_b is None or not most_a < least_b,  # type: ignore[operator]
    )


def _is_point(interval: Interval) -> bool:
    """Whether the interval holds exactly one value."""
    return interval[0] is not None and interval == only(interval[0])


def _equal(a: Interval, b: Interval) -> Truths:
    meets = not is_empty(intersection(a, b))
    return _possible(true=meets, false=not (meets and _is_point(a) and a == b))


def _not(truths: Truths) -> Truths:
    return frozenset(None if t is None else not t for t in truths)


def _all(parts: Sequence[Truths]) -> Truths:
    """The truth values of a conjunction."""
    return _possible(
        true=all(True in p for p in parts),
        false=any(False in p for p in parts),
        null=any(None in p for p in parts) and all(p - {False} for p in parts),
    )


_COMPARE: Mapping[Entry, Callable[[Interval, Interval], Truths]] = {
    predicates.EQUAL: _equal,
    predicates.LESS: _less,
    predicates.LESS_OR_EQUAL: lambda a, b: _not(_less(b, a)),
    predicates.GREATER: lambda a, b: _less(b, a),
    predicates.GREATER_OR_EQUAL: lambda a, b: _not(_less(a, b)),
}
"""The possible truth values of a comparison of values in two intervals."""
