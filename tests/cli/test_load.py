"""FILE.py:NAME, and the one line that each mistake gets."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from presieve.cli.load import load_object
from presieve.errors import UsageError

JOBS = Path(__file__).with_name("jobs.py")


def test_a_class_is_found_with_its_source() -> None:
    found = load_object(f"{JOBS}:TopTwo")
    assert isinstance(found, type)
    assert inspect.getsource(found).startswith("class TopTwo")


def test_a_dotted_name_goes_inside() -> None:
    assert callable(load_object(f"{JOBS}:TopTwo.reduce"))


def test_a_file_may_import_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_job.py").write_text("LIMIT = 5\n")
    job = tmp_path / "types.py"  # and may be called as a module of the standard library
    job.write_text("from neighbour_of_job import LIMIT\n")
    assert load_object(f"{job}:LIMIT") == 5


def test_the_main_part_does_not_run(tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text("x = 1\nif __name__ == '__main__':\n    raise SystemExit(3)\n")
    assert load_object(f"{job}:x") == 1


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("jobs.py", "jobs.py: write FILE.py:NAME"),
        ("nowhere.py:f", "nowhere.py: there is no such file"),
        (f"{JOBS}:Top2", f"{JOBS}: there is no 'Top2' in it; did you mean TopTwo?"),
    ],
)
def test_mistakes_in_the_target(target: str, line: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_object(target)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\ndef f(:\n", "{}:2: "),
        ("x = 1\n\nraise RuntimeError('no cluster')\n", "{}:3: RuntimeError: no cluster"),
        ("import a_module_that_is_not_there\n", "{}:1: ModuleNotFoundError: "),
        ("class Odd(Exception): pass\nraise Odd\n", "{}:2: Odd while the file is loaded"),
    ],
)
def test_files_that_do_not_load(tmp_path: Path, text: str, line: str) -> None:
    job = tmp_path / "job.py"
    job.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_object(f"{job}:x")
    assert str(caught.value).startswith(line.format(job))


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "job.txt").write_text("x = 1\n")
    with pytest.raises(UsageError, match=r"must end in \.py"):
        load_object(f"{tmp_path / 'job.txt'}:x")
