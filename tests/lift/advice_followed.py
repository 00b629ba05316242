"""Functions that are not read, and what they become where somebody follows the advice of the reason
word by word. The name of the second one is that of the first, with ``_followed``.
"""

# mypy: ignore-errors
# ruff: noqa

from __future__ import annotations

import os
import random
import time

import numpy as np
import pandas as pd

RATE = np.float64(1.5)
PLAIN_RATE = 1.5
SEEN = []
TOTAL = 0


def no_source():
    space = {}
    exec(
        "def no_source(v):\n    best = 0.0\n    for x in v:\n        best = max(best, x)\n    return best\n",
        space,
    )
    return space["no_source"]


def no_source_followed(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = max(best, x)
    return best


source_mismatch, _other = (lambda v: v.max()), (lambda v: v.max())
source_mismatch_followed = lambda v: v.max()


class not_a_function:
    def __call__(self, v):
        return v.max()


not_a_function = not_a_function()


def not_a_function_followed(v: pd.Series) -> float:
    return v.max()


def key_type(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "o": [pdf["v"].max()]})


def key_type_followed(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].max()]})


def impure_clock(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x if x > time.time() else best
    return best


def above(limit):
    def best_above(v: pd.Series) -> float:
        best = 0.0
        for x in v:
            best = x if x > limit else best
        return best

    return best_above


impure_clock_followed = above(time.time())


def impure_random(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x if random.random() > 0.5 else best
    return best


def impure_random_followed(v: pd.Series, w: pd.Series) -> float:
    best = 0.0
    for x, draw in zip(v, w):
        best = x if draw > 0.5 else best
    return best


def impure_io(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        os.system(str(x))
        best = max(best, x)
    return best


impure_io_followed = no_source_followed


def impure_global(v: pd.Series) -> float:
    global TOTAL
    for x in v:
        TOTAL = max(TOTAL, x)
    return TOTAL


def impure_global_followed(v: pd.Series) -> float:
    total = 0.0
    for x in v:
        total = max(total, x)
    return total


def mutation(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        SEEN.append(x)
        best = max(best, x)
    return best


mutation_followed = impure_global_followed


def unknown_call(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = max(best, np.abs((x, best)))
    return best


def unknown_call_followed(w: pd.Series) -> float:
    best = 0.0
    for x in w:
        best = max(best, x)
    return best


def unknown_name(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x if x > LATER else best
    return best


def unknown_name_followed(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x if x > PLAIN_RATE else best
    return best


def unsupported_constant(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best = x if x > RATE else best
    return best


unsupported_constant_followed = above(float(RATE))


def unsupported_statement(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        best, *rest = x, best
    return best


def unsupported_statement_followed(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if x > best:
            best = x
    return best


def unsupported_expression(s: pd.Series) -> int:
    n = 0
    for x in s:
        n = n + 1 if f"{x:>3}" == "  a" else n
    return n


def unsupported_expression_followed(s: pd.Series) -> int:
    n = 0
    for x in s:
        n = n + 1 if x == "a" else n
    return n


def unsupported_operation(v: pd.Series) -> int:
    n = 0
    for x in v:
        n = n + 1 if x % -3 > -1 else n
    return n


def unsupported_operation_followed(v: pd.Series) -> int:
    n = 0
    for x in v:
        n = n + 1 if x > 10 else n
    return n


def mixed_types(s: pd.Series) -> str:
    last = 0
    for x in s:
        last = x
    return last


def mixed_types_followed(s: pd.Series) -> str:
    last = None
    for x in s:
        last = x
    return last


class inexact_conversion:
    def zero(self):
        return 0

    def reduce(self, acc, row):
        return acc + 1 if row["n"] > row["w"] else acc


class inexact_conversion_followed:
    def zero(self):
        return 0

    def reduce(self, acc, row):
        return acc + 1 if row["i"] > row["w"] else acc


def maybe_unbound(v: pd.Series) -> float:
    for x in v:
        if x > 1.0:
            last = x
    return last


def maybe_unbound_followed(v: pd.Series) -> float:
    last = None
    for x in v:
        if x > 1.0:
            last = x
    return last


def too_large(v: pd.Series) -> int:
    n = 0
    for x in v:
        for step in range(100_000):
            n = n + 1 if x > step else n
    return n


def too_large_followed(n: pd.Series) -> int:
    most = 0
    for steps in n:
        most = max(most, steps)
    return most


def nested_loop(n: pd.Series) -> int:
    most = 0
    for x in n:
        for step in range(x):
            most = max(most, step)
    return most


def nested_loop_followed(n: pd.Series) -> int:
    most = 0
    for x in n:
        for limit in (10, 100, 1000):
            if x > limit:
                most = max(most, limit)
    return most


def unknown_loop(v: pd.Series) -> float:
    best = 0.0
    for x in v.to_numpy():
        best = max(best, x)
    return best


unknown_loop_followed = no_source_followed


def early_exit(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if x > 1.0:
            best = x
            break
    return best


def early_exit_followed(v: pd.Series) -> float:
    best = 0.0
    for x in v:
        if x > 1.0:
            best = x
    return best


def early_return(key, pdf: pd.DataFrame) -> pd.DataFrame:
    if key[0] == "test":
        return pd.DataFrame({"o": [0.0]})
    best = 0.0
    for row in pdf.itertuples(index=False):
        best = max(best, row.v)
    return pd.DataFrame({"o": [best]})


def early_return_followed(key, pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0.0
    for row in pdf.itertuples(index=False):
        best = max(best, row.v)
    if key[0] == "test":
        best = 0.0
    return pd.DataFrame({"o": [best]})


def group_size(v: pd.Series) -> float:
    total = 0.0
    for x in v:
        total = max(total, x / len(v))
    return total


def group_size_followed(v: pd.Series) -> float:
    total = 0.0
    for x in v:
        total = max(total, x)
    return total / len(v)


def two_passes(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [(pdf["v"] > pdf["v"].max() - 1.0).sum()]})


def two_passes_followed(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [(pdf["v"] > pdf["w"] - 1.0).sum()]})


def return_shape(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"p": [pdf["v"].max()]})


def return_shape_followed(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].max()]})


class return_type:
    def zero(self):
        return 0

    def reduce(self, acc, row):
        return acc + 1 if row["v"] > 1.0 else acc


class return_type_followed(return_type):
    def finish(self, acc):
        return str(acc)


def return_null(n: pd.Series) -> int:
    last = None
    for x in n:
        last = x
    return last


def return_null_followed(n: pd.Series) -> int:
    last = 0
    for x in n:
        last = x
    return last


def row_count(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame([[pdf["v"].max()], [pdf["v"].min()]], columns=["o"])


def row_count_followed(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].max()], "p": [pdf["v"].min()]})


class reads_c:
    def zero(self):
        return None

    def reduce(self, acc, row):
        return row["c"]


class reads_field:
    def zero(self):
        return None

    def reduce(self, acc, row):
        return row["c_part"]


class counts:
    def zero(self):
        return 0

    def reduce(self, acc, row):
        return acc + 1
