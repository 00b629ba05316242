# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lift the functions of a boundary to folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from types import FunctionType

from msgspec import Struct, field

from presieve.backend.catalyst.boundary import MAPS, TABLE_FUNCTION, Boundary, BoundaryCall
from presieve.backend.catalyst.list_folds import FOLD_OF_A_LIST, lift_list_fold
from presieve.backend.catalyst.native_aggregates import NativeCall, NativeInput, lift_native
from presieve.backend.catalyst.table_functions import (
    lift_or_decline,
    lifted_table_function,
    request_of,
)
from presieve.backend.catalyst.variable_columns import (
    InputAttributes,
    input_vars,
    read_names,
    schema_column,
)
from presieve.backend.gateway import FunctionReader, Handle
from presieve.backend.problems.load_functions import (
    aggregate_form,
    check_together,
    handle,
    load_function,
    takes_key,
    takes_pandas,
)
from presieve.backend.problems.passthrough import Unlifted, analyze_unlifted, assume_unmissed
from presieve.backend.problems.setting import PlanSetting
from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import AnalysisRequest as DataflowRequest
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption, Output
from presieve.ir.terms import TRUE, Var
from presieve.ir.walk import variables
from presieve.lift.entry.guards import add_known_flag, add_row_flag
from presieve.lift.execution.opaque_calls import apart
from presieve.lift.forms import (
    ColumnsFunction,
    Form,
    FrameFunction,
    GuardsFunction,
    Lifted,
    RowFunction,
    RowsFunction,
    TableFunction,
)
from presieve.lift.python.receivers import split_receiver
from presieve.plan.algebra import Attribute
from presieve.records import replace
from presieve.semantics.assumptions import RESULT_FITS
from presieve.semantics.types import SchemaColumn, is_key_type


class LiftedBoundary(Struct, frozen=True):
    """A boundary with its functions as ``folds``.

    ``unknown`` are the outputs, by number, of Spark's own functions that are not known and never
    raise. ``why``: the reason why some function does not lift. ``kept``: if each row is a group,
    the variable of an additional output that says whether there is such a row at all. ``known``:
    for each output that is known for some rows only, by number, the variable of an additional
    output that says for which rows.
    """

    boundary: Boundary
    names: InputAttributes
    folds: tuple[Lifted, ...]
    why: Declined | None = None
    unknown: dict[int, Declined] = field(default_factory=dict)
    kept: Var | None = None
    known: dict[int, Var] = field(default_factory=dict)


class NotLifted(Declined, frozen=True):
    """Why a function of tables is not understood. ``obstacle`` says of an output, by number, why it
    is not known to hold a column of the input; None if that is not to be expected of it.
    """

    obstacle: Callable[[int], Declined | None] = lambda number: None


TWO_GROUPS = Declined(
    "operator",
    "for a function of two groups, only filters on columns that hold the key in every row are "
    "pushed",
)


def read_lifted(
    gateway: FunctionReader, node: Handle, boundary: Boundary, setting: PlanSetting
) -> LiftedBoundary:
    """Lift the boundary's functions. For functions of tables, the first form that works is used:
    whole groups, single rows, or the columns that hold the key. Raises :class:`DeclineSignal`.
    """
    functions = _Functions(gateway, node, boundary, read_names(boundary), setting)
    names = functions.names
    check_together(gateway, node, boundary)
    if boundary.kind == "Project":
        return functions.of_rows()
    if boundary.kind == TABLE_FUNCTION:
        fold = lifted_table_function(gateway, node, boundary, names, setting)
        return LiftedBoundary(boundary, names, (fold,))
    if boundary.kind in MAPS:
        try:
            return functions.row_by_row()
        except DeclineSignal as signal:
            return functions.passed_on(signal.declined)
    if boundary.beside is not None:
        return functions.passed_on(TWO_GROUPS)
    try:
        calls, unknown = functions.of_groups()
        calls, row_flag = _with_row_flag(calls, boundary)
        return LiftedBoundary(boundary, names, apart(calls), None, unknown, kept=row_flag)
    except DeclineSignal as signal:
        why = signal.declined
    if boundary.kind != "Aggregate":
        with suppress(DeclineSignal):
            return functions.row_by_row()
    return functions.passed_on(why)


class _Functions(Struct, frozen=True):
    """The functions of a boundary, to be lifted in one form or another."""

    gateway: FunctionReader
    node: Handle
    boundary: Boundary
    names: InputAttributes
    setting: PlanSetting

    def of_groups(self) -> tuple[tuple[Lifted, ...], dict[int, Declined]]:
        """Return the calls as folds, and the outputs, by number, of Spark's own functions that are
        not known and never raise: if nobody reads their results, nothing need be known about them.
        """
        lifted: list[Lifted] = []
        unknown: dict[int, Declined] = {}
        types = {a.id: a.type for a in self.boundary.inputs}
        source = NativeInput(input_vars(self.names), types, self.setting.timezone)
        for call in self.boundary.calls:
            if call.native is None:
                lifted.append(self._python(call))
                continue
            native = self._native(call, call.native, source)
            if isinstance(native, Lifted):
                lifted.append(native)
            elif call.native.total:
                unknown[call.outputs[0]] = native
            else:
                raise DeclineSignal.of(native)
        if not lifted:
            raise DeclineSignal.of(next(iter(unknown.values())))
        return tuple(lifted), unknown

    def of_rows(self) -> LiftedBoundary:
        """Lift the scalar UDFs that lift, and say why the first of the others does not."""
        lifted: list[Lifted] = []
        why: Declined | None = None
        known_flags: dict[int, Var] = {}
        for call in self.boundary.calls:
            try:
                lifted.append(self._python(call))
                continue
            except DeclineSignal as signal:
                why = why or signal.declined
            with suppress(DeclineSignal):
                guards, variable = add_known_flag(self._guards(call), call.name)
                if all(a.name != variable.name for a in self.boundary.outputs):
                    lifted.append(guards)
                    known_flags |= dict.fromkeys(call.outputs, variable)
        if why is not None and not lifted:
            raise DeclineSignal.of(why)
        return LiftedBoundary(self.boundary, self.names, tuple(lifted), why, known=known_flags)

    def _guards(self, call: BoundaryCall) -> Lifted:
        """Lift a scalar UDF for the rows for which it is known, if nobody would miss a call of it.
        Raises :class:`DeclineSignal`.
        """
        loaded = self._load(call)
        function, receiver, named = split_receiver(loaded)
        if call.whole or not isinstance(function, FunctionType):
            raise DeclineSignal("not-a-function", f"{call.name} is not a function of single values")
        request = DataflowRequest(function, "row", (), receiver=receiver, named=named)
        answer, effects = dataflow(request), self.setting.effects
        if answer.find_missed_effects(effects):
            raise DeclineSignal("impure-io", f"{call.name} may do more than give a value")
        lifted = self._python(call, partly=True)
        assumptions = (*lifted.assumptions, *assume_unmissed(answer, effects))
        return replace(lifted, assumptions=tuple(dict.fromkeys(assumptions)))

    def row_by_row(self) -> LiftedBoundary:
        """Lift a function of tables that treats each row by itself: each row is a group."""
        boundary = self.boundary
        (call,) = boundary.calls
        function = self._load(call)
        is_map = boundary.kind in MAPS
        form = RowsFunction(
            takes_key=not is_map and takes_key(function, boundary, call),
            batches=is_map or call.streamed,
            arrow=call.arrow,
            by_column=self.gateway.version.by_column,
            key=_key_of_rows(boundary),
        )
        single = replace(boundary, keys=tuple(a.id for a in boundary.inputs), single=True)
        names = read_names(single)
        request = request_of(boundary, names, self.setting)
        folds, row_flag = _with_row_flag((lift_or_decline(function, form, request),), boundary)
        return LiftedBoundary(single, names, folds, kept=row_flag)

    def passed_on(self, why: Declined) -> LiftedBoundary:
        """Describe a function of tables that does not lift by the outputs that hold a column of the
        row that they are made from, or else the group's key. Raises ``why`` if there are none.
        """
        boundary, call = self.boundary, self.boundary.calls[0]
        if boundary.kind == "Aggregate" or not takes_pandas(boundary, call):
            raise DeclineSignal.of(why)
        function = load_function(self.gateway, self.gateway.group_function(self.node), call)
        if not isinstance(function, FunctionType):
            raise DeclineSignal.of(why)
        if boundary.kind not in MAPS:
            takes_key(function, boundary, call)
        setting = self.setting
        unlifted_function = analyze_unlifted(function, boundary, setting.effects, setting.timezone)
        obstacle = cache(unlifted_function.obstacle)
        why = NotLifted(why.code, why.reason, why.span, why.behind, obstacle=obstacle)
        if boundary.kind in MAPS:
            return self._rows_passed(unlifted_function, why)
        if boundary.beside is None:
            with suppress(DeclineSignal):
                return self._rows_passed(unlifted_function, why)
        lifted = _only(unlifted_function.fold_of_keys(self.names), why)
        return LiftedBoundary(boundary, self.names, (lifted,), why)

    def _rows_passed(self, unlifted_function: Unlifted, why: Declined) -> LiftedBoundary:
        """Take each row as a group. Raises ``why`` if only the key is passed on."""
        boundary = self.boundary
        single = replace(boundary, keys=tuple(a.id for a in boundary.inputs), single=True)
        names = read_names(single)
        lifted = _only(unlifted_function.fold_of_rows(names), why)
        of_key = {k.name for k in self.names.keys} if boundary.kind not in MAPS else set()
        read = {v.name for o in lifted.fold.outputs for v in variables(o.term)}
        if read <= of_key:
            raise DeclineSignal.of(why)
        return LiftedBoundary(single, names, (lifted,), why)

    def _native(
        self, call: BoundaryCall, native: NativeCall, source: NativeInput
    ) -> Lifted | Declined:
        gateway, node = self.gateway, self.node
        outputs = [a for a in self.boundary.outputs if a.id in call.outputs]
        column = schema_column(outputs[0])
        if native.function == FOLD_OF_A_LIST:
            modes = partial(gateway.arithmetic_mode, node, call.position)
            return lift_list_fold(native, modes, source, column)
        evaluation = partial(gateway.evaluation_mode, node, call.position)
        lifted = lift_native(native, evaluation, source, column)
        if isinstance(lifted, Declined):
            return lifted
        (output,) = lifted.fold.outputs
        return _with_outputs(lifted, [(output, a.name) for a in outputs])

    def _python(self, call: BoundaryCall, *, partly: bool = False) -> Lifted:
        """Lift a call of a Python function. Raises :class:`DeclineSignal`."""
        function = self._load(call)
        boundary = self.boundary
        outputs = {a.id: a for a in boundary.outputs}
        form = self._form(function, call)
        if partly and isinstance(form, RowFunction):
            form = GuardsFunction(form.columns, form.arrow, form.safe)
        request = replace(
            request_of(boundary, self.names, self.setting),
            schema=self._columns_read(call),
            returns=_returns([outputs[i] for i in call.outputs], call),
            pure=self.setting.pure,
        )
        lifted = lift_or_decline(function, form, request)
        if not call.fields:
            return lifted
        names = (outputs[i].name for i in call.outputs)
        return _with_outputs(lifted, list(zip(lifted.fold.outputs, names, strict=True)))

    def _form(self, function: object, call: BoundaryCall) -> Form:
        by_id = {a.id: a.name for a in self.boundary.inputs}
        arguments = tuple(by_id[i] for i in call.arguments)
        if call.whole:
            by_column = self.gateway.version.by_column
            return ColumnsFunction(arguments, call.streamed, by_column)
        if self.boundary.kind == "Project":
            return RowFunction(arguments, call.arrow, self.setting.safely)
        if self.boundary.kind == "Aggregate":
            return aggregate_form(function, arguments, call)
        if call.streamed:
            raise DeclineSignal("unsupported-form", "a function of the batches of a group")
        kind = TableFunction if call.arrow else FrameFunction
        with_key = takes_key(function, self.boundary, call)
        return kind(with_key, tuple(by_id[k] for k in self.boundary.keys))

    def _load(self, call: BoundaryCall) -> object:
        return load_function(
            self.gateway, handle(self.gateway, self.node, self.boundary, call), call
        )

    def _columns_read(self, call: BoundaryCall) -> tuple[SchemaColumn, ...]:
        """Return the columns that a call reads, and the keys."""
        by_id = {a.id: a for a in self.boundary.inputs}
        read = dict.fromkeys([*call.arguments, *(k.id for k in self.names.keys)])
        return tuple(schema_column(by_id[i]) for i in read)


def _key_of_rows(boundary: Boundary) -> tuple[str, ...]:
    """Return the columns of a group's key whose values each row has; none if there are others."""
    by_id = {a.id: a for a in boundary.inputs}
    columns = [by_id[k] for k in boundary.keys]
    return tuple(a.name for a in columns) if all(is_key_type(a.type) for a in columns) else ()


def _with_row_flag(
    calls: tuple[Lifted, ...], boundary: Boundary
) -> tuple[tuple[Lifted, ...], Var | None]:
    """Add to a function of tables that does not always give a row an output that says whether it
    does; return its variable, too.
    """
    if all(c.kept == TRUE for c in calls):
        return calls, None
    (lifted,) = calls
    flagged, flag = add_row_flag(lifted, boundary.calls[0].name)
    if any(a.name == flag.name for a in boundary.outputs):
        raise DeclineSignal("unsupported-form", f"a column has the name {flag.name}")
    return (flagged,), flag


def _with_outputs(lifted: Lifted, named: Sequence[tuple[Output, str]]) -> Lifted:
    """Replace the outputs by these, under new names, also in what is assumed of results."""
    results: dict[Assumption, list[Assumption]] = {}
    for output, name in named:
        fits = RESULT_FITS.of(name=output.name, type=output.type)
        results.setdefault(fits, []).append(RESULT_FITS.of(name=name, type=output.type))
    return replace(
        lifted,
        fold=replace(lifted.fold, outputs=tuple(replace(o, name=name) for o, name in named)),
        gaps=frozenset(name for o, name in named if o.name in lifted.gaps),
        assumptions=tuple(new for a in lifted.assumptions for new in results.get(a, [a])),
    )


def _only(lifted: Lifted, why: Declined) -> Lifted:
    if not lifted.fold.outputs:
        raise DeclineSignal.of(why)
    return replace(lifted, fold=replace(lifted.fold, span=lifted.fold.span or why.span))


def _returns(outputs: list[Attribute], call: BoundaryCall) -> tuple[SchemaColumn, ...]:
    """Return the declared outputs; for a struct, its fields under the function's names."""
    declared = [schema_column(a) for a in outputs]
    if not call.fields:
        return tuple(declared)
    return tuple(replace(c, name=f) for c, f in zip(declared, call.fields, strict=True))
