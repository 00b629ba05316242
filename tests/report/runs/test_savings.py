"""Sums over the records of runs: what is measured apart from what is counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from presieve.report.runs import savings
from presieve.report.runs.savings import JobSavings, sum_up, tell_job


def boundary(**fields: Any) -> dict[str, Any]:
    plain = {"operator": "FlatMapGroupsInPandas", "function": "f", "where": "x > 1"}
    rest = {"kind": "split", "runs_as": None, "run": None, "written": None, "spared": None}
    return {**plain, **rest, **fields}


def record(
    *boundaries: dict[str, Any],
    job: str = "nightly.py",
    started: str = "2026-11-01T02:00:00+00:00",
    measured: dict[str, Any] | None = None,
    changed: bool = True,
) -> dict[str, Any]:
    return {
        "format": 1,
        "job": job,
        "started": started,
        "seconds": {"total": 60.0, "optimize": 2.0, "checking": 1.0, "compiling": 0.5},
        "dataframes": [
            {"changed": changed, "boundaries": list(boundaries), "measured": measured},
        ],
    }


PYTHON = {"rows_in": 30, "rows_out": 3, "sent_bytes": 900, "seconds": 0.5}
SPARED = {"runs": 1, "not_read": 600, "not_to_python": 970}


def only(*records: dict[str, Any]) -> JobSavings:
    (job,) = sum_up(records)
    return job


def test_sums_of_a_job_and_its_boundary() -> None:
    run = record(boundary(run=PYTHON, spared=SPARED))
    job = only(run, run)
    assert (job.runs, job.seconds["total"], job.seconds["optimize"]) == (2, 120.0, 4.0)
    (f,) = job.to_json()["boundaries"]
    assert (f["runs"], f["pushed"], f["compiled"]) == (2, 2, 0)
    assert f["measured"] == {
        "rows_to_python": {"sum": 60, "runs": 2},
        "bytes_to_python": {"sum": 1800, "runs": 2},
        "python_seconds": {"sum": 1.0, "runs": 2},
    }
    assert f["counted"] == {
        "rows_not_read": {"sum": 1200, "runs": 2},
        "rows_not_to_python": {"sum": 1940, "runs": 2},
    }
    json.dumps(job.to_json())


def test_what_is_unknown_is_no_zero() -> None:
    job = only(record(boundary(run={**PYTHON, "rows_in": None})), record(boundary()))
    (f,) = job.to_json()["boundaries"]
    assert f["measured"]["rows_to_python"] == {"sum": None, "runs": 0}
    assert f["measured"]["bytes_to_python"] == {"sum": 900, "runs": 1}
    assert f["counted"]["rows_not_read"] == {"sum": None, "runs": 0}
    (row,) = savings.rows(job)
    assert row[5:] == ("-", "-", "900 (in 1)")


def test_more_rows_read_than_written_are_told_as_they_are() -> None:
    guarded = {"runs": 1, "not_read": -50, "not_to_python": 10}
    (row,) = savings.rows(only(record(boundary(spared=guarded))))
    assert row[5:7] == ("-50", "10")


def test_nothing_is_pushed_into_a_plan_that_stays() -> None:
    job = only(
        record(boundary(), changed=False),
        record(boundary(kind="none")),
        record(boundary(runs_as="list")),
    )
    (f,) = job.to_json()["boundaries"]
    assert (f["runs"], f["pushed"], f["compiled"]) == (3, 1, 1)


def test_jobs_and_filters_are_told_apart() -> None:
    jobs = sum_up(
        [
            record(boundary(), boundary(where="x > 2")),
            record(boundary(), job="hourly.py"),
            record(boundary(function="g")),
        ]
    )
    assert [(j.job, j.runs, len(j.boundaries)) for j in jobs] == [
        ("nightly.py", 2, 3),
        ("hourly.py", 1, 1),
    ]


def test_seconds_are_saved_only_where_both_ways_were_measured() -> None:
    measured = {"written": {"seconds": 9.0}, "optimized": {"seconds": 2.0}, "optimize": 3.0}
    both = record(boundary(), measured=measured)
    job = only(both, record(boundary()))
    text = "\n".join(tell_job(job))
    assert "measured both ways in 1 run: 9.0 s as written" in text
    assert "5.0 s with presieve and optimize, 4.0 s saved" in text
    plain = job.to_json()["measured"]
    assert plain["seconds_as_written"] == {"sum": 9.0, "runs": 1}
    assert plain["seconds_with_presieve"] == {"sum": 5.0, "runs": 1}
    slower = {**measured, "optimize": 13.0}
    text = "\n".join(tell_job(only(record(boundary(), measured=slower))))
    assert "15.0 s with presieve and optimize, 6.0 s more" in text
    text = "\n".join(tell_job(only(record(boundary()))))
    assert "were not measured" in text
    assert "saved" not in text


def test_only_runs_since_a_moment() -> None:
    days = [record(started=f"2026-11-0{day}T02:00:00+00:00") for day in (1, 2, 3)]
    since = datetime(2026, 11, 2, 2, tzinfo=UTC)
    (job,) = sum_up(days, since)
    assert (job.runs, job.first[:10], job.last[:10]) == (2, "2026-11-02", "2026-11-03")
    assert sum_up(days, datetime(2027, 1, 1, tzinfo=UTC)) == []
    assert "2026-11-02 to 2026-11-03" in next(tell_job(job))
