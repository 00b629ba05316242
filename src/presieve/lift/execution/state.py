# SPDX-License-Identifier: Apache-2.0
"""Trusted. The state of a symbolic execution: variables, path conditions, known facts, errors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from presieve.errors import DeclineSignal, Span
from presieve.ir.fold import Field
from presieve.ir.ops import negate
from presieve.ir.sorts import FLOAT, INT, Option
from presieve.ir.terms import FALSE, TRUE, App, Op, Scope, Term, Var, float_lit, int_lit
from presieve.lift.execution.stage import Stage
from presieve.lift.python.names import OuterNames
from presieve.lift.python.source import FunctionSource
from presieve.lift.values.checkpoint import Checkpoint, Restorable
from presieve.lift.values.columns import LiftedColumns
from presieve.lift.values.join_values import as_number, merge, without_length
from presieve.lift.values.ranges import Ranges, field_ranges
from presieve.lift.values.symbolic import (
    NONE,
    BitsV,
    Clash,
    ColumnV,
    IndexV,
    Known,
    NoneV,
    OptTupleV,
    RefV,
    Scalar,
    SizeV,
    Traits,
    TupleV,
    Unbound,
    Value,
    describe,
    without_tag,
)
from presieve.lift.values.whole_columns import NullableV
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, any_value, get, is_none, ite, or_

SIZE_FIELD = "len()"
"""Name of the field that counts rows, if the function uses their number."""


@dataclass(slots=True)
class Flow:
    """One control-flow path: its variables, its conditions, and the facts that hold on it.

    ``conds`` are in order of evaluation; ``facts`` are the terms known to be true: besides the
    conditions, that earlier operations have not raised.
    """

    env: dict[str, Value]
    conds: tuple[Term, ...] = ()
    facts: frozenset[Term] = frozenset()
    ended: bool = False
    heap: dict[int, Value] = field(default_factory=dict)
    """The contents of the lists, dicts and sets that variables refer to."""

    def branch(self, condition: Term) -> Flow:
        """Return a copy of this path that is taken where the condition holds."""
        conds = self.conds if condition == TRUE else (*self.conds, condition)
        facts = self.facts | _facts(condition)
        return Flow(dict(self.env), conds, facts, heap=dict(self.heap))

    def become(self, path: Flow) -> None:
        """Continue as the other path."""
        self.env, self.conds, self.facts = path.env, path.conds, path.facts
        self.ended, self.heap = path.ended, path.heap

    def dereference(self, value: Value) -> Value:
        """Return the contents of the object that a value refers to; a named tuple as a tuple."""
        return self.heap[value.number] if isinstance(value, RefV) else without_tag(value)

    def learn(self, condition: Term) -> None:
        """Record that the condition holds from here on: an operation would have raised."""
        self.facts |= _facts(condition)

    def decide(self, condition: Term) -> Term:
        """Return the condition, or TRUE or FALSE if the facts decide it."""
        if condition in self.facts:
            return TRUE
        return FALSE if negate(condition) in self.facts else condition


def _facts(condition: Term) -> frozenset[Term]:
    """Return the condition and what follows from its shape."""
    match condition:
        case App(Op.AND, args):
            parts = args
        case App(Op.NOT, (App(Op.OR, args),)):
            parts = tuple(negate(a) for a in args)
        case _:
            return frozenset((condition,))
    return frozenset((condition,)).union(*(_facts(p) for p in parts))


class ExitKind(Enum):
    """How control leaves a block."""

    CONTINUE = "continue"
    BREAK = "break"
    RETURN = "return"


class Exit(Struct, frozen=True):
    """A path that has left the block, with its variables or the value that it returns."""

    kind: ExitKind
    flow: Flow
    value: Value
    node: ast.stmt


class Interpreter(Protocol):
    """Executes syntax. Models of functions and containers ask it for the meaning of the syntax
    inside them, and know nothing else of it.
    """

    def evaluate(self, m: SymbolicMachine, node: ast.expr, flow: Flow, /) -> Value:
        """Return the value of an expression on a path."""
        ...

    def condition(self, m: SymbolicMachine, node: ast.expr, flow: Flow, /) -> Term:
        """Return the truth of an expression on a path."""
        ...

    def execute(self, m: SymbolicMachine, body: list[ast.stmt], flow: Flow, /) -> None:
        """Execute statements on a path, which is changed in place."""
        ...

    def bind(self, m: SymbolicMachine, target: ast.expr, value: Value, flow: Flow, /) -> None:
        """Assign a value to a target."""
        ...


class RaisedError(Struct, frozen=True):
    """Python raises where the condition holds. ``error`` is the class of the error, if it is known
    for sure; ``path`` is the path on which control then stands, inside ``try``.
    """

    condition: Term
    error: type[BaseException] | None = None
    path: Flow | None = None


@dataclass(slots=True)
class ExecutionState(Restorable):
    """Effects of statements besides their path: one state for a function and everything that it
    calls.

    ``raises`` says when Python raises, in order of evaluation: an earlier condition shields later
    ones, whose terms may have no value there.
    """

    ranges: Ranges
    """Bounds of the columns, and of the fields once they are known."""
    stage: Stage = Stage.BEFORE
    raises: tuple[RaisedError, ...] = ()
    tries: tuple[CallFrame, ...] = ()
    """The frames whose ``try`` is being executed, from the outermost."""
    objects: int = 1
    """The last number of an object; the table that Spark passes is the first one."""
    fields: tuple[Field, ...] = ()
    """The fields of the fold, including those of reductions. Known after the loop."""
    named: Mapping[str, object] = field(default_factory=dict)
    """The reduction of each field that a reduction adds."""
    keys: Mapping[Term, str | None] = field(default_factory=dict)
    """Constants that keys of dicts are on this path, as in ``dynamic_keys``."""


@dataclass(slots=True)
class CallFrame(Restorable):
    """State of one function while it is executed."""

    exits: tuple[Exit, ...] = ()
    loops: int = 0
    """Number of unrolled loops around the statement."""
    here: Flow | None = None
    """The path of the current statement. Its expressions may be evaluated on branches."""
    place: ast.AST | None = None
    """The innermost statement or expression that is being executed."""

    def take_exits(self) -> tuple[Exit, ...]:
        """Take the exits so far, which belong to the caller from here on."""
        exits, self.exits = self.exits, ()
        return exits


@dataclass(frozen=True, slots=True)
class SymbolicMachine:
    """One function's execution. All that changes meanwhile is in the variables of its paths
    (:class:`Flow`), and in records that are rolled back together: ``state``, ``frame`` and those of
    ``columns``.
    """

    source: FunctionSource
    names: OuterNames
    columns: LiftedColumns
    interpreter: Interpreter
    state: ExecutionState
    frame: CallFrame = field(default_factory=CallFrame)
    depth: int = 0
    """Number of calls of the user's functions around this one."""
    outer: int = 0
    """The number of the last object from before the call: callers may hold it."""

    def enter_function(self, source: FunctionSource, names: OuterNames) -> SymbolicMachine:
        """Return the execution of a function that this one calls. Its effects are visible here."""
        depth, outer = self.depth + 1, self.state.objects
        return replace(
            self, source=source, names=names, frame=CallFrame(), depth=depth, outer=outer
        )

    def _records(self) -> tuple[Restorable, ...]:
        return self.state, self.frame, self.columns.recorded, self.columns.nulls

    def checkpoint(self) -> tuple[Checkpoint, ...]:
        """Return everything that statements change, except their path."""
        return tuple(r.checkpoint() for r in self._records())

    def rollback(self, saved: tuple[Checkpoint, ...]) -> None:
        """Return to the checkpoint. The statements that are executed instead record their own
        assumptions, reads and errors.
        """
        for record, values in zip(self._records(), saved, strict=True):
            record.rollback(values)

    def begin(self, stage: Stage, *raises: Term) -> None:
        """Start a part of the fold, without exits. ``raises``: when it raised before."""
        self.state.stage, self.frame.exits = stage, ()
        self.state.raises = tuple(RaisedError(r) for r in raises)

    @property
    def ranges(self) -> Ranges:
        """Bounds of integers and decimals."""
        return self.state.ranges

    def new_object(self) -> int:
        """Return the number of a new object."""
        self.state.objects += 1
        return self.state.objects

    def evaluate(self, node: ast.expr, flow: Flow) -> Value:
        """Return the value of an expression on a path."""
        return self.interpreter.evaluate(self, node, flow)

    def condition(self, node: ast.expr, flow: Flow) -> Term:
        """Return the truth of an expression on a path."""
        return self.interpreter.condition(self, node, flow)

    def execute(self, body: list[ast.stmt], flow: Flow) -> None:
        """Execute statements on a path, which is changed in place."""
        self.interpreter.execute(self, body, flow)

    def bind(self, target: ast.expr, value: Value, flow: Flow) -> None:
        """Assign a value to a target."""
        self.interpreter.bind(self, target, value, flow)

    @property
    def node(self) -> ast.AST:
        """The innermost statement or expression that is being executed."""
        return self.frame.place or self.source.node

    @property
    def span(self) -> Span:
        """The position of that statement or expression."""
        return self.source.span(self.node)

    def decline(self, code: str, reason: str, node: ast.AST) -> DeclineSignal:
        """Return the signal that stops the whole lifting at a node."""
        return DeclineSignal(code, reason, self.source.span(node))

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Execute a node: declines inside get its place, unless they have a place already."""
        outer, self.frame.place = self.frame.place, node
        try:
            yield
        except DeclineSignal as signal:
            declined = signal.declined
            if declined.span is not None:
                raise
            raise signal.saying(declined.reason, self.source.span(node)) from signal
        finally:
            self.frame.place = outer

    def fail(self, flow: Flow, cause: Term, error: type[BaseException] | None = None) -> None:
        """Record that Python raises on this path where ``cause`` holds. If ``error`` is given, it
        is of exactly this class, and is raised only there.
        """
        cause = flow.decide(cause)
        if cause == FALSE:
            return
        condition = and_(*flow.conds, cause)
        self.state.raises += (RaisedError(condition, error, self._handler_path(flow, cause)),)
        flow.learn(negate(cause))
        flow.ended = flow.ended or cause == TRUE

    def _handler_path(self, flow: Flow, cause: Term) -> Flow | None:
        """Return a handler's path, with the variables of the function that has the ``try``."""
        if not self.state.tries:
            return None
        statement_path = self.state.tries[-1].here
        assert statement_path is not None
        path = flow.branch(cause)
        path.env = dict(statement_path.env)
        return path

    def join_raise_conditions(self) -> Term:
        """Return the condition under which the code executed so far raises."""
        return or_(*(r.condition for r in self.state.raises))

    def reduction_name(self, wanted: str, key: object) -> str:
        """Return a name for the field of a reduction: the same name for the same key."""
        name, number = wanted, 1
        while self.state.named.get(name, key) != key:
            number += 1
            name = f"{wanted}#{number}"
        self.state.named = {**self.state.named, name: key}
        return name

    def set_fields(self, fields: Sequence[Field]) -> None:
        """Set the fields of the fold so far."""
        self.state.fields = tuple(fields)
        self.state.ranges = field_ranges(self.state.fields, self.state.ranges)

    def add_field(self, new_field: Field) -> None:
        """Add one more field to the fold, unless it exists."""
        if all(f.name != new_field.name for f in self.state.fields):
            self.set_fields((*self.state.fields, new_field))

    def force(self, value: Value, flow: Flow) -> Value:
        """Return the value with columns read, and options narrowed by what is known here."""
        match value:
            case ColumnV(name):
                return self.force(self.columns.value(name), flow)
            case TupleV(items):
                return TupleV(tuple(self.force(v, flow) for v in items))
            case OptTupleV(present, items):
                decided = flow.decide(present)
                inner = tuple(self.force(v, flow) for v in items)
                if decided == TRUE:
                    return TupleV(inner)
                return NONE if decided == FALSE else OptTupleV(decided, items)
            case NullableV(term) if flow.decide(is_none(term)) == FALSE:
                return Scalar(get(term), Traits(numpy=True, wide=value.wide))
            case SizeV() if self.state.stage is Stage.AFTER:
                return Scalar(Var(Scope.ACC, SIZE_FIELD, INT))
            case Scalar(term, traits) if isinstance(term.sort, Option):
                absent = flow.decide(is_none(term))
                if absent == FALSE:
                    return Scalar(get(term), traits)
                return NONE if absent == TRUE else value
        return value

    def scalar(
        self, flow: Flow, value: Value, error: type[BaseException] | None = TypeError
    ) -> Scalar:
        """Return the value as a scalar that is not None; where it is None, Python raises ``error``.

        Declines ``unsupported-operation`` for everything that is not a scalar.
        """
        value = self.force(value, flow)
        if isinstance(value, SizeV):
            raise DeclineSignal("group-size", "the number of rows is not known here")
        if isinstance(value, IndexV):
            raise DeclineSignal("group-size", "a row's index depends on the other rows")
        if isinstance(value, Unbound):
            raise DeclineSignal("maybe-unbound", "a variable may not be assigned here")
        if isinstance(value, Known):
            kind = type(value.target).__name__
            reason = f"{value.name}, a {kind}, is not a plain number, string or date"
            raise DeclineSignal("unsupported-constant", reason)
        if isinstance(value, NoneV):
            self.fail(flow, TRUE, error)
            return Scalar(int_lit(0))
        if isinstance(value, BitsV):
            return as_number(value)
        value = without_length(value)
        if isinstance(value, NullableV) and (value.there or value.base == FLOAT):
            stand_in = float_lit(float("nan")) if value.base == FLOAT else any_value(value.base)
            term = ite(is_none(value.term), stand_in, get(value.term))
            return Scalar(term, Traits(maybe_nan=value.base == FLOAT, numpy=True, wide=value.wide))
        if not isinstance(value, Scalar):
            reason = f"not supported on {describe(flow.dereference(value))}"
            raise DeclineSignal("unsupported-operation", reason)
        self.fail(flow, is_none(value.term), error)
        return replace(value, term=get(value.term))


class ModelCall(NamedTuple):
    """A call of a known function or method on a path: its own name (``where`` of ``np.where``), and
    the values of its arguments.
    """

    m: SymbolicMachine
    flow: Flow
    name: str
    args: tuple[Value, ...]
    named: Mapping[str, Value]
    node: ast.Call

    @property
    def function_text(self) -> str:
        """The function as the source writes it."""
        return ast.unparse(self.node.func)

    def decline(self, code: str, reason: str) -> DeclineSignal:
        """Return the signal that stops the whole lifting at this call."""
        return self.m.decline(code, reason, self.node)


Sign = TypeVar("Sign", ast.operator, ast.cmpop)
Choice = TypeVar("Choice")


class BinaryOperation(NamedTuple, Generic[Sign]):
    """``left op right`` on a path."""

    m: SymbolicMachine
    flow: Flow
    op: Sign
    left: Value
    right: Value


Operation: TypeAlias = BinaryOperation[ast.operator]
Comparison: TypeAlias = BinaryOperation[ast.cmpop]


def join_flows(flow: Flow, condition: Term, then: Flow, otherwise: Flow) -> None:
    """Continue ``flow`` after an ``if`` whose branches ended in ``then`` and ``other``."""
    if then.ended or otherwise.ended:
        live = otherwise if then.ended else then
        flow.become(live)
        return
    flow.env = merge_envs(condition, then.env, otherwise.env)
    flow.heap = join_heaps(condition, then.heap, otherwise.heap)
    flow.facts = (then.facts & otherwise.facts) | flow.facts
    # A branch that some of its paths leave early continues under further conditions.
    start = len(flow.conds) + 1
    goes_on = ite(condition, and_(*then.conds[start:]), and_(*otherwise.conds[start:]))
    if goes_on != TRUE:
        flow.conds = (*flow.conds, goes_on)


def join_heaps(condition: Term, a: dict[int, Value], b: dict[int, Value]) -> dict[int, Value]:
    """Join the objects of two paths; an object of only one path is reached on that path only."""
    joined = {n: _merge(condition, a[n], b[n]) for n in sorted(a.keys() & b.keys())}
    return {**a, **b, **joined}


def merge_envs(condition: Term, a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    """Merge the variables of two paths; a variable that only one path assigns may be unbound."""
    names = dict.fromkeys((*a, *b))
    missing = Unbound()
    return {n: _merge(condition, a.get(n, missing), b.get(n, missing)) for n in names}


def _merge(condition: Term, a: Value, b: Value) -> Value:
    """Merge two values. Incompatible types matter only if the variable is read again."""
    try:
        return merge(condition, a, b)
    except DeclineSignal as signal:
        return Clash(signal.declined.reason)


def merge_choices(
    conditions: Sequence[Term],
    choices: Sequence[Choice],
    merge: Callable[[Term, Choice, Choice], Choice],
) -> Choice:
    """Merge the choices: each where its condition holds first, and the last elsewhere."""
    *earlier, merged = choices
    for condition, choice in zip(reversed(conditions), reversed(earlier), strict=True):
        merged = merge(condition, choice, merged)
    return merged


def path_conditions(paths: Sequence[Flow]) -> list[Term]:
    """Return when each path but the last is taken, if nothing has raised and no earlier path is
    taken.

    The paths are in order of their ends and exactly one is taken, so the last needs no condition.
    """
    conditions: list[Term] = []
    excluded: set[Term] = set()
    for path in paths[:-1]:
        condition = and_(*(c for c in path.conds if c not in excluded))
        conditions.append(condition)
        excluded.add(negate(condition))
    return conditions
