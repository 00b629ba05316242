# SPDX-License-Identifier: Apache-2.0
"""Trusted. The columns that ``Expand`` makes of one row, as expressions of that row.

ROLLUP, CUBE, GROUPING SETS, UNPIVOT and several DISTINCT aggregates make a few rows of each row
(``basicLogicalOperators.scala``, ``Expand``): each has the values of one of the projections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.backend.catalyst.boundary import LOGICAL
from presieve.backend.catalyst.trees import Node, Tree, expr_id, make_tree, source_id
from presieve.sql.expressions.basics import ONE_OF

EXPAND = LOGICAL + "Expand"


def is_expansion(node: Node) -> bool:
    """Whether an operator is an ``Expand`` whose projections are known."""
    return node.kind == EXPAND and bool(node.fields.get("projections"))


def read_projections(node: Node) -> tuple[Mapping[int, Tree], ...]:
    """Return the columns of each projection that differ from the columns of the row, by number, as
    one of one expression: Spark does not move conditions on them, even if they are columns of the
    row. Nothing for another operator.
    """
    if not is_expansion(node):
        return ()
    numbers = [expr_id(output[0]) for output in node.fields["output"]]
    projections: list[list[Tree]] = node.fields["projections"]
    own = {n for n, *trees in zip(numbers, *projections, strict=True) if _are_column(n, trees)}
    return tuple(
        {
            n: make_tree(ONE_OF.class_name, tree)
            for n, tree in zip(numbers, projection, strict=True)
            if n not in own
        }
        for projection in projections
    )


def _are_column(number: int, trees: Sequence[Tree]) -> bool:
    return all(source_id(tree) == number for tree in trees)


def read_expanded_columns(node: Node) -> Mapping[int, Tree]:
    """Return the columns of all projections together: each is one of several expressions."""
    every = read_projections(node)
    return {n: make_tree(ONE_OF.class_name, *(p[n] for p in every)) for n in (every or ({},))[0]}
