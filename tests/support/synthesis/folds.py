"""The folds of the table of cases, as users write them: classes of the shape of an Aggregator."""

from __future__ import annotations

from typing import Any


class Top2:
    """The two highest scores."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        score = row["score"]
        if first is None or score > first:
            return (score, first)
        if second is None or score > second:
            return (first, score)
        return (first, second)

    def finish(self, acc: Any) -> Any:
        return acc


class Top2Present:
    """The two highest scores of those that are there."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        score = row["score"]
        if score is None:
            return acc
        if first is None or score > first:
            return (score, first)
        if second is None or score > second:
            return (first, score)
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class Top3:
    """The three highest values."""

    def zero(self) -> Any:
        return (None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        a, b, c = acc
        x = row["x"]
        if a is None or x > a:
            return (x, a, b)
        if b is None or x > b:
            return (a, x, b)
        if c is None or x > c:
            return (a, b, x)
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class Maximum:
    """The largest value, None of nothing."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["x"]
        if acc is None or x > acc:
            return x
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class MaximumAndNext(Maximum):
    """The largest value, and the whole number after it: of no row at all there is none, and Python
    raises.
    """

    def finish(self, acc: Any) -> Any:
        return (acc, acc + 1)


class WeekendRevenue:
    """The largest revenue of a single sale on a weekend."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if not row["weekend"]:
            return acc
        revenue = row["price"] * row["qty"]
        if acc is None or revenue > acc:
            return revenue
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class SumPositive:
    """The sum of the positive values."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["x"] > 0:
            return acc + row["x"]
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class Sum:
    """The sum of all values."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["x"]

    def finish(self, acc: Any) -> Any:
        return acc


class Errors:
    """How many rows are errors."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["is_error"]:
            acc += 1
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class AnyError:
    """Whether a row is an error."""

    def zero(self) -> Any:
        return False

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc or row["is_error"]

    def finish(self, acc: Any) -> Any:
        return acc


class FirstPresent:
    """The first value that is there, in whatever order rows come."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["x"] if acc is None else acc

    def finish(self, acc: Any) -> Any:
        return acc


class LongestStreak:
    """The longest run of rows with ``up``, rows that do not say left out."""

    def zero(self) -> Any:
        return (0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        best, current = acc
        up = row["up"]
        if up is None:
            return acc
        current = current + 1 if up else 0
        return (max(best, current), current)

    def finish(self, acc: Any) -> Any:
        return acc[0]


class EventWindow:
    """Case study A: two counters, and the first and last time of any event."""

    def zero(self) -> Any:
        return (0, 0, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        time, price, first, last = acc
        if row["action"] == "time":
            time += 1
        elif row["action"] == "price":
            price += 1
        if first is not None and last is not None:
            first = min(first, row["ts"])
            last = max(last, row["ts"])
        else:
            first = row["ts"]
            last = row["ts"]
        return (time, price, first, last)

    def finish(self, acc: Any) -> Any:
        return acc


class OpenClose:
    """Case study B: price and epoch of the earliest and the latest trade."""

    def zero(self) -> Any:
        return (0.0, None, 0.0, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        open_price, open_epoch, close_price, close_epoch = acc
        price, epoch = row["price"], row["epoch"]
        if open_epoch is None or epoch < open_epoch:
            open_price = price
            open_epoch = epoch
        if close_epoch is None or epoch > close_epoch:
            close_price = price
            close_epoch = epoch
        return (open_price, open_epoch, close_price, close_epoch)

    def finish(self, acc: Any) -> Any:
        return acc
