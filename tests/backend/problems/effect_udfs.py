"""Functions that call code which is not read, and functions that seem to act or do."""

# mypy: ignore-errors
from __future__ import annotations

import itertools
import json
import logging
import time

import pandas as pd

LOG = logging.getLogger("jobs")
NUMBERS = itertools.count()


class Model:
    """Not read, because it has a special method."""

    def __len__(self):
        return 1

    def fit(self, values):
        self.mean = values.mean()
        return self

    def save(self, values):
        return None

    def log_metric(self, value):
        return None


class Calls:
    """A small class, which is read: it counts."""

    count = 0

    def __init__(self):
        self.times = 0

    def add(self):
        self.times += 1
        return self.times


CALLS = Calls()


def fits(key, pdf):
    mean = Model().fit(pdf["v"]).mean
    return pd.DataFrame([(key[0], mean)], columns=["k", "m"])


def saves(key, pdf):
    Model().save(pdf["v"])
    return pd.DataFrame([(key[0], pdf["v"].median())], columns=["k", "m"])


def logs_a_metric(key, pdf):
    Model().log_metric(pdf["v"].max())
    return pd.DataFrame([(key[0], pdf["v"].median())], columns=["k", "m"])


def writes(key, pdf):
    pdf.to_csv("/dev/null")
    return pd.DataFrame([(key[0], pdf["v"].median())], columns=["k", "m"])


def reads_the_clock(key, pdf):
    Model().fit(pdf["v"])
    return pd.DataFrame([(key[0], time.time() * 0)], columns=["k", "m"])


def numbers_groups(key, pdf):
    return pd.DataFrame([(key[0], float(next(NUMBERS)))], columns=["k", "m"])


def counts_its_calls(key, pdf):
    return pd.DataFrame([(key[0], float(CALLS.add()))], columns=["k", "m"])


def counts_in_the_class(key, pdf):
    Calls.count += 1
    return pd.DataFrame([(key[0], float(Calls.count))], columns=["k", "m"])


class Encoder(json.JSONEncoder):
    """A class of which not everything is read."""

    count = 0


def counts_in_another_class(key, pdf):
    Encoder.count += 1
    return pd.DataFrame([(key[0], float(Encoder.count))], columns=["k", "m"])


def prints(key, pdf):
    print(f"group {key}")
    LOG.info("%d rows", len(pdf))
    return pd.DataFrame([(key[0], pdf["v"].median())], columns=["k", "m"])


def label(v):
    if v is None:
        print("nothing")
        return None
    LOG.warning("value %s", v)
    return "high" if v > 100 else "low"


def scaled(v):
    if v is None or v <= 0:
        return None
    return str(Model().fit(pd.Series([v])).mean)
