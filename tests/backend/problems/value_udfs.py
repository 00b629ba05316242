"""Functions of texts, dates and numbers, as users write them for ``udf``. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

import math
import re
from datetime import date, timedelta

START = re.compile(r"ERR\d*")
COUNTRIES = {"de": "Germany", "fr": "France"}
KINDS = ("log", "txt")


class Above:
    """An object that is called."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, x):
        return x is not None and x > self.limit


above = Above(1.5)


def stripped(s):
    return s.strip() if s else None


def upper(s):
    return None if s is None else s.upper()


def country(s):
    if s is None:
        return "unknown"
    return COUNTRIES.get(s.strip().lower(), "other")


def has_error(s):
    return s is not None and "err" in s.lower()


def says_err(s):
    text = (s or "").strip().lower()
    return "err" in text.replace("-", "")


def contains(s):
    return s is not None and "é" in s


def is_log(s):
    return s is not None and s.endswith(KINDS)


def long(s):
    return s is not None and len(s) > 3


def initial(s):
    if not s:
        return None
    return s[0].upper()


def code(s):
    return None if s is None else s[-2:]


def head(s):
    return None if s is None else s[:2]


def middle(s):
    return None if s is None else s[1:3]


def label(v):
    return f"id-{v}"


def joined(s, v):
    if s is None:
        return None
    return "-".join([s, str(v)])


def domain(s):
    if s is None or "a" not in s:
        return None
    return s.split("a")[1]


def last_part(s):
    return None if s is None else s.split("-")[-1]


def cleaned(s):
    return None if s is None else s.replace("-", "").lstrip("0")


def prefixed(s):
    return "x" + (s or "")


def is_failure(s):
    return s is not None and START.match(s) is not None


def searched(s):
    if s is None or not re.search("a.?b", s):
        return "no"
    return "yes"


def place(s):
    return -2 if s is None else s.find("a")


def year(d):
    return None if d is None else d.year


def quarter(d):
    return None if d is None else (d.month - 1) // 3 + 1


def is_weekend(d):
    return d is not None and d.weekday() >= 5


def age(d):
    return None if d is None else (date(2024, 1, 1) - d).days


def hour(n):
    return None if n is None else n.hour


def day_of(n):
    return None if n is None else n.date()


def rounded(x):
    if x is None or math.isnan(x) or math.isinf(x):
        return None
    return round(x)


def rounded_to_one(x):
    return None if x is None else round(x, 1)


def floor(x):
    if x is None or x != x or math.isinf(x):
        return None
    return math.floor(x / 2)


def whole(x):
    if x is None or not math.isfinite(x):
        return None
    return int(x)


def root(x):
    if x is None or x < 0:
        return None
    return math.sqrt(x)


def bucket(v):
    return None if v is None else v % 7


def decade(v):
    return None if v is None else v // 10


def titled(s):
    return None if s is None else s.title()


def strict_strip(s):
    return s.strip()


def tripled(v):
    return None if v is None else v * 3


def is_there(v):
    return v is not None


def as_it_is(v):
    return v


def exceeds(x):
    return x is not None and x > 9007199254740992.0


def half_more(v):
    return v + 0.5


def doubled(y):
    return 0 if y is None else int(y * 2)


def next_number(v):
    return None if v is None else v + 1


def reduced(x: float | None) -> float | None:
    """A double of a double, which may be NaN."""
    return None if x is None else x * 0.5


def level(x: float | None) -> str:
    """What a double that another function gives is called."""
    if x is None:
        return "none"
    return "high" if x > 5.0 else "low"


def parts(s):
    """A struct."""
    return None if s is None else (len(s), s.strip())


TAG, SPACES = re.compile("<[^>]+>"), re.compile(r"\s+")


def plain_text(s):
    if s is None:
        return ""
    return SPACES.sub(" ", TAG.sub(" ", s)).strip().lower()


def filled_in(s, v):
    return f"{s}/{v:03d}" if s and v is not None and 0 <= v < 100 else None


def years_old(d):
    if d is None:
        return None
    return 2024 - d.year - ((d.month, d.day) > (6, 30))


def written_out(s):
    names = dict(de="France", fr="France")  # noqa: C408
    names.update({"de": "Germany"})
    for code, name in {"de": names["de"], "it": "Italy"}.items():
        if s == code:
            return name
    return None


GRACE = timedelta(weeks=2)


def due(d):
    return d + timedelta(days=30, hours=30) if d is not None and d.year < 9999 else None


def is_recent(d):
    return d is not None and date(2024, 3, 1) - d < GRACE


def is_over(n, d):
    """Whether a day is after another one and two weeks."""
    if n is None or d is None or d.year in (1, 9999):
        return None
    return n.date() > d + GRACE


def area_code(s):
    found = re.search(r"([a-z]+)-([0-9]*)", s or "")
    return found.group(2) if found else None


def filled_up(v):
    return str(v % 1000).zfill(5) if v is not None else None


def inner(s):
    return s[1:-1] if s else s
