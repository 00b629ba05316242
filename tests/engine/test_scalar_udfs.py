"""Filters on results of scalar UDFs of many kinds, each with a wrong twin that a table refutes."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import presieve

WANTED = ["A", "B"]
TIMES = {"v1": {"h1": 2, "h2": 5}, "v2": {"h1": 3, "h2": 9}}


def total(qty, price):
    return qty * price


def years_left(age):
    return max(0, 65 - age)


def mean(a, b):
    return (a + b) / 2


def day(ms):
    return int(ms / 1000 / 60 / 60 / 24)


def square(x):
    return x**2


def logarithm(x):
    return math.log(x) if x > 0 else None


def code(s):
    return s.zfill(3)


def inner(s):
    return s[1:-1]


def tidy(s):
    return " ".join((s or "").split())


def digits(s):
    return re.sub("[^0-9]", "", s)


def number(s):
    m = re.search(r"#(\d+)", s)
    return m.group(1) if m else None


def key(a, n):
    return f"{a}-{n}"


def is_late(s):
    return any(w in s.lower() for w in ("late", "tardy"))


def default(s):
    if s is None:
        s = ""
    return s.upper()


def hours(a, b):
    return TIMES[a][b]


def second(p):
    return float(p[1])


def hits(codes):
    if not codes:
        return 0
    return sum(1 for c in codes if c in WANTED)


def has_tag(tags):
    return "x" in tags


def mode(options):
    return options.get("mode", "none")


def city(address):
    return address["city"] if address else None


def year(ts):
    return ts.year


def day_of(d):
    return d.strftime("%Y-%m-%d")


def coupon(s):
    return s if isinstance(s, str) and len(s) == 2 else None


def amount(n):
    return n if isinstance(n, (int, float)) and not isinstance(n, bool) else -1


class Case(NamedTuple):
    """``schema`` and ``returns`` as DDL, the filter, what is found, and a filter that is wrong."""

    function: Callable[..., Any]
    schema: str
    returns: str
    where: str
    prefilter: str
    twin: str


CASES = (
    Case(coupon, "s string", "string", "r < 'b'",
         "length(s) = 2 AND s < 'b'", "length(s) = 2 AND s < 'a'"),
    Case(amount, "n bigint", "bigint", "r > 5", "n > 5", "n > 6"),
    Case(
        total, "qty int, price double", "double", "r > 100",
        "CAST(qty AS DOUBLE) * price > 100.0D OR isnan(price)",
        "CAST(qty AS DOUBLE) * price > 101.0D OR isnan(price)",
    ),
    Case(mean, "a int, b int", "double", "r > 5",
         "CAST(a AS DECIMAL(20,0)) + CAST(b AS DECIMAL(20,0)) > 10BD",
         "CAST(a AS DECIMAL(20,0)) + CAST(b AS DECIMAL(20,0)) > 11BD"),
    Case(day, "ms bigint", "int", "r = 12",
         "ms >= 1036800000 AND ms < 1123200000", "ms > 1036800000 AND ms < 1123200000"),
    Case(code, "s string", "string", "r = '012'", "s IN ('012', '12')", "s = '012'"),
    Case(inner, "s string", "string", "r = 'a'",
         "substring(reverse(substring(s, 2)), 2) = 'a'", "s = 'xax'"),
    Case(key, "a string, n int", "string", "r = 'x-7'",
         "a = 'x' AND n = 7", "a = 'x' AND n = 8"),
    Case(second, "p array<double>", "double", "r > 0.5", "get(p, 1) > 0.5D", "get(p, 0) > 0.5D"),
    Case(has_tag, "tags array<string>", "boolean", "r",
         "array_position(tags, 'x') > 0", "array_position(tags, 'x') > 1"),
    Case(city, "address struct<city:string,zip:string>", "string", "r = 'Bonn'",
         "address.city = 'Bonn'", "address.zip = 'Bonn'"),
    Case(day_of, "d date", "string", "r = '2024-01-02'",
         "d >= DATE '2024-01-01' AND d < DATE '2025-01-01' AND month(d) = 1 AND day(d) = 2",
         "d > DATE '2024-01-02'"),
)  # fmt: skip
FOLLOWING = (
    (square, "x double", "double", "r > 4", "x > 0.0D"),
    (logarithm, "x double", "double", "r > 3", "x > 21.0D"),
    (tidy, "s string", "string", "r = 'a b'", "s = 'a b'"),
    (digits, "s string", "string", "r = '12'", "contains(s, '12')"),
    (number, "s string", "string", "r = '12'", "s = '#12'"),
    (is_late, "s string", "boolean", "r", "contains(s, 'late')"),
    (default, "s string", "string", "r = 'A'", "s = 'A'"),
    (hits, "codes array<string>", "int", "r > 0", "array_size(codes) > 1"),
    (
        mode,
        "options map<string,string>",
        "string",
        "r = 'fast'",
        "array_size(map_keys(options)) > 1",
    ),
    (year, "ts timestamp", "int", "r = 2024", "ts >= TIMESTAMP '2024-02-01 00:00:00Z'"),
)
"""Where the filter only follows, or its text is long; the last one is wrong."""


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.function.__name__)
def test_the_filter_is_found(case: Case) -> None:
    found = presieve.synthesize(
        case.function, case.where, schema=case.schema, returns=f"r {case.returns}", mode="row"
    )
    assert (found.kind, found.prefilter) == ("exact", case.prefilter)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.function.__name__)
def test_its_twin_is_not_proved(case: Case) -> None:
    _is_not_proved(case.function, case.schema, case.returns, case.where, case.twin)


@pytest.mark.parametrize(("function", "schema", "returns", "where", "twin"), FOLLOWING)
def test_a_filter_follows(
    function: Callable[..., Any], schema: str, returns: str, where: str, twin: str
) -> None:
    found = presieve.synthesize(function, where, schema=schema, returns=f"r {returns}", mode="row")
    assert found.prefilter != "true"
    _is_not_proved(function, schema, returns, where, twin)


def _is_not_proved(
    function: Callable[..., Any], schema: str, returns: str, where: str, twin: str
) -> None:
    verdict = presieve.verify(
        function, where, schema=schema, returns=f"r {returns}", prefilter=twin, mode="row"
    )
    assert verdict.status != "proved", str(verdict)


class _Claims(type):
    def __instancecheck__(cls, _: object) -> bool:
        return True


class Claimed(metaclass=_Claims):
    pass


Claimed.__module__ = "builtins"


def is_claimed(s):
    return isinstance(s, Claimed)


def test_a_class_of_the_program_decides_itself_what_its_instances_are() -> None:
    found = presieve.synthesize(is_claimed, "r", schema="s string", returns="r boolean", mode="row")
    assert found.declined
    assert found.prefilter == "true"


def test_a_large_integer_is_cut_or_raises() -> None:
    """65 - age is beyond an int for the least ages: Arrow raises, or they become negative."""
    types: dict[str, Any] = {"schema": "age int", "returns": "r int", "mode": "row"}
    by_arrow = presieve.synthesize(years_left, "r > 20", **types)
    assert by_arrow.kind == "exact"
    assert "age < 45" in by_arrow.prefilter

    class Udf:
        func, evalType, deterministic = years_left, 100, True

    by_pickle = presieve.synthesize(Udf, "r > 20", **types)
    assert by_pickle.kind == "exact"
    assert "age >= -2147483582" in by_pickle.prefilter
    wrong = presieve.verify(Udf, "r > 20", prefilter="age < 45", residual="true", **types)
    assert wrong.status != "proved"
