# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Coarser regions for columns that are only passed on to outputs.

If no step reads a column that goes into outputs, its values only matter by the parts of the filter
that they make true. Regions with the same parts are merged: for ``probe > 1`` alone, values less
than 1, 1 and NULL are one region. With many columns, this makes the difference between hundreds and
tens of thousands of cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain, zip_longest

from presieve.ir.fold import Problem
from presieve.ir.ops import app
from presieve.ir.sorts import Option
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.ir.wellformed import output_var
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value
from presieve.universe.regions import Partition, Region
from presieve.universe.value_classes import Classes


class Coarse(Partition, frozen=True):
    """A partition whose regions are ``groups`` of the regions of a ``fine`` one, by number."""

    fine: Partition
    groups: tuple[frozenset[int], ...]

    def locate(self, value: Value) -> int:
        """See :class:`Partition`."""
        fine_number = self.fine.locate(value)
        return next(n for n, group in enumerate(self.groups) if fine_number in group)

    def member(self, chosen: frozenset[int]) -> Term:
        """See :class:`Partition`."""
        return self.fine.member(frozenset().union(*(self.groups[n] for n in chosen)))


class Coarsening:
    """Merges regions of a problem's columns that neither a step nor the filter distinguishes.

    A column that the ``extra`` predicates read stays as it is.
    """

    def __init__(self, classes: Classes, problem: Problem, extra: Sequence[Term] = ()) -> None:
        fold = problem.fold
        self._classes = classes
        self._kin: dict[Var, dict[Var, None]] = {}
        for v in dict.fromkeys(_variables(problem)):
            self._kin.setdefault(classes.root(v), {})[v] = None
        steps = [t for f in fold.fields for t in (f.init, f.step)]
        terms = [*steps, *(o.term for o in fold.outputs), fold.step_raises, fold.finish_raises]
        self._terms: dict[Var, list[Term]] = {}
        for term in dict.fromkeys(terms):
            for v in variables(term):
                self._terms.setdefault(v, []).append(term)
        # An assumption about a single column only decides which of its regions are possible.
        facts = (a.term for a in problem.assumptions if len(variables(a.term)) > 1)
        self._read = set(variables(*facts, *extra))
        self._outputs = {output_var(o.name, o.sort) for o in fold.outputs}
        self._tests: dict[Var, list[Term]] = {}
        for test, v in _questions(problem.where):
            self._tests.setdefault(v, []).append(test)

    def coarser(self, fine: Partition) -> Partition:
        """Return a column's partition with merged regions, or the same one."""
        tests = self._tests_of(fine)
        return fine if tests is None else _merge_regions(fine, tests)

    def _tests_of(self, fine: Partition) -> list[tuple[Term, Var]] | None:
        """Return the filter's tests of the column's values, each with the output that holds them.

        Return None if the column is used in any other way.
        """
        kin = self._kin.get(self._classes.root(fine.variable), {}).keys()
        terms = (t for v in kin for t in self._terms.get(v, ()))
        if any(v.scope is Scope.KEY for v in kin) or not all(_carries(t, kin) for t in terms):
            return None
        if not kin.isdisjoint(self._read):
            return None
        outputs = self._outputs & kin
        nullable = any(None in r.samples for r in fine.regions)
        if nullable and not all(isinstance(v.sort, Option) for v in outputs):
            return None
        tests = [(t, v) for v in kin for t in self._tests.get(v, ())]
        if any(len(variables(t)) > 1 for t, _ in tests):
            return None
        return [(t, v) for t, v in tests if v in outputs]


def _merge_regions(fine: Partition, tests: Sequence[tuple[Term, Var]]) -> Partition:
    numbers_by_answers: dict[tuple[Value, ...] | int, list[int]] = {}
    for i, region in enumerate(fine.regions):
        answers = {_answers(tests, v) for v in region.samples}
        # An unforeseen difference within a region: the region stays by itself.
        numbers_by_answers.setdefault(
            answers.pop() if region.possible and len(answers) == 1 else i, []
        ).append(i)
    if len(numbers_by_answers) == len(fine.regions):
        return fine
    groups = tuple(frozenset(group) for group in numbers_by_answers.values())
    regions = tuple(
        _join_regions([fine.regions[i] for i in group]) for group in numbers_by_answers.values()
    )
    return Coarse(fine.variable, regions, fine, groups)


def _join_regions(regions: Sequence[Region]) -> Region:
    if len(regions) == 1:
        return regions[0]
    in_turn = chain.from_iterable(zip_longest(*(r.samples for r in regions), fillvalue=_NONE))
    samples = tuple(v for v in in_turn if v is not _NONE)
    return Region("other", None, None, samples, any(r.possible for r in regions))


_NONE = ("no sample",)


def _answers(tests: Sequence[tuple[Term, Var]], value: Value) -> tuple[Value, ...]:
    return tuple(evaluate(t, {(v.scope, v.name): value}) for t, v in tests)


def _variables(problem: Problem) -> Iterator[Var]:
    fold = problem.fold
    terms = [t for f in fold.fields for t in (f.init, f.step)]
    terms += [*(o.term for o in fold.outputs), fold.step_raises, fold.finish_raises, problem.where]
    yield from variables(*terms)
    yield from (Var(Scope.ACC, f.name, f.sort) for f in fold.fields)
    yield from (output_var(o.name, o.sort) for o in fold.outputs)


def _carries(term: Term, kin: Set[Var]) -> bool:
    """Whether the term uses these variables only by being equal to one of them."""
    match term:
        case App(Op.ITE, (condition, then, otherwise)):
            return not kin & set(variables(condition)) and all(
                _carries(t, kin) for t in (then, otherwise)
            )
        case App(Op.SOME, (inner,)):
            return _carries(inner, kin)
        case App():
            return not kin & set(variables(term))
    return True


def _questions(where: Term) -> Iterator[tuple[Term, Var]]:
    """Yield the parts of a filter for which only their truth matters, each with its variable.

    The parts are as large as possible with one variable each. A part with several variables is
    yielded once for each of these.
    """
    variables_read = variables(where)
    if len(variables_read) == 1:
        yield app(Op.SQL_IS_TRUE, where), variables_read[0]
    elif isinstance(where, App) and where.op in (Op.SQL_AND, Op.SQL_OR):
        single: dict[Var, list[Term]] = {}
        for part in where.args:
            inside = variables(part)
            if len(inside) == 1:
                single.setdefault(inside[0], []).append(part)
            else:
                yield from _questions(part)
        for v, parts in single.items():
            joined = app(where.op, *parts) if len(parts) > 1 else parts[0]
            yield app(Op.SQL_IS_TRUE, joined), v
    else:
        yield from ((where, v) for v in variables_read)
