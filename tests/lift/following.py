"""Functions with several obstacles, as a person changes them: each version removes the first
obstacle of the version before. Comments name the codes, in the order in which they are met.
"""

# mypy: ignore-errors
from __future__ import annotations

import math
import os
import time

import pandas as pd


class Conf:
    @property
    def limit(self) -> float:
        return 3.0

    @property
    def verbose(self) -> bool:
        return False

    @property
    def most(self) -> int:
        return 2


conf = Conf()
LIMIT = 3.0
VERBOSE = False


# --- a call, a constant, and output ---------------------------------------------------------------


def scored_0(pdf: pd.DataFrame) -> pd.DataFrame:
    total, best = 0.0, None
    for row in pdf.itertuples():
        weight = math.gamma(row.x)  # unknown-call
        total = total + weight
        if row.x > conf.limit:  # unknown-name
            os.system(row.k)  # impure-io
        if best is None or row.x > best:
            best = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [best]})


def scored_1(pdf: pd.DataFrame) -> pd.DataFrame:
    total, best = 0.0, None
    for row in pdf.itertuples():
        total = total + row.gamma
        if row.x > conf.limit:  # unknown-name
            os.system(row.k)  # impure-io
        if best is None or row.x > best:
            best = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [best]})


def scored_2(pdf: pd.DataFrame) -> pd.DataFrame:
    total, best = 0.0, None
    for row in pdf.itertuples():
        total = total + row.gamma
        if row.x > LIMIT:
            os.system(row.k)  # impure-io
        if best is None or row.x > best:
            best = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [best]})


def scored_3(pdf: pd.DataFrame) -> pd.DataFrame:
    total, best = 0.0, None
    for row in pdf.itertuples():
        total = total + row.gamma
        if best is None or row.x > best:
            best = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [best]})


# --- columns that are assigned --------------------------------------------------------------------


def smoothed_0(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf["mean"] = pdf["x"].rolling(3).mean()  # not-a-fold
    pdf["late"] = pdf["gamma"].ewm(2).mean()  # not-a-fold
    highest, last = pdf["mean"].max(), pdf["late"].max()
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [highest], "b": [last]})


def smoothed_1(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf["late"] = pdf["gamma"].ewm(2).mean()  # not-a-fold
    highest, last = pdf["x"].max(), pdf["late"].max()
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [highest], "b": [last]})


def smoothed_2(pdf: pd.DataFrame) -> pd.DataFrame:
    highest, last = pdf["x"].max(), pdf["gamma"].max()
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [highest], "b": [last]})


# --- a loop that stops early, and a variable of two types -----------------------------------------


def labelled_0(pdf: pd.DataFrame) -> pd.DataFrame:
    label, best = 0, 0.0
    for row in pdf.itertuples():  # mixed-types
        if row.x < 0:
            break  # early-exit
        if row.x > 1:
            label = "x"
        if row.x > best:
            best = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [label]})


def labelled_1(pdf: pd.DataFrame) -> pd.DataFrame:
    label, best = 0, 0.0
    for row in pdf.itertuples():  # mixed-types
        if row.x > 1:
            label = "x"
        if row.x > best:
            best = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [label]})


def labelled_2(pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0.0
    for row in pdf.itertuples():
        if row.x > best:
            best = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [best]})


# --- statements, and a function that is called ----------------------------------------------------


def weight(x: float) -> float:
    return math.gamma(x) + 1  # unknown-call


def plain_weight(x: float) -> float:
    return x + 1


def read_0(pdf: pd.DataFrame) -> pd.DataFrame:
    with open("factor") as file:  # unsupported-statement
        factor = float(file.read())
    best = weight(pdf.x.max())
    started = time.time()  # impure-clock
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best * factor], "b": [started]})


def read_1(pdf: pd.DataFrame) -> pd.DataFrame:
    best = weight(pdf.x.max())
    started = time.time()  # impure-clock
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [started]})


def read_2(pdf: pd.DataFrame) -> pd.DataFrame:
    best = plain_weight(pdf.x.max())
    started = time.time()  # impure-clock
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [started]})


def read_3(pdf: pd.DataFrame) -> pd.DataFrame:
    best = plain_weight(pdf.x.max())
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [best]})


# --- what a function does besides returning rows --------------------------------------------------


def stored(pdf: pd.DataFrame) -> pd.DataFrame:
    os.remove("old")  # impure-io
    best = pdf.x.max()
    os.mkdir("new")  # impure-io
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [best]})


# --- what follows only from the first obstacle ----------------------------------------------------


def dead_branch(pdf: pd.DataFrame) -> pd.DataFrame:
    if conf.verbose:  # unknown-name
        print(len(pdf), os.getpid())
        label = "long"
    else:
        label = 1
    best = pdf.x.max() + label
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [best]})


def dead_branch_fixed(pdf: pd.DataFrame) -> pd.DataFrame:
    if VERBOSE:
        print(len(pdf), os.getpid())
        label = "long"
    else:
        label = 1
    best = pdf.x.max() + label
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [best], "b": [best]})


def dead_exit(pdf: pd.DataFrame) -> pd.DataFrame:
    total = 0.0
    for row in pdf.itertuples():
        if conf.verbose:  # unknown-name
            return pdf
        total = total + row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [total]})


def dead_exit_fixed(pdf: pd.DataFrame) -> pd.DataFrame:
    total = 0.0
    for row in pdf.itertuples():
        if VERBOSE:
            return pdf
        total = total + row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [total]})


def bounded_loop(pdf: pd.DataFrame) -> pd.DataFrame:
    total = 0.0
    for row in pdf.itertuples():
        for _ in range(conf.most):  # unknown-name
            total = total + row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [total]})


def bounded_loop_fixed(pdf: pd.DataFrame) -> pd.DataFrame:
    total = 0.0
    for row in pdf.itertuples():
        for _ in range(2):
            total = total + row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [total], "b": [total]})


def used_afterwards(pdf: pd.DataFrame) -> pd.DataFrame:
    values = pdf["x"].rolling(3).mean()  # not-a-fold
    ordered = values.sort_values().tolist()
    middle = ordered[len(ordered) // 2]
    text = middle.strip() + "!"
    shifted = [v for v in ordered if v > middle]
    first = shifted[0] if shifted else 0.0
    label = 0
    for value in ordered:
        if value > 3:
            label = "high"
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [first + label], "b": [text[1:2]]})


def used_afterwards_fixed(pdf: pd.DataFrame) -> pd.DataFrame:
    first = pdf["x"].max()
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [first], "b": [first]})


def kept_in_a_list(pdf: pd.DataFrame) -> pd.DataFrame:
    found = []
    found.append(math.gamma(pdf.x.max()))  # unknown-call
    first = found[0]
    counts = {"a": 0.0}
    counts["a"] = first
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [first], "b": [counts["a"]]})


def kept_in_a_list_fixed(pdf: pd.DataFrame) -> pd.DataFrame:
    found = []
    found.append(float(len(pdf)))
    first = found[0]
    counts = {"a": 0.0}
    counts["a"] = first
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [first], "b": [counts["a"]]})
