"""Trusted. The one entry point: from a Python object and what is known of it to a fold."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from types import FunctionType

from presieve.errors import Declined, DeclineSignal, Span
from presieve.ir.terms import TRUE, Lit
from presieve.lift.entry.function import lift_function
from presieve.lift.entry.group_fold import check_methods, group_fold_under, of_columns, of_rows
from presieve.lift.entry.returns import Returns
from presieve.lift.entry.row_class import is_row_class, lift_class
from presieve.lift.entry.row_value import check_row_columns
from presieve.lift.entry.udtf import lift_state_class
from presieve.lift.execution.tested import assumed_whole, tested_columns, without_tested
from presieve.lift.forms import (
    ArrayFunction,
    Form,
    FrameFunction,
    HiddenCall,
    Lifted,
    Request,
    RowClass,
    RowFunction,
    SeriesFunction,
    StateClass,
    TableFunction,
)
from presieve.lift.models.builtins.sets import UntrackedSignal
from presieve.lift.python.names import parameters
from presieve.lift.python.positions import definition_of
from presieve.lift.python.shipped import BY_REFERENCE, function_source, opened
from presieve.lift.python.source import Source
from presieve.lift.python.zones import Zone
from presieve.lift.values.columns import NARROW, Columns, Gaps
from presieve.lift.values.symbolic import (
    GIVEN,
    TABLE,
    ArrowColumnV,
    ArrowKeyV,
    BatchesV,
    BatchV,
    ColumnV,
    FrameV,
    KeyV,
    SeriesV,
    Value,
)
from presieve.lift.words import advised

_MOST_TRACKED = 32
"""Constants that sets are asked for, at most."""

GROUPED_AGG_PANDAS = (202, 217)
"""``PythonEvalType.SQL_GROUPED_AGG_PANDAS_UDF`` and ``SQL_GROUPED_AGG_PANDAS_ITER_UDF``."""

GROUPED_AGG_ARROW = (252, 254)
"""``SQL_GROUPED_AGG_ARROW_UDF`` and ``SQL_GROUPED_AGG_ARROW_ITER_UDF``."""

STREAMED = (217, 254)
"""Those among them that take the iterator of batches."""


def lift(obj: object, form: Form | None, request: Request) -> Lifted | Declined:
    """Lift a class, function or grouped-aggregate pandas UDF; ``form`` None means: find out.

    Nothing of the user's is run. Whatever is not understood exactly is a :class:`Declined` with
    one of the codes of :mod:`presieve.lift.codes`; what cannot be understood anyway is told first.
    """
    found = _attempt(obj, form, request)
    if isinstance(found, Declined) and found.code == BY_REFERENCE:
        with opened():
            other = _attempt(obj, form, request)
        if isinstance(other, Declined):
            return other
    return found


def _attempt(obj: object, form: Form | None, request: Request) -> Lifted | Declined:
    try:
        form = form or _form_of(obj)
        return _with_gaps(_unwrap(obj, form), form, request)
    except DeclineSignal as signal:
        declined = signal.declined
        place = declined.span or _place(obj)
        return Declined(declined.code, advised(declined.code, declined.reason), place)
    except RecursionError:
        reason = "the function is nested too deeply to be analysed"
        return Declined("unsupported-expression", reason, _place(obj))


def _with_gaps(obj: object, form: Form | None, request: Request) -> Lifted:
    """Lift with missing integers and times as cases of their own; where that does not do, with the
    assumption that none is missing, which is not made of columns that are asked for it. Of a
    ``bigint`` that is not asked, it is preferred to the one that doubles hold its values.
    """
    signals, spare = list[DeclineSignal](), list[Lifted]()
    for types in (NARROW | {"bigint"}, NARROW, frozenset[str]()):
        gaps = Gaps(types)
        try:
            whole = _tracking(obj, form, request, gaps)
        except DeclineSignal as signal:
            signals.append(signal)
            if not gaps.met:
                break
            continue
        tested = tested_columns(whole, gaps.asked)
        if tested & assumed_whole(whole):
            break
        found = without_tested(whole, tested)
        big = {c.name for c in request.schema if c.type == "bigint"} & gaps.met
        if not big or "bigint" not in types or big <= {v.name for v in tested}:
            return found
        spare.append(found)
    if spare:
        return spare[0]
    raise signals[0] if len(signals) < 3 else signals[-1]


def _tracking(obj: object, form: Form | None, request: Request, gaps: Gaps) -> Lifted:
    """Lift again and again, until sets tell all constants from others that are asked for."""
    tracked: tuple[Lit, ...] = ()
    while True:
        try:
            return _lift(obj, form, request, tracked, gaps)
        except UntrackedSignal as signal:
            if signal.constant in tracked or len(tracked) >= _MOST_TRACKED:
                reason = "a set of values of several types, or too many, is asked for constants"
                raise DeclineSignal("unsupported-operation", reason, signal.span) from signal
            tracked = (*tracked, signal.constant)


def _place(obj: object) -> Span | None:
    return definition_of(_function_under(obj))


def _function_under(obj: object) -> object:
    fold = group_fold_under(obj)
    if fold is not None:
        return inspect.getattr_static(fold.aggregator, "reduce", None)
    return inspect.getattr_static(obj, "func", obj) if not isinstance(obj, type) else obj


def _shown(obj: object) -> str:
    """An object by what its class is called."""
    kind = type(obj)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__}.{name}"
    return f"class {obj.__qualname__}" if isinstance(obj, type) else f"an object of class {name}"


_UDFS = {
    200: "scalar pandas UDFs",
    203: "window pandas UDFs",
    204: "iterator pandas UDFs",
    250: "scalar Arrow UDFs",
    251: "iterator Arrow UDFs",
    253: "window Arrow UDFs",
}
"""Kinds of UDFs by ``PythonEvalType`` that somebody may pass here."""

SCALAR = {100: False, 101: True}
"""``PythonEvalType.SQL_BATCHED_UDF`` and ``SQL_ARROW_BATCHED_UDF``, and whether Arrow is used."""


def _form_of(obj: object) -> Form | None:
    """The form that an object made by ``arrow_udf`` or ``pandas_udf`` says, if it does."""
    kind = getattr(obj, "evalType", None)
    if group_fold_under(getattr(obj, "func", None)) is not None:
        return None
    if kind in GROUPED_AGG_ARROW:
        return ArrayFunction(batches=kind in STREAMED)
    return SeriesFunction((), kind in STREAMED) if kind in GROUPED_AGG_PANDAS else None


def _unwrap(obj: object, form: Form | None) -> object:
    """The function under an object made by ``pandas_udf``, or by ``udf`` where a function of rows
    is asked for; every other object is itself.
    """
    kind, function = getattr(obj, "evalType", None), getattr(obj, "func", None)
    if kind is None or function is None:
        return obj
    grouped = kind in (*GROUPED_AGG_PANDAS, *GROUPED_AGG_ARROW)
    if not grouped and not (isinstance(form, RowFunction) and kind in SCALAR):
        reason = f"{_UDFS.get(kind, f'UDFs of evaluation type {kind}')} are not read"
        raise DeclineSignal("unsupported-form", f"{reason}: write a function of one value or group")
    if getattr(obj, "deterministic", True) is not True:
        raise DeclineSignal("impure-random", "the UDF is declared nondeterministic: is it?")
    return function


def _lift(
    obj: object, form: Form | None, request: Request, tracked: tuple[Lit, ...], gaps: Gaps
) -> Lifted:
    if not request.returns:
        raise DeclineSignal("no-returns", "the output columns are not declared")
    missing = [k for k in request.keys if k not in {c.name for c in request.schema}]
    if missing:
        raise DeclineSignal("unknown-column", f"the input has no grouping column {missing[0]}")
    zone = Zone(request.timezone)
    found = group_fold_under(obj)
    if found is not None and (form is None or isinstance(form, SeriesFunction)):
        read = form.columns if form else found.names
        check_methods(found.aggregator)
        asked = of_rows(found, read, request)
        return of_columns(found, read, _lift(found.aggregator, RowClass(), asked, tracked, gaps))
    if isinstance(form, StateClass):
        columns = Columns(replace(request, pure=()), False, zone, tracked=tracked)
        returns = Returns(request.returns, table=False, rows=True, pandas=False)
        fold, text = lift_state_class(obj, columns, returns)
        return Lifted(fold, tuple(columns.assumptions.values()), text)
    if isinstance(form, RowClass) or (form is None and is_row_class(obj)):
        columns = Columns(request, False, zone, tracked=tracked)
        returns = Returns(request.returns, table=False, rows=True, pandas=False)
        fold, text = lift_class(obj, columns, returns)
        return Lifted(fold, tuple(columns.assumptions.values()), text, _calls(columns))
    if not isinstance(obj, FunctionType):
        raise DeclineSignal("not-a-function", f"{_shown(obj)} is not a function written with def")
    source = function_source(obj)
    if isinstance(form, RowFunction):
        return _lift_row(obj, source, form, request, zone, tracked)
    form = _with_columns(obj, source, form, request)
    arrow = isinstance(form, ArrayFunction | TableFunction)
    columns = Columns(request, not arrow, zone, tracked=tracked, gaps=gaps)
    is_table = isinstance(form, FrameFunction | TableFunction)
    returns = Returns(request.returns, is_table, rows=False, pandas=not arrow, arrow=arrow)
    fold = lift_function(obj, source, _inputs(obj, form, request, source), columns, returns)
    return Lifted(fold, tuple(columns.assumptions.values()), source.text, _calls(columns))


def _calls(columns: Columns) -> tuple[HiddenCall, ...]:
    return tuple(columns.calls.values())


def _lift_row(
    function: FunctionType,
    source: Source,
    form: RowFunction,
    request: Request,
    zone: Zone,
    tracked: tuple[Lit, ...],
) -> Lifted:
    if not form.columns:
        form = replace(form, columns=_series(_detect(function, source, request), "columns"))
    columns = Columns(replace(request, pure=()), False, zone, tracked=tracked, single=True)
    check_row_columns(form, request)
    returns = Returns(request.returns, table=False, rows=False, pandas=False, row=form)
    inputs = _inputs(function, form, request, source)
    fold = lift_function(function, source, inputs, columns, returns)
    return Lifted(fold, tuple(columns.assumptions.values()), source.text)


def _with_columns(
    function: FunctionType, source: Source, form: Form | None, request: Request
) -> Form:
    """The form, found out where it does not say which columns there are."""
    if form is None:
        return _detect(function, source, request)
    if not isinstance(form, SeriesFunction | ArrayFunction) or form.columns:
        return form
    if form.batches:
        return replace(form, columns=tuple(c.name for c in request.schema))
    found = _detect(function, source, request)
    if isinstance(found, type(form)):
        return found
    return replace(form, columns=_series(found, "columns"))


def _series(form: Form, what: str) -> tuple[str, ...]:
    if not isinstance(form, SeriesFunction):
        raise DeclineSignal("unknown-columns", f"a function of {what} is expected")
    return form.columns


def _positional(function: FunctionType) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in parameters(function) if p.kind in kinds]


def _inputs(
    function: FunctionType, form: Form, request: Request, source: Source
) -> dict[str, Value]:
    """What Spark passes for each parameter."""
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
            table = BatchV(tuple(c.name for c in request.schema), TRUE)
            values = (ArrowKeyV(key or request.keys), table) if takes_key else (table,)
        case RowFunction(columns):
            values = tuple(ColumnV(c) for c in columns)
        case RowClass():
            raise DeclineSignal("not-a-function", "a class is expected for rows")
    if len(values) > len(names):
        reason = f"{len(values)} arguments are passed, {function.__name__} takes {len(names)}"
        raise DeclineSignal("unknown-columns", reason, source.span(source.node))
    return dict(zip(names, values, strict=False))


# --- finding out the form ----------------------------------------------------------------------


def _detect(function: FunctionType, source: Source, request: Request) -> Form:
    """The form of a plain function, from annotations, names and use."""
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
    """Whether the parameter is annotated as this class of pyarrow."""
    words = (f"pa.{kind}", f"pyarrow.{kind}", f"<class 'pyarrow.lib.{kind}'>")
    return str(parameter.annotation) in words


def _columns_of(
    required: list[inspect.Parameter], source: Source, request: Request
) -> tuple[str, ...]:
    """The columns that the parameters are, by their names or by their number."""
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


def _is_frame(parameter: inspect.Parameter, source: Source) -> bool:
    """Annotated as a DataFrame, or used in a way that only a DataFrame can be."""
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
