"""Folds that compare columns of a row with each other, and what is known of them."""

from __future__ import annotations

import math
from typing import Any

from tests.support.synthesis.cases import Case

ENDS = [-(2**63), -(2**63) + 1, -1, 0, 1, 2, 10, 11, 2**62, 2**63 - 2, 2**63 - 1]


class LastWithin:
    """When the last row came that came within a time after its opening."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["opened"] < row["at"] < row["opened"] + row["span"]:
            return row["at"]
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class LastVisit:
    """The same of visits alone. Where a bound of one is not known, it raises."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["kind"] == "visit" and row["opened"] < row["at"] < row["opened"] + row["span"]:
            return row["at"]
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class UpsAndTies:
    """How many rows rise, and how many stay where they are."""

    def zero(self) -> Any:
        return 0, 0

    def reduce(self, acc: Any, row: Any) -> Any:
        ups, ties = acc
        if row["here"] < row["there"]:
            return ups + 1, ties
        if row["here"] == row["there"]:
            return ups, ties + 1
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class LateRows:
    """How many rows were not closed after they were opened; where one of both is not known, none
    was.
    """

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        opened, closed = row["opened"], row["closed"]
        if opened is not None and closed is not None and opened < closed:
            return acc
        return acc + 1

    def finish(self, acc: Any) -> Any:
        return acc


class Overlap:
    """The greatest height of the rows whose bounds are in order, of one kind."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["kind"] == "range" and row["low"] < row["high"]:
            return row["high"] if acc is None or row["high"] > acc else acc
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class SentHome:
    """Whether somebody wrote to themselves."""

    def zero(self) -> Any:
        return False

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc or row["sender"] == row["receiver"]

    def finish(self, acc: Any) -> Any:
        return acc


class FarApart:
    """The greatest distance, in steps of three, that is more than the limit of its row."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if 3 * row["there"] - row["here"] > row["limit"]:
            return max(acc, row["limit"])
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


WITHIN = (
    "span > 0 AND opened < at AND CAST(at AS DECIMAL(20,0)) <"
    " CAST(opened AS DECIMAL(20,0)) + CAST(span AS DECIMAL(20,0))"
)
FAR = (
    "3BD * CAST(there AS DECIMAL(20,0)) - CAST(here AS DECIMAL(20,0)) >"
    " CAST(limit AS DECIMAL(20,0)) AND limit > 10"
)

COMPARED: tuple[Case, ...] = (
    Case(
        "last within",
        LastWithin,
        "last > 10",
        "g string, opened bigint NOT NULL, at bigint NOT NULL, span bigint NOT NULL",
        "last bigint",
        "partial",
        WITHIN,
        "last > 10",
        {"opened": ENDS, "at": ENDS, "span": ENDS},
    ),
    Case(
        "last visit",
        LastVisit,
        "last > 10",
        "g string, opened bigint, at bigint, span bigint, kind string",
        "last bigint",
        "partial",
        f"{WITHIN} AND kind = 'visit'",
        "last > 10",
        {
            "opened": [None, *ENDS],
            "at": [None, *ENDS],
            "span": [None, *ENDS],
            "kind": ["visit", "x", None],
        },
    ),
    Case(
        "ups and ties",
        UpsAndTies,
        "ups >= 2 AND ties >= 1",
        "g string, here bigint, there bigint NOT NULL",
        "ups bigint NOT NULL, ties bigint NOT NULL",
        "split",
        "here < there OR here = there",
        "ups >= 2 AND ties <> 0",
        {"here": [None, *ENDS], "there": ENDS},
    ),
    Case(
        "late rows",
        LateRows,
        "late >= 2",
        "g string, opened bigint, closed bigint",
        "late bigint",
        "partial",
        "NOT ((opened < closed) <=> true)",
        "late >= 2",
        {"opened": [None, *ENDS], "closed": [None, *ENDS]},
    ),
    Case(
        "overlap",
        Overlap,
        "top > 10",
        "g string, kind string NOT NULL, low double NOT NULL, high double NOT NULL",
        "top double",
        "exact",
        "low < high AND NOT isnan(high) AND high > 10.0D AND kind = 'range'",
        "true",
        {
            "kind": ["range", "x"],
            "low": [math.nan, math.inf, -math.inf, -0.0, 0.0, 9.0, 10.0, 11.0],
            "high": [math.nan, math.inf, -math.inf, -0.0, 0.0, 9.0, 10.0, 11.0],
        },
    ),
    Case(
        "sent home",
        SentHome,
        "home",
        "g string, sender string NOT NULL, receiver string NOT NULL",
        "home boolean",
        "exact",
        "sender = receiver",
        "true",
        {"sender": ["", "a", "b", "A"], "receiver": ["", "a", "b", "A"]},
    ),
    Case(
        "far apart",
        FarApart,
        "far > 10",
        "g string, here bigint NOT NULL, there bigint NOT NULL, `limit` bigint NOT NULL",
        "far bigint",
        "exact",
        FAR,
        "true",
        {"here": ENDS, "there": ENDS, "limit": ENDS},
    ),
)
