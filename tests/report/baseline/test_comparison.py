"""What is lost, gained or only different; each harmless edit has a twin that loses something."""

from __future__ import annotations

import pytest

from presieve.errors import Declined, Span
from presieve.records import replace
from presieve.report.baseline.comparison import SiteChange, compare_sites
from presieve.report.baseline.seen import SeenSite
from presieve.report.baseline.stored_sites import DerivedSite, FilterSite, FunctionSite, Site

CALL = Declined("unknown-call", "nothing is known of hash", Span("/home/me/job.py", 7, 12))
HIGH = FilterSite(
    "FlatMapGroupsInPandas",
    "best",
    "best >= 90.0D AND at > 5",
    "split",
    ("score >= 90.0D", "status = 'RUN'"),
    ("score >= 90.0D", "status = 'RUN'"),
    ("may-erase-error",),
)
LEFT = FilterSite("FlatMapGroupsInPandas", "best", HIGH.filter, declined=("unknown-call",))
NATIVE = FunctionSite("FlatMapGroupsInPandas", "best", "aggregates")
PRUNED = FunctionSite("FlatMapGroupsInPandas", "best", columns=("score", "team"))
PYTHON = FunctionSite("FlatMapGroupsInPandas", "best")
YEAR = DerivedSite("", "orders", "year(ts) = 2024", ("ts >= 1", "ts < 9"))


def seen(site: Site) -> SeenSite:
    return SeenSite(site, Span("/home/me/job.py", 3), (CALL,), "", (Span("job.py", 20),))


def compare(
    before: list[Site], now: list[Site], *, complete: bool = True, alone: tuple[Declined, ...] = ()
) -> tuple[SiteChange, ...]:
    return compare_sites(before, [seen(s) for s in now], alone, complete=complete)


def outcomes(before: list[Site], now: list[Site]) -> list[str]:
    return [c.outcome for c in compare(before, now)]


CONSTANTS = replace(
    HIGH,
    filter="((best > CAST(80 AS DOUBLE)) AND (at > 6))",
    prefilter=("score > 80.0D", "status = 'RUN'"),
    scan=("score > 80.0D", "status = 'RUN'"),
)
LESS_OF_THE_FILTER = replace(HIGH, filter="at > 5")


@pytest.mark.parametrize("site", [HIGH, LEFT, NATIVE, PRUNED, PYTHON, YEAR])
def test_what_is_as_it_was(site: Site) -> None:
    assert outcomes([site], [site]) == []


@pytest.mark.parametrize(
    ("before", "now", "outcome"),
    [
        (HIGH, CONSTANTS, None),
        (HIGH, LEFT, "lost"),
        (LEFT, HIGH, "gained"),
        (HIGH, replace(HIGH, kind="partial"), "lost"),
        (HIGH, replace(HIGH, kind="exact"), "gained"),
        (HIGH, replace(HIGH, kind="empty", prefilter=("false",), scan=()), "gained"),
        (HIGH, replace(HIGH, prefilter=HIGH.prefilter[:1], scan=HIGH.scan[:1]), "lost"),
        (HIGH, replace(HIGH, prefilter=("score >= 90.0D OR t = 1", *HIGH.prefilter[1:])), "lost"),
        (HIGH, replace(HIGH, prefilter=(*HIGH.prefilter, "team = 'a'")), "gained"),
        (HIGH, replace(HIGH, scan=HIGH.scan[:1]), "lost"),
        (replace(HIGH, scan=()), HIGH, "gained"),
        (HIGH, replace(HIGH, assuming=("may-erase-error", "pure")), "lost"),
        (HIGH, replace(HIGH, assuming=()), "gained"),
        (HIGH, replace(HIGH, declined=("unknown-call",)), None),
        # The filter is another one. What is added to it takes nothing away.
        (HIGH, replace(HIGH, filter=f"{HIGH.filter} AND hash(x) = 1", kind="partial"), "different"),
        (
            HIGH,
            replace(HIGH, filter=f"{HIGH.filter} AND b > 1", prefilter=HIGH.prefilter[:1]),
            "lost",
        ),
        # What is deleted from it may.
        (HIGH, replace(LESS_OF_THE_FILTER, prefilter=HIGH.prefilter[:1]), "different"),
        (HIGH, replace(LESS_OF_THE_FILTER, kind="none", prefilter=(), scan=()), "lost"),
        (NATIVE, PYTHON, "lost"),
        (NATIVE, PRUNED, "lost"),
        (PRUNED, PYTHON, "lost"),
        (PRUNED, NATIVE, "gained"),
        (PYTHON, PRUNED, "gained"),
        (NATIVE, replace(NATIVE, runs_as="list"), "different"),
        (PRUNED, replace(PRUNED, columns=("at", "score", "team")), "different"),
        (YEAR, replace(YEAR, derived=("ts >= 1",)), "lost"),
        (YEAR, replace(YEAR, derived=()), "lost"),
        (YEAR, replace(YEAR, filter="year(ts) = 2025", derived=("ts >= 2", "ts < 8")), None),
    ],
)
def test_one_site(before: Site, now: Site, outcome: str | None) -> None:
    assert outcomes([before], [now]) == ([] if outcome is None else [outcome])


def test_a_loss_has_its_line_and_its_reason() -> None:
    (change,) = compare([HIGH], [LEFT])
    assert str(change.place) == "/home/me/job.py:7:12"
    assert change.why == (CALL,)
    aspects = [(a.name, a.was, a.now) for a in change.aspects]
    assert aspects == [
        ("pushed", "split", "none"),
        ("pre-filter", "score >= 90.0D AND status = 'RUN'", ""),
    ]
    (gain,) = compare([LEFT], [HIGH])
    assert str(gain.place) == "/home/me/job.py:3"
    assert gain.why == ()


def test_another_name_or_operator_is_the_same_site() -> None:
    renamed = replace(HIGH, function="top")
    assert outcomes([HIGH, NATIVE], [renamed, replace(NATIVE, function="top")]) == ["different"] * 2
    assert outcomes([HIGH], [replace(HIGH, operator="FlatMapGroupsInArrow")]) == ["different"]
    assert outcomes([HIGH], [replace(LEFT, function="top")]) == ["lost"]
    assert outcomes([NATIVE], [replace(PYTHON, operator="FlatMapGroupsInArrow")]) == ["lost"]


def test_what_is_gone_is_lost_if_there_was_something() -> None:
    (change,) = compare([HIGH], [])
    assert (change.outcome, change.place) == ("lost", None)
    assert [a.name for a in change.aspects] == ["job", "pushed", "pre-filter"]
    assert outcomes([LEFT], []) == ["different"]
    assert outcomes([NATIVE], [FunctionSite("Project", "other")]) == ["lost", "different"]
    assert outcomes([YEAR], []) == ["lost"]


def test_what_is_gone_has_the_reasons_of_what_was_not_examined() -> None:
    alone = Declined("operator", "no filter is pushed past Filter to Project, which calls best")
    (change,) = compare([HIGH], [], alone=(alone,))
    assert change.why == (alone,)


def test_what_a_job_did_not_reach_is_not_lost() -> None:
    assert compare([HIGH, NATIVE], [], complete=False) == ()
    (change,) = compare([HIGH, NATIVE], [LEFT], complete=False)
    assert change.outcome == "lost"


def test_what_is_new() -> None:
    assert outcomes([], [HIGH]) == ["gained"]
    assert outcomes([], [LEFT]) == ["different"]
    assert outcomes([], [replace(YEAR, derived=())]) == []


def test_several_sites_of_one_function_are_told_apart_by_their_filters() -> None:
    """One is pushed and the other is not; a third is new and stands before them."""
    other = replace(LEFT, filter="team = 'a'")
    third = replace(LEFT, filter="a_first > 1")
    assert outcomes([HIGH, other], [third, other, CONSTANTS]) == ["different"]
    lost = [c for c in compare([HIGH, other], [third, other, LEFT]) if c.outcome == "lost"]
    assert [c.before for c in lost] == [HIGH]
    # As Catalyst prints it, with another constant and one more conjunct.
    text = "((best >= CAST(70 AS DOUBLE)) AND ((at > 5) AND (b = 1)))"
    lost = [c for c in compare([other, HIGH], [replace(LEFT, filter=text), other]) if c.now]
    assert [(c.outcome, c.before) for c in lost] == [("lost", HIGH)]


def test_of_one_filter_in_two_plans_one_may_be_lost() -> None:
    assert outcomes([HIGH, LEFT], [LEFT, HIGH]) == []
    assert outcomes([HIGH, LEFT], [LEFT]) == ["lost"]
    assert outcomes([HIGH, LEFT], [HIGH]) == ["different"]


def test_losses_come_first() -> None:
    before: list[Site] = [NATIVE, LEFT, YEAR]
    now: list[Site] = [replace(NATIVE, runs_as="list"), HIGH, replace(YEAR, derived=())]
    assert outcomes(before, now) == ["lost", "gained", "different"]
