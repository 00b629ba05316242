"""Untrusted. How large the local Parquet files of a plan's scans are. Nothing depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.gateway import Gateway, GatewayError, Handle
from presieve.backend.statistics.estimates import local
from presieve.backend.statistics.footers import RELATION
from presieve.cost.parquet import extent

MOST_FILES = 256
"""Of more files the footers are not read for a report."""


@dataclass(frozen=True, slots=True)
class Size:
    """A scan: its columns, the rows of its files as their footers say, and their bytes on disk."""

    columns: tuple[str, ...]
    rows: int
    bytes: int
    files: int


def sizes(gateway: Gateway, plan: Handle, root: Node) -> tuple[Size, ...]:
    """Of every scan whose files can all be read here; ``root`` is ``plan`` as we read it."""
    return tuple(_sizes(gateway, plan, root))


def _sizes(gateway: Gateway, plan: Handle, root: Node) -> Iterator[Size]:
    for node in walk(root):
        if node.kind != RELATION:
            continue
        try:
            uris = gateway.parquet_files(gateway.node(plan, node.path))
        except GatewayError:
            continue
        if not 0 < len(uris) <= MOST_FILES:
            continue
        extents = [extent(path) for path in map(local, uris) if path is not None]
        known_extents = [e for e in extents if e is not None]
        if len(known_extents) == len(uris):
            columns = tuple(str(tree[0]["name"]) for tree in node.fields["output"])
            yield Size(
                columns,
                sum(r for r, _ in known_extents),
                sum(b for _, b in known_extents),
                len(uris),
            )
