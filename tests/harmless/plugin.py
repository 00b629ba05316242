"""A plugin of pytest: all sessions of the run are enabled, and what was rewritten is counted."""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from presieve.driver.session import SessionSetting, enable_everywhere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.report.report_data import ReportData

COUNTS = "PRESIEVE_HARMLESS_COUNTS"
"""The environment variable that names the file for the counts."""

_counts: Counter[str] = Counter()


class _Failures(logging.Handler):
    """Counts DataFrames that were left alone because looking at them failed."""

    def emit(self, record: logging.LogRecord) -> None:
        """Errors of ours come with their traceback; what the configuration says wrong does not."""
        if record.exc_info is not None:
            _counts["failed"] += 1


def pytest_configure() -> None:
    """As ``presieve run`` does: also sessions that are made later. Whether it pays is no matter."""
    logging.getLogger("presieve").addHandler(_Failures())
    enable_everywhere(SessionSetting({"cost": "always", "compile": "always"}, _count))


def pytest_unconfigure() -> None:
    """The counts outlive the process."""
    Path(os.environ[COUNTS]).write_text(json.dumps(_counts))


def _count(_: DataFrame, report: ReportData) -> None:
    _counts["plans"] += 1
    _counts["rewritten"] += report.changed
