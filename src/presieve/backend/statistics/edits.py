# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Collect what is known about an edit, and about sizes of groups, to compare costs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from presieve.backend.catalyst.boundary import COGROUPS, FLAT_MAPS, TABLE_FUNCTION
from presieve.backend.catalyst.exchange_reuse import sharing_exchange
from presieve.backend.catalyst.list_folds import FOLD_OF_A_LIST
from presieve.backend.gateway import Handle, PlanView
from presieve.backend.open_plan import Opened
from presieve.backend.problems.problem import BoundaryInput, SiteProblem
from presieve.backend.rewrite import SiteEdit
from presieve.backend.statistics.estimates import scan_below
from presieve.cost.decision import LISTED, ProvenPrefilter, looking_pays
from presieve.cost.estimate import estimate, largest_share
from presieve.cost.model import RowCost, cost_of_groups, native, rowwise
from presieve.cost.parquet_scan import Estimate, Scan
from presieve.ir.sorts import TEXTS
from presieve.ir.terms import SQL_TRUE, Term
from presieve.plan.liveness import live, visible
from presieve.semantics.types import sort_of
from presieve.semantics.values import MOST_ROWS

logger = logging.getLogger("presieve")


def candidate(opened: Opened, edit: SiteEdit) -> ProvenPrefilter:
    """Describe an edit with a pre-filter, by footers and a sample. May open files."""
    assert edit.prefilter is not None
    term = edit.prefilter.term
    site = edit.site
    return ProvenPrefilter(term, _cost_of_row(site), _estimate(opened, site, term), _spares(edit))


def check_pays(opened: Opened, site: SiteProblem, prefilter: Term, condition: Term) -> bool:
    """Whether a look for input rows that satisfy the condition costs less than the pre-filter
    saves. May open files.
    """
    estimated = _estimate(opened, site, prefilter)
    return looking_pays(ProvenPrefilter(prefilter, _cost_of_row(site), estimated), condition)


def _estimate(opened: Opened, site: SiteProblem, term: Term) -> Estimate | None:
    return ask_about_scan(opened, opened.plan, site.input, estimate, term)


T = TypeVar("T")


def ask_about_scan(
    opened: Opened,
    plan: Handle,
    source: BoundaryInput,
    ask: Callable[[Scan], T | None],
    prefilter: Term = SQL_TRUE,
) -> T | None:
    """Ask about the scan below a boundary; None if nothing is known, whatever the files hold."""
    below = partial(scan_below, opened.gateway, plan, source, prefilter, opened.timezone)
    return of_scan(below, ask)


def of_scan(find: Callable[[], Scan | None], ask: Callable[[Scan], T | None]) -> T | None:
    """Ask about a scan; None if nothing is known."""
    try:
        scan = find()
        return None if scan is None else ask(scan)
    except Exception as error:  # strange files must not stop a job
        logger.warning("no estimate of rows could be made, please report it", exc_info=error)
        return None


def paths_of_equal(opened: Opened, edit: SiteEdit) -> frozenset[tuple[int, ...]]:
    """Return the paths of the boundaries that share an exchange with this one, and its own path."""
    site = edit.site.site
    return sharing_exchange(PlanView(opened.gateway, opened.plan, site.root), site.boundary)


def _cost_of_row(site: SiteProblem) -> RowCost:
    boundary, names = site.boundary, site.names
    columns = len(names.keys) + len(names.rows)
    calls = [c for c in boundary.calls if c.native is not None]
    if calls:
        lists = sum(c.name == FOLD_OF_A_LIST for c in calls)
        output_ids = {i for c in calls for i in c.outputs}
        texts = any(a.id in output_ids and sort_of(a.type) in TEXTS for a in boundary.outputs)
        read = [t for c in calls if c.native for t in (*c.native.arguments, c.native.condition)]
        nodes = sum(map(len, read))
        return native(columns, len(calls) - lists, lists, sorts=texts, nodes=nodes)
    if boundary.kind in _EXCHANGED:
        return cost_of_groups(columns)
    return rowwise(columns)


_EXCHANGED = FLAT_MAPS | COGROUPS | {"Aggregate", TABLE_FUNCTION}
"""Boundaries whose rows go to the worker of their group."""


def _spares(edit: SiteEdit) -> bool:
    """Whether nobody reads the result of a function of rows once the filter is moved."""
    site = edit.site
    if not site.boundary.single or edit.residual is not None or not edit.removed:
        return False
    output_ids = {a.id for a in site.boundary.outputs}
    read = live(site.site.path, edit.removed, visible(site.site.path, output_ids))
    return not read & site.boundary.computed


def largest_group(opened: Opened, plan: Handle, source: BoundaryInput, rows: int) -> float | None:
    """Return the likely maximum number of rows in a group, if the input has at most ``rows``. None
    if nothing is known. Files are opened if that may decide something.
    """
    if rows <= LISTED:
        return rows
    if rows >= MOST_ROWS:
        return None
    share = ask_about_scan(opened, plan, source, largest_share)
    return None if share is None else rows * share
