"""Effects: what a function may do besides giving rows."""

# ruff: noqa: B006
# mypy: disable-error-code=import-not-found
from __future__ import annotations

import datetime
import ipaddress
import itertools
import json
import logging
import queue
import random
import threading
import time
import types
import urllib.parse
import urllib.request
from collections import Counter, deque
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import requests
from tests.dataflow.grammar import NAMES

from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import AnalysisRequest

SEEN: list[Any] = []
BOUNDS = {"x": 3.0}
LOG = logging.getLogger(__name__)


class Sender:
    """Somebody outside counts what it is given."""

    def post(self, row: Any) -> None:
        SEEN.append(row)


SENDERS = [Sender()]
LOCK = threading.Lock()


def prints(pdf: Any) -> Any:
    print(len(pdf))
    LOG.info("rows: %d", len(pdf))
    return pdf


def reads_a_dict(pdf: Any) -> Any:
    return pdf[pdf["x"] > BOUNDS["x"]]


def fits(pdf: Any) -> Any:
    from sklearn.linear_model import LinearRegression

    model = LinearRegression()
    model.fit(pdf[["x"]], pdf["y"])
    pdf["fit"] = model.predict(pdf[["x"]]).round(2)
    return pdf


def own_list(pdf: Any) -> Any:
    parts = []
    for _, part in pdf.groupby("s"):
        parts.append(part.head(1))
    return pd.concat(parts)


def counts_words(pdf: Any) -> Any:
    counter: Counter[str] = Counter()
    for text in pdf["s"].dropna():
        counter.update(w for w in text.split())
    return pd.DataFrame([(w, n) for w, n in counter.most_common(3)], columns=["s", "n"])


def own_dict(pdf: Any) -> Any:
    rows: dict[str, Any] = {}
    for r in pdf.itertuples():
        rows.setdefault(r.s, r.x)
    todo = list(rows)
    while todo:
        rows[todo.pop()] *= 2
    return pd.DataFrame({"s": list(rows), "x": list(rows.values())})


NESTED = {"limits": {"x": [0.0, 3.0]}, "names": ("a", {"b"})}


def reads_nested_settings(pdf: Any) -> Any:
    limits = NESTED["limits"]["x"]  # type: ignore[index]
    return pdf[(pdf["x"] > limits[0]) & pdf["s"].isin(NESTED["names"][1])]  # type: ignore[index]


def parts_of_addresses(pdf: Any) -> Any:
    """Nobody is asked at these addresses."""
    urls = [urllib.parse.urlparse(u) for u in pdf["k"]]
    pdf["host"] = [u.netloc.lower() for u in urls]
    pdf["source"] = [urllib.parse.parse_qs(u.query).get("source", [None])[0] for u in urls]
    pdf["private"] = [ipaddress.ip_address(i).is_private for i in pdf["x"]]
    return pdf


QUIET = (
    *(reads_nested_settings, reads_a_dict, fits, own_list, counts_words, own_dict),
    parts_of_addresses,
)


def asks_an_address(pdf: Any) -> Any:
    pdf["page"] = [urllib.request.urlopen(u).read() for u in pdf["k"]]
    return pdf


def stores_in_base64(pdf: Any) -> Any:
    import base64

    base64.encode(None, None)  # type: ignore[arg-type]
    return pdf


def writes_a_file(pdf: Any) -> Any:
    pdf.to_csv("/tmp/group.csv")
    return pdf


def opens_a_file(pdf: Any) -> Any:
    with open("/tmp/group") as file:
        file.read()
    return pdf


def posts(pdf: Any) -> Any:
    requests.post("http://localhost", json=pdf.to_dict("records"), timeout=1)
    return pdf


def clock(pdf: Any) -> Any:
    pdf["now"] = time.time()
    return pdf


def today(pdf: Any) -> Any:
    pdf["now"] = datetime.datetime.now()
    return pdf


def dice(pdf: Any) -> Any:
    pdf["x"] = random.random()
    return pdf


def numpy_dice(pdf: Any) -> Any:
    pdf["x"] = np.random.rand(len(pdf))
    return pdf


def sampled(pdf: Any) -> Any:
    return pdf.sample(1)


def remembers(pdf: Any) -> Any:
    SEEN.append(len(pdf))
    return pdf


def default_list(pdf: Any) -> Any:
    return _counted(pdf)


def _counted(pdf: Any, calls: list[int] = []) -> Any:
    calls.append(1)
    return pdf


def sends(pdf: Any) -> Any:
    for sender in SENDERS:
        sender.post(len(pdf))
    return pdf


def sends_by_name(pdf: Any) -> Any:
    first, *_ = SENDERS
    first.post(len(pdf))
    return pdf


def sends_from_a_column(pdf: Any) -> Any:
    pdf["sender"] = SENDERS[0]
    for sender in pdf["sender"]:
        sender.post(1)
    return pdf


def in_a_lambda(pdf: Any) -> Any:
    pdf["x"] = pdf.apply(lambda r: SENDERS[0].post(r), axis=1)
    return pdf


def in_agg(pdf: Any) -> Any:
    return pdf.groupby("k").agg({"x": lambda v: SEEN.append(v)}).reset_index()


class Watcher:
    """Its special methods are seen by somebody."""

    def __bool__(self) -> bool:
        SEEN.append(1)
        return True

    def __getitem__(self, _: object) -> int:
        SEEN.append(1)
        return 1

    def __len__(self) -> int:
        SEEN.append(1)
        return 1


WATCHERS = [Watcher()]


def by_its_truth(pdf: Any) -> Any:
    if WATCHERS[0]:
        return pdf
    return pdf


def by_an_item(pdf: Any) -> Any:
    return pdf[pdf["x"] > WATCHERS[0]["a"]]


def by_its_length(pdf: Any) -> Any:
    print(len(WATCHERS[0]), f"{WATCHERS[0]}")
    return pdf


def by_its_address(pdf: Any) -> Any:
    pdf["x"] = id(pdf) % 7
    return pdf


def by_getattr(pdf: Any) -> Any:
    getattr(SENDERS[0], "post")(1)  # noqa: B009
    return pdf


def _adding(held: Any) -> Any:
    def adds_to_an_array(pdf: Any) -> Any:
        totals = held
        totals += len(pdf)
        return pdf

    return adds_to_an_array


def adds_to_a_sender(pdf: Any) -> Any:
    sender: Any = SENDERS[0]
    sender += len(pdf)
    return pdf


def under_a_lock(pdf: Any) -> Any:
    with LOCK:
        return pdf


def _holding(numbers: Any, seen: Any, counts: Any, array: Any) -> tuple[Any, ...]:
    """Functions with objects of a closure, which go to workers by value."""

    def takes_a_number(pdf: Any) -> Any:
        pdf["n"] = next(numbers)
        return pdf

    def takes_numbers(pdf: Any) -> Any:
        pdf["n"] = [n for n, _ in zip(numbers, pdf["x"], strict=False)]
        return pdf

    def keeps_in_a_set(pdf: Any) -> Any:
        seen.add(len(pdf))
        pdf["n"] = len(seen)
        return pdf

    def keeps_each(pdf: Any) -> Any:
        pdf["x"].apply(seen.add)
        return pdf

    def takes_out(pdf: Any) -> Any:
        counts.pop("a", None)
        return pdf

    def deletes(pdf: Any) -> Any:
        del counts["a"]
        return pdf

    def writes_out(pdf: Any) -> Any:
        np.add(array, 1, out=array)
        return pdf

    return (
        *(takes_a_number, takes_numbers, keeps_in_a_set, keeps_each, takes_out, deletes),
        writes_out,
    )


def _with_a_table(rates: pd.DataFrame) -> tuple[Any, ...]:
    """Functions that change a table of the closure, which the next group sees."""

    def adds_a_column(pdf: Any) -> Any:
        rates["z"] = len(pdf)
        return pdf

    def writes_a_cell(pdf: Any) -> Any:
        rates.loc[0, "t"] = len(pdf)
        return pdf

    def writes_where(pdf: Any) -> Any:
        rates[rates["t"] > 1] = len(pdf)
        return pdf

    def names_again(pdf: Any) -> Any:
        rates.columns = ["u"]
        return pdf

    def sorts_in_place(pdf: Any) -> Any:
        rates.sort_values("t", inplace=True)
        return pdf

    def takes_a_column(pdf: Any) -> Any:
        rates.pop("t")
        return pdf

    def adds_to_items(pdf: Any) -> Any:
        s = rates["t"]
        s += 1
        return pdf

    return (
        *(adds_a_column, writes_a_cell, writes_where, names_again, sorts_in_place),
        *(takes_a_column, adds_to_items),
    )


def marks_itself(pdf: Any) -> Any:
    marks_itself.calls = 1  # type: ignore[attr-defined]
    return pdf


def writes_by_the_class(pdf: Any) -> Any:
    pd.DataFrame.to_csv(pdf, "/tmp/group.csv")
    return pdf


def now_by_its_word(pdf: Any) -> Any:
    pdf["now"] = pd.to_datetime("today")
    return pdf


class Tally:
    """A small class, which is read: it counts."""

    total = 0

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> int:
        self.count += 1
        return self.count

    def add(self) -> None:
        Tally.total += 1


TALLY = Tally()


def counts_by_calling(pdf: Any) -> Any:
    pdf["n"] = TALLY()
    return pdf


def counts_in_its_class(pdf: Any) -> Any:
    Tally().add()
    return pdf


def sets_its_class(pdf: Any) -> Any:
    Tally.total = len(pdf)
    return pdf


def counts_through_a_list(pdf: Any) -> Any:
    """What ``json`` makes is a list of which no item is known."""
    tallies = json.loads("[]")
    tallies.append(Tally())
    tallies[0].add()
    return pdf


def counts_through_a_dict(pdf: Any) -> Any:
    tallies = json.loads("{}")
    tallies["all"] = Tally()
    tallies["all"].add()
    return pdf


def counts_through_an_attribute(pdf: Any) -> Any:
    holder = types.SimpleNamespace()
    holder.tally = Tally()
    holder.tally.add()
    return pdf


def counts_through_a_choice(pdf: Any) -> Any:
    tallies = [] if len(pdf) > 2 else json.loads("[]")
    tallies.append([Tally()])
    tallies[0][0].add()
    return pdf


def counts_through_a_method_in_a_dict(pdf: Any) -> Any:
    methods = json.loads("{}")
    methods["add"] = Tally().add
    methods["add"]()
    return pdf


def counts_through_a_method_in_a_list(pdf: Any) -> Any:
    methods = json.loads("[]")
    methods.append(Tally().add)
    methods[0]()
    return pdf


def counts_through_a_function_in_a_dict(pdf: Any) -> Any:
    functions = json.loads("{}")
    functions["add"] = lambda: Tally().add()
    functions["add"]()
    return pdf


def counts_through_a_queue(pdf: Any) -> Any:
    tallies: queue.SimpleQueue[Tally] = queue.SimpleQueue()
    tallies.put(Tally())
    tallies.get().add()
    return pdf


def counts_through_a_deque(pdf: Any) -> Any:
    tallies: deque[Tally] = deque()
    tallies.appendleft(Tally())
    tallies.pop().add()
    return pdf


_INDIRECT = (
    *(counts_through_a_list, counts_through_a_dict, counts_through_an_attribute),
    counts_through_a_deque,
)
STATES = (
    *(counts_by_calling, counts_in_its_class, sets_its_class),
    *(*_INDIRECT, counts_through_a_choice),
)

LOUD = (
    *(counts_through_a_queue, counts_through_a_method_in_a_dict),
    *(counts_through_a_method_in_a_list, counts_through_a_function_in_a_dict),
    *STATES,
    *(by_its_truth, by_an_item, by_its_length, by_its_address),
    *_holding(itertools.count(), {1}, {"a": 1}, np.zeros(2)),
    *_with_a_table(pd.DataFrame({"t": [1, 2]})),
    *(marks_itself, writes_by_the_class, now_by_its_word),
    *(_adding(np.zeros(2)), adds_to_a_sender, under_a_lock),
    *(
        asks_an_address,
        stores_in_base64,
        writes_a_file,
        opens_a_file,
        posts,
        clock,
        today,
        dice,
        numpy_dice,
        sampled,
        remembers,
    ),
    *(default_list, sends, sends_by_name, sends_from_a_column, in_a_lambda, in_agg, by_getattr),
)


def _kinds(function: FunctionType) -> set[str]:
    answer = dataflow(AnalysisRequest(function, "group", NAMES, ("k",)))
    assert all(e.span is not None for e in answer.effects)
    return {e.kind for e in answer.effects}


@pytest.mark.parametrize("function", QUIET, ids=lambda f: f.__name__)
def test_functions_without_effects(function: FunctionType) -> None:
    assert _kinds(function) == set()


def test_messages_are_told_apart() -> None:
    assert _kinds(prints) == {"message"}  # type: ignore[arg-type]


@pytest.mark.parametrize("function", STATES, ids=lambda f: f.__name__)
def test_state_of_small_classes_is_no_unknown_code(function: FunctionType) -> None:
    assert "state" in _kinds(function)


@pytest.mark.parametrize("function", LOUD, ids=lambda f: f.__name__)
def test_effects_are_seen(function: FunctionType) -> None:
    assert _kinds(function) - {"message"}
