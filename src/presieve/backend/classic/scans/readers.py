# SPDX-License-Identifier: Apache-2.0
"""Trusted. Give a plan readers of Python data sources that no other plan shares.

Spark asks a Python data source once for its reader and keeps the reader for all DataFrames of one
``load()`` (``PythonDataSourceV2.readInfo``), together with the filters that the first plan with
filters hands to it. Rows that this plan may leave out are then missing in the others. So a plan
that hands over more filters than the plan as written gets relations of its own.
"""

from __future__ import annotations

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import java_class, translate_errors
from presieve.backend.classic.scans.plan_leaves import SOURCES, Leaf, leaf_of, leaves_of
from presieve.backend.gateway import GatewayError, Handle

_PYTHON = SOURCES + "v2.python."


@translate_errors
def own_readers(plans: JvmPlans, plan: Handle) -> Handle:
    """Give each Python data source of the plan a reader of its own. Raises :class:`GatewayError` if
    another source has taken the name since.
    """
    if not any(map(_is_python, leaves_of(plans, plan))):
        return plan

    def renew(node: Handle) -> Handle | None:
        is_leaf = not node.children().nonEmpty()
        return _renew_reader(plans, node) if is_leaf and _is_python(leaf_of(plans, node)) else None

    return plans.replace_operators(plan, renew)


def _is_python(leaf: Leaf) -> bool:
    return leaf.table == _PYTHON + "PythonTable"


def _renew_reader(plans: JvmPlans, leaf: Handle) -> Handle:
    jvm, table = plans.jvm, leaf.table()
    field = table.getClass().getDeclaredField("ds")
    field.setAccessible(True)
    data_source, name = field.get(table), str(table.name())
    source = java_class(jvm, _PYTHON + "PythonDataSourceV2")()
    source.setShortName(name)
    if not bool(source.source().equals(data_source.source())):
        raise GatewayError(f"the data source {name} is another one now")
    new_table = java_class(jvm, _PYTHON + "PythonTable")(source, name, table.schema())
    other_fields = [leaf.productElement(i) for i in range(1, leaf.productArity())]
    return leaf.copy(new_table, *other_fields)
