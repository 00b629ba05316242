"""Untrusted. What a run on Spark leaves behind: a row for every benchmark and size, their totals,
and both as a line of the ledger and read back from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import fmean, median
from typing import Any, TypeVar

from presieve.errors import UsageError
from presieve.ir.pushdown import Kind

R = TypeVar("R")

SLOWER = 0.03
"""The share by which a pipeline may be slower than as written before it counts as slower."""

ABOVE_HAND = 0.05
"""The share by which a pipeline, with ``optimize``, may be above the one with filters by hand."""


@dataclass(frozen=True, slots=True)
class Row:
    """One benchmark on a table of ``rows`` rows.

    ``changed``: ``optimize`` changed the pipeline; ``gated``: it did not, as what is proven would
    not pay. ``kind``, ``prefilter`` and ``residual`` are
    what was typed by hand, which is what :func:`presieve.synthesize` gives. ``kept`` is the share
    of rows that the pre-filter keeps, ``groups`` the number of rows of the result. ``optimize`` is
    in seconds, once, with nothing remembered; ``written``, ``optimized`` and ``by_hand`` are those
    of each turn, ``by_hand`` empty where nothing is changed, and ``transpiled``, by Spark's own
    transpiler, where it cannot do anything. ``compiled`` are those
    with functions compiled, too (``compiling`` the seconds that this takes), ``native`` where no
    Python is left then. ``equal``: all runs gave the same. ``ties``: only the compiled form gave
    others, after it was said that order makes no difference: those that are given as written where
    the rows of the table come in the reverse order.
    """

    name: str
    rows: int
    kind: Kind
    prefilter: str
    residual: str
    declined: str
    changed: bool
    kept: float
    groups: int
    equal: bool
    optimize: float
    written: tuple[float, ...]
    optimized: tuple[float, ...]
    by_hand: tuple[float, ...]
    gated: bool = False
    transpiled: tuple[float, ...] = ()
    compiled: tuple[float, ...] = ()
    compiling: float = 0.0
    native: bool = False
    ties: bool = False

    @property
    def wrong(self) -> bool:
        """Whether the results differ and nothing allows it."""
        return not self.equal and not self.ties

    @property
    def pushed(self) -> bool:
        """Whether there is a pre-filter that drops rows of this table. One that only asks for
        columns that are never NULL here does not, nor does a filter that is gone.
        """
        return self.changed and self.kept < 1

    @property
    def saved(self) -> float:
        """The share of the run time that is saved: the median over turns."""
        return 1 - self._against(self.written)

    @property
    def saved_compiled(self) -> float:
        """The share of the run time that is saved where functions are compiled, too."""
        return 1 - median(c / w for c, w in zip(self.compiled, self.written, strict=True))

    def slower_compiled(self) -> bool:
        """As :meth:`slower`, where functions are compiled, too."""
        fastest = min(self.compiled) / min(self.written)
        return min(1 - self.saved_compiled, fastest) > 1 + SLOWER

    @property
    def saved_in_total(self) -> float:
        """The same, ``optimize`` counted."""
        return 1 - self._against(self.written, self.optimize)

    @property
    def saved_by_fastest(self) -> float:
        """The share that is saved by the fastest runs, which other work disturbs least."""
        return 1 - min(self.optimized) / min(self.written)

    @property
    def above_hand(self) -> float:
        """By what share it is slower than by hand, in the median. 0 where nothing is changed."""
        return self._against(self.by_hand) - 1 if self.by_hand else 0.0

    @property
    def above_hand_in_total(self) -> float:
        """The same, ``optimize`` counted."""
        return self._against(self.by_hand, self.optimize) - 1 if self.by_hand else 0.0

    @property
    def above_hand_by_fastest(self) -> float:
        """The same of the fastest runs, without ``optimize``."""
        return min(self.optimized) / min(self.by_hand) - 1 if self.by_hand else 0.0

    def slower(self, more: float = 0.0) -> bool:
        """Slower than as written, both in the median and by the fastest runs, so that one run that
        something else held up does not count. ``more`` seconds are added to each run.
        """
        fastest = (min(self.optimized) + more) / min(self.written)
        return min(self._against(self.written, more), fastest) > 1 + SLOWER

    def _against(self, others: Sequence[float], more: float = 0.0) -> float:
        return median((o + more) / x for o, x in zip(self.optimized, others, strict=True))


def totals(rows: Sequence[Row]) -> dict[str, object]:
    """The figures that the aims are about. Shares are fractions, times are in seconds."""
    pushed = [r for r in rows if r.pushed]
    compiled = [r for r in rows if r.compiled]
    return {
        "native": sum(r.native for r in rows),
        "saved_compiled": spread(r.saved_compiled for r in compiled),
        "saved_native": spread(r.saved_compiled for r in compiled if r.native),
        "compiling": spread(r.compiling for r in compiled),
        "slower_compiled": _names(compiled, Row.slower_compiled),
        "of": len(rows),
        "equal": sum(r.equal for r in rows),
        "ties": _names(rows, lambda r: r.ties),
        "pushed": len(pushed),
        "seconds": _seconds(pushed),
        "saved": spread(r.saved for r in pushed),
        "saved_in_total": spread(r.saved_in_total for r in pushed),
        "saved_by_fastest": spread(r.saved_by_fastest for r in pushed),
        "above_hand": spread(r.above_hand for r in pushed),
        "above_hand_in_total": spread(r.above_hand_in_total for r in pushed),
        "above_hand_by_fastest": spread(r.above_hand_by_fastest for r in pushed),
        "slower": _names(rows, Row.slower),
        "slower_in_total": _names(rows, lambda r: r.slower(r.optimize)),
        "far_above_hand": _names(
            pushed, lambda r: min(r.above_hand, r.above_hand_by_fastest) > ABOVE_HAND
        ),
        "optimize": spread(r.optimize for r in rows),
        "unchanged": spread(r.saved for r in rows if not r.pushed),
    }


def _seconds(rows: Sequence[Row]) -> dict[str, float]:
    """All rows together: medians over turns, and ``optimize`` once each."""
    sums = {
        "written": sum(median(r.written) for r in rows),
        "transpiled": sum(median(r.transpiled or r.written) for r in rows),
        "optimized": sum(median(r.optimized) for r in rows),
        "optimize": sum(r.optimize for r in rows),
    }
    return {name: round(value, 2) for name, value in sums.items()}


def spread(values: Iterable[float]) -> dict[str, float] | None:
    """Mean, median and ends, or None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    figures = {
        "mean": fmean(ordered),
        "median": median(ordered),
        "least": ordered[0],
        "most": ordered[-1],
    }
    return {name: round(value, 4) for name, value in figures.items()}


def _names(rows: Iterable[Row], which: Callable[[Row], bool]) -> list[str]:
    return [r.name for r in rows if which(r)]


def to_line(rows: Sequence[Row], first: float, size: int | None = None) -> dict[str, object]:
    """The line of the ledger. Totals are of the rows of one ``size``, or of all without it.
    ``first`` are the seconds of the process's first ``optimize``.
    """
    from importlib.metadata import version

    return {
        "spark": version("pyspark"),
        "rows": size,
        "turns": len(rows[0].written),
        "first": round(first, 3),
        **totals([r for r in rows if size in (None, r.rows)]),
        "benchmarks": [{**entry(r), "kept": round(r.kept, 5)} for r in rows],
    }


def entry(row: Any) -> dict[str, Any]:
    """The fields of a row, seconds rounded."""
    return {name: _rounded(value) for name, value in asdict(row).items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def from_line(line: Mapping[str, Any]) -> list[Row]:
    """The rows that :func:`to_line` wrote; :class:`UsageError` for a line of another kind."""
    return read(line, Row)


def read(line: Mapping[str, Any], kind: Callable[..., R]) -> list[R]:
    """The rows of a line, of which :func:`entry` wrote each."""
    try:
        return [kind(**_given(kind, e)) for e in line["benchmarks"]]
    except (KeyError, TypeError) as problem:
        raise UsageError(f"the ledger's line is not one of this benchmark: {problem}") from None


def _given(kind: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What fields hold. JSON has lists for tuples."""
    found = {f.name: entry[f.name] for f in fields(kind) if f.name in entry}
    return {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()}
