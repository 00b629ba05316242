# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The public lineage of chosen result rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presieve.report.json_fields import fields_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.report.report import Report

MEANINGS = {
    "exact": "every row that passes matters: without it, some result would be another one",
    "superset": "no row is missing, but rows that do not matter may be among them",
}


@dataclass(frozen=True, slots=True)
class LineageSource:
    """The rows of one source on which chosen result rows depend.

    Attributes:
        name: The table or the files; for rows of the program, their relation and its columns.
        columns: The names of its columns.
        filter: The condition of these rows, in Spark SQL; ``"true"`` keeps all rows, ``"false"``
            none.
        exact: Whether every row that passes matters in some table; otherwise the rows are a
            superset of those that matter.
        reasons: Why it is a superset; empty if it is exact.
        dataframe: The rows.
    """

    name: str
    columns: tuple[str, ...]
    filter: str
    exact: bool
    reasons: tuple[str, ...]
    dataframe: DataFrame

    @property
    def kind(self) -> str:
        """``"exact"`` or ``"superset"``."""
        return "exact" if self.exact else "superset"

    @property
    def meaning(self) -> str:
        """The meaning of the kind, in words."""
        return MEANINGS[self.kind]

    def to_json(self) -> dict[str, Any]:
        """Everything except the rows, as JSON types."""
        return fields_json(self, "dataframe")


@dataclass(frozen=True, slots=True)
class Lineage:
    """The answer of :func:`presieve.lineage`. Print it, or show it in a notebook.

    Attributes:
        where: The condition that chooses result rows.
        sources: One entry for each source, in the order of the plan.
        assumptions: The assumptions of the proofs without evidence, as ``code`` and ``text``.
        report: The report on the plan's functions and aggregates.
        seconds: Wall-clock time.
    """

    where: str
    sources: tuple[LineageSource, ...]
    assumptions: tuple[dict[str, str], ...]
    report: Report
    seconds: float

    def __getitem__(self, name: str) -> LineageSource:
        """The source whose name is ``name``, or ends with it.

        Raises:
            KeyError: There is no such source, or there are several.
        """
        matching_sources = [s for s in self.sources if s.name == name]
        matching_sources = matching_sources or [s for s in self.sources if s.name.endswith(name)]
        if len(matching_sources) != 1:
            raise KeyError(name)
        return matching_sources[0]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        """The filter of each source, whether it is exact, and why not."""
        yield f"rows behind: {self.where}"
        if not self.sources:
            yield "  no source is read"
        for source in self.sources:
            yield f"  {source.name}"
            yield textwrap.fill(
                source.filter, 100, initial_indent="    filter    ", subsequent_indent=" " * 14
            )
            yield f"    {source.kind:9} {source.meaning}"
            for reason in source.reasons:
                yield f"              {reason}"
        for assumption in self.assumptions:
            yield f"  assuming {assumption['text']} [{assumption['code']}]"

    def _repr_html_(self) -> str:
        from presieve.report import html

        return html.render("lineage_fragment.html", lineage=self)

    def to_json(self) -> dict[str, Any]:
        """Everything except the rows, as JSON types."""
        return fields_json(self, "report")

    def save(self, path: str | Path) -> None:
        """Write a page or the data.

        Args:
            path: A file that ends in ``.html`` or ``.json``.

        Raises:
            PresieveError: The file has another suffix.
            OSError: The file cannot be written.
        """
        from presieve.report import html

        html.save(path, "lineage", partial(page, [("", self)]), self.to_json)


def page(lineages: Sequence[tuple[str, Lineage]]) -> str:
    """A complete HTML document, each lineage under its own heading, or under none if it is ""."""
    from presieve.report import html

    return html.render(
        "lineage_page.html", lineages=lineages, title="presieve lineage", sections=()
    )
