"""Long answers of the JVM: the same as ever, and the connection is left as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from presieve.backend.classic.prompt import prompt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.classic("there is no JVM beside Spark Connect's client")
def test_answers_are_the_same(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    connection = jvm._gateway_client.get_thread_connection()
    before = connection.stream
    long = "x" * 100_000
    with prompt(jvm):
        assert connection.stream is not before
        assert jvm.java.lang.StringBuilder(long).toString() == long
        assert connection.stream.closed is before.closed
    assert connection.stream is before
    with pytest.raises(ZeroDivisionError), prompt(jvm):
        raise ZeroDivisionError
    assert connection.stream is before
    assert jvm.java.lang.String.valueOf(7) == "7"


def test_where_there_is_no_such_connection() -> None:
    with prompt(object()):
        pass
