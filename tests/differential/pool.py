"""Rows of one benchmark, each looked at once: at the constants of fold and filter, and nasty ones.

A group is written as segments, (number of a row, how often it comes); numbers are a pool's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from tests.fuzz import tables
from tests.fuzz.execute import Row, keeps
from tests.fuzz.kinds import value_sort

from presieve.driver.fold_inputs import Inputs
from presieve.ir.fold import Problem
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, strip
from presieve.ir.terms import Op, Term, literal_value
from presieve.ir.walk import literals
from presieve.semantics.scan import may_lose
from presieve.semantics.values import Value, to_python

Segment: TypeAlias = tuple[int, int]
Group: TypeAlias = tuple[Segment, ...]

FAR = 3000
"""A row that comes more often than this stands at the beginning of its group, since what the fold
makes of such a beginning is kept; other segments are run anew."""

_FARTHEST = 30_000_000
_ROWS = 400
_MEANS = 6
_HALVES = 4_000_000
"""Rows of a far group that is made of powers of one half, at most."""


@dataclass
class Pool:
    """The rows met so far. ``lawful``: obeys the assumptions; ``kept``: passes the pre-filter;
    ``losable``: a file scan may lose it although it passes.
    """

    problem: Problem
    inputs: Inputs
    prefilter: Term
    rows: list[Row] = field(default_factory=list)
    users: list[dict[str, object]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    lawful: list[bool] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    losable: list[bool] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._may_lose = app(Op.SOME, may_lose(self.prefilter))
        self._near: dict[str, list[Value]] = {}
        self._others: dict[str, list[Value]] = {}
        for c in self.inputs.schema:
            near, others = tables.values(self.problem, c.type, c.nullable)
            self._near[c.name] = near
            self._others[c.name] = others or near

    def number(self, row: Row) -> int:
        """The number of a row, which is looked at when it is new."""
        text = repr(tuple(row.values()))
        if text not in self._known:
            self._known[text] = len(self.rows)
            self.rows.append(row)
            self.texts.append(text)
            sorts = {c.name: value_sort(c.type) for c in self.inputs.schema}
            self.users.append({n: to_python(v, sorts[n]) for n, v in row.items()})
            lawful = tables.lawful(self.problem, row, {})
            self.lawful.append(lawful)
            self.kept.append(lawful and keeps(row, {}, self.prefilter))
            self.losable.append(lawful and keeps(row, {}, self._may_lose))
        return self._known[text]

    def value(self, random: Random, column: str, strange: float) -> Value:
        """A value for a column: near a constant, or, seldom, any."""
        values = self._others if random.random() < strange else self._near
        return random.choice(values[column])

    def fresh(self, random: Random) -> int:
        """A random row."""
        strange = random.choice((0.0, 0.15, 0.5))
        return self.number({n: self.value(random, n, strange) for n in self._near})

    def beside(self, random: Random, number: int) -> int:
        """The row with one other value: any, or in a column of numbers one that is close by."""
        row = self.rows[number]
        name = random.choice(list(row))
        value = row[name]
        if isinstance(value, int) and not isinstance(value, bool) and random.random() < 0.4:
            near = value + random.choice((-1, 1))
            if -(2**63) <= near < 2**63:
                return self.number({**row, name: near})
        return self.number({**row, name: self.value(random, name, 0.3)})

    def fill(self, random: Random) -> None:
        """Random rows, and each odd value once among usual ones."""
        for _ in range(_ROWS):
            self.fresh(random)
        for name, values in self._others.items():
            for value in values:
                self.number({**self.rows[random.randrange(len(self.rows))], name: value})

    def counts(self) -> list[int]:
        """How many rows a filter may count to: its whole constants, and those beside them."""
        values = [literal_value(x) for x in literals(self.problem.where) if strip(x.sort) == INT]
        whole = [v for v in values if isinstance(v, int) and 1 < v < _FARTHEST]
        return sorted({n for v in whole for n in (v - 1, v, v + 1) if n > 1})

    def far(self, counts: list[int]) -> list[Segment]:
        """A few rows so many of which have a sum that the filter speaks of: those with the roundest
        numbers, whose sums are exact. ``counts`` are those that the filter speaks of.
        """
        sums = [literal_value(x) for x in literals(self.problem.where) if strip(x.sort) == FLOAT]
        totals = {v for v in sums if isinstance(v, float) and 0 < v < 1e12}
        if not counts:
            return []
        span = (counts[0], min(2 * counts[-1], _HALVES))
        means = sorted({t / n for t in totals for n in counts}, key=lambda v: (len(repr(v)), v))
        pairs = [(value, n) for value in means[:_MEANS] for n in counts]
        halves = [(0.5**k, t * 2**k) for t in totals for k in range(10)]
        pairs += [(v, int(n)) for v, n in halves if n.is_integer() and span[0] <= n <= span[1]]
        found = []
        for c in self.inputs.schema:
            if value_sort(c.type) == FLOAT and self.rows:
                row = self.rows[0]
                found += [(self.number({**row, c.name: value}), n) for value, n in pairs]
        return [(number, n) for number, n in found if self.lawful[number]]


def length(group: Group) -> int:
    """How many rows a group has."""
    return sum(times for _, times in group)
