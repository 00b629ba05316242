"""Functions of groups as people write them, with keys ``k``, and what spoils them."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import json
import operator
from collections import defaultdict

import collections
import inspect

import numpy as np
import pandas as pd

FEATURES = ["x", "y"]
OUTPUT = ("k", "m")


def key_in_a_row(key, pdf):
    return pd.DataFrame([key + (pdf.x.mean(), len(pdf))], columns=["k", "mean", "n"])


def key_in_a_dict(key, pdf):
    return pd.DataFrame({"k": [key[0]], "m": [pdf["x"].median()]})


def key_broadcast(key, pdf):
    out = pd.DataFrame({"x": pdf["x"], "y": pdf["y"]})
    out["k"] = key[0]
    return out


def first_of_the_column(pdf):
    k = pdf["k"].iloc[0]
    return pd.DataFrame({"k": [k], "m": [pdf["x"].sum()]})


def first_of_the_values(pdf):
    return pd.DataFrame({"k": [pdf["k"].values[0]], "m": [float(np.nanmedian(pdf["x"]))]})


def unique_value(pdf):
    k = pdf.k.unique()[0]
    return pd.DataFrame([{"k": k, "m": pdf.x.max()}])


def model_inside(pdf):
    import math

    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(pdf[["x"]], pdf["y"])
    pdf["fit"] = model.predict(pdf[["x"]])
    return pdf[["k", "x", "fit"]]


def too_few_rows(pdf):
    if len(pdf) < 3:
        return pd.DataFrame(columns=["k", "m"])
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "m": [pdf.x.std()]})


def nothing_for_empty(pdf):
    if pdf.empty:
        return pd.DataFrame()
    return pdf[["k", "x"]].tail(1)


def caught(pdf):
    try:
        fit = np.polyfit(pdf["x"], pdf["y"], 1)[0]
    except Exception as error:
        print("no fit", error)
        fit = None
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "m": [fit]})


def columns_in_a_loop(pdf):
    for c in FEATURES:
        pdf[f"{c}_scaled"] = (pdf[c] - pdf[c].mean()) / pdf[c].std()
    return pdf


def rows_collected(key, pdf):
    rows = []
    for r in pdf.itertuples():
        if r.x > 1:
            rows.append({"k": key[0], "m": r.x})
    return pd.DataFrame(rows, columns=["k", "m"])


def rows_comprehended(key, pdf):
    return pd.DataFrame([{"k": key[0], "m": json.loads(s)["m"]} for s in pdf["s"]])


def grouped_again(pdf):
    return pdf.groupby("k")["x"].mean().reset_index()


def grouped_by_both(pdf):
    return pdf.groupby(["k", "s"], as_index=False).agg(m=("x", "sum"))


def best_of_each(pdf):
    best = pdf.groupby("s").apply(lambda g: g.nlargest(1, "x")).reset_index(drop=True)
    best["m"] = best["x"]
    return best[["k", "m"]]


def first_of_each(pdf):
    return pdf.groupby("t", group_keys=False).apply(lambda g: g.head(1))[["k", "x"]]


def grouped_with_names(pdf):
    out = pdf.groupby("k").agg({"x": "sum", "y": "max"}).reset_index()
    return out.rename(columns={"x": "m"})


def sized(pdf):
    return pdf.groupby(["k", "s"]).size().reset_index(name="m")


def cleaned(df):
    df = df.dropna(subset=["x"]).copy()
    df["x"] = df["x"].clip(0, 10)
    return df


def with_a_helper(pdf):
    return cleaned(pdf).sort_values("x", ascending=False).head(2)


def merged_on_the_key(pdf):
    best = pdf.groupby("k")["x"].max().reset_index(name="best")
    return pdf.merge(best, on="k")


def stacked(pdf):
    high = pdf[pdf["x"] > 3]
    low = pdf[pdf["x"] <= 3].nlargest(1, "x")
    return pd.concat([high, low], ignore_index=True)


def by_rows(pdf):
    pdf["m"] = pdf.apply(lambda row: row["x"] + row["y"], axis=1)
    return pdf


def parts_of_groups(pdf):
    parts = []
    for s, part in pdf.groupby("s"):
        part = part.sort_values("y")
        part["m"] = part["x"].cumsum()
        parts.append(part)
    return pd.concat(parts)


def assigned(pdf):
    return pdf.assign(m=lambda d: d["x"] * 2, n=1)


def sliced(pdf):
    return pdf.sort_values("y").iloc[1:-1]


def queried(pdf):
    return pdf.query("x > 1").drop(columns=["s"])


def melted(pdf):
    return pdf.melt(id_vars=["k"], value_vars=["x", "y"])


def melted_by_a_function(pdf):
    return pd.melt(pdf, ["k"], value_vars=["x", "y"], var_name="name")


def exploded(pdf):
    pdf["parts"] = pdf["s"].str.split(",")
    return pdf.explode("parts")


def labels(pdf):
    return pdf.set_index("k")[["x"]].reset_index()


def nested(pdf):
    def scaled(values):
        return values / values.max()

    pdf["x"] = scaled(pdf["x"])
    return pdf


def rolled(pdf):
    pdf = pdf.sort_values("y")
    pdf["m"] = pdf["x"].rolling(3, min_periods=1).mean()
    return pdf


def rolled_over_some(pdf):
    pdf = pdf.loc[~pdf["x"].isna()].copy()
    pdf["m"] = pdf["x"].rolling(3, center=True, min_periods=1).median()
    pdf["n"] = pdf["y"].expanding().max()
    return pdf


def resampled(pdf):
    key = pdf["k"].iloc[0]
    daily = pdf.set_index("t")["x"].groupby(lambda t: t % 2).mean().interpolate().reset_index()
    daily["k"] = key
    return daily[["k", "x"]]


def dicts_per_group(key, pdf):
    result = {"k": key[0], "n": len(pdf)}
    for c in FEATURES:
        result[c] = pdf[c].mean()
    return pd.DataFrame([result])


def tuple_of_keys(key, pdf):
    (k,) = key
    return pd.DataFrame({"k": k, "m": pdf["x"].values})


def attribute(pdf):
    pdf.x = pdf.x.fillna(0)
    return pdf


def inserted_in_the_middle(pdf):
    pdf.insert(2, "n", 1)
    return pdf[["k", "n"]]


def inserted_first(pdf):
    pdf.insert(0, "n", pdf["x"] * 2)
    return pdf[["k", "n"]]


def ranked_by_position(pdf):
    best = pdf.nlargest(2, "x")
    best["rank"] = range(1, len(best) + 1)
    best["zero"] = np.zeros(best.shape[0])
    best["at"] = np.arange(len(best))
    return best


def as_long_as_the_table(key, pdf):
    part = pdf[pdf["x"] > 1]
    return pd.DataFrame({"k": [key[0]] * len(part), "x": part["x"].values})


def built_by_columns(pdf):
    late = pdf.iloc[1:]
    out = pd.DataFrame()
    out["x"] = late["x"]
    out["k"] = pdf["k"].iloc[0]
    out["y"] = late["y"].values
    return out


def zipped_into_a_row(key, pdf):
    row = {"k": key[0]}
    for q, value in zip((0.5, 0.9), np.nanquantile(pdf["x"], (0.5, 0.9))):
        row[f"q{q}"] = value
    return pd.DataFrame([row])


def with_a_field_sometimes(key, pdf):
    row = {"k": key[0], "n": len(pdf)}
    if len(pdf) > 2:
        row["m"] = pdf["x"].mean()
    return pd.DataFrame([row])


def named_by_a_dict(pdf):
    for old, new in {"x": "first", "y": "second"}.items():
        pdf[new] = pdf[old] * 2
    for i, name in enumerate(FEATURES):
        pdf[f"{name}_{i}"] = pdf[name] + i
    return pdf


def all_columns_but_some(pdf):
    for c in pdf.columns:
        if c in ("k", "s"):
            continue
        pdf[c] = pdf[c].fillna(0) if c != "t" else 0
    return pdf[[c for c in pdf.columns if c not in ("x", "y")]]


def a_row_for_each_label(pdf):
    out = pdf.set_index("t").sort_index()
    out = out[~out.index.duplicated(keep="last")].reindex(range(6))
    out["k"] = pdf["k"].iloc[0]
    return out.rename_axis("t").reset_index()


def pivoted(pdf):
    wide = pdf.pivot_table(index="k", columns="t", values="x", aggfunc="max", fill_value=0)
    wide = wide.reindex(columns=range(2))
    wide.columns = ["t0", "t1"]
    return wide.reset_index()


def sampled_with_a_seed(pdf):
    return pdf.sample(n=min(len(pdf), 2), random_state=7)


def masked_by_a_function(pdf):
    return pdf.loc[lambda d: d["x"] > 0][lambda d: d["t"] < 5].loc[lambda d: d["y"] > 0, ["k"]]


def nearest_before(pdf):
    left = pdf[["k", "t", "x"]].sort_values("t")
    right = pdf[["t", "y", "k"]].rename(columns={"t": "u"}).sort_values("u")
    found = pd.merge_asof(left, right, left_on="t", right_on="u", suffixes=("", "_r"))
    return found[["k", "x", "y"]]


def _with_names(names):
    def joined_with_a_table(pdf):
        return pdf.merge(names, on="t", how="left")

    return joined_with_a_table


joined_with_a_table = _with_names(pd.DataFrame({"t": [0, 1], "name": ["zero", None]}))


def crossed(pdf):
    return pd.crosstab(pdf["k"], pdf["t"]).reset_index()


def selected(pdf):
    best = pdf[pdf["x"] > 0]
    best["class"] = np.select([best["x"] > 50, best["x"] > 2], ["A", "B"], default="C")
    return best


def described_in_a_row(pdf):
    out = pdf["x"].describe().to_frame().T
    out["k"] = pdf["k"].iloc[0]
    return out


def shares(pdf):
    sums = pdf.groupby("t")["y"].sum().sort_values()
    out = (sums.cumsum() / sums.sum()).reset_index(name="share")
    return out.assign(k=pdf["k"].iloc[0])[["k", "share"]]


def nothing_by_columns(pdf):
    if len(pdf) < 2:
        return pd.DataFrame({"k": [], "x": []})
    return pdf[["k", "x"]]


def sessions(pdf):
    session = (pdf["x"].diff() > 1).cumsum()
    out = pdf.groupby(session).agg(start=("x", "min"), n=("t", "count"))
    out.insert(0, "k", pdf["k"].iloc[0])
    return out.reset_index(drop=True)


def sessions_one_by_one(pdf):
    records = []
    for _, part in pdf.groupby((pdf["x"].diff() > np.float64(1)).cumsum()):
        records.append({"k": part["k"].iloc[0], "n": len(part)})
    return pd.DataFrame(records, columns=["k", "n"])


KEEPING = [
    f
    for f in list(globals().values())
    if getattr(f, "__module__", "") == __name__ and f.__name__ not in ("cleaned", "_with_names")
]

# --- what spoils the key ---------------------------------------------------------------------------


def rolled_over_others(pdf):
    part = pdf[pdf["t"] > 1].copy()
    part["m"] = pdf["x"].rolling(2).mean()
    return part


def changed_after_resampling(pdf):
    daily = pdf.set_index("t")["x"].groupby(lambda t: t % 2).mean().interpolate().reset_index()
    daily["k"] = pdf["k"].iloc[0]
    daily.loc[daily["x"] > 1, "k"] = 0
    return daily[["k", "x"]]


def changed_in_each_group(pdf):
    return pdf.groupby("t", group_keys=False).apply(lambda g: g.assign(k=0))


def changed_below_a_label(pdf):
    parts = pdf.groupby("t").apply(lambda g: g.rename(columns={"k": "m", "y": "k"}))
    return parts.reset_index(drop=True)[["k", "x"]]


def changed_view(pdf):
    s = pdf["k"]
    s += 1
    return pdf


def changed_values(pdf):
    v = pdf["k"].values
    v[0] = 7
    return pdf


def shifted(pdf):
    pdf["k"] = pdf["k"].shift(1)
    return pdf


def filled(pdf):
    return pdf.fillna(0)


def filled_key(pdf):
    return pdf.fillna({"k": 0})


def gaps_by_labels(pdf):
    return pd.DataFrame({"k": pdf["k"][pdf.x > 3], "m": pdf["x"]})


def rows_for_none(pdf):
    out = pdf[pdf.x > 1000]
    out["m"] = [1]
    return out


def one_more_row(pdf):
    pdf.loc[len(pdf)] = [0, 0.0, 0, "a", 0]
    return pdf


def gaps_of_concat(pdf):
    return pd.concat([pdf[["k", "x"]], pdf[["x"]]])


def right_of_left_join(pdf):
    other = pdf[pdf["x"] > 3][["k", "y"]].rename(columns={"k": "key"})
    return pdf[["x", "y"]].merge(other, on="y", how="left").rename(columns={"key": "k"})


def some_rows_changed(pdf):
    pdf.loc[pdf["x"] > 1, "k"] = 0
    return pdf


def by_a_mask(pdf):
    pdf[pdf["y"] > 3] = 0
    return pdf


def renamed_over(pdf):
    return pdf.drop(columns=["k"]).rename(columns={"y": "k"})


def named_again(pdf):
    pdf.columns = ["x", "k", "y", "s", "t"]
    return pdf


def helper_changes(pdf):
    overwrite(pdf)
    return pdf


def overwrite(df):
    df["k"] = 0


def sometimes(pdf):
    if pdf["x"].max() > 3:
        pdf["k"] = 0
    return pdf


def in_a_loop(pdf):
    out = pdf
    for i in range(2):
        out["k"] = i
    return out


def rows_without(key, pdf):
    return pd.DataFrame([{"k": key[0], "m": 1}, {"m": 2}])


def mixed_array(key, pdf):
    return pd.DataFrame(np.array([[key[0], 1.5]]), columns=["k", "m"])


def mixed_series(key, pdf):
    return pd.Series({"k": key[0], "m": 1.5}).to_frame().T


def copied_over(pdf):
    np.copyto(pdf["k"].values, pdf["y"].values)
    return pdf


def emptied(pdf):
    pdf["k"] = pdf["k"].where(pdf["x"] > 1)
    return pdf


def by_a_list(pdf):
    parts = [pdf]
    parts[0]["k"] = 0
    return pdf


def by_a_dict(pdf):
    held = {"t": pdf}
    held["t"]["k"] = 0
    return pdf


def by_a_closure(pdf):
    def change():
        pdf["k"] = 0

    change()
    return pdf


def in_except(pdf):
    try:
        pdf["k"] = 0
        pdf["m"] = 1 / 0
    except ZeroDivisionError:
        pass
    return pdf


def in_finally(pdf):
    try:
        return pdf
    finally:
        pdf["k"] = 0


def in_a_lambda(pdf):
    change = lambda d: d.insert(0, "q", d.pop("k"))
    change(pdf)
    return pdf.rename(columns={"y": "k"})


def first_letters(pdf):
    pdf["k"] = pdf["s"]
    pdf["k"] = pdf["k"].str[0]
    return pdf


def letters_of_the_key(pdf):
    pdf["k"] = pdf["k"].astype(str).str[0]
    return pdf


def key_sliced(pdf):
    out = pd.DataFrame({"m": pdf["x"]})
    out["k"] = pdf["k"].map(str).str[-1]
    return out


def other_labels(pdf):
    s = pdf["x"]
    s.index = [i + 10 for i in range(len(s))]
    return pd.DataFrame({"k": pdf["k"], "m": s})


def labels_in_place(pdf):
    pdf = pdf[pdf["t"] > 0]
    s = pdf["x"].copy()
    s.reset_index(drop=True, inplace=True)
    return pd.DataFrame({"k": pdf["k"], "m": s})


def grouped_before(pdf):
    key = pdf["k"].iloc[0]
    pdf["k"] = pdf["t"]
    groups = pdf.groupby("k")
    pdf["k"] = key
    return groups["x"].sum().reset_index()


def rows_before(pdf):
    key = pdf["k"].iloc[0]
    pdf["k"] = pdf["t"]
    rows = []
    for r in pdf.itertuples():
        pdf["k"] = key
        rows.append({"k": r.k, "m": r.x})
    return pd.DataFrame(rows)


def parts_before(pdf):
    key = pdf["k"].iloc[0]
    pdf["k"] = pdf["t"]
    parts = []
    for _, part in pdf.groupby("k"):
        pdf["k"] = key
        parts.append(part)
    return pd.concat(parts)


def replaced(pdf):
    return pdf.replace({7: 8, 2**53 + 1: 3})


def view_of_a_new_column(pdf):
    pdf["k"] = pdf["k"].values[0]
    s = pdf["k"]
    s += 1
    return pdf


def view_of_a_new_table(pdf):
    out = pdf.groupby("k")["x"].sum().reset_index()
    s = out["k"]
    s += 1
    return out


def view_of_joined_rows(pdf):
    out = pd.concat([pdf, pdf])
    s = out["k"]
    s += 1
    return out


def view_filled_in_place(pdf):
    out = pdf.head(2)
    pdf.fillna(0, inplace=True)
    return out


def numbered_anew(pdf):
    pdf = pdf[pdf["t"] > 0]
    pdf["m"] = pd.Series(pdf["k"].tolist())
    return pdf.drop(columns=["k"]).rename(columns={"m": "k"})


def by_a_dict_of_lists(pdf):
    parts = defaultdict(list)
    parts["all"].append(pdf)
    for part in parts["all"]:
        part["k"] = 0
    return pdf


def by_setitem(pdf):
    operator.setitem(pdf, "k", 0)
    return pdf


def by_the_class(pdf):
    pd.DataFrame.__setitem__(pdf, "k", 0)
    return pdf


def emptied_by_name(key, pdf):
    m = np.where(pdf["x"] > 0, 1, 2)
    for name in ["drop"]:
        getattr(pdf, name)(index=list(pdf.index), inplace=True)
    pdf["k"] = key[0]
    pdf["m"] = m
    return pdf


def levels_by_a_dict(pdf):
    return pdf.groupby("k").agg({"x": ["max"]}).reset_index()


def levels_by_a_list(pdf):
    return pdf[["k", "x", "y"]].groupby("k").agg(["min", "max"]).reset_index()


def levels_of_a_flat_table(pdf):
    return pdf.groupby("k", as_index=False).agg({"x": ["min", "max"]})


def more_than_there_are(pdf):
    part = pdf[pdf["t"] > 9]
    part["m"] = range(2)
    return part


def as_many_as_before(pdf):
    n = len(pdf)
    pdf = pdf[pdf["t"] > 9]
    pdf["m"] = np.zeros(n)
    return pdf


def times_an_array(key, pdf):
    return pd.DataFrame({"k": [key[0]] * np.array([2])})


def key_before_the_rows(key, pdf):
    out = pd.DataFrame()
    out["k"] = key[0]
    out["x"] = pdf["x"]
    return out


def zip_that_ends_early(key, pdf):
    pdf["k"] = 0
    for name, _ in zip(["k"], pdf["x"].head(0)):
        pdf[name] = key[0]
    return pdf


def field_that_is_missing(key, pdf):
    row = {"m": 1}
    if len(pdf) > 2:
        row["k"] = key[0]
    return pd.DataFrame([row, {"k": key[0]}])


def all_columns(pdf):
    for c in pdf.columns:
        if c != "x":
            pdf[c] = 0
    return pdf


def labels_that_are_not_there(pdf):
    return pdf.reindex(range(9))


def pivoted_by_another(pdf):
    wide = pdf.pivot_table(index="y", columns="t", values="x", aggfunc="max")
    return wide.reset_index().rename(columns={"y": "k"})


def nearest_of_the_other(pdf):
    right = pdf[["t", "k"]].sort_values("t")
    left = pdf[["t", "x"]].sort_values("t")
    return pd.merge_asof(left, right, on="t", allow_exact_matches=False)


def crossed_the_other_way(pdf):
    return pd.crosstab(pdf["t"], pdf["k"]).reset_index().rename(columns={"t": "k"})


def selected_of_others(pdf):
    best = pdf[pdf["t"] > 9]
    best["class"] = np.select([pdf["x"] > 50], ["A"], default="C")
    return best


def view_of_what_is_not_followed(pdf):
    out = pdf.get("k").to_frame()
    s = out["k"]
    s += 1
    return pdf


def names_written_in_their_array(pdf):
    names = pdf.columns.values
    names[0], names[1] = "x", "k"
    return pdf


def turned(pdf):
    return pdf[["k", "x"]].set_axis(["x", "k"], axis=1).T.T


def sums_named_again(pdf):
    out = pdf.groupby("s").sum(numeric_only=True)
    out.columns = ["k", "x", "y", "t"]
    return out


def changed_while_numbered(pdf):
    names = ["x", "y"]
    for i, name in enumerate(names):
        names[1] = "k"
        pdf[name] = 0
    return pdf


def numbered_twice(key, pdf):
    names = enumerate(["k"])
    for i, name in names:
        pdf[name] = 0
    for i, name in names:
        pdf[name] = key[0]
    return pdf


def changed_while_viewed(pdf):
    names = {"a": "x", "b": "y"}
    for _, name in names.items():
        names["b"] = "k"
        pdf[name] = 0
    return pdf


def changed_in_a_comprehension(pdf):
    names = ["x", "y"]

    def zero(name):
        pdf[name] = 0
        names[1] = "k"

    [zero(name) for name in names]
    return pdf


def label_in_the_way(pdf):
    out = pdf.rename_axis("s").reset_index()
    return out[["k", "x"]]


def inserted_in_the_way(pdf):
    pdf.insert(0, "s", 1)
    return pdf[["k", "x"]]


def melted_in_the_way(pdf):
    long = pdf.melt(id_vars=["k"], value_vars=["x"], value_name="s")
    return long[["k"]]


def labels_of_other_values(pdf):
    """The labels take the name of what the rows are grouped by."""
    return pdf.groupby(pdf["t"].rename("k")).agg(n=("x", "count")).reset_index()


def labels_of_a_grouper(pdf):
    pdf = pdf.rename(columns={"k": "m", "t": "k"})
    return pdf.groupby(pd.Grouper(key="k")).agg(n=("x", "count")).reset_index()


def _others(pdf):
    return pdf[["t"]].rename(columns={"t": "k"})


def in_one_of_the_records(pdf):
    records = _others(pdf).to_dict("records")
    records[0]["k"] = pdf["k"].iloc[0]
    return pd.DataFrame(records)


def in_a_record_that_is_emptied(pdf):
    records = _others(pdf).to_dict("records")
    first = records[0]
    first.pop("k")
    first["k"] = pdf["k"].iloc[0]
    return pd.DataFrame(records)


def in_one_of_the_dicts(pdf):
    dicts = [{"k": t} for t in pdf["t"]]
    dicts[0]["k"] = pdf["k"].iloc[0]
    return pd.DataFrame(dicts)


def in_one_of_the_dicts_by_update(pdf):
    dicts = [dict(k=t, n=1) for t in pdf["t"] if t is not None]
    dicts[-1].update({"k": pdf["k"].iloc[0]})
    return pd.DataFrame(dicts)


def in_one_of_the_dicts_of_a_dict(pdf):
    dicts = {n: {"k": t} for n, t in enumerate(pdf["t"])}
    dicts[0]["k"] = pdf["k"].iloc[0]
    return pd.DataFrame(list(dicts.values()))


def _record(number):
    return {"k": number}


def in_one_of_those_of_a_function(pdf):
    dicts = [_record(t) for t in pdf["t"]]
    first = dicts[0]
    first["k"] = pdf["k"].iloc[0]
    return pd.DataFrame(dicts)


def in_one_of_the_mapped(pdf):
    dicts = list(map(_record, pdf["t"]))
    dicts[0]["k"] = pdf["k"].iloc[0]
    return pd.DataFrame(dicts)


def in_one_of_the_generated(pdf):
    dicts = list({"k": t} for t in pdf["t"])
    dicts[0]["k"] = pdf["k"].iloc[0]
    return pd.DataFrame(dicts)


def in_one_of_the_nested(pdf):
    lists = [[{"k": t}] for t in pdf["t"]]
    lists[0][0]["k"] = pdf["k"].iloc[0]
    return pd.DataFrame([dicts[0] for dicts in lists])


def in_one_of_the_tables(pdf):
    tables = [part for _, part in _others(pdf).groupby("k")]
    tables[0]["k"] = pdf["k"].iloc[0]
    return pd.concat(tables)


def in_one_of_the_new_tables(pdf):
    tables = [pd.DataFrame({"k": [t]}) for t in pdf["t"]]
    tables[0]["k"] = pdf["k"].iloc[0]
    return pd.concat(tables)


def by_an_ordered_dict(pdf):
    record = {"k": pdf["k"].iloc[0]}
    collections.OrderedDict(a=record)["a"]["k"] = 5
    return pd.DataFrame([record])


def by_a_default_dict(pdf):
    record = {"k": pdf["k"].iloc[0]}
    given = collections.defaultdict(dict, {"a": record})
    given["a"]["k"] = 5
    return pd.DataFrame([record])


def by_an_error(pdf):
    record = {"k": pdf["k"].iloc[0]}
    try:
        raise ValueError(record)
    except ValueError as error:
        error.args[0]["k"] = 5
    return pd.DataFrame([record])


def by_an_assertion(pdf):
    out = pdf[["k"]].copy()
    try:
        assert out.empty, out
    except AssertionError as error:
        error.args[0]["k"] = 5
    return out


def in_a_cell(pdf):
    record = {"k": pdf["k"].iloc[0]}
    pd.Series([record]).iloc[0]["k"] = 5
    return pd.DataFrame([record])


def in_cells_of_a_column(pdf):
    records = [{"k": pdf["k"].iloc[0]} for _ in pdf["t"]]
    pdf["r"] = records
    for record in pdf["r"]:
        record["k"] = 5
    return pd.DataFrame(records)


def in_cells_of_a_table(pdf):
    record = {"k": pdf["k"].iloc[0]}
    for row in pd.DataFrame({"r": [record]}).itertuples():
        row.r["k"] = 5
    return pd.DataFrame([record])


def in_cells_of_rows(pdf):
    record = {"k": pdf["k"].iloc[0]}
    pd.DataFrame([{"r": record}])["r"].tolist()[0]["k"] = 5
    return pd.DataFrame([record])


def in_mapped_cells(pdf):
    record = {"k": pdf["k"].iloc[0]}
    for cell in pdf["t"].map(lambda _: record):
        cell["k"] = 5
    return pd.DataFrame([record])


def in_cells_by_a_dict(pdf):
    record = {"k": pdf["k"].iloc[0]}
    pd.Series([1]).map({1: record}).iloc[0]["k"] = 5
    return pd.DataFrame([record])


def in_applied_cells(pdf):
    record = {"k": pdf["k"].iloc[0]}
    for cell in pdf.apply(lambda row: record, axis=1):
        cell["k"] = 5
    return pd.DataFrame([record])


class Held:
    def __init__(self, record):
        self.record = record


def in_a_key(pdf):
    record = {"k": pdf["k"].iloc[0]}
    for held in {Held(record): 1}:
        held.record["k"] = 5
    return pd.DataFrame([record])


def in_a_key_that_is_set(pdf):
    record = {"k": pdf["k"].iloc[0]}
    numbers = {}
    numbers[Held(record)] = 1
    for held, _ in numbers.items():
        held.record["k"] = 5
    return pd.DataFrame([record])


def labels_that_are_merged(pdf):
    out = pdf.groupby(pdf["x"].rename("k")).agg(n=("t", "sum")).reset_index()
    return pdf[["k", "t"]].merge(out, left_on="t", right_on="n", suffixes=("_1", ""))


def rows_of_an_index(pdf):
    out = pd.DataFrame()
    out.index = [0, 1, 2, 3, 4, 5]
    out["k"] = pdf["k"]
    return out


RAISING = [label_in_the_way, inserted_in_the_way, melted_in_the_way]
WITH_LEVELS = [levels_by_a_dict, levels_by_a_list, levels_of_a_flat_table]
SPOILED = [
    f
    for f in list(globals().values())
    if getattr(f, "__module__", "") == __name__
    and f not in (*KEEPING, *WITH_LEVELS, *RAISING)
    and not f.__name__.startswith("_")
    and inspect.isfunction(f)
    and f.__name__ not in ("cleaned", "overwrite")
]
