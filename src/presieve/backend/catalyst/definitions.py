# SPDX-License-Identifier: Apache-2.0
"""Trusted. Definitions that a plan refers to (WITH), and whether they are deterministic.

For Spark a reference is a leaf and says nothing about its definition. A definition that is not
deterministic and is read more than once stays one relation. Spark pushes what stands above all of
its references into it (``InlineCTE`` and ``PushdownPredicatesAndPruneColumnsForCTEDef`` of Spark
4.3), so a pre-filter at one reference can change what the other references read (SPARK-59434).
"""

from __future__ import annotations

from collections.abc import Iterator

from presieve.backend.catalyst.boundary import LOGICAL
from presieve.backend.catalyst.trees import JsonNode, Node, nodes_inside, walk
from presieve.backend.gateway import PlanView

WITH_CTE = LOGICAL + "WithCTE"
CTE_REFERENCE = LOGICAL + "CTERelationRef"
CTE_DEFINITION = LOGICAL + "CTERelationDef"


def fixed_definitions(view: PlanView) -> frozenset[int]:
    """Return the numbers of the definitions that are deterministic with all that they refer to."""
    nodes_by_id = {int(n.fields["id"]): n for n in walk(view.root) if n.kind == CTE_DEFINITION}
    # Definitions of a subquery are children in its own plan; its expression answers for them.
    fixed = {int(n["id"]) for n in _all(view.root, CTE_DEFINITION)} - set(nodes_by_id)
    fixed |= {i for i, n in nodes_by_id.items() if view.gateway.deterministic(view.handle(n))}
    while True:
        fewer = {
            i for i in fixed if i not in nodes_by_id or find_references(nodes_by_id[i]) <= fixed
        }
        if fewer == fixed:
            return frozenset(fixed)
        fixed = fewer


def find_references(node: Node) -> frozenset[int]:
    """Return the numbers of the definitions that a plan refers to, also in subqueries."""
    return frozenset(int(n["cteId"]) for n in _all(node, CTE_REFERENCE))


def _all(node: Node, kind: str) -> Iterator[JsonNode]:
    return (
        n for operator in walk(node) for n in nodes_inside(operator.fields) if n["class"] == kind
    )
