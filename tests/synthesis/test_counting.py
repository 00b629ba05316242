"""Filters that only long tables pass: counts, and counts of many millions.

The samples come from a problem with lowered constants; proof and witnesses are of the original one.
"""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.amount import amount
from tests.support.answers import STRENGTHS
from tests.support.synthesis import folds
from tests.support.synthesis.cases import Case
from tests.support.synthesis.running import Pipeline, Row, equal, lawful_pool, pipeline_of, solved

from presieve.certificate import Certificate, Verified, check
from presieve.driver.synthesize import synthesize
from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.pushdown import Pushdown
from presieve.ir.terms import SQL_TRUE, Op, Term, literal_value
from presieve.ir.walk import literals
from presieve.smt.solver import Effort
from presieve.sql.emit import emit
from presieve.synthesis.forms.count_scaling import CountScaling, scale_counts, scale_of
from presieve.universe.value_classes import Classes

TABLES = amount(1500, 5)
EVENTS: dict[str, Any] = {
    "fold": folds.EventWindow,
    "schema": "g string, action string, ts bigint NOT NULL",
    "returns": "time bigint, price bigint, first bigint, last bigint",
    "pools": {"action": ["time", "price", "price", "", None], "ts": [3, 4, 5, 6, 7, 8, 9, 10, 11]},
    "longest": 60,
}


class Known:
    """Sum and number of the readings that are there."""

    def zero(self) -> Any:
        return (None, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        total, count = acc
        if row["x"] is None:
            return acc
        if total is None:
            return (row["x"], 1)
        return (total + row["x"], count + 1)


class Points:
    """Ten for a win, five away for a defeat."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["result"] == "win":
            return acc + 10
        return acc - 5 if row["result"] == "defeat" else acc


class CountOrColumn:
    """A counter that a column may take the place of."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["x"] < 0 else row["x"]


KNOWN: dict[str, Any] = {
    "fold": Known,
    "schema": "g string, x double",
    "returns": "total double, count bigint",
    "prefilter": "x IS NOT NULL OR isnan(x)",
    "kind": "split",
    "pools": {"x": [0.0, 1.0, 40.0, 75.0, 2500.0, -1.0, None, None, math.nan]},
    "longest": 120,
}
POINTS: dict[str, Any] = {
    "fold": Points,
    "schema": "g string, result string",
    "returns": "points bigint",
    "prefilter": "result IN ('defeat', 'win')",
    "pools": {"result": ["win", "win", "defeat", "draw", None]},
    "longest": 90,
}

REACHED: tuple[Case, ...] = (
    Case(
        name="two counts",
        where="time > 7 AND price > 18 AND first < 5 AND last >= 10",
        kind="partial",
        prefilter="action IN ('price', 'time') OR ts < 5 OR ts >= 10",
        residual="time > 7 AND price > 18 AND first < 5 AND last >= 10",
        strength="regions",
        **EVENTS,
    ),
    Case(
        name="either count",
        where="(time > 7 OR price > 18) AND first <= 5 AND (last = 7 OR last >= 10)",
        kind="partial",
        prefilter="action IN ('price', 'time') OR ts <= 5 OR ts >= 7",
        residual="(time > 7 OR price > 18) AND first <= 5 AND (last = 7 OR last >= 10)",
        **EVENTS,
    ),
    Case(
        name="a count between bounds",
        where="time > 0 AND price > 5 AND price <= 18 AND (first = 7 OR first <= 5)"
        " AND (last > 10 OR last = 9)",
        kind="split",
        prefilter="action IN ('price', 'time') OR ts <= 7 OR ts >= 9",
        residual="`time` <> 0 AND price > 5 AND price <= 18 AND (first = 7 OR first <= 5)"
        " AND (last > 10 OR last = 9)",
        **EVENTS,
    ),
    Case(
        name="known readings counted",
        where="total IS NOT NULL AND total >= 2500 AND total <> 5000"
        " AND count > 50 AND count <= 100",
        residual="total >= 2500.0D AND total <> 5000.0D AND count > 50 AND count <= 100",
        strength="optimal",
        **KNOWN,
    ),
    Case(
        name="a long streak",
        fold=folds.LongestStreak,
        where="best >= 30",
        schema="g string, up boolean",
        returns="best bigint",
        kind="partial",
        prefilter="up IS NOT NULL",
        residual="best >= 30",
        pools={"up": [*[True] * 40, False, None]},
        longest=80,
    ),
    Case(
        name="points by tens",
        where="points >= 350 AND points <> 360",
        kind="partial",
        residual="points >= 350 AND points <> 360",
        **POINTS,
    ),
    Case(
        name="less than points by tens",
        where="points <= -150",
        kind="partial",
        residual="points <= -150",
        **POINTS,
    ),
)

OUT_OF_REACH: tuple[Case, ...] = (
    Case(
        name="millions of readings",
        where="total IS NOT NULL AND total >= 2500000 AND total <> 5000000"
        " AND count > 5000000 AND count <= 25000000",
        residual="total >= 2500000.0D AND total <> 5000000.0D AND count > 5000000"
        " AND count <= 25000000",
        strength="universe",
        **KNOWN,
    ),
)

every = pytest.mark.parametrize("case", REACHED + OUT_OF_REACH, ids=str)
reached = pytest.mark.parametrize("case", REACHED, ids=str)


def certificate(case: Case) -> Certificate:
    found = solved(case).certificate
    assert found is not None
    return found


@pytest.mark.costly
@every
def test_kind_and_predicates(case: Case) -> None:
    found = solved(case)
    told = (found.kind, found.prefilter, found.residual, found.declined)
    assert told == (case.kind, case.prefilter, case.residual, [])
    assert found.certificate is not None
    assert STRENGTHS.index(found.certificate.strength) >= STRENGTHS.index(case.strength)


@every
def test_cvc5_accepts_the_certificate(case: Case) -> None:
    verdict = check(certificate(case), "cvc5", Effort(seconds=60.0))
    assert isinstance(verdict, Verified), verdict


def _tables(case: Case, count: int) -> list[list[Row]]:
    """Long tables of few different rows."""
    random = Random(case.name)
    pool = lawful_pool(case, random, 200)
    found = []
    for i in range(count):
        few = random.sample(pool, random.choice((2, 3, 4, 30)))
        found.append([random.choice(few) for _ in range(i % (case.longest + 1))])
    return found


@pytest.mark.costly
@pytest.mark.random
@reached
def test_random_tables(case: Case) -> None:
    line, found = pipeline_of(case), certificate(case)
    results = dropped = 0
    for rows in _tables(case, TABLES):
        kept = line.keep(found.prefilter, rows)
        original = line.outcome(rows, found.problem.where)
        assert equal(original, line.outcome(kept, found.residual)), rows
        results += original != []
        dropped += len(rows) - len(kept)
    assert results > 5, "the tables must reach the filter"
    assert dropped > TABLES // 3


@reached
def test_a_stronger_prefilter_loses_a_result(case: Case) -> None:
    """Each witness is such a table, run by the user's own class."""
    line, found = pipeline_of(case), certificate(case)
    assert found.witnesses
    names = [c.name for c in found.problem.fold.columns]
    for witness in found.witnesses[::3]:
        assert len(witness.rows) <= 3000
        rows: list[Row] = [
            {"g": "a", **dict(zip(names, map(literal_value, row), strict=True))}  # type: ignore[arg-type]
            for row in witness.rows
        ]
        fewer = rows[: witness.index] + rows[witness.index + 1 :]
        where = found.problem.where
        assert not equal(line.outcome(rows, where), line.outcome(fewer, where))
        outside = app(Op.SQL_NOT, app(Op.SQL_EQ_NULLSAFE, witness.region, SQL_TRUE))
        twin = sql_conjunction([found.prefilter, outside])
        assert _is_refuted(line, found, twin, rows), emit(twin, "UTC")


def _is_refuted(line: Pipeline, found: Certificate, twin: Term, rows: list[Row]) -> bool:
    """The checker does not prove the stronger pre-filter, and leaving out rows of the region that
    it gives up changes the result of some table: the witness, or what is left of it on the way.
    """
    claim = Certificate.of(found.problem, _pushed(found, twin))
    if isinstance(check(claim), Verified):
        return False
    where, left = found.problem.where, list(rows)
    for row in rows:
        if line.keep(twin, [row]) or not line.keep(found.prefilter, [row]):
            continue
        before = line.outcome(left, where)
        left.remove(row)
        if not equal(before, line.outcome(left, where)):
            return True
    return False


def _pushed(found: Certificate, prefilter: Term) -> Pushdown:
    where = found.problem.where
    return Pushdown("partial", "universe", prefilter, where, found.invariant, ())


@pytest.mark.costly
@every
def test_the_same_answer_again(case: Case) -> None:
    first = solved(case)
    again = synthesize(
        case.fold,
        case.where,
        schema=case.schema,
        returns=case.returns,
        keys=case.keys,
        mode=case.mode,
        budget=60.0,
    )
    assert again.certificate == first.certificate
    assert again.solver_calls == first.solver_calls


# --- count scaling ------------------------------------------------------------------------------


def _problem(case: Case, where: str) -> Problem:
    line = pipeline_of(case)
    return line.inputs.problem(line.predicate("where", where))


def _lowered(case: Case, where: str) -> CountScaling | None:
    problem = _problem(case, where)
    return scale_counts(problem, Classes(problem))


def test_constants_are_lowered_where_they_meet_a_counter() -> None:
    found = _lowered(REACHED[0], "time > 7 AND price > 18 AND first < 18 AND last >= 7")
    assert found is not None
    assert [literal_value(x) for x in literals(found.problem.where)] == [2, 18, 7]


def test_counts_that_short_tables_reach_are_not_lowered() -> None:
    assert _lowered(REACHED[0], "time > 2 AND price > 4 AND first < 1800") is None


def test_a_column_is_not_lowered() -> None:
    case = Case("", CountOrColumn, "", "g string, x bigint NOT NULL", "n bigint", "", "", "", {})
    assert _lowered(case, "n > 1000") is None


@given(st.lists(st.integers(-(10**9), 10**9), max_size=6), st.integers(1, 12))
def test_lowered_constants_keep_their_order(constants: list[int], unit: int) -> None:
    scale = scale_of(constants, unit)
    assert scale[0] == 0
    assert set(constants) <= set(scale)
    for old, following in pairwise(sorted(scale)):
        gap = scale[following] - scale[old]
        assert 0 < gap <= following - old
        assert (gap > 1) == (following - old > 1)
        assert gap < 3 * unit or gap == following - old
    for old, new in scale.items():
        assert (old - new) % unit == 0
