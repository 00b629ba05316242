"""The tutorial as people follow it: pasted into Spark's shell, and as a notebook."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from tests.docs.tutorial_notebook import NOTEBOOK, TUTORIAL, write_notebook
from tests.support.prompts import open_prompt

CONFIGURATION = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.presieve.budget": "120",  # a busy machine must not make a page wrong
}
OPTIONS = [word for name, value in CONFIGURATION.items() for word in ("--conf", f"{name}={value}")]


def test_the_notebook_is_up_to_date() -> None:
    """``python -m tests.docs.tutorial_notebook`` writes it."""
    assert NOTEBOOK.read_text(encoding="utf-8") == write_notebook()


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", " ".join([*OPTIONS, "pyspark-shell"]))
    monkeypatch.setenv("PRESIEVE_PROGRESS", "0")
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    written = [_printed(cell) for cell in cells]
    resources = {"metadata": {"path": str(tmp_path)}}
    client: Any = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources)
    client.execute()
    assert len(cells) == len(TUTORIAL.python) + 1
    for cell, text in zip(cells, written, strict=True):
        assert _agree(text, _printed(cell)), cell


def _printed(cell: Any) -> str:
    return "".join(o.text for o in cell.outputs if o.get("name") == "stdout")


@pytest.mark.slow
def test_the_tutorial_is_pasted_into_the_shell_of_spark(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "pyspark"), *OPTIONS]
    others = {"PYSPARK_PYTHON": sys.executable, "PRESIEVE_PROGRESS": "0"}
    with open_prompt(command, tmp_path, seconds=180, **others) as prompt:
        for code, expected in _blocks_with_output():
            shown = prompt.paste(code)
            assert _agree(expected, _without_echo(shown)), shown


def _blocks_with_output() -> Iterator[tuple[str, str]]:
    """Each block of code, and what the page shows below it."""
    blocks = [b for b in TUTORIAL.blocks if b in TUTORIAL.python or b.role == "output"]
    for block, below in zip(blocks, [*blocks[1:], None], strict=True):
        if block.role != "output":
            yield block.text, below.text if below is not None and below.role == "output" else ""


def _without_echo(shown: str) -> str:
    """What is printed, without what is typed and what the helper prints at the end."""
    lines = shown.split("paste done")[0].splitlines()[1:]
    return "".join(f"{line}\n" for line in lines if not line.startswith((">>>", "...")))


def _agree(expected: str, printed: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(expected, printed, flags)
