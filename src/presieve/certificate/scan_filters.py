# SPDX-License-Identifier: Apache-2.0
"""Trusted. Proves that a filter derived for storage keeps every row for which a condition is true.

The filter fails on a row if all columns of one of its clauses lie outside of their sets. Such rows
form a few boxes: products of intervals. In each box the condition is evaluated on intervals
(:mod:`presieve.sql.evaluation`), and must not come out true. A condition may also read columns of
other sources, which may have any values. Nothing here knows how the filter was found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from presieve.certificate.checker import Verified
from presieve.certificate.claim import Claim, Decided, Obligation
from presieve.errors import DeclineSignal
from presieve.semantics.intervals import (
    ALL,
    NULL,
    Interval,
    Point,
    ValueSet,
    is_empty,
    values,
)
from presieve.sql.catalyst import number_of
from presieve.sql.catalyst_tree import ExprNode, build
from presieve.sql.evaluation import Box, may_hold
from presieve.sql.expressions import basics
from presieve.sql.expressions.condition_fold import TRUTH_VALUED
from presieve.sql.monotone import describe_monotone
from presieve.sql.piecewise import Zones

KIND = "derived"
MAX_BOXES = 256


@dataclass(frozen=True, slots=True)
class DerivedCertificate(Claim):
    """Where ``condition`` (an expression of Catalyst, as its JSON) is true, each of the ``clauses``
    holds: one of its columns, by number, has a value of its set. ``cuts`` are values of columns at
    which boxes are divided; more cuts prove more, and no cut proves anything wrong.
    """

    condition: Sequence[Mapping[str, object]]
    clauses: Sequence[Mapping[int, ValueSet]]
    zones: Zones
    cuts: Mapping[int, Collection[Point]] = field(default_factory=dict)

    def fields(self) -> dict[str, object]:
        """The statement; :func:`parse` reads it."""
        return {
            "kind": KIND,
            "condition": [_plain(node) for node in self.condition],
            "clauses": [
                [[n, [list(i) for i in s.intervals], s.null] for n, s in clause.items()]
                for clause in self.clauses
            ],
            "cuts": [[n, sorted(points)] for n, points in self.cuts.items()],
            "zone": self.zones.session,
            "offsets": {
                name: list(offset_range) for name, offset_range in self.zones.offsets.items()
            },
        }

    def check_form(self) -> None:
        """Any expression may be a condition; one that cannot be evaluated proves nothing."""

    def premises(self) -> None:
        """The obligation is about all rows, whatever they are."""

    def obligations(self) -> Iterator[Obligation]:
        """Evaluate the condition outside of the filter. An undecided condition is not accepted."""
        yield Decided("outside", self._failure())

    def _failure(self) -> str | None:
        """Why the claim is not proved; None if it is."""
        try:
            node, end = build(self.condition, 0, 0)
        except DeclineSignal as signal:
            return signal.declined.reason
        if end != len(self.condition):
            return "nodes are left over"
        try:
            for clause in self.clauses:
                if not _Refutation(node, self).refutes(clause):
                    return f"the condition may be true outside of {dict(clause)}"
        except (DeclineSignal, OverflowError, ValueError, TypeError) as error:
            return f"the condition cannot be evaluated: {error}"
        return None


_FIELDS = frozenset(
    (
        *("class", "num-children", "name", "exprId", "dataType", "value", "timeZoneId"),
        *("escapeChar", "n", "ordinal"),
    )
)


def _plain(node: Mapping[str, object]) -> dict[str, object]:
    return {name: node[name] for name in node if name in _FIELDS}


def parse(data: Mapping[str, Any]) -> DerivedCertificate:
    """Read a certificate of this kind. Raises KeyError, TypeError or ValueError if ``data`` is
    malformed.
    """
    clauses = [
        {
            int(n): values((tuple(i) for i in intervals), null=bool(null))
            for n, intervals, null in clause
        }
        for clause in data["clauses"]
    ]
    offsets = {str(n): (int(low), int(high)) for n, (low, high) in data["offsets"].items()}
    cuts = {int(n): frozenset(points) for n, points in data["cuts"]}
    return DerivedCertificate(data["condition"], clauses, Zones(str(data["zone"]), offsets), cuts)


VerifiedDerived: TypeAlias = Verified[DerivedCertificate]


class _Refutation:
    """Shows that a condition is not true in some boxes; divides them, up to :data:`MAX_BOXES` in
    all.
    """

    def __init__(self, condition: ExprNode, certificate: DerivedCertificate) -> None:
        self._condition = condition
        self._zones = certificate.zones
        self._ends: dict[int, set[Point]] = defaultdict(set)
        for number, points in (*turns(condition, self._zones), *certificate.cuts.items()):
            self._ends[number].update(points)
        self._boxes_left = 0

    def refutes(self, clause: Mapping[int, ValueSet]) -> bool:
        """Whether the condition is never true on rows for which the clause fails."""
        self._boxes_left = MAX_BOXES
        outside = {number: allowed.complement() for number, allowed in clause.items()}
        return self._empty(outside, [*outside, *(n for n in self._ends if n not in outside)])

    def _empty(self, box: Box, columns: Sequence[int]) -> bool:
        """Whether the condition is true nowhere in a box; the given columns are not yet divided."""
        self._boxes_left -= 1
        if self._boxes_left < 0:
            return False
        if not may_hold(self._condition, self._zones, box):
            return True
        if not columns:
            return False
        number, *others = columns
        parts = _parts(box.get(number, ALL), self._ends.get(number, ()))
        return all(self._empty({**box, number: part}, others) for part in parts)


def turns(node: ExprNode, zones: Zones) -> Iterator[tuple[int, Collection[Point]]]:
    """Yield the columns and values at which functions change pieces; the pieces are unrelated."""
    if node.children and node.entry not in TRUTH_VALUED:
        function = describe_monotone(node, zones)
        if function is not None and function.argument.entry is basics.ATTRIBUTE:
            ends = [end for p in function.pieces for end in p.within if end is not None]
            yield number_of(function.argument), ends
    for child in node.children:
        yield from turns(child, zones)


def _parts(allowed: ValueSet, ends: Collection[Point]) -> Iterator[ValueSet]:
    """Divide a set at these ends."""
    for interval in allowed.intervals:
        for part in _cut(interval, ends):
            yield values([part])
    if allowed.null:
        yield NULL


def _cut(interval: Interval, ends: Collection[Point]) -> Iterator[Interval]:
    low, high = interval
    for end in sorted(ends):
        if not is_empty((low, end)) and not is_empty((end, high)):
            yield low, end
            low = end
    yield low, high
