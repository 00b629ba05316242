# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which conditions Spark's optimizer puts at the scans of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst import struct_fields
from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    Conjunct,
    Node,
    Tree,
    expr_id,
    simple_type,
    split_conjuncts,
    stable_text,
)
from presieve.backend.classic.py4j_errors import java_module, translate_errors
from presieve.backend.classic.scans.plan_leaves import CACHED, SOURCES, Leaf, leaf_of
from presieve.backend.gateway import Handle
from presieve.semantics.scan import may_lose_by
from presieve.sql.expressions import composites, predicates
from presieve.sql.expressions.entry import class_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.dataframe import DataFrame

    from presieve.backend.classic.gateway import ClassicGateway

_PRUNED_AT_RUN = "DynamicPruning"
_NAMING = (ATTRIBUTE, struct_fields.GET)
_NULL_TESTS = class_names((predicates.IS_NULL, predicates.IS_NOT_NULL))
METADATA = "_metadata"
"""The column with Spark's metadata of the file that a row is from."""


class ScanCondition(Struct, frozen=True):
    """A conjunct right above a leaf. ``key`` is the same for the same condition in another plan,
    and ``offered`` returns the filter that Spark offers to a source, if it offers one.
    """

    tree: Tree
    key: str
    offered: Callable[[], str | None]

    def key_in(self, numbers: Mapping[int, int]) -> str:
        """Return the key of the same condition on other columns."""
        return stable_text(self.tree, numbers)

    @property
    def types(self) -> Mapping[int, str]:
        """The types of the columns that it reads, by number."""
        columns = (node for node in self.tree if node["class"] == ATTRIBUTE)
        return {expr_id(c): simple_type(c["dataType"], c.get("metadata")) for c in columns}

    @property
    def tests_null(self) -> bool:
        """Whether it only asks whether a column is NULL, by which no scan loses rows."""
        return self.tree[0]["class"] in _NULL_TESTS

    @property
    def is_hidden(self) -> bool:
        """Whether it is in a form that Spark passes to no source (:func:`presieve.sql.emit.aside`),
        and does not find to be never true.
        """
        return any(node["class"] == composites.ARRAY_CONTAINS.class_name for node in self.tree)

    @property
    def lossy(self) -> tuple[int, ...]:
        """The columns that it reads and by which a scan may lose rows; for structs, by some
        field.
        """
        plain = (n for n, type_ in self.types.items() if may_lose_by(type_))
        structs = {
            expr_id(c): _fields(c["dataType"])
            for c in self.tree
            if c["class"] == ATTRIBUTE and isinstance(c["dataType"], dict)
        }
        return tuple(n for n in plain if any(map(may_lose_by, structs.get(n, ("",)))))

    @property
    def names(self) -> Mapping[int, str]:
        """The names of the columns that it reads, by number."""
        return {expr_id(c): str(c["name"]) for c in self.tree if c["class"] == ATTRIBUTE}


class OptimizedScan(Struct, frozen=True):
    """A leaf of an optimized plan: the numbers of its columns in order, whether it ``is_scan`` (and
    is handed filters) or reads cached data, and the conditions that are evaluated right above it.
    ``pruned_by`` are the columns by whose values in another table Spark skips directories or files
    when the plan runs (``PartitionPruning``). ``leaf`` describes what it reads.
    """

    output: tuple[int, ...]
    is_scan: bool
    is_cached: bool
    conditions: tuple[ScanCondition, ...]
    pruned_by: frozenset[int]
    leaf: Leaf

    @property
    def columns(self) -> frozenset[int]:
        """The numbers of its columns."""
        return frozenset(self.output)

    @translate_errors
    def directories(self) -> frozenset[str]:
        """Return the columns that are read from the names of directories."""
        return frozenset() if self.leaf.files is None else self.leaf.files.placed_columns

    def reads_again(self, other: OptimizedScan) -> bool:
        """Whether it is a copy of the other scan. Spark gives the columns of a copy new numbers
        (``MultiInstanceRelation.newInstance``) and leaves its files.
        """
        files = self.leaf.files
        return files is not None and files is other.leaf.files and self.output != other.output


@translate_errors
def optimized_scans(gateway: ClassicGateway, df: DataFrame) -> tuple[OptimizedScan, ...]:
    """Return the scans of a DataFrame, including those of its subqueries. Raises
    :class:`GatewayError` with the error of Spark's optimizer, if it raises one.
    """
    optimized = gateway.optimize_plan(df)
    plans = [optimized, *gateway.subqueries(optimized)]
    return tuple(scan for plan in plans for scan in _scans(gateway, plan, gateway.tree(plan), ()))


class _Above(Struct, frozen=True):
    """A filter above a node with only projections in between, and the columns that these compute
    from others.
    """

    filter: Node
    computed: frozenset[int] = frozenset()

    def conjuncts(self) -> Iterator[Conjunct]:
        """The conjuncts that Spark may offer to a source. It writes what a projection computes in
        the place of its name (``PhysicalOperation``), and compares columns and fields only
        (``PushableColumn``). A computed boolean may itself be such a comparison.
        """
        for part in split_conjuncts(self.filter.fields["condition"]):
            columns = [node for node in part.tree if node["class"] == ATTRIBUTE]
            if not any(expr_id(c) in self.computed and c["dataType"] != "boolean" for c in columns):
                yield part


def _scans(
    gateway: ClassicGateway, plan: Handle, node: Node, above: tuple[_Above, ...]
) -> Iterator[OptimizedScan]:
    """Iterate over the scans below a node."""
    if not node.children:
        output = tuple(expr_id(tree[0]) for tree in node.fields.get("output", []))
        leaf = leaf_of(gateway, gateway.node(plan, node.path))
        conditions = tuple(c for filter_ in above for c in _conditions(gateway, plan, filter_))
        pruned_by = frozenset(c for filter_ in above for c in _pruned_by(filter_.filter))
        kinds = leaf.is_scan, node.kind == CACHED
        yield OptimizedScan(output, *kinds, conditions, pruned_by, leaf)
        return
    if node.kind == FILTER:
        above = (*above, _Above(node))
    elif node.kind == PROJECT:
        computed = frozenset(_computed_columns(node))
        above = tuple(_Above(a.filter, a.computed | computed) for a in above)
    else:
        above = ()
    for child in node.children:
        yield from _scans(gateway, plan, child, above)


def _computed_columns(projection: Node) -> Iterator[int]:
    """Iterate over the columns that are neither another column nor a field of one."""
    for tree in projection.fields["projectList"]:
        if tree[0]["class"] == ALIAS and any(n["class"] not in _NAMING for n in tree[1:]):
            yield expr_id(tree[0])


def _fields(json_type: object) -> Iterator[str]:
    """Iterate over the types of all fields of a struct; for other nested types, the outer type."""
    if isinstance(json_type, dict) and json_type.get("type") == "struct":
        for field in json_type["fields"]:
            yield from _fields(field["type"])
    else:
        yield simple_type(json_type)


def _conditions(gateway: ClassicGateway, plan: Handle, above: _Above) -> Iterator[ScanCondition]:
    for part in above.conjuncts():
        if _is_evaluated_at_run(part.tree):
            continue
        offered = partial(_offer_condition, gateway, plan, above.filter.path, part.route)
        yield ScanCondition(part.tree, stable_text(part.tree), offered)


def _pruned_by(filter_: Node) -> Iterator[int]:
    for part in split_conjuncts(filter_.fields["condition"]):
        if _is_evaluated_at_run(part.tree):
            yield from (expr_id(node) for node in part.tree if node["class"] == ATTRIBUTE)


def _is_evaluated_at_run(tree: Tree) -> bool:
    return any(_PRUNED_AT_RUN in str(node["class"]) for node in tree)


def _offer_condition(
    gateway: ClassicGateway, plan: Handle, path: tuple[int, ...], route: tuple[str, ...]
) -> str | None:
    condition = gateway.condition(gateway.node(plan, path))
    for side in route:
        condition = gateway.operand(condition, side)
    return offered_filter(gateway, condition)


@translate_errors
def offered_filter(gateway: ClassicGateway, condition: Handle) -> str | None:
    """Return a condition as Spark offers it to sources; None if it does not."""
    strategy = java_module(gateway.jvm, SOURCES + "DataSourceStrategy")
    offered = str(strategy.translateFilter(condition, True).toString())
    return None if offered == "None" else offered.removeprefix("Some(")[:-1]
