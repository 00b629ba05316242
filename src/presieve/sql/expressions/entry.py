# SPDX-License-Identifier: Apache-2.0
"""Trusted. What one entry of the catalogue says about a class of Catalyst expressions."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto

from presieve.ir.terms import Op

PACKAGE = "org.apache.spark.sql.catalyst.expressions."


class WhenNull(Enum):
    """When a predicate is NULL."""

    UNKNOWN = auto()
    NEVER = auto()
    OF_NULL = auto()
    """Only if an operand is NULL."""
    STRICT = auto()
    """If and only if an operand is NULL."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A class of Catalyst expressions. Walkers look up by the entry itself what they do.

    ``name`` is the class below :data:`PACKAGE`, and ``also`` another class of the same meaning.
    ``arity`` is the number of operands (None: any), ``op`` the operator in the IR, ``sql`` the name
    in SQL, ``result`` the type if it is always the same. ``never_raises``: it raises nothing
    by itself, with ANSI mode on or off, or for which types of operands it does not; for some
    classes more is known (:mod:`presieve.sql.expressions.raising`).
    """

    name: str
    arity: int | None = None
    op: Op | None = None
    sql: str = ""
    result: str = ""
    nulls: WhenNull = WhenNull.UNKNOWN
    never_raises: bool | tuple[str, ...] = False
    also: str = ""

    @property
    def class_name(self) -> str:
        """The full name of the class."""
        return PACKAGE + self.name

    @property
    def operator(self) -> Op:
        """The operator in the IR, of an entry that has one."""
        assert self.op is not None
        return self.op


def class_names(entries: Collection[Entry]) -> frozenset[str]:
    """The full names of the classes of some entries."""
    return frozenset(entry.class_name for entry in entries)


def never_raising(name: str, arity: int | None = None, *, sql: str = "", result: str = "") -> Entry:
    """The entry of a class that never raises."""
    return Entry(name, arity, sql=sql, result=result, never_raises=True)


def function_name(class_name: str) -> str:
    """Return the usual SQL name of a class of Spark's (``collect_set`` for ``CollectSet``)."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", class_name.rsplit(".", 1)[-1]).lower()
