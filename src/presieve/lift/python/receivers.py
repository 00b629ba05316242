# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that are called with an object, or with further arguments: bound methods,
callable objects, and ``functools.partial``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from types import FunctionType, MappingProxyType, MethodType
from typing import NamedTuple


class BoundFunction(NamedTuple):
    """What a call runs, the object that it gets first (None if there is none), and the arguments
    that it gets by name.
    """

    function: object
    receiver: object = None
    named: Mapping[str, object] = MappingProxyType({})


def split_receiver(called: object) -> BoundFunction:
    """Return the function of a bound method, or of an object whose class defines ``__call__``, and
    the object; that of ``partial(f, name=value)``, and its arguments; everything else as it is.
    """
    if type(called) is partial and not called.args:
        inner = split_receiver(called.func)
        return inner._replace(named={**inner.named, **called.keywords})
    if isinstance(called, MethodType):
        return BoundFunction(called.__func__, called.__self__)
    if isinstance(called, FunctionType | type):
        return BoundFunction(called)
    call = inspect.getattr_static(type(called), "__call__", None)
    return BoundFunction(call, called) if isinstance(call, FunctionType) else BoundFunction(called)
