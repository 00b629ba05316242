"""Writes docs/pandas.md and its record: ``python -m tests.pandas_api.document``."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.pages import DOCS, RESULTS
from tests.pandas_api.expected import EXPECTED, OUTCOMES, Expected
from tests.pandas_api.programs import PROGRAMS, Program

DOCUMENT = DOCS / "pandas.md"
RECORD = RESULTS / "pandas.md"

HEAD = """\
# pandas API on Spark

Which masks of `pyspark.pandas` reach the files? A mask such as `orders[orders.quantity >= 10]`
becomes a `CASE WHEN isnull(...)` that Spark does not take apart, so the scan gets no filter and
reads every row. presieve [derives the filter](howto/derived.md) that follows from it. `query()` and
`loc` write plain conditions, which Spark pushes without help.

You need not change a program: `presieve.enable(spark)` or `presieve run` is enough. A program must
end in an action or a write: `to_pandas()`, a table that a notebook prints, `to_parquet()`, `len()`,
`max()` and the like. Some advice:

- Read with `index_col=`. Otherwise the rows get a default index, 0, 1, 2, ... It numbers all rows
  of the file, also those that a mask drops. If the program shows the index, joins by it or writes
  it, all rows are needed. The programs here omit it where it has no name, as `to_spark()` does.
- Put masks first, before `rank()`, `shift()`, `rolling()`, `head()` and Python functions.

The tests in `tests/pandas_api` run programs like those of data scientists, as written and in an
enabled session, over small tables with NULL, NaN, -0.0, empty texts and the limits of integers.
Both runs must give the same rows, to the bit. Then they compare the filters that Spark hands to the
Parquet scans, on Spark 4.3 with `cost="always"`:
"""
MORE = """\
[All programs](../benchmarks/results/pandas.md), with their code and the reasons.
`python -m tests.pandas_api.document` writes both pages, and a test keeps them up to date.
"""
RECORD_HEAD = """\
# Programs with pandas API on Spark

[pandas API on Spark](../../docs/pandas.md) says how the programs are run and has the totals.
"""
CODE = """\
Each takes the module `pyspark.pandas` and the folder of the tables, and returns what the user looks
at.
"""


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    rows = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines)]
    return "\n".join(rows)


def _totals() -> str:
    count = Counter(e.outcome for e in EXPECTED.values())
    lines = [[name, meaning, str(count[name])] for name, meaning in OUTCOMES.items()]
    return table(["outcome", "meaning", "programs"], [*lines, ["all", "", str(len(EXPECTED))]])


def _causes() -> str:
    where: dict[str, list[str]] = {}
    for name, expected in EXPECTED.items():
        if expected.why and expected.outcome != "nothing to gain":
            where.setdefault(expected.why, []).append(_called(name))
    ordered = sorted(where, key=lambda c: (-len(where[c]), c))
    lines = [[c, str(len(where[c])), ", ".join(where[c])] for c in ordered]
    return table(["cause", "programs", "which"], lines)


def _called(name: str) -> str:
    return f"[`{name}`](#{name})"


def _filters(filters: Iterable[str]) -> str:
    return ", ".join(f"`{f}`" for f in filters)


def _reached(expected: Expected) -> str:
    parts = []
    if expected.added:
        parts.append(_filters(expected.added))
    if expected.spark:
        parts.append(f"by Spark: {_filters(expected.spark)}")
    return "; ".join(parts)


def _reasons(expected: Expected) -> str:
    codes = ", ".join(f"[`{code}`](../../docs/declined/{code}.md)" for code in expected.codes)
    return " ".join(filter(None, (expected.why, codes and f"(reported: {codes})")))


def _line(name: str, program: Program) -> list[str]:
    expected = EXPECTED[name]
    return [_called(name), said(program), expected.outcome, _reached(expected), _reasons(expected)]


def said(program: Program) -> str:
    """What a person wants of a program."""
    return (inspect.getdoc(program) or "").rstrip(".")


def code(program: Program) -> str:
    """A program as somebody writes it: without types, and without the mark of this list."""
    text = inspect.getsource(program).removeprefix("@program\n").rstrip()
    return text.replace("(ps: Any, folder: str) -> Any:", "(ps, folder):").replace(
        "  # noqa: E712", ""
    )


def document() -> str:
    """The page: advice and totals."""
    return "\n".join([HEAD, _totals(), "", MORE])


def record() -> str:
    """Every program, with its outcome and its code."""
    head = ["program", "what it does", "outcome", "what reaches the scan", "why not more"]
    programs = [
        f"### {name}\n\n```python\n{code(program)}\n```" for name, program in PROGRAMS.items()
    ]
    parts = [
        RECORD_HEAD.rstrip(),
        "## Why not more",
        _causes(),
        "## All programs",
        table(head, (_line(*item) for item in PROGRAMS.items())),
        "## Their code",
        CODE.rstrip(),
        *programs,
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the page and the record."""
    DOCUMENT.write_text(document(), encoding="utf-8")
    RECORD.write_text(record(), encoding="utf-8")


if __name__ == "__main__":
    main()
