"""Scalar pandas UDFs: functions of whole columns that give a column."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import re
from typing import Iterator

import numpy as np
import pandas as pd
from pyspark.sql.functions import pandas_udf
from pyspark.sql.types import *

CODES = {"A": "active", "S": "suspended", "C": "closed"}
LOW, HIGH = -40.0, 60.0
DIGITS = re.compile(r"\d+")


@pandas_udf(LongType())
def plus_one(s: pd.Series) -> pd.Series:
    return s + 1


@pandas_udf(DoubleType())
def degrees_celsius(f: pd.Series) -> pd.Series:
    return (f - 32.0) * 5.0 / 9.0


@pandas_udf(DoubleType())
def percent(part: pd.Series, whole: pd.Series) -> pd.Series:
    return 100.0 * part / whole


@pandas_udf(DoubleType())
def area(w: pd.Series, h: pd.Series) -> pd.Series:
    return (w * h).round(1)


@pandas_udf(StringType())
def grade_by_masks(points: pd.Series) -> pd.Series:
    result = pd.Series("F", index=points.index)
    result[points >= 50] = "C"
    result[points >= 70] = "B"
    result[points >= 90] = "A"
    return result


@pandas_udf(StringType())
def band(v: pd.Series) -> pd.Series:
    return pd.Series(np.select([v < LOW, v > HIGH], ["cold", "hot"], default="normal"))


@pandas_udf(StringType())
def sign(v: pd.Series) -> pd.Series:
    return pd.Series(np.where(v > 0, "pos", "neg"))


@pandas_udf(StringType())
def domain_of_mail(mail: pd.Series) -> pd.Series:
    return mail.str.split("@").str.get(1)


@pandas_udf(StringType())
def area_code(phone: pd.Series) -> pd.Series:
    return phone.str.slice(0, 3)


@pandas_udf(StringType())
def first_three(zip_code: pd.Series) -> pd.Series:
    return zip_code.str[:3].str.upper()


@pandas_udf(IntegerType())
def year_of_instant(ts: pd.Series) -> pd.Series:
    return ts.dt.year


@pandas_udf(BooleanType())
def office_hours(ts: pd.Series) -> pd.Series:
    return (ts.dt.hour >= 9) & (ts.dt.hour < 17)


@pandas_udf(StringType())
def decoded(code: pd.Series) -> pd.Series:
    return code.map(CODES)


@pandas_udf(StringType())
def normalized(s: pd.Series) -> pd.Series:
    return s.fillna("").str.strip().str.lower().replace({"n/a": "", "none": ""})


@pandas_udf(BooleanType())
def suspicious(agent: pd.Series, hits: pd.Series) -> pd.Series:
    bot = agent.str.contains("bot", case=False, na=False) | agent.str.startswith("curl", na=False)
    return bot | (hits > 1000)


@pandas_udf(FloatType())
def half(v: pd.Series) -> pd.Series:
    return v * 0.5


@pandas_udf(LongType())
def text_length(s: pd.Series) -> pd.Series:
    return s.str.len()


@pandas_udf(DoubleType())
def bounded(v: pd.Series) -> pd.Series:
    return v.clip(lower=0.0, upper=1.0)


@pandas_udf(DoubleType())
def log_ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    return np.log(a / b)


@pandas_udf(StringType())
def joined(first: pd.Series, last: pd.Series) -> pd.Series:
    return first + " " + last


@pandas_udf(StringType())
def by_apply(v: pd.Series) -> pd.Series:
    return v.apply(lambda x: "high" if x > 10 else "low")


@pandas_udf(IntegerType())
def quantity(text: pd.Series) -> pd.Series:
    return text.astype(int)


@pandas_udf(LongType())
def in_batches(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    offset = 10
    for s in batches:
        yield s * 2 + offset


@pandas_udf(DoubleType())
def distance(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
    for x, y in batches:
        yield np.sqrt(x**2 + y**2)


@pandas_udf(StringType())
def pairs(a: pd.Series, b: pd.Series) -> pd.Series:
    return pd.Series(["same" if p == q else "differs" for p, q in zip(a, b)])


@pandas_udf(BooleanType())
def is_even(n: pd.Series) -> pd.Series:
    return n % 2 == 0


@pandas_udf(DoubleType())
def filled(v: pd.Series) -> pd.Series:
    return v.fillna(0) * 100
