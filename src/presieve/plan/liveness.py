# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determines which output attributes of a fold are read after conjuncts have moved."""

from __future__ import annotations

from collections.abc import Set
from typing import assert_never

from presieve.errors import Declined
from presieve.plan.algebra import (
    Alias,
    Expr,
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
    """Return the attributes at the top of a path that come from the fold's outputs, and the
    constants that were added to them.
    """
    attributes = frozenset(outputs)
    for operator in path:
        match operator:
            case Project(columns):
                structs = {struct_id(i) for i in attributes}
                attributes = frozenset(
                    c.id
                    for c in columns
                    if any(struct_id(i) in structs for i in c.expr.refs) or _is_constant(c.expr)
                )
            case Union(columns=pairs):
                attributes = frozenset(above for above, _ in pairs)
            case Partitioned(outputs=frozenset() as made):
                attributes = made
            case _:  # columns that a join adds do not come from the fold
                pass
    return attributes


def _is_constant(expression: Expr) -> bool:
    return not expression.refs and not isinstance(expression.value, Declined)


def attributes_below(operator: Operator, reads: Set[int]) -> frozenset[int] | None:
    """Return the attributes below an operator that an expression above it with these attributes
    reads.

    Return None if the expression reads other rows than those below. A field of a struct is
    represented by its struct.
    """
    reads = {struct_id(i) for i in reads}
    match operator:
        case Project(columns):
            sources = frozenset[int]().union(*(c.expr.refs for c in columns if c.id in reads))
            return frozenset(struct_id(i) for i in sources)
        case JoinPreserved(side_columns) | JoinNullable(side_columns):
            return frozenset(reads) if reads <= {struct_id(i) for i in side_columns} else None
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
    """Return the fold's output attributes that are read above it, except by the moved conjuncts.

    ``top`` are the attributes at the top of the path: everything there counts as read. ``moved``
    are (operator, conjunct) pairs. A column of a projection that is more than an attribute counts
    as read even if nobody reads it: its expression may be evaluated, and it may raise.
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
            case JoinPreserved(side_columns, reads) | JoinNullable(side_columns, reads):
                needed = _among(needed | reads, side_columns)
            case JoinExistence(side_columns, reads):
                needed = _among(reads, side_columns)
            case Partitioned(reads=reads, outputs=None):
                needed |= reads
            case Partitioned(reads=reads):
                needed = reads
            case Union(pairs):
                structs = {struct_id(i) for i in needed}
                needed = frozenset(below for above, below in pairs if above in structs)
            case other:
                assert_never(other)
    return needed


def _among(attributes: Set[int], available: Set[int]) -> frozenset[int]:
    """Return the attributes that are available, or are fields of available structs."""
    return frozenset(i for i in attributes if struct_id(i) in available)
