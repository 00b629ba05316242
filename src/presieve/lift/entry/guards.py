"""Trusted. What a scalar UDF returns before it comes to something that is not read.

``if code is None: return None`` decides for some rows, whatever stands after it. The statements are
executed one by one; where one is declined, nothing is known from there on, on that path alone. Of
the fold that comes out, ``known`` says for which rows the result is the one that it gives.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.ir.fold import Fold, Output
from presieve.ir.ops import negate
from presieve.ir.sorts import BOOL, Option
from presieve.ir.terms import FALSE, TRUE, Lit, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.ir.wellformed import output_var
from presieve.lift.entry.attempt import Attempt, lifted
from presieve.lift.entry.function import parameter_values
from presieve.lift.entry.result_classes import classes_of_results, fits
from presieve.lift.entry.returns import Returns, outputs
from presieve.lift.execution.expressions import condition
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Exit, ExitKind, Flow, Machine
from presieve.lift.execution.statements import execute, machine
from presieve.lift.forms import Lifted
from presieve.lift.python.names import parameters
from presieve.lift.python.source import Source
from presieve.lift.values.symbolic import NONE, Value
from presieve.semantics.build import and_, ite, or_, some

_MOST = 60
"""Statements that are executed, on all paths together."""


def lift_guards(
    attempt: Attempt, function: FunctionType, source: Source, inputs: Mapping[str, Value]
) -> Lifted:
    """The function as far as it is known. Declines as the statement does that is met first, where
    nothing is known.
    """
    columns = attempt.values(single=True)
    m = machine(function, source, columns)
    _check_batches(m, attempt, function)
    m.begin(Stage.AFTER)
    guards = _Guards(m)
    guards.run(source.node.body, Flow(parameter_values(m, function, inputs)))
    returns = Returns(attempt.request.returns, False, False, False, attempt.row_form)
    exits = [e for e in m.frame.exits if e.kind is ExitKind.RETURN]
    known: list[tuple[Term, Output]] = []
    for e in exits:
        before = m.checkpoint()
        try:
            (found,), assumptions = outputs(m, [e], returns)
            m.columns.add_assumptions(assumptions)
            known.append((and_(*e.flow.conds), found))
        except DeclineSignal as signal:
            m.rollback(before)
            guards.declined = guards.declined or signal
    term, sure = _merged(known)
    raises = m.raised()
    if term is None or any(v.scope is not Scope.KEY for v in variables(term, sure, raises)):
        raise guards.declined or m.decline("early-return", "nothing is returned", source.node)
    column = attempt.request.returns[0]
    made = Output(column.name, term.sort, column.type, term, returns.checked)
    span = source.span(source.node)
    name = source.node.name
    fold = Fold(name, columns.columns(), columns.keys(), (), (made,), FALSE, raises, span)
    return replace(lifted(columns, fold, source.text), known=sure)


def _check_batches(m: Machine, attempt: Attempt, function: FunctionType) -> None:
    """Decline where the other rows of a batch may matter to what becomes of a result. Arrow takes
    the results of a batch as values of the declared type and, where one of them is none, makes
    something else of all of them first (``worker.py``, ``pa.array(converted).cast``): all of them
    have to be of the type's own class. Texts are made of results one by one before that.
    """
    form, column = attempt.row_form, attempt.request.returns[0]
    if not form.arrow or column.type == "string":
        return
    schema = {c.name: c for c in attempt.request.schema}
    names = (p.name for p in parameters(function))
    inputs = [(n, schema[c]) for n, c in zip(names, form.columns, strict=False)]
    if not fits(classes_of_results(m.source.node, inputs, m.names), column):
        reason = "with Arrow, what is not read might decide how the results of other rows come"
        raise DeclineSignal("return-type", reason)


def with_known(guards: Lifted, name: str) -> tuple[Lifted, Var]:
    """The same with one more output, which says whether the result is known, and its variable."""
    made = Output(f"{name} is known", Option(BOOL), "boolean", some(guards.known))
    fold = replace(guards.fold, outputs=(*guards.fold.outputs, made))
    return replace(guards, fold=fold), output_var(made.name, made.sort)


def _merged(known: list[tuple[Term, Output]]) -> tuple[Term | None, Term]:
    """The result, where it is known, and where that is."""
    if not known:
        return None, FALSE
    merged = known[-1][1].term
    for here, output in reversed(known[:-1]):
        merged = ite(here, output.term, merged)
    return merged, or_(*(here for here, _ in known))


class _Guards:
    """The execution as far as it goes. ``declined`` is why it ends first. ``caught`` are the
    statements whose errors somebody catches: what may raise there is not read.
    """

    def __init__(self, m: Machine) -> None:
        self._m = m
        self._left = _MOST
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
            self._left -= 1
            if self._executed(statement, flow):
                continue
            rest = body[number + 1 :]
            if isinstance(statement, ast.Try) and not statement.finalbody:
                inside = [*statement.body, *statement.orelse]
                self._caught |= {n for part in inside for n in ast.walk(part)}
                self._block([*inside, *rest], flow)
                return
            self._parts(self._simpler(statement), rest, flow)
            flow.ended = True
            return

    def _simpler(self, statement: ast.stmt) -> ast.stmt:
        made = _simpler(statement)
        if statement in self._caught:
            self._caught |= set(ast.walk(made))
        return made

    def _executed(self, statement: ast.stmt, flow: Flow) -> bool:
        if self._left <= 0:
            return False
        m = self._m
        before, start, raised = m.checkpoint(), flow.branch(TRUE), m.raised()
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
        if statement in self._caught and m.raised() != raised:
            reason = "an error that is caught is not modelled"
            raise m.decline("unsupported-statement", reason, statement)

    def _parts(self, statement: ast.stmt, rest: list[ast.stmt], flow: Flow) -> None:
        """What is known of the branches of a statement that is not read as a whole."""
        if not isinstance(statement, ast.If) or self._left <= 0:
            return
        m = self._m
        before, start, raised = m.checkpoint(), flow.branch(TRUE), m.raised()
        try:
            with m.at(statement):
                chosen = condition(m, statement.test, flow)
                self._check_caught(statement, raised)
        except DeclineSignal:
            m.rollback(before)
            flow.become(start)
            simpler = self._simpler(statement)
            if simpler is not statement:
                self._parts(simpler, rest, flow)
            return
        sides = ((chosen, statement.body), (negate(chosen), statement.orelse))
        for here, block in sides:
            if here == FALSE or flow.ended:
                continue
            side = flow.branch(TRUE if isinstance(here, Lit) else here)
            self._block([*block, *rest], side)
            if not side.ended:
                m.frame.exits += (Exit(ExitKind.RETURN, side, NONE, statement),)


def _simpler(statement: ast.stmt) -> ast.stmt:
    """The same as a branch on the first part of its condition, where it has one."""
    match statement:
        case ast.If(ast.BoolOp(op, [first, *others]), body, orelse):
            inner: ast.stmt = ast.If(_joined(op, others), body, orelse)
            sides = (body, [inner]) if isinstance(op, ast.Or) else ([inner], orelse)
        case ast.Return(ast.IfExp(first, one, other)):
            sides = ([_returned(one)], [_returned(other)])
        case ast.Return(ast.BoolOp(op, [first, *others])):
            inner, done = _returned(_joined(op, others)), _returned(first)
            sides = ([done], [inner]) if isinstance(op, ast.Or) else ([inner], [done])
        case _:
            return statement
    made = ast.If(first, *sides)
    for node in ast.walk(made):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, statement)
    return made


def _joined(op: ast.boolop, operands: list[ast.expr]) -> ast.expr:
    if len(operands) == 1:
        return operands[0]
    return ast.copy_location(ast.BoolOp(op, operands), operands[0])


def _returned(value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Return(value), value)
