"""Whether a result depends on the order of rows. Witnesses are run through the user's own Python,
and what is told to be independent is run in many orders.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from random import Random

import pytest
from tests.driver import folds, orders
from tests.driver.order_jobs import DEPENDENT, DOUBLES, FLAGS, INDEPENDENT, INTS, Job, synthesized
from tests.support.synthesis.cases import CASES, NOTHING_TO_PUSH, Case
from tests.support.synthesis.running import (
    Pipeline,
    assumed,
    equal,
    lawful_pool,
    pipeline_of,
    solved,
)

import presieve
from presieve.driver import row_order as driver_order
from presieve.driver.synthesize import Synthesis
from presieve.ir.fold import Assumption
from presieve.report.row_order import Order, Permuted


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told must not depend on how busy the machine is."""
    monkeypatch.setattr(driver_order, "SECONDS", 60.0)


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


@pytest.mark.costly
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


@pytest.mark.costly
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


def test_it_is_decide_when_it_is_asked_for_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    decided = driver_order.Question._decide

    def counted(question: driver_order.Question) -> Order:
        asked.append(question)
        return decided(question)

    monkeypatch.setattr(driver_order.Question, "_decide", counted)
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
