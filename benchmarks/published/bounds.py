"""Untrusted. Algorithms 2, 3, 4 and 7: bounds on the invariant that show pre-filters to be wrong
before any invariant is looked for, and the repair of a pre-filter.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.published.conditions import SIDES, Conditions, Filter, Row


@dataclass(frozen=True, slots=True)
class Bounds:
    """Atoms of U_I that every invariant has, and those that it may have."""

    lower: frozenset[int]
    upper: frozenset[int]


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No invariant can prove a pre-filter; ``row`` says why, where the solver had one to show."""

    prefilter: Filter
    row: Row | None


def find_weakest_implicant(conditions: Conditions) -> frozenset[int]:
    """Algorithm 7. All atoms that Final (with the filter as residual) implies.

    The published loop stops as soon as the atoms chosen imply Final, and then depends on the order
    of models; all of them are the tightest sound bound.
    """
    atoms = range(len(conditions.universes.states))
    return frozenset(i for i in atoms if conditions.follows_from_final(i))


def initial(conditions: Conditions, *, lower: bool = True) -> Bounds:
    """What does not depend on the pre-filter: the lower bound, unless it is left out, and what
    holds before any row.
    """
    atoms = range(len(conditions.universes.states))
    upper = frozenset(i for i in atoms if conditions.holds_at_init(i))
    return Bounds(find_weakest_implicant(conditions) if lower else frozenset(), upper)


def refine(conditions: Conditions, prefilter: Filter, bounds: Bounds) -> Bounds:
    """Algorithm 3. Keep the atoms that a kept row preserves, given all the others.

    Not Stutter: the rows that it speaks of become fewer as the pre-filter is weakened.
    """
    guard = conditions.guard("sync", prefilter)
    kept = (
        i
        for i in sorted(bounds.upper)
        if conditions.preserves(bounds.upper, "sync", guard, i) is True
    )
    return Bounds(bounds.lower, frozenset(kept))


def check_unrealizable(conditions: Conditions, prefilter: Filter, bounds: Bounds) -> Row | None:
    """Algorithm 4. A row on which no invariant within the bounds can work, if there is one."""
    for side in SIDES:
        guard = conditions.guard(side, prefilter)
        broken = conditions.breaks(bounds.upper, side, guard, bounds.lower)
        if isinstance(broken, Row):
            return broken
    return None


def repair(prefilter: Filter, row: Row) -> Filter:
    """Drop the atoms that are true of a row that must go, or false of one that must stay."""
    return prefilter - row.true if row.side == "sync" else prefilter & row.true


def weaken_via_bounds(
    conditions: Conditions, prefilter: Filter, bounds: Bounds, *, repairs: bool
) -> tuple[Filter, Bounds] | Infeasible:
    """Algorithm 2. The pre-filter, weakened until its bounds say nothing against it; infeasible
    where nothing is left of it.

    With ``repairs`` off the first row that speaks against it ends the search.
    """
    while prefilter:
        bounds = refine(conditions, prefilter, bounds)
        row = check_unrealizable(conditions, prefilter, bounds)
        if row is None:
            return prefilter, bounds
        weaker = repair(prefilter, row)
        if not repairs or weaker == prefilter:
            return Infeasible(prefilter, row)
        prefilter = weaker
    return Infeasible(prefilter, None)
