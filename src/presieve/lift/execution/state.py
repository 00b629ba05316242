"""Trusted. The state of a symbolic execution: variables, path conditions, known facts, errors."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from presieve.errors import DeclineSignal
from presieve.ir.fold import Field
from presieve.ir.ops import negate
from presieve.ir.sorts import FLOAT, INT, Option
from presieve.ir.terms import FALSE, TRUE, App, Op, Scope, Term, Var, float_lit, int_lit
from presieve.lift.execution.stage import Stage
from presieve.lift.python.names import Names
from presieve.lift.python.source import Source
from presieve.lift.values.columns import Columns
from presieve.lift.values.merge import as_number, merge, without_length
from presieve.lift.values.ranges import Ranges, field_ranges
from presieve.lift.values.restorable import Checkpoint, Restorable
from presieve.lift.values.symbolic import (
    NONE,
    BitsV,
    Clash,
    ColumnV,
    IndexV,
    Known,
    NoneV,
    NullableV,
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
from presieve.semantics.build import and_, default, get, is_none, ite, or_

SIZE_FIELD = "len()"
"""Name of the field that counts rows, where the function asks for their number."""


@dataclass(slots=True)
class Flow:
    """One control-flow path: variables, the conditions it stands under, and what holds on it.

    ``conds`` are in order of evaluation; ``facts`` are the terms known to be true, which besides
    the conditions include that earlier operations have not raised.
    """

    env: dict[str, Value]
    conds: tuple[Term, ...] = ()
    facts: frozenset[Term] = frozenset()
    ended: bool = False
    heap: dict[int, Value] = field(default_factory=dict)
    """The contents of the lists, dicts and sets that variables refer to."""

    def branch(self, condition: Term) -> Flow:
        """A copy of this path that is taken where the condition holds."""
        conds = self.conds if condition == TRUE else (*self.conds, condition)
        facts = self.facts | _facts(condition)
        return Flow(dict(self.env), conds, facts, heap=dict(self.heap))

    def become(self, other: Flow) -> None:
        """Go on as the other path does."""
        self.env, self.conds, self.facts = other.env, other.conds, other.facts
        self.ended, self.heap = other.ended, other.heap

    def opened(self, value: Value) -> Value:
        """The contents of the object that a value refers to; everything else as it is, but for
        named tuples, which are tuples.
        """
        return self.heap[value.number] if isinstance(value, RefV) else without_tag(value)

    def learn(self, condition: Term) -> None:
        """The condition holds from here on, because an operation would have raised otherwise."""
        self.facts |= _facts(condition)

    def decided(self, condition: Term) -> Term:
        """The condition, or TRUE or FALSE where the facts settle it."""
        if condition in self.facts:
            return TRUE
        return FALSE if negate(condition) in self.facts else condition


def _facts(condition: Term) -> frozenset[Term]:
    """The condition and what follows from its shape."""
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


@dataclass(frozen=True, slots=True)
class Exit:
    """A path that has left the block, with its variables or the value it returns."""

    kind: ExitKind
    flow: Flow
    value: Value
    node: ast.stmt


class Interpreter(Protocol):
    """What executes syntax: models of functions and containers ask it for the meaning of what
    stands inside of them, and know nothing else of it.
    """

    def evaluate(self, m: Machine, node: ast.expr, flow: Flow, /) -> Value:
        """The value of an expression on a path."""
        ...

    def condition(self, m: Machine, node: ast.expr, flow: Flow, /) -> Term:
        """The truth of an expression on a path."""
        ...

    def execute(self, m: Machine, body: list[ast.stmt], flow: Flow, /) -> None:
        """Execute statements on a path, which is changed in place."""
        ...

    def bind(self, m: Machine, target: ast.expr, value: Value, flow: Flow, /) -> None:
        """Assign a value to a target."""
        ...


@dataclass(frozen=True, slots=True)
class Raised:
    """Python raises where the condition holds. ``error`` is the class of what it raises, where that
    is known for sure; ``path`` is where control stands then, inside of ``try``.
    """

    condition: Term
    error: type[BaseException] | None = None
    path: Flow | None = None


@dataclass(slots=True)
class State(Restorable):
    """What statements leave behind besides their path: one for a function and all that it calls.

    ``raises`` says when Python raises, in order of evaluation: an earlier condition shields later
    ones, whose terms may have no value there.
    """

    ranges: Ranges
    """Bounds of the columns, and of the fields once they are known."""
    stage: Stage = Stage.BEFORE
    raises: tuple[Raised, ...] = ()
    tries: tuple[Frame, ...] = ()
    """Those whose ``try`` is executed, from the outermost."""
    objects: int = 1
    """The last number of an object; the table that Spark passes is the first one."""
    fields: tuple[Field, ...] = ()
    """The fields of the fold, those of reductions included. Known after the loop."""
    named: Mapping[str, object] = field(default_factory=dict)
    """What each field of a reduction reduces."""
    keys: Mapping[Term, str | None] = field(default_factory=dict)
    """Constants that keys of dicts are on this path, as in ``dynamic_keys``."""


@dataclass(slots=True)
class Frame(Restorable):
    """What is one function's own while it is executed."""

    exits: tuple[Exit, ...] = ()
    loops: int = 0
    """Loops around the statement that are written out."""
    here: Flow | None = None
    """The path of the statement that is executed. Its expressions may be evaluated on branches."""

    def take_exits(self) -> tuple[Exit, ...]:
        """The exits so far, which are the caller's from here on."""
        exits, self.exits = self.exits, ()
        return exits


@dataclass(frozen=True, slots=True)
class Machine:
    """One function's execution. All that changes meanwhile is in the variables of its paths
    (:class:`Flow`), and in records that go back together: ``state``, ``frame`` and those of
    ``columns``.
    """

    source: Source
    names: Names
    columns: Columns
    interpreter: Interpreter
    state: State
    frame: Frame = field(default_factory=Frame)
    depth: int = 0
    """Calls of the user's functions around this one."""
    outer: int = 0
    """The last object that was there before the call: callers may hold it."""

    def called(self, source: Source, names: Names) -> Machine:
        """The execution of a function that this one calls. What it leaves behind is seen here."""
        depth, outer = self.depth + 1, self.state.objects
        return replace(self, source=source, names=names, frame=Frame(), depth=depth, outer=outer)

    def _records(self) -> tuple[Restorable, ...]:
        return self.state, self.frame, self.columns.recorded, self.columns.nulls

    def checkpoint(self) -> tuple[Checkpoint, ...]:
        """All that statements change, but for their path."""
        return tuple(r.checkpoint() for r in self._records())

    def rollback(self, saved: tuple[Checkpoint, ...]) -> None:
        """Nothing has been executed since then. What is executed instead records anew what it
        assumes, reads and raises.
        """
        for record, values in zip(self._records(), saved, strict=True):
            record.rollback(values)

    def begin(self, stage: Stage, *raises: Term) -> None:
        """A part of the fold starts, with no way out yet. ``raises``: what has raised before."""
        self.state.stage, self.frame.exits = stage, ()
        self.state.raises = tuple(Raised(r) for r in raises)

    @property
    def ranges(self) -> Ranges:
        """Bounds of integers and decimals."""
        return self.state.ranges

    def new_object(self) -> int:
        """The number of an object that is made now."""
        self.state.objects += 1
        return self.state.objects

    def evaluate(self, node: ast.expr, flow: Flow) -> Value:
        """The value of an expression on a path."""
        return self.interpreter.evaluate(self, node, flow)

    def condition(self, node: ast.expr, flow: Flow) -> Term:
        """The truth of an expression on a path."""
        return self.interpreter.condition(self, node, flow)

    def execute(self, body: list[ast.stmt], flow: Flow) -> None:
        """Execute statements on a path, which is changed in place."""
        self.interpreter.execute(self, body, flow)

    def bind(self, target: ast.expr, value: Value, flow: Flow) -> None:
        """Assign a value to a target."""
        self.interpreter.bind(self, target, value, flow)

    def decline(self, code: str, reason: str, node: ast.AST) -> DeclineSignal:
        """What to raise in order to stop the whole lifting here."""
        return DeclineSignal(code, reason, self.source.span(node))

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Declining inside happens at this node, unless a place is known already."""
        try:
            yield
        except DeclineSignal as signal:
            declined = signal.declined
            if declined.span is not None:
                raise
            place = self.source.span(node)
            raise DeclineSignal(declined.code, declined.reason, place) from signal

    def fail(self, flow: Flow, cause: Term, error: type[BaseException] | None = None) -> None:
        """Python raises on this path where ``cause`` holds: an ``error`` of exactly this class,
        and there only, where one is given.
        """
        cause = flow.decided(cause)
        if cause == FALSE:
            return
        condition = and_(*flow.conds, cause)
        self.state.raises += (Raised(condition, error, self._caught(flow, cause)),)
        flow.learn(negate(cause))
        flow.ended = flow.ended or cause == TRUE

    def _caught(self, flow: Flow, cause: Term) -> Flow | None:
        """The path with which a handler goes on: its variables are those of the function whose
        ``try`` it is.
        """
        if not self.state.tries:
            return None
        here = self.state.tries[-1].here
        assert here is not None
        path = flow.branch(cause)
        path.env = dict(here.env)
        return path

    def raised(self) -> Term:
        """The condition under which what was executed so far raises."""
        return or_(*(r.condition for r in self.state.raises))

    def reduction_name(self, wanted: str, key: object) -> str:
        """A name for the field of a reduction: the same one for the same key."""
        name, number = wanted, 1
        while self.state.named.get(name, key) != key:
            number += 1
            name = f"{wanted}#{number}"
        self.state.named = {**self.state.named, name: key}
        return name

    def set_fields(self, fields: Sequence[Field]) -> None:
        """These are the fields of the fold so far."""
        self.state.fields = tuple(fields)
        self.state.ranges = field_ranges(self.state.fields, self.state.ranges)

    def add_field(self, made: Field) -> None:
        """One more field of the fold, unless it is there."""
        if all(f.name != made.name for f in self.state.fields):
            self.set_fields((*self.state.fields, made))

    def force(self, value: Value, flow: Flow) -> Value:
        """The value, with columns read and options narrowed by what is known on this path."""
        match value:
            case ColumnV(name):
                return self.force(self.columns.value(name), flow)
            case TupleV(items):
                return TupleV(tuple(self.force(v, flow) for v in items))
            case OptTupleV(present, items):
                decided = flow.decided(present)
                inner = tuple(self.force(v, flow) for v in items)
                if decided == TRUE:
                    return TupleV(inner)
                return NONE if decided == FALSE else OptTupleV(decided, items)
            case NullableV(term) if flow.decided(is_none(term)) == FALSE:
                return Scalar(get(term), Traits(numpy=True, wide=value.wide))
            case SizeV() if self.state.stage is Stage.AFTER:
                return Scalar(Var(Scope.ACC, SIZE_FIELD, INT))
            case Scalar(term, traits) if isinstance(term.sort, Option):
                absent = flow.decided(is_none(term))
                if absent == FALSE:
                    return Scalar(get(term), traits)
                return NONE if absent == TRUE else value
        return value

    def scalar(
        self,
        flow: Flow,
        value: Value,
        node: ast.AST,
        error: type[BaseException] | None = TypeError,
    ) -> Scalar:
        """The value as a scalar that is not None: an ``error`` in Python where it is None.

        Declines ``unsupported-operation`` for everything that is no scalar.
        """
        value = self.force(value, flow)
        if isinstance(value, SizeV):
            raise self.decline("group-size", "the number of rows is not known here", node)
        if isinstance(value, IndexV):
            raise self.decline("group-size", "a row's index depends on the other rows", node)
        if isinstance(value, Unbound):
            raise self.decline("maybe-unbound", "a variable may not be assigned here", node)
        if isinstance(value, Known):
            kind = type(value.target).__name__
            reason = f"{value.name}, a {kind}, is not a plain number, string or date"
            raise self.decline("unsupported-constant", reason, node)
        if isinstance(value, NoneV):
            self.fail(flow, TRUE, error)
            return Scalar(int_lit(0))
        if isinstance(value, BitsV):
            return as_number(value)
        value = without_length(value)
        if isinstance(value, NullableV) and (value.there or value.base == FLOAT):
            stand_in = float_lit(float("nan")) if value.base == FLOAT else default(value.base)
            term = ite(is_none(value.term), stand_in, get(value.term))
            return Scalar(term, Traits(False, False, value.base == FLOAT, True, None, value.wide))
        if not isinstance(value, Scalar):
            reason = f"not supported on {describe(flow.opened(value))}"
            raise self.decline("unsupported-operation", reason, node)
        self.fail(flow, is_none(value.term), error)
        return replace(value, term=get(value.term))


class Call(NamedTuple):
    """A call of a known function or method on a path: its own name (``where`` of ``np.where``), and
    the values of its arguments.
    """

    m: Machine
    flow: Flow
    name: str
    args: tuple[Value, ...]
    named: Mapping[str, Value]
    node: ast.Call

    @property
    def written(self) -> str:
        """The function as the source writes it."""
        return ast.unparse(self.node.func)

    def decline(self, code: str, reason: str) -> DeclineSignal:
        """What to raise in order to stop the whole lifting at this call."""
        return self.m.decline(code, reason, self.node)


Sign = TypeVar("Sign", ast.operator, ast.cmpop)


class Binary(NamedTuple, Generic[Sign]):
    """``left op right`` on a path."""

    m: Machine
    flow: Flow
    op: Sign
    left: Value
    right: Value
    node: ast.AST


Operation: TypeAlias = Binary[ast.operator]
Comparison: TypeAlias = Binary[ast.cmpop]


def join_flows(flow: Flow, condition: Term, then: Flow, other: Flow) -> None:
    """Continue ``flow`` after an ``if`` whose branches ended in ``then`` and ``other``."""
    if then.ended or other.ended:
        live = other if then.ended else then
        flow.become(live)
        return
    flow.env = merge_envs(condition, then.env, other.env)
    flow.heap = join_heaps(condition, then.heap, other.heap)
    flow.facts = (then.facts & other.facts) | flow.facts
    # A branch that is left early on some of its paths goes on under further conditions.
    start = len(flow.conds) + 1
    goes_on = ite(condition, and_(*then.conds[start:]), and_(*other.conds[start:]))
    if goes_on != TRUE:
        flow.conds = (*flow.conds, goes_on)


def join_heaps(condition: Term, a: dict[int, Value], b: dict[int, Value]) -> dict[int, Value]:
    """Objects after two paths; one that only one of them knows is reached on that path only."""
    joined = {n: _merge(condition, a[n], b[n]) for n in sorted(a.keys() & b.keys())}
    return {**a, **b, **joined}


def merge_envs(condition: Term, a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    """Variables after two paths; one that only one path assigns may be unbound."""
    names = dict.fromkeys((*a, *b))
    missing = Unbound()
    return {n: _merge(condition, a.get(n, missing), b.get(n, missing)) for n in names}


def _merge(condition: Term, a: Value, b: Value) -> Value:
    """Types that do not go together matter only where the variable is read again."""
    try:
        return merge(condition, a, b)
    except DeclineSignal as signal:
        return Clash(signal.declined.reason)


def path_conditions(paths: Sequence[Flow]) -> list[Term]:
    """When each path but the last is taken, given that nothing has raised and no earlier one is.

    The paths are in order of their ends and exactly one is taken, so the last needs no condition.
    """
    found: list[Term] = []
    excluded: set[Term] = set()
    for path in paths[:-1]:
        here = and_(*(c for c in path.conds if c not in excluded))
        found.append(here)
        excluded.add(negate(here))
    return found
