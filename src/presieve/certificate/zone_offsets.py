# SPDX-License-Identifier: Apache-2.0
"""Trusted. Compares the offsets of time zones that a stored claim states with the real ones.

A condition on instants is evaluated with the least and the greatest offset that a zone ever had or
will have (:mod:`presieve.sql.piecewise`). The search asks Java for them, because Spark reads
instants by Java's rules. A certificate only states what they were, so the checker compares them
with the data of this machine. A range that is wider than the zone's claims less, and is right, too.

The releases of that data differ in some offsets before 1970, when each town set its own clocks. So
a certificate is refused if this machine's release gives its zone other offsets; the message states
both ranges. A certificate with a zone that is not known here is refused, too, because its offsets
cannot be compared, and a reader would have to know them to judge it.
"""

from __future__ import annotations

import datetime as dt
import io
import struct
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, available_timezones

from presieve.certificate.scan_filters import DerivedCertificate
from presieve.lift.python.zones import Zone
from presieve.sql.piecewise import SECOND, Offsets


def assumed_offsets(certificate: DerivedCertificate) -> Mapping[str, Offsets]:
    """The zones in which instants are read, with the offsets that the proof assumes. What the
    certificate says about other zones does not matter.
    """
    named = (node.get("timeZoneId") for node in certificate.condition)
    offsets = certificate.zones.offsets
    return {zone: offsets[zone] for zone in named if isinstance(zone, str) and zone in offsets}


def misstated_offsets(certificate: DerivedCertificate) -> str | None:
    """Why the offsets of a certificate are not those of its zones; None if they cover them."""
    for zone, (low, high) in assumed_offsets(certificate).items():
        real = _offsets(zone)
        if real is None:
            return (
                f"the time zone {zone!r} is not known on this machine, so that its offsets cannot "
                "be compared"
            )
        if low > real[0] or high < real[1]:
            return (
                f"{offsets_text(zone, real)}, and the certificate has it {_range_text((low, high))}"
            )
    return None


def offsets_text(zone: str, offsets: Offsets) -> str:
    """Describe a zone's offsets for a reader."""
    return f"the time zone {zone} is {_range_text(offsets)} of UTC"


def _range_text(offsets: Offsets) -> str:
    low, high = map(_clock, offsets)
    return f"between {low} and {high}"


def _clock(offset: int) -> str:
    """Format as ``+hh:mm``, with seconds if there are any, and their fraction."""
    minutes, microseconds = divmod(abs(offset), 60 * SECOND)
    text = f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    seconds, fraction = divmod(microseconds, SECOND)
    return (
        text + (f":{seconds:02}" if microseconds else "") + (f".{fraction:06}" if fraction else "")
    )


def _offsets(zone: str) -> Offsets | None:
    """The least and the greatest offset of a zone; None if it is not known on this machine."""
    fixed = Zone(zone).fixed_offset()
    if fixed is not None:
        return fixed, fixed
    data = _data(zone) if zone in available_timezones() else None
    if data is None:
        return None
    every = [*_listed_offsets(data), *_yearly_offsets(data)]
    return min(every) * SECOND, max(every) * SECOND


def _data(zone: str) -> bytes | None:
    """Read the file of a zone: from the package ``tzdata``, which merges zones before 1970 as Java
    does, or else from the system, which may not.
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
"""RFC 9636: the magic bytes of a file and its version; then the numbers of UTC flags, standard-time
flags, leap seconds, transitions, local time types, and abbreviation characters.
"""


def _listed_offsets(data: bytes) -> Iterator[int]:
    """Yield all offsets that a zone has had, in seconds, from the local time types in its file. The
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
"""A time at which every zone follows its rule for all years to come."""


def _yearly_offsets(data: bytes) -> Iterator[int]:
    """Yield the offsets of a future year, because a file may have only the rule for them."""
    zone = ZoneInfo.from_file(io.BytesIO(data))
    for day in range(366):
        offset = zone.utcoffset(_LATER + dt.timedelta(days=day))
        if offset is not None:
            yield round(offset.total_seconds())
