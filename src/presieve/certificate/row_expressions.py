# SPDX-License-Identifier: Apache-2.0
"""Trusted. Proves that an expression of Spark gives the result of a function of single rows.

Each script is the negation of a condition, for every row that types and assumptions allow:

    Safe    nothing in an expression raises by accident, wraps around or rounds
    Raises  an expression raises if and only if Spark calls the function and it raises
    Equal   where they do not, both give the same, to the bit: NULL, NaN and -0.0 are told apart

Assumptions that the function's meaning does not rest on are left out. *Equal* is about the rows
that reach a worker: a date that Python does not have raises on its way. Spark may evaluate an
expression for more rows than a function, so the other conditions are about all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from presieve.certificate.claim import ConditionClaim
from presieve.certificate.plain_data import read_fields, write_fields
from presieve.certificate.required import check_statement
from presieve.ir.fold import Fold, Mode, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, strip
from presieve.ir.terms import FALSE, SQL_TRUE, TRUE, Lit, Op, Term
from presieve.ir.walk import variables
from presieve.ir.wellformed import IllFormed
from presieve.semantics.smart_constructors import and_, or_
from presieve.smt.two_runs import Runs

KIND = "compiled"


class Expression(Struct, frozen=True):
    """The replacement of an output: its ``text`` in SQL, and its meaning in Spark, over KEY: the
    ``value``, an option; ``safe`` and ``raises``, of sort Bool.
    """

    output: str
    text: str
    value: Term
    safe: Term
    raises: Term


@dataclass(frozen=True, slots=True)
class CompiledCertificate(ConditionClaim):
    """The expressions may replace the outputs of the problem's fold, where each row is a group.

    ``row`` is the output that says whether the function gives a row, if it may give none. Then rows
    are filtered by the expression for it, which also keeps the rows on which the function raises.
    ``called_if`` is the condition of SQL under which Spark calls the function. Where it does not
    hold, nothing is raised, and where the function would raise, the outputs have any value.
    """

    problem: Problem
    expressions: tuple[Expression, ...]
    row: str = ""
    called_if: Term = SQL_TRUE

    def fields(self) -> dict[str, object]:
        """The statement; :func:`parse` reads it."""
        return {"kind": KIND, **write_fields(self)}

    def check_form(self) -> None:
        """Check that the fold is of single rows, and each output has an expression of its type."""
        problem, fold = self.problem, self.problem.fold
        check_statement(problem)
        if fold.columns or fold.fields or problem.mode is not Mode.GROUPED:
            raise IllFormed("only functions of single rows are replaced by expressions")
        outputs = {o.name: o for o in fold.outputs}
        if self.row and self.row not in outputs:
            raise IllFormed(f"there is no output {self.row}")
        if [e.output for e in self.expressions] != list(outputs):
            raise IllFormed("there must be one expression for each output")
        keys = {fold.key(c.name) for c in fold.keys}
        for e in self.expressions:
            if (
                e.value.sort != outputs[e.output].sort
                or e.safe.sort != BOOL
                or e.raises.sort != BOOL
            ):
                raise IllFormed(f"the expression for {e.output} is of another sort")
            if not keys.issuperset(variables(e.value, e.safe, e.raises, self.called_if)):
                raise IllFormed(f"the expression for {e.output} reads what is no column")

    def conditions(self) -> Iterator[tuple[str, Term]]:
        """Yield the conditions that must hold for every row, with their names."""
        fold, row = self.problem.fold, self.row
        output_terms = {o.name: o.term for o in fold.outputs}
        raises = fold.finish_raises
        raises_when_called = and_(raises, app(Op.SQL_IS_TRUE, self.called_if))
        gives_row = app(Op.SQL_IS_TRUE, output_terms[row]) if row else TRUE
        row_stays = or_(gives_row, raises)
        lost = negate(and_(*_representable_in_python(fold)))
        for e in self.expressions:
            errors: Term
            equal: Term
            if e.output == row:
                errors, equal = FALSE, app(Op.SAME, app(Op.SQL_IS_TRUE, e.value), row_stays)
            else:
                same = app(Op.SAME, e.value, output_terms[e.output])
                errors, equal = raises_when_called, or_(negate(row_stays), raises, same)
            yield f"safe {e.output}", e.safe
            yield f"raises {e.output}", app(Op.SAME, e.raises, errors)
            yield f"equal {e.output}", or_(lost, equal)

    def write_violation(self, wrong: Term) -> str:
        """Build a script that is satisfiable if some row makes ``wrong`` true."""
        runs = Runs(self.problem, [wrong])
        runs.encoder.fact(runs.encoder.boolean(wrong, runs.keys))
        return runs.encoder.take()


def parse(data: Mapping[str, Any]) -> CompiledCertificate:
    """Read a certificate of this kind. Raises KeyError, TypeError, ValueError or
    :class:`PresieveError` if ``data`` is malformed.
    """
    return read_fields(CompiledCertificate, data, may_lack=("row", "called_if"))


_PYTHON = {
    "date": (-719_162, 2_932_896),
    "timestamp_ntz": (-62_135_596_800_000_000, 253_402_300_799_999_999),
}
"""The days and microseconds since 1970 that Python has: years 1 to 9999."""


def _representable_in_python(fold: Fold) -> Iterator[Term]:
    """State that columns that the function reads hold values that Python has."""
    read = variables(fold.finish_raises, *(o.term for o in fold.outputs))
    for column in fold.keys:
        if column.type in _PYTHON and fold.key(column.name) in read:
            low, high = _PYTHON[column.type]
            value = fold.key(column.name)
            for op, end in ((Op.SQL_LT, low), (Op.SQL_GT, high)):
                beyond = app(op, value, Lit(strip(column.sort), end))
                yield negate(app(Op.SQL_IS_TRUE, beyond))
