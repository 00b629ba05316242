"""Trusted. Definitions that a plan refers to (WITH), and which of them are deterministic.

For Spark a reference is a leaf, and says nothing of what is defined. A definition that is not
deterministic and is read more than once stays one relation. What stands above every one of its
references is pushed into it (``InlineCTE`` and ``PushdownPredicatesAndPruneColumnsForCTEDef`` of
Spark 4.3), so that a pre-filter at one reference can change what the others read (SPARK-59434).
"""

from __future__ import annotations

from collections.abc import Iterator

from presieve.backend.catalyst.boundary import LOGICAL
from presieve.backend.catalyst.trees import JsonNode, Node, nodes_inside, walk
from presieve.backend.gateway import Gateway, Handle

WITH_CTE = LOGICAL + "WithCTE"
CTE_REFERENCE = LOGICAL + "CTERelationRef"
CTE_DEFINITION = LOGICAL + "CTERelationDef"


def fixed_definitions(gateway: Gateway, root: Node, plan: Handle) -> frozenset[int]:
    """The numbers of the definitions that are deterministic, with all that they refer to."""
    found = {int(n.fields["id"]): n for n in walk(root) if n.kind == CTE_DEFINITION}
    # Those of a subquery are children in its own plan, which its expression answers for.
    fixed = {int(n["id"]) for n in _all(root, CTE_DEFINITION)} - set(found)
    fixed |= {i for i, n in found.items() if gateway.deterministic(gateway.node(plan, n.path))}
    while True:
        fewer = {i for i in fixed if i not in found or referred(found[i]) <= fixed}
        if fewer == fixed:
            return frozenset(fixed)
        fixed = fewer


def referred(node: Node) -> frozenset[int]:
    """The numbers of the definitions that a plan refers to, in subqueries too."""
    return frozenset(int(n["cteId"]) for n in _all(node, CTE_REFERENCE))


def _all(node: Node, kind: str) -> Iterator[JsonNode]:
    return (n for one in walk(node) for n in nodes_inside(one.fields) if n["class"] == kind)
