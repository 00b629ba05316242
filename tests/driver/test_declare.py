"""Facts that the caller declares discharge assumptions."""

from __future__ import annotations

import pytest
from tests.driver.declared import Best

from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify
from presieve.errors import UsageError

SCHEMA = "team string, score double"
RETURNS = "best double"
WHERE = "best > 90"


def test_without_a_declaration_nan_is_assumed_away_and_told() -> None:
    found = synthesize(Best, WHERE, schema=SCHEMA, returns=RETURNS, keys="team")
    assert found.kind == "exact"
    assert [a["code"] for a in found.assumptions] == ["no-nan"]


def test_a_declared_fact_discharges_what_follows_from_it() -> None:
    for policy in ("default", "strict"):
        found = synthesize(
            Best,
            WHERE,
            schema=SCHEMA,
            returns=RETURNS,
            keys="team",
            policy=policy,
            declare="NOT isnan(score)",
        )
        assert (found.kind, found.prefilter, found.assumptions) == ("exact", "score > 90.0D", [])


def test_a_bound_is_stronger_than_what_it_discharges() -> None:
    found = synthesize(
        Best, WHERE, schema=SCHEMA, returns=RETURNS, keys="team", declare=["score <= 90.0"]
    )
    assert found.kind == "empty"
    assert found.assumptions == []


def test_a_fact_that_does_not_bear_on_it_discharges_nothing() -> None:
    found = synthesize(
        Best, WHERE, schema=SCHEMA, returns=RETURNS, keys="team", declare="score IS NOT NULL"
    )
    assert [a["code"] for a in found.assumptions] == ["no-nan"]


def test_verify_takes_declarations_too() -> None:
    verdict = verify(
        Best,
        WHERE,
        schema=SCHEMA,
        returns=RETURNS,
        keys="team",
        prefilter="score > 90",
        residual="true",
        policy="strict",
        declare="NOT isnan(score)",
    )
    assert (verdict.status, verdict.assumptions) == ("proved", [])


@pytest.mark.parametrize(
    "declare",
    [["score > 90.0", "score < 10.0"], ["team IS NULL", "team IS NOT NULL"], "isnan(score)"],
)
def test_facts_that_contradict_each_other_push_nothing(declare: str | list[str]) -> None:
    schema = "team string, score double NOT NULL"
    facts = ["NOT isnan(score)", declare] if declare == "isnan(score)" else declare
    found = synthesize(Best, WHERE, schema=schema, returns=RETURNS, keys="team", declare=facts)
    assert (found.kind, [d["code"] for d in found.declined]) == ("none", ["premises"])
    assert found.order.status == "unknown"
    verdict = verify(
        Best,
        WHERE,
        schema=schema,
        returns=RETURNS,
        keys="team",
        prefilter="false",
        residual="false",
        declare=facts,
    )
    assert verdict.status == "unknown"
    assert "no row satisfies" in verdict.reason


@pytest.mark.parametrize("fact", ["team IS NOT NULL", "team BETWEEN 'b' AND 'd'", "team = 'x'"])
def test_a_fact_about_groups_does_not_stand_in_the_way(fact: str) -> None:
    found = synthesize(
        Best, "best > 90 AND team > 'a'", schema=SCHEMA, returns=RETURNS, keys="team", declare=fact
    )
    assert (found.kind, found.strength, found.declined) == ("exact", "optimal", [])


def test_groups_that_do_not_exist_refute_nothing() -> None:
    verdict = verify(
        Best,
        "best > 90 AND team IS NULL",
        schema=SCHEMA,
        returns=RETURNS,
        keys="team",
        prefilter="false",
        residual="false",
        declare="team IS NOT NULL",
    )
    assert verdict.status == "proved"


@pytest.mark.parametrize("text", ["nonsense >", "absent > 1", "score > 1 OR team = 'a'", "true"])
def test_what_is_no_fact_about_a_column_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="declare"):
        synthesize(Best, WHERE, schema=SCHEMA, returns=RETURNS, keys="team", declare=text)


class Total:
    def zero(self) -> int:
        return 0

    def reduce(self, total: int, row: dict[str, int]) -> int:
        return total + row["v"]


def test_a_fact_about_rows_says_nothing_of_what_no_row_can_show() -> None:
    """That a sum fits in a bigint holds of no single row; the condition that stands for it is
    true, and follows from everything.
    """
    options = {"schema": "v bigint NOT NULL", "returns": "total bigint", "declare": "v >= 0"}
    found = synthesize(Total, "total > 100", **options)  # type: ignore[arg-type]
    assert found.prefilter != "true"
    assert "int-range" in [a["code"] for a in found.assumptions]
    strict = synthesize(Total, "total > 100", **options, policy="strict")  # type: ignore[arg-type]
    assert [d["code"] for d in strict.declined] == ["assumption"]


def test_a_fact_about_rows_leaves_a_pure_function_told() -> None:
    class Best:
        def zero(self) -> float | None:
            return None

        def reduce(self, best: float | None, row: dict[str, float]) -> float | None:
            if is_ours(row["v"]) and (best is None or row["v"] > best):
                return row["v"]
            return best

    found = synthesize(
        Best,
        WHERE,
        schema="v double NOT NULL",
        returns=RETURNS,
        pure=[is_ours],
        declare="NOT isnan(v)",
    )
    assert found.prefilter == "v > 90.0D"
    assert [a["code"] for a in found.assumptions] == ["pure"]


def is_ours(value: float) -> bool:
    raise NotImplementedError(value)


class Several:
    def zero(self) -> int:
        return 0

    def reduce(self, n: int, row: dict[str, float]) -> int:
        return n + 1 if row["score"] > 100 else n

    def finish(self, n: int) -> int:
        return n


def test_what_is_declared_is_not_said_again_below() -> None:
    """Nothing stands beside the comparison, so that a scan can use it."""

    def found(*declared: str) -> str:
        schema, returns = "score double NOT NULL", "n bigint"
        return synthesize(
            Several, "n > 5", schema=schema, returns=returns, declare=declared
        ).prefilter

    assert found() == "score > 100.0D AND NOT isnan(score)"
    assert found("NOT isnan(score)") == "score > 100.0D"
    assert found("score <= 1000") == "score > 100.0D"


def test_a_bound_that_a_scan_can_use_stays() -> None:
    """Although it follows from the others."""
    found = synthesize(
        Worth,
        "n > 5",
        schema="price double NOT NULL, qty double NOT NULL",
        returns="n bigint",
        declare=["NOT isnan(price)", "price >= 0"],
    )
    assert "qty > 0.0D" in found.prefilter.split(" AND ")


class Worth(Several):
    def reduce(self, n: int, row: dict[str, float]) -> int:
        return n + 1 if row["price"] * row["qty"] > 1000 else n
