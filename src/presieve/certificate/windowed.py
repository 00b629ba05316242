"""Trusted. That a filter may stand below a window (:mod:`presieve.semantics.windows`).

Each script is the negation of an obligation, for every two rows that the columns' types allow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from presieve.certificate.certificate import FORMAT
from presieve.certificate.check import Rejected, SolverName, decided, make_solver
from presieve.errors import PresieveError
from presieve.ir.fold import Column, Fold, Mode, Problem
from presieve.ir.ops import negate
from presieve.ir.sorts import BOOL, DATE, INT, TIMESTAMP, TIMESTAMP_NTZ, strip
from presieve.ir.terms import SQL_TRUE, TRUE, Scope, Term, Var
from presieve.ir.text import parse_term, print_term
from presieve.ir.walk import variables
from presieve.ir.wellformed import IllFormed
from presieve.semantics.types import column
from presieve.semantics.windows import Frame, SortKey, Window, influence, obligations
from presieve.smt.runs import Runs
from presieve.smt.solver import Effort

KIND = "window"
_NUMBERS = (INT, DATE, TIMESTAMP, TIMESTAMP_NTZ)
_SEAL = object()


@dataclass(frozen=True, slots=True)
class WindowCertificate:
    """``prefilter`` (over ROW) may stand below the window, where ``where`` (over KEY) stands above
    it and stays there. ``columns`` are those that these read, and the window.
    """

    columns: tuple[Column, ...]
    window: Window
    where: Term
    prefilter: Term

    def to_json(self) -> dict[str, object]:
        """Plain data for ``json``; inverse of :func:`parse`."""
        window = self.window
        return {
            "presieve": FORMAT,
            "kind": KIND,
            "columns": [[c.name, c.type, c.sort != strip(c.sort)] for c in self.columns],
            "partition": [print_term(t) for t in window.partition],
            "order": [[print_term(k.value), k.descending, k.nulls_first] for k in window.order],
            "frames": [[f.lower, f.upper] for f in window.frames],
            "raises": window.raises,
            "limits": window.limits,
            "wraps": window.wraps,
            "where": print_term(self.where),
            "prefilter": print_term(self.prefilter),
        }

    def text(self) -> str:
        """As JSON, the same for the same certificate."""
        return json.dumps(self.to_json(), indent=1) + "\n"


def parse(data: Mapping[str, Any]) -> WindowCertificate:
    """Read a certificate of this kind back. Raises what reading JSON that is none raises."""
    columns = [column(str(n), str(t), bool(nullable)) for n, t, nullable in data["columns"]]
    limits = data["limits"]
    window = Window(
        tuple(map(parse_term, data["partition"])),
        tuple(SortKey(parse_term(v), bool(d), bool(n)) for v, d, n in data["order"]),
        tuple(Frame(*(None if x is None else int(x) for x in f)) for f in data["frames"]),
        bool(data["raises"]),
        None if limits is None else (int(limits[0]), int(limits[1])),
        bool(data["wraps"]),
    )
    known = tuple(c for c in columns if c is not None)
    where, prefilter = parse_term(data["where"]), parse_term(data["prefilter"])
    return WindowCertificate(known, window, where, prefilter)


@dataclass(frozen=True, slots=True)
class VerifiedWindow:
    """A certificate that this checker has accepted; only :func:`check_window` makes one.
    ``seconds`` for each obligation.
    """

    certificate: WindowCertificate
    solver: SolverName
    seconds: dict[str, float]
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise PresieveError("only the checker makes a VerifiedWindow")


def check_window(
    certificate: WindowCertificate, solver: SolverName = "z3", effort: Effort | None = None
) -> VerifiedWindow | Rejected:
    """Rebuild the obligations and decide each. Unknown is not accepted."""
    try:
        _check_form(certificate)
        must = list(obligations(certificate.window, certificate.where, certificate.prefilter))
    except (PresieveError, ValueError) as problem:
        return Rejected("form", str(problem))
    scripts = ((name, _script(certificate, negate(term))) for name, term in must)
    like = make_solver(solver)
    seconds = decided(_script(certificate, TRUE), scripts, like, effort or Effort())
    if isinstance(seconds, Rejected):
        return seconds
    return VerifiedWindow(certificate, solver, seconds, _SEAL)


def _script(certificate: WindowCertificate, wrong: Term) -> str:
    """Satisfiable if there are two rows of which something is true."""
    columns = certificate.columns
    fold = Fold("window", columns, columns, (), ())
    runs = Runs(Problem(fold, SQL_TRUE, Mode.GROUPED), [wrong])
    runs.encoder.fact(runs.encoder.boolean(wrong, runs.row("other")))
    return runs.encoder.take()


def _check_form(certificate: WindowCertificate) -> None:
    """Conditions over columns that there are, and frames of numbers over one key of numbers."""
    window, columns = certificate.window, certificate.columns
    rows = {Var(Scope.ROW, c.name, c.sort) for c in columns}
    keys = {Var(Scope.KEY, c.name, c.sort) for c in columns}
    of_rows = (*window.partition, *(k.value for k in window.order), certificate.prefilter)
    if not rows.issuperset(variables(*of_rows)) or not keys.issuperset(
        variables(certificate.where)
    ):
        raise IllFormed("a term reads what is no column")
    if any(strip(t.sort) != BOOL for t in (certificate.where, certificate.prefilter)):
        raise IllFormed("a filter is no condition")
    if not window.frames:
        raise IllFormed("a window has a frame")
    if any(n for f in window.frames for n in (f.lower, f.upper)):
        if len(window.order) != 1 or strip(window.order[0].value.sort) not in _NUMBERS:
            raise IllFormed("a frame of numbers needs one sort key, of whole numbers")
        if window.wraps and window.limits is None:
            raise IllFormed("nothing is known of the type of the sort key")
    influence(window)
