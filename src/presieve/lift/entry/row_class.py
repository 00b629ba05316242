# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``Aggregator``-shaped classes: ``zero()``, ``reduce(acc, row)``, ``finish(acc)``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.ir.fold import Fold
from presieve.ir.terms import FALSE, Term
from presieve.lift.entry.function import build_fold, component_names
from presieve.lift.entry.returns import Returns
from presieve.lift.execution.heap import boxed_variables
from presieve.lift.execution.row_loop import Loop, count_rows, merge_values, run_loop
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Exit, ExitKind, Flow
from presieve.lift.execution.statements import execute, machine
from presieve.lift.models.pandas.input_and_output import row_attributes
from presieve.lift.python.attributes import is_builtin_new, needs_init
from presieve.lift.python.names import as_constant, own_names, parameters
from presieve.lift.python.shipped import attribute, checked_class, function_source
from presieve.lift.values.columns import LiftedColumns
from presieve.lift.values.symbolic import NONE, RowV, SelfV, Unbound, Value
from presieve.records import replace


def is_row_class(obj: object) -> bool:
    """Return whether the object has the shape of an aggregator."""
    marks = (inspect.getattr_static(obj, name, None) for name in ("zero", "reduce"))
    return all(isinstance(x, FunctionType | staticmethod | classmethod) for x in marks)


def lift_class(obj: object, columns: LiftedColumns, returns: Returns) -> tuple[Fold, str]:
    """Return the fold of an aggregator class or instance, and its source text."""
    obj = instance(obj)
    zero, reduce, finish, loop = state_loop(obj, columns)
    last = finish or RowMethod(obj, "reduce", columns)
    acc = loop.after["acc"]
    if finish is not None:
        finish.machine.set_fields((*loop.fields, count_rows()))
        exits = finish.run((acc,), Stage.AFTER)
    else:
        node = last.machine.source.node.body[-1]
        exits = [Exit(ExitKind.RETURN, Flow({}), acc, node)]
    fold = build_fold(last.machine, exits, loop, FALSE, returns)
    cls = obj if isinstance(obj, type) else type(obj)
    methods = [x for x in (zero, reduce, finish) if x is not None]
    text = "\n".join(x.machine.source.text for x in methods)
    source = reduce.machine.source
    return replace(fold, name=cls.__name__, span=source.span(source.node)), text


def instance(obj: object) -> object:
    """Return an instance of a class if lifting needs one; every other object as it is."""
    return _build_instance(obj) if isinstance(obj, type) and needs_init(obj) else obj


def state_loop(
    obj: object, columns: LiftedColumns
) -> tuple[RowMethod, RowMethod, RowMethod | None, Loop]:
    """Return ``zero``, ``reduce`` and ``finish`` of an aggregator, and the loop over its rows."""
    zero = RowMethod(obj, "zero", columns)
    reduce = RowMethod(obj, "reduce", columns)
    finish = RowMethod(obj, "finish", columns) if _has_method(obj, "finish") else None
    start = merge_values(zero.machine, zero.run((), Stage.BEFORE))
    if zero.machine.join_raise_conditions() != FALSE:
        reason = "zero() may raise an error"
        raise zero.machine.decline("always-raises", reason, zero.machine.source.node)
    names = tuple(c.name for c in columns.request.schema)
    row = RowV(names, row_attributes(names, of="tuple"), labels=True, positions=True)

    def step(acc: Mapping[str, Value]) -> tuple[Mapping[str, Value], Term]:
        m = reduce.machine
        exits = reduce.run((acc["acc"], row), Stage.LOOP)
        return {"acc": merge_values(m, exits)}, m.join_raise_conditions()

    with reduce.machine.at(reduce.machine.source.node):
        loop = run_loop({"acc": start}, step, _component_names(reduce, finish))
    return zero, reduce, finish, loop


def _has_method(obj: object, name: str) -> bool:
    member = attribute(obj, name, None)
    if isinstance(member, FunctionType) and member.__module__ == "presieve.aggregator":
        return False  # the base class's finish gives the accumulator back
    return isinstance(member, FunctionType | staticmethod | classmethod)


def _component_names(*methods: RowMethod | None) -> dict[str, str]:
    """Return names for the components of the accumulator, from the first code that unpacks it."""
    names: dict[str, str] = {}
    for method in methods:
        if method is None or not method.parameters:
            continue
        prefix = method.parameters[0] + "."
        for path, name in component_names(method.machine.source.node).items():
            if path.startswith(prefix):
                names.setdefault("acc." + path.removeprefix(prefix), name)
    return names


class RowMethod:
    """One method, ready to be executed; ``parameters`` are those after ``self``."""

    def __init__(self, obj: object, name: str, columns: LiftedColumns) -> None:
        cls = obj if isinstance(obj, type) else type(obj)
        if cls is not obj and name in getattr(obj, "__dict__", {}):
            raise DeclineSignal("not-a-function", f"{name} is set on the instance")
        member = attribute(cls, name, None)
        function = getattr(member, "__func__", member)
        if not isinstance(function, FunctionType):
            raise DeclineSignal("not-a-function", f"{name} is not a method written with def")
        source = function_source(function)
        self.machine = machine(function, source, columns)
        self.function = function
        declared = parameters(function)
        if not declared and not isinstance(member, staticmethod):
            raise DeclineSignal("not-a-function", f"{name} takes no self", source.span(source.node))
        self.owner = None if isinstance(member, staticmethod) else declared.pop(0).name
        self.value = SelfV(cls if isinstance(member, classmethod) else obj)
        self.parameters = [p.name for p in declared]
        self.defaults = {p.name: p.default for p in declared if p.default is not p.empty}
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in declared):
            m = self.machine
            raise m.decline("unsupported-form", f"{name} has parameters with *", source.node)

    def run(self, arguments: tuple[Value, ...], stage: Stage) -> list[Exit]:
        """Execute the method, and return its exits."""
        m = self.machine
        node = m.source.node
        if len(arguments) > len(self.parameters):
            reason = f"{node.name} takes {len(arguments)} argument(s) besides self"
            raise m.decline("unsupported-form", reason, node)
        env: dict[str, Value] = {n: Unbound() for n in own_names(self.function)}
        if self.owner is not None:
            env[self.owner] = self.value
        for name in self.parameters:
            if name in self.defaults:
                env[name] = as_constant(self.defaults[name], name, m.columns.zone)
        env.update(zip(self.parameters, arguments, strict=False))
        missing = [n for n in self.parameters if n not in env or isinstance(env[n], Unbound)]
        if missing:
            raise m.decline("unsupported-form", f"parameter {missing[0]} gets no value", node)
        m.begin(stage)
        flow = Flow(env)
        boxed_variables(m, flow)
        execute(m, node.body, flow)
        if not flow.ended:
            m.frame.exits += (Exit(ExitKind.RETURN, flow, NONE, node.body[-1]),)
        for e in m.frame.exits:
            if e.kind is ExitKind.CONTINUE:
                raise m.decline("unsupported-statement", "continue outside of a loop", e.node)
        return list(m.frame.exits)


def _build_instance(cls: type) -> object:
    """Build an object with the constants that ``__init__`` sets, without running it.

    Declines ``needs-instance`` for an ``__init__`` that does more than assign constants.
    """
    init = attribute(checked_class(cls), "__init__")
    reason = f"{cls.__name__}.__init__ does more than keep constants: pass an instance"
    plain = is_builtin_new(attribute(cls, "__new__"))
    if not plain or not isinstance(init, FunctionType) or inspect.isabstract(cls):
        raise DeclineSignal("needs-instance", reason)
    source = function_source(init)
    holder: object = object.__new__(cls)
    owner, *declared = parameters(init)
    known_defaults = {p.name: p.default for p in declared if p.default is not p.empty}
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    wanted = [p.name for p in declared if p.name not in known_defaults and p.kind not in kinds]
    if wanted:
        shown = f"{cls.__name__}({', '.join(f'{name}=...' for name in wanted)})"
        raise DeclineSignal(
            "needs-instance", f"pass an instance, {shown}, not the class", source.span(source.node)
        )
    for statement in source.node.body:
        match statement:
            case ast.Pass() | ast.Expr(ast.Constant()):
                continue
            case ast.Assign([ast.Attribute(ast.Name(name), field)], value) if name == owner.name:
                pass
            case ast.AnnAssign(ast.Attribute(ast.Name(name), field), _, ast.expr() as value) if (
                name == owner.name
            ):
                pass
            case _:
                raise DeclineSignal("needs-instance", reason, source.span(statement))
        match value:
            case ast.Constant(literal):
                object.__setattr__(holder, field, literal)
            case ast.Name(parameter) if parameter in known_defaults:
                object.__setattr__(holder, field, known_defaults[parameter])
            case ast.Dict() | ast.List() | ast.Tuple() | ast.Set() | ast.UnaryOp():
                try:
                    object.__setattr__(holder, field, ast.literal_eval(value))
                except (ValueError, TypeError):
                    raise DeclineSignal("needs-instance", reason, source.span(value)) from None
            case _:
                raise DeclineSignal("needs-instance", reason, source.span(statement))
    return holder
