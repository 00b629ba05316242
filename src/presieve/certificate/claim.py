# SPDX-License-Identifier: Apache-2.0
"""Trusted. What every kind of certificate is: a claim, with everything needed to check it again.

It is stored as JSON in which every term is in the IR's text form, so it is read back without loss.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from presieve.errors import PresieveError, UsageError
from presieve.ir.ops import negate
from presieve.ir.terms import TRUE, Term

FORMAT = 2
_T = TypeVar("_T")


class Script(Struct, frozen=True):
    """An obligation that a solver decides: ``text`` is unsatisfiable if it holds. ``failure`` says
    what is wrong if it does not; if empty, the solver's answer says it.
    """

    name: str
    text: str
    failure: str = ""


class Decided(Struct, frozen=True):
    """An obligation that is decided without a solver. ``failure`` says why it does not hold; None
    if it does.
    """

    name: str
    failure: str | None


Obligation: TypeAlias = Script | Decided


class Claim(ABC):
    """A claim of some kind. Only :func:`presieve.certificate.checker.check` decides if it holds:
    if the form is right, some rows obey the premises, and every obligation holds. That these imply
    the statement is the argument of its kind, so each kind is a file of this package.
    """

    __slots__ = ()

    @abstractmethod
    def fields(self) -> dict[str, object]:
        """The kind, then the statement, as plain data for ``json``."""

    @abstractmethod
    def check_form(self) -> None:
        """Raises :class:`PresieveError` or ValueError if the statement makes no sense."""

    @abstractmethod
    def premises(self) -> str | None:
        """Build a script that is satisfiable unless the obligations hold of nothing; None if they
        rest on no assumption.
        """

    @abstractmethod
    def obligations(self) -> Iterator[Obligation]:
        """Yield all that has to hold, in the order in which it is decided."""

    def erases_error(self) -> str | None:
        """Build a script that is satisfiable unless every error stays; None if the claim does not
        speak of errors that disappear.
        """
        return None

    def to_json(self) -> dict[str, object]:
        """Plain data for ``json``."""
        return {"presieve": FORMAT, **self.fields()}

    def text(self) -> str:
        """The certificate as JSON; equal certificates give equal text."""
        return json.dumps(self.to_json(), indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write :meth:`text` to a file."""
        Path(path).write_text(self.text(), encoding="utf-8")


class ConditionClaim(Claim):
    """A claim that some conditions, which are terms, hold for all rows."""

    __slots__ = ()

    @abstractmethod
    def conditions(self) -> Iterator[tuple[str, Term]]:
        """Yield the conditions with their names."""

    @abstractmethod
    def write_violation(self, wrong: Term) -> str:
        """Build a script that is satisfiable if ``wrong`` is true of some rows that types and
        assumptions allow.
        """

    def premises(self) -> str:
        """Build a script that is satisfiable if there are rows."""
        return self.write_violation(TRUE)

    def obligations(self) -> Iterator[Obligation]:
        """The negation of each condition. They are built first: if one cannot be, the form is
        wrong.
        """
        conditions = list(self.conditions())
        return (Script(name, self.write_violation(negate(term))) for name, term in conditions)


def read_claim(how: Callable[[dict[str, Any]], _T], data: dict[str, Any]) -> _T:
    """Read a claim from its stored form. Raises :class:`PresieveError` if ``data`` is malformed."""
    try:
        return how(data)
    except KeyError as problem:
        raise PresieveError(f"not a complete certificate: it has no {problem}") from problem
    except (TypeError, AttributeError, ValueError, OverflowError) as problem:
        raise PresieveError(f"not a certificate: {problem!r}") from problem
    except RecursionError:
        raise PresieveError("not a certificate: nested too deeply") from None


def read_file(path: str | Path, how: Callable[[object], _T]) -> _T:
    """Read a claim from a JSON file. Raises :class:`UsageError` if there is none."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror or problem}") from problem
    except (ValueError, RecursionError) as problem:  # of bytes, of JSON, of a number's length
        raise UsageError(f"{path}: not JSON, so not a certificate ({problem})") from problem
    try:
        return how(data)
    except PresieveError as problem:
        raise UsageError(f"{path}: {problem}") from problem
