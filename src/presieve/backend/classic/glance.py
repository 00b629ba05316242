"""Trusted. A glance at a plan in the JVM, which costs less than reading it: is there a filter above
an aggregate at all that could be moved past it? What is not read is left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presieve.backend.arrays import ARRAY_AGGREGATE
from presieve.backend.boundary import AGGREGATE, PYTHON_UDAF, PYTHON_UDF
from presieve.backend.gateway import Handle
from presieve.backend.native import KNOWN_FUNCTIONS
from presieve.backend.notes import FUNCTION_MARKS

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway

MAX_LOOKS = 16
"""Operators above aggregates that are looked at, from the root. More of that costs as much as
reading the plan.
"""

_FILTERING = frozenset(("Filter", "Join"))
_WITH = "WithCTE"
"""Definitions (WITH): aggregates are not seen behind references to them."""

_FUNCTIONS = ("FlatMap", "PythonUDAF", "MapInPandas", "MapInArrow", *FUNCTION_MARKS)
"""What occurs in the JSON of a plan with Python functions."""

_CALLS = tuple(f'"{name}"' for name in (*KNOWN_FUNCTIONS, ARRAY_AGGREGATE, PYTHON_UDAF, PYTHON_UDF))
"""What occurs in the JSON of an aggregate unless it is hopeless, as
:func:`presieve.backend.boundary.is_hopeless` says.
"""


def filters_an_aggregate(gateway: ClassicGateway, plan: Handle, told: bool) -> bool:
    """Whether something that filters may stand above an aggregate; unless it is ``told`` why it
    stays there, above one that is not hopeless. False only where it does not.

    Catalyst keeps for each operator what there is below it, so only paths to aggregates are
    followed.
    """
    left = [(plan, False)]
    looks = 0
    while left:
        node, filtered = left.pop()
        if not gateway.mentions(node, "AGGREGATE"):
            continue
        looks += 1
        kind = gateway.kind(node)
        if kind == _WITH or looks > MAX_LOOKS:
            return True
        if kind == "Aggregate" and filtered and (told or _calls(gateway.outputs_json(node))):
            return True
        below = filtered or kind in _FILTERING
        left.extend((child, below) for child in gateway.children(node))
    return False


def _calls(text: str) -> bool:
    return any(call in text for call in _CALLS)


def has_boundaries(text: str, told: bool) -> bool:
    """Whether there are boundaries in the JSON of a plan that are not all hopeless, or all the same
    where it is ``told`` why nothing moves past them.
    """
    if told and AGGREGATE in text:
        return True
    return _calls(text) or any(mark in text for mark in _FUNCTIONS)
