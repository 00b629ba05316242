# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which of its arguments a scalar UDF reads, and which fields of a struct that
only it is given.

Lemma: if a function does the same whatever an argument is, NULL may stand in its place; the rows,
their order and the other arguments stay as they are. An argument is not read if the code never
mentions the parameter, or if the meaning of the whole function has no variable of it and the
function neither raises nor writes a message, in which the argument might be shown. As for functions
of tables, an error vanishes that only computing or sending the argument raises.

pandas chooses the type of an integer column by whether it has a NULL, so integers stay for
functions of whole columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, pairwise, starmap
from types import FunctionType

from presieve.backend.catalyst.boundary import PROJECT, Boundary, BoundaryCall, is_boundary
from presieve.backend.catalyst.native_aggregates import child_trees
from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.struct_fields import GET
from presieve.backend.catalyst.table_operators import read_boundary
from presieve.backend.catalyst.trees import (
    EXPRESSIONS,
    Node,
    Tree,
    column_id,
    expr_id,
    itself,
    simple_type,
    strip_alias,
)
from presieve.backend.catalyst.variable_columns import input_vars
from presieve.backend.gateway import PlanView
from presieve.backend.problems.column_pruning import ColumnUse, Input
from presieve.backend.problems.lift_functions import read_lifted
from presieve.backend.problems.load_functions import load_function
from presieve.backend.problems.setting import PlanSetting
from presieve.errors import DeclineSignal
from presieve.ir.assumption_codes import MESSAGES
from presieve.ir.terms import FALSE
from presieve.ir.walk import variables
from presieve.lift.python.positions import place_of
from presieve.lift.python.receivers import split_receiver
from presieve.lift.python.unread_parameters import fields_read, unread_parameters
from presieve.plan.algebra import Attribute
from presieve.records import replace


def read_argument_uses(view: PlanView, node: Node, setting: PlanSetting) -> Iterator[ColumnUse]:
    """Yield what the scalar UDFs of a projection read, of those that do not read all."""
    if node.kind != PROJECT or not is_boundary(node):
        return
    try:
        boundary = read_boundary(view.gateway, node, view.handle(node))
    except DeclineSignal:
        return
    if boundary.kind != "Project":
        return
    for call in boundary.calls:
        with suppress(DeclineSignal):
            for use in (
                _read_use(view, node, replace(boundary, calls=(call,)), setting),
                *_read_structs(view, node, call),
            ):
                if len(use.inputs[0].read) < len(use.inputs[0].columns):
                    yield use


def _read_use(view: PlanView, node: Node, boundary: Boundary, setting: PlanSetting) -> ColumnUse:
    (call,) = boundary.calls
    if call.streamed or not call.arguments:
        raise DeclineSignal("eval-type", f"{call.name} takes batches")
    handle = view.handle(node)
    by_id = {a.id: a for a in boundary.inputs}
    arguments = tuple(by_id[i] for i in call.arguments)
    loaded = load_function(view.gateway, view.gateway.row_function(handle, call.position), call)
    unread = _not_mentioned(loaded, len(arguments))
    if len(unread) < len(arguments):
        unread |= _not_in_meaning(view, node, boundary, setting)
    if call.whole:
        unread = frozenset(i for i in unread if arguments[i].type in _OF_ONE_TYPE)
    read = frozenset(range(len(arguments))) - unread
    function, _ = split_receiver(loaded)
    span = place_of(function.__code__) if isinstance(function, FunctionType) else None
    return ColumnUse(
        number=-1,
        node=node,
        function=call.name,
        span=span,
        inputs=(Input(node.children[0], arguments, read),),
        call=call,
        position=call.position,
    )


def _read_structs(view: PlanView, node: Node, call: BoundaryCall) -> Iterator[ColumnUse]:
    """Yield what a call reads of structs that the projection below builds for it alone, beside
    filters in between on fields.
    """
    below, conditions = node.children[0], []
    while below.kind == FILTER:
        conditions.append(below.fields["condition"])
        below = below.children[0]
    if below.kind != PROJECT or call.streamed:
        return
    handle = view.handle(node)
    loaded = load_function(view.gateway, view.gateway.row_function(handle, call.position), call)
    function, receiver = split_receiver(loaded)
    if not isinstance(function, FunctionType):
        return
    uses = Counter(column_id([n]) for t in node.fields["projectList"] for n in t)
    places = {expr_id(tree[0]): i for i, tree in enumerate(below.fields["projectList"])}
    for at, number in enumerate(call.arguments):
        place = places.get(number)
        if place is None or uses[number] != 1:
            continue
        columns = _struct_columns(below.fields["projectList"][place])
        names = [a.name for a in columns]
        read = fields_read(function, at + (receiver is not None), names) if columns else None
        asked = set(chain.from_iterable(_fields_asked(t, number) for t in conditions))
        if read is None or None in asked or len(set(names)) < len(names):
            continue
        needed = asked | {i for i, a in enumerate(columns) if a.name in read}
        kept = (i for i, a in enumerate(columns) if i in needed or _stays(a, call))
        given = Input(below.children[0], columns, frozenset(kept))
        span = place_of(function.__code__)
        yield ColumnUse(-1, below, call.name, span, (given,), call=call, position=place)


def _fields_asked(condition: Tree, struct: int) -> Iterator[int | None]:
    """Yield the places of the fields of a struct that a condition reads, and None for the whole."""
    for parent, node in pairwise([*condition[:1], *condition]):
        if column_id([node]) == struct:
            yield int(parent["ordinal"]) if parent["class"] == GET else None


def _stays(field: Attribute, call: BoundaryCall) -> bool:
    """Whether a field that is not read must stay as it is: a NULL would be of another type."""
    return field.id < 0 or not field.nullable or (call.whole and field.type not in _OF_ONE_TYPE)


def _struct_columns(column: Tree) -> tuple[Attribute, ...]:
    """Return the fields of a struct that a column builds, with the columns of the input that they
    are; the number of a field that is none is negative. Nothing for another column.
    """
    tree = strip_alias(column)
    if not tree or tree[0]["class"] != _STRUCT:
        return ()
    parts = child_trees(tree, 0)
    names = [str(name[0].get("value")) for name in parts[::2]]
    return tuple(starmap(_field, zip(names, parts[1::2], strict=True)))


def _field(name: str, value: Tree) -> Attribute:
    column = itself(value)
    if column is None:
        return Attribute(-1, name, "")
    type_ = simple_type(column["dataType"], column.get("metadata"))
    return Attribute(expr_id(column), name, type_, bool(column["nullable"]))


_STRUCT = EXPRESSIONS + "CreateNamedStruct"
_OF_ONE_TYPE = ("string", "date", "timestamp", "timestamp_ntz", "double")
"""The types of columns whose type in pandas does not depend on whether there is a NULL."""


def _not_mentioned(loaded: object, count: int) -> frozenset[int]:
    function, receiver = split_receiver(loaded)
    if not isinstance(function, FunctionType):
        return frozenset()
    before = int(receiver is not None)
    unread = (i - before for i in unread_parameters(function))
    return frozenset(i for i in unread if 0 <= i < count)


def _not_in_meaning(
    view: PlanView, node: Node, boundary: Boundary, setting: PlanSetting
) -> frozenset[int]:
    (call,) = boundary.calls
    keys = tuple(dict.fromkeys(call.arguments))
    boundary = replace(boundary, keys=keys, key_outputs={})
    try:
        of_call = read_lifted(view.gateway, view.handle(node), boundary, setting)
    except DeclineSignal:
        return frozenset()
    if of_call.why is not None or of_call.known or len(of_call.folds) != 1:
        return frozenset()
    (lifted,) = of_call.folds
    fold = lifted.fold
    shows = fold.finish_raises != FALSE or any(a.code == MESSAGES for a in lifted.assumptions)
    if shows or lifted.calls or len(fold.outputs) < len(call.outputs):
        return frozenset()
    read = set(variables(*(o.term for o in fold.outputs), *(a.term for a in lifted.assumptions)))
    columns = input_vars(of_call.names)
    return frozenset(i for i, n in enumerate(call.arguments) if columns[n] not in read)
