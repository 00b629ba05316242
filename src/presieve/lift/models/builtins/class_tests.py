# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``isinstance`` of values whose class in Python follows from the type of their column.

A worker hands texts, numbers, dates and the like to a function as objects of exactly one class
each; NULL is None, or NaN in a column of pandas, which is no text either.
"""

from __future__ import annotations

import decimal
import sys

from presieve.ir.sorts import STRING, ArrayOf, Decimal, MapOf
from presieve.ir.terms import FALSE, TRUE, Term, Var
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.models.registry import function
from presieve.lift.python.classes import METACLASSES
from presieve.lift.values.symbolic import Known, NoneV, Scalar, TupleV, Value, describe
from presieve.semantics.smart_constructors import is_none, ite, without_options
from presieve.semantics.values import CLASS_IN_UDFS

_COMPUTED = (STRING,)
"""Sorts of which each value has the class of the sort, even if a library computes it."""
_ASKED = frozenset(("builtins", "datetime", "decimal", "numbers", "collections.abc"))
"""The modules of classes for which ``issubclass`` runs no code of the program."""


@function("builtins.isinstance", arguments=2)
def is_instance(call: ModelCall) -> Value:
    """``isinstance(value, str)``, or of several classes."""
    value, classes = call.m.force(call.args[0], call.flow), _classes(call.args[1])
    if classes is None:
        raise call.decline("unknown-call", "isinstance() of a class that is not Python's own")
    if isinstance(value, NoneV):
        return boolean(_truth(issubclass(type(None), classes)))
    actual = _class_of(value)
    if actual is None or not isinstance(value, Scalar):
        raise call.decline("unknown-call", f"isinstance() of {describe(value)}")
    of_none, of_value = (issubclass(c, classes) for c in (type(None), actual))
    return boolean(ite(is_none(value.term), _truth(of_none), _truth(of_value)))


def _truth(value: bool) -> Term:
    return TRUE if value else FALSE


def _classes(asked: Value) -> tuple[type, ...] | None:
    """Return the classes that are asked for; None if one of them is not Python's own."""
    parts = asked.items if isinstance(asked, TupleV) else (asked,)
    targets = (p.target for p in parts if isinstance(p, Known))
    classes = tuple(c for c in targets if isinstance(c, type) and _is_of_library(c))
    return classes if len(classes) == len(parts) else None


def _is_of_library(cls: type) -> bool:
    """Whether this is the class that one of the modules holds under its name."""
    if type(cls) not in METACLASSES or cls.__module__ not in _ASKED:
        return False
    return getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls


def _class_of(value: Value) -> type | None:
    """Return the class of every value other than None; None if that is not known."""
    if not isinstance(value, Scalar):
        return None
    base = value.base
    if base not in _COMPUTED and not isinstance(without_options(value.term), Var):
        return None  # a number may be one of NumPy
    if value.traits.numpy or value.traits.maybe_int:
        return None
    if isinstance(base, Decimal):
        return decimal.Decimal
    if isinstance(base, ArrayOf | MapOf):
        return list if isinstance(base, ArrayOf) else dict
    return CLASS_IN_UDFS.get(base)
