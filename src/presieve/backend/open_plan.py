# SPDX-License-Identifier: Apache-2.0
"""Trusted. Read the boundaries of a DataFrame as problems, and build the DataFrame with their
solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from msgspec import Struct
from pyspark.sql.dataframe import DataFrame

from presieve.backend.catalyst.boundary import (
    LOGICAL,
    MAPS,
    TABLE_FUNCTION,
    is_pivot,
    table_function,
)
from presieve.backend.catalyst.list_folds import list_fold
from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION, native_call
from presieve.backend.catalyst.peers import PeerOrder, changed_peer_orders
from presieve.backend.catalyst.sites import Site, boundaries, candidates, find_sites
from presieve.backend.catalyst.trees import JsonNode, Node
from presieve.backend.classic.gateway import ClassicGateway, is_classic
from presieve.backend.gateway import (
    Gateway,
    GatewayError,
    Handle,
    PlanReader,
    PlanView,
    dataframe_of,
)
from presieve.backend.guard import classes
from presieve.backend.problems.problem import SiteProblem, read_problem
from presieve.backend.problems.setting import PlanSetting
from presieve.backend.rewrite import SiteEdit, edit, guarded_edit, rewrite_plan
from presieve.backend.statistics.data_check import Check, check_of
from presieve.backend.statistics.facts import BY_FOOTERS, Fact, known_facts, with_extent
from presieve.backend.statistics.pushed_filters import Scans, scans_below
from presieve.backend.statistics.scan_contracts import ScanContract
from presieve.backend.statistics.sizes import Size, rows_into, sizes
from presieve.backend.unpushed_functions import notes
from presieve.dataflow.libraries import Effects
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption
from presieve.ir.sorts import BOOL, COMPOSITES, INT, strip
from presieve.ir.terms import Term, Var
from presieve.lift.forms import Pure
from presieve.records import replace
from presieve.semantics.assumptions import is_of_size

_CONFS = {
    "spark.sql.legacy.execution.pandas.groupedMap.assignColumnsByName": "true",
    "spark.sql.legacy.execution.pythonUDF.pandas.conversion.enabled": "false",
    "spark.sql.legacy.execution.pythonUDTF.pandas.conversion.enabled": "false",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype": "false",
}
"""Settings that change the values that Python gets or the results that Spark gets, and the values
of these settings for which the lifter's model of pandas was written (PySpark 4.3, ``worker.py``,
``RunnerConf``). Safe conversion is not among them: results of tables are only lifted if they fit
their type, and for those of scalar UDFs lifting is told of it.
"""
_SAFELY = "spark.sql.execution.pandas.convertToArrowArraySafely"


class Reading(Struct, frozen=True):
    """How a plan is read.

    ``pure`` are the functions that need not be read. ``effects``: what becomes of calls of unknown
    code. ``for_report``: somebody wants to see the
    whole plan. Otherwise a plan without a Python function and without a filter and an aggregate is
    not read, because it may be large and offers nothing to do, and filters are not printed.
    ``skip_hopeless``: nobody asks why nothing is moved. Then boundaries past which nothing can move
    need not be read, nor a large plan whose condensed form has nothing to gain. ``at_once``: the
    rewritten DataFrame is executed before anything else happens. ``count_rows``: somebody wants to
    know how many rows the plan as written hands to functions.
    """

    pure: tuple[Pure, ...] = ()
    effects: Effects = "auto"
    for_report: bool = False
    skip_hopeless: bool = False
    at_once: bool = False
    count_rows: bool = False


class FilterConjunct(Struct, frozen=True):
    """A conjunct of a filter about a boundary's rows, as Spark prints it. ``operator`` and
    ``conjunct`` are its numbers in :class:`Site`.
    """

    operator: int
    conjunct: int
    text: str


class OpenSite(Struct, frozen=True):
    """A place where a filter meets a boundary. ``problem`` is the problem to prove, or the reason
    why there is none.

    ``operator``, ``function``, ``where`` and ``conjuncts`` are for the report. ``number`` is the
    number of :class:`Site`, and ``path`` leads to the boundary.
    """

    number: int
    path: tuple[int, ...]
    operator: str
    function: str
    where: str
    problem: SiteProblem | Declined
    conjuncts: tuple[FilterConjunct, ...] = ()


class Opened(Struct, frozen=True):
    """A DataFrame's analyzed plan and its sites.

    ``notes`` say why filters stay above functions if there is no site. ``numbers`` are the numbers
    of all boundaries that may be sites, now or once the pre-filters of others are inserted.
    ``written`` is the plan as written, if ``plan`` is its condensed form: if no site in the
    condensed form has something to gain, none in the plan as written has. ``root`` is the plan's
    tree, if it was read.
    """

    gateway: Gateway
    plan: Handle
    reading: Reading
    timezone: str = "UTC"
    sites: tuple[OpenSite, ...] = ()
    notes: tuple[Declined, ...] = ()
    numbers: frozenset[int] = frozenset()
    written: Handle | None = None
    root: Node | None = None

    @property
    def setting(self) -> PlanSetting:
        """The session's facts for lifting."""
        safely = self.gateway.conf(_SAFELY, "true") == "true"
        return PlanSetting(
            self.timezone,
            self.reading.pure,
            self.reading.effects,
            safely,
            self.gateway.workers_show_utc(),
        )


P = ParamSpec("P")
T = TypeVar("T")


def or_declined(function: Callable[P, T]) -> Callable[P, T | Declined]:
    """Wrap the function so that it returns :class:`Declined` if it declines or Spark refuses."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T | Declined:
        try:
            return function(*args, **kwargs)
        except (DeclineSignal, GatewayError) as error:
            return error.declined

    return call


@or_declined
def open_plan(gateway: Gateway, df: DataFrame, reading: Reading) -> Opened:
    """Read the plan, or its condensed form if that is read first."""
    plan = gateway.analyze_plan(df)
    opened = Opened(gateway, plan, reading)
    if reading.for_report:
        return _open_sites(opened)
    if not gateway.may_have_site(plan, skip_hopeless=reading.skip_hopeless):
        return opened
    condensed = gateway.condense(plan) if reading.skip_hopeless else None
    if condensed is None:
        return _open_sites(opened)
    return _open_sites(replace(opened, plan=condensed, written=plan))


@or_declined
def open_written(condensed: Opened) -> Opened:
    """Read the plan as written, given its condensed form."""
    return _open_sites(replace(condensed, plan=condensed.written, written=None))


@or_declined
def open_again(opened: Opened, df: DataFrame, decided: Collection[int]) -> Opened:
    """Read the plan again after it was rewritten to the plan of ``df``, without the boundaries that
    are decided, by number.
    """
    return _open_sites(replace(opened, plan=opened.gateway.analyze_plan(df)), decided)


@or_declined
def open_gateway(
    df: DataFrame, settings: Mapping[str, str] | None = None, *, at_once: bool = False
) -> Gateway:
    """Return the interfaces of the DataFrame's session, for one optimization. ``settings`` are what
    is set in the session now, if it was read. Spark Connect needs packages that classic sessions do
    without.
    """
    if is_classic(df):
        return ClassicGateway(df.sparkSession, settings, at_once=at_once, written=df)
    from presieve.backend.connect.gateway import ConnectGateway

    return ConnectGateway(df.sparkSession)


def _open_sites(unread: Opened, decided: Collection[int] = ()) -> Opened:
    """Read the sites of the plan."""
    gateway, reading = unread.gateway, unread.reading
    unread = replace(unread, timezone="UTC", sites=(), notes=(), numbers=frozenset(), root=None)
    plan = _simplify(gateway, unread.plan)
    root = gateway.tree_if_relevant(plan, skip_hopeless=reading.skip_hopeless)
    if root is None:
        return unread
    python = gateway.calls_python(plan)
    plan, root = _as_read(gateway, plan, root, python=python)
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    opened = replace(unread, plan=plan, timezone=timezone, root=root)
    may_move = candidates(root, skip_hopeless=reading.skip_hopeless)
    undecided = {i: n for i, n in may_move.items() if i not in decided}
    zone, silent = opened.timezone, reading.skip_hopeless
    view = PlanView(gateway, plan, root)
    sites = find_sites(view, zone, undecided, skip_hopeless=silent)
    against = session_declines(gateway, plan) if sites else None
    explained = {p for site in sites for p in _paths(site.boundary)}
    silent = silent or bool(decided) or not python
    return replace(
        opened,
        sites=tuple(_open_site(opened, site, against) for site in sites),
        notes=() if silent else notes(root, explained, lambda: _leaves_calls(gateway)),
        numbers=frozenset(undecided),
    )


def _leaves_calls(gateway: Gateway) -> bool:
    """Whether functions inside of filters stay there, because the plan reads from the cache."""
    return not gateway.rewrites_above_cached and gateway.reads_cache()


def _paths(boundary: Node) -> tuple[tuple[int, ...], ...]:
    """Return the paths of a boundary; for a table function, also the path of the join that calls
    it.
    """
    join = table_function(boundary) is not None
    return (boundary.path, (*boundary.path, 0)) if join else (boundary.path,)


def _as_read(gateway: Gateway, plan: Handle, root: Node, *, python: bool) -> tuple[Handle, Node]:
    """Return the plan in the form in which it is read: definitions (WITH) replace the references to
    them, and scalar UDFs and results of aggregate functions are columns of their own. What is
    read from the cache stays as it is.
    """
    steps: list[Callable[[Handle], Handle]] = [
        gateway.inline_definitions,
        lambda p: gateway.project_computations(p, gateway.tree(p)),
    ]
    steps += [lambda p: gateway.separate_functions(p, gateway.tree(p))] if python else []
    try:
        for step in steps:
            apart = gateway.rewrite_above_cached(plan, step)
            if apart is not plan:
                plan, root = apart, gateway.tree(apart)
    except GatewayError:
        pass  # the plan stays as written
    return plan, root


def _simplify(gateway: Gateway, plan: Handle) -> Handle:
    """Remove columns that nobody reads, and compute constants. The plan is left as it is if its
    schema would change: a constant is not nullable.
    """
    try:
        simplified_plan = gateway.rewrite_above_cached(plan, gateway.simplify_plan)
        return simplified_plan if gateway.same_output(plan, simplified_plan) else plan
    except GatewayError:
        return plan


def session_declines(gateway: PlanReader, plan: Handle) -> Declined | None:
    """Explain why nothing in this plan is moved, whatever the plan is; None if plans can be
    moved.
    """
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


def _open_site(opened: Opened, site: Site, against: Declined | None) -> OpenSite:
    where = _where(opened, site) if opened.reading.for_report else ""
    problem = against or _problem(opened, site)
    boundary = site.boundary
    is_table = table_function(boundary) is not None
    operator = TABLE_FUNCTION if is_table else boundary.kind.removeprefix(LOGICAL)
    name = function_name(boundary)
    conjuncts = tuple(_print_conjuncts(opened, site)) if opened.reading.for_report else ()
    return OpenSite(site.number, boundary.path, operator, name, where, problem, conjuncts)


@or_declined
def _problem(opened: Opened, site: Site) -> SiteProblem | Declined:
    gateway, plan = opened.gateway, opened.plan
    unread = gateway.explain_unread(gateway.node(plan, site.boundary.path))
    if unread is not None:
        return unread
    if gateway.reads_cache() and is_cached(gateway, site, plan):
        return Declined("cached", CACHED)
    return read_problem(gateway, site, plan, opened.setting)


CACHED = "the result is cached, and recomputing it would not pay; filter before it is cached"


def is_cached(gateway: PlanReader, site: Site, plan: Handle) -> bool:
    """Whether the boundary's result comes from the cache: the boundary is cached, or an operator
    that contains it, or all operators that a pre-filter would be below.
    """
    paths = {n.path for n in (site.boundary, *site.nodes)}
    paths |= {site.input.path[:n] for n in range(len(site.input.path))}
    return any(gateway.is_cached(gateway.node(plan, p)) for p in sorted(paths, reverse=True))


def _where(opened: Opened, site: Site) -> str:
    """Print the filters as Spark prints them."""
    gateway = opened.gateway
    conditions = [gateway.condition(gateway.node(opened.plan, n.path)) for n in site.filters]
    return " AND ".join(gateway.sql(c) for c in conditions) or "a part of a join's condition"


def _print_conjuncts(opened: Opened, site: Site) -> Iterator[FilterConjunct]:
    """Print the conjuncts of the filters that are about the boundary's rows."""
    gateway = opened.gateway
    for moved in site.arriving:
        node, parts = site.nodes[moved.operator], site.conjuncts[moved.operator]
        if moved.conjunct < len(parts):
            condition = gateway.condition(gateway.node(opened.plan, node.path))
            for side in parts[moved.conjunct].route:
                condition = gateway.operand(condition, side)
            yield FilterConjunct(moved.operator, moved.conjunct, gateway.sql(condition))


def function_name(node: Node) -> str:
    """Return the names of the functions in an operator."""
    node = node.children[0] if is_pivot(node) else node
    lists = [node.fields.get(name, []) for name in ("aggregateExpressions", "projectList")]
    trees = [*lists[0], *lists[1], node.fields.get("functionExpr", [])]
    names = [str(n["name"]) for t in trees for n in t if "evalType" in n]
    table = table_function(node)
    if table is not None:
        names = [str(table["name"])]
    if not names:
        calls = [list_fold(t) or native_call(t) for t in trees if any(_is_call(n) for n in t)]
        names = [c.name for c in calls]
    return ", ".join(dict.fromkeys(names))


def _is_call(node: JsonNode) -> bool:
    return bool(node["class"] == AGGREGATE_EXPRESSION)


def input_names(site: SiteProblem) -> dict[str, Var]:
    """Return the names that a fact about a row may use: the columns that the fold reads, and the
    keys.
    """
    fold = site.problem.fold
    rows = {c.name: fold.column(c.name) for c in fold.columns if not c.hidden}
    return {**rows, **{c.name: fold.key(c.name) for c in fold.keys}}


def facts(opened: Opened, site: SiteProblem) -> tuple[Fact, ...]:
    """Return the facts about the columns of the assumptions. May open files' footers."""
    try:
        return known_facts(opened.gateway, opened.plan, site.input, site.problem.assumptions)
    except GatewayError:
        return ()


def lift_with_bounds(
    opened: Opened, site: SiteProblem
) -> tuple[SiteProblem, dict[Assumption, str]]:
    """Lift the site's functions once more, with the number of rows and the values of the files.
    Return the site, and the results and sums that fit their types because of these bounds.
    """
    size_assumptions = [a for a in site.problem.assumptions if is_of_size(a)]
    if not size_assumptions:
        return site, {}
    try:
        setting = with_extent(opened.gateway, opened.plan, site.input, opened.setting)
        if setting is None:
            return site, {}
        again = read_problem(opened.gateway, site.site, opened.plan, setting)
    except (DeclineSignal, GatewayError):
        return site, {}
    fits = {a: BY_FOOTERS for a in size_assumptions if a not in again.problem.assumptions}
    if not fits:
        return site, {}
    problem = replace(again.problem, assumptions=(*again.problem.assumptions, *fits))
    return replace(again, problem=problem), fits


@or_declined
def plan_edit(opened: Opened, site: SiteProblem, prefilter: Term, residual: Term) -> SiteEdit:
    """Return the changes of the plan for a proven pushdown."""
    return edit(site, prefilter, residual, opened.timezone)


def data_check(opened: Opened, site: SiteProblem, condition: Term) -> Check | None:
    """Prepare to count the input rows of a site that satisfy a condition, if that is cheap."""
    try:
        return check_of(opened.gateway, opened.plan, site.input, condition, opened.timezone)
    except GatewayError:
        return None


@or_declined
def plan_guarded(
    opened: Opened, site: SiteProblem, prefilter: Term, breaking: Term, about: Iterable[Var]
) -> SiteEdit:
    """Return the changes for a pushdown that is proved if no row is ``breaking`` an assumption,
    which is ``about`` these columns.
    """
    if _is_of_batches(site, about):
        raise DeclineSignal("assumption", "rows that break it are in one batch with others")
    by = classes(opened.gateway, site.boundary, site.site.input, opened.plan)
    return guarded_edit(site, prefilter, breaking, by, opened.timezone)


def _is_of_batches(site: SiteProblem, about: Iterable[Var]) -> bool:
    """Whether a row that breaks an assumption may affect the results for other rows of its batch,
    and a guard by rows changes the batches. That is so if the function is not read, and if pandas
    chooses the type of a column by whether the batch contains a NULL.
    """
    boundary = site.boundary
    if site.opaque and boundary.single and boundary.kind != "Project":
        return True
    batches = boundary.kind in MAPS or any(call.whole for call in boundary.calls)
    sorts = [strip(v.sort) for v in about]
    return batches and any(s in (INT, BOOL) or isinstance(s, COMPOSITES) for s in sorts)


@or_declined
def apply_edits(opened: Opened, edits: tuple[SiteEdit, ...]) -> DataFrame:
    """Build the DataFrame with all edits applied: the same columns with the same attribute
    numbers.
    """
    gateway = opened.gateway
    plan = rewrite_plan(gateway, opened.plan, edits, opened.timezone)
    if any(site_edit.site.sources().claims for site_edit in edits):
        plan = gateway.own_readers(plan)
    return dataframe_of(gateway, plan, opened.plan)[0]


@or_declined
def with_own_listings(opened: Opened, df: DataFrame) -> DataFrame:
    """Make the DataFrame read the very files whose footers were read."""
    gateway = opened.gateway
    plan = gateway.analyze_plan(df)
    own = gateway.own_listings(plan)
    return df if own is plan else gateway.dataframe(own)


def is_same(opened: Opened, df: DataFrame) -> bool:
    """Whether the DataFrame has the very plan that was opened."""
    try:
        return opened.gateway.same(opened.plan, opened.gateway.analyze_plan(df))
    except GatewayError:
        return False


def peer_orders(opened: Opened, written: DataFrame, rewritten: DataFrame) -> tuple[PeerOrder, ...]:
    """Find places where another order of peers may show in the ``rewritten`` DataFrame."""
    gateway = opened.gateway
    try:
        plans = (
            gateway.inline_definitions(gateway.analyze_plan(df)) for df in (written, rewritten)
        )
        return changed_peer_orders(*map(gateway.tree, plans))
    except (DeclineSignal, GatewayError):
        return ()


def scan_filters(opened: Opened, df: DataFrame) -> tuple[Scans, ...]:
    """Return the filters that reach the scans below each boundary of a DataFrame, by number."""
    gateway = opened.gateway
    try:
        plan = gateway.analyze_plan(df)
        root = gateway.tree(plan)
        return tuple(scans_below(gateway, plan, root, node) for node in boundaries(root))
    except (DeclineSignal, GatewayError):
        return ()


def drawing(opened: Opened, df: DataFrame) -> str:
    """Return Spark's drawing of the optimized logical plan; empty if there is none."""
    try:
        return opened.gateway.optimized_text(opened.gateway.analyze_plan(df))
    except GatewayError:
        return ""


def scan_contracts(opened: Opened, df: DataFrame) -> tuple[ScanContract, ...]:
    """Return how the scans of a DataFrame evaluate its filters; nothing on Spark Connect, whose
    clients do not see plans.
    """
    from presieve.backend.classic.gateway import ClassicGateway
    from presieve.backend.classic.scans.contracts import contracts

    gateway = opened.gateway
    return contracts(gateway, df) if isinstance(gateway, ClassicGateway) else ()


def written_rows(opened: Opened) -> dict[int, int]:
    """Return how many rows the plan hands to its boundaries, by their numbers, as far as footers
    tell that with certainty.
    """
    try:
        root = opened.gateway.tree(opened.plan)
        counts = rows_into(opened.gateway, opened.plan, root, boundaries(root))
    except (DeclineSignal, GatewayError):
        return {}
    return {number: rows for number, rows in enumerate(counts) if rows is not None}


def scan_sizes(opened: Opened) -> tuple[Size, ...]:
    """Return the sizes of the files of the scans, if they can be seen from here."""
    try:
        return sizes(opened.gateway, opened.plan, opened.gateway.tree(opened.plan))
    except (DeclineSignal, GatewayError):
        return ()
