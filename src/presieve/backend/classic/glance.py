"""Trusted. A glance at a plan in the JVM, which costs less than reading it: is there a filter above
an aggregate at all? What is not read is left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presieve.backend.gateway import Handle

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway

MAX_LOOKS = 30
"""Operators that are looked at, from the root. More of that costs as much as reading the plan."""

_FILTERING = frozenset(("Filter", "Join", "WithCTE"))
"""What filters, and WITH, behind whose references aggregates are not seen."""


def filters_an_aggregate(gateway: ClassicGateway, plan: Handle) -> bool:
    """Whether something that filters may stand above an aggregate; False only where it does not.

    Catalyst keeps for each operator what there is below it, so only paths to aggregates are
    followed.
    """
    left = [plan]
    for _ in range(MAX_LOOKS):
        if not left:
            return False
        node = left.pop()
        if gateway.mentions(node, "AGGREGATE"):
            if gateway.kind(node) in _FILTERING:
                return True
            left.extend(gateway.children(node))
    return True
