"""Untrusted. The answer of ``lineage`` as text for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

MEANINGS = {
    "exact": "every row that passes matters: without it, some result would be another one",
    "superset": "no row is missing, but rows that do not matter may be among them",
}


class SourceFields(Protocol):
    """The fields of a source that are shown."""

    @property
    def name(self) -> str: ...
    @property
    def filter(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def reasons(self) -> Sequence[str]: ...


class LineageFields(Protocol):
    """The fields of a :class:`presieve.Lineage` that are shown."""

    @property
    def where(self) -> str: ...
    @property
    def sources(self) -> Sequence[SourceFields]: ...
    @property
    def assumptions(self) -> Sequence[Mapping[str, str]]: ...


def lines(lineage: LineageFields) -> Iterator[str]:
    """The filter of each source, whether it is exact, and why not."""
    yield f"rows behind: {lineage.where}"
    if not lineage.sources:
        yield "  no source is read"
    for source in lineage.sources:
        yield f"  {source.name}"
        yield textwrap.fill(
            source.filter, 100, initial_indent="    filter    ", subsequent_indent=" " * 14
        )
        yield f"    {source.kind:9} {MEANINGS[source.kind]}"
        for reason in source.reasons:
            yield f"              {reason}"
    for assumption in lineage.assumptions:
        yield f"  assuming {assumption['text']} [{assumption['code']}]"
