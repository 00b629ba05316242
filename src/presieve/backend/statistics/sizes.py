# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Measure the local Parquet files of a plan's scans. Nothing depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from presieve.backend.catalyst.boundary import AGGREGATE, FLAT_MAPS, simple_kind
from presieve.backend.catalyst.operators import ALWAYS_PASSED, FILTER
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
        size = _size(gateway, plan, node) if node.kind == RELATION else None
        if size is not None:
            yield size


def _size(gateway: SourceReader, plan: Handle, relation: Node) -> Size | None:
    try:
        uris = gateway.parquet_files(gateway.node(plan, relation.path))
    except GatewayError:
        return None
    if not 0 < len(uris) <= MOST_FILES:
        return None
    extents = [rows_and_bytes(path) for path in map(local, uris) if path is not None]
    known_extents = [e for e in extents if e is not None]
    if len(known_extents) != len(uris):
        return None
    columns = tuple(str(tree[0]["name"]) for tree in relation.fields["output"])
    rows, bytes_ = (sum(extent[i] for extent in known_extents) for i in (0, 1))
    return Size(columns, rows, bytes_, len(uris))


def rows_into(
    gateway: SourceReader, plan: Handle, root: Node, boundaries: Iterable[Node]
) -> Iterator[int | None]:
    """Yield for each boundary how many rows Spark hands to it whenever the whole plan runs, by the
    footers of files; None if that is not certain.

    It is certain for functions of groups over all rows of a scan, in a plan of operators that need
    all of their rows: Spark pushes no filter past such a function, and nothing ends the scan early.
    """
    kinds = {node.kind for node in walk(root) if simple_kind(node) not in FLAT_MAPS}
    certain = kinds <= ALWAYS_PASSED | {AGGREGATE, RELATION}
    for boundary in boundaries:
        rows = None
        if certain and simple_kind(boundary) in FLAT_MAPS:
            below = boundary.children[0]
            while below.kind in ALWAYS_PASSED - {FILTER}:
                below = below.children[0]
            size = _size(gateway, plan, below) if below.kind == RELATION else None
            rows = None if size is None else size.rows
        yield rows
