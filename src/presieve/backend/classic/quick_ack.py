# SPDX-License-Identifier: Apache-2.0
"""Trusted. Avoid a TCP pause in long answers of the JVM.

py4j's server writes an answer longer than 8 kB in parts. The kernel sends a part only when the one
before is acknowledged (Nagle's algorithm), and the receiver delays the acknowledgement for 40 ms
(RFC 1122, 4.2.3.2). Linux can be asked to send a delayed acknowledgement at once (tcp(7),
TCP_QUICKACK, which does not last); this module asks after each part. If anything needed for that is
missing, answers arrive as they always do.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from presieve.backend.gateway import Handle

_AT_ONCE = getattr(socket, "TCP_QUICKACK", None)


class _QuickAckStream:
    """A connection's buffered stream of answers that acknowledges each part as it arrives."""

    def __init__(self, stream: Any, sock: socket.socket) -> None:
        self._stream, self._socket = stream, sock

    def readline(self) -> bytes:
        """Read the next answer, or the rest of the data if the connection ends."""
        assert _AT_ONCE is not None
        parts = []
        while True:
            chunk: bytes = self._stream.peek()
            self._socket.setsockopt(socket.IPPROTO_TCP, _AT_ONCE, 1)
            parts.append(self._stream.read(chunk.find(b"\n") + 1 or len(chunk)))
            if not chunk or parts[-1].endswith(b"\n"):
                return b"".join(parts)

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the stream."""
        return getattr(self._stream, name)


@contextmanager
def quick_ack(jvm: Handle) -> Iterator[None]:
    """Avoid that pause for this thread's calls of the JVM."""
    client = getattr(jvm, "_gateway_client", None)
    get = getattr(client, "get_thread_connection", None)
    connection = get() if get is not None else None
    stream = getattr(connection, "stream", None)
    sock = getattr(connection, "socket", None)
    if not hasattr(stream, "peek") or _AT_ONCE is None or not isinstance(sock, socket.socket):
        yield
        return
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        yield
        return
    open_connection: Any = connection
    open_connection.stream = _QuickAckStream(stream, sock)
    try:
        yield
    finally:
        open_connection.stream = stream
