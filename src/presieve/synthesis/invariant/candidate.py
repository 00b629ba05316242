# SPDX-License-Identifier: Apache-2.0
"""Untrusted. One candidate pre-filter: tries to prove it, and makes the proof small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from random import Random

from msgspec import Struct

from presieve.ir.fold import Mode
from presieve.ir.ops import app
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, Op, Scope, Term, Var
from presieve.ir.wellformed import output_var
from presieve.records import replace
from presieve.semantics.fast_interpreter import State, agree, predicates
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import Value
from presieve.smt.solver import Effort, Solver
from presieve.smt.two_runs import Runs
from presieve.synthesis import clock
from presieve.synthesis.events import Group, Mined, Minimised, Recorder, Settled, Tried, discard
from presieve.synthesis.forms.count_scaling import CountScaling
from presieve.synthesis.invariant.mining import (
    BACKGROUND,
    FIRST_BACKGROUND,
    Pair,
    background_pairs,
    masker,
    masks,
    mine,
    walk_pairs,
    with_reached,
)
from presieve.synthesis.invariant.prover import Prover, Setup
from presieve.synthesis.residual import weakening
from presieve.synthesis.residual.weakening import Choice, FilterPart, Trial
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.passing_groups import passing
from presieve.synthesis.sampling.space import Space
from presieve.universe.leaves import leaves as all_leaves

MAX_CLAUSES = 2500
"""Larger sets of candidate clauses are not given to the solver at once."""


_TURNS = 4
"""The number of clause sets to try. The pairs that Houdini takes for reachable are samples for the
next set, which has the weaker clauses that hold there, too. The last set also has the clauses that
follow from others, and the clauses that hold on pairs that were really reached, because Houdini may
have taken too much for reachable.
"""


class CandidateProof(Struct, frozen=True):
    """A proven candidate: the residual, and invariant clauses that suffice."""

    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]


class Wrong(Struct, frozen=True):
    """A table on which the candidate gives another result."""

    table: Table
    key: State


class Open(Struct, frozen=True):
    """Neither proved nor refuted."""


@dataclass(frozen=True)
class Evidence:
    """The evidence of one space for every candidate: tables, leaves, background.

    If ``scaling`` is given, tables are of the scaled problem, whose space is ``space``, and leaves
    are of the original one, whose space is ``proved``.
    """

    space: Space
    tables: Sequence[tuple[Table, State]]
    solver: Callable[[], Solver]
    effort: Callable[[], Effort]
    proved: Space
    scaling: CountScaling | None = None
    record: Recorder = discard

    @cached_property
    def leaves(self) -> list[Term]:
        """The leaves of the invariant's universe."""
        return all_leaves(self.proved.problem, self.proved.classes)

    @cached_property
    def _masker(self) -> Callable[[Sequence[Pair]], list[int]]:
        return masker(self.proved, self.leaves)

    @cached_property
    def first_background(self) -> list[int]:
        """For each literal, the pairs of a small arbitrary sample on which it holds."""
        return self._masker(background_pairs(self.proved, Random(1), FIRST_BACKGROUND))

    @cached_property
    def background(self) -> list[int]:
        """For each literal, the arbitrary pairs on which it holds."""
        further_pairs = background_pairs(self.proved, Random(6), BACKGROUND - FIRST_BACKGROUND)
        further_masks = self._masker(further_pairs)
        return [
            a | b << FIRST_BACKGROUND
            for a, b in zip(self.first_background, further_masks, strict=True)
        ]

    def mask_pairs(self, pairs: Sequence[Pair]) -> list[int]:
        """For each literal, the pairs that tables went through on which it holds."""
        if self.scaling:
            return masks(self.space, [self.sample(leaf) for leaf in self.leaves], pairs)
        return self._masker(pairs)

    def sample(self, term: Term) -> Term:
        """Rewrite a term over state or outputs for the problem of the tables."""
        return self.scaling.term(term) if self.scaling else term


def keeps(space: Space, prefilter: Term) -> Callable[[State, State], bool]:
    """Compile the pre-filter to a function of row and key."""
    fold = space.problem.fold
    names = [
        (Scope.ROW, [c.name for c in fold.columns]),
        (Scope.KEY, [c.name for c in fold.keys]),
    ]
    test = predicates([app(Op.SQL_IS_TRUE, prefilter)], names)
    return lambda row, key: bool(test(row, key)[0])


def accepts(space: Space, post: Term) -> Callable[[State, State], bool]:
    """Compile a filter on the output to a function of outputs and key."""
    test = predicates([app(Op.SQL_IS_TRUE, post)], post_names(space))
    return lambda outputs, key: bool(test(outputs, key)[0])


def post_names(space: Space) -> list[tuple[Scope, list[str]]]:
    """The variables that a filter on the output reads: outputs and key."""
    fold = space.problem.fold
    return [
        (Scope.OUT, [o.name for o in fold.outputs]),
        (Scope.KEY, [c.name for c in fold.keys]),
    ]


def refute(
    space: Space, prefilter: Term, post: Term, tables: Sequence[tuple[Table, State]]
) -> Wrong | None:
    """The first of the tables on which pushdown and original differ when run."""
    differ = differs(space, prefilter, post)
    return next((Wrong(table, key) for table, key in tables if differ(table, key)), None)


def differs(space: Space, prefilter: Term, post: Term) -> Callable[[Table, State], bool]:
    """Compile the test whether pushdown and original differ on a group, given its table and key."""
    machine = space.machine
    keeps_row, passes = keeps(space, prefilter), accepts(space, post)
    pushed = replace(machine, accepts=passes)

    def differ(table: Table, key: State) -> bool:
        smaller = tuple(r for r in table if keeps_row(r, key))
        return not agree(machine.outcome(table, key), pushed.outcome(smaller, key))

    return differ


def provers(
    evidence: Evidence,
    prefilter: Term,
    pairs: Sequence[Pair],
    post: Term,
    parts: FilterPart | None = None,
) -> Iterator[Prover | None]:
    """For each set of clauses that is tried, yield the prover in which they prove that the
    pre-filter, with ``post`` above, changes no result; None if they do not. ``pairs`` are the pairs
    that the tables of the evidence went through. ``parts`` are those of the filter, if the residual
    is to be chosen.
    """
    sampled, leaves = evidence.mask_pairs(pairs), evidence.leaves
    problem = evidence.proved.problem
    standins = [x for p in weakening.every(parts) for x in p.standins] if parts else [post]
    reached: list[Sequence[bool]] = []
    for turn in range(_TURNS):
        arbitrary = evidence.background if turn else evidence.first_background
        last = turn == _TURNS - 1
        sample_masks, total = with_reached(sampled, len(pairs), reached)
        surely = sampled if last else None
        clauses = mine(sample_masks, arbitrary, total, reduced=not last, surely=surely)
        sizes = len(evidence.tables), total, len(leaves), len(clauses)
        evidence.record(Mined(*sizes, attempted=len(clauses) <= MAX_CLAUSES))
        if len(clauses) > MAX_CLAUSES:
            yield None
            continue
        runs = Runs(problem, [prefilter, *leaves, *standins])
        setup = Setup(runs, prefilter, leaves, clauses, problem.where, post, parts)
        prover = Prover(setup, evidence.solver(), evidence.effort, evidence.record)
        inductive = prover.houdini()
        final = inductive and prover.final()
        if evidence.record is not discard:
            evidence.record(Settled(prover.terms(prover.active), final if inductive else None))
        yield prover if final else None
        reached += prover.reached


class ProofAttempt:
    """The attempt to prove one candidate, first with the filter itself as residual, then with a
    weaker one.

    It comes in two parts, because other methods may find earlier what is wrong with the candidate.
    """

    def __init__(self, evidence: Evidence, prefilter: Term) -> None:
        self._evidence, self._prefilter = evidence, prefilter
        self._parts = _parts(evidence.proved, prefilter)
        self._pairs: list[Pair] = []
        self._provers: Iterator[Prover | None] = iter(())

    def begin(self) -> CandidateProof | Wrong | Open:
        """Try the known tables, then the likeliest clauses."""
        evidence, prefilter, space = self._evidence, self._prefilter, self._evidence.space
        wrong = refute(space, prefilter, space.problem.where, evidence.tables)
        if wrong is not None:
            return wrong
        self._pairs = walk_pairs(space, keeps(space, prefilter), evidence.tables)
        where = evidence.proved.problem.where
        self._provers = provers(evidence, prefilter, self._pairs, where, self._parts)
        return self._finish_if_proved(next(self._provers))

    def go_on(self) -> CandidateProof | Open:
        """Try the other sets of clauses."""
        return self._finish_if_proved(next(filter(None, self._provers), None))

    def _finish_if_proved(self, prover: Prover | None) -> CandidateProof | Open:
        if prover is None:
            return Open()
        return _finish(self._evidence, self._prefilter, self._parts, prover, self._pairs)


def try_candidate(evidence: Evidence, prefilter: Term) -> CandidateProof | Wrong | Open:
    """Run a whole attempt."""
    full_attempt = ProofAttempt(evidence, prefilter)
    begun = full_attempt.begin()
    return full_attempt.go_on() if isinstance(begun, Open) else begun


def _parts(space: Space, prefilter: Term) -> FilterPart:
    """The parts of the filter, with their possible stand-ins in the residual. If no row is kept, a
    last part is false: the filter may never hold. Under GROUP BY it never does, as no group is
    left; without GROUP BY, the result over no rows may well be accepted.
    """
    where = space.problem.where
    reads = weakening.reads_of(space.problem.fold)
    if prefilter != SQL_FALSE:
        return weakening.parts_of(where, _start(space), reads)
    if space.problem.mode is Mode.GROUPED:
        return weakening.parts_of(SQL_TRUE, {}, never=True)
    return weakening.parts_of(where, _start(space), reads, never=True)


def _start(space: Space) -> dict[Var, Value]:
    """The outputs before any row, for one of the keys."""
    machine, key = space.machine, space.keys[0]
    try:
        outputs = machine.finish(machine.start(key), key)
    except (TypeError, Undefined):
        return {}
    names = [output_var(o.name, o.sort) for o in space.problem.fold.outputs]
    return dict(zip(names, outputs, strict=True)) if outputs is not None else {}


def _finish(
    evidence: Evidence, prefilter: Term, parts: FilterPart, prover: Prover, pairs: Sequence[Pair]
) -> CandidateProof:
    """Choose the residual and keep only the clauses that the proof rests on."""
    space = evidence.space

    def proves(choice: Choice) -> bool:
        return prover.holds(prover.choosing(choice))

    chosen: Choice | None = None
    start: Choice = tuple(p.itself for p in weakening.every(parts))
    if prefilter == SQL_FALSE:
        chosen, start = _never_holds(space, parts, proves), (*start[:-1], None)
    if chosen is None:
        truths = Seen.of(evidence, parts, _outputs(space, pairs))
        chosen, trials = weakening.choose(parts, start, truths.agrees, proves)
        if evidence.record is not discard:
            with clock.free():
                for trial in trials:
                    evidence.record(_trial_event(evidence, prefilter, parts, trial))
    invariant = prover.terms(prover.minimise(prover.choosing(chosen)))
    evidence.record(Minimised(len(prover.active), invariant))
    return CandidateProof(prefilter, weakening.assemble(parts, chosen), invariant)


def _trial_event(evidence: Evidence, prefilter: Term, parts: FilterPart, trial: Trial) -> Tried:
    """Describe a trial, with the first group that refutes it, of the problem or the scaled one."""
    tried = weakening.assemble(parts, trial.whole)
    event = Tried(trial.part.term, trial.standin, prefilter, tried, trial.judged)
    spaces = [(evidence.proved, tried), (evidence.space, evidence.sample(tried))]
    for space, post in spaces if trial.judged == "refuted" else ():
        accepted, where = accepts(space, post), accepts(space, space.problem.where)
        for outputs, rows, key in passing(space, keeps(space, prefilter), evidence.tables):
            if accepted(outputs, key) != where(outputs, key):
                return replace(event, residual=post, group=Group(space.problem, key, rows))
    return event


def _never_holds(
    space: Space, parts: FilterPart, proves: Callable[[Choice], bool]
) -> Choice | None:
    """The choice of a residual that is false, if the filter never holds."""
    last = parts.parts[-1].number
    chosen = tuple(p.itself if p.number in (0, last) else None for p in weakening.every(parts))
    grouped = space.problem.mode is Mode.GROUPED
    return chosen if grouped or proves(chosen) else None


class Seen(Struct, frozen=True):
    """The outputs on which each part of the filter and each of its stand-ins is true: sets as bit
    masks, by the number of the part. ``accepted`` is the mask of the filter.
    """

    parts: FilterPart
    masks: Sequence[Sequence[int]]
    accepted: int
    all: int

    @classmethod
    def of(
        cls, evidence: Evidence, parts: FilterPart, outputs: Sequence[tuple[State, State]]
    ) -> Seen:
        """Evaluate all of them on all outputs, each with its key."""
        space = evidence.space
        each = [[*p.standins, p.term] for p in weakening.every(parts)]
        terms = [app(Op.SQL_IS_TRUE, evidence.sample(t)) for group in each for t in group]
        terms.append(app(Op.SQL_IS_TRUE, space.problem.where))
        test = predicates(terms, post_names(space))
        masks = [0] * len(terms)
        for i, (out, key) in enumerate(outputs):
            for j, value in enumerate(test(out, key)):
                masks[j] |= bool(value) << i
        next_masks = iter(masks)
        grouped = [[next(next_masks) for _ in group] for group in each]
        return cls(parts, grouped, masks[-1], (1 << len(outputs)) - 1)

    def agrees(self, chosen: Choice) -> bool:
        """Whether the residual accepts the same outputs as the filter."""
        return self._true(self.parts, chosen) == self.accepted

    def _true(self, part: FilterPart, chosen: Choice) -> int:
        choice = chosen[part.number]
        if choice is None:
            return self.all
        if choice < part.itself or part.op is None:
            return self.masks[part.number][choice]
        below = [self._true(p, chosen) for p in part.parts]
        if part.op is Op.SQL_AND:
            return reduce(and_, below, self.all)
        return reduce(or_, below, 0)


def _outputs(space: Space, pairs: Sequence[Pair]) -> list[tuple[State, State]]:
    """The distinct outputs of the pre-filtered runs, with the key."""
    outputs_with_key: dict[tuple[State, State], None] = {}
    for _, twin, key in pairs:
        if not space.has_result(bool(twin[-1])):
            continue
        outputs = space.machine.finish(twin[:-1], key)
        if outputs is not None:
            outputs_with_key.setdefault((outputs, key))
    return list(outputs_with_key)
