# SPDX-License-Identifier: Apache-2.0
"""Trusted. Calls of functions that are not read: the caller declares that they are pure.

The result of such a call on a row is a hidden column (:class:`presieve.ir.fold.Column`): an
arbitrary value, the same for the same arguments of the same row. A proof that holds for every value
holds for the value that the function gives, in the original run and in the run on fewer rows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import TypeAlias

from presieve.errors import DeclineSignal, Span
from presieve.ir.assumption_codes import NO_NAN
from presieve.ir.fold import Assumption, Fold
from presieve.ir.ops import app, disjunction, negate
from presieve.ir.sorts import FLOAT, Option, strip
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import substitute, variables
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.forms import HiddenCall, Lifted, Pure
from presieve.lift.models.registry import advice
from presieve.lift.python.code_objects import same_code
from presieve.lift.python.shipped import member_of
from presieve.lift.python.source import FunctionSource
from presieve.lift.values.symbolic import Known, NoneV, Scalar, Traits, Value, describe
from presieve.records import replace
from presieve.semantics.assumptions import IS_PURE, assumption_of, restate

_DEEP = 3
"""The depth to which functions in closures of functions are compared."""

_PLAIN = (bool, int, float, str, bytes, type(None))

Input: TypeAlias = tuple[str, Term | None, Traits]
"""An argument: its keyword or "", its term (None for the value None), and its other properties."""


def find_declaration(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Pure | None:
    """Return the declaration of a called function, if there is one. To find it, no code is run:
    only names and attributes of modules are looked up.
    """
    target = _target(m, node, flow) if m.columns.request.pure else None
    if target is None:
        return None
    return next((p for p in m.columns.request.pure if _is_same(p.function, target, _DEEP)), None)


@contextmanager
def advise_declaring(m: SymbolicMachine, function: Known) -> Iterator[None]:
    """If the body of a called function is declined, say in the reason that it may be declared."""
    try:
        yield
    except DeclineSignal as signal:
        declined, code = signal.declined, getattr(function.target, "__code__", None)
        inside = declined.span is not None and not _is_in(m.source, declined.span)
        if m.depth or not inside or declined.code.startswith("impure") or code is None:
            raise
        name = code.co_name
        reason = f"{declined.reason}; this is in {name}: {advice(name)}"
        raise signal.saying(reason, declined.span) from signal


def _is_in(source: FunctionSource, place: Span) -> bool:
    last = source.node.end_lineno or source.node.lineno
    return place.file == source.file and source.node.lineno <= place.line <= last


def _target(m: SymbolicMachine, node: ast.expr, flow: Flow) -> object | None:
    match node:
        case ast.Name(name) if name not in flow.env:
            return m.names.lookup(name, read=False)
        case ast.Attribute(owner, name):
            module = _target(m, owner, flow)
            return member_of(module, name) if type(module) is ModuleType else None
    return None


def _is_same(a: object, b: object, depth: int) -> bool:
    """Return whether this is the declared function, or a copy of it: functions that no module holds
    are sent to the workers by value.
    """
    if a is b:
        return True
    if type(a) is not FunctionType or type(b) is not FunctionType or depth == 0:
        return False
    named = (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)
    return named and same_code(a.__code__, b.__code__) and _same_parts(a, b, depth)


def _same_parts(a: FunctionType, b: FunctionType, depth: int) -> bool:
    """Return whether defaults and the variables of enclosing functions have the same values."""
    ours, theirs = _parts(a), _parts(b)
    return (
        ours is not None
        and theirs is not None
        and len(ours) == len(theirs)
        and all(_same_part(x, y, depth) for x, y in zip(ours, theirs, strict=True))
    )


def _parts(function: FunctionType) -> list[object] | None:
    values: list[object] = list(function.__defaults__ or ())
    for name, value in (function.__kwdefaults__ or {}).items():
        values += [name, value]
    try:
        return values + [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # not assigned yet
        return None


def _same_part(a: object, b: object, depth: int) -> bool:
    if type(a) in _PLAIN:
        return type(a) is type(b) and repr(a) == repr(b)
    return _is_same(a, b, depth - 1)


def call(m: SymbolicMachine, flow: Flow, pure: Pure, args: dict[str, Value]) -> Value:
    """Return the result of a declared function; ``args`` by position ("0"...) or keyword.

    Declines ``pure-call`` if an argument depends on more than the row.
    """
    if m.state.stage is not Stage.LOOP:
        reason = f"{pure.name} is declared pure, but called outside of the loop over the rows"
        raise DeclineSignal("pure-call", reason)
    values = {name: flow.dereference(m.force(value, flow)) for name, value in args.items()}
    inputs = tuple(_input(pure, name, value) for name, value in values.items())
    hidden_call = m.columns.recorded.calls.get((id(pure), inputs))
    if hidden_call is None:
        terms = tuple((name, term) for name, term, _ in inputs)
        hidden_call = HiddenCall(_free_name(m, ast.unparse(m.node)), pure, terms)
        recorded = m.columns.recorded
        recorded.calls = {**recorded.calls, (id(pure), inputs): hidden_call}
        m.columns.add_assumptions(_assumptions(hidden_call))
    base = strip(pure.sort)
    return m.force(Scalar(hidden_call.variable, Traits(maybe_nan=base == FLOAT)), flow)


def _input(pure: Pure, name: str, value: Value) -> Input:
    if isinstance(value, NoneV):
        return name, None, Traits()
    if not isinstance(value, Scalar):
        reason = f"{pure.name} is declared pure, but gets {describe(value)}"
        raise DeclineSignal("pure-call", f"{reason}: pass single values")
    if any(v.scope not in (Scope.ROW, Scope.KEY) for v in variables(value.term)):
        reason = f"{pure.name} is declared pure, but its argument is not computed from one row"
        raise DeclineSignal("pure-call", reason)
    # A value that is known not to be None is the same value.
    inner = value.term
    if isinstance(inner, App) and inner.op is Op.GET:
        inner = inner.args[0]
    return name, inner, value.traits


def _free_name(m: SymbolicMachine, name: str) -> str:
    """Return a name that no column has."""
    taken = {c.name for c in m.columns.request.schema}
    taken |= {c.name for c in m.columns.recorded.calls.values()}
    while name in taken:
        name += "'"
    return name


def _assumptions(hidden_call: HiddenCall) -> tuple[Assumption, ...]:
    pure, column = hidden_call.pure, hidden_call.variable
    purity = IS_PURE.of(name=pure.name, returns=pure.returns)
    if strip(pure.sort) != FLOAT:
        return (purity,)
    optional = isinstance(pure.sort, Option)
    number = negate(app(Op.IS_NAN, app(Op.GET, column) if optional else column))
    if optional:
        number = disjunction([app(Op.IS_NONE, column), number])
    return purity, assumption_of(NO_NAN, number)


def apart(parts: tuple[Lifted, ...]) -> tuple[Lifted, ...]:
    """Rename hidden columns so that they differ between parts: each belongs to one part alone."""
    taken: set[str] = set()
    renamed_parts = []
    for part in parts:
        names: dict[str, str] = {}
        for c in part.calls:
            name = c.name
            while name in taken:
                name += "'"
            names[c.name] = name
        taken |= {*names.values(), *(c.name for c in part.fold.columns)}
        renamed_parts.append(_rename_hidden(part, names))
    return tuple(renamed_parts)


def _rename_hidden(part: Lifted, names: dict[str, str]) -> Lifted:
    if all(a == b for a, b in names.items()):
        return part
    back: dict[Var, Term] = {
        c.variable: Var(Scope.ROW, names[c.name], c.pure.sort) for c in part.calls
    }
    fold = part.fold
    columns = (replace(c, name=names[c.name]) if c.hidden else c for c in fold.columns)
    fields = (replace(f, step=substitute(f.step, back)) for f in fold.fields)
    renamed: Fold = replace(
        fold,
        columns=tuple(columns),
        fields=tuple(fields),
        step_raises=substitute(fold.step_raises, back),
    )
    assumptions = (restate(a, lambda t: substitute(t, back)) for a in part.assumptions)
    calls = (replace(c, name=names[c.name]) for c in part.calls)
    return replace(part, fold=renamed, assumptions=tuple(assumptions), calls=tuple(calls))
