"""Trusted. Give a plan listings of files that nobody else refreshes.

All DataFrames of one ``read`` share a listing of files (``InMemoryFileIndex``), and so do views of
them: ``INSERT INTO`` a view and ``REFRESH TABLE`` list the files again for all. A plan that depends
on footers must read the files with these footers, so its relations get a listing of their own. No
footers are read below a view.
"""

from __future__ import annotations

import re

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.plan_leaves import SOURCES, VIEW, is_listed_once
from presieve.backend.classic.py4j_errors import java_class, simple_class, translate_errors
from presieve.backend.gateway import GatewayError, Handle

_INDEX = SOURCES + "InMemoryFileIndex"
_STAMP = re.compile(r"path=(.*?); .*?length=(\d+); .*?modification_time=(\d+)")


@translate_errors
def own_listings(plans: JvmPlans, plan: Handle) -> Handle:
    """Give each relation over files that are listed once a listing of its own, except below views.
    Raises :class:`GatewayError` if the files are not the listed ones any more.
    """
    if simple_class(plan) == VIEW:
        return plan
    below = plans.children(plan)
    if not below:
        return _renew_listing(plans, plan) if is_listed_once(plan) else plan
    children = [own_listings(plans, child) for child in below]
    if all(new is old for new, old in zip(children, below, strict=True)):
        return plan
    # Indexes of the same folders are equal, and ``withNewChildren`` keeps equal children.
    return plan.withNewChildrenInternal(plans.seq(children).toIndexedSeq())


def _renew_listing(plans: JvmPlans, relation: Handle) -> Handle:
    base = relation.relation()
    shared, jvm = base.location(), plans.jvm
    option = java_class(jvm, "scala.Option")
    own = java_class(jvm, _INDEX)(
        base.sparkSession(),
        shared.rootPaths(),
        base.options(),
        option.empty(),
        getattr(getattr(jvm, SOURCES + "NoopCache$"), "MODULE$"),
        option.apply(shared.partitionSpec()),
        option.empty(),
    )
    if _files(plans, own) != _files(plans, shared):
        raise GatewayError("files have changed while the plan was optimized")
    other_fields = [base.productElement(i) for i in range(1, int(base.productArity()))]
    pinned = base.copy(own, *other_fields, base.sparkSession())
    fields = [relation.productElement(i) for i in range(1, int(relation.productArity()))]
    return relation.copy(pinned, *fields)


def _files(plans: JvmPlans, index: Handle) -> list[tuple[str, ...]]:
    """Return path, length and modification time of each file."""
    text = plans.long_text(index.allFiles().mkString)
    return sorted(_STAMP.findall(text))
