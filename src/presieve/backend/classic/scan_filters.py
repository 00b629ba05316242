# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find the files and functions of a plan, with the conditions under which it uses their
rows.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from presieve.backend.catalyst.boundary import (
    is_boundary,
    is_hopeless,
    made_of_rows,
    simple_kind,
)
from presieve.backend.catalyst.leaf_conditions import (
    Facts,
    about,
    conjunction,
    facts_above,
    facts_of,
    facts_of_leaves,
)
from presieve.backend.catalyst.operators import JOIN
from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    LIKE,
    Conjunct,
    Node,
    Tree,
    expr_id,
    node_at,
    split_conjuncts,
    walk,
)
from presieve.backend.catalyst.windows import is_windowed
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.display_names import (
    name_results,
    print_conjunction,
    source_name,
)
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.py4j_errors import simple_class, translate_errors
from presieve.backend.classic.scans import iceberg
from presieve.backend.classic.scans.current_times import (
    NO_TIMES,
    CurrentTimes,
    name_symbols,
    with_symbols,
)
from presieve.backend.classic.scans.plan_leaves import CACHED, leaves_of
from presieve.backend.classic.split_aggregate_arguments import computed_arguments, with_columns
from presieve.backend.classic.time_zones import zones
from presieve.backend.effects.trusted_scans import ICEBERG, describe_scans
from presieve.backend.filter_placement.joins import is_paired
from presieve.backend.filter_placement.sides import columns_of
from presieve.backend.gateway import Gateway, GatewayError, Handle, LeafSource, PlanView
from presieve.backend.open_plan import Opened, function_name, or_declined, session_declines
from presieve.backend.statistics.estimates import local
from presieve.errors import Declined
from presieve.ir.terms import App, Op, Term, Var
from presieve.ir.walk import computes, variables
from presieve.records import replace
from presieve.semantics.intervals import ValueSet
from presieve.sql.catalyst import expression
from presieve.sql.piecewise import Zones

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

_FORMATS = ("parquet.ParquetFileFormat", "orc.OrcFileFormat")
_CONDITIONS = re.compile(r"^[ :+-]*(?:Filter|Join)\b(.*)", re.MULTILINE)
_PROJECTIONS = re.compile(r"^[ :+-]*(?:Project|Aggregate)\b(.*)", re.MULTILINE)
_COMPUTED = re.compile(
    r"\b(?:CASE|R?LIKE|StartsWith|coalesce|nullif|nvl2|greatest|least|trunc|date_trunc"
    r"|from_unixtime|gettimestamp|to_timestamp|year|quarter|month|day|dayof(?:year|month|week)|weekday|hour|array_contains"
    r"|date_format|left|substring|substr|datediff|date_add|date_sub|add_months|last_day|abs|floor|ceil|nvl|ifnull"
    r"|if|atleastnnonnulls|unix_\w+|date_part|extract|to_date|timestamp_\w+|cast\([^()]*#)\b"
    r"|#\w+ (?:[-+*/]|div) | (?:[-+*/]|div) \w+#|-\w+#|#\d+L?\)? [<>]=? (?:outer\()?\w+#"
    r"| IN \(list#",
    re.IGNORECASE,
)
"""Expressions in Spark's drawing of a plan that can be traced to a column."""
_COMPARED = re.compile(r"#(\d+)L? ([<>=])=? ([-+:.\w]+(?: \d\d:\d\d[:.\d]*)?)\)")
"""A column, a sign and a constant in Spark's drawing of a condition."""
_GENERATED = re.compile(r"^[ :+-]*(?:Generate|Expand)\b.*\[([^\[\]]*)\]$", re.MULTILINE)
_CALL = r"(?:max|min|sum|count|count_if|bool_or|bool_and|max_by|min_by)\("
_AGGREGATED = re.compile(
    rf"^[ :+-]*Aggregate\b.*(?:\({_CALL}|\b{_CALL}(?:distinct )?[^#()]*[-+*/(])", re.MULTILINE
)
"""An aggregate function of a computed argument, or an aggregate function inside an expression."""
_EQUAL_TO_A_WINDOW = re.compile(
    r"^[ :+-]*Filter\b.*#\d+L? = \w+#\d+(?s:.*)^[ :+-]*Window\b", re.MULTILINE
)
"""A filter that compares columns, somewhere above a window."""
_FILES = re.compile(r"^[ :+-]*Relation(?: .*\] (?:parquet|orc)$|V2\b)", re.MULTILINE)
LARGE = 10_000
"""Length of a plan's drawing, in characters, above which reading the plan takes longer than the
search in it.
"""
_NUMBER = re.compile(r"#(\d+)")
_NAMED = re.compile(r" AS [^#\n]*?#(\d+)")


def _computes(drawing: str) -> bool:
    """Whether the plan reads files, and a condition computes something, or may be on a column that
    a projection computes, or contradicts another one.
    """
    if not _FILES.search(drawing):
        return False
    conditions = _CONDITIONS.findall(drawing)
    if any(map(_COMPUTED.search, conditions)) or _contradict(conditions):
        return True
    condition_ids = {n for line in conditions for n in _NUMBER.findall(line)}
    computed_ids = [_NAMED.findall(p) for p in _PROJECTIONS.findall(drawing) if _COMPUTED.search(p)]
    computed_ids += [_NUMBER.findall(outputs) for outputs in _GENERATED.findall(drawing)]
    return not all(map(condition_ids.isdisjoint, computed_ids))


def _contradict(conditions: Iterable[str]) -> bool:
    """Whether two comparisons of one column with constants may exclude each other."""
    least: dict[str, str] = {}
    most: dict[str, str] = {}
    for column, sign, constant in _COMPARED.findall("\n".join(conditions)):
        if sign != "<":
            least[column] = max(least.get(column, constant), constant, key=_in_order)
        if sign != ">":
            most[column] = min(most.get(column, constant), constant, key=_in_order)
    return any(_in_order(least[c]) > _in_order(most[c]) for c in least.keys() & most.keys())


def _in_order(constant: str) -> tuple[float, str]:
    """Numbers in their order, and everything else by its text."""
    try:
        return float(constant), ""
    except ValueError:
        return math.inf, constant


class ScanFilterSearch(Struct, frozen=True):
    """What to search for. ``follows`` says whether a condition may imply something for single
    columns, where symbols of the current time have values in these sets. ``declared`` are facts
    about columns that are computed from others. ``trusting``: also accept sources that are not
    known to apply filters as Spark does. ``first``: read the optimized form of a large plan, to see
    whether there is anything to gain.
    """

    follows: Callable[[Tree, Zones, Mapping[int, ValueSet]], bool]
    declared: tuple[str, ...] = ()
    trusting: bool = False
    first: bool = False


class RowSource(Struct, frozen=True):
    """Files at a place in the plan, or an ``operator`` there.

    A row is needed if one of the ``conditions`` (Catalyst trees) is true. ``evaluated`` is
    everything that is computed for a row before it is dropped. ``columns`` and their ``types``, by
    number, are the columns that proofs can mention. ``drawn`` gives the conditions in SQL for a
    person. ``files`` are paths on this machine; the tuple is empty if some files are elsewhere.
    ``asked``: Spark can be asked how much a scan skips. ``claims``: the source is taken at its
    word. ``facts`` are declared facts about columns that are computed from others.
    """

    path: tuple[int, ...]
    name: str
    conditions: tuple[Tree, ...]
    evaluated: tuple[Tree, ...]
    columns: Mapping[int, Var]
    types: Mapping[int, str]
    files: tuple[str, ...]
    drawn: tuple[Callable[[], str], ...]
    operator: str = ""
    asked: bool = False
    claims: bool = False
    facts: Mapping[str, Tree] = field(default_factory=dict)

    @property
    def sql(self) -> str:
        """The conditions. Each part of a condition costs a few calls of the JVM."""
        return " OR ".join(drawn() for drawn in self.drawn)


class RowSources(Struct, frozen=True):
    """The sources of a plan for which filters may be derived. ``changed``: the plan differs from
    the DataFrame's own plan, and more may be provable about it. ``first``: the plan is only
    inspected. ``times`` are the symbols in the conditions for the current time.
    """

    gateway: ClassicGateway
    plan: Handle
    timezone: str
    zones: Zones
    found: tuple[RowSource, ...] = ()
    changed: bool = False
    first: bool = False
    times: CurrentTimes = NO_TIMES


@or_declined
@translate_errors
def open_sources(opened: Opened, df: DataFrame, search: ScanFilterSearch) -> RowSources | None:
    """Find the sources of a DataFrame in a classic session. None if no filter computes anything and
    nothing is declared, if no condition implies anything, or if rows may come from a cache.
    """
    gateway = opened.gateway
    if not isinstance(gateway, ClassicGateway):
        return None
    plan = gateway.analyze_plan(df)
    if not _may_derive(gateway, plan, (lambda _: True) if search.declared else _computes):
        return None
    if not search.trusting and not _has_known_source(gateway, plan):
        return None
    plan = gateway.join_subqueries(gateway.inline_definitions(plan))
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    read, times = with_symbols(gateway, plan, timezone)
    optimized = gateway.optimize_plan(df, read)
    root = gateway.tree(optimized)
    name_symbols(root, times)
    if any(n.kind == CACHED for n in walk(root)):
        return None
    conditions = _Conditions(gateway, optimized, root, times)
    if not search.declared and not conditions.promise(search, timezone):
        return None
    first = search.first and len(gateway.text(plan)) > LARGE and not any(map(_is_scan, walk(root)))
    plan, written = (optimized, root) if first else (plan, gateway.tree(plan))
    uses, others = facts_of(written, root, beside=bool(optimized.deterministic()))
    if _are_copies(gateway, written, plan, others, optimized):
        return None
    places = ((plan, written, path) for path in uses)
    row_sources = (_source(conditions, search, at, uses[at[2]]) for at in places)
    sources = _sources(gateway, plan, timezone, row_sources)
    return replace(sources, first=first, times=times)


def _has_known_source(gateway: ClassicGateway, plan: Handle) -> bool:
    return any(_is_known(leaf.source) for leaf in leaves_of(gateway, plan))


def _is_known(source: LeafSource) -> bool:
    """Whether scans of the source are known to apply filters on some columns as they say."""
    return source.names == ICEBERG or any(name.endswith(_FORMATS) for name in source.names)


@or_declined
@translate_errors
def open_functions(gateway: Gateway, df: DataFrame) -> RowSources | None:
    """Find the operators of a plan that filters pass by a proof, and conditions on their outputs
    that such proofs do not read. ``year(m) = 2024`` implies a range of ``m``. None if no filter
    computes anything, on Spark Connect, and if the plan reads from the cache, which Spark finds by
    the plan as written.
    """
    if not isinstance(gateway, ClassicGateway):
        return None
    plan = gateway.analyze_plan(df)
    if not gateway.may_have_site(plan, skip_hopeless=True) and not gateway.has_filtered(plan):
        return None
    looks = (_computes, _AGGREGATED.search, _EQUAL_TO_A_WINDOW.search)
    if not _may_derive(gateway, plan, lambda text: any(look(text) for look in looks)):
        return None
    if gateway.reads_cache() or not gateway.deterministic(plan):
        return None
    if gateway.mentions(plan, "CURRENT_LIKE"):
        return None
    simplified = plan = gateway.simplify_plan(gateway.inline_definitions(plan))
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    if _AGGREGATED.search(gateway.text(plan)):
        plan = gateway.project_computations(plan, gateway.tree(plan))
        plan = _with_columns(gateway, plan, timezone)
    read = gateway.replace_calls(plan)
    root = gateway.tree(read)
    conditions = _Conditions(gateway, read, root)
    row_sources = (_function(conditions, plan, timezone, *a) for a in facts_above(root, _is_proved))
    return replace(_sources(gateway, plan, timezone, row_sources), changed=plan is not simplified)


def _with_columns(gateway: ClassicGateway, plan: Handle, timezone: str) -> Handle:
    """Turn arguments of aggregate functions into columns, where that helps."""
    computed = computed_arguments(gateway, plan, gateway.tree(plan), timezone)
    return with_columns(Parts(gateway), plan, computed) if computed else plan


def _is_proved(node: Node) -> bool:
    boundary = is_boundary(node) and not is_hopeless(node)
    return boundary or is_windowed(node) or is_paired(node)


def _function(
    conditions: _Conditions, plan: Handle, timezone: str, node: Node, facts: Facts
) -> RowSource | None:
    """Describe the conditions on an operator's rows; None if proofs read all of them as they
    are.
    """
    from_rows = made_of_rows(node)
    attributes = conditions.gateway.attributes(conditions.gateway.node(plan, node.path))
    names = Counter(a.name.lower() for a in attributes)
    plain = [a for a in attributes if names[a.name.lower()] == 1]
    mine = tuple(a for a in plain if a.id in from_rows or not from_rows)
    columns, _ = columns_of(mine)
    types = {a.id: a.type for a in mine}
    condition = conditions.of(facts, types)
    if condition is None:
        return None
    tree, drawn = condition
    terms = [expression(c.tree, columns, timezone) for c in split_conjuncts(tree)]
    equal = is_windowed(node) and any(map(_equates_columns, terms))
    if not equal and not any(isinstance(term, Declined) or computes(term) for term in terms):
        return None
    name, evaluated = function_name(node), tuple(conditions.list_evaluated(facts))
    operator = simple_kind(node)
    return RowSource(node.path, name, (tree,), evaluated, columns, types, (), (drawn,), operator)


def _equates_columns(term: Term | Declined) -> bool:
    return isinstance(term, App) and term.op is Op.SQL_EQ and len(variables(term)) == 2


def _may_derive(gateway: ClassicGateway, plan: Handle, looks: Callable[[str], object]) -> bool:
    """Whether the plan's conditions may imply something. ``looks`` inspects Spark's drawing of the
    plan.
    """
    if not gateway.mentions(plan, "FILTER", "JOIN"):
        return False
    if gateway.is_streaming(plan) or _is_legacy(gateway) or not looks(gateway.text(plan)):
        return False
    return session_declines(gateway, plan) is None


def _sources(
    gateway: ClassicGateway, plan: Handle, timezone: str, candidates: Iterable[RowSource | None]
) -> RowSources:
    sources = tuple(s for s in candidates if s is not None)
    known_zones = _zones(gateway, timezone, (c for s in sources for c in s.conditions))
    return RowSources(gateway, plan, timezone, known_zones, sources)


def _are_copies(
    gateway: ClassicGateway, written: Node, plan: Handle, others: Sequence[Node], optimized: Handle
) -> bool:
    """Whether a leaf of the optimized plan reads the same as a source of the plan under other
    numbers: a definition that is used twice has copies.
    """
    mine = [gateway.node(plan, n.path) for n in walk(written) if not n.children]
    theirs = [_relation(gateway.node(optimized, n.path)) for n in others]
    return any(bool(a.sameResult(b)) for a in mine for b in theirs)


def _is_scan(node: Node) -> bool:
    """Whether the node is a scan of a V2 source that was handed something; such a scan is another
    leaf than its relation.
    """
    return node.kind.endswith("ScanRelation")


def _relation(leaf: Handle) -> Handle:
    """Return the relation of an optimized plan's leaf, as it was before the source was handed
    anything.
    """
    scanned_ = simple_class(leaf) == "DataSourceV2ScanRelation"
    return leaf.relation() if scanned_ else leaf


def _is_legacy(gateway: ClassicGateway) -> bool:
    """Whether days are written in the calendar of ``SimpleDateFormat``."""
    return gateway.conf("spark.sql.legacy.timeParserPolicy", "CORRECTED").upper() == "LEGACY"


class _Conditions(Struct, frozen=True):
    """The conditions of an optimized plan."""

    gateway: ClassicGateway
    plan: Handle
    root: Node
    times: CurrentTimes = NO_TIMES
    handles: dict[tuple[tuple[int, ...], tuple[str, ...]], Handle] = field(default_factory=dict)

    def of(self, facts: Facts, columns: Collection[int]) -> tuple[Tree, Callable[[], str]] | None:
        """Return the condition that holds at one use of a source: as a tree for the checker, and as
        a function that gives its SQL for a person.
        """
        computed = {n: t for n, t in facts.computed.items() if not _has_like(t)}
        parts = about(replace(facts, computed=computed), columns)
        if not parts:
            return None
        trees = [self._with_escapes(*part) for part in parts]
        return conjunction(trees), partial(self._sql, parts, trees)

    def list_evaluated(self, facts: Facts) -> Iterator[Tree]:
        """Yield everything that is computed at one use of a source, including conditions that are
        not followed.
        """
        yield from (self._with_escapes(*part) for part in facts.conditions)
        yield from facts.computed.values()
        yield from facts.generators

    def promise(self, search: ScanFilterSearch, timezone: str) -> bool:
        """Whether something follows for some leaf, if everything that may hold there does hold.
        This is tested before the plan as written is read.
        """
        leaves = facts_of_leaves(self.root)
        conditions = [self.of(facts, columns) for columns, facts in leaves]
        trees = [condition[0] for condition in conditions if condition is not None]
        known_zones = _zones(self.gateway, timezone, trees)
        known = {number: period.values for number, period in self.times.items()}
        return any(search.follows(tree, known_zones, known) for tree in trees)

    def _sql(self, parts: Sequence[tuple[tuple[int, ...], Conjunct]], trees: Sequence[Tree]) -> str:
        handles = (self._handle(path, part.route) for path, part in parts)
        pairs = zip(handles, trees, strict=True)
        text = name_results(print_conjunction(self.gateway, list(pairs)), self.root)
        names = [period.name for period in self.times.values()]
        return text.replace("scalarsubquery()", names[0] if len(names) == 1 else "now()")

    def _with_escapes(self, path: tuple[int, ...], part: Conjunct) -> Tree:
        """Return a condition with the escape character of each LIKE, which the JSON leaves out."""
        if not _has_like(part.tree):
            return part.tree
        likes = self.gateway.inside(self._handle(path, part.route), LIKE)
        escapes = (str(h.escapeChar()) for h in likes)
        return [{**n, "escapeChar": next(escapes)} if n["class"] == LIKE else n for n in part.tree]

    def _handle(self, path: tuple[int, ...], route: tuple[str, ...]) -> Handle:
        """Return a part of the condition of a filter or join. Each step of a route costs a call."""
        if (path, route) not in self.handles:
            self.handles[path, route] = (
                self.gateway.operand(self._handle(path, route[:-1]), route[-1])
                if route
                else self._condition(path)
            )
        return self.handles[path, route]

    def _condition(self, path: tuple[int, ...]) -> Handle:
        condition = self.gateway.condition(self.gateway.node(self.plan, path))
        return condition.get() if node_at(self.root, path).kind == JOIN else condition


def _has_like(tree: Tree) -> bool:
    return any(node["class"] == LIKE for node in tree)


def _source(
    conditions: _Conditions,
    search: ScanFilterSearch,
    place: tuple[Handle, Node, tuple[int, ...]],
    uses: Sequence[Facts],
) -> RowSource | None:
    """Describe files that Spark reads by itself, and their columns whose stored values scans
    compare as Spark does. None for other sources, and if every row may be needed.
    """
    gateway, (plan, root, path) = conditions.gateway, place
    if not all(facts.conditions for facts in uses):
        return None
    leaf = gateway.node(plan, path)
    view, source = PlanView(gateway, plan, root), gateway.source(leaf)
    scans = describe_scans(view, [path], native=False)
    claims = search.trusting and not scans.faithful
    if source.by_columns or not (claims or (scans.faithful and _is_known(source))):
        return None
    scans = scans.taken_at_their_word if claims else scans
    attributes = gateway.attributes(leaf)
    named, _ = columns_of(attributes)
    columns = {i: v for i, v in named.items() if not scans.aside([i])}
    types = {a.id: a.type for a in attributes}
    use_conditions = [conditions.of(facts, types) for facts in uses]
    needed = [condition for condition in use_conditions if condition is not None]
    if len(needed) < len(use_conditions):
        return None
    of_iceberg = source.names == ICEBERG
    uris = iceberg.some_files(leaf) if of_iceberg else gateway.parquet_files(leaf)
    paths = tuple(map(local, uris))
    files = tuple(p for p in paths if p is not None) if None not in paths else ()
    return RowSource(
        path,
        source_name(leaf),
        tuple(tree for tree, _ in needed),
        tuple(tree for facts in uses for tree in conditions.list_evaluated(facts)),
        columns,
        types,
        files,
        tuple(drawn for _, drawn in needed),
        asked=bool(files) or of_iceberg,
        claims=claims,
        facts={t: fact for t in search.declared if (fact := _fact(gateway, leaf, t))},
    )


def _fact(gateway: ClassicGateway, leaf: Handle, text: str) -> Tree | None:
    """Read a declared fact as a condition on several columns of these files; None if it is about
    other columns.
    """
    try:
        filtered = gateway.simplify_plan(gateway.replace_calls(gateway.filter_sql(text, leaf)))
        condition = gateway.condition(filtered)
    except GatewayError:
        return None
    tree: Tree = json.loads(gateway.json(condition))
    columns = {expr_id(node) for node in tree if node["class"] == ATTRIBUTE}
    if len(columns) < 2 or not bool(condition.deterministic()) or _has_like(tree):
        return None
    return tree


def _zones(gateway: ClassicGateway, timezone: str, conditions: Iterable[Tree]) -> Zones:
    """Return the session's time zone and the zones that conditions name."""
    named = (n.get("timeZoneId") for condition in conditions for n in condition)
    return zones(gateway, timezone, {name for name in named if isinstance(name, str)})
