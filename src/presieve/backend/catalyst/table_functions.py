"""Trusted. Table functions (``udtf``) of a table with PARTITION BY, as boundaries.

In the analyzed plan of Spark 4.3 such a call is a projection of the results of ::

    LateralJoin Inner, of Generate(PythonUDTF(outer(c))) over OneRowRelation
    +- Project [named_struct(all columns, partition_by_0, ..) AS c]
       +- Sort [partition_by_0, .., ORDER BY]
          +- RepartitionByExpression [partition_by_0, ..]
             +- Project [all columns, k AS partition_by_0, ..]

A worker forms partitions by comparing the keys of neighbouring rows in Python, None and None being
equal. For the types of keys below that is Spark's equality, which has sorted the rows.

A task of no rows calls ``terminate``, too, and then fails in Spark 4.3 (a row of results has no
row to stand beside). Adaptive execution makes no such tasks: without it a pre-filter could break a
job that works, so that nothing is moved.
"""

from __future__ import annotations

from presieve.backend.catalyst.boundary import (
    LATERAL_JOIN,
    LOGICAL,
    PROJECT,
    TABLE_FUNCTION,
    Boundary,
    Call,
    is_attribute,
    table_function,
)
from presieve.backend.catalyst.names import Names, distinct, schema_column
from presieve.backend.catalyst.trees import ALIAS, ATTRIBUTE, EXPRESSIONS, Node, Tree, expr_id
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.functions import command
from presieve.backend.problems.setting import Setting
from presieve.errors import Declined, DeclineSignal
from presieve.lift.api import lift
from presieve.lift.evaluation_types import TABLE_FUNCTIONS
from presieve.lift.forms import Lifted, Request, StateClass
from presieve.plan.algebra import Attribute

_KEYS = frozenset(("boolean", "tinyint", "smallint", "int", "bigint", "string"))
_VALUES = _KEYS | {"double", "date"}
"""Types of values that come to Python and back as themselves."""

_CONFS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.adaptive.optimizer.excludedRules": "",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
"""What makes Spark skip tasks without rows."""

_ALIASES = LOGICAL + "SubqueryAlias"


def read_table_function(gateway: Gateway, node: Node, plan: Handle) -> Boundary:
    """What the node says; ``plan`` is the same where Spark has it. Raises
    :class:`DeclineSignal`.
    """
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
    call = Call(name, tuple(by_id), tuple(a.id for a in outputs), 0)
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


def request_of(boundary: Boundary, names: Names, setting: Setting) -> Request:
    """What is asked of a function that is sent all columns and makes all columns."""
    return Request(
        schema=tuple(schema_column(a) for a in boundary.inputs),
        keys=tuple(k.name for k in names.keys),
        returns=tuple(schema_column(a) for a in boundary.outputs),
        timezone=setting.timezone,
        extent=setting.extent(boundary.inputs),
    )


def lifted_table_function(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, setting: Setting
) -> Lifted:
    """The class as a fold. Raises :class:`DeclineSignal`."""
    (call,) = boundary.calls
    request = request_of(boundary, names, setting)
    found = lift(command(gateway, gateway.table_function(node), call), StateClass(), request)
    if isinstance(found, Declined):
        raise DeclineSignal.of(found)
    types = {a.name: a.type for a in boundary.inputs}
    for column in found.fold.columns:
        if types[column.name] not in _VALUES:
            reason = f"column {column.name!r} of type {types[column.name]} in a table function"
            raise DeclineSignal("column-type", reason)
    return found


def _shape() -> DeclineSignal:
    reason = "a table function is called in another way than with one table, by plain columns"
    return DeclineSignal("plan-shape", reason)


def _function(node: Node) -> tuple[dict[str, object], int]:
    """The function, and the number of the struct that it is called with."""
    (join,) = node.children
    found = table_function(node)
    right: Tree = join.fields["right"]
    if found is None or join.fields.get("condition") or not _is_inner(join):
        raise _shape()
    if right[0]["class"] != EXPRESSIONS + "LateralSubquery" or right[0].get("joinCond"):
        raise _shape()
    plan = [n for n in right[0]["plan"] if n["class"] != _ALIASES]
    kinds = [str(n["class"]) for n in plan]
    if kinds != [LOGICAL + "Generate", LOGICAL + "OneRowRelation"]:
        raise _shape()
    generate = plan[0]
    made = [expr_id(t[0]) for t in generate["generatorOutput"]]
    shown = [expr_id(t[0]) for t in node.fields["projectList"] if is_attribute(t)]
    if shown != made or len(node.fields["projectList"]) != len(made) or generate["outer"]:
        raise _shape()
    generator: Tree = generate["generator"]
    if len(generator) != 2 or generator[0] is not found:
        raise _shape()
    if generator[1]["class"] != EXPRESSIONS + "OuterReference" or not is_attribute(
        generator[1]["e"]
    ):
        raise _shape()
    return found, expr_id(generator[1]["e"][0])


def _is_inner(join: Node) -> bool:
    kind = str(join.fields["joinType"].get("object"))
    return join.kind == LATERAL_JOIN and kind == "org.apache.spark.sql.catalyst.plans.Inner$"


def _chain(node: Node) -> tuple[Node, ...]:
    """The four operators between the join and the table, or decline."""
    (here,) = node.children[0].children
    while here.kind == _ALIASES:
        (here,) = here.children
    found = []
    for name in ("Project", "Sort", "RepartitionByExpression", "Project"):
        if here.kind != LOGICAL + name:
            raise _shape()
        found.append(here)
        (here,) = here.children
    return tuple(found)


def _table(node: Node) -> Node:
    return _chain(node)[-1].children[0]


def table_of(node: Node) -> Node:
    """The node on whose output a pre-filter stands; the node's child where there is no such."""
    try:
        return _table(node)
    except DeclineSignal:
        return node.children[0]


def _keys(node: Node, inputs: tuple[Attribute, ...], struct: int) -> tuple[int, ...]:
    """The columns of PARTITION BY. Everything in between must be what the analyzer makes."""
    packed, sort, moved, named = _chain(node)
    ids = [a.id for a in inputs]
    columns: list[Tree] = named.fields["projectList"]
    first, rest = columns[: len(ids)], columns[len(ids) :]
    if [expr_id(t[0]) if is_attribute(t) else None for t in first] != ids or not rest:
        raise _shape()
    if not all(t[0]["class"] == ALIAS and is_attribute(t[1:]) for t in rest):
        reason = "PARTITION BY must be on plain columns of the table"
        raise DeclineSignal("grouping-expression", reason)
    made = [expr_id(t[0]) for t in rest]
    keys = tuple(expr_id(t[1]) for t in rest)
    by: list[Tree] = moved.fields["partitionExpressions"]
    order: list[Tree] = sort.fields["order"]
    if [expr_id(t[0]) if is_attribute(t) else None for t in by] != made:
        raise _shape()
    if not all(len(t) == 2 and is_attribute(t[1:]) for t in order):
        raise DeclineSignal("plan-shape", "ORDER BY must be on plain columns of the table")
    if [expr_id(t[1]) for t in order[: len(made)]] != made or sort.fields["global"] is not False:
        raise _shape()
    (pack,) = packed.fields["projectList"]
    parts = [expr_id(n) for n in pack[3::2] if n["class"] == ATTRIBUTE]
    labels = [n.get("value") for n in pack[2::2]]
    aliases = [str(t[0]["name"]) for t in rest]
    if expr_id(pack[0]) != struct or parts != [*ids, *made]:
        raise _shape()
    if labels != [*(a.name for a in inputs), *aliases] or set(keys) - set(ids):
        raise _shape()
    if len(set(ids)) != len(ids) or packed.kind != PROJECT:
        raise _shape()
    return tuple(dict.fromkeys(keys))
