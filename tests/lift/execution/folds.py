"""The functions and classes that the tests lift: as a user writes them."""

# mypy: ignore-errors
# ruff: noqa: B007

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pandas as pd

THRESHOLD = 10
KINDS = ("time", "price")
WEEKEND = frozenset({"Sat", "Sun"})
NAN = math.nan


class Top2:
    """The two best scores of a team."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        if row["score"] is None:
            return acc
        if first is None or row["score"] > first:
            return (row["score"], first)
        if second is None or row["score"] > second:
            return (first, row["score"])
        return acc

    def merge(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def finish(self, acc: Any) -> Any:
        return acc


def top2_second(score: pd.Series) -> float:
    """The second best score, or None."""
    first = second = None
    for s in score:
        if first is None or s > first:
            first, second = s, first
        elif second is None or s > second:
            second = s
    return second


def top2_itertuples(key: Any, pdf: pd.DataFrame) -> pd.DataFrame:
    first, second = None, None
    for row in pdf.itertuples(index=False):
        if first is None or row.score > first:
            first, second = row.score, first
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [key[0]], "first": [first], "second": [second]})


def top2_iterrows(pdf: pd.DataFrame) -> pd.DataFrame:
    first, second = None, None
    for _, row in pdf.iterrows():
        s = row["score"]
        if first is None or s > first:
            first, second = s, first
        elif second is None or s > second:
            second = s
    return pd.DataFrame([(pdf["team"].iloc[0], first, second)], columns=["team", "first", "second"])


def top2_zip(pdf: pd.DataFrame) -> pd.DataFrame:
    first, second, name = None, None, None
    for team, s in zip(pdf["team"], pdf.score, strict=True):
        name = team
        if first is None or s > first:
            first, second = s, first
        elif second is None or s > second:
            second = s
    return pd.DataFrame([{"second": second, "team": name, "first": first}])


def top3(score: pd.Series) -> float:
    a = b = c = None
    for s in score:
        if a is None or s > a:
            a, b, c = s, a, b
        elif b is None or s > b:
            b, c = s, b
        elif c is None or s > c:
            c = s
    return c


def events(pdf: pd.DataFrame) -> pd.DataFrame:
    """Two conditional counters, the first and the last time: both None or neither."""
    time = price = 0
    first = None
    last = None
    for row in pdf.itertuples(index=False):
        if row.action == "time":
            time += 1
        elif row.action == "price":
            price += 1
        if first is not None and last is not None:
            first = min(first, row.ts)
            last = max(last, row.ts)
        else:
            first = row.ts
            last = row.ts
    return pd.DataFrame({"time": [time], "price": [price], "first": [first], "last": [last]})


class Events:
    def zero(self) -> Any:
        return 0, 0, None, None

    def reduce(self, acc: Any, row: Any) -> Any:
        time, price, first, last = acc
        if row.action == KINDS[0]:
            time = time + 1
        elif row.action == KINDS[1]:
            price = price + 1
        if first is not None and last is not None:
            if row.ts < first:
                first = row.ts
            if row.ts > last:
                last = row.ts
        else:
            first, last = row.ts, row.ts
        return time, price, first, last


def trades(pdf: pd.DataFrame) -> pd.DataFrame:
    """Opening and closing trade: price at the least and at the greatest epoch."""
    open_price, close_price = 0, 0
    open_epoch, close_epoch = None, None
    for row in pdf.itertuples(index=False):
        if open_epoch is None or row.epoch < open_epoch:
            open_epoch, open_price = row.epoch, row.price
        if close_epoch is None or row.epoch > close_epoch:
            close_epoch, close_price = row.epoch, row.price
    return pd.DataFrame(
        [(open_price, open_epoch, close_price, close_epoch)],
        columns=["open_price", "open_epoch", "close_price", "close_epoch"],
    )


def count_errors(level: pd.Series) -> int:
    errors = 0
    for x in level:
        if x == "error":
            errors += 1
    return errors


def sum_positive(v: pd.Series) -> float:
    total = 0
    for x in v:
        if x > 0:
            total += x
    return total


def sum_positive_ints(n: pd.Series) -> int:
    total = 0
    for x in n:
        total += x if x > 0 else 0
    return total


class FirstNonNull:
    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if acc is None:
            return row["v"]
        return acc


class Streak:
    """Longest run of ``up``; a missing value neither breaks nor extends it."""

    def zero(self) -> Any:
        return (0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        best, run = acc
        if row.up is None:
            return best, run
        run = run + 1 if row.up else 0
        return max(best, run), run

    def finish(self, acc: Any) -> Any:
        return acc[0]


def weekend_revenue(day: pd.Series, price: pd.Series, qty: pd.Series) -> float:
    best = 0.0
    for d, p, q in zip(day, price, qty, strict=True):
        if d not in WEEKEND:
            continue
        revenue = p * q
        if revenue > best:
            best = revenue
    return best


class AnyBig:
    """Counts rows without a value or with a big one."""

    def __init__(self, threshold: float = 10.0) -> None:
        self.threshold = threshold

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["v"] is None or row["v"] > self.threshold:
            acc += 1
        return acc


class Raises:
    """Compares without asking for None first."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row[0] > THRESHOLD:
            acc += 1
        return acc


class ArgMin:
    """The least (n, s) as a tuple that is None at first."""

    @staticmethod
    def zero() -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row.n < 0:
            raise ValueError(f"negative {row.n}")
        if acc is None:
            return (row.n, row.s)
        n, s = acc
        return (row.n, row.s) if row.n < n else (n, s)

    def finish(self, acc: Any) -> Any:
        if acc is None:
            return {"n": None, "s": None}
        return {"s": acc[1], "n": acc[0]}


def size(v: pd.Series) -> int:
    return len(v)


def max_and_size(pdf: pd.DataFrame) -> pd.DataFrame:
    n = len(pdf)
    if n == 0:
        return pd.DataFrame()
    best = float("-inf")
    for x in pdf["v"]:
        best = max(best, x)
    return pd.DataFrame({"best": [best], "n": [n]})


def mean(v: pd.Series) -> float:
    total, count = 0.0, 0
    for x in v:
        total += x
        count += 1
    if count == 0:
        return None  # type: ignore[return-value]
    return total / count


def between(v: pd.Series, low: float = 0.0) -> bool:
    inside = True
    for x in v:
        inside = inside and low <= x < 100
    return inside


def latest_before(ts: pd.Series) -> Any:
    limit = dt.datetime(2020, 1, 1)
    found = None
    for t in ts:
        if t < limit and (found is None or t > found):
            found = t
    return found


def packets(b: pd.Series) -> Any:
    """The least one that is there, is not empty and is none of some."""
    least = b"\xff\xff"
    for x in b:
        if not x or x in (b"a", b"\x80", None):
            continue
        if x != b"x\x00" and x == x:
            least = b"" if x == "x" else least
    return least


def least_bytes(b: pd.Series) -> Any:
    least = b"\xff\xff"
    for x in b:
        if x is not None and x < least:
            least = x
    return least


def since_start(ts: pd.Series) -> Any:
    last = dt.datetime(2000, 2, 29)
    for t in ts:
        if t > last:
            last = t
    return last


def marked(ts: pd.Series) -> int:
    """A variable that is one of two constants, compared with what Python sees of a column."""
    mark, n = dt.datetime(1970, 1, 1), 0
    for t in ts:
        if t >= mark:
            n = 1 if n == 0 else 2
        mark = dt.datetime(2020, 1, 1) if n == 1 else dt.datetime(1970, 1, 1, 0, 0, 0, 1)
    return n


def ordered(a: pd.Series, b: pd.Series) -> int:
    n = 0
    for x, y in zip(a, b, strict=True):
        if x < y:
            n += 1
    return n


def dates(d: pd.Series) -> Any:
    last = None
    for x in d:
        if x is not None and x >= dt.date(2020, 2, 29):
            last = x if last is None else max(last, x)
    return last


def ratio(n: pd.Series, k: pd.Series) -> float:
    best = 0.0
    for a, b in zip(n, k, strict=True):
        best = max(best, a / b)
    return best


def last_big(v: pd.Series, n: pd.Series) -> int:
    """Assigns only where it goes on with the next row."""
    found = None
    for x, k in zip(v, n, strict=True):
        if x > 5:
            found = k
            continue
        if x < 0:
            found = None
            continue
    return found


class Arithmetic:
    """Integers without bound, division in both ways, and the errors of both."""

    def zero(self) -> Any:
        return (0, 0.0)

    def reduce(self, acc: Any, row: Any) -> Any:
        n, x = acc
        n += (row.a * row.b - (-row.a)) % 7 + row.a // row.b
        x = max(x, row.a / row.b, 0.5)
        return (n, x)


class Logic:
    """Conditions whose parts have several types, and whose later parts may raise."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if (row.a and row.a > 2) or not row.s:
            acc += 1
        if row.s == "a" and (row.f or row.a < 0):
            acc += 10
        if row.f != (row.a is None):
            acc += 100
        if not (row.a == 1 or row.s is not None) and row.a != row.s:
            acc += 1000
        value = row.a or 5
        acc += 10000 if -1 < value <= 5 else 0
        return acc + (row.f is not None and row.f)


class Lexicographic:
    """The least pair: first components first."""

    def zero(self) -> Any:
        return (3, "b")

    def reduce(self, acc: Any, row: Any) -> Any:
        return min(acc, (row.n, row.s))


class Truth:
    """What counts as true."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        acc += 1 if row.i else 0
        acc += 10 if row.x else 0
        acc += 100 if row.s else 0
        acc += 1000 if row.f else 0
        acc += 10000 if row.d else 0
        acc += bool(row.i) and not row.x
        return acc


class Absolute:
    """Signs: of zeros, and of the least integer."""

    def zero(self) -> Any:
        return (-0.0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        if row.x is None or row.n is None:
            return acc
        return (abs(row.x) if row.n > 0 else -row.x, acc[1] + abs(row.n))


class Membership:
    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row.s in WEEKEND:
            acc += 1
        if row.s in ("a", None):
            acc += 10
        if row.n not in (1, 2.0, -1, True):
            acc += 100
        if row.s in [*KINDS] if False else row.s in KINDS:
            acc += 1000
        return acc


def share(f: pd.Series) -> float:
    """The share of true values: two counters divided."""
    yes = n = 0
    for x in f:
        n += 1
        if x:
            yes += 1
    return yes / n


def missing(x: pd.Series, s: pd.Series, f: pd.Series) -> int:
    count = 0
    for i, (a, b, c) in enumerate(zip(x, s, f, strict=True)):
        if pd.isna(a) or math.isnan(a):
            count += 1
        if pd.isnull(b):
            count += 10
        if not pd.notna(c):
            count += 100
    return count


def all_ways(pdf: pd.DataFrame) -> pd.DataFrame:
    """Rows by position, with the index in front; a dict of cells with an index."""
    best = None
    for row in pdf.itertuples():
        if row[3] is not None and row[-1] > dt.date(2000, 1, 1) and row.b:
            if best is None or row.n > best:
                best = row[2]
    return pd.DataFrame({"n": [best], "o": [pdf["team"].iloc[0]]}, columns=["o", "n"])


def key_types(key: Any, pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame([key[:1] if False else (key[0], key[1], key[2])], columns=["k", "d", "f"])


def identity(x: pd.Series) -> pd.Series:
    return x


AWARE = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def aware(ts: pd.Series) -> Any:
    found = None
    for t in ts:
        if t < AWARE:
            found = t
    return found


class Counting:
    """Keeps its state in itself: not a fold."""

    def __init__(self) -> None:
        self.calls = 0

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        self.calls += 1
        return acc + 1


class Computed:
    """What ``__init__`` does is only known once it has run."""

    def __init__(self) -> None:
        self.threshold = len("three")

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + (row.v is not None and row.v > self.threshold)


class Property:
    @property
    def threshold(self) -> float:
        raise RuntimeError("user code was run")

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + (row.v is not None and row.v > self.threshold)


def bytes_as_label(pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0.0
    for _, row in pdf.iterrows():
        best = row[b"score"]
    return pd.DataFrame({"o": [best]})


class ConstantFirst:
    """A constant moment before a column, and a flag beside a number: ``True`` is 1."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        if dt.datetime(2020, 1, 1) < row["t"]:
            acc += 1
        return acc + 1 if row["n"] == (row["x"] > 1.5) else acc
