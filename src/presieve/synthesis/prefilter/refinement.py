# SPDX-License-Identifier: Apache-2.0
"""Untrusted. One candidate after the other, each weaker by a cell that turned out to be needed.

The loop is counterexample-guided: samples, random walks and bounded model checking refute a
candidate; their tables are generalized to a cell of rows that the next candidate keeps.
"""

from __future__ import annotations

from msgspec import Struct

from presieve.ir.ops import sql_conjunction
from presieve.ir.pushdown import Strength
from presieve.ir.terms import SQL_TRUE, Term
from presieve.synthesis import events
from presieve.synthesis.invariant.candidate import (
    CandidateProof,
    Open,
    ProofAttempt,
    Wrong,
    refute,
    try_candidate,
)
from presieve.synthesis.sampling.concrete_tables import accepts_all
from presieve.synthesis.sampling.space import MAX_CELLS
from presieve.synthesis.search import Search
from presieve.synthesis.witness import bmc
from presieve.universe.boxes import cover, excluding

_ROUNDS = 12
_LENGTHS = range(1, 5)
MOST = 0.6
"""The part of the remaining time that a stage may take if others follow."""


class Proven(Struct, frozen=True):
    """A proven candidate, and its strength as far as is known."""

    proof: CandidateProof
    strength: Strength


def refine(search: Search) -> Proven | None:
    """The first candidate that is proved, else the proved parts of the last candidate."""
    tracer, budget = search.tracer, search.budget
    tracer.explore(search.space, search.finding)
    for _ in range(_ROUNDS):
        if search.scaling:
            search.sweep()
        if search.is_weaker():
            tracer.put_back(search.space, search.finding)
            return None
        prefilter = search.candidate()
        if prefilter == SQL_TRUE and not accepts_all(search.space):
            tracer.put_back(search.space, search.finding, "nothing")
            return None
        tracer.propose(search.space, search.finding, prefilter)
        result = _attempt_proof(search, prefilter)
        if isinstance(result, CandidateProof):
            if search.finding.witnessed:
                return Proven(result, "regions")
            tracer.record(events.Weaker("guards"))
            return Proven(result, "universe")
        if not result or budget.is_used_up:
            break
    tracer.put_back(search.space, search.finding, "time" if budget.is_used_up else "resists")
    return None if search.stronger else _of_boxes(search)


def _attempt_proof(search: Search, prefilter: Term) -> CandidateProof | bool:
    """Prove the candidate, or return whether something was learned against it."""
    tried = ProofAttempt(search.gather(), prefilter)
    result = tried.begin()
    if isinstance(result, Open):
        if search.sweep(prefilter) or _model_check(search, prefilter):
            return True
        result = tried.go_on()
    if isinstance(result, Wrong):
        search.tracer.record_refutation(search.space, prefilter, result, "samples")
        learned = search.learn(result)
        search.sweep()
        return learned
    return result if isinstance(result, CandidateProof) else False


def _model_check(search: Search, prefilter: Term) -> bool:
    """Learn from a table that the solver finds against a candidate. True if there was one."""
    space, budget, where = search.space, search.budget, search.space.problem.where
    for rows in _LENGTHS:
        if budget.is_used_up:
            return False
        query = bmc.TableQuery(space, rows, budget.solver(), budget.effort())
        suspect = bmc.wrong_table(query, prefilter, where)
        wrong = refute(space, prefilter, where, [suspect] if suspect else [])
        if wrong is not None:
            search.tracer.record_refutation(space, prefilter, wrong, "solver")
            return search.learn(wrong)
    return False


def _of_boxes(search: Search) -> Proven | None:
    """Exclude single boxes of dropped cells, as the candidate resists; join the proved ones."""
    search.budget.begin(MOST)
    evidence, kept_cells, partitions = (
        search.gather(),
        search.finding.kept_cells,
        search.space.partitions,
    )
    boxes = cover(partitions, [c for c in search.space.cells if c not in kept_cells], kept_cells)
    proofs: list[CandidateProof] = []
    search.tracer.record(events.BoxesTried(len(boxes)))
    for box in boxes if len(boxes) > 1 else []:
        if search.budget.is_used_up:
            break
        part = excluding(partitions, box)
        search.tracer.record(events.Proposed(part))
        result = try_candidate(evidence, part)
        if isinstance(result, CandidateProof):
            proofs.append(result)
    if len(proofs) > 1:
        search.budget.begin(MOST)
        every = sql_conjunction(p.prefilter for p in proofs)
        search.tracer.record(events.Proposed(every))
        joined = try_candidate(evidence, every)
        if isinstance(joined, CandidateProof):
            return Proven(joined, "universe")
    return Proven(proofs[0], "universe") if proofs else None


def keep_all(search: Search) -> Proven | None:
    """Prove that every row may be kept, so that conjuncts over keys can go below."""
    search.budget.begin()
    search.tracer.record(events.Proposed(SQL_TRUE))
    result = try_candidate(search.gather(), SQL_TRUE)
    if not isinstance(result, CandidateProof):
        return None
    needed = (
        search.space.size <= MAX_CELLS
        and search.finding.witnessed
        and search.candidate() == SQL_TRUE
    )
    return Proven(result, "regions" if needed else "universe")
