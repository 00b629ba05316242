"""The corpus, ``docs/corpus.md`` and its record: ``python -m tests.corpus.document [ID ...]``.

Only functions whose id starts with one of those given are run again; the rest of the table stays.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from pathlib import Path

from benchmarks.pages import DOCS, RESULTS
from tests.corpus.runner import Entry, Filter, agrees, found_mark, solved

DOCUMENT = DOCS / "corpus.md"
RECORD = RESULTS / "corpus.md"
PAGE = """\
# Functions from public projects

How many real aggregations can presieve read, and for how many filters on their outputs does it find
a pre-filter? `tests/corpus` has user-defined aggregations from public projects, rewritten as a
PySpark user would write them. Tests compare every lifted fold with the user's code, and run that
code with and without every pre-filter, on random tables with NULL and NaN.

**{lifted} of {of} functions lift.** The table groups them by what a person expected, and counts the
kinds of answers for {filters} filters:

| expected | lift | filters | exact | split | partial | nothing pushed |
|---|---|---|---|---|---|---|
{table}

For {agree} filters the answer is the one that a person predicted. For the other {other}, a note in
[the record](../benchmarks/results/corpus.md) says which of the two is correct; the record has every
function, filter and pre-filter. `python -m tests.corpus.document` writes both pages, and tests keep
them up to date.
"""
HEAD = """\
# Every filter of the corpus

[Functions from public projects](../../docs/corpus.md) says what is tested and has the totals.

*Expected* is what a person predicted: ★ there is a pre-filter that depends on the filter's
constants, ☆ only rows that do not change the state can be dropped, ○ there is none, REAL the filter
comes from the original project. If *found* differs, a note below explains which one is correct.

| function | filter | kind | pre-filter | expected | found | seconds |
|---|---|---|---|---|---|---|
"""
EXPECTATIONS = {
    "yes": "should lift",
    "collection": "needs a collection",
    "hard": "hard",
}
"""The words for :attr:`tests.corpus.runner.Entry.lift`."""


def entries() -> list[Entry]:
    """All functions of the corpus, in the order of their ids."""
    found: list[Entry] = []
    for path in sorted(Path(__file__).parent.glob("*.py")):
        module = importlib.import_module(f"tests.corpus.{path.stem}")
        if not path.stem.startswith("test_"):
            found += getattr(module, "ENTRIES", [])
    names = [str(e) for e in found]
    assert len(set(names)) == len(names), "two entries of one name"
    return sorted(found, key=lambda e: ("SPD".index(e.id[0]), e.id))


def _cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def key(entry: Entry, asked: Filter | None) -> str:
    """The start of a line of the table."""
    name = f"{entry.id} {entry.variant}".strip()
    return f"| {name} | {_cell(asked.where) if asked else ''} |"


def line(entry: Entry, asked: Filter, seconds: str | None = None) -> str:
    """One filter."""
    found = solved(entry, asked)
    told = seconds or f"{found.seconds:.1f}"
    marks = f"{asked.mark} | {found_mark(entry, asked)}{'' if agrees(entry, asked) else ' (note)'}"
    return f"{key(entry, asked)} {found.kind} | {_cell(found.prefilter)} | {marks} | {told} |"


def declined_line(entry: Entry) -> str:
    """One function that does not lift."""
    return f"{key(entry, None)} declined | {entry.declined}: …{entry.because}… | | | |"


def recorded() -> dict[str, str]:
    """The lines of the table as it is, by their start."""
    if not RECORD.exists():
        return {}
    lines = [x for x in RECORD.read_text().splitlines() if re.match(r"\| [SPD]\d\d", x)]
    return {" |".join(re.split(r"(?<!\\) \|", x)[:2]) + " |": x for x in lines}


def record(wanted: tuple[str, ...]) -> str:
    """The record, with the lines of the wanted functions found anew."""
    old, lines, notes = recorded(), [], []
    for e in entries():
        if e.declined:
            lines.append(declined_line(e))
        for f in () if e.declined else e.filters:
            known = old.get(key(e, f))
            lines.append(known if known and not e.id.startswith(wanted) else line(e, f))
            if f.note:
                notes.append(f"- {e.id} `{f.where}`: {f.note}")
    return HEAD + "\n".join(lines) + "\n\n## Notes\n\n" + "\n".join(notes) + "\n"


def document() -> str:
    """The page: totals of what is recorded."""
    own, lines = entries(), recorded()
    answers = {key(e, f): e.lift for e in own if not e.declined for f in e.filters}
    kinds = {start: line.removeprefix(start).split("|")[0].strip() for start, line in lines.items()}
    rows = []
    for lift, words in EXPECTATIONS.items():
        functions = {e.id for e in own if e.lift == lift}
        lifted = {e.id for e in own if e.lift == lift and not e.declined}
        count = Counter(kinds[start] for start, of in answers.items() if of == lift)
        numbers = (count[kind] for kind in ("exact", "split", "partial", "none"))
        cells = (words, f"{len(lifted)} of {len(functions)}", count.total(), *numbers)
        rows.append(f"| {' | '.join(map(str, cells))} |")
    other = sum("(note)" in lines[start] for start in answers)
    return PAGE.format(
        lifted=len({e.id for e in own if not e.declined}),
        of=len({e.id for e in own}),
        filters=len(answers),
        table="\n".join(rows),
        agree=len(answers) - other,
        other=other,
    )


def main() -> None:
    """Write the record and the page."""
    RECORD.write_text(record(tuple(sys.argv[1:]) or ("",)))
    DOCUMENT.write_text(document())


if __name__ == "__main__":
    main()
