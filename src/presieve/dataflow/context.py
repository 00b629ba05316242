"""Trusted. One run of the dataflow analysis: what it is asked, and what it has come upon so far."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Literal, NamedTuple, Protocol, TypeAlias

from presieve.dataflow.state import State
from presieve.dataflow.values import (
    MISSING,
    Function,
    Items,
    Place,
    Places,
    Ref,
    Scalar,
    Table,
    TupleV,
    Value,
    reach_of,
)
from presieve.errors import Span
from presieve.lift.python.names import Names
from presieve.lift.python.source import Source

Form: TypeAlias = Literal["group", "batches", "row"]
Question: TypeAlias = Literal["keys", "columns", "rows", "effects"]

OUTSIDE = -1
"""The first part of the sites of objects that are there before the function is called."""


class GaveUp(Exception):
    """The function is too large to be followed."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a function.

    ``form``: a function of a group's table, of an iterator over tables, or of a row's values, of
    which effects alone are asked. ``columns`` are those of its table, in order, ``keys`` the
    grouping columns in the key's order. ``beside`` are the columns of a second table (``cogroup``)
    with the names of its grouping columns.
    """

    function: FunctionType
    form: Form
    columns: tuple[str, ...]
    keys: tuple[str, ...] = ()
    beside: tuple[tuple[str, ...], tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What spoils the answer to a question, and where."""

    question: Question
    reason: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a function may do besides giving rows. ``kind`` is as in :class:`libraries.Doing`, or
    ``state`` where something is changed that outlives the call.
    """

    kind: str
    reason: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Result:
    """What is known of one table that a function gives: keys and passed columns by name, None where
    there are no rows; whether its rows are some of the input's, each for itself.
    """

    keys: Mapping[str, frozenset[str]] | None
    passes: Mapping[str, str]
    rowwise: bool


@dataclass(slots=True)
class Owner:
    """A function of the user's whose source is read."""

    function: FunctionType
    source: Source
    names: Names
    own: frozenset[str]


class Frame(NamedTuple):
    """A function that is being called: ``owner`` in the list of owners, ``parent`` the frame in
    which it is defined, ``node`` its definition, ``call`` where it is called.
    """

    owner: int
    parent: int | None
    node: ast.AST
    call: ast.AST


class Evaluator(Protocol):
    """The interpreter, as models see it."""

    def evaluate(self, a: Analysis, node: ast.expr, s: State) -> Value:
        """The value of an expression."""

    def consumed(self, a: Analysis, node: ast.expr, s: State) -> Value:
        """The value of an argument that is taken at once."""

    def inlined(self, call: Call, function: Function, given: Given) -> Value:
        """The value of a function of the user's that a model calls."""

    def callback(self, call: Call, value: Value) -> None:
        """A function that is given to another one may be called, any number of times."""

    def block(self, a: Analysis, body: Iterable[ast.stmt], s: State) -> bool:
        """Whether control comes out at the end of these statements."""


@dataclass(slots=True)
class Analysis:
    """The run: functions that are open, jumps that wait to be joined, answers so far."""

    request: Request
    evaluator: Evaluator
    owners: list[Owner] = field(default_factory=list)
    stack: list[Frame] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    notes: dict[tuple[Question, str], Note] = field(default_factory=dict)
    effects: dict[tuple[str, str], Effect] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    returns: list[list[tuple[Value, State]]] = field(default_factory=list)
    breaks: list[list[State]] = field(default_factory=list)
    continues: list[list[State]] = field(default_factory=list)
    handlers: list[tuple[int, list[State]]] = field(default_factory=list)
    finals: list[list[ast.stmt]] = field(default_factory=list)
    steps: int = 0
    alone: bool = True
    """Whether rows of the result depend on their own rows alone, as far as control goes."""
    changed_outside: bool = False
    writes_items: bool = False
    """Whether items of a Series or an array are written in place, which views of it share."""

    @property
    def owner(self) -> Owner:
        """The function whose text is being read."""
        return self.owners[self.stack[-1].owner]

    def span(self, node: ast.AST) -> Span | None:
        """Where a node stands."""
        return self.owner.source.span(node) if self.stack else None

    def site(self, node: ast.AST, part: int = 0) -> tuple[int, ...]:
        """The site of what the node makes, by the calls that are open."""
        calls = (x for f in self.stack for x in (f.owner, *_position(f.node), *_position(f.call)))
        return (*calls, *_position(node), part)

    # --- answers --------------------------------------------------------------------------------

    def note(self, question: Question, reason: str, node: ast.AST) -> None:
        """Something spoils the answer to a question."""
        self.notes.setdefault((question, reason), Note(question, reason, self.span(node)))

    def effect(self, kind: str, reason: str, node: ast.AST) -> None:
        """A call may do more than giving a value."""
        self.effects.setdefault((kind, reason), Effect(kind, reason, self.span(node)))

    def reads(self, columns: frozenset[str], reason: str, node: ast.AST) -> None:
        """These input columns are read."""
        new = columns - self.read
        self.read |= columns
        if len(new) > 1:
            self.note("columns", reason, node)

    def observe(self, s: State, value: Value, node: ast.AST, reason: str) -> None:
        """All that can be reached from a value is read."""
        for place in s.reachable(reach_of(value)):
            thing = s.heap.get(place)
            if isinstance(thing, Table):
                self.reads(unread_of(thing), reason, node)

    def branches_on(self, value: Value, node: ast.AST) -> None:
        """Control goes by a value of rows: what one row does depends on others."""
        if self.alone:
            self.alone = False
            self.note("rows", f"{ast.unparse(node)} looks at several rows", node)

    def changes(self, places: Places, node: ast.AST, what: str) -> None:
        """An object is changed in place: somebody else sees it if it was there before."""
        if any(p.site[0] == OUTSIDE for p in places):
            self.changed_outside = True
            self.effect("state", f"{what} changes what was there before the call", node)

    def escapes(self, s: State, value: Value, node: ast.AST, what: str) -> None:
        """Code that is not known gets a value: it may read and change all that it reaches."""
        self.observe(s, value, node, f"{what} may read all columns")
        places = reach_of(value)
        if places:
            s.spoil(places)
            self.note("keys", f"{what} may change the table", node)

    def shows_variables(self, s: State, node: ast.AST, what: str) -> None:
        """Code that is not known may look up any variable by its name."""
        for frame in s.frames:
            for value in tuple(frame.values()):
                self.escapes(s, value, node, what)

    def outside_place(self, name: str) -> Place:
        """The place of an object that the function did not make."""
        if name not in self.outside:
            self.outside.append(name)
        return Place((OUTSIDE, self.outside.index(name)))


def _position(node: ast.AST) -> tuple[int, int, int, int]:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", None) or 0,
        getattr(node, "end_col_offset", None) or 0,
    )


def unread_of(table: Table) -> frozenset[str]:
    """The input columns that a table passes on and nobody has read."""
    columns = [c for _, c in table.columns] + ([table.rest] if table.rest else [])
    return frozenset().union(*(c.unread for c in columns))


class Given(NamedTuple):
    """The arguments of a call of the user's function, and where it is called."""

    args: list[Value]
    named: dict[str, Value]
    node: ast.AST

    @property
    def values(self) -> tuple[Value, ...]:
        """All of them."""
        return (*self.args, *self.named.values())


class Call(NamedTuple):
    """A call of a model: its arguments are evaluated."""

    a: Analysis
    s: State
    owner: Value
    name: str
    args: list[Value]
    named: dict[str, Value]
    node: ast.Call

    def argument(self, at: int, name: str) -> Value | None:
        """The argument by position or name; None where it is not given."""
        return self.args[at] if at < len(self.args) else self.named.get(name)

    def only(self, count: int, *names: str) -> bool:
        """Whether there are no other arguments than these."""
        return len(self.args) <= count and self.named.keys() <= set(names)

    def constant(self, at: int, name: str, default: object = None) -> object:
        """The constant that is given; ``default`` where there is none, ``...`` if it is unknown."""
        value = self.argument(at, name)
        return default if value is None else constant_of(self.s, value)

    def site(self, part: int = 0) -> tuple[int, ...]:
        """The site of what this call makes."""
        return self.a.site(self.node, part)


def counted_by(call: Call) -> Place | None:
    """The rows of which ``range(n)`` or ``range(start, stop)`` has as many; None if not known."""
    bounds = [v for v in call.args if isinstance(v, Scalar)]
    if call.named or len(bounds) != len(call.args) or not 1 <= len(bounds) <= 2:
        return None
    start = 0 if len(bounds) == 1 else bounds[0].constant
    length = bounds[-1].length
    if length is None or type(start) is not int or length.plus != start:
        return None
    return length.rows


def constant_of(s: State, value: Value) -> object:
    """The constant that a value is: lists and tuples as tuples; ``...`` where it is not known."""
    match value:
        case Scalar(constant=constant) if constant is not MISSING:
            return constant
        case TupleV(items):
            return _all_constants(s, items)
        case Ref():
            thing = s.items(value)
            if (
                isinstance(thing, Items)
                and thing.kind in ("list", "set", "names")
                and thing.fixed is not None
            ):
                return _all_constants(s, thing.fixed)
    return ...


def _all_constants(s: State, items: tuple[Value, ...]) -> object:
    found = tuple(constant_of(s, i) for i in items)
    return ... if any(f is ... for f in found) else found


def names_of_columns(s: State, value: Value) -> tuple[str, ...] | None:
    """Column names that a value lists, or the one that it is; None where they are not known."""
    found = constant_of(s, value)
    if isinstance(found, str):
        return (found,)
    if isinstance(found, tuple) and all(isinstance(f, str) for f in found):
        return tuple(str(f) for f in found)
    return None
