"""Trusted. Finds replacements of functions that Spark accepts together and that are proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from presieve.errors import Declined


class FunctionDecision(Protocol):
    """The decision about a function: the texts that replace it and their proof, or why it stays."""

    @property
    def texts(self) -> object:
        """The texts, if there are any."""

    @property
    def verified(self) -> object:
        """The proof, if there is one."""

    @property
    def declined(self) -> Declined | None:
        """Why the function stays."""


D = TypeVar("D", bound=FunctionDecision)
R = TypeVar("R")


def settle_replacements(
    decided: dict[int, D],
    build: Callable[[Mapping[int, D]], R | Declined],
    checked: Callable[[D, int, R], D],
    refused: Callable[[D, Declined], D],
) -> R | None:
    """Build the plan with all replacements in ``decided`` that Spark accepts and that are proved.

    Return the built plan, or None if no replacement remains. Afterwards ``decided`` holds the final
    decision about each function. ``build`` puts the texts into the plan, ``checked`` adds the proof
    to a decision or the reason why there is none, and ``refused`` records that the texts cannot be
    put there.
    """
    while candidates := {i: d for i, d in decided.items() if d.declined is None and d.texts}:
        rewritten = build(candidates)
        if isinstance(rewritten, Declined):
            decided |= _decline_individually(candidates, build, rewritten, refused)
            continue
        decided |= {i: checked(d, i, rewritten) for i, d in candidates.items()}
        if all(decided[i].verified for i in candidates):
            return rewritten
    return None


def _decline_individually(
    decided: Mapping[int, D],
    build: Callable[[Mapping[int, D]], R | Declined],
    why: Declined,
    refused: Callable[[D, Declined], D],
) -> dict[int, D]:
    """Decline the replacements that Spark does not accept even alone; decline all if it accepts
    each alone.
    """
    alone = {i: build({i: d}) for i, d in decided.items()}
    declined = {i: refused(decided[i], m) for i, m in alone.items() if isinstance(m, Declined)}
    return declined or {i: refused(d, why) for i, d in decided.items()}
