"""The line of long searches: who sees it, what it says, and that it is gone afterwards."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from tests.driver import folds

import presieve
from presieve.report import progress


class Stream(io.StringIO):
    """A standard error that is a terminal, or not."""

    def __init__(self, terminal: bool = True) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the module sees of ``sys``: pytest has a standard error of its own. And no second
    without a line, and nobody's settings.
    """
    made = SimpleNamespace(stderr=Stream(), ps1=">>> ", modules={})
    monkeypatch.setattr(progress, "sys", made)
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "_commanded", False)  # by a command that another test ran
    monkeypatch.delenv(progress.SWITCH, raising=False)
    return made


@pytest.fixture
def stream(system: SimpleNamespace) -> Stream:
    """A terminal with a prompt."""
    made = system.stderr
    assert isinstance(made, Stream)
    return made


def waited(stream: Stream, text: str = "looking at") -> None:
    """Until the line is there."""
    until = time.monotonic() + 20
    while text not in stream.getvalue():
        assert time.monotonic() < until, stream.getvalue()
        time.sleep(0.005)


def seen(written: str) -> str:
    """What a terminal shows in the end."""
    cells: list[str] = []
    at = 0
    for char in written:
        if char == "\r":
            at = 0
            continue
        cells[at : at + 1] = [char]
        at += 1
    return "".join(cells).rstrip()


def search(stream: Stream) -> None:
    with progress.indicator("top_two", time.perf_counter() - 3.2, 10.0):
        waited(stream)


def writers() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "presieve"]


def test_at_a_prompt_in_a_terminal(stream: Stream) -> None:
    search(stream)
    assert "\rpresieve: looking at top_two, 3." in stream.getvalue()
    assert " s of 10 s" in stream.getvalue()
    assert seen(stream.getvalue()) == ""
    assert not writers()


def test_a_short_search_shows_nothing(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "AFTER", 60.0)
    with progress.indicator("top_two", time.perf_counter(), 10.0):
        time.sleep(0.05)
    assert stream.getvalue() == ""
    assert not writers()


def test_the_line_is_gone_after_an_error(stream: Stream) -> None:
    def stopped() -> None:
        with progress.indicator("top_two", time.perf_counter(), 10.0):
            waited(stream)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert seen(stream.getvalue()) == ""
    assert not writers()
    search(stream)  # and the next one has one again


def test_a_shorter_line_leaves_nothing_of_a_longer_one(stream: Stream) -> None:
    screen = progress.Terminal(stream)
    screen.show("presieve: looking at a_long_name")
    screen.show("presieve: g")
    assert seen(stream.getvalue()) == "presieve: g"
    screen.wipe()
    assert seen(stream.getvalue()) == ""


def test_a_line_is_no_longer_than_the_terminal(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    progress.Terminal(stream).show("x" * 100)
    assert stream.getvalue() == "\r" + "x" * 29


def quiet(stream: Stream) -> None:
    """Nobody is shown anything, and nothing is started for it."""
    with progress.indicator("top_two", time.perf_counter() - 3.2, 10.0):
        assert not writers()
    assert stream.getvalue() == ""


def test_scripts_have_none_unless_they_ask(
    stream: Stream, system: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    del system.ps1
    quiet(stream)
    monkeypatch.setenv(progress.SWITCH, "1")
    search(stream)


def test_our_own_commands_have_one(
    stream: Stream, system: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    del system.ps1
    progress.in_terminal()
    search(stream)


def test_it_can_be_switched_off(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress.SWITCH, "0")
    quiet(stream)


@pytest.mark.parametrize("asked", ["", "1"])
def test_pipes_have_none(stream: Stream, monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    stream.terminal = False
    monkeypatch.setenv(progress.SWITCH, asked)
    quiet(stream)


def test_without_standard_error(system: SimpleNamespace) -> None:
    for missing in (None, Stream()):
        system.stderr = missing
        if missing is not None:
            missing.close()
        with progress.indicator("top_two", time.perf_counter(), 10.0):
            assert not writers()


def test_a_terminal_that_goes_away_stops_nothing(
    stream: Stream, capfd: pytest.CaptureFixture[str]
) -> None:
    with progress.indicator("top_two", time.perf_counter(), 10.0):
        waited(stream)
        stream.close()
    assert not writers()
    assert capfd.readouterr().err == ""


def test_other_threads_and_processes_have_none(stream: Stream, system: SimpleNamespace) -> None:
    other = threading.Thread(target=quiet, args=(stream,))
    other.start()
    other.join()
    assert stream.getvalue() == ""
    worker = SimpleNamespace(parent_process=lambda: "the one that started this one")
    system.modules["multiprocessing.process"] = worker
    quiet(stream)


def test_one_line_at_a_time(stream: Stream) -> None:
    with progress.indicator("outer", time.perf_counter(), 10.0):
        waited(stream, "outer")
        with progress.indicator("inner", time.perf_counter(), 10.0):
            assert len(writers()) == 1
    assert "inner" not in stream.getvalue()


class Publisher:
    """IPython's, as far as it is asked here."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, bool]] = []

    def publish(self, data: dict[str, str], *, transient: dict[str, str], update: bool) -> None:
        self.told.append((data["text/plain"], transient["display_id"], update))


def test_in_a_notebook(system: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher = Publisher()
    shell = SimpleNamespace(kernel=object(), display_pub=publisher)
    system.modules["IPython"] = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with progress.indicator("top_two", time.perf_counter(), 10.0):
        until = time.monotonic() + 20
        while len(publisher.told) < 3 and time.monotonic() < until:
            time.sleep(0.005)
    texts, places, updates = zip(*publisher.told, strict=True)
    assert all(t.startswith("presieve: looking at top_two, ") for t in texts[:-1])
    assert texts[-1] == ""
    assert len(set(places)) == 1
    assert updates[0] is False
    assert all(updates[1:])


def test_a_search_shows_its_function_and_finds_the_same(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> Any:
        return presieve.synthesize(
            folds.Maximum, "m > 100", schema="g string, v bigint", returns="m bigint", keys="g"
        )

    with_line = found()
    assert "looking at Maximum" in stream.getvalue()
    monkeypatch.setenv(progress.SWITCH, "0")
    without = found()
    told = [f.to_json() | {"seconds": 0} for f in (with_line, without)]
    assert told[0] == told[1]


def test_a_script_in_a_pipe_prints_nothing() -> None:
    code = (
        "from presieve.report import progress; import time; progress.AFTER = 0.0\n"
        "with progress.indicator('f', time.perf_counter(), 1.0): time.sleep(0.1)"
    )
    env = {**os.environ, progress.SWITCH: "1"}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == done.stderr == ""
