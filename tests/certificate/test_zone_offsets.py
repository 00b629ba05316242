"""A derived certificate is refused where the zones that it reads instants in have other offsets."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pytest

from presieve.certificate import stored
from presieve.certificate.checker import Rejected, Verified
from presieve.certificate.claim import Claim
from presieve.cli.app import main

if TYPE_CHECKING:
    from pathlib import Path

EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
DAY = dt.date(2024, 7, 1)
START = (DAY - dt.date(1970, 1, 1)).days * 86_400_000_000
SECOND = 1_000_000
HOUR = 3600 * SECOND


def condition(zone: str, column: int = 7) -> list[dict[str, Any]]:
    """``CAST(t AS date) = DATE '2024-07-01'``, in a zone."""
    number = {"product-class": EXPRESSIONS + "ExprId", "id": column, "jvmId": "0"}
    attribute = {"dataType": "timestamp", "name": "t", "exprId": number}
    return [
        {"class": EXPRESSIONS + "EqualTo", "num-children": 2},
        {
            "class": EXPRESSIONS + "Cast",
            "num-children": 1,
            "dataType": "date",
            "timeZoneId": zone,
        },
        {"class": EXPRESSIONS + "AttributeReference", "num-children": 0, **attribute},
        {
            "class": EXPRESSIONS + "Literal",
            "num-children": 0,
            "value": DAY.isoformat(),
            "dataType": "date",
        },
    ]


def certificate(zone: str, offsets: tuple[int, int], **more: tuple[int, int]) -> dict[str, Any]:
    """What is true of the day if the zone has these offsets, in microseconds."""
    low, high = offsets
    day = [START - high, START + 24 * HOUR - low]
    return {
        "presieve": 2,
        "kind": "derived",
        "condition": condition(zone),
        "clauses": [[[7, [day], False]]],
        "cuts": [],
        "zone": zone,
        "offsets": {zone: list(offsets), **{n: list(o) for n, o in more.items()}},
    }


def checked(data: dict[str, Any]) -> Verified[Claim] | Rejected:
    return stored.check_claim(stored.parse(data), "z3")


def seconds(low: int, high: int) -> tuple[int, int]:
    return low * SECOND, high * SECOND


REAL = {
    "America/New_York": seconds(-18_000, -14_400),
    "Europe/Berlin": seconds(3_208, 10_800),
    "Asia/Kolkata": seconds(19_270, 23_400),
    "Australia/Lord_Howe": seconds(36_000, 41_400),
    "Asia/Kathmandu": seconds(19_800, 20_700),
    "America/Juneau": seconds(-32_400, 54_139),
    "America/St_Johns": seconds(-12_652, -5_400),
    "Pacific/Apia": seconds(-41_400, 50_400),
    "Africa/Casablanca": seconds(-1_820, 3_600),
    "Europe/Dublin": seconds(-1_521, 3_600),
    "Europe/London": seconds(-75, 7_200),
    "Etc/GMT+5": seconds(-18_000, -18_000),
    "+05:30": seconds(19_800, 19_800),
    "UTC": (0, 0),
}
"""The least and the greatest offsets, as Java has them."""


@pytest.mark.parametrize("zone", REAL)
def test_the_offsets_of_a_zone_are_accepted(zone: str) -> None:
    low, high = REAL[zone]
    for offsets in ((low, high), (low - HOUR, high), (low, high + HOUR), (low - HOUR, high + HOUR)):
        assert isinstance(checked(certificate(zone, offsets)), Verified), offsets


FORGED = {
    "none": ("America/New_York", (0, 0)),
    "winter alone": ("America/New_York", seconds(-18_000, -18_000)),
    "summer alone": ("America/New_York", seconds(-14_400, -14_400)),
    "swapped": ("America/New_York", seconds(-14_400, -18_000)),
    "of the other sign": ("America/New_York", seconds(14_400, 18_000)),
    "of another zone": ("America/New_York", REAL["Europe/Berlin"]),
    "seconds for microseconds": ("America/New_York", (-18_000, -14_400)),
    "without the summer of 1945": ("Europe/Berlin", seconds(3_208, 7_200)),
    "without local mean time": ("Europe/Berlin", seconds(3_600, 10_800)),
    "without the half hour": ("Asia/Kolkata", seconds(19_800, 19_800)),
    "without half an hour of summer": ("Australia/Lord_Howe", seconds(36_000, 37_800)),
    "of a quarter of an hour": ("Asia/Kathmandu", seconds(20_700, 20_700)),
    "before the day that was left out": ("America/Juneau", seconds(-32_400, -25_200)),
    "after the day that was left out": ("Pacific/Apia", seconds(46_800, 50_400)),
    "without double summer time": ("Europe/London", seconds(-75, 3_600)),
    "a microsecond too few": ("America/New_York", (-18_000 * SECOND + 1, -14_400 * SECOND)),
    "a microsecond too many": ("Etc/GMT+5", (-18_000 * SECOND + 1, -18_000 * SECOND + 1)),
    "of a fixed offset": ("+05:30", (0, 0)),
    "of UTC": ("UTC", (SECOND, SECOND)),
}


@pytest.mark.parametrize("name", FORGED)
def test_offsets_that_a_zone_leaves_are_refused(name: str) -> None:
    """The claim is right of a zone with these offsets, and this is none."""
    zone, offsets = FORGED[name]
    found = checked(certificate(zone, offsets))
    assert isinstance(found, Rejected)
    assert found.condition == "offsets"
    assert f"the time zone {zone} is between " in found.reason


def test_both_ranges_are_named() -> None:
    found = checked(certificate("America/New_York", (0, 0)))
    assert isinstance(found, Rejected)
    assert found.reason == (
        "the time zone America/New_York is between -05:00 and -04:00 of UTC, and the certificate "
        "has it between +00:00 and +00:00"
    )


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "", "../UTC", "America/", "America", "+25:00", "zones", "new_york"]
)
def test_a_zone_that_nobody_knows(zone: str) -> None:
    found = checked(certificate(zone, (-24 * HOUR, 24 * HOUR)))
    assert isinstance(found, Rejected)
    assert found.condition == "offsets"
    assert f"the time zone {zone!r} is not known on this machine" in found.reason


def test_a_zone_without_offsets_proves_nothing() -> None:
    data = certificate("America/New_York", REAL["America/New_York"])
    found = checked({**data, "offsets": {"UTC": [0, 0]}})
    assert isinstance(found, Rejected)
    assert found.condition == "outside"


def test_zones_that_nothing_is_read_in_do_not_matter() -> None:
    """A condition in UTC in a session elsewhere, with whatever is said of other zones."""
    data = certificate("UTC", (0, 0), **{"America/New_York": (0, 0), "Mars/Olympus": (1, 1)})
    assert isinstance(checked({**data, "zone": "America/New_York"}), Verified)


def test_each_of_two_zones_is_compared() -> None:
    zones = {"America/New_York": REAL["America/New_York"], "Europe/Berlin": REAL["Europe/Berlin"]}
    both = [{"class": EXPRESSIONS + "And", "num-children": 2}]
    both += [*condition("America/New_York"), *condition("Europe/Berlin", 8)]
    data = certificate("America/New_York", REAL["America/New_York"])
    data = {**data, "condition": both, "offsets": {n: list(o) for n, o in zones.items()}}
    assert isinstance(checked(data), Verified)
    for zone in zones:
        forged = {**data, "offsets": {**data["offsets"], zone: [HOUR // 2, HOUR // 2]}}
        found = checked({**forged, "clauses": []})
        assert isinstance(found, Rejected)
        assert zone in found.reason


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_check_prints_what_the_claim_rests_on(
    solver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    zone = "America/New_York"
    wide = (REAL[zone][0] - HOUR, REAL[zone][1])
    path.write_text(json.dumps(certificate(zone, wide, UTC=(0, 0))))
    assert main(["check", str(path), "--solver", solver]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "rests on the time zone America/New_York is between -06:00 and -04:00 of UTC" in out
    path.write_text(json.dumps(certificate(zone, (0, 0))))
    assert main(["check", str(path), "--solver", solver, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verified"], answer["condition"]) == (False, "offsets")
