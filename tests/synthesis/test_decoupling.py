"""The theorem that the search rests on (decoupling, i to iii), by brute force on finite folds.

States, rows and outputs are small numbers, step and finish are tables of them, and every table of
rows up to some length is run. The theorem holds of the tables up to any length, since leaving rows
out only makes them shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, product
from random import Random

import pytest
from tests.support.amount import amount

STATES, ROWS, OUTPUTS = 3, 3, 2
FOLDS = amount(3_000, 3)
NOTHING = None

Table = tuple[int, ...]
Rows = frozenset[int]


@dataclass(frozen=True)
class Finite:
    """A fold and its filter: ``step[state][row]``, ``finish[state]``, outputs that it accepts."""

    step: tuple[tuple[int, ...], ...]
    finish: tuple[int, ...]
    accepted: frozenset[int]
    grouped: bool

    def output(self, table: Table) -> int | None:
        """What the fold gives; nothing for no rows under GROUP BY."""
        if self.grouped and not table:
            return NOTHING
        state = 0
        for row in table:
            state = self.step[state][row]
        return self.finish[state]

    def value(self, table: Table, accepted: frozenset[int] | None = None) -> int | None:
        """What is left of it after the filter, or another."""
        out = self.output(table)
        return out if out in (self.accepted if accepted is None else accepted) else NOTHING


def keep(kept: Rows, table: Table) -> Table:
    return tuple(r for r in table if r in kept)


@cache
def tables(length: int) -> tuple[Table, ...]:
    """All tables up to a length."""
    return tuple(chain.from_iterable(product(range(ROWS), repeat=n) for n in range(length + 1)))


def subsets(n: int) -> list[frozenset[int]]:
    every = (combinations(range(n), k) for k in range(n + 1))
    return [frozenset(x) for x in chain.from_iterable(every)]


def folds() -> Iterator[Finite]:
    random = Random(7)
    for i in range(FOLDS):
        step = tuple(tuple(random.randrange(STATES) for _ in range(ROWS)) for _ in range(STATES))
        finish = tuple(random.randrange(OUTPUTS) for _ in range(STATES))
        accepted = frozenset(o for o in range(OUTPUTS) if random.random() < 0.5)
        yield Finite(step, finish, accepted, grouped=i % 2 == 0)


LONG = 4
"""Length of the tables on which pushdowns are tried."""


def solves(fold: Finite, kept: Rows, residual: frozenset[int]) -> bool:
    """The definition: the pushdown gives the same on every table."""
    return all(fold.value(t) == fold.value(keep(kept, t), residual) for t in tables(LONG))


def removable(fold: Finite, row: int) -> bool:
    """Whether the row can be left out of every table."""
    return all(
        fold.value(t) == fold.value(t[:i] + t[i + 1 :])
        for t in tables(LONG)
        for i, r in enumerate(t)
        if r == row
    )


def found(check: Callable[[Finite], None]) -> None:
    for fold in folds():
        check(fold)


@pytest.mark.random
def test_the_residual_is_a_separate_problem() -> None:
    """(i): (P, r) solves it iff (P, filter) does and both filters agree on outputs of kept rows."""
    seen = {True: 0, False: 0}

    def check(fold: Finite) -> None:
        for kept in subsets(ROWS):
            outputs = {fold.output(t) for t in tables(LONG) if set(t) <= kept} - {NOTHING}
            valid = solves(fold, kept, fold.accepted)
            for residual in subsets(OUTPUTS):
                agree = all((o in residual) == (o in fold.accepted) for o in outputs)
                answer = solves(fold, kept, residual)
                assert answer == (valid and agree), (fold, kept, residual)
                seen[answer] += 1

    found(check)
    assert min(seen.values()) > FOLDS


@pytest.mark.random
def test_a_prefilter_is_valid_iff_all_it_drops_is_removable() -> None:
    """(ii)."""
    seen = {True: 0, False: 0}

    def check(fold: Finite) -> None:
        for kept in subsets(ROWS):
            answer = solves(fold, kept, fold.accepted)
            expected = all(removable(fold, r) for r in range(ROWS) if r not in kept)
            assert answer == expected, (fold, kept)
            seen[answer] += 1

    found(check)
    assert min(seen.values()) > FOLDS


@pytest.mark.random
def test_valid_prefilters_are_closed_and_have_a_strongest() -> None:
    """(iii): under conjunction and weakening; the strongest keeps exactly the needed rows."""
    nontrivial = 0

    def check(fold: Finite) -> None:
        nonlocal nontrivial
        valid = [p for p in subsets(ROWS) if solves(fold, p, fold.accepted)]
        for a in valid:
            assert all(a & b in valid for b in valid), fold
            assert all(c in valid for c in subsets(ROWS) if a <= c), fold
        strongest = frozenset.intersection(*valid)
        assert strongest == {r for r in range(ROWS) if not removable(fold, r)}, fold
        nontrivial += 0 < len(strongest) < ROWS

    found(check)
    assert nontrivial > FOLDS // 20


@pytest.mark.parametrize("grouped", [True, False])
def test_empty_groups_make_the_difference(grouped: bool) -> None:
    """Counting errors and keeping groups with none: dropping the others loses whole groups."""
    count = Finite(((0, 1, 0), (1, 1, 1), (2, 2, 2)), (0, 1, 1), frozenset([0]), grouped)
    assert removable(count, 0) is not grouped
    assert solves(count, frozenset([1]), count.accepted) is not grouped
