# SPDX-License-Identifier: Apache-2.0
"""Trusted. Facts about a function that need not be lifted, by abstract interpretation.

Cousot and Cousot, POPL 1977. An unknown value does not end the analysis: each question has its own
answer, and a note for each place that spoils it.

Keys: which result columns hold a grouping column's value in every row. A filter on them keeps all
rows that the function returns for a group, or none.

Columns: which input columns the result can depend on, including the number and order of its rows. A
column is read where its values, its name or its type can be seen. The other columns may hold
anything, or be missing.

Rows: which result columns hold the value that an input column has in the row from which the result
row is made, if each row is treated separately. A filter on them keeps the rows made from an input
row, or drops them.

Effects: what a function may do besides returning rows.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping

from msgspec import Struct, field

from presieve.dataflow import calls, expressions, literals, statements
from presieve.dataflow.abstract_values import (
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Function,
    Items,
    Mixed,
    Table,
    Value,
    part_of,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.closures import is_every_closure_followed
from presieve.dataflow.context import (
    TEXT,
    ActiveCall,
    Analysis,
    AnalysisRequest,
    Effect,
    EvaluatedCall,
    Given,
    Note,
    Returned,
    TableFacts,
    TooLarge,
)
from presieve.dataflow.free_names import of_object, open_owner
from presieve.dataflow.iteration import all_batches, first_table
from presieve.dataflow.libraries import UNMISSED, Effects
from presieve.dataflow.returned_tables import result_of
from presieve.errors import DeclineSignal
from presieve.lift.python.names import parameters
from presieve.semantics.types import is_key_type


class Dataflow(Struct, frozen=True):
    """The facts about a function.

    ``keys`` maps result columns to the grouping column whose value they hold in each row, if they
    are present. ``reads`` are the input columns that may be read; None if that is unknown.
    ``reads_beside`` are those of the second table, if there is one. ``passes`` maps
    result columns to the input column that they pass on, row by row; None if rows depend on
    each other. ``texts``: result columns that hold ``str()`` of a grouping column of texts, which
    differs from it where that is missing. ``effects``: what else it may do; ``notes``: what spoils
    an answer, and where.

    ``typed`` are the input columns whose type in pandas may matter to the result. ``holds`` maps
    result columns to the input columns whose values they may hold, and ``mixed`` says which of the
    result columns have a type in pandas that depends on which rows are there.
    """

    keys: Mapping[str, str]
    reads: frozenset[str] | None
    reads_beside: frozenset[str] | None
    passes: Mapping[str, str] | None
    effects: tuple[Effect, ...]
    notes: tuple[Note, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    typed: frozenset[str] = frozenset()
    holds: Mapping[str, frozenset[str]] = {}
    mixed: Mapping[str, Mixed] = {}

    def find_missed_effects(self, effects: Effects = "keep") -> tuple[Effect, ...]:
        """Return the effects that matter if a call is omitted."""
        return tuple(e for e in self.effects if e.kind not in UNMISSED[effects])


def dataflow(request: AnalysisRequest) -> Dataflow:
    """Analyse a function. Declines like :func:`function_source` if its source is not known."""
    a = Analysis(request, _INTERPRETER)
    at = open_owner(a, request.function, generator=request.form == "batches")
    node = a.owners[at].source.node
    a.stack.append(ActiveCall(at, None, node, node))
    s = AnalysisState([{}])
    try:
        _bind_parameters(a, s)
        a.returns.append([])
        if statements.block(a, node.body, s):
            a.returns[-1].append(Returned(AbstractScalar(), s))
        if request.form == "group":
            for value, state, _ in a.returns[-1]:
                a.results.append(result_of(a, state, value, node))
    except (TooLarge, RecursionError):
        return _give_up(a, "the function is too large to be followed", node)
    if not is_every_closure_followed(a):
        why = "a function inside of it uses its variables, and not all of its calls are followed"
        return _give_up(a, why, node)
    return _answers(a)


def _give_up(a: Analysis, reason: str, node: ast.AST) -> Dataflow:
    return Dataflow({}, None, None, None, (Effect("unread", reason, a.span(node)),), ())


def _bind_parameters(a: Analysis, s: AnalysisState) -> None:
    request, node = a.request, a.owner.source.node
    declared = parameters(request.function)
    if request.receiver is not None and declared:
        s.env[declared.pop(0).name] = of_object(a, s, request.receiver, "self")
    for name, value in request.named.items():
        s.env[name] = of_object(a, s, value, name)
    declared = [p for p in declared if p.name not in request.named]
    kinds = {p.kind: p.name for p in declared}
    names = [p.name for p in declared if p.kind not in _REST]
    values = _bind_arguments(a, s, names)
    if request.form == "row" and _REST[0] not in kinds:
        values = values[: len(names)]
    if len(values) < len(names) or (len(values) > len(names) and _REST[0] not in kinds):
        raise DeclineSignal("unknown-columns", "the function has further parameters")
    s.env.update(zip(names, values, strict=False))
    if _REST[0] in kinds:
        s.env[kinds[_REST[0]]] = AbstractTuple(tuple(values[len(names) :]))
    if _REST[1] in kinds:
        nothing = Items("dict", None, None, ())
        s.env[kinds[_REST[1]]] = s.make(a.site(node, 8), lambda _: nothing)


_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""The kinds of parameters that take all other arguments."""


def _bind_arguments(a: Analysis, s: AnalysisState, names: list[str]) -> list[Value]:
    """Return the arguments that Spark passes to a function with these parameters."""
    request, node = a.request, a.owner.source.node
    if request.form == "row":
        # A wrapper with ``*args`` takes the arguments of what it wraps.
        count = max(len(names), len(inspect.signature(request.function).parameters))
        return [AbstractScalar()] * (len(names) if request.receiver is not None else count)
    if request.form == "batches":
        return [all_batches(a, s, node)]
    tables: list[Value] = [first_table(a, s, node)]
    if request.beside is not None:
        tables.append(_second_table(a, s, request.beside))
    if len(names) != len(tables) + 1:
        return tables
    return [AbstractTuple(tuple(_key(request, k) for k in request.keys)), *tables]


def _key(request: AnalysisRequest, name: str) -> AbstractScalar:
    """The value of a grouping column. It depends on no row, unless the rows of a group may have
    different keys that Spark takes for one: then it is that of the first row.
    """
    type_ = request.types.get(name, "")
    return AbstractScalar(frozenset((name,)), fixed=is_key_type(type_), text=type_ == "string")


_BESIDE = "\0"
"""The prefix of names of the second table's columns; no column name contains it."""


def _second_table(
    a: Analysis, s: AnalysisState, beside: tuple[tuple[str, ...], tuple[str, ...]]
) -> Value:
    """Make the second table of ``cogroup``."""
    names, keys = beside
    key_of_column = dict(zip(keys, a.request.keys, strict=True))

    def make(place: AllocationSite) -> Table:
        columns = []
        for at, name in enumerate(names):
            keys = frozenset(k for k in (key_of_column.get(name),) if k is not None)
            unread, memory = frozenset((_BESIDE + name,)), part_of(place, at)
            column = AbstractColumn(keys, unread, rows=place, memory=memory, name=name)
            columns.append((name, column))
        return Table(tuple(columns), place)

    return s.make((0, 2), make)


def _answers(a: Analysis) -> Dataflow:
    effects, notes = tuple(a.effects.values()), tuple(a.notes.values())
    if a.changed_outside:
        return Dataflow({}, None, None, None, effects, notes)
    reads = frozenset(a.read & set(a.request.columns))
    beside = frozenset(n.removeprefix(_BESIDE) for n in a.read if n.startswith(_BESIDE))
    # How pandas shares memory between tables is known less well than everything else here.
    shown = {} if a.writes_items else _keys(a.results)
    keys = {n: k for n, k in shown.items() if not k.startswith(TEXT)}
    texts = {n: k.removeprefix(TEXT) for n, k in shown.items() if n not in keys}
    alone = a.is_row_by_row and all(r.rowwise for r in a.results)
    passes = _passes(a.results) if alone else None
    typed = frozenset(a.typed & set(a.request.columns))
    holds = {n: h for r in a.results for n, h in r.holds.items()}
    for n in holds:
        holds[n] = frozenset().union(*(r.holds.get(n, frozenset()) for r in a.results))
    mixed: dict[str, Mixed] = {}
    for r in a.results:
        mixed |= {n: "any" if mixed.get(n, m) != m else m for n, m in r.mixed.items()}
    return Dataflow(keys, reads, beside, passes, effects, notes, texts, typed, holds, mixed)


def _keys(results: list[TableFacts]) -> Mapping[str, str]:
    filled = [r.keys for r in results if r.keys is not None]
    if not filled:
        return {}
    common = frozenset.intersection(*(frozenset(f) for f in filled))
    common_keys = {n: frozenset.intersection(*(f[n] for f in filled)) for n in common}
    return {
        n: min(k, key=lambda key: (key.startswith(TEXT), key))
        for n, k in sorted(common_keys.items())
        if k
    }


def _passes(results: list[TableFacts]) -> Mapping[str, str]:
    filled = [frozenset(r.passes.items()) for r in results if r.keys is not None]
    return dict(sorted(frozenset.intersection(*filled))) if filled else {}


class _Interpreter:
    """The evaluator that models call back."""

    evaluate = staticmethod(expressions.evaluate)
    consume = staticmethod(literals.evaluate_consumed)
    block = staticmethod(statements.block)
    define = staticmethod(expressions.define)
    callback = staticmethod(calls.callback)
    call_function = staticmethod(calls.inline_call)
    attribute_of_module = staticmethod(expressions.outside_attribute)

    @staticmethod
    def call_later(call: EvaluatedCall, function: Function, argument: Value) -> Value:
        return calls.called_back(call.a, call.s, function, argument, call.node)

    @staticmethod
    def follow_call(call: EvaluatedCall, function: Function, arguments: Given) -> Value:
        return calls.inline_call(call.a, call.s, function, arguments)


_INTERPRETER = _Interpreter()
