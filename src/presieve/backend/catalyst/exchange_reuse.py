# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Boundaries whose rows Spark reads and exchanges once, because the plans below their
exchanges are equal. This only decides what is worthwhile; nothing that is proved depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from presieve.backend.catalyst.boundary import COGROUPS, FLAT_MAPS, LOGICAL, MAPS, simple_kind
from presieve.backend.catalyst.operators import SUBQUERY_ALIAS, VIEW
from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.gateway import GatewayError, PlanView
from presieve.backend.statistics.footers import RELATION


def sharing_exchange(view: PlanView, boundary: Node) -> frozenset[tuple[int, ...]]:
    """Return the paths of the boundaries, this one included, whose exchanged plans are equal."""
    own = _input_of_exchange(boundary)
    if own is None:
        return frozenset((boundary.path,))
    others = [n for n in walk(view.root) if n.kind == boundary.kind and n is not boundary]
    paths = {boundary.path}
    for candidate in others:
        below = _input_of_exchange(candidate)
        if below is not None and _kinds(below) == _kinds(own):
            pairs = zip(_leaves(below), _leaves(own), strict=True)
            if _shape(below) == _shape(own) and all(_same(view, *p) for p in pairs):
                paths.add(candidate.path)
    return frozenset(paths)


def _input_of_exchange(boundary: Node) -> Node | None:
    """Return the node that is equal where an exchange is shared: an aggregate itself, since Spark's
    own functions start below the exchange; the input of functions of groups and of windows. None if
    there is no exchange.
    """
    kind = simple_kind(boundary)
    if kind in MAPS | COGROUPS or kind == "Project":
        return None
    return boundary.children[0] if kind in FLAT_MAPS | {"Window"} else boundary


_NO_ROWS = (SUBQUERY_ALIAS, VIEW)
"""Operators that Spark drops."""


def _nodes(node: Node) -> Iterator[Node]:
    return (n for n in walk(node) if n.kind not in _NO_ROWS)


def _kinds(node: Node) -> list[str]:
    return [n.kind for n in _nodes(node)]


_NAMES = ("name", "qualifier", "metadata", "nonInheritableMetadataKeys", "resultId", "jvmId")
"""Fields that may differ although the results do not."""


def _shape(node: Node) -> str:
    """Return the operators' fields as text; attributes are numbered in the order of the text."""
    numbers: dict[object, int] = {}

    def plain(value: object) -> object:
        if isinstance(value, dict):
            if "id" in value and "jvmId" in value:
                return numbers.setdefault(value["id"], len(numbers))
            return [(k, plain(v)) for k, v in sorted(value.items()) if k not in _NAMES]
        return [plain(v) for v in value] if isinstance(value, list) else value

    return repr([plain(n.fields) for n in _nodes(node)])


def _leaves(node: Node) -> list[Node]:
    return [n for n in walk(node) if not n.children]


_HELD = (
    LOGICAL + "LocalRelation",
    LOGICAL + "Range",
    "org.apache.spark.sql.execution.LogicalRDD",
    *("presieve.local_relation", "presieve.cached_local_relation", "presieve.range"),
    "presieve.chunked_cached_local_relation",
)
"""Leaves whose rows are already there: reading them once saves nothing."""


def _same(view: PlanView, first: Node, second: Node) -> bool:
    """Whether both leaves read the same data: a relation of files does not say which files, and on
    Spark Connect no leaf says anything.
    """
    if first.kind in _HELD:
        return False
    try:
        gateway, a, b = view.gateway, view.handle(first), view.handle(second)
        if first.kind == RELATION:
            return gateway.parquet_files(a) == gateway.parquet_files(b)
        return not first.kind.startswith("presieve.") or gateway.same(a, b)
    except GatewayError:
        return False
