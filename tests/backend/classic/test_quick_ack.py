"""Long answers of the JVM: the same as ever, and the connection is left as it was."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from presieve.backend.classic.quick_ack import quick_ack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
@pytest.mark.classic("there is no JVM beside Spark Connect's client")
def test_answers_are_the_same(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    connection = jvm._gateway_client.get_thread_connection()
    before = connection.stream
    long = "x" * 100_000
    with quick_ack(jvm):
        assert connection.stream is not before
        assert jvm.java.lang.StringBuilder(long).toString() == long
        assert connection.stream.closed is before.closed
    assert connection.stream is before
    with pytest.raises(ZeroDivisionError), quick_ack(jvm):
        raise ZeroDivisionError
    assert connection.stream is before
    assert jvm.java.lang.String.valueOf(7) == "7"


def test_answers_end_where_their_lines_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        with ours, theirs, ours.makefile("rb") as stream:
            connection = SimpleNamespace(stream=stream, socket=ours)
            client = SimpleNamespace(get_thread_connection=lambda: connection)
            answers = [b"!y\n", b"x" * 50_000 + b"\n", b"\n", b"z" * 8192 + b"\n", b"cut off"]
            theirs.sendall(b"".join(answers))
            theirs.shutdown(socket.SHUT_WR)
            with quick_ack(SimpleNamespace(_gateway_client=client)):
                assert connection.stream is not stream
                assert [connection.stream.readline() for _ in range(4)] == answers[:4]
            assert stream.readline() == answers[4]  # nothing is kept back
            with quick_ack(SimpleNamespace(_gateway_client=client)):
                assert connection.stream.readline() == b""


def test_where_there_is_no_such_connection() -> None:
    with quick_ack(object()):
        pass
