"""The page ``docs/reach.md``: ``python -m tests.reach.document``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill

from tests.reach.collection import (
    QUESTIONS,
    ROWS,
    TABLES,
    answer,
    answer_in_a_module,
    as_expected,
    kinds,
    solved,
)
from tests.reach.constructs import OF_TABLES, OF_VALUES, constructs
from tests.reach.entries import Entry, Question, RowEntry

DOCUMENT = Path(__file__).parents[2] / "docs" / "reach.md"
HEAD = """\
# What people write, and how far presieve reaches

Functions as data engineers write them for PySpark, in our own words (`tests/reach`): models,
medians, windows of time, sessions, outliers, joins, loops over rows, parsed texts. Most of them do
not lift. The [dataflow analysis](adr/0030-dataflow.md) reads them all, and answers four questions;
of scalar UDFs we ask whether a filter on the result gives one on the parameters.

For each function a person has written down what the answers should be. Tests run the functions on
random tables with NULL, NaN, repetitions and empty texts: every answer has to hold there, and so
has what the person expects. An answer that is less than the person's is a *miss*, with its cause.
Some functions allow nothing, because they change the key, need all columns or write files.
`python -m tests.reach.document` writes this page, and a test keeps it up to date.
"""
NAMES: Mapping[Question, str] = {
    "keys": "keys",
    "columns": "columns",
    "rows": "rows passed on",
    "effects": "effects",
}
QUESTIONS_TEXT = """\
- *Keys*: the result columns that hold the group's key in each row. Filters on them drop groups.
- *Columns*: the input columns that the result depends on; the others need not be read. Of a
  cogroup, the columns of its first table are asked for.
- *Rows passed on*: the result columns that hold a value of the row that they are made of, where
  each row is treated by itself. Filters on them drop rows.
- *Effects*: whether anything else is done that somebody may miss. Where it is, nothing is dropped.
"""


def matters(entry: Entry, question: Question) -> bool:
    """Whether a person's answer allows anything."""
    match question:
        case "keys":
            return bool(entry.expected_keys)
        case "columns":
            reads = entry.expected_reads
            return reads is not None and reads < set(entry.columns)
        case "rows":
            return bool(entry.expected_passes)
        case "effects":
            return not entry.expected_effects - {"message"}


def ratio(entries: Iterable[Entry], question: Question) -> str:
    """How many answers are a person's, of those that allow anything."""
    asked = [e for e in entries if matters(e, question)]
    right = sum(as_expected(e, question) for e in asked)
    return f"{right} of {len(asked)}" if asked else ""


def values_ratio(entries: Iterable[RowEntry]) -> str:
    """How many filters of values are found, of those that a person sees."""
    asked = [e for e in entries if e.useful]
    return f"{sum(solved(e).prefilter != 'true' for e in asked)} of {len(asked)}" if asked else ""


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    rows = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines)]
    return "\n".join(rows)


def _by_kind() -> str:
    groups = [
        (k, [e for e in TABLES if e.kind == k]) for k in dict.fromkeys(e.kind for e in TABLES)
    ]
    lines = [[kind, str(len(own)), *(ratio(own, q) for q in QUESTIONS), ""] for kind, own in groups]
    lines.append(["scalar UDFs", str(len(ROWS)), "", "", "", "", values_ratio(ROWS)])
    all_ = [ratio(TABLES, q) for q in QUESTIONS]
    lines.append(["all", str(len(TABLES) + len(ROWS)), *all_, values_ratio(ROWS)])
    names = [NAMES[q] for q in QUESTIONS]
    return table(["kind", "functions", *names, "filters of values"], lines)


def _by_construct() -> str:
    used = {e: constructs(e) for e in TABLES}
    lines = []
    for name in OF_TABLES:
        own = [e for e in TABLES if name in used[e]]
        lines.append([name, str(len(own)), *(ratio(own, q) for q in QUESTIONS)])
    return table(["construct", "functions", *(NAMES[q] for q in QUESTIONS)], lines)


def _by_construct_of_values() -> str:
    lines = []
    for name in OF_VALUES:
        own = [e for e in ROWS if name in constructs(e)]
        lines.append([name, str(len(own)), values_ratio(own)])
    return table(["construct", "functions", "filters of values"], lines)


def _causes() -> str:
    count: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    for e in TABLES:
        for question, cause in e.misses.items():
            count[cause] += 1
            where.setdefault(cause, []).append(f"{e} ({NAMES[question]})")
    for r in ROWS:
        if r.missed:
            count[r.missed] += 1
            where.setdefault(r.missed, []).append(f"{r} (filters of values)")
    ordered = sorted(count, key=lambda c: (-count[c], c))
    return table(
        ["cause", "answers", "functions"],
        [
            [c, str(count[c]), ", ".join(f"`{w.replace(' (', '` (')}" for w in where[c])]
            for c in ordered
        ],
    )


# --- a line for each function -------------------------------------------------------------------


def _marked(text: str, entry: Entry, question: Question) -> str:
    return f"{text} (miss)" if question in entry.misses else text


def _names(found: Mapping[str, str] | None) -> str:
    pairs = (n if n == source else f"{n} = {source}" for n, source in sorted((found or {}).items()))
    return ", ".join(f"`{p}`" for p in pairs) or "none"


def line(entry: Entry) -> list[str]:
    """A function of tables, with the answers."""
    said = answer(entry)
    reads = "all" if said.reads is None else f"{len(said.reads)} of {len(entry.columns)}"
    loud = ", ".join(sorted(kinds(said)))
    causes = dict.fromkeys(entry.misses.values())
    return [
        f"`{entry}`",
        entry.what,
        _marked(_names(said.keys), entry, "keys") if entry.by else "",
        _marked(reads, entry, "columns"),
        _marked(_names(said.passes), entry, "rows"),
        _marked(loud or "none", entry, "effects"),
        "; ".join(causes),
    ]


def value_line(entry: RowEntry) -> list[str]:
    """A scalar UDF, with the filter that is found."""
    found = solved(entry)
    prefilter = "none" if found.prefilter == "true" else f"`{found.prefilter}`"
    kind = "" if found.prefilter == "true" else found.kind
    return [f"`{entry}`", entry.what, f"`{entry.where}`", prefilter, kind, entry.missed]


def _lines() -> str:
    head = ["function", "what it does", "keys", "columns", "rows passed on", "effects", "why not"]
    parts = []
    for kind in dict.fromkeys(e.kind for e in TABLES):
        parts += [f"### {kind}", table(head, [line(e) for e in TABLES if e.kind == kind])]
    head = ["function", "what it does", "filter", "filter on the parameters", "kind", "why not"]
    parts += ["### Scalar UDFs", table(head, map(value_line, ROWS))]
    return "\n\n".join(parts)


def _summary() -> str:
    keys, columns, rows, effects = (ratio(TABLES, q) for q in QUESTIONS)
    less = [e for e in TABLES if (said := answer_in_a_module(e)) is None or _less(said, e)]
    values = values_ratio(ROWS)
    counts = (
        f"A person sees keys that pass in {_of(keys)} functions; the analysis finds them in "
        f"{_found(keys)}. Columns can be left out in {_of(columns)}, found in {_found(columns)}. "
        f"Rows are passed on one by one in {_of(rows)}, found in {_found(rows)}. {_of(effects)} "
        f"have no effect that counts, and the analysis says so of {_found(effects)}. A natural "
        f"filter on the result gives one on the parameters of {_of(values)} scalar UDFs, found in "
        f"{_found(values)}."
    )
    modules = (
        "Functions are read as those of a job's main file. In a module that workers import, where "
        f"a constant may be another one, {len(less)} of {len(TABLES)} functions get less."
    )
    return "\n\n".join(fill(text, 100) for text in (counts, modules))


def _less(said: object, entry: Entry) -> bool:
    own = answer(entry)
    kept = ("keys", "reads", "passes")
    return any(getattr(said, n) != getattr(own, n) for n in kept)


def _of(text: str) -> str:
    return text.partition(" of ")[2]


def _found(text: str) -> str:
    return text.partition(" of ")[0]


def document() -> str:
    """The whole page."""
    parts = [
        HEAD.rstrip(),
        "## The questions",
        QUESTIONS_TEXT.rstrip(),
        "## How many",
        _summary(),
        "Of those whose answer, as a person gives it, allows anything:",
        _by_kind(),
        "## By construct",
        _by_construct(),
        "Scalar UDFs:",
        _by_construct_of_values(),
        "## Why not",
        _causes(),
        "## All functions",
        _lines(),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the page."""
    DOCUMENT.write_text(document())


if __name__ == "__main__":
    main()
