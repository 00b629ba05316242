# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The clock of a search's budget: processor time of its thread.

The result of a search must not depend on the load of the machine. A wall clock runs on while others
compute, so a busy machine would get weaker answers than an idle one. Wall clock is only the last
guard of single solver calls (:func:`guard`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

_BUSY = 4.0
"""How many times longer than on an idle machine something may take on a busy one."""


class _Free(local):
    """The computing time of this thread that no budget is charged for."""

    seconds = 0.0


_free = _Free()


def now() -> float:
    """Seconds of processor time that this thread has used, except for free time."""
    return time.thread_time() - _free.seconds


@contextmanager
def free() -> Iterator[None]:
    """Do not charge the code inside: a trace costs its search nothing."""
    started = now()
    try:
        yield
    finally:
        _free.seconds += now() - started


def guard(seconds_left: float) -> float:
    """Seconds of wall clock after which to stop a solver call with this much time left."""
    return _BUSY * seconds_left
