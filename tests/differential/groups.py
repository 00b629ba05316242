"""Random groups of rows that a filter is likely to accept, or only just rejects.

Groups that were accepted are kept and changed a little (the neighbours of a boundary are where a
pre-filter goes wrong); the rest are random, few different rows at a time so that ties happen, or
long ones around the numbers that a filter counts to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.differential.pool import FAR, Group, Pool, Segment, length

from presieve.certificate import Certificate
from presieve.ir.terms import literal_value
from presieve.smt.solver import Effort
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.witness import bmc

_BANK = 400
_LONGEST = 1500
"""Rows of a group that is not far, at most."""

_BMC_ROWS = range(1, 6)


@dataclass
class Groups:
    """A source of groups. Call :meth:`accepted` with those that the filter accepts."""

    random: Random
    pool: Pool
    seeds: Sequence[Group] = ()
    bank: list[Group] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.pool.fill(self.random)
        self._first = len(self.pool.rows)
        self._odd = [i for i in range(self._first) if not self.pool.lawful[i]]
        self._lawful = [i for i in range(self._first) if self.pool.lawful[i]]
        self._dropped = [i for i in self._lawful if not self.pool.kept[i]] or self._lawful
        counts = self.pool.counts()
        self._near_counts = [n for n in counts if n <= FAR]
        self._far_counts = [n for n in counts if n > FAR]
        plain = [*self._lawful[:2], *self._dropped[:1]]
        self._far = self.pool.far(self._far_counts) or [
            (number, n) for number in plain for n in self._far_counts
        ]

    def accepted(self, group: Group, told: str) -> None:
        """Keep a group that the filter accepts; those with a new output in any case."""
        new = told not in self.seen
        if new and len(self.seen) < 10_000:
            self.seen.add(told)
        if len(self.bank) < _BANK:
            self.bank.append(group)
        elif new or self.random.random() < 0.05:
            self.bank[self.random.randrange(_BANK)] = group

    def next(self) -> Group:
        """One more group."""
        draw = self.random.random()
        if draw < 0.55 and (self.bank or self.seeds):
            return self._changed()
        if draw < 0.65 and self._near_counts:
            return self._counted()
        if draw < 0.70 and self._far:
            return (self.random.choice(self._far), *self._plain())
        return self._plain()

    def _row(self) -> int:
        draw = self.random.random()
        if draw < 0.01 and self._odd:
            return self.random.choice(self._odd)
        return self.random.choice(self._dropped if draw < 0.3 else self._lawful)

    def _plain(self) -> Group:
        """A short group of few different rows."""
        random = self.random
        size = random.choice(
            (0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 8, random.randint(9, 25))
        )
        few = [self._row() for _ in range(random.choice((1, 2, 3, 4, size or 1)))]
        return tuple((random.choice(few), 1) for _ in range(size))

    def _counted(self) -> Group:
        """Segments as long as the filter counts, or one row less or more, with others between."""
        random = self.random
        segments: list[Segment] = []
        for _ in range(random.choice((1, 1, 2, 2, 3))):
            segments.append((self._row(), random.choice(self._near_counts)))
            segments += [(self._row(), 1) for _ in range(random.choice((0, 0, 1, 3)))]
        random.shuffle(segments)
        return _short(segments)

    def _changed(self) -> Group:
        """An accepted group with one to three changes."""
        random = self.random
        if self.seeds and (not self.bank or random.random() < 0.1):
            group = random.choice(self.seeds)
        else:
            group = random.choice(self.bank)
        far = group[:1] if group and group[0][1] > FAR else ()
        rest = list(group[len(far) :])
        for _ in range(random.choice((1, 1, 2, 3))):
            random.choice(self._changes)(self, rest)
        if far and random.random() < 0.3:
            same = [segment for segment in self._far if segment[0] == far[0][0]]
            far = (random.choice(same or far),)
        return (*far, *_short(rest))

    def _leave_out(self, rest: list[Segment]) -> None:
        if rest:
            del rest[self.random.randrange(len(rest))]

    def _leave_few(self, rest: list[Segment]) -> None:
        """What is left is short: accepted groups grow when they are joined."""
        few = sorted(
            self.random.sample(range(len(rest)), min(len(rest), self.random.randint(1, 5)))
        )
        rest[:] = [rest[i] for i in few]

    def _insert(self, rest: list[Segment]) -> None:
        rest.insert(self.random.randint(0, len(rest)), (self._row(), 1))

    def _insert_dropped(self, rest: list[Segment]) -> None:
        number = self.random.choice(self._dropped)
        rest.insert(self.random.randint(0, len(rest)), (number, self.random.choice((1, 1, 2))))

    def _beside(self, rest: list[Segment]) -> None:
        """One value of one row changes."""
        if rest:
            at = self.random.randrange(len(rest))
            number, times = rest[at]
            rest[at] = (self.pool.beside(self.random, number), times)

    def _insert_beside(self, rest: list[Segment]) -> None:
        """A row with one other value joins the row."""
        if rest:
            at = self.random.randrange(len(rest))
            number = self.pool.beside(self.random, rest[at][0])
            rest.insert(at + self.random.choice((0, 1)), (number, 1))

    def _more_or_less(self, rest: list[Segment]) -> None:
        if rest:
            at = self.random.randrange(len(rest))
            number, times = rest[at]
            rest[at] = (number, max(1, times + self.random.choice((-1, 1))))

    def _exchange(self, rest: list[Segment]) -> None:
        if len(rest) > 1:
            a, b = self.random.sample(range(len(rest)), 2)
            rest[a], rest[b] = rest[b], rest[a]

    def _join(self, rest: list[Segment]) -> None:
        """Another accepted group follows."""
        if self.bank:
            other = self.random.choice(self.bank)
            if not (other and other[0][1] > FAR):
                rest += other

    _changes: Sequence[Callable[[Groups, list[Segment]], None]] = (
        _leave_out,
        _leave_few,
        _insert,
        _insert_dropped,
        _insert_dropped,
        _beside,
        _insert_beside,
        _more_or_less,
        _exchange,
        _join,
    )


def _short(segments: Sequence[Segment]) -> Group:
    """As much of the beginning as is not too long."""
    found: list[Segment] = []
    for segment in segments:
        if length((*found, segment)) > _LONGEST:
            continue
        found.append(segment)
    return tuple(found)


def witnessed(pool: Pool, certificate: Certificate) -> list[Group]:
    """The tables that come with a certificate, and each without its needed row."""
    fold = certificate.problem.fold
    names = [c.name for c in fold.columns]
    missing = [c for c in pool.inputs.schema if c.name not in names]
    plain = {c.name: pool.rows[0][c.name] for c in missing} if pool.rows else {}
    found: list[Group] = []
    for witness in certificate.witnesses:
        numbers = []
        for row in witness.rows:
            values = dict(zip(names, map(literal_value, row), strict=True))  # type: ignore[arg-type]
            here = {c.name: {**plain, **values}[c.name] for c in pool.inputs.schema}
            numbers.append(pool.number(here))
        for numbers_left in (numbers, numbers[: witness.index] + numbers[witness.index + 1 :]):
            found.append(_segments(numbers_left))
    return list(dict.fromkeys(found))


def modelled(pool: Pool, seconds: float) -> list[Group]:
    """Accepted tables that the solver finds, as far as it finds some."""
    space = Space(pool.problem)
    names = [c.name for c in pool.problem.fold.columns]
    found = []
    for rows in _BMC_ROWS:
        answer = bmc.accepted_table(
            bmc.TableQuery(space, rows, Z3Solver(), Effort(seconds=seconds))
        )
        if answer is not None:
            table, _ = answer
            plain = pool.rows[0]
            numbers = [
                pool.number({**plain, **dict(zip(names, row, strict=True))}) for row in table
            ]
            found.append(_segments(numbers))
    return found


def _segments(numbers: Sequence[int]) -> Group:
    found: list[Segment] = []
    for number in numbers:
        if found and found[-1][0] == number:
            found[-1] = (number, found[-1][1] + 1)
        else:
            found.append((number, 1))
    return tuple(found)
