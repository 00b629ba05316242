"""The figures of a whole run, as text and as a line for the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.suite import LOSES_GROUPS, MODES, Mode
from tests.differential.replay import Replayed
from tests.differential.trial import Tried

FEW = 50
"""A benchmark of which fewer groups pass the filter is told of: little is tried there."""

_SUMS = (
    "groups",
    "unlawful",
    "raised",
    "passed",
    "told",
    "vanished",
    "far",
    "lossy",
    "dropped",
    "twins",
    "caught",
)


@dataclass(frozen=True)
class Line:
    """One benchmark in one mode: groups, and the replay of its certificate if there is one."""

    tried: Tried
    replayed: Replayed | None


def totals(lines: Sequence[Line], mode: Mode) -> dict[str, Any]:
    """The figures of one mode."""
    here = [line for line in lines if line.tried.mode == mode]
    replayed = [line.replayed for line in here if line.replayed is not None]
    sums = {name: sum(getattr(line.tried, name) for line in here) for name in _SUMS}
    return {
        "benchmarks": len(here),
        **sums,
        "differences": sum(bool(line.tried.failures) for line in here),
        "seconds": round(sum(line.tried.seconds for line in here), 1),
        "certificates": len(replayed),
        "accepted": sum(not r.why for r in replayed),
        "cvc5_seconds": round(sum(r.seconds for r in replayed), 2),
        "cvc5_slowest": round(max((r.seconds for r in replayed), default=0.0), 2),
    }


def summary(lines: Sequence[Line]) -> dict[str, Any]:
    """The figures of all modes that were run."""
    modes = [m for m in MODES if any(line.tried.mode == m for line in lines)]
    return {mode: totals(lines, mode) for mode in modes}


def text(lines: Sequence[Line]) -> str:
    """A table, then what a reader should know besides."""
    found = summary(lines)
    names = list(next(iter(found.values()))) if found else []
    table = [f"{'':<14}" + "".join(f"{mode:>16}" for mode in found)]
    table += [f"{n:<14}" + "".join(f"{found[m][n]:>16,}" for m in found) for n in names]
    return "\n".join([*table, *_remarks(lines)])


def _remarks(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        tried, name = line.tried, f"{line.tried.name} {line.tried.mode}"
        for failure in tried.failures:
            yield f"DIFFERS {name}: {failure}"
        if line.replayed is not None and line.replayed.why:
            yield f"NOT REPLAYED {name}: {line.replayed.why}"
        if tried.kind == "none" and not (tried.mode == "grouped" and tried.name in LOSES_GROUPS):
            yield f"nothing is pushed: {name}"
        if tried.kind != "empty" and tried.passed < FEW:
            yield f"few groups pass: {name}: {tried.passed}"
        for missed in tried.missed:
            yield f"twin not caught: {name}: {missed}"


def is_good(lines: Sequence[Line]) -> bool:
    """Nothing differs, and every certificate was accepted."""
    return not any(
        line.tried.failures or (line.replayed is not None and line.replayed.why) for line in lines
    )
