from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.sql.predicates import NAMES

from presieve.errors import Declined
from presieve.ir.text import print_term
from presieve.sql.catalyst import expression
from presieve.sql.emit import emit
from presieve.sql.parse import parse_predicate

SAMPLES: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "catalyst_samples.json").read_text()
)
"""``analyzed.condition().toJSON()`` of Spark 4.3.0 for each condition, without metadata."""

IDS = {"b": 15, "t": 16, "h": 17, "i": 18, "l": 19, "x": 20, "y": 21, "s": 22, "d": 23, "ts": 24}
IDS |= {"n": 100, "r": 101}
ATTRIBUTES = {number: NAMES[name] for name, number in IDS.items()}

DECLINED = {
    "d > TIMESTAMP '2020-01-01 00:00:00'": "sql-unsupported",
    "n > ts": "sql-types",
    "r = X'00FF'": "sql-literal",
    "r = s": "sql-unsupported",
    "unhex(s) = r": "sql-unsupported",
    "d > TIMESTAMP_NTZ '2020-01-01 00:00:00'": "sql-unsupported",
    "CAST(n AS TIMESTAMP) IS NULL": "sql-types",
    "l + 1 > 5": "sql-unsupported",
    "f > 5": "column-type",
    "de > 5": "unknown-column",
    "ci = 'a'": "column-type",
    "IF(b, x, 1) + 1 > 2": "sql-unsupported",
    "greatest(x, y) > 1": "sql-unsupported",
    "upper(s) = 'A'": "sql-unsupported",
    "x > rand()": "sql-unsupported",
    "s > 'a' collate UTF8_LCASE": "column-type",
    "s like 'a%'": "sql-unsupported",
}
DIFFERENT = {
    "l > 5.5": "l > 5",  # which is what Spark's analyzer makes of it
    "l > '5'": "l > 5",
    "d IN ('2020-01-01', DATE '2020-01-02')": "d IN (DATE '2020-01-01', DATE '2020-01-02')",
    "cast(i as bigint) > 5": "i > 5",
    "isnan(l)": "isnan(CAST(l AS DOUBLE))",
    "l IN (1, 9007199254740993, 1.0D)": "CAST(l AS DOUBLE) IN (1, 9007199254740993, 1.0D)",
    "CASE WHEN b THEN i ELSE x END > 1": "CASE WHEN b THEN CAST(i AS DOUBLE) ELSE x END > 1",
}


@pytest.mark.parametrize("text", SAMPLES)
def test_samples(text: str) -> None:
    term = expression(SAMPLES[text], ATTRIBUTES, "UTC")
    if text in DECLINED:
        assert isinstance(term, Declined)
        assert term.code == DECLINED[text]
        return
    assert not isinstance(term, Declined), term
    parsed = parse_predicate(DIFFERENT.get(text, text), NAMES, "UTC")
    assert not isinstance(parsed, Declined), parsed
    assert print_term(term) == print_term(parsed)


def test_attributes_are_known_by_number_not_by_name() -> None:
    term = expression(SAMPLES["x > 90"], {IDS["x"]: NAMES["y"]}, "UTC")
    assert not isinstance(term, Declined)
    assert emit(term, "UTC") == "y > 90.0D"


@pytest.mark.parametrize("timezone", ["UTC", "Europe/Berlin"])
def test_timestamps_are_read_in_the_zone_of_the_session(timezone: str) -> None:
    term = expression(SAMPLES["ts > TIMESTAMP '2020-01-01 00:00:00Z'"], ATTRIBUTES, timezone)
    assert not isinstance(term, Declined)
    hour = "2020-01-01 00" if timezone == "UTC" else "2019-12-31 23"
    assert emit(term, "UTC") == f"ts > TIMESTAMP '{hour}:00:00Z'"


@pytest.mark.parametrize(("timezone", "hour"), [("UTC", "00"), ("+05:00", "05")])
def test_instants_become_what_a_clock_shows(timezone: str, hour: str) -> None:
    """The tree casts the column to an instant, and its literal is printed in session time."""
    tree = deepcopy(SAMPLES["n > TIMESTAMP '2020-01-01 00:00:00'"])
    tree[1]["timeZoneId"] = timezone
    tree[3]["value"] = f"2020-01-01 {hour}:00:00"
    term = expression(tree, ATTRIBUTES, timezone)
    assert not isinstance(term, Declined)
    assert emit(term, timezone) == f"n > TIMESTAMP_NTZ '2020-01-01 {hour}:00:00'"


def test_where_clocks_are_changed_instants_are_no_wall_clock_times() -> None:
    tree = deepcopy(SAMPLES["n > TIMESTAMP '2020-01-01 00:00:00'"])
    declined = expression(tree, ATTRIBUTES, "Europe/Berlin")  # another zone than the cast's
    assert isinstance(declined, Declined)
    assert declined.code == "sql-unsupported"
    tree[1]["timeZoneId"] = "Europe/Berlin"
    declined = expression(tree, ATTRIBUTES, "Europe/Berlin")
    assert isinstance(declined, Declined)
    assert declined.code == "timezone"


def _broken() -> list[list[dict[str, Any]]]:
    """Trees that Spark 4.3 does not make."""
    good = SAMPLES["x BETWEEN 1 AND 2"]
    short, long, other, foreign, type_, dangling = (deepcopy(good) for _ in range(6))
    short.pop()
    long.append(deepcopy(good[-1]))
    other[0]["num-children"] = 2
    foreign[0]["class"] = "com.example.Between"
    type_[4]["dataType"] = "long"  # a reference to the common expression, which is a double
    root = dangling[3]
    assert root["class"].endswith("GreaterThanOrEqual")
    return [short, long, other, foreign, type_, dangling[3:7], [], [{}]]


@pytest.mark.parametrize("tree", _broken())
def test_other_shapes_decline(tree: list[dict[str, Any]]) -> None:
    assert isinstance(expression(tree, ATTRIBUTES, "UTC"), Declined)


def test_an_attribute_of_another_type_than_known_declines() -> None:
    declined = expression(SAMPLES["x > 90"], {IDS["x"]: NAMES["s"]}, "UTC")
    assert isinstance(declined, Declined)
    assert declined.code == "catalyst"
