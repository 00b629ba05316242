"""Classes that call functions of their own in a way that must be declined."""

# mypy: ignore-errors

from __future__ import annotations

import functools

import pandas as pd


class _Count:
    def zero(self):
        return 0


def changes(counts):
    counts[0] += 1
    return True


def endless(n):
    return endless(n + 1) if n else 0


def one_of(a, b, n):
    return a if n else b


def one_or(a, b, n):
    if n:
        return a
    return b


@functools.lru_cache
def cached(n):
    return n


class Endless(_Count):
    def reduce(self, acc, row):
        return endless(row.n)


class OneOrTheOther(_Count):
    def zero(self):
        return [0], [1]

    def reduce(self, acc, row):
        a, b = acc
        chosen = one_of(a, b, row.s == "a")
        chosen[0] += 1
        return acc

    def finish(self, acc):
        return acc[0][0]


class EitherWay(OneOrTheOther):
    def reduce(self, acc, row):
        a, b = acc
        chosen = one_or(a, b, row.s == "a")
        chosen[0] += 1
        return acc


class Rebound(_Count):
    """The inner function sees the second value."""

    def reduce(self, acc, row):
        n = row.n

        def inner():
            return n

        n = 3
        return acc + inner()


class BoundLater(_Count):
    def reduce(self, acc, row):
        def inner():
            return n

        n = row.n
        return acc + inner()


class BoundInBranch(_Count):
    def reduce(self, acc, row):
        if row.s == "a":
            n = row.n

        def inner():
            return n

        return acc + (inner() if row.s == "a" else 0)


class ChangesItsParameter(_Count):
    def reduce(self, acc, row):
        def inner(x):
            return x + acc

        acc += 1
        return inner(row.n)


class Nonlocal(_Count):
    def reduce(self, acc, row):
        def inner(x):
            nonlocal acc
            acc += x

        inner(row.n)
        return acc


class Decorated(_Count):
    def reduce(self, acc, row):
        @functools.lru_cache
        def inner(x):
            return x + 1

        return acc + inner(row.n)


class InLoop(_Count):
    def reduce(self, acc, row):
        for step in (1, 2):

            def inner(x):
                return x + step  # noqa: B023

            acc += inner(row.n)
        return acc


class LambdaInLoop(_Count):
    def reduce(self, acc, row):
        for step in (1, 2):
            inner = lambda x: x + step  # noqa: E731, B023
            acc += inner(row.n)
        return acc


class Generating(_Count):
    def reduce(self, acc, row):
        def inner(x):
            yield x

        return acc + sum(inner(row.n))


class InnerEndless(_Count):
    def reduce(self, acc, row):
        def inner(x):
            return inner(x + 1) if x else 0

        return acc + inner(row.n)


class ChangedDefault(_Count):
    def reduce(self, acc, row):
        def inner(x, seen=[]):  # noqa: B006
            seen.append(x)
            return len(seen)

        return inner(acc) + inner(row.n)


class InnerTooMany(_Count):
    def reduce(self, acc, row):
        def inner(x):
            return x

        return inner(acc, row.n)


class Cached(_Count):
    def reduce(self, acc, row):
        return cached(acc)


class TooMany(_Count):
    def reduce(self, acc, row):
        return changes(acc, 1)


class OnInstance(_Count):
    """Calls what is no method of its class."""

    step = 1

    def reduce(self, acc, row):
        return self.step(acc)


class Computing(_Count):
    """What its attributes are is computed."""

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def more(self, acc):
        return acc + 1

    def reduce(self, acc, row):
        return self.more(acc)


class ChangesNumberedItems(_Count):
    """A dict with numbers as keys that is changed after it was written."""

    def reduce(self, acc, row):
        points = {1: 10, 2: 20}
        points[3] = row["n"]
        return acc + points.get(row["n"], 0)


class UpdatesNumberedItems(_Count):
    def reduce(self, acc, row):
        points = {1: [10], 2: [20]}
        points[1].append(row["n"])
        return acc + len(points[1])


def changes_a_captured_dict(n: pd.Series) -> int:
    """The loop does not name the dict that its calls change."""
    counts = {"all": 0}

    def add(x):
        counts["all"] += 1
        return x

    for x in n:
        add(x)
    return counts["all"]


def keeps_in_a_captured_list(n: pd.Series) -> int:
    best = [0]

    def add(x):
        if x is not None and x > best[0]:
            best[0] = x

    for x in n:
        add(x)
    return best[0]


def remembers_in_a_captured_set(n: pd.Series) -> int:
    seen, total = set(), 0

    def is_new(x):
        if x in seen:
            return False
        seen.add(x)
        return True

    for x in n:
        total += 1 if is_new(x) else 0
    return total


def _adding_to(counts):
    def add(x):
        counts["all"] += 1
        return x

    return add


def changes_what_another_function_captured(n: pd.Series) -> int:
    counts = {"all": 0}
    add = _adding_to(counts)
    for x in n:
        add(x)
    return counts["all"]


def changes_what_two_functions_capture(n: pd.Series) -> int:
    counts = {"all": 0}

    def add(x):
        counts["all"] += 1

    def add_twice(x):
        add(x)
        add(x)

    for x in n:
        add_twice(x)
    return counts["all"]


CAPTURING = (
    *(changes_a_captured_dict, keeps_in_a_captured_list, remembers_in_a_captured_set),
    *(changes_what_another_function_captured, changes_what_two_functions_capture),
)
"""Functions of a group that change an object from row to row, which only another function names."""

REFUSED = [
    (ChangesNumberedItems, "mutation", ""),
    (UpdatesNumberedItems, "mutation", ""),
    (Endless, "unsupported-expression", "calls itself"),
    (OneOrTheOther, "mixed-types", "in one variable"),
    (EitherWay, "mutation", "which object a call returns"),
    (Rebound, "unsupported-statement", "reads n, which is not bound once and before it"),
    (BoundLater, "unsupported-statement", "reads n, which is not bound once and before it"),
    (BoundInBranch, "unsupported-statement", "reads n, which is not bound once and before it"),
    (ChangesItsParameter, "unsupported-statement", "reads acc, which is not bound once"),
    (Nonlocal, "impure-global", "acc is written outside the function"),
    (Decorated, "unsupported-statement", "with a decorator"),
    (InLoop, "unsupported-statement", "defined in a loop"),
    (LambdaInLoop, "unsupported-statement", "defined in a loop"),
    (Generating, "unsupported-statement", "no plain function"),
    (InnerEndless, "unsupported-expression", "inner calls itself"),
    (ChangedDefault, "unsupported-statement", "the default of seen may be changed"),
    (InnerTooMany, "always-raises", "inner is called with other arguments"),
    (Cached, "unknown-call", "nothing is known of cached"),
    (TooMany, "always-raises", "other arguments"),
    (OnInstance, "unknown-call", ".step()"),
    (Computing, "unknown-call", ".more()"),
]
