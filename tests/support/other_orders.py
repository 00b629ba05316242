"""A pipeline with its rows in another order: what Spark may give besides what it gave.

No order is promised of peers, which are equal in the ORDER BY of a window or of a limit, nor of the
rows of a group. So a pipeline has several right results. Each of them is one of the pipeline as
written, with the rows below its windows, limits and functions of groups put in some order: what is
accepted was given by an order that was run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import FLAT_MAPS, PYTHON_UDAF, simple_kind
from presieve.backend.catalyst.trees import Node
from presieve.backend.catalyst.windows import input_of, is_windowed
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.gateway import Handle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.report.report import Report

ORDERS = 64
"""Orders that are tried before a result is called wrong."""


def in_other_orders(df: DataFrame) -> Iterator[DataFrame]:
    """The pipeline with its rows in orders drawn at random; nothing where none can matter."""
    gateway = ClassicGateway(df.sparkSession)
    plan = gateway.inline_definitions(gateway.analyze_plan(df))
    root = gateway.tree(plan)
    if not any(_inputs(root)):
        return
    for seed in range(ORDERS):
        yield gateway.dataframe(_shuffled(gateway, plan, root, seed))


def tells_order(report: Report) -> bool:
    """Whether a report says that another order of rows may give another result."""
    orders = [b.order for b in report.boundaries if b.order is not None]
    dependent = any(o.status != "independent" or o.assumptions for o in orders)
    return dependent or bool(report.data.peer_orders)


def _inputs(node: Node) -> Iterator[tuple[int, ...]]:
    """The paths of what is sorted for windows, limits and functions of groups."""
    if is_windowed(node):
        yield input_of(node).path
    elif simple_kind(node) in FLAT_MAPS or _is_aggregated_in_python(node):
        yield node.children[0].path
    for child in node.children:
        yield from _inputs(child)


def _is_aggregated_in_python(node: Node) -> bool:
    trees = node.fields.get("aggregateExpressions", [])
    return any(n["class"] == PYTHON_UDAF for tree in trees for n in tree)


def _shuffled(gateway: ClassicGateway, plan: Handle, root: Node, seed: int) -> Handle:
    sorted_ = frozenset(_inputs(root))

    def build(node: Handle, path: tuple[int, ...]) -> Handle:
        below = gateway.children(node)
        children = [build(child, (*path, i)) for i, child in enumerate(below)]
        made = gateway.with_children(node, children) if children else node
        return _in_random_order(gateway, made, seed) if path in sorted_ else made

    return build(plan, ())


def _in_random_order(gateway: ClassicGateway, rows: Handle, seed: int) -> Handle:
    """The rows in one partition, sorted by a random number. The filter keeps all of them; without
    it Spark drops this sort below another one.
    """
    from pyspark.sql import functions as F

    mixed = gateway.dataframe(rows).repartition(1).sortWithinPartitions(F.rand(seed))
    return gateway.analyze_plan(mixed.filter(F.rand(seed) + 1.0 > 0.0))
