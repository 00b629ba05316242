"""Untrusted. Learns from a table on which a candidate goes wrong."""

from __future__ import annotations

from random import Random

from presieve.semantics.fast_interpreter import State
from presieve.synthesis.sampling.concrete_tables import (
    Finding,
    NeededRow,
    Table,
    difference,
    note_insertions,
)
from presieve.synthesis.sampling.space import Space


def generalize(
    space: Space, finding: Finding, wrong: tuple[Table, State], random: Random, deadline: float
) -> bool:
    """Generalize a wrong table to a needed cell: leave dropped rows out one by one until the result
    changes. True if that taught a new needed cell, or that the candidate makes tables raise: then
    every cell stays that is known to keep a table from raising.
    """
    table, key = wrong
    rows, i = list(table), 0
    while i < len(rows):
        cell = space.cell_of(rows[i], key)
        if cell in finding.kept:
            i += 1
            continue
        now = tuple(rows)
        change = difference(space, now, key, i)
        if change == "result" and cell not in finding.needs:
            finding.needs[cell] = NeededRow(now, key, i)
            around = [(now, key), (now[:i] + now[i + 1 :], key)]
            note_insertions(space, finding, around, random, deadline)
            return True
        if change == "error":
            finding.guards.setdefault(cell, NeededRow(now, key, i))
            i += 1
        else:
            del rows[i]
    before = len(finding.kept)
    finding.guarded = True
    return len(finding.kept) > before
