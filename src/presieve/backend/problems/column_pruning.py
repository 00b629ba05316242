# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which of its input columns a function of tables needs.

Lemma: if a function gives the same result whatever a column holds, and whether or not the column
exists, Spark need not hand it over (:mod:`presieve.dataflow`). The rows, their order and their
groups stay as they are. An error that only computing or sending the column raises vanishes, as it
does if Spark itself leaves out a column (``ColumnPruning``).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType

from msgspec import Struct

from presieve.backend.catalyst.boundary import (
    COGROUPS,
    FLAT_MAPS,
    MAPS,
    Boundary,
    BoundaryCall,
    simple_kind,
)
from presieve.backend.catalyst.operators import ROW_BY_ROW
from presieve.backend.catalyst.table_operators import read_boundary
from presieve.backend.catalyst.trees import Node, expr_id, walk
from presieve.backend.effects.erased_errors import may_not_arrive
from presieve.backend.effects.may_raise import errors_in_input
from presieve.backend.effects.trusted_scans import dropped_by_columns
from presieve.backend.gateway import Gateway, Handle, PlanView
from presieve.backend.problems.arrow_columns import read_arrow_columns
from presieve.backend.problems.load_functions import load_function, table_request, takes_pandas
from presieve.backend.problems.setting import PlanSetting
from presieve.backend.statistics.footers import RELATION
from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.errors import Declined, DeclineSignal, Span
from presieve.lift.entry.row_map import converted_by
from presieve.lift.evaluation_types import EVALUATION_TYPES, Role
from presieve.lift.python.positions import place_of
from presieve.plan.algebra import Attribute
from presieve.records import replace

TABLES = FLAT_MAPS | COGROUPS | MAPS
"""Operators that hand tables to a function."""


class Input(Struct, frozen=True):
    """A table that is handed to a function. ``node`` gives its columns, and ``read`` holds the
    numbers of the needed columns, including grouping columns.
    """

    node: Node
    columns: tuple[Attribute, ...]
    read: frozenset[int]


class ColumnUse(Struct, frozen=True):
    """Facts about a function of tables, found without lifting it.

    ``number`` is its place among the plan's boundaries, ``node`` the operator. ``inputs`` is empty
    if the columns that it reads are not known, and ``declined`` says why nothing can be left out.
    ``span`` locates the function's text. ``call``: that of a scalar UDF; the column
    at ``position`` of the ``node`` is this call, with its arguments as the only input, or a struct
    that the call is given, with the fields.
    """

    number: int
    node: Node
    function: str
    span: Span | None = None
    inputs: tuple[Input, ...] = ()
    answer: Dataflow | None = None
    declined: Declined | None = None
    call: BoundaryCall | None = None
    position: int = 0

    @property
    def form(self) -> str:
        """The input and output of the function, in words."""
        return _form(self.node) if self.call is None else Role.ROW.value

    @property
    def outputs(self) -> tuple[int, ...]:
        """The attributes that a scalar UDF computes."""
        return () if self.call is None else self.call.outputs


def _form(node: Node) -> str:
    """Describe the input and output of the functions of such an operator."""
    operator = simple_kind(node)
    return next((t.role.value for t in EVALUATION_TYPES.values() if t.operator == operator), "")


def has_tables(root: Node) -> bool:
    """Whether an operator of the plan hands tables to a function."""
    return any(simple_kind(n) in TABLES for n in walk(root))


def read_column_use(view: PlanView, number: int, node: Node, setting: PlanSetting) -> ColumnUse:
    """Determine the columns that the function of this operator needs."""
    name = str(node.fields["functionExpr"][0].get("name", "a function"))
    gateway, handle = view.gateway, view.handle(node)
    unread = gateway.explain_unread(handle)
    if unread is not None:
        return ColumnUse(number, node, name, declined=unread)
    try:
        boundary = read_boundary(gateway, node, handle)
        function = _load(gateway, handle, boundary)
        if boundary.kind in MAPS and boundary.calls[0].arrow:
            answer = read_arrow_columns(gateway, function, boundary, setting)
        else:
            answer = dataflow(table_request(function, boundary, _keys(node, boundary)))
    except DeclineSignal as signal:
        return ColumnUse(number, node, name, declined=signal.declined)
    span = place_of(function.__code__)
    inputs = tuple(_inputs(node, boundary, answer))
    declined = _against(view, node, answer) or dropped_by_columns(view, node)
    return ColumnUse(number, node, name, span, inputs, answer, declined)


def _load(gateway: Gateway, handle: Handle, boundary: Boundary) -> FunctionType:
    """Load a function of pandas tables, or of the batches of an Arrow table."""
    (call,) = boundary.calls
    if not takes_pandas(boundary, call) and boundary.kind not in MAPS:
        reason = f"{call.name} is a function of Arrow tables or of the batches of a group"
        raise DeclineSignal("eval-type", reason)
    function = load_function(gateway, gateway.group_function(handle), call)
    if not isinstance(function, FunctionType):
        raise DeclineSignal("no-source", f"{call.name} is not a plain Python function")
    return function


def _keys(node: Node, boundary: Boundary) -> tuple[str, ...]:
    """Return the grouping columns in the key's order; for expressions, names that no column has."""
    by_id = {a.id: a.name for a in boundary.inputs}
    if boundary.kind not in FLAT_MAPS:
        return tuple(by_id[k] for k in boundary.keys)
    ids = [expr_id(tree[0]) for tree in node.fields["groupingAttributes"]]
    return tuple(by_id.get(i, f"\0{at}") for at, i in enumerate(ids))


def _inputs(node: Node, boundary: Boundary, answer: Dataflow) -> Iterator[Input]:
    if answer.reads is None:
        return
    if boundary.kind in MAPS:
        table_input = _input(node.children[0], boundary.inputs, answer.reads, ())
        if boundary.calls[0].arrow:
            yield table_input
            return
        conversion_columns = converted_by([a.type for a in boundary.inputs], table_input.read)
        yield replace(table_input, read=table_input.read | conversion_columns)
        return
    yield _input(node.children[0].children[0], boundary.inputs, answer.reads, boundary.keys)
    if boundary.beside is not None:
        side, read = boundary.beside, answer.reads_beside or frozenset()
        yield _input(node.children[1].children[0], side.inputs, read, side.keys)


def _input(
    node: Node, columns: tuple[Attribute, ...], read: frozenset[str], keys: tuple[int, ...]
) -> Input:
    needed = frozenset(i for i, a in enumerate(columns) if a.name in read or a.id in keys)
    # A table without columns loses its rows on the way to a worker.
    return Input(node, columns, needed or frozenset((0,)))


def _against(view: PlanView, node: Node, answer: Dataflow) -> Declined | None:
    """Explain why no column can be left out; None if columns can."""
    if answer.reads is None:
        effect = next(iter(answer.find_missed_effects()), None)
        why = "the function is not followed" if effect is None else effect.reason
        span = None if effect is None else effect.span
        return Declined("operator", f"all columns are handed over: {why}", span)
    if not all(view.gateway.deterministic(view.handle(child)) for child in node.children):
        reason = "something below the function is not deterministic; all columns are handed over"
        return Declined("nondeterministic", reason)
    alone = simple_kind(node) not in MAPS or answer.passes is not None
    if not alone and not _same_batches(view, node.children[0]):
        reason = "rows of a batch may depend on each other, and batches on how wide rows are"
        note = next((n for n in answer.notes if n.question == "rows" and n.span is not None), None)
        if note is None:
            return Declined("operator", reason)
        return Declined("operator", f"{reason}: {note.reason}", note.span)
    return None


def _same_batches(view: PlanView, node: Node) -> bool:
    """Whether the rows of ``node`` come in the same batches whichever columns it has. Spark splits
    files by their sizes (``FilePartition.maxSplitBytes``), and ends a batch after a fixed number of
    rows unless it has too many bytes.
    """
    gateway, columns = view.gateway, view.gateway.attributes(view.handle(node))
    while node.kind in ROW_BY_ROW:  # one partition for each partition
        node = node.children[0]
    if node.kind != RELATION or not gateway.source(view.handle(node)).files:
        return False
    rows, size = (int(gateway.conf(c, "0").removesuffix("b")) for c in (_BATCH_ROWS, _BATCH_BYTES))
    widths = [_WIDTHS.get(a.type) for a in columns]
    return rows > 0 and None not in widths and rows * sum(w or 0 for w in widths) < size


_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_WIDTHS = {
    **dict.fromkeys(("boolean", "tinyint", "smallint", "int", "bigint", "double", "date"), 32),
    **dict.fromkeys(("unsupported:float", "timestamp", "timestamp_ntz"), 32),
}
"""The most bytes of a value in a batch, whose buffers may have twice the size of contents."""


def may_raise(view: PlanView, input_: Input) -> frozenset[int]:
    """Return the numbers of the columns whose computation or transfer may raise."""
    errors = errors_in_input(input_.node, view.root, guarded=False)
    ids = {a.id for a in input_.columns}
    incomplete, texts = may_not_arrive(view, input_.node, input_.columns, ids)
    computed = ids if errors.computed is None else errors.computed
    return frozenset(
        i for i, a in enumerate(input_.columns) if a.id in incomplete | texts or a.id in computed
    )
