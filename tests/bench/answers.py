"""The published answers that lose groups, as ``benchmarks/loses_groups.csv`` gives them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.suite import Benchmark, benchmarks, load
from tests.support.refuting import Job

FOLDER = Path(__file__).parents[2] / "benchmarks"
SUITE = FOLDER / "families"
BENCHMARKS = {b.name: b for b in benchmarks(load(SUITE))}


@dataclass(frozen=True)
class Answer:
    """A published pushdown. ``residual=None``: the filter stays above."""

    benchmark: Benchmark
    prefilter: str
    residual: str | None

    def __str__(self) -> str:
        return self.benchmark.name

    @property
    def where(self) -> str:
        return self.benchmark.filter.where

    @property
    def schema(self) -> str:
        return self.benchmark.schema

    @property
    def returns(self) -> str:
        return self.benchmark.returns

    def job(self, mode: str = "grouped") -> Job:
        fold = self.benchmark.family.fold
        return Job(fold, self.where, self.schema, self.returns, "", mode)


def read() -> tuple[Answer, ...]:
    """All of them, in the order of the file."""
    text = (FOLDER / "loses_groups.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(map(_answer, csv.DictReader(lines, delimiter=";")))


def _answer(line: dict[str, str]) -> Answer:
    benchmark = BENCHMARKS[line["benchmark"]]
    return Answer(benchmark, line["prefilter"], line["residual"] or None)


ANSWERS = read()
