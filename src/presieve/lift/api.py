# SPDX-License-Identifier: Apache-2.0
"""Trusted. The entry point: from a Python object and a request to a fold."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType, NoneType

from presieve.errors import Behind, Declined, DeclineSignal, Span
from presieve.ir.terms import TRUE
from presieve.lift.entry.attempt import LiftAttempt, collect_lifted
from presieve.lift.entry.function import lift_function
from presieve.lift.entry.group_fold import (
    GroupFold,
    check_methods,
    group_fold_under,
    of_columns,
    of_rows,
)
from presieve.lift.entry.guards import lift_guards
from presieve.lift.entry.returns import Returns
from presieve.lift.entry.row_class import is_row_class, lift_class
from presieve.lift.entry.row_map import lift_columns, lift_rows
from presieve.lift.entry.row_value import check_row_columns
from presieve.lift.entry.udtf import lift_state_class
from presieve.lift.evaluation_types import AGGREGATES, SCALAR, Role, evaluation_type
from presieve.lift.execution.missing_tests import assumed_not_null, tested_columns, without_tested
from presieve.lift.forms import (
    ArrayFunction,
    ColumnsFunction,
    Form,
    FrameFunction,
    GuardsFunction,
    Lifted,
    LiftRequest,
    RowClass,
    RowFunction,
    RowsFunction,
    SeriesFunction,
    StateClass,
    TableFunction,
)
from presieve.lift.models.builtins.sets import UntrackedSignal
from presieve.lift.obstacles import MOST, line_of, obstacles
from presieve.lift.python.names import as_constant, parameters
from presieve.lift.python.positions import definition_of
from presieve.lift.python.receivers import BoundFunction, split_receiver
from presieve.lift.python.shipped import BY_REFERENCE, function_source, read_as_on_driver
from presieve.lift.python.source import FunctionSource
from presieve.lift.python.zones import Zone
from presieve.lift.reason_words import add_advice
from presieve.lift.values.arrow_values import ArrowColumnV, ArrowKeyV, BatchV
from presieve.lift.values.columns import NARROW, Nulls
from presieve.lift.values.holes import Holes
from presieve.lift.values.symbolic import BatchesV, ColumnV, DictV, KeyV, SelfV, TupleV, Value
from presieve.lift.values.whole_columns import GIVEN, TABLE, FrameV, SeriesV
from presieve.records import replace

_MOST_TRACKED = 32
"""Maximum number of constants for which sets are tested."""


def lift(obj: object, form: Form | None, request: LiftRequest) -> Lifted | Declined:
    """Lift a class, function or grouped-aggregate pandas UDF; ``form`` None means: find out.

    No code of the user's is run. Code that is not understood exactly gives a :class:`Declined` with
    one of the codes of :mod:`presieve.lift.codes`. A decline for another reason takes precedence
    over ``by-reference``, except for functions of tables, which may also be read in other forms.
    """
    result = _attempt_lift(obj, form, request)
    final = not isinstance(form, RowsFunction)
    if final and isinstance(result, Declined) and result.code == BY_REFERENCE:
        with read_as_on_driver():
            retried = _attempt_lift(obj, form, request)
        if isinstance(retried, Declined):
            return retried
    return result


def _attempt_lift(obj: object, form: Form | None, request: LiftRequest) -> Lifted | Declined:
    attempt = LiftAttempt(obj, form, request)
    try:
        return _read(attempt)
    except DeclineSignal as signal:
        declined = _decline_with_advice(obj, signal)
        return replace(declined, behind=Behind(partial(_obstacles_behind, attempt, declined)))
    except RecursionError:
        reason = "the function is nested too deeply to be analysed"
        return Declined("unsupported-expression", reason, _place(obj))


def _read(attempt: LiftAttempt) -> Lifted:
    form = attempt.form or _form_of(attempt.obj)
    return _with_nulls(replace(attempt, obj=_unwrap(attempt.obj, form), form=form))


def _obstacles_behind(attempt: LiftAttempt, first: Declined) -> tuple[Declined, ...]:
    """Return the obstacles behind the first one. As in :func:`lift`, those come last that are in
    the way only because workers may read a name differently.
    """
    read, tell = partial(_read_with_holes, attempt), partial(_decline_with_advice, attempt.obj)
    with read_as_on_driver():
        main = obstacles(read, tell)
    if first.code != BY_REFERENCE and (not main or line_of(main[0]) != line_of(first)):
        return ()
    listed = {line_of(d)[1:]: d for d in (first, *main)}
    for declined in obstacles(read, tell):
        if declined.code == BY_REFERENCE:
            listed.setdefault(line_of(declined)[1:], declined)
    return tuple(listed.values())[1 : MOST + 1]


def _read_with_holes(attempt: LiftAttempt, holes: Holes) -> Lifted:
    return _read(replace(attempt, holes=holes))


def _decline_with_advice(obj: object, signal: DeclineSignal) -> Declined:
    declined = signal.declined
    reason = add_advice(declined.code, declined.reason)
    return Declined(declined.code, reason, declined.span or _place(obj))


_READINGS = (NARROW | {"bigint"}, NARROW, frozenset[str]())
"""Types whose missing values are cases of their own, in the order of the attempts."""


def _with_nulls(attempt: LiftAttempt) -> Lifted:
    """Lift with missing integers and times as cases of their own. If that does not work, assume
    that none is missing, but not for columns that the function tests for missing values. For a
    ``bigint`` that it does not test, this assumption is preferred to the assumption that doubles
    hold its values.

    If rows are treated one by one, columns are never read in the first way.
    """
    single = isinstance(attempt.form, RowsFunction | ColumnsFunction)
    signals, fallbacks = list[DeclineSignal](), list[Lifted]()
    for types in _READINGS[-1:] if single else _READINGS:
        nulls = Nulls(types)
        try:
            candidate = _lift_tracking(replace(attempt, nulls=nulls))
        except DeclineSignal as signal:
            signals.append(signal)
            if not nulls.met:
                break
            continue
        tested = tested_columns(candidate, nulls.asked)
        if tested & assumed_not_null(candidate) and not single:
            break
        reduced = without_tested(candidate, tested)
        bigints = {c.name for c in attempt.request.schema if c.type == "bigint"} & nulls.met
        if not bigints or "bigint" not in types or bigints <= {v.name for v in tested}:
            return reduced
        fallbacks.append(reduced)
    if fallbacks:
        return fallbacks[0]
    raise signals[0] if len(signals) < len(_READINGS) else signals[-1]


def _lift_tracking(attempt: LiftAttempt) -> Lifted:
    """Lift repeatedly, until sets distinguish all constants for which they are tested."""
    while True:
        try:
            return _lift(attempt)
        except UntrackedSignal as signal:
            tracked = attempt.tracked
            if signal.constant in tracked or len(tracked) >= _MOST_TRACKED:
                reason = "a set of values of several types, or too many, is asked for constants"
                raise DeclineSignal("unsupported-operation", reason, signal.span) from signal
            attempt = replace(attempt, tracked=(*tracked, signal.constant))


def _place(obj: object) -> Span | None:
    return definition_of(_function_under(obj))


def _function_under(obj: object) -> object:
    fold = group_fold_under(obj)
    if fold is not None:
        return inspect.getattr_static(fold.aggregator, "reduce", None)
    return inspect.getattr_static(obj, "func", obj) if not isinstance(obj, type) else obj


def _describe(obj: object) -> str:
    """Describe an object by the name of its class."""
    kind = type(obj)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__}.{name}"
    return f"class {obj.__qualname__}" if isinstance(obj, type) else f"an object of class {name}"


def _form_of(obj: object) -> Form | None:
    """Return the form that an object made by ``arrow_udf`` or ``pandas_udf`` states, if any."""
    kind = evaluation_type(inspect.getattr_static(obj, "evalType", None))
    if kind is not None and kind.whole:
        return ColumnsFunction((), kind.streamed)
    if kind is None or kind.role is not Role.AGGREGATE:
        return None
    if group_fold_under(getattr(obj, "func", None)) is not None:
        return None
    return (ArrayFunction if kind.arrow else SeriesFunction)((), kind.streamed)


def _unwrap(obj: object, form: Form | None) -> object:
    """Return the function under an object made by ``pandas_udf``, or by ``udf`` if a function of
    rows is expected; every other object as it is.
    """
    kind, function = (inspect.getattr_static(obj, n, None) for n in ("evalType", "func"))
    if kind is None or function is None:
        return obj
    udf_type = evaluation_type(kind)
    single = isinstance(form, RowFunction | ColumnsFunction)
    readable = AGGREGATES | SCALAR if single else AGGREGATES
    if udf_type is None or udf_type.number not in readable:
        name = udf_type.unread if udf_type is not None else ""
        reason = f"{name or f'UDFs of evaluation type {kind}'} are not read"
        raise DeclineSignal("unsupported-form", f"{reason}: write a function of one value or group")
    if getattr(obj, "deterministic", True) is not True:
        raise DeclineSignal("impure-random", "the UDF is declared nondeterministic: is it?")
    return function


def _lift(attempt: LiftAttempt) -> Lifted:
    obj, form, request = attempt.obj, attempt.form, attempt.request
    if not request.returns:
        raise DeclineSignal("no-returns", "the output columns are not declared")
    missing = [k for k in request.keys if k not in {c.name for c in request.schema}]
    if missing:
        raise DeclineSignal("unknown-column", f"the input has no grouping column {missing[0]}")
    fold = group_fold_under(obj)
    if fold is not None and (form is None or isinstance(form, SeriesFunction)):
        return _group_fold(attempt, fold)
    if form is None and is_row_class(obj):
        form = RowClass()
    if isinstance(form, StateClass | RowFunction | ColumnsFunction):
        request = replace(request, pure=())
    bound = split_receiver(obj) if isinstance(form, RowFunction) else BoundFunction(obj)
    attempt = replace(attempt, obj=bound.function, form=form, request=request)
    attempt = replace(attempt, receiver=bound.receiver, named=bound.named)
    return _ENTRIES[type(form)](attempt)


def _group_fold(attempt: LiftAttempt, fold: GroupFold) -> Lifted:
    """Lift the aggregator under a function of ``presieve.spark.group_fold``."""
    read = attempt.form.columns if isinstance(attempt.form, SeriesFunction) else fold.names
    check_methods(fold.aggregator)
    rows = of_rows(fold, read, attempt.request)
    inner = replace(attempt, obj=fold.aggregator, form=RowClass(), request=rows)
    return of_columns(fold, read, _lift(inner))


def _class(attempt: LiftAttempt) -> Lifted:
    columns = attempt.values()
    returns = Returns(attempt.request.returns, table=False, rows=True, pandas=False)
    entry = lift_class if isinstance(attempt.form, RowClass) else lift_state_class
    fold, text = entry(attempt.obj, columns, returns)
    return collect_lifted(columns, fold, text)


def _row_function(attempt: LiftAttempt) -> Lifted:
    function, request = _function(attempt.obj), attempt.request
    source = function_source(function)
    form = _row_form(attempt, function, source)
    columns = attempt.values(single=True)
    returns = Returns(request.returns, table=False, rows=False, pandas=False, row=form)
    inputs = _row_inputs(attempt, function, form, source)
    return collect_lifted(
        columns, lift_function(function, source, inputs, columns, returns), source.text
    )


def _guards(attempt: LiftAttempt) -> Lifted:
    function = _function(attempt.obj)
    source = function_source(function)
    form = _row_form(attempt, function, source)
    inputs = _row_inputs(attempt, function, form, source)
    return lift_guards(replace(attempt, form=form), function, source, inputs)


def _columns_function(attempt: LiftAttempt) -> Lifted:
    form, request = attempt.form, attempt.request
    assert isinstance(form, ColumnsFunction)
    names = form.columns
    if not names and form.batches:
        names = tuple(c.name for c in request.schema)
    elif not names:
        function = _function(attempt.obj)
        names = _series(_detect(function, function_source(function), request), "columns")
    if not set(names) <= set(request.keys):
        reason = "a scalar pandas UDF gives a value for each row, not for a group: use mode='row'"
        raise DeclineSignal("unsupported-form", reason)
    return lift_columns(attempt, names)


def _row_form(attempt: LiftAttempt, function: FunctionType, source: FunctionSource) -> RowFunction:
    """Return the form with the columns that are passed, whose types are checked."""
    form, request = attempt.row_form, attempt.request
    if not form.columns and (attempt.receiver is not None or hasattr(function, "__wrapped__")):
        # A wrapper takes the arguments of what it wraps.
        taken = list(inspect.signature(function).parameters.values())
        own = taken[1:] if attempt.receiver is not None else taken
        own = [p for p in own if p.name not in attempt.named]
        form = replace(form, columns=_columns_of(own, source, request))
    if not form.columns:
        required = [
            p for p in _positional(function) if p.default is p.empty and p.name not in attempt.named
        ]
        form = replace(form, columns=_columns_of(required, source, request))
    check_row_columns(form, request)
    return form


def _group_function(attempt: LiftAttempt) -> Lifted:
    function, request = _function(attempt.obj), attempt.request
    source = function_source(function)
    form = _with_columns(function, source, attempt.form, request)
    arrow = isinstance(form, ArrayFunction | TableFunction)
    columns = attempt.tables(pandas=not arrow)
    is_table = isinstance(form, FrameFunction | TableFunction)
    returns = Returns(request.returns, is_table, rows=False, pandas=not arrow, arrow=arrow)
    inputs = _inputs(function, form, request, source)
    return collect_lifted(
        columns, lift_function(function, source, inputs, columns, returns), source.text
    )


_ENTRIES: dict[type[Form | None], Callable[[LiftAttempt], Lifted]] = {
    RowClass: _class,
    StateClass: _class,
    RowFunction: _row_function,
    GuardsFunction: _guards,
    ColumnsFunction: _columns_function,
    RowsFunction: lift_rows,
    SeriesFunction: _group_function,
    FrameFunction: _group_function,
    ArrayFunction: _group_function,
    TableFunction: _group_function,
    NoneType: _group_function,
}
"""The function that lifts each form. None: the function itself determines its form."""


def _function(obj: object) -> FunctionType:
    if not isinstance(obj, FunctionType):
        raise DeclineSignal(
            "not-a-function", f"{_describe(obj)} is not a function written with def"
        )
    return obj


def _with_columns(
    function: FunctionType, source: FunctionSource, form: Form | None, request: LiftRequest
) -> Form:
    """Return the form, with its columns detected if it does not name them."""
    if form is None:
        return _detect(function, source, request)
    if not isinstance(form, SeriesFunction | ArrayFunction) or form.columns:
        return form
    if form.batches:
        return replace(form, columns=tuple(c.name for c in request.schema))
    detected = _detect(function, source, request)
    if isinstance(detected, type(form)):
        return detected
    return replace(form, columns=_series(detected, "columns"))


def _series(form: Form, expected: str) -> tuple[str, ...]:
    if not isinstance(form, SeriesFunction):
        raise DeclineSignal("unknown-columns", f"a function of {expected} is expected")
    return form.columns


def _positional(function: FunctionType) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in parameters(function) if p.kind in kinds]


def _inputs(
    function: FunctionType, form: Form, request: LiftRequest, source: FunctionSource
) -> dict[str, Value]:
    """Return the value that Spark passes for each parameter."""
    names = [p.name for p in _positional(function)]
    values: tuple[Value, ...]
    match form:
        case SeriesFunction(columns, batches):
            values = tuple(SeriesV(c, GIVEN) for c in columns)
            values = (BatchesV(values),) if batches else values
        case FrameFunction(takes_key, key):
            frame = FrameV(tuple(c.name for c in request.schema), TABLE)
            values = (KeyV(key or request.keys), frame) if takes_key else (frame,)
        case ArrayFunction(columns, batches):
            values = tuple(ArrowColumnV(c) for c in columns)
            values = (BatchesV(values),) if batches else values
        case TableFunction(takes_key, key):
            table = BatchV(tuple(c.name for c in request.schema), TRUE, table=True)
            values = (ArrowKeyV(key or request.keys), table) if takes_key else (table,)
        case RowFunction(columns):
            values = tuple(ColumnV(c) for c in columns)
        case _:
            raise DeclineSignal("not-a-function", "a class is expected for rows")
    if len(values) > len(names):
        place = source.span(source.node)
        raise DeclineSignal("unknown-columns", _explain_count(function, len(values)), place)
    return dict(zip(names, values, strict=False))


def _row_inputs(
    attempt: LiftAttempt, function: FunctionType, form: RowFunction, source: FunctionSource
) -> dict[str, Value]:
    """Return the value of each parameter of a function of single values, which may be bound to an
    object, or take any number of arguments.
    """
    if attempt.named:
        unnamed = _row_inputs(replace(attempt, named={}), function, form, source)
        return {**unnamed, **_named_inputs(attempt, function, unnamed)}
    declared = parameters(function)
    owner = declared[0].name if attempt.receiver is not None and declared else None
    rest = {p.kind: p.name for p in declared}
    if owner is None and inspect.Parameter.VAR_POSITIONAL not in rest:
        return _inputs(function, form, attempt.request, source)
    names = [p.name for p in _positional(function) if p.name != owner]
    values: list[Value] = [ColumnV(c) for c in form.columns]
    taken = dict(zip(names, values, strict=False))
    others = tuple(values[len(names) :])
    if others and inspect.Parameter.VAR_POSITIONAL not in rest:
        place = source.span(source.node)
        raise DeclineSignal("unknown-columns", _explain_count(function, len(values)), place)
    for kind, value in _REST.items():
        if kind in rest:
            taken[rest[kind]] = TupleV(others) if value is None else value
    return taken if owner is None else {owner: SelfV(attempt.receiver), **taken}


def _named_inputs(
    attempt: LiftAttempt, function: FunctionType, others: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the value of each argument that the function is always called with by name. Declines
    a call that Python would refuse.
    """
    by_position = inspect.Parameter.POSITIONAL_ONLY
    names = {
        p.name for p in parameters(function) if p.kind is not by_position and p.kind not in _REST
    }
    if not attempt.named.keys() <= names or attempt.named.keys() & others.keys():
        reason = f"{function.__name__} is called with other arguments than it takes"
        raise DeclineSignal("always-raises", reason)
    zone = Zone(attempt.request.timezone)
    return {name: as_constant(value, name, zone) for name, value in attempt.named.items()}


_REST: dict[inspect._ParameterKind, Value | None] = {
    inspect.Parameter.VAR_POSITIONAL: None,
    inspect.Parameter.VAR_KEYWORD: DictV((), ()),
}
"""The values of parameters that take all other arguments; None: a tuple of them."""


def _explain_count(function: FunctionType, passed: int) -> str:
    """Say why it is not clear which parameter each argument is."""
    wrapper, name = function.__code__.co_name, function.__name__
    if hasattr(function, "__wrapped__") and wrapper != name:
        return (
            f"a decorator is around {name}, and {wrapper}, which it makes, is not followed: "
            f"do without the decorator, or call what it calls in {name} itself"
        )
    taken = len(_positional(function))
    if any(p.kind is p.VAR_POSITIONAL for p in parameters(function)):
        return f"{name} takes any number of arguments: name the parameters"
    return f"{passed} arguments are passed, and {name} takes {taken}"


# --- finding out the form ----------------------------------------------------------------------


def _detect(function: FunctionType, source: FunctionSource, request: LiftRequest) -> Form:
    """Detect the form of a plain function from annotations, names and use."""
    required = [p for p in _positional(function) if p.default is p.empty]
    if len(required) in (1, 2) and _is_arrow(required[-1], "Table"):
        return TableFunction(takes_key=len(required) == 2)
    if required and all(_is_arrow(p, "Array") for p in required):
        return ArrayFunction(_columns_of(required, source, request))
    if len(required) == 1 and _is_frame(required[0], source):
        return FrameFunction()
    if len(required) == 2 and _is_key(required[0]) and _is_frame(required[1], source):
        return FrameFunction(takes_key=True)
    return SeriesFunction(_columns_of(required, source, request))


def _is_arrow(parameter: inspect.Parameter, kind: str) -> bool:
    """Return whether the parameter is annotated with this class of pyarrow."""
    words = (f"pa.{kind}", f"pyarrow.{kind}", f"<class 'pyarrow.lib.{kind}'>")
    return str(parameter.annotation) in words


def _columns_of(
    required: list[inspect.Parameter], source: FunctionSource, request: LiftRequest
) -> tuple[str, ...]:
    """Return the columns of the parameters, by their names or by their number."""
    names = [c.name for c in request.schema]
    chosen = [p.name for p in required]
    if chosen and set(chosen) <= set(names):
        return tuple(chosen)
    inputs = [n for n in names if n not in request.keys]
    if chosen and len(chosen) == len(inputs):
        return tuple(inputs)
    if chosen and len(chosen) == len(names):
        return tuple(names)
    reason = (
        f"it is not clear which columns the parameters {', '.join(chosen)} are: "
        "name them like the columns, or annotate a whole table as pd.DataFrame"
    )
    raise DeclineSignal("unknown-columns", reason, source.span(source.node))


def _is_key(parameter: inspect.Parameter) -> bool:
    note = str(parameter.annotation).lower()
    return parameter.name in ("key", "keys", "_", "_key") or "tuple" in note


def _is_frame(parameter: inspect.Parameter, source: FunctionSource) -> bool:
    """Return whether the parameter is annotated as a DataFrame, or used as only one can be."""
    if "DataFrame" in str(parameter.annotation):
        return True
    if parameter.annotation is not parameter.empty:
        return False
    for node in ast.walk(source.node):
        match node:
            case ast.Attribute(ast.Name(name), "itertuples" | "iterrows") if name == parameter.name:
                return True
            case ast.Subscript(ast.Name(name), ast.Constant(str())) if name == parameter.name:
                return True
    return False
