# SPDX-License-Identifier: Apache-2.0
"""Trusted. The columns that ``Expand`` makes of one row, as expressions of that row.

ROLLUP, CUBE, GROUPING SETS and several DISTINCT aggregates make a few rows of each row
(``basicLogicalOperators.scala``, ``Expand``): each has the values of one of the projections.
"""

from __future__ import annotations

from collections.abc import Mapping

from presieve.backend.catalyst.boundary import LOGICAL
from presieve.backend.catalyst.trees import Node, Tree, expr_id, make_tree, source_id
from presieve.sql.expressions.basics import ONE_OF

EXPAND = LOGICAL + "Expand"


def is_expansion(node: Node) -> bool:
    """Whether an operator is an ``Expand`` that is shown as a whole: Spark 3.5 leaves out the
    projections.
    """
    return node.kind == EXPAND and bool(node.fields.get("projections"))


def read_expanded_columns(node: Node) -> Mapping[int, Tree]:
    """Return the columns that differ from the columns of the row, by number; none for another
    operator.
    """
    if not is_expansion(node):
        return {}
    outputs: list[Tree] = node.fields["output"]
    projections: list[list[Tree]] = node.fields["projections"]
    columns = {expr_id(o[0]): [p[i] for p in projections] for i, o in enumerate(outputs)}
    return {
        number: make_tree(ONE_OF.class_name, *trees)
        for number, trees in columns.items()
        if any(source_id(tree) != number for tree in trees)
    }
