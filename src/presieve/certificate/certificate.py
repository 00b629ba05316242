"""Trusted. A certificate: a claim about a problem, with everything needed to check it again.

It is stored as JSON in which every term is in the IR's text form, so it is read back without loss.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from presieve.errors import PresieveError, UsageError
from presieve.ir.fold import Problem
from presieve.ir.pushdown import (
    Kind,
    Pushdown,
    ResidualStrength,
    ResidualWitness,
    Strength,
    Witness,
    residual_strength,
)
from presieve.ir.terms import FALSE, Term
from presieve.ir.text import parse_problem, parse_term, print_problem, print_term

FORMAT = 2
_Claim = TypeVar("_Claim")
_BEFORE = 1
"""The previous format, which is still read: it had another word for ``optimal``."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """``prefilter`` and ``residual`` may replace ``problem.where``, because ``invariant`` relates
    the original run (ACC) and the run over the pre-filtered rows (TWIN) at every moment.
    """

    problem: Problem
    kind: Kind
    strength: Strength
    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]
    witnesses: tuple[Witness, ...] = ()
    residual_witnesses: tuple[ResidualWitness, ...] = ()

    @property
    def residual_strength(self) -> ResidualStrength:
        """Whether there is a witness for every conjunct of the residual."""
        return residual_strength(self.kind, self.residual, self.residual_witnesses)

    @property
    def calls_stay(self) -> bool:
        """Whether every expression that can raise is still evaluated for the rows that are kept.
        For expressions that are evaluated on demand, that is so if the filter stays as it is.
        """
        fold = self.problem.fold
        total = fold.step_raises == fold.finish_raises == FALSE
        return total or not self.problem.on_demand or self.residual == self.problem.where

    @classmethod
    def of(cls, problem: Problem, pushdown: Pushdown) -> Certificate:
        """Make the claim that a pushdown is correct."""
        return cls(
            problem,
            pushdown.kind,
            pushdown.strength,
            pushdown.prefilter,
            pushdown.residual,
            pushdown.invariant,
            pushdown.witnesses,
            pushdown.residual_witnesses,
        )

    def to_json(self) -> dict[str, object]:
        """Plain data for ``json``; inverse of :func:`parse`."""
        return {
            "presieve": FORMAT,
            "kind": self.kind,
            "strength": self.strength,
            "prefilter": print_term(self.prefilter),
            "residual": print_term(self.residual),
            "invariant": [print_term(t) for t in self.invariant],
            "witnesses": [
                {
                    "region": print_term(w.region),
                    "key": [print_term(v) for v in w.key],
                    "rows": [[print_term(v) for v in row] for row in w.rows],
                    "index": w.index,
                }
                for w in self.witnesses
            ],
            "residual_witnesses": [
                {
                    "conjunct": w.conjunct,
                    "key": [print_term(v) for v in w.key],
                    "rows": [[print_term(v) for v in row] for row in w.rows],
                }
                for w in self.residual_witnesses
            ],
            "problem": print_problem(self.problem).splitlines(),
        }

    def save(self, path: str | Path) -> None:
        """Write :meth:`text` to a file."""
        Path(path).write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """The certificate as JSON; equal certificates give equal text."""
        return json.dumps(self.to_json(), indent=1) + "\n"


def parse(data: object) -> Certificate:
    """Read a certificate. Raises :class:`PresieveError` if ``data`` is not a certificate."""
    if not isinstance(data, dict) or "presieve" not in data:
        raise PresieveError(f'not a certificate: "presieve": {FORMAT} is missing')
    if data["presieve"] not in (_BEFORE, FORMAT):
        raise PresieveError(
            f"a certificate of format {str(data['presieve'])[:20]!r}, and this presieve reads"
            f" formats {_BEFORE} and {FORMAT}; use the presieve that wrote it, or search again"
        )
    return read_claim(_parse, data)


def read_claim(how: Callable[[dict[str, Any]], _Claim], data: dict[str, Any]) -> _Claim:
    """Read a claim from its stored form. Raises :class:`PresieveError` if ``data`` is malformed."""
    try:
        return how(data)
    except KeyError as problem:
        raise PresieveError(f"not a complete certificate: it has no {problem}") from problem
    except (TypeError, AttributeError, ValueError, OverflowError) as problem:
        raise PresieveError(f"not a certificate: {problem!r}") from problem
    except RecursionError:
        raise PresieveError("not a certificate: nested too deeply") from None


def _parse(data: dict[str, Any]) -> Certificate:
    kind, strength = data["kind"], data["strength"]
    if data["presieve"] == _BEFORE and strength == "strongest":
        strength = "optimal"
    if kind not in get_args(Kind) or strength not in get_args(Strength):
        raise ValueError("kind or strength is none of the known ones")
    witnesses = tuple(
        Witness(
            parse_term(w["region"]),
            _values(w["key"]),
            tuple(_values(row) for row in _list(w["rows"])),
            int(w["index"]),
        )
        for w in _list(data["witnesses"])
    )
    # Older certificates have no residual witnesses.
    residual_witnesses = tuple(
        ResidualWitness(
            int(w["conjunct"]), _values(w["key"]), tuple(_values(r) for r in _list(w["rows"]))
        )
        for w in _list(data.get("residual_witnesses", []))
    )
    return Certificate(
        parse_problem("\n".join(_list(data["problem"]))),
        kind,
        strength,
        parse_term(data["prefilter"]),
        parse_term(data["residual"]),
        tuple(parse_term(t) for t in _list(data["invariant"])),
        witnesses,
        residual_witnesses,
    )


def _values(data: object) -> tuple[Term, ...]:
    return tuple(parse_term(v) for v in _list(data))


def _list(data: object) -> list[Any]:
    """Return ``data`` if it is a list, else raise TypeError: a string or a dict is iterable too,
    and would pass for an empty list.
    """
    if not isinstance(data, list):
        raise TypeError(f"a list is expected, not {data!r}")
    return data


def load(path: str | Path) -> Certificate:
    """Read a certificate from a file. Raises :class:`UsageError` if there is none."""
    return read_file(path, parse)


def read_file(path: str | Path, how: Callable[[object], _Claim]) -> _Claim:
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
