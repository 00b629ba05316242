"""Folds over dicts that give something for a key that they lack."""

from __future__ import annotations

from tests.support import default_folds
from tests.support.refuting import Job

SCHEMA = "g string, s string, n int"
RETURNS = "count bigint, number bigint, there boolean"


def test_counts_by_keys_that_are_no_constants() -> None:
    job = Job(default_folds.CountsByLevel, "count >= 3", SCHEMA, RETURNS)
    job.proved("s IN ('a', 'b')")
    job.refuted("s = 'a'")  # the count of b is an output, too
    job.refuted("s IN ('a', 'b')", "count >= 2")


def test_what_a_counter_lacks_is_zero() -> None:
    Job(default_folds.Counted, "count > 0", SCHEMA, RETURNS).proved("s IN ('a', 'b', 'c')")
    none = Job(default_folds.Counted, "count = 0", SCHEMA, RETURNS)
    shown = none.refuted("s IN ('a', 'b', 'c')")
    assert shown.optimized == []


def test_a_key_that_was_asked_for_is_there() -> None:
    job = Job(default_folds.AskedOnSomePaths, "there", SCHEMA, RETURNS)
    job.proved("n > 0", "true")
    job.refuted("n > 1")
    job.refuted("n IS NOT NULL", "true")
