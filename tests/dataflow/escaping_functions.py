"""Functions of groups that change the key through another object, and look as if they did not."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import functools
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum

import pandas as pd

OTHER = "z"


class Keeper:
    """It is not read, because it has a special method: unknown code, which keeps what it gets."""

    def __init__(self, kept=None):
        self.kept = kept
        self.calls = []

    def __bool__(self):
        return True

    def register(self, call):
        self.calls.append(call)

    def fire(self, *args):
        for call in self.calls:
            call(*args)

    def wreck(self):
        self.kept["k"] = OTHER

    def wreck_items(self):
        self.kept[:] = OTHER

    def wreck_all(self):
        for frame in self.kept.values() if isinstance(self.kept, dict) else self.kept:
            frame["k"] = OTHER

    def wreck_given(self, frame):
        frame["k"] = OTHER

    def same(self, frame):
        return frame


class Box:
    """A small class, which is followed."""

    name = "k"

    def __init__(self, frame, value=OTHER):
        self.frame = frame
        self.value = value

    def wreck(self):
        self.frame[self.name] = self.value

    @property
    def wrecked(self):
        self.frame["k"] = OTHER
        return self.frame


@dataclass
class Visit:
    k: object
    m: float


Point = namedtuple("Point", ["m", "k"])


class Names(str, Enum):
    KEY = "k"
    VALUE = "s"


def keeps_the_frame(key, pdf):
    keeper = Keeper(pdf)
    pdf["k"] = key[0]
    keeper.wreck()
    return pdf


def keeps_a_view(key, pdf):
    keeper = Keeper(pdf["k"].values)
    keeper.wreck_items()
    return pdf


def keeps_the_values_of_a_part(key, pdf):
    part = pdf[["k"]]
    keeper = Keeper(pdf["k"])
    keeper.wreck_items()
    return pd.DataFrame({"k": pdf["k"], "m": 1.0})


def is_changed_by_a_helper(key, pdf):
    Keeper().wreck_given(pdf)
    return pdf


def is_in_a_list(key, pdf):
    frames = [pdf]
    keeper = Keeper(frames)
    pdf["k"] = key[0]
    keeper.wreck_all()
    return pdf


def is_put_into_a_list_later(key, pdf):
    frames = []
    keeper = Keeper(frames)
    frames.append(pdf)
    keeper.wreck_all()
    return pdf


def is_put_into_a_dict_later(key, pdf):
    frames = {}
    keeper = Keeper(frames)
    frames["f"] = pdf
    keeper.wreck_all()
    return pdf


def is_an_attribute(key, pdf):
    keeper = Keeper()
    keeper.kept = pdf
    pdf["k"] = key[0]
    keeper.wreck()
    return pdf


def is_returned(key, pdf):
    same = Keeper().same(pdf)
    same["k"] = OTHER
    return pdf


def is_wrecked_by_its_closure(key, pdf):
    keeper = Keeper()
    keeper.register(lambda: pdf.__setitem__("k", OTHER))
    pdf["k"] = key[0]
    keeper.fire()
    return pdf


def is_bound_after_its_closure(key, pdf):
    keeper = Keeper()
    keeper.register(lambda: pdf.__setitem__("k", OTHER))
    pdf = pdf.copy()
    pdf["k"] = key[0]
    keeper.fire()
    return pdf


def is_wrecked_by_a_bound_method(key, pdf):
    keeper = Keeper()
    keeper.register(pdf.__setitem__)
    pdf["k"] = key[0]
    keeper.fire("k", OTHER)
    return pdf


def is_wrecked_by_a_generator(key, pdf):
    later = (frame.__setitem__("k", OTHER) for frame in [pdf])
    pdf["k"] = key[0]
    list(later)
    return pdf


def is_wrecked_by_a_map(key, pdf):
    later = map(lambda frame: frame.__setitem__("k", OTHER), [pdf])
    pdf["k"] = key[0]
    list(later)
    return pdf


def is_wrecked_by_a_partial(key, pdf):
    later = functools.partial(lambda frame: frame.__setitem__("k", OTHER), pdf)
    pdf["k"] = key[0]
    later()
    return pdf


def is_in_a_box(key, pdf):
    box = Box(pdf)
    pdf["k"] = key[0]
    box.wreck()
    return pdf


def is_changed_by_a_property(key, pdf):
    return Box(pdf).wrecked[["k", "x"]]


def is_in_one_of_two_boxes(key, pdf):
    box = Box(pdf, key[0])
    if len(pdf) > 1:
        box.value = OTHER
    box.wreck()
    return pdf


def is_in_a_box_of_another_name(key, pdf):
    box = Box(pdf, key[0])
    box.wreck()
    box.name = "k"
    box.value = pdf["s"].iloc[0]
    box.wreck()
    return pdf


def is_a_box_in_unknown_hands(key, pdf):
    box = Box(pdf)
    keeper = Keeper()
    keeper.register(box.wreck)
    pdf["k"] = key[0]
    keeper.fire()
    return pdf


def field_is_changed(key, pdf):
    visit = Visit(key[0], 1.0)
    visit.k = OTHER
    return pd.DataFrame([visit])


def fields_are_by_position(key, pdf):
    return pd.DataFrame([Point(key[0], OTHER)], columns=["k", "m"]).rename(
        columns={"k": "m", "m": "k"}
    )


def row_is_changed(key, pdf):
    rows = []
    for _, row in pdf.iterrows():
        row["k"] = OTHER
        rows.append({"k": row["k"], "m": 1.0})
    return pd.DataFrame(rows)


def row_is_another(key, pdf):
    rows = [{"k": row[Names.VALUE.value], "m": 1.0} for _, row in pdf.iterrows()]
    return pd.DataFrame(rows)


def row_is_set_by_position(key, pdf):
    first = pdf.iloc[0]
    first["k"] = OTHER
    return pd.DataFrame([{"k": first["k"], "m": 1.0}])


def row_comes_after_a_change(key, pdf):
    rows = pdf.iterrows()
    pdf["k"] = OTHER
    return pd.DataFrame([{"k": row["k"]} for _, row in rows])


def next_of_another_column(key, pdf):
    return pd.DataFrame({"k": [next(iter(pdf["s"]))], "m": [1.0]})


def next_or_a_default(key, pdf):
    values = iter(pdf["k"][pdf["x"] > 1000])
    return pd.DataFrame({"k": [next(values, OTHER)], "m": [1.0]})


def _set(pdf, name, value=OTHER, **rest):
    pdf[name] = rest.get("other", value)
    return pdf


def options_name_the_key(key, pdf):
    return _set(pdf, **{"name": "k"})


def arguments_name_the_key(key, pdf):
    return _set(pdf, *("k", OTHER))


def reduced_to_another(key, pdf):
    parts = [pdf, pdf.copy()]
    return functools.reduce(lambda a, b: _set(b, "k"), parts)


def merged_in_order_with_gaps(key, pdf):
    days = pd.DataFrame({"t": [0, 1, 2, 77]})
    return pd.merge_ordered(pdf[["k", "t"]].sort_values("t"), days, on="t")


def labels_of_another_column(key, pdf):
    out = pdf.groupby("s").apply(lambda d: len(d)).reset_index(name="m")
    return out.rename(columns={"s": "k"})


def wrecked(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        out = func(*args, **kwargs)
        out["k"] = OTHER
        return out

    return wrapper


@wrecked
def decorated(key, pdf):
    return pdf[["k", "x"]]


SPOILED = (
    *(keeps_the_frame, keeps_a_view, keeps_the_values_of_a_part, is_changed_by_a_helper),
    *(is_in_a_list, is_put_into_a_list_later, is_put_into_a_dict_later, is_an_attribute),
    *(is_returned, is_wrecked_by_its_closure, is_bound_after_its_closure),
    *(is_wrecked_by_a_bound_method, is_wrecked_by_a_generator, is_wrecked_by_a_map),
    *(is_wrecked_by_a_partial, is_in_a_box, is_changed_by_a_property, is_in_one_of_two_boxes),
    *(is_in_a_box_of_another_name, is_a_box_in_unknown_hands, field_is_changed),
    *(fields_are_by_position, row_is_changed, row_is_another, row_is_set_by_position),
    *(row_comes_after_a_change, next_of_another_column, next_or_a_default),
    *(options_name_the_key, arguments_name_the_key, reduced_to_another),
    *(merged_in_order_with_gaps, labels_of_another_column, decorated),
)
