# SPDX-License-Identifier: Apache-2.0
"""Trusted. Decides what happens to conditions on data that a proof rests on and that are not known.

Under the policy ``default`` no rewrite relies on such a condition. Before the search, the
conditions that plan, schema and footers imply are discharged. The remaining ones are checked
against the data if that is cheap and the answer can be stored. Otherwise a guarded plan uses the
pre-filter only if the conditions hold. If there is none, the search runs again without the
conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.certificate.checker import make_solver
from presieve.driver.declare import follows_from
from presieve.driver.options import Cost
from presieve.driver.solve import Solution, discard_solution, not_assumed, strictly
from presieve.driver.stages.datachecks import run_check
from presieve.errors import Declined
from presieve.ir.assumption_codes import BY_GUARD, EXACT_INT
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import app, negate, sql_conjuncts, sql_disjunction
from presieve.ir.sorts import Option
from presieve.ir.terms import SQL_TRUE, TRUE, Op, Scope, Term
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.assumptions import ABOUT_CODE
from presieve.semantics.scan import may_lose
from presieve.semantics.smart_constructors import and_, is_none
from presieve.smt.smtlib import s_not, s_or
from presieve.smt.solver import Effort, Unsat
from presieve.smt.two_runs import Runs

if TYPE_CHECKING:
    from presieve.backend.open_plan import Opened
    from presieve.backend.problems.problem import SiteProblem
    from presieve.backend.rewrite import SiteEdit
    from presieve.backend.statistics.facts import Fact

BY_ITSELF = "what the function does"
"""The evidence for a condition that holds of every possible row."""


class Grounded(Struct, frozen=True):
    """A solution that rests only on known conditions, and the edit that guards it, if any."""

    solution: Solution
    guard: SiteEdit | None = None


class SolutionSite(Struct, frozen=True):
    """The site at which a solution is to be used.

    ``search`` solves another problem of the same site, and ``cost`` says whether data may be read
    now: where that pays off, always or never.
    """

    opened: Opened
    site: SiteProblem
    search: Search
    cost: Cost

    def may_look(self, solution: Solution, breaking: Term) -> bool:
        """Whether to look for rows that are ``breaking`` a condition of the solution."""
        if self.cost != "auto":
            return self.cost == "always"
        from presieve.backend.statistics.edits import check_pays

        return check_pays(self.opened, self.site, solution.prefilter, breaking)


Known = Mapping[Assumption, str]
Search = Callable[[Problem, Known], Solution | Declined]


def ground_solution(place: SolutionSite, solution: Solution) -> Grounded:
    """Return the solution if all conditions that it rests on are known.

    Otherwise return the first of these that exists: the solution with its conditions discharged by
    a check of the data; a guarded plan, unless many rows violate a condition; a solution without
    the conditions; nothing.
    """
    open_ = conditions(solution)
    if not open_:
        return Grounded(solution)
    breaking = _breaking(place.site, solution, open_)
    if isinstance(breaking, Declined):
        return Grounded(without_conditions(solution, place.search, breaking))
    from presieve.backend.open_plan import data_check
    from presieve.backend.statistics.data_check import FEW

    look = place.may_look(solution, breaking)
    check = data_check(place.opened, place.site, breaking) if look else None
    count = run_check(check) if check is not None else None
    if count is not None and count.rows == 0:
        evidence = {**solution.known, **dict.fromkeys(open_, count.by)}
        return Grounded(replace(solution, known=evidence))
    if count is not None and count.rows > FEW:
        why = why_refused(open_)
        many = f"{why.reason}; more than {FEW:,} rows break that ({count.by})"
        why = replace(why, reason=many)
        return Grounded(without_conditions(solution, place.search, why))
    guarded = _guard_plan(place, solution, open_, breaking)
    if isinstance(guarded, Grounded):
        return guarded
    return Grounded(without_conditions(solution, place.search, guarded))


def without_conditions(solution: Solution, search: Search, why: Declined) -> Solution:
    """Search for a solution without the unknown conditions, which ``why`` names.

    If there is none, return a solution that is not used.
    """
    bare = strictly(solution.problem, solution.known)
    again = search(bare, solution.known) if bare != solution.problem else why
    if isinstance(again, Solution) and not conditions(again):
        return replace(again, declined=(why, *again.declined))
    return discard_solution(solution, why)


def conditions(solution: Solution) -> tuple[Assumption, ...]:
    """Return the assumptions about data that the solution makes and that are not known to hold."""
    if solution.verified is None:
        return ()
    return tuple(
        a
        for a in solution.problem.assumptions
        if a not in solution.known and a.code not in ABOUT_CODE
    )


def discharge_assumptions(problem: Problem, facts: Sequence[Fact]) -> dict[Assumption, str]:
    """Return the assumptions that follow from facts about every row, with the evidence."""
    bare = replace(problem, assumptions=tuple(Assumption("known", f.by, f.term) for f in facts))
    evidence: dict[Assumption, str] = {}
    for a in problem.assumptions:
        if a.term != TRUE and follows_from(bare, a):
            read = set(variables(a.term))
            about = (f.by for f in facts if not read.isdisjoint(variables(f.term)))
            evidence[a] = " and ".join(dict.fromkeys(about)) or BY_ITSELF
    return evidence


def without_needless(
    problem: Problem, known: Collection[Assumption], facts: Sequence[Fact] = ()
) -> Problem:
    """Leave out assumptions that are not ``known`` and do not matter: pandas rounds integers only
    beside a NULL, which what is known and the facts may exclude.
    """
    shown = (*known, *(Assumption("known", f.by, f.term) for f in facts))
    context = replace(problem, assumptions=shown)
    needed = (a for a in problem.assumptions if a in known or not _is_needless(context, a))
    return replace(problem, assumptions=tuple(needed))


def _is_needless(context: Problem, assumption: Assumption) -> bool:
    if assumption.code != EXACT_INT:
        return False
    options = [v for v in variables(assumption.term) if isinstance(v.sort, Option)]
    not_null = (negate(is_none(v)) for v in options)
    return bool(options) and follows_from(context, Assumption("known", "", and_(*not_null)))


def _breaking(
    site: SiteProblem, solution: Solution, open_: Collection[Assumption]
) -> Term | Declined:
    """Return a predicate, which a scan may be handed, for rows that violate open conditions."""
    if not sql_conjuncts(solution.prefilter):
        return why_refused(open_)  # nothing is pushed that would be worth a check or a guard
    broken = breaks(solution.problem, open_)
    if isinstance(broken, Declined) or site.boundary.kind != "Project":
        return broken
    # For scalar functions, one scan is handed both filters; otherwise there is one scan for each.
    both = app(Op.SQL_OR, solution.prefilter, broken)
    return broken if covers(solution.problem, open_, both) else why_refused(open_)


def _guard_plan(
    place: SolutionSite, solution: Solution, open_: Collection[Assumption], breaking: Term
) -> Grounded | Declined:
    """Build the guarded plan of a solution, or say why there is none."""
    from presieve.backend.open_plan import plan_guarded

    about = variables(*(a.term for a in open_))
    edit = plan_guarded(place.opened, place.site, solution.prefilter, breaking, about)
    if isinstance(edit, Declined):
        reason = f"{why_refused(open_).reason}; no plan can guard that: {edit.reason}"
        return Declined("assumption", reason, edit.span)
    evidence = {**solution.known, **dict.fromkeys(open_, BY_GUARD)}
    return Grounded(replace(solution, kind="partial", known=evidence), edit)


def why_refused(open_: Iterable[Assumption]) -> Declined:
    """Say why a proof that rests on these conditions is not used."""
    first, *further = open_
    refusal = not_assumed(first, "default")
    suffix = "".join(f", and that {a.text}" for a in further)
    return replace(refusal, reason=refusal.reason + suffix)


def breaks(problem: Problem, assumptions: Collection[Assumption]) -> Term | Declined:
    """Return a Spark predicate that is true at least for every row that violates one of the
    assumptions.

    The search makes the predicate; this function proves it.
    """
    # This belongs to the search, which loads a solver; importing this module must not load one.
    from presieve.synthesis.prefilter.key_predicates import implied_predicate

    rows = (Scope.ROW, Scope.KEY)
    hidden = problem.fold.hidden
    parts: list[Term] = []
    for a in assumptions:
        read = variables(a.term)
        if a.term == TRUE or any(v.scope not in rows or v in hidden for v in read):
            return why_refused([a])
        parts.append(implied_predicate(a.term, False))
    predicate = sql_disjunction(parts)
    if predicate == SQL_TRUE or not covers(problem, assumptions, predicate):
        return why_refused(assumptions)
    return predicate


def covers(problem: Problem, assumptions: Iterable[Assumption], predicate: Term) -> bool:
    """Whether every possible row that violates an assumption satisfies the predicate, and survives
    a file scan that is handed the predicate.
    """
    bare = replace(problem, assumptions=())
    terms = [a.term for a in assumptions]
    runs = Runs(bare, [predicate, may_lose(predicate), *terms])
    row = runs.row("r")
    obeys = runs.encoder.boolean(app(Op.AND, *terms), row)
    runs.encoder.fact(s_not(obeys))
    lost = runs.encoder.boolean(may_lose(predicate), row)
    runs.encoder.fact(s_or([s_not(runs.is_true(predicate, row)), lost]))
    solver = make_solver("z3")
    solver.add(runs.encoder.take())
    return isinstance(solver.check([], Effort(seconds=2.0)), Unsat)
