# SPDX-License-Identifier: Apache-2.0
"""Trusted. The names that presieve itself gives to columns and variables in a plan.

They begin as no other name does, so that reports can tell what each of them stands for.
"""

PREFIX = "__presieve_"
"""How the names of columns begin."""
CLASS = f"{PREFIX}class"
"""The column of a class of groups, in a plan that checks conditions while it runs."""
HELD = "__acc"
"""In a fold of a list: what is held before a row."""
ROW = "__row"
"""In a fold of a list: the row."""


def prefix_of(number: int) -> str:
    """Return how the names begin that belong to one of the functions of an operator."""
    return f"{PREFIX}{number}_"
