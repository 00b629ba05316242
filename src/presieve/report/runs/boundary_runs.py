# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What Spark measured at the operators that call a boundary's functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from presieve.backend.statistics.metrics import PythonRun


def runs_of(runs: Iterable[PythonRun], function: str) -> list[PythonRun]:
    """Return the runs of operators that call a function of this name."""
    call = re.compile(rf"(?<![\w.]){re.escape(function)}\(")
    return [run for run in runs if function and call.search(run.text)]


def sum_up(runs: Sequence[PythonRun]) -> dict[str, Any] | None:
    """Sum up what operators measured, as JSON types; None if there is no operator, as for functions
    that run without Python. A sum is None if Spark counts it for some operators only.
    """
    if not runs:
        return None
    counts = {name: [getattr(run, name) for run in runs] for name in ("rows_in", "rows_out")}
    return {
        **{name: None if None in values else sum(values) for name, values in counts.items()},
        "sent_bytes": sum(run.sent_bytes for run in runs),
        "seconds": sum(run.seconds for run in runs),
    }
