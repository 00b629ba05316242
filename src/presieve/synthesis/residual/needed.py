"""Untrusted. For each conjunct that stays in a residual, a group that shows that it is needed.

All rows of the group pass the pre-filter. The filter rejects the group, and of the conjuncts it is
this one alone that does: so without it the group would come through. Most of these groups were
met before, when something weaker was tried in the conjunct's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from random import Random
from typing import TypeAlias

from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.pushdown import Kind, ResidualWitness, residual_conjuncts
from presieve.ir.terms import Op, Term
from presieve.semantics.compile import State, predicates
from presieve.synthesis.events import Group, Stays, discard
from presieve.synthesis.invariant.candidate import Evidence, keeps, post_names
from presieve.synthesis.sampling.passing import passing, shrunk
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.sampling.tables import Need, Table, thresholds
from presieve.synthesis.witness import bmc
from presieve.synthesis.witness.as_terms import literals

_RANDOM = 60
"""Random tables that are run where those of the search do not tell."""

_REPEATED, _LONGEST = 12, 300
"""Rows that are repeated, and how often at most."""

_ROWS = range(4)
"""Rows of a table that the solver is asked for."""

Groups: TypeAlias = dict[int, tuple[Table, State]]
"""For conjuncts, by number, rows and key of a group that only they reject."""


class Conjuncts:
    """The conjuncts of a residual on groups of one space, whose filter is ``where``."""

    def __init__(self, space: Space, prefilter: Term, parts: Sequence[Term], where: Term) -> None:
        terms = [app(Op.SQL_IS_TRUE, t) for t in (where, *parts)]
        self.prefilter, self.parts = prefilter, parts
        self._test = predicates(terms, post_names(space))
        self._space, self._kept = space, keeps(space, prefilter)

    def alone(self, outputs: State, key: State) -> int | None:
        """The number of the conjunct that alone rejects these outputs, as the filter does."""
        where, *each = self._test(outputs, key)
        if where or each.count(False) != 1:
            return None
        return each.index(False)

    def groups(self, tables: Iterable[tuple[Table, State]], wanted: set[int]) -> Groups:
        """The first group for each of the wanted conjuncts, as small as it comes."""
        found: Groups = {}
        for outputs, rows, key in passing(self._space, self._kept, tables):
            number = self.alone(outputs, key)
            if number is None or number in found or number not in wanted:
                continue
            if not all(self._space.is_admissible(row, key) for row in rows):
                continue
            found[number] = self._smallest(number, rows, key), key
            if len(found) == len(wanted):
                break
        return found

    def _smallest(self, number: int, rows: Table, key: State) -> Table:
        return shrunk(rows, lambda fewer: self.shows(number, fewer, key))

    def shows(self, number: int, rows: Table, key: State) -> bool:
        """Whether rows that pass are rejected by this conjunct alone."""
        space = self._space
        if not all(self._kept(row, key) for row in rows) or not space.has_result(bool(rows)):
            return False
        state = space.machine.run(rows, key)
        outputs = space.machine.finish(state, key) if state is not None else None
        return outputs is not None and self.alone(outputs, key) == number


def residual_witnesses(
    space: Space, seen: Evidence, kind: Kind, prefilter: Term, residual: Term
) -> tuple[ResidualWitness, ...]:
    """A witness for each conjunct of a proven residual, as far as they are found. ``space`` is that
    of the whole problem, ``seen`` what the search has run.
    """
    parts = residual_conjuncts(kind, residual)
    found = groups(space, seen, prefilter, parts) if parts else {}
    for number, part in enumerate(parts) if seen.record is not discard else ():
        rows, key = found.get(number, ((), ()))
        group = Group(space.problem, key, rows) if number in found else None
        seen.record(Stays(part, prefilter, _without(parts, number), group))
    return as_literals(space.problem, found)


def as_literals(problem: Problem, groups: Groups) -> tuple[ResidualWitness, ...]:
    """These groups, in the order of the conjuncts."""
    columns, keys = ([c.sort for c in x] for x in (problem.fold.columns, problem.fold.keys))
    return tuple(
        ResidualWitness(number, literals(key, keys), tuple(literals(r, columns) for r in rows))
        for number, (rows, key) in sorted(groups.items())
    )


def _without(parts: Sequence[Term], number: int) -> Term:
    return sql_conjunction(c for j, c in enumerate(parts) if j != number)


def groups(space: Space, seen: Evidence, prefilter: Term, parts: Sequence[Term]) -> Groups:
    """A group for each conjunct, as far as they are found: by the tables of the search, lifted to
    the problem where they are of a scaled one, by random ones, or by the solver.
    """
    asked = Conjuncts(space, prefilter, parts, space.problem.where)
    wanted = set(range(len(parts)))
    found = asked.groups(seen.tables, wanted)
    if seen.scaling and wanted > set(found):
        found |= _lifted(space, seen, asked, wanted - set(found))
    if wanted > set(found):
        found |= asked.groups(random_tables(space), wanted - set(found))
    if wanted > set(found):
        found |= asked.groups(repeated_rows(space), wanted - set(found))
    for number in sorted(wanted - set(found)) if not seen.scaling else ():
        rest = _without(parts, number)
        for rows in _ROWS:
            query = bmc.TableQuery(space, rows, seen.solver(), seen.effort())
            table = bmc.wrong_table(query, prefilter, rest)
            more = asked.groups([table], {number}) if table else {}
            if more:
                found |= more
                break
    return found


def _lifted(space: Space, seen: Evidence, asked: Conjuncts, wanted: set[int]) -> Groups:
    """Groups of the scaled problem, their rows repeated until they show it of the original one."""
    scaling, scaled = seen.scaling, seen.space
    assert scaling is not None
    parts = [scaling.term(c) for c in asked.parts]
    there = Conjuncts(scaled, asked.prefilter, parts, scaling.term(space.problem.where))
    found: Groups = {}
    for number, (rows, key) in there.groups(seen.tables, wanted).items():
        for longer in scaling.repetitions(space, scaled, Need(rows, key, 0)) if rows else ():
            if asked.shows(number, longer.table, key):
                found[number] = longer.table, key
                break
    return found


def by_running(
    space: Space,
    kind: Kind,
    prefilter: Term,
    residual: Term,
    tables: Sequence[tuple[Table, State]] = (),
) -> tuple[ResidualWitness, ...]:
    """As :func:`residual_witnesses`, by these tables and random ones alone."""
    parts = residual_conjuncts(kind, residual)
    asked = Conjuncts(space, prefilter, parts, space.problem.where)
    every = chain(tables, random_tables(space))
    found = asked.groups(every, set(range(len(parts)))) if parts else {}
    return as_literals(space.problem, found)


def repeated_rows(space: Space) -> Iterator[tuple[Table, State]]:
    """Tables of one row, repeated as often as the filter counts."""
    random = Random(9)
    longest = max((n for n in thresholds(space) if n <= _LONGEST), default=0)
    for _ in range(_REPEATED if longest else 0):
        yield (space.random_row(random),) * (longest + 1), random.choice(space.keys)


def random_tables(space: Space) -> Iterator[tuple[Table, State]]:
    """Tables of one to five random rows."""
    random = Random(8)

    def tables() -> Iterator[tuple[Table, State]]:
        while True:
            yield space.random_table(random, random.randint(1, 5)), random.choice(space.keys)

    return islice(tables(), _RANDOM)
