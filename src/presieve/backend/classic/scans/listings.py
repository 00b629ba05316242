# SPDX-License-Identifier: Apache-2.0
"""Trusted. Give a plan listings of files that nobody else refreshes.

All DataFrames of one ``read`` share a listing of files (``InMemoryFileIndex``), and so do views of
them: ``INSERT INTO`` a view and ``REFRESH TABLE`` list the files again for all. A plan that depends
on footers must read the files with these footers, so its relations get a listing of their own. No
footers are read below a view.
"""

from __future__ import annotations

from presieve.backend.catalyst.boundary import AGGREGATE, PROJECT
from presieve.backend.catalyst.operators import FILTER, SUBQUERY_ALIAS
from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import (
    java_class,
    java_constant,
    java_method,
    java_module,
    translate_errors,
)
from presieve.backend.classic.scans.plan_leaves import (
    SOURCES,
    VIEW,
    Files,
    Leaf,
    leaf_of,
    renewed_leaf,
)
from presieve.backend.gateway import GatewayError, Handle

_UNARY = (FILTER, PROJECT, AGGREGATE, SUBQUERY_ALIAS)
"""Frequent operators with one child, which can be given another child by one call less."""
_INDEX = SOURCES + "InMemoryFileIndex"


@translate_errors
def own_listings(plans: JvmPlans, plan: Handle, root: Node) -> Handle:
    """Give each relation over files that are listed once a listing of its own, except below views.
    Copies of a relation share it. Raises :class:`GatewayError` if the files are not the listed ones
    any more. ``root`` is the plan's tree.
    """
    views = [n.path for n in walk(root) if n.kind == VIEW]
    leaves = [n.path for n in walk(root) if not n.children]
    free = [p for p in leaves if not any(p[: len(view)] == view for view in views)]
    listed = {p: leaf for p in free if (leaf := _find_listed_leaf(plans, plan, p))}
    own = {files: _list_again(plans, files) for files in {leaf.files for leaf in listed.values()}}
    renewed = {p: _with_files(plans, leaf, own[leaf.files]) for p, leaf in listed.items()}
    return _rebuild(plans, plan, root, renewed)


def _find_listed_leaf(plans: JvmPlans, plan: Handle, path: tuple[int, ...]) -> Leaf | None:
    leaf = leaf_of(plans, plans.node(plan, path))
    return leaf if leaf.is_listed_once else None


def _rebuild(
    plans: JvmPlans, plan: Handle, node: Node, renewed: dict[tuple[int, ...], Handle]
) -> Handle:
    """Return the operator with other relations at these paths below."""
    if node.path in renewed:
        return renewed[node.path]
    operator = plans.node(plan, node.path)
    if not any(path[: len(node.path)] == node.path for path in renewed):
        return operator
    children = [_rebuild(plans, plan, child, renewed) for child in node.children]
    # Indexes of the same folders are equal, and ``withNewChildren`` keeps equal children.
    if node.kind in _UNARY:
        return operator.withNewChildInternal(children[0])
    return operator.withNewChildrenInternal(plans.seq(children).toIndexedSeq())


def _list_again(plans: JvmPlans, files: Files | None) -> Files:
    assert files is not None
    session, none = files.base.sparkSession(), java_constant(plans.jvm, "scala.Option", "empty")
    own = java_class(plans.jvm, _INDEX)(
        session,
        files.location.rootPaths(),
        files.options,
        none,
        java_module(plans.jvm, SOURCES + "NoopCache"),
        java_method(plans.jvm, "scala.Option", "apply")(files.location.partitionSpec()),
        none,
    )
    own_files = Files(files.base, own)
    if not _are_same(own_files, files):
        raise GatewayError("files have changed while the plan was optimized")
    schemas, buckets = (files.partition_schema, files.data_schema), files.base.bucketSpec()
    own_files.base = files.base.copy(own, *schemas, buckets, files.format, files.options, session)
    return own_files


def _with_files(plans: JvmPlans, leaf: Leaf, files: Files) -> Handle:
    relation = leaf.handle
    fields = [relation.productElement(i) for i in range(1, int(relation.productArity()))]
    renewed = relation.copy(files.base, *fields)
    renewed_leaf(plans, renewed, leaf, files)
    return renewed


def _are_same(files: Files, other_files: Files) -> bool:
    """Whether two lists have the same files, by path, length and modification time."""
    if not files.stamps:
        return sorted(files.statuses) == sorted(other_files.statuses)
    return sorted(files.stamps) == sorted(other_files.stamps)
