"""Untrusted. The clock that a search's budget runs by: processor time of its thread.

What a search finds must not depend on what else the machine has to do. A wall clock runs on while
others compute, so that a busy machine would get weaker answers than an idle one. Wall clock is left
as the last guard of single solver calls (:func:`guard`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

_BUSY = 4.0
"""How many times as long as on an idle machine something may take on a busy one."""


class _Free(local):
    """What this thread has computed that no budget is charged for."""

    seconds = 0.0


_free = _Free()


def now() -> float:
    """Seconds of processor time that this thread has used, but for what was free."""
    return time.thread_time() - _free.seconds


@contextmanager
def free() -> Iterator[None]:
    """What is computed inside does not count: a trace costs its search nothing."""
    started = now()
    try:
        yield
    finally:
        _free.seconds += now() - started


def guard(left: float) -> float:
    """Seconds of wall clock after which a solver call is stopped, where ``left`` is left."""
    return _BUSY * left
