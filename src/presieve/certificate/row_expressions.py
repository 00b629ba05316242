"""Trusted. Proves that an expression of Spark gives the result of a function of single rows.

Each script is the negation of a condition, for every row that types and assumptions allow:

    Safe    nothing in an expression raises by accident, wraps around or rounds
    Raises  an expression raises if and only if the function does
    Equal   where they do not, both give the same, to the bit: NULL, NaN and -0.0 are told apart

Assumptions that the function's meaning does not rest on are left out. *Equal* is about the rows
that reach a worker: a date that Python does not have raises on its way. Spark may evaluate an
expression for more rows than a function, so the other conditions are about all rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from presieve.certificate.certificate import FORMAT
from presieve.certificate.check import (
    Rejected,
    SolverName,
    check_types,
    decide_conditions,
    make_solver,
)
from presieve.certificate.required import check_required
from presieve.errors import PresieveError
from presieve.ir.fold import Fold, Mode, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Term
from presieve.ir.text import parse_problem, parse_term, print_problem, print_term
from presieve.ir.walk import variables
from presieve.ir.wellformed import IllFormed, check_problem
from presieve.semantics.assumptions import check_words
from presieve.semantics.smart_constructors import and_, or_
from presieve.smt.solver import Effort
from presieve.smt.two_runs import Runs

KIND = "compiled"
_SEAL = object()


@dataclass(frozen=True, slots=True)
class Expression:
    """The replacement of an output: its ``text`` in SQL, and its meaning in Spark, over KEY: the
    ``value``, an option; ``safe`` and ``raises``, of sort Bool.
    """

    output: str
    text: str
    value: Term
    safe: Term
    raises: Term

    def to_json(self) -> dict[str, str]:
        """Plain data for ``json``; inverse of :meth:`parse`."""
        terms = {"value": self.value, "safe": self.safe, "raises": self.raises}
        printed = {name: print_term(term) for name, term in terms.items()}
        return {"output": self.output, "text": self.text, **printed}

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Expression:
        """Inverse of :meth:`to_json`. Raises KeyError, TypeError, ValueError or
        :class:`PresieveError` if ``data`` is malformed.
        """
        value, safe, raises = (parse_term(data[name]) for name in ("value", "safe", "raises"))
        return cls(str(data["output"]), str(data["text"]), value, safe, raises)


@dataclass(frozen=True, slots=True)
class CompiledCertificate:
    """The expressions may replace the outputs of the problem's fold, where each row is a group.

    ``row`` is the output that says whether the function gives a row, if it may give none. Then rows
    are filtered by the expression for it, which also keeps the rows on which the function raises.
    """

    problem: Problem
    expressions: tuple[Expression, ...]
    row: str = ""

    def to_json(self) -> dict[str, object]:
        """Plain data for ``json``; inverse of :func:`parse`."""
        return {
            "presieve": FORMAT,
            "kind": KIND,
            "row": self.row,
            "expressions": [e.to_json() for e in self.expressions],
            "problem": print_problem(self.problem).splitlines(),
        }

    def text(self) -> str:
        """The certificate as JSON; equal certificates give equal text."""
        return json.dumps(self.to_json(), indent=1) + "\n"


def parse(data: Mapping[str, Any]) -> CompiledCertificate:
    """Read a certificate of this kind. Raises KeyError, TypeError, ValueError or
    :class:`PresieveError` if ``data`` is malformed.
    """
    expressions = tuple(map(Expression.parse, data["expressions"]))
    row = str(data.get("row", ""))
    return CompiledCertificate(parse_problem("\n".join(data["problem"])), expressions, row)


@dataclass(frozen=True, slots=True)
class VerifiedCompiled:
    """A certificate that this checker has accepted; only :func:`check_compiled` makes one.
    ``seconds`` is the time per condition.
    """

    certificate: CompiledCertificate
    solver: SolverName
    seconds: dict[str, float]
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise PresieveError("only the checker makes a VerifiedCompiled")


def check_compiled(
    certificate: CompiledCertificate, solver: SolverName = "z3", effort: Effort | None = None
) -> VerifiedCompiled | Rejected:
    """Rebuild the conditions from the IR and decide each. An unknown answer is not accepted."""
    effort = effort or Effort()
    try:
        _check_form(certificate)
    except PresieveError as problem:
        return Rejected("form", str(problem))
    like = make_solver(solver)
    conditions = (
        (n, _violation_script(certificate, negate(c))) for n, c in _conditions(certificate)
    )
    seconds = decide_conditions(_violation_script(certificate, TRUE), conditions, like, effort)
    if isinstance(seconds, Rejected):
        return seconds
    return VerifiedCompiled(certificate, solver, seconds, _SEAL)


def _conditions(certificate: CompiledCertificate) -> Iterator[tuple[str, Term]]:
    """Yield the conditions that must hold for every row, with their names."""
    fold, row = certificate.problem.fold, certificate.row
    output_terms = {o.name: o.term for o in fold.outputs}
    raises = fold.finish_raises
    gives_row = app(Op.SQL_IS_TRUE, output_terms[row]) if row else TRUE
    row_stays = or_(gives_row, raises)
    lost = negate(and_(*_representable_in_python(fold)))
    for e in certificate.expressions:
        errors: Term
        equal: Term
        if e.output == row:
            errors, equal = FALSE, app(Op.SAME, app(Op.SQL_IS_TRUE, e.value), row_stays)
        else:
            same = app(Op.SAME, e.value, output_terms[e.output])
            errors, equal = raises, or_(negate(row_stays), raises, same)
        yield f"safe {e.output}", e.safe
        yield f"raises {e.output}", app(Op.SAME, e.raises, errors)
        yield f"equal {e.output}", or_(lost, equal)


def _violation_script(certificate: CompiledCertificate, wrong: Term) -> str:
    """Build a script that is satisfiable if some row makes ``wrong`` true."""
    runs = Runs(certificate.problem, [wrong])
    runs.encoder.fact(runs.encoder.boolean(wrong, runs.keys))
    return runs.encoder.take()


_PYTHON = {
    "date": (-719_162, 2_932_896),
    "timestamp_ntz": (-62_135_596_800_000_000, 253_402_300_799_999_999),
}
"""The days and microseconds since 1970 that Python has: years 1 to 9999."""


def _representable_in_python(fold: Fold) -> Iterator[Term]:
    """State that columns hold values that Python has."""
    for column in fold.keys:
        if column.type in _PYTHON:
            low, high = _PYTHON[column.type]
            value = fold.key(column.name)
            for op, end in ((Op.SQL_LT, low), (Op.SQL_GT, high)):
                beyond = app(op, value, Lit(strip(column.sort), end))
                yield negate(app(Op.SQL_IS_TRUE, beyond))


def _check_form(certificate: CompiledCertificate) -> None:
    """Check that the fold is of single rows, and each output has an expression of its type."""
    problem, fold = certificate.problem, certificate.problem.fold
    check_problem(problem)
    check_words(problem)
    if fold.columns or fold.fields or problem.mode is not Mode.GROUPED:
        raise IllFormed("only functions of single rows are replaced by expressions")
    outputs = {o.name: o for o in fold.outputs}
    if certificate.row and certificate.row not in outputs:
        raise IllFormed(f"there is no output {certificate.row}")
    if [e.output for e in certificate.expressions] != list(outputs):
        raise IllFormed("there must be one expression for each output")
    keys = {fold.key(c.name) for c in fold.keys}
    check_types(fold)
    check_required(problem)
    for e in certificate.expressions:
        if e.value.sort != outputs[e.output].sort or e.safe.sort != BOOL or e.raises.sort != BOOL:
            raise IllFormed(f"the expression for {e.output} is of another sort")
        if not keys.issuperset(variables(e.value, e.safe, e.raises)):
            raise IllFormed(f"the expression for {e.output} reads what is no column")
