# SPDX-License-Identifier: Apache-2.0
"""Trusted. Answers of checks of the data; the same files are checked only once.

Answers are stored in this process, and between processes as files of the same user. An answer
cannot be checked again without the data, so a folder to which others may write is not read.
"""

from __future__ import annotations

import json
import logging
import os
import stat
import threading
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.driver.cache.disk import Store, default_store
from presieve.errors import PresieveError

if TYPE_CHECKING:
    from presieve.backend.statistics.data_check import Check

logger = logging.getLogger("presieve")

_KEY = "presieve_check"
_answers: dict[str, int] = {}
_thread = threading.local()
"""``seconds`` that checks of the data have taken in this thread."""


def seconds_of_checks() -> float:
    """Return how long this thread has checked data so far."""
    return float(getattr(_thread, "seconds", 0.0))


class Counted(Struct, frozen=True):
    """The rows that satisfy a condition (at most one more than the limit), and the evidence."""

    rows: int
    by: str


def run_check(check: Check) -> Counted | None:
    """Return the answer of a check; None if the check failed."""
    store = _private_store(default_store())
    stored_rows = _answers.get(check.name)
    if stored_rows is None and store is not None:
        stored_rows = _read_check(store, check.name)
    if stored_rows is not None:
        return Counted(stored_rows, "a check of the data, made before")
    started = time.perf_counter()
    try:
        rows = check.count()
    except PresieveError as error:
        logger.info("the data could not be checked: %s", error)
        return None
    finally:
        _thread.seconds = seconds_of_checks() + time.perf_counter() - started
    _answers[check.name] = rows
    if store is not None:
        store.put(check.name, json.dumps({_KEY: rows}) + "\n")
    return Counted(rows, f"a check of the data, {time.perf_counter() - started:.2f} s")


def _private_store(store: Store | None) -> Store | None:
    """Return the store unless somebody else may write to it."""
    if store is None or not hasattr(os, "getuid"):
        return None
    try:
        status = os.stat(store.directory)
    except OSError:
        return store  # it does not exist yet, and will be ours
    mine = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return store if mine else None


def _read_check(store: Store, name: str) -> int | None:
    data = store.get(name)
    try:
        entry = json.loads(data) if data is not None else None
    except (ValueError, RecursionError):
        return None
    match entry:
        case {"presieve_check": int(rows)} if rows >= 0 and not isinstance(rows, bool):
            return rows
    return None
