"""The table of the corpus, ``docs/corpus.md``: ``python -m tests.corpus.document [ID ...]``.

Only functions whose id starts with one of those given are run again; the rest of the table stays.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

from tests.corpus.runner import Entry, Filter, agrees, found_mark, solved

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = ROOT / "docs" / "corpus.md"
HEAD = """\
# Functions from public projects

User-defined aggregations from public projects, rewritten as a PySpark user would write them
(`tests/corpus`), with filters on their outputs. Tests compare every lifted fold with the user's
code, and run that code with and without every pre-filter, on random tables with NULL and NaN.
`python -m tests.corpus.document` generates this table, and a test keeps it up to date.

*Expected* is what a person predicted: ★ there is a pre-filter that depends on the filter's
constants, ☆ only rows that do not change the state can be dropped, ○ there is none, REAL the filter
comes from the original project. If *found* differs, a note below explains which one is correct.

| function | filter | kind | pre-filter | expected | found | seconds |
|---|---|---|---|---|---|---|
"""


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
    if not DOCUMENT.exists():
        return {}
    lines = [x for x in DOCUMENT.read_text().splitlines() if re.match(r"\| [SPD]\d\d", x)]
    return {" |".join(re.split(r"(?<!\\) \|", x)[:2]) + " |": x for x in lines}


def document(wanted: tuple[str, ...]) -> str:
    """The whole text, with the lines of the wanted functions found anew."""
    old, lines, notes = recorded(), [], []
    for e in entries():
        if e.declined:
            lines.append(declined_line(e))
        for f in () if e.declined else e.filters:
            known = old.get(key(e, f))
            lines.append(known if known and not e.id.startswith(wanted) else line(e, f))
            if f.note:
                notes.append(f"- {e.id} `{f.where}`: {f.note}")
    parts = [HEAD + "\n".join(lines), _summary(lines), "## Notes", "\n".join(notes)]
    return "\n\n".join(p for p in parts if p) + "\n"


def _summary(lines: list[str]) -> str:
    own = entries()
    told = []
    for kind in ("yes", "collection", "hard"):
        those = {e.id for e in own if e.lift == kind}
        lifts = {e.id for e in own if e.lift == kind and not e.declined}
        told.append(f"{len(lifts)} of {len(those)} marked {kind}")
    filters = [x for x in lines if "| declined |" not in x]
    other = sum("(note)" in x for x in filters)
    return (
        f"Lifted: {', '.join(told)}. {len(filters)} filters, {len(filters) - other} as expected, "
        f"{other} not."
    )


def main() -> None:
    """Write the document."""
    DOCUMENT.write_text(document(tuple(sys.argv[1:]) or ("",)))


if __name__ == "__main__":
    main()
