"""Tables to decide about, as Parquet: in no order but for ``t``, which grows from row to row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = 400
GROUP = 100_000
"""Rows of a row group."""


def write(folder: Path, rows: int) -> Path:
    """A file of so many rows, written where it is missing.

    ``k`` is a string key and ``g`` the same as a number (Zipf's law); ``v`` is a double and ``n`` a
    bigint, evenly spread from 0 to 1000; ``s`` is ``n`` as a text ``v000`` to ``v999``; ``c`` a
    decimal; ``t`` a bigint from 0 to 1,000,000.
    """
    path = folder / f"table-{rows}.parquet"
    if path.exists():
        return path
    draw = np.random.default_rng(5)
    weights = 1.0 / np.arange(1, KEYS + 1)
    g = draw.choice(KEYS, size=rows, p=weights / weights.sum())
    n = draw.integers(0, 1000, size=rows)
    columns = {
        "k": pa.array(np.char.add("team", g.astype("U4"))),
        "g": g,
        "v": draw.uniform(0.0, 1000.0, size=rows),
        "n": n,
        "s": pa.array(np.char.add("v", np.char.zfill(n.astype("U4"), 3))),
        "c": pa.array(draw.integers(0, 1000, size=rows)).cast(pa.decimal128(21, 2)),
        "t": np.arange(rows) * 1_000_000 // rows,
    }
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=GROUP)
    return path
