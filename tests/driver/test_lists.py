"""Folds over bounded lists: the best of several rows."""

from __future__ import annotations

from tests.support import list_folds
from tests.support.refuting import Job

from presieve import synthesize
from presieve.records import replace

SCHEMA = "g string, v bigint, s string, n int"
JOB = Job(list_folds.BestDeleted, "second > 90", SCHEMA, "first bigint, second bigint")


def test_the_best_two_of_a_sorted_list() -> None:
    found = synthesize(JOB.fold, JOB.where, schema=JOB.schema, returns=JOB.returns, keys=JOB.keys)
    assert (found.kind, str(found.prefilter)) == ("split", "v > 90")
    JOB.refuted("v > 91")
    JOB.refuted("v > 90", "true")


def test_the_best_two_of_a_heap() -> None:
    job = replace(JOB, fold=list_folds.HeapReplaced)
    job.proved("v > 90", "second IS NOT NULL")
    job.refuted("v > 91")
    job.refuted("v > 90", "first IS NOT NULL")


def test_the_last_values_are_all_needed() -> None:
    job = Job(list_folds.Last, "first > 5", SCHEMA, "first bigint, second bigint")
    job.proved("v IS NOT NULL")
    job.refuted("v > 5")
