"""The types that random folds speak of: constants in Python and in SQL, and values worth trying."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from presieve.ir.sorts import Sort
from presieve.semantics.types import decimal_type, sort_of
from presieve.semantics.values import INT_RANGES, Value


@dataclass(frozen=True)
class Kind:
    """A type of column: constants as (Python, SQL) texts, the nasty values, and the common ones.

    ``nasty`` and ``usual`` are values of the IR: dates are days, timestamps microseconds, bytes
    characters below 256, decimals units of the last digit.
    """

    name: str
    constants: tuple[tuple[str, str], ...]
    nasty: tuple[Value, ...]
    usual: tuple[Value, ...]

    def constant(self, random: Random) -> tuple[str, str]:
        """One constant; the first ones are more frequent, so that fold and filter meet."""
        few = self.constants[: max(3, len(self.constants) // 2)]
        return random.choice(few if random.random() < 0.75 else self.constants)


_DAY = 86_400_000_000
_Y2024 = 19_723
"""2024-01-01, in days since the epoch."""


def _same(*texts: str) -> tuple[tuple[str, str], ...]:
    return tuple((t, t) for t in texts)


def _text(*texts: str) -> tuple[tuple[str, str], ...]:
    return tuple((repr(t), f"'{t}'") for t in texts)


def _bytes(*values: bytes) -> tuple[tuple[str, str], ...]:
    return tuple((repr(v), f"X'{v.hex()}'") for v in values)


def _dates(*days: tuple[int, int, int]) -> tuple[tuple[str, str], ...]:
    return tuple((f"dt.date({y}, {m}, {d})", f"DATE '{y}-{m:02}-{d:02}'") for y, m, d in days)


_WHOLE = _same("0", "5", "10", "1", "2", "3", "100", "-1", "-3", "7")
_WIDE = (("2**53", "9007199254740992"), ("2**31 - 1", "2147483647"), ("-(2**31)", "-2147483648"))
_DOUBLES = (
    ("0.0", "0"),
    ("2.5", "2.5"),
    ("90.0", "90"),
    ("1.5", "1.5D"),
    ("10.0", "10.0"),
    ("-1.0", "-1"),
    ("100.0", "1e2"),
    ("-0.0", "-0.0D"),
    ("0.1", "0.1"),
    ("1e300", "1e300"),
)
_STAMPS = (
    ("dt.datetime(2024, 1, 1)", "TIMESTAMP '2024-01-01 00:00:00'"),
    ("dt.datetime(2024, 1, 2, 12, 30)", "TIMESTAMP '2024-01-02 12:30:00'"),
    ("dt.datetime(2024, 1, 4)", "TIMESTAMP '2024-01-04 00:00:00'"),
    ("dt.datetime(1969, 12, 31, 23, 59, 59)", "TIMESTAMP '1969-12-31 23:59:59'"),
)
_CLOCKS = tuple((python, sql.replace("TIMESTAMP", "TIMESTAMP_NTZ")) for python, sql in _STAMPS)
_MOMENTS: tuple[tuple[Value, ...], tuple[Value, ...]] = (
    (0, -1, 1, -2_000_000_000 * 10**6, 4_000_000_000 * 10**6),
    (_Y2024 * _DAY, (_Y2024 + 1) * _DAY, (_Y2024 + 3) * _DAY + 1),
)
_DECIMALS = (
    ("Decimal('2.50')", "2.50"),
    ("Decimal('90')", "90"),
    ("Decimal('0.1')", "0.1"),
    ("Decimal('-1.5')", "-1.5"),
    ("Decimal('10.005')", "10.005"),
    ("Decimal('0')", "0.00"),
    ("0", "0"),
    ("2.5", "2.5BD"),
    ("10", "10"),
    ("Decimal('1e7')", "10000000"),
)
_INFINITE = math.inf

KINDS: dict[str, Kind] = {
    k.name: k
    for k in (
        Kind("boolean", (("True", "true"), ("False", "false")), (), (True, False)),
        Kind("int", _WHOLE, (2**31 - 1, -(2**31)), (0, 1, -1, 4, 6, 11)),
        Kind(
            "bigint",
            (*_WHOLE, *_WIDE),
            (2**63 - 1, -(2**63), 2**53 + 1, 2**53 - 1, 2**53, 2**31, -(2**53) - 1),
            (0, 1, -1, 4, 6, 11),
        ),
        Kind(
            "double",
            _DOUBLES,
            (0.0, -0.0, _INFINITE, -_INFINITE, math.nan, 5e-324, 1.7976931348623157e308, 2.0**53),
            (1.0, 2.0, 3.0, -2.0, 95.0),
        ),
        Kind(
            "string",
            _text("a", "b", "time", "price", "", "zz", "é", "\U0001f600"),
            ("", "\U0001f600", "\uffff", "A", " a", "a\t", "é", "e\u0301", "a\u0000"),
            ("a", "b", "c", "other"),
        ),
        Kind(
            "binary",
            _bytes(b"a", b"b", b"\x00", b"", b"\xff\x00", b"ab"),
            ("", "\x00", "\xff", "\xff\xff", "a\x00", "\x7f", "\x80"),
            ("a", "b", "c", "other"),
        ),
        Kind(
            "date",
            _dates((2024, 1, 15), (2024, 2, 29), (2000, 1, 1), (1969, 12, 31)),
            (0, -1, -719_162, 2_932_896),
            (_Y2024, _Y2024 + 14, _Y2024 + 59),
        ),
        Kind("timestamp", _STAMPS, *_MOMENTS),
        Kind("timestamp_ntz", _CLOCKS, *_MOMENTS),
        Kind("decimal(10,2)", _DECIMALS, (10**10 - 1, 1 - 10**10, 1, -1), (0, 250, 100, 9500)),
        Kind("decimal(38,3)", _DECIMALS, (10**38 - 1, 1 - 10**38, 2**63, -1), (0, 2500, 90000)),
    )
}

NUMBERS = ("int", "bigint", "double")
DECIMALS = ("decimal(10,2)", "decimal(38,3)")
ORDERED = (*NUMBERS, *DECIMALS, "string", "binary", "date", "timestamp", "timestamp_ntz")


def value_sort(kind: str) -> Sort:
    """What values of a type are in the IR."""
    found = sort_of(kind)
    assert found is not None
    return found


def neighbours(value: Value) -> list[Value]:
    """The value and those beside it."""
    match value:
        case bool() | None:
            return [value]
        case int():
            return [value, value - 1, value + 1]
        case float() if math.isfinite(value):
            return [
                value,
                math.nextafter(value, -_INFINITE),
                math.nextafter(value, _INFINITE),
                value + 1,
                value - 1,
            ]
        case str():
            return [value, value + "a", value[:-1], value + "\u0000"]
    return [value]


def fits(value: Value, kind: str) -> bool:
    """Whether a column of this type holds the value (calendars end with the years 1 and 9999)."""
    if value is None or isinstance(value, bool | float | str):
        return True
    low, high = INT_RANGES.get(kind, (-(2**63), 2**63 - 1))
    digits = decimal_type(kind)
    if digits is not None:
        low, high = 1 - 10 ** digits[0], 10 ** digits[0] - 1
    if kind == "date":
        low, high = -719_162, 2_932_896
    if kind in ("timestamp", "timestamp_ntz"):  # what pandas holds in nanoseconds
        low, high = -9_000_000_000 * 10**6, 9_000_000_000 * 10**6
    return isinstance(value, int) and low <= value <= high
