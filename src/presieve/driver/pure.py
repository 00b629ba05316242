# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that the caller declares pure, and the types of their results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from presieve.driver.named_objects import find_object
from presieve.errors import UsageError
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, Sort
from presieve.lift.forms import Pure

PureFunctions = Sequence[Callable[..., Any] | str] | Mapping[Callable[..., Any], Any]
"""Functions with annotated results, or a mapping from functions to result types: ``str``, ``int``,
``float``, ``bool``, or one of them ``| None``. A text is a function's name
(:mod:`presieve.driver.named_objects`). It is looked up when it is needed, because the module may
not exist before.
"""

_RESULTS: dict[type, tuple[Sort, str, str]] = {
    str: (STRING, "string", "str"),
    int: (INT, "bigint", "int of 64 bits"),
    float: (FLOAT, "double", "float"),
    bool: (BOOL, "boolean", "bool"),
}
_WRITTEN = {kind.__name__: kind for kind in _RESULTS}


def read_pure(functions: PureFunctions) -> tuple[Pure, ...]:
    """Read the declared functions.

    Raises :class:`UsageError` if one is not a function or does not exist, or if its result type is
    unsupported.
    """
    check_pure(functions)
    if isinstance(functions, Mapping):
        return tuple(_read_function(f, returns) for f, returns in functions.items())
    callables = [find_object(f) if isinstance(f, str) else f for f in functions]
    return tuple(_read_function(f, _return_annotation(f)) for f in callables)


def check_pure(functions: object) -> None:
    """Raise :class:`UsageError` as :func:`read_pure` does, but look up no names."""
    if callable(functions) or isinstance(functions, str) or not isinstance(functions, Collection):
        raise UsageError(f"pure is a list of functions, not {functions!r}")
    if isinstance(functions, Mapping):
        signatures = list(functions.items())
    else:
        signatures = [(f, _return_annotation(f)) for f in functions if not isinstance(f, str)]
    for function, returns in signatures:
        _read_function(function, returns)


def _read_function(function: object, returns: object) -> Pure:
    name = getattr(function, "__name__", None)
    if not callable(function) or not isinstance(name, str):
        raise UsageError(f"pure: {function!r} is not a function")
    kind, optional = _result_type(returns)
    if kind not in _RESULTS:
        raise UsageError(
            f"pure: {name} has no known result type; annotate it with str, int, float, bool or "
            f"one of them | None, or write pure={{{name}: str}}"
        )
    sort, type_, text = _RESULTS[kind]
    if optional:
        return Pure(function, name, Option(sort), type_, f"{text} or None")
    return Pure(function, name, sort, type_, text)


def _return_annotation(function: object) -> object:
    """Return the annotation of a function's result, unevaluated; None if there is none."""
    if not inspect.isroutine(function):
        return None
    try:
        return inspect.get_annotations(function).get("return")
    except (TypeError, ValueError):
        return None


def _result_type(returns: object) -> tuple[Any, bool]:
    """Return the result's type apart from None, and whether the result may be None."""
    if isinstance(returns, str):
        parts = [p.strip() for p in returns.removeprefix("Optional[").removesuffix("]").split("|")]
        optional = returns.startswith("Optional[") or "None" in parts
        kinds = [_WRITTEN.get(p) for p in parts if p != "None"]
    elif get_origin(returns) in (Union, UnionType):
        optional = NoneType in get_args(returns)
        kinds = [a for a in get_args(returns) if a is not NoneType]
    else:
        optional, kinds = False, [returns if isinstance(returns, type) else None]
    return (kinds[0] if len(kinds) == 1 else None), optional
