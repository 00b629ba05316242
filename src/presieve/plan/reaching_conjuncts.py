# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determines which conjuncts of the filters on a path reach the fold below it.

There is one rule for each operator, in its own module with its lemma. An operator without a rule
cannot be on a path at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from presieve.errors import Declined
from presieve.ir.terms import Term
from presieve.ir.walk import variables
from presieve.plan.algebra import (
    NO_PATH,
    Alias,
    Filter,
    Join,
    JoinExistence,
    JoinNullable,
    JoinPreserved,
    Operator,
    Partitioned,
    Path,
    Project,
    Reordered,
    Union,
    attribute_id,
)
from presieve.plan.alias import through_alias
from presieve.plan.filter import through_filter
from presieve.plan.join import (
    below_condition,
    implied_condition,
    through_existence,
    through_nullable,
    through_preserved,
)
from presieve.plan.liveness import attributes_below
from presieve.plan.partitioned import through_partitioned
from presieve.plan.project import through_project
from presieve.plan.reordered import through_reordered
from presieve.plan.union import through_union


class Moved(Struct, frozen=True):
    """Conjunct number ``conjunct`` of operator number ``operator``, as a term over the fold's
    output attributes, or why it stays where it is.

    ``copied`` says that it must also stay where it is. ``reads`` are the fold's output attributes
    that it reads. If it is not understood, they are those from which its columns are computed (none
    is known for constants).
    """

    operator: int
    conjunct: int
    term: Term | Declined
    copied: bool = False
    reads: frozenset[int] = frozenset()


def through(below: Operator, conjunct: Term) -> Term | Declined:
    """Move the conjunct below the operator, or say why it cannot go there."""
    match below:
        case Filter():
            return through_filter(below, conjunct)
        case Project():
            return through_project(below, conjunct)
        case Alias():
            return through_alias(below, conjunct)
        case Reordered():
            return through_reordered(below, conjunct)
        case JoinPreserved():
            return through_preserved(below, conjunct)
        case JoinNullable():
            return through_nullable(below, conjunct)
        case JoinExistence():
            return through_existence(below, conjunct)
        case Partitioned():
            return through_partitioned(below, conjunct)
        case Union():
            return through_union(below, conjunct)
        case _:
            assert_never(below)


def descend(path: Path) -> tuple[Moved, ...]:
    """Move every conjunct of every filter and join on the path down, as far as the fold.

    Lemma: with ``filter r`` directly above the fold, where r is the conjunction of the terms, the
    path above gives the same rows, and does so without the conjuncts that are not ``copied``.
    """
    return tuple(_move_conjuncts(path))


def _move_conjuncts(path: Path) -> Iterator[Moved]:
    copied = False
    below = _Below(path)
    for level, operator in enumerate(path):
        match operator:
            case Filter(conjuncts):
                for number, conjunct in enumerate(conjuncts):
                    term, reads, weaker = below.carry_down(level, conjunct.term, conjunct.refs)
                    yield Moved(level, number, term, copied or weaker, reads)
            case JoinPreserved(on=on) | JoinNullable(on=on) | JoinExistence(on=on):
                for number, conjunct in enumerate(on):
                    term = conjunct.term
                    if not isinstance(term, Declined):
                        term = below_condition(operator, term)
                    if not isinstance(term, Declined):
                        term, reads, _ = below.carry_down(level, term, conjunct.refs)
                        yield Moved(level, number, term, True, reads)
            case _:
                pass
        copied = copied or isinstance(operator, JoinNullable | Union)


def arrives(moved: Moved) -> bool:
    """Whether a conjunct restricts the rows below, whether it is understood or not."""
    return not (isinstance(moved.term, Declined) and moved.term.code == NO_PATH)


_OTHER_ROWS = Declined(NO_PATH, "the filter reads other rows")


class _Below:
    """Moves conjuncts below the operators of a path."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[tuple[int, frozenset[int]], frozenset[int] | None] = {}

    def carry_down(
        self, level: int, conjunct: Term | Declined, reads: frozenset[int]
    ) -> tuple[Term | Declined, frozenset[int], bool]:
        """Return the conjunct below ``level`` operators, its attributes there, and whether it got
        weaker.

        If the conjunct is not understood, its attributes still tell whether it reads the rows
        below.
        """
        weaker = False
        while level and not isinstance(conjunct, Declined):
            operator, reads = self._path[level - 1], _attributes_read(conjunct)
            moved = through(operator, conjunct)
            if isinstance(moved, Declined) and isinstance(operator, Join):
                copy = implied_condition(operator, conjunct)
                weaker, moved = weaker or copy is not None, moved if copy is None else copy
            if not isinstance(moved, Declined):
                level -= 1
            elif moved.code == NO_PATH:
                return _OTHER_ROWS, frozenset(), weaker
            conjunct = moved
        if not isinstance(conjunct, Declined):
            return conjunct, _attributes_read(conjunct), weaker
        attributes = None if level and conjunct.code == NO_PATH else self._attributes(level, reads)
        if attributes is None:
            return _OTHER_ROWS, frozenset(), weaker
        return conjunct, attributes, weaker

    def _attributes(self, level: int, reads: frozenset[int]) -> frozenset[int] | None:
        """Return the attributes that such an expression reads below ``level`` operators.

        Expressions of the same place with the same attributes are followed only once.
        """
        passed = []
        attributes: frozenset[int] | None = reads
        while level and attributes is not None and (level, attributes) not in self._known:
            passed.append((level, attributes))
            level -= 1
            attributes = attributes_below(self._path[level], attributes)
        if level and attributes is not None:
            attributes = self._known[level, attributes]
        self._known.update(dict.fromkeys(passed, attributes))
        return attributes


def _attributes_read(conjunct: Term) -> frozenset[int]:
    return frozenset(map(attribute_id, variables(conjunct)))
