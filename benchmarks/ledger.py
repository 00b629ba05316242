"""Untrusted. The ledger: one JSON object a line, one line a run of a benchmark."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from presieve.errors import UsageError


def setting() -> dict[str, object]:
    """What a reader needs to compare two lines. Nothing tells one machine from another."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "presieve": version("presieve"),
        "z3": version("z3-solver"),
    }


def append(path: Path, name: str, results: Mapping[str, object]) -> None:
    """Add a run to the file, which is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"bench": name, **setting(), **results})
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def check(path: Path) -> None:
    """Raise :class:`UsageError` where a line could not be added, before anything is measured."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as problem:
        raise UsageError(
            f"{path}: the ledger cannot be written: {problem.strerror}; name another file"
        ) from None


def line_of(
    name: str, path: Path | None, again: bool, run: Callable[[], Mapping[str, object]]
) -> Mapping[str, Any]:
    """What ``run`` gives, which is added to the file where there is one; or, ``again``, the file's
    last run of this benchmark. Raises :class:`UsageError` where there is none.
    """
    if not again:
        if path is not None:
            check(path)
        results = run()
        if path is None:
            return results
        append(path, name, results)
    if path is None:
        raise UsageError("--again shows the last run of a ledger: --ledger FILE says which")
    return last(path, name)


def last(path: Path, name: str) -> dict[str, Any]:
    """The last run of a benchmark. Raises :class:`UsageError` where the file has none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        runs = [json.loads(line) for line in lines if line.strip()]
    except OSError as problem:
        raise UsageError(f"{path}: the ledger cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path}: no ledger, which has a JSON object a line: {problem}") from None
    if not all(isinstance(run, dict) for run in runs):
        raise UsageError(f"{path}: no ledger, which has a JSON object a line")
    latest = next((run for run in reversed(runs) if run.get("bench") == name), None)
    if latest is None:
        raise UsageError(f"{path}: the ledger has no run of {name}; make one without --again")
    return dict(latest)
