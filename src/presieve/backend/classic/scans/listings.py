"""Trusted. Give a plan listings of files that nobody else refreshes.

All DataFrames of one ``read`` share a listing of files (``InMemoryFileIndex``), and so do views of
them: ``INSERT INTO`` a view and ``REFRESH TABLE`` list the files again for all. A plan that depends
on footers must read the files with these footers, so its relations get a listing of their own. No
footers are read below a view.
"""

from __future__ import annotations

from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.plan_leaves import SOURCES, VIEW, Files, Leaf, leaf_of
from presieve.backend.classic.py4j_errors import (
    java_class,
    java_constant,
    java_module,
    translate_errors,
)
from presieve.backend.gateway import GatewayError, Handle

_INDEX = SOURCES + "InMemoryFileIndex"


@translate_errors
def own_listings(plans: JvmPlans, plan: Handle, root: Node) -> Handle:
    """Give each relation over files that are listed once a listing of its own, except below views.
    Raises :class:`GatewayError` if the files are not the listed ones any more. ``root`` is the
    plan's tree.
    """
    views = [n.path for n in walk(root) if n.kind == VIEW]
    leaves = [n.path for n in walk(root) if not n.children]
    free = [p for p in leaves if not any(p[: len(view)] == view for view in views)]
    renewed = {p: _renew_listing(plans, leaf) for p in free if (leaf := _listed(plans, plan, p))}
    return _rebuild(plans, plan, root, renewed)


def _listed(plans: JvmPlans, plan: Handle, path: tuple[int, ...]) -> Leaf | None:
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
    return operator.withNewChildrenInternal(plans.seq(children).toIndexedSeq())


def _renew_listing(plans: JvmPlans, leaf: Leaf) -> Handle:
    assert leaf.files is not None
    base, shared, jvm = leaf.files.base, leaf.files.location, plans.jvm
    session, none = base.sparkSession(), java_constant(jvm, "scala.Option", "empty")
    own = java_class(jvm, _INDEX)(
        session,
        shared.rootPaths(),
        base.options(),
        none,
        java_module(jvm, SOURCES + "NoopCache"),
        java_class(jvm, "scala.Option").apply(shared.partitionSpec()),
        none,
    )
    if not _are_same(Files(base, own), leaf.files):
        raise GatewayError("files have changed while the plan was optimized")
    other_fields = [base.productElement(i) for i in range(1, int(base.productArity()))]
    pinned = base.copy(own, *other_fields, session)
    relation = leaf.handle
    fields = [relation.productElement(i) for i in range(1, int(relation.productArity()))]
    return relation.copy(pinned, *fields)


def _are_same(files: Files, other_files: Files) -> bool:
    """Whether two lists have the same files, by path, length and modification time."""
    if not files.stamps:
        return sorted(files.statuses) == sorted(other_files.statuses)
    return sorted(files.stamps) == sorted(other_files.stamps)
