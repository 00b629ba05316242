"""The version of PySpark that the tests run on."""

from __future__ import annotations

from importlib.metadata import version

WITHOUT_REBASING = {
    f"spark.sql.parquet.{kind}RebaseModeIn{access}": "CORRECTED"
    for access in ("Read", "Write")
    for kind in ("datetime", "int96")
}
"""Settings by which days before 1582 are read and written as they are; before 4.0 Spark raises."""

RUNNING = tuple(int(part) for part in version("pyspark").split(".")[:2])


def is_before(number: str) -> bool:
    """Whether it is older than the version of that number."""
    return tuple(int(part) for part in number.split(".")) > RUNNING
