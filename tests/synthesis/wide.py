"""Folds whose conditions read many columns: the product of all regions is not gone through."""

from __future__ import annotations

import math
from typing import Any

from tests.support.synthesis.cases import Case


class BestOffer:
    """The best price of what is allowed in every respect."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if (
            row["seats"] > 1
            and row["rating"] >= 4
            and row["nights"] <= 14
            and row["floor"] > 0
            and row["kind"] == "flat"
            and row["size"] > 30.5
            and row["pets"]
            and (row["stars"] > 2 or row["reviews"] > 100)
            and (acc is None or row["price"] > acc)
        ):
            return row["price"]
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class TwoKinds:
    """How many rows are of one kind and of another, each told by five columns, and none is known to
    have a value.
    """

    def zero(self) -> Any:
        return 0, 0

    def reduce(self, acc: Any, row: Any) -> Any:
        here, there = acc
        a, b, c = row["a"], row["b"], row["c"]
        if a is not None and b is not None and c is not None and a > 1 and b > 2 and c > 3:
            return here + 1, there
        d, e, f, i, h = row["d"], row["e"], row["f"], row["i"], row["h"]
        if d is None or e is None or f is None or i is None or h is None:
            return acc
        if d == "x" and e < 5 and f < 6 and i < 7 and h < 8:
            return here, there + 1
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class BestMeasurement:
    """What belongs to the best quality. Columns that are carried along have too many regions in all
    to look at each combination.
    """

    def zero(self) -> Any:
        return None, None, None, None, None, 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["quality"] <= acc[5]:
            return acc
        return (
            row["probe"],
            row["code"],
            row["status"],
            row["samples"],
            row["hops"],
            row["quality"],
        )


_OFFER = (
    "seats > 1 AND rating >= 4 AND nights <= 14 AND floor > 0 AND kind = 'flat' AND size > 30.5D"
    " AND NOT isnan(size) AND pets AND (stars > 2 OR reviews > 100) AND price > 90"
)

WIDE: tuple[Case, ...] = (
    Case(
        "best offer",
        BestOffer,
        "best > 90",
        "g string, seats bigint NOT NULL, rating bigint NOT NULL, nights bigint NOT NULL,"
        " floor bigint NOT NULL, kind string NOT NULL, size double NOT NULL, pets boolean NOT NULL,"
        " stars bigint NOT NULL, reviews bigint NOT NULL, price bigint NOT NULL",
        "best bigint",
        "exact",
        _OFFER,
        "true",
        {
            "seats": [1, 2, 2, 2],
            "rating": [3, 4, 4, 5],
            "nights": [14, 14, 13, 15],
            "floor": [0, 1, 1, 1],
            "kind": ["flat", "flat", "flat", "Flat"],
            "size": [30.5, 31.0, 31.0, math.nan, math.inf],
            "pets": [True, True, True, False],
            "stars": [2, 2, 3],
            "reviews": [100, 101],
            "price": [90, 91, 92],
        },
    ),
    Case(
        "two kinds",
        TwoKinds,
        "here >= 2 AND there >= 1",
        "g string, a bigint, b bigint, c bigint, d string, e bigint, f bigint, i bigint, h bigint",
        "here bigint, there bigint",
        "split",
        "(a > 1 AND b > 2 AND c > 3) OR (d = 'x' AND e < 5 AND f < 6 AND i < 7 AND h < 8)",
        "here >= 2 AND there <> 0",
        {
            "a": [None, 1, 2, 2, 2, 2],
            "b": [None, 2, 3, 3, 3, 3],
            "c": [3, 4, 4, 4, 4],
            "d": ["x", "x", "x", "y", None],
            "e": [4, 4, 4, 4, 5, None],
            "f": [5, 5, 5, 5, 6, None],
            "i": [6, 6, 6, 6, 7, None],
            "h": [7, 7, 7, 7, 8, None],
        },
    ),
    Case(
        "best measurement",
        BestMeasurement,
        "(probe IS NOT NULL AND probe > 1 OR code IS NULL OR code = 99"
        " OR status IS NOT NULL AND status <> 200) AND samples IS NOT NULL AND samples >= 10"
        " AND hops IS NOT NULL AND hops >= 1 AND quality > 90",
        "g string, probe bigint, code bigint, status bigint, samples bigint, hops bigint,"
        " quality bigint NOT NULL",
        "probe bigint, code bigint, status bigint, samples bigint, hops bigint, quality bigint",
        "split",
        "quality > 90",
        "(probe > 1 OR code IS NULL OR code = 99 OR status <> 200) AND samples >= 10 AND hops >= 1",
        {
            "probe": [None, 1, 2],
            "code": [None, 98, 99, 100],
            "status": [None, 199, 200, 201],
            "samples": [None, 9, 10, 10, 11],
            "hops": [None, 0, 1, 1, 2],
            "quality": [-1, 0, 89, 90, 91, 91, 92, 93],
        },
    ),
)
