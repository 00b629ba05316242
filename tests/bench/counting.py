"""A benchmark of one filter."""

from __future__ import annotations

from benchmarks.suite import Benchmark, Family, Filter, Published


class Errors:
    """The number of errors."""

    def zero(self) -> int:
        return 0

    def reduce(self, acc: int, row: dict[str, bool]) -> int:
        return acc + 1 if row["error"] else acc


def counting(where: str, published: str) -> Benchmark:
    one = Filter(where, Published(published, 1.0, 1, 1, 1, 1))  # type: ignore[arg-type]
    return Benchmark(Family("Errors", Errors, "error boolean NOT NULL", "n bigint", (one,)), 1)
