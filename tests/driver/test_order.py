"""Whether a result depends on the order of rows. Witnesses are run through the user's own Python,
and what is told to be independent is run in many orders.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from random import Random

import pytest
from tests.driver import folds, orders
from tests.synthesis.cases import CASES, NOTHING_TO_PUSH, Case
from tests.synthesis.running import (
    Pipeline,
    assumed,
    equal,
    lawful_pool,
    pipeline,
    pipeline_of,
    solved,
)

import presieve
from presieve.driver import order as driver_order
from presieve.driver.synthesize import Synthesis
from presieve.ir.fold import Assumption
from presieve.report.order import Order, Permuted

INTS = "g string, v bigint NOT NULL"
DOUBLES = "g string, x double NOT NULL"
FLAGS = "g string, up boolean NOT NULL"
NAMED = "g string, v bigint NOT NULL, name string NOT NULL"
BEST = "best bigint, name string"


@dataclass(frozen=True)
class Job:
    """A fold, a filter, and what is to be told of its order: a cause, or a status."""

    fold: type
    where: str
    schema: str
    returns: str
    told: str
    mode: str = "grouped"
    declare: str = ""

    def __str__(self) -> str:
        return f"{self.fold.__name__} {self.where}"

    @property
    def keys(self) -> str:
        return "g" if self.mode == "grouped" else ""

    def pipeline(self) -> Pipeline:
        return pipeline(self.fold, self.schema, self.returns, self.keys, self.mode)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told must not depend on how busy the machine is."""
    monkeypatch.setattr(driver_order, "SECONDS", 60.0)


@cache
def synthesized(job: Job) -> Synthesis:
    return presieve.synthesize(
        job.fold,
        job.where,
        schema=job.schema,
        returns=job.returns,
        keys=job.keys,
        mode=job.mode,
        declare=(job.declare,) if job.declare else (),
        budget=60.0,
    )


BYTES = "g string, v binary NOT NULL"
MOMENTS = "g string, v timestamp_ntz NOT NULL"
PRICES = "g string, v decimal(10,2) NOT NULL"

DEPENDENT = [
    Job(orders.First, "f > X'61'", BYTES, "f binary", "value"),
    Job(orders.First, "f > TIMESTAMP_NTZ '2024-01-01'", MOMENTS, "f timestamp_ntz", "value"),
    Job(orders.First, "f > 0.5", PRICES, "f decimal(10,2)", "value"),
    Job(orders.First, "f > 3", INTS, "f bigint", "value"),
    Job(orders.First, "f > 3", "v bigint NOT NULL", "f bigint", "value", "global"),
    Job(orders.First, "f = 40123", INTS, "f bigint", "value"),
    Job(orders.First, "f > 'm'", "g string, v string NOT NULL", "f string", "value"),
    Job(orders.First, "f > DATE '2024-01-01'", "g string, v date NOT NULL", "f date", "value"),
    Job(orders.Last, "l > 3 AND n >= 2", INTS, "l bigint, n bigint", "value"),
    Job(orders.CountAndFirst, "n >= 40", INTS, "n bigint, f bigint", "value"),
    Job(orders.CountAndFirst, "n = 3 AND f = 77", INTS, "n bigint, f bigint", "value"),
    Job(orders.ArgMax, "best > 5", NAMED, BEST, "value"),
    Job(orders.Streak, "best >= 3", FLAGS, "best bigint", "value"),
    Job(orders.SevenAfterFive, "b", INTS, "b boolean", "value"),
    Job(orders.Weighted, "d = 100003", "g string, v int NOT NULL", "d bigint", "value"),
    Job(orders.ThirdLast, "t > 3", INTS, "t bigint", "value"),
    Job(orders.Strict, "n >= 2", INTS, "n bigint", "error"),
    Job(orders.Maximum, "m > 100", "g string, v bigint", "m bigint", "error"),
    Job(orders.FloatTotal, "s > 0", DOUBLES, "s double", "rounding"),
    Job(orders.FloatTotal, "s > 1000", DOUBLES, "s double", "rounding"),
    Job(orders.FloatMaximum, "m >= -1", DOUBLES, "m double", "zero", declare="NOT isnan(x)"),
    Job(orders.FloatMaximum, "m < 5", DOUBLES, "m double", "nan"),
    Job(orders.First, "f > 3", INTS, "f bigint", "value", declare="v > 4000"),
    Job(orders.FloatTotal, "s > 9", DOUBLES, "s double", "rounding", declare="x > 1e3 AND x < 1e4"),
]

INDEPENDENT = [
    Job(orders.TopTwo, "a > 9 AND b > 9", INTS, "a bigint, b bigint", "independent"),
    Job(orders.TopTwo, "b < 9", INTS, "a bigint, b bigint", "independent"),
    Job(orders.ArgMaxByName, "best > 5", NAMED, BEST, "independent"),
    Job(orders.Total, "s > 100", INTS, "s bigint", "independent"),
    Job(orders.Total, "s <= 100", "v bigint NOT NULL", "s bigint", "independent", "global"),
    Job(orders.Count, "n >= 5", INTS, "n bigint", "independent"),
    Job(orders.Maximum, "m > 100", INTS, "m bigint", "independent"),
    Job(orders.HasSeven, "b", INTS, "b boolean", "independent"),
    # What the filter hides does not count: which zero, which of the small ones came first.
    Job(orders.FloatMaximum, "m > 1", DOUBLES, "m double", "independent"),
    Job(orders.ArgMax, "best > 5 AND name IS NULL", NAMED, BEST, "independent"),
    Job(orders.First, "f > 3", INTS, "f bigint", "independent", declare="v <= 3"),
    Job(orders.First, "f IS NULL", "g string, v bigint", "f bigint", "independent"),
]

CAUSES = {"value", "error", "rounding", "nan", "zero"}


def assert_witness(
    line: Pipeline, where: str, found: Order, facts: Sequence[Assumption]
) -> Permuted:
    """The user's own code gives the two results on the two orders of the same lawful rows."""
    assert found.status == "dependent"
    witness = found.witness
    assert witness is not None
    assert all(line.lawful(r, facts) for r in witness.rows)
    assert Counter(map(repr, witness.rows)) == Counter(map(repr, witness.permuted))
    post = line.predicate("where", where)
    results = [line.outcome(rows, post) for rows in (witness.rows, witness.permuted)]
    assert equal(results[0], witness.result)
    assert equal(results[1], witness.permuted_result)
    assert not equal(*results)
    return witness


def facts_of(found: Synthesis) -> Sequence[Assumption]:
    """What is taken to hold of every row when the order is decided."""
    assert found._question is not None
    return found._question.problem.assumptions


# --- dependent ------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", DEPENDENT, ids=str)
def test_a_witness_is_a_table_that_really_differs(job: Job) -> None:
    found = synthesized(job).order
    witness = assert_witness(job.pipeline(), job.where, found, facts_of(synthesized(job)))
    assert witness.cause == job.told
    assert found.assumptions == []


def test_what_a_witness_shows() -> None:
    """Two rows, the plainest, the same in another order; and sums differ in their last bit."""
    job = Job(orders.First, "f > 3", INTS, "f bigint", "value")
    found = synthesized(job).order
    assert found.text == "the result depends on the order of rows"
    assert found.witness is not None
    assert sorted(str(r["v"]) for r in found.witness.rows) == ["1", "4"]
    assert found.witness.permuted == found.witness.rows[::-1]
    results = [found.witness.result, found.witness.permuted_result]
    assert sorted(results, key=len) == [[], [{"g": found.witness.rows[0]["g"], "f": 4}]]
    total = Job(orders.FloatTotal, "s < 2", DOUBLES, "s double", "rounding")
    witness = assert_witness(total.pipeline(), total.where, synthesized(total).order, ())
    assert sorted(str(r["x"]) for r in witness.rows) == ["0.1", "0.2", "0.3"]


def test_a_large_group_is_told_briefly() -> None:
    job = Job(orders.CountAndFirst, "n >= 40", INTS, "n bigint, f bigint", "value")
    found = synthesized(job).order
    assert found.witness is not None
    assert len(found.witness.rows) == 40
    assert " times" in str(found)
    assert max(map(len, found.lines())) < 300


@pytest.mark.parametrize("case", [*CASES, *NOTHING_TO_PUSH], ids=str)
def test_every_case_is_decided_and_holds(case: Case) -> None:
    """Of the table of cases: a witness that differs, or a result that no order changes."""
    found = solved(case).order
    if found.status == "dependent":
        assert_witness(pipeline_of(case), case.where, found, facts_of(solved(case)))
        return
    assert found.status == "independent"
    line = pipeline_of(case)
    post = line.predicate("where", case.where)
    random = Random(1)
    rows = lawful_pool(case, random, 300)
    assert {a["code"] for a in found.assumptions} <= {a.code for a in assumed(case)}
    for i in range(400):
        table = random.sample(rows, min(len(rows), 1 + i % 6))
        first = line.outcome(table, post)
        random.shuffle(table)
        assert equal(first, line.outcome(table, post)), table


# --- independent ----------------------------------------------------------------------------------


@pytest.mark.parametrize("job", INDEPENDENT, ids=str)
def test_what_is_independent_is_told_so(job: Job) -> None:
    found = synthesized(job).order
    assert (found.status, found.witness) == ("independent", None), str(found)
    assert "does not depend" in found.text
    line = job.pipeline()
    post = line.predicate("where", job.where)
    for rows in _some_tables(job):
        results = [line.outcome(order, post) for order in permutations(rows)]
        assert all(equal(r, results[0]) for r in results), rows


def _some_tables(job: Job) -> list[tuple[dict[str, object], ...]]:
    """Groups of three rows around the constants; no NaN, which is assumed where it would matter."""
    nullable = "NOT NULL" not in job.schema
    values: list[object] = [-3, 0, 5, 6, 7, 9, 10, 11, 100, 101, *([None] if nullable else [])]
    random = Random(3)
    return [
        tuple(
            {
                "g": "a",
                "v": random.choice(values[:2] if job.declare else values),
                "x": random.choice([0.0, -0.0, 1.5, 2.0, float("inf")]),
                "name": random.choice("ab"),
            }
            for _ in range(3)
        )
        for _ in range(120)
    ]


def test_what_it_rests_on_is_listed() -> None:
    job = Job(orders.FloatMaximum, "m > 1", DOUBLES, "m double", "independent")
    found = synthesized(job)
    assert [a["code"] for a in found.order.assumptions] == ["no-nan"]
    assert "holds no NaN" in found.order.text
    known = Job(
        orders.FloatMaximum, "m > 1", DOUBLES, "m double", "independent", declare="NOT isnan(x)"
    )
    assert synthesized(known).order.status == "independent"
    assert synthesized(known).order.assumptions == []


# --- neither --------------------------------------------------------------------------------------


def test_what_is_neither_shown_nor_proved_is_not_known() -> None:
    job = Job(orders.Weights, "s > 3", FLAGS, "s double", "unknown")
    found = synthesized(job).order
    assert (found.status, found.witness) == ("unknown", None)
    assert "not known" in found.text


def test_of_what_is_declined_nothing_is_known() -> None:
    found = presieve.synthesize(folds.Clock, "m > 1", schema=INTS, returns="m double", keys="g")
    assert found.declined
    assert found.order.status == "unknown"


# --- the property ---------------------------------------------------------------------------------


def test_it_is_decided_when_it_is_asked_for_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    decided = driver_order.Question._decided

    def counted(question: driver_order.Question) -> Order:
        asked.append(question)
        return decided(question)

    monkeypatch.setattr(driver_order.Question, "_decided", counted)
    found = presieve.synthesize(
        orders.First, "f > 3", schema=INTS, returns="f bigint", keys="g", budget=60.0
    )
    assert asked == []
    assert found.order is found.order
    assert len(asked) == 1


@pytest.mark.parametrize("job", DEPENDENT, ids=str)
def test_json(job: Job) -> None:
    told = json.loads(json.dumps(synthesized(job).to_json(), allow_nan=False))["order"]
    assert set(told) == {"status", "text", "witness", "assumptions"}
    assert set(told["witness"]) == {"rows", "permuted", "result", "permuted_result", "cause"}
    assert told["witness"]["cause"] in CAUSES
