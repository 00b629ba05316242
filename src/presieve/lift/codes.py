# SPDX-License-Identifier: Apache-2.0
"""Trusted. All codes with which lifting declines: a stable code and its meaning in one line."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    # finding and trusting the source
    "no-source": "the source of the function cannot be found",
    "source-mismatch": "the source on disk is not what is being run",
    "not-a-function": "the object is not a function written with def, or a class of that shape",
    "unsupported-form": "this kind of UDF is not supported yet",
    "native-aggregate": "this aggregate of Spark's has no fold that gives the same to the last bit",
    "unknown-columns": "it is not clear which column each parameter is",
    "by-reference": "workers import it again, and its source may not say what the driver has",
    "needs-instance": "the class needs arguments to be built: pass an instance",
    "no-returns": "the declared output columns are not known",
    # columns
    "unknown-column": "the input has no such column",
    "column-type": "a column of this type is not supported",
    "timestamp-zone": "timestamps are only understood in a time zone with a fixed offset",
    "key-type": "a grouping column of this type may differ from the value in the row",
    "iterrows-types": "iterrows may change the type of values: use itertuples",
    # purity
    "impure-clock": "the function reads the clock",
    "impure-random": "the function uses randomness",
    "impure-io": "the function reads or writes outside itself",
    "impure-global": "the function writes a global or a variable of an enclosing function",
    "mutation": "an object is changed in place",
    # language
    "unknown-call": "the called function is not known",
    "pure-call": "a function that is declared pure gets more than values of one row",
    "unknown-name": "a name is not defined, or not a constant that can be read",
    "unsupported-constant": "a constant of this type is not supported",
    "unsupported-statement": "a statement of this kind is not supported",
    "unsupported-expression": "an expression of this kind is not supported",
    "unsupported-operation": "this operation is not supported on values of these types",
    "mixed-types": "one variable holds values of types that do not go together",
    "inexact-conversion": "an integer may be too large to be converted to float exactly",
    "numpy-scalar": "arithmetic on a numpy scalar wraps around, unlike Python's",
    "maybe-unbound": "a variable may not have been assigned yet",
    "always-raises": "the function raises for every input",
    "too-large": "a value depends on too many cases",
    "row-in-state": "a whole row, list or table is kept from one row to the next",
    "nested-loop": "a loop stands where only the one loop over the rows is supported",
    "unknown-loop": "the loop does not go over the rows of the input",
    "early-exit": "the loop is left before its last row",
    "early-return": "the function returns before its loop",
    "group-size": "the number of rows is used where it is not known yet",
    "two-passes": "rows are compared with a value of the whole group",
    "not-a-fold": "the result is not computed row by row",
    "row-order": "rows that tie, or rows in the middle, are in no fixed order",
    # the result
    "return-shape": "what is returned does not have the declared columns",
    "return-type": "what is returned is not of the declared type",
    "return-null": "a column declared NOT NULL may be None",
    "row-count": "the function returns several rows, or no row for some groups",
}
