"""Trusted. Which output attributes of a fold somebody still reads once conjuncts have moved."""

from __future__ import annotations

from collections.abc import Set
from typing import assert_never

from presieve.plan.algebra import (
    Alias,
    Filter,
    JoinExistence,
    JoinNullable,
    JoinPreserved,
    Operator,
    Partitioned,
    Path,
    Project,
    Reordered,
    Union,
    struct_id,
)


def visible(path: Path, outputs: Set[int]) -> frozenset[int]:
    """The attributes at the top of a path above a fold with these output attributes, as far as they
    come from these.
    """
    here = frozenset(outputs)
    for operator in path:
        match operator:
            case Project(columns):
                whole = {struct_id(i) for i in here}
                here = frozenset(
                    c.id for c in columns if any(struct_id(i) in whole for i in c.expr.refs)
                )
            case Union(columns=pairs):
                here = frozenset(above for above, _ in pairs)
            case Partitioned(outputs=frozenset() as made):
                here = made
            case _:  # what a join adds is none of the fold's
                pass
    return here


def attributes_below(operator: Operator, reads: Set[int]) -> frozenset[int] | None:
    """What is read below an operator by an expression above it with these attributes, or None where
    that speaks of other rows than those below. Of fields of a struct, the struct is named.
    """
    reads = {struct_id(i) for i in reads}
    match operator:
        case Project(columns):
            found = frozenset[int]().union(*(c.expr.refs for c in columns if c.id in reads))
            return frozenset(struct_id(i) for i in found)
        case JoinPreserved(here) | JoinNullable(here):
            return frozenset(reads) if reads <= {struct_id(i) for i in here} else None
        case JoinExistence():
            return None
        case Partitioned(columns=pairs) | Union(columns=pairs):
            names = dict(pairs)
            is_known = reads <= names.keys() and (reads or isinstance(operator, Union))
            return frozenset(names[i] for i in reads) if is_known else None
        case Filter() | Alias() | Reordered():
            return frozenset(reads)
        case other:
            assert_never(other)


def live(path: Path, moved: Set[tuple[int, int]], top: Set[int]) -> frozenset[int]:
    """The fold's output attributes that are read above it, besides by the moved conjuncts.

    ``top`` are the attributes at the top of the path: everything there counts as read.
    ``moved`` are (operator, conjunct) pairs. A column of a projection that is more than an
    attribute counts as read even where nobody reads it: its expression may be evaluated, and it
    may raise.
    """
    needed = frozenset(top)
    for level in reversed(range(len(path))):
        match path[level]:
            case Filter(conjuncts):
                for number, conjunct in enumerate(conjuncts):
                    if (level, number) not in moved:
                        needed |= conjunct.refs
            case Project(columns):
                read = [c.expr.refs for c in columns if c.id in needed or not c.plain]
                needed = frozenset[int]().union(*read)
            case Alias():
                pass
            case Reordered(reads):
                needed |= reads
            case JoinPreserved(here, reads) | JoinNullable(here, reads):
                needed = _among(needed | reads, here)
            case JoinExistence(here, reads):
                needed = _among(reads, here)
            case Partitioned(reads=reads, outputs=None):
                needed |= reads
            case Partitioned(reads=reads):
                needed = reads
            case Union(pairs):
                whole = {struct_id(i) for i in needed}
                needed = frozenset(below for above, below in pairs if above in whole)
            case other:
                assert_never(other)
    return needed


def _among(attributes: Set[int], here: Set[int]) -> frozenset[int]:
    """Those that are here, or are fields of structs that are."""
    return frozenset(i for i in attributes if struct_id(i) in here)
