"""Scalar UDFs that decide something before they come to what is not read."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import re
import time
from typing import Any
from urllib.parse import urlsplit

NUMBER = re.compile(r"^ORD-(\d+)$")
SEEN: list[Any] = []
LABELS = {"a": 1}


def title(s: Any) -> Any:
    if s is None:
        return None
    s = s.casefold()
    if s == "":
        return None
    return s.expandtabs()


def kind(s: Any) -> Any:
    if not s:
        return None
    try:
        return json.loads(s).get("kind")
    except json.JSONDecodeError:
        return "broken"


def host(s: Any) -> Any:
    if s is None or "://" not in s:
        return None
    return s.expandtabs().split("://", 1)[1]


def listed(s: Any) -> Any:
    return "yes" if s is not None and s.expandtabs() in ("A", "B") else "no"


def numbered(s: Any) -> Any:
    if s is None:
        return "none"
    if s == "x":
        return "x"
    m = NUMBER.match(s)
    return "other" if m is None else m.group(1).expandtabs()


def by_two(s: Any, x: Any) -> Any:
    if s == "zz":
        return "first"
    elif x is not None and x > 5:
        if s is not None and s.startswith("a"):
            return "a"
        return "large"
    return datetime.datetime.fromtimestamp(len((s or "").split(","))).isoformat()


def tried(s: Any) -> Any:
    try:
        if not s or s == "x":
            return None
        return json.loads(s)["kind"]
    except (ValueError, KeyError):
        return "broken"
    else:
        return "none"


def site(s: Any) -> Any:
    return urlsplit(s).netloc if s else None


def kind_or_nothing(s: Any) -> Any:
    try:
        return json.loads(s).get("kind")
    except Exception:
        return None


def kind_or_broken(s: Any) -> Any:
    try:
        value = json.loads(s)
    except TypeError:
        return None
    except json.JSONDecodeError:
        return "broken"
    return value.get("kind") if isinstance(value, dict) else None


def address(s: Any) -> Any:
    try:
        return str(ipaddress.ip_address(s).is_private)
    except ValueError:
        return "no address"


def of_several(s: Any) -> Any:
    try:
        year = datetime.datetime.strptime(s, "%Y").year
        return str(year) + base64.b64decode(s).decode()
    except (TypeError, ValueError):
        return "none" if s is None else "other"


def error_caught(s: Any) -> Any:
    try:
        if s < "m":
            return None
        return s.expandtabs()
    except TypeError:
        return "no text"


GUARDED = {
    (error_caught, "c IS NOT NULL"): "s IS NULL OR s >= 'm'",
    (kind_or_nothing, "c = 'login'"): "s IS NOT NULL",
    (kind_or_nothing, "c IS NOT NULL"): "s IS NOT NULL",
    (kind_or_broken, "c = 'broken'"): "s IS NOT NULL",
    (address, "c = 'True'"): "s IS NOT NULL",
    (of_several, "c <> 'none'"): "s IS NOT NULL",
    (site, "c = 'example.com'"): "s <> ''",
    (title, "c IS NOT NULL"): "s <> ''",
    (kind, "c = 'login'"): "s <> ''",
    (host, "c = 'example.com'"): "contains(s, '://')",
    (tried, "c = 'broken'"): "s <> '' AND s <> 'x'",
    (listed, "c = 'yes'"): "s IS NOT NULL",
    (numbered, "c = '7'"): "s >= 'ORD-' AND s < 'ORD.'",
    (numbered, "c = 'x'"): "s = 'x' OR (s >= 'ORD-' AND s < 'ORD.')",
}
"""Functions of one text with a filter, and what they give below."""


def time_of(s: Any) -> Any:
    if s is None:
        return None
    return datetime.datetime.fromtimestamp(len(s) * 1000.5)


def year(s: Any) -> Any:
    if s is None:
        return None
    return int(s.expandtabs()[:4]) if s[:4].isdigit() else len(s)


def ratio(s: Any) -> Any:
    if s is None:
        return None
    return len(s.expandtabs()) / 4


def is_large(s: Any) -> Any:
    if s is None:
        return None
    return s.expandtabs() in ("X", "ZZ") or len(s) > 8


def day(s: Any) -> Any:
    if s is None:
        return None
    return datetime.date(2024, 1, 1) + datetime.timedelta(days=len(s))


TYPED = {
    (year, "int"): ("c > 1", "length(s) > 1 OR s >= '0'"),
    (ratio, "double"): ("c >= 0.25", "s IS NOT NULL"),
    (is_large, "boolean"): ("c", "s IS NOT NULL"),
    (day, "date"): ("c > DATE '2024-01-02'", "s IS NOT NULL"),
    (time_of, "timestamp"): ("c > TIMESTAMP '1970-01-01 01:00:00'", "s IS NOT NULL"),
}
"""Functions of one text whose results have one class, with their type, a filter, and what it gives
below. A text that starts with a digit is at least ``'0'``.
"""


def whole_or_part(s: Any) -> Any:
    if s is None:
        return 0.0
    return len(s) / 4 if len(s) % 4 else len(s) // 4


def number_or_text(s: Any) -> Any:
    if s is None:
        return None
    return len(s) if len(s.strip()) > 1 else s


MIXED = ((whole_or_part, "double"), (number_or_text, "int"))
"""Functions whose results have several classes: Arrow decides on all of a batch at once."""


def writes(s: Any) -> Any:
    if s is None:
        return None
    with open("/tmp/seen", "a") as file:
        file.write(s)
    return s


def remembers(s: Any) -> Any:
    if s is None:
        return None
    SEEN.append(s)
    return str(len(SEEN))


def clock(s: Any) -> Any:
    if s is None:
        return None
    return s.strip() + str(time.time() > 0)


def relabels(s: Any) -> Any:
    if s is None:
        return None
    LABELS[s] = 2
    return s.expandtabs()


LOUD = (writes, remembers, clock, relabels)
"""A row that is dropped might be missed."""


def nothing_first(s: Any) -> Any:
    s = (s or "?").expandtabs()
    if s is None:
        return None
    return s


def late(s: Any) -> Any:
    try:
        if s is None:
            return "a"
    finally:
        s = "b"
    return s.expandtabs()


def changed(s: Any) -> Any:
    if s is None:
        s = "x"
    if s is None:
        return None
    return s.expandtabs()


def in_a_loop(s: Any) -> Any:
    for _ in range(2):
        if s is None:
            return "n"
        s = s.expandtabs()
    return s


def error_caught_in_a_branch(s: Any) -> Any:
    try:
        if s.expandtabs() == "A" or s < "m":
            return None
        return s.expandtabs()
    except (AttributeError, TypeError):
        return "no text"


def raised_and_caught(s: Any) -> Any:
    try:
        if s is None:
            raise ValueError
        return s.expandtabs()
    except ValueError:
        return "no text"


def kind_or_text(s: Any) -> Any:
    try:
        return json.loads(s).get("kind")
    except Exception:
        return "no text"


def kind_or_later(s: Any) -> Any:
    value = None
    try:
        value = json.loads(s)
    except (TypeError, ValueError):
        s = "no text" if s is None else s
    return s.expandtabs() if value is None else str(value)


def own_loads(s: Any) -> Any:
    class json:
        @staticmethod
        def loads(text: Any) -> Any:
            return text or "nothing"

    try:
        return str(json.loads(s)).expandtabs()
    except TypeError:
        return None


OPEN = (
    *(kind_or_text, kind_or_later, own_loads, nothing_first, late, changed),
    *(error_caught_in_a_branch, raised_and_caught),
)
"""Nothing that is decided first helps."""
