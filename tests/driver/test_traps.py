"""How predicate pushdown goes wrong in practice; each trap's number stands in its test's name."""

from __future__ import annotations

from tests.driver import folds
from tests.support.refuting import Job

import presieve
from presieve.driver.synthesize import Synthesis

NOT_NULL = "g string, v bigint NOT NULL"
NULLABLE = "g string, v bigint"


def synthesized(job: Job, policy: str = "default") -> Synthesis:
    return presieve.synthesize(
        job.fold,
        job.where,
        schema=job.schema,
        returns=job.returns,
        keys=job.keys,
        mode=job.mode,
        policy=policy,  # type: ignore[arg-type]
        budget=60.0,
    )


def told(job: Job) -> tuple[str, str, str]:
    found = synthesized(job)
    assert found.declined == []
    return found.kind, found.prefilter, found.residual


def codes(found: Synthesis) -> list[str]:
    return [a["code"] for a in found.assumptions]


def test_t01_groups_without_such_rows_vanish() -> None:
    for where in ("c = 0", "c <= 5"):
        job = Job(folds.CountAbove, where, NOT_NULL, "c bigint")
        shown = job.refuted("v > 10")
        assert all(r["v"] <= 10 for r in shown.rows)  # type: ignore[operator]
        assert shown.original == [{"g": shown.rows[0]["g"], "c": 0}]
        assert shown.optimized == []
        assert told(job) == ("none", "true", where)


def test_t01_counting_up_is_another_matter() -> None:
    job = Job(folds.CountAbove, "c >= 1", NOT_NULL, "c bigint")
    assert told(job) == ("exact", "v > 10", "true")
    job.proved("v > 10", "true")


def test_t02_the_sibling_output_changes() -> None:
    job = Job(folds.MaximumAndSize, "m > 10", NOT_NULL, "m bigint, n bigint")
    shown = job.refuted("v > 10")
    assert shown.original != []
    assert shown.optimized != []
    assert told(job) == ("none", "true", "m > 10")


def test_t04_from_no_row_to_one_null_row() -> None:
    job = Job(folds.MaximumPresent, "m IS NULL", "v bigint", "m bigint", keys="", mode="global")
    shown = job.refuted("v > 1000")
    assert shown.original == []
    assert shown.optimized == [{"m": None}]
    assert told(job) == ("partial", "v IS NOT NULL", "m IS NULL")


def test_t04_under_group_by_the_group_vanishes_instead() -> None:
    job = Job(folds.MaximumPresent, "m IS NULL", NULLABLE, "m bigint")
    shown = job.refuted("v IS NOT NULL")
    assert shown.original == [{"g": shown.rows[0]["g"], "m": None}]
    assert shown.optimized == []
    assert told(job) == ("none", "true", "m IS NULL")


def test_t15_nothing_that_can_overflow_goes_below() -> None:
    """``v * v > 100`` raises under ANSI near 2^40; the pre-filter has no arithmetic at all."""
    job = Job(folds.SquareAbove, "o", NOT_NULL, "o boolean")
    found = synthesized(job)
    assert found.kind in ("partial", "exact")
    assert "*" not in found.prefilter
    verdict = job.verify("v * v > 100")
    assert verdict.status == "unknown"
    assert [d["code"] for d in verdict.declined] == ["sql-unsupported"]
    assert verdict.certificate is None
    line = job.pipeline()
    keep = line.predicate("prefilter", found.prefilter)
    for v in (2**40, -(2**40), 2**63 - 1, -(2**63), 11, -11):
        row: dict[str, object] = {"g": "a", "v": v}
        assert line.keep(keep, [row]) == [row]


def test_t16_an_erased_error_is_told() -> None:
    job = Job(folds.MaximumOfPositive, "m > 10", NOT_NULL, "m bigint")
    found = synthesized(job)
    assert (found.kind, found.prefilter, found.residual) == ("exact", "v > 10", "true")
    assert "may-erase-error" in codes(found)
    verdict = job.proved("v > 10")
    assert "may-erase-error" in [a["code"] for a in verdict.assumptions]


def test_t16_under_the_strict_policy_it_is_declined() -> None:
    job = Job(folds.MaximumOfPositive, "m > 10", NOT_NULL, "m bigint")
    found = synthesized(job, "strict")
    assert (found.kind, found.prefilter, found.residual) == ("none", "true", "m > 10")
    assert [d["code"] for d in found.declined] == ["may-erase-error"]
    assert found.certificate is None
    verdict = presieve.verify(
        job.fold,
        job.where,
        schema=job.schema,
        returns=job.returns,
        keys="g",
        prefilter="v > 10",
        policy="strict",
    )
    assert verdict.status == "unknown"
    assert verdict.certificate is None


def test_t16_keeping_the_rows_that_raise_is_fine_under_the_strict_policy() -> None:
    job = Job(folds.MaximumOfPositive, "m > 10", NOT_NULL, "m bigint")
    verdict = presieve.verify(
        job.fold,
        job.where,
        schema=job.schema,
        returns=job.returns,
        keys="g",
        prefilter="v > 10 OR v < 0",
        policy="strict",
    )
    assert verdict.status == "proved", verdict.reason
    assert verdict.assumptions == []


def test_t16_an_error_is_never_added() -> None:
    """Without the row that is dropped the fold of nothing would raise."""
    job = Job(folds.Recent, "m > 10", NOT_NULL, "m bigint")
    shown = job.refuted("v > 10")
    assert shown.optimized == "raises"
    assert shown.original != "raises"


def test_t18_the_null_row_is_lost() -> None:
    job = Job(folds.NullOrAbove, "o", NULLABLE, "o boolean")
    shown = job.refuted("v > 10")
    assert any(r["v"] is None for r in shown.rows)
    kind, prefilter, residual = told(job)
    assert (kind, residual) == ("exact", "true")
    assert prefilter in ("v > 10 OR v IS NULL", "v IS NULL OR v > 10")
    job.proved("v IS NULL OR v > 10", "true")


def test_t19_an_inequality_loses_the_null_row() -> None:
    job = Job(folds.Size, "n >= 1", NULLABLE, "n bigint")
    shown = job.refuted("v <> 5")
    assert shown.optimized == []
    kept = Job(folds.Size, "n >= 2", NULLABLE, "n bigint")
    assert any(r["v"] is None or r["v"] == 5 for r in kept.refuted("v <> 5").rows)
    assert told(kept) == ("none", "true", "n >= 2")


def test_t19_the_size_of_a_group_is_never_zero() -> None:
    """So the filter is true of every group, every row is kept, and nothing is left to check."""
    assert told(Job(folds.Size, "n >= 1", NULLABLE, "n bigint")) == ("exact", "true", "true")


def test_t23_a_filter_without_columns() -> None:
    for mode, keys in (("grouped", "g"), ("global", "")):
        for where in ("false", "1 = 2", "NULL"):
            job = Job(folds.Size, where, NULLABLE, "n bigint", keys, mode)
            assert told(job) == ("empty", "false", "false")
            job.proved("false", "false")
    shown = Job(folds.Size, "false", NULLABLE, "n bigint", "", "global").refuted("false", "true")
    assert shown.original == []
    assert shown.optimized == [{"n": 0}]


def test_t24_a_filter_that_can_never_hold_is_empty() -> None:
    for mode, keys in (("grouped", "g"), ("global", "")):
        job = Job(folds.CountAbove, "c < 0", NOT_NULL, "c bigint", keys, mode)
        assert told(job) == ("empty", "false", "false")
    job = Job(folds.CountAbove, "c IS NULL", NOT_NULL, "c bigint")
    assert told(job) == ("empty", "false", "false")


def test_t24_a_filter_that_always_holds_is_exact() -> None:
    for where in ("c >= 0", "true", "c IS NOT NULL"):
        job = Job(folds.CountAbove, where, NOT_NULL, "c bigint")
        assert told(job) == ("exact", "true", "true")
