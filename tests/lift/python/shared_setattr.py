"""A function in a module of its own: who calls ``setattr`` may set any name of a module."""

# mypy: ignore-errors

from __future__ import annotations


def map_setattr(batches):
    for pdf in batches:
        setattr(pdf, "x", 0)  # noqa: B010
        yield pdf
