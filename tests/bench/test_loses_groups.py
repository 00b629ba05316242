"""The published answers that are wrong under GROUP BY: each is refuted by a table that differs."""

from __future__ import annotations

import pytest
from benchmarks.suite import LOSES_GROUPS
from tests.bench.answers import ANSWERS, Answer

from presieve.cli.app import main

every = pytest.mark.parametrize("answer", ANSWERS, ids=str)


def test_all_twenty() -> None:
    assert {str(a) for a in ANSWERS} == LOSES_GROUPS
    assert len(ANSWERS) == 20


@every
def test_refuted_by_a_group_that_vanishes(answer: Answer) -> None:
    """The table is run through the user's own Python, with and without the pushdown."""
    shown = answer.job().refuted(answer.prefilter, answer.residual)
    assert len(shown.rows) == 1
    assert isinstance(shown.original, list)
    assert len(shown.original) == 1
    assert shown.optimized == []


@pytest.mark.costly
@every
def test_right_without_group_by(answer: Answer) -> None:
    """The published setting: the fold of no rows is the output of its start."""
    answer.job("global").proved(answer.prefilter, answer.residual)


@pytest.mark.costly
@every
def test_the_command_line_prints_the_table(
    answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    fold = answer.benchmark.family.fold
    target = f"{fold.zero.__code__.co_filename}:{fold.__name__}"
    args = ["--schema", answer.schema, "--returns", answer.returns, "--where", answer.where]
    args += ["--prefilter", answer.prefilter]
    if answer.residual is not None:
        args += ["--residual", answer.residual]
    assert main(["verify", target, *args]) == 1
    out = capsys.readouterr().out
    assert "Refuted" in out
    titles = ("A table of", "What the function returns", "as written", "as pushed")
    parts = [out.index(title) for title in titles]
    assert parts == sorted(parts)
    first = answer.schema.split()[0]
    assert first in out[parts[0] : parts[1]]
    assert answer.returns.split()[0] in out[parts[1] : parts[2]]
