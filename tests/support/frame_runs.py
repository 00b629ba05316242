"""What the dataflow analysis says of a function, tried on one table: keys, columns and rows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from presieve.dataflow.analysis import Dataflow


@dataclass(frozen=True, slots=True)
class Group:
    """One group: the values of its grouping columns, its table, and the function of the table.
    ``again`` hands a part of a table over to the function once more: types may be others then.
    ``declared``: results are compared as columns of one declared type have them, where 1.0 is 1.
    """

    key: Mapping[str, object]
    table: pd.DataFrame
    run: Callable[[pd.DataFrame], Any]
    again: Callable[[pd.DataFrame], pd.DataFrame] = lambda part: part
    declared: bool = False

    def result(self, table: pd.DataFrame) -> Any:
        """What the function gives for this table; None where it raises."""
        return outcome(lambda: self.run(copy.deepcopy(table)))


def outcome(run: Callable[[], Any]) -> Any:
    """What comes out, or nothing where it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception:
            return None


# --- what is asked -----------------------------------------------------------------------------


def lost_key(said: Dataflow, group: Group) -> str | None:
    """A column of the result that should hold the key and does not; None where all do."""
    result = group.result(group.table)
    if not isinstance(result, pd.DataFrame) or not result.columns.is_unique:
        return None
    for name, source in said.keys.items():
        key = group.key[source]
        if name in result.columns and not all(holds(v, key) for v in result[name]):
            return f"{name} does not hold {key!r}:\n{group.table}\ngives\n{result}"
    return None


def column_that_matters(said: Dataflow, group: Group, least: str) -> str | None:
    """How the result changes without the columns that are not read; ``least`` stays in any case."""
    names = list(group.table.columns)
    if said.reads is None or said.reads >= set(names):
        return None
    whole = group.result(group.table)
    kept = [n for n in names if n in said.reads] or [least]
    part = group.result(group.again(group.table[kept]))
    if same(whole, part, _loose if group.declared else _alike):
        return None
    return f"reads {sorted(said.reads)} only:\n{group.table}\ngives\n{whole}\nand then\n{part}"


def row_that_matters(
    function: Callable[[Iterator[pd.DataFrame]], Any],
    batches: Sequence[pd.DataFrame],
    passed: tuple[str, str],
    value: object,
    again: Callable[[pd.DataFrame], pd.DataFrame] = lambda part: part,
) -> str | None:
    """How the result changes if ``source = value`` is asked first instead of ``name = value``."""
    name, source = passed
    whole = outcome(lambda: list(function(iter([b.copy() for b in batches]))))
    if whole is None or any(not r.columns.is_unique for r in whole):
        return None
    # Spark cuts batches anew below: none is empty, and rows are numbered from 0.
    cut = [_kept(b, source, value).reset_index(drop=True) for b in batches]
    before = [again(k) for k in cut if len(k)]
    less = outcome(lambda: list(function(iter([b.copy() for b in before]))))
    after = [_kept(r, name, value) for r in whole if name in r.columns]
    late = None
    if less is not None:
        late = [_kept(r, name, value) for r in less if name in r.columns]
    if late is not None and _same_rows(after, late):
        return None
    return f"{name} passes {source}, = {value!r}:\n{batches}\ngives\n{after}\nand then\n{late}"


def _kept(pdf: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    mask = [_loose(v, value) for v in pdf[column]]
    return pdf[np.array(mask, dtype=bool)]


# --- when results are the same -----------------------------------------------------------------


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or bool(np.ndim(value) == 0 and value != value)


def _alike(a: Any, b: Any) -> bool:
    if any(
        isinstance(v, float | np.floating) or any(v is n for n in (None, pd.NaT, pd.NA))
        for v in (a, b)
    ):
        missing = _is_missing(a), _is_missing(b)
        if any(missing):
            return all(missing)
    if isinstance(a, np.ndarray | list):
        return type(a) is type(b) and len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, pd.Series):
        return isinstance(b, pd.Series) and a.equals(b)
    return bool(type(a) is type(b) and a == b)


def _loose(a: Any, b: Any) -> bool:
    """As a column of one declared type has it: 1.0 is 1."""
    return _alike(a, b) or (
        not any(
            isinstance(v, str | np.ndarray | list | pd.Series) or _is_missing(v) for v in (a, b)
        )
        and bool(a == b)
    )


def same(a: Any, b: Any, alike: Callable[[Any, Any], bool] = _alike) -> bool:
    """Whether two tables are the same, values and order of rows, but for the index."""
    if not (isinstance(a, pd.DataFrame) and isinstance(b, pd.DataFrame)):
        return type(a) is type(b)
    if not (a.columns.is_unique and b.columns.is_unique):
        return a.equals(b)
    # Spark takes columns by name.
    if {*a.columns} != {*b.columns} or len(a) != len(b):
        return False
    b = b[list(a.columns)]
    return all(
        alike(x, y)
        for c in range(a.shape[1])
        for x, y in zip(a.iloc[:, c], b.iloc[:, c], strict=True)
    )


def holds(value: Any, key: Any) -> bool:
    """Whether Spark takes the value for the key, in a column of the key's type."""
    if key is None:
        return value is None or value != value
    if type(key) is bool:
        return isinstance(value, bool | np.bool_) and bool(value) is key
    if isinstance(key, int):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
        return whole and int(value) == key
    return type(value) is type(key) and bool(value == key)


def _same_rows(a: list[pd.DataFrame], b: list[pd.DataFrame]) -> bool:
    rows = [[tuple(r) for t in side for r in t.itertuples(index=False)] for side in (a, b)]
    return len(rows[0]) == len(rows[1]) and all(
        len(x) == len(y) and all(_loose(v, w) for v, w in zip(x, y, strict=True))
        for x, y in zip(*rows, strict=True)
    )
