# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Derives the strongest filters that storage knows from a condition on rows of a source.

Storage compares columns with constants. For each expression that the condition compares, the
preimage of the values that satisfy the comparison is a set of values of the expression's argument,
and so on down to a column. An expression that is not understood may have any value. The result is a
conjunction of clauses; each clause says that the value of one of its columns belongs to a set. The
proof is elsewhere (:mod:`presieve.certificate.scan_filters`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

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
    last,
    only,
    values,
)
from presieve.semantics.values import INTEGERS
from presieve.sql.catalyst import number_of
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.evaluation import Box, Evaluation, NoRowError, missing_and_there
from presieve.sql.expressions import basics, predicates, textual
from presieve.sql.expressions.condition_fold import ConditionFold
from presieve.sql.expressions.entry import Entry, WhenNull
from presieve.sql.piecewise import (
    DOMAINS,
    Monotone,
    Piece,
    Zones,
    domain,
    is_null,
    literal_in_order,
    ordinary,
    type_name,
)
from presieve.sql.prefixes import beginning_of, beginning_with
from presieve.synthesis.preimages import preimages

Clause: TypeAlias = Mapping[int, ValueSet]
"""By the number of a column: the row passes if one of them has a value of its set."""

Clauses: TypeAlias = tuple[Clause, ...]

NOTHING_KNOWN: Box = MappingProxyType({})

_WHOLE = frozenset((EVERYTHING, *DOMAINS.values()))
_MOST_CLAUSES = 48
_MOST_INTERVALS = 24
_MOST_ROUNDS = 8
_TRUE: Clauses = ()
_FALSE: Clauses = ({},)
_YES, _NO = values([only(1)]), values([only(0)])
_NAN = values([only(NAN)])


def necessary(condition: ExprNode, zones: Zones, known: Box = NOTHING_KNOWN) -> Clauses:
    """Conditions on the columns that hold for each row for which ``condition`` is true, if columns
    have values in ``known`` sets.
    """
    clauses = _to_the_end(condition, zones, known)[1]
    return tuple(c for c in clauses if not any(map(_any_value, c.values())))


def cuts(
    condition: ExprNode, zones: Zones, known: Box = NOTHING_KNOWN
) -> dict[int, frozenset[Point]]:
    """Values of columns at which parts of the condition may change their values."""
    search = _to_the_end(condition, zones, known)[0]
    return {n: frozenset(points) for n, points in search.ends.items()}


def _to_the_end(condition: ExprNode, zones: Zones, known: Box) -> tuple[_Search, Clauses]:
    """Search repeatedly: what is known of a column bounds the columns compared to it, and the
    arguments of periodic functions.
    """
    search = _Search(zones, known)
    clauses = search.true(condition)
    for _ in range(_MOST_ROUNDS if search.uses_known_sets else 0):
        alone = {n: s for clause in clauses if len(clause) == 1 for n, s in clause.items()}
        column_sets = {**alone, **known}
        if column_sets == search.known:
            break
        search = _Search(zones, column_sets, search.ends)
        clauses = search.true(condition)
    return search, clauses


def _any_value(allowed: ValueSet) -> bool:
    """Whether the set only excludes NULL, which Spark does by itself."""
    return len(allowed.intervals) == 1 and allowed.intervals[0] in _WHOLE


_Preimage: TypeAlias = Callable[[ValueSet], Clauses]
"""The conditions if an expression has one of these values."""


class _Truth(Struct, frozen=True):
    """The conditions if a predicate is true, if it is false, and if it is NULL."""

    true: Callable[[], Clauses]
    false: Callable[[], Clauses]
    null: Callable[[], Clauses]


class _Search(ConditionFold[_Preimage, _Truth]):
    """The necessary conditions of expressions, if columns are known to have values in sets."""

    def __init__(
        self, zones: Zones, column_sets: Box, ends: dict[int, set[Point]] | None = None
    ) -> None:
        """``ends`` are those of the searches before."""
        super().__init__(zones)
        self.known = column_sets
        self.ends = ends or {}
        self.uses_known_sets = False

    def true(self, node: ExprNode) -> Clauses:
        """The conditions if a predicate is true."""
        return self.truth(node).true()

    def has(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """The conditions if an expression has one of these values."""
        if wanted.is_all:
            return _TRUE
        return _FALSE if wanted.is_nothing else self.value(node)(wanted)

    def _predicate(
        self, node: ExprNode, true: Callable[[], Clauses], false: Callable[[], Clauses]
    ) -> _Truth:
        """The truth of a predicate; when it is NULL the catalogue says."""

        def null() -> Clauses:
            match node.entry.nulls:
                case WhenNull.NEVER:
                    return _FALSE
                case WhenNull.UNKNOWN:
                    return _TRUE
            return _or(self.has(c, NULL) for c in node.children)

        return _Truth(true, false, null)

    def as_truth(self, value: _Preimage) -> _Truth:
        return _Truth(partial(value, _YES), partial(value, _NO), partial(value, NULL))

    def of_truth(self, truth: _Truth) -> _Preimage:
        ways = ((_YES, truth.true), (_NO, truth.false), (NULL, truth.null))
        return lambda wanted: _or(
            way() for own, way in ways if not own.intersection(wanted).is_nothing
        )

    def image(self, function: Monotone | None) -> _Preimage:
        if function is None:
            return lambda _: _TRUE
        return partial(self._arguments, function)

    def _arguments(self, function: Monotone, wanted: ValueSet) -> Clauses:
        """The function has such a value; a periodic one only for known arguments."""
        if function.periods is None:
            return self.has(function.argument, self._preimage(function, function.pieces, wanted))
        self.uses_known_sets = True
        try:
            arguments = Evaluation(self.zones, self.known).value(function.argument)
        except NoRowError:
            return _FALSE
        possible = self._preimage(function, function.pieces_of(arguments), wanted)
        return self.has(function.argument, possible.intersection(arguments))

    def _preimage(self, function: Monotone, pieces: Sequence[Piece], wanted: ValueSet) -> ValueSet:
        """The arguments whose value may be one of these. Where a piece has none, its values are
        less on one side of a cut, and greater on the other.
        """
        every = values([domain(type_name(function.argument))])
        intervals = list(preimages(pieces, wanted, every))
        if function.argument.entry is basics.ATTRIBUTE:
            ends = {end for interval in intervals for end in interval if end is not None}
            self.ends.setdefault(number_of(function.argument), set()).update(ends)
        return values(intervals, null=wanted.null)

    def attribute(self, node: ExprNode) -> _Preimage:
        return partial(self._column, node) if type_name(node) else self.image(None)

    def _column(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        every = values([domain(type_name(node))], null=True)
        if every.intersection(wanted) == every:
            return _TRUE
        allowed = self._writable(every.intersection(wanted), type_name(node))
        ends = {end for interval in allowed.intervals for end in interval if end is not None}
        self.ends.setdefault(number_of(node), set()).update(ends)
        return ({number_of(node): allowed},)

    def _writable(self, allowed: ValueSet, type_: str) -> ValueSet:
        """Widen a set so that its ends can be written as constants."""
        low, high = ordinary(type_, self.zones)
        first, end = domain(type_)
        below, above = values([(first, low)]), values([(high, end)])
        wider = allowed
        for edge, bound in ((below, low), (above, high)):
            if bound is not None and allowed.intersection(edge).intervals:
                wider = wider.union(edge)
        return wider

    def literal(self, node: ExprNode) -> _Preimage:
        value = literal_in_order(node, self.zones)
        if value is None and not is_null(node):
            return self.image(None)
        own = NULL if value is None else values([only(value)])
        return lambda wanted: _FALSE if own.intersection(wanted).is_nothing else _TRUE

    def all(self, node: ExprNode) -> _Truth:
        parts = self.each_truth(node)
        return self._predicate(
            node, lambda: _and(p.true() for p in parts), lambda: _or(p.false() for p in parts)
        )

    def some(self, node: ExprNode) -> _Truth:
        parts = self.each_truth(node)
        return self._predicate(
            node, lambda: _or(p.true() for p in parts), lambda: _and(p.false() for p in parts)
        )

    def opposite(self, truth: _Truth) -> _Truth:
        return _Truth(truth.false, truth.true, truth.null)

    def comparison(self, node: ExprNode) -> _Truth:
        opposite = predicates.OPPOSITE.get(node.entry)
        false = partial(self._unequal, node)
        if opposite is not None:
            false = partial(self._compare, node, opposite)
        return self._predicate(node, partial(self._compare, node, node.entry), false)

    def _compare(self, node: ExprNode, entry: Entry) -> Clauses:
        """A comparison, which may be the opposite of the node's own, is true of the operands."""
        left, right = node.children
        value = literal_in_order(right, self.zones)
        if value is not None:
            return self.has(left, values([_COMPARED[entry](value)]))
        value = literal_in_order(left, self.zones)
        if value is not None:
            return self.has(right, values([_COMPARED[predicates.MIRRORED[entry]](value)]))
        if is_null(left) or is_null(right):
            return _FALSE
        self.uses_known_sets = True
        mirrored = predicates.MIRRORED[entry]
        return _and((self._by_bounds(left, entry, right), self._by_bounds(right, mirrored, left)))

    def _by_bounds(self, node: ExprNode, entry: Entry, operand: ExprNode) -> Clauses:
        """A comparison with an operand is true, from the known values of the operand."""
        try:
            bounds = Evaluation(self.zones, self.known).value(operand).intervals
        except NoRowError:
            return _FALSE
        return self.has(node, values(map(_BOUNDED[entry], bounds)))

    def _unequal(self, node: ExprNode) -> Clauses:
        left, right = node.children
        value = literal_in_order(right, self.zones)
        if value is None:
            left, right, value = right, left, literal_in_order(left, self.zones)
        if value is None:
            return _TRUE
        return self.has(left, values([only(value)]).complement().intersection(PRESENT))

    def _either_way(self, node: ExprNode, rule: Callable[[ExprNode, bool], Clauses]) -> _Truth:
        """The truth of a predicate by one rule for both of its values."""
        return self._predicate(node, partial(rule, node, True), partial(rule, node, False))

    def same(self, node: ExprNode) -> _Truth:
        return self._either_way(node, self._same)

    def _same(self, node: ExprNode, equal: bool) -> Clauses:
        """``left <=> right`` is true, or false."""
        left, right = node.children
        if literal_in_order(left, self.zones) is not None or is_null(left):
            left, right = right, left
        if is_null(right):
            return self.has(left, NULL if equal else PRESENT)
        value = literal_in_order(right, self.zones)
        if value is None:
            return _TRUE
        wanted = values([only(value)])
        return self.has(left, wanted if equal else wanted.complement())

    def member(self, node: ExprNode) -> _Truth:
        return self._either_way(node, self._member)

    def _member(self, node: ExprNode, among: bool) -> Clauses:
        """``value IN (...)`` is true, or false."""
        value, *others = node.children
        points = [literal_in_order(o, self.zones) for o in others]
        listed_values = values(only(p) for p in points if p is not None)
        if among:
            unknown = any(p is None and not is_null(o) for p, o in zip(points, others, strict=True))
            return self.has(value, PRESENT if unknown else listed_values)
        if any(map(is_null, others)):
            return _FALSE
        return self.has(value, listed_values.complement().intersection(PRESENT))

    def is_null(self, node: ExprNode) -> _Truth:
        return self._either_way(node, self._is_null)

    def _is_null(self, node: ExprNode, null: bool) -> Clauses:
        (operand,) = node.children
        if not null and operand.entry.nulls is WhenNull.STRICT:
            return _and(self.has(c, PRESENT) for c in operand.children)
        return self.has(operand, NULL if null else PRESENT)

    def is_nan(self, node: ExprNode) -> _Truth:
        return self._either_way(node, self._is_nan)

    def _is_nan(self, node: ExprNode, wanted: bool) -> Clauses:
        """``isnan(value)`` is true, or false."""
        (operand,) = node.children
        if type_name(operand) != "double":
            return self.has(operand, PRESENT) if wanted else _TRUE
        return self.has(operand, _NAN if wanted else _NAN.complement())

    def at_least_n(self, node: ExprNode) -> _Truth:
        return self._either_way(node, self._at_least_n)

    def _at_least_n(self, node: ExprNode, wanted: bool) -> Clauses:
        """At least ``n`` operands are neither NULL nor NaN (``wanted``), or fewer are; known only
        if ``n`` is 1 or the number of operands.
        """
        every = node.fields["n"] == len(node.children)
        if not every and node.fields["n"] != 1:
            return _TRUE
        parts = [self.has(c, missing_and_there(c)[wanted]) for c in node.children]
        return (_and if every is wanted else _or)(parts)

    def text_match(self, node: ExprNode) -> _Truth:
        text, pattern = node.children
        start = beginning_of(node, literal_in_order(pattern, self.zones))
        matching = values([beginning_with(start)]) if start else PRESENT
        return self._predicate(node, lambda: self.has(text, matching), lambda: _TRUE)

    def case_value(self, node: ExprNode) -> _Preimage:
        return partial(self._case_value, node)

    def _case_value(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """One of the branches of a CASE has such a value, and its condition is true. A second
        conjunct adds that the conditions before it are not true; it may have too many clauses, so
        it stands beside the first.
        """
        parts = list(node.children)
        else_branch = parts.pop() if len(parts) % 2 else None
        ways, first = [], []
        before = _TRUE
        for test, value in zip(parts[::2], parts[1::2], strict=True):
            branch = _and((self.true(test), self.has(value, wanted)))
            ways.append(branch)
            first.append(_and((before, branch)))
            before = _and((before, self.has(test, _NO.union(NULL))))
        last_ = (
            (_TRUE if wanted.null else _FALSE)
            if else_branch is None
            else self.has(else_branch, wanted)
        )
        return _and((_or((*ways, last_)), _or((*first, _and((before, last_))))))

    def first(self, node: ExprNode) -> _Preimage:
        return partial(self._first, node)

    def _first(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """The first operand that is not NULL has such a value."""
        *before, final = node.children
        ways = [self.has(final, wanted)]
        not_null = wanted.intersection(PRESENT)
        for operand in reversed(before):
            by_operand = self.has(operand, not_null)
            ways = [by_operand, _and((self.has(operand, NULL), _or(ways)))]
        return _or(ways)

    def one_of(self, node: ExprNode) -> _Preimage:
        return lambda wanted: _or(self.has(c, wanted) for c in node.children)

    def between(self, node: ExprNode) -> _Preimage:
        return partial(self._between, node)

    def _between(self, node: ExprNode, wanted: ValueSet) -> Clauses:
        """Some value between those of two children is one of these values."""
        if not wanted.intervals:
            return _FALSE
        low, high = wanted.intervals[0][0], wanted.intervals[-1][1]
        sides = [values([(None, high)]), values([(low, None)]), PRESENT]
        below, above, not_null = ([self.has(c, s) for c in node.children] for s in sides)
        return _and((_or(below), _or(above), *not_null))

    def extreme(self, node: ExprNode, *, greatest: bool) -> _Preimage:
        return partial(self._extreme, node, greatest)

    def _extreme(self, node: ExprNode, greatest: bool, wanted: ValueSet) -> Clauses:
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


_COMPARED: Mapping[Entry, Callable[[Point], Interval]] = {
    predicates.EQUAL: only,
    predicates.LESS: lambda c: (None, c),
    predicates.LESS_OR_EQUAL: lambda c: (None, after(c)),
    predicates.GREATER: lambda c: (after(c), None),
    predicates.GREATER_OR_EQUAL: lambda c: (c, None),
}
_BOUNDED: Mapping[Entry, Callable[[Interval], Interval]] = {
    predicates.EQUAL: lambda i: i,
    predicates.LESS: lambda i: (None, last(i[1])),
    predicates.LESS_OR_EQUAL: lambda i: (None, i[1]),
    predicates.GREATER: lambda i: (None if i[0] is None else after(i[0]), None),
    predicates.GREATER_OR_EQUAL: lambda i: (i[0], None),
}
"""The values that satisfy the comparison with some value of an interval."""


# --- formulas --------------------------------------------------------------------------------


def _and(parts: Iterable[Clauses]) -> Clauses:
    return _simple(clause for part in parts for clause in part)


def _or(parts: Iterable[Clauses]) -> Clauses:
    """Combine each clause of one part with each clause of the others, unless there are too many."""
    combined: Clauses = _FALSE
    for part in parts:
        pairs = product(combined, part)
        if len(combined) * len(part) > _MOST_CLAUSES:
            return _TRUE
        combined = _simple(_union(a, b) for a, b in pairs)
    return combined


def _union(a: Clause, b: Clause) -> Clause:
    return {n: a.get(n, NOTHING).union(b.get(n, NOTHING)) for n in a.keys() | b.keys()}


def _simple(clauses: Iterable[Clause]) -> Clauses:
    """Remove clauses that always hold, and merge the clauses about one column."""
    alone: dict[int, ValueSet] = {}
    others: list[Clause] = []
    for clause in clauses:
        if any(s.is_all for s in clause.values()):
            continue
        nonempty_sets = {n: _few(s) for n, s in clause.items() if not s.is_nothing}
        if not nonempty_sets:
            return (clause,)
        if len(nonempty_sets) == 1:
            ((number, allowed),) = nonempty_sets.items()
            alone[number] = alone.get(number, ALL).intersection(allowed)
        elif nonempty_sets not in others:
            others.append(nonempty_sets)
    for number, allowed in alone.items():
        if allowed.is_nothing:
            return ({number: allowed},)
    single = tuple({n: s} for n, s in alone.items())
    return (*single, *(c for c in others if not _is_implied(c, alone)))


def _is_implied(clause: Clause, alone: Mapping[int, ValueSet]) -> bool:
    """Whether the own clause of a column says as much."""
    return any(alone.get(n, ALL).intersection(s.complement()).is_nothing for n, s in clause.items())


def _few(allowed: ValueSet) -> ValueSet:
    """The set, or its hull if it has many parts."""
    if len(allowed.intervals) <= _MOST_INTERVALS:
        return allowed
    hull = (allowed.intervals[0][0], allowed.intervals[-1][1])
    return values([hull], null=allowed.null)


# --- what Spark does not push ----------------------------------------------------------------


def beyond(
    conditions: Sequence[ExprNode], zones: Zones, known: Box = NOTHING_KNOWN
) -> list[Clause]:
    """The necessary conditions of rows for which one of the conditions is true, without those that
    follow from comparisons of columns with constants, which Spark hands to scans by itself.

    ``known`` are sets of the values of symbols, which are constants when Spark plans the scan.
    """
    every = _or(necessary(c, zones, known) for c in conditions)
    if any(all(s.is_nothing for s in clause.values()) for clause in every):
        return list(every)  # no row passes, which Spark does not see
    pushed_by_spark = _or(
        _and(necessary(p, zones, known) for p in _conjuncts(c) if _is_direct(p, known))
        for c in conditions
    )
    alone = {n: s for clause in pushed_by_spark for n, s in clause.items() if len(clause) == 1}
    return [c for c in every if c not in pushed_by_spark and not _is_implied(c, alone)]


def _conjuncts(condition: ExprNode) -> list[ExprNode]:
    if condition.entry is not predicates.AND:
        return [condition]
    return [part for child in condition.children for part in _conjuncts(child)]


_DIRECT = (
    *(*predicates.COMPARISONS, predicates.EQUAL_NULL_SAFE, predicates.IN, predicates.IS_NULL),
    *(predicates.IS_NOT_NULL, textual.STARTS_WITH),
)


def _is_direct(condition: ExprNode, known: Box) -> bool:
    """Whether Spark hands the condition to a scan as it is."""
    if condition.entry in predicates.LOGIC:
        return all(_is_direct(c, known) for c in condition.children)
    if condition.entry is basics.ATTRIBUTE:
        return True
    return condition.entry in _DIRECT and all(
        _is_column(c) or _is_constant(c, known) for c in condition.children
    )


def _is_column(node: ExprNode) -> bool:
    """Whether an expression is a column, or a column cast to a wider integer type, which Spark
    casts back where it is compared with constants (``UnwrapCastInBinaryComparison.scala``).
    """
    if node.entry is basics.CAST:
        (inner,) = node.children
        from_, to = type_name(inner), type_name(node)
        is_wider = {from_, to} <= set(INTEGERS) and INTEGERS.index(from_) <= INTEGERS.index(to)
        return is_wider and _is_column(inner)
    return node.entry is basics.ATTRIBUTE


def _is_constant(node: ExprNode, known: Box) -> bool:
    """Whether an expression reads no columns except symbols."""
    if node.entry is basics.ATTRIBUTE:
        return number_of(node) in known
    return bool(node.children or node.entry is basics.LITERAL) and all(
        _is_constant(child, known) for child in node.children
    )
