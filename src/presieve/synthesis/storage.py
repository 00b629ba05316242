"""Untrusted. From a condition on the rows of a source to the strongest filters that storage knows.

Storage compares columns with constants. Of each expression that the condition compares, the
preimage of what it is compared with is a set of values of the expression's argument, and so on down
to a column. What is not understood may have any value. The result is a conjunction of clauses, each
of which says of one of its columns that its value belongs to a set. Proved elsewhere
(:mod:`presieve.certificate.derived`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from presieve.semantics.intervals import (
    ALL,
    EVERYTHING,
    NAN,
    NOTHING,
    NULL,
    PRESENT,
    Interval,
    Point,
    ValueSet,
    after,
    intersection,
    last,
    only,
    values,
)
from presieve.sql.beginnings import BEGINNINGS, beginning_of, beginning_with
from presieve.sql.catalyst import number_of
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.evaluation import Box, Evaluation, NoRowError, field_of, missing_and_there
from presieve.sql.monotone import monotone
from presieve.sql.piecewise import (
    DOMAINS,
    GENERATED,
    ORDINARY,
    Piece,
    Zones,
    constant,
    domain,
    is_null,
    short,
    type_name,
)

Clause: TypeAlias = Mapping[int, ValueSet]
"""By the number of a column: the row passes if one of them has a value of its set."""

Clauses: TypeAlias = tuple[Clause, ...]

_WHOLE = frozenset((EVERYTHING, *DOMAINS.values()))
_MOST_CLAUSES = 48
_MOST_INTERVALS = 24
_MOST_ROUNDS = 8
_TRUE: Clauses = ()
_FALSE: Clauses = ({},)
_YES, _NO = values([only(1)]), values([only(0)])
_NAN = values([only(NAN)])


def necessary(condition: ExprNode, zones: Zones) -> Clauses:
    """What holds of the columns of each row for which the condition is true."""
    found = _to_the_end(condition, zones)[1]
    return tuple(c for c in found if not any(map(_any_value, c.values())))


def cuts(condition: ExprNode, zones: Zones) -> dict[int, frozenset[Point]]:
    """Values of columns from which on parts of the condition may have other values."""
    search = _to_the_end(condition, zones)[0]
    return {n: frozenset(found) for n, found in search.ends.items()}


def _to_the_end(condition: ExprNode, zones: Zones) -> tuple[_Search, Clauses]:
    """What is known of a column is a bound for those that it is compared with, and so on."""
    search = _Search(zones, {})
    found = search.true(condition)
    for _ in range(_MOST_ROUNDS if search.compares_columns else 0):
        known = {n: s for clause in found if len(clause) == 1 for n, s in clause.items()}
        if known == search.known:
            break
        search = _Search(zones, known)
        found = search.true(condition)
    return search, found


def _any_value(allowed: ValueSet) -> bool:
    """Whether it only excludes NULL, of which Spark knows by itself."""
    return len(allowed.intervals) == 1 and allowed.intervals[0] in _WHOLE


class _Search:
    """The necessary conditions of expressions, if columns are known to have values of sets."""

    def __init__(self, zones: Zones, known: Box) -> None:
        self._zones = zones
        self.known = known
        self.ends: dict[int, set[Point]] = {}
        self.compares_columns = False

    def true(self, node: ExprNode) -> Clauses:
        """Of a predicate that is true."""
        rule = _TRUE_OF.get(short(node))
        return self.has(node, _YES) if rule is None else rule(self, node)

    def false(self, node: ExprNode) -> Clauses:
        """Of a predicate that is false."""
        rule = _FALSE_OF.get(short(node))
        return self.has(node, _NO) if rule is None else rule(self, node)

    def has(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """Of an expression that has one of these values."""
        if wanted.is_all:
            return _TRUE
        if wanted.is_nothing:
            return _FALSE
        name = short(node)
        if name == "AttributeReference" and type_name(node):
            every = values([domain(type_name(node))], null=True)
            if every.intersection(wanted) == every:
                return _TRUE
            allowed = _writable(every.intersection(wanted), type_name(node))
            ends = {end for interval in allowed.intervals for end in interval if end is not None}
            self.ends.setdefault(number_of(node), set()).update(ends)
            return ({number_of(node): allowed},)
        if name == "Literal":
            return self._literal(node, wanted)
        rule = _VALUES_OF.get(name)
        if rule is not None:
            return rule(self, node, wanted)
        if name in _TRUE_OF:
            return self._truth(node, wanted)
        known = monotone(node, self._zones)
        if known is None:
            return _TRUE
        return self.has(known.argument, _preimage(known.pieces, wanted))

    def _literal(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        if is_null(node):
            return _TRUE if wanted.null else _FALSE
        value = constant(node, self._zones)
        if value is None:
            return _TRUE
        return _FALSE if values([only(value)]).intersection(wanted).is_nothing else _TRUE

    def _truth(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """Of a predicate that is true, false or NULL, by which of them are wanted."""
        ways = []
        if not wanted.intersection(_YES).is_nothing:
            ways.append(self.true(node))
        if not wanted.intersection(_NO).is_nothing:
            ways.append(self.false(node))
        if wanted.null and short(node) not in _NEVER_NULL:
            strict = short(node) in _NULL_OF_NULL
            ways.append(_or(self.has(c, NULL) for c in node.children) if strict else _TRUE)
        return _or(ways)

    def both(self, node: ExprNode) -> Clauses:
        return _and(self.true(c) for c in node.children)

    def either(self, node: ExprNode) -> Clauses:
        return _or(self.true(c) for c in node.children)

    def one_false(self, node: ExprNode) -> Clauses:
        return _or(self.false(c) for c in node.children)

    def both_false(self, node: ExprNode) -> Clauses:
        return _and(self.false(c) for c in node.children)

    def compared(self, node: ExprNode, name: str) -> Clauses:
        """``left name right`` is true."""
        left, right = node.children
        value = constant(right, self._zones)
        if value is not None:
            return self.has(left, values([_COMPARED[name](value)]))
        value = constant(left, self._zones)
        if value is not None:
            return self.has(right, values([_COMPARED[_MIRRORED[name]](value)]))
        if is_null(left) or is_null(right):
            return _FALSE
        self.compares_columns = True
        return _and((self._bounded(left, name, right), self._bounded(right, _MIRRORED[name], left)))

    def _bounded(self, node: ExprNode, name: str, other: ExprNode) -> Clauses:
        """``node name other``, by what is known of the other one."""
        try:
            bounds = Evaluation(self._zones, self.known).value(other).intervals
        except NoRowError:
            return _FALSE
        return self.has(node, values(map(_BOUNDED[name], bounds)))

    def same(self, node: ExprNode, *, equal: bool) -> Clauses:
        """``left <=> right`` is true, or false."""
        left, right = node.children
        if constant(left, self._zones) is not None or is_null(left):
            left, right = right, left
        if is_null(right):
            return self.has(left, NULL if equal else PRESENT)
        value = constant(right, self._zones)
        if value is None:
            return _TRUE
        wanted = values([only(value)])
        return self.has(left, wanted if equal else wanted.complement())

    def member(self, node: ExprNode, *, among: bool) -> Clauses:
        """``value IN (...)`` is true, or false."""
        value, *others = node.children
        points = [constant(o, self._zones) for o in others]
        known = values(only(p) for p in points if p is not None)
        if among:
            unknown = any(p is None and not is_null(o) for p, o in zip(points, others, strict=True))
            return self.has(value, PRESENT if unknown else known)
        if any(map(is_null, others)):
            return _FALSE
        return self.has(value, known.complement().intersection(PRESENT))

    def null(self, node: ExprNode) -> Clauses:
        """The only operand is NULL."""
        return self.has(node.children[0], NULL)

    def present(self, node: ExprNode) -> Clauses:
        """It is not."""
        (operand,) = node.children
        if short(operand) in _STRICT:
            return _and(self.has(c, PRESENT) for c in operand.children)
        return self.has(operand, PRESENT)

    def nan(self, node: ExprNode, *, wanted: bool) -> Clauses:
        """``isnan(value)`` is true, or false."""
        (operand,) = node.children
        if type_name(operand) != "double":
            return self.has(operand, PRESENT) if wanted else _TRUE
        return self.has(operand, _NAN if wanted else _NAN.complement())

    def filled(self, node: ExprNode, *, wanted: bool) -> Clauses:
        """So many operands, all or one of them, are neither NULL nor NaN, or not so many."""
        every = node.fields["n"] == len(node.children)
        if not every and node.fields["n"] != 1:
            return _TRUE
        parts = [self.has(c, missing_and_there(c)[wanted]) for c in node.children]
        return (_and if every is wanted else _or)(parts)

    def matched(self, node: ExprNode) -> Clauses:
        """A text begins as a pattern does."""
        text, pattern = node.children
        start = beginning_of(node, constant(pattern, self._zones))
        if not start:
            return self.has(text, PRESENT)
        return self.has(text, values([beginning_with(start)]))

    def chosen(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """One of the branches of a CASE has such a value, where its condition is true, and those
        before are not. The latter makes many clauses, so that it is asked for beside the former.
        """
        parts = list(node.children)
        other = parts.pop() if len(parts) % 2 else None
        ways, first = [], []
        before = _TRUE
        for test, value in zip(parts[::2], parts[1::2], strict=True):
            here = _and((self.true(test), self.has(value, wanted)))
            ways.append(here)
            first.append(_and((before, here)))
            before = _and((before, self.has(test, _NO.union(NULL))))
        last_ = (_TRUE if wanted.null else _FALSE) if other is None else self.has(other, wanted)
        return _and((_or((*ways, last_)), _or((*first, _and((before, last_))))))

    def first(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """The first operand that is not NULL has such a value."""
        *before, final = node.children
        ways = [self.has(final, wanted)]
        there = wanted.intersection(PRESENT)
        for operand in reversed(before):
            here = self.has(operand, there)
            ways = [here, _and((self.has(operand, NULL), _or(ways)))]
        return _or(ways)

    def one_of(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """One of the children has such a value."""
        return _or(self.has(c, wanted) for c in node.children)

    def field(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """A field of a struct has such a value."""
        found = field_of(node)
        return _TRUE if found is None else self.has(found, wanted)

    def between(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """Some value between those of two children is one of these."""
        if not wanted.intervals:
            return _FALSE
        low, high = wanted.intervals[0][0], wanted.intervals[-1][1]
        sides = [values([(None, high)]), values([(low, None)]), PRESENT]
        below, above, there = ([self.has(c, s) for c in node.children] for s in sides)
        return _and((_or(below), _or(above), *there))

    def extreme(self, node: ExprNode, wanted: ValueSet, *, greatest: bool) -> Clauses:
        """The greatest, or least, of the operands that are not NULL has such a value."""
        if wanted.null or not wanted.intervals:
            return _TRUE
        low, high = wanted.intervals[0][0], wanted.intervals[-1][1]
        upper, lower = values([(None, high)]), values([(low, None)])
        some, every = (lower, upper) if greatest else (upper, lower)
        return _and(
            (
                _or(self.has(c, some) for c in node.children),
                *(self.has(c, every.union(NULL)) for c in node.children),
            )
        )


_COMPARED: Mapping[str, Callable[[Point], Interval]] = {
    "EqualTo": only,
    "LessThan": lambda c: (None, c),
    "LessThanOrEqual": lambda c: (None, after(c)),
    "GreaterThan": lambda c: (after(c), None),
    "GreaterThanOrEqual": lambda c: (c, None),
}
_BOUNDED: Mapping[str, Callable[[Interval], Interval]] = {
    "EqualTo": lambda i: i,
    "LessThan": lambda i: (None, last(i[1])),
    "LessThanOrEqual": lambda i: (None, i[1]),
    "GreaterThan": lambda i: (None if i[0] is None else after(i[0]), None),
    "GreaterThanOrEqual": lambda i: (i[0], None),
}
"""The values that compare so with some value of an interval."""
_MIRRORED = {
    "EqualTo": "EqualTo",
    "LessThan": "GreaterThan",
    "LessThanOrEqual": "GreaterThanOrEqual",
    "GreaterThan": "LessThan",
    "GreaterThanOrEqual": "LessThanOrEqual",
}
_OPPOSITE = {
    "LessThan": "GreaterThanOrEqual",
    "LessThanOrEqual": "GreaterThan",
    "GreaterThan": "LessThanOrEqual",
    "GreaterThanOrEqual": "LessThan",
}
_STRICT = frozenset(_COMPARED)
"""NULL of an operand gives NULL, and nothing else does."""
_NULL_OF_NULL = _STRICT | {"In", "And", "Or", "Not"}
"""Only NULL of an operand gives NULL."""
_NEVER_NULL = frozenset(("IsNull", "IsNotNull", "EqualNullSafe", "IsNaN", "AtLeastNNonNulls"))


def _writable(found: ValueSet, type_: str) -> ValueSet:
    """A set with at least these values whose ends can be written as constants."""
    low, high = ORDINARY.get(type_, EVERYTHING)
    first, end = domain(type_)
    below, above = values([(first, low)]), values([(high, end)])
    wider = found
    for rest, known in ((below, low), (above, high)):
        if known is not None and found.intersection(rest).intervals:
            wider = wider.union(rest)
    return wider


def _unequal(search: _Search, node: ExprNode) -> Clauses:
    left, right = node.children
    value = constant(right, search._zones)
    if value is None:
        left, right, value = right, left, constant(left, search._zones)
    if value is None:
        return _TRUE
    return search.has(left, values([only(value)]).complement().intersection(PRESENT))


_Predicate: TypeAlias = Callable[[_Search, ExprNode], Clauses]


def _comparing(name: str) -> _Predicate:
    return lambda search, node: search.compared(node, name)


_TRUE_OF: Mapping[str, _Predicate] = {
    "And": _Search.both,
    "Or": _Search.either,
    "Not": lambda search, node: search.false(node.children[0]),
    **{name: _comparing(name) for name in _COMPARED},
    "EqualNullSafe": lambda search, node: search.same(node, equal=True),
    "In": lambda search, node: search.member(node, among=True),
    "IsNull": _Search.null,
    "IsNotNull": _Search.present,
    "IsNaN": lambda search, node: search.nan(node, wanted=True),
    "AtLeastNNonNulls": lambda search, node: search.filled(node, wanted=True),
    **dict.fromkeys(BEGINNINGS, _Search.matched),
}
_FALSE_OF: Mapping[str, _Predicate] = {
    "And": _Search.one_false,
    "Or": _Search.both_false,
    "Not": lambda search, node: search.true(node.children[0]),
    **{name: _comparing(other) for name, other in _OPPOSITE.items()},
    "EqualTo": _unequal,
    "EqualNullSafe": lambda search, node: search.same(node, equal=False),
    "In": lambda search, node: search.member(node, among=False),
    "IsNull": _Search.present,
    "IsNotNull": _Search.null,
    "IsNaN": lambda search, node: search.nan(node, wanted=False),
    "AtLeastNNonNulls": lambda search, node: search.filled(node, wanted=False),
    **dict.fromkeys(BEGINNINGS, lambda *_: _TRUE),
}
_VALUES_OF: Mapping[str, Callable[[_Search, ExprNode, ValueSet], Clauses]] = {
    "CaseWhen": _Search.chosen,
    "If": _Search.chosen,
    "Coalesce": _Search.first,
    "Greatest": lambda search, node, wanted: search.extreme(node, wanted, greatest=True),
    "Least": lambda search, node, wanted: search.extreme(node, wanted, greatest=False),
    "GetStructField": _Search.field,
    **dict(zip(GENERATED, (_Search.one_of, _Search.between), strict=True)),
}


# --- preimages -------------------------------------------------------------------------------


def _preimage(pieces: Sequence[Piece], wanted: ValueSet) -> ValueSet:
    """The arguments whose value may be one of these: all of those outside of the pieces."""
    known = values(p.within for p in pieces)
    found = list(known.complement().intervals)
    for piece in pieces:
        for interval in wanted.intervals:
            found.append(intersection(_pulled(piece, interval), piece.within))
    return values(found, null=wanted.null)


def _pulled(piece: Piece, wanted: Interval) -> Interval:
    """The arguments of a piece whose value may be in the interval."""
    low, high = wanted
    if not _of_integers(piece.within):
        return _pulled_text(piece, low, high)
    if piece.rising:
        first = None if low is None else _first(piece, lambda x: not piece.most(x) < low)  # type: ignore[operator]
        end = None if high is None else _first(piece, lambda x: not piece.least(x) < high)  # type: ignore[operator]
    else:
        first = None if high is None else _first(piece, lambda x: piece.least(x) < high)  # type: ignore[operator]
        end = None if low is None else _first(piece, lambda x: piece.most(x) < low)  # type: ignore[operator]
    return first, end


def _of_integers(within: Interval) -> bool:
    return within != EVERYTHING


_ENDS = (-(2**64), 2**64)


def _first(piece: Piece, holds: Callable[[int], bool]) -> int:
    """The first argument of a piece from which on it holds, or the end of the piece."""
    low, end = piece.within
    first = low if isinstance(low, int) else _ENDS[0]
    last = end if isinstance(end, int) else _ENDS[1]
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if holds(middle) else (middle + 1, last)
    return first


def _pulled_text(piece: Piece, low: Point | None, high: Point | None) -> Interval:
    """Of the first characters of a text: as many as the function keeps of a long one."""
    size = len(str(piece.least("\0" * 4096)))
    first = low[:size] if isinstance(low, str) else None
    if not isinstance(high, str):
        return first, None
    if len(high) <= size:
        return first, high
    return first, beginning_with(high[:size])[1]


# --- formulas --------------------------------------------------------------------------------


def _and(parts: Iterable[Clauses]) -> Clauses:
    return _simple(clause for part in parts for clause in part)


def _or(parts: Iterable[Clauses]) -> Clauses:
    """Each clause of one with each of the others, as long as they are not too many."""
    found: Clauses = _FALSE
    for part in parts:
        pairs = product(found, part)
        if len(found) * len(part) > _MOST_CLAUSES:
            return _TRUE
        found = _simple(_joined(a, b) for a, b in pairs)
    return found


def _joined(a: Clause, b: Clause) -> Clause:
    return {n: a.get(n, NOTHING).union(b.get(n, NOTHING)) for n in a.keys() | b.keys()}


def _simple(clauses: Iterable[Clause]) -> Clauses:
    """Without those that always hold; those about one column are one."""
    alone: dict[int, ValueSet] = {}
    others: list[Clause] = []
    for clause in clauses:
        if any(s.is_all for s in clause.values()):
            continue
        kept = {n: _few(s) for n, s in clause.items() if not s.is_nothing}
        if not kept:
            return (clause,)
        if len(kept) == 1:
            ((number, allowed),) = kept.items()
            alone[number] = alone.get(number, ALL).intersection(allowed)
        elif kept not in others:
            others.append(kept)
    for number, allowed in alone.items():
        if allowed.is_nothing:
            return ({number: allowed},)
    single = tuple({n: s} for n, s in alone.items())
    return (*single, *(c for c in others if not _implied(c, alone)))


def _implied(clause: Clause, alone: Mapping[int, ValueSet]) -> bool:
    """Whether a column's own clause says as much."""
    return any(alone.get(n, ALL).intersection(s.complement()).is_nothing for n, s in clause.items())


def _few(found: ValueSet) -> ValueSet:
    """The set, or its hull where it has many parts."""
    if len(found.intervals) <= _MOST_INTERVALS:
        return found
    hull = (found.intervals[0][0], found.intervals[-1][1])
    return values([hull], null=found.null)


# --- what Spark does not push ----------------------------------------------------------------


def beyond(conditions: Sequence[ExprNode], zones: Zones) -> list[Clause]:
    """The necessary conditions of rows for which one of the conditions is true, without those that
    follow from comparisons of columns with constants, which Spark hands to scans by itself.
    """
    every = _or(necessary(c, zones) for c in conditions)
    given = _or(
        _and(necessary(p, zones) for p in _conjuncts(c) if _is_direct(p)) for c in conditions
    )
    alone = {n: s for clause in given for n, s in clause.items() if len(clause) == 1}
    return [c for c in every if c not in given and not _implied(c, alone)]


def _conjuncts(condition: ExprNode) -> list[ExprNode]:
    if short(condition) != "And":
        return [condition]
    return [part for child in condition.children for part in _conjuncts(child)]


_COMBINING = frozenset(("And", "Or", "Not"))
_DIRECT = frozenset((*_COMPARED, "EqualNullSafe", "In", "IsNull", "IsNotNull", "StartsWith"))


def _is_direct(condition: ExprNode) -> bool:
    """Whether Spark hands it to a scan as it is."""
    name = short(condition)
    if name in _COMBINING:
        return all(_is_direct(c) for c in condition.children)
    if name == "AttributeReference":
        return True
    return name in _DIRECT and all(
        short(c) in ("AttributeReference", "Literal") for c in condition.children
    )
