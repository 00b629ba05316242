# SPDX-License-Identifier: Apache-2.0
"""Trusted. Which functions and methods may change an argument in place.

Of NumPy, a function changes none only if it is one of a module and not of a class or of another
function (``numpy.add.at``), and if it is given nothing to write to: by the names of its parameters,
and by the number of inputs of a ufunc.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping

from presieve.python_library.descriptions import Change
from presieve.python_library.method_catalogue import POSITIONALS_READ, describe

_CLASSES = (
    *("builtins.dict.", "builtins.list.", "builtins.set.", "collections.", "pandas.DataFrame."),
    *("pandas.Series.", "pandas.core."),
)
_NUMPY_MODULES = ("numpy.linalg.", "numpy.fft.", "numpy.random.", "numpy.char.", "numpy.strings.")
_SETS_OR_DELETES = re.compile(r"__(set|del|i)[a-z]+__")
"""Special methods that change their owner."""
_WRITING = frozenset(("out", "copy", "overwrite_input"))
"""Parameters with which a function of NumPy writes to one of its arguments."""


def may_change_argument(path: str, count: int, named: Mapping[str, object]) -> bool:
    """Return whether a function may change one of its arguments: ``count`` by position, and those
    by name, with their values if they are constants.
    """
    module, _, name = path.rpartition(".")
    if describe("function", path).changes is Change.STORES or path.startswith("heapq."):
        return True
    if path.startswith(_CLASSES):
        return describe("object", name).changes in (Change.STORES, Change.REMOVES)
    if _SETS_OR_DELETES.fullmatch(name):
        return True
    if not path.startswith("numpy."):
        return False
    if module != "numpy" and not path.startswith(_NUMPY_MODULES):
        return True
    if "overwrite_input" in named or (name == "nan_to_num" and named.get("copy", True) is not True):
        return True
    return _is_given_place(path, count)


def _is_given_place(path: str, count: int) -> bool:
    """Whether a function of NumPy gets something to write to by position."""
    function: object = sys.modules.get("numpy")
    for part in path.split(".")[1:]:
        function = getattr(function, part, None)
    inputs = getattr(function, "nin", None)
    if isinstance(inputs, int):
        return count > inputs
    try:
        names = [*inspect.signature(function).parameters] if callable(function) else []
    except ValueError:
        return count > 1
    return not names or not _WRITING.isdisjoint(names[:count])


def may_write_argument(name: str, count: int) -> bool:
    """Return whether a method of an array may write to one of its arguments by position, of which
    there are ``count``, as ``array.clip(0, 1, out)`` does.
    """
    return count > POSITIONALS_READ.get(name, 1)
