"""The table of evaluation types says what PySpark does."""

from __future__ import annotations

from pyspark.util import PythonEvalType

from presieve.lift.evaluation_types import EVALUATION_TYPES


def test_names_and_numbers_are_those_of_pyspark() -> None:
    theirs = {getattr(PythonEvalType, t.name): number for number, t in EVALUATION_TYPES.items()}
    assert theirs == {number: number for number in EVALUATION_TYPES}


def test_their_names_say_what_the_table_says() -> None:
    for t in EVALUATION_TYPES.values():
        assert ("ITER" in t.name) == t.streamed or t.unread, t
        assert ("ARROW" in t.name) == t.arrow or t.unread or t.whole, t
        if t.operator:
            assert t.operator.endswith("InArrow") == t.arrow, t
