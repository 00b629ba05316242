"""Folds with lists, dicts, sets and bit flags in their state, as users write them."""

# mypy: ignore-errors

from __future__ import annotations

import pandas as pd

REQUIRED = frozenset({"a", "b"})
LEVELS = ["a", "b", "c"]


class Items:
    """A list of fixed length, changed in place under another name too."""

    def zero(self):
        return [0, None, ""]

    def reduce(self, acc, row):
        same = acc
        same[0] += 1
        if row["n"] is not None:
            acc[1] = row["n"] if acc[1] is None else min(acc[1], row["n"])
            if row["n"] > 5:
                same[-1] = row["s"]
        return acc

    def finish(self, acc):
        count, least, text = acc
        return (count, least, text)


class NumberedItems:
    """A dict with numbers as keys, as it is written."""

    def zero(self):
        return {"points": 0, "last": None, "known": 0}

    def reduce(self, acc, row):
        points = {1: 10, 2: 20, -5: 7}
        names = {1: "one", 10: None, True: "first"}  # noqa: F601
        acc["points"] += points.get(row["n"], 0)
        if row["n"] in names:
            acc["last"] = names[row["n"]]
            acc["known"] += len(points)
        return acc

    def finish(self, acc):
        return acc["points"], acc["last"], acc["known"]


class Nested:
    """A list and a dict in a dict."""

    def zero(self):
        return {"pair": [0, 0], "last": {"s": None}, "n": 0}

    def reduce(self, acc, row):
        pair = acc["pair"]
        if row["s"] == "a":
            pair[0] += 1
        else:
            pair[1] -= 1
            acc["last"]["s"] = row["s"]
        acc["n"] += len(pair)
        return acc

    def finish(self, acc):
        return (acc["pair"][0], acc["pair"][1], acc["last"]["s"], acc["n"])


class Swap:
    """New lists, of items of the old one."""

    def zero(self):
        return [0, 1]

    def reduce(self, acc, row):
        if row["s"] is None:
            return [acc[1], acc[0]]
        if row["s"] == "a":
            acc[0], acc[1] = acc[1], acc[0] + acc[1]
        return acc

    def finish(self, acc):
        return (acc[0], acc[1])


class InTuple:
    """A list in a tuple, unpacked."""

    def zero(self):
        return ([0, 0], None)

    def reduce(self, acc, row):
        counts, _last = acc
        if row["n"] is None:
            counts[0] += 1
        else:
            counts[1] += 1
        return (counts, row["n"])

    def finish(self, acc):
        counts, last = acc
        return (counts[0], counts[1], last)


class FixedKeys:
    """Counts by key; a key that is none of them is an error."""

    def zero(self):
        return {"a": 0, "b": 0}

    def reduce(self, acc, row):
        acc[row["s"]] += 1
        return acc

    def finish(self, acc):
        return (acc["a"], acc["b"])


class AskedKeys(FixedKeys):
    """Counts by key, others left out."""

    def reduce(self, acc, row):
        if row["s"] in acc:
            acc[row["s"]] += 1
        return acc


class SomeKeys:
    """A dict that gets its keys as they come."""

    def zero(self):
        return {}

    def reduce(self, acc, row):
        if row["s"] == "a":
            acc["a"] = acc.get("a", 0) + 1
        elif row["s"] == "b":
            if "b" not in acc:
                acc["b"] = 10
            acc["b"] -= 1
        return acc

    def finish(self, acc):
        return (acc.get("a"), acc.get("b", -1), "a" in acc, bool(acc))


class MissingKey(SomeKeys):
    """The end asks for a key that there may not be."""

    def finish(self, acc):
        return (acc["a"], acc.get("b", -1), True, not acc)


class Seen:
    """Which of three values were there."""

    def zero(self):
        return set()

    def reduce(self, acc, row):
        acc.add(row["s"])
        return acc

    def finish(self, acc):
        return ("a" in acc, acc >= {"a", "b"}, "c" not in acc and bool(acc))


class SeenRequired(Seen):
    def finish(self, acc):
        return (acc >= REQUIRED, acc.issuperset(["b", "c"]), {"c"} < acc)


class Stages:
    """How many of the known stages were reached."""

    def zero(self):
        return (set(), 0)

    def reduce(self, acc, row):
        stages, other = acc
        if row["s"] in LEVELS:
            stages.add(row["s"])
        else:
            stages.discard("a")
            other += 1
        return (stages, other)

    def finish(self, acc):
        stages, other = acc
        return (len(stages), other, stages == {"a", "c"}, stages != {"a"})


class Union:
    """Unions of sets, in place and not."""

    def zero(self):
        return frozenset()

    def reduce(self, acc, row):
        if row["s"] == "a":
            return acc | {row["s"]}
        if row["s"] == "b":
            acc |= {"b"}
        return acc

    def finish(self, acc):
        other = {"c"}
        other.update(acc)
        other |= {"b"}
        return (len(acc), len(other), acc.issubset({"a", "c"}), bool(acc))


class Numbers:
    """Sets of integers and of floats, both zeros among them."""

    def zero(self):
        return (set(), set())

    def reduce(self, acc, row):
        whole, real = acc
        whole.add(row["n"])
        real.add(row["x"])
        return (whole, real)

    def finish(self, acc):
        whole, real = acc
        return (3 in whole, -0.0 in real, 1.5 in real and 0 in whole)


class Flags:
    """Bit flags."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        if row["s"] == "a":
            acc |= 1
        elif row["s"] == "b":
            acc = acc | 1 << 2
        elif row["s"] is None:
            acc ^= 6
        return acc

    def finish(self, acc):
        return (acc, acc & 4 == 4, bool(acc & 3), (acc >> 1) + 1, acc > 4)


class FlagsAndMore:
    """Bit flags beside other state, and truth values that are joined by operators."""

    def zero(self):
        return (1, False)

    def reduce(self, acc, row):
        flags, odd = acc
        if row["s"] == "a":
            flags = flags | 2
        if row["n"] == 1:
            flags = flags | 8
        if row["n"] == 2:
            flags &= 10
        return (flags, odd ^ (row["s"] == "b") | (row["n"] == 3))

    def finish(self, acc):
        flags, odd = acc
        return (flags == 11, flags != 1, flags, odd)


class Halved:
    """Flags that only a shift shows to be flags."""

    def zero(self):
        return 21

    def reduce(self, acc, row):
        return acc >> 1 if row["s"] is None else acc

    def finish(self, acc):
        return (acc, acc == 5, acc & 1 == 1)


class Odd:
    """An integer of which a bit is asked for before it is set."""

    def zero(self):
        return 4

    def reduce(self, acc, row):
        if acc == 4 and row["s"] == "a":
            return acc | 1
        return acc

    def finish(self, acc):
        return (acc, acc == 5, bool(acc))


def kinds(s: pd.Series) -> int:
    """Sets and dicts of a function, changed in its loop."""
    seen = set()
    counts = {"a": 0, "rest": 0}
    known = ["a", "b"]
    for x in s:
        if x is None:
            continue
        if x in known:
            seen.add(x)
        counts["a" if x == "a" else "rest"] += 1
    return len(seen) * 100 + counts["a"] - counts["rest"]


def last_items(s: pd.Series, n: pd.Series) -> str:
    """A list that the loop changes, and makes anew."""
    last = ["", ""]
    for x, _k in zip(s, n, strict=True):
        if x is None:
            last = ["none", last[0]]
            continue
        last[1] = last[0]
        last[0] = x
    return last[1]


class ListOut:
    """The list that is changed is what is returned."""

    def zero(self):
        return [0, None]

    def reduce(self, acc, row):
        acc[0] += 1
        if row["n"] is not None and (acc[1] is None or row["n"] > acc[1]):
            acc[1] = row["n"]
        return acc


class TupleOfLists:
    """A new tuple holds the same lists."""

    def zero(self):
        return ([0], [0])

    def reduce(self, acc, row):
        both = tuple(acc)
        both[0][0] += 1
        if row["n"] == 1:
            acc[1][0] += 1
        return both

    def finish(self, acc):
        return [acc[0][0], acc[1][0]]


class TupleBefore:
    """A tuple does not see what its list becomes."""

    def zero(self):
        return [0, 0]

    def reduce(self, acc, row):
        before = tuple(acc)
        acc[0] += 2
        after = list(before)
        after[1] -= 1
        return [before[0] + 1, acc[0] + after[1]]

    def finish(self, acc):
        return tuple(acc)
