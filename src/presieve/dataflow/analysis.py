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
from collections.abc import Mapping

from msgspec import Struct

from presieve.dataflow import calls, expressions, literals, statements
from presieve.dataflow.abstract_values import (
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Function,
    Table,
    Value,
    part_of,
)
from presieve.dataflow.closures import is_every_closure_followed
from presieve.dataflow.context import (
    ActiveCall,
    Analysis,
    AnalysisRequest,
    Effect,
    EvaluatedCall,
    GaveUp,
    Given,
    Note,
    TableFacts,
)
from presieve.dataflow.free_names import open_owner
from presieve.dataflow.iteration import all_batches, first_table
from presieve.dataflow.returned_tables import result_of
from presieve.dataflow.state import AnalysisState
from presieve.errors import DeclineSignal
from presieve.lift.python.names import parameters


class Dataflow(Struct, frozen=True):
    """The facts about a function.

    ``keys`` maps result columns to the grouping column whose value they hold in each row, if they
    are present. ``reads`` are the input columns that may be read; None if that is unknown.
    ``reads_beside`` are those of the second table, if there is one. ``passes`` maps
    result columns to the input column that they pass on, row by row; None if rows depend on
    each other. ``effects``: what else it may do; ``notes``: what spoils an answer, and where.
    """

    keys: Mapping[str, str]
    reads: frozenset[str] | None
    reads_beside: frozenset[str] | None
    passes: Mapping[str, str] | None
    effects: tuple[Effect, ...]
    notes: tuple[Note, ...]

    @property
    def missed(self) -> tuple[Effect, ...]:
        """The effects that matter if a call is omitted. Messages do not matter."""
        return tuple(e for e in self.effects if e.kind != "message")


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
            a.returns[-1].append((AbstractScalar(), s))
        if request.form == "group":
            for value, state in a.returns[-1]:
                a.results.append(result_of(a, state, value, node))
    except (GaveUp, RecursionError):
        return _nothing_known(a, "the function is too large to be followed", node)
    if not is_every_closure_followed(a):
        why = "a function inside of it uses its variables, and not all of its calls are followed"
        return _nothing_known(a, why, node)
    return _answers(a)


def _nothing_known(a: Analysis, reason: str, node: ast.AST) -> Dataflow:
    return Dataflow({}, None, None, None, (Effect("unknown", reason, a.span(node)),), ())


def _bind_parameters(a: Analysis, s: AnalysisState) -> None:
    request = a.request
    names = [p.name for p in parameters(request.function)]
    node = a.owner.source.node
    if request.form == "row":
        s.env.update({name: AbstractScalar() for name in names})
        return
    if request.form == "batches":
        if len(names) != 1:
            raise DeclineSignal("unknown-columns", "the function has further parameters")
        s.env[names[0]] = all_batches(a, s, node)
        return
    tables = 1 if request.beside is None else 2
    if len(names) not in (tables, tables + 1):
        raise DeclineSignal("unknown-columns", "the function has further parameters")
    if len(names) == tables + 1:
        s.env[names[0]] = AbstractTuple(
            tuple(AbstractScalar(frozenset((k,))) for k in request.keys)
        )
    s.env[names[-tables]] = first_table(a, s, node)
    if request.beside is not None:
        s.env[names[-1]] = _second_table(a, s, request.beside)


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
    keys = {} if a.writes_items else _keys(a.results)
    alone = a.alone and all(r.rowwise for r in a.results)
    passes = _passes(a.results) if alone else None
    return Dataflow(keys, reads, beside, passes, effects, notes)


def _keys(results: list[TableFacts]) -> Mapping[str, str]:
    filled = [r.keys for r in results if r.keys is not None]
    if not filled:
        return {}
    common = frozenset.intersection(*(frozenset(f) for f in filled))
    common_keys = {n: frozenset.intersection(*(f[n] for f in filled)) for n in common}
    return {n: min(k) for n, k in sorted(common_keys.items()) if k}


def _passes(results: list[TableFacts]) -> Mapping[str, str]:
    filled = [frozenset(r.passes.items()) for r in results if r.keys is not None]
    return dict(sorted(frozenset.intersection(*filled))) if filled else {}


class _Interpreter:
    """The evaluator that models call back."""

    evaluate = staticmethod(expressions.evaluate)
    consume = staticmethod(literals.evaluate_consumed)
    block = staticmethod(statements.block)
    callback = staticmethod(calls.callback)

    @staticmethod
    def follow_call(call: EvaluatedCall, function: Function, arguments: Given) -> Value:
        return calls.inline_call(call.a, call.s, function, arguments)


_INTERPRETER = _Interpreter()
