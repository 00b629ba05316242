"""Trusted. Which of the texts that take the place of functions a plan can have, all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from presieve.errors import Declined


class Decision(Protocol):
    """What is decided about a function: the texts that take its place, with their proof, or why it
    stays.
    """

    @property
    def texts(self) -> object:
        """The texts, if there are any."""

    @property
    def verified(self) -> object:
        """The proof, if there is one."""

    @property
    def declined(self) -> Declined | None:
        """Why the function stays."""


D = TypeVar("D", bound=Decision)
R = TypeVar("R")


def settled(
    decided: dict[int, D],
    build: Callable[[Mapping[int, D]], R | Declined],
    checked: Callable[[D, int, R], D],
    refused: Callable[[D, Declined], D],
) -> R | None:
    """What is built with all that can stay in ``decided``, which says afterwards what became of
    each; None where nothing can. ``build`` puts the texts of these into the plan, ``checked`` is
    the decision with its proof or without, and ``refused`` the one that they cannot be put there.
    """
    while here := {i: d for i, d in decided.items() if d.declined is None and d.texts}:
        made = build(here)
        if isinstance(made, Declined):
            decided |= _alone(here, build, made, refused)
            continue
        decided |= {i: checked(d, i, made) for i, d in here.items()}
        if all(decided[i].verified for i in here):
            return made
    return None


def _alone(
    decided: Mapping[int, D],
    build: Callable[[Mapping[int, D]], R | Declined],
    why: Declined,
    refused: Callable[[D, Declined], D],
) -> dict[int, D]:
    """Of texts that Spark does not take together, those that it does not take alone are declined,
    or all.
    """
    alone = {i: build({i: d}) for i, d in decided.items()}
    found = {i: refused(decided[i], m) for i, m in alone.items() if isinstance(m, Declined)}
    return found or {i: refused(d, why) for i, d in decided.items()}
