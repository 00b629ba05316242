"""Thousands of random tables: every answer gives what the pipeline gives as it was written.

Each table is run twice: the user's own class under CPython with the SQL filters around it, and the
lifted fold on the compiled machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

import pytest
from tests.support.amount import amount
from tests.support.synthesis.cases import CASES, Case
from tests.support.synthesis.running import (
    RAISES,
    Pipeline,
    Row,
    equal,
    lawful_pool,
    pipeline_of,
    solved,
)
from tests.synthesis.compared import COMPARED
from tests.synthesis.wide import WIDE

from presieve.certificate import Certificate
from presieve.ir.ops import app
from presieve.ir.terms import Op, Scope, Term
from presieve.semantics import interpret
from presieve.semantics.fast_interpreter import State, agree, compile_problem, predicates
from presieve.semantics.values import Value

TABLES = amount(10_000, 10)
REFERENCE_TABLES = amount(300, 10)
named = pytest.mark.parametrize("case", CASES + COMPARED + WIDE, ids=str)


def certificate(case: Case) -> Certificate:
    found = solved(case).certificate
    assert found is not None
    return found


@cache
def tables(case: Case) -> list[list[Row]]:
    """Tables of all lengths, the empty one included; short ones are most frequent."""
    random = Random(case.name)
    pool = lawful_pool(case, random, 400)
    lengths = [min(i % (case.longest + 1), i % 17) for i in range(TABLES)]
    found = []
    for length in lengths:
        few = random.sample(pool, min(len(pool), random.choice((2, 3, 400))))
        found.append([random.choice(few) for _ in range(length)])
    return found


def _test(term: Term, names: list[tuple[Scope, list[str]]]) -> Callable[..., bool]:
    evaluate = predicates([app(Op.SQL_IS_TRUE, term)], names)
    return lambda *scopes: bool(evaluate(*scopes)[0])


class Compiled:
    """The predicates of an answer on plain rows, fast."""

    def __init__(self, case: Case) -> None:
        found = certificate(case)
        self.line: Pipeline = pipeline_of(case)
        self.problem = found.problem
        fold = self.problem.fold
        self.columns = [c.name for c in fold.columns]
        self.key_names = [c.name for c in fold.keys]
        rows = [(Scope.ROW, self.columns), (Scope.KEY, self.key_names)]
        outs = [(Scope.OUT, [o.name for o in fold.outputs]), (Scope.KEY, self.key_names)]
        self.keep = _test(found.prefilter, rows)
        self.where = _test(self.problem.where, outs)
        self.residual = _test(found.residual, outs)
        self.original = compile_problem(self.problem)
        self.pushed = compile_problem(self.problem, found.residual)
        self.sorts = self.line.input_sorts()
        self.out_sorts = {o.name: o.sort for o in fold.outputs}

    def state(self, row: Row, names: list[str]) -> State:
        values = self.line.values(row, self.sorts)
        return tuple(values[n] for n in names)

    def user(self, rows: list[Row], accepts: Callable[..., bool]) -> object:
        """What the user's code gives, with a filter on top."""
        if not rows:
            return None
        outputs = self.line.run(rows)
        if isinstance(outputs, str):
            return outputs
        shown = dict(zip(self.out_sorts, outputs, strict=True))
        values = self.line.values(shown, self.out_sorts)
        key = self.state(rows[0], self.key_names)
        return outputs if accepts(tuple(values.values()), key) else None


@pytest.mark.costly
@pytest.mark.random
@named
def test_random_tables(case: Case) -> None:
    compiled = Compiled(case)
    results = raised = dropped = 0
    for rows in tables(case):
        states = [compiled.state(r, compiled.columns) for r in rows]
        key: State = ("a",)
        marks = [compiled.keep(s, key) for s in states]
        kept = [r for r, mark in zip(rows, marks, strict=True) if mark]
        original = compiled.user(rows, compiled.where)
        assert original == RAISES or equal(original, compiled.user(kept, compiled.residual)), rows
        fewer = [s for s, mark in zip(states, marks, strict=True) if mark]
        expected = compiled.original.outcome(states, key)
        assert agree(expected, compiled.pushed.outcome(fewer, key)), rows
        assert isinstance(expected, tuple) == isinstance(original, tuple), rows
        results += isinstance(original, tuple)
        raised += original == RAISES
        dropped += len(rows) - len(kept)
    assert results > TABLES // 300, "the tables must reach the filter"
    assert dropped > TABLES // 10
    erases = any(a["code"] == "may-erase-error" for a in solved(case).assumptions)
    assert raised == 0 or erases


@pytest.mark.random
@named
def test_the_reference_interpreter_says_the_same(case: Case) -> None:
    compiled = Compiled(case)
    found = certificate(case)
    keys: dict[str, Value] = {"g": "a"}
    for table in tables(case)[:: TABLES // REFERENCE_TABLES]:
        rows = [compiled.line.values(r, compiled.sorts) for r in table]
        original = interpret.outcome(found.problem, rows, keys)
        pushed = interpret.pushed_outcome(
            found.problem, rows, keys, found.prefilter, found.residual
        )
        assert interpret.agree(original, pushed), table
        states = [tuple(r[n] for n in compiled.columns) for r in rows]
        fast = compiled.original.outcome(states, ("a",))
        if isinstance(original, interpret.Result):
            assert equal(fast, original.outputs)
        else:
            assert not isinstance(fast, tuple)
