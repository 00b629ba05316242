"""Functions in the style of real projects keep their keys; others change them in hidden ways."""

from __future__ import annotations

import copy
import inspect
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from types import MethodType
from typing import Any

import pandas as pd
import pytest
from tests.dataflow import escaping_functions, project_functions
from tests.dataflow.grammar import NAMES
from tests.dataflow.trial import table
from tests.support.frame_runs import Group, column_that_matters, holds, lost_key, outcome

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest

TYPES = {"k": "string", "x": "double", "y": "bigint", "s": "string", "t": "bigint"}
KEYS = ("a", "", "b", None)


@cache
def _job(file: str) -> dict[str, Any]:
    """A file that is run as a job: its functions go to workers by value, with its objects, which
    leaves a mark on their classes.
    """
    scope: dict[str, Any] = {"__name__": "__main__", "__file__": file}
    exec(compile(Path(file).read_text(), file, "exec"), scope)
    for thing in list(scope.values()):
        with suppress(TypeError):
            thing.__reduce_ex__(2)
    assert "Config" not in scope or hasattr(scope["Config"], "__slotnames__")
    return scope


def _functions(module: Any, group: str) -> list[Any]:
    names = {id(f): n for n, f in vars(module).items() if callable(f)}
    job = _job(str(module.__file__))
    return [job[names[id(f)]] for f in getattr(module, group)]


def _answer(function: Any) -> Dataflow:
    receiver = function.__self__ if isinstance(function, MethodType) else None
    plain = getattr(function, "__func__", function)
    return dataflow(AnalysisRequest(plain, "group", NAMES, ("k",), types=TYPES, receiver=receiver))


def _run(function: Any, key: object, pdf: pd.DataFrame) -> Any:
    takes_key = len(inspect.signature(function).parameters) == 2
    return function((key,), pdf) if takes_key else function(pdf)


def _named(function: Any) -> str:
    return str(function.__name__)


@pytest.mark.parametrize("function", _functions(project_functions, "KEEPING"), ids=_named)
def test_keys_pass(function: Any) -> None:
    said = _answer(function)
    assert said.keys.get("k") == "k", said.notes
    assert not said.find_missed_effects("auto"), said.effects


@pytest.mark.parametrize("function", _functions(project_functions, "KEEPING"), ids=_named)
def test_answers_are_true(function: Any) -> None:
    said, random, tables = _answer(function), Random(str(function.__name__)), 0
    for _ in range(60):
        key = random.choice(KEYS)
        pdf = table(random, key, random.randint(1, 5))
        group = Group({"k": key}, pdf, lambda part: _run(function, key, part))  # noqa: B023
        tables += isinstance(group.result(pdf), pd.DataFrame)
        assert lost_key(said, group) is None
        assert column_that_matters(said, group, "k") is None
    assert tables > 15 or "sklearn" in inspect.getsource(function)


@pytest.mark.parametrize("function", _functions(escaping_functions, "SPOILED"), ids=_named)
def test_keys_that_are_changed_elsewhere_do_not_pass(function: Any) -> None:
    """The function really gives another value in the column, for some group."""
    assert "k" not in _answer(function).keys
    random = Random(3)
    for _ in range(200):
        key = random.choice(KEYS)
        pdf = table(random, key, random.randint(1, 4))
        result = outcome(lambda: _run(function, key, copy.deepcopy(pdf)))  # noqa: B023
        if isinstance(result, pd.DataFrame) and "k" in result.columns:
            if not all(holds(v, key) for v in result["k"]):
                return
    raise AssertionError("the key is never changed")
