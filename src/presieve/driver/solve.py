# SPDX-License-Identifier: Apache-2.0
"""Trusted. Solve a problem, so that the independent checker accepts the solution."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct, field

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.driver import log
from presieve.errors import Declined
from presieve.ir.assumption_codes import MAY_ERASE_ERROR, MESSAGES, NO_EFFECTS, PURE
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.pushdown import Kind, Pushdown, Strength
from presieve.ir.terms import NONEMPTY, SQL_TRUE, Scope, Term, Var
from presieve.ir.walk import depth, replace_nodes, variables
from presieve.records import replace
from presieve.semantics.assumptions import OPTIONAL
from presieve.smt.solver import Effort

if TYPE_CHECKING:
    from presieve.synthesis.events import EventLog

Policy = Literal["default", "assume", "strict"]
"""The assumptions that a proof may make; under ``"assume"`` any, if they are listed."""

POLICIES: tuple[Policy, ...] = get_args(Policy)

SOURCE_CLAIMS = "source-claims"
CLAIMS_TEXT = "a source applies the filters that it claims to apply as Spark would"
_NONE: Mapping[Assumption, str] = MappingProxyType({})


class Solution(Struct, frozen=True):
    """A proven pushdown of a problem.

    ``prefilter`` is three-valued over ROW and KEY, ``residual`` three-valued over OUT and KEY. If
    ``kind`` is ``none``, they are true and ``problem.where``, ``verified`` is None, and nothing may
    be rewritten. ``seconds`` and ``solver_calls`` cover search and check together.
    """

    problem: Problem
    kind: Kind
    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]
    strength: Strength
    declined: tuple[Declined, ...]
    seconds: float
    solver_calls: int
    verified: Verified[Certificate] | None = None
    known: Mapping[Assumption, str] = field(default_factory=dict)

    @property
    def discharged(self) -> tuple[dict[str, str], ...]:
        """The assumptions of the solution that are known to hold, as ``{"code", "text", "by"}``."""
        return tuple(
            {"code": a.code, "text": a.text, "by": self.known[a]}
            for a in self.problem.assumptions
            if a in self.known
        )

    @property
    def assumptions(self) -> tuple[dict[str, str], ...]:
        """The assumptions of the solution that are not known, as ``{"code", "text"}``."""
        open_ = [a for a in self.problem.assumptions if a not in self.known]
        listed = [{"code": a.code, "text": a.text} for a in open_]
        if self.verified is not None and self.verified.may_erase_error:
            listed.append({"code": MAY_ERASE_ERROR, "text": ERASED_TEXT})
        return tuple(listed) if self.verified is not None else ()


ERASED_TEXT = "an error that a dropped row raises today may disappear"
MAY_ERASE = Declined(MAY_ERASE_ERROR, ERASED_TEXT)
"""Why a rewrite is declined under ``policy="strict"`` that may make an error disappear."""


def solve(
    problem: Problem,
    *,
    budget: float = 10.0,
    policy: Policy = "default",
    discharged: Mapping[Assumption, str] = _NONE,
    event_log: EventLog | None = None,
) -> Solution:
    """Search for a solution, then check it.

    ``budget`` limits the search, in seconds of processor time; it is the last guard. Events are
    appended to ``event_log`` if there is one.

    ``discharged`` are assumptions that are known to hold, and how they are known. Under
    ``policy="strict"`` a solution that rests on another assumption, or that may erase an error, is
    declined.
    """
    started = time.perf_counter()
    deep = too_deep(problem)
    if deep is not None:
        return nothing(problem, (deep,))
    refused: tuple[Declined, ...] = ()
    if policy == "strict":
        refused = tuple(not_assumed(a) for a in open_assumptions(problem, discharged))
        problem = strictly(problem, discharged)
        if open_assumptions(problem, discharged):
            return nothing(problem, refused)
    solution = _search(problem, budget, policy, discharged, event_log)
    if solution.verified is None:
        solution = replace(solution, declined=(*refused, *solution.declined))
    return replace(solution, known=dict(discharged), seconds=time.perf_counter() - started)


MAX_DEPTH = 100
"""Maximum nesting of operators. Functions that walk terms are recursive, and so is Python's own
compiler (200 brackets); both have room for more than this.
"""


def too_deep(problem: Problem, *terms: Term) -> Declined | None:
    """Say why the problem, or one of these terms about it, is too large; None if it is not."""
    fold = problem.fold
    steps = [t for f in fold.fields for t in (f.init, f.step)]
    outputs = [o.term for o in fold.outputs]
    raises = (fold.step_raises, fold.finish_raises)
    if depth(problem.where, *steps, *outputs, *raises, *terms) <= MAX_DEPTH:
        return None
    reason = f"the function or the filter is nested more than {MAX_DEPTH} operators deep"
    return Declined("too-large", reason, fold.span)


_ASSERTED = frozenset((PURE, NO_EFFECTS, MESSAGES))


def open_assumptions(problem: Problem, discharged: Collection[Assumption]) -> list[Assumption]:
    """Return the assumptions that nobody has asserted.

    The caller has asserted those about pure functions, and under the strict policy also those about
    effects; their meaning is listed all the same. Nothing stops for messages.
    """
    return [a for a in problem.assumptions if a not in discharged and a.code not in _ASSERTED]


def not_assumed(assumption: Assumption, policy: Policy = "strict") -> Declined:
    """Say why a proof that rests on this assumption is not used under the policy."""
    reason = f"policy {policy} does not assume that {assumption.text}"
    names = [v.name for v in variables(assumption.term)]
    if assumption.text == f"column {names[0] if names else ''} holds no NaN":
        reason += f'; where it is so, say declare="NOT isnan({names[0]})"'
    return Declined("assumption", reason)


def _search(
    problem: Problem,
    budget: float,
    policy: Policy,
    discharged: Mapping[Assumption, str],
    event_log: EventLog | None,
) -> Solution:
    """Return the first candidate that the checker and the policy accept."""
    # The search loads a solver, and importing this module must not load one.
    from presieve.synthesis.events import Checked, recorder
    from presieve.synthesis.forms.lazy_functions import candidates

    record = recorder(event_log)
    declined: tuple[Declined, ...] = ()
    calls = 0
    for candidate in candidates(problem, OPTIONAL, budget, record):
        calls = max(calls, candidate.solver_calls)
        declined = (*declined, *candidate.declined)
        if candidate.pushdown is None:
            continue
        if policy == "strict":
            refusals = [not_assumed(a) for a in open_assumptions(candidate.problem, discharged)]
            if refusals:
                declined = (*declined, *refusals)
                continue
        certificate = Certificate.of(candidate.problem, candidate.pushdown)
        calls += check_calls(certificate)
        checked = check(certificate, effort=check_effort(budget))
        if isinstance(checked, Rejected):
            declined = (*declined, log.rejection("the checker did not accept a proof", checked))
            record(Checked(candidate.problem, candidate.pushdown, checked.condition))
            continue
        pushdown, weaker = _with_errors(candidate.pushdown, checked, check_effort(budget))
        if weaker is None:
            declined = (*declined, ONLY_ERRORS)
            record(Checked(candidate.problem, pushdown, MAY_ERASE_ERROR))
            continue
        checked = weaker
        if policy == "strict" and checked.may_erase_error:
            declined = (*declined, MAY_ERASE)
            record(Checked(candidate.problem, pushdown, MAY_ERASE_ERROR))
        else:
            record(Checked(candidate.problem, pushdown))
            return solution_of_certificate(checked, candidate.declined, calls)
    return nothing(problem, tuple(dict.fromkeys(declined)), calls)


ONLY_ERRORS = Declined(
    MAY_ERASE_ERROR,
    "the pre-filter that was found drops only rows on which the function raises an error, and these"
    " stay",
)


def _with_errors(
    pushdown: Pushdown, checked: Verified[Certificate], effort: Effort
) -> tuple[Pushdown, Verified[Certificate] | None]:
    """Drop conjuncts of the pre-filter that only drop rows on which the function raises.

    A conjunct is dropped only if the pushdown is proved without it. The proof is None if the whole
    pre-filter drops only such rows.
    """
    from presieve.synthesis.forms.raising_rows import drops_errors_only, weaken_once

    if not checked.may_erase_error:
        return pushdown, checked
    problem = checked.certificate.problem
    if drops_errors_only(problem, SQL_TRUE, pushdown.prefilter):
        return pushdown, None
    for weaker in weaken_once(problem, pushdown):
        again = check(Certificate.of(problem, weaker), effort=effort)
        if isinstance(again, Verified):
            return _with_errors(weaker, again, effort)
    return pushdown, checked


def weaken_solution(
    solution: Solution, unreadable: Mapping[Var, Declined], budget: float
) -> Solution:
    """Return the solution without the conjuncts of its pre-filter that read one of these columns;
    the filters stay as they are. Return it as it is if no other conjunct is left, or if the checker
    does not accept the weaker one.
    """
    conjuncts = sql_conjuncts(solution.prefilter)
    readable = [c for c in conjuncts if unreadable.keys().isdisjoint(variables(c))]
    if len(readable) == len(conjuncts) or not readable:
        return solution
    problem, weaker = solution.problem, sql_conjunction(readable)
    invariant = tuple(
        replace_nodes(t, lambda node: weaker if node == solution.prefilter else None)
        for t in solution.invariant
    )
    pushdown = Pushdown("partial", "universe", weaker, problem.where, invariant)
    checked = check(Certificate.of(problem, pushdown), effort=check_effort(budget))
    if isinstance(checked, Rejected):
        return solution
    read = {v for c in conjuncts for v in variables(c)}
    why = dict.fromkeys(d for v, d in unreadable.items() if v in read)
    calls = solution.solver_calls + check_calls(checked.certificate)
    weakened = solution_of_certificate(checked, (*why, *solution.declined), calls)
    return replace(weakened, known=solution.known, seconds=solution.seconds)


def not_of_all(solution: Solution, others: Sequence[Problem], budget: float) -> Declined | None:
    """Say why a solution may not be used that must also solve these problems; None if it may.

    Each of them is the same problem with a part of the state and of the outputs.
    """
    assert solution.verified is not None
    own = solution.verified.certificate
    for problem in others:
        state = {f.name for f in problem.fold.fields} | {NONEMPTY}
        runs = (Scope.ACC, Scope.TWIN)
        invariant = tuple(
            t
            for t in own.invariant
            if all(v.name in state for v in variables(t) if v.scope in runs)
        )
        same = replace(problem, assumptions=own.problem.assumptions)
        claim = replace(own, problem=same, invariant=invariant, strength="universe")
        claim = replace(claim, witnesses=(), residual_witnesses=())
        if isinstance(check(claim, effort=check_effort(budget)), Rejected):
            return UNREAD
    return None


UNREAD = Declined(
    "unread-raises",
    "a function that the filter does not read may raise, and it is not known whether it is called;"
    " compute it in a separate step",
)


def check_calls(certificate: Certificate) -> int:
    """Count the questions of a check: the premises, four conditions, and the one about errors.

    There is one more for strength, and one for errors of rows that are kept.
    """
    return 6 + (certificate.strength != "universe") + (not certificate.calls_stay)


def check_effort(budget: float) -> Effort:
    """Return the effort for each question of a check, if a search has ``budget`` seconds."""
    return Effort(seconds=max(budget, 1.0))


def strictly(problem: Problem, discharged: Collection[Assumption] = ()) -> Problem:
    """Drop the assumptions that the problem does not need and that are not discharged."""
    assumptions = tuple(a for a in problem.assumptions if a.code not in OPTIONAL or a in discharged)
    return replace(problem, assumptions=assumptions)


def nothing(problem: Problem, declined: tuple[Declined, ...], calls: int = 0) -> Solution:
    """Return a solution that allows no rewrite."""
    where = problem.where
    return Solution(problem, "none", SQL_TRUE, where, (), "universe", declined, 0.0, calls)


def discard_solution(solution: Solution, why: Declined) -> Solution:
    """Return a solution that allows no rewrite although another one was proved."""
    return replace(
        solution,
        kind="none",
        prefilter=SQL_TRUE,
        residual=solution.problem.where,
        invariant=(),
        strength="universe",
        declined=(why, *solution.declined),
        verified=None,
    )


def solution_of_certificate(
    verified: Verified[Certificate], declined: tuple[Declined, ...], calls: int
) -> Solution:
    """Return the solution in a certificate that the checker has accepted."""
    certificate = verified.certificate
    return Solution(
        certificate.problem,
        certificate.kind,
        certificate.prefilter,
        certificate.residual,
        certificate.invariant,
        certificate.strength,
        declined,
        0.0,
        calls,
        verified,
    )
