# SPDX-License-Identifier: Apache-2.0
"""Trusted. The table of methods and functions of pandas, NumPy and Python's own library.

pandas 2 and 3: ``pandas/core/series.py``, ``frame.py``, ``generic.py``. No method changes its owner
unless ``inplace``, ``out`` or ``changes`` says so. A function that is not listed is known by its
package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from presieve.python_library.descriptions import (
    NOT_DESCRIBED,
    Change,
    Description,
    ResultKind,
    descriptions_by_name,
)

Owner: TypeAlias = Literal[
    "column", "table", "groups", "window", "dates", "object", "logger", "function"
]

_COLUMN = {
    """abs astype clip fillna round add sub mul div truediv floordiv mod pow radd rsub rmul rdiv
    capitalize lower upper strip lstrip rstrip title zfill slice pad ljust rjust normalize strftime
    total_seconds floor ceil tz_localize tz_convert day_name month_name casefold swapcase
    len find rfind removeprefix removesuffix""": Description(ResultKind.EACH, separate=True),
    """isin isna isnull notna notnull between eq ne lt le gt ge contains startswith endswith isdigit
    isdecimal isalpha isnumeric isalnum isspace isupper islower fullmatch
    match""": Description(ResultKind.EACH, separate=True, truth=True),
    """shift diff pct_change cumsum cumprod cummax cummin rank ffill bfill interpolate
    transform combine_first argsort combine""": Description(ResultKind.BESIDE),
    "duplicated": Description(ResultKind.BESIDE, truth=True),
    "searchsorted": Description(ResultKind.BESIDE, reordered=True),
    "copy infer_objects": Description(ResultKind.SAME, separate=True),
    "to_numpy tolist to_list ravel to_series": Description(
        ResultKind.SAME, separate=True, array=True
    ),
    """head tail dropna drop_duplicates sort_values sort_index nlargest nsmallest mode repeat take
    squeeze truncate""": Description(ResultKind.SOME),
    "unique": Description(ResultKind.SOME, array=True),
    """sum mean median min max std var nunique prod sem skew kurt kurtosis quantile any all
    idxmin idxmax argmin argmax item autocorr corr cov dot equals
    is_monotonic""": Description(ResultKind.ONE),
    "rolling expanding ewm": Description(ResultKind.WINDOWS),
    """groupby value_counts describe agg aggregate to_dict items iteritems explode join cat
    align reindex set_axis asof resample to_period to_timestamp keys get_dummies
    isocalendar to_pydatetime filter""": Description(ResultKind.OTHER),
    """reset_index to_frame rename rename_axis map apply replace split rsplit findall extract
    get count where mask""": Description(ResultKind.OWN),
    # An array is sorted in place by ``partition``.
    "cumcount partition rpartition": NOT_DESCRIBED,
}
"""Methods of Series and arrays, and of their ``str`` and ``dt``."""

POSITIONALS_READ = {
    **dict.fromkeys(("between", "combine", "replace", "slice", "pad", "split", "rsplit"), 3),
    **dict.fromkeys(("clip", "where", "mask", "quantile", "apply", "map", "get", "fillna"), 2),
    **dict.fromkeys(("contains", "match", "fullmatch", "rolling", "ewm", "groupby", "merge"), 9),
    **dict.fromkeys(("ljust", "rjust", "find", "rename", "query", "pivot_table", "melt"), 9),
    **dict.fromkeys(("drop", "insert", "reindex", "assign", "agg", "aggregate", "pipe"), 9),
    **dict.fromkeys(("sort_values", "nlargest", "nsmallest", "drop_duplicates", "sample"), 9),
}
"""How many arguments by position a method reads and does not write to, if more than one."""

_TABLE = {
    "fillna astype round abs": Description(ResultKind.EACH, separate=True, overwrites=True),
    "replace ffill bfill": Description(ResultKind.BESIDE, separate=True, overwrites=True),
    """assign copy drop drop_duplicates dropna isna isnull notna notnull rename
    reset_index""": Description(ResultKind.OWN, separate=True),
    "insert": Description(ResultKind.OWN, separate=True, changes=Change.STORES),
    "pop": Description(ResultKind.OWN, separate=True, changes=Change.REMOVES),
    "head tail nlargest nsmallest truncate": Description(ResultKind.SOME),
    """apply duplicated eval explode filter groupby iterrows itertuples melt merge pipe pivot_table
    query reindex rename_axis sample set_index sort_index sort_values
    to_dict""": Description(ResultKind.OWN),
    """sum mean median min max std var count nunique prod skew kurt quantile any all idxmin idxmax
    corr cov describe agg aggregate rank diff shift cumsum cumprod cummax cummin isin pct_change
    transform rolling expanding ewm resample pivot stack unstack transpose to_numpy to_records
    value_counts clip interpolate where mask applymap map select_dtypes equals mode sem get corrwith
    combine_first add_prefix add_suffix set_axis convert_dtypes items iteritems keys info
    memory_usage""": Description(ResultKind.OTHER),
    """T add align asfreq asof at attrs axes between_time bool boxplot columns compare div divide
    dot dtypes empty eq first flags ge gt hist iat iloc index infer_objects last le loc lookup lt
    mod mul multiply ndim ne pad plot pow product radd rdiv rmod rmul rpow rsub set_flags shape
    size sparse squeeze style sub subtract swapaxes swaplevel take truediv tz_convert values
    xs""": NOT_DESCRIBED,
    "update": Description(ResultKind.UNKNOWN, changes=Change.STORES),
}
"""All attributes that a DataFrame has whatever its columns are."""

_GROUPS = {
    """sum mean median min max std var count nunique prod first last sem quantile any all skew
    idxmin idxmax""": Description(ResultKind.ONE),
    "head tail nth": Description(ResultKind.SOME),
    """cumcount ngroup transform cumsum cummax cummin shift diff rank pct_change ffill bfill
    cumprod""": Description(ResultKind.BESIDE),
    """filter pipe rolling expanding ewm resample describe value_counts unique nlargest
    nsmallest get_group groups indices __iter__ corr cov sample fillna
    ohlc""": Description(ResultKind.OTHER),
    "size agg aggregate apply": Description(ResultKind.OWN),
}
"""Methods of ``groupby``."""

_WINDOW = {
    """mean sum median std var min max count quantile skew kurt sem rank
    apply""": Description(ResultKind.BESIDE)
}
"""Methods of ``rolling``, ``expanding`` and ``ewm``."""

_DATES = {
    """year month day hour minute second microsecond nanosecond date time timetz days seconds
    microseconds nanoseconds dayofweek day_of_week weekday dayofyear day_of_year quarter
    days_in_month daysinmonth is_leap_year is_month_start is_month_end is_quarter_start
    is_quarter_end is_year_start is_year_end""": Description(ResultKind.EACH)
}
"""Properties of ``dt``."""

_OBJECT = {
    "add append appendleft extend insert setdefault update": Description(
        ResultKind.OWN, changes=Change.STORES
    ),
    "extendleft put __setitem__": Description(ResultKind.UNKNOWN, changes=Change.STORES),
    "pop popitem popleft": Description(ResultKind.OWN, changes=Change.REMOVES),
    """clear discard remove reverse sort __delitem__ __iadd__ __ior__
    __setattr__""": Description(ResultKind.UNKNOWN, changes=Change.REMOVES),
    "get": Description(ResultKind.OWN, separate=True, changes=Change.NOTHING),
    "items keys values": Description(ResultKind.OWN, changes=Change.NOTHING),
    "copy most_common": Description(ResultKind.OWN),
    "count index": Description(ResultKind.ONE, changes=Change.NOTHING),
    "isdisjoint issubset issuperset": Description(ResultKind.ONE),
    "union": NOT_DESCRIBED,
    """endswith format join match replace search split startswith strip __contains__ __getitem__
    lower upper title""": Description(ResultKind.UNKNOWN, changes=Change.NOTHING),
}
"""Methods of Python's own objects: lists, deques, sets, dicts, texts, patterns."""

_LOGGER = {
    """critical debug error exception fatal info log warn
    warning""": Description(ResultKind.UNKNOWN, changes=Change.NOTHING)
}
"""Methods that write a message."""

_CHANGED = Description(ResultKind.UNKNOWN, changes=Change.STORES)
_IN_PLACE = {
    """setitem delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub
    itruediv ixor""": _CHANGED
}
_FUNCTIONS = {
    "builtins.": {
        """str bool abs round repr isinstance type hash sum any all format ord chr
        callable""": Description(ResultKind.ONE, separate=True),
        # A column may become empty: of two tables of one key, one may have no rows.
        "int float max min": Description(ResultKind.ONE),
        "len": Description(ResultKind.OWN, separate=True),
        "next setattr delattr": _CHANGED,
    },
    "numpy.": {
        """abs absolute arccos arcsin arctan ceil cos deg2rad degrees exp expm1 fabs floor log log10
        log1p log2 negative rad2deg radians rint sign sin sqrt square tan tanh trunc
        nan_to_num""": Description(ResultKind.EACH, separate=True, inputs=1),
        """isfinite isinf isnan
        logical_not""": Description(ResultKind.EACH, separate=True, truth=True, inputs=1),
        """add divide float_power floor_divide fmax fmin hypot maximum minimum mod multiply power
        round subtract""": Description(ResultKind.EACH, separate=True, inputs=2),
        """equal greater greater_equal less less_equal logical_and logical_or
        not_equal""": Description(ResultKind.EACH, separate=True, truth=True, inputs=2),
        "clip": Description(ResultKind.EACH, separate=True, inputs=3),
        "where": Description(ResultKind.EACH, separate=True, array=True, inputs=3),
        """mean median std var sum min max nanmean nanmedian nansum nanmin nanmax nanstd average
        percentile quantile prod argmax argmin count_nonzero any all
        trapz""": Description(ResultKind.ONE),
        "copyto fill_diagonal place put put_along_axis putmask random.shuffle": _CHANGED,
    },
    "pandas.": {
        "to_numeric": Description(ResultKind.EACH, separate=True),
        # The first text decides in which order days and months of all of them are read.
        "to_datetime": Description(ResultKind.EACH),
        "isna isnull notna notnull": Description(ResultKind.EACH, separate=True, truth=True),
    },
    "sklearn.metrics.": {
        """accuracy_score balanced_accuracy_score explained_variance_score log_loss
        matthews_corrcoef max_error mean_absolute_error mean_absolute_percentage_error
        mean_squared_error median_absolute_error r2_score
        root_mean_squared_error""": Description(ResultKind.ONE)
    },
    "bisect.": {"insort insort_left insort_right": _CHANGED},
    "_bisect.": {"insort insort_left insort_right": _CHANGED},
    "random.": {"shuffle": _CHANGED},
    "operator.": _IN_PLACE,
    "_operator.": _IN_PLACE,
}
"""Functions by the path of their module."""

CATALOGUE: Mapping[Owner, dict[str, Description]] = {
    "column": descriptions_by_name(_COLUMN),
    "table": descriptions_by_name(_TABLE),
    "groups": descriptions_by_name(_GROUPS),
    "window": descriptions_by_name(_WINDOW),
    "dates": descriptions_by_name(_DATES),
    "object": descriptions_by_name(_OBJECT),
    "logger": descriptions_by_name(_LOGGER),
    "function": {
        path: description
        for module, rows in _FUNCTIONS.items()
        for path, description in descriptions_by_name(rows, module).items()
    },
}
"""All descriptions: of methods by the kind of their owner and by name, of functions by path."""


def describe(owner: Owner, name: str) -> Description:
    """Return the facts about a method or function. Of one that is not listed nothing is known."""
    return CATALOGUE[owner].get(name, NOT_DESCRIBED)
