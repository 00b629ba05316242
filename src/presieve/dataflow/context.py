# SPDX-License-Identifier: Apache-2.0
"""Trusted. One run of the dataflow analysis: the request, and the facts collected so far."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Literal, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from presieve.dataflow.abstract_values import (
    MISSING,
    NOWHERE,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Function,
    Items,
    Mixed,
    Places,
    Ref,
    Row,
    Table,
    Value,
    reach_of,
)
from presieve.dataflow.analysis_state import AnalysisState, values_of
from presieve.dataflow.libraries import Doing
from presieve.errors import Span
from presieve.lift.python.names import OuterNames
from presieve.lift.python.source import FunctionSource
from presieve.python_library.descriptions import NOT_DESCRIBED, Description

Form: TypeAlias = Literal["group", "batches", "row"]
Use: TypeAlias = Literal["moved", "asked", "filled"]
Question: TypeAlias = Literal["keys", "columns", "rows", "effects"]

OUTSIDE = -1
"""The first part of the sites of objects that exist before the function is called."""


class TooLarge(Exception):
    """The function is too large to be followed."""


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """A function to analyse, and how Spark calls it.

    ``form``: a function of a group's table, of an iterator over tables, or of a row's values; for
    the last, only effects are asked for. ``columns`` are those of its table, in order, ``keys`` the
    grouping columns in the key's order. ``beside`` holds the columns of a second table
    (``cogroup``) and the names of its grouping columns. ``types`` are Spark's types of columns, as
    far as they are known. ``receiver``: the object whose bound method the function is. ``named``:
    the arguments that it is always called with.
    """

    function: FunctionType
    form: Form
    columns: tuple[str, ...]
    keys: tuple[str, ...] = ()
    beside: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    receiver: object = None
    named: Mapping[str, object] = field(default_factory=dict)

    def as_text(self, keys: frozenset[str]) -> frozenset[str]:
        """What ``str(key)`` holds: the key itself if it is a text, and not missing."""
        return frozenset(TEXT + k for k in keys if self.types.get(k) == "string")

    def is_plain(self, column: str) -> bool:
        """Whether the values of an input column are objects of their own in pandas."""
        return self.types.get(column, "").startswith(_PLAIN)


_PLAIN = ("string", "date", "decimal")
TEXT = "str() of "
"""The start of the name of a key as a text, which differs from the key if that is missing."""


class Note(Struct, frozen=True):
    """A reason why the answer to a question is spoiled, and where. ``code`` is that of what was
    declined, if it was.
    """

    question: Question
    reason: str
    span: Span | None
    code: str = ""


class Effect(Struct, frozen=True):
    """Something that a function may do besides returning rows. ``kind`` is as in
    :class:`libraries.Doing`, or ``state`` if the function changes something that outlives the call,
    or ``unread`` if a part of the function itself is not followed. ``what``: the called code.
    """

    kind: str
    reason: str
    span: Span | None
    what: str = ""

    @property
    def code(self) -> str:
        """The code under which it is declined."""
        return _CODES.get(self.kind, "unknown-call")


_CODES = {
    "clock": "impure-clock",
    "random": "impure-random",
    "effect": "impure-io",
    "likely": "impure-io",
    "state": "mutation",
}


class TableFacts(Struct, frozen=True):
    """The facts about one table that a function returns: keys and passed columns by name; ``keys``
    is None if there are no rows. ``rowwise``: its rows are some of the input's, each treated
    separately. ``holds`` and ``mixed`` are those of its columns.
    """

    keys: Mapping[str, frozenset[str]] | None
    passes: Mapping[str, str]
    rowwise: bool
    holds: Mapping[str, frozenset[str]] = {}
    mixed: Mapping[str, Mixed] = {}


@dataclass(slots=True)
class Owner:
    """A user's function whose source is read."""

    function: FunctionType
    source: FunctionSource
    names: OuterNames
    own: frozenset[str]
    uses: Mapping[ast.expr, Use] = field(default_factory=dict)
    """What is done with the value of an expression, where its type does not matter."""


class ActiveCall(NamedTuple):
    """A function that is being called: ``owner`` is its index in the list of owners, ``parent`` the
    frame in which it is defined, ``node`` its definition, ``call`` the place where it is called.
    """

    owner: int
    parent: int | None
    node: ast.AST
    call: ast.AST


class Returned(NamedTuple):
    """What a function returns on a path, the state there, and the expression that is returned."""

    value: Value
    state: AnalysisState
    node: ast.expr | None = None


class Evaluator(Protocol):
    """The part of the interpreter that models use."""

    def evaluate(self, a: Analysis, node: ast.expr, s: AnalysisState) -> Value:
        """Evaluate an expression."""

    def consume(self, a: Analysis, node: ast.expr, s: AnalysisState) -> Value:
        """Evaluate an argument that the called function consumes at once."""

    def follow_call(self, call: EvaluatedCall, function: Function, arguments: Given) -> Value:
        """Evaluate a user's function that a model calls."""

    def call_later(self, call: EvaluatedCall, function: Function, argument: Value) -> Value:
        """Evaluate a function that is called any number of times."""

    def callback(self, call: EvaluatedCall, value: Value) -> None:
        """Account for a function passed as an argument: it may be called any number of times."""

    def call_function(
        self, a: Analysis, s: AnalysisState, function: Function, arguments: Given
    ) -> Value:
        """Evaluate a call of a user's function."""

    def define(self, a: Analysis, node: ast.FunctionDef | ast.Lambda, s: AnalysisState) -> None:
        """Evaluate what runs where a function is defined."""

    def attribute_of_module(self, a: Analysis, s: AnalysisState, path: str, name: str) -> Value:
        """Evaluate what an import gives."""

    def block(self, a: Analysis, body: Iterable[ast.stmt], s: AnalysisState) -> bool:
        """Run statements, and tell whether control reaches their end."""


@dataclass(slots=True)
class Analysis:
    """The state of a run: open functions, jumps that wait to be joined, and answers so far."""

    request: AnalysisRequest
    evaluator: Evaluator
    owners: list[Owner] = field(default_factory=list)
    classes: list[type] = field(default_factory=list)
    stack: list[ActiveCall] = field(default_factory=list)
    outside: list[object] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    typed: set[str] = field(default_factory=set)
    """The input columns of which more than the values may matter: their type in pandas."""
    notes: dict[tuple[Question, str], Note] = field(default_factory=dict)
    effects: dict[tuple[str, str], Effect] = field(default_factory=dict)
    results: list[TableFacts] = field(default_factory=list)
    returns: list[list[Returned]] = field(default_factory=list)
    breaks: list[list[AnalysisState]] = field(default_factory=list)
    continues: list[list[AnalysisState]] = field(default_factory=list)
    handlers: list[tuple[int, list[AnalysisState]]] = field(default_factory=list)
    finals: list[list[ast.stmt]] = field(default_factory=list)
    followed: set[tuple[ast.AST, ast.AST]] = field(default_factory=set)
    """The calls whose function was followed, with the function's definition."""
    unfollowed: set[tuple[ast.AST, ast.AST]] = field(default_factory=set)
    """The calls whose function was not followed, at least once."""
    whole: set[AllocationSite] = field(default_factory=set)
    """The rows of all tables that the function is given: they have at least one row."""
    by_row: bool = False
    """Whether code is taken as run for each row, which sees no other row."""
    sees_labels: bool = False
    """Whether it looks at labels of rows, which depend on the other rows of a batch."""
    steps: int = 0
    alone: bool = True
    """Whether, as far as control flow goes, each result row depends on its own input row only."""
    changed_outside: bool = False
    captured: frozenset[str] = frozenset()
    """Variables of functions that may be called at any time."""
    met_batches: bool = False
    """Whether a loop over the batches has been met."""
    in_batches: bool = False
    """Whether the outermost open loop is that over the batches."""
    skipped: list[AllocationSite] = field(default_factory=list)
    """Rows without which code is skipped: what is given from then on must have these rows."""
    writes_items: bool = False
    """Whether items of a Series or an array are written in place; its views share them."""

    @property
    def is_row_by_row(self) -> bool:
        """Whether, as far as control flow goes, rows do not depend on each other. Unknown code that
        is run for a row may remember the rows before it.
        """
        unknown = any(e.kind in ("unknown", "likely") for e in self.effects.values())
        return self.alone and not self.sees_labels and not (self.by_row and unknown)

    @property
    def owner(self) -> Owner:
        """The function whose source is being read."""
        return self.owners[self.stack[-1].owner]

    def span(self, node: ast.AST) -> Span | None:
        """The position of a node in its source."""
        return self.owner.source.span(node) if self.stack else None

    def site(self, node: ast.AST, part: int = 0) -> tuple[int, ...]:
        """The site of an object that the node makes, qualified by the open calls."""
        calls = (x for f in self.stack for x in (f.owner, *_position(f.node), *_position(f.call)))
        return (*calls, *_position(node), part)

    def check_waiting(self, s: AnalysisState, before: tuple[int, int], node: ast.AST) -> None:
        """Account for values that waited since there were so many writes: if memory was written
        meanwhile, it may be theirs.
        """
        if s.writes.counts != before:
            self.alone = False
            self.writes_items |= s.writes.of_keys != before[1]
            self.note("rows", f"{ast.unparse(node)} may write where a value waits", node)

    # --- answers --------------------------------------------------------------------------------

    def note(self, question: Question, reason: str, node: ast.AST, code: str = "") -> None:
        """Record that something spoils the answer to a question."""
        self.notes.setdefault((question, reason), Note(question, reason, self.span(node), code))

    def effect(self, kind: str, reason: str, node: ast.AST) -> None:
        """Record that a call may do more than return a value."""
        self.effects.setdefault((kind, reason), Effect(kind, reason, self.span(node)))

    def does(self, what: str, doing: Doing, node: ast.AST) -> None:
        """Record what called code, which is named, does besides returning a value."""
        reason = f"{what} {doing.reason}"
        effect = Effect(doing.kind, reason, self.span(node), what)
        self.effects.setdefault((doing.kind, reason), effect)

    def runs_unknown(self, what: str, why: str, node: ast.AST) -> None:
        """Record that unknown code runs, which may do anything."""
        self.does(what, Doing("unknown", why), node)

    def reads(self, columns: frozenset[str], reason: str, node: ast.AST) -> None:
        """Record that these input columns are read."""
        new = columns - self.read
        self.read |= columns
        if len(new) > 1:
            self.note("columns", reason, node)

    def observe(self, s: AnalysisState, value: Value, node: ast.AST, reason: str) -> None:
        """Record that everything reachable from a value is read."""
        if isinstance(value, Row):
            self.sees_labels = True
        for place in s.reach(value):
            thing = s.heap.get(place)
            if isinstance(thing, Table):
                self.reads(unread_of(thing), reason, node)
                self.use(*thing.all_columns)

    def use(self, *columns: AbstractColumn) -> None:
        """Record that something is done with columns that may depend on their types."""
        self.typed |= frozenset[str]().union(*(c.holds for c in columns))

    def use_beside(self, parts: Sequence[Value]) -> None:
        """Record what is combined item by item. Beside a column whose missing elements are objects,
        those of pandas' extension types, which come of integers beside a NULL, count in another
        way than others: then the types of all columns may matter.
        """
        kinds = {bool(p.mixed) for p in parts if isinstance(p, AbstractColumn)}
        if len(kinds) > 1:
            self.typed |= set(self.request.columns)

    def branches_on(self, value: Value, node: ast.AST) -> None:
        """Record that control depends on a value of several rows, so rows depend on each other."""
        if self.alone:
            self.alone = False
            self.note("rows", f"{ast.unparse(node)} looks at several rows", node)

    def needs_length(self, node: ast.AST) -> None:
        """Record that this raises unless there are as many rows as something else has items."""
        if self.alone:
            self.alone = False
            self.note("rows", f"{ast.unparse(node)} fits a certain number of rows", node)

    def changes(self, places: Places, node: ast.AST, what: str) -> None:
        """Record an in-place change, which others see if the object existed before the call."""
        if any(p.site[0] == OUTSIDE for p in places):
            self.changed_outside = True
            self.effect("state", f"{what} changes what was there before the call", node)

    def changes_items(self, owner: Ref, node: ast.AST, what: str) -> None:
        """Record an in-place change of a list, dict or set. If it is one of several, such as one
        for each row, which one it is depends on rows.
        """
        self.changes(owner.places, node, what)
        if len(owner.places) > 1 or any(place.older for place in owner.places):
            self.branches_on(owner, node)

    def may_change(self, s: AnalysisState, places: Places, node: ast.AST, what: str) -> None:
        """Record that unknown code may change an object in place. What it keeps in an object of
        which nothing is known is an effect like any other of its effects.
        """
        outside = [p for p in places if p.site[0] == OUTSIDE]
        if any(p in s.heap for p in outside):
            self.changes(places, node, what)
        elif outside:
            self.runs_unknown(what, "may change what was there before the call", node)

    def escapes(
        self, s: AnalysisState, value: Value, node: ast.AST, what: str, *, kept: bool = False
    ) -> None:
        """Pass a value to code that may read and change everything reachable from it. ``kept``: the
        code is unknown, and may keep it and change it later.
        """
        self.observe(s, value, node, f"{what} may read all columns")
        places = reach_of(value)
        names = _names_of_keys(s, s.reachable(places))
        if kept:
            s.escape(places)
        elif places:
            s.spoil(places)
        if names:
            self.note("keys", f"{what} may change {names}", node)

    def hides(self, s: AnalysisState, value: Value) -> None:
        """Put a value into a cell, where it is not followed: what it refers to may be changed from
        there at any time.
        """
        objects = (p for p in s.reach(value) if isinstance(s.heap.get(p), Items))
        tables = value.places if isinstance(value, Ref) else NOWHERE
        if hidden := frozenset(objects) | tables:
            s.escape(hidden)

    def hides_key(self, s: AnalysisState, value: Value) -> None:
        """The same of a key. Lists, dicts and tables cannot be keys, objects of classes can."""
        reached = {p: s.heap.get(p) for p in s.reach(value)}
        kinds = ("list", "dict", "set", "names")
        objects = (p for p, o in reached.items() if isinstance(o, Items) and o.kind not in kinds)
        if hidden := frozenset(objects):
            s.escape(hidden)

    def hides_cells(self, s: AnalysisState, values: Value) -> None:
        """The same of what a list or dict holds, or of a single value."""
        items = s.items(values)
        for value in (values,) if items is None else values_of(items):
            self.hides(s, value)

    def stores(self, s: AnalysisState, value: Value, node: ast.AST, what: str) -> None:
        """Put a value where it is not followed: when it is taken out, its methods count as those of
        a package, and nobody knows any more that it was there before the call.
        """
        reached = s.reach(value)
        objects = [s.heap.get(place) for place in reached]
        acting = any(isinstance(o, Items) and o.of is not None for o in objects)
        if acting or any(place.site[0] == OUTSIDE for place in reached):
            self.effect("state", f"{what} stores an object that may be changed later", node)
        elif s.packages(value) is None:
            self.runs_unknown(what, "stores what is not known", node)

    def shows_variables(self, s: AnalysisState, node: ast.AST, what: str) -> None:
        """Record that unknown code may look up any variable by its name."""
        for frame in s.frames:
            for value in tuple(frame.values()):
                self.escapes(s, value, node, what)

    def outside_place(self, thing: object) -> AllocationSite:
        """The place of an object that the function did not make."""
        at = next((i for i, o in enumerate(self.outside) if o is thing), len(self.outside))
        if at == len(self.outside):
            self.outside.append(thing)
        return AllocationSite((OUTSIDE, at))

    def class_number(self, cls: type) -> int:
        """The number of a class of the program."""
        if cls not in self.classes:
            self.classes.append(cls)
        return self.classes.index(cls)


def _names_of_keys(s: AnalysisState, places: Places) -> str:
    """Name the variables whose tables or columns hold a key and can be reached."""
    names = []
    for name, value in (pair for frame in s.frames for pair in frame.items()):
        table = s.table(value)
        columns: tuple[AbstractColumn, ...] = () if table is None else table.all_columns
        columns += (value,) if isinstance(value, AbstractColumn) else ()
        whole = isinstance(value, Ref) and bool(value.places & places)
        if any(c.keys and (whole or c.memory & places) for c in columns):
            names.append(name)
    return ", ".join(dict.fromkeys(names))


def _position(node: ast.AST) -> tuple[int, int, int, int]:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", None) or 0,
        getattr(node, "end_col_offset", None) or 0,
    )


def unread_of(table: Table) -> frozenset[str]:
    """The input columns that a table passes on unread."""
    return frozenset().union(*(c.unread for c in table.all_columns))


class Given(NamedTuple):
    """The arguments of a call of a user's function, and the calling node."""

    args: list[Value]
    named: dict[str, Value]
    node: ast.AST

    @property
    def values(self) -> tuple[Value, ...]:
        """All argument values."""
        return (*self.args, *self.named.values())


class EvaluatedCall(NamedTuple):
    """A call with evaluated arguments, and the facts about what is called."""

    a: Analysis
    s: AnalysisState
    owner: Value
    name: str
    args: list[Value]
    named: dict[str, Value]
    node: ast.Call
    facts: Description = NOT_DESCRIBED

    @property
    def values(self) -> list[Value]:
        """All argument values."""
        return [*self.args, *self.named.values()]

    def observe_arguments(self, reason: str) -> None:
        """Record that everything reachable from the arguments is read."""
        for value in self.values:
            self.a.observe(self.s, value, self.node, reason)

    def argument(self, at: int, name: str) -> Value | None:
        """The argument by position or name; None if it is omitted."""
        return self.args[at] if at < len(self.args) else self.named.get(name)

    def constant(self, at: int, name: str, default: object = None) -> object:
        """The constant argument; ``default`` if it is omitted, ``...`` if it is unknown."""
        value = self.argument(at, name)
        return default if value is None else constant_of(self.s, value)

    def site(self, part: int = 0) -> tuple[int, ...]:
        """The site of an object that this call makes."""
        return self.a.site(self.node, part)


def counted_by(call: EvaluatedCall) -> AllocationSite | None:
    """The rows that ``range(n)`` or ``range(start, stop)`` counts; None if unknown."""
    bounds = [v for v in call.args if isinstance(v, AbstractScalar)]
    if call.named or len(bounds) != len(call.args) or not 1 <= len(bounds) <= 2:
        return None
    start = 0 if len(bounds) == 1 else bounds[0].constant
    length = bounds[-1].length
    if length is None or type(start) is not int or length.plus != start:
        return None
    return length.rows


def constant_of(s: AnalysisState, value: Value) -> object:
    """The constant that a value is, with lists and tuples as tuples; ``...`` if it is unknown."""
    match value:
        case AbstractScalar(constant=constant) if constant is not MISSING:
            return constant
        case AbstractTuple(items):
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


def _all_constants(s: AnalysisState, items: tuple[Value, ...]) -> object:
    constants = tuple(constant_of(s, i) for i in items)
    return ... if any(f is ... for f in constants) else constants


def names_of_columns(s: AnalysisState, value: Value) -> tuple[str, ...] | None:
    """The column names that a value lists, or the single name that it is; None if unknown."""
    constant = constant_of(s, value)
    if isinstance(constant, str):
        return (constant,)
    if isinstance(constant, tuple) and all(isinstance(f, str) for f in constant):
        return tuple(str(f) for f in constant)
    return None


# --- values that wait -----------------------------------------------------------------------------
#
# A column may be a view. ``pdf.loc[m, "y"], s = 0, pdf.y`` writes where ``s`` is stored before it
# has its name, and ``first(pdf.y, clear(pdf))`` before ``first`` is called. A state forgets what
# its variables and objects hold if their memory is written, but it does not see values that wait.


_RUNS = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_ROUNDS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def has_waiting_values(node: ast.expr) -> bool:
    """Whether an operand waits while a later one is evaluated that may write in place."""
    if isinstance(node, _ROUNDS):
        return may_act(node)
    waiting = False
    for operand in _operands(node):
        if waiting and may_act(operand):
            return True
        waiting = waiting or not isinstance(operand, ast.Constant)
    return False


def leaves(target: ast.expr) -> Iterator[ast.expr]:
    """Yield the single targets of an assignment."""
    match target:
        case ast.Tuple(targets) | ast.List(targets):
            for inner in targets:
                yield from leaves(inner)
        case _:
            yield target


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            yield child.value
        elif isinstance(child, ast.expr):
            yield child


def may_act(node: ast.expr) -> bool:
    """Whether evaluating an expression may do more than give a value, as far as its syntax says."""
    return any(isinstance(n, _RUNS) for n in ast.walk(node))
