# SPDX-License-Identifier: Apache-2.0
"""Trusted. A boundary as its plan node describes it: its input columns, functions and outputs.

These operators are boundaries: an ``Aggregate`` whose aggregates are grouped-aggregate UDFs over
plain columns or Spark's own (HAVING); operators that hand tables to a function (``applyInPandas``,
``applyInArrow``, also of ``cogroup``, ``mapInPandas``, ``mapInArrow``); and a ``Project`` with a
column that is a scalar Python UDF over plain columns. Anything that is not understood declines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct, field

from presieve.backend.catalyst.list_folds import list_fold
from presieve.backend.catalyst.native_aggregates import (
    AGGREGATE_EXPRESSION,
    COMPLETE,
    NativeCall,
    native_call,
)
from presieve.backend.catalyst.struct_fields import struct_fields
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    EXPRESSIONS,
    JsonNode,
    Node,
    Tree,
    expr_id,
    is_attribute,
    nodes_inside,
    source_id,
    strip_alias,
)
from presieve.backend.gateway import Handle, PlanReader
from presieve.errors import DeclineSignal
from presieve.ir.fold import Mode
from presieve.lift.evaluation_types import (
    AGGREGATES,
    EVALUATION_TYPES,
    SCALAR,
    EvaluationType,
    Role,
    operators,
)
from presieve.plan.algebra import Attribute, struct_id

LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
AGGREGATE = LOGICAL + "Aggregate"
PROJECT = LOGICAL + "Project"

LATERAL_JOIN = LOGICAL + "LateralJoin"

PIVOT_FIRST = EXPRESSIONS + "aggregate.PivotFirst"

PYTHON_UDAF = EXPRESSIONS + "PythonUDAF"
PYTHON_UDF = EXPRESSIONS + "PythonUDF"
TABLE_FUNCTION = "PythonUDTF"

FLAT_MAPS, COGROUPS, MAPS = map(operators, (Role.GROUP_MAP, Role.COGROUP_MAP, Role.MAP))
"""Operators that hand tables to a function: of groups, of two groups of a key, and any tables."""


class BoundaryCall(Struct, frozen=True):
    """A Python function that is called once for each group, or one of Spark's own aggregate
    functions (``native``).

    ``arguments`` are input attributes, and ``outputs`` the output attributes that it computes.
    ``position`` is its place among the aggregate expressions, or the columns of the projection (0
    for applyInPandas). A scalar UDF is called once for each row. ``fields`` are the names of the
    outputs if these are the fields of a struct. ``sole``: a scalar UDF has one argument. ``by``:
    how Spark calls it, which says whether it is ``arrow``, ``streamed`` and ``whole``.
    """

    name: str
    arguments: tuple[int, ...]
    outputs: tuple[int, ...]
    position: int
    native: NativeCall | None = None
    by: EvaluationType | None = None
    fields: tuple[str, ...] = ()
    sole: bool = False

    @property
    def arrow(self) -> bool:
        """Whether values go through Arrow."""
        return self.by is not None and self.by.arrow

    @property
    def streamed(self) -> bool:
        """Whether it takes an iterator of batches."""
        return self.by is not None and self.by.streamed

    @property
    def whole(self) -> bool:
        """Whether a scalar UDF takes whole columns."""
        return self.by is not None and self.by.whole


class SecondInput(Struct, frozen=True):
    """The second input of an operator, with its grouping columns (``keys``) in order."""

    input_path: tuple[int, ...]
    inputs: tuple[Attribute, ...]
    keys: tuple[int, ...]


class Boundary(Struct, frozen=True):
    """An operator that turns groups into rows. ``single``: each row is a group, as in a projection,
    and ``keys`` are the columns that the functions read, and those that filters read beside their
    results.

    ``inputs`` are the columns on which a pre-filter may stand: those of the node at ``input_path``.
    ``keys`` are the grouping columns that are plain columns of the input, in order, and
    ``key_outputs`` maps output attributes to the keys that they pass on. ``all_keys_plain`` says
    whether ``keys`` are all the grouping columns. ``mode`` says what no rows result in: without
    GROUP BY, Spark's own aggregates have a result, Python's never. ``beside``: the second input of
    ``cogroup``; everything else is about the first. ``finer``: an output says more about the rows
    than the operator's own output: where it is equal, so is the operator's, but not the other way
    round.
    """

    kind: str
    path: tuple[int, ...]
    input_path: tuple[int, ...]
    inputs: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]
    keys: tuple[int, ...]
    all_keys_plain: bool
    calls: tuple[BoundaryCall, ...]
    key_outputs: dict[int, int] = field(default_factory=dict)
    mode: Mode = Mode.GROUPED
    single: bool = False
    beside: SecondInput | None = None
    finer: bool = False

    @property
    def arguments(self) -> frozenset[int]:
        """The columns of the input that the functions take."""
        return frozenset(i for call in self.calls for i in call.arguments)

    @property
    def computed(self) -> frozenset[int]:
        """The outputs that the functions compute, and the structs whose fields they are."""
        computed = [i for call in self.calls for i in call.outputs]
        return frozenset((*computed, *map(struct_id, computed)))


def is_boundary(node: Node) -> bool:
    """Whether the operator is of one of these kinds (it may still be declined)."""
    tables = FLAT_MAPS | COGROUPS | MAPS
    if node.kind == AGGREGATE or simple_kind(node) in tables:
        return True
    return table_function(node) is not None or bool(_scalar_calls(node))


def is_hopeless(node: Node) -> bool:
    """Whether plainly nothing moves past an operator: an ``Aggregate`` without a call of a known
    function among its outputs, which lifting declines whatever stands above it.
    """
    if node.kind != AGGREGATE:
        return False
    called = node.children[0] if is_pivot(node) else node
    return not any(_is_known_call(t) for t in called.fields["aggregateExpressions"])


def is_pivot(node: Node) -> bool:
    """Whether the operator lays the results of the aggregate below it side by side."""
    if node.kind != AGGREGATE or node.children[0].kind != AGGREGATE:
        return False
    return any(is_pivoted(t) for t in node.fields["aggregateExpressions"])


def is_pivoted(output: Tree) -> bool:
    """Whether an output of an ``Aggregate`` is the array of a pivot."""
    return len(output) > 2 and output[2]["class"] == PIVOT_FIRST


def grouping_outputs(node: Node) -> frozenset[int]:
    """Return the outputs of an ``Aggregate`` that are grouping expressions. Spark itself moves
    filters on them alone (``PushPredicateThroughNonJoin``).
    """
    if node.kind != AGGREGATE:
        return frozenset()
    grouping: list[Tree] = node.fields["groupingExpressions"]
    columns: list[Tree] = node.fields["aggregateExpressions"]
    return frozenset(expr_id(t[0]) for t in columns if t in grouping or strip_alias(t) in grouping)


def _is_known_call(tree: Tree) -> bool:
    if any(n["class"] in (PYTHON_UDAF, PYTHON_UDF) for n in tree):
        return True
    return bool((list_fold(tree) or native_call(tree)).function)


def table_function(node: Node) -> JsonNode | None:
    """Return the Python function of tables if a projection holds its results and nothing else."""
    if node.kind != PROJECT or node.children[0].kind != LATERAL_JOIN:
        return None
    if not all(is_attribute(t) for t in node.fields["projectList"]):
        return None
    inside = nodes_inside(node.children[0].fields["right"])
    udtfs = [n for n in inside if n["class"] == EXPRESSIONS + TABLE_FUNCTION]
    return udtfs[0] if len(udtfs) == 1 else None


def simple_kind(node: Node) -> str:
    """Return the short class name: ``MapInPandas`` and the like."""
    return node.kind.removeprefix(LOGICAL)


def read_aggregate(gateway: PlanReader, node: Node, plan: Handle) -> Boundary:
    """Read an ``Aggregate``. ``plan`` is the same node in Spark. Raises :class:`DeclineSignal`."""
    grouping: list[Tree] = node.fields["groupingExpressions"]
    plain = {expr_id(t[0]) for t in grouping if is_attribute(t)}
    calls: list[BoundaryCall] = []
    key_outputs: dict[int, int] = {}
    for position, tree in enumerate(node.fields["aggregateExpressions"]):
        key = source_id(tree)
        if key is not None and key in plain:
            key_outputs[expr_id(tree[0])] = key
        elif tree not in grouping and strip_alias(tree) not in grouping:  # constant in a group
            calls.append(_call(tree, position))
    if not calls:
        raise DeclineSignal("no-function", "there is no aggregate function in this aggregate")
    input_path = (*node.path, 0)
    return Boundary(
        kind="Aggregate",
        path=node.path,
        input_path=input_path,
        inputs=gateway.attributes(gateway.node(plan, (0,))),
        outputs=_split_outputs(
            gateway.attributes(plan), node.fields["aggregateExpressions"], calls
        ),
        keys=tuple(dict.fromkeys(expr_id(t[0]) for t in grouping if is_attribute(t))),
        key_outputs=key_outputs,
        all_keys_plain=all(map(is_attribute, grouping)),
        calls=tuple(calls),
        mode=_mode(grouping, calls),
    )


_GROUPING_ID = "spark_grouping_id"
"""The column that the analyzer adds to the grouping columns of ROLLUP, CUBE and GROUPING SETS."""


def _mode(grouping: list[Tree], calls: list[BoundaryCall]) -> Mode:
    native = [c.native is not None for c in calls]
    if any(native) and any(is_attribute(t) and t[0]["name"] == _GROUPING_ID for t in grouping):
        reason = "filters are not pushed through ROLLUP, CUBE or GROUPING SETS; group by one set"
        raise DeclineSignal("grouping-sets", reason)
    if any(native) != all(native):
        # Spark 4.3 refuses to mix Python's aggregate functions with others.
        reason = "an output of this aggregate is neither a grouping column nor one Python function"
        raise DeclineSignal("aggregate-expression", reason)
    return Mode.GLOBAL if all(native) and not grouping else Mode.GROUPED


def _call(tree: Tree, position: int) -> BoundaryCall:
    """Read a call of a Python function, or of one of Spark's own."""
    if any(node["class"] in (PYTHON_UDAF, PYTHON_UDF) for node in tree):
        return _udaf_call(tree, position)
    if tree[0]["class"] != ALIAS:
        raise DeclineSignal("plan-shape", "an output of this aggregate has no name")
    native = list_fold(tree) or native_call(tree)
    arguments = tuple(sorted(native.references))
    return BoundaryCall(native.name, arguments, (expr_id(tree[0]),), position, native)


def _udaf_call(tree: Tree, position: int) -> BoundaryCall:
    """Read ``Alias(AggregateExpression(PythonUDAF(attributes)))``, or decline."""
    if len(tree) < 3 or tree[0]["class"] != ALIAS or tree[1]["class"] != AGGREGATE_EXPRESSION:
        raise DeclineSignal(
            "aggregate-expression",
            f"the output {tree[0].get('name', 'without a name')} of this aggregate is neither a"
            " grouping column nor one aggregate function; compute with results in a select above",
        )
    aggregate, udaf, arguments = tree[1], tree[2], tree[3:]
    if udaf["class"] != PYTHON_UDAF:
        raise DeclineSignal(
            "native-aggregate",
            f"{tree[0]['name']} is an aggregate of Spark's that calls a Python function",
        )
    complete = aggregate["mode"].get("object") == COMPLETE and not aggregate["isDistinct"]
    if not complete or int(aggregate["num-children"]) != 1:
        reason = f"{udaf['name']} is called with DISTINCT or FILTER; do that in a step below"
        raise DeclineSignal("aggregate-expression", reason)
    kind = check_function(udaf, AGGREGATES)
    read = plain(udaf, arguments)
    fields = _fields(tree)
    outputs = tuple(a.id for _, a in fields) or (expr_id(tree[0]),)
    names = tuple(name for name, _ in fields)
    return BoundaryCall(str(udaf["name"]), read, outputs, position, by=kind, fields=names)


def _fields(tree: Tree) -> tuple[tuple[str, Attribute], ...]:
    """Return the names and attributes of the fields of a struct that a column's call returns. A
    struct of one field is not split, since Python can return that field in its place, nor one with
    a field that is declared NOT NULL: Spark does not check that Python keeps to it.
    """
    type_ = (tree[1] if tree[1]["class"] == PYTHON_UDF else tree[2]).get("dataType")
    fields = struct_fields(expr_id(tree[0]), str(tree[0]["name"]), type_)
    nullable = isinstance(type_, dict) and all(f["nullable"] for f in type_.get("fields", ()))
    return fields if len(fields) > 1 and nullable else ()


def _split_outputs(
    outputs: tuple[Attribute, ...], columns: list[Tree], calls: Iterable[BoundaryCall]
) -> tuple[Attribute, ...]:
    """Return the columns of an operator, with fields in place of the structs of its calls."""
    trees = [columns[c.position] for c in calls if c.fields]
    split = {expr_id(t[0]): [f for _, f in _fields(t)] for t in trees}
    return tuple(f for a in outputs for f in split.get(a.id, [a]))


def _scalar_calls(node: Node) -> tuple[int, ...]:
    """Return the positions of a projection's columns that are scalar Python UDFs alone."""
    if node.kind != PROJECT:
        return ()
    return tuple(
        i
        for i, tree in enumerate(node.fields["projectList"])
        if len(tree) > 1 and tree[0]["class"] == ALIAS and tree[1]["class"] == PYTHON_UDF
        if tree[1]["evalType"] in SCALAR
    )


def made_of_rows(node: Node) -> frozenset[int]:
    """Return the attributes that scalar Python UDFs compute in a projection, if it is one."""
    columns = node.fields["projectList"] if node.kind == PROJECT else ()
    return frozenset(expr_id(columns[i][0]) for i in _scalar_calls(node))


def read_project(gateway: PlanReader, node: Node, plan: Handle) -> Boundary:
    """Read a ``Project``, without the calls whose arguments are not plain columns."""
    columns: list[Tree] = node.fields["projectList"]
    calls: list[BoundaryCall] = []
    refused: list[DeclineSignal] = []
    for position in _scalar_calls(node):
        head, function, *arguments = columns[position]
        try:
            kind = check_function(function, gateway.version.reads(SCALAR))
            read = plain(function, arguments)
        except DeclineSignal as signal:
            refused.append(signal)
            continue
        fields = _fields(columns[position]) if not kind.whole else ()
        calls.append(
            BoundaryCall(
                str(function["name"]),
                read,
                tuple(a.id for _, a in fields) or (expr_id(head),),
                position,
                by=kind,
                fields=tuple(name for name, _ in fields),
                sole=len(read) == 1,
            )
        )
    if not calls:
        raise refused[0]
    passed = passed_on(node)
    keys = tuple(dict.fromkeys(i for c in calls for i in c.arguments))
    return Boundary(
        kind="Project",
        path=node.path,
        input_path=(*node.path, 0),
        inputs=gateway.attributes(gateway.node(plan, (0,))),
        outputs=_split_outputs(gateway.attributes(plan), columns, calls),
        keys=keys,
        key_outputs={out: key for out, key in passed.items() if key in keys},
        all_keys_plain=True,
        calls=tuple(calls),
        single=True,
    )


def check_function(function: JsonNode, kinds: Collection[int]) -> EvaluationType:
    """Return the evaluation type, one of ``kinds``, of a deterministic function, or decline."""
    if function["class"] not in (PYTHON_UDAF, PYTHON_UDF) or function["evalType"] not in kinds:
        raise DeclineSignal(
            "eval-type",
            f"{function.get('name')} is a kind of Python function that is not read here "
            f"(evaluation type {function.get('evalType')})",
        )
    if function["udfDeterministic"] is not True:
        reason = f"{function['name']} is declared asNondeterministic()"
        raise DeclineSignal("nondeterministic-udf", reason)
    return EVALUATION_TYPES[function["evalType"]]


def plain(function: JsonNode, arguments: Tree) -> tuple[int, ...]:
    """Return the arguments, which must be attributes (no expressions, no keyword arguments)."""
    if len(arguments) != int(function["num-children"]) or not all(
        a["class"] == ATTRIBUTE for a in arguments
    ):
        raise DeclineSignal(
            "argument-expression",
            f"an argument of {function['name']} is an expression; select it as a column first",
        )
    return tuple(expr_id(a) for a in arguments)


def passed_on(projection: Node) -> dict[int, int]:
    """Map the outputs of a projection that are columns of its input, perhaps renamed, to these."""
    columns = projection.fields["projectList"]
    return {expr_id(t[0]): k for t in columns if (k := source_id(t)) is not None}
