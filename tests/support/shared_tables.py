"""Functions that change tables and columns of pandas in place, alone and where others see it.

Columns: ``x double, y bigint NOT NULL``. Those of MAPS take batches, those of GROUPS a table, and
those of SERIES the two columns. Where the name ends in SEEN something else sees the change.
"""

# mypy: ignore-errors

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
import pandas as pd

CHOSEN = True


@dataclass
class Held:
    """An object with a column in it."""

    s: object = None


# --- helpers --------------------------------------------------------------------------------------


def lowered(s):
    s -= 100
    return s


def same(s):
    return s


def emptied(table):
    table["x"] = 0.0
    return 1


def masked_in(table):
    table.loc[table.y > 1, "x"] = 0.0
    return table


def high(table, least=1):
    mask = table.x > least
    mask &= table.y > 1
    return mask


def rounds_of(held):
    taken = held[0]
    held[0] = None
    taken += 10
    return 1


def of_pair(pair):
    first = pair[0]
    pair = None
    first += 10
    return 1


# --- nothing else sees the change -----------------------------------------------------------------


def map_own_column(batches):
    for pdf in batches:
        s = pdf.x * 2
        s += 1
        yield pdf[s > 5]


def map_own_mask(batches):
    for pdf in batches:
        mask = pdf.x > 1
        mask &= pdf.y > 1
        mask |= pdf["x"].isna()
        yield pdf[mask]


def map_copy(batches):
    for pdf in batches:
        s = pdf["x"].copy()
        s += 10
        yield pdf[(s > 12) & (pdf.x < 90)]


def map_own_table(batches):
    for pdf in batches:
        pdf = pdf[pdf.x > 1]
        pdf["x"] = pdf.x + 1
        yield pdf


def map_part(batches):
    """A part of a table shares nothing with it, whichever way it is taken."""
    for pdf in batches:
        part = pdf[["x", "y"]]
        part.loc[part.x > 1, "x"] = 0.0
        good = pdf[pdf.y > 0]
        good["x"] = 0.0
        yield pdf


def map_put_in(batches):
    """A table has a copy of what is put into it."""
    for pdf in batches:
        s = pdf["x"]
        pdf["x"] = s * 2
        pdf["z"] = s
        twice = pdf.x * 2
        pdf["w"] = twice
        twice += 100
        yield pdf[pdf.w + pdf.z > 12][["x", "y"]]


def map_assigned(batches):
    for pdf in batches:
        q = pdf.assign(x=pdf["x"] - 1)
        q.loc[q.y > 1, "x"] = -1.0
        yield q


def map_filled(batches):
    for pdf in batches:
        s = pdf.x.fillna(0.0)
        s *= 2.0
        t = pdf["x"].where(pdf.y > 1, 5.0)
        t -= 1.0
        pdf["x"] = s + t
        yield pdf


def map_helper(batches):
    for pdf in batches:
        mask = high(pdf)
        yield pdf[mask]


def map_branches(batches):
    for pdf in batches:
        mask = pdf.x > 1
        for limit in (1, 3):
            mask &= pdf.y != limit
        yield pdf[mask]


def map_marked(batches):
    for pdf in batches:
        pdf.loc[pdf.x > 1, "x"] = 0.0
        pdf.loc[pdf["y"] == 1, "x"] = pdf.x
        yield pdf


def group_own_column(pdf):
    s = pdf["x"] * 2
    s += 1
    return pd.DataFrame({"o": [s.max()]})


def group_after_loop(pdf):
    best = 0.0
    for v in pdf["x"]:
        if v > best:
            best = v
    mask = pdf.x > 1
    mask &= pdf.y > 1
    return pd.DataFrame({"o": [best if mask.any() else 0.0]})


def series_own_mask(x, y):
    mask = x > 1
    mask &= y > 1
    return float(mask.sum())


# --- something else sees it -----------------------------------------------------------------------


def map_column_loc(batches):
    for pdf in batches:
        s = pdf.x * 2
        s.loc[s > 1] = 0.0
        yield pdf


def map_of_table(batches):
    for pdf in batches:
        s = pdf["x"]
        s += 10
        yield pdf[pdf.x > 12]


def map_two_names(batches):
    for pdf in batches:
        mask = pdf.x > 1
        other = mask
        other &= pdf.y > 1
        yield pdf[mask]


def map_two_names_first(batches):
    for pdf in batches:
        mask = pdf.x > 1
        other = mask
        mask &= pdf.y > 1
        yield pdf[other]


def map_lowered(batches):
    for pdf in batches:
        lowered(pdf.x)
        yield pdf[pdf.x > 12]


def map_own_lowered(batches):
    for pdf in batches:
        s = pdf.x * 2
        lowered(s)
        yield pdf[s > 12]


def map_through_helper(batches):
    for pdf in batches:
        s = same(pdf.x)
        s += 10
        yield pdf[pdf.x > 12]


def map_of_assigned(batches):
    for pdf in batches:
        q = pdf.assign(z=1.0)
        s = q.x
        s += 10
        yield q[q.x > 12][["x", "y"]]


def map_unpacked(batches):
    for pdf in batches:
        a, b = pdf.x, pdf.y
        a += b
        yield pdf[pdf.x > 12]


def map_of_sorted(batches):
    for pdf in batches:
        q = pdf.sort_values("x")
        s = q.x
        s += 10
        yield q[q.x > 12]


def map_in_list(batches):
    for pdf in batches:
        held = [pdf.x]
        held[0] += 10
        yield pdf[pdf.x > 12]


def map_of_list(batches):
    for pdf in batches:
        mask = pdf.x > 1
        held = [mask]
        mask &= pdf.y > 1
        yield pdf[held[0]]


def map_in_tuple(batches):
    for pdf in batches:
        mask = pdf.x > 1
        held = (mask, 1)
        mask &= pdf.y > 1
        yield pdf[held[0]]


def map_in_dict(batches):
    for pdf in batches:
        held = {"a": pdf.x}
        held["a"] += 10
        yield pdf[pdf.x > 12]


def map_of_dict(batches):
    for pdf in batches:
        held = {"a": pdf.x > 1}
        s = held.get("a")
        s &= pdf.y > 1
        yield pdf[held["a"]]


def map_in_object(batches):
    for pdf in batches:
        held = Held(pdf.x)
        held.s += 10
        yield pdf[pdf.x > 12]


def map_of_object(batches):
    for pdf in batches:
        mask = pdf.x > 1
        held = Held(mask)
        mask &= pdf.y > 1
        yield pdf[held.s]


def map_chosen(batches):
    for pdf in batches:
        s = pdf.x if CHOSEN else pdf.y
        s += 10
        yield pdf[pdf.x > 12]


def map_named(batches):
    for pdf in batches:
        other = (mask := pdf.x > 1)
        mask &= pdf.y > 1
        yield pdf[other]


def map_looped(batches):
    for pdf in batches:
        for s in (pdf.x, pdf.x):
            s += 10.0
        yield pdf[pdf.x > 12]


def map_matched(batches):
    for pdf in batches:
        match pdf.x:
            case s:
                s += 10
        yield pdf[pdf.x > 12]


def map_chained(batches):
    for pdf in batches:
        a = b = pdf.x * 2
        a += 10
        yield pdf[b > 12]


def map_accessor(batches):
    for pdf in batches:
        s = pdf.x * 2
        at = s.loc
        s += 10
        yield pdf[at[pdf.x > 1] > 12]


def map_array(batches):
    for pdf in batches:
        w = np.where(pdf.x > 1, 1.0, 2.0)
        s = pd.Series(w)
        w += 10
        pdf["x"] = s
        yield pdf


def map_array_of_integers(batches):
    """NumPy raises, where pandas would make doubles."""
    for pdf in batches:
        w = np.where(pdf.x > 1, 1, 2)
        w += 0.5
        pdf["x"] = w
        yield pdf


def map_column_of_part(batches):
    for pdf in batches:
        pdf["z"] = pdf.x > 1
        z = pdf.z
        z &= pdf.y > 1
        yield pdf[pdf.z][["x", "y"]]


def map_through_view(batches):
    for pdf in batches:
        s = pdf["x"]
        pdf.loc[pdf.x > 1, "x"] = 0.0
        pdf["x"] = s
        yield pdf


def map_view_in_list(batches):
    for pdf in batches:
        held = [pdf["x"]]
        pdf.loc[pdf.x > 1, "x"] = 0.0
        pdf["x"] = held[0]
        yield pdf


def map_before_the_view(batches):
    """The second value is a view, which is assigned after the write."""
    for pdf in batches:
        pdf.loc[pdf.x > 1, "x"], s = 0.0, pdf.x
        pdf["x"] = s
        yield pdf


def map_rounds_of_views(batches):
    for pdf in batches:
        total = pdf.y * 0.0
        for s in (pdf.x, pdf.x):
            total = total + s
            s = 0
            pdf.loc[pdf.x > 1, "x"] = 0.0
        pdf["x"] = total
        yield pdf


def map_round_after_round(batches):
    for pdf in batches:
        mask = pdf.x > 1
        for part in (mask, mask):
            other = part
            mask = 0
            other &= pdf.y > 1
        yield pdf[other]


def map_emptied(batches):
    for pdf in batches:
        emptied(pdf)
        yield pdf[pdf.x > 12]


def map_marked_in(batches):
    for pdf in batches:
        masked_in(pdf)
        yield pdf[pdf.x > 12]


def map_emptied_pair(batches):
    for pdf in batches:
        s = pdf.x * 2
        of_pair((s, 1))
        yield pdf[s > 12]


def map_emptied_list(batches):
    for pdf in batches:
        s = pdf.x * 2
        rounds_of([s])
        yield pdf[s > 12]


def map_same_table(batches):
    for pdf in batches:
        q = pdf
        q["x"] = 0.0
        yield pdf


def map_same_copy(batches):
    for pdf in batches:
        q = pdf.copy()
        p = q
        q.loc[q.x > 1, "x"] = 0.0
        yield p


def group_before_loop(pdf):
    s = pdf.x
    s += 10
    best = 0.0
    for row in pdf.itertuples():
        if row.x > best:
            best = row.x
    return pd.DataFrame({"o": [best]})


def group_in_loop(pdf):
    best = 0.0
    for row in pdf.itertuples():
        pdf["x"] = 0.0
        if row.x > best:
            best = row.x
    return pd.DataFrame({"o": [pdf["x"].max()]})


def group_column_in_loop(pdf):
    best = 0.0
    for v in pdf.x:
        s = pdf.x
        s += 1.0
        if v > best:
            best = v
    return pd.DataFrame({"o": [best]})


def group_after(pdf):
    s = pdf.x
    s += 5.0
    return pd.DataFrame({"o": [pdf["x"].max()]})


def group_emptied(pdf):
    emptied(pdf)
    return pd.DataFrame({"o": [pdf["x"].max()]})


def group_either(pdf):
    a, b = pdf.x > 1, pdf.x > 1
    chosen = a if pdf.y.max() > 3 else b
    a &= pdf.y > 2
    return pd.DataFrame({"o": [float(chosen.sum())]})


def group_either_in_tuple(pdf):
    a, b = pdf.x > 1, pdf.x > 1
    chosen = (a, 1) if pdf.y.max() > 3 else (b, 1)
    a &= pdf.y > 2
    return pd.DataFrame({"o": [float(chosen[0].sum())]})


def series_argument(x, y):
    x += 100
    return x.max()


def series_renamed(x, y):
    z = x
    z *= 2.0
    return x.max()


def series_twice(x, y):
    """Spark passes one Series for both, if both are one column."""
    x -= 1000
    return y.max()


# --- in ways that are not followed at all ---------------------------------------------------------


def map_inplace(batches):
    for pdf in batches:
        s = pdf.x
        s.fillna(0.0, inplace=True)
        yield pdf[pdf.x > 12]


def map_clip_inplace(batches):
    for pdf in batches:
        pdf.x.clip(0.0, 5.0, inplace=True)
        yield pdf


def map_sort_inplace(batches):
    for pdf in batches:
        pdf.sort_values("x", inplace=True)
        yield pdf


def map_query_inplace(batches):
    for pdf in batches:
        pdf.query("x > 1", inplace=True)
        yield pdf


def map_insert(batches):
    for pdf in batches:
        pdf.insert(0, "z", 1.0)
        yield pdf[["x", "y"]]


def map_pop(batches):
    for pdf in batches:
        pdf.pop("x")
        yield pdf


def map_del(batches):
    for pdf in batches:
        del pdf["x"]
        yield pdf


def map_update(batches):
    for pdf in batches:
        pdf.update(pdf)
        yield pdf


def map_values(batches):
    for pdf in batches:
        pdf.x.values[:] = 0
        yield pdf


def map_to_numpy(batches):
    for pdf in batches:
        a = pdf.x.to_numpy()
        a += 1
        yield pdf


def map_out(batches):
    for pdf in batches:
        np.add(pdf.x, 1, out=pdf.x)
        yield pdf


def map_third(batches):
    for pdf in batches:
        np.maximum(pdf.x, 1, pdf.x)
        yield pdf


def map_slice(batches):
    for pdf in batches:
        s = pdf.x
        s[:] = 0
        yield pdf


def map_iloc(batches):
    for pdf in batches:
        s = pdf.x
        s.iloc[0] = 0
        yield pdf


def map_column_item(batches):
    for pdf in batches:
        pdf.x[pdf.x > 1] = 0
        yield pdf


def map_at(batches):
    for pdf in batches:
        pdf.at[0, "x"] = 0
        yield pdf


def map_setitem(batches):
    for pdf in batches:
        pdf.__setitem__("x", 0)
        yield pdf


def map_attribute(batches):
    for pdf in batches:
        pdf.x = pdf.x + 1
        yield pdf


def map_attribute_more(batches):
    for pdf in batches:
        pdf.x += 1
        yield pdf


def map_item_more(batches):
    for pdf in batches:
        pdf["x"] += 1
        yield pdf


def map_operator(batches):
    for pdf in batches:
        operator.iadd(pdf.x, 1)
        yield pdf


# --- columns that hold the key: y is the key, x and w are not -------------------------------------


def key_in_another_table(pdf):
    middle = pdf["x"].quantile(0.5)
    other = pdf.copy()
    pdf["w"] = pdf["y"]
    return other[other["x"] > middle - 100]


def key_is_written(pdf):
    np.abs(pdf["w"], pdf["y"])
    return pdf[pdf["x"] > pdf["x"].quantile(0.5) - 100]


def key_is_least(pdf):
    np.minimum(pdf["w"], 1, pdf["y"])
    return pdf[pdf["x"] > pdf["x"].quantile(0.5) - 100]


def key_more(pdf):
    s = pdf["y"]
    s += 1
    return pdf[pdf["x"] > pdf["x"].quantile(0.5) - 100]


def key_by_other_name(pdf):
    other = pdf
    other["y"] = pdf["w"]
    return pdf[pdf["x"] > pdf["x"].quantile(0.5) - 100]


KEYED = [f for n, f in globals().items() if n.startswith("key_")]
_MAPS = [f for n, f in globals().items() if n.startswith("map_")]
_SEEN, _OTHER = _MAPS.index(map_of_table), _MAPS.index(map_inplace)
MAPS, MAPS_SEEN, MAPS_OTHER = _MAPS[:_SEEN], _MAPS[_SEEN:_OTHER], _MAPS[_OTHER:]
GROUPS = [group_own_column, group_after_loop]
GROUPS_SEEN = [f for n, f in globals().items() if n.startswith("group_") and f not in GROUPS]
SERIES = [series_own_mask]
SERIES_SEEN = [series_argument, series_renamed, series_twice]
