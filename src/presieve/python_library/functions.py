"""Trusted. Functions, by path.

A function of a package that only computes and that is not listed reads its arguments and changes
none.
"""

from __future__ import annotations

from presieve.python_library.facts import Change, Description, Result, join_tables, share


def _share_numpy(names: str, *, inputs: int, truth: bool = False) -> dict[str, Description]:
    return share(Description(Result.EACH, True, truth, inputs=inputs), names, "numpy.")


_IN_PLACE = """setitem delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow
    irshift isub itruediv ixor"""
_CHANGED = Description(Result.UNKNOWN, changes=Change.STORES)

FUNCTIONS = join_tables(
    _share_numpy(
        """abs absolute arccos arcsin arctan ceil cos deg2rad degrees exp expm1 fabs floor log log10
        log1p log2 negative rad2deg radians rint sign sin sqrt square tan tanh trunc nan_to_num""",
        inputs=1,
    ),
    _share_numpy("isfinite isinf isnan logical_not", inputs=1, truth=True),
    _share_numpy(
        """add divide float_power floor_divide fmax fmin hypot maximum minimum mod multiply power
        round subtract""",
        inputs=2,
    ),
    _share_numpy(
        "equal greater greater_equal less less_equal logical_and logical_or not_equal",
        inputs=2,
        truth=True,
    ),
    _share_numpy("clip", inputs=3),
    {"numpy.where": Description(Result.EACH, separate=True, array=True, inputs=3)},
    share(
        Description(Result.ONE),
        """mean median std var sum min max nanmean nanmedian nansum nanmin nanmax nanstd average
        percentile quantile prod argmax argmin count_nonzero any all trapz""",
        "numpy.",
    ),
    share(
        Description(Result.ONE),
        """accuracy_score balanced_accuracy_score explained_variance_score log_loss
        matthews_corrcoef max_error mean_absolute_error mean_absolute_percentage_error
        mean_squared_error median_absolute_error r2_score root_mean_squared_error""",
        "sklearn.metrics.",
    ),
    share(
        Description(Result.ONE, separate=True),
        """int float str bool abs round repr isinstance type hash max min sum any all format ord chr
        callable""",
        "builtins.",
    ),
    share(Description(Result.OWN, separate=True), "builtins.len"),
    share(Description(Result.EACH, separate=True), "to_datetime to_numeric", "pandas."),
    share(Description(Result.EACH, True, truth=True), "isna isnull notna notnull", "pandas."),
    share(_CHANGED, "copyto fill_diagonal place put putmask random.shuffle", "numpy."),
    share(_CHANGED, "insort insort_left insort_right", "bisect."),
    share(_CHANGED, "random.shuffle builtins.next builtins.setattr builtins.delattr"),
    share(_CHANGED, _IN_PLACE, "operator."),
    share(_CHANGED, _IN_PLACE, "_operator."),
)
