# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of Spark 4.3 that are known by name: the client sends names, and the server
finds built-in functions before those that a session registers (``sessionOrder``).
"""

from __future__ import annotations

from presieve.backend.catalyst.trees import EXPRESSIONS, attribute_tree, make_tree
from presieve.sql.expressions.raising import can_raise

_SCALAR = """
    + - * / % == = != <> <=> < <= > >= ! not and or & | ^ ~ in isnull isnotnull isnan when if
    coalesce nvl nvl2 nullif ifnull nanvl zeroifnull nullifzero greatest least negative positive
    abs ceil ceiling floor round bround rint sign signum sqrt cbrt exp expm1 ln log log10 log1p log2
    pow power pmod mod div factorial hypot sin cos tan asin acos atan atan2 sinh cosh tanh degrees
    radians pi e bin hex unhex conv shiftleft shiftright bit_count width_bucket
    try_add try_subtract try_multiply try_divide try_mod try_cast try_to_number try_to_timestamp
    string boolean tinyint smallint int bigint float double decimal binary date timestamp
    lower lcase upper ucase length len char_length character_length octet_length trim ltrim rtrim
    btrim lpad rpad concat concat_ws substring substr substring_index left right replace translate
    reverse repeat initcap instr locate position startswith endswith contains like ilike rlike
    regexp_like regexp_replace regexp_extract regexp_count split split_part format_string
    format_number ascii char chr base64 unbase64 md5 sha sha1 sha2 crc32 hash xxhash64
    levenshtein soundex
    year quarter month day dayofmonth dayofweek dayofyear weekday weekofyear hour minute second
    date_add dateadd date_sub date_diff datediff add_months months_between last_day next_day trunc
    date_trunc date_format to_date to_timestamp to_timestamp_ntz to_timestamp_ltz unix_timestamp
    to_unix_timestamp from_unixtime make_date make_timestamp unix_date unix_micros unix_millis
    unix_seconds date_from_unix_date timestamp_micros timestamp_millis timestamp_seconds
    from_utc_timestamp to_utc_timestamp extract date_part window_time
    array map struct named_struct create_map size cardinality element_at get array_contains
    array_position array_distinct array_sort sort_array array_min array_max array_join slice
    map_keys map_values map_contains_key get_json_object to_json from_json bitand bitor bitxor
"""
SCALAR = frozenset(_SCALAR.split())
"""Deterministic functions of the values of one row."""

_OF_TEXT = {"upper": "Upper", "ucase": "Upper", "lower": "Lower", "lcase": "Lower"}
_OF_TEXT |= {"length": "Length", "char_length": "Length"}
"""Functions of one string, and their classes in Catalyst; they take any argument as a string."""
_TEXT = attribute_tree(0, "text", "string")
TOTAL = frozenset(
    name for name, kind in _OF_TEXT.items() if not can_raise(make_tree(EXPRESSIONS + kind, _TEXT))
)
"""The functions of one string that never raise."""

AGGREGATES = {
    "max": "Max",
    "min": "Min",
    "count": "Count",
    "count_if": "CountIf",
    "bool_or": "BoolOr",
    "some": "BoolOr",
    "any": "BoolOr",
    "bool_and": "BoolAnd",
    "every": "BoolAnd",
    "sum": "Sum",
    "max_by": "MaxBy",
    "min_by": "MinBy",
    "avg": "Average",
    "mean": "Average",
    "first": "First",
    "last": "Last",
    "any_value": "AnyValue",
    "approx_count_distinct": "HyperLogLogPlusPlus",
    "collect_set": "CollectSet",
    "collect_list": "CollectList",
    "stddev": "StddevSamp",
    "stddev_samp": "StddevSamp",
    "stddev_pop": "StddevPop",
    "variance": "VarianceSamp",
    "var_samp": "VarianceSamp",
    "var_pop": "VariancePop",
    "try_sum": "TrySum",
    "try_avg": "TryAvg",
    "median": "Median",
    "mode": "Mode",
    "percentile": "Percentile",
    "percentile_approx": "ApproximatePercentile",
    "approx_percentile": "ApproximatePercentile",
    "corr": "Corr",
    "covar_pop": "CovPopulation",
    "covar_samp": "CovSample",
    "skewness": "Skewness",
    "kurtosis": "Kurtosis",
    "bit_and": "BitAnd",
    "bit_or": "BitOr",
    "bit_xor": "BitXor",
}
"""Aggregate functions, and their classes in Catalyst (or names that stand for another class)."""

WINDOW_FUNCTIONS = frozenset(
    (
        *("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"),
        *("lag", "lead", "nth_value", "first_value", "last_value"),
    )
)
"""Window functions besides the aggregate functions."""

GENERATORS = frozenset(("explode", "explode_outer"))
"""Functions that turn each row into any number of rows with one more column."""

DETERMINISTIC = SCALAR | AGGREGATES.keys()
"""Functions whose calls are deterministic. Functions that are not listed may not be."""
