# SPDX-License-Identifier: Apache-2.0
"""Untrusted. For each conjunct that stays in a residual, a group that shows that it is needed.

All rows of the group pass the pre-filter. The filter rejects the group, and this conjunct is the
only one that does: without it the group would come through. Most of these groups were met before,
when something weaker was tried in place of the conjunct.
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
from presieve.semantics.fast_interpreter import State, predicates
from presieve.synthesis.events import Group, Stays, discard
from presieve.synthesis.invariant.candidate import Evidence, keeps, post_names
from presieve.synthesis.sampling.concrete_tables import NeededRow, Table, thresholds
from presieve.synthesis.sampling.passing_groups import passing, shrunk
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.witness import bmc
from presieve.synthesis.witness.as_terms import literals

_RANDOM = 60
"""The number of random tables that are run if the tables of the search show nothing."""

_REPEATED, _LONGEST = 12, 300
"""The number of repeated rows, and the maximum number of repetitions."""

_ROWS = range(4)
"""The numbers of rows of a table that the solver is asked for."""

Groups: TypeAlias = dict[int, tuple[Table, State]]
"""By the number of a conjunct: rows and key of a group that only this conjunct rejects."""


class Conjuncts:
    """The conjuncts of a residual on groups of one space, whose filter is ``where``."""

    def __init__(self, space: Space, prefilter: Term, parts: Sequence[Term], where: Term) -> None:
        terms = [app(Op.SQL_IS_TRUE, t) for t in (where, *parts)]
        self.prefilter, self.parts = prefilter, parts
        self._test = predicates(terms, post_names(space))
        self._space, self._kept = space, keeps(space, prefilter)

    def find_sole_rejecter(self, outputs: State, key: State) -> int | None:
        """The number of the conjunct that alone rejects these outputs, which the filter rejects."""
        where, *each = self._test(outputs, key)
        if where or each.count(False) != 1:
            return None
        return each.index(False)

    def groups(self, tables: Iterable[tuple[Table, State]], wanted: set[int]) -> Groups:
        """The first group for each of the wanted conjuncts, made as small as possible."""
        by_conjunct: Groups = {}
        for outputs, rows, key in passing(self._space, self._kept, tables):
            number = self.find_sole_rejecter(outputs, key)
            if number is None or number in by_conjunct or number not in wanted:
                continue
            if not all(self._space.is_admissible(row, key) for row in rows):
                continue
            by_conjunct[number] = self._smallest(number, rows, key), key
            if len(by_conjunct) == len(wanted):
                break
        return by_conjunct

    def _smallest(self, number: int, rows: Table, key: State) -> Table:
        return shrunk(rows, lambda fewer: self.shows(number, fewer, key))

    def shows(self, number: int, rows: Table, key: State) -> bool:
        """Whether these rows pass the pre-filter, and only this conjunct rejects the group."""
        space = self._space
        if not all(self._kept(row, key) for row in rows) or not space.has_result(bool(rows)):
            return False
        state = space.machine.run(rows, key)
        outputs = space.machine.finish(state, key) if state is not None else None
        return outputs is not None and self.find_sole_rejecter(outputs, key) == number


def residual_witnesses(
    space: Space, evidence: Evidence, kind: Kind, prefilter: Term, residual: Term
) -> tuple[ResidualWitness, ...]:
    """A witness for each conjunct of a proven residual, as far as they are found. ``space`` is the
    space of the whole problem, ``evidence`` what the search has run.
    """
    parts = residual_conjuncts(kind, residual)
    by_conjunct = groups(space, evidence, prefilter, parts) if parts else {}
    for number, part in enumerate(parts) if evidence.record is not discard else ():
        rows, key = by_conjunct.get(number, ((), ()))
        group = Group(space.problem, key, rows) if number in by_conjunct else None
        evidence.record(Stays(part, prefilter, _without(parts, number), group))
    return as_literals(space.problem, by_conjunct)


def as_literals(problem: Problem, groups: Groups) -> tuple[ResidualWitness, ...]:
    """These groups as witnesses, in the order of the conjuncts."""
    columns, keys = ([c.sort for c in x] for x in (problem.fold.columns, problem.fold.keys))
    return tuple(
        ResidualWitness(number, literals(key, keys), tuple(literals(r, columns) for r in rows))
        for number, (rows, key) in sorted(groups.items())
    )


def _without(parts: Sequence[Term], number: int) -> Term:
    return sql_conjunction(c for j, c in enumerate(parts) if j != number)


def groups(space: Space, evidence: Evidence, prefilter: Term, parts: Sequence[Term]) -> Groups:
    """A group for each conjunct, as far as they are found: by the tables of the search, lifted to
    the problem if they are of a scaled one, by random ones, or by the solver.
    """
    conjuncts = Conjuncts(space, prefilter, parts, space.problem.where)
    wanted = set(range(len(parts)))
    by_conjunct = conjuncts.groups(evidence.tables, wanted)
    if evidence.scaling and wanted > set(by_conjunct):
        by_conjunct |= _lift_groups(space, evidence, conjuncts, wanted - set(by_conjunct))
    if wanted > set(by_conjunct):
        by_conjunct |= conjuncts.groups(random_tables(space), wanted - set(by_conjunct))
    if wanted > set(by_conjunct):
        by_conjunct |= conjuncts.groups(repeated_rows(space), wanted - set(by_conjunct))
    for number in sorted(wanted - set(by_conjunct)) if not evidence.scaling else ():
        weaker_residual = _without(parts, number)
        for rows in _ROWS:
            query = bmc.TableQuery(space, rows, evidence.solver(), evidence.effort())
            table = bmc.wrong_table(query, prefilter, weaker_residual)
            new_groups = conjuncts.groups([table], {number}) if table else {}
            if new_groups:
                by_conjunct |= new_groups
                break
    return by_conjunct


def _lift_groups(
    space: Space, evidence: Evidence, conjuncts: Conjuncts, wanted: set[int]
) -> Groups:
    """Groups of the scaled problem, with rows repeated until they work for the original one."""
    scaling, scaled = evidence.scaling, evidence.space
    assert scaling is not None
    parts = [scaling.term(c) for c in conjuncts.parts]
    scaled_conjuncts = Conjuncts(
        scaled, conjuncts.prefilter, parts, scaling.term(space.problem.where)
    )
    by_conjunct: Groups = {}
    for number, (rows, key) in scaled_conjuncts.groups(evidence.tables, wanted).items():
        for longer in scaling.repetitions(space, scaled, NeededRow(rows, key, 0)) if rows else ():
            if conjuncts.shows(number, longer.table, key):
                by_conjunct[number] = longer.table, key
                break
    return by_conjunct


def by_running(
    space: Space,
    kind: Kind,
    prefilter: Term,
    residual: Term,
    tables: Sequence[tuple[Table, State]] = (),
) -> tuple[ResidualWitness, ...]:
    """As :func:`residual_witnesses`, with these tables and random ones only."""
    parts = residual_conjuncts(kind, residual)
    conjuncts = Conjuncts(space, prefilter, parts, space.problem.where)
    every = chain(tables, random_tables(space))
    by_conjunct = conjuncts.groups(every, set(range(len(parts)))) if parts else {}
    return as_literals(space.problem, by_conjunct)


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
