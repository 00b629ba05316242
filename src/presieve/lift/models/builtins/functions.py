"""Trusted. The functions that may be called: each is known by identity and modelled exactly."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, cast

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP_NTZ, strip
from presieve.ir.terms import (
    TRUE,
    Lit,
    Op,
    Term,
    int_lit,
    literal_value,
    string_lit,
)
from presieve.lift.execution import captured, growing_lists
from presieve.lift.execution.fields import rows_of
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.models.builtins import mathematics, sets
from presieve.lift.models.builtins.arithmetic import absolute
from presieve.lift.models.builtins.comparisons import boolean, compare, truth
from presieve.lift.models.builtins.decimals import decimal_of
from presieve.lift.models.pandas import elementwise, reductions, series, top_k
from presieve.lift.models.pandas.timestamps import CALENDAR
from presieve.lift.models.pyarrow import compute, results
from presieve.lift.python.constants import is_calendar
from presieve.lift.python.names import is_function, scalar_constant
from presieve.lift.values.merge import merge
from presieve.lift.values.symbolic import (
    LITERAL,
    ArrayV,
    ArrowColumnV,
    BatchV,
    DictV,
    FrameV,
    GapV,
    GrowingV,
    Known,
    ListV,
    NoneV,
    PartV,
    Scalar,
    SeriesV,
    SetV,
    SizeV,
    TopV,
    Traits,
    TupleV,
    Value,
    VectorV,
    describe,
    is_tagged,
)
from presieve.semantics.build import and_, as_int, get, is_none, ite, or_

Arguments: TypeAlias = tuple[Value, ...]
Model: TypeAlias = Callable[[Machine, Flow, Arguments, ast.AST], Value]


def call(
    m: Machine, flow: Flow, function: Known, args: Arguments, named: bool, node: ast.AST
) -> Value:
    """The result of calling a known function. Declines ``unknown-call`` for every other one."""
    make = results.maker(function)
    if make is not None:
        return make(m, flow, args, node)
    for paths, model in MODELS:
        if is_function(function, *paths):
            if named:
                raise m.decline("unknown-call", f"keyword arguments of {function.name}", node)
            return model(m, flow, args, node)
    raise m.decline(*unknown(function.name), node)


def unknown(name: str) -> tuple[str, str]:
    """Code and reason for a call that is not modelled; ``name`` is as the source writes it."""
    parts = set(name.split("."))
    if parts & {"time", "now", "utcnow", "today", "perf_counter", "monotonic", "time_ns"}:
        return "impure-clock", f"{name} reads the clock, so the result is not a function of rows"
    if parts & {"random", "randint", "secrets", "uuid", "uuid4", "shuffle", "choice", "rand"}:
        return "impure-random", f"{name} is random, so the result is not a function of the rows"
    if parts & {"print", "open", "input", "os", "sys", "requests", "logging", "subprocess"}:
        return "impure-io", f"{name} reads or writes outside the function"
    return "unknown-call", f"nothing is known of {name}: it may do anything; {advice(name)}"


def advice(name: str) -> str:
    """What the caller may say of a function that cannot be read."""
    return f"if it depends on its arguments only, declare it with pure=[{name}]"


def _arity(m: Machine, args: Arguments, count: int, node: ast.AST) -> None:
    if len(args) != count:
        raise m.decline("unknown-call", f"supported with {count} argument(s) only", node)


def _extreme(op: ast.cmpop) -> Model:
    """CPython's ``min`` and ``max``: a later argument replaces the best only if strictly better."""

    def model(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
        if len(args) < 2:
            raise m.decline(
                "unknown-call", "min and max are supported with two or more values", node
            )
        best = args[0]
        for candidate in args[1:]:
            better = compare(m, flow, op, candidate, best, node)
            best = merge(better, m.force(candidate, flow), m.force(best, flow))
        return best

    return model


def _absolute(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 1, node)
    return absolute(m, flow, args[0], node)


def _length(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 1, node)
    outer = captured.length(args[0])
    if outer is not None:
        return Scalar(int_lit(outer), LITERAL)
    match flow.opened(m.force(args[0], flow)):
        case SetV() as found:
            return sets.size(m, found, node)
        case SeriesV() | FrameV():
            return m.force(SizeV(), flow)
        case VectorV(_, rows) | PartV(_, rows):
            return rows_of(m, flow, rows, node)
        case TopV() as top:
            return top_k.length(m, flow, top, node)
        case ArrowColumnV():
            return m.force(SizeV(), flow)
        case ArrayV(_, rows) | BatchV(_, rows):
            return rows_of(m, flow, rows, node)
        case GrowingV() as found:
            return growing_lists.length(found)
        case TupleV(items) | ListV(items) | DictV(_, items) as found if not is_tagged(found):
            size = scalar_constant(len(items), m.columns.zone)
            assert size is not None
            return size
    reason = f"the length of {describe(args[0])} is not read"
    raise m.decline("unsupported-operation", reason, node)


def _set(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``set()``, of nothing or of what has its members written out."""
    if not args:
        return sets.EMPTY
    _arity(m, args, 1, node)
    found = sets.written_out(m, flow, flow.opened(args[0]), node)
    if isinstance(found, SetV):
        return replace(found, fixed=False)
    raise m.decline("unknown-call", f"a set of {describe(args[0])}", node)


def _frozenset(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    found = _set(m, flow, args, node)
    assert isinstance(found, SetV)
    return replace(found, fixed=True)


def _list(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 0, node)
    return ListV(())


def _dict(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 0, node)
    return DictV((), ())


def _int(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 1, node)
    forced = m.force(args[0], flow)
    if isinstance(forced, GapV):
        return int_of_gap(m, flow, forced, node)
    value = m.scalar(flow, forced, node)
    if isinstance(value.term, Lit) and value.base == STRING:
        return _int_of_text(m, str(literal_value(value.term)), node)
    if value.base not in (BOOL, INT):
        raise m.decline("unsupported-operation", f"int() of {describe(value)} is not read", node)
    return Scalar(as_int(value.term), Traits(literal=value.traits.literal))


def _int_of_text(m: Machine, text: str, node: ast.AST) -> Value:
    try:
        found = scalar_constant(int(text), m.columns.zone)
    except ValueError:
        raise m.decline("always-raises", f"int({text!r}) raises", node) from None
    assert found is not None
    return found


def _bool(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 1, node)
    return boolean(truth(m, flow, args[0], node))


def _str(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 1, node)
    value = m.force(args[0], flow)
    none = string_lit("None")
    if isinstance(value, NoneV):
        return Scalar(none)
    if not isinstance(value, Scalar) or value.base != STRING:
        raise m.decline("unsupported-operation", f"str() of {describe(value)} is not read", node)
    return Scalar(ite(is_none(value.term), none, get(value.term)))


def _numpy_isnan(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``numpy.isnan``, of a column of doubles, too."""
    v = series.vector(m, args[0]) if len(args) == 1 else None
    if v is not None and strip(v.term.sort) == FLOAT:
        return series.absent(m, v, present=False)
    return mathematics.is_nan(m, flow, args, node)


def _is_missing(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Term:
    """``pandas.isna`` of a scalar: None, NaN or NaT."""
    _arity(m, args, 1, node)
    value = m.force(args[0], flow)
    if isinstance(value, NoneV):
        return TRUE
    if isinstance(value, GapV | Scalar):
        m.columns.ask(value.term)
    if isinstance(value, GapV):
        return is_none(value.term)
    if not isinstance(value, Scalar):
        raise m.decline("unsupported-operation", f"isna of {describe(value)}", node)
    absent = is_none(value.term)
    if value.base != FLOAT:
        return absent
    return or_(absent, and_(negate(absent), app(Op.IS_NAN, get(value.term))))


def _where(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 3, node)
    return elementwise.numpy_where(m, args[0], args[1], args[2], node)


def _bounded(op: Op) -> Model:
    """``numpy.maximum`` and ``numpy.minimum``."""

    def model(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
        _arity(m, args, 2, node)
        return elementwise.bounded(m, op, args[0], args[1], node)

    return model


def _numpy_abs(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    _arity(m, args, 1, node)
    v = series.vector(m, args[0])
    if v is None or v.array:
        raise m.decline("unknown-call", f"numpy.abs of {describe(args[0])}", node)
    return elementwise.absolute(m, v, node)


def _series(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``pandas.Series(array)``: its index is that of the whole group, and of no part of it."""
    _arity(m, args, 1, node)
    v = series.vector(m, args[0])
    if v is None or v.rows != TRUE or not v.ordered:
        raise m.decline("unknown-call", f"pandas.Series of {describe(args[0])}", node)
    return replace(v, array=False)


def _isna(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    if len(args) == 1 and (v := series.vector(m, args[0])) is not None:
        return series.absent(m, v, present=False)
    return boolean(flow.decided(_is_missing(m, flow, args, node)))


def _notna(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    if len(args) == 1 and (v := series.vector(m, args[0])) is not None:
        return series.absent(m, v, present=True)
    return boolean(flow.decided(negate(_is_missing(m, flow, args, node))))


def build_date(m: Machine, make: Callable[..., object], args: Arguments, node: ast.AST) -> Value:
    """``date(2024, 1, 31)``, ``datetime(...)`` or ``pandas.Timestamp("...")`` of constants."""
    plain: list[object] = []
    for a in args:
        if not isinstance(a, Scalar) or not isinstance(a.term, Lit) or a.base not in (INT, STRING):
            raise m.decline("unsupported-operation", "a date is built from constants only", node)
        value = literal_value(a.term)
        if isinstance(value, str) and not CALENDAR.match(value):  # such as "now"
            raise m.decline("impure-clock", f"{value!r} may depend on when it is read", node)
        plain.append(value)
    try:
        made = make(*plain)
    except (TypeError, ValueError, OverflowError) as e:
        raise m.decline("always-raises", f"this date cannot be built: {e}", node) from e
    constant = scalar_constant(made, m.columns.zone)
    if constant is None or constant.base not in (DATE, TIMESTAMP_NTZ):
        raise m.decline(
            "unsupported-constant", "a date or time with a zone, or finer than 1 us", node
        )
    return constant


def calendar_constructor(value: Known) -> Callable[..., object] | None:
    """The class, where the object is one whose constants may be built from constants."""
    return cast("Callable[..., object]", value.target) if is_calendar(value.target) else None


def _decimal(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    return decimal_of(m, args, node)


def _reduction(name: str) -> Model:
    """``numpy.max(column)`` and the like, which call the column's own method."""

    def model(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
        _arity(m, args, 1, node)
        v = series.vector(m, args[0])
        found = reductions.reduced(m, flow, v, name, node) if v is not None else None
        if found is None:
            raise m.decline("unknown-call", f"numpy.{name} of {describe(args[0])}", node)
        return found

    return model


_PANDAS_ISNA = ("pandas.isna", "pandas.isnull")
_PANDAS_NOTNA = ("pandas.notna", "pandas.notnull")

MODELS: tuple[tuple[tuple[str, ...], Model], ...] = (
    (("builtins.min",), _extreme(ast.Lt())),
    (("builtins.max",), _extreme(ast.Gt())),
    (("builtins.abs",), _absolute),
    (("builtins.len",), _length),
    (("builtins.int",), _int),
    (("builtins.float",), mathematics.as_double),
    (("builtins.bool",), _bool),
    (("builtins.str",), _str),
    (("builtins.set",), _set),
    (("builtins.frozenset",), _frozenset),
    (("builtins.list",), _list),
    (("builtins.dict",), _dict),
    (("math.isnan",), mathematics.is_nan),
    (("numpy.isnan",), _numpy_isnan),
    (("math.isinf",), mathematics.is_infinite),
    (("math.isfinite",), mathematics.is_finite),
    (("math.fabs",), mathematics.fabs),
    (("decimal.Decimal",), _decimal),
    (("numpy.where",), _where),
    (("numpy.maximum",), _bounded(Op.PY_GT)),
    (("numpy.minimum",), _bounded(Op.PY_LT)),
    (("numpy.abs", "numpy.absolute"), _numpy_abs),
    (("pandas.Series",), _series),
    *(((f"numpy.{n}",), _reduction(n)) for n in ("max", "min", "sum", "mean", "any", "all")),
    (_PANDAS_ISNA, _isna),
    (_PANDAS_NOTNA, _notna),
    *compute.MODELS,
)
"""Each function by its path, with what it means."""


def int_of_gap(m: Machine, flow: Flow, value: GapV, node: ast.AST) -> Scalar:
    """``int(value)``: ValueError for NaN. Doubles are declined."""
    if value.base != INT:
        raise m.decline("unsupported-operation", f"int() of {describe(value)}", node)
    m.fail(flow, is_none(value.term))
    return Scalar(get(value.term))
