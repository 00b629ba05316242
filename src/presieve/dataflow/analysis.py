"""Trusted. What holds of a function that need not be lifted, by abstract interpretation.

Cousot and Cousot, POPL 1977. An unknown value is unknown, not the end: each question has an answer
of its own, and a note for each place that spoils it.

Keys: which columns of the result hold a grouping column's value in each row. A filter on them keeps
all that a function gives for a group, or nothing.

Columns: which input columns the result can depend on, number and order of its rows included. A
column is read where its values, its name or its type can be seen. The others may hold anything, or
be missing.

Rows: which columns of the result hold an input column's value of the row that they are made of,
each row for itself. A filter on them keeps what is made of a row, or drops it.

Effects: what a function may do besides giving rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from presieve.dataflow import calls, displays, expressions, statements
from presieve.dataflow.context import (
    Analysis,
    Call,
    Effect,
    Frame,
    GaveUp,
    Given,
    Note,
    Request,
    Result,
)
from presieve.dataflow.iteration import first_table
from presieve.dataflow.outside import open_owner
from presieve.dataflow.results import result_of
from presieve.dataflow.state import State
from presieve.dataflow.values import Batches, Column, Function, Place, Scalar, Table, TupleV, Value
from presieve.errors import DeclineSignal
from presieve.lift.python.names import parameters


@dataclass(frozen=True, slots=True)
class Dataflow:
    """What holds of a function.

    ``keys``: result columns with the grouping column whose value they hold in each row, if they are
    there. ``reads``: input columns that may be read; None where that is not known.
    ``reads_beside``: those of the second table, where there is one. ``passes``:
    result columns with the input column that they pass on, row by row; None where rows depend on
    each other. ``effects``: what it may do besides; ``notes``: what spoils an answer, and where.
    """

    keys: Mapping[str, str]
    reads: frozenset[str] | None
    reads_beside: frozenset[str] | None
    passes: Mapping[str, str] | None
    effects: tuple[Effect, ...]
    notes: tuple[Note, ...]

    @property
    def missed(self) -> tuple[Effect, ...]:
        """The effects that somebody counts on, if a call is left out. Nobody counts on messages."""
        return tuple(e for e in self.effects if e.kind != "message")


def dataflow(request: Request) -> Dataflow:
    """What holds of a function. Declines as :func:`function_source` where its text is not known."""
    a = Analysis(request, _INTERPRETER)
    at = open_owner(a, request.function, generator=request.form == "batches")
    node = a.owners[at].source.node
    a.stack.append(Frame(at, None, node, node))
    s = State([{}])
    try:
        _bind_parameters(a, s)
        a.returns.append([])
        if statements.block(a, node.body, s):
            a.returns[-1].append((Scalar(), s))
        if request.form == "group":
            for value, state in a.returns[-1]:
                a.results.append(result_of(a, state, value, node))
    except (GaveUp, RecursionError):
        effect = Effect("unknown", "the function is too large to be followed", a.span(node))
        return Dataflow({}, None, None, None, (effect,), ())
    return _answers(a)


def _bind_parameters(a: Analysis, s: State) -> None:
    request = a.request
    names = [p.name for p in parameters(request.function)]
    node = a.owner.source.node
    if request.form == "row":
        s.env.update({name: Scalar() for name in names})
        return
    if request.form == "batches":
        if len(names) != 1:
            raise DeclineSignal("unknown-columns", "the function has further parameters")
        s.env[names[0]] = Batches()
        return
    tables = 1 if request.beside is None else 2
    if len(names) not in (tables, tables + 1):
        raise DeclineSignal("unknown-columns", "the function has further parameters")
    if len(names) == tables + 1:
        s.env[names[0]] = TupleV(tuple(Scalar(frozenset((k,))) for k in request.keys))
    s.env[names[-tables]] = first_table(a, s, node)
    if request.beside is not None:
        s.env[names[-1]] = _second_table(a, s, request.beside)


_BESIDE = "\0"
"""Stands before the names of the second table's columns, which no name of a column contains."""


def _second_table(a: Analysis, s: State, beside: tuple[tuple[str, ...], tuple[str, ...]]) -> Value:
    """The other table of ``cogroup``."""
    names, keys = beside
    held = dict(zip(keys, a.request.keys, strict=True))

    def make(place: Place) -> Table:
        columns = tuple(
            (
                name,
                Column(
                    keys=frozenset((held[name],)) if name in held else frozenset(),
                    unread=frozenset((_BESIDE + name,)),
                    rows=place,
                    memory=frozenset((Place((*place.site, at)),)),
                    name=name,
                ),
            )
            for at, name in enumerate(names)
        )
        return Table(columns, place)

    return s.make((0, 2), make)


def _answers(a: Analysis) -> Dataflow:
    effects, notes = tuple(a.effects.values()), tuple(a.notes.values())
    if a.changed_outside:
        return Dataflow({}, None, None, None, effects, notes)
    reads = frozenset(a.read & set(a.request.columns))
    beside = frozenset(n.removeprefix(_BESIDE) for n in a.read if n.startswith(_BESIDE))
    # What pandas shares between tables is known less well than all else here.
    keys = {} if a.writes_items else _keys(a.results)
    alone = a.alone and all(r.rowwise for r in a.results)
    passes = _passes(a.results) if alone else None
    return Dataflow(keys, reads, beside, passes, effects, notes)


def _keys(results: list[Result]) -> Mapping[str, str]:
    filled = [r.keys for r in results if r.keys is not None]
    if not filled:
        return {}
    common = frozenset.intersection(*(frozenset(f) for f in filled))
    found = {n: frozenset.intersection(*(f[n] for f in filled)) for n in common}
    return {n: min(k) for n, k in sorted(found.items()) if k}


def _passes(results: list[Result]) -> Mapping[str, str]:
    filled = [frozenset(r.passes.items()) for r in results if r.keys is not None]
    return dict(sorted(frozenset.intersection(*filled))) if filled else {}


class _Interpreter:
    """The evaluator that models call back."""

    evaluate = staticmethod(expressions.evaluate)
    consumed = staticmethod(displays.consumed)
    block = staticmethod(statements.block)
    callback = staticmethod(calls.callback)

    @staticmethod
    def inlined(call: Call, function: Function, given: Given) -> Value:
        return calls.inlined(call.a, call.s, function, given)


_INTERPRETER = _Interpreter()
