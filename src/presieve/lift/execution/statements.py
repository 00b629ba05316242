# SPDX-License-Identifier: Apache-2.0
"""Trusted. Statements: assignments, branches, and exits from a block."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.terms import TRUE, Lit, Term
from presieve.ir.walk import size
from presieve.lift.execution import (
    calls,
    comprehensions,
    dynamic_keys,
    exceptions,
    growing_lists,
    inlining,
    lists_of_rows,
    match_statement,
    messages,
    outer_containers,
    syntax_with_holes,
    unrolling,
)
from presieve.lift.execution.aliasing import check_sole, fresh, waiting
from presieve.lift.execution.dynamic_keys import OpenKeySignal
from presieve.lift.execution.expressions import (
    combine_operands,
    condition,
    evaluate,
    evaluate_returned,
    item_at,
)
from presieve.lift.execution.heap import Item, box_contents, freeze_contents, join_branches, store
from presieve.lift.execution.state import (
    ExecutionState,
    Exit,
    ExitKind,
    Flow,
    Interpreter,
    Operation,
    SymbolicMachine,
)
from presieve.lift.models.builtins import lists, strings, user_records
from presieve.lift.models.pandas import assign
from presieve.lift.python.names import MODULES, as_constant, module, names_of
from presieve.lift.python.shipped import is_plain_error
from presieve.lift.python.source import FunctionSource, as_def
from presieve.lift.reason_words import syntax
from presieve.lift.values.columns import LiftedColumns
from presieve.lift.values.pandas_objects import changes_in_place
from presieve.lift.values.ranges import column_ranges
from presieve.lift.values.symbolic import (
    CAUGHT,
    NONE,
    ColumnV,
    GrowingV,
    IndexV,
    KeyV,
    Known,
    ListV,
    OptTupleV,
    RefV,
    RowV,
    Scalar,
    SetV,
    TupleV,
    Unbound,
    Value,
    describe,
    is_tagged,
)
from presieve.lift.values.text_parts import FindingsV, SplitV

CHANGING = ("append", "extend", "insert", "add", "discard", "update", "pop", "remove", "clear")
"""Methods that change their object, and are called in a statement of their own."""

_LARGEST = 5000
"""Maximum number of nodes of a term's tree."""


def execute(m: SymbolicMachine, body: list[ast.stmt], flow: Flow) -> None:
    """Run the statements; afterwards ``flow.ended`` tells whether control has left the path."""
    for number, statement in enumerate(body):
        if flow.ended:
            return
        m.frame.here = flow
        start = flow.branch(TRUE)
        before = m.checkpoint()
        try:
            with m.at(statement):
                _execute(m, statement, flow)
        except OpenKeySignal as signal:
            m.rollback(before)
            flow.become(start)
            with m.at(signal.node):
                dynamic_keys.split(m, body[number:], flow, signal, _fork)
            return


def _execute(m: SymbolicMachine, node: ast.stmt, flow: Flow) -> None:
    if m.columns.holes is not None:
        syntax_with_holes.execute(m, node, flow, _execute_here)
    else:
        _execute_here(m, node, flow)


def _execute_here(m: SymbolicMachine, node: ast.stmt, flow: Flow) -> None:
    exceptions.check_statement(m, node)
    match node:
        case ast.Pass() | ast.Expr(ast.Constant()):
            return
        case ast.Assign([ast.Name(name)], ast.Lambda() as function):
            inlining.define(m, as_def(function, name), flow)
        case ast.Assign(targets, value):
            _assign(m, targets, value, flow)
        case ast.AnnAssign(target, _, value):
            if value is not None:
                bind(m, target, box_contents(m, flow, evaluate(m, value, flow)), flow)
        case ast.AugAssign():
            _augmented_assignment(m, flow, node)
        case ast.If(test, body, orelse):
            _branch(m, test, body, orelse, flow)
        case ast.Return(value):
            # A caller may hold the object that a user's function returns.
            give = evaluate_returned if m.depth == 0 else evaluate
            result = NONE if value is None else give(m, value, flow)
            _leave(m, ExitKind.RETURN, flow, result, node)
        case ast.Continue():
            _leave(m, ExitKind.CONTINUE, flow, NONE, node)
        case ast.Break() if m.frame.loops:
            _leave(m, ExitKind.BREAK, flow, NONE, node)
        case ast.For():
            if not lists_of_rows.loop(m, node, flow):
                unrolling.loop(m, node, flow)
        case ast.Match():
            match_statement.match(m, node, flow, _fork)
        case ast.Delete(targets):
            for place in targets:
                with m.at(place):
                    if not lists.delete(m, flow, place):
                        raise DeclineSignal("mutation", "del changes an object or a variable")
        case ast.Raise() | ast.Assert():
            _raise(m, node, flow)
        case ast.Try():
            exceptions.execute_try(m, node, flow)
        case ast.Import() | ast.ImportFrom():
            _import(m, node, flow)
        case ast.FunctionDef():
            inlining.define(m, node, flow)
        case ast.Expr(ast.Call(ast.Attribute(_, name), _, []) as value) if name in CHANGING:
            calls.change(m, flow, value)
        case ast.Expr(value):
            messages.execute(m, value, flow)
        case _:
            _decline_unsupported(node)


def _assign(m: SymbolicMachine, targets: list[ast.expr], value: ast.expr, flow: Flow) -> None:
    if len(targets) == 1 and isinstance(targets[0], ast.Tuple | ast.List):
        value = comprehensions.read_at_once(m, value, flow)
    assigned = box_contents(m, flow, _check_size(evaluate(m, value, flow)))
    if flow.ended:
        return
    if isinstance(value, ast.Name) and _is_spent(m, value.id):
        flow.env[value.id] = Unbound()  # now its parts have only their own names
    for number, target in enumerate(targets, 1):
        with waiting(flow, [assigned] * (len(targets) - number)):
            bind(m, target, assigned, flow)


def _import(m: SymbolicMachine, node: ast.Import | ast.ImportFrom, flow: Flow) -> None:
    """Import modules with known functions; nothing depends on other effects of the import."""
    for alias in node.names:
        name, target = _resolve_import(node, alias)
        if target is None:
            reason = f"importing {ast.unparse(node).partition(' ')[2]} inside the function"
            raise DeclineSignal("unsupported-statement", f"{reason}: import it outside")
        flow.env[name] = as_constant(target, name, m.columns.zone)


def _resolve_import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> tuple[str, object]:
    """Return the name that is bound and its object; None if it is not known."""
    package, _, inner = alias.name.partition(".")
    if isinstance(node, ast.ImportFrom):
        is_known = node.module in MODULES and not node.level
        target = getattr(module(node.module or ""), alias.name, None) if is_known else None
        return alias.asname or alias.name, target
    binds_submodule = alias.asname is not None or not inner
    is_known = alias.name in MODULES and module(alias.name) is not None
    target = module(alias.name if binds_submodule else package) if is_known else None
    return alias.asname or package, target


def _is_spent(m: SymbolicMachine, name: str) -> bool:
    """Return whether this is a parameter that is read in one place only, outside of any loop."""
    node = m.source.node
    if m.depth or m.frame.loops or name not in (a.arg for a in node.args.args):
        return False
    places = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    enclosing_types = (ast.For, ast.While, ast.Lambda, ast.FunctionDef, ast.comprehension)
    inner = [n for n in ast.walk(node) if isinstance(n, enclosing_types) and n is not node]
    return len(places) == 1 and not any(places[0] in ast.walk(n) for n in inner)


def _leave(m: SymbolicMachine, kind: ExitKind, flow: Flow, value: Value, node: ast.stmt) -> None:
    if flow.ended:  # evaluating the returned expression raises
        return
    m.frame.exits += (Exit(kind, flow.branch(TRUE), value, node),)
    flow.ended = True


def _decline_unsupported(node: ast.stmt) -> None:
    match node:
        case ast.Break():
            raise DeclineSignal("early-exit", "the loop is left before its last row")
        case ast.While() | ast.AsyncFor():
            reason = "how often while runs is not known: loop over the rows, or over constants"
            raise DeclineSignal("nested-loop", reason)
        case _:
            raise DeclineSignal("unsupported-statement", f"{syntax(node)} is not read")


def _branch(
    m: SymbolicMachine, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], flow: Flow
) -> None:
    chosen = condition(m, test, flow)
    _fork(m, chosen, lambda f: execute(m, body, f), lambda f: execute(m, orelse, f), flow)


def _fork(
    m: SymbolicMachine,
    chosen: Term,
    body: Callable[[Flow], None],
    orelse: Callable[[Flow], None],
    flow: Flow,
) -> None:
    """Run one of two blocks, by a condition."""
    if flow.ended:
        return
    if isinstance(chosen, Lit):
        (body if chosen == TRUE else orelse)(flow)
        return
    then, otherwise = flow.branch(chosen), flow.branch(negate(chosen))
    growing_lists.cut(then)
    growing_lists.cut(otherwise)
    exits = len(m.frame.exits)
    body(then)
    orelse(otherwise)
    join_branches(m, flow, chosen, then, otherwise, exits=exits)


def _augmented_assignment(m: SymbolicMachine, flow: Flow, node: ast.AugAssign) -> None:
    with m.at(node.target):
        match node.target:
            case ast.Name(name) as target:
                old = evaluate(m, ast.copy_location(ast.Name(name, ast.Load()), target), flow)
                bind(m, target, _augmented_value(m, old, flow, node), flow)
            case ast.Subscript(owner, index) as target:
                container, key = evaluate(m, owner, flow), evaluate(m, index, flow)
                if not isinstance(container, RefV):
                    raise DeclineSignal("mutation", f"{ast.unparse(target)} is changed in place")
                old = m.force(item_at(m, flow, container, key), flow)
                result = _augmented_value(m, old, flow, node)
                store(m, flow, Item(container, key, result))
            case ast.Attribute(owner, name) as target:
                container = evaluate(m, owner, flow)
                record = user_records.record_of(m, flow, container)
                if record is None:
                    raise DeclineSignal("mutation", f"{ast.unparse(target)} is changed in place")
                old = m.force(user_records.attribute(m, record, name), flow)
                result = _augmented_value(m, old, flow, node)
                user_records.store(m, flow, container, result, target)


def _augmented_value(m: SymbolicMachine, old: Value, flow: Flow, node: ast.AugAssign) -> Value:
    """Return the value after ``old op= value``: the object itself if it is changed in place."""
    new = evaluate(m, node.value, flow)
    if changes_in_place(old):
        check_sole(m, flow, node.target, values=True)
    result = fresh(m, _check_size(combine_operands(Operation(m, flow, node.op, old, new))))
    if isinstance(old, RefV):
        grows = isinstance(node.op, ast.Add) and isinstance(result, ListV | GrowingV)
        if not isinstance(result, SetV) and not grows:
            raise DeclineSignal(
                "mutation", f"{describe(flow.dereference(old))} is changed in place"
            )
        flow.heap[old.number] = result
        return old
    return result


def _check_size(value: Value) -> Value:
    """Return the value; declines ``too-large`` if its term, written out, would be a wall of text.

    Subterms are shared, so a few lines can make a term whose tree is astronomically large.
    """
    match value:
        case Scalar(term, _) if size(term) > _LARGEST:
            raise DeclineSignal("too-large", "a value depends on too many cases")
        case TupleV(items):
            for item in items:
                _check_size(item)
    return value


def bind(m: SymbolicMachine, target: ast.expr, value: Value, flow: Flow) -> None:
    """Assign to a variable, or unpack a tuple into several."""
    with m.at(target):
        match target:
            case ast.Name(name):
                flow.env[name] = value
            case ast.Subscript(owner, index):
                if assign.is_write(owner, flow):
                    key = freeze_contents(flow, evaluate(m, index, flow), set())
                    assign.write(m, flow, target, key, value)
                    return
                container = evaluate(m, owner, flow)
                store(m, flow, Item(container, evaluate(m, index, flow), value))
            case ast.Tuple(targets) | ast.List(targets):
                items = _unpack(m, value, flow, len(targets))
                if any(isinstance(t, ast.Starred) for t in targets):
                    raise DeclineSignal("unsupported-statement", "unpacking with *")
                if len(targets) != len(items):
                    reason = f"{len(items)} values are unpacked into {len(targets)} variables"
                    raise DeclineSignal("always-raises", reason)
                for number, (inner, item) in enumerate(zip(targets, items, strict=True), 1):
                    with waiting(flow, items[number:]):
                        bind(m, inner, item, flow)
            case ast.Attribute(owner, _):
                user_records.store(m, flow, evaluate(m, owner, flow), value, target)
            case _:
                raise DeclineSignal("unsupported-statement", "this kind of assignment")


def _unpack(m: SymbolicMachine, value: Value, flow: Flow, count: int) -> tuple[Value, ...]:
    """Return the items of a value that is assigned to so many variables."""
    match flow.dereference(value):
        case contents if is_tagged(contents):
            pass
        case (SplitV() | FindingsV()) as parts:
            read = strings.unpack(m, flow, parts, count)
            if read is not None:
                return read
        case TupleV(items) | ListV(items):
            return items
        case contents if (outer := outer_containers.items_of(m, contents)) is not None:
            return outer.items
        case OptTupleV(present, items):
            m.fail(flow, negate(present), TypeError)
            return items
        case KeyV(names):
            return tuple(m.columns.key(name) for name in names)
        case RowV(columns, _, _, True, shift):
            return (*(IndexV() for _ in range(shift)), *(ColumnV(c) for c in columns))
    raise DeclineSignal("unsupported-operation", f"unpacking {describe(flow.dereference(value))}")


def _raise(m: SymbolicMachine, node: ast.Raise | ast.Assert, flow: Flow) -> None:
    """Raise an error on purpose. Computing its message may raise another one."""
    if isinstance(node, ast.Assert):
        holds = condition(m, node.test, flow)
        plain = isinstance(node.msg, ast.Constant | None)
        m.fail(flow, negate(holds), AssertionError if plain else None)
        return
    raised = _check_error(m, node.exc, flow)
    _check_error(m, node.cause, flow)
    plain = isinstance(node.cause, ast.Constant | None) or _is_caught(node.cause, flow)
    m.fail(flow, TRUE, raised if plain else None)


def _is_caught(node: ast.expr | None, flow: Flow) -> bool:
    return isinstance(node, ast.Name) and flow.env.get(node.id) is CAUGHT


def _check_error(
    m: SymbolicMachine, error: ast.expr | None, flow: Flow
) -> type[BaseException] | None:
    """Check that the raised object is a builtin exception with harmless arguments, so that nothing
    else happens. Return its class, unless computing a message may raise another error.
    """
    args: list[ast.expr] = []
    match error:
        case None | ast.Constant(None):
            return None
        case _ if _is_caught(error, flow):
            return None  # whatever was caught
        case ast.Call(ast.Name(name), args, []) if all(_is_harmless(a) for a in args):
            pass
        case ast.Name(name):
            pass
        case _:
            raise DeclineSignal("unsupported-statement", "raising something other than an error")
    error_value = m.names.resolve(name) if name not in flow.env else None
    if not isinstance(error_value, Known) or not is_plain_error(error_value.target):
        reason = f"raising {name}: only builtin errors, and plain subclasses of them"
        raise DeclineSignal("unsupported-statement", reason)
    return error_value.target if _makes_exactly(error_value.target, args) else None


def _makes_exactly(cls: type, args: list[ast.expr]) -> bool:
    """Return whether the call makes an error of exactly this class: ``OSError(2, "")`` is of a
    subclass, and ``UnicodeError`` has subclasses that take more arguments.
    """
    try:
        return type(cls(*(ast.literal_eval(a) for a in args))) is cls
    except (TypeError, ValueError):
        return False


def _is_harmless(node: ast.expr) -> bool:
    """Return whether evaluating a message does nothing but make a text."""
    places = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript)
    allowed = (ast.JoinedStr, ast.FormattedValue, ast.Load, *places)
    return all(isinstance(n, allowed) for n in ast.walk(node))


def assigned_names(body: list[ast.stmt]) -> tuple[str, ...]:
    """Return the variables that the statements assign, in order of their first assignment."""
    names: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.setdefault(node.id)
    return tuple(names)


class _Python:
    """The supported part of Python."""

    evaluate = staticmethod(evaluate)
    condition = staticmethod(condition)
    execute = staticmethod(execute)
    bind = staticmethod(bind)


_PYTHON: Interpreter = _Python()


def machine(
    function: FunctionType, source: FunctionSource, columns: LiftedColumns
) -> SymbolicMachine:
    """Return the execution of a function, before its first statement: only columns have bounds."""
    state = ExecutionState(column_ranges(columns.request.schema, columns.request.extent))
    return SymbolicMachine(source, names_of(function, columns.zone), columns, _PYTHON, state)
