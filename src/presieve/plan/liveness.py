"""Trusted. Which output attributes of a fold somebody still reads once conjuncts have moved."""

from __future__ import annotations

from collections.abc import Set
from typing import assert_never

from presieve.plan.algebra import Alias, Filter, Path, Project


def visible(path: Path, outputs: Set[int]) -> frozenset[int]:
    """The attributes at the top of a path above a fold with these output attributes."""
    here = frozenset(outputs)
    for operator in path:
        if isinstance(operator, Project):
            here = frozenset(c.id for c in operator.columns)
    return here


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
            case other:
                assert_never(other)
    return needed
