"""Functions of groups for pyarrow, and of iterators of batches. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

import pyarrow.compute as pc


def highest(score):
    return pc.max(score)


def best_loop(score):
    best = 0.0
    for x in score:
        value = x.as_py()
        if value is not None and value > best:
            best = value
    return best


def count_high(v):
    return pc.count(pc.filter(v, pc.greater(v, 10)))


def errors(level):
    n = 0
    for x in level.to_pylist():
        if x == "error":
            n += 1
    return n


def missing(score):
    return score.null_count


def mean(score):
    return pc.mean(score)


def best_of_batches(batches):
    best = 0.0
    for batch in batches:
        for x in batch.to_pylist():
            if x is not None and x > best:
                best = x
    return best


def errors_of_batches(batches):
    n = 0
    for levels, v in batches:
        for level, x in zip(levels.to_pylist(), v.to_pylist(), strict=True):
            if level == "error" and x < 5:
                n += 1
    return n


def best_of_series(batches):
    best = 0.0
    for batch in batches:
        for x in batch:
            if x > best:
                best = x
    return best


def batches_of(batches):
    return sum(1 for batch in batches)
