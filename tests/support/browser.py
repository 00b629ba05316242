"""A browser for tests of pages; nothing of it is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def running_browser() -> Iterator[Any]:
    """One that is on PATH; the test is skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(names)} is on PATH")
    with api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()
