# SPDX-License-Identifier: Apache-2.0
"""Trusted. Computes pandas's aggregates of a column of doubles, bit for bit: NumPy adds up in
pairs.

Sources: NumPy 2 ``_core/src/umath/loops_utils.h.src`` (``pairwise_sum``: eight running sums for up
to 128 numbers, halves beyond), pandas 2.3 ``core/nanops.py`` (``nansum``, ``nanvar``: a NaN counts
as zero in its place; ``nanmedian`` leaves it out).

Proofs need none of this: for them each aggregate is an unknown function of the sequence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_BLOCK = 128
_LANES = 8


def pairwise(x: Sequence[float]) -> float:
    """NumPy's sum of contiguous doubles."""
    n = len(x)
    if n < _LANES:
        running_sum = 0.0
        for number in x:
            running_sum += number
        return running_sum
    if n <= _BLOCK:
        r = list(x[:_LANES])
        full = n - n % _LANES
        for start in range(_LANES, full, _LANES):
            r = [a + b for a, b in zip(r, x[start : start + _LANES], strict=True)]
        running_sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
        for number in x[full:]:
            running_sum += number
        return running_sum
    half = n // 2
    half -= half % _LANES
    return pairwise(x[:half]) + pairwise(x[half:])


def total(x: Sequence[float]) -> float:
    """``sum()``."""
    return pairwise([0.0 if math.isnan(number) else number for number in x])


def variance(x: Sequence[float]) -> float:
    """``var()``, with one degree of freedom less than there are numbers; NaN for fewer than two."""
    count = sum(1 for number in x if not math.isnan(number))
    if count < 2:
        return math.nan
    mean = total(x) / count
    squares = [0.0 if math.isnan(v) else (mean - v) * (mean - v) for v in x]
    return pairwise(squares) / (count - 1)


def deviation(x: Sequence[float]) -> float:
    """``std()``."""
    return math.sqrt(variance(x))


def median(x: Sequence[float]) -> float:
    """``median()``; NaN if there are no numbers."""
    numbers = sorted(number for number in x if not math.isnan(number))
    middle, odd = divmod(len(numbers), 2)
    if not numbers:
        return math.nan
    return numbers[middle] if odd else (numbers[middle - 1] + numbers[middle]) / 2
