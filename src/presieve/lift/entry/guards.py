# SPDX-License-Identifier: Apache-2.0
"""Trusted. The results of a scalar UDF before it comes to code that is not read.

``if code is None: return None`` decides for some rows, whatever follows. The statements are
executed one by one; if one is declined, nothing is known from there on, on that path alone. The
``known`` of the fold tells for which rows its result is correct.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.ir.fold import Fold, Output
from presieve.ir.ops import negate
from presieve.ir.sorts import BOOL, Option
from presieve.ir.terms import FALSE, TRUE, Lit, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.ir.wellformed import output_var
from presieve.lift.entry.attempt import LiftAttempt, collect_lifted
from presieve.lift.entry.function import parameter_values
from presieve.lift.entry.result_classes import classes_of_results, fits
from presieve.lift.entry.returns import Returns, outputs
from presieve.lift.execution.expressions import condition
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Exit, ExitKind, Flow, SymbolicMachine, merge_choices
from presieve.lift.execution.statements import execute, machine
from presieve.lift.forms import Lifted
from presieve.lift.python.names import parameters
from presieve.lift.python.source import FunctionSource
from presieve.lift.values.symbolic import NONE, ColumnV, Scalar, Value
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, is_none, ite, or_, some

_MOST = 60
"""Maximum number of statements that are executed, on all paths together."""


def lift_guards(
    attempt: LiftAttempt,
    function: FunctionType,
    source: FunctionSource,
    inputs: Mapping[str, Value],
) -> Lifted:
    """Lift the function as far as it is known; otherwise decline as its first such statement."""
    columns = attempt.values(single=True)
    m = machine(function, source, columns)
    _check_batches(m, attempt, function)
    m.begin(Stage.AFTER)
    guards = _Guards(m)
    guards.run(source.node.body, Flow(parameter_values(m, function, inputs)))
    returns = Returns(attempt.request.returns, False, False, False, attempt.row_form)
    exits = [e for e in m.frame.exits if e.kind is ExitKind.RETURN]
    known_outputs: list[tuple[Term, tuple[Output, ...]]] = []
    for e in exits:
        before = m.checkpoint()
        try:
            path_outputs, assumptions = outputs(m, [e], returns)
            m.columns.add_assumptions(assumptions)
            known_outputs.append((and_(*e.flow.conds), path_outputs))
        except DeclineSignal as signal:
            m.rollback(before)
            guards.declined = guards.declined or signal
    merged, is_known = _merge_known(known_outputs)
    raises, roots = m.join_raise_conditions(), (is_known, *(o.term for o in merged))
    if not merged or any(v.scope is not Scope.KEY for v in variables(*roots, raises)):
        raise guards.declined or m.decline("early-return", "nothing is returned", source.node)
    span = source.span(source.node)
    name = source.node.name
    fold = Fold(name, columns.columns(), columns.keys(), (), merged, FALSE, raises, span)
    return replace(collect_lifted(columns, fold, source.text), known=is_known)


def _check_batches(m: SymbolicMachine, attempt: LiftAttempt, function: FunctionType) -> None:
    """Decline if the other rows of a batch may affect how a result is converted. Arrow takes the
    results of a batch as values of the declared type; if one of them is not, it first converts all
    of them to something else (``worker.py``, ``pa.array(converted).cast``): all of them have to be
    of the type's own class. Strings are made of results one by one before that, in structs, too; of
    other fields of structs nothing is known.
    """
    form, returns = attempt.row_form, attempt.request.returns
    if not form.arrow or all(c.type == "string" for c in returns):
        return
    schema = {c.name: c for c in attempt.request.schema}
    names = (p.name for p in parameters(function))
    inputs = [(n, schema[c]) for n, c in zip(names, form.columns, strict=False)]
    is_struct = len(returns) > 1
    if is_struct or not fits(classes_of_results(m.source.node, inputs, m.names), returns[0]):
        reason = "with Arrow, what is not read might decide how the results of other rows come"
        raise DeclineSignal("return-type", reason)


def add_known_flag(guards: Lifted, name: str) -> tuple[Lifted, Var]:
    """Add an output that tells whether the result is known; return its variable as well."""
    return _add_flag(guards, f"{name} is known", guards.known)


def add_row_flag(lifted: Lifted, name: str) -> tuple[Lifted, Var]:
    """Add an output that tells whether a row is given at all; return its variable as well."""
    return _add_flag(lifted, f"{name} gives the row", lifted.kept)


def _add_flag(lifted: Lifted, name: str, condition: Term) -> tuple[Lifted, Var]:
    flag = Output(name, Option(BOOL), "boolean", some(condition))
    fold = replace(lifted.fold, outputs=(*lifted.fold.outputs, flag))
    return replace(lifted, fold=fold), output_var(flag.name, flag.sort)


def _merge_known(
    known_outputs: list[tuple[Term, tuple[Output, ...]]],
) -> tuple[tuple[Output, ...], Term]:
    """Return the outputs where they are known, and the condition under which they are known."""
    reached = [condition for condition, _ in known_outputs]
    by_column = zip(*(path_outputs for _, path_outputs in known_outputs), strict=True)
    merged = (
        replace(column[0], term=merge_choices(reached[:-1], [o.term for o in column], ite))
        for column in by_column
    )
    return tuple(merged), or_(*reached)


class _Guards:
    """The execution as far as it goes. ``declined`` is why it first ends. ``caught`` are the
    statements whose errors some handler catches: if they may raise, they are not read.
    """

    def __init__(self, m: SymbolicMachine) -> None:
        self._m = m
        self._budget = _MOST
        self._caught: set[ast.AST] = set()
        self.declined: DeclineSignal | None = None

    def run(self, body: list[ast.stmt], flow: Flow) -> None:
        """Execute statements on a path, and return None at their end."""
        self._block(body, flow)
        if not flow.ended:
            self._m.frame.exits += (Exit(ExitKind.RETURN, flow, NONE, body[-1]),)

    def _block(self, body: list[ast.stmt], flow: Flow) -> None:
        for number, statement in enumerate(body):
            if flow.ended:
                return
            self._budget -= 1
            if self._try_execute(statement, flow):
                continue
            later_statements = body[number + 1 :]
            if self._budget > _MOST // 2:
                self._run_with_none(statement, later_statements, flow)
            if isinstance(statement, ast.Try) and not statement.finalbody:
                inside = [*statement.body, *statement.orelse]
                self._caught |= {n for part in inside for n in ast.walk(part)}
                self._block([*inside, *later_statements], flow)
                return
            self._run_branches(self._simpler(statement), later_statements, flow)
            flow.ended = True
            return

    def _run_with_none(
        self, statement: ast.stmt, later_statements: list[ast.stmt], flow: Flow
    ) -> None:
        """Run a statement that is not read for the rows where a parameter that it looks at is None,
        for which more is known. The path goes on without these rows.
        """
        m = self._m
        loaded = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
        for name in dict.fromkeys(n.id for n in loaded if isinstance(flow.env.get(n.id), ColumnV)):
            before, start = m.checkpoint(), flow.branch(TRUE)
            try:
                value = m.force(flow.env[name], flow)
            except DeclineSignal:
                m.rollback(before)
                flow.become(start)
                continue
            absent = flow.decide(is_none(value.term)) if isinstance(value, Scalar) else TRUE
            if isinstance(absent, Lit):
                continue
            side = flow.branch(absent)
            side.env[name] = NONE
            self._block([statement, *later_statements], side)
            if not side.ended:
                m.frame.exits += (Exit(ExitKind.RETURN, side, NONE, statement),)
            flow.conds = (*flow.conds, negate(absent))
            flow.learn(negate(absent))

    def _simpler(self, statement: ast.stmt) -> ast.stmt:
        simpler = _simpler(statement)
        if statement in self._caught:
            self._caught |= set(ast.walk(simpler))
        return simpler

    def _try_execute(self, statement: ast.stmt, flow: Flow) -> bool:
        if self._budget <= 0:
            return False
        m = self._m
        before, start, raised = m.checkpoint(), flow.branch(TRUE), m.join_raise_conditions()
        try:
            execute(m, [statement], flow)
            self._check_caught(statement, raised)
        except DeclineSignal as signal:
            m.rollback(before)
            flow.become(start)
            self.declined = self.declined or signal
            return False
        return True

    def _check_caught(self, statement: ast.stmt, raised: Term) -> None:
        m = self._m
        if statement in self._caught and m.join_raise_conditions() != raised:
            reason = "an error that is caught is not modelled"
            raise m.decline("unsupported-statement", reason, statement)

    def _run_branches(
        self, statement: ast.stmt, later_statements: list[ast.stmt], flow: Flow
    ) -> None:
        """Run the branches of a statement that is not read as a whole, as far as they are known."""
        if not isinstance(statement, ast.If) or self._budget <= 0:
            return
        m = self._m
        before, start, raised = m.checkpoint(), flow.branch(TRUE), m.join_raise_conditions()
        try:
            with m.at(statement):
                chosen = condition(m, statement.test, flow)
                self._check_caught(statement, raised)
        except DeclineSignal:
            m.rollback(before)
            flow.become(start)
            simpler = self._simpler(statement)
            if simpler is not statement:
                self._run_branches(simpler, later_statements, flow)
            return
        sides = ((chosen, statement.body), (negate(chosen), statement.orelse))
        for side_condition, block in sides:
            if side_condition == FALSE or flow.ended:
                continue
            side = flow.branch(TRUE if isinstance(side_condition, Lit) else side_condition)
            self._block([*block, *later_statements], side)
            if not side.ended:
                m.frame.exits += (Exit(ExitKind.RETURN, side, NONE, statement),)


def _simpler(statement: ast.stmt) -> ast.stmt:
    """Split a statement into a branch on the first part of its condition, if it has one."""
    match statement:
        case ast.If(ast.BoolOp(op, [first, *others]), body, orelse):
            inner: ast.stmt = ast.If(_join_operands(op, others), body, orelse)
            sides = (body, [inner]) if isinstance(op, ast.Or) else ([inner], orelse)
        case ast.Return(ast.IfExp(first, then_value, else_value)):
            sides = ([_return_of(then_value)], [_return_of(else_value)])
        case ast.Return(ast.BoolOp(op, [first, *others])):
            inner, shortcut = _return_of(_join_operands(op, others)), _return_of(first)
            sides = ([shortcut], [inner]) if isinstance(op, ast.Or) else ([inner], [shortcut])
        case _:
            return statement
    branch = ast.If(first, *sides)
    for node in ast.walk(branch):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, statement)
    return branch


def _join_operands(op: ast.boolop, operands: list[ast.expr]) -> ast.expr:
    if len(operands) == 1:
        return operands[0]
    return ast.copy_location(ast.BoolOp(op, operands), operands[0])


def _return_of(value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Return(value), value)
