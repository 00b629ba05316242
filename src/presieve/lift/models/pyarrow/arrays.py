"""Trusted. Arrays and tables of pyarrow: elements and masks.

Source: pyarrow's documentation of its compute functions, and what release 26 gives. Null stays null
and NaN stays NaN; integers stay integers. Elements taken out of an array are scalars of pyarrow, of
which nothing is known here but ``.as_py()`` and ``.is_valid``: they have no order, and equal no
value of Python's. Reductions skip nulls, and give null where nothing is left; those of doubles skip
NaN too, and give NaN where nothing else is left. Doubles are added up pairwise, so that their sum
is no fold; a sum of integers wraps around at 64 bits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BINARY, BOOL, DATE, FLOAT, INT, STRING, Option, Sort, strip
from presieve.ir.terms import (
    FALSE,
    TRUE,
    Lit,
    Op,
    Scope,
    Term,
    float_lit,
    literal_value,
    none_lit,
)
from presieve.ir.walk import variables
from presieve.lift.execution.fields import rows_of
from presieve.lift.execution.state import Call, Flow, Machine
from presieve.lift.models.pyarrow.values import ArrayV, ArrowColumnV, ArrowKeyV, BatchV, CellV
from presieve.lift.values.symbolic import EXACT_INT, Scalar, Traits, Value, describe
from presieve.semantics.build import and_, get, is_none, ite, or_, some
from presieve.semantics.types import sort_of

_SORTS: tuple[Sort, ...] = (BOOL, INT, FLOAT, STRING, BINARY, DATE)
"""Sorts whose values ``.as_py()`` gives as Python's own."""


def array(m: Machine, value: Value) -> ArrayV | None:
    """A column, or what was made of one, as an array; None for every other value."""
    if isinstance(value, ArrayV):
        return value
    if not isinstance(value, ArrowColumnV):
        return None
    type_ = m.columns.type_of(value.name)
    term = m.columns.element(value.name)
    if strip(term.sort) not in _SORTS:
        reason = f"column {value.name} of type {type_} as an array of pyarrow"
        raise m.decline("column-type", reason, m.source.node)
    return ArrayV(term, TRUE, type_)


def element(m: Machine, value: Value, node: ast.AST) -> Value | None:
    """What a loop over an array takes out of it; None for every other value."""
    a = array(m, value)
    if a is None:
        return None
    _check_whole(m, a, node)
    return CellV(a.term, a.type)


def python_element(m: Machine, value: Value, node: ast.AST) -> Value:
    """What a loop over ``array.to_pylist()`` takes out of it."""
    a = array_of(m, value, node)
    _check_whole(m, a, node)
    return python_value(a.term)


def _check_whole(m: Machine, a: ArrayV, node: ast.AST) -> None:
    if a.rows != TRUE:
        reason = "a loop over chosen elements: loop over all, and choose with if"
        raise m.decline("unknown-loop", reason, node)


def check_columns(m: Machine, columns: tuple[str, ...], node: ast.AST) -> None:
    """Decline unless the rows of a table are, as dicts, made of values of Python's own."""
    for name in columns:
        type_ = m.columns.type_of(name)
        if sort_of(type_) not in _SORTS:
            reason = f"column {name} of type {type_} in the rows of to_pylist(): select columns"
            raise m.decline("column-type", reason, node)


def python_value(term: Term) -> Scalar:
    """``scalar.as_py()``."""
    return Scalar(term, Traits(maybe_nan=strip(term.sort) == FLOAT))


# --- attributes, items, methods -------------------------------------------------------------------


def attribute_of(m: Machine, flow: Flow, value: Value, name: str, node: ast.AST) -> Value | None:
    """``value.name``; None where it is not known here."""
    match value:
        case CellV(term, _) if name == "is_valid":
            return Scalar(negate(is_none(term)))
        case BatchV(_, rows) if name == "num_rows":
            return rows_of(m, flow, rows, node)
        case ArrayV() | ArrowColumnV() if name == "null_count":
            a = array_of(m, value, node)
            return rows_of(m, flow, and_(a.rows, is_none(a.term)), node)
    return None


def item_of(m: Machine, value: Value, key: Value) -> Value | None:
    """``value[key]``; None where it is not known here."""
    match value:
        case BatchV():
            return _column(m, value, key)
        case ArrowKeyV(names):
            at = _constant(key)
            if type(at) is int and -len(names) <= at < len(names):
                found = m.columns.key(names[at])
                if found.base in _SORTS:
                    return CellV(found.term, m.columns.type_of(names[at]))
    return None


def _constant(value: Value) -> object:
    return (
        literal_value(value.term)
        if isinstance(value, Scalar) and isinstance(value.term, Lit)
        else None
    )


def _column(m: Machine, table: BatchV, key: Value) -> Value | None:
    at = _constant(key)
    name = table.columns[at] if type(at) is int and 0 <= at < len(table.columns) else at
    if name not in table.columns:
        return None
    whole = ArrowColumnV(str(name))
    if table.rows == TRUE:
        return whole
    found = array(m, whole)
    assert found is not None
    return ArrayV(found.term, table.rows, found.type)


def method_of(call: Call, owner: Value) -> Value | None:
    """``owner.name(...)``; None where it is not known here."""
    m, flow, name, args, node = call.m, call.flow, call.name, call.args, call.node
    match owner, name, args:
        case CellV(term, _), "as_py", ():
            return python_value(term)
        case BatchV(), "column", (key,):
            return _column(m, owner, key)
        case BatchV(columns, rows), "filter", (mask,):
            kept = array(m, mask)
            if kept is not None:
                return BatchV(columns, _selected(m, rows, kept, node))
        case ((ArrayV() | ArrowColumnV()), _, _) if name in _METHODS:
            return _METHODS[name](m, flow, (owner, *args), node)
    return None


# --- elements -------------------------------------------------------------------------------------

Arguments: TypeAlias = tuple[Value, ...]
Model: TypeAlias = Callable[[Machine, Flow, Arguments, ast.AST], Value]


def array_of(m: Machine, value: Value, node: ast.AST) -> ArrayV:
    found = array(m, value)
    if found is None:
        reason = f"a function of pyarrow.compute on {describe(value)}"
        raise m.decline("unsupported-operation", reason, node)
    return found


def arity(m: Machine, args: Arguments, count: int, node: ast.AST) -> None:
    if len(args) != count:
        reason = f"a function of pyarrow.compute with other than {count} argument(s)"
        raise m.decline("unknown-call", reason, node)


def _selected(m: Machine, rows: Term, mask: ArrayV, node: ast.AST) -> Term:
    """The rows that a mask leaves: those where it is true, and neither false nor null."""
    if mask.rows != rows or strip(mask.term.sort) != BOOL:
        reason = "a mask of other rows, or no mask: make it from the table that it chooses from"
        raise m.decline("unsupported-operation", reason, node)
    return and_(rows, negate(is_none(mask.term)), get(mask.term))


def _filter(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
    arity(m, args, 2, node)
    a = array_of(m, args[0], node)
    return ArrayV(a.term, _selected(m, a.rows, array_of(m, args[1], node), node), a.type)


def _drop_null(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
    arity(m, args, 1, node)
    a = array_of(m, args[0], node)
    return ArrayV(a.term, and_(a.rows, negate(is_none(a.term))), a.type)


def _nulls(*, valid: bool) -> Model:
    def model(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
        arity(m, args, 1, node)
        a = array_of(m, args[0], node)
        absent = is_none(a.term)
        return ArrayV(negate(absent) if valid else absent, a.rows, "boolean")

    return model


def _other(m: Machine, a: ArrayV, value: Value, node: ast.AST) -> Term:
    """The other operand beside an array: an array of the same rows and type, or a constant."""
    b = array(m, value)
    base = strip(a.term.sort)
    if b is not None:
        if b.rows == a.rows and strip(b.term.sort) == base:
            return b.term
    elif isinstance(value, Scalar) and any(v.scope is Scope.ACC for v in variables(value.term)):
        reason = "every row is compared with a value of the whole group, which takes two passes"
        raise m.decline("two-passes", reason, node)
    elif isinstance(value, Scalar) and not isinstance(value.term.sort, Option):
        number = _constant(value)
        if base == FLOAT and type(number) is int and abs(number) <= EXACT_INT:
            return float_lit(float(number))
        whole = value.base != INT or (type(number) is int and -(2**63) <= number < 2**63)
        if value.base == base and whole:
            return value.term
    reason = f"an array of {a.type} beside {describe(value)}"
    raise m.decline("unsupported-operation", reason, node)


def _either_null(a: Term, b: Term, found: Term) -> Term:
    """``found``, or none where an operand is."""
    absent = or_(is_none(a), is_none(b))
    return found if absent == FALSE else ite(absent, none_lit(found.sort), some(found))


def _comparison(op: Op, *, negated: bool = False) -> Model:
    def model(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
        arity(m, args, 2, node)
        a = array_of(m, args[0], node)
        other = _other(m, a, args[1], node)
        if strip(a.term.sort) == BOOL and op is not Op.PY_EQ:
            raise m.decline("unsupported-operation", "the order of booleans", node)
        found = app(op, get(a.term), get(other))
        term = _either_null(a.term, other, negate(found) if negated else found)
        return ArrayV(term, a.rows, "boolean")

    return model


def _logic(join: Callable[..., Term], *, decisive: Term | None) -> Model:
    """``and_`` and ``or_``, null where an operand is; the ``_kleene`` ones not where the other
    operand is ``decisive`` alone.
    """

    def model(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
        arity(m, args, 2, node)
        a = array_of(m, args[0], node)
        x, y = a.term, _other(m, a, args[1], node)
        if strip(x.sort) != BOOL:
            raise m.decline("unsupported-operation", "and and or take arrays of conditions", node)
        found = _either_null(x, y, join(get(x), get(y)))
        if decisive is not None and found.sort != BOOL:
            settled = or_(*(and_(negate(is_none(t)), _is(t, decisive)) for t in (x, y)))
            found = ite(settled, some(decisive), found)
        return ArrayV(found, a.rows, "boolean")

    return model


def _is(term: Term, value: Term) -> Term:
    return get(term) if value == TRUE else negate(get(term))


def _invert(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
    arity(m, args, 1, node)
    a = array_of(m, args[0], node)
    if strip(a.term.sort) != BOOL:
        raise m.decline("unsupported-operation", "invert takes an array of conditions", node)
    return ArrayV(_either_null(a.term, a.term, negate(get(a.term))), a.rows, "boolean")


_COMPUTE: dict[str, Model] = {
    "greater": _comparison(Op.PY_GT),
    "greater_equal": _comparison(Op.PY_GE),
    "less": _comparison(Op.PY_LT),
    "less_equal": _comparison(Op.PY_LE),
    "equal": _comparison(Op.PY_EQ),
    "not_equal": _comparison(Op.PY_EQ, negated=True),
    "and_": _logic(and_, decisive=None),
    "or_": _logic(or_, decisive=None),
    "and_kleene": _logic(and_, decisive=FALSE),
    "or_kleene": _logic(or_, decisive=TRUE),
    "invert": _invert,
    "is_null": _nulls(valid=False),
    "is_valid": _nulls(valid=True),
    "filter": _filter,
    "drop_null": _drop_null,
}
_METHODS = {n: _COMPUTE[n] for n in ("filter", "drop_null", "is_null", "is_valid")}
MODELS: tuple[tuple[tuple[str, ...], Model], ...] = tuple(
    ((f"pyarrow.compute.{name}",), model) for name, model in _COMPUTE.items()
)
"""Functions of elements without options, and what they mean."""


def is_arrow(value: Value) -> bool:
    """Whether this is an array, a table or a scalar of pyarrow."""
    return isinstance(value, ArrowColumnV | ArrayV | BatchV | CellV | ArrowKeyV)
