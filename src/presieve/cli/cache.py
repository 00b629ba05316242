# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve cache``: the search results that are stored between processes."""

from __future__ import annotations

from typing import Annotated

import typer

from presieve.cli import output
from presieve.cli import shared_options as opt
from presieve.driver.cache.disk import BYTES, CACHE, COUNT, default_store


def command(
    clear: Annotated[bool, typer.Option("--clear", help="Empty the cache.")] = False,
    json: opt.Json = False,
) -> None:
    """Show the cache of search results, or empty it.

    It saves later runs the search. The environment variable PRESIEVE_CACHE selects another
    directory, or is off.
    """
    store = default_store()
    removed = store.clear() if store is not None and clear else 0
    entries, size = store.measure_size() if store is not None else (0, 0)
    answer = {
        "directory": None if store is None else str(store.directory),
        "entries": entries,
        "bytes": size,
        "removed": removed,
    }
    if json:
        output.as_json(answer)
    elif store is None:
        print(f"nothing is kept: {CACHE} is off, or there is no home directory")
    else:
        rows = [
            ("directory", str(store.directory)),
            ("entries", f"{entries:,} (at most {COUNT:,})"),
            ("bytes", f"{size:,} (at most {BYTES:,})"),
        ]
        output.fields([*rows, ("removed", f"{removed:,}")] if clear else rows)
