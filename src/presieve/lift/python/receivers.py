# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that are called with an object: bound methods and callable objects."""

from __future__ import annotations

import inspect
from types import FunctionType, MethodType
from typing import NamedTuple


class BoundFunction(NamedTuple):
    """What a call runs, and the object that it gets first; None if there is none."""

    function: object
    receiver: object = None


def split_receiver(called: object) -> BoundFunction:
    """Return the function of a bound method, or of an object whose class defines ``__call__``, and
    the object; everything else as it is.
    """
    if isinstance(called, MethodType):
        return BoundFunction(called.__func__, called.__self__)
    if isinstance(called, FunctionType | type):
        return BoundFunction(called)
    call = inspect.getattr_static(type(called), "__call__", None)
    return BoundFunction(call, called) if isinstance(call, FunctionType) else BoundFunction(called)
