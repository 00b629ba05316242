# SPDX-License-Identifier: Apache-2.0
"""Trusted. Turn errors of Spark, and of the connection to it, into ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pyspark.errors import PySparkException

from presieve.backend.gateway import GatewayError

P = ParamSpec("P")
T = TypeVar("T")


def guarding(*errors: type[Exception]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a decorator of calls that turns ``errors`` and Spark's errors into :class:`GatewayError`
    with their first line.
    """
    caught: tuple[type[Exception], ...] = (PySparkException, *errors)

    def guard(call: Callable[P, T]) -> Callable[P, T]:
        @wraps(call)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return call(*args, **kwargs)
            except caught as error:
                text = str(error).strip().splitlines()
                raise GatewayError(
                    f"Spark did not do as expected ({call.__name__}): {text[0] if text else ''}"
                ) from error

        return wrapper

    return guard
