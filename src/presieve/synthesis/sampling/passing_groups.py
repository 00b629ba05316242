# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Groups whose rows all pass a pre-filter, and the fold's outputs for them.

By the decoupling theorem, (i) in docs/theory.md, a residual is right if it agrees with the filter
on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from presieve.semantics.fast_interpreter import State
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.space import Space

Passing: TypeAlias = tuple[State, Table, State]
"""Outputs, rows and key of one group."""


def passing(
    space: Space,
    keeps_row: Callable[[State, State], bool],
    tables: Iterable[tuple[Table, State]],
) -> Iterator[Passing]:
    """Yield the prefixes of each table's kept rows, if they have a result."""
    machine = space.machine
    for table, key in tables:
        start = machine.start(key)
        state: State | None = start
        rows: Table = ()
        outputs = machine.finish(start, key) if space.has_result(False) else None
        if outputs is not None:
            yield outputs, rows, key
        for row in table:
            if not keeps_row(row, key):
                continue
            rows = (*rows, row)
            state = machine.step(state, row, key)  # type: ignore[arg-type]
            if state is None:
                break
            outputs = machine.finish(state, key)
            if outputs is not None:
                yield outputs, rows, key


_LONG = 40
"""Longer tables are not made smaller."""


def shrunk(rows: Table, wanted: Callable[[Table], bool]) -> Table:
    """Leave out rows one by one as long as ``wanted`` stays true."""
    at = 0
    while at < len(rows) <= _LONG:
        fewer = rows[:at] + rows[at + 1 :]
        if wanted(fewer):
            rows = fewer
        else:
            at += 1
    return rows
