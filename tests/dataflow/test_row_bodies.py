"""Functions of batches against pandas itself: a batch as a whole, and each of its rows alone."""

from __future__ import annotations

import datetime as dt
import linecache
import warnings
from itertools import count
from random import Random
from types import FunctionType
from typing import Any

import pyarrow as pa
import pytest
from tests.dataflow.row_bodies import ALONE, HELPERS, TOGETHER, TYPED
from tests.support.frame_runs import outcome
from tests.support.pandas_batches import arrow_columns, as_struct, stored

from presieve.backend.problems.passthrough import NULLS_MATTER, SEEN_ALIKE
from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest

TYPES = {
    "k": "int",
    "n": "bigint",
    "m": "bigint",
    "x": "double",
    "s": "string",
    "c": "timestamp_ntz",
    "b": "boolean",
}
_VALUES: dict[str, list[Any]] = {
    "n": [None, 0, 1, 2, -3],
    "m": [None, 0, 1, 5],
    "x": [None, 0.0, -0.0, 1.0, 1.5, 2.0],
    "s": [None, "", "a", "ab", "1"],
    "c": [None, dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 3, 4, 5)],
    "b": [None, True, False],
}
_NUMBER = count()


def _function(body: str) -> Any:
    text = f"{HELPERS}\n\ndef function(batches):\n    for pdf in batches:\n        {body}\n"
    text += "        yield pdf[['k', 'r']]\n"
    file = f"<rows {next(_NUMBER)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), scope)
    return scope["function"]


def _said(function: FunctionType) -> Dataflow:
    return dataflow(AnalysisRequest(function, "batches", tuple(TYPES), types=TYPES))


def _is_alone(said: Dataflow, type_: str) -> bool:
    """Whether a filter on a passed column may come first, if Spark stores ``r`` with this type."""
    stored = {"k": "int", "r": type_}
    seen = [n for n, how in said.mixed.items() if stored[n] not in SEEN_ALIKE[how]]
    acting = [e for e in said.effects if e.kind not in ("message", "unknown")]
    return said.passes is not None and said.passes.get("k") == "k" and not seen and not acting


def _rows(random: Random, typed: frozenset[str]) -> list[dict[str, Any]]:
    """Random rows. A column whose type in pandas may matter holds no NULL."""

    def value(name: str) -> Any:
        whole = name in typed and TYPES[name] in NULLS_MATTER
        return random.choice([v for v in _VALUES[name] if v is not None or not whole])

    return [{"k": k, **{n: value(n) for n in _VALUES}} for k in range(random.choice((1, 2, 3)))]


def _stored(
    body: str, rows: list[dict[str, Any]], type_: str, *, extension: bool = False
) -> list[str]:
    """The rows that Spark stores for a batch; with ``extension``, integers and truth values beside
    a NULL are of pandas' own types. The code is loaded anew, as each worker does.
    """
    arrays, names = arrow_columns(rows, TYPES), list(TYPES)
    if extension:
        table = as_struct(arrays, names)
    else:
        table = pa.table(arrays, names).to_pandas(date_as_object=True)
    (result,) = _function(body)(iter([table]))
    columns = [stored(result[name], returned) for name, returned in (("k", "int"), ("r", type_))]
    return sorted(map(repr, zip(*columns, strict=True)))


def _other(
    body: str, type_: str, random: Random, typed: frozenset[str], *, extension: bool = False
) -> str | None:
    """A batch whose rows alone give something else; None where none is seen."""
    rows = _rows(random, typed)

    def run(some: list[dict[str, Any]]) -> list[str]:
        return _stored(body, some, type_, extension=extension)

    whole = outcome(lambda: run(rows))
    if whole is None:
        return None
    alone = outcome(lambda: sorted(r for row in rows for r in run([row])))
    return None if whole == alone else f"{rows}\ngives\n{whole}\nand alone\n{alone}"


@pytest.mark.parametrize("extension", [False, True], ids=["doubles", "extension types"])
@pytest.mark.parametrize(("body", "type_"), [*ALONE, *TYPED])
def test_rows_are_by_themselves(body: str, type_: str, extension: bool) -> None:
    said = _said(_function(body))
    assert _is_alone(said, type_), said
    random = Random(1)
    for _ in range(60):
        wrong = _other(body, type_, random, said.typed, extension=extension)
        assert wrong is None, wrong


@pytest.mark.parametrize(("body", "type_"), TYPED)
def test_integers_beside_null_matter(body: str, type_: str) -> None:
    """That none is NULL has to be assumed."""
    said = _said(_function(body))
    random, nothing = Random(3), frozenset[str]()
    assert "n" in said.typed
    assert any(_other(body, type_, random, nothing, extension=True) for _ in range(300))


@pytest.mark.parametrize(("body", "type_"), TOGETHER)
def test_other_rows_matter(body: str, type_: str) -> None:
    """The function really gives something else, or raises, for the rows alone."""
    said = _said(_function(body))
    assert not _is_alone(said, type_)
    random = Random(2)
    everything = frozenset(TYPES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = any(
            _other(body, type_, random, everything, extension=way)
            for _ in range(60)
            for way in (False, True)
        )
    assert found, "rows alone give the same"
