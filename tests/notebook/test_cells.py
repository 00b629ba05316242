"""Functions that cells define: read where their source is what runs, and declined where not."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from tests.notebook.shell import Shell

BEST = """
class Best:
    def zero(self):
        return None

    def reduce(self, acc, row):
        v = row["v"]
        return v if acc is None or v > acc else acc
"""
ASK = """
found = presieve.synthesize(
    Best, "best > 10", schema="v bigint NOT NULL", returns="best bigint"
)
"""


@pytest.fixture
def cells(shell: Shell) -> Shell:
    shell.run("import presieve")
    return shell


def test_a_class_of_a_cell(cells: Shell) -> None:
    cells.run(BEST)
    cells.run(ASK)
    assert cells["found"].prefilter == "v > 10"


def test_all_in_one_cell_below_a_cell_magic(cells: Shell) -> None:
    cells.run("%%capture\n" + BEST + ASK)
    assert cells["found"].prefilter == "v > 10"


def test_magics_that_keep_no_source(cells: Shell) -> None:
    cells.run("%%time\n" + BEST + ASK)
    assert [d["code"] for d in cells["found"].declined] == ["no-source"]


def test_the_last_definition_counts(cells: Shell) -> None:
    cells.run(BEST)
    cells.run("First = Best\n" + BEST.replace("v > acc", "v < acc"))
    cells.run(ASK)
    assert cells["found"].prefilter == "true"
    cells.run("Best = First")
    cells.run(ASK)
    assert cells["found"].prefilter == "v > 10"


def test_a_cell_run_again(cells: Shell) -> None:
    for _ in range(2):
        cells.run(BEST + ASK)
        assert cells["found"].prefilter == "v > 10"


def test_two_functions_of_one_name_in_one_cell(cells: Shell) -> None:
    cells.run(BEST + "First = Best\n" + BEST.replace("v > acc", "v < acc") + ASK)
    assert cells["found"].prefilter == "true"
    cells.run(ASK.replace("Best", "First"))
    assert cells["found"].prefilter == "v > 10"


def test_methods_exchanged_by_hand(cells: Shell) -> None:
    cells.run(BEST)
    other = BEST.replace("v > acc", "v < acc").replace("Best", "Other")
    cells.run(other + "Best.reduce = Other.reduce")
    cells.run(ASK)
    assert cells["found"].prefilter == "true"


def test_lines_of_magics_and_of_the_shell(cells: Shell) -> None:
    cells.run(f"%pwd\n!true\n{BEST}")
    cells.run(ASK)
    assert cells["found"].prefilter == "v > 10"


def test_imports_of_the_same_cell(cells: Shell) -> None:
    """IPython compiles each statement of a cell by itself, and then calls of what was imported
    become other byte code.
    """
    text = BEST.replace("acc is None", "acc is None or math.isnan(0.0)")
    cells.run("import math\n" + text)
    cells.run(ASK)
    assert cells["found"].declined == []
    assert cells["found"].prefilter == "v > 10"


def test_a_file_that_is_run(cells: Shell, tmp_path: Path) -> None:
    file = tmp_path / "best.py"
    file.write_text(BEST)
    cells.run(f"%run {file}")
    cells.run(ASK)
    assert cells["found"].prefilter == "v > 10"


def test_a_file_that_has_changed_since(cells: Shell, tmp_path: Path) -> None:
    """The function that runs is the old one; its file says something else."""
    file = tmp_path / "best.py"
    file.write_text(BEST)
    cells.run(f"%run {file}")
    file.write_text(BEST.replace("v > acc", "v < acc").replace("None or", "None  or"))
    cells.run(ASK)
    assert [d["code"] for d in cells["found"].declined] == ["source-mismatch"]
    cells.run(f"%run {file}")
    cells.run(ASK)
    assert cells["found"].prefilter == "true"
    assert cells["found"].declined == []


@pytest.mark.parametrize("moved", ["", "# a line more\n"])
def test_autoreload(
    cells: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: str
) -> None:
    """It puts new code into old functions, with lines that are not those of the file."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "bests_of_mine.py"
    file.write_text(BEST.replace("v > acc", "v < acc"))
    cells.run("%load_ext autoreload\n%autoreload 2\nfrom bests_of_mine import Best")
    try:
        cells.run(ASK)
        assert cells["found"].prefilter == "true"
        assert cells["found"].declined == []
        file.write_text(moved + BEST + "# so that the file has another size\n")
        cells.run("1")  # reloads before it runs
        assert cells.run("print(Best().reduce(5, {'v': 7}))") == "7\n"
        cells.run(ASK)
        if cells["found"].declined:
            assert [d["code"] for d in cells["found"].declined] == ["source-mismatch"]
        else:
            assert cells["found"].prefilter == "v > 10"
    finally:
        cells.run("%autoreload 0\n%unload_ext autoreload")
        sys.modules.pop("bests_of_mine", None)


def test_a_source_that_the_cache_has_wrong_is_not_believed(cells: Shell) -> None:
    """Whatever stands under the cell's name: what runs decides."""
    cells.run(BEST)
    wrong = BEST.replace("v > acc", "v < acc")
    cells.run(
        textwrap.dedent(
            f"""
            import linecache
            name = Best.reduce.__code__.co_filename
            text = {wrong!r}
            entry = (len(text), None, text.splitlines(True), name)
            linecache.cache[name] = entry
            """
        )
    )
    cells.run(ASK)
    assert [d["code"] for d in cells["found"].declined] == ["source-mismatch"]
