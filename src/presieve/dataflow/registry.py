"""Trusted. The tables of models: functions by path, methods by the kind of their owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from presieve.dataflow.abstract_values import Value
from presieve.dataflow.context import EvaluatedCall

Model: TypeAlias = Callable[[EvaluatedCall], Value | None]
"""A model returns None if it does not cover the call, which is then treated as unknown."""

FUNCTIONS: dict[str, Model] = {}
TABLE_METHODS: dict[str, Model] = {}
COLUMN_METHODS: dict[str, Model] = {}
WINDOW_METHODS: dict[str, Model] = {}
GROUPED_METHODS: dict[str, Model] = {}
ITEMS_METHODS: dict[str, Model] = {}


SEPARATE: set[Model] = set()
"""Models of functions that work row by row: with fewer rows, they do the same with the remaining
rows, and raise no error that they did not raise before.
"""


def separate(model: Model) -> Model:
    """Register a model whose function works row by row."""
    SEPARATE.add(model)
    return model


def _into(table: dict[str, Model], names: tuple[str, ...]) -> Callable[[Model], Model]:
    def register(model: Model) -> Model:
        for name in names:
            assert name not in table, name
            table[name] = model
        return model

    return register


def function(*paths: str) -> Callable[[Model], Model]:
    """Register a model of functions, by dotted path."""
    return _into(FUNCTIONS, paths)


def of_table(*names: str) -> Callable[[Model], Model]:
    """Register a model of methods of DataFrames."""
    return _into(TABLE_METHODS, names)


def of_column(*names: str) -> Callable[[Model], Model]:
    """Register a model of methods of Series and arrays."""
    return _into(COLUMN_METHODS, names)


def of_window(*names: str) -> Callable[[Model], Model]:
    """Register a model of methods of ``rolling`` and the like."""
    return _into(WINDOW_METHODS, names)


def of_grouped(*names: str) -> Callable[[Model], Model]:
    """Register a model of methods of ``groupby``."""
    return _into(GROUPED_METHODS, names)


def of_items(*names: str) -> Callable[[Model], Model]:
    """Register a model of methods of lists, sets and dicts."""
    return _into(ITEMS_METHODS, names)
