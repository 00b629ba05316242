# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The demo's tables: Parquet, generated once and kept.

Their layout is typical of such tables. ``scores`` is unordered, so a filter reaches the scan but
skips no row group. ``events`` and ``trades`` were appended as they happened, at most a minute late,
so row groups cover short spans of time and a filter on time can skip whole ones. Keys follow Zipf's
law: a few teams, tickers and symbols have most of the rows. Teams differ in strength, and half of
the tickers and symbols were traded only for a part of the time. Nothing is NULL or NaN.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 30
"""``events`` and ``trades`` begin at START and span this many days."""

KEYS = 400
ROW_GROUP = 100_000
SEED = 20260101
LAYOUT = 1
"""Part of every file's name; raise it when the generated data changes."""

_SPAN = DAYS * 24 * 3600 * 1_000_000  # microseconds, as the moments below
_EPOCH = int(START.timestamp()) * 1_000_000

Ints = npt.NDArray[np.int64]


def _keys(rng: np.random.Generator, rows: int) -> Ints:
    """Draw numbers of keys by Zipf's law with exponent 1."""
    weights = 1.0 / np.arange(1, KEYS + 1)
    return rng.choice(KEYS, size=rows, p=weights / weights.sum())


def _names(prefix: str, keys: Ints) -> pa.Array:
    """Return the keys' names, as a dictionary so that millions of rows stay cheap."""
    names = pa.array([f"{prefix}{i:03d}" for i in range(KEYS)])
    return pa.DictionaryArray.from_arrays(pa.array(keys.astype(np.int32)), names)


def _restrict_to_lifetimes(rng: np.random.Generator, keys: Ints, moment: Ints) -> Ints:
    """Restrict odd keys to a part of the time; a neighbour takes their rows outside of it."""
    lifetimes = np.sort(rng.integers(0, _SPAN, size=(KEYS, 2)), axis=1)
    outside = (moment < lifetimes[keys, 0]) | (moment > lifetimes[keys, 1])
    return np.where(outside & (keys % 2 == 1), keys - 1, keys)


def _arrivals(rng: np.random.Generator, rows: int) -> Ints:
    """Return distinct offsets from START in microseconds: even, each up to a minute late."""
    step = _SPAN // rows
    planned = np.arange(rows, dtype=np.int64) * step + rng.integers(0, step, size=rows)
    order = np.argsort(planned + rng.integers(0, 60_000_000, size=rows), kind="stable")
    return planned[order]


def _scores(rng: np.random.Generator, rows: int) -> pa.Table:
    team = _keys(rng, rows)
    strength = rng.uniform(35.0, 75.0, size=KEYS)[team]
    score = np.clip(np.round(rng.normal(strength, 8.0), 1), 0.0, 100.0)
    return pa.table({"team": _names("team", team), "score": score})


def _events(rng: np.random.Generator, rows: int) -> pa.Table:
    moment = _arrivals(rng, rows)
    ticker = _restrict_to_lifetimes(rng, _keys(rng, rows), moment)
    actions = pa.array(["quote", "heartbeat", "order", "time", "price"])
    drawn = rng.choice(5, size=rows, p=[0.70, 0.20, 0.06, 0.02, 0.02]).astype(np.int32)
    return pa.table(
        {
            "ticker": _names("T", ticker),
            "action": pa.DictionaryArray.from_arrays(pa.array(drawn), actions),
            "ts": pa.array(_EPOCH + moment, pa.timestamp("us", tz="UTC")),
        }
    )


def _trades(rng: np.random.Generator, rows: int) -> pa.Table:
    moment = _arrivals(rng, rows)
    symbol = _restrict_to_lifetimes(rng, _keys(rng, rows), moment)
    level = rng.lognormal(4.0, 1.0, size=KEYS)[symbol]
    price = np.round(level * rng.normal(1.0, 0.02, size=rows), 2)
    return pa.table({"symbol": _names("S", symbol), "price": price, "epoch": _EPOCH + moment})


TABLES: dict[str, Callable[[np.random.Generator, int], pa.Table]] = {
    "scores": _scores,
    "events": _events,
    "trades": _trades,
}


def default_directory() -> Path:
    """Return the directory that keeps the tables between runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "presieve" / "demo"


def generate(directory: Path, rows: int) -> dict[str, Path]:
    """Return the path of each table with ``rows`` rows; write the tables that are missing."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, make in TABLES.items():
        path = directory / f"{name}-{rows}-v{LAYOUT}.parquet"
        if not path.exists():
            table = make(np.random.default_rng(SEED), rows)
            partial = path.with_name(f".{path.name}.{os.getpid()}")
            pq.write_table(table, partial, row_group_size=min(ROW_GROUP, max(1, rows // 8)))
            partial.replace(path)  # an interrupted run leaves no partial table
        paths[name] = path
    return paths
