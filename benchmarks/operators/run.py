"""Untrusted. The measured runs, what they leave behind, and both as a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rich.console import Console
from rich.table import Table

from benchmarks.on_spark.rows import SLOWER, entry, spread
from benchmarks.on_spark.run import in_turns, written_nowhere
from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WIDTH = 110

Given = TypeVar("Given", contravariant=True)


class Case(Protocol[Given]):
    """What is measured: made of what is given, as somebody writes it and as optimized by hand."""

    @property
    def name(self) -> str: ...

    def written(self, given: Given, /) -> DataFrame: ...

    def typed(self, given: Given, /) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class Row:
    """One case on a table of ``rows`` rows. ``changed``: ``optimize``, which took ``seconds``,
    made another plan. The other seconds are those of each turn. ``equal``: all forms gave the same.
    """

    name: str
    rows: int
    results: int
    changed: bool
    equal: bool
    seconds: float
    written: tuple[float, ...]
    optimized: tuple[float, ...]
    by_hand: tuple[float, ...]

    @property
    def faster(self) -> float:
        """How many times as fast it is optimized: the median over turns."""
        return median(w / o for w, o in zip(self.written, self.optimized, strict=True))

    @property
    def to_hand(self) -> float:
        """How many times as long it takes optimized as by hand: the median over turns."""
        return median(o / h for o, h in zip(self.optimized, self.by_hand, strict=True))

    @property
    def slower(self) -> bool:
        """Slower than as written, in the median and by the fastest runs. What ``optimize`` returns
        as it was given is the same plan, whose times only differ by chance.
        """
        fastest = min(self.optimized) / min(self.written)
        return self.changed and min(1 / self.faster, fastest) > 1 + SLOWER


def measure(
    given: Given,
    rows: int,
    cases: Iterable[Case[Given]],
    turns: int,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Each case ``turns`` times in each form; rows are compared once, and then go nowhere."""
    found = []
    for case in cases:
        written = case.written(given)
        start = time.perf_counter()
        optimized = optimize(written)
        seconds = time.perf_counter() - start
        forms = [written, optimized, case.typed(given)]
        taken, results, equal = in_turns(forms, turns, written_nowhere)
        changed = optimized is not written
        row = Row(case.name, rows, results, changed, equal, seconds, *taken)
        found.append(row)
        progress(f"{row.name}: {row.faster:.1f} times as fast, {row.to_hand:.2f} by hand")
    return found


def to_line(rows: Sequence[Row]) -> dict[str, object]:
    """The line of the ledger."""
    from importlib.metadata import version

    return {
        "spark": version("pyspark"),
        "rows": rows[0].rows,
        "turns": len(rows[0].written),
        "of": len(rows),
        "equal": sum(r.equal for r in rows),
        "changed": sum(r.changed for r in rows),
        "faster": spread(r.faster for r in rows if r.changed),
        "to_hand": spread(r.to_hand for r in rows),
        "slower": [r.name for r in rows if r.slower],
        "benchmarks": [entry(r) for r in rows],
    }


def print_table(rows: Sequence[Row], line: Mapping[str, Any], console: Console, what: str) -> None:
    """Every case, and which of them are slower than as written."""
    console = Console(file=console.file, width=max(console.width, _WIDTH), highlight=False)
    title = f"{line['rows']:,} rows; seconds are medians over turns, ratios those within one turn"
    table = Table(title=title, title_justify="left")
    table.add_column(what, no_wrap=True)
    for head in ("written", "optimized", "by hand", "times as fast", "to by hand", "optimize, s"):
        table.add_column(head, justify="right", no_wrap=True, min_width=len(head))
    for r in rows:
        seconds = [f"{median(s):.2f}" for s in (r.written, r.optimized, r.by_hand)]
        table.add_row(r.name, *seconds, f"{r.faster:.1f}", f"{r.to_hand:.2f}", f"{r.seconds:.2f}")
    console.print(table)
    console.print(f"slower than as written by more than {SLOWER:.0%}: {_names(line['slower'])}")
    console.print(f"results differ: {_names([r.name for r in rows if not r.equal])}")


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
