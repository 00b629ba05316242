"""Random functions are run: what the analysis says of them has to hold on every table."""

from __future__ import annotations

import copy
import linecache
import warnings
from collections.abc import Callable, Iterator
from random import Random
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
from tests.dataflow.grammar import NAMES, helpers

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import Form, Request

KEYS: tuple[Any, ...] = ("a", "", 2**53 + 1, 7, None, True)


def loaded(texts: dict[str, str], file: str) -> dict[str, FunctionType]:
    """The functions of a file that has this text."""
    text = "import numpy as np\nimport pandas as pd\n\n\n" + helpers() + "\n\n"
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


def outcome(run: Callable[[], Any]) -> Any:
    """What comes out, or nothing where it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception:
            return None


def answer(function: FunctionType, form: Form, key: str = "k") -> Dataflow:
    """What the analysis says."""
    return dataflow(Request(function, form, NAMES, (key,)))


def same(a: Any, b: Any) -> bool:
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
        _alike(x, y)
        for c in range(a.shape[1])
        for x, y in zip(a.iloc[:, c], b.iloc[:, c], strict=True)
    )


def _alike(a: Any, b: Any) -> bool:
    if (
        a is None
        or b is None
        or isinstance(a, float | np.floating)
        or isinstance(b, float | np.floating)
    ):
        missing = (a is None or a != a), (b is None or b != b)
        if any(missing):
            return all(missing)
    return bool(type(a) is type(b) and a == b)


def holds(value: Any, key: Any) -> bool:
    """Whether Spark takes the value for the key, in a column of the key's type."""
    if key is None:
        return value is None or value != value
    if type(key) is bool:
        return isinstance(value, bool | np.bool_) and bool(value) is key
    if isinstance(key, int):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
        return whole and int(value) == key
    return type(value) is type(key) and value == key


def wrong_keys(function: FunctionType, said: Dataflow, random: Random) -> str | None:
    """A table on which a column does not hold the key; None where none is seen."""
    for _ in range(6):
        key = random.choice(KEYS)
        pdf = table(random, key, random.randint(1, 4))
        result = outcome(lambda: function((key,), copy.deepcopy(pdf)))  # noqa: B023
        if not isinstance(result, pd.DataFrame) or not result.columns.is_unique:
            continue
        for name in said.keys:
            if name in result.columns and not all(holds(v, key) for v in result[name]):
                return f"{name} does not hold {key!r}:\n{pdf}\ngives\n{result}"
    return None


def wrong_columns(function: FunctionType, said: Dataflow, random: Random) -> str | None:
    """A table on which columns that are not read matter; None where none is seen."""
    if said.reads is None or said.reads >= set(NAMES):
        return None
    for _ in range(4):
        key = random.choice(KEYS)
        pdf = table(random, key, random.randint(1, 4))
        whole = outcome(lambda: function((key,), copy.deepcopy(pdf)))  # noqa: B023
        kept = [n for n in NAMES if n in said.reads] or ["k"]
        part = outcome(lambda: function((key,), pdf[kept].copy()))  # noqa: B023
        if not same(whole, part):
            return f"reads {sorted(said.reads)} only:\n{pdf}\ngives\n{whole}\nand then\n{part}"
    return None


def wrong_rows(
    function: Callable[[Iterator[pd.DataFrame]], Any], said: Dataflow, random: Random
) -> str | None:
    """Batches on which dropping rows first matters; None where none are seen."""
    if not said.passes:
        return None
    for name, source in said.passes.items():
        for _ in range(3):
            batches = [table(random, "k0", random.randint(0, 4)) for _ in range(2)]
            value = random.choice([0, 1, 2, "a", 1.5])

            def kept(pdf: pd.DataFrame, column: str, value: Any = value) -> pd.DataFrame:
                mask = [_alike(v, value) or v == value for v in pdf[column]]
                return pdf[np.array(mask, dtype=bool)]

            whole = outcome(lambda: list(function(iter([b.copy() for b in batches]))))  # noqa: B023
            if whole is None or any(not r.columns.is_unique for r in whole):
                continue
            before = [kept(b, source) for b in batches]
            less = outcome(lambda: list(function(iter([b.copy() for b in before]))))  # noqa: B023
            after = [kept(r, name) for r in whole if name in r.columns]
            late = None if less is None else [kept(r, name) for r in less if name in r.columns]
            if late is None or not _same_rows(after, late):
                filter_ = f"{name} passes {source}, = {value!r}"
                return f"{filter_}:\n{batches}\ngives\n{after}\nand then\n{late}"
    return None


def _same_rows(a: list[pd.DataFrame], b: list[pd.DataFrame]) -> bool:
    rows = [[tuple(r) for t in side for r in t.itertuples(index=False)] for side in (a, b)]
    return len(rows[0]) == len(rows[1]) and all(
        len(x) == len(y) and all(_loose(v, w) for v, w in zip(x, y, strict=True))
        for x, y in zip(*rows, strict=True)
    )


def _loose(a: Any, b: Any) -> bool:
    """As a column of one declared type has it: 1.0 is 1."""
    return _alike(a, b) or (not isinstance(a, str) and not isinstance(b, str) and a == b)
