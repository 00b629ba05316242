"""Untrusted. How many row groups of local Parquet files conditions skip, each and together, and why
one skips none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from presieve.cost.estimate import FILES, groups_of, truths_in
from presieve.cost.parquet import RowGroup, available
from presieve.cost.scan import Scan
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


def skipped_by(scan: Scan, conditions: Sequence[Term]) -> Groups | None:
    """Of some of a scan's files, if there are many; None where one cannot be read."""
    read = variables(*conditions)
    if not available() or not set(read) <= scan.columns.keys():
        return None
    found = groups_of(scan, read)
    if found is None:
        return None
    passing = [
        {i for i, group in enumerate(found) if True in truths_in(c, group, scan)}
        for c in conditions
    ]
    kept = set(range(len(found))).intersection(*passing)
    uses = [
        Use(len(found) - len(those), _unknown(found, scan.columns, condition))
        for those, condition in zip(passing, conditions, strict=True)
    ]
    files = min(len(scan.files), FILES)
    return Groups(files, len(found), len(kept), tuple(uses))


def _unknown(
    groups: Sequence[RowGroup], columns: Mapping[Var, str], condition: Term
) -> tuple[str, ...]:
    names = dict.fromkeys(columns[v] for v in variables(condition))
    return tuple(n for n in names if all(_is_silent(g, n) for g in groups))


def _is_silent(group: RowGroup, name: str) -> bool:
    found = group.ranges[name]
    return found.values and (found.low is None or found.high is None)
