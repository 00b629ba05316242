# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``verify``: prove a hand-written pushdown, or refute it by a table."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from functools import cache, partial

from msgspec import Struct

from presieve.certificate import Certificate, Verified, check
from presieve.driver.counterexample import refutation
from presieve.driver.declare import Declared, read_declared, with_declared
from presieve.driver.fold_inputs import TIMEZONE, Inputs, read_filter, read_inputs, zone_note
from presieve.driver.options import Options
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.pure_results import with_results
from presieve.driver.solve import (
    ERASED_TEXT,
    Policy,
    open_assumptions,
    solve,
    strictly,
    too_deep,
)
from presieve.driver.synthesize import synthesis_of
from presieve.errors import Declined, PresieveError
from presieve.ir.assumption_codes import MAY_ERASE_ERROR, NO_NAN
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, Term
from presieve.records import replace
from presieve.report import progress
from presieve.report.verdict import Verdict
from presieve.report.verdict_model import ClaimedPushdown, Counterexample, Repair
from presieve.semantics.assumptions import OPTIONAL
from presieve.smt.solver import Effort

__all__ = ["Asked", "Counterexample", "Verdict", "verify"]

logger = logging.getLogger("presieve")

REPAIR_SECONDS = 3.0
"""Maximum seconds for a search of a repair; most take a few tenths."""

REWRITE = "rewrite that, or leave the filter above the function"
LONGER = (
    "a larger budget may decide it; until then use a pushdown that presieve proves, or leave the"
    " filter above the function"
)
DECLARE = (
    'declare what holds for every row (declare="NOT isnan(x)"), or use policy="assume", which'
    " lists what it assumes"
)
ERASING = 'use policy="default", which lists that, or write a function that does not raise'
CONTRADICTION = "check whether the declarations contradict each other or the schema"
RESULTS = "annotate the function that is declared pure with a narrower type, or do not declare it"


def verify(
    fold: object,
    where: str,
    *,
    schema: str,
    prefilter: str,
    residual: str | None = None,
    returns: str | None = None,
    keys: str | Sequence[str] = (),
    mode: str = "grouped",
    budget: float = 10.0,
    policy: Policy = "default",
    declare: Declared = (),
    pure: PureFunctions = (),
) -> Verdict:
    """Prove a hand-written pushdown, or refute it by a small table. Needs no Spark.

    The obligations follow section 4 of "Optimal Predicate Pushdown Synthesis" (PLDI 2026).

    Args:
        fold: As in :func:`presieve.synthesize`.
        where: The filter on keys and output columns, in Spark SQL.
        schema: The input columns as DDL.
        prefilter: The filter on keys and input columns to check, in Spark SQL.
        residual: The filter that replaces ``where`` above; by default ``where`` stays.
        returns: The output columns as DDL.
        keys: The grouping columns.
        mode: ``"grouped"``, ``"global"`` or ``"row"``.
        budget: Seconds of search.
        policy: The assumptions that a proof may make: ``"default"``, ``"assume"`` or ``"strict"``.
        declare: Conditions in Spark SQL on one column, true for every row.
        pure: Functions that are not read. They are run on a table that refutes the pushdown.

    Raises:
        PresieveError: An argument is invalid.

    Example:
        >>> types = {"schema": "score bigint NOT NULL", "returns": "best bigint"}
        >>> presieve.verify(Best, "best > 90", prefilter="score > 91", **types).status
        'refuted'
    """
    started = time.perf_counter()
    options = Options(budget, policy, declare=declare, pure=pure)
    inputs = read_inputs(fold, schema, returns, keys, mode, pure=read_pure(pure))
    if isinstance(inputs, Declined):
        name = getattr(fold, "__name__", type(fold).__name__)
        claim = ClaimedPushdown(name, where, prefilter, residual, mode, inputs.span)
        return _since(_declined_verdict(inputs), claim, started)
    claim = ClaimedPushdown(inputs.fold.name, where, prefilter, residual, mode, inputs.fold.span)
    return _verify_inputs(inputs, claim, options, started)


def _verify_inputs(
    inputs: Inputs, claim: ClaimedPushdown, options: Options, started: float
) -> Verdict:
    post = read_filter("where", claim.where, inputs.output_names())
    pre = read_filter("prefilter", claim.prefilter, inputs.input_names())
    residual = post
    if claim.residual is not None:
        residual = read_filter("residual", claim.residual, inputs.output_names())
    for term in (post, pre, residual):
        if isinstance(term, Declined):
            return _since(_declined_verdict(term), claim, started)
    assert not isinstance(post, Declined)
    assert not isinstance(pre, Declined)
    assert not isinstance(residual, Declined)
    budget, policy = options.budget, options.policy
    facts = read_declared(options.declare, inputs.input_names(), TIMEZONE)
    bare = inputs.problem(post, [pre, *(fact for _, fact in facts)])
    problem, assumptions = with_declared(bare, facts)
    above = inputs.accepting(residual)
    question = Asked(inputs, problem, assumptions, pre, above, budget, policy)
    with progress.indicator(claim.function, started, budget):
        verdict = _since(question.verdict(), claim, started)
    if verdict.status == "proved":
        return verdict
    search = partial(_search_repair, inputs, claim.where, post, facts, options)
    return replace(verdict, _find_repair=cache(search))


def _since(verdict: Verdict, claim: ClaimedPushdown, started: float) -> Verdict:
    return replace(verdict, claim=claim, seconds=time.perf_counter() - started)


def _declined_verdict(declined: Declined) -> Verdict:
    reasons = [declined.to_json()]
    remedy = f"{REWRITE}; `presieve why {declined.code}` explains it"
    return Verdict("unknown", reason=str(declined), declined=reasons, remedy=remedy)


def _unknown_verdict(reason: str, remedy: str) -> Verdict:
    return Verdict("unknown", reason=reason, remedy=remedy)


class Asked(Struct, frozen=True):
    """A pushdown to verify. ``known`` are assumptions that the caller has declared.

    Its verdict does not contain the claim or the time that it took; the caller adds these.
    """

    inputs: Inputs
    problem: Problem
    known: Collection[Assumption]
    prefilter: Term
    residual: Term
    budget: float
    policy: Policy

    def verdict(self) -> Verdict:
        """Decide whether the pushdown is proved, refuted, or unknown."""
        question = self
        if self.policy == "strict":
            problem = strictly(self.problem, self.known)
            open_ = [a.text for a in open_assumptions(problem, self.known)]
            if open_:
                why = f"policy strict does not assume that {'; '.join(open_)}"
                return _unknown_verdict(why, DECLARE)
            question = replace(self, problem=problem)
        deep = too_deep(question.problem, self.prefilter, self.residual)
        if deep is not None:
            return _declined_verdict(deep)
        verdict = question._judge()
        declared = [{"code": a.code, "text": a.text} for a in self.known]
        return replace(verdict, assumptions=[a for a in verdict.assumptions if a not in declared])

    def _judge(self) -> Verdict:
        # The search loads a solver, and importing this module must not load one.
        from presieve.synthesis.forms import handwritten
        from presieve.synthesis.forms.computed_columns import numbers
        from presieve.synthesis.invariant.candidate import Wrong
        from presieve.synthesis.sampling.space import NO_ROWS

        problem, prefilter, residual = self.problem, self.prefilter, self.residual
        if self.policy != "strict":
            computed_assumptions = numbers(problem, OPTIONAL, NO_NAN)
            problem = replace(problem, assumptions=(*problem.assumptions, *computed_assumptions))
        results = with_results(problem.fold, self.inputs.lifted.calls)
        judgement = handwritten.judge(problem, prefilter, residual, self.budget, results)
        remedies = {NO_ROWS: CONTRADICTION, handwritten.NOT_REPRODUCED: RESULTS}
        match judgement:
            case handwritten.Undecided(reason):
                return _unknown_verdict(reason, remedies.get(reason, LONGER))
            case Wrong():
                shown = refutation(self.inputs.schema, problem, judgement, prefilter, residual)
                return Verdict("refuted", counterexample=shown)
        fewer = strictly(problem)
        if fewer != problem:
            # The proof may not need all assumptions; list only those that it needs.
            again = handwritten.judge(fewer, prefilter, residual, self.budget, results)
            if isinstance(again, handwritten.Invariant):
                proved = self._check_proof(fewer, again.clauses)
                if proved.status == "proved":
                    return proved
        return self._check_proof(problem, judgement.clauses)

    def _check_proof(self, problem: Problem, invariant: tuple[Term, ...]) -> Verdict:
        """Return the checker's verdict on an invariant that should prove the pushdown."""
        prefilter, residual = self.prefilter, self.residual
        kind = _kind(problem, prefilter, residual)
        certificate = Certificate(problem, kind, "universe", prefilter, residual, invariant)
        checked = check(certificate, effort=Effort(seconds=max(self.budget, 1.0)))
        if not isinstance(checked, Verified):
            why = f"the checker did not accept the proof ({checked.condition}: {checked.reason})"
            return _unknown_verdict(why, LONGER)
        if self.policy == "strict" and checked.may_erase_error:
            return _unknown_verdict(f"policy strict: {ERASED_TEXT}", ERASING)
        assumptions = [{"code": a.code, "text": a.text} for a in problem.assumptions]
        if checked.may_erase_error:
            assumptions.append({"code": MAY_ERASE_ERROR, "text": ERASED_TEXT})
        assumptions += zone_note(problem.where, prefilter, residual)
        return Verdict("proved", certificate, assumptions=assumptions)


def _kind(problem: Problem, prefilter: Term, residual: Term) -> Kind:
    """Classify a hand-written pushdown by the form of its predicates."""
    if prefilter == residual == SQL_FALSE:
        return "empty"
    if sql_conjuncts(residual) == ():
        return "exact"
    if residual != problem.where:
        return "split"
    return "none" if prefilter == SQL_TRUE else "partial"


def _search_repair(
    inputs: Inputs, where: str, post: Term, facts: tuple[tuple[str, Term], ...], options: Options
) -> Repair | None:
    """Return the strongest provable pushdown of a filter, whose text is ``where``; None if nothing
    is proved.
    """
    started = time.perf_counter()
    try:
        bare = inputs.problem(post, [fact for _, fact in facts])
        problem, discharged = with_declared(bare, facts)
        budget = min(options.budget, REPAIR_SECONDS)
        solution = solve(problem, budget=budget, policy=options.policy, discharged=discharged)
        synthesis = synthesis_of(inputs, where, solution, started)
    except PresieveError as error:
        # A bug of ours in this search must not hide the verdict.
        logger.warning("the search for a repair failed, please report it", exc_info=error)
        return None
    if synthesis.kind == "none" or synthesis.certificate is None:
        return None
    return Repair(synthesis.kind, synthesis.prefilter, synthesis.residual, synthesis.assumptions)
