# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arrays, maps and structs that a scalar UDF gets: lists, dicts and rows.

Spark passes a list, a dict or a ``Row`` of Python's values, where NULL is None
(``ArrowTableToRowsConversion`` and ``EvaluatePython.toJava``, Spark 4.3.0). Their sizes, elements
at constant places and fields are known. Of what a function computes from all elements, only the
result for an array without any is known.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import TypeAlias, TypeGuard

from presieve.ir.ops import app, negate
from presieve.ir.sorts import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    STRING,
    ArrayOf,
    MapOf,
    Sort,
    StructOf,
    strip,
)
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Term, float_lit, int_lit, none_lit, string_lit
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.registry import method
from presieve.lift.python.unread_parameters import OF_ROWS
from presieve.lift.values.join_values import merge
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    DictV,
    ElementsV,
    Scalar,
    Traits,
    Value,
    Whole,
    constant_of,
)
from presieve.semantics.preimages import REPLACEMENT
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    fold_constants,
    get,
    is_none,
    ite,
    or_,
)

Composite: TypeAlias = Scalar | ElementsV
"""An array, a map or a struct of a column, or an empty list or dict beside it."""

_KNOWN: tuple[Sort, ...] = (BOOL, INT, FLOAT, STRING, DATE)
_STAND_INS: dict[Sort, Lit] = {
    BOOL: FALSE,
    INT: int_lit(0),
    FLOAT: float_lit(0.0),
    STRING: string_lit(""),
}
_CALLS = ("len", "abs", "str", "int", "float", "round", "min", "max", "bool")
"""Python's own functions that a computation may call: they have no effects."""
_METHODS = ("lower", "upper", "strip", "startswith", "endswith", "replace", "split", "isdigit")


def is_composite(value: Value) -> TypeGuard[Composite]:
    """Return whether this is an array, a map or a struct of a column."""
    if isinstance(value, ElementsV):
        return True
    return isinstance(value, Scalar) and isinstance(value.base, ArrayOf | MapOf | StructOf)


def _present(
    m: SymbolicMachine, flow: Flow, value: Composite, error: type[Exception] = TypeError
) -> tuple[Term, Term]:
    """Return when a list or dict without elements stands in its place, and the array, map or struct
    elsewhere. Python raises ``error`` where it is None.
    """
    if isinstance(value, Scalar):
        return FALSE, m.scalar(flow, value, error).term
    missing = and_(negate(value.empty), is_none(value.of.term))
    m.fail(flow, missing, error)
    return value.empty, get(value.of.term)


def length(m: SymbolicMachine, flow: Flow, value: Composite) -> Scalar:
    """Evaluate ``len(value)``."""
    if isinstance(value.base, StructOf):
        return Scalar(int_lit(len(value.base.names)), LITERAL)
    empty, term = _present(m, flow, value)
    return Scalar(ite(empty, int_lit(0), _size(term)))


def _size(term: Term) -> Term:
    """Return the number of elements of an array or a map."""
    return apply_function(Op.ARRAY_SIZE, _elements(term))


def truth_of(term: Term) -> Term:
    """Return whether an array or a map has elements; a row is always true."""
    if isinstance(strip(term.sort), StructOf):
        return TRUE
    return fold_constants(app(Op.PY_GT, _size(term), int_lit(0)))


def has_elements(value: ElementsV) -> Term:
    """Return whether there is an element; None has none."""
    there = and_(negate(value.empty), negate(is_none(value.of.term)))
    return and_(there, truth_of(get(value.of.term)))


def _elements(term: Term) -> Term:
    return apply_function(Op.MAP_KEYS, term) if isinstance(strip(term.sort), MapOf) else term


def contains(m: SymbolicMachine, flow: Flow, key: Value, value: Composite) -> Term | None:
    """Evaluate ``key in value`` of a constant and an array or a map; None if it is not known."""
    return _is_found(_literal(m, key), *_present(m, flow, value))


def _is_found(literal: Lit | None, empty: Term, container: Term) -> Term | None:
    elements = _elements(container)
    if literal is None or strip(elements.sort) != ArrayOf(literal.sort) or literal.sort == FLOAT:
        return None
    place = apply_function(Op.ARRAY_FIND, elements, literal)
    return and_(negate(empty), fold_constants(app(Op.PY_GT, place, int_lit(0))))


def _literal(m: SymbolicMachine, key: Value) -> Lit | None:
    """Return a constant that the bytes of a text are compared with."""
    if not isinstance(key, Scalar) or not isinstance(key.term, Lit):
        return None
    return None if key.base == STRING and REPLACEMENT in str(key.term.value) else key.term


def item(m: SymbolicMachine, flow: Flow, value: Composite, key: Value) -> Value | None:
    """Evaluate ``value[key]`` with a constant key; None if it is not known."""
    empty, term = _present(m, flow, value)
    match value.base:
        case ArrayOf():
            place = constant_of(key, INT)
            if type(place) is not int:
                return None
            least = place + 1 if place >= 0 else -place
            short = fold_constants(app(Op.PY_LT, _size(term), int_lit(least)))
            m.fail(flow, or_(empty, short), IndexError)
            return _read_element(m, apply_function(Op.ARRAY_AT, term, int_lit(place)))
        case MapOf():
            literal = _literal(m, key)
            found = _is_found(literal, empty, term)
            if found is None or literal is None:
                return None
            m.fail(flow, negate(found), KeyError)
            return _read_element(m, apply_function(Op.MAP_AT, term, literal))
        case StructOf(names):
            place = constant_of(key, INT, STRING)
            if type(place) is int and -len(names) <= place < len(names):
                place = names[place]
            return field(m, flow, value, place) if isinstance(place, str) else None
    return None


def field(m: SymbolicMachine, flow: Flow, value: Composite, name: str) -> Value | None:
    """Evaluate ``value["name"]`` of a row; None if it has no such field."""
    assert isinstance(value.base, StructOf)
    if name not in value.base.names:
        return None
    _, term = _present(m, flow, value)
    return _read_element(m, apply_function(Op.STRUCT_FIELD, term, string_lit(name)))


def attribute(m: SymbolicMachine, flow: Flow, value: Value, name: str) -> Value | None:
    """Evaluate ``value.name`` of a row; None for other values and names."""
    if not isinstance(value, Scalar) or not isinstance(value.base, StructOf) or name in OF_ROWS:
        return None
    m.fail(flow, is_none(value.term), AttributeError)
    return field(m, flow, value, name)


def _read_element(m: SymbolicMachine, term: Term) -> Value | None:
    """Return an element as Python has it, which may be None."""
    base = strip(term.sort)
    if isinstance(base, ArrayOf | MapOf | StructOf):
        return Scalar(term)
    if base not in _KNOWN:
        return None
    if base == STRING and not m.columns.arrow:
        term = apply_function(Op.TEXT_DECODED, term)
    return Scalar(term, Traits(maybe_nan=base == FLOAT))


def _row(call: ModelCall, owner: Value) -> Scalar | None:
    value = call.m.force(owner, call.flow)
    is_row = isinstance(value, Scalar) and isinstance(value.base, StructOf)
    return value if isinstance(value, Scalar) and is_row else None


@method(Scalar, "asDict", arguments=0, owner=_row)
def row_as_dict(call: ModelCall, row: Scalar) -> DictV | None:
    """``row.asDict()`` of a struct whose fields can all be read."""
    assert isinstance(row.base, StructOf)
    call.m.fail(call.flow, is_none(row.term), AttributeError)
    items = [field(call.m, call.flow, row, name) for name in row.base.names]
    values = tuple(item for item in items if item is not None)
    return DictV(row.base.names, values) if len(values) == len(items) else None


def _map(call: ModelCall, owner: Value) -> Composite | None:
    value = call.m.force(owner, call.flow)
    return value if is_composite(value) and isinstance(value.base, MapOf) else None


@method(Scalar | ElementsV, "get", arguments=range(1, 3), owner=_map)
def get_value(call: ModelCall, value: Composite) -> Value | None:
    """``map.get(key, default)`` of a column of maps, with a constant key."""
    m, flow, (key, *defaults) = call.m, call.flow, call.args
    literal = _literal(m, key)
    empty, term = _present(m, flow, value, AttributeError)
    found = _is_found(literal, empty, term)
    if found is None or literal is None:
        return None
    element = _read_element(m, apply_function(Op.MAP_AT, term, literal))
    default = m.force(defaults[0], flow) if defaults else NONE
    return None if element is None else merge(found, element, default)


# --- computations over all elements ---------------------------------------------------------------


def evaluate_reduction(call: ModelCall, array: Composite, node: ast.expr) -> Value | None:
    """Evaluate ``any``, ``all``, ``sum``, ``min`` or ``max`` of an array's elements, or of what is
    computed from them: a value of which nothing is known, but for an array without elements.
    """
    m, flow = call.m, call.flow
    if not isinstance(array.base, ArrayOf) or not _is_harmless(m, flow, node):
        return None
    empty, term = _present(m, flow, array)
    empty = or_(empty, fold_constants(app(Op.PY_EQ, _size(term), int_lit(0))))
    text = f"{call.name} {ast.unparse(node)}{_constants_of(m, node)}"
    sort = _sort_of_result(call.name, array.base, node)
    if sort is None:
        return None
    m.fail(flow, and_(negate(empty), _make_unknown(term, f"{text} raises", FALSE)))
    match call.name:
        case "any":
            return Scalar(and_(negate(empty), _make_unknown(term, text, FALSE)))
        case "all":
            return Scalar(ite(empty, TRUE, _make_unknown(term, text, FALSE)))
        case "sum" if sort == INT:
            return Scalar(ite(empty, int_lit(0), _make_unknown(term, text, int_lit(0))))
        case "sum":
            total = ite(empty, float_lit(0.0), _make_unknown(term, text, float_lit(0.0)))
            return Scalar(total, Traits(whole=Whole(0, 0, empty), maybe_nan=True))
        case "min" | "max":
            m.fail(flow, empty, ValueError)
            best = _make_unknown(term, text, none_lit(sort))
            return Scalar(best, Traits(maybe_nan=sort == FLOAT))
    return None


def join(m: SymbolicMachine, flow: Flow, separator: Scalar, array: Composite) -> Scalar | None:
    """Evaluate ``",".join(array)`` of texts, which is known for an array without elements."""
    between = constant_of(separator, STRING)
    if between is None or array.base != ArrayOf(STRING):
        return None
    empty, term = _present(m, flow, array)
    empty = or_(empty, fold_constants(app(Op.PY_EQ, _size(term), int_lit(0))))
    m.fail(flow, and_(negate(empty), _make_unknown(term, "join raises", FALSE)), TypeError)
    joined = _make_unknown(term, f"join {between!r}", string_lit(""))
    return Scalar(ite(empty, string_lit(""), joined))


def _make_unknown(term: Term, text: str, stand_in: Lit) -> Term:
    return apply_function(Op.ELEMENTS, term, string_lit(text), stand_in)


def _sort_of_result(name: str, array: ArrayOf, node: ast.expr) -> Sort | None:
    """Return the sort of the elements that are reduced; None if it is not known."""
    if name in ("any", "all"):
        return BOOL
    element: ast.expr = node
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        element, target = node.elt, node.generators[0].target
        if isinstance(element, ast.Constant) and type(element.value) is int and name == "sum":
            return INT
        if ast.unparse(element) != ast.unparse(target):
            return None
    return array.of if array.of in (INT, FLOAT) else None


def _constants_of(m: SymbolicMachine, node: ast.expr) -> str:
    """Write the constants from outside that a computation uses: another function's may differ."""
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - own - set(_CALLS)
    outer = sorted(n for n in names if any(n in s for s in (m.names.closure, m.names.globals)))
    return "".join(f"; {name} = {_write_constant(m.names.lookup(name))}" for name in outer)


def _write_constant(value: object) -> str:
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)


def _is_harmless(m: SymbolicMachine, flow: Flow, node: ast.expr) -> bool:
    """Return whether a computation depends on nothing but the elements and constants from outside,
    and has no effects.
    """
    if isinstance(node, ast.Name):
        return True
    if not isinstance(node, ast.GeneratorExp | ast.ListComp) or len(node.generators) != 1:
        return False
    (loop,) = node.generators
    own = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    parts = [node.elt, *loop.ifs]
    return all(_is_plain(m, flow, n, own) for part in parts for n in ast.walk(part))


def _is_plain(m: SymbolicMachine, flow: Flow, node: ast.AST, own: set[str]) -> bool:
    match node:
        case ast.Name(name):
            return name in own or (name not in flow.env and _is_outer(m, name))
        case ast.Call(ast.Name(name), _, []):
            return name in _CALLS and m.names.resolve(name) is not None
        case ast.Call(ast.Attribute(_, name), _, []):
            return name in _METHODS
        case ast.Attribute(_, name):
            return name in _METHODS
    return isinstance(node, _PLAIN)


def _is_outer(m: SymbolicMachine, name: str) -> bool:
    """Return whether a name is Python's own function, or a constant that workers have as well."""
    value = m.names.lookup(name)
    if name in _CALLS:
        return value is getattr(builtins, name)
    parts = value if type(value) in (tuple, list, set, frozenset) else (value,)
    return isinstance(parts, Iterable) and all(type(x) in _CONSTANTS for x in parts)


_CONSTANTS = (bool, int, float, str, type(None))
_PLAIN = (
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.Tuple, ast.Slice),
)
"""Syntax without effects, on values of Python's own types."""
