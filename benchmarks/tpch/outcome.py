"""Untrusted. The results of the pushdown experiment on TPC-H, as they are recorded."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

RECORDED = Path(__file__).with_name("pushdown.csv")
FORMS = ("spark", "stripped", "presieve", "both", "functions")
"""Spark with its optimizer whole; without the rules that move filters; without them, optimized by
presieve; with the optimizer whole, optimized by presieve; and without the rules, optimized by
presieve, with each table behind a Python function that gives the rows that it is given."""

EXCLUDED = (
    "PushDownPredicates",
    "PushPredicateThroughJoin",
    "PushPredicateThroughNonJoin",
    "PushDownLeftSemiAntiJoin",
    "PushLeftSemiLeftAntiThroughJoin",
    "PushExtraPredicateThroughJoin",
    "PushdownPredicatesAndPruneColumnsForCTEDef",
    "InferFiltersFromConstraints",
    "InferFiltersFromGenerate",
    "ReorderJoin",
)
"""The rules of Spark 4.3 that move filters or make new ones, and the one that takes filters apart
into conditions of joins. ``PushDownPredicates`` runs the two below it, which also stand in batches
of their own.
"""

INFERRED = "inferred"
"""Where a filter that Spark puts at a scan does not stand in the plan without its rules."""

BETWEEN = " ; "

Outcome: TypeAlias = Literal["same", "more", "fewer", "other"]


@dataclass(frozen=True, slots=True)
class AtScans:
    """The conjuncts at the scans of a table, each as often as there is one, without those that a
    column is not NULL, and the rows that come out of these scans and filters.
    """

    conjuncts: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Query:
    """What holds of a query in all its forms. ``codes`` are why presieve declines something in it,
    ``function_codes`` the same where the tables stand behind functions. ``equal``: whether all
    forms give the same rows, of which there are ``results``.
    """

    name: str
    results: int
    equal: bool
    codes: tuple[str, ...]
    function_codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A table of a query. ``scans`` is how often Spark reads it, ``rows`` what it would read in all
    without filters, ``not_null`` how many columns its scans are asked to be not NULL. ``places``
    are where the filters stand that presieve does not put at the scans, in the order of
    :meth:`left`, and ``function_places`` the same behind functions.
    """

    query: Query
    table: str
    scans: int
    rows: int
    not_null: int
    at: Mapping[str, AtScans]
    places: tuple[str, ...] = ()
    function_places: tuple[str, ...] = ()

    def left(self, form: str) -> tuple[str, ...]:
        """What Spark filters at the scans and a form does not."""
        return _without(self.at["spark"], self.at[form])

    def added(self, form: str) -> tuple[str, ...]:
        """What a form filters at the scans and Spark does not."""
        return _without(self.at[form], self.at["spark"])


def _without(one: AtScans, other: AtScans) -> tuple[str, ...]:
    return tuple(sorted((Counter(one.conjuncts) - Counter(other.conjuncts)).elements()))


def outcome(lines: Iterable[Line], form: str) -> Outcome:
    """What a form of a query filters at scans, beside Spark with its optimizer whole."""
    lines = list(lines)
    left = any(line.left(form) for line in lines)
    added = any(line.added(form) for line in lines)
    if left:
        return "other" if added else "fewer"
    return "more" if added else "same"


def write(lines: Iterable[Line], path: Path) -> None:
    """A line for each query and table."""
    rows = [_row(line) for line in lines]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path = RECORDED) -> list[Line]:
    """What :func:`write` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_line(row) for row in csv.DictReader(file)]


def _row(line: Line) -> dict[str, object]:
    row: dict[str, object] = {
        "query": line.query.name,
        "results": line.query.results,
        "equal": line.query.equal,
        "table": line.table,
        "scans": line.scans,
        "rows": line.rows,
        "not_null": line.not_null,
    }
    for form, at in line.at.items():
        row |= {form: BETWEEN.join(at.conjuncts), f"{form}_rows": at.rows}
    return row | {
        "places": BETWEEN.join(line.places),
        "function_places": BETWEEN.join(line.function_places),
        "codes": BETWEEN.join(line.query.codes),
        "function_codes": BETWEEN.join(line.query.function_codes),
    }


def _line(row: Mapping[str, str]) -> Line:
    query = Query(
        row["query"],
        int(row["results"]),
        row["equal"] == "True",
        _parts(row["codes"]),
        _parts(row["function_codes"]),
    )
    at = {form: AtScans(_parts(row[form]), int(row[f"{form}_rows"])) for form in FORMS}
    return Line(
        query=query,
        table=row["table"],
        scans=int(row["scans"]),
        rows=int(row["rows"]),
        not_null=int(row["not_null"]),
        at=at,
        places=_parts(row["places"]),
        function_places=_parts(row["function_places"]),
    )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split(BETWEEN)) if text else ()
