# SPDX-License-Identifier: Apache-2.0
"""Trusted. The codes of assumptions, as certificates store them and reports show them.

:mod:`presieve.semantics.assumptions` gives the words of each.
"""

NO_NAN = "no-nan"
"""A column has no NaN. Proofs are easier with it, and no meaning of a fold rests on it."""
NO_NULL = "no-null"
"""A column has no NULL, on which the meaning of a fold rests."""
NAN_SORTED = "nan-sorted"
"""A column that is sorted has no NaN."""
EXACT_INT = "exact-int"
"""Integers are the same numbers as doubles."""
INT_RANGE = "int-range"
"""A sum, a result or an absolute value fits its type."""
ZERO_SIGN = "zero-sign"
"""There is only one zero, on which the meaning of a fold rests."""
OPEN_ZERO = "open-zero"
"""There is only one zero, in a fold whose terms say which zeros are open: a proof can do without.
"""
DECLARED = "declared"
"""A condition that the user declares."""
COMPUTED = "computed"
"""A condition that holds by the meaning of computed columns."""
KEY_FORM = "key-form"
"""Any of the equal values of a key may stand for its group."""
PURE = "pure"
"""An unread function depends on its arguments alone."""
NO_EFFECTS = "no-effects"
"""Nobody counts on what unknown code does besides returning a value."""
MESSAGES = "messages"
"""Nobody counts on the messages that a call writes."""
CONSTANT = "constant"
"""Workers see the same object under a name as the driver does."""
ROW_ORDER = "row-order"
"""The order of a group's rows does not matter."""
MAY_ERASE_ERROR = "may-erase-error"
"""No condition on data, but an effect of a pushdown: a row that raises may be dropped."""

BY_CALLER = "the caller"
"""How a condition is known: it was declared, and nothing checks it."""
BY_GUARD = "the guarded plan"
"""How a condition is known: it holds for the rows that a guarded pre-filter drops, which is checked
while the plan runs. Of a group with a row for which it does not hold, all rows are kept.
"""
