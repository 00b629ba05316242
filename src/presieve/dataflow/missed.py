"""Trusted. Whether a call of a function might be missed, if it is left out."""

from __future__ import annotations

from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import Effect, Request


def missed(request: Request) -> tuple[Effect, ...]:
    """What a function may do besides giving its result, that somebody counts on. Nobody counts on
    messages. Declines as :func:`dataflow`.
    """
    return tuple(e for e in dataflow(request).effects if e.kind != "message")
