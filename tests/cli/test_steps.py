"""Bars of long commands: in terminals alone, and gone in the end."""

from __future__ import annotations

import io

import pytest
from benchmarks.synth.run import measure
from rich.console import Console
from tests.bench.counting import counting

from presieve.cli.app import main
from presieve.cli.steps import steps


def console(terminal: bool) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=terminal, width=80, highlight=False), file


def test_in_a_terminal_there_is_a_bar_until_the_end() -> None:
    where, file = console(True)
    with steps("searching", 3, where) as step:
        step("Max_1 grouped: exact")
        step.step()
        assert "searching" in file.getvalue()
        assert "2/3" in file.getvalue()
        shown = len(file.getvalue())
    assert "Max_1 grouped: exact" in file.getvalue()
    assert "\x1b[2K" in file.getvalue()[shown:]  # the bar's line is erased
    assert file.getvalue().count("Max_1") == 1


def test_elsewhere_there_are_only_lines() -> None:
    where, file = console(False)
    with steps("searching", 3, where) as step:
        step("Max_1 grouped: exact")
        step.step()
    assert file.getvalue() == "Max_1 grouped: exact\n"


def test_nothing_is_drawn_while_something_is_measured() -> None:
    where, _ = console(True)
    with steps("searching", 3, where) as step:
        assert not step.bar.live.auto_refresh


def test_a_bar_goes_away_after_an_error() -> None:
    where, file = console(True)

    def stopped() -> None:
        with steps("searching", 3, where):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert file.getvalue().rindex("\x1b[?25h") > file.getvalue().rindex("\x1b[?25l")  # the cursor


def test_every_search_of_every_round_is_a_step() -> None:
    where, _ = console(False)
    with steps("searching", 3, where) as step:
        measure([counting("n >= 1", "exact")], ["grouped"], 3, step, step.step)
        assert step.bar.tasks[0].completed == step.bar.tasks[0].total == 3


def test_standard_output_is_the_answers_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "synth", "--only", "Top2_1", "--mode", "grouped", "--runs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "Top2_1 grouped: " in err
    assert "Top2_1 grouped: " not in out
