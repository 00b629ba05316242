# SPDX-License-Identifier: Apache-2.0
"""Trusted. Classes of table functions that keep a state: ``__init__`` creates it, ``eval`` takes a
row and changes it, ``terminate`` yields one row.

Source, pyspark 4.3.0: ``worker.py``, ``UDTFWithPartitions`` (an object for each partition of equal
keys, whose ``eval`` is called with a ``Row`` for each row) and ``SQL_ARROW_TABLE_UDF`` (values are
Python's own, None for NULL).

``self.x`` becomes a variable of that name, so that only a fold of such variables remains. This is
correct only if ``self`` is used for nothing else: every other use declines.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.ir.fold import Fold
from presieve.ir.terms import FALSE, Term
from presieve.lift.entry.function import build_fold
from presieve.lift.entry.returns import Returns
from presieve.lift.execution.heap import boxed_variables, frozen_variables
from presieve.lift.execution.row_loop import count_rows, merge_exits, run_loop
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Exit, ExitKind, Flow, SymbolicMachine
from presieve.lift.execution.statements import execute, machine
from presieve.lift.models.pandas.input_and_output import row_attributes
from presieve.lift.python.names import own_names, parameters
from presieve.lift.python.shipped import attribute, checked_class, function_source
from presieve.lift.python.source import FunctionSource
from presieve.lift.values.columns import LiftedColumns
from presieve.lift.values.symbolic import NoneV, RowV, SelfV, TupleV, Unbound, Value, is_tagged
from presieve.python_library.class_names import ADDED_BY_PYTHON
from presieve.records import replace

_METHODS = ("__init__", "eval", "terminate")
_PLAIN = ADDED_BY_PYTHON | {"__init__"}
"""Special names of a class that do not change how its objects hold attributes."""
_HOOKS = frozenset(("analyze", "cleanup"))
_CONSTANTS = (bool, int, float, str, bytes, type(None))
_SCOPES = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def lift_state_class(cls: object, columns: LiftedColumns, returns: Returns) -> tuple[Fold, str]:
    """Return the fold of a partition, and the source text of the methods."""
    checked = _check_class(cls)
    init, evaluate, terminate = (_Method(checked, name, columns) for name in _METHODS)
    methods = (init, evaluate, terminate)
    state = frozenset(name for x in methods for name in x.assigned_names())
    for name in state:
        if attribute(checked, name, methods) is not methods:
            raise _decline_class(checked, f"self.{name} is an attribute of the class, too")
    for x in methods:
        x.rename(state)
    initial = _initial(init, state)
    row = _row(evaluate, columns)

    def step(start: Mapping[str, Value]) -> tuple[Mapping[str, Value], Term]:
        m, flow = evaluate.run({**start, **row}, Stage.LOOP)
        for e in m.frame.exits:
            if e.kind is not ExitKind.RETURN or not isinstance(e.value, NoneV):
                raise m.decline("return-shape", "eval returns rows", e.node)
        env = merge_exits(m, m.frame.exits, flow)
        ends = Flow({})
        return {n: m.force(env[n], ends) for n in initial}, m.join_raise_conditions()

    with evaluate.machine.at(evaluate.source.node):
        loop = run_loop(initial, step, {})
    m = terminate.machine
    m.set_fields((*loop.fields, count_rows()))
    _, flow = terminate.run(loop.after, Stage.AFTER)
    if not flow.ended:
        raise m.decline("return-shape", "terminate yields no row on some path", terminate.node)
    exits = [_check_yielded(m, e, returns) for e in m.frame.exits]
    fold = build_fold(m, exits, loop, FALSE, returns)
    text = "\n".join(x.source.text for x in methods)
    span = evaluate.source.span(evaluate.node)
    return replace(fold, name=checked.__name__, span=span), text


def _decline_class(cls: type, reason: str) -> DeclineSignal:
    return DeclineSignal("unsupported-form", f"{cls.__name__}: {reason}")


def _check_class(cls: object) -> type:
    """Return the class if its objects hold attributes as plain ones do, without other hooks."""
    if not isinstance(cls, type) or type(cls) is not type or cls.__mro__ != (cls, object):
        raise DeclineSignal("not-a-function", "a table function is a class without base classes")
    checked_class(cls)
    special = {n for n in vars(cls) if n.startswith("__") and n.endswith("__")}
    unsupported = sorted((special - _PLAIN) | (_HOOKS & set(vars(cls))))
    if unsupported:
        raise _decline_class(cls, f"{unsupported[0]} of a table function is not supported")
    for name in _METHODS:
        if not isinstance(attribute(cls, name, None), FunctionType):
            raise _decline_class(cls, f"a fold of a partition needs {', '.join(_METHODS)}")
    return cls


def _initial(init: _Method, state: frozenset[str]) -> dict[str, Value]:
    m, flow = init.run({}, Stage.BEFORE)
    if m.frame.exits or flow.ended or m.join_raise_conditions() != FALSE:
        raise m.decline("always-raises", "__init__ returns early or may raise", init.node)
    contents = frozen_variables(m, flow, init.node)
    initial = {_variable(n): contents.get(_variable(n), Unbound()) for n in sorted(state)}
    for name, value in initial.items():
        if isinstance(value, Unbound):
            raise m.decline("maybe-unbound", f"{name} is not set in __init__", init.node)
    return initial


def _row(method: _Method, columns: LiftedColumns) -> dict[str, Value]:
    names = tuple(c.name for c in columns.request.schema)
    row = RowV(names, row_attributes(names, of="tuple"), labels=True, positions=True)
    if len(method.parameters) != 1:
        reason = "eval must take the row and nothing else"
        raise method.machine.decline("unsupported-form", reason, method.node)
    return {method.parameters[0]: row}


def _check_yielded(m: SymbolicMachine, e: Exit, returns: Returns) -> Exit:
    """Check that the exit yields a tuple, or one value of one column."""
    value = e.flow.dereference(e.value)
    single = len(returns.columns) == 1
    if isinstance(value, TupleV) and not is_tagged(value):
        if single and len(value.items) == 1:
            return replace(e, value=value.items[0])
        if not single:
            return e
    raise m.decline("return-shape", "terminate must yield a tuple of the declared columns", e.node)


def _variable(name: str) -> str:
    return f"self.{name}"


class _Method:
    """A method whose attributes of ``self`` are variables; ``parameters`` come after it."""

    def __init__(self, cls: type, name: str, columns: LiftedColumns) -> None:
        self.cls = cls
        function = attribute(cls, name)
        assert isinstance(function, FunctionType)
        self.function = function
        last = name == "terminate"
        original = function_source(self.function, generator=last)
        self.node = copy.deepcopy(original.node)
        self.source: FunctionSource = replace(original, node=self.node)
        self.machine = machine(self.function, self.source, columns)
        declared = parameters(self.function)
        plain = all(
            p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in declared
        )
        expected = 2 if name == "eval" else 1
        if not plain or len(declared) != expected:
            raise self._decline(f"{name} does not take the parameters {expected}", self.node)
        self.owner, self.parameters = declared[0].name, [p.name for p in declared[1:]]
        for n in ast.walk(self.node):
            if n is not self.node and isinstance(n, _SCOPES):
                raise self._decline(f"a function inside {name}", n)
        if last:
            self.node.body = list(self._returning(self.node.body))

    def _decline(self, reason: str, node: ast.AST) -> DeclineSignal:
        return self.machine.decline("unsupported-form", reason, node)

    def _returning(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Yield the statements with ``return`` for ``yield``: each path must end with just one."""
        *before, last = body
        yield from before
        other_parts: list[ast.AST] = list(before)
        match last:
            case ast.Expr(ast.Yield(ast.expr() as value)):
                other_parts.append(value)
                yield ast.copy_location(ast.Return(value), last)
            case ast.If(test, then, [_, *_] as orelse):
                other_parts.append(test)
                last.body, last.orelse = list(self._returning(then)), list(self._returning(orelse))
                yield last
            case _:
                raise self._decline("terminate must yield one row at its end, on any path", last)
        exit_kinds = (ast.Yield, ast.YieldFrom, ast.Return)
        for n in (n for each in other_parts for n in ast.walk(each)):
            if isinstance(n, exit_kinds):
                raise self._decline("terminate must yield one row at its end, on any path", last)

    def assigned_names(self) -> Iterator[str]:
        """Yield the attributes of ``self`` that are assigned."""
        for n in ast.walk(self.node):
            match n:
                case ast.Attribute(ast.Name(name), attribute, ast.Store() | ast.Del()):
                    if name == self.owner:
                        yield attribute

    def rename(self, state: frozenset[str]) -> None:
        """Turn the state into variables. Declines if ``self`` is used in another way."""
        renamer = _Renamer(self, state)
        self.node.body = [renamer.visit(s) for s in self.node.body]

    def run(self, env: Mapping[str, Value], stage: Stage) -> tuple[SymbolicMachine, Flow]:
        """Execute the method: the machine has the paths that return, the flow the other one."""
        m = self.machine
        m.begin(stage)
        unbound: dict[str, Value] = {n: Unbound() for n in own_names(self.function)}
        flow = Flow({**unbound, self.owner: SelfV(self.cls), **env})
        boxed_variables(m, flow)
        execute(m, self.node.body, flow)
        return m, flow


class _Renamer(ast.NodeTransformer):
    def __init__(self, method: _Method, state: frozenset[str]) -> None:
        self._method, self._state = method, state

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        match node.value:
            case ast.Name(name) if name == self._method.owner:
                if node.attr in self._state:
                    return ast.copy_location(ast.Name(_variable(node.attr), node.ctx), node)
                if type(attribute(self._method.cls, node.attr, self)) in _CONSTANTS:
                    return node
                raise self._method._decline(f"self.{node.attr} is not a plain attribute", node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self._method.owner:
            raise self._method._decline(f"{node.id} is used as a whole", node)
        return node
