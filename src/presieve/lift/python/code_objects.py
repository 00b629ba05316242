# SPDX-License-Identifier: Apache-2.0
"""Trusted. Code objects: when two are the same, and those that are inside of one."""

from __future__ import annotations
import __future__

import inspect
from collections.abc import Iterator
from types import CodeType

FUTURE_FLAGS = 0
"""What ``from __future__ import`` sets in the flags of a code object and of ``compile``."""
for _feature in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag
_IGNORED_FLAGS = FUTURE_FLAGS | inspect.CO_NESTED


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects of the functions, classes and comprehensions inside of one."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    yield from inner
    for c in inner:
        yield from inner_codes(c)


def same_code(a: CodeType, b: CodeType) -> bool:
    """Return whether two code objects have the same instructions, names and constants."""
    return (
        a.co_code == b.co_code
        and a.co_exceptiontable == b.co_exceptiontable
        and a.co_names == b.co_names
        and a.co_varnames == b.co_varnames
        and a.co_freevars == b.co_freevars
        and a.co_cellvars == b.co_cellvars
        and a.co_argcount == b.co_argcount
        and a.co_posonlyargcount == b.co_posonlyargcount
        and a.co_kwonlyargcount == b.co_kwonlyargcount
        and (a.co_flags | _IGNORED_FLAGS) == (b.co_flags | _IGNORED_FLAGS)
        and _same_constant(a.co_consts, b.co_consts)
    )


def _same_constant(a: object, b: object) -> bool:
    if isinstance(a, CodeType) and isinstance(b, CodeType):
        return same_code(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_same_constant(x, y) for x, y in zip(a, b, strict=True))
    # repr keeps 1, 1.0 and True apart, 0.0 and -0.0 too, and NaN together.
    return (
        type(a) is type(b)
        and (a == b or a != a)
        and (isinstance(a, frozenset) or repr(a) == repr(b))
    )
