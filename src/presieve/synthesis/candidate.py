"""Untrusted. One candidate pre-filter: try to prove it, and make the proof small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from presieve.ir.fold import Mode, Problem
from presieve.ir.ops import app
from presieve.ir.terms import SQL_FALSE, Op, Scope, Term
from presieve.semantics.compile import State, agree, predicates
from presieve.smt.runs import Runs
from presieve.smt.solver import Effort, Solver
from presieve.synthesis import residual
from presieve.synthesis.lowering import Lowering
from presieve.synthesis.mining import Pair, background_pairs, clause_term, masks, mine, walk_pairs
from presieve.synthesis.prover import Prover, Setup
from presieve.synthesis.space import Space
from presieve.synthesis.tables import Table
from presieve.universe.leaves import leaves as all_leaves

MAX_CLAUSES = 2500
"""More candidate clauses than this are not given to the solver at once."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A proven candidate: the residual, and invariant clauses that suffice."""

    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A table on which the candidate gives another result."""

    table: Table
    key: State


@dataclass(frozen=True, slots=True)
class Open:
    """Neither proved nor refuted."""


@dataclass(frozen=True)
class Evidence:
    """What one space offers to every candidate: tables, leaves, background.

    Where ``lowering`` is given, tables are of the lowered problem, whose space is ``space``, and
    leaves are of the original one, whose space is ``proved``.
    """

    space: Space
    tables: Sequence[tuple[Table, State]]
    solver: Callable[[], Solver]
    effort: Effort
    proved: Space
    lowering: Lowering | None = None

    @cached_property
    def leaves(self) -> list[Term]:
        """The leaves of the invariant's universe."""
        return all_leaves(self.proved.problem, self.proved.classes)

    @cached_property
    def background(self) -> list[int]:
        """For each literal, the arbitrary pairs on which it holds."""
        pairs = background_pairs(self.proved, Random(1))
        return masks(self.proved, self.leaves, pairs)

    def seen(self, pairs: Sequence[Pair]) -> list[int]:
        """For each literal, the pairs that tables went through on which it holds."""
        return masks(self.space, [self.sampled(leaf) for leaf in self.leaves], pairs)

    def sampled(self, term: Term) -> Term:
        """A term over state or outputs, as it is said of the tables."""
        return self.lowering.term(term) if self.lowering else term


def keeps(space: Space, prefilter: Term) -> Callable[[State, State], bool]:
    """The pre-filter as a function of row and key."""
    fold = space.problem.fold
    names = [
        (Scope.ROW, [c.name for c in fold.columns]),
        (Scope.KEY, [c.name for c in fold.keys]),
    ]
    test = predicates([app(Op.SQL_IS_TRUE, prefilter)], names)
    return lambda row, key: bool(test(row, key)[0])


def accepts(space: Space, post: Term) -> Callable[[State, State], bool]:
    """A filter on the output as a function of outputs and key."""
    fold = space.problem.fold
    names = [
        (Scope.OUT, [o.name for o in fold.outputs]),
        (Scope.KEY, [c.name for c in fold.keys]),
    ]
    test = predicates([app(Op.SQL_IS_TRUE, post)], names)
    return lambda outputs, key: bool(test(outputs, key)[0])


def refute(
    space: Space, prefilter: Term, post: Term, tables: Sequence[tuple[Table, State]]
) -> Wrong | None:
    """The first of the tables on which pushdown and original differ when they are run."""
    machine = space.machine
    kept, passes = keeps(space, prefilter), accepts(space, post)
    pushed = replace(machine, accepts=passes)
    for table, key in tables:
        smaller = tuple(r for r in table if kept(r, key))
        if not agree(machine.outcome(table, key), pushed.outcome(smaller, key)):
            return Wrong(table, key)
    return None


def attempt(evidence: Evidence, prefilter: Term) -> Proof | Wrong | Open:
    """Prove a candidate with the filter itself as residual, then weaken the residual."""
    space = evidence.space
    wrong = refute(space, prefilter, space.problem.where, evidence.tables)
    if wrong is not None:
        return wrong
    pairs = walk_pairs(space, keeps(space, prefilter), evidence.tables)
    seen = evidence.seen(pairs)
    proved = evidence.proved.problem
    for reduced in (True, False):
        clauses = mine(seen, evidence.background, len(pairs), reduced=reduced)
        if len(clauses) > MAX_CLAUSES:
            continue
        options = _options(proved, prefilter)
        setup = Setup(
            Runs(proved, [prefilter, *evidence.leaves, *(v for o in options for v in o)]),
            prefilter,
            evidence.leaves,
            clauses,
            proved.where,
            proved.where,
            options,
        )
        prover = Prover(setup, evidence.solver(), evidence.effort)
        if prover.houdini() and prover.final():
            return _finish(evidence, prefilter, setup, prover, pairs)
    return Open()


def _options(problem: Problem, prefilter: Term) -> list[list[Term]]:
    """What may stand for the clauses of the filter as residual. Where no row is kept, a last clause
    is added that is false: the filter may never hold. Under GROUP BY it does not, as no group is
    left; without, the result of no row at all may well be accepted.
    """
    if prefilter != SQL_FALSE:
        return residual.options_of(problem.where)
    grouped = problem.mode is Mode.GROUPED
    return [*([] if grouped else residual.options_of(problem.where)), [SQL_FALSE]]


def _finish(
    evidence: Evidence, prefilter: Term, setup: Setup, prover: Prover, pairs: Sequence[Pair]
) -> Proof:
    """Choose the residual and keep only the clauses that the proof rests on."""
    space = evidence.space
    outputs = _outputs(space, pairs)
    original = accepts(space, space.problem.where)
    verdicts = [original(out, key) for out, key in outputs]

    def consistent(post: Term) -> bool:
        test = accepts(space, evidence.sampled(post))
        pairs = zip(outputs, verdicts, strict=True)
        return all(test(out, key) == verdict for (out, key), verdict in pairs)

    chosen = _never(space, setup, prover) if prefilter == SQL_FALSE else None
    if chosen is None:
        chosen = residual.choose(setup.variants, consistent, prover)
    needed = prover.minimised(prover.choosing(chosen))
    invariant = tuple(clause_term(setup.leaves, setup.clauses[j]) for j in needed)
    return Proof(prefilter, residual.assemble(setup.variants, chosen), invariant)


def _never(space: Space, setup: Setup, prover: Prover) -> list[int | None] | None:
    """The choice of a residual that is false, where the filter never holds."""
    chosen: list[int | None] = [None] * (len(setup.variants) - 1) + [0]
    grouped = space.problem.mode is Mode.GROUPED
    return chosen if grouped or prover.holds(prover.choosing(chosen)) else None


def _outputs(space: Space, pairs: Sequence[Pair]) -> list[tuple[State, State]]:
    """Outputs of the pre-filtered runs seen, each once, with the key."""
    found: dict[tuple[State, State], None] = {}
    for _, twin, key in pairs:
        if not space.has_result(bool(twin[-1])):
            continue
        outputs = space.machine.finish(twin[:-1], key)
        if outputs is not None:
            found.setdefault((outputs, key))
    return list(found)
