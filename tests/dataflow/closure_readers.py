"""Functions of a group that read it in functions of their own, which they keep and call later."""

# mypy: ignore-errors
# ruff: noqa: C408, C409, C417, E731, RUF015

from __future__ import annotations

import collections
import copy
import functools
import operator
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd


def _row(total: Any) -> pd.DataFrame:
    return pd.DataFrame({"m": [float(total)]})


class _Box:
    f: Any = None

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        return self.value


class _Sum:
    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table

    def __call__(self) -> Any:
        return self.table["v"].sum()


def of_a_generator(pdf: pd.DataFrame) -> pd.DataFrame:
    def gen() -> Iterator[Any]:
        yield pdf["v"].sum()

    return _row(list(gen())[0])


def of_a_listed_function(pdf: pd.DataFrame) -> pd.DataFrame:
    g = lambda: pdf["v"].sum()
    return _row([h() for h in [g]][0])


def of_a_mapped_function(pdf: pd.DataFrame) -> pd.DataFrame:
    g = lambda: pdf["v"].sum()
    return _row(list(map(lambda f: f(), [g]))[0])


def of_a_partial(pdf: pd.DataFrame) -> pd.DataFrame:
    g = partial(lambda p: p["v"].sum(), pdf)
    return _row(g())


def of_a_default(pdf: pd.DataFrame) -> pd.DataFrame:
    g = lambda p=pdf: p["v"].sum()
    return _row(g())


def of_a_box(pdf: pd.DataFrame) -> pd.DataFrame:
    return _row(_Box(pdf).get()["v"].sum())


def of_a_callable(pdf: pd.DataFrame) -> pd.DataFrame:
    return _row(_Sum(pdf)())


def of_a_dict(pdf: pd.DataFrame) -> pd.DataFrame:
    d = {"x": lambda: pdf["v"].sum()}
    return _row(d["x"]())


def of_nested_containers(pdf: pd.DataFrame) -> pd.DataFrame:
    d = {"x": [lambda: pdf["v"].sum()]}
    return _row(d["x"][0]())


def of_an_item_getter(pdf: pd.DataFrame) -> pd.DataFrame:
    f = operator.itemgetter("v")
    return _row(f(pdf).sum())


def of_a_reduced_list(pdf: pd.DataFrame) -> pd.DataFrame:
    return _row(reduce(lambda a, f: f(), [lambda: pdf["v"].sum()], 0))


def of_a_recursive_function(pdf: pd.DataFrame) -> pd.DataFrame:
    def rec(n):
        if n == 0:
            return pdf["v"].sum()
        return rec(n - 1)

    return _row(rec(3))


def of_many_functions(pdf: pd.DataFrame) -> pd.DataFrame:
    def l1():
        return pdf["v"].sum()

    def l2():
        return l1()

    def l3():
        return l2()

    def l4():
        return l3()

    def l5():
        return l4()

    def l6():
        return l5()

    def l7():
        return l6()

    def l8():
        return l7()

    def l9():
        return l8()

    def l10():
        return l9()

    def l11():
        return l10()

    return _row(l11())


def of_an_inner_class(pdf: pd.DataFrame) -> pd.DataFrame:
    class X:
        def get(self):
            return pdf["v"].sum()

    return _row(X().get())


def of_an_iterator(pdf: pd.DataFrame) -> pd.DataFrame:
    it = iter([pdf])
    return _row(next(it)["v"].sum())


def by_another_name(pdf: pd.DataFrame) -> pd.DataFrame:
    def g():
        return pdf

    h = g
    return _row(h()["v"].sum())


def of_an_applied_function(pdf: pd.DataFrame) -> pd.DataFrame:
    out: list[Any] = []

    def add():
        out.append(pdf["v"].sum())

    pd.Series([1]).apply(lambda _: add())
    return _row(out[0])


def of_sorted_functions(pdf: pd.DataFrame) -> pd.DataFrame:
    fs = sorted([lambda: pdf["v"].sum()], key=lambda f: 1)
    return _row(fs[0]())


def of_a_tuple(pdf: pd.DataFrame) -> pd.DataFrame:
    fs = tuple([lambda: pdf["v"].sum()])
    return _row(fs[0]())


def of_a_set_default(pdf: pd.DataFrame) -> pd.DataFrame:
    fs: dict[str, Any] = {}
    fs.setdefault("a", lambda: pdf["v"].sum())
    return _row(fs["a"]())


def of_keywords(pdf: pd.DataFrame) -> pd.DataFrame:
    fs = dict(a=lambda: pdf["v"].sum())
    return _row(fs["a"]())


def of_the_greatest_function(pdf: pd.DataFrame) -> pd.DataFrame:
    f = max([lambda: pdf["v"].sum()], key=lambda f: 1)
    return _row(f())


def of_a_cached_function(pdf: pd.DataFrame) -> pd.DataFrame:
    f = functools.lru_cache(lambda: pdf["v"].sum())
    return _row(f())


def of_a_wrapped_function(pdf: pd.DataFrame) -> pd.DataFrame:
    f = functools.wraps(len)(lambda: pdf["v"].sum())
    return _row(f())


def of_a_decorated_function(pdf: pd.DataFrame) -> pd.DataFrame:
    @functools.lru_cache
    def f():
        return pdf["v"].sum()

    return _row(f())


def of_a_decorated_function_with_arguments(pdf: pd.DataFrame) -> pd.DataFrame:
    @functools.cache
    def f(n):
        return pdf["v"].iloc[n]

    return _row(f(0))


def of_one_of_two_functions(pdf: pd.DataFrame) -> pd.DataFrame:
    f = (lambda: pdf["v"].sum()) if len(pdf) else (lambda: 0)
    return _row(f())


def of_a_replaced_item(pdf: pd.DataFrame) -> pd.DataFrame:
    fs: list[Any] = [lambda: 0]
    fs[0] = lambda: pdf["v"].sum()
    return _row(fs[0]())


def of_an_attribute(pdf: pd.DataFrame) -> pd.DataFrame:
    b = _Box(1)
    b.f = lambda: pdf["v"].sum()
    return _row(b.f())


def of_the_last_function(pdf: pd.DataFrame) -> pd.DataFrame:
    f: Any = None
    for g in (lambda: 0, lambda: pdf["v"].sum()):
        f = g
    return _row(f())


def of_a_copy(pdf: pd.DataFrame) -> pd.DataFrame:
    f = copy.copy(lambda: pdf["v"].sum())
    return _row(f())


def of_a_zip(pdf: pd.DataFrame) -> pd.DataFrame:
    z = list(zip([lambda: pdf["v"].sum()]))
    return _row(z[0][0]())


def of_a_popped_function(pdf: pd.DataFrame) -> pd.DataFrame:
    f = [lambda: pdf["v"].sum()].pop()
    return _row(f())


def of_a_generator_of_the_table(pdf: pd.DataFrame) -> pd.DataFrame:
    def gen(t):
        yield t["v"].sum()

    return _row(next(gen(pdf)))


def of_a_method_of_a_box(pdf: pd.DataFrame) -> pd.DataFrame:
    f = _Box(lambda: pdf["v"].sum()).get()
    return _row(f())


def of_a_got_item(pdf: pd.DataFrame) -> pd.DataFrame:
    f = {"a": (lambda: pdf["v"].sum(),)}.get("a")
    return _row(f[0]())


def of_a_deque(pdf: pd.DataFrame) -> pd.DataFrame:
    q = collections.deque([lambda: pdf["v"].sum()])
    return _row(q.popleft()())


def of_the_next_function(pdf: pd.DataFrame) -> pd.DataFrame:
    f = next(iter([lambda: pdf["v"].sum()]))
    return _row(f())


def of_a_series(pdf: pd.DataFrame) -> pd.DataFrame:
    x = pd.Series([lambda: pdf["v"].sum()])
    return _row(x.iloc[0]())


def of_an_array(pdf: pd.DataFrame) -> pd.DataFrame:
    x = np.array([lambda: pdf["v"].sum()])
    return _row(x[0]())


def of_a_cell(pdf: pd.DataFrame) -> pd.DataFrame:
    x = pd.DataFrame({"f": [lambda: pdf["v"].sum()]})
    return _row(x["f"].iloc[0]())


def of_a_display(pdf: pd.DataFrame) -> pd.DataFrame:
    f = [lambda: pdf["v"].sum()]
    (g,) = f
    return _row(g())


READERS: tuple[Callable[[pd.DataFrame], pd.DataFrame], ...] = (
    of_a_generator,
    of_a_listed_function,
    of_a_mapped_function,
    of_a_partial,
    of_a_default,
    of_a_box,
    of_a_callable,
    of_a_dict,
    of_nested_containers,
    of_an_item_getter,
    of_a_reduced_list,
    of_a_recursive_function,
    of_many_functions,
    of_an_inner_class,
    of_an_iterator,
    by_another_name,
    of_an_applied_function,
    of_sorted_functions,
    of_a_tuple,
    of_a_set_default,
    of_keywords,
    of_the_greatest_function,
    of_a_cached_function,
    of_a_wrapped_function,
    of_a_decorated_function,
    of_a_decorated_function_with_arguments,
    of_one_of_two_functions,
    of_a_replaced_item,
    of_an_attribute,
    of_the_last_function,
    of_a_copy,
    of_a_zip,
    of_a_popped_function,
    of_a_generator_of_the_table,
    of_a_method_of_a_box,
    of_a_got_item,
    of_a_deque,
    of_the_next_function,
    of_a_series,
    of_an_array,
    of_a_cell,
    of_a_display,
)
