"""Untrusted. Coarser regions for columns that are only carried along.

Of a column that goes into outputs and is looked at by no step, nothing matters but which parts of
the filter its values make true. Regions in which they are the same parts are one: of ``probe > 1``
alone, whatever is less than 1, is 1, or is NULL. Where columns are many, this is the difference
between hundreds of cells and ten thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from presieve.ir.fold import Problem
from presieve.ir.ops import app
from presieve.ir.sorts import Option
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.ir.wellformed import output_var
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value
from presieve.universe.classes import Classes
from presieve.universe.regions import Partition, Region


@dataclass(frozen=True, slots=True)
class Coarse(Partition):
    """A partition whose regions are each several of a ``fine`` one: the ``groups``, by number."""

    fine: Partition
    groups: tuple[frozenset[int], ...]

    def locate(self, value: Value) -> int:
        """See :class:`Partition`."""
        here = self.fine.locate(value)
        return next(n for n, group in enumerate(self.groups) if here in group)

    def member(self, chosen: frozenset[int]) -> Term:
        """See :class:`Partition`."""
        return self.fine.member(frozenset().union(*(self.groups[n] for n in chosen)))


def coarser(
    fine: Partition, classes: Classes, problem: Problem, extra: Sequence[Term] = ()
) -> Partition:
    """The partition with regions joined that neither a step nor the filter tells apart. What the
    ``extra`` predicates speak of stays as it is.
    """
    column = fine.variable
    tests = _tests(fine, classes, problem, extra)
    if tests is None:
        return fine
    found: dict[tuple[Value, ...] | int, list[int]] = {}
    for i, region in enumerate(fine.regions):
        said = {_answers(tests, v) for v in region.samples}
        # What differs within a region was not foreseen: it stays by itself.
        found.setdefault(said.pop() if region.possible and len(said) == 1 else i, []).append(i)
    if len(found) == len(fine.regions):
        return fine
    groups = tuple(frozenset(group) for group in found.values())
    regions = tuple(_joined([fine.regions[i] for i in group]) for group in found.values())
    return Coarse(column, regions, fine, groups)


def _joined(regions: Sequence[Region]) -> Region:
    if len(regions) == 1:
        return regions[0]
    in_turn = chain.from_iterable(zip_longest(*(r.samples for r in regions), fillvalue=_NONE))
    samples = tuple(v for v in in_turn if v is not _NONE)
    return Region("other", None, None, samples, any(r.possible for r in regions))


_NONE = ("no sample",)


def _answers(tests: Sequence[tuple[Term, Var]], value: Value) -> tuple[Value, ...]:
    return tuple(evaluate(t, {(v.scope, v.name): value}) for t, v in tests)


def _tests(
    fine: Partition, classes: Classes, problem: Problem, extra: Sequence[Term]
) -> list[tuple[Term, Var]] | None:
    """What the filter asks of the column's values, each question with the output that they are in.
    None where something else is done with them.
    """
    fold = problem.fold
    kin = {v for v in _variables(problem) if classes.together(v, fine.variable)}
    steps = [t for f in fold.fields for t in (f.init, f.step)]
    terms = [*steps, *(o.term for o in fold.outputs), fold.step_raises, fold.finish_raises]
    # What is assumed of one column says which of its regions are possible, and no more.
    facts = (a.term for a in problem.assumptions if len(variables(a.term)) > 1)
    read = variables(*facts, *extra)
    if any(v.scope is Scope.KEY for v in kin) or not all(_carries(t, kin) for t in terms):
        return None
    if not kin.isdisjoint(read):
        return None
    outputs = {output_var(o.name, o.sort) for o in fold.outputs} & kin
    nullable = any(None in r.samples for r in fine.regions)
    if nullable and not all(isinstance(v.sort, Option) for v in outputs):
        return None
    tests = list(_questions(problem.where))
    if any(len(found) > 1 and kin & found for found in (set(variables(t)) for t, _ in tests)):
        return None
    return [(t, v) for t, v in tests if v in outputs]


def _variables(problem: Problem) -> Iterator[Var]:
    fold = problem.fold
    terms = [t for f in fold.fields for t in (f.init, f.step)]
    terms += [*(o.term for o in fold.outputs), fold.step_raises, fold.finish_raises, problem.where]
    yield from variables(*terms)
    yield from (Var(Scope.ACC, f.name, f.sort) for f in fold.fields)
    yield from (output_var(o.name, o.sort) for o in fold.outputs)


def _carries(term: Term, kin: set[Var]) -> bool:
    """Whether the term does nothing with these variables but to be one of them."""
    match term:
        case App(Op.ITE, (condition, then, other)):
            return not kin & set(variables(condition)) and all(
                _carries(t, kin) for t in (then, other)
            )
        case App(Op.SOME, (inner,)):
            return _carries(inner, kin)
        case App():
            return not kin & set(variables(term))
    return True


def _questions(where: Term) -> Iterator[tuple[Term, Var]]:
    """The parts of a filter of which only matters whether they are true, as large as they come with
    one variable each; of a part with several one for each of these.
    """
    found = variables(where)
    if len(found) == 1:
        yield app(Op.SQL_IS_TRUE, where), found[0]
    elif isinstance(where, App) and where.op in (Op.SQL_AND, Op.SQL_OR):
        single: dict[Var, list[Term]] = {}
        for part in where.args:
            inside = variables(part)
            if len(inside) == 1:
                single.setdefault(inside[0], []).append(part)
            else:
                yield from _questions(part)
        for v, parts in single.items():
            whole = app(where.op, *parts) if len(parts) > 1 else parts[0]
            yield app(Op.SQL_IS_TRUE, whole), v
    else:
        yield from ((where, v) for v in found)
