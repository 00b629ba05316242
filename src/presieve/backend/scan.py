"""Untrusted. Which filters reach the file scans below a boundary. Nothing depends on it."""

from __future__ import annotations

from presieve.backend.catalyst_json import Node
from presieve.backend.definitions import WITH_CTE
from presieve.backend.gateway import Gateway, GatewayError, Handle


def pushed_filters(gateway: Gateway, plan: Handle, root: Node, boundary: Node) -> tuple[str, ...]:
    """The filters of the scans in the physical plan of a boundary, as Spark prints them, each once:
    those handed to the file format, then those that choose partitions. None where Spark cannot plan
    the boundary by itself. ``root`` is ``plan`` as we read it.
    """
    below = gateway.node(plan, boundary.path)
    above = root
    try:
        for length, child in enumerate(boundary.path):
            if above.kind == WITH_CTE:  # what it defines may be read below
                below = gateway.with_plan(gateway.node(plan, boundary.path[:length]), below)
                break
            above = above.children[child]
        found = gateway.scan_metadata(below)
    except GatewayError:
        return ()
    return tuple(
        dict.fromkeys(
            part
            for key in ("PushedFilters", "PartitionFilters")
            for _, metadata in found
            for part in split_list(metadata.get(key, "[]"))
        )
    )


def split_list(text: str) -> list[str]:
    """The parts of Spark's ``[a, f(b,c), d]``. A comma in brackets or quotes does not separate."""
    parts: list[str] = []
    depth = start = 0
    inner = text.strip().removeprefix("[").removesuffix("]")
    for position, char in enumerate(inner):
        depth += (char in "([") - (char in ")]")
        if depth == 0 and inner[position : position + 2] == ", ":
            parts.append(inner[start:position])
            start = position + 2
    parts.append(inner[start:])
    return [p.strip() for p in parts if p.strip()]
