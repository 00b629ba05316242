"""Trusted. The facts about a method or a function, which all analyses share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Result(Enum):
    """The kind of a result, seen from the rows of the owner or of the arguments."""

    UNKNOWN = auto()
    """Nothing is known of it."""
    OWN = auto()
    """It depends on the arguments, in a way of its own."""
    EACH = auto()
    """A value for each row, made from that row alone."""
    BESIDE = auto()
    """A value for each row, which may depend on all rows and on their order."""
    SAME = auto()
    """The owner's values."""
    SOME = auto()
    """Some of the owner's values or rows, in any order."""
    ONE = auto()
    """One value for all rows, or one for all rows of a group."""
    WINDOWS = auto()
    """A window of rows for each row."""
    OTHER = auto()
    """An object of pandas or NumPy, made from all that the owner and the arguments hold."""


class Change(Enum):
    """How a method changes its owner, or a function one of its arguments."""

    UNKNOWN = auto()
    NOTHING = auto()
    STORES = auto()
    """It keeps an argument in it."""
    REMOVES = auto()
    """It removes or reorders items."""


@dataclass(frozen=True, slots=True)
class Description:
    """A method or function. ``separate``: with fewer rows it raises no error that it did not raise
    before. ``truth``: the result holds truth values; ``array``: it has no labels; ``reordered``: it
    is not in the order of the rows. ``overwrites``: ``inplace=True`` overwrites the old values in
    memory. ``inputs`` is the number of positional arguments that are no ``out``.
    """

    result: Result
    separate: bool = False
    truth: bool = False
    array: bool = False
    reordered: bool = False
    overwrites: bool = False
    changes: Change = Change.UNKNOWN
    inputs: int = 0


NOT_DESCRIBED = Description(Result.UNKNOWN)


def join_tables(*tables: dict[str, Description]) -> dict[str, Description]:
    """Join tables of descriptions. No name may stand in two of them."""
    joined = {name: d for table in tables for name, d in table.items()}
    assert len(joined) == sum(map(len, tables)), "a name is described twice"
    return joined


def share(description: Description, names: str, before: str = "") -> dict[str, Description]:
    """Give all these names, separated by spaces, the same description. ``before`` is the path of
    their module.
    """
    return {before + name: description for name in names.split()}
