"""Untrusted. ``docs/tpcds.md`` and its record, made of measured queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.pages import DOCS, RESULTS, measured_with

PAGE = DOCS / "tpcds.md"
RECORD = RESULTS / "tpcds.md"


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

Does presieve keep the rows of the 99 queries of TPC-DS, and what does it move in them? Each query
runs at scale {scale:g} on Spark 4.3, as it is and as `optimize(df, cost="always")` returns it.

**{equal} of {of} queries give the same rows**, among them {windows} with windows and {rollups} with
ROLLUP. The queries have no Python functions, and Spark itself moves most of their filters. So most
plans stay as they are: {changed} are changed, and {scans} get new filters at scans. {fewer} read
fewer rows out of their scans, and {more} more.

| query | below which operator | new at scans |
|---|---|---|
{moved}

[All queries](../benchmarks/results/tpcds.md), with the codes of what is declined. `make tpcds`
measures again and writes both pages.
"""
_RECORD = """# The queries of TPC-DS

{measured} The scale is {scale:g}. DuckDB's
extension generates tables and queries, with the parameters of the standard's validation.
[TPC-DS](../../docs/tpcds.md) has the totals.

| query | with | rows | equal | changed | declined |
|---|---|---|---|---|---|
{table}
"""


def write(rows: Sequence[Row], scale: float) -> None:
    """Make the page and the record."""
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
    )
    PAGE.write_text(page, encoding="utf-8")
    table = "\n".join(map(_all, rows))
    record = _RECORD.format(measured=measured_with("make tpcds"), scale=scale, table=table)
    RECORD.write_text(record, encoding="utf-8")


def _moved(row: Row) -> str:
    cells = (f"Q{row.number}", _codes(row.moved), _codes(row.new))
    return f"| {' | '.join(cells)} |"


def _all(row: Row) -> str:
    declined = ", ".join(f"[`{code}`](../../docs/declined/{code}.md)" for code in row.codes)
    yes = ("no", "yes")
    cells = (
        *(f"Q{row.number}", ", ".join(row.holds), str(row.rows)),
        *(yes[row.equal], yes[row.changed], declined),
    )
    return f"| {' | '.join(cells)} |"


def _codes(texts: Sequence[str]) -> str:
    return "<br>".join("`" + text.replace("|", "\\|") + "`" for text in texts)
