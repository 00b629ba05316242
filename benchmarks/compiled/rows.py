"""Untrusted. What a run leaves behind: a row for every function, and their totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.on_spark.rows import entry, spread


@dataclass(frozen=True, slots=True)
class Row:
    """One function on a table of ``rows`` rows.

    ``native``: no Python is left as compiled; if that takes ``reorder=True`` or an enabled session,
    ``needs`` says so. ``declined`` is why it is left. ``equal``: all forms gave the same
    ``results`` rows.
    ``compiling`` are the seconds of ``optimize``. The other seconds are those of each turn, of
    Spark's own transpiler only where no Python is left by it.
    """

    name: str
    form: str
    rows: int
    results: int
    equal: bool
    native: bool
    needs: str
    declined: str
    compiling: float
    written: tuple[float, ...]
    compiled: tuple[float, ...]
    by_hand: tuple[float, ...]
    transpiled: tuple[float, ...] = ()

    @property
    def faster(self) -> float:
        """How many times as fast it is compiled: the median over turns."""
        return _ratio(self.written, self.compiled)

    @property
    def to_hand(self) -> float:
        """How many times as long it takes compiled as by hand: the median over turns."""
        return _ratio(self.compiled, self.by_hand)


def _ratio(these: Sequence[float], those: Sequence[float]) -> float:
    return median(x / y for x, y in zip(these, those, strict=True))


def totals(rows: Sequence[Row]) -> dict[str, object]:
    """Counts and ratios. What is left in Python counts for ``faster`` as measured."""
    native = [r for r in rows if r.native]
    return {
        "of": len(rows),
        "equal": sum(r.equal for r in rows),
        "native": len(native),
        "needs": dict(Counter(r.needs for r in native if r.needs)),
        "faster": spread(r.faster for r in rows),
        "to_hand": spread(r.to_hand for r in native),
        "compiling": spread(r.compiling for r in rows),
    }


def to_line(rows: Sequence[Row], size: int) -> dict[str, object]:
    """The line of the ledger: totals of all, and of each form."""
    from importlib.metadata import version

    forms = dict.fromkeys(r.form for r in rows)
    return {
        "spark": version("pyspark"),
        "rows": size,
        "turns": len(rows[0].written),
        **totals(rows),
        "forms": {form: totals([r for r in rows if r.form == form]) for form in forms},
        "benchmarks": [entry(r) for r in rows],
    }
