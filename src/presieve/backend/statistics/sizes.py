"""Untrusted. Measure the local Parquet files of a plan's scans. Nothing depends on it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.gateway import GatewayError, Handle, SourceReader
from presieve.backend.statistics.estimates import local
from presieve.backend.statistics.footers import RELATION
from presieve.cost.parquet import rows_and_bytes

MOST_FILES = 256
"""Maximum number of files whose footers are read for a report."""


class Size(Struct, frozen=True):
    """A scan: its columns, the rows of its files by their footers, and their bytes on disk."""

    columns: tuple[str, ...]
    rows: int
    bytes: int
    files: int


def sizes(gateway: SourceReader, plan: Handle, root: Node) -> tuple[Size, ...]:
    """Return the sizes of the scans of a plan (tree ``root``) whose files can all be read here."""
    return tuple(_sizes(gateway, plan, root))


def _sizes(gateway: SourceReader, plan: Handle, root: Node) -> Iterator[Size]:
    for node in walk(root):
        if node.kind != RELATION:
            continue
        try:
            uris = gateway.parquet_files(gateway.node(plan, node.path))
        except GatewayError:
            continue
        if not 0 < len(uris) <= MOST_FILES:
            continue
        extents = [rows_and_bytes(path) for path in map(local, uris) if path is not None]
        known_extents = [e for e in extents if e is not None]
        if len(known_extents) == len(uris):
            columns = tuple(str(tree[0]["name"]) for tree in node.fields["output"])
            yield Size(
                columns,
                sum(r for r, _ in known_extents),
                sum(b for _, b in known_extents),
                len(uris),
            )
