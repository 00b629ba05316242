"""Untrusted. How the search grows with what it is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.scale.folds import RESPECTS, Growing
from benchmarks.scale.points import Point
from presieve.driver.synthesize import Synthesis, synthesize

BUDGET = 30.0
"""Seconds for one search."""


def measure(turns: int, largest: int | None, progress: Callable[[str], None]) -> Iterator[Point]:
    """A point for each respect and size up to the largest one."""
    with TemporaryDirectory() as folder:
        _searched(Path(folder), "warm", RESPECTS["columns that are read"][0](1))
        for respect, (make, sizes) in RESPECTS.items():
            for size in (s for s in sizes if largest is None or s <= largest):
                name = f"{make.__name__}_{size}"
                runs = [_searched(Path(folder), f"{name}_{t}", make(size)) for t in range(turns)]
                answer = runs[0][1]
                point = Point(
                    f"search: {respect}",
                    "synthesize",
                    size,
                    tuple(seconds for seconds, _ in runs),
                    f"{answer.kind}, {answer.strength}, {answer.solver_calls} calls",
                )
                progress(f"{point.panel} {size}: {point.typical:.3f} s, {point.outcome}")
                yield point


def _searched(folder: Path, name: str, growing: Growing) -> tuple[float, Synthesis]:
    fold = growing.fold(folder, name)
    started = time.perf_counter()
    answer = synthesize(
        fold, growing.where, schema=growing.schema, returns=growing.returns, budget=BUDGET
    )
    return time.perf_counter() - started, answer
