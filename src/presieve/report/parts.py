"""Untrusted. Small things that a report says of a boundary, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Fate: TypeAlias = Literal["below", "implied", "weakened", "replaced", "stays"]

TOLD: dict[Fate, str] = {
    "below": "pushed; nothing remains above",
    "implied": "implied by the rest of the filter; nothing remains above",
    "weakened": "weakened; what remains above is",
    "replaced": "replaced; what remains above is",
    "stays": "stays above, unchanged",
}
"""What each word means, for people."""


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A conjunct of the filter and what became of it.

    ``below``: nothing of it is checked above; ``implied``: neither, since the others say it;
    ``weakened``: of the residual's conjuncts that the filter does not have, ``above`` are those
    that follow from it; ``replaced``: it is not in the residual, which has ``above`` instead of all
    conjuncts that are replaced; ``stays``: it is in the residual.
    """

    text: str
    fate: Fate
    above: tuple[str, ...] = ()

    def __str__(self) -> str:
        above = f" {' AND '.join(self.above)}" if self.above else ""
        return f"{self.text}: {TOLD[self.fate]}{above}"

    @property
    def told(self) -> str:
        """What became of it."""
        return TOLD[self.fate]

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        return {**asdict(self), "above": list(self.above)}


@dataclass(frozen=True, slots=True)
class Reach:
    """A conjunct of the pre-filter: whether the scan is given it, and if not, why."""

    text: str
    reached: bool
    why: str = ""

    def __str__(self) -> str:
        return f"{self.text}: {self.why or 'pushed to the scan'}"

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Remedy:
    """Of the assumption ``text``: ``declare`` is what to pass to ``optimize`` where the caller
    knows that it holds, empty where it cannot be said so; ``advice`` is what else can be done.
    """

    text: str
    declare: str
    advice: str

    def __str__(self) -> str:
        given = f"if you know that it holds, pass declare={self.declare!r}" if self.declare else ""
        return "; ".join(filter(None, (given, self.advice)))

    def to_json(self) -> dict[str, str]:
        """In JSON's types."""
        return asdict(self)
