# SPDX-License-Identifier: Apache-2.0
"""Trusted. The one root of exceptions, source spans, and the value that means "declined".

Whatever may legitimately fail (an unknown function, an unprovable pushdown) is a :class:`Declined`
value. Exceptions are for misuse and for bugs of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from msgspec import Struct


class PresieveError(Exception):
    """The base class of every exception that presieve raises."""


class UsageError(PresieveError):
    """The caller's input is wrong: one clear line, with the remedy in it."""


class SortError(PresieveError):
    """A term of the IR was built with arguments of the wrong sorts (a bug of ours)."""


def install(extras: str) -> str:
    """Return the ending of a message about a package that is missing: how to install presieve with
    these extras. presieve is on no package index, so this names a checkout and the wheel.
    """
    checkout = f"run pip install '.[{extras}]' in a checkout of presieve"
    return f"{checkout}, or install its wheel with the extra [{extras}]"


def suggest_name(name: str, known_names: Iterable[str]) -> str:
    """Return the ending of a message about an unknown name: ``"; did you mean score?"``.

    It is empty if no known name is similar.
    """
    from difflib import get_close_matches  # rarely needed, and slow to load

    names = {n.lower(): n for n in known_names}
    near = [names[n] for n in get_close_matches(name.lower(), names, n=3, cutoff=0.6)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


class Span(Struct, frozen=True):
    """A place in a source. ``line`` counts from 1, ``column`` from 1; 0 is unknown."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


def place_json(span: Span | None) -> dict[str, object]:
    """Return ``file``, ``line`` and ``column``; None if the place is unknown."""
    if span is None:
        return {"file": None, "line": None, "column": None}
    return {"file": span.file, "line": span.line, "column": span.column}


class Behind:
    """The obstacles that come behind another one: call it to look for them, once and not before.

    It does not count where reasons are compared.
    """

    __slots__ = ("_look",)

    def __init__(self, look: Callable[[], tuple[Declined, ...]]) -> None:
        self._look = cache(look)

    def __call__(self) -> tuple[Declined, ...]:
        """Return the obstacles in the order in which they come."""
        return self._look()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Behind)

    def __hash__(self) -> int:
        return hash(Behind)


def _nothing() -> tuple[Declined, ...]:
    return ()


NOTHING_BEHIND = Behind(_nothing)


class Declined(Struct, frozen=True):
    """Why something was left alone. ``code`` is stable and documented, ``reason`` is a sentence.
    ``behind`` gives the obstacles that come next once this one is removed, as far as is known.
    """

    code: str
    reason: str
    span: Span | None = None
    behind: Behind = NOTHING_BEHIND

    def __str__(self) -> str:
        where = f" ({self.span})" if self.span else ""
        return f"[{self.code}] {self.reason}{where}"

    def to_json(self) -> dict[str, object]:
        """Return the public form: ``code``, ``reason``, ``line``, ``column`` (and ``file``), and
        ``behind`` if obstacles behind this one are known.
        """
        behind = [d.to_json() for d in self.behind()]
        plain = {"code": self.code, "reason": self.reason, **place_json(self.span)}
        return {**plain, "behind": behind} if behind else plain


class DeclineSignal(PresieveError):
    """Carries a :class:`Declined` from deep inside a lifter to the lifter's one entry point.

    Never crosses a layer: every public lifting function catches it and returns the value.

    ``trail`` is for the lifter, which says with it where it stopped, if it was asked.
    """

    def __init__(self, code: str, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.declined = Declined(code, reason, span)
        self.trail: object = None

    @classmethod
    def of(cls, why: Declined) -> DeclineSignal:
        """Return a signal that carries the value."""
        signal = cls(why.code, why.reason, why.span)
        signal.declined = why
        return signal

    def saying(self, reason: str, span: Span | None) -> DeclineSignal:
        """Return the same signal with another reason or place."""
        signal = DeclineSignal(self.declined.code, reason, span)
        signal.trail = self.trail
        return signal
