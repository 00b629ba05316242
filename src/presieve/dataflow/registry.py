"""Trusted. What calls of described methods and functions do: transfer functions.

:mod:`presieve.python_library` says what kind of result a method has, and most kinds have one
transfer function. A method whose result is its own has a transfer function of its own, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from presieve.dataflow.abstract_values import Value
from presieve.dataflow.context import EvaluatedCall
from presieve.python_library.catalogue import Owner, describe
from presieve.python_library.facts import Result

Transfer: TypeAlias = Callable[[EvaluatedCall], Value | None]
"""It returns None if it does not cover the call, which is then treated as unknown."""

OF_NAMES: dict[tuple[Owner, str], Transfer] = {}
OF_RESULTS: dict[tuple[str, Result], Transfer] = {}
"""By the kind of the owner, for functions by their package."""


def transfer(owner: Owner, *names: str) -> Callable[[Transfer], Transfer]:
    """Register a transfer function of these methods of an owner, or of functions by path."""

    def register(model: Transfer) -> Transfer:
        for name in names:
            assert (owner, name) not in OF_NAMES, name
            OF_NAMES[owner, name] = model
        return model

    return register


def transfer_results(owner: str, *kinds: Result) -> Callable[[Transfer], Transfer]:
    """Register the transfer function of all methods of an owner, or functions of a package, that
    have these kinds of results.
    """

    def register(model: Transfer) -> Transfer:
        for kind in kinds:
            assert (owner, kind) not in OF_RESULTS, kind
            OF_RESULTS[owner, kind] = model
        return model

    return register


def find_transfer(owner: Owner, name: str) -> Transfer | None:
    """Find the transfer function of a method, or of a function by its path."""
    of_name = OF_NAMES.get((owner, name))
    kind = name.partition(".")[0] if owner == "function" else owner
    return of_name or OF_RESULTS.get((kind, describe(owner, name).result))
