"""Trusted. DataFrames: their boundaries as problems, and the DataFrame with them solved."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from pyspark.sql.dataframe import DataFrame

from presieve.backend.catalyst.boundary import LOGICAL, TABLE_FUNCTION, table_function
from presieve.backend.catalyst.list_folds import list_fold
from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION, native_call
from presieve.backend.catalyst.sites import Site, boundaries, candidates, find_sites
from presieve.backend.catalyst.trees import JsonNode, Node
from presieve.backend.classic.gateway import ClassicGateway, is_classic
from presieve.backend.gateway import Gateway, GatewayError, Handle
from presieve.backend.guard import classes
from presieve.backend.notes import notes
from presieve.backend.problems.problem import SiteProblem, read_problem
from presieve.backend.problems.setting import Setting
from presieve.backend.rewrite import SiteEdit, edit, guarded_edit, rewrite_plan
from presieve.backend.statistics.data_check import FEW, Check, check_of
from presieve.backend.statistics.facts import BY_FOOTERS, Fact, known_facts, with_extent
from presieve.backend.statistics.scan_filters import Scans, scans_below
from presieve.backend.statistics.sizes import Size, sizes
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption
from presieve.ir.terms import TRUE, Term, Var
from presieve.lift.forms import Pure

__all__ = [
    "FEW",
    "OpenSite",
    "Opened",
    "SiteEdit",
    "apply_edits",
    "data_check",
    "drawing",
    "facts",
    "is_same",
    "open_plan",
    "plan_edit",
    "plan_guarded",
    "scan_filters",
    "scan_sizes",
]

_CONFS = {
    "spark.sql.legacy.execution.pandas.groupedMap.assignColumnsByName": "true",
    "spark.sql.legacy.execution.pythonUDF.pandas.conversion.enabled": "false",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype": "false",
}
"""Settings that change what Python sees of a value or Spark of a result, and the values that the
lifter's account of pandas was written for (PySpark 4.3, ``worker.py``, ``RunnerConf``). Safe
conversion (on by default) is not among them: results are only lifted where they fit their type.
"""


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A place where a filter meets a boundary: ``problem`` is what to prove, or why not.

    ``operator``, ``function`` and ``where`` are for the report; ``number`` is that of
    :class:`Site`, and ``path`` leads to the boundary.
    """

    number: int
    path: tuple[int, ...]
    operator: str
    function: str
    where: str
    problem: SiteProblem | Declined


@dataclass(frozen=True, slots=True)
class Opened:
    """A DataFrame's analyzed plan and its sites.

    ``notes`` say why filters stay above functions where there is no site; ``pure`` are the
    functions that were not read; ``told`` as in :func:`open_plan`. ``numbers`` are those of all
    boundaries that may be sites, be it once pre-filters of others are there.
    """

    gateway: Gateway
    plan: Handle
    timezone: str
    sites: tuple[OpenSite, ...]
    notes: tuple[Declined, ...] = ()
    pure: tuple[Pure, ...] = ()
    told: bool = True
    numbers: frozenset[int] = frozenset()


def open_plan(
    df: DataFrame,
    *,
    thorough: bool = True,
    told: bool = True,
    pure: tuple[Pure, ...] = (),
    gains: Callable[[Opened], bool] | None = None,
    before: Opened | None = None,
    decided: Collection[int] = (),
    at_once: bool = False,
) -> Opened | Declined:
    """Read the plan. Without ``thorough``, one with neither a Python function nor a filter and an
    aggregate is not read: it may be large, and there is nothing in it to do; nor are the words
    of filters that only a person reads. Where nobody is ``told`` why nothing is moved, there may
    be no sites and notes where that is plain, and a large plan is not read where its condensed form
    ``gains`` nothing. ``before`` is what it was before it was rewritten, and ``decided`` the
    numbers of the boundaries that nobody asks of any more. ``at_once``: what is made of the
    DataFrame is executed before anything else happens.
    """
    try:
        gateway = before.gateway if before is not None else _gateway(df, at_once)
        heard = told if before is None else before.told
        plan = gateway.analyzed(df)
        nothing = Opened(gateway, plan, "UTC", ())
        if not thorough and not gateway.glance(plan, heard):
            return nothing
        if gains is not None and not thorough and not heard:
            small = gateway.condensed(plan)
            if small is not None and not gains(_open(gateway, small, False, False, pure, ())):
                return nothing
        return _open(gateway, plan, thorough, heard, pure, decided)
    except GatewayError as error:
        return error.declined
    except DeclineSignal as signal:
        return signal.declined


def _gateway(df: DataFrame, at_once: bool) -> Gateway:
    """The interfaces of the DataFrame's session. Spark Connect needs packages that classic sessions
    do without.
    """
    if is_classic(df):
        return ClassicGateway(df.sparkSession, at_once=at_once)
    from presieve.backend.connect.gateway import ConnectGateway

    return ConnectGateway(df.sparkSession)


def _open(
    gateway: Gateway,
    plan: Handle,
    thorough: bool,
    told: bool,
    pure: tuple[Pure, ...],
    decided: Collection[int],
) -> Opened:
    root = gateway.interesting(plan, told)
    if root is None:
        return Opened(gateway, plan, "UTC", ())
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    python = gateway.calls_python(plan)
    plan, root = _as_read(gateway, plan, root, python=python)
    all_ = {i: n for i, n in candidates(root, told=told).items() if i not in decided}
    found = find_sites(gateway, root, plan, timezone, all_, told=told)
    against = _session_declines(gateway, plan) if found else None
    setting = Setting(timezone, pure)
    sites = tuple(_open_site(gateway, site, plan, setting, against, thorough) for site in found)
    said = {p for site in found for p in _paths(site.boundary)}
    why = notes(root, said) if python and told and not decided else ()
    return Opened(gateway, plan, timezone, sites, why, pure, told, frozenset(all_))


def _paths(boundary: Node) -> tuple[tuple[int, ...], ...]:
    """The paths of a boundary: of a table function, also of the join that calls it."""
    join = table_function(boundary) is not None
    return (boundary.path, (*boundary.path, 0)) if join else (boundary.path,)


def _as_read(gateway: Gateway, plan: Handle, root: Node, *, python: bool) -> tuple[Handle, Node]:
    """The plan in the form in which it is read: definitions (WITH) stand where they are referred
    to, and scalar UDFs are columns of their own. Not where something is cached: what is cached
    under the plan as it is written would not be found.
    """
    try:
        apart = gateway.inlined(plan)
        if apart is not plan and gateway.cache_is_empty():
            plan, root = apart, gateway.tree(apart)
        apart = gateway.separated(plan, root) if python else plan
        if apart is not plan and gateway.cache_is_empty():
            plan, root = apart, gateway.tree(apart)
    except GatewayError:
        pass  # as it is written
    return plan, root


def _session_declines(gateway: Gateway, plan: Handle) -> Declined | None:
    """Why nothing in this plan is moved, whatever it is."""
    against = gateway.session_declines()
    if against is not None:
        return against
    if gateway.is_streaming(plan):
        return Declined("streaming", "streams are left alone; optimize the batches in foreachBatch")
    for key, expected in _CONFS.items():
        value = gateway.conf(key, expected).lower()
        if value != expected:
            return Declined("conf", f"{key} is {value}, but proofs require {expected}: unset it")
    return None


def _open_site(
    gateway: Gateway,
    site: Site,
    plan: Handle,
    setting: Setting,
    against: Declined | None,
    thorough: bool,
) -> OpenSite:
    where = _where(gateway, site, plan) if thorough else ""
    problem = against or _problem(gateway, site, plan, setting)
    boundary = site.boundary
    is_table = table_function(boundary) is not None
    operator = TABLE_FUNCTION if is_table else boundary.kind.removeprefix(LOGICAL)
    return OpenSite(site.number, boundary.path, operator, _function_name(boundary), where, problem)


def _problem(
    gateway: Gateway, site: Site, plan: Handle, setting: Setting
) -> SiteProblem | Declined:
    try:
        unread = gateway.unread(gateway.node(plan, site.boundary.path))
        if unread is not None:
            return unread
        if not gateway.cache_is_empty() and _is_cached(gateway, site, plan):
            return Declined("cached", CACHED)
        return read_problem(gateway, site, plan, setting)
    except DeclineSignal as signal:
        return signal.declined
    except GatewayError as error:
        return error.declined


CACHED = "the result is cached, and recomputing it would not pay; filter before it is cached"


def _is_cached(gateway: Gateway, site: Site, plan: Handle) -> bool:
    """Whether the boundary's result comes out of the cache: it, or something that contains it, or
    all that a pre-filter would stand below.
    """
    paths = {n.path for n in (site.boundary, *site.nodes)}
    paths |= {site.input.path[:n] for n in range(len(site.input.path))}
    return any(gateway.is_cached(gateway.node(plan, p)) for p in sorted(paths, reverse=True))


def _where(gateway: Gateway, site: Site, plan: Handle) -> str:
    """The filters as Spark prints them."""
    conditions = [gateway.condition(gateway.node(plan, n.path)) for n in site.filters]
    return " AND ".join(gateway.sql(c) for c in conditions) or "a part of a join's condition"


def _function_name(node: Node) -> str:
    """The names of the functions in an operator."""
    lists = [node.fields.get(name, []) for name in ("aggregateExpressions", "projectList")]
    trees = [*lists[0], *lists[1], node.fields.get("functionExpr", [])]
    names = [str(n["name"]) for t in trees for n in t if "evalType" in n]
    table = table_function(node)
    if table is not None:
        names = [str(table["name"])]
    if not names:
        calls = [list_fold(t) or native_call(t) for t in trees if any(_is_call(n) for n in t)]
        names = [c.shown for c in calls]
    return ", ".join(dict.fromkeys(names))


def _is_call(node: JsonNode) -> bool:
    return bool(node["class"] == AGGREGATE_EXPRESSION)


def input_names(site: SiteProblem) -> dict[str, Var]:
    """What a fact about a row may name: the columns that the fold reads, and the keys."""
    fold = site.problem.fold
    rows = {c.name: fold.column(c.name) for c in fold.columns if not c.hidden}
    return {**rows, **{c.name: fold.key(c.name) for c in fold.keys}}


def facts(opened: Opened, site: SiteProblem) -> tuple[Fact, ...]:
    """What is known of the columns that assumptions are about. May open files' footers."""
    try:
        return known_facts(opened.gateway, opened.plan, site)
    except GatewayError:
        return ()


def bounded(opened: Opened, site: SiteProblem) -> tuple[SiteProblem, dict[Assumption, str]]:
    """The site with its functions lifted once more, knowing how many rows the files have and which
    values, and the results and sums that fit their types because of that.
    """
    asked = [a for a in site.problem.assumptions if a.code == "int-range" and a.term == TRUE]
    if not asked:
        return site, {}
    try:
        setting = Setting(opened.timezone, opened.pure)
        known = with_extent(opened.gateway, opened.plan, site, setting)
        if known is None:
            return site, {}
        again = read_problem(opened.gateway, site.site, opened.plan, known)
    except (DeclineSignal, GatewayError):
        return site, {}
    fits = {a: BY_FOOTERS for a in asked if a not in again.problem.assumptions}
    if not fits:
        return site, {}
    problem = replace(again.problem, assumptions=(*again.problem.assumptions, *fits))
    return replace(again, problem=problem), fits


def plan_edit(
    opened: Opened, site: SiteProblem, prefilter: Term, residual: Term
) -> SiteEdit | Declined:
    """What a proven pushdown changes in the plan."""
    try:
        return edit(site, prefilter, residual, opened.timezone)
    except DeclineSignal as signal:
        return signal.declined
    except GatewayError as error:
        return error.declined


def data_check(opened: Opened, site: SiteProblem, condition: Term) -> Check | None:
    """How to count the input rows of a site that satisfy a condition, where that is cheap."""
    try:
        return check_of(opened.gateway, opened.plan, site, condition, opened.timezone)
    except GatewayError:
        return None


def plan_guarded(
    opened: Opened, site: SiteProblem, prefilter: Term, breaking: Term
) -> SiteEdit | Declined:
    """What a pushdown changes that is proved where no row is ``breaking`` an assumption."""
    try:
        by = classes(opened.gateway, site.boundary, site.site.input, opened.plan)
        return guarded_edit(site, prefilter, breaking, by, opened.timezone)
    except DeclineSignal as signal:
        return signal.declined
    except GatewayError as error:
        return error.declined


def apply_edits(opened: Opened, edits: tuple[SiteEdit, ...]) -> DataFrame | Declined:
    """The DataFrame with all edits made: same columns with the same attribute numbers."""
    gateway = opened.gateway
    try:
        plan = rewrite_plan(gateway, opened.plan, edits, opened.timezone)
        df = gateway.dataframe(plan)
        if not gateway.same_output(opened.plan, gateway.analyzed(df)):
            return Declined("plan-shape", "the rewritten plan has different columns")
        return df
    except DeclineSignal as signal:
        return signal.declined
    except GatewayError as error:
        return error.declined


def is_same(opened: Opened, df: DataFrame) -> bool:
    """Whether the DataFrame has the very plan that was opened."""
    try:
        return opened.gateway.same(opened.plan, opened.gateway.analyzed(df))
    except GatewayError:
        return False


def scan_filters(opened: Opened, df: DataFrame) -> tuple[Scans, ...]:
    """For each boundary of a DataFrame, by number, the filters that reach the scans below it."""
    gateway = opened.gateway
    try:
        plan = gateway.analyzed(df)
        root = gateway.tree(plan)
        return tuple(scans_below(gateway, plan, root, node) for node in boundaries(root))
    except (DeclineSignal, GatewayError):
        return ()


def drawing(opened: Opened, df: DataFrame) -> str:
    """Spark's drawing of the optimized logical plan; empty where it cannot be had."""
    try:
        return opened.gateway.optimized_text(opened.gateway.analyzed(df))
    except GatewayError:
        return ""


def scan_sizes(opened: Opened) -> tuple[Size, ...]:
    """How large the files of the scans are, where that can be seen from here."""
    try:
        return sizes(opened.gateway, opened.plan, opened.gateway.tree(opened.plan))
    except (DeclineSignal, GatewayError):
        return ()
