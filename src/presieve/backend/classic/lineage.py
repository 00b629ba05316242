# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which rows of its sources a plan needs, from the scans of its optimized form.

Spark's optimizer puts filters right above the sources; rows that these filters drop are not needed
for the result. If a source is read twice, the rows that either place reads are needed. The plan is
optimized as if nothing were cached, in a copy of the session without rules that evaluate rows of
the program, add filters that depend on rows, or change columns of a source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.row_effects import reasons
from presieve.backend.catalyst.trees import AND, ATTRIBUTE, OR, Node, walk
from presieve.backend.classic.catalyst_builder import conjuncts
from presieve.backend.classic.display_names import print_unqualified, source_name
from presieve.backend.classic.py4j_errors import (
    class_name,
    each,
    java_class,
    simple_class,
    translate_errors,
)
from presieve.backend.gateway import Handle
from presieve.sql.expressions import predicates, textual
from presieve.sql.expressions.entry import class_names

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
_TEXT_TESTS = (textual.STARTS_WITH, textual.ENDS_WITH, textual.CONTAINS, textual.LIKE)
_COMPARISONS = class_names((*predicates.COMPARISONS, *_TEXT_TESTS))
"""Conditions that are not true if an operand is NULL."""
_MEMBERSHIPS = class_names((predicates.IN, predicates.IN_SET))
"""Conditions that are not true if the first operand is NULL."""

IN_SUBQUERY = "a subquery reads it"
LOST = "what Spark reads of it cannot be told"
PARTLY = "a filter on it cannot stand alone"
INSIDE = "what its scan filters by itself cannot be told"
_V2_SCAN = ".DataSourceV2ScanRelation"


class NeededRows(Struct, frozen=True):
    """The needed rows of one source. ``condition`` is their condition in SQL, ``unseen`` says why
    Spark may filter the source by more, and ``reasons`` why rows that pass may not matter.
    """

    name: str
    columns: tuple[str, ...]
    condition: str
    unseen: tuple[str, ...]
    reasons: tuple[str, ...]
    rows: DataFrame


@dataclass(slots=True)
class _Source:
    """A relation at all its places in the analyzed plan. The conditions are on the columns of the
    first place. The condition None keeps all rows.
    """

    leaves: list[Handle]
    conditions: list[Handle | None] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


@translate_errors
def apply_filter(df: DataFrame, where: str) -> DataFrame:
    """Filter the DataFrame. Raises :class:`GatewayError` if Spark does not accept the condition."""
    return df.where(where)


@translate_errors
def needed_rows(gateway: ClassicGateway, plan: Handle) -> list[NeededRows]:
    """Determine the needed rows of each source of an analyzed plan, in order. Raises
    :class:`GatewayError`.
    """
    places = [leaf for part in (plan, *gateway.subqueries(plan)) for leaf in _leaves(part)]
    sources: list[_Source] = []
    for leaf in places:
        same = [s for s in sources if bool(s.leaves[0].sameResult(leaf))]
        if same:
            same[0].leaves.append(leaf)
        elif simple_class(leaf) not in _NO_SOURCES:
            sources.append(_Source([leaf]))
    optimized = _optimize(gateway, plan)
    _read_uses(gateway, optimized, (), sources)
    for part in gateway.subqueries(optimized):
        _read_uses(gateway, part, (IN_SUBQUERY,), sources)
    return [_describe_source(gateway, source) for source in sources]


_NO_SOURCES = ("OneRowRelation$", "CTERelationRef")


def _optimize(gateway: ClassicGateway, plan: Handle) -> Handle:
    """Run Spark's optimizer on the plan, under the settings of its session except for excluded
    rules.
    """
    sessions = java_class(gateway.jvm, "org.apache.spark.sql.SparkSession")
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


def _leaves(plan: Handle) -> Iterator[Handle]:
    return each(plan.collectLeaves())


def _numbers(leaf: Handle) -> dict[int, int]:
    """Map the numbers of a relation's columns in the plan to their positions."""
    return {int(a.exprId().id()): place for place, a in enumerate(each(leaf.output()))}


def _read_uses(
    gateway: ClassicGateway, plan: Handle, why: Sequence[str], sources: Sequence[_Source]
) -> None:
    """Add the conditions under which an optimized plan reads the sources."""
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
    """Whether the leaf is no source, or the empty relation that the optimizer puts in the place of
    a plan without rows.
    """
    kind = simple_class(leaf)
    return kind in (*_NO_SOURCES, "EmptyRelation") or (
        kind == "LocalRelation" and bool(leaf.data().isEmpty())
    )


def _top(root: Node, leaf: Node) -> int:
    """Return the number of steps from the root to the filter right above a leaf, or to the leaf."""
    above = root
    for child in leaf.path[:-1]:
        above = above.children[child]
    return len(leaf.path) - (above.kind.endswith(".Filter") and bool(leaf.path))


def _source_of(leaf: Handle, sources: Sequence[_Source]) -> tuple[_Source, dict[int, int]] | None:
    """Return the source that a relation of the optimized plan reads, and the positions of its
    columns.
    """
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
    """Return the filter right above a relation, over the columns of its source, and whether that is
    the whole filter.
    """
    if not leaf.path:
        return None, True
    above = gateway.node(plan, leaf.path[:-1])
    if class_name(above) != FILTER:
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
    return _combine(gateway, AND, moved_parts), is_complete


class _Unmovable(Exception):
    """Raised if a condition depends on more than the columns of its source."""


def _is_implied(part: Handle, parts: Sequence[Handle]) -> bool:
    """Whether the conjunct says that an operand is not NULL, and a comparison with the operand
    implies it.
    """
    if class_name(part) != predicates.IS_NOT_NULL.class_name:
        return False
    return any(
        bool(operand.semanticEquals(part.child()))
        for condition in parts
        for operand in _operands_that_decide(condition)
    )


def _operands_that_decide(condition: Handle) -> Sequence[Handle]:
    """Return the operands without which the condition is not true."""
    name = class_name(condition)
    operands = list(each(condition.children()))
    return operands if name in _COMPARISONS else operands[:1] if name in _MEMBERSHIPS else ()


def _move_columns(
    gateway: ClassicGateway, expression: Handle, output: Handle, places: Mapping[int, int]
) -> Handle:
    """Rewrite the expression over the columns of another place of the same relation."""
    if gateway.mentions(expression, "PLAN_EXPRESSION") or not bool(expression.deterministic()):
        raise _Unmovable
    if class_name(expression) == ATTRIBUTE:
        place = places.get(int(expression.exprId().id()))
        if place is None or str(output.apply(place).dataType()) != str(expression.dataType()):
            raise _Unmovable
        return output.apply(place)
    children = [_move_columns(gateway, c, output, places) for c in each(expression.children())]
    return expression.withNewChildren(gateway.seq(children)) if children else expression


def _combine(gateway: ClassicGateway, name: str, parts: Sequence[Handle]) -> Handle | None:
    operator = java_class(gateway.jvm, name)
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
    condition = None if needs_all_rows else _combine(gateway, OR, _drop_duplicates(conditions))
    rows = gateway.filter(condition, leaf, leaf)
    tree = gateway.condition_tree(rows)
    text = "true" if tree is None else print_unqualified(gateway, gateway.condition(rows), tree)
    return NeededRows(source_name(leaf), columns, text, unseen, why, gateway.dataframe(rows))


def _drop_duplicates(conditions: Sequence[Handle]) -> list[Handle]:
    distinct_conditions: list[Handle] = []
    for condition in conditions:
        if not any(bool(condition.semanticEquals(previous)) for previous in distinct_conditions):
            distinct_conditions.append(condition)
    return distinct_conditions
