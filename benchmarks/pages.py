"""Untrusted. Where measurements are written: a short page in docs, the record in results."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"


def measured_with(command: str) -> str:
    """The line of a record that says when, how and on what it was measured."""
    now = datetime.now(UTC)
    return (
        f"Measured on {now.day} {now:%B %Y} with `{command}`: {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, Spark {version('pyspark')}."
    )
