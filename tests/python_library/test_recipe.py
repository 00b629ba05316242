"""The recipe of CONTRIBUTING.md for a method of pandas: facts, a model, and both analyses know it.

The planted method is ``Series.below``, which is ``lt`` by another name.
"""

# mypy: disable-error-code="arg-type,no-any-return,operator"
from __future__ import annotations

import ast

import pandas as pd
import pytest
from tests.support.lifting import declined, lifted, request

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest
from presieve.lift.execution.state import ModelCall
from presieve.lift.models import registry
from presieve.lift.models.pandas import series
from presieve.lift.models.pandas.series import column_method
from presieve.lift.values.whole_columns import VectorV
from presieve.python_library.descriptions import Description, ResultKind
from presieve.python_library.method_catalogue import CATALOGUE
from presieve.records import replace

GROUP = request("x double, y double", "n bigint")


def counted(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"n": [len(pdf[pdf["x"].below(3.0)])]})


def counted_by_lt(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"n": [len(pdf[pdf["x"].lt(3.0)])]})


def chosen(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf[pdf["x"].below(3.0)]


def model(call: ModelCall, v: VectorV) -> VectorV:
    """``column.below(other)``."""
    return series.compare_vectors(call.m, ast.Lt(), v, call.args[0])


def facts() -> Dataflow:
    return dataflow(AnalysisRequest(chosen, "group", ("x", "y"), ("y",)))


def plant_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    below = Description(ResultKind.EACH, separate=True, truth=True)
    monkeypatch.setitem(CATALOGUE["column"], "below", below)
    monkeypatch.setattr(registry, "METHODS", dict(registry.METHODS))


def test_nobody_knows_it_before() -> None:
    assert declined(counted, GROUP).code == "unknown-call"
    assert not facts().keys
    assert facts().passes is None


def test_a_model_without_facts_is_refused() -> None:
    with pytest.raises(AssertionError, match="below is not described"):
        column_method("below", arguments=1, fresh=True)(model)


def test_with_facts_dataflow_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_facts(monkeypatch)
    assert facts().keys == {"y": "y"}
    assert facts().passes == {"x": "x", "y": "y"}
    assert declined(counted, GROUP).code == "unknown-call"


def test_with_a_model_lifting_knows_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_facts(monkeypatch)
    column_method("below", arguments=1, fresh=True)(model)
    fold = lifted(counted, GROUP).fold
    assert fold == replace(lifted(counted_by_lt, GROUP).fold, name=fold.name)
