# SPDX-License-Identifier: Apache-2.0
"""Trusted. What calls of described methods and functions do: transfer functions.

:mod:`presieve.python_library` says what kind of result a method has, and most kinds have one
transfer function. A method whose result is its own has a transfer function of its own, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from presieve.dataflow.abstract_values import Value
from presieve.dataflow.context import EvaluatedCall
from presieve.python_library.descriptions import ResultKind
from presieve.python_library.method_catalogue import Owner, describe

Transfer: TypeAlias = Callable[[EvaluatedCall], Value | None]
"""It returns None if it does not cover the call, which is then treated as unknown."""

TRANSFERS: dict[tuple[str, str | ResultKind], Transfer] = {}
"""By the kind of the owner and the name of a method or the kind of its result; for functions by
``function`` and path, or by package and kind of result.
"""


def transfer(owner: str, *names: str | ResultKind) -> Callable[[Transfer], Transfer]:
    """Register a transfer function of these names, or of all that have these kinds of results."""

    def register(function: Transfer) -> Transfer:
        for name in names:
            assert (owner, name) not in TRANSFERS, name
            TRANSFERS[owner, name] = function
        return function

    return register


def find_transfer(owner: Owner, name: str) -> Transfer | None:
    """Find the transfer function of a method, or of a function by its path."""
    kind = name.partition(".")[0] if owner == "function" else owner
    return TRANSFERS.get((owner, name)) or TRANSFERS.get((kind, describe(owner, name).result))
