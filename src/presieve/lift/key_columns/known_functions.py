"""Trusted. Functions and methods of which it is known that they change none of their operands, and
are functions of them.
"""

from __future__ import annotations

SCALARS = frozenset(("bool", "float", "int", "len", "str"))
BUILTINS = SCALARS | frozenset(
    (
        *("abs", "all", "any", "enumerate", "isinstance", "list", "max", "min"),
        *("range", "round", "sorted", "sum", "tuple", "zip"),
    )
)
MATRICES = frozenset(("corrcoef", "ones", "polyfit", "zeros"))
"""They may give more than one dimension."""
_BY_ARGUMENTS = {
    1: (
        *("abs", "argsort", "array", "asarray", "ceil", "exp", "floor", "isfinite", "isnan"),
        *("log", "log10", "log1p", "ones", "sign", "sqrt", "zeros"),
    ),
    2: (
        *("argmax", "argmin", "corrcoef", "cumsum", "maximum", "mean", "median", "minimum"),
        *("percentile", "polyval", "quantile", "round", "std", "sum", "var"),
    ),
    3: ("arange", "average", "clip", "diff", "polyfit", "where"),
}
NUMPY = {name: most for most, names in _BY_ARGUMENTS.items() for name in names}
"""Each with the arguments by position that it reads, at most: what comes after them may be ``out``,
to which it writes.
"""
KEYWORDS = frozenset(("axis", "ddof", "weights"))
PANDAS = frozenset(("isna", "isnull", "notna", "notnull"))
REDUCING = frozenset(
    (
        *("all", "any", "corr", "count", "cov", "kurt", "max", "mean", "median"),
        *("min", "nunique", "prod", "skew", "std", "sum", "var"),
    )
)
FLAT_METHODS = REDUCING | frozenset(
    (
        *("abs", "astype", "between", "clip", "copy", "cummax", "cummin", "cumprod"),
        *("cumsum", "diff", "endswith", "fillna", "isin", "isna", "isnull", "lower"),
        *("notna", "notnull", "pct_change", "quantile", "rank", "round", "shift"),
        *("startswith", "strip", "tolist", "to_numpy", "unique", "upper"),
        *("value_counts",),
    )
)
"""Of what is flat: they give such again, and change nothing."""
WINDOWS = frozenset(("ewm", "expanding", "rolling"))
SELECTING = frozenset(("drop_duplicates", "dropna", "head", "tail"))
"""Of tables: they give some of the rows."""
