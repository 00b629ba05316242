"""Functions of batches as people write them, and what makes it matter how batches are cut."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import logging
import re
from typing import Any

LOG = logging.getLogger(__name__)
LIMITS = [10, 20, 30, 40, 50, 60, 70]
RATES = {"a": 1.5, "b": 2.5}


def constants(batches):
    for pdf in batches:
        pdf["m"] = pdf["y"] * RATES["a"] + LIMITS[1]
        yield pdf


def set_up_before(batches):
    rate = RATES["b"] + RATES.get("c", 1.0)
    for pdf in batches:
        pdf["m"] = pdf["y"] * rate
        yield pdf


def _matching(letter: re.Pattern[str]) -> Any:
    def logged(batches):
        for pdf in batches:
            LOG.debug("%d rows", len(pdf))
            print(len(pdf))
            yield pdf[pdf["s"].str.contains(letter, na=False)]

    return logged


def by_size(batches):
    for pdf in batches:
        pdf["m"] = LIMITS[len(pdf)]
        yield pdf


def counted(batches):
    n = 0
    for pdf in batches:
        n = n + 1
        pdf["m"] = n
        yield pdf


def in_a_list(batches):
    seen = [0]
    for pdf in batches:
        pdf["m"] = seen[0]
        seen[0] = 1
        yield pdf


def first_only(batches):
    first = True
    for pdf in batches:
        if first:
            yield pdf
        first = False


def stopped(batches):
    for pdf in batches:
        yield pdf
        break


def filled_from_above(batches):
    for pdf in batches:
        pdf["x"] = pdf["x"].fillna(method="ffill")
        yield pdf


def table_filled_from_above(batches):
    for pdf in batches:
        yield pdf[["t", "x"]].fillna(method="ffill")


def integers_if_all_are(batches):
    for pdf in batches:
        pdf["m"] = pdf["x"].astype(int, errors="ignore").astype(str)
        yield pdf


def by_position(batches):
    for pdf in batches:
        pdf["m"] = pdf["t"].add([1, 2])
        yield pdf


def several_at_least(batches):
    for pdf in batches:
        assert len(pdf) > 1
        yield pdf


KEEPING = (constants, set_up_before, _matching(re.compile("^[a-z]")))
SPOILED = (
    *(by_size, counted, in_a_list, first_only, stopped, filled_from_above),
    *(table_filled_from_above, integers_if_all_are, by_position, several_at_least),
)
