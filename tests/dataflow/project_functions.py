"""Functions of groups in the style of real projects, with keys ``k``: their keys pass."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import functools
import logging
import re
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from enum import Enum

import numpy as np
import pandas as pd
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

LOG = logging.getLogger("project")
OUT = StructType([StructField("k", StringType()), StructField("m", DoubleType())])
GAP = pd.Timedelta(minutes=30)
WORD = re.compile(r"[a-z]+")
RESULT = ["k", "m"]


class Interval:
    def __init__(self, start, stop):
        self.start = start
        self.stop = stop

    def length(self):
        return self.stop - self.start


@dataclass
class Visit:
    k: object
    m: float


@dataclass(frozen=True)
class Config:
    columns: tuple = ("k", "m")
    limit: float = 1.0


CONFIG = Config()
Point = namedtuple("Point", ["k", "m"])


class Names(str, Enum):
    KEY = "k"


class Columns:
    KEY = "k"
    VALUE = "m"


# --- rows by hand --------------------------------------------------------------------------------


def dicts_of_iterrows(pdf):
    rows = []
    for _, row in pdf.iterrows():
        if row["s"]:
            rows.append({"k": row["k"], "m": 1.0})
    return pd.DataFrame(rows, columns=["k", "m"])


def dicts_of_iterrows_by_attribute(pdf):
    rows = []
    for i, row in pdf.iterrows():
        rows.append({"k": row.k, "m": i})
    return pd.DataFrame(rows)


def tuples_of_itertuples(pdf):
    rows = []
    for row in pdf.itertuples(index=False):
        rows.append((row.k, row.x))
    return pd.DataFrame(rows, columns=["k", "m"])


def lists_of_a_record(pdf):
    out = []
    for rec in pdf.to_dict(orient="records"):
        out.append([rec["k"], rec["x"]])
    return pd.DataFrame(out, columns=RESULT)


def first_row_by_position(pdf):
    first = pdf.iloc[0]
    return pd.DataFrame([{"k": first["k"], "m": pdf["x"].median()}])


def first_row_by_position_and_attribute(pdf):
    last = pdf.sort_values("t").iloc[-1]
    return pd.DataFrame({"k": [last.k], "m": [last.x]})


def next_of_an_iterator(pdf):
    k = next(iter(pdf["k"]))
    return pd.DataFrame([[k, pdf["x"].quantile(0.9)]], columns=RESULT)


def first_row_of_iterrows(pdf):
    _, first = next(pdf.iterrows())
    return pd.DataFrame([{"k": first["k"], "m": 2.0}])


def key_by_unpacking(key, pdf):
    (k,) = key
    return pd.DataFrame({"k": [k], "m": [pdf["x"].std()]})


def key_by_item_of_head(pdf):
    return pd.DataFrame([{"k": pdf.head(1)["k"].item(), "m": len(pdf)}])


def key_by_iat(pdf):
    return pd.DataFrame({"k": pdf["k"].iat[0], "m": [pdf.x.sum()]})


def row_of_a_dataclass(key, pdf):
    visits = [Visit(key[0], v) for v in pdf["x"]]
    return pd.DataFrame([asdict(v) for v in visits])


def row_of_own_objects(key, pdf):
    items = sorted([Interval(a, b) for a, b in zip(pdf["t"], pdf["x"])], key=lambda i: i.start)
    return pd.DataFrame([(key[0], i.length()) for i in items], columns=RESULT)


def row_of_a_named_tuple(key, pdf):
    return pd.DataFrame([Point(key[0], v) for v in pdf["x"].tolist()], columns=["k", "m"])


def names_of_a_schema(key, pdf):
    return pd.DataFrame([[key[0], pdf["x"].mean()]], columns=OUT.names)


def names_of_fields(key, pdf):
    return pd.DataFrame([[key[0], pdf["x"].mean()]], columns=[f.name for f in OUT.fields])


def names_of_field_names(key, pdf):
    return pd.DataFrame([(key[0], float(len(pdf)))], columns=OUT.fieldNames())


def names_of_a_config(key, pdf):
    return pd.DataFrame([[key[0], CONFIG.limit]], columns=list(CONFIG.columns))


def names_of_a_class(key, pdf):
    return pd.DataFrame({Columns.KEY: [key[0]], Columns.VALUE: [pdf["x"].mean()]})


def names_of_an_enum(key, pdf):
    return pd.DataFrame({Names.KEY.value: [key[0]], "m": [pdf["x"].mean()]})


# --- tables inside --------------------------------------------------------------------------------


def applied_to_inner_groups(pdf):
    def summary(part):
        return pd.Series({"m": part["x"].mean(), "n": len(part)})

    return pdf.groupby("k").apply(summary).reset_index()


def applied_to_groups_of_two(pdf):
    return (
        pdf.groupby(["k", "s"]).apply(lambda d: d["x"].max() - d["x"].min()).reset_index(name="m")
    )


def aggregated_and_renamed(pdf):
    out = pdf.groupby("k").agg(m=("x", "mean"), n=("y", "count")).reset_index()
    return out.rename(columns={"n": "count"})


def reduced(pdf):
    parts = [pdf[["k", "t"]], pdf[["t", "x"]], pdf[["t", "y"]]]
    return functools.reduce(lambda a, b: a.merge(b, on="t"), parts)


def pivoted(pdf):
    out = pdf.pivot_table(index="k", columns="t", values="x", aggfunc="sum", fill_value=0)
    out.columns = [f"c{c}" for c in out.columns]
    return out.reset_index()


def inserted_in_front(key, pdf):
    out = pd.DataFrame({"m": pdf["x"].values})
    out.insert(0, "k", key[0])
    return out


def reindexed(key, pdf):
    out = pdf[["t", "x"]].drop_duplicates("t").set_index("t").reindex(range(5)).reset_index()
    out["k"] = key[0]
    return out


def merged_in_order(pdf):
    days = pd.DataFrame({"t": [0, 1, 2]})
    left = pdf[["k", "t", "x"]].sort_values("t")
    return pd.merge_ordered(left, days, on="t", how="inner")


def rounded(pdf):
    pdf["m"] = pdf["x"].shift(1)
    return pdf[["k", "m"]].round({"m": 2})


def _scored(pdf, limit, name="m", **rest):
    pdf = pdf.copy()
    pdf[name] = pdf["x"] > limit
    return pdf[["k", name]]


OPTIONS = {"limit": 2.0, "name": "m"}


def with_options(pdf):
    return _scored(pdf, **OPTIONS)


def _scored_of(pdf, *args):
    return pdf[pdf["x"] > args[0]]


def with_arguments(pdf):
    return _scored_of(pdf, *(1.0, 2.0))


# --- objects that cannot reach the table ----------------------------------------------------------


def counted(pdf):
    words = Counter()
    for text in pdf["s"].dropna():
        words.update(WORD.findall(text))
    pdf["m"] = sum(words.values())
    return pdf[["k", "m"]]


def counted_by_default(pdf):
    seen = defaultdict(int)
    for t in pdf["t"]:
        seen[t] += 1
    pdf["m"] = [seen[t] for t in pdf["t"]]
    return pdf


def ordered(key, pdf):
    latest = OrderedDict()
    for row in pdf.itertuples():
        latest[row.t] = row.x
    latest.move_to_end(row.t, last=False)
    return pd.DataFrame([(key[0], v) for v in latest.values()], columns=RESULT)


def scaled(pdf):
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    values = np.column_stack([pdf["t"].to_numpy(), pdf["y"].to_numpy()])
    pdf["m"] = scaler.fit_transform(values)[:, 0]
    return pdf


def imports_and_defines(pdf):
    import math
    from collections import deque

    def smooth(values, width=2):
        window = deque(maxlen=width)
        out = []
        for v in values:
            window.append(v)
            out.append(math.fsum(window) / len(window))
        return out

    pdf["m"] = smooth(pdf["t"].tolist())
    return pdf[["k", "m"]]


def timed(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        LOG.info("calls %s", func.__name__)
        return func(*args, **kwargs)

    return wrapper


@timed
def decorated(pdf):
    return pdf[pdf["x"] > 1.0]


def retried(times=2):
    def decorate(func):
        @functools.wraps(func)
        def inner(pdf):
            for _ in range(times):
                result = func(pdf)
            return result

        return inner

    return decorate


@retried(times=1)
def decorated_with_arguments(pdf):
    return pdf[["k", "x"]]


class Scorer:
    COLUMN = "m"

    def __init__(self, limit):
        self.limit = limit

    def score(self, pdf):
        pdf[self.COLUMN] = pdf["x"] > self.limit
        return pdf[["k", self.COLUMN]]

    def __call__(self, pdf):
        return self.score(pdf)


bound = Scorer(2.0).score


KEEPING = (
    *(dicts_of_iterrows, dicts_of_iterrows_by_attribute, tuples_of_itertuples, lists_of_a_record),
    *(first_row_by_position, first_row_by_position_and_attribute, next_of_an_iterator),
    *(first_row_of_iterrows, key_by_unpacking, key_by_item_of_head, key_by_iat),
    *(row_of_a_dataclass, row_of_own_objects, row_of_a_named_tuple),
    *(names_of_a_schema, names_of_fields, names_of_field_names, names_of_a_config),
    *(names_of_a_class, names_of_an_enum),
    *(applied_to_inner_groups, applied_to_groups_of_two, aggregated_and_renamed, reduced, pivoted),
    *(inserted_in_front, reindexed, merged_in_order, rounded, with_options, with_arguments),
    *(counted, counted_by_default, ordered, scaled, imports_and_defines),
    *(decorated, decorated_with_arguments, bound),
)
