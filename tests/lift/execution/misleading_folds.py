"""Code whose meaning is easily mistaken: scopes, orders, and objects that change while they are
looked at.
"""

# mypy: ignore-errors

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field

PAIRS = ((1, 2), (3, 4))


class _Fold:
    def zero(self):
        return 0


def bump(numbers):
    numbers[2] += 10
    return 1


class InnerLoop(_Fold):
    """The second loop goes over what the first one gives, not over a variable outside."""

    def reduce(self, acc, row):
        x = (5, 6)
        acc += sum(y for x in PAIRS for y in x if y > row.n)
        numbers = [y for x in PAIRS for y in x]
        return acc + numbers[2] + x[0]


class InnerGuard(_Fold):
    """A test of the outer loop keeps the inner one from raising."""

    def reduce(self, acc, row):
        kept = [k for k in (0, 1) if k if 1 / k > 0.5]
        return acc + kept[0] + any(row.n == x // k for k in (0, 2) if k for x in (k, 4 // k))


class InnerOwn(_Fold):
    def reduce(self, acc, row):
        y = (5, 6)
        return acc + sum(y for x in PAIRS for y in y)


class InnerBox(_Fold):
    def reduce(self, acc, row):
        boxes = [[1, 2, 3], [4, 5, 6]]
        found = sum(bump(x) + x[2] for x in boxes if x[0] == row.n or (bump(x) and x[0] > row.n))
        return acc + found + 100 * boxes[0][2] + 10000 * boxes[1][2]


class InnerChange(_Fold):
    def reduce(self, acc, row):
        numbers = [1, 2, 3]
        return acc + [x + bump(numbers) for x in numbers][2]


class ListLoop(_Fold):
    def reduce(self, acc, row):
        numbers = [1, 2, 3]
        for x in numbers:
            numbers[2] = 10
            acc += x
        return acc


class CountedLoop(_Fold):
    def reduce(self, acc, row):
        numbers = [1, 2, 3]
        for i, x in enumerate(numbers):
            if row.f:
                numbers[2] = 10
            acc += x * i
        return acc


class ItemLoop(_Fold):
    def reduce(self, acc, row):
        counts = {"a": 1, "b": 2}
        for _, v in counts.items():
            counts["b"] = 7
            acc += v
        return acc


class GrowingLoop(_Fold):
    def reduce(self, acc, row):
        counts = {"a": 1, "b": 2}
        for _ in counts:
            counts["c"] = 7
            acc += 1
        return acc


class LastRound(_Fold):
    """What is changed in the last round, or by a round that is left, nobody sees."""

    def reduce(self, acc, row):
        numbers = [1, 2]
        for i, x in enumerate(numbers):
            if i == 1:
                numbers[0] = 10
            acc += x
        for x in numbers:
            if x == 10:
                numbers[1] = 20
                break
        return acc + sum(numbers)


class LastKey(_Fold):
    """The order of keys is that of their insertion."""

    def zero(self):
        return ""

    def reduce(self, acc, row):
        counts = {}
        if row.f:
            counts["a"] = 1
        counts["b"] = 2
        counts["a"] = 3
        for k in counts:
            acc = k
        return acc


class OtherOrder(LastKey):
    def reduce(self, acc, row):
        if row.f:
            counts = {}
            counts["a"] = counts["b"] = 1
        else:
            counts = {}
            counts["b"] = counts["a"] = 1
        return self.last(counts)

    def last(self, counts):
        found = ""
        for k in counts:
            found = k
        return found


class BranchOrder(LastKey):
    def reduce(self, acc, row):
        counts = {}
        if row.f:
            counts["a"] = 1
            counts["b"] = 2
        else:
            counts["b"] = 3
            counts["a"] = 4
        for k in counts:
            acc = k
        return acc


class StateOrder:
    def zero(self):
        return {"a": 0, "b": 0}

    def reduce(self, acc, row):
        return {"b": 0, "a": 1}

    def finish(self, acc):
        found = ""
        for k in acc:
            found = k
        return found


class AnyOrder:
    """Where only items are asked for, their order does not matter."""

    def zero(self):
        return {"a": 0, "b": 0}

    def reduce(self, acc, row):
        if row.f:
            return {"b": acc["b"] + 1, "a": acc["a"]}
        return {"a": acc["a"] + 1, "b": acc["b"]}

    def finish(self, acc):
        return {"b": acc["b"], "a": acc["a"]}


class SubjectBox(_Fold):
    def reduce(self, acc, row):
        match [1, 2, 3]:
            case x:
                bump(x)
                acc += x[2]
        match ([1, 2, 3], row.n):
            case (x, 1):
                bump(x)
                acc += x[2]
        return acc


Pair = namedtuple("Pair", "a b")
Late = namedtuple("Late", "a b")
Late.__new__.__defaults__ = (3, 4)
Changed = namedtuple("Changed", "a b", defaults=[1, 2])
Changed.__new__.__defaults__ = (3, 4)


class NestedPairs(_Fold):
    """A named tuple is the tuple of its fields, inside of others, too."""

    def reduce(self, acc, row):
        acc += (Pair(1, row.n), 3) == ((1, 0), 3)
        acc += 10 * (Pair(1, row.n) in (Pair(1, 0), (1, 1)))
        return acc + 100 * ((1, row.n) in [Pair(1, 1), None])


class Defaults(_Fold):
    """Defaults are those of the constructor, which may have been set later."""

    def reduce(self, acc, row):
        return acc + Late(1).b + 10 * Changed().a


@dataclass
class Point:
    a: int = 1
    b: list = field(default_factory=list)
    c: int = field(default=7, init=False)


Point.__init__.__defaults__ = (5, Point.__init__.__defaults__[1])


class FieldDefaults(_Fold):
    def reduce(self, acc, row):
        point = Point()
        return acc + point.a + point.c


class Same:
    def __init__(self):
        self.n = 0

    def __eq__(self, other):
        return True


@dataclass
class SameData:
    n: int = 0

    def __eq__(self, other):
        return True


class EqualsNone:
    def zero(self):
        return Same()

    def reduce(self, acc, row):
        if acc == None:  # noqa: E711
            acc.n += 1
        return acc

    def finish(self, acc):
        return acc.n


class IsNone(EqualsNone):
    def reduce(self, acc, row):
        if acc is not None:
            acc.n += 1
        return acc


class EqualsTuple(_Fold):
    def reduce(self, acc, row):
        return acc + (SameData() == (1, 2, 3))


class EqualsAmong(_Fold):
    def reduce(self, acc, row):
        return acc + ((SameData(), 1) in ((None, 1), (2, 3)))


class OtherName(_Fold):
    """A helper under another name, which a worker may have another function for."""

    def reduce(self, acc, row):
        again = bump
        return acc + again([1, 2, 3])


class Huge(_Fold):
    def reduce(self, acc, row):
        for _ in range(99999999999999999999999):
            acc += 1
        return acc


class HugeText(_Fold):
    def reduce(self, acc, row):
        return acc + (row.s == "a".zfill(20_000_000))


class Counter:
    def __init__(self):
        self.__n = 0

    def up(self, __by):
        self.__n += __by


class Private:
    """Names with two underscores belong to their class."""

    def zero(self):
        return Counter()

    def reduce(self, acc, row):
        acc.up(2)
        return acc

    def finish(self, acc):
        return acc._Counter__n


class PrivateOfOther(Private):
    def finish(self, acc):
        return acc.__n


class OneOfTwoLists(_Fold):
    """The list that a loop goes over, or a copy of it, gets another item."""

    def reduce(self, acc, row):
        numbers = [1, 2]
        for x in numbers:
            if row.f and len(numbers) < 4:
                numbers = list(numbers)
            numbers.append(x)
            if len(numbers) > 5:
                return acc
        return acc + len(numbers)
