# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Tries types of columns, which only the plan knows, until a function can be read.

The lifter decides; here types are only chosen. A function that stops it at the same place whatever
the types has an obstacle that does not depend on them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import Declined
from presieve.lift.forms import Lifted

_COMPLETE = 49
"""All combinations are tried if there are no more than these."""
_MOST = 120
_ROUNDS = 2
_IMPLAUSIBLE = ("always-raises", "column-type")
"""Codes with which the lifter says that a function would fail with these types."""

Assignment: TypeAlias = Mapping[str, str]
Attempt: TypeAlias = Callable[[Assignment], Lifted | Declined]


class Outcome(Struct, frozen=True):
    """What the lifter says.

    ``types`` are those with which it reads the function, or gets furthest. ``everywhere``: it stops
    at this place whatever types were tried. ``complete``: all combinations of types that fit the
    function were tried.
    """

    types: tuple[tuple[str, str], ...]
    answer: Lifted | Declined
    everywhere: bool
    complete: bool


def try_types(candidates: Mapping[str, Sequence[str]], attempt: Attempt) -> Outcome:
    """Find types of these columns with which a function is read, among the candidates of each."""
    names = tuple(candidates)
    answers: dict[tuple[str, ...], Lifted | Declined] = {}
    complete = math.prod(map(len, candidates.values())) <= _COMPLETE
    best: tuple[str, ...] | None = None
    for types in _alike(candidates):
        if _ask_lifter(types, answers, names, attempt):
            return _outcome(names, types, answers, complete)
        if best is None or _is_further(answers[types], answers[best]):
            best = types
    assert best is not None
    alike = _outcome(names, best, answers, complete)
    if isinstance(alike.answer, Declined) and alike.everywhere and alike.answer.code not in BY_TYPE:
        return alike
    for types in itertools.product(*candidates.values()) if complete else ():
        if _ask_lifter(types, answers, names, attempt):
            return _outcome(names, types, answers, complete)
        if _is_further(answers[types], answers[best]):
            best = types
    if not complete:
        best = _climb(candidates, best, answers, attempt)
    return _outcome(names, best, answers, complete)


def _ask_lifter(
    types: tuple[str, ...],
    answers: dict[tuple[str, ...], Lifted | Declined],
    names: Sequence[str],
    attempt: Attempt,
) -> bool:
    """Ask the lifter, unless it has answered; return whether it reads the function."""
    if types not in answers:
        answers[types] = attempt(dict(zip(names, types, strict=True)))
    return isinstance(answers[types], Lifted)


def _alike(candidates: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Iterate over the combinations in which columns are alike, as far as they fit."""
    each = list(candidates.values())
    if not each:
        yield ()
    for type_ in dict.fromkeys(t for types in each for t in types):
        yield tuple(type_ if type_ in types else types[0] for types in each)


def _climb(
    candidates: Mapping[str, Sequence[str]],
    best: tuple[str, ...],
    answers: dict[tuple[str, ...], Lifted | Declined],
    attempt: Attempt,
) -> tuple[str, ...]:
    """Change one type after the other, as long as the lifter gets further."""
    names, each = tuple(candidates), list(candidates.values())
    changes = [(at, type_) for at, types in enumerate(each) for type_ in types]
    for _ in range(_ROUNDS):
        before = best
        for at, type_ in changes:
            types = (*best[:at], type_, *best[at + 1 :])
            if len(answers) >= _MOST:
                return best
            if _ask_lifter(types, answers, names, attempt):
                return types
            if _is_further(answers[types], answers[best]):
                best = types
        if best == before:
            break
    return best


def _is_further(a: Lifted | Declined, b: Lifted | Declined) -> bool:
    assert isinstance(a, Declined)
    assert isinstance(b, Declined)
    return place_of(a) > place_of(b)


def place_of(declined: Declined) -> tuple[int, bool]:
    """Return the line, and whether other types would not help there. The line is zero if it is
    unknown, or if the types are not those that the function is written for.
    """
    if declined.span is None or declined.code in _IMPLAUSIBLE:
        return (0, False)
    return (declined.span.line, declined.code not in BY_TYPE)


BY_TYPE = (
    *("unsupported-operation", "mixed-types", "column-type", "key-type", "return-type"),
    *("inexact-conversion", "timestamp-zone", "numpy-scalar", "iterrows-types", "always-raises"),
)
"""Codes of declines that other types may avoid."""


def _outcome(
    names: Sequence[str],
    types: tuple[str, ...],
    answers: Mapping[tuple[str, ...], Lifted | Declined],
    complete: bool,
) -> Outcome:
    chosen = tuple(zip(names, types, strict=True))
    answer = answers[types]
    if isinstance(answer, Lifted):
        read = {c.name for c in (*answer.fold.columns, *answer.fold.keys)}
        return Outcome(tuple(c for c in chosen if c[0] in read), answer, False, complete)
    stops = {(a.code, a.span, a.reason) for a in answers.values() if isinstance(a, Declined)}
    return Outcome(chosen, answer, len(stops) == 1, complete)
