"""What stops a job is told with its cause, in one line."""

from __future__ import annotations

import pytest

from presieve.cli.load import cause

WORKER = """[PYTHON_EXCEPTION] An exception was thrown from the Python worker: \
Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 4327, in main
    process()
  File "/jobs/nightly.py", line 12, in share
    return 100 // price
           ~~~~^^~~~~~~
ZeroDivisionError: integer division or modulo by zero
 SQLSTATE: 38000
	at org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1097)
"""
ANALYSIS = """[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `scor` cannot be resolved.
Did you mean one of the following? [`score`]. SQLSTATE: 42703;
'Filter ('scor > 3)
+- Relation [score#1] parquet
"""


class PythonException(Exception):
    pass


class AnalysisException(Exception):
    pass


def raised_from(source: Exception) -> Exception:
    try:
        raise RuntimeError("the load failed") from source
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("first\nsecond"), "ValueError: first second"),
        (KeyError(), "KeyError"),
        (
            PythonException(WORKER),
            "PythonException: ZeroDivisionError: integer division or modulo by zero",
        ),
        (
            AnalysisException(ANALYSIS),
            "AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `scor`"
            " cannot be resolved. Did you mean one of the following? [`score`].",
        ),
        (
            raised_from(OSError("no such file: prices.csv")),
            "RuntimeError: the load failed, caused by OSError: no such file: prices.csv",
        ),
    ],
    ids=["lines", "nothing", "worker", "analysis", "source"],
)
def test_the_cause_is_told(error: Exception, told: str) -> None:
    assert cause(error) == told
