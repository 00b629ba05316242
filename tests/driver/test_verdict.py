"""What a verdict says beside the answer: whose fault it is, what would do, what to do."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.support.synthesis import folds

import presieve
from presieve.driver.verify import Verdict

BOTH = "first > 90 AND second > 90"


def top_two(prefilter: str, residual: str | None = None, **options: Any) -> Verdict:
    return presieve.verify(
        folds.Top2,
        BOTH,
        schema="team string, score double NOT NULL, note string",
        returns="first double, second double",
        keys="team",
        prefilter=prefilter,
        residual=residual,
        **options,
    )


@pytest.mark.parametrize(
    ("prefilter", "residual", "blame", "differs"),
    [
        ("score > 95", None, "prefilter", ["second"]),
        ("score > 95", "second IS NOT NULL", "prefilter", ["second"]),
        ("score > 90", "true", "residual-accepts", []),
        ("score > 90", "second > 95", "residual-rejects", []),
        ("true", "first > 90", "residual-accepts", []),
        ("score > 90", "false", "residual-rejects", []),
    ],
)
def test_the_part_that_is_wrong_is_named(
    prefilter: str, residual: str | None, blame: str, differs: list[str]
) -> None:
    found = top_two(prefilter, residual).counterexample
    assert found is not None
    assert found.blame == blame
    assert found.differs == differs
    assert found.columns == ("team", "score")
    drops = found.blame == "prefilter"
    assert (False in found.kept) == drops
    if drops:  # no residual would do: the filter itself, left as it is, does not
        assert top_two(prefilter).status == "refuted"


def test_what_would_do_is_proved() -> None:
    repair = top_two("score > 95").repair
    assert repair is not None
    assert (repair.prefilter, repair.residual) == ("score > 90.0D", "second IS NOT NULL")
    assert top_two(repair.prefilter, repair.residual).status == "proved"
    assert [a["code"] for a in repair.assumptions] == ["no-nan"]
    assert top_two("score > 95", declare="NOT isnan(score)").repair is not None


def test_a_repair_keeps_the_policy() -> None:
    assert top_two("score > 95", policy="strict").repair is None
    strict = top_two("score > 95", policy="strict", declare="NOT isnan(score)").repair
    assert strict is not None
    assert strict.assumptions == []


def test_what_is_proved_needs_no_repair() -> None:
    proved = top_two("score > 90")
    assert (proved.status, proved.repair) == ("proved", None)
    text = str(proved)
    assert "Proved: the pushdown changes no result." in text
    assert "column score holds no NaN" in text
    assert "presieve check" in text


def test_what_is_not_known_says_what_to_do() -> None:
    class Clock(folds.Maximum):
        def reduce(self, acc: Any, row: Any) -> Any:
            return time.time()

    declined = presieve.verify(
        Clock, "n > 1", schema="x bigint", returns="n bigint", prefilter="x > 1"
    )
    assert declined.status == "unknown"
    assert declined.remedy
    assert str(declined.declined[0]["code"]) in str(declined)
    contradiction = presieve.verify(
        folds.Maximum,
        "m > 1",
        schema="g string, x bigint NOT NULL",
        returns="m bigint",
        keys="g",
        prefilter="x > 1",
        declare=["x > 5", "x < 3"],
    )
    assert contradiction.status == "unknown"
    assert "contradict" in contradiction.remedy
