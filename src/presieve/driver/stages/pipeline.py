# SPDX-License-Identifier: Apache-2.0
"""Trusted. The list of all passes, and the loop that runs them.

The result is compared with the plan as written (:mod:`presieve.driver.stages.outcome`), and a pass
that made something worse is left out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from presieve.backend.open_plan import open_gateway, with_own_listings
from presieve.backend.statistics import footers
from presieve.driver import log
from presieve.driver.stages.column_pruning import prune_columns
from presieve.driver.stages.datachecks import seconds_of_checks
from presieve.driver.stages.decisions import Objection, OutcomeCheck, SiteDecision
from presieve.driver.stages.filter_placement import add_filters_below
from presieve.driver.stages.group_aggregates import replace_group_functions
from presieve.driver.stages.outcome import outcome_check
from presieve.driver.stages.passes import (
    PREFILTERS,
    REMOVAL,
    Optimization,
    Pass,
    PassResult,
    PlanState,
    Spent,
)
from presieve.driver.stages.prefilters import push_prefilters, read_plan
from presieve.driver.stages.query_bounds import add_key_ranges, add_top_rows
from presieve.driver.stages.row_expressions import replace_row_functions
from presieve.driver.stages.scan_filters import add_derived_filters, add_readable_filters
from presieve.errors import Declined, UsageError

READABLE = Pass("filters above functions", add_readable_filters)
"""Add what follows from conditions that proofs do not read, right above functions and joins."""
READING = Pass("plan reading", read_plan, reported=True)
"""Read the plan, a large one in its condensed form first."""
BELOW = Pass("filters below windows and joins", add_filters_below)
"""Copy filters below windows, limits, outer joins, INTERSECT and EXCEPT."""
PUSHDOWN = Pass(PREFILTERS, push_prefilters, reported=True)
"""Put the proved pre-filter below a function, and the residual above it."""
ROWS = Pass("functions of rows as expressions", replace_row_functions)
"""Replace Python by expressions of Spark."""
GROUPS = Pass("functions of groups as aggregates", replace_group_functions)
"""Replace Python by aggregates of Spark."""
COLUMNS = Pass("column pruning", prune_columns, reported=True)
"""Leave out columns that a function of tables does not read."""
DERIVED = Pass("derived filters", add_derived_filters)
"""Add intervals of columns right above files."""
RANGES = Pass("ranges of join keys", add_key_ranges)
"""Add the range of a join's keys to its large side."""
TOP_ROWS = Pass("bounds of first rows", add_top_rows)
"""Add the n-th value of the sort key to the files below ORDER BY ... LIMIT n."""

PASSES = (
    *(READABLE, READING, BELOW, PUSHDOWN, BELOW, ROWS, GROUPS, COLUMNS, DERIVED),
    *(RANGES, TOP_ROWS),
)
"""All passes, in order. Pre-filters are new filters for the pass before them, so it runs again."""

TAKEN_BACK = "check"
"""The code of rewrites that are taken back because of Spark's optimized plan."""


def run_passes(
    job: Optimization, settings: Mapping[str, str] | None = None
) -> PlanState | Declined:
    """Run all passes, and again without a pass whose result must not be returned. ``settings`` are
    what is set in the session, if it was read.
    """
    try:
        return _run_and_check(job, settings)
    except UsageError:
        raise
    except Exception as error:  # a bug of ours must not stop a user's job
        return log.warn_of_failure("the optimization", error)


def _run_and_check(job: Optimization, settings: Mapping[str, str] | None) -> PlanState | Declined:
    gateway = open_gateway(job.written, settings, at_once=job.reading.at_once)
    if isinstance(gateway, Declined):
        return gateway
    off: dict[str, Declined] = {}
    check: OutcomeCheck | None = None
    spent = Spent()
    while True:
        answers = footers.answers()
        state = _run_once(PlanState(job, gateway, off, job.written, spent))
        if isinstance(state, Declined) or state.df is job.written:
            return state
        if footers.answers() != answers:
            # Read exactly the files whose footers the decisions rest on.
            own = with_own_listings(state.first, state.df)
            if isinstance(own, Declined):
                return own
            state.df = own
        check = check or outcome_check(state.first, job.written)
        refused = _first_objection(check, state)
        if refused is None:
            return state
        name, objection = refused
        if name == PREFILTERS and objection.kind == "read" and REMOVAL not in off:
            name = REMOVAL
        off[name] = Declined(TAKEN_BACK, f"{objection.reason}; left out: {name}")
        if name != REMOVAL:
            log.warn_of_bug(off[name])


def _run_once(state: PlanState) -> PlanState | Declined:
    """Run all passes that are not off."""
    for pass_ in PASSES:
        if pass_ is DERIVED and not state.is_changed:
            # No function took a filter, so those right above functions serve nobody.
            state.df = state.start = state.job.written
            state.results.pop(READABLE, None)
        if _is_skipped(state, pass_):
            continue
        result = _run_contained(pass_, state)
        if isinstance(result, Declined):
            return result
        state.record(pass_, result)
        if pass_ is READING:
            state.start, state.first = state.df, state.opened
    if state.options.cost == "never":
        state.df = state.job.written
        state.results.pop(READABLE, None)
    return state


def _run_contained(pass_: Pass, state: PlanState) -> PassResult | Declined:
    """Run a pass. One that fails is left out; without a ``reported`` one there is no report."""
    try:
        return _run_timed(pass_, state)
    except UsageError:
        raise
    except Exception as error:
        why = log.warn_of_failure(pass_.name, error)
        if pass_.reported:
            return why
        state.off[pass_.name] = why
        return PassResult(state.df)


def _run_timed(pass_: Pass, state: PlanState) -> PassResult | Declined:
    """Run a pass, and count the seconds that it checks data or compiles functions."""
    started, checked = time.perf_counter(), seconds_of_checks()
    result = pass_.run(state)
    checking = seconds_of_checks() - checked
    state.spent.checking += checking
    if pass_ in (ROWS, GROUPS):
        state.spent.compiling += time.perf_counter() - started - checking
    return result


def _is_skipped(state: PlanState, pass_: Pass) -> bool:
    """Whether a pass is left out, or ran before and the plan has not changed since."""
    if state.options.cost == "never" and not pass_.reported:
        return True
    if pass_.name in state.off and pass_ is not PUSHDOWN:  # which is still searched, for reports
        return True
    return pass_ in state.results and state.results[pass_].df is state.df


def _first_objection(check: OutcomeCheck, state: PlanState) -> tuple[str, Objection] | None:
    """Return the name of the first pass that made something wrong; None if nothing is wrong."""
    certified = [
        predicate
        for d in state.select(SiteDecision)
        if d.edit is not None
        for predicate in (d.edit.prefilter, d.edit.beside)
        if predicate is not None
    ]
    last = check.objection(state.df, certified)
    if last is None:
        return None
    for pass_, df in state.steps:
        objection = check.objection(df, certified)
        if objection is not None:
            return pass_.name, objection
    return state.steps[-1][0].name, last
