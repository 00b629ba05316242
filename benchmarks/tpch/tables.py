"""Untrusted. Tables of TPC-H, generated once and kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from presieve.errors import UsageError, install

TABLES = ("lineitem", "orders", "partsupp")
"""Those of the pipelines with Python functions."""
PROGRAM = "tpchgen-cli"


def generated(scale: float, directory: Path, *, whole: bool = False) -> Path:
    """The folder with the tables of a scale factor (1 is 6 million lines), made where missing:
    :data:`TABLES`, or the ``whole`` eight.

    Raises :class:`UsageError` where the generator is missing or fails.
    """
    folder = directory / (f"tpch-whole-{scale:g}" if whole else f"tpch-{scale:g}")
    if folder.exists():
        return folder
    beside = Path(sys.executable).with_name(PROGRAM)
    program = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if program is None:
        raise UsageError(f"TPC-H tables need {PROGRAM}: {install('bench')}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    some = [] if whole else [f"--tables={','.join(TABLES)}"]
    wanted = ["-s", f"{scale:g}", *some, f"--output-dir={unfinished}"]
    done = subprocess.run([program, "parquet", *wanted], capture_output=True, text=True)
    if done.returncode:
        raise UsageError(f"{PROGRAM} failed: {done.stderr.strip()[-200:]}")
    unfinished.replace(folder)  # a run that is cut off leaves no half of the tables
    return folder
