# SPDX-License-Identifier: Apache-2.0
"""Trusted. Statements: every path of the control flow, joined where paths meet.

A statement inside ``try`` may raise before or after its effect, so both states go to the
handlers. A loop is followed until nothing changes; one over items that the program lists is
followed item by item.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import NamedTuple

from presieve.dataflow.abstract_values import (
    DATA,
    NONE,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Batches,
    Function,
    Items,
    Library,
    OpaqueValue,
    Ref,
    Row,
    Value,
    is_fixed,
    join,
    reach_of,
    union_of_packages,
)
from presieve.dataflow.analysis_state import AnalysisState, join_states
from presieve.dataflow.assignments import bind, delete, store
from presieve.dataflow.by_row.empty_tables import skips_without_rows
from presieve.dataflow.by_row.row_closures import (
    appends_once,
    filled_lists,
    forget_rounds,
    is_closed_loop,
    loosen,
)
from presieve.dataflow.context import Analysis, Returned, TooLarge, constant_of, leaves
from presieve.dataflow.iteration import item_of, rounds, rows_of

_STEPS = 20_000
_ROUNDS = 25
_UNROLLED = 64


def block(a: Analysis, body: Iterable[ast.stmt], s: AnalysisState) -> bool:
    """Run statements, and tell whether control reaches their end."""
    for statement in body:
        a.steps += 1
        if a.steps > _STEPS:
            raise TooLarge
        _may_raise(a, s)
        goes_on = _run_statement(a, statement, s)
        _may_raise(a, s)
        if not goes_on:
            return False
    return True


def _may_raise(a: Analysis, s: AnalysisState) -> None:
    for depth, states in a.handlers[-1:]:
        states.append(AnalysisState([dict(f) for f in s.frames[:depth]], dict(s.heap)))


def _run_statement(a: Analysis, node: ast.stmt, s: AnalysisState) -> bool:
    handler = _STATEMENTS.get(type(node))
    if handler is not None:
        return handler(a, node, s)
    a.note("keys", f"a statement of kind {type(node).__name__.lower()} is not followed", node)
    a.effect("unread", f"a statement of kind {type(node).__name__.lower()} is not followed", node)
    for name, value in s.env.items():
        a.escapes(s, value, node, "what is not followed")
        s.env[name] = OpaqueValue(reach_of(value))
    a.alone = False
    return True


def _return(a: Analysis, node: ast.Return, s: AnalysisState) -> bool:
    value = NONE if node.value is None else a.evaluator.evaluate(a, node.value, s)
    pending, a.finals = a.finals, []
    before = s.writes.counts
    for body in reversed(pending):
        block(a, body, s)
    a.check_waiting(s, before, node)
    a.finals = pending
    a.returns[-1].append(Returned(value, s.copy(), node.value))
    return False


def _raise(a: Analysis, node: ast.Raise, s: AnalysisState) -> bool:
    for part in (node.exc, node.cause):
        if part is not None:  # a handler may take its arguments out of it
            a.hides(s, a.evaluator.evaluate(a, part, s))
    return False


def _break(a: Analysis, _node: ast.Break, s: AnalysisState) -> bool:
    a.breaks[-1].append(s.copy())
    return False


def _continue(a: Analysis, _node: ast.Continue, s: AnalysisState) -> bool:
    a.continues[-1].append(s.copy())
    return False


def _if(a: Analysis, node: ast.If, s: AnalysisState) -> bool:
    test = a.evaluator.evaluate(a, node.test, s)
    decided = constant_of(s, test)
    if isinstance(decided, bool):
        return block(a, node.body if decided else node.orelse, s)
    if not skips_without_rows(a, s, node) and not is_fixed(test):
        a.branches_on(test, node.test)
    else_state = s.copy()
    ends = [
        (branch_state, block(a, body, branch_state))
        for branch_state, body in ((s, node.body), (else_state, node.orelse))
    ]
    return _meet(s, [branch_state for branch_state, goes_on in ends if goes_on])


def _meet(s: AnalysisState, states: list[AnalysisState]) -> bool:
    """Continue from the join of these states; return False if there is none."""
    if not states:
        return False
    joined = states[0]
    for state in states[1:]:
        joined = join_states(joined, state)
    s.become(joined)
    return True


def _for(a: Analysis, node: ast.For, s: AnalysisState) -> bool:
    over = a.evaluator.evaluate(a, node.iter, s)
    plain = isinstance(over, Batches) or _is_plain(s, item_of(a, s, over, node.iter))
    before = s.writes.counts
    goes_on = _run_rounds(a, node, s, over)
    if not plain:
        a.check_waiting(s, before, node.iter)
    return goes_on


def _is_plain(s: AnalysisState, value: Value) -> bool:
    """Whether nothing that is written in place changes the value."""
    if isinstance(value, OpaqueValue) and value.packages == DATA:
        reached = map(s.heap.get, value.reach)
        return all(isinstance(thing, Items) and thing.kind == "names" for thing in reached)
    return is_fixed(value) or isinstance(value, AbstractScalar | Row)


def _run_rounds(a: Analysis, node: ast.For, s: AnalysisState, over: Value) -> bool:
    listed = rounds(a, s, over, node.iter)
    if listed is not None and len(listed.items) <= _UNROLLED:
        return _unroll(a, node, s, over)
    if not isinstance(over, Batches):
        rows = rows_of(s, over)
        if rows is not None and not node.orelse:
            lists = filled_lists(s, node)
            if is_closed_loop(s, node, lists):
                return _loop_over_rows(a, s, node, Rows(over, rows, lists))
        a.branches_on(over, node.iter)

    def start(start_state: AnalysisState) -> None:
        bind(a, start_state, node.target, item_of(a, start_state, over, node.iter))

    before = s.copy()
    if isinstance(over, Batches) and a.met_batches:
        a.branches_on(over, node.iter)  # what another loop leaves
    a.met_batches = a.met_batches or isinstance(over, Batches)
    a.in_batches = a.in_batches or (isinstance(over, Batches) and not a.breaks)
    goes_on = loop(a, s, start, node.body, node.orelse if not isinstance(over, Batches) else ())
    a.in_batches = a.in_batches and bool(a.breaks)
    if isinstance(over, Batches):
        _check_batches(a, node, before, s)
        goes_on = goes_on and block(a, node.orelse, s)
    return goes_on


class Rows(NamedTuple):
    """What a loop over rows iterates over, its rows, and the lists that it fills, by name."""

    over: Value
    rows: AllocationSite
    lists: dict[str, Ref]


def _loop_over_rows(a: Analysis, s: AnalysisState, node: ast.For, of: Rows) -> bool:
    """Run a loop whose rounds see their own rows only."""
    a.by_row = True
    alone = a.alone

    def start(start_state: AnalysisState) -> None:
        bind(a, start_state, node.target, item_of(a, start_state, of.over, node.iter))

    goes_on = loop(a, s, start, node.body)
    a.alone = alone
    for name, ref in of.lists.items():
        items = s.items(ref)
        if items is not None and items.kind == "list":
            element = loosen(s, items.element)
            some = not appends_once(node, name)
            s.update(ref, Items("list", element, each=of.rows, some=some))
    forget_rounds(s, node)
    return goes_on


def _check_batches(a: Analysis, node: ast.For, before: AnalysisState, after: AnalysisState) -> None:
    """Check whether the division of rows into batches matters: it does if a batch sees what another
    one stored, or ends the loop. Each batch rebinds variables that only the loop binds.
    """
    frames = zip(before.frames, after.frames, strict=True)
    names = [n for old, new in frames for n, v in old.items() if new.get(n) != v]
    objects = [p for p, thing in before.heap.items() if after.heap.get(p) != thing]
    ends = any(map(_ends, node.body))
    if names or objects or ends:
        a.alone = False
        carried = f"{', '.join(names) or 'something'} is kept from one batch to the next"
        a.note("rows", "the loop over batches may end early" if ends else carried, node)


def _ends(node: ast.AST, *, inside: bool = False) -> bool:
    """Whether a statement may end the loop that contains it."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return False
    if isinstance(node, ast.Return) or (isinstance(node, ast.Break) and not inside):
        return True
    if isinstance(node, ast.For | ast.While):
        after = any(_ends(s, inside=inside) for s in node.orelse)
        return after or any(_ends(s, inside=True) for s in node.body)
    return any(_ends(child, inside=inside) for child in ast.iter_child_nodes(node))


def _while(a: Analysis, node: ast.While, s: AnalysisState) -> bool:
    def start(start_state: AnalysisState) -> None:
        test = a.evaluator.evaluate(a, node.test, start_state)
        if not is_fixed(test):
            a.branches_on(test, node.test)

    return loop(a, s, start, node.body, node.orelse)


def loop(
    a: Analysis,
    s: AnalysisState,
    start: Callable[[AnalysisState], None],
    body: list[ast.stmt],
    orelse: Iterable[ast.stmt] = (),
) -> bool:
    """Run rounds of a loop until the state at their start no longer changes."""
    exits: list[AnalysisState] = []
    for _ in range(_ROUNDS):
        round_state = s.copy()
        start(round_state)
        ended = round_state.copy()
        entry = s.copy()
        for state in (ended, *_run_round(a, round_state, body, exits)):
            entry = join_states(entry, state)
        if entry == s:
            break
        s.become(entry)
    else:
        raise TooLarge
    over = s.copy()
    goes_on = block(a, orelse, over)
    return _meet(s, [*([over] if goes_on else []), *exits])


def _run_round(
    a: Analysis, s: AnalysisState, body: list[ast.stmt], exits: list[AnalysisState]
) -> list[AnalysisState]:
    """Run a round; return the states from which the loop goes on, and add its ``exits``."""
    a.breaks.append([])
    a.continues.append([])
    falls = block(a, body, s)
    exits += a.breaks.pop()
    return [*([s.copy()] if falls else []), *a.continues.pop()]


def _unroll(a: Analysis, node: ast.For, s: AnalysisState, over: Value) -> bool:
    exits: list[AnalysisState] = []
    ended: list[AnalysisState] = []
    listed = rounds(a, s, over, node.iter)
    assert listed is not None
    for item in listed.items:
        if rounds(a, s, over, node.iter) != listed:
            raise TooLarge  # the loop changes the items that it iterates over
        if not listed.whole:
            ended.append(s.copy())
        bind(a, s, node.target, item)
        if not _meet(s, _run_round(a, s, node.body, exits)):
            return _meet(s, [*ended, *exits])
    _meet(s, [s.copy(), *ended])
    goes_on = block(a, node.orelse, s)
    return _meet(s, [*([s.copy()] if goes_on else []), *exits])


def _try(a: Analysis, node: ast.Try, s: AnalysisState) -> bool:
    a.alone = False
    a.note("rows", "an error of one row is caught for others", node)
    caught: list[AnalysisState] = []
    a.handlers.append((len(s.frames), caught))
    if node.finalbody:
        a.finals.append(node.finalbody)
    falls = block(a, node.body, s)
    a.handlers.pop()
    ends: list[AnalysisState] = []
    if falls and block(a, node.orelse, s):
        ends.append(s.copy())
    start = s.copy()
    if caught and _meet(start, caught):
        for handler in node.handlers:
            handler_state = start.copy()
            if handler.type is not None:
                a.evaluator.evaluate(a, handler.type, handler_state)
            if handler.name:
                handler_state.env[handler.name] = OpaqueValue(packages=DATA)
            if block(a, handler.body, handler_state):
                ends.append(handler_state)
    if node.finalbody:
        a.finals.pop()
        for state in ends:
            block(a, node.finalbody, state)
    return _meet(s, ends)


def _with(a: Analysis, node: ast.With, s: AnalysisState) -> bool:
    for item in node.items:
        value = a.evaluator.evaluate(a, item.context_expr, s)
        if s.packages(value) is None:
            a.runs_unknown(f"with {ast.unparse(item.context_expr)}", "is not known", node)
        if item.optional_vars is not None:
            bind(a, s, item.optional_vars, value)
    caught: list[AnalysisState] = []
    a.handlers.append((len(s.frames), caught))
    falls = block(a, node.body, s)
    a.handlers.pop()
    # A context manager may suppress an error.
    return _meet(s, [*([s.copy()] if falls else []), *caught])


def _match(a: Analysis, node: ast.Match, s: AnalysisState) -> bool:
    subject = a.evaluator.evaluate(a, node.subject, s)
    a.branches_on(subject, node.subject)
    a.observe(s, subject, node, "match looks at the whole value")
    ends = [s.copy()]
    for case in node.cases:
        case_state = s.copy()
        for inner in ast.walk(case.pattern):
            if isinstance(inner, ast.expr) and not isinstance(inner, ast.Constant):
                a.evaluator.evaluate(a, inner, case_state)
            name = getattr(inner, "name", None) or getattr(inner, "rest", None)
            if isinstance(name, str):
                case_state.env[name] = OpaqueValue(reach_of(subject))
        if case.guard is not None:
            a.evaluator.evaluate(a, case.guard, case_state)
        if block(a, case.body, case_state):
            ends.append(case_state)
    return _meet(s, ends)


def _assign(a: Analysis, node: ast.Assign, s: AnalysisState) -> bool:
    value = a.evaluator.evaluate(a, node.value, s)
    before = s.writes.counts
    for target in node.targets:
        store(a, s, target, value)
    if sum(1 for target in node.targets for _ in leaves(target)) > 1:
        a.check_waiting(s, before, node)
    return True


def _assign_annotated(a: Analysis, node: ast.AnnAssign, s: AnalysisState) -> bool:
    if node.value is not None:
        store(a, s, node.target, a.evaluator.evaluate(a, node.value, s))
    return True


def _assign_augmented(a: Analysis, node: ast.AugAssign, s: AnalysisState) -> bool:
    as_read = ast.copy_location(ast.fix_missing_locations(_as_load(node.target)), node.target)
    old = a.evaluator.evaluate(a, as_read, s)
    before = s.writes.counts
    new = a.evaluator.evaluate(a, node.value, s)
    a.check_waiting(s, before, node)
    match old:
        case AbstractColumn():
            s.overwrite(old.memory)
            a.writes_items = True
            a.changes(old.memory, node, "an augmented assignment")
            value: Value = AbstractColumn(rows=old.rows, labelled=old.labelled, memory=old.memory)
        case Ref() if (items := s.items(old)) is not None and items.kind == "list":
            extended = item_of(a, s, new, node.value)
            element = extended if items.element is None else join(items.element, extended)
            s.update(old, Items("list", element))
            a.changes(old.places, node, "an augmented assignment")
            value = old
        case AbstractScalar() | AbstractTuple():
            value = a.evaluator.evaluate(
                a, ast.copy_location(ast.BinOp(as_read, node.op, node.value), node), s
            )
        case _:
            value = _change_in_place(a, s, node, (old, new))
    store(a, s, node.target, value)
    return True


def _change_in_place(
    a: Analysis, s: AnalysisState, node: ast.AugAssign, operands: tuple[Value, Value]
) -> Value:
    """An array, a dict or a user's object may change itself, or return another object."""
    old, new = operands
    packages = union_of_packages((s.packages(old), s.packages(new)))
    what = f"{ast.unparse(node.target)} in an augmented assignment"
    a.changes(reach_of(old), node, what)
    a.escapes(s, old, node, "an augmented assignment")
    a.observe(s, new, node, "an augmented assignment")
    if packages is None:
        a.runs_unknown(what, "is not known", node)
    return OpaqueValue(reach_of(old) | reach_of(new), packages)


def _as_load(node: ast.expr) -> ast.expr:
    match node:
        case ast.Name(name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(owner, name):
            return ast.Attribute(owner, name, ast.Load())
        case ast.Subscript(owner, where):
            return ast.Subscript(owner, where, ast.Load())
    return node


def _expression(a: Analysis, node: ast.Expr, s: AnalysisState) -> bool:
    a.evaluator.evaluate(a, node.value, s)
    return True


def _assert(a: Analysis, node: ast.Assert, s: AnalysisState) -> bool:
    test = a.evaluator.evaluate(a, node.test, s)
    if not is_fixed(test):
        a.branches_on(test, node.test)  # with other rows it may raise
    if node.msg is not None:
        a.hides(s, a.evaluator.evaluate(a, node.msg, s))
    return True


def _delete(a: Analysis, node: ast.Delete, s: AnalysisState) -> bool:
    for target in node.targets:
        delete(a, s, target)
    return True


def _import(a: Analysis, node: ast.Import, s: AnalysisState) -> bool:
    for alias in node.names:
        path = alias.name if alias.asname else alias.name.partition(".")[0]
        s.env[alias.asname or path] = Library(path)
        _record_import(a, alias.name, node)
    return True


def _import_from(a: Analysis, node: ast.ImportFrom, s: AnalysisState) -> bool:
    module = node.module or ""
    for alias in node.names:
        is_absolute_name = not node.level and alias.name != "*"
        value: Value = OpaqueValue()
        if is_absolute_name:
            value = a.evaluator.attribute_of_module(a, s, module, alias.name)
        s.env[alias.asname or alias.name] = value
    _record_import(a, "." * node.level + module, node)
    return True


def _record_import(a: Analysis, path: str, node: ast.AST) -> None:
    from presieve.dataflow.libraries import imports_quietly

    if not imports_quietly(path):
        a.runs_unknown(f"importing {path}", "runs code that is not read", node)


def _define(a: Analysis, node: ast.FunctionDef, s: AnalysisState) -> bool:
    a.evaluator.define(a, node, s)
    if node.decorator_list:
        s.env[node.name] = OpaqueValue()
        a.effect("unread", f"the decorators of {node.name} are not followed", node)
    else:
        s.env[node.name] = Function(node, a.stack[-1].owner, len(a.stack) - 1)
    return True


_STATEMENTS: dict[type[ast.stmt], Callable[..., bool]] = {
    ast.AnnAssign: _assign_annotated,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AugAssign: _assign_augmented,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Delete: _delete,
    ast.Expr: _expression,
    ast.For: _for,
    ast.FunctionDef: _define,
    ast.If: _if,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Match: _match,
    ast.Pass: lambda _a, _node, _s: True,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.While: _while,
    ast.With: _with,
}
