"""The file of a baseline: sorted, the same for the same job, and refused if it is none."""

from __future__ import annotations

import json

import pytest

from presieve.errors import Span, UsageError
from presieve.records import replace
from presieve.report.baseline.file import (
    BaselineFile,
    Environment,
    baseline_of,
    environment_differences,
    read_baseline,
    with_job,
    write_baseline,
)
from presieve.report.baseline.seen import SeenSite
from presieve.report.baseline.stored_sites import DerivedSite, FilterSite, FunctionSite, Site

ENVIRONMENT = Environment("0.1.0", ("4.3",), ({"policy": "strict"},))
SITES: list[Site] = [
    FilterSite("Project", "grade", "g = 'é'", "exact", ("score > 90.0D",)),
    FunctionSite("Project", "grade", "expression"),
    FilterSite("Aggregate", "max", "m > 90.0D"),
    DerivedSite("", "orders", "year(ts) = 2024", ("ts >= 1",)),
    DerivedSite("", "lines", "x = 1"),
]


def written(*sites: Site, line: int = 1) -> str:
    seen = [SeenSite(s, Span("/home/me/job.py", line), at=(Span("job.py", line),)) for s in sites]
    file = with_job(BaselineFile(), "jobs/b.py", baseline_of(ENVIRONMENT, seen))
    return write_baseline(with_job(file, "jobs/a.py", baseline_of(ENVIRONMENT, ())))


def test_it_is_sorted_and_has_no_places() -> None:
    text = written(*SITES)
    assert text == written(*reversed(SITES), line=99)
    assert "/home" not in text
    assert text.endswith("}\n")
    file = json.loads(text)
    assert list(file) == ["format", "jobs"]
    assert list(file["jobs"]) == ["jobs/a.py", "jobs/b.py"]
    job = file["jobs"]["jobs/b.py"]
    assert [s["function"] for s in job["filters"]] == ["max", "grade"]
    assert job["filters"][0] == {"operator": "Aggregate", "function": "max", "filter": "m > 90.0D"}
    assert [s["function"] for s in job["derived"]] == ["orders"]


def test_it_is_read_back() -> None:
    text = written(*SITES)
    file = read_baseline(text.encode(), "presieve.json")
    assert write_baseline(file) == text
    assert set(file.jobs["jobs/b.py"].sites) == set(SITES[:4])
    assert file.jobs["jobs/b.py"].environment == ENVIRONMENT


def test_another_job_stays_as_it_is() -> None:
    file = read_baseline(written(*SITES).encode(), "presieve.json")
    later = with_job(file, "jobs/a.py", baseline_of(ENVIRONMENT, [SeenSite(SITES[0])]))
    assert later.jobs["jobs/b.py"] == file.jobs["jobs/b.py"]
    assert later.jobs["jobs/a.py"] != file.jobs["jobs/a.py"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a baseline"),
        ("[]", "not a baseline"),
        ('{"jobs": {}}', "missing required field `format`"),
        ('{"format": 2, "jobs": {}, "more": 1}', "of format 2, and this presieve reads 1"),
        ('{"format": 1, "jobs": {}, "more": 1}', "unknown field `more`"),
        (written(*SITES).replace('"exact"', "7"), r"Expected `str`, got `int`.*kind"),
        (f"<<<<<<< HEAD\n{written()}", "not a baseline"),
    ],
)
def test_what_is_none(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read_baseline(text.encode(), "presieve.json")
    assert str(caught.value).startswith("presieve.json: ")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (ENVIRONMENT, []),
        (replace(ENVIRONMENT, presieve="0.2.0"), ["presieve 0.1.0, this run has presieve 0.2.0"]),
        (replace(ENVIRONMENT, spark=("3.5", "4.0")), ["Spark 4.3, this run has Spark 3.5 and 4.0"]),
        (
            replace(ENVIRONMENT, options=({},)),
            ['the options policy="strict", this run has default options'],
        ),
        (replace(ENVIRONMENT, plan_only=True), ["rows (no --plan-only), this run has --plan-only"]),
        (replace(ENVIRONMENT, spark=(), options=()), []),  # no DataFrame ran
    ],
)
def test_what_else_differs(now: Environment, told: list[str]) -> None:
    differences = environment_differences(ENVIRONMENT, now)
    assert differences == tuple(f"the baseline is of a run with {text}" for text in told)
