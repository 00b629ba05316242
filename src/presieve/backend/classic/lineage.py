"""Trusted. Which rows of its sources a plan needs: what its optimized form reads of each of them.

Spark's optimizer puts filters right above the sources, and what it puts there is not needed for
the result. A source that is read twice needs what either place needs. The plan is optimized as if
nothing were cached, by a copy of the session without rules that evaluate rows of the program, add
filters that depend on rows, or change columns of a source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from presieve.backend.catalyst.row_effects import reasons
from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.classic.guarded import each, guarded, java_class, simple_class
from presieve.backend.classic.names import source_name, unqualified
from presieve.backend.classic.parts import conjuncts
from presieve.backend.gateway import Handle

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

    from presieve.backend.classic.gateway import ClassicGateway

_RULES = "org.apache.spark.sql.catalyst.optimizer."
_EXECUTION = "org.apache.spark.sql.execution."
_EXCLUDED = (
    *(_RULES + name for name in ("ConvertToLocalRelation", "InjectRuntimeFilter")),
    *(_RULES + name for name in ("MergeScalarSubqueries", "MergeSubplans")),
    _EXECUTION + "dynamicpruning.PartitionPruning",
    _EXECUTION + "datasources.SchemaPruning",
    _EXECUTION + "datasources.PushVariantIntoScan",
    _EXECUTION + "OptimizeMetadataOnlyQuery",
)
_RULES_OFF = "spark.sql.optimizer.excludedRules"
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_COMPARISONS = frozenset(
    _EXPRESSIONS + name
    for name in (
        "EqualTo",
        "LessThan",
        "LessThanOrEqual",
        "GreaterThan",
        "GreaterThanOrEqual",
        "In",
    )
) | {_EXPRESSIONS + name for name in ("InSet", "StartsWith", "EndsWith", "Contains", "Like")}
"""What is not true of NULL."""

IN_SUBQUERY = "a subquery reads it"
LOST = "what Spark reads of it cannot be told"
PARTLY = "a filter on it cannot stand alone"
INSIDE = "what its scan filters by itself cannot be told"
_V2_SCAN = ".DataSourceV2ScanRelation"


@dataclass(frozen=True, slots=True)
class NeededRows:
    """The rows of one source: their condition in SQL, why the condition may not be all that Spark
    filters it by, and why rows that pass may not matter.
    """

    name: str
    columns: tuple[str, ...]
    condition: str
    unseen: tuple[str, ...]
    reasons: tuple[str, ...]
    rows: DataFrame


@dataclass(slots=True)
class _Source:
    """The same relation at all its places in the analyzed plan; the conditions are on the columns
    of the first. A condition of None keeps all rows.
    """

    leaves: list[Handle]
    conditions: list[Handle | None] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


@guarded
def filtered(df: DataFrame, where: str) -> DataFrame:
    """Those of its rows. Raises :class:`GatewayError` where Spark does not accept the condition."""
    return df.where(where)


@guarded
def needed_rows(gateway: ClassicGateway, plan: Handle) -> list[NeededRows]:
    """For each source of an analyzed plan, in order. Raises :class:`GatewayError`."""
    places = [leaf for part in (plan, *_subqueries(plan)) for leaf in _leaves(part)]
    sources: list[_Source] = []
    for leaf in places:
        same = [s for s in sources if bool(s.leaves[0].sameResult(leaf))]
        if same:
            same[0].leaves.append(leaf)
        elif simple_class(leaf) not in _NO_SOURCES:
            sources.append(_Source([leaf]))
    optimized = _optimize(gateway, plan)
    _read_uses(gateway, optimized, (), sources)
    for part in _subqueries(optimized):
        _read_uses(gateway, part, (IN_SUBQUERY,), sources)
    return [_describe_source(gateway, source) for source in sources]


_NO_SOURCES = ("OneRowRelation$", "CTERelationRef")


def _optimize(gateway: ClassicGateway, plan: Handle) -> Handle:
    """The plan after Spark's optimizer, under the settings of the plan's session but for rules."""
    sessions = java_class(gateway.spark._jvm, "org.apache.spark.sql.SparkSession")
    active = sessions.getActiveSession()
    copy = gateway.jsession.cloneSession()
    off = (gateway.conf(_RULES_OFF, ""), *_EXCLUDED)
    copy.conf().set(_RULES_OFF, ",".join(filter(None, off)))
    sessions.setActiveSession(copy)
    try:
        return copy.sessionState().optimizer().execute(plan)
    finally:
        if active.isDefined():
            sessions.setActiveSession(active.get())
        else:
            sessions.clearActiveSession()


def _subqueries(plan: Handle) -> list[Handle]:
    return list(each(plan.subqueriesAll()))


def _leaves(plan: Handle) -> Iterator[Handle]:
    return each(plan.collectLeaves())


def _numbers(leaf: Handle) -> dict[int, int]:
    """The positions of a relation's columns by their numbers in the plan."""
    return {int(a.exprId().id()): place for place, a in enumerate(each(leaf.output()))}


def _read_uses(
    gateway: ClassicGateway, plan: Handle, why: Sequence[str], sources: Sequence[_Source]
) -> None:
    """Take in what an optimized plan reads of the sources."""
    root = gateway.tree(plan)
    for node in walk(root):
        if node.children:
            continue
        leaf = gateway.node(plan, node.path)
        if _has_no_rows(leaf):
            continue
        use = _source_of(leaf, sources)
        if use is None:
            for source in sources:
                source.conditions.append(None)
                source.unseen.append(LOST)
            return
        source, places = use
        condition, is_complete = _condition(gateway, plan, node, source.leaves[0], places)
        source.conditions.append(condition)
        source.unseen += why if is_complete else (*why, PARTLY)
        if node.kind.endswith(_V2_SCAN):
            source.unseen.append(INSIDE)
        source.reasons += reasons(root, node.path[: _top(root, node)])


def _has_no_rows(leaf: Handle) -> bool:
    """Whether it is what the optimizer puts in the place of a plan that has none, or no source."""
    kind = simple_class(leaf)
    return kind in (*_NO_SOURCES, "EmptyRelation") or (
        kind == "LocalRelation" and bool(leaf.data().isEmpty())
    )


def _top(root: Node, leaf: Node) -> int:
    """How many steps lead from the root to the filter right above a leaf, or to the leaf."""
    above = root
    for child in leaf.path[:-1]:
        above = above.children[child]
    return len(leaf.path) - (above.kind.endswith(".Filter") and bool(leaf.path))


def _source_of(leaf: Handle, sources: Sequence[_Source]) -> tuple[_Source, dict[int, int]] | None:
    """The source that a relation of the optimized plan is, and the positions of its columns."""
    own = _numbers(leaf)
    for source in sources:
        for place in source.leaves:
            numbers = _numbers(place)
            if own.keys() & numbers.keys():
                return source, numbers
    for source in sources:
        if bool(source.leaves[0].sameResult(leaf)):
            return source, own
    return None


def _condition(
    gateway: ClassicGateway, plan: Handle, leaf: Node, columns: Handle, places: Mapping[int, int]
) -> tuple[Handle | None, bool]:
    """The filter right above a relation, as one on the columns of its source, and whether it is
    all of the filter.
    """
    if not leaf.path:
        return None, True
    above = gateway.node(plan, leaf.path[:-1])
    if not str(above.getClass().getName()).endswith(".Filter"):
        return None, True
    output = columns.output()
    parts = list(conjuncts(above.condition()))
    moved_parts, is_complete = [], True
    for part in parts:
        if _is_implied(part, parts):
            continue
        try:
            moved_parts.append(_move_columns(gateway, part, output, places))
        except _Unmovable:
            is_complete = False
    return _combine(gateway, "And", moved_parts), is_complete


class _Unmovable(Exception):
    """A condition rests on something else than the columns of its source."""


def _is_implied(part: Handle, parts: Sequence[Handle]) -> bool:
    """Whether it says of an operand that it is not NULL, which a comparison with it says, too."""
    if str(part.getClass().getName()) != _EXPRESSIONS + "IsNotNull":
        return False
    compared = (p for p in parts if str(p.getClass().getName()) in _COMPARISONS)
    return any(
        bool(operand.semanticEquals(part.child()))
        for comparison in compared
        for operand in each(comparison.children())
    )


def _move_columns(
    gateway: ClassicGateway, expression: Handle, output: Handle, places: Mapping[int, int]
) -> Handle:
    """The expression with the columns of another place of the same relation."""
    if gateway.mentions(expression, "PLAN_EXPRESSION") or not bool(expression.deterministic()):
        raise _Unmovable
    if str(expression.getClass().getName()) == _EXPRESSIONS + "AttributeReference":
        place = places.get(int(expression.exprId().id()))
        if place is None or str(output.apply(place).dataType()) != str(expression.dataType()):
            raise _Unmovable
        return output.apply(place)
    children = [_move_columns(gateway, c, output, places) for c in each(expression.children())]
    return expression.withNewChildren(gateway.seq(children)) if children else expression


def _combine(gateway: ClassicGateway, name: str, parts: Sequence[Handle]) -> Handle | None:
    operator = java_class(gateway.spark._jvm, _EXPRESSIONS + name)
    combination = None
    for part in parts:
        combination = part if combination is None else operator(combination, part)
    return combination


def _describe_source(gateway: ClassicGateway, source: _Source) -> NeededRows:
    leaf = source.leaves[0]
    columns = tuple(str(a.name()) for a in each(leaf.output()))
    unseen, why = (tuple(dict.fromkeys(texts)) for texts in (source.unseen, source.reasons))
    if not source.conditions:  # the optimized plan does not read it
        none = gateway.filter_sql("false", leaf)
        return NeededRows(source_name(leaf), columns, "false", (), (), gateway.dataframe(none))
    conditions = [c for c in source.conditions if c is not None]
    needs_all_rows = len(conditions) < len(source.conditions)
    condition = None if needs_all_rows else _combine(gateway, "Or", _drop_duplicates(conditions))
    rows = gateway.filter(condition, leaf, leaf)
    tree = gateway.condition_tree(rows)
    text = "true" if tree is None else unqualified(gateway, gateway.condition(rows), tree)
    return NeededRows(source_name(leaf), columns, text, unseen, why, gateway.dataframe(rows))


def _drop_duplicates(conditions: Sequence[Handle]) -> list[Handle]:
    distinct_conditions: list[Handle] = []
    for condition in conditions:
        if not any(bool(condition.semanticEquals(previous)) for previous in distinct_conditions):
            distinct_conditions.append(condition)
    return distinct_conditions
