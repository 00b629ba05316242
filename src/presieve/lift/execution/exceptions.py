# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``try`` and ``except``: errors of the body lead to a handler.

A handler is executed on the path of the error, with the variables as they are there. Only errors
whose exact class is known lead to a handler, and a body may contain only what is listed here: it is
not known whether anything else raises further errors. Source: the Python language reference, "The
try statement".
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import TypeGuard

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import Decimal
from presieve.ir.terms import FALSE, TRUE, Term
from presieve.lift.execution import growing_lists
from presieve.lift.execution.heap import join_branches
from presieve.lift.execution.state import Exit, Flow, RaisedError, SymbolicMachine
from presieve.lift.models.builtins import given_none
from presieve.lift.python.shipped import is_plain_error
from presieve.lift.reason_words import syntax
from presieve.lift.values.symbolic import (
    CAUGHT,
    ColumnV,
    DaysV,
    DictV,
    DurationV,
    Known,
    ListV,
    NoneV,
    OptTupleV,
    RefV,
    RowV,
    Scalar,
    SelfV,
    SetV,
    TupleV,
    Unbound,
    Value,
    describe,
)
from presieve.lift.values.text_parts import FindingsV, MatchV, SplitV
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, or_

_BUILTINS = ("float", "int", "bool", "len", "abs", "round", "min", "max")
_MATH = ("floor", "ceil", "trunc", "sqrt", "fabs", "isnan", "isinf", "isfinite")
_PATTERNS = ("match", "search", "fullmatch", "findall", "sub")
_TEXTS = (
    *("upper", "lower", "strip", "lstrip", "rstrip", "replace", "removeprefix", "startswith"),
    *("endswith", "find", "index", "count", "split", "isdigit", "isdecimal", "isnumeric"),
    *("isalpha", "isalnum", "isspace", "isupper", "islower", "rfind", "rindex", "rsplit", "zfill"),
    *("title", "capitalize", "casefold", "swapcase", "removesuffix", "partition", "rpartition"),
    *("group", "groups", "join"),
)

FUNCTIONS = {
    *(f"builtins.{name}" for name in _BUILTINS),
    *(f"math.{name}" for name in _MATH),
    *(f"re.{name}" for name in _PATTERNS),
    *given_none.ERRORS,
}
"""Functions whose errors are all modelled with their classes."""

METHODS = {*_TEXTS, *_PATTERNS, "get", "weekday", "isoweekday", "toordinal", "date"}
"""Methods whose errors are all modelled. Their arguments must be constants, unless the owner is
certainly not None: Python looks up the method before it evaluates them.
"""

_STATEMENTS = (
    *(ast.Pass, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Return, ast.Raise),
    *(ast.Assert, ast.Continue, ast.Break, ast.Expr, ast.Try),
)
_EXPRESSIONS = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.BoolOp),
    *(ast.Compare, ast.IfExp, ast.Call, ast.Tuple, ast.JoinedStr),
)
_VALUES = (
    *(Scalar, NoneV, TupleV, OptTupleV, ListV, DictV, SetV, RefV, Known, ColumnV, RowV, SelfV),
    *(SplitV, FindingsV, MatchV, DaysV, DurationV),
)


# --- code that a body may contain -----------------------------------------------------------------


def _decline_handler(subject: str) -> Exception:
    reason = f"which error {subject} may raise, and except may catch, is not modelled"
    return DeclineSignal("unsupported-statement", f"{reason}: test for the problem with if")


def check_statement(m: SymbolicMachine, node: ast.stmt) -> None:
    """Decline a statement inside ``try`` unless all of its errors are modelled."""
    if not m.state.tries:
        return
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(targets, _):
            pass
        case ast.AugAssign(target) | ast.AnnAssign(target):
            targets = [target]
    places = (ast.Name, ast.Tuple, ast.Store)
    plain = all(isinstance(n, places) for t in targets for n in ast.walk(t))
    if not isinstance(node, _STATEMENTS) or not plain:
        raise _decline_handler(syntax(node))


def check_value(m: SymbolicMachine, node: ast.expr, value: Value) -> None:
    """Decline an expression inside ``try`` unless all of its errors are modelled."""
    if not m.state.tries:
        return
    decimal = isinstance(value, Scalar) and isinstance(value.base, Decimal)
    if not isinstance(node, _EXPRESSIONS) or not isinstance(value, _VALUES) or decimal:
        raise _decline_handler(describe(value))


def check_call(m: SymbolicMachine, name: str, node: ast.Call, owner: Value | None = None) -> None:
    """Decline a call inside ``try`` unless all of its errors are modelled. ``name`` is the path of
    a function, or the name of a method of ``owner``.
    """
    if not m.state.tries:
        return
    plain = (ast.Constant, ast.Name, ast.Tuple, ast.Load)
    constants = all(isinstance(n, plain) for a in node.args for n in ast.walk(a))
    written = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant)
    exists = written or isinstance(owner, Known | DictV)
    if name not in FUNCTIONS and not (name in METHODS and (exists or constants)):
        raise _decline_handler(ast.unparse(node.func))


# --- the statement --------------------------------------------------------------------------------


class _Handler(Struct, frozen=True):
    """``classes`` are the classes that it catches."""

    classes: tuple[type[BaseException], ...]
    name: str | None
    body: list[ast.stmt]


class _Caught(Struct, frozen=True):
    """A handler, when it is reached beyond the conditions of the ``try``'s path, and its path."""

    handler: _Handler
    condition: Term
    path: Flow


@dataclass(slots=True)
class _Try:
    """One ``try`` while it is executed. ``exits``: the number of exits before it."""

    node: ast.Try
    start: Flow
    end: Flow
    exits: int


def execute_try(m: SymbolicMachine, node: ast.Try, flow: Flow) -> None:
    """Execute ``try``, with ``except`` and ``else``."""
    if node.finalbody:
        raise DeclineSignal("unsupported-statement", "try with finally is not read")
    handlers = [_handler(m, h, flow) for h in node.handlers]
    before, outer, exits = m.state.raises, m.state.tries, len(m.frame.exits)
    attempt = _Try(node, flow, flow.branch(TRUE), exits)
    m.state.raises, m.state.tries = (), (*outer, m.frame)
    m.execute(node.body, attempt.end)
    raised, m.state.tries = m.state.raises, outer
    caught, others = _sort_raised(m, attempt, raised, handlers)
    m.state.raises = (*before, *others)
    none = negate(or_(*(c.condition for c in caught)))
    remaining_exits = (_under_condition(e, none, len(flow.conds)) for e in m.frame.exits[exits:])
    m.frame.exits = (*m.frame.exits[:exits], *remaining_exits)
    _run_handlers(m, attempt, caught, flow)


def _handler(m: SymbolicMachine, node: ast.ExceptHandler, flow: Flow) -> _Handler:
    """Read a handler. Declines other than plain classes."""
    match node.type:
        case None:
            return _Handler((BaseException,), None, node.body)
        case ast.Tuple(items):
            class_nodes = items
        case item:
            class_nodes = [item]
    classes: list[type[BaseException]] = []
    for item in class_nodes:
        error_value = m.names.resolve(item.id) if isinstance(item, ast.Name) else None
        if isinstance(item, ast.Attribute):
            error_value = m.evaluate(item, flow)
        bound = isinstance(item, ast.Name) and item.id in flow.env
        target = error_value.target if isinstance(error_value, Known) else None
        if bound or not _is_error_class(target):
            reason = f"except {ast.unparse(item)}: which errors are caught is not known"
            raise m.decline("unsupported-statement", reason, node)
        classes.append(target)
    return _Handler(tuple(classes), node.name, node.body)


def _is_error_class(target: object) -> TypeGuard[type[BaseException]]:
    """Return whether this is a class that catches exactly the errors of its subclasses. Those of
    modules of the standard library, as ``json.JSONDecodeError``, catch nothing that is modelled.
    """
    if type(target) is type and target.__module__.partition(".")[0] in _LIBRARY:
        return issubclass(target, BaseException)
    return is_plain_error(target)


_LIBRARY = sys.stdlib_module_names - {"builtins"}


def _under_condition(e: Exit, condition: Term, at: int) -> Exit:
    """Return an exit that is taken only if nothing has been caught."""
    if condition == TRUE:
        return e
    conds = (*e.flow.conds[:at], condition, *e.flow.conds[at:])
    return replace(e, flow=replace(e.flow, conds=conds))


def _sort_raised(
    m: SymbolicMachine, attempt: _Try, raised: tuple[RaisedError, ...], handlers: list[_Handler]
) -> tuple[list[_Caught], list[RaisedError]]:
    """Split errors into those that are caught, in order of evaluation, and those that propagate."""
    start = attempt.start.conds
    caught: list[_Caught] = []
    others: list[RaisedError] = []
    for r in raised:
        error, path = r.error, r.path
        if error is None or path is None or path.conds[: len(start)] != start:
            raise _decline_handler("the body")
        condition = and_(*path.conds[len(start) :])
        handler = next((h for h in handlers if issubclass(error, h.classes)), None)
        if handler is not None:
            _add_caught(caught, _Caught(handler, condition, path))
            continue
        shields = (negate(c.condition) for c in caught)
        conds = (*start, *shields, *path.conds[len(start) :])
        env = path.env
        if m.state.tries and m.state.tries[-1] is not m.frame:
            statement_path = m.state.tries[-1].here
            assert statement_path is not None
            env = dict(statement_path.env)
        path = replace(path, conds=conds, env=env)
        others.append(RaisedError(and_(*conds), error, path if m.state.tries else None))
    return caught, others


def _add_caught(caught: list[_Caught], new: _Caught) -> None:
    """Add a caught error; merge it with the last one if the handler cannot distinguish them."""
    if new.condition == FALSE:
        return
    last = caught[-1] if caught else None
    if last is None or last.handler is not new.handler:
        caught.append(new)
        return
    a, b = last.path, new.path
    if a.env != b.env or a.heap != b.heap:
        caught.append(new)
        return
    both = replace(a, facts=a.facts & b.facts)
    caught[-1] = _Caught(new.handler, or_(last.condition, new.condition), both)


def _run_handlers(m: SymbolicMachine, attempt: _Try, caught: list[_Caught], flow: Flow) -> None:
    """Continue after the body, on a path on which nothing else has been caught."""
    if not caught:
        end, end_conds = attempt.end, attempt.end.conds[len(attempt.start.conds) :]
        flow.env, flow.heap, flow.ended = end.env, end.heap, end.ended
        flow.facts |= end.facts
        flow.conds = (*flow.conds, *end_conds)
        m.execute(attempt.node.orelse, flow)
        return
    first, *later_handlers = caught
    condition = first.condition
    then, otherwise = flow.branch(condition), flow.branch(negate(condition))
    then.env, then.heap = dict(first.path.env), dict(first.path.heap)
    then.facts |= first.path.facts
    growing_lists.cut(then)
    if first.handler.name is not None:
        then.env[first.handler.name] = CAUGHT
    m.execute(first.handler.body, then)
    if first.handler.name is not None:
        then.env[first.handler.name] = Unbound()
    if condition == TRUE:
        flow.become(then)
        return
    _run_handlers(m, attempt, later_handlers, otherwise)
    join_branches(m, flow, condition, then, otherwise, exits=attempt.exits)
