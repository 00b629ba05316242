# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that loop over their group: code before, one loop, code after, one result."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType

from presieve.ir.fold import Field, Fold
from presieve.ir.terms import FALSE, TRUE, Term
from presieve.lift.entry.returns import Returns, outputs, row_condition, split_by_rows
from presieve.lift.execution import syntax_with_holes
from presieve.lift.execution.batch_loop import rows_loop
from presieve.lift.execution.heap import boxed_variables, frozen_variables
from presieve.lift.execution.loop_iterables import loop_variable
from presieve.lift.execution.row_loop import (
    Loop,
    check_fields,
    count_rows,
    live_fields,
    merge_exits,
    run_loop,
)
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Exit, ExitKind, Flow, SymbolicMachine
from presieve.lift.execution.statements import assigned_names, bind, execute, machine
from presieve.lift.python.names import as_constant, own_names, parameters
from presieve.lift.python.source import FunctionSource
from presieve.lift.values.columns import LiftedColumns
from presieve.lift.values.symbolic import NONE, Unbound, Value, holds_objects
from presieve.semantics.smart_constructors import any_value, ite, or_


def lift_function(
    function: FunctionType,
    source: FunctionSource,
    inputs: Mapping[str, Value],
    columns: LiftedColumns,
    returns: Returns,
) -> Fold:
    """Return the fold of a function of the group. ``inputs``: the parameters that Spark fills."""
    m = machine(function, source, columns)
    body = source.node.body
    # A function of single values has no loop over rows.
    loops = [i for i, s in enumerate(body) if isinstance(s, ast.For) and not columns.single]
    # Without a loop, all code is executed after it, when the number of rows is known.
    at = loops[0] if loops else 0
    flow = Flow(parameter_values(m, function, inputs))
    execute(m, body[:at], flow)
    if m.frame.exits:
        raise m.decline(
            "early-return", "the function returns before its loop", m.frame.exits[0].node
        )
    if flow.ended:
        raise m.decline("always-raises", "the function raises for every group", source.node)
    before = m.join_raise_conditions()
    node = body[at] if loops else None
    loop = _loop(m, node, flow) if isinstance(node, ast.For) else Loop((), FALSE, {})
    m.begin(Stage.AFTER, before)
    m.set_fields((*loop.fields, count_rows()))
    # After the loop, the variables that it assigns may not have a value.
    assigned = assigned_names(body[at : at + 1] if loops else [])
    env = {**flow.env, **{n: Unbound() for n in assigned}, **loop.after}
    after = Flow(env, (), flow.facts, heap=dict(flow.heap))
    boxed_variables(m, after)
    execute(m, body[at + 1 :] if loops else body, after)
    exits = [e for e in m.frame.exits if e.kind is ExitKind.RETURN]
    if not after.ended:
        exits.append(Exit(ExitKind.RETURN, after, NONE, source.node.body[-1]))
    return build_fold(m, [p for e in exits for p in split_by_rows(e)], loop, before, returns)


def parameter_values(
    m: SymbolicMachine, function: FunctionType, inputs: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the variables at the start: parameters, and own variables without value."""
    env: dict[str, Value] = {n: Unbound() for n in own_names(function)}
    for p in parameters(function):
        if p.name in inputs:
            env[p.name] = inputs[p.name]
        elif p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise m.decline("unknown-columns", "parameters with * or **", m.source.node)
        elif p.default is not p.empty:
            env[p.name] = as_constant(p.default, p.name, m.columns.zone)
        else:
            raise m.decline("unknown-columns", f"no column for parameter {p.name}", m.source.node)
    return env


def _loop(m: SymbolicMachine, node: ast.For, flow: Flow) -> Loop:
    if syntax_with_holes.passes_over(m, node, flow):
        return Loop((), FALSE, {n: flow.env[n] for n in assigned_names([node]) if n in flow.env})
    with syntax_with_holes.loop(m, node):
        return _read_loop(m, node, flow)


def _read_loop(m: SymbolicMachine, node: ast.For, flow: Flow) -> Loop:
    if node.orelse:
        raise m.decline("unsupported-statement", "for with else", node)
    node = rows_loop(m, node, flow)
    with m.at(node):
        row = loop_variable(m, node.iter, flow)
    assigned = assigned_names([node])
    # A name that is not a variable of the function belongs to a comprehension or nested function.
    live_names = [n for n in assigned if n in flow.env]
    contents = frozen_variables(m, flow, node)
    live_names += [n for n, v in flow.env.items() if holds_objects(v) and _may_change(node, n)]
    names = [n for n in dict.fromkeys(live_names) if not isinstance(flow.env[n], Unbound)]
    initial = {n: contents[n] for n in names}
    fresh: dict[str, Value] = {n: Unbound() for n in assigned}

    def step(start: Mapping[str, Value]) -> tuple[Mapping[str, Value], Term]:
        m.begin(Stage.LOOP)
        path = Flow({**flow.env, **fresh, **start}, (), flow.facts, heap=dict(flow.heap))
        boxed_variables(m, path)
        with m.at(node.target):
            bind(m, node.target, row, path)
        execute(m, node.body, path)
        for e in m.frame.exits:
            if e.kind is ExitKind.RETURN:
                raise m.decline("early-exit", "the function returns from inside its loop", e.node)
        env = merge_exits(m, m.frame.exits, path)
        # Facts on the path to the end of the body do not hold on the other paths.
        ends = Flow({}, (), flow.facts)
        return {n: m.force(env[n], ends) for n in initial}, m.join_raise_conditions()

    with m.at(node):
        return run_loop(initial, step, component_names(m.source.node))


def _may_change(node: ast.For, name: str) -> bool:
    """Return whether a loop does more with an object than test whether it holds something."""
    membership_ids = {
        id(c)
        for n in ast.walk(node)
        if isinstance(n, ast.Compare) and all(isinstance(o, ast.In | ast.NotIn) for o in n.ops)
        for c in n.comparators
    }
    return any(
        isinstance(n, ast.Name) and n.id == name and id(n) not in membership_ids
        for n in ast.walk(node)
    )


def component_names(node: ast.AST) -> dict[str, str]:
    """Return names for the components of tuples, from code like ``first, second = best``."""
    names: dict[str, str] = {}
    for n in ast.walk(node):
        match n:
            case ast.Assign([ast.Tuple(targets)], ast.Name(name)):
                for i, target in enumerate(targets):
                    if isinstance(target, ast.Name):
                        names.setdefault(f"{name}.{i}", target.id)
    return names


def build_fold(
    m: SymbolicMachine, exits: list[Exit], loop: Loop, before: Term, returns: Returns
) -> Fold:
    """Build the fold from its loop and the paths that return. ``before``: raises before it."""
    if not exits:
        raise m.decline(
            "always-raises", "every path of the function raises an error", m.source.node
        )
    fields = m.state.fields or (*loop.fields, count_rows())
    m.set_fields(fields)
    output_columns, assumptions = outputs(m, exits, returns)
    m.columns.add_assumptions(assumptions)
    kept = m.columns.recorded.kept = row_condition(exits)
    step_raises, finish_raises = or_(before, loop.raises), m.join_raise_conditions()
    roots = (kept, step_raises, finish_raises, *(o.term for o in output_columns))
    with m.at(m.source.node):
        check_fields([f.name for f in fields], *roots)
    live = tuple(_guard_initial_value(f, before) for f in live_fields(fields, roots))
    return Fold(
        m.source.node.name,
        m.columns.columns(),
        m.columns.keys(),
        live,
        output_columns,
        step_raises,
        finish_raises,
        m.source.span(m.source.node),
    )


def _guard_initial_value(f: Field, before: Term) -> Field:
    """Replace the initial value where the code before the loop raises: no result is used."""
    if before in (FALSE, TRUE):
        return f
    return Field(f.name, f.sort, ite(before, any_value(f.sort), f.init), f.step)
