# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Asks the lifter and the dataflow analysis about one function that Spark calls.

The forms are those in which a plan's functions are read (``backend/problems/lift_functions.py``);
what only a plan has, such as the types of columns, is tried.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from types import CellType, FunctionType, MethodType

from msgspec import Struct

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest
from presieve.errors import Declined, DeclineSignal, UsageError
from presieve.lift import lift
from presieve.lift.evaluation_types import Role
from presieve.lift.forms import (
    ArrayFunction,
    ColumnsFunction,
    Form,
    FrameFunction,
    Lifted,
    LiftRequest,
    RowFunction,
    RowsFunction,
    SeriesFunction,
    StateClass,
    TableFunction,
)
from presieve.lift.python.names import parameters
from presieve.lint.column_evidence import TYPES, fitting_types, named_columns, series_in_hint
from presieve.lint.column_types import Assignment, Outcome, place_of, try_types
from presieve.lint.module_source import Namespace, with_open_names
from presieve.lint.uses import Use
from presieve.records import replace
from presieve.semantics.types import SchemaColumn, sort_of
from presieve.semantics.values import INT_RANGES
from presieve.sql.ddl import parse_returns

ANOTHER = "\1another column"
"""A column that no function names, for all that a table has besides."""
_TABLES = (Role.GROUP_MAP, Role.MAP)
_MOST_NAMES = 24
_MOST_WRAPPERS = 5
_UNKNOWN_RETURNS = ("double", "bigint", "string", "boolean")


class FunctionReading(Struct, frozen=True):
    """What is known about a function: the lifter's answer, and what the dataflow analysis says, if
    the lifter does not read it. ``outputs`` are the declared columns, or those that the function
    names if none are declared; ``assigned`` those that the
    function itself puts into a table.
    """

    outcome: Outcome
    facts: Dataflow | None = None
    outputs: tuple[str, ...] = ()
    assigned: frozenset[str] = frozenset()


class TypeQuestion(Struct, frozen=True, dict=True):
    """A function as Spark has it, and how it is called."""

    use: Use
    target: object

    def read(self) -> FunctionReading:
        """Ask about the function."""
        outcome = self._lift()
        if isinstance(outcome.answer, Lifted):
            return FunctionReading(outcome)
        named = (*(self.use.keys or ()), *self._names)
        outputs = tuple(c.name for c in self._declared_columns) or named
        return FunctionReading(outcome, self.facts, outputs, _find_assigned_columns(self._node))

    # --- the lifter -----------------------------------------------------------------------------

    def _lift(self) -> Outcome:
        assert self.use.kind is not None
        role = self.use.kind.role
        if role in _TABLES:
            return self._lift_table()
        if isinstance(self.target, FunctionType | MethodType) and role is not Role.TABLE_FUNCTION:
            names = self._arguments()
        else:
            names = self._columns_of_class()
        outcomes = (
            try_types(self._candidates(names), partial(self._attempt, form, names, returns))
            for returns in self._returns()
            for form in self._forms(names)
        )
        return _best(outcomes)

    def _attempt(
        self, form: Form, names: Sequence[str], returns: tuple[SchemaColumn, ...], types: Assignment
    ) -> Lifted | Declined:
        assert self.use.kind is not None
        schema = tuple(SchemaColumn(n, types[n]) for n in names)
        rows = self.use.kind.role is Role.ROW
        keys = tuple(names) if rows or isinstance(form, RowsFunction) else self._keys(names)
        return lift(self.target, form, LiftRequest(schema, keys, returns))

    def _keys(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(k for k in self.use.keys or () if k in names)

    def _arguments(self) -> tuple[str, ...]:
        """Return the parameters that Spark must pass: those without a default. For an iterator, its
        type hint says how many columns there are.
        """
        bound = isinstance(self.target, MethodType)
        function = (
            self.target.__func__
            if isinstance(self.target, MethodType)
            else self._innermost_function
        )
        assert isinstance(function, FunctionType)
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        every = parameters(function)[1:] if bound else parameters(function)
        names = tuple(p.name for p in every if p.kind in kinds and p.default is p.empty)
        if not names and any(p.kind is p.VAR_POSITIONAL for p in every):
            return ("argument",)
        if self.use.kind is not None and self.use.kind.streamed and len(names) == 1:
            return tuple(f"{names[0]}_{i + 1}" for i in range(series_in_hint(self._node)))
        return names

    def _columns_of_class(self) -> tuple[str, ...]:
        return tuple(self._names)[:_MOST_NAMES]

    def _returns(self) -> list[tuple[SchemaColumn, ...]]:
        name = self.use.name
        if self.use.returns is None:
            return [(SchemaColumn(name, type_),) for type_ in _UNKNOWN_RETURNS]
        return [parse_returns(self.use.returns, name)]

    def _forms(self, names: Sequence[str]) -> list[Form]:
        kind = self.use.kind
        assert kind is not None
        columns = tuple(names)
        if kind.role is Role.TABLE_FUNCTION:
            return [StateClass()]
        if kind.role is Role.AGGREGATE:
            form = ArrayFunction if kind.arrow else SeriesFunction
            return [form(columns, kind.streamed)]
        if kind.whole:
            return [ColumnsFunction(columns, kind.streamed)]
        return [RowFunction(columns, arrow) for arrow in ((True,) if kind.arrow else (False, True))]

    def _candidates(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the types that are tried for each column: that of the output column of the same
        name, or those that fit the function.
        """
        kind = self.use.kind
        assert kind is not None
        values = kind.role is Role.ROW and not kind.whole
        candidates = fitting_types(self._node, names, values=values)
        others = dict.fromkeys(
            c.type for c in self._declared_columns if sort_of(c.type) is not None
        )
        others = {t: None for t in others if t not in TYPES and t not in INT_RANGES}
        candidates = {n: (*t, *others) if t == TYPES else t for n, t in candidates.items()}
        if any(c.type in INT_RANGES for c in self._declared_columns):
            candidates = {n: tuple(sorted(t, key="bigint".__ne__)) for n, t in candidates.items()}
        if kind.role in _TABLES:
            outputs = {
                c.name: c.type for c in self._declared_columns if sort_of(c.type) is not None
            }
            candidates |= {n: (outputs[n],) for n in names if n in outputs}
        return candidates

    @property
    def _declared_columns(self) -> tuple[SchemaColumn, ...]:
        if self.use.returns is None:
            return ()
        return parse_returns(self.use.returns, self.use.name)

    @property
    def _node(self) -> ast.AST | None:
        return definition_under(self._innermost_function)

    @property
    def _innermost_function(self) -> object:
        """The function under decorators that say what they wrap."""
        function = self.target
        for _ in range(_MOST_WRAPPERS):
            inner = inspect.getattr_static(function, "__wrapped__", None)
            function = inner if isinstance(inner, FunctionType) else function
        return function

    # --- tables ---------------------------------------------------------------------------------

    def _lift_table(self) -> Outcome:
        kind = self.use.kind
        assert kind is not None
        if not self._declared_columns:
            why = "its output columns are only known when the job runs"
            return Outcome((), Declined("no-returns", why), False, False)
        first: Outcome | None = None
        for form in self._table_forms():
            outcome = _best(self._lifted_with(form, names) for names in self._schemas())
            if isinstance(outcome.answer, Lifted):
                return outcome
            first = first or outcome  # as in a plan, the reason is that of the first form
        assert first is not None
        return first

    def _lifted_with(self, form: Form, names: tuple[str, ...]) -> Outcome:
        """Try a table of these columns, and of those that the lifter misses."""
        while True:
            attempt = partial(self._attempt, form, names, self._declared_columns)
            outcome = try_types(self._candidates(names), attempt)
            missed = self._missed_column(outcome.answer)
            if not missed or missed in names or len(names) >= _MOST_NAMES:
                return outcome
            names = (*names, missed)

    def _missed_column(self, answer: Lifted | Declined) -> str:
        """Return the column that the lifter misses in the table; the empty text for none."""
        if isinstance(answer, Lifted) or answer.code != "unknown-column" or answer.span is None:
            return ""
        place = (answer.span.line, answer.span.column - 1)
        names: list[str] = []
        for node in (n for each in self._nodes for n in ast.walk(each)):
            match node:
                case ast.Attribute(_, name) | ast.Subscript(_, ast.Constant(str(name))):
                    if (node.lineno, node.col_offset) == place:
                        names.append(name)
        return names[-1] if names else ""

    def _table_forms(self) -> list[Form]:
        kind = self.use.kind
        assert kind is not None
        if kind.role is Role.MAP:
            return [RowsFunction(False, True, kind.arrow, False)]
        takes_key = isinstance(self.target, FunctionType) and len(parameters(self.target)) == 2
        whole: list[Form] = []
        if not kind.streamed:
            whole = [TableFunction(takes_key) if kind.arrow else FrameFunction(takes_key)]
        return [*whole, RowsFunction(takes_key, kind.streamed, kind.arrow, False)]

    def _schemas(self) -> list[tuple[str, ...]]:
        """Return the columns that the table may have: those that the function names; those that
        come out; those that come out, but are not assigned.
        """
        named = [*(self.use.keys or ()), *self._names]
        outputs = [c.name for c in self._declared_columns]
        assigned = _find_assigned_columns(self._node)
        options = ([n for n in named if n not in assigned or n not in outputs], outputs)
        kept = [n for n in outputs if n not in assigned]
        every = (*options, kept, [*kept, *(n for n in named if n not in assigned)])
        return list(dict.fromkeys(tuple(dict.fromkeys(o))[:_MOST_NAMES] for o in every if o))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The columns that the function names, as far as its source shows it."""
        modules = frozenset(self.use.scope.module.aliases)
        outside = modules | _attributes()
        names = [n for node in self._nodes for n in named_columns(node, outside)]
        return tuple(dict.fromkeys(names))

    @cached_property
    def _words(self) -> tuple[str, ...]:
        """All texts and attributes in the function: any of them may be a column that it reads."""
        outputs = (
            c.name
            for c in self._declared_columns
            if c.name not in _find_assigned_columns(self._node)
        )
        words = dict.fromkeys((*(self.use.keys or ()), *self._names, *outputs))
        for node in (n for each in self._nodes for n in ast.walk(each)):
            match node:
                case ast.Constant(str(word)):
                    words[word] = None
                case ast.Attribute(_, word) if word not in _attributes():
                    words[word] = None
        return tuple(words)

    @cached_property
    def _nodes(self) -> tuple[ast.AST, ...]:
        """The definitions of the function, and of those that it calls."""
        methods = list(vars(self.target).values()) if isinstance(self.target, type) else []
        waiting: list[object] = [self.target, *methods]
        nodes: dict[ast.AST, None] = {}
        while waiting:
            function = waiting.pop(0)
            node = definition_under(function)
            if node is None or node in nodes or not isinstance(function, FunctionType):
                continue
            nodes[node] = None
            with with_open_names():
                called = [function.__globals__.get(n) for n in function.__code__.co_names]
            cells = [c.cell_contents for c in function.__closure__ or () if _is_full(c)]
            waiting += [f for f in (*called, *cells) if isinstance(f, FunctionType)]
        return tuple(nodes)

    # --- the dataflow analysis ------------------------------------------------------------------

    @cached_property
    def facts(self) -> Dataflow | None:
        """What the dataflow analysis says; None for functions that it does not follow."""
        kind, target = self.use.kind, self.target
        if kind is None or not isinstance(target, FunctionType):
            return None
        columns = (*self._words, ANOTHER)
        try:
            with with_open_names():
                return dataflow(self._request(target, columns))
        except DeclineSignal:
            return None

    def _request(self, target: FunctionType, columns: tuple[str, ...]) -> AnalysisRequest:
        kind = self.use.kind
        assert kind is not None
        keys = self.use.keys or ()
        if kind.role is Role.GROUP_MAP and not kind.arrow and not kind.streamed:
            return AnalysisRequest(target, "group", columns, keys)
        if kind.role is Role.COGROUP_MAP and not kind.arrow:
            return AnalysisRequest(target, "group", columns, keys, (columns, keys))
        if kind.role is Role.MAP and not kind.arrow:
            return AnalysisRequest(target, "batches", columns)
        return AnalysisRequest(target, "row", ())


BY_SCHEMA = ("unknown-column", "return-shape")
"""Codes of declines that other columns than those that were tried may avoid."""


def _best(outcomes: Iterator[Outcome]) -> Outcome:
    """Return the first outcome with a function that is read, or the one that got furthest."""
    declined: list[Outcome] = []
    for outcome in outcomes:
        if isinstance(outcome.answer, Lifted):
            return outcome
        declined.append(outcome)
    stops = {(o.answer.code, o.answer.span) for o in declined if isinstance(o.answer, Declined)}
    best = max(declined, key=_rank)
    everywhere = best.everywhere and len(stops) == 1
    return replace(best, everywhere=everywhere)


def _rank(outcome: Outcome) -> tuple[bool, tuple[int, bool]]:
    assert isinstance(outcome.answer, Declined)
    return outcome.answer.code not in BY_SCHEMA, place_of(outcome.answer)


def definition_under(function: object) -> ast.FunctionDef | ast.Lambda | None:
    """Return the definition from which a function was built."""
    home = getattr(function, "__globals__", None)
    if not isinstance(home, Namespace) or not isinstance(function, FunctionType):
        return None
    origin = home.module.origins.get(function)
    return None if origin is None else origin[1]


def _is_full(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _attributes() -> frozenset[str]:
    """Return the names of attributes of tables and columns, which are no columns."""
    import pandas as pd

    return frozenset((*dir(pd.DataFrame), *dir(pd.Series), *dir(str), *dir(dict), *dir(list)))


def _find_assigned_columns(node: ast.AST | None) -> frozenset[str]:
    """Return the columns that a function assigns."""
    names: set[str] = set()
    for n in ast.walk(node) if node is not None else ():
        match n:
            case ast.Subscript(_, ast.Constant(str(name)), ast.Store()):
                names.add(name)
            case ast.Call(ast.Attribute(_, "assign"), _, keywords):
                names |= {k.arg for k in keywords if k.arg}
    return frozenset(names)


def readable_returns(use: Use) -> str | None:
    """Return why the declared type is not DDL that is read; None if it is, or is not known."""
    if use.returns is None:
        return None
    try:
        parse_returns(use.returns, use.name)
    except UsageError as error:
        return str(error)
    return None
