"""Folds that depend on the order of rows, each in its own way, and folds that do not."""

from __future__ import annotations

from typing import Any


class First:
    """The first value."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["v"] if acc is None else acc


class Last:
    """The last value, and how many there are."""

    def zero(self) -> Any:
        return (None, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        return (row["v"], acc[1] + 1)


class TopTwo:
    """The two highest values."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        v = row["v"]
        if first is None or v > first:
            return (v, first)
        if second is None or v > second:
            return (first, v)
        return acc


class ArgMax:
    """The highest value and the name that came with it first."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        best, name = acc
        if best is None or row["v"] > best:
            return (row["v"], row["name"])
        return (best, name)


class ArgMaxByName:
    """The same, and of equal values the one whose name is least: no tie is left."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        best, name = acc
        v, n = row["v"], row["name"]
        if best is None or v > best or (v == best and n < name):
            return (v, n)
        return acc


class Total:
    """The sum."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["v"]


class FloatTotal:
    """The sum of doubles."""

    def zero(self) -> Any:
        return 0.0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["x"]


class Count:
    """How many values are above ten."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["v"] > 10 else acc


class CountAndFirst:
    """The first value beside the number of rows."""

    def zero(self) -> Any:
        return (0, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        return (acc[0] + 1, row["v"] if acc[0] == 0 else acc[1])


class Maximum:
    """The largest integer."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        v = row["v"]
        return v if acc is None or v > acc else acc


class FloatMaximum:
    """The largest double, as ``>`` sees it."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["x"]
        return x if acc is None or x > acc else acc


class Streak:
    """The longest run of rows that are up."""

    def zero(self) -> Any:
        return (0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        best, run = acc
        run = run + 1 if row["up"] else 0
        return (max(best, run), run)

    def finish(self, acc: Any) -> Any:
        return acc[0]


class Strict:
    """The number of rows; a value above ten that comes first is an error."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if acc == 0 and row["v"] > 10:
            raise ValueError("a high value first")
        return acc + 1


class HasSeven:
    """Whether there is a seven; the last value is kept, but nobody sees it."""

    def zero(self) -> Any:
        return (False, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        return (acc[0] or row["v"] == 7, row["v"])

    def finish(self, acc: Any) -> Any:
        return acc[0]


class SevenAfterFive:
    """Whether a five stands before a seven."""

    def zero(self) -> Any:
        return (False, False)

    def reduce(self, acc: Any, row: Any) -> Any:
        five, both = acc
        return (five or row["v"] == 5, both or (five and row["v"] == 7))

    def finish(self, acc: Any) -> Any:
        return acc[1]


class ThirdLast:
    """The value before the value before the last: two more rows must come before it is seen."""

    def zero(self) -> Any:
        return (0, 0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        return (row["v"], acc[0], acc[1])

    def finish(self, acc: Any) -> Any:
        return acc[2]


class Weights:
    """A sum of ones and twos in doubles: exact, which the solver does not know."""

    def zero(self) -> Any:
        return 0.0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + (1.0 if row["up"] else 2.0)


class Weighted:
    """A sum of products that no table satisfies by chance."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, _ = acc
        return (row["v"] if first is None else first, row["v"])

    def finish(self, acc: Any) -> Any:
        first, last = acc
        return 0 if first is None else 3 * last + 2 * first
