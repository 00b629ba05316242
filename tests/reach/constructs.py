"""Constructs of Python and pandas that people use, found in the text of a function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

from tests.reach.entries import Entry, RowEntry

OF_TABLES: Mapping[str, str] = {
    "a model is fitted or applied": r"\.fit\(|\.predict|polyfit|lstsq|fit_predict",
    "an import inside": r"^    +(import|from) ",
    "quantiles, medians": r"\.quantile\(|percentile|\.median\(",
    "rolling, ewm": r"\.rolling\(|\.ewm\(",
    "resample, reindex": r"\.resample\(|\.reindex\(",
    "shift, diff, cumulative": r"\.shift\(|\.diff\(|\.cum(sum|max)\(",
    "fill, interpolate": r"\.(ffill|fillna|interpolate)\(",
    "sort_values": r"\.sort_values\(",
    "duplicates": r"duplicate",
    "top n": r"nlargest|nsmallest|\.head\(|\.tail\(",
    "groupby inside": r"\.groupby\(",
    "pivot_table, melt, explode": r"\.(pivot_table|melt|explode)\(",
    "merge, merge_asof": r"\.merge\(|merge_asof\(",
    "set_index, reset_index": r"set_index\(|reset_index\(",
    "assign, pipe, query": r"\.(assign|pipe|query)\(",
    "describe, corr, value_counts": r"\.(describe|corr|value_counts)\(",
    "apply with a function": r"\.apply\(",
    "map with a dict": r"\.map\(",
    "iterrows, itertuples, to_dict": r"iterrows|itertuples|to_dict\(",
    "np.where, pd.cut": r"np\.where\(|pd\.cut\(",
    ".str": r"\.str\.",
    ".dt": r"\.dt\.",
    ".loc, .iloc": r"\.loc\[|\.iloc\[",
    "a mask of rows": r"\w+\[\(?~?\(?\w+\[\"|\[ok\]|\[~?\w+\]$",
    "a loop over a list of columns": r"for \w+ in (\[\"|[A-Z_]+:|cols|\w+\.columns)",
    "rows that are collected": r"(rows|out)\.append\(",
    "key + (...)": r"key \+ \(",
    "the first row for the key": r"\.iloc\[0\]|\.values\[0\]|\.iat\[0\]|unique\(\)",
    "an early return": r"^        return |^    if .*:\n        return",
    "try and except": r"^ +try:",
    "print, logging": r"print\(|logger\.|log\.",
    "a helper of the user's": r"iqr_bounds|only_priced|cell\(|cost\(row",
    "a closure": r"rates|n_sigma",
    "files, services": r"joblib\.|requests\.|to_csv|mlflow|session\.get",
    "random numbers, samples": r"random\.|\.sample\(",
    "json": r"json\.",
}
OF_VALUES: Mapping[str, str] = {
    "a guard for None": r"is None|is not None|if not |None in",
    "methods of texts": r"\.(strip|upper|lower|split|startswith|title|zfill|replace)\(",
    "a lookup in a dict": r"\.get\(",
    "membership": r" in \(| in EU| not in HOLIDAYS",
    "try and except": r"try:",
    "json": r"json\.",
    "a regular expression": r"\.match\(",
    "arithmetic": r" [*/%+-] |round\(|\*\*",
    "math": r"math\.",
    "dates": r"\.days|weekday|strptime",
    "a loop or a comprehension": r" for \w+",
    "an f-string": r"f\"",
    "raise": r"raise ",
}


def constructs(entry: Entry | RowEntry) -> list[str]:
    """Those that the function uses."""
    text = inspect.getsource(entry.function)
    table = OF_TABLES if isinstance(entry, Entry) else OF_VALUES
    return [name for name, pattern in table.items() if re.search(pattern, text, re.MULTILINE)]
