"""Changes that are easily overlooked: rows depend on others, keys are lost, effects are seen."""

from __future__ import annotations

import linecache
import textwrap
import warnings
from contextlib import suppress
from copy import deepcopy
from itertools import count
from typing import Any

import pandas as pd
import pytest
from tests.dataflow.hidden_changes import BETWEEN_BATCHES, HELPERS, KEYS, OUTSIDE, WHOLE

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest, Form

TYPES = {"k": "bigint", "x": "double", "s": "string"}
_NUMBER = count()


def _scope(text: str) -> dict[str, Any]:
    text = f"{HELPERS}\n{text}"
    file = f"<hidden {next(_NUMBER)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, file, "exec", dont_inherit=True), scope)
    return scope


def _in_loop(setup: str, body: str) -> str:
    indented = [textwrap.indent(p, " " * n) for p, n in ((setup, 4), (body, 8))]
    lines = ("def function(batches):", indented[0], "    for pdf in batches:", indented[1])
    return "\n".join((*lines, "        yield pdf[['k', 'r']]"))


def _of_group(body: str) -> str:
    return f"def function(pdf):\n{textwrap.indent(body, '    ')}\n    return pdf[['k', 'x']]"


def _said(scope: dict[str, Any], form: Form) -> Dataflow:
    keys = ("k",) if form == "group" else ()
    return dataflow(AnalysisRequest(scope["function"], form, tuple(TYPES), keys, types=TYPES))


def _rows(text: str, batches: list[pd.DataFrame]) -> list[str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tables = list(_scope(text)["function"](iter([b.copy() for b in batches])))
        except Exception:  # a row alone may raise, too
            return None
    return sorted(repr(row) for t in tables for row in t.itertuples(index=False))


FIRST = pd.DataFrame({"k": [0, 1, 2], "x": [1.0, 0.5, 3.0], "s": ["a", "b", None]})
SECOND = pd.DataFrame({"k": [3, 4], "x": [0.5, 2.0], "s": ["a", "c"]})


@pytest.mark.parametrize("text", [*(_in_loop(*case) for case in BETWEEN_BATCHES), *WHOLE])
def test_rows_are_not_by_themselves(text: str) -> None:
    said = _said(_scope(text), "batches")
    together = _rows(text, [FIRST, SECOND])
    parts = [t.iloc[[i]].reset_index(drop=True) for t in (FIRST, SECOND) for i in range(len(t))]
    alone = [_rows(text, [p]) for p in parts]
    assert together != (None if None in alone else sorted(r for a in alone for r in a or ()))
    assert not (said.passes and said.passes.get("k") == "k" and not said.effects)


@pytest.mark.parametrize("body", KEYS)
def test_keys_are_lost(body: str) -> None:
    scope = _scope(_of_group(body))
    said = _said(scope, "group")
    assert list(scope["function"](FIRST.assign(k=1))["k"]) != [1, 1, 1]
    assert "k" not in said.keys


@pytest.mark.parametrize("body", OUTSIDE)
def test_changes_outside_are_effects(body: str) -> None:
    scope = _scope(_of_group(body))
    said = _said(scope, "group")
    names = ("LOG", "LIST", "ARRAY", "MISSING")
    before = repr([deepcopy(scope[n]) for n in names])
    before_class = dict(vars(scope["Plain"]))
    with suppress(Exception):  # what it has changed by then counts
        scope["function"](FIRST.copy())
    after = repr([scope[n] for n in names])
    assert before != after or before_class != dict(vars(scope["Plain"]))
    assert said.effects
