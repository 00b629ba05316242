"""Untrusted. How many row groups of local Parquet files conditions skip, each and together, and why
one skips none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from presieve.cost.estimate import FILES, spread
from presieve.cost.parquet import Range, RowGroup, available, row_groups
from presieve.cost.skipping import truths
from presieve.ir.sorts import strip
from presieve.ir.terms import Term, Var
from presieve.ir.walk import variables


@dataclass(frozen=True, slots=True)
class Use:
    """What a condition skips of the row groups, by itself. ``unknown``: columns of it of which the
    footers do not say the extremes.
    """

    skipped: int
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Groups:
    """Row groups of ``files``, how many of them may have rows for which all conditions are true,
    and what each condition does.
    """

    files: int
    groups: int
    kept: int
    uses: tuple[Use, ...]


def groups_of(
    paths: Sequence[str], columns: Mapping[Var, str], conditions: Sequence[Term]
) -> Groups | None:
    """Of some of the files, if there are many; None where one cannot be read. ``columns`` are the
    names in the files.
    """
    read = variables(*conditions)
    if not available() or not set(read) <= columns.keys():
        return None
    asked = {columns[v]: strip(v.sort) for v in read}
    files = spread(paths, FILES)
    found: list[RowGroup] = []
    for path in files:
        groups = row_groups(path, asked)
        if groups is None:
            return None
        found += groups
    passing = [
        {i for i, group in enumerate(found) if True in truths(c, _ranges(group, columns))}
        for c in conditions
    ]
    kept = set(range(len(found))).intersection(*passing)
    uses = [
        Use(len(found) - len(those), _unknown(found, columns, condition))
        for those, condition in zip(passing, conditions, strict=True)
    ]
    return Groups(len(files), len(found), len(kept), tuple(uses))


def _ranges(group: RowGroup, columns: Mapping[Var, str]) -> dict[Var, Range]:
    return {v: group.ranges[n] for v, n in columns.items() if n in group.ranges}


def _unknown(
    groups: Sequence[RowGroup], columns: Mapping[Var, str], condition: Term
) -> tuple[str, ...]:
    names = dict.fromkeys(columns[v] for v in variables(condition))
    return tuple(n for n in names if all(_is_silent(g, n) for g in groups))


def _is_silent(group: RowGroup, name: str) -> bool:
    found = group.ranges[name]
    return found.values and (found.low is None or found.high is None)
