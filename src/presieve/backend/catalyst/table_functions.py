# SPDX-License-Identifier: Apache-2.0
"""Trusted. Table functions (``udtf``) of a table with PARTITION BY, as boundaries.

In the analyzed plan of Spark 4.3 such a call is a projection of the results of ::

    LateralJoin Inner, of Generate(PythonUDTF(outer(c))) over OneRowRelation
    +- Project [named_struct(all columns, partition_by_0, ..) AS c]
       +- Sort [partition_by_0, .., ORDER BY]
          +- RepartitionByExpression [partition_by_0, ..]
             +- Project [all columns, k AS partition_by_0, ..]

A worker forms partitions by comparing the keys of neighbouring rows in Python, where None equals
None. For the key types below this is Spark's own equality, by which it has sorted the rows.

A task without rows calls ``terminate``, too, and then fails in Spark 4.3 (a result row has no input
row to stand beside). Adaptive execution creates no such tasks. Without it a pre-filter could break
a job that works, so nothing is moved.
"""

from __future__ import annotations

from presieve.backend.catalyst.boundary import (
    LATERAL_JOIN,
    LOGICAL,
    PROJECT,
    TABLE_FUNCTION,
    Boundary,
    BoundaryCall,
    table_function,
)
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    EXPRESSIONS,
    Node,
    Tree,
    column_id,
    expr_id,
    is_attribute,
)
from presieve.backend.catalyst.variable_columns import InputAttributes, distinct, schema_column
from presieve.backend.gateway import FunctionReader, Handle
from presieve.backend.problems.load_functions import command
from presieve.backend.problems.setting import PlanSetting
from presieve.errors import Declined, DeclineSignal
from presieve.lift.api import lift
from presieve.lift.evaluation_types import TABLE_FUNCTIONS
from presieve.lift.forms import Form, Lifted, LiftRequest, StateClass
from presieve.plan.algebra import Attribute

_KEYS = frozenset(("boolean", "tinyint", "smallint", "int", "bigint", "string"))
_VALUES = _KEYS | {"double", "date"}
"""Types of values that go to Python and back unchanged."""

_CONFS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.adaptive.optimizer.excludedRules": "",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
"""The settings that make Spark skip tasks without rows."""

_ALIASES = LOGICAL + "SubqueryAlias"


def read_table_function(gateway: FunctionReader, node: Node, plan: Handle) -> Boundary:
    """Read the boundary of a node, ``plan`` in Spark. Raises :class:`DeclineSignal`."""
    function, struct = _function(node)
    name = str(function["name"])
    if function["udfDeterministic"] is not True:
        raise DeclineSignal(
            "nondeterministic-udf", f"{name} is not deterministic; call asDeterministic() on it"
        )
    if function["evalType"] not in gateway.version.reads(TABLE_FUNCTIONS):
        raise DeclineSignal("eval-type", f"{name} is not a table function of rows that uses Arrow")
    for key, expected in _CONFS.items():
        value = gateway.conf(key, expected)
        if value.lower() != expected:
            reason = (
                f"{key} is {value!r}, so that a table function fails in a task that gets no rows: "
                f"set it to {expected!r}"
            )
            raise DeclineSignal("conf", reason)
    below = _table(node)
    inputs = gateway.attributes(gateway.node(plan, below.path[len(node.path) :]))
    keys = _keys(node, inputs, struct)
    distinct(inputs, "of the table")
    by_id = {a.id: a for a in inputs}
    if any(by_id[k].type not in _KEYS for k in keys):
        raise DeclineSignal("key-type", f"{name} has a key whose equal values may differ")
    outputs = gateway.attributes(plan)
    if any(a.type not in _VALUES or not a.nullable for a in outputs):
        raise DeclineSignal("return-type", f"a column of {name} is of another type, or NOT NULL")
    call = BoundaryCall(name, tuple(by_id), tuple(a.id for a in outputs), 0)
    return Boundary(
        kind=TABLE_FUNCTION,
        path=node.path,
        input_path=below.path,
        inputs=inputs,
        outputs=outputs,
        keys=keys,
        all_keys_plain=True,
        calls=(call,),
    )


def request_of(boundary: Boundary, names: InputAttributes, setting: PlanSetting) -> LiftRequest:
    """Build the lifting request for a function that is sent all columns and returns all columns."""
    return LiftRequest(
        schema=tuple(schema_column(a) for a in boundary.inputs),
        keys=tuple(k.name for k in names.keys),
        returns=tuple(schema_column(a) for a in boundary.outputs),
        timezone=setting.timezone,
        extent=setting.extent(boundary.inputs),
        workers_show_utc=setting.workers_show_utc,
    )


def lift_or_decline(function: object, form: Form, request: LiftRequest) -> Lifted:
    """Lift a function. Raises :class:`DeclineSignal`."""
    lifted = lift(function, form, request)
    if isinstance(lifted, Declined):
        raise DeclineSignal.of(lifted)
    return lifted


def lifted_table_function(
    gateway: FunctionReader,
    node: Handle,
    boundary: Boundary,
    names: InputAttributes,
    setting: PlanSetting,
) -> Lifted:
    """Lift the class to a fold. Raises :class:`DeclineSignal`."""
    (call,) = boundary.calls
    request = request_of(boundary, names, setting)
    function = command(gateway, gateway.table_function(node), call)
    lifted = lift_or_decline(function, StateClass(), request)
    types = {a.name: a.type for a in boundary.inputs}
    for column in lifted.fold.columns:
        if types[column.name] not in _VALUES:
            reason = f"column {column.name!r} of type {types[column.name]} in a table function"
            raise DeclineSignal("column-type", reason)
    return lifted


def _require(is_usual: bool) -> None:
    """Decline if the call has another shape than that above."""
    if not is_usual:
        reason = "a table function is called in another way than with one table, by plain columns"
        raise DeclineSignal("plan-shape", reason)


def _function(node: Node) -> tuple[dict[str, object], int]:
    """Return the function and the exprId of the struct that is its argument."""
    (join,) = node.children
    udtf = table_function(node)
    right: Tree = join.fields["right"]
    _require(not join.fields.get("condition") and join.kind == LATERAL_JOIN)
    _require(join.fields["joinType"].get("object") == "org.apache.spark.sql.catalyst.plans.Inner$")
    _require(right[0]["class"] == EXPRESSIONS + "LateralSubquery" and not right[0].get("joinCond"))
    plan = [n for n in right[0]["plan"] if n["class"] != _ALIASES]
    kinds = [str(n["class"]) for n in plan]
    _require(kinds == [LOGICAL + "Generate", LOGICAL + "OneRowRelation"])
    generate = plan[0]
    generated = [expr_id(t[0]) for t in generate["generatorOutput"]]
    shown = [column_id(t) for t in node.fields["projectList"]]
    _require(shown == generated and not generate["outer"])
    generator: Tree = generate["generator"]
    _require(len(generator) == 2 and generator[0] is udtf)
    _require(generator[1]["class"] == EXPRESSIONS + "OuterReference")
    argument = column_id(generator[1]["e"])
    _require(argument is not None)
    assert udtf is not None
    assert argument is not None
    return udtf, argument


def _chain(node: Node) -> tuple[Node, ...]:
    """Return the four operators between the join and the table, or decline."""
    (current,) = node.children[0].children
    while current.kind == _ALIASES:
        (current,) = current.children
    operators = []
    for name in ("Project", "Sort", "RepartitionByExpression", "Project"):
        _require(current.kind == LOGICAL + name)
        operators.append(current)
        (current,) = current.children
    return tuple(operators)


def _table(node: Node) -> Node:
    return _chain(node)[-1].children[0]


def table_of(node: Node) -> Node:
    """Return the node on whose output a pre-filter stands, or else the node's child."""
    try:
        return _table(node)
    except DeclineSignal:
        return node.children[0]


def _keys(node: Node, inputs: tuple[Attribute, ...], struct: int) -> tuple[int, ...]:
    """Return the columns of PARTITION BY. The operators between must be the analyzer's."""
    packed, sort, moved, named = _chain(node)
    ids = [a.id for a in inputs]
    columns: list[Tree] = named.fields["projectList"]
    first, key_columns = columns[: len(ids)], columns[len(ids) :]
    _require([column_id(t) for t in first] == ids and bool(key_columns))
    if not all(t[0]["class"] == ALIAS and is_attribute(t[1:]) for t in key_columns):
        reason = "PARTITION BY must be on plain columns of the table"
        raise DeclineSignal("grouping-expression", reason)
    by_ids = [expr_id(t[0]) for t in key_columns]
    keys = tuple(expr_id(t[1]) for t in key_columns)
    by: list[Tree] = moved.fields["partitionExpressions"]
    order: list[Tree] = sort.fields["order"]
    _require([column_id(t) for t in by] == by_ids)
    if not all(len(t) == 2 and is_attribute(t[1:]) for t in order):
        raise DeclineSignal("plan-shape", "ORDER BY must be on plain columns of the table")
    _require([expr_id(t[1]) for t in order[: len(by_ids)]] == by_ids)
    _require(sort.fields["global"] is False)
    (pack,) = packed.fields["projectList"]
    parts = [expr_id(n) for n in pack[3::2] if n["class"] == ATTRIBUTE]
    labels = [n.get("value") for n in pack[2::2]]
    alias_names = [str(t[0]["name"]) for t in key_columns]
    _require(expr_id(pack[0]) == struct and parts == [*ids, *by_ids])
    _require(labels == [*(a.name for a in inputs), *alias_names] and set(keys) <= set(ids))
    _require(len(set(ids)) == len(ids) and packed.kind == PROJECT)
    return tuple(dict.fromkeys(keys))
