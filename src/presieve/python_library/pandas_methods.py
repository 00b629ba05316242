"""Trusted. Methods of Series, DataFrames, groups and windows.

pandas 2 and 3: ``pandas/core/series.py``, ``frame.py``, ``generic.py``. None of them changes its
owner unless ``inplace`` or ``out`` says so, except where a row says it.
"""

from __future__ import annotations

from presieve.python_library.facts import Change, Description, Result, join_tables, share

OF_COLUMN = join_tables(
    share(
        Description(Result.EACH, separate=True),
        """abs astype clip fillna round add sub mul div truediv floordiv mod pow radd rsub rmul rdiv
        capitalize lower upper strip lstrip rstrip title zfill slice pad ljust rjust normalize
        strftime total_seconds floor ceil tz_localize tz_convert day_name month_name casefold
        swapcase len""",
    ),
    share(
        Description(Result.EACH, separate=True, truth=True),
        """isin isna isnull notna notnull between eq ne lt le gt ge contains startswith endswith
        isdigit isalpha isnumeric isalnum isspace isupper islower fullmatch match""",
    ),
    # ``replace``, ``map`` and ``apply``: their functions and tables are not followed.
    share(
        Description(Result.BESIDE),
        """where mask shift diff pct_change cumsum cumprod cummax cummin rank ffill bfill
        interpolate transform replace combine_first apply map argsort combine""",
    ),
    share(Description(Result.BESIDE, truth=True), "duplicated"),
    share(Description(Result.BESIDE, reordered=True), "searchsorted"),
    share(Description(Result.SAME, separate=True), "copy infer_objects"),
    share(
        Description(Result.SAME, separate=True, array=True),
        "to_numpy tolist to_list ravel to_series",
    ),
    share(
        Description(Result.SOME),
        """head tail dropna drop_duplicates sort_values sort_index nlargest nsmallest mode repeat
        take squeeze truncate""",
    ),
    share(Description(Result.SOME, array=True), "unique"),
    share(
        Description(Result.ONE),
        """sum mean median min max std var count nunique prod sem skew kurt kurtosis quantile any
        all idxmin idxmax argmin argmax item autocorr corr cov dot equals is_monotonic""",
    ),
    share(Description(Result.WINDOWS), "rolling expanding ewm"),
    share(
        Description(Result.OTHER),
        """groupby value_counts describe agg aggregate to_dict items iteritems explode split extract
        get join cat align reindex set_axis asof resample to_period to_timestamp keys findall
        partition rsplit get_dummies isocalendar to_pydatetime filter""",
    ),
    share(Description(Result.OWN), "reset_index to_frame rename rename_axis"),
    share(Description(Result.UNKNOWN), "removeprefix"),
)
"""Methods of Series and arrays, and of their ``str`` and ``dt``."""

OF_TABLE = join_tables(
    share(Description(Result.EACH, separate=True, overwrites=True), "fillna astype round abs"),
    share(Description(Result.BESIDE, separate=True, overwrites=True), "replace ffill bfill"),
    share(
        Description(Result.OWN, separate=True),
        """assign copy drop drop_duplicates dropna isna isnull notna notnull rename reset_index""",
    ),
    share(Description(Result.OWN, separate=True, changes=Change.STORES), "insert"),
    share(Description(Result.OWN, separate=True, changes=Change.REMOVES), "pop"),
    share(Description(Result.SOME), "head tail nlargest nsmallest truncate"),
    share(
        Description(Result.OWN),
        """apply duplicated eval explode filter groupby iterrows itertuples melt merge pipe
        pivot_table query reindex rename_axis sample set_index sort_index sort_values to_dict""",
    ),
    share(
        Description(Result.OTHER),
        """sum mean median min max std var count nunique prod skew kurt quantile any all idxmin
        idxmax corr cov describe agg aggregate rank diff shift cumsum cumprod cummax cummin isin
        pct_change transform rolling expanding ewm resample pivot stack unstack transpose to_numpy
        to_records value_counts clip interpolate where mask applymap map select_dtypes equals mode
        sem get corrwith combine_first add_prefix add_suffix set_axis convert_dtypes items iteritems
        keys info memory_usage""",
    ),
    share(
        Description(Result.UNKNOWN),
        """T add align asfreq asof at attrs axes between_time bool boxplot columns
        compare div divide dot dtypes empty eq first flags ge gt hist iat iloc index
        infer_objects last le loc lookup lt mod mul multiply ndim ne pad plot pow
        product radd rdiv rmod rmul rpow rsub set_flags shape size sparse squeeze style
        sub subtract swapaxes swaplevel take truediv tz_convert values xs""",
    ),
    share(Description(Result.UNKNOWN, changes=Change.STORES), "update"),
)
"""All attributes that a DataFrame has whatever its columns are."""

OF_GROUPS = join_tables(
    share(
        Description(Result.ONE),
        """sum mean median min max std var count nunique prod first last sem quantile any all skew
        idxmin idxmax""",
    ),
    share(Description(Result.SOME), "head tail nth"),
    share(
        Description(Result.BESIDE),
        """cumcount ngroup transform cumsum cummax cummin shift diff rank pct_change ffill bfill
        cumprod""",
    ),
    share(
        Description(Result.OTHER),
        """apply filter pipe rolling expanding ewm resample describe value_counts unique nlargest
        nsmallest get_group groups indices __iter__ corr cov sample fillna ohlc""",
    ),
    share(Description(Result.OWN), "size agg aggregate"),
)
"""Methods of ``groupby``."""

OF_WINDOW = share(
    Description(Result.BESIDE),
    "mean sum median std var min max count quantile skew kurt sem rank apply",
)
"""Methods of ``rolling``, ``expanding`` and ``ewm``."""
