"""Trusted. Expressions of Catalyst over boxes: what they may be if columns have values of sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from presieve.sql.beginnings import BEGINNINGS, beginning_of, beginning_with
from presieve.sql.catalyst import number_of
from presieve.sql.catalyst_tree import ONE_OF, PACKAGE, ExprNode
from presieve.sql.monotone import monotone
from presieve.sql.piecewise import (
    GENERATED,
    Piece,
    Zones,
    constant,
    domain,
    is_null,
    short,
    type_name,
)

Truths: TypeAlias = frozenset[bool | None]
STRUCT = PACKAGE + "CreateNamedStruct"
UNKNOWN: Truths = frozenset((True, False, None))

Box: TypeAlias = Mapping[int, ValueSet]
"""What columns may have, by number; others may have anything."""


class NoRowError(Exception):
    """A column cannot have a value in the box."""


def may_hold(condition: ExprNode, zones: Zones, box: Box) -> bool:
    """Whether a condition may be true of some row in the box."""
    try:
        return True in Evaluation(zones, box).truth(condition)
    except NoRowError:
        return False


class Evaluation:
    """Expressions over a box."""

    def __init__(self, zones: Zones, box: Box) -> None:
        self._zones = zones
        self._box = box

    def truth(self, node: ExprNode) -> Truths:
        """The truth values that a predicate may have."""
        rule = _TRUTHS.get(short(node))
        if rule is not None:
            return rule(self, node)
        return _as_truths(self.value(node))

    def value(self, node: ExprNode) -> ValueSet:
        """The values that an expression may have."""
        name = short(node)
        if name == "AttributeReference":
            within = values([domain(type_name(node))], null=True)
            found = self._box.get(number_of(node), ALL).intersection(within)
            if found.is_nothing:
                raise NoRowError
            return found
        if name == "Literal":
            point = constant(node, self._zones)
            return NULL if is_null(node) else ALL if point is None else values([only(point)])
        if name in _TRUTHS:
            return _of_truths(self.truth(node))
        rule = _VALUES.get(name)
        if rule is not None:
            return rule(self, node)
        known = monotone(node, self._zones)
        return ALL if known is None else _image(known.pieces, self.value(known.argument))

    def each(self, node: ExprNode) -> list[Truths]:
        return [self.truth(child) for child in node.children]

    def chosen(self, node: ExprNode) -> ValueSet:
        """A CASE, or an IF: its branches up to the first that is taken in any case."""
        parts = list(node.children)
        other = parts.pop() if len(parts) % 2 else None
        found = NOTHING
        for test, value in zip(parts[::2], parts[1::2], strict=True):
            truths = self.truth(test)
            if True in truths:
                found = found.union(self.value(value))
            if truths == {True}:
                return found
        return found.union(NULL if other is None else self.value(other))

    def first(self, node: ExprNode) -> ValueSet:
        """The first that is not NULL."""
        found = NOTHING
        for child in node.children:
            here = self.value(child)
            found = found.union(here.intersection(PRESENT))
            if not here.null:
                return found
        return found.union(NULL)

    def one_of(self, node: ExprNode) -> ValueSet:
        """The value of one of the children."""
        found = NOTHING
        for child in node.children:
            found = found.union(self.value(child))
        return found

    def field(self, node: ExprNode) -> ValueSet:
        """A field of a struct."""
        found = field_of(node)
        return ALL if found is None else self.value(found)

    def between(self, node: ExprNode) -> ValueSet:
        """A value from that of one child to that of the other, whichever is less."""
        every = [self.value(child).intersection(PRESENT) for child in node.children]
        if any(here.is_nothing for here in every):
            return NOTHING
        intervals = self.one_of(node).intervals
        return values([(intervals[0][0], intervals[-1][1])])

    def extreme(self, node: ExprNode, *, greatest: bool) -> ValueSet:
        """Of those that are not NULL: one of them, and at least as far out as each that is never
        NULL.
        """
        every = [self.value(child) for child in node.children]
        found = NOTHING
        for here in every:
            found = found.union(here)
        for here in every:
            if not here.null and here.intervals:
                low, high = here.intervals[0][0], here.intervals[-1][1]
                side = (low, None) if greatest else (None, high)
                found = found.intersection(values([side], null=True))
        return values(found.intervals, null=all(here.null for here in every))

    def compared(self, node: ExprNode, test: Callable[[Interval, Interval], Truths]) -> Truths:
        """A comparison that is NULL of NULL."""
        left, right = (self.value(c) for c in node.children)
        found: Truths = frozenset((None,) if left.null or right.null else ())
        return found.union(*(test(a, b) for a in left.intervals for b in right.intervals))

    def same(self, node: ExprNode) -> Truths:
        """``<=>``."""
        left, right = (self.value(c) for c in node.children)
        found: set[bool | None] = set()
        if left.null and right.null:
            found.add(True)
        if (left.null and right.intervals) or (right.null and left.intervals):
            found.add(False)
        return frozenset(found).union(
            *(_equal(a, b) for a in left.intervals for b in right.intervals)
        )

    def member(self, node: ExprNode) -> Truths:
        """``IN``. False is left out where every value is one of the constants. Spark may look a
        double up in a table of hashes, where the two zeros are not equal.
        """
        value, *others = (self.value(c) for c in node.children)
        type_ = type_name(node.children[0])
        sure = (i for o in others for i in o.intervals if len(o.intervals) == 1 and _is_point(i))
        listed = values(i for i in sure if type_ and not (type_ == "double" and i[0] == 0))
        found: set[bool | None] = set()
        if value.intersection(listed.complement()).intervals:
            found.add(False)
        if value.null or any(o.null for o in others):
            found.add(None)
        if any(value.intersection(o).intervals for o in others):
            found.add(True)
        return frozenset(found)

    def is_null(self, node: ExprNode) -> Truths:
        """``IS NULL``."""
        found = self.value(node.children[0])
        return frozenset((*((True,) if found.null else ()), *((False,) if found.intervals else ())))

    def is_nan(self, node: ExprNode) -> Truths:
        """``isnan``, which is false of NULL."""
        operand = node.children[0]
        if type_name(operand) != "double":
            return frozenset((True, False))
        found = self.value(operand)
        others = found.intersection(values([only(NAN)]).complement())
        known = ((True, found.intersection(values([only(NAN)]))), (False, others))
        return frozenset(truth for truth, part in known if not part.is_nothing)

    def filled(self, node: ExprNode) -> Truths:
        """At least so many of the operands are neither NULL nor NaN (``AtLeastNNonNulls``)."""
        wanted = node.fields["n"]
        if not isinstance(wanted, int):
            return UNKNOWN
        parts = [(self.value(c), *missing_and_there(c)) for c in node.children]
        most = sum(not v.intersection(there).is_nothing for v, _, there in parts)
        least = sum(v.intersection(missing).is_nothing for v, missing, _ in parts)
        known = ((True, most >= wanted), (False, least < wanted))
        return frozenset(truth for truth, possible in known if possible)

    def matched(self, node: ExprNode) -> Truths:
        """A text that begins otherwise than all that match a pattern."""
        text, pattern = node.children
        found, start = self.value(text), beginning_of(node, constant(pattern, self._zones))
        if start and found.intersection(values([beginning_with(start)])).is_nothing:
            return frozenset((False, None))
        return UNKNOWN


def field_of(node: ExprNode) -> ExprNode | None:
    """The expression of a field of one of several structs, where these are expressions, too."""
    (struct,), place = node.children, node.fields.get("ordinal")
    if struct.name == STRUCT and isinstance(place, int) and 2 * place + 1 < len(struct.children):
        return struct.children[2 * place + 1]
    if struct.name != ONE_OF:
        return None
    fields = [field_of(replace(node, children=(one,))) for one in struct.children]
    known = tuple(f for f in fields if f is not None)
    return replace(struct, children=known) if len(known) == len(fields) else None


def missing_and_there(node: ExprNode) -> tuple[ValueSet, ValueSet]:
    """The values of an expression that ``AtLeastNNonNulls`` may take to be missing, and those that
    it may count. NaN is missing; of a type that is not known it may be any value.
    """
    type_ = type_name(node)
    if type_ == "double":
        missing = NULL.union(values([only(NAN)]))
        return missing, missing.complement()
    return ALL if type_ in ("", "float") else NULL, PRESENT


def _as_truths(found: ValueSet) -> Truths:
    """Those of a column of truth values."""
    missing: Truths = frozenset((None,) if found.null else ())
    there = (b for b in (True, False) if found.intersection(values([only(int(b))])).intervals)
    return missing.union(there)


def _of_truths(truths: Truths) -> ValueSet:
    return values((only(int(t)) for t in truths if t is not None), null=None in truths)


def _image(pieces: Sequence[Piece], given: ValueSet) -> ValueSet:
    """What a function may give of these arguments."""
    present = given.intersection(PRESENT)
    if present.intersection(values(p.within for p in pieces).complement()).intervals:
        return ALL
    parts = (
        (piece, intersection(interval, piece.within))
        for piece in pieces
        for interval in present.intervals
    )
    return values((_of_piece(p, part) for p, part in parts if not is_empty(part)), null=given.null)


def _of_piece(piece: Piece, part: Interval) -> Interval:
    low, end = part
    final = last(end)
    if not piece.rising:
        lowest = None if final is None else piece.least(final)
        return lowest, None if low is None else after(piece.most(low))
    lowest = None if low is None else piece.least(low)
    if not isinstance(end, str):
        return lowest, None if final is None else after(piece.most(final))
    # The beginning of a text is not above the text.
    return lowest, min(end, str(after(piece.most(end))))


def _less(a: Interval, b: Interval) -> Truths:
    """``x < y``."""
    return frozenset(
        (*((True,) if _some_below(a, b) else ()), *((False,) if _some_reach(a, b) else ()))
    )


def _some_below(a: Interval, b: Interval) -> bool:
    """Whether some x of ``a`` is below some y of ``b``."""
    low, high = a[0], last(b[1])
    return low is None or high is None or low < high  # type: ignore[operator]


def _some_reach(a: Interval, b: Interval) -> bool:
    """Whether some x of ``a`` is some y of ``b``, or above it."""
    high, low = last(a[1]), b[0]
    return high is None or low is None or not high < low  # type: ignore[operator]


def _is_point(interval: Interval) -> bool:
    """Whether there is one value in it."""
    return interval[0] is not None and interval == only(interval[0])


def _equal(a: Interval, b: Interval) -> Truths:
    meets = not is_empty(intersection(a, b))
    certain = meets and _is_point(a) and a == b
    return frozenset((*((True,) if meets else ()), *(() if certain else (False,))))


def _not(truths: Truths) -> Truths:
    return frozenset(None if t is None else not t for t in truths)


def _all(parts: Sequence[Truths]) -> Truths:
    """Of a conjunction."""
    found: set[bool | None] = set()
    if all(True in p for p in parts):
        found.add(True)
    if any(False in p for p in parts):
        found.add(False)
    if any(None in p for p in parts) and all(p - {False} for p in parts):
        found.add(None)
    return frozenset(found)


_Truth: TypeAlias = Callable[[Evaluation, ExprNode], Truths]


def _comparison(test: Callable[[Interval, Interval], Truths]) -> _Truth:
    return lambda e, node: e.compared(node, test)


_TRUTHS: Mapping[str, _Truth] = {
    "And": lambda e, node: _all(e.each(node)),
    "Or": lambda e, node: _not(_all([_not(t) for t in e.each(node)])),
    "Not": lambda e, node: _not(e.truth(node.children[0])),
    "EqualTo": _comparison(_equal),
    "LessThan": _comparison(_less),
    "LessThanOrEqual": _comparison(lambda a, b: _not(_less(b, a))),
    "GreaterThan": _comparison(lambda a, b: _less(b, a)),
    "GreaterThanOrEqual": _comparison(lambda a, b: _not(_less(a, b))),
    "EqualNullSafe": Evaluation.same,
    "In": Evaluation.member,
    "IsNull": Evaluation.is_null,
    "IsNotNull": lambda e, node: _not(e.is_null(node)),
    "IsNaN": Evaluation.is_nan,
    "AtLeastNNonNulls": Evaluation.filled,
    **dict.fromkeys(BEGINNINGS, Evaluation.matched),
}
_VALUES: Mapping[str, Callable[[Evaluation, ExprNode], ValueSet]] = {
    "CaseWhen": Evaluation.chosen,
    "If": Evaluation.chosen,
    "Coalesce": Evaluation.first,
    "Greatest": lambda e, node: e.extreme(node, greatest=True),
    "Least": lambda e, node: e.extreme(node, greatest=False),
    "GetStructField": Evaluation.field,
    **dict(zip(GENERATED, (Evaluation.one_of, Evaluation.between), strict=True)),
}


TRUTH_VALUED = frozenset(_TRUTHS)
"""Expressions that are true, false or NULL."""
