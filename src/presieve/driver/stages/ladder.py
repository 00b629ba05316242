"""Trusted. What becomes of the conditions on data that a proof rests on and that nobody knows to
hold.

Under the policy ``default`` nothing is rewritten on the strength of such a condition. What plan,
schema and footers show is discharged before the search. What is left is asked of the data, where
that is cheap and the answer can be kept; else there is a guarded plan, in which the pre-filter
stands only where the conditions hold; else the search goes on without the conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from presieve.certificate.check import make_solver
from presieve.driver.declare import follows_from
from presieve.driver.solve import BY_GUARD, Solution, not_assumed, strictly, unused
from presieve.driver.stages.datachecks import counted
from presieve.errors import Declined
from presieve.ir.fold import CONSTANT, PURE, Assumption, Problem
from presieve.ir.ops import app, sql_conjuncts, sql_disjunction
from presieve.ir.terms import SQL_TRUE, TRUE, Op, Scope, Term
from presieve.ir.walk import variables
from presieve.semantics.scan import may_lose
from presieve.smt.runs import Runs
from presieve.smt.solver import Effort, Unsat
from presieve.smt.text import s_not, s_or

if TYPE_CHECKING:
    from presieve.backend.plans import Opened
    from presieve.backend.problems.problem import SiteProblem
    from presieve.backend.rewrite import SiteEdit
    from presieve.backend.statistics.facts import Fact

ABOUT_CODE = frozenset((PURE, CONSTANT))
"""Codes of assumptions about functions. No data can break them."""

BY_ITSELF = "what the function does"
"""How a condition is known that holds of any row whatever."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """A solution that rests on nothing that nobody knows, and the edit that guards it, if any."""

    solution: Solution
    guard: SiteEdit | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a solution is to be used. ``search`` solves another problem of the same site, and
    ``look`` says whether data may be looked at now.
    """

    opened: Opened
    site: SiteProblem
    search: Search
    look: bool


Known = Mapping[Assumption, str]
Search = Callable[[Problem, Known], Solution | Declined]


def grounded(place: Place, solution: Solution) -> Grounded:
    """The solution, where what it rests on is known. Else, the first of these that there is: what a
    check of the data discharges; a guarded plan, unless many rows break a condition; a solution
    without the conditions; nothing.
    """
    open_ = conditions(solution)
    if not open_:
        return Grounded(solution)
    breaking = _breaking(place.site, solution, open_)
    if isinstance(breaking, Declined):
        return Grounded(without_conditions(solution, place.search, breaking))
    from presieve.backend.plans import data_check
    from presieve.backend.statistics.data_check import FEW

    check = data_check(place.opened, place.site, breaking) if place.look else None
    found = counted(check) if check is not None else None
    if found is not None and found.rows == 0:
        known = {**solution.known, **dict.fromkeys(open_, found.by)}
        return Grounded(replace(solution, known=known))
    if found is not None and found.rows > FEW:
        why = refused(open_)
        many = f"{why.reason}; more than {FEW:,} rows break that ({found.by})"
        why = replace(why, reason=many)
        return Grounded(without_conditions(solution, place.search, why))
    guarded = _guarded(place, solution, open_, breaking)
    if isinstance(guarded, Grounded):
        return guarded
    return Grounded(without_conditions(solution, place.search, guarded))


def without_conditions(solution: Solution, search: Search, why: Declined) -> Solution:
    """What the search finds without the conditions that nobody knows to hold, which ``why`` names;
    a solution that is not used, where it finds nothing.
    """
    bare = strictly(solution.problem, solution.known)
    again = search(bare, solution.known) if bare != solution.problem else why
    if isinstance(again, Solution) and not conditions(again):
        return replace(again, declined=(why, *again.declined))
    return unused(solution, why)


def conditions(solution: Solution) -> tuple[Assumption, ...]:
    """What the solution assumes of data and nobody knows to hold."""
    if solution.verified is None:
        return ()
    return tuple(
        a
        for a in solution.problem.assumptions
        if a not in solution.known and a.code not in ABOUT_CODE
    )


def discharged(problem: Problem, facts: Sequence[Fact]) -> dict[Assumption, str]:
    """The assumptions that follow from what is known of every row, and by what it is known."""
    bare = replace(problem, assumptions=tuple(Assumption("known", f.by, f.term) for f in facts))
    found: dict[Assumption, str] = {}
    for a in problem.assumptions:
        if a.term != TRUE and follows_from(bare, a):
            read = set(variables(a.term))
            about = (f.by for f in facts if not read.isdisjoint(variables(f.term)))
            found[a] = " and ".join(dict.fromkeys(about)) or BY_ITSELF
    return found


def _breaking(
    site: SiteProblem, solution: Solution, open_: Collection[Assumption]
) -> Term | Declined:
    """The rows that break what is assumed, as a predicate that a scan may be handed."""
    if not sql_conjuncts(solution.prefilter):
        return refused(open_)  # nothing is pushed that would be worth a check or a guard
    found = breaks(solution.problem, open_)
    if isinstance(found, Declined) or site.boundary.kind != "Project":
        return found
    # Of scalar functions the scan is handed both; of others it is read once for each.
    both = app(Op.SQL_OR, solution.prefilter, found)
    return found if covers(solution.problem, open_, both) else refused(open_)


def _guarded(
    place: Place, solution: Solution, open_: Collection[Assumption], breaking: Term
) -> Grounded | Declined:
    """The guarded plan of a solution, or why there is none."""
    from presieve.backend.plans import plan_guarded

    about = variables(*(a.term for a in open_))
    edit = plan_guarded(place.opened, place.site, solution.prefilter, breaking, about)
    if isinstance(edit, Declined):
        reason = f"{refused(open_).reason}; no plan can guard that: {edit.reason}"
        return Declined("assumption", reason, edit.span)
    known = {**solution.known, **dict.fromkeys(open_, BY_GUARD)}
    return Grounded(replace(solution, kind="partial", known=known), edit)


def refused(open_: Iterable[Assumption]) -> Declined:
    """Why a proof that rests on these conditions is not used."""
    first, *more = open_
    found = not_assumed(first, "default")
    also = "".join(f", and that {a.text}" for a in more)
    return replace(found, reason=found.reason + also)


def breaks(problem: Problem, assumptions: Collection[Assumption]) -> Term | Declined:
    """A Spark predicate that is true at least on every row which breaks one of the assumptions.

    The predicate is made by the search. That it is right is proved here.
    """
    # Of the search, which loads a solver; importing this module must not.
    from presieve.synthesis.prefilter.implied import implied

    rows = (Scope.ROW, Scope.KEY)
    hidden = problem.fold.hidden
    parts: list[Term] = []
    for a in assumptions:
        read = variables(a.term)
        if a.term == TRUE or any(v.scope not in rows or v in hidden for v in read):
            return refused([a])
        parts.append(implied(a.term, False))
    found = sql_disjunction(parts)
    if found == SQL_TRUE or not covers(problem, assumptions, found):
        return refused(assumptions)
    return found


def covers(problem: Problem, assumptions: Iterable[Assumption], predicate: Term) -> bool:
    """Whether every row whatever that breaks an assumption satisfies the predicate, and comes out
    of a file scan that is handed it.
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
