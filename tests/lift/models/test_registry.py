"""Functions are known by identity, as what their module holds at the time."""

from __future__ import annotations

import heapq

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from presieve.lift.execution.state import ModelCall
from presieve.lift.models.registry import FUNCTIONS, SYNTAX, function, path_of
from presieve.lift.python.names import resolve_object
from presieve.lift.values.symbolic import NONE, Known, Value


def path(target: object) -> str | None:
    return path_of(Known("f", target))


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *SYNTAX}))
def test_every_function_is_known_by_its_object(name: str) -> None:
    assert resolve_object(name) is not None
    assert resolve_object(path(resolve_object(name)) or "") == resolve_object(name)


def test_bound_methods_are_known_though_they_are_made_anew() -> None:
    assert pa.Table.from_pydict is not pa.Table.from_pydict
    assert path(pa.Table.from_pydict) == "pyarrow.Table.from_pydict"
    assert path(pa.RecordBatch.from_pydict) == "pyarrow.RecordBatch.from_pydict"
    assert path(pa.RecordBatch.from_pylist) is None


def test_other_objects_are_unknown() -> None:
    others: list[object] = [None, [], {}, "len", np.cumsum, pd.qcut, pc.stddev, lambda: 0, Known]
    assert [path(o) for o in others] == [None] * len(others)


def test_what_is_put_in_a_functions_place_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    original, heappush = np.where, heapq.heappush
    assert path(original) == "numpy.where"

    def where(*_: object) -> int:
        return 0

    monkeypatch.setattr(np, "where", where)
    monkeypatch.setattr("_heapq.heappush", heapq.heappop)
    assert path(where) is None
    assert path(original) is None
    assert path(heappush) is None
    assert path(heapq.heappop) == "_heapq.heappop"
    monkeypatch.undo()
    assert path(original) == "numpy.where"
    assert path(heappush) == "_heapq.heappush"


def test_a_function_has_one_model() -> None:
    def model(_: ModelCall) -> Value:
        return NONE

    with pytest.raises(AssertionError, match="registered twice"):
        function("builtins.len")(model)
