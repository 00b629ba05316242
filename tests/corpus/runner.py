"""What is asked of every real function of the corpus: it lifts, or declines with a reason that
helps; its fold gives what Python gives; and no pre-filter changes a result.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from random import Random
from types import FunctionType
from typing import Any

from tests.support.lifting import declined, interpreted, request, run_class, run_frame, run_series

from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.driver.synthesize import Synthesis, synthesize
from presieve.errors import Declined
from presieve.ir.fold import Assumption
from presieve.ir.terms import Lit, Scope, Term, Var
from presieve.ir.walk import literals
from presieve.lift import LiftRequest
from presieve.semantics.interpret import Raised, evaluate, holds
from presieve.semantics.values import Value, from_python, same

BUDGET = 10.0
"""Seconds of search for each filter."""

TABLES = 300
"""Random tables for each fold and for each filter."""

Row = dict[str, Value]
Env = dict[tuple[Scope, str], Value]


@dataclass(frozen=True)
class Filter:
    """A filter on the output. ``mark`` is what the corpus expects: ``★`` a pre-filter that depends
    on the filter's constants, ``☆`` one that only leaves out rows which change no state, ``○``
    none, ``REAL`` that the filter is the original project's. ``note`` says who is right where what
    is found is something else. ``long`` says that the search takes many seconds.
    """

    where: str
    mark: str
    note: str = ""
    long: bool = False


@dataclass(frozen=True)
class Entry:
    """One function of the corpus, as a user of PySpark writes it.

    ``fold`` is a class with ``zero`` and ``reduce``, a function of Series named like columns, or a
    function of ``pdf`` or ``key, pdf``. ``pools`` are values worth trying for every column but the
    key ``g``; a column with None in its pool is nullable. ``declined`` is the code and ``because``
    a part of the reason where it does not lift.
    """

    id: str
    fold: Any
    schema: str
    returns: str
    pools: Mapping[str, Sequence[object]] = field(hash=False)
    filters: tuple[Filter, ...] = ()
    lift: str = "yes"
    variant: str = ""
    declined: str = ""
    because: str = ""
    keys: str = "g"
    longest: int = 6

    def __str__(self) -> str:
        return f"{self.id} {self.variant}".strip().replace(" ", "-")

    @property
    def asked(self) -> LiftRequest:
        """What lifting is told."""
        return request(self.schema, self.returns, self.keys)


def filters_of(entries: Sequence[Entry]) -> list[Any]:
    """Every entry that lifts with each of its filters, as parameters of a test."""
    import pytest

    return [
        pytest.param(e, f, id=f"{e}-{i}", marks=[pytest.mark.slow] * f.long)
        for e in entries
        if not e.declined
        for i, f in enumerate(e.filters)
    ]


@cache
def inputs_of(entry: Entry) -> Inputs:
    """The lifted fold; the test fails where it is declined."""
    found = read_inputs(entry.fold, entry.schema, entry.returns, entry.keys, "grouped")
    assert not isinstance(found, Declined), str(found)
    return found


@cache
def solved(entry: Entry, asked: Filter) -> Synthesis:
    """The answer to a filter, once a run."""
    return synthesize(
        entry.fold,
        asked.where,
        schema=entry.schema,
        returns=entry.returns,
        keys=entry.keys,
        budget=BUDGET,
    )


# --- running the user's own code ----------------------------------------------------------------


def run(entry: Entry, rows: Sequence[Row]) -> tuple[Value, ...] | Raised:
    """What the user's code gives for one group, stored as Spark stores it."""
    asked = entry.asked
    columns = {c.name for c in asked.schema}
    found: Any
    if not isinstance(entry.fold, FunctionType):
        found = run_class(entry.fold, asked, rows)
    else:
        names = list(inspect.signature(entry.fold).parameters)
        if set(names) <= columns:
            found = run_series(entry.fold, asked, names, rows)
        else:
            found = run_frame(entry.fold, asked, len(names) == 2, rows)
    return found  # type: ignore[no-any-return]


def tables(entry: Entry, what: str, assumptions: Sequence[Assumption]) -> list[list[Row]]:
    """Groups of one and more rows from the pools, all rows as the assumptions say."""
    random = Random(f"{entry} {what}")
    sorts = {n: v.sort for n, v in inputs_of(entry).input_names().items()}
    pools = {"g": ("a",), **entry.pools}
    assert set(pools) >= {c.name for c in entry.asked.schema}, "every column needs a pool"

    def row() -> Row:
        return {c.name: _value(random, pools[c.name], sorts, c.name) for c in entry.asked.schema}

    found = []
    for i in range(TABLES):
        # A few different rows that come again and again make ties and repetitions.
        few = [row() for _ in range(random.choice((2, 4, 12)))]
        lawful = [r for r in few if _lawful(entry, r, assumptions)]
        if lawful:
            found.append([random.choice(lawful) for _ in range(1 + i % entry.longest)])
    assert len(found) > TABLES // 2, "too few rows obey the assumptions"
    return found


def _value(random: Random, pool: Sequence[object], sorts: Mapping[str, Any], name: str) -> Value:
    return from_python(random.choice(pool), sorts[name])


def _env(names: Mapping[str, Var], values: Mapping[str, Value]) -> Env:
    return {(v.scope, v.name): values.get(n) for n, v in names.items()}


def _lawful(entry: Entry, row: Row, assumptions: Sequence[Assumption]) -> bool:
    env = _env(inputs_of(entry).input_names(), row)
    return all(evaluate(a.term, env) is True for a in assumptions)


def _term(text: str, names: dict[str, Var]) -> Term:
    term = read_filter("filter", text, names)
    assert not isinstance(term, Declined), str(term)
    return term


def outcome(entry: Entry, rows: Sequence[Row], post: Term) -> tuple[Value, ...] | Raised | None:
    """The output of a group that passes the filter; None where there is none."""
    found = run(entry, rows) if rows else None
    if found is None or isinstance(found, Raised):
        return found
    inputs = inputs_of(entry)
    outputs = dict(zip((o.name for o in inputs.fold.outputs), found, strict=True))
    keys = {k: rows[0][k] for k in inputs.keys}
    return found if holds(post, _env(inputs.output_names(), {**keys, **outputs})) else None


# --- what is asked ------------------------------------------------------------------------------


def assert_declined(entry: Entry) -> None:
    """It is declined with the code, and with words that tell the user what to do."""
    found = declined(entry.fold, entry.asked)
    assert (found.code, entry.because in found.reason) == (entry.declined, True), str(found)
    assert entry.because
    assert found.span is not None


def assert_agrees(entry: Entry) -> None:
    """The lifted fold gives what the user's code gives, NULL and NaN included."""
    lifted = inputs_of(entry).lifted
    needed = [a for a in lifted.assumptions if a.code != "no-nan"]
    results = 0
    for rows in tables(entry, "agreement", needed):
        keys = {k: rows[0][k] for k in inputs_of(entry).keys}
        model, real = interpreted(lifted, rows, keys), run(entry, rows)
        assert isinstance(real, Raised) == isinstance(model, Raised), (rows, model, real)
        if not isinstance(real, Raised) and not isinstance(model, Raised):
            assert same(model, real), (rows, model, real)
            results += 1
    assert results > TABLES // 4, "nearly every table raises"


def assert_same_results(entry: Entry, asked: Filter) -> None:
    """On random tables the user's own code gives the same with and without the pushdown."""
    found, inputs = solved(entry, asked), inputs_of(entry)
    # Where the search proposes what neither it nor the checker can prove, or what drops nothing but
    # rows that raise, nothing is pushed.
    codes = {d["code"] for d in found.declined}
    assert codes <= {"check", "no-proof", "may-erase-error"}, found.declined
    if found.certificate is None:
        assert (found.kind, found.prefilter) == ("none", "true")
        return
    where = _term(asked.where, inputs.output_names())
    below = _term(found.prefilter, inputs.input_names())
    above = _term(found.residual, inputs.output_names())
    results = dropped = 0
    for rows in tables(entry, asked.where, found.certificate.problem.assumptions):
        original = outcome(entry, rows, where)
        kept = [r for r in rows if holds(below, _env(inputs.input_names(), r))]
        dropped += len(rows) - len(kept)  # also those on which the function raises
        if isinstance(original, Raised):
            continue
        optimized = outcome(entry, kept, above)
        assert type(optimized) is type(original), (rows, kept, original, optimized)
        if original is not None:
            assert same(optimized, original), (rows, kept, original, optimized)
            results += 1
    assert (results > 0) == (found.kind != "empty"), "the tables must reach the filter"
    assert (dropped > 0) == (found.prefilter != "true")


def found_mark(entry: Entry, asked: Filter) -> str:
    """What is found, in the corpus' marks: whether the pre-filter has a constant of the filter that
    the function itself does not have.
    """
    found, inputs = solved(entry, asked), inputs_of(entry)
    if found.prefilter == "true":
        return "○"
    if found.kind == "empty":
        return "empty"
    fold = inputs.fold
    own = set(literals(*chain.from_iterable((f.init, f.step) for f in fold.fields)))
    own |= set(literals(*(o.term for o in fold.outputs)))
    wanted = _constants(_term(asked.where, inputs.output_names()))
    given = _constants(_term(found.prefilter, inputs.input_names()))
    return "★" if wanted & given - {(x.sort, x.value) for x in own} else "☆"


def _constants(term: Term) -> set[tuple[object, object]]:
    return {(x.sort, x.value) for x in literals(term) if isinstance(x, Lit) and x.value is not None}


def agrees(entry: Entry, asked: Filter) -> bool:
    """Whether what is found is what the corpus expects."""
    found = found_mark(entry, asked)
    return found != "○" if asked.mark == "REAL" else found == asked.mark


def assert_explained(entry: Entry, asked: Filter) -> None:
    """Where the corpus expects something else, a note says who is right; elsewhere is none."""
    told = (found_mark(entry, asked), solved(entry, asked).prefilter)
    assert agrees(entry, asked) == (asked.note == ""), (asked.mark, *told)
