"""Untrusted. What a run of the synthesis benchmark leaves behind: all that its table and its curve
are made of, as a line of the ledger and read back from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, median
from typing import Any

from benchmarks.suite import MODES, Benchmark, Mode
from benchmarks.synth.run import Measured, Sizes
from presieve.errors import UsageError
from presieve.ir.pushdown import Kind, Strength

KINDS: tuple[Kind, ...] = ("exact", "split", "partial", "empty", "none")


@dataclass(frozen=True, slots=True)
class Record:
    """One benchmark in one mode. ``seconds`` of each run; the rest as in :class:`Measured`."""

    benchmark: Benchmark
    mode: Mode
    kind: Kind
    seconds: tuple[float, ...]
    right: bool
    strength: Strength
    checks_start_only: bool
    sizes: Sizes | None
    calls: int

    @property
    def typical(self) -> float:
        """The median of the runs."""
        return median(self.seconds)


def records(measured: Iterable[Measured]) -> list[Record]:
    """What is kept of each."""
    return [
        Record(
            m.benchmark,
            m.mode,
            m.answer.kind,
            tuple(round(s, 4) for s in m.seconds),
            m.right,
            m.answer.strength,
            m.checks_start_only,
            m.sizes,
            m.answer.solver_calls,
        )
        for m in measured
    ]


def by_mode(rows: Iterable[Record]) -> Iterator[tuple[Mode, list[Record]]]:
    """Those of each mode, which stand together."""
    for mode, some in groupby(rows, key=lambda r: r.mode):
        yield mode, list(some)


def to_line(rows: Sequence[Record]) -> dict[str, object]:
    """The line of the ledger: totals of each mode, and every benchmark."""
    line: dict[str, object] = {
        "first": round(rows[0].seconds[0], 3),
        "runs": len(rows[0].seconds),
    }
    for mode, some in by_mode(rows):
        typical = [r.typical for r in some]
        line[mode] = {
            "right": sum(r.right for r in some),
            "of": len(some),
            "exact_but_for_no_rows": sum(r.checks_start_only for r in some),
            "kinds": {k: sum(r.kind == k for r in some) for k in KINDS},
            "regions": sum(r.strength != "universe" for r in some),
            "optimal": sum(r.strength == "optimal" for r in some),
            "median": round(median(typical), 4),
            "mean": round(fmean(typical), 4),
            "slowest": round(max(max(r.seconds) for r in some), 3),
            "benchmarks": {r.benchmark.name: _entry(r) for r in some},
        }
    return line


def _entry(row: Record) -> dict[str, object]:
    sizes = row.sizes
    return {
        "kind": row.kind,
        "seconds": list(row.seconds),
        "right": row.right,
        "strength": row.strength,
        "checks_start_only": row.checks_start_only,
        "sizes": sizes and [sizes.prefilter, sizes.residual, sizes.invariant],
        "calls": row.calls,
    }


def from_line(line: Mapping[str, Any], suite: Iterable[Benchmark]) -> list[Record]:
    """The rows that :func:`to_line` wrote. Raises :class:`UsageError` for a line of another kind,
    and for benchmarks that the suite does not have.
    """
    known = {b.name: b for b in suite}
    try:
        return [
            _row(known[name], mode, entry)
            for mode in MODES
            for name, entry in line.get(mode, {"benchmarks": {}})["benchmarks"].items()
        ]
    except (KeyError, TypeError, ValueError) as problem:
        raise UsageError(f"the ledger's line is not one of this benchmark: {problem}") from None


def _row(benchmark: Benchmark, mode: Mode, entry: Mapping[str, Any]) -> Record:
    sizes = entry["sizes"]
    return Record(
        benchmark,
        mode,
        entry["kind"],
        tuple(entry["seconds"]),
        entry["right"],
        entry["strength"] if "strength" in entry else _strength_before(entry),
        entry["checks_start_only"],
        None if sizes is None else Sizes(*sizes),
        entry["calls"],
    )


def _strength_before(entry: Mapping[str, Any]) -> Strength:
    """Of a line from before there was one word for it."""
    if entry["optimal"]:
        return "optimal"
    return "regions" if entry["strongest"] else "universe"
