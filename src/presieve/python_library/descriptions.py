# SPDX-License-Identifier: Apache-2.0
"""Trusted. The facts about a method or a function, which all analyses share."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct


class ResultKind(Enum):
    """The kind of a result, seen from the rows of the owner or of the arguments."""

    UNKNOWN = "anything"
    OWN = "depends on the arguments, in a way of its own"
    EACH = "a value for each row, made from that row alone"
    BESIDE = "a value for each row, which may depend on all rows and on their order"
    SAME = "the owner's values"
    SOME = "some of the owner's values or rows, in any order"
    ONE = "one value for all rows, or for all rows of a group"
    WINDOWS = "a window of rows for each row"
    OTHER = "an object of pandas' or NumPy's, made from all that owner and arguments hold"


class Change(Enum):
    """How a method changes its owner, or a function an argument."""

    UNKNOWN = "in any way"
    NOTHING = "not at all"
    STORES = "it keeps an argument in it"
    REMOVES = "it removes or reorders items"


class Description(Struct, frozen=True):
    """A method or function. ``separate``: with fewer rows it raises no error that it did not raise
    before. ``truth``: the result holds truth values; ``array``: it has no labels; ``reordered``: it
    is not in the order of the rows. ``overwrites``: ``inplace=True`` overwrites the old values in
    memory. ``inputs`` is the number of positional arguments that are no ``out``.
    """

    result: ResultKind
    separate: bool = False
    truth: bool = False
    array: bool = False
    reordered: bool = False
    overwrites: bool = False
    changes: Change = Change.UNKNOWN
    inputs: int = 0


NOT_DESCRIBED = Description(ResultKind.UNKNOWN)


def descriptions_by_name(
    rows: Mapping[str, Description], module: str = ""
) -> dict[str, Description]:
    """Split rows of names. ``module`` is the path of the module of functions."""
    pairs = [(module + name, facts) for names, facts in rows.items() for name in names.split()]
    assert len(dict(pairs)) == len(pairs), "a name is described twice"
    return dict(pairs)
