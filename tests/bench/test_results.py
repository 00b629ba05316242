"""Pages in docs say what the records in benchmarks/results say."""

from __future__ import annotations

import re

import pytest
from benchmarks.pages import DOCS, RESULTS, ROOT

LINK = re.compile(r"\]\(\.\./benchmarks/results/([\w-]+\.md)\)")
FIGURE = re.compile(r"\b(\d[\d,.]*)(?: %| s\b| ms\b)")


def rows(text: str) -> list[list[str]]:
    """The cells of the tables, without heads and rules."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


def answers() -> list[tuple[str, list[str]]]:
    """The answers of docs/benchmarks.md, with the records that each names."""
    table = rows((DOCS / "benchmarks.md").read_text(encoding="utf-8"))[1:]
    return [(answer, LINK.findall(measured)) for _, answer, measured in table]


@pytest.mark.parametrize(("answer", "records"), answers())
def test_figures_of_answers_are_in_their_records(answer: str, records: list[str]) -> None:
    assert records
    texts = "\n".join((RESULTS / name).read_text(encoding="utf-8") for name in records)
    assert [f for f in FIGURE.findall(answer) if not re.search(rf"\b{f}\b", texts)] == []


def test_figures_of_the_readme_are_those_of_the_answers() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = [f for bold in re.findall(r"\*\*([^*]+)\*\*", readme) for f in FIGURE.findall(bold)]
    assert len(shown) >= 3
    assert [f for f in shown if not any(f in answer for answer, _ in answers())] == []


def test_the_first_figures_of_the_readme_are_those_of_the_demo() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = (
        r for r in rows((RESULTS / "demo.md").read_text(encoding="utf-8")) if r[0] == "top two"
    )
    before, after = re.findall(r"^    (?:as written|with presieve) +(.*) s$", readme, re.M)
    assert re.findall(r"[\d.,]*\d", before) == [row[1], row[3], row[4]]
    assert re.findall(r"[\d.,]*\d", after) == [row[2], "0", row[3], row[5]]


def test_totals_of_scan_filters_are_those_of_the_record() -> None:
    page = (DOCS / "scan-filters.md").read_text(encoding="utf-8")
    record = rows((RESULTS / "scan-filters.md").read_text(encoding="utf-8"))
    counts = [(number(w), number(o)) for _, _, w, o, _ in (r for r in record if r[2] != "Spark")]
    better = [written for written, optimized in counts if optimized < written]
    whole = sum(written >= 200_000 for written in better)
    assert f"fewer rows for {len(better)} of the {len(counts)} filters" in page
    assert f"For {whole} of these" in page


def test_totals_of_tpcds_are_those_of_the_record() -> None:
    page = (DOCS / "tpcds.md").read_text(encoding="utf-8")
    record = rows((RESULTS / "tpcds.md").read_text(encoding="utf-8"))[1:]
    changed = sum(row[4] == "yes" for row in record)
    equal = sum(row[3] == "yes" for row in record)
    assert f"**{equal} of {len(record)} queries give the same rows**" in page
    assert f"{changed} are changed" in " ".join(page.split())


def test_totals_of_pysparks_tests_are_those_of_the_record() -> None:
    page = rows((DOCS / "harmless.md").read_text(encoding="utf-8"))
    record = rows((RESULTS / "harmless.md").read_text(encoding="utf-8"))
    sums = [str(sum(map(int, column))) for column in list(zip(*record[2:], strict=True))[1:]]
    assert page[-1] == ["`all`", *sums]
