"""Of a pre-filter what drops nothing but rows on which a step raises is left out."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import pytest

import presieve

SCHEMA = "price bigint NOT NULL, v bigint NOT NULL"


class Most:
    def zero(self):
        return 0

    def finish(self, m):
        return m


class Divided(Most):
    def reduce(self, m, row):
        return max(m, row.v) if 100 // row.price != 0 else m


class Checked(Most):
    def reduce(self, m, row):
        if row.price == 0:
            raise ValueError(row.price)
        return max(m, row.v)


class Counted(Most):
    def reduce(self, m, row):
        if row.price == 0:
            raise ValueError(row.price)
        return m + 1 if row.v > 3 else m


class Late(Most):
    """Raises on some of the rows that can go anyway."""

    def reduce(self, m, row):
        if row.v < -5:
            raise ValueError(row.v)
        return max(m, row.v)


class Halved(Most):
    """Raises on a part of the rows that a conjunct drops."""

    def reduce(self, m, row):
        return m + 1 if 100 // row.price > 20 else m


@pytest.mark.parametrize(
    ("fold", "where", "prefilter"),
    [
        (Divided, "m > 5", "v > 5"),
        (Checked, "m > 5", "v > 5"),
        (Checked, "m >= 0", "true"),
        (Counted, "m >= 2", "v > 3"),
        (Counted, "m >= 0", "true"),
        (Late, "m > 5", "v > 5"),
        (Late, "m >= 0", "true"),
        # What drops other rows, too, stays.
        (Halved, "m >= 1", "price > 0"),
    ],
)
def test_rows_that_raise_stay(fold: type, where: str, prefilter: str) -> None:
    found = presieve.synthesize(fold, where, schema=SCHEMA, returns="m bigint")
    assert found.prefilter == prefilter
    if prefilter == "true":
        assert found.declined[-1]["code"] == "may-erase-error"


def test_to_assume_more_erases_no_more() -> None:
    for fold in (Checked, Divided):
        found = presieve.synthesize(
            fold, "m > 5", schema=SCHEMA, returns="m bigint", policy="assume"
        )
        assert found.prefilter == "v > 5"
