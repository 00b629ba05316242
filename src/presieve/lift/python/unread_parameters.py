# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find the parameters that the code of a function never mentions.

Whatever such an argument is, the function does the same, unless somebody looks at its variables by
name. Source: the Python library reference, ``dis``.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType

_LOOKS_AT_VARIABLES = frozenset(
    ("locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack", "trace")
)


def unread_parameters(function: FunctionType) -> frozenset[int]:
    """Return the numbers of the positional parameters that the function's code never mentions."""
    code = function.__code__
    if _LOOKS_AT_VARIABLES & set(_global_names(code)):
        return frozenset()
    mentioned = set(_mentioned_names(code))
    names = code.co_varnames[: code.co_argcount]
    return frozenset(i for i, name in enumerate(names) if name not in mentioned)


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that the code, or code inside of it, uses."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _mentioned_names(code: CodeType) -> Iterator[str]:
    """Yield the names in the instructions; a variable that an inner function uses is a cell."""
    yield from code.co_cellvars
    for instruction in dis.get_instructions(code):
        names = instruction.argval
        yield from (n for n in (names if isinstance(names, tuple) else (names,)) if type(n) is str)
