"""Random functions are run: what the analysis says of them has to hold on every table."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from types import FunctionType
from typing import Any

import pandas as pd
from tests.dataflow.grammar import NAMES, helpers
from tests.support.frame_runs import Group, column_that_matters, lost_key, row_that_matters

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest, Form
from presieve.records import replace

KEYS: tuple[Any, ...] = ("a", "", 2**53 + 1, 7, None, True)


def loaded(texts: dict[str, str], file: str, more: str = "") -> dict[str, FunctionType]:
    """The functions of a file that has this text, and ``more`` helpers."""
    text = "import numpy as np\nimport pandas as pd\n\n\n" + helpers() + more + "\n\n"
    text += "\n\n".join(texts.values())
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = (len(text), None, lines, file)
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), scope)
    return {n: scope[n] for n in texts}


def table(random: Random, key: object, size: int) -> pd.DataFrame:
    """A group's table as PySpark hands it over."""

    def some(*options: Any) -> list[Any]:
        return [random.choice(options) for _ in range(size)]

    keys = pd.Series([key] * size, dtype=None if isinstance(key, bool | int) else object)
    return pd.DataFrame(
        {
            "k": keys,
            "x": pd.Series(some(1.5, float("nan"), -0.0, 99.0, 2.0), dtype=float),
            "y": pd.Series(some(0, 3, 11, 2**53 + 1), dtype="int64"),
            "s": pd.Series(some("a", None, "", "b"), dtype=object),
            "t": pd.Series(some(0, 1, 2, 5), dtype="int64"),
        }
    )


def answer(
    function: FunctionType, form: Form, key: str = "k", types: Mapping[str, str] | None = None
) -> Dataflow:
    """What the analysis says."""
    return dataflow(AnalysisRequest(function, form, NAMES, (key,), types=types or {}))


def wrong_keys(
    function: FunctionType, said: Dataflow, random: Random, keys: Sequence[Any] | None = None
) -> str | None:
    """A table on which a column does not hold the key; None where none is seen."""
    return _first(_lost(said, _group(function, random, keys)) for _ in range(6))


def _lost(said: Dataflow, group: Group) -> str | None:
    """A key that is lost, or that is not there as a text where it is no missing one."""
    if group.key["k"] is None or not said.texts:
        return lost_key(said, group)
    return lost_key(replace(said, keys={**said.texts, **said.keys}), group)


def wrong_columns(
    function: FunctionType, said: Dataflow, random: Random, keys: Sequence[Any] | None = None
) -> str | None:
    """A table on which columns that are not read matter; None where none is seen."""
    if said.reads is None or said.reads >= set(NAMES):
        return None
    return _first(column_that_matters(said, _group(function, random, keys), "k") for _ in range(4))


def wrong_rows_of_groups(function: FunctionType, said: Dataflow, random: Random) -> str | None:
    """Tables of a group on which dropping rows first matters; None where none are seen."""

    def called_on_each(tables: Iterator[pd.DataFrame]) -> Iterator[Any]:
        return (function(("k0",), t) for t in tables)

    return wrong_rows(called_on_each, said, random)


def wrong_rows(
    function: Callable[[Iterator[pd.DataFrame]], Any], said: Dataflow, random: Random
) -> str | None:
    """Batches on which dropping rows first matters; None where none are seen."""
    for passed in (said.passes or {}).items():
        for _ in range(3):
            batches = [table(random, "k0", random.randint(0, 4)) for _ in range(2)]
            value = random.choice([0, 1, 2, "a", 1.5])
            wrong = row_that_matters(function, batches, passed, value)
            if wrong is not None:
                return wrong
    return None


def _group(function: FunctionType, random: Random, keys: Sequence[Any] | None) -> Group:
    key = random.choice(keys or KEYS)
    return Group({"k": key}, table(random, key, random.randint(1, 4)), partial(function, (key,)))


def _first(found: Iterable[str | None]) -> str | None:
    return next((f for f in found if f is not None), None)
