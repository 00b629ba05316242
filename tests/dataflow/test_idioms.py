"""Keys and columns of functions as people write them."""

from __future__ import annotations

import copy
from random import Random
from types import FunctionType

import pandas as pd
import pytest
from tests.dataflow import idioms
from tests.dataflow.grammar import NAMES
from tests.dataflow.trial import KEYS, table, wrong_columns, wrong_keys
from tests.support.frame_runs import holds, outcome

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest

READS = {
    "key_in_a_row": "x",
    "key_in_a_dict": "x",
    "key_broadcast": "x y",
    "first_of_the_column": "k x",
    "first_of_the_values": "k x",
    "unique_value": "k x",
    "model_inside": "k x y",
    "too_few_rows": "k x",
    "nothing_for_empty": "k x",
    "caught": "k x y",
    "rows_collected": "x",
    "rows_comprehended": "s",
    "grouped_again": "k x",
    "grouped_by_both": "k s x",
    "grouped_with_names": "k x y",
    "sized": "k s",
    "melted": "k x y",
    "melted_by_a_function": "k x y",
    "labels": "k x",
    "dicts_per_group": "x y",
    "tuple_of_keys": "x",
    "inserted_in_the_middle": "k x y s t",
    "inserted_first": "k x",
}


def _answer(function: FunctionType) -> Dataflow:
    return dataflow(AnalysisRequest(function, "group", NAMES, ("k",)))


def _with_key(function: FunctionType) -> FunctionType:
    if function.__code__.co_argcount == 2:
        return function
    return lambda _key, pdf: function(pdf)  # type: ignore[return-value]


@pytest.mark.parametrize("function", idioms.KEEPING, ids=lambda f: f.__name__)
def test_keys_pass(function: FunctionType) -> None:
    said = _answer(function)
    assert said.keys.get("k") == "k", said.notes
    assert not [e for e in said.effects if e.kind != "message"]
    assert wrong_keys(_with_key(function), said, Random(1)) is None


@pytest.mark.parametrize("function", idioms.SPOILED, ids=lambda f: f.__name__)
def test_keys_that_are_changed_do_not_pass(function: FunctionType) -> None:
    """The function really gives another value in the column, for some group."""
    assert "k" not in _answer(function).keys
    random = Random(3)
    for _ in range(200):
        key = random.choice((2**53 + 1, 7, None))
        pdf = table(random, key, random.randint(1, 4))
        result = outcome(lambda: _with_key(function)((key,), copy.deepcopy(pdf)))  # noqa: B023
        if isinstance(result, pd.DataFrame) and "k" in result.columns:
            if not all(holds(v, key) for v in result["k"]):
                return
    raise AssertionError("the key is never changed")


def _of_those_marked(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf["x"]]
    return part.groupby(["k", "t"], as_index=False).agg(m=("y", "sum"))


def test_a_column_of_truth_values_chooses_rows() -> None:
    """One of texts chooses columns."""
    assert isinstance(_of_those_marked, FunctionType)
    for type_, passes in (("boolean", True), ("string", False)):
        request = AnalysisRequest(_of_those_marked, "group", NAMES, ("k",), types={"x": type_})
        assert ("k" in dataflow(request).keys) == passes
    pdf = pd.DataFrame({"k": ["a", "b"], "t": [1, 2], "y": [3, 4], "x": [True, False]})
    assert list(_of_those_marked(pdf)["k"]) == ["a"]
    with pytest.raises(ValueError, match="mask"):
        _of_those_marked(pdf.assign(x=pd.Series([True, None])))
    swapped = pdf.rename(columns={"k": "y", "y": "k"}).assign(x=["k", "t"])
    assert list(swapped[swapped["x"]].columns) == ["k", "t"]


@pytest.mark.parametrize("function", idioms.WITH_LEVELS, ids=lambda f: f.__name__)
def test_labels_of_several_levels_are_no_names(function: FunctionType) -> None:
    """``("k", "")`` is no text: PySpark assigns the columns of such a table by position."""
    result = function(table(Random(1), 7, 3))
    assert "k" in result.columns
    assert not any(isinstance(name, str) for name in result.columns)
    assert "k" not in _answer(function).keys


@pytest.mark.parametrize("name", READS)
def test_columns_that_are_read(name: str) -> None:
    function = getattr(idioms, name)
    said = _answer(function)
    assert said.reads is not None, said.notes
    assert said.reads == frozenset(READS[name].split()), said.notes
    assert wrong_columns(_with_key(function), said, Random(2)) is None


@pytest.mark.parametrize("function", idioms.RAISING, ids=lambda f: f.__name__)
def test_columns_that_are_in_the_way_are_read(function: FunctionType) -> None:
    """It raises where there is a column ``s``, and does not without."""
    pdf = table(Random(1), 7, 3)
    with pytest.raises(ValueError, match="s"):
        function(pdf.copy())
    assert not function(pdf.drop(columns=["s"])).empty
    said = _answer(function)
    assert said.reads is not None
    assert "s" in said.reads


def test_keys_are_those_of_the_trials() -> None:
    assert len(idioms.KEEPING) >= 31
    assert len(idioms.SPOILED) >= 25
    assert None in KEYS
