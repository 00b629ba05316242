"""Functions of which some outputs matter, to be sliced and run."""

from __future__ import annotations

import heapq
from typing import Any

Row = dict[str, Any]


def top_two(rows: list[Row]) -> dict[str, Any]:
    first = second = None
    rounds = 0
    for row in rows:
        score = row["score"]
        if score is None:
            continue
        rounds += 1
        if first is None or score > first:
            first, second = score, first
        elif second is None or score > second:
            second = score
    return {"first": first, "second": second, "rounds": rounds}


def streak(rows: list[Row]) -> dict[str, Any]:
    longest = current = errors = 0
    last = None
    for row in rows:
        if row["kind"] == "error":
            errors = errors + 1
            current = 0
        else:
            current += 1
        longest = max(longest, current)
        last = row["kind"]
    return {"longest": longest, "errors": errors, "last": last}


def until_stop(rows: list[Row]) -> dict[str, Any]:
    total = seen = 0
    stopped = False
    for row in rows:
        seen += 1
        if row["kind"] == "stop":
            stopped = True
            break
        total += row["score"] or 0
    note = "stopped" if stopped else "ran"
    return {"total": total, "seen": seen, "note": note}


def in_a_dict(rows: list[Row]) -> dict[str, Any]:
    state: dict[str, Any] = {"n": 0, "sum": 0, "kinds": set()}
    for row in rows:
        state["n"] += 1
        if row["score"] is not None:
            state["sum"] += row["score"]
        state["kinds"].add(row["kind"])
    kinds = len(state["kinds"])
    return {"n": state["n"], "sum": state["sum"], "kinds": kinds}


def heap(rows: list[Row]) -> dict[str, Any]:
    best: list[Any] = []
    count = 0
    for row in rows:
        if row["score"] is None:
            continue
        heapq.heappush(best, row["score"])
        if len(best) > 3:
            heapq.heappop(best)
        count += 1
    third = best[0] if len(best) == 3 else None
    return {"third": third, "count": count}


def early(rows: list[Row]) -> dict[str, Any]:
    if not rows:
        return {"found": False, "at": None}
    at = None
    position = 1
    for row in rows:
        if row["kind"] == "error" and at is None:
            at = position
        position += 2
    found = at is not None
    return {"found": found, "at": at}


def chained(rows: list[Row]) -> dict[str, Any]:
    low = high = None
    width = 0
    for row in rows:
        value = row["score"]
        match row["kind"]:
            case "error":
                value = 0
            case _:
                pass
        if value is None:
            continue
        low = value if low is None else min(low, value)
        high = value if high is None else max(high, value)
        width = high - low
    return {"low": low, "high": high, "width": width}


class Pair:
    """The state is a tuple."""

    def zero(self) -> Any:
        return (None, 0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        best, n, errors = acc
        score = row["score"]
        if row["kind"] == "error":
            errors += 1
        if score is not None and (best is None or score > best):
            best = score
        n += 1
        return (best, n, errors)

    def finish(self, acc: Any) -> Any:
        best, n, errors = acc
        share = errors / n if n else 0.0
        return {"best": best, "n": n, "share": share}


class Keyed:
    """The state is a dict."""

    def zero(self) -> Any:
        return {
            "low": None,
            "n": 0,
        }

    def reduce(self, acc: Any, row: Any) -> Any:
        score = row["score"]
        if score is not None:
            if acc["low"] is None or score < acc["low"]:
                acc["low"] = score
        acc["n"] += 1
        return acc

    def finish(self, acc: Any) -> Any:
        return {"low": acc["low"], "n": acc["n"]}


class Part:
    """A table function: the state is the object."""

    def __init__(self) -> None:
        self.first = None
        self.count = 0

    def eval(self, row: Any) -> None:
        if self.first is None:
            self.first = row["score"]
        if row["kind"] == "error":
            self.count += 1

    def terminate(self) -> Any:
        yield self.first, self.count
