"""Trusted. The offsets of time zones that a stored claim names, compared with those that they have.

A condition on instants is evaluated by the least and the greatest offset that a zone ever had or
will have (:mod:`presieve.sql.piecewise`). Whoever searches asks Java for them, by whose rules Spark
reads instants. A certificate only says what they were, so whoever checks one compares them with the
data of this machine. A range that is wider than the zone's claims less, and is right, too.

The releases of that data differ in some offsets before 1970, when clocks were set by each town: a
certificate of a zone that another release has otherwise is refused, and tells both ranges. Of a
zone that is not known here nothing can be compared. Its certificate is refused, too, because a
reader would have to know the offsets to judge it.
"""

from __future__ import annotations

import datetime as dt
import io
import struct
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, available_timezones

from presieve.certificate.derived import DerivedCertificate
from presieve.lift.python.zones import Zone
from presieve.sql.piecewise import SECOND, Offsets


def assumed_offsets(certificate: DerivedCertificate) -> Mapping[str, Offsets]:
    """The zones in which instants are read, with the offsets that the proof gives them. Of other
    zones it does not matter what the certificate says.
    """
    named = (node.get("timeZoneId") for node in certificate.condition)
    offsets = certificate.zones.offsets
    return {zone: offsets[zone] for zone in named if isinstance(zone, str) and zone in offsets}


def misstated_offsets(certificate: DerivedCertificate) -> str | None:
    """Why the offsets of a certificate are not those of its zones; None where they cover them."""
    for zone, (low, high) in assumed_offsets(certificate).items():
        real = _offsets(zone)
        if real is None:
            return (
                f"the time zone {zone!r} is not known on this machine, so that its offsets cannot "
                "be compared"
            )
        if low > real[0] or high < real[1]:
            return f"{offsets_text(zone, real)}, and the certificate has it {_between((low, high))}"
    return None


def offsets_text(zone: str, offsets: Offsets) -> str:
    """What is said of a zone, for a person."""
    return f"the time zone {zone} is {_between(offsets)} of UTC"


def _between(offsets: Offsets) -> str:
    low, high = map(_clock, offsets)
    return f"between {low} and {high}"


def _clock(offset: int) -> str:
    """As ``+hh:mm``, with seconds where there are any, and their fraction."""
    minutes, rest = divmod(abs(offset), 60 * SECOND)
    text = f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    whole, fraction = divmod(rest, SECOND)
    return text + (f":{whole:02}" if rest else "") + (f".{fraction:06}" if fraction else "")


def _offsets(zone: str) -> Offsets | None:
    """The least and the greatest offset of a zone; None where it is not known on this machine."""
    fixed = Zone(zone).fixed()
    if fixed is not None:
        return fixed, fixed
    data = _data(zone) if zone in available_timezones() else None
    if data is None:
        return None
    every = [*_listed(data), *_yearly(data)]
    return min(every) * SECOND, max(every) * SECOND


def _data(zone: str) -> bytes | None:
    """The file of a zone: of the package ``tzdata``, which merges zones before 1970 as Java does,
    or else of the system, which may not.
    """
    try:
        return resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()
    except (ModuleNotFoundError, OSError):
        pass
    for folder in TZPATH:
        try:
            return Path(folder, zone).read_bytes()
        except OSError:
            continue
    return None


_HEADER = struct.Struct(">4sc15x6l")
"""RFC 9636: what a file begins with, and its version; how many flags of UTC, flags of standard
time, leap seconds, transitions, types of local time, and characters of abbreviations there are.
"""


def _listed(data: bytes) -> Iterator[int]:
    """All offsets that a zone has had, in seconds, by the types of local time in its file. The
    second half of the file has all of them, with times of eight bytes.
    """
    _, version, *counts = _HEADER.unpack_from(data)
    start, size = 0, 4
    if version >= b"2":
        utc, standard, leaps, times, types, letters = counts
        start = _HEADER.size + times * 5 + types * 6 + letters + leaps * 8 + standard + utc
        _, _, *counts = _HEADER.unpack_from(data, start)
        size = 8
    times, types = counts[3], counts[4]
    start += _HEADER.size + times * (size + 1)
    for i in range(types):
        yield struct.unpack_from(">l", data, start + 6 * i)[0]


_LATER = dt.datetime(2400, 1, 1)
"""When every zone goes by the rule for all years to come."""


def _yearly(data: bytes) -> Iterator[int]:
    """The offsets of a year in the future: a file may only have the rule for them."""
    zone = ZoneInfo.from_file(io.BytesIO(data))
    for day in range(366):
        offset = zone.utcoffset(_LATER + dt.timedelta(days=day))
        if offset is not None:
            yield round(offset.total_seconds())
