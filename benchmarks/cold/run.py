"""Untrusted. The measured jobs, each a process, and what they cost as a table."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from compileall import compile_dir
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

import presieve
from presieve.driver.cache.disk import CACHE
from presieve.errors import PresieveError

FORMS = ("written", "new", "seen")
"""The job as written; optimized, for the first time; and optimized, as an earlier job was."""

MORE, SECONDS = 1.05, 0.1
"""A job is slower than as written if it costs more than this many times as much, and more than
these seconds of CPU besides.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A pipeline over ``rows`` rows: the seconds of CPU of each turn, of all processes of a job."""

    name: str
    rows: int
    written: tuple[float, ...]
    new: tuple[float, ...]
    seen: tuple[float, ...]

    def more(self, form: str) -> float:
        """The seconds of CPU by which a form costs more than as written: the median over turns."""
        optimized = self.new if form == "new" else self.seen
        return median(o - w for o, w in zip(optimized, self.written, strict=True))

    @property
    def slower(self) -> bool:
        """Whether a job that an earlier process has seen costs more than as written."""
        return self.more("seen") > max(SECONDS, (MORE - 1) * median(self.written))


def stored(rows: int, folder: Path) -> Path:
    """Return the folder with both tables, which is written if it is missing."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"cold-{rows}"
    if (path / "teams").is_dir():
        return path
    random, number = np.random.default_rng(7), np.arange(rows)
    names = np.array([f"team {i}" for i in range(100)])
    columns = {
        "id": number,
        "day": number * 30 // rows,
        "team": names[random.integers(0, 100, rows)],
        "points": random.integers(0, 101, rows),
        "score": random.random(rows) * 100,
    }
    for table, data in (
        ("facts", pa.table(columns)),
        ("teams", pa.table({"team": names, "league": ["a", "b", "c", "d"] * 25})),
    ):
        (path / table).mkdir(parents=True)
        pq.write_table(data, path / table / "part-0.parquet", row_group_size=100_000)
    return path


def measure(
    names: Iterable[str],
    sizes: Mapping[int, Path],
    turns: int,
    cache: Path,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Run each pipeline over each table, in all forms in turn. ``cache`` is a new folder.

    presieve has its bytecode, as a package that pip installs has.
    """
    compile_dir(Path(str(presieve.__file__)).parent, quiet=1)
    measured = []
    for number, name in enumerate(names):
        for rows, folder in sizes.items():
            seconds: dict[str, list[float]] = {form: [] for form in FORMS}
            for turn in range(turns):
                kept = cache / f"{number}-{rows}-{turn}"
                for form in FORMS:
                    seconds[form].append(cpu_seconds(name, folder, form, kept))
            row = Row(name, rows, *(tuple(seconds[form]) for form in FORMS))
            measured.append(row)
            progress(f"{name}, {rows:,} rows: {row.more('new'):+.2f}, {row.more('seen'):+.2f} s")
    return measured


def cpu_seconds(name: str, folder: Path, form: str, cache: Path) -> float:
    """Run one job and return the seconds of CPU of all its processes. Raises
    :class:`PresieveError` if it fails.
    """
    _adopt_orphans()
    before = _used()
    what = "written" if form == "written" else "optimized"
    command = [sys.executable, "-m", "benchmarks.cold.job", name, str(folder), what]
    environment = {**os.environ, CACHE: str(cache)}
    job = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    _wait_for_orphans()
    if job.returncode:
        raise PresieveError(f"{name}: {job.stderr[-2000:]}")
    return _used() - before


_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of Linux: Spark's JVM, which nobody waits for, becomes our child."""


def _adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans() -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def to_line(rows: Sequence[Row]) -> dict[str, object]:
    """The line of the ledger."""
    from importlib.metadata import version

    return {
        "spark": version("pyspark"),
        "turns": len(rows[0].written),
        "of": len(rows),
        "new": round(median(r.more("new") for r in rows), 2),
        "seen": round(median(r.more("seen") for r in rows), 2),
        "slower": [f"{r.name}, {r.rows}" for r in rows if r.slower],
        "benchmarks": [asdict(r) for r in rows],
    }


def print_table(rows: Sequence[Row], line: Mapping[str, Any], console: Console) -> None:
    """Every pipeline, and which cost more than as written."""
    title = "seconds of CPU of all processes of a job, from its start; medians over turns"
    table = Table(title=title, title_justify="left")
    table.add_column("pipeline", no_wrap=True)
    for head in ("rows", "as written", "seen for the first time", "seen before"):
        table.add_column(head, justify="right")
    for r in rows:
        more = [f"{r.more(form):+.2f}" for form in FORMS[1:]]
        table.add_row(r.name, f"{r.rows:,}", f"{median(r.written):.2f}", *more)
    console.print(table)
    console.print(f"costs more than as written: {'; '.join(line['slower']) or 'none'}")
