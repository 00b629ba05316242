"""The page ``docs/reach.md`` and its record: ``python -m tests.reach.document``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from benchmarks.pages import DOCS, RESULTS
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

DOCUMENT = DOCS / "reach.md"
RECORD = RESULTS / "reach.md"
HEAD = """\
# What people write, and how far presieve reaches

How much does presieve learn about functions that it cannot turn into folds? `tests/reach` has
functions as data engineers write them for PySpark: models, medians, time windows, sessions,
outliers, joins, loops over rows, parsed texts. The [dataflow analysis](adr/0030-dataflow.md) reads
all of them and answers four questions. For a scalar UDF the question is whether a filter on the
result gives one on the parameters.

For each function a person has written down the answers. Tests run the functions on random tables
with NULL, NaN, repetitions and empty texts; the answers of the analysis and of the person must hold
there. An answer that says less than the person's is a *miss*. Some functions allow nothing, because
they change the key, need all columns or write files.
"""
MORE = """\
[The record](../benchmarks/results/reach.md) lists the functions, the answers by construct, and the
cause of each miss. `python -m tests.reach.document` writes both pages, and a test keeps them up to
date.
"""
RECORD_HEAD = """\
# Functions that people write, with the answers for each

[What people write](../../docs/reach.md) explains the questions and has the totals. *Miss* marks an
answer that says less than a person's.
"""
NAMES: Mapping[Question, str] = {
    "keys": "keys",
    "columns": "columns",
    "rows": "rows passed on",
    "effects": "effects",
}
QUESTIONS_TEXT = """\
- *Keys*: the result columns that hold the group's key in each row. Filters on them drop groups.
- *Columns*: the input columns that the result depends on; the others need not be read. For a
  cogroup, the columns of its first table count.
- *Rows passed on*: the result columns that hold a value of the row from which they are made, if the
  function treats each row by itself. Filters on them drop rows.
- *Effects*: whether the function does anything else that somebody may miss. If so, nothing is
  dropped.
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
        f"Keys pass through in {_of(keys)} functions; the analysis finds {_found(keys)}. Columns "
        f"can be left out in {_of(columns)}; it finds {_found(columns)}. Rows are passed on one by "
        f"one in {_of(rows)}; it finds {_found(rows)}. {_of(effects)} have no effect that counts; "
        f"it finds {_found(effects)}. For {_of(values)} scalar UDFs a natural filter on the result "
        f"gives one on the parameters; it finds {_found(values)}."
    )
    modules = (
        "The functions are read as functions of a job's main file. In a module that workers "
        f"import, a constant may have another value; there {len(less)} of {len(TABLES)} functions "
        "get less."
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
    """The page: the questions and the totals."""
    parts = [
        HEAD.rstrip(),
        "## The questions",
        QUESTIONS_TEXT.rstrip(),
        "## How many",
        _summary(),
        "The table counts the functions for which a person's answer allows anything:",
        _by_kind(),
        MORE.rstrip(),
    ]
    return "\n\n".join(parts) + "\n"


def record() -> str:
    """The answers by construct, the causes of misses, and every function."""
    parts = [
        RECORD_HEAD.rstrip(),
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
    """Write the page and the record."""
    DOCUMENT.write_text(document())
    RECORD.write_text(record())


if __name__ == "__main__":
    main()
