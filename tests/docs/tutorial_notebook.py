"""The notebook ``docs/tutorial.ipynb``, with the text, code and output of ``docs/tutorial.md``.

``python -m tests.docs.tutorial_notebook`` writes it.
"""

from __future__ import annotations

from typing import Any

import nbformat
from tests.support.pages import ROOT, page

TUTORIAL = page(ROOT / "docs/tutorial.md")
NOTEBOOK = ROOT / "docs/tutorial.ipynb"

SESSION = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
""".strip()
"""The first code: the page expects a session."""

_OUTPUT = "<!-- output -->"


def write_notebook() -> str:
    """Return what the notebook's file says now."""
    v4: Any = nbformat.v4
    cells = [*_cells()]
    cells.insert(1, v4.new_code_cell(SESSION))
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)) + "\n"  # type: ignore[no-untyped-call]


def _cells() -> list[Any]:
    v4: Any = nbformat.v4
    lines = TUTORIAL.path.read_text(encoding="utf-8").splitlines()
    cells: list[Any] = []
    end = 0
    for block in [b for b in TUTORIAL.blocks if b in TUTORIAL.python or b.role == "output"]:
        first = block.line - 2
        cells += _texts(lines[end:first])
        end = first + len(block.text.splitlines()) + 2
        if block.role == "output":
            cells[-1].outputs = [v4.new_output("stream", name="stdout", text=block.text)]
        else:
            cells.append(v4.new_code_cell(block.text.rstrip("\n")))
    return cells + _texts(lines[end:])


def _texts(lines: list[str]) -> list[Any]:
    """Return a cell of text, if there is any."""
    v4: Any = nbformat.v4
    text = "\n".join(line for line in lines if line != _OUTPUT).strip()
    return [v4.new_markdown_cell(text)] if text else []


if __name__ == "__main__":
    NOTEBOOK.write_text(write_notebook(), encoding="utf-8")
