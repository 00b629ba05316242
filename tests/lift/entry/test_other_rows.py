"""Functions of columns and batches that see other rows are not lifted as functions of one row."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
import pytest

from presieve.errors import Declined
from presieve.lift import lift
from presieve.lift.forms import ColumnsFunction, LiftRequest
from presieve.semantics.types import SchemaColumn
from presieve.sql.ddl import parse_returns

COUNTER = itertools.count()


def share_of_most(x):
    return x.apply(lambda v, most=x.max(): v / most)  # noqa: B008


def share_by_function(x):
    def share(v, most=x.max()):  # noqa: B008
        return v / most

    return x.apply(share)


def share_by_outer_name(x):
    most = x.max()
    return x.map(lambda v: v / most)


def without_first(x):
    return x - x.iloc[0]


def seen_before(x):
    seen: Any = []
    return x.map(lambda v: seen.append(v) or len(seen) * 1.0)


def seen_before_in_a_list(x):
    seen: Any = []
    return pd.Series([seen.append(v) or len(seen) * 1.0 for v in x])


def seen_before_in_a_loop(x):
    seen, counts = [], []
    for v in x:
        seen.append(v)
        counts.append(len(seen) * 1.0)
    return pd.Series(counts)


def seen_before_in_a_dict(x):
    """Of the lists that it fills it reads one, by way of the dict that holds them."""
    out: Any = {"seen": [], "counts": []}
    for v in x:
        out["seen"].append(v)
        out["counts"].append(len(out["seen"]) * 1.0)
    return pd.Series(out["counts"])


def seen_before_in_a_box(x):
    counts: Any = []
    seen: Any = []
    box = {"seen": seen}
    for v in x:
        seen.append(v)
        counts.append(len(box["seen"]) * 1.0)
    return pd.Series(counts)


def counted_in_a_dict(x):
    seen = {"n": 0.0}

    def count(v):
        seen["n"] = seen["n"] + 1.0
        return seen["n"]

    return x.map(count)


def gathered(v, seen=[]):  # noqa: B006
    seen.append(v)
    return len(seen) * 1.0


def gathered_by_default(x):
    return x.map(gathered)


def numbered(x):
    return x.map(lambda v: v + next(COUNTER))


def above_mean(x):
    return x.where(x > x.mean(), 0.0)


@pytest.mark.parametrize(
    "function",
    [
        *(share_of_most, share_by_function, share_by_outer_name, without_first),
        *(seen_before_in_a_list, seen_before_in_a_loop, counted_in_a_dict),
        *(seen_before_in_a_dict, seen_before_in_a_box),
        *(seen_before, gathered_by_default, numbered, above_mean),
    ],
)
def test_they_are_declined(function: Any) -> None:
    schema = (SchemaColumn("x", "double", True),)
    returns = parse_returns("r double", function.__name__)
    lifted = lift(function, ColumnsFunction(("x",)), LiftRequest(schema, ("x",), returns))
    assert isinstance(lifted, Declined)
