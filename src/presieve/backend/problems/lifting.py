"""Trusted. The functions of a boundary as folds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from presieve.backend.catalyst.boundary import MAPS, TABLE_FUNCTION, Boundary, Call
from presieve.backend.catalyst.list_folds import FOLD_OF_A_LIST, lift_list_fold
from presieve.backend.catalyst.names import Names, input_vars, read_names, schema_column
from presieve.backend.catalyst.native_aggregates import lift_native
from presieve.backend.catalyst.table_functions import lifted_table_function
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.functions import (
    aggregate_form,
    check_together,
    handle,
    load,
    only_keys,
    takes_key,
)
from presieve.backend.problems.setting import Setting
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Output
from presieve.ir.sorts import BOOL, Option
from presieve.ir.terms import TRUE, Var
from presieve.ir.wellformed import output_var
from presieve.lift.api import lift
from presieve.lift.entry.row_map import lift_rows
from presieve.lift.execution.opaque_calls import apart
from presieve.lift.forms import (
    Form,
    FrameFunction,
    Lifted,
    Request,
    RowFunction,
    RowsFunction,
    TableFunction,
)
from presieve.plan.algebra import Attribute
from presieve.semantics.build import some
from presieve.semantics.types import SchemaColumn


@dataclass(frozen=True, slots=True)
class LiftedBoundary:
    """A boundary whose functions are ``folds``. ``unknown`` are the outputs, by number, of those of
    Spark's own functions that are not known and never raise; ``why`` some function does not lift.
    ``kept``: one more output, which says whether there is such a row at all, where each row is a
    group.
    """

    boundary: Boundary
    names: Names
    folds: tuple[Lifted, ...]
    why: Declined | None = None
    unknown: dict[int, Declined] = field(default_factory=dict)
    kept: Var | None = None


TWO_GROUPS = Declined(
    "operator",
    "for a function of two groups, only filters on columns that hold the key in every row are "
    "pushed",
)


def read_lifted(
    gateway: Gateway, node: Handle, boundary: Boundary, setting: Setting
) -> LiftedBoundary:
    """The boundary's functions lifted: of tables, those of whole groups, of single rows, or what
    holds the key, whichever it is first. Raises :class:`DeclineSignal`.
    """
    names = read_names(boundary)
    check_together(gateway, node, boundary)
    if boundary.kind == "Project":
        found, why = _lifted_rows(gateway, node, boundary, names, setting)
        return LiftedBoundary(boundary, names, found, why)
    if boundary.kind == TABLE_FUNCTION:
        fold = lifted_table_function(gateway, node, boundary, names, setting)
        return LiftedBoundary(boundary, names, (fold,))
    if boundary.kind in MAPS:
        return _row_by_row(gateway, node, boundary, setting)
    if boundary.beside is not None:
        keyed = only_keys(gateway, node, boundary, names, TWO_GROUPS)
        return LiftedBoundary(boundary, names, (keyed,), TWO_GROUPS)
    try:
        calls, unknown = _lifted(gateway, node, boundary, names, setting)
        return LiftedBoundary(boundary, names, apart(calls), None, unknown)
    except DeclineSignal as signal:
        why = signal.declined
    if boundary.kind != "Aggregate":
        try:
            return _row_by_row(gateway, node, boundary, setting)
        except DeclineSignal:
            pass
    return LiftedBoundary(boundary, names, (only_keys(gateway, node, boundary, names, why),), why)


def _row_by_row(
    gateway: Gateway, node: Handle, boundary: Boundary, setting: Setting
) -> LiftedBoundary:
    """A function of tables that treats each row by itself: each row is a group."""
    (call,) = boundary.calls
    function = load(gateway, handle(gateway, node, boundary, call), call)
    is_map = boundary.kind in MAPS
    form = RowsFunction(
        takes_key=not is_map and takes_key(function, boundary, call),
        batches=is_map or call.streamed,
        arrow=call.arrow,
    )
    single = replace(boundary, keys=tuple(a.id for a in boundary.inputs), single=True)
    names = read_names(single)
    request = Request(
        schema=tuple(schema_column(a) for a in boundary.inputs),
        keys=tuple(k.name for k in names.keys),
        returns=tuple(schema_column(a) for a in boundary.outputs),
        timezone=setting.timezone,
        extent=setting.extent(boundary.inputs),
    )
    lifted = lift_rows(function, form, request)
    if isinstance(lifted, Declined):
        raise _signal(lifted)
    if lifted.kept == TRUE:
        return LiftedBoundary(single, names, (lifted,))
    made = Output(f"{call.name} gives the row", Option(BOOL), "boolean", some(lifted.kept))
    if any(a.name == made.name for a in boundary.outputs):
        return LiftedBoundary(single, names, (lifted,))
    fold = replace(lifted.fold, outputs=(*lifted.fold.outputs, made))
    kept = output_var(made.name, made.sort)
    return LiftedBoundary(single, names, (replace(lifted, fold=fold),), kept=kept)


def _lifted(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, setting: Setting
) -> tuple[tuple[Lifted, ...], dict[int, Declined]]:
    """The calls as folds; and the outputs, by number, of those of Spark's own functions that are
    not known and never raise: nothing need be known of them where nobody reads what they give.
    """
    found: list[Lifted] = []
    unknown: dict[int, Declined] = {}
    for call in boundary.calls:
        if call.native is None:
            found.append(_lift(gateway, node, boundary, names, call, setting))
            continue
        lifted = _lift_native(gateway, node, boundary, names, call, setting.timezone)
        if isinstance(lifted, Lifted):
            found.append(lifted)
        elif call.native.total:
            unknown[call.outputs[0]] = lifted
        else:
            raise _signal(lifted)
    if not found:
        raise _signal(next(iter(unknown.values())))
    return tuple(found), unknown


def _lifted_rows(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, setting: Setting
) -> tuple[tuple[Lifted, ...], Declined | None]:
    """The scalar UDFs that lift, and why the first of the others does not."""
    found: list[Lifted] = []
    why: Declined | None = None
    for call in boundary.calls:
        try:
            found.append(_lift(gateway, node, boundary, names, call, setting))
        except DeclineSignal as signal:
            why = why or signal.declined
    if why is not None and not found:
        raise _signal(why)
    return tuple(found), why


def _lift_native(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, call: Call, timezone: str
) -> Lifted | Declined:
    assert call.native is not None
    (output,) = (a for a in boundary.outputs if a.id in call.outputs)
    types = {a.id: a.type for a in boundary.inputs}
    inputs = input_vars(names)
    column = schema_column(output)
    if call.native.function == FOLD_OF_A_LIST:

        def modes(number: int) -> str:
            return gateway.arithmetic_mode(node, call.position, number)

        return lift_list_fold(call.native, modes, inputs, types, column, timezone)
    return lift_native(
        call.native,
        lambda: gateway.evaluation_mode(node, call.position),
        inputs,
        types,
        column,
        timezone,
    )


def _lift(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, call: Call, setting: Setting
) -> Lifted:
    function = load(gateway, handle(gateway, node, boundary, call), call)
    by_id = {a.id: a for a in boundary.inputs}
    outputs = {a.id: a for a in boundary.outputs}
    form: Form
    if boundary.kind == "Project":
        form = RowFunction(tuple(by_id[i].name for i in call.arguments), call.arrow)
    elif boundary.kind == "Aggregate":
        form = aggregate_form(function, tuple(by_id[i].name for i in call.arguments), call)
    else:
        kind = TableFunction if call.arrow else FrameFunction
        if call.streamed:
            raise DeclineSignal("unsupported-form", "a function of the batches of a group")
        with_key = takes_key(function, boundary, call)
        form = kind(with_key, tuple(by_id[k].name for k in boundary.keys))
    read = dict.fromkeys([*call.arguments, *(k.id for k in names.keys)])
    request = Request(
        schema=tuple(schema_column(by_id[i]) for i in read),
        keys=tuple(k.name for k in names.keys),
        returns=_returns([outputs[i] for i in call.outputs], call),
        timezone=setting.timezone,
        pure=setting.pure,
        extent=setting.extent(boundary.inputs),
    )
    result = lift(function, form, request)
    if isinstance(result, Declined):
        raise _signal(result)
    if not call.fields:
        return result
    named = zip(result.fold.outputs, call.outputs, strict=True)
    columns = tuple(replace(o, name=outputs[i].name) for o, i in named)
    return replace(result, fold=replace(result.fold, outputs=columns))


def _returns(outputs: list[Attribute], call: Call) -> tuple[SchemaColumn, ...]:
    """The declared outputs: of a struct its fields, under the names that the function knows."""
    declared = [schema_column(a) for a in outputs]
    if not call.fields:
        return tuple(declared)
    return tuple(replace(c, name=f) for c, f in zip(declared, call.fields, strict=True))


def _signal(why: Declined) -> DeclineSignal:
    return DeclineSignal(why.code, why.reason, why.span)
