"""Values that are none, handed to the public functions: one line each, as PresieveError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.synthesis import folds

import presieve

GIVEN: dict[str, Any] = {
    "schema": "g string, x bigint NOT NULL",
    "returns": "m bigint",
    "keys": "g",
}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"where": 3}, "where is a string such as 'score > 90', not 3"),
        ({"where": ""}, "where is empty"),
        ({"where": "mm > 1"}, "there is no column mm; the columns are: g, m; did you mean m?"),
        ({"schema": 3}, "schema is a string such as"),
        ({"schema": ["x int"]}, "schema is a string such as"),
        ({"returns": 3}, "returns is a string such as"),
        ({"keys": 3}, "keys is a string such as 'team' or a list of them, not 3"),
        ({"keys": [3]}, "keys is a string such as"),
        ({"keys": "G"}, "key 'G' is not a column of the schema: g, x; did you mean g?"),
        ({"mode": 3}, "mode is 'grouped', 'global' or 'row', not 3"),
        ({"policy": ["strict"]}, "policy is 'default', 'assume' or 'strict', not ['strict']"),
        ({"budget": "10"}, "budget is a positive number of seconds, not '10'"),
        ({"budget": None}, "budget is a positive number of seconds, not None"),
        ({"budget": float("inf")}, "budget is a positive number of seconds, not inf"),
        ({"budget": True}, "budget is a positive number of seconds, not True"),
        ({"declare": 3}, "declare is a string such as 'NOT isnan(score)' or a list of them, not 3"),
        ({"declare": [3]}, "declare is a string such as"),
        ({"declare": "y > 1"}, "declare 'y > 1': there is no column y; the columns are: "),
        ({"declare": "x >"}, "declare 'x >': a column or a literal is expected"),
        ({"pure": 3}, "pure is a list of functions, not 3"),
        ({"pure": [3]}, "pure: 3 is not a function"),
    ],
)
@pytest.mark.parametrize("function", [presieve.synthesize, presieve.verify])
def test_of_a_search_or_a_check(
    function: Callable[..., Any], given: dict[str, Any], text: str
) -> None:
    more = {"prefilter": "x > 1"} if function is presieve.verify else {}
    given = {"fold": folds.Maximum, "where": "m > 1", **GIVEN, **more, **given}
    with pytest.raises(presieve.PresieveError) as caught:
        function(given.pop("fold"), given.pop("where"), **given)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("function", [presieve.optimize, presieve.explain])
def test_of_what_is_no_dataframe(function: Callable[..., Any]) -> None:
    import pandas as pd

    for value, text in (
        (3, "takes a DataFrame of PySpark, not int"),
        (None, "takes a DataFrame of PySpark, not NoneType"),
        ("table", "takes a DataFrame of PySpark, not str"),
        (pd.DataFrame(), "; spark.createDataFrame makes one of a pandas DataFrame"),
    ):
        with pytest.raises(presieve.PresieveError) as caught:
            function(value)
        assert text in str(caught.value)
        assert str(caught.value).startswith(function.__name__)


class DataFrame:
    """Passes for one of PySpark's, as far as its name goes."""


DataFrame.__module__ = "pyspark.sql.classic.dataframe"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"policy": 3}, "policy is 'default', 'assume' or 'strict', not 3"),
        ({"cost": []}, "cost is 'auto', 'always' or 'never', not []"),
        ({"cost": "often"}, "cost is 'auto', 'always' or 'never', not 'often'"),
        ({"budget": "a"}, "budget is a positive number of seconds, not 'a'"),
        ({"declare": 3}, "declare is a string such as"),
    ],
)
@pytest.mark.parametrize("function", [presieve.optimize, presieve.explain])
def test_of_options(function: Callable[..., Any], options: dict[str, Any], text: str) -> None:
    with pytest.raises(presieve.PresieveError) as caught:
        function(DataFrame(), **options)
    assert text in str(caught.value)
