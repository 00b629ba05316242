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
from tests.support.prompts import Prompt, open_prompt

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


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prompt]:
    command = [str(Path(sys.executable).parent / "pyspark"), *OPTIONS]
    others = {"PYSPARK_PYTHON": sys.executable, "PRESIEVE_PROGRESS": "0"}
    with open_prompt(command, tmp_path_factory.mktemp("shell"), seconds=180, **others) as prompt:
        yield prompt


@pytest.mark.slow
def test_the_tutorial_is_pasted_into_the_shell_of_spark(shell: Prompt) -> None:
    for code, expected in _blocks_with_output():
        shown = shell.paste(code)
        assert _agree(expected, _without_echo(shown, code)), shown


OTHER_FUNCTIONS = """
import presieve
from pyspark.sql import functions as F

spark.range(100).write.parquet("numbers")
numbers = spark.read.parquet("numbers")
doubled = F.udf(lambda n: None if n is None else 2 * n, "long")

@F.udf(
    "long",
)
def tripled(n):
    return None if n is None else 3 * n

@F.pandas_udf("boolean")
def is_large(n: pd.Series) -> pd.Series:
    return n > 15

for function, where in (doubled, "n = 60"), (tripled, "n = 60"), (is_large, "n"):
    filtered = numbers.select(function("id").alias("n")).filter(where)
    boundary = presieve.explain(filtered, cost="always").boundaries[0]
    print(boundary.kind, boundary.prefilter, [d.code for d in boundary.declined])

"""


@pytest.mark.slow
def test_other_functions_in_the_shell_of_spark(shell: Prompt) -> None:
    shell.paste("import pandas as pd")
    printed = _without_echo(shell.paste(OTHER_FUNCTIONS), OTHER_FUNCTIONS)
    assert printed == "exact id = 30 []\nexact id = 20 []\nexact id > 15 []\n"


def _blocks_with_output() -> Iterator[tuple[str, str]]:
    """Each block of code, and what the page shows below it."""
    blocks = [b for b in TUTORIAL.blocks if b in TUTORIAL.python or b.role == "output"]
    for block, below in zip(blocks, [*blocks[1:], None], strict=True):
        if block.role != "output":
            yield block.text, below.text if below is not None and below.role == "output" else ""


def _without_echo(shown: str, code: str) -> str:
    """What is printed, without what is typed and what the helper prints at the end.

    A terminal shows what is typed while Python is busy where it arrives, without a prompt.
    """
    lines = shown.split("paste done")[0].splitlines()
    typed = {*code.splitlines(), lines[0]}
    printed = (line for line in lines if line not in typed and "print('paste'" not in line)
    return "".join(f"{line}\n" for line in printed if not line.startswith((">>>", "...")))


def _agree(expected: str, printed: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(expected, printed, flags)
