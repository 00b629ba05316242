"""Functions that must be declined. The comment ends with the code, on the line that is named."""

# mypy: ignore-errors
# ruff: noqa

from __future__ import annotations

import heapq
import os
import random
import time
from collections import Counter, defaultdict
from datetime import datetime
from random import randint

import numpy as np
import pandas as pd

SEEN = []
TOTAL = 0
LIMITS = {"a": 1}
RATE = np.float64(1.5)
LIST = [1, 2]


class Everything(set):
    def issubset(self, other):
        return True


EVERYTHING = Everything({"a"})


def helper(x):
    return x


min = hash


def clock(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if time.time() > 5:  # impure-clock
            best = x
    return best


def now(v: pd.Series) -> float:
    for x in v:
        pass
    return datetime.now()  # impure-clock


def starred(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best, *rest = x, best  # unsupported-statement
    return best


def deleted(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x
        del x  # mutation
    return best


def timestamp_now(v: pd.Series) -> float:
    for x in v:
        pass
    return pd.Timestamp("now")  # impure-clock


def coin(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x if random.random() > 0.5 else best  # impure-random
    return best


def coin2(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = randint(1, 2)  # impure-random
    return best


def coin3(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = np.random.rand()  # impure-random
    return best


def prints(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        print(x)
        best = hash(x)  # unknown-call
    return best


def writes(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        open("numbers", "a").write(str(x))  # impure-io
    return best


def uses_what_print_gives(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = print(x)  # impure-io
    return best


def environment(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = os.getenv("X")  # impure-io
    return best


def writes_global(v: pd.Series) -> float:
    global TOTAL  # impure-global
    for x in v:
        TOTAL = TOTAL + 1
    return TOTAL


def hidden_global(v: pd.Series) -> float:
    for x in v:
        if False:
            global TOTAL  # impure-global
        TOTAL = 5
    return 1.0


def appends(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        SEEN.append(x)  # mutation
    return best


def appends_own(v: pd.Series) -> float:
    seen = []
    for x in v:
        seen.append(x)  # mutation
    return len(seen)


def writes_item(v: pd.Series) -> float:
    acc = [0]
    for x in v:
        LIST[0] = x  # mutation
    return acc[0]


def writes_removed(v: pd.Series) -> float:
    acc = [0]
    for x in v:
        acc.remove(0)  # mutation
    return acc[0]


def writes_anywhere(v: pd.Series) -> float:
    acc = [0, 0]
    n = 0
    for x in v:
        acc[n] = x  # unsupported-expression
        n = 1
    return acc[0]


def two_names(v: pd.Series) -> float:
    acc = [0]
    other = acc
    for x in v:  # mutation
        acc[0] = x
    return other[0]


def any_key(s: pd.Series) -> int:
    counts = {}
    for x in s:
        counts[x] = 1  # mutation
    return counts.get("a", 0)


def size_of_any(s: pd.Series) -> int:
    seen = set()
    for x in s:
        seen.add(x)
    return len(seen)  # unsupported-operation


def column_in_any(s: pd.Series) -> int:
    seen = set()
    again = 0
    for x in s:
        if x in seen:  # unsupported-operation
            again += 1
        seen.add(x)
    return again


def odd_set(s: pd.Series) -> bool:
    seen = {"b"}
    for x in s:
        pass
    return seen >= EVERYTHING  # unsupported-operation


def mixed_set(s: pd.Series) -> int:
    seen = {1}
    for x in s:
        seen.add(True)  # unsupported-operation
    return len(seen)


def nan_in_set(s: pd.Series) -> bool:
    seen = set()
    for x in s:
        seen.add(float("nan"))  # unsupported-operation
    return bool(seen)


def frozen_set(s: pd.Series) -> int:
    seen = frozenset()
    for x in s:
        seen.add("a")  # always-raises
    return len(seen)


def changes_in_expression(s: pd.Series) -> int:
    seen = set()
    n = 0
    for x in s:
        n = seen.add("a") or n  # mutation
    return n


def flags_of_a_column(v: pd.Series) -> int:
    flags = 0
    for x in v:
        flags |= x  # unsupported-operation
    return flags


def flags_and_numbers(s: pd.Series) -> int:
    flags = 0
    for x in s:  # mixed-types
        flags = 4 if flags & 1 else 2
    return flags


def adds_item(v: pd.Series) -> float:
    for x in v:
        SEEN[0] += x  # mutation
    return 0.0


def unknown(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = hash(x)  # unknown-call
    return best


def shadowed(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = min(x, best)  # unknown-call
    return best


def method(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x.hex()  # unknown-call
    return best


def reduction(v: pd.Series) -> float:
    return v.cummax()  # not-a-fold


def undefined(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = nowhere + x  # unknown-name
    return best


def numpy_constant(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x * RATE  # unsupported-constant
    return best


def mutable_constant(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = LIST[x]  # unsupported-expression
    return best


def dict_constant(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = LIMITS.pop("a")  # mutation
    return best


def breaks(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if x > 5:
            break  # early-exit
    return best


def returns_inside(v: pd.Series) -> float:
    for x in v:
        if x > 5:
            return x  # early-exit
    return 0.0


def loops_twice(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x
    for x in v:  # nested-loop
        best = x
    return best


def nested(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        for y in v:  # nested-loop
            best = y
    return best


def counts_positions(v: pd.Series) -> float:
    best = 0.0
    for i, x in enumerate(v):
        if i > 3:  # group-size
            best = x
    return best


def range_loop(v: pd.Series) -> float:
    best = 0.0
    for i in range(5):  # unknown-loop
        best = best + i
    return best


def sorted_loop(v: pd.Series) -> float:
    best = 0.0
    for x in v.sort_values():  # unknown-loop
        best = x
    return best


def late(v: pd.Series) -> float:
    for x in v:
        best = x
    return best  # maybe-unbound


def target_after(v: pd.Series) -> float:
    for x in v:
        pass
    return x  # maybe-unbound


def local_before(v: pd.Series) -> float:
    for x in v:
        if x > LIST:  # maybe-unbound
            LIST = x
    return 0.0


def two_types(v: pd.Series) -> float:
    best = ""
    for x in v:  # mixed-types
        best = x
    return best


def int_and_float(v: pd.Series, n: pd.Series) -> float:
    best = 0
    for x, k in zip(v, n):
        best = x if x > 5 else k  # mixed-types
    return best


def one_and_float(v: pd.Series) -> float:
    total = 0
    for x in v:  # mixed-types
        if x > 5:
            total += 1
        else:
            total += x
    return total


def int_division(n: pd.Series) -> float:
    best = 0.0
    for k in n:
        best = k / (k - 3)  # inexact-conversion
    return best


def int_against_float(v: pd.Series, n: pd.Series) -> float:
    best = 0.0
    for x, k in zip(v, n):
        if k > x:  # inexact-conversion
            best = x
    return best


def lambdas(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = (lambda y: y)(x)  # unknown-call
    return best


def comprehension(v: pd.Series) -> float:
    best = [x for x in v]  # nested-loop
    return best[0]


def walrus(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if x > 0 and (y := x) > 5:  # unsupported-expression
            best = y
    return best


def tries(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        try:
            best = 1.0 / x
        except ZeroDivisionError as error:
            best = float(len(str(error)))  # unsupported-statement
    return best


def tries_finally(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        try:  # unsupported-statement
            best = 1.0 / x
        finally:
            best = x
    return best


def tries_too_much(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        try:
            best = [x, best][0]  # unsupported-statement
        except IndexError:
            pass
    return best


def text(v: pd.Series) -> str:
    last = ""
    for x in v:
        last = str(x)  # unsupported-operation
    return last


def first_value(v: pd.Series) -> float:
    return v.iloc[3]  # row-order


def wrong_type(v: pd.Series) -> float:
    found = ""
    for x in v:
        found = "a" if x > 5 else found
    return found  # return-type


def early(v: pd.Series) -> float:
    if TOTAL == 0:
        return 1.0  # early-return
    for x in v:
        pass
    return 0.0


def size_before(v: pd.Series) -> float:
    if len(v) > 3:  # group-size
        return 1.0
    for x in v:
        pass
    return 0.0


def always(v: pd.Series) -> float:
    raise ValueError("never")


def default_none(v: pd.Series, *rest) -> float:
    return 0.0


def bytes_joined(s: pd.Series) -> float:
    best = b""
    for x in s:
        best = best + b"a"  # unsupported-operation
    return best


def bytes_counted(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if len(b"ab") > 1:  # unsupported-operation
            best = x
    return best


def bytes_among_bytes(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if b"a" in b"ab":  # unsupported-expression
            best = x
    return best


def bytes_before_text(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if b"a" < "b":  # unsupported-operation
            best = x
    return best


def counter_of_doubles(v: pd.Series) -> float:
    return Counter(v)[1.0]  # unsupported-operation


def counter_most_common(n: pd.Series) -> float:
    return Counter(n).most_common(1)[0]  # unknown-call


def counter_key(v: pd.Series, n: pd.Series) -> float:
    return Counter(n)[v.max()]  # unsupported-operation


def factory_of_a_variable(v: pd.Series) -> float:
    start = 1.0
    sums = defaultdict(lambda: start)  # unknown-call
    for x in v:
        sums["a"] += x
    return sums["a"]


def factory_unknown(v: pd.Series) -> float:
    sums = defaultdict(helper)  # unknown-call
    for x in v:
        sums["a"] += x
    return sums["a"]


def default_of_two_names(v: pd.Series) -> float:
    known = {}
    pair = [0.0]
    for x in v:
        if x > 1:
            known["a"] = pair
        known.setdefault("a", [1.0])[0] = x  # mutation
    return pair[0]


def grows_and_is_sorted(v: pd.Series) -> float:
    kept = []
    for x in v:
        kept.append(x)  # mutation
    return sorted(kept)[0]


def sorted_by_a_variable(v: pd.Series, n: pd.Series) -> float:
    kept = []
    for x, y in zip(v, n, strict=True):
        kept.append(x)
        kept.sort(key=lambda k: k * y)  # unsupported-expression
        kept = kept[:2]
    return kept[0]


def sorted_with_nan(v: pd.Series) -> float:
    kept = []
    for x in v:
        kept = sorted(kept + [x * x])[:2]  # unsupported-operation
    return kept[0]


def middle_of_a_heap(n: pd.Series) -> float:
    kept = []
    for x in n:
        heapq.heappush(kept, x)
        if len(kept) > 2:
            heapq.heappop(kept)
    return float(kept[1])  # not-a-fold


def no_heap(n: pd.Series) -> float:
    kept = [3, 2]
    for x in n:
        heapq.heappushpop(kept, x)  # mutation
    return 0.0


def changed_while_it_is_looped_over(n: pd.Series) -> float:
    kept = []
    for x in n:
        kept = (kept + [x])[-2:]
        for y in kept:  # mutation
            if y > 3:
                kept.append(1)
    return float(kept[0])


def unpacked_column(n: pd.Series) -> float:
    best = 0
    for x in n:
        best = sorted([*n, x])[0]  # unsupported-expression
    return float(best)
