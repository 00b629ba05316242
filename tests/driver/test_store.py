"""Texts kept between processes: whole or not at all, not too many, and among files of others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from presieve.driver.cache.disk import CACHE, LARGEST, Store, default_store


def name(number: int) -> str:
    return f"{number:064x}"


def test_a_text_comes_back_until_it_is_dropped(tmp_path: Path) -> None:
    kept = Store(tmp_path / "a" / "b")
    assert kept.get(name(1)) is None
    assert kept.measure_size() == (0, 0)
    kept.put(name(1), "one")
    kept.put(name(2), "two")
    kept.put(name(1), "eins!")
    assert kept.get(name(1)) == b"eins!"
    assert Store(tmp_path / "a" / "b").get(name(2)) == b"two"
    assert kept.measure_size() == (2, 8)
    kept.drop(name(1))
    kept.drop(name(1))
    assert kept.get(name(1)) is None
    assert kept.clear() == 1
    assert kept.measure_size() == (0, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    kept = Store(tmp_path / "new")
    kept.put(name(1), "one")
    assert kept.directory.stat().st_mode & 0o777 == 0o700
    assert kept.path(name(1)).stat().st_mode & 0o777 == 0o600


def test_those_used_longest_ago_go_first(tmp_path: Path) -> None:
    kept = Store(tmp_path, count=8)
    for number in range(8):
        kept.put(name(number), "text")
        os.utime(kept.path(name(number)), (1000.0 + number, 1000.0 + number))
    assert kept.get(name(0)) == b"text"  # and is used last now
    kept.put(name(8), "text")
    left = [number for number in range(9) if kept.path(name(number)).exists()]
    assert left == [0, 3, 4, 5, 6, 7, 8]


def test_the_bytes_are_bounded(tmp_path: Path) -> None:
    kept = Store(tmp_path, size=1000)
    for number in range(50):
        kept.put(name(number), "x" * 90)
        assert kept.measure_size()[1] <= 1000
    assert kept.get(name(49)) is not None
    assert kept.measure_size()[0] >= 8


def test_what_is_too_large_is_neither_written_nor_read_whole(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.put(name(1), "x" * (LARGEST + 1))
    assert kept.get(name(1)) is None
    kept.path(name(1)).write_text("x" * (3 * LARGEST))
    cut = kept.get(name(1))
    assert cut is not None
    assert len(cut) == LARGEST + 1


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    others = [tmp_path / n for n in ("notes.txt", "a.json", f"{name(1)}.txt", f".{name(1)}.part")]
    for path in others:
        path.write_text("mine")
        os.utime(path, (1.0, 1.0))
    kept = Store(tmp_path, count=2)
    for number in range(5):
        kept.put(name(number), "text")
    assert kept.clear() >= 1
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_what_a_killed_process_left_half_written_goes_after_an_hour(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    old, young = (tmp_path / f".{name(1)}.{n:016x}" for n in (1, 2))
    for path in (old, young):
        path.write_text("ha")
    os.utime(old, (time.time() - 3700,) * 2)
    kept.put(name(2), "text")
    assert not old.exists()
    assert young.exists()
    assert kept.get(name(1)) is None


def test_a_disk_that_does_not_do_it_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    for kept in (Store(file), Store(file / "below")):
        kept.put(name(1), "one")
        assert kept.get(name(1)) is None
        kept.drop(name(1))
        assert (kept.measure_size(), kept.clear()) == ((0, 0), 0)
    in_the_way = Store(tmp_path)
    in_the_way.path(name(1)).mkdir()
    in_the_way.put(name(1), "one")
    assert in_the_way.get(name(1)) is None
    assert {p.name for p in tmp_path.iterdir()} == {"file", f"{name(1)}.json"}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    in_the_way.put(name(2), "two")
    assert in_the_way.get(name(2)) is None
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_may_only_be_read_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    kept = Store(tmp_path)
    kept.put(name(1), "one")
    for writing in ("utime", "unlink", "open"):
        monkeypatch.setattr(os, writing, refused)
    assert kept.get(name(1)) == b"one"
    kept.put(name(2), "two")
    assert kept.measure_size() == (1, 3)


WRITER = """
import sys
from pathlib import Path
from presieve.driver.cache.disk import Store
kept = Store(Path(sys.argv[1]), count=6)
me, torn = sys.argv[2], 0
for round in range(400):
    name = f"{round % 9:064x}"
    kept.put(name, (me * 997 + ";") * (1 + round % 40))
    data = kept.get(name)
    if data is not None and not (data[-1:] == b";" and len(set(data)) == 2):
        torn += 1
print(torn, kept.measure_size()[0])
"""


def test_processes_that_write_at_once_see_whole_texts(tmp_path: Path) -> None:
    """Three of them, over the same few names, with files being removed all the time."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), me], stdout=subprocess.PIPE, text=True
        )
        for me in "abc"
    ]
    told = [w.communicate(timeout=120)[0].split() for w in writers]
    assert [w.returncode for w in writers] == [0, 0, 0]
    assert [torn for torn, _ in told] == ["0", "0", "0"]
    kept = Store(tmp_path, count=6)
    kept.put(name(1), "last")
    assert 1 <= kept.measure_size()[0] <= 6
    assert not list(tmp_path.glob(".*"))


# --- where it is --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no", "false"])
def test_switched_off(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE, word)
    assert default_store() is None


@pytest.mark.parametrize("word", ["", "on", "1", "true"])
def test_the_usual_place(word: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE, word)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = default_store()
    assert found is not None
    assert found.directory == tmp_path / "presieve" / "solutions"
    assert not found.directory.exists(), "made at the first text"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the specification says to ignore
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    for platform, place in {
        "linux": ".cache/presieve",
        "darwin": "Library/Caches/presieve",
        "win32": "AppData/Local/presieve/Cache",
    }.items():
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.delenv("LOCALAPPDATA", raising=False)
        found = default_store()
        assert found is not None
        assert found.directory == tmp_path / "home" / place / "solutions"


def test_another_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "here"))
    assert default_store() == Store(tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE, "there")
    assert default_store() == Store(tmp_path / "there")


def test_without_a_home_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv(CACHE, "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert default_store() is None


# --- the command --------------------------------------------------------------------------------


def test_the_command_shows_and_clears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from presieve.cli import main

    monkeypatch.setenv(CACHE, str(tmp_path))
    for number in range(3):
        Store(tmp_path).put(name(number), "text")
    assert main(["cache", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"directory": str(tmp_path), "entries": 3, "bytes": 12, "removed": 0}
    assert main(["cache", "--clear"]) == 0
    assert "removed" in capsys.readouterr().out
    assert Store(tmp_path).measure_size() == (0, 0)
    monkeypatch.setenv(CACHE, "off")
    assert main(["cache"]) == 0
    assert "off" in capsys.readouterr().out
    assert main(["cache", "--clear", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["directory"] is None
