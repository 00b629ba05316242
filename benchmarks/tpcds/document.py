"""Untrusted. ``docs/tpcds.md``, of what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tpcds.md"


@dataclass(frozen=True, slots=True)
class Row:
    """A query: what is in it, how many rows it gives and whether they are the same as optimized,
    what goes below which operators, conjuncts that are new at scans, codes of what is declined, and
    the rows out of all scans as written and as optimized.
    """

    number: int
    holds: tuple[str, ...]
    rows: int
    equal: bool
    changed: bool
    moved: tuple[str, ...]
    new: tuple[str, ...]
    codes: tuple[str, ...]
    scanned: tuple[int, int]

    @property
    def reads_more(self) -> bool:
        """Whether more rows come out of scans than as written."""
        return self.scanned[1] > self.scanned[0]

    def line(self) -> str:
        """For somebody who waits."""
        outcome = "equal" if self.equal else "DIFFERS"
        if self.reads_more:
            outcome += " but READS MORE: {1:,} rows in place of {0:,}".format(*self.scanned)
        return f"Q{self.number} {self.rows} rows, {outcome}, {'; '.join((*self.moved, *self.new))}"


_PAGE = """# TPC-DS

The 99 queries of TPC-DS at scale {scale:g}, on Spark 4.3, as they are and as
`optimize(df, cost="always")` returns them. `make tpcds` generates tables and queries (DuckDB's
extension, with the parameters of the standard's validation), compares the rows, and writes this
page.

**{equal} of {of} queries give the same rows**, among them {windows} with windows and {rollups} with
ROLLUP. There are no Python functions, and the filters are where Spark moves them by itself, so that
most plans are left as they are: {changed} are changed, and {scans} get filters at scans that they
did not have. {fewer} read fewer rows out of their scans, and {more} more.

## What is moved

| query | below which operator | new at scans |
|---|---|---|
{moved}

## All queries

| query | with | rows | equal | changed | declined |
|---|---|---|---|---|---|
{table}
"""


def write(rows: Sequence[Row], scale: float) -> None:
    """Make the page."""
    page = _PAGE.format(
        scale=scale,
        of=len(rows),
        equal=sum(r.equal for r in rows),
        windows=sum("windows" in r.holds for r in rows),
        rollups=sum("ROLLUP" in r.holds for r in rows),
        changed=sum(r.changed for r in rows),
        scans=sum(bool(r.new) for r in rows),
        fewer=sum(r.scanned[1] < r.scanned[0] for r in rows),
        more=sum(r.reads_more for r in rows),
        moved="\n".join(_moved(r) for r in rows if r.moved or r.new),
        table="\n".join(map(_all, rows)),
    )
    PAGE.write_text(page, encoding="utf-8")


def _moved(row: Row) -> str:
    cells = (f"Q{row.number}", _codes(row.moved), _codes(row.new))
    return f"| {' | '.join(cells)} |"


def _all(row: Row) -> str:
    declined = ", ".join(f"[`{code}`](declined/{code}.md)" for code in row.codes)
    yes = ("no", "yes")
    cells = (
        *(f"Q{row.number}", ", ".join(row.holds), str(row.rows)),
        *(yes[row.equal], yes[row.changed], declined),
    )
    return f"| {' | '.join(cells)} |"


def _codes(texts: Sequence[str]) -> str:
    return "<br>".join("`" + text.replace("|", "\\|") + "`" for text in texts)
