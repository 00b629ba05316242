# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Find the filters that reach the file scans below a boundary. Nothing depends on it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from presieve.backend.catalyst.definitions import WITH_CTE
from presieve.backend.catalyst.operators import follow_down
from presieve.backend.catalyst.trees import Node, expr_id
from presieve.backend.gateway import Gateway, GatewayError, Handle


class Scans(Struct, frozen=True):
    """The scans below a boundary. ``handed`` are the filters that file formats are handed,
    ``choosing`` the filters that choose partitions, as Spark prints them, and ``leaves`` the names
    of the scans, if they are known. Nothing is known unless the plan could be ``read``.
    """

    handed: tuple[str, ...] = ()
    choosing: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    read: bool = True

    @property
    def filters(self) -> tuple[str, ...]:
        """All filters, each once."""
        return tuple(dict.fromkeys((*self.handed, *self.choosing)))


def scans_below(gateway: Gateway, plan: Handle, root: Node, boundary: Node) -> Scans:
    """Describe the scans in the physical plan of a boundary; nothing if Spark cannot plan the
    boundary by itself. ``root`` is the tree of ``plan``.
    """
    below = gateway.node(plan, boundary.path)
    above = root
    try:
        for length, child in enumerate(boundary.path):
            if above.kind == WITH_CTE:  # its definitions may be read below
                below = gateway.with_plan(gateway.node(plan, boundary.path[:length]), below)
                break
            above = above.children[child]
        leaf_metadata = gateway.scan_metadata(below)
    except GatewayError:
        return Scans(read=False)
    handed, choosing = (
        tuple(part for _, metadata in leaf_metadata for part in split_list(metadata.get(key, "[]")))
        for key in ("PushedFilters", "PartitionFilters")
    )
    return Scans(handed, choosing, tuple(name.strip() for name, _ in leaf_metadata))


def columns_below(node: Node, ids: Iterable[int]) -> dict[int, str]:
    """Map attributes of an operator to the names of the columns that they are at the bottom of the
    projections and filters below it; to "" if they are computed on the way.
    """
    names = dict.fromkeys(ids, "")
    *_, (node, origins) = follow_down(node, names)
    for tree in node.fields.get("output", []):
        for requested in origins.get(expr_id(tree[0]), ()):
            names[requested] = str(tree[0]["name"])
    if "output" not in node.fields:  # not a relation: its computed columns are not known
        return {i: name for i, name in names.items() if i not in set().union(*origins.values())}
    return names


def split_list(text: str) -> list[str]:
    """Split Spark's ``[a, f(b,c), d]``. A comma in brackets or quotes does not separate."""
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
