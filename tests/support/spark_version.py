"""The version of PySpark that the tests run on."""

from __future__ import annotations

from importlib.metadata import version

RUNNING = tuple(int(part) for part in version("pyspark").split(".")[:2])


def is_before(number: str) -> bool:
    """Whether it is older than the version of that number."""
    return tuple(int(part) for part in number.split(".")) > RUNNING
