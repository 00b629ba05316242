"""Functions of batches that use the iterator itself, in other ways than one loop over it."""

# ruff: noqa: C417, RUF015, UP028

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import pandas as pd

Batches = Iterator[pd.DataFrame]


def _generated(batches: Any) -> Batches:
    for batch in batches:
        yield batch


class _Collector:
    def collect(self, batches: Any) -> list[pd.DataFrame]:
        return list(batches)


def passed_on(batches: Batches) -> Batches:
    yield from batches


def passed_on_by_another_name(batches: Batches) -> Batches:
    tables = batches
    yield from tables


def passed_on_or_not(batches: Batches) -> Batches:
    try:
        yield from batches
    except ValueError:
        return


def in_one_table(batches: Batches) -> Batches:
    yield pd.concat(batches)


def in_one_table_of_a_list(batches: Batches) -> Batches:
    yield pd.concat(list(batches))


def added_up(batches: Batches) -> Batches:
    yield reduce(lambda a, b: pd.concat([a, b]), batches)


def first_batch(batches: Batches) -> Batches:
    yield next(batches)


def first_batch_of_an_iterator(batches: Batches) -> Batches:
    yield next(iter(batches))


def first_batch_by_its_method(batches: Batches) -> Batches:
    yield batches.__next__()


def first_of_a_tuple(batches: Batches) -> Batches:
    yield tuple(batches)[0]


def first_and_others(batches: Batches) -> Batches:
    first, *_ = batches
    yield first


def while_there_are_batches(batches: Batches) -> Batches:
    while True:
        batch = next(batches, None)
        if batch is None:
            return
        yield batch


def of_a_generator(batches: Batches) -> Batches:
    for batch in _generated(batches):
        yield batch


def of_an_object(batches: Batches) -> Batches:
    for batch in _Collector().collect(batches):
        yield batch


def of_an_inner_generator(batches: Batches) -> Batches:
    def inner() -> Batches:
        for batch in batches:
            yield batch

    yield from inner()


def of_a_display(batches: Batches) -> Batches:
    for batch in [*batches]:
        yield batch


def of_a_list(batches: Batches) -> Batches:
    tables: list[pd.DataFrame] = []
    tables.extend(batches)
    yield tables[0]


def of_a_map(batches: Batches) -> Batches:
    yield from map(lambda batch: batch, batches)


def of_a_chain(batches: Batches) -> Batches:
    for batch in itertools.chain(batches, []):
        yield batch


def of_a_slice(batches: Batches) -> Batches:
    yield from itertools.islice(batches, 1)


def of_a_copy(batches: Batches) -> Batches:
    yield from copy.copy([batches])[0]


def backwards(batches: Batches) -> Batches:
    for batch in reversed(list(batches)):
        yield batch


def in_order(batches: Batches) -> Batches:
    for batch in sorted(batches, key=len):
        yield batch


def the_longest(batches: Batches) -> Batches:
    yield max(batches, key=len)


def how_wide(batches: Batches) -> Batches:
    yield pd.DataFrame({"n": [next(batches).shape[1]]})


def how_it_looks(batches: Batches) -> Batches:
    yield pd.DataFrame({"n": [len(pd.concat(batches, ignore_index=True).to_json())]})


READERS: tuple[Callable[[Batches], Batches], ...] = (
    *(passed_on, passed_on_by_another_name, passed_on_or_not, in_one_table, in_one_table_of_a_list),
    *(added_up, first_batch, first_batch_of_an_iterator, first_batch_by_its_method),
    *(first_of_a_tuple, first_and_others, while_there_are_batches, of_a_generator, of_an_object),
    *(of_an_inner_generator, of_a_display, of_a_list, of_a_map, of_a_chain, of_a_slice, of_a_copy),
    *(backwards, in_order, the_longest, how_wide, how_it_looks),
)
