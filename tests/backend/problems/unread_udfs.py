"""Scalar UDFs that do not read all of their arguments. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

import functools
import inspect
import os

import pandas as pd


def first(x, s):
    return os.path.basename(str(x))


def neither(x, s):
    return os.path.basename("a/b")


def known_first(x, s):
    return None if x is None else x + 1.0


def handed_on(x, s):
    return known_first(x, s)


def tested(x, s):
    return os.path.basename(str(x)) if s is None else "there"


def inside(x, s):
    def shown():
        return os.path.basename(str(s))

    return shown()


def by_name(x, s):
    return os.path.basename(str(locals()["s"]))


def of_caller():
    return str(inspect.currentframe().f_back.f_locals["s"])


def set_anew(x, s):
    s = os.path.basename(str(x))
    return s + ""


def with_rest(x, *rest):
    return os.path.basename(str(rest))


def wrapped(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args)

    return call


@wrapped
def decorated(x, s):
    return os.path.basename(str(x))


def failing(x, s):
    if x is not None and x > 1e9:
        raise ValueError(f"{x} is too much for {s}")
    return x


class Named:
    def of(self, x, s):
        return os.path.basename(str(x))


of_object = Named().of


def column(x: pd.Series, s: pd.Series) -> pd.Series:
    return x.map(lambda value: os.path.basename(str(value)))


def column_of(x: pd.Series, y: pd.Series) -> pd.Series:
    return x.map(lambda value: os.path.basename(str(value)))


def sized(x: pd.Series, s: pd.Series) -> pd.Series:
    return pd.Series([str(len(s))] * len(x))


def of_row(row):
    return os.path.basename(str(row["x"])) if row["s"] else None


def of_attributes(row):
    return os.path.basename(str(row.s))


def as_dict(row):
    return os.path.basename(str(sorted(row.asDict().items())))


def of_table(rows: pd.DataFrame) -> pd.Series:
    return rows["x"].map(lambda x: float(os.path.getsize("/") > 0) + x)


def kind_of_integers(rows: pd.DataFrame) -> pd.Series:
    return rows["y"].map(lambda y: os.path.basename(str(rows["y"].dtype)))


def number_of_columns(rows: pd.DataFrame) -> pd.Series:
    return pd.Series([len(rows.columns)] * len(rows))


def changing_table(rows: pd.DataFrame) -> pd.Series:
    rows["s"] = 1.0
    return rows["s"] + rows["x"]


def level(row):
    return None if row["x"] is None else "high" if row["x"] > 1 else "low"


def size_of_text(row):
    return "none" if row.s is None else row.s[:1]


def handed_whole(row):
    return size_of_text(row)


def handed_to_unknown(row):
    return os.path.basename(str(row)) if row.s is None else row.s


def never_none(x, y):
    y + 1
    return x


def compared_with_itself(x, y):
    return None if y > y else x


def count_missing(row):
    return str(row.count(None))


def of_traceback(row):
    try:
        return row["k"]["none"]
    except TypeError as error:
        return str(error.__traceback__.tb_frame.f_locals["row"])


def of_both(row, d):
    return os.path.basename(str(row["s"]))
