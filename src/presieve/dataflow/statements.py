"""Trusted. Statements: every path of the control flow, joined where paths meet.

A statement inside of ``try`` may raise before and after what it does, so both states go to the
handlers. A loop is followed until nothing changes; one over items that the program lists is
followed item by item.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from presieve.dataflow.context import Analysis, GaveUp, constant_of
from presieve.dataflow.iteration import item_of, rounds
from presieve.dataflow.state import State, join_states
from presieve.dataflow.stored import bind, delete, store
from presieve.dataflow.values import (
    DATA,
    NONE,
    Batches,
    Column,
    Function,
    Items,
    Library,
    Opaque,
    Ref,
    Scalar,
    TupleV,
    Value,
    is_fixed,
    join,
    reach_of,
)

_STEPS = 20_000
_ROUNDS = 25
_UNROLLED = 64


def block(a: Analysis, body: Iterable[ast.stmt], s: State) -> bool:
    """Whether control comes out at the end."""
    for statement in body:
        a.steps += 1
        if a.steps > _STEPS:
            raise GaveUp
        _may_raise(a, s)
        goes_on = _statement(a, statement, s)
        _may_raise(a, s)
        if not goes_on:
            return False
    return True


def _may_raise(a: Analysis, s: State) -> None:
    for depth, states in a.handlers[-1:]:
        states.append(State([dict(f) for f in s.frames[:depth]], dict(s.heap)))


def _statement(a: Analysis, node: ast.stmt, s: State) -> bool:
    handler = _STATEMENTS.get(type(node))
    if handler is not None:
        return handler(a, node, s)
    a.note("keys", f"a statement of kind {type(node).__name__.lower()} is not followed", node)
    a.effect("unknown", f"a statement of kind {type(node).__name__.lower()}", node)
    for name, value in s.env.items():
        a.escapes(s, value, node, "what is not followed")
        s.env[name] = Opaque(reach_of(value))
    a.alone = False
    return True


def _return(a: Analysis, node: ast.Return, s: State) -> bool:
    value = NONE if node.value is None else a.evaluator.evaluate(a, node.value, s)
    pending, a.finals = a.finals, []
    for body in reversed(pending):
        block(a, body, s)
    a.finals = pending
    a.returns[-1].append((value, s.copy()))
    return False


def _raise(a: Analysis, node: ast.Raise, s: State) -> bool:
    for part in (node.exc, node.cause):
        if part is not None:
            a.evaluator.evaluate(a, part, s)
    return False


def _break(a: Analysis, _node: ast.Break, s: State) -> bool:
    a.breaks[-1].append(s.copy())
    return False


def _continue(a: Analysis, _node: ast.Continue, s: State) -> bool:
    a.continues[-1].append(s.copy())
    return False


def _if(a: Analysis, node: ast.If, s: State) -> bool:
    test = a.evaluator.evaluate(a, node.test, s)
    decided = constant_of(s, test)
    if isinstance(decided, bool):
        return block(a, node.body if decided else node.orelse, s)
    if not is_fixed(test):
        a.branches_on(test, node.test)
    other = s.copy()
    ends = [(here, block(a, body, here)) for here, body in ((s, node.body), (other, node.orelse))]
    return _meet(s, [here for here, goes_on in ends if goes_on])


def _meet(s: State, states: list[State]) -> bool:
    """Go on from all of these; False where there is none."""
    if not states:
        return False
    joined = states[0]
    for state in states[1:]:
        joined = join_states(joined, state)
    s.become(joined)
    return True


def _for(a: Analysis, node: ast.For, s: State) -> bool:
    over = a.evaluator.evaluate(a, node.iter, s)
    listed = rounds(a, s, over, node.iter)
    if listed is not None and len(listed.items) <= _UNROLLED:
        return _unrolled(a, node, s, over)
    if not isinstance(over, Batches):
        a.branches_on(over, node.iter)

    def start(here: State) -> None:
        bind(a, here, node.target, item_of(a, here, over, node.iter))

    before = s.copy()
    goes_on = loop(a, s, start, node.body, node.orelse)
    if isinstance(over, Batches):
        _carries(a, node, before, s)
    return goes_on


def _carries(a: Analysis, node: ast.For, before: State, after: State) -> None:
    """How rows are cut into batches matters where one batch sees what another one has left, or
    ends the loop. A variable that is bound in the loop alone is bound anew by each batch.
    """
    frames = zip(before.frames, after.frames, strict=True)
    names = [n for old, new in frames for n, v in old.items() if new.get(n) != v]
    objects = [p for p, thing in before.heap.items() if after.heap.get(p) != thing]
    ends = any(map(_ends, node.body))
    if names or objects or ends:
        a.alone = False
        kept = f"{', '.join(names) or 'something'} is kept from one batch to the next"
        a.note("rows", "the loop over batches may end early" if ends else kept, node)


def _ends(node: ast.AST, *, inside: bool = False) -> bool:
    """Whether a statement may end the loop in which it stands."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return False
    if isinstance(node, ast.Return) or (isinstance(node, ast.Break) and not inside):
        return True
    inner = inside or isinstance(node, ast.For | ast.While)
    return any(_ends(child, inside=inner) for child in ast.iter_child_nodes(node))


def _while(a: Analysis, node: ast.While, s: State) -> bool:
    def start(here: State) -> None:
        test = a.evaluator.evaluate(a, node.test, here)
        if not is_fixed(test):
            a.branches_on(test, node.test)

    return loop(a, s, start, node.body, node.orelse)


def loop(
    a: Analysis,
    s: State,
    start: Callable[[State], None],
    body: list[ast.stmt],
    orelse: Iterable[ast.stmt] = (),
) -> bool:
    """Any number of rounds, until nothing new is seen at their start."""
    exits: list[State] = []
    for _ in range(_ROUNDS):
        here = s.copy()
        start(here)
        ended = here.copy()
        a.breaks.append([])
        a.continues.append([])
        falls = block(a, body, here)
        breaks, continues = a.breaks.pop(), a.continues.pop()
        exits += breaks
        entry = s.copy()
        for state in (ended, *([here] if falls else []), *continues):
            entry = join_states(entry, state)
        if entry == s:
            break
        s.become(entry)
    else:
        raise GaveUp
    over = s.copy()
    goes_on = block(a, orelse, over)
    return _meet(s, [*([over] if goes_on else []), *exits])


def _unrolled(a: Analysis, node: ast.For, s: State, over: Value) -> bool:
    exits: list[State] = []
    ended: list[State] = []
    listed = rounds(a, s, over, node.iter)
    assert listed is not None
    for item in listed.items:
        if rounds(a, s, over, node.iter) != listed:
            raise GaveUp  # the loop changes what it goes over
        if not listed.whole:
            ended.append(s.copy())
        bind(a, s, node.target, item)
        a.breaks.append([])
        a.continues.append([])
        falls = block(a, node.body, s)
        breaks, continues = a.breaks.pop(), a.continues.pop()
        exits += breaks
        if not _meet(s, [*([s.copy()] if falls else []), *continues]):
            return _meet(s, [*ended, *exits])
    _meet(s, [s.copy(), *ended])
    goes_on = block(a, node.orelse, s)
    return _meet(s, [*([s.copy()] if goes_on else []), *exits])


def _try(a: Analysis, node: ast.Try, s: State) -> bool:
    a.alone = False
    a.note("rows", "an error of one row is caught for others", node)
    caught: list[State] = []
    a.handlers.append((len(s.frames), caught))
    if node.finalbody:
        a.finals.append(node.finalbody)
    falls = block(a, node.body, s)
    a.handlers.pop()
    ends: list[State] = []
    if falls and block(a, node.orelse, s):
        ends.append(s.copy())
    start = s.copy()
    if caught and _meet(start, caught):
        for handler in node.handlers:
            here = start.copy()
            if handler.type is not None:
                a.evaluator.evaluate(a, handler.type, here)
            if handler.name:
                here.env[handler.name] = Opaque(packages=DATA)
            if block(a, handler.body, here):
                ends.append(here)
    if node.finalbody:
        a.finals.pop()
        for state in ends:
            block(a, node.finalbody, state)
    return _meet(s, ends)


def _with(a: Analysis, node: ast.With, s: State) -> bool:
    for item in node.items:
        value = a.evaluator.evaluate(a, item.context_expr, s)
        if s.packages(value) is None:
            a.effect(
                "unknown", f"what with {ast.unparse(item.context_expr)} does is not known", node
            )
        if item.optional_vars is not None:
            bind(a, s, item.optional_vars, value)
    caught: list[State] = []
    a.handlers.append((len(s.frames), caught))
    falls = block(a, node.body, s)
    a.handlers.pop()
    # A context manager may hold an error back.
    return _meet(s, [*([s.copy()] if falls else []), *caught])


def _match(a: Analysis, node: ast.Match, s: State) -> bool:
    subject = a.evaluator.evaluate(a, node.subject, s)
    a.branches_on(subject, node.subject)
    a.observe(s, subject, node, "match looks at the whole value")
    ends = [s.copy()]
    for case in node.cases:
        here = s.copy()
        for inner in ast.walk(case.pattern):
            name = getattr(inner, "name", None) or getattr(inner, "rest", None)
            if isinstance(name, str):
                here.env[name] = Opaque(reach_of(subject))
        if case.guard is not None:
            a.evaluator.evaluate(a, case.guard, here)
        if block(a, case.body, here):
            ends.append(here)
    return _meet(s, ends)


def _assign(a: Analysis, node: ast.Assign, s: State) -> bool:
    value = a.evaluator.evaluate(a, node.value, s)
    for target in node.targets:
        store(a, s, target, value)
    return True


def _annotated(a: Analysis, node: ast.AnnAssign, s: State) -> bool:
    if node.value is not None:
        store(a, s, node.target, a.evaluator.evaluate(a, node.value, s))
    return True


def _augmented(a: Analysis, node: ast.AugAssign, s: State) -> bool:
    as_read = ast.copy_location(ast.fix_missing_locations(_loaded(node.target)), node.target)
    old = a.evaluator.evaluate(a, as_read, s)
    new = a.evaluator.evaluate(a, node.value, s)
    match old:
        case Column():
            s.overwrite(old.memory)
            a.writes_items = True
            a.changes(old.memory, node, "an augmented assignment")
            value: Value = Column(rows=old.rows, labelled=old.labelled, memory=old.memory)
        case Ref() if (items := s.items(old)) is not None and items.kind == "list":
            extended = item_of(a, s, new, node.value)
            element = extended if items.element is None else join(items.element, extended)
            s.update(old, Items("list", element))
            a.changes(old.places, node, "an augmented assignment")
            value = old
        case Scalar() | TupleV():
            value = a.evaluator.evaluate(
                a, ast.copy_location(ast.BinOp(as_read, node.op, node.value), node), s
            )
        case _:
            value = _changed_in_place(a, s, node, (old, new))
    store(a, s, node.target, value)
    return True


def _changed_in_place(
    a: Analysis, s: State, node: ast.AugAssign, operands: tuple[Value, Value]
) -> Value:
    """An array, a dict or an object of the user's may change itself, or give another one."""
    old, new = operands
    packages = [s.packages(old), s.packages(new)]
    what = f"{ast.unparse(node.target)} in an augmented assignment"
    a.changes(reach_of(old), node, what)
    a.escapes(s, old, node, "an augmented assignment")
    a.observe(s, new, node, "an augmented assignment")
    reach = reach_of(old) | reach_of(new)
    if None in packages:
        a.effect("unknown", f"{what} is not known", node)
        return Opaque(reach)
    return Opaque(reach, frozenset().union(*(p for p in packages if p)))


def _loaded(node: ast.expr) -> ast.expr:
    match node:
        case ast.Name(name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(owner, name):
            return ast.Attribute(owner, name, ast.Load())
        case ast.Subscript(owner, where):
            return ast.Subscript(owner, where, ast.Load())
    return node


def _expression(a: Analysis, node: ast.Expr, s: State) -> bool:
    a.evaluator.evaluate(a, node.value, s)
    return True


def _assert(a: Analysis, node: ast.Assert, s: State) -> bool:
    test = a.evaluator.evaluate(a, node.test, s)
    if not is_fixed(test):
        a.branches_on(test, node.test)  # with other rows it may raise
    return True


def _delete(a: Analysis, node: ast.Delete, s: State) -> bool:
    for target in node.targets:
        delete(a, s, target)
    return True


def _nothing(_a: Analysis, _node: ast.stmt, _s: State) -> bool:
    return True


def _import(a: Analysis, node: ast.Import, s: State) -> bool:
    for alias in node.names:
        path = alias.name if alias.asname else alias.name.partition(".")[0]
        s.env[alias.asname or path] = Library(path)
        _imported(a, alias.name, node)
    return True


def _import_from(a: Analysis, node: ast.ImportFrom, s: State) -> bool:
    module = node.module or ""
    for alias in node.names:
        known = not node.level and alias.name != "*"
        s.env[alias.asname or alias.name] = Library(f"{module}.{alias.name}") if known else Opaque()
    _imported(a, "." * node.level + module, node)
    return True


def _imported(a: Analysis, path: str, node: ast.AST) -> None:
    from presieve.dataflow.libraries import imports_quietly

    if not imports_quietly(path):
        a.effect("unknown", f"importing {path} runs code that is not read", node)


def _define(a: Analysis, node: ast.FunctionDef, s: State) -> bool:
    if node.decorator_list:
        s.env[node.name] = Opaque()
        a.effect("unknown", f"the decorators of {node.name} are not followed", node)
    else:
        s.env[node.name] = Function(node, a.stack[-1].owner, len(a.stack) - 1)
    return True


_STATEMENTS: dict[type[ast.stmt], Callable[..., bool]] = {
    ast.AnnAssign: _annotated,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
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
    ast.Pass: _nothing,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.While: _while,
    ast.With: _with,
}
