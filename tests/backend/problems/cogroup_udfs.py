"""Functions of two groups of a key, for cogroup. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

import pandas as pd


def left_rows(left, right):
    return left


def right_key(left, right):
    """The key is held by a column of the second table."""
    return right[["club", "points"]]


def matched(left, right):
    right = right.assign(team=right["club"])
    return left.merge(right[["team", "points"]], on="team", how="outer")[
        ["team", "score", "points"]
    ]


def nearest(left, right):
    right["team"] = right["club"]
    return pd.merge_asof(left.sort_values("v"), right.assign(v=1), on="v", by="team")[
        ["team", "score", "points"]
    ]


def of_key(key, left, right):
    return pd.DataFrame({"team": [key[0]], "rows": [len(left) + len(right)]})


def latest(left, right):
    right = right.assign(team="a")
    return left.assign(score=right["points"].max() if len(right) else 0.0)


# --- which do not keep the key --------------------------------------------------------------------


def outer_without_key(left, right):
    """Rows of the second table have no team."""
    right = right.assign(v=1)
    return left.merge(right[["v", "points"]], on="v", how="outer")[["team", "score", "points"]]


def either(left, right):
    return pd.concat([left[["team", "score"]], right[["points"]]])


def other_name(left, right):
    return left.assign(team=left["level"])


def two_names(left, right):
    """A column of the second table's that is no key goes by the first one's name."""
    right = right.assign(team="z")
    return left.merge(right[["team", "points"]], on="team", how="outer")[
        ["team", "score", "points"]
    ]
