"""A notebook with a kernel of its own, as Jupyter runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

CELLS = [
    """
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
rows = [("a", 95.0), ("a", 92.0), ("a", 3.0), ("b", 91.0), ("b", 5.0)]
spark.createDataFrame(rows, "team string, score double").write.parquet("scores")
scores = spark.read.parquet("scores")
""",
    """
import pandas as pd


def highest(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for score in pdf["score"]:
        if best is None or score > best:
            best = score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best]})


best = scores.groupBy("team").applyInPandas(highest, "team string, best double")
""",
    "%load_ext presieve",
    '%presieve best.filter("best >= 95")',
    '%%presieve --cost always\nprint(best.filter("best >= 95").collect())',
    'print("as written:", best.filter("best >= 95").collect())\nspark.stop()',
]


def _run(folder: Path) -> list[str]:
    """What each cell printed and showed."""
    v4: Any = nbformat.v4
    notebook = v4.new_notebook(cells=[v4.new_code_cell(text.strip()) for text in CELLS])
    resources = {"metadata": {"path": str(folder)}}
    client: Any = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources)
    client.execute()
    return [_text(cell.outputs) for cell in notebook.cells]


def _text(outputs: list[Any]) -> str:
    """Streams and results, but not the log."""
    shown = (o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)
    return "\n".join(s for s, o in zip(shown, outputs, strict=True) if o.get("name") != "stderr")


def test_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    *_, loaded, report, cell, written = _run(tmp_path)
    assert loaded == ""
    assert "score >= 95" in report
    assert "pre-filter" in cell
    row = "Row(team='a', best=95.0)"
    assert row in cell
    assert row in written
