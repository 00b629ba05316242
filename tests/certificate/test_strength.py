"""What "optimal" claims: that no right pre-filter keeps fewer rows, whatever it is made of."""

from __future__ import annotations

from typing import Any

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.driver.fold_inputs import TIMEZONE, read_inputs
from presieve.driver.synthesize import synthesize as search
from presieve.driver.verify import verify
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.ops import app
from presieve.ir.pushdown import Pushdown
from presieve.ir.sorts import INT
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var, lit
from presieve.records import replace
from presieve.semantics.interpret import Env, holds
from presieve.sql.parse import parse_predicate
from presieve.synthesis.engine import synthesize

SCHEMA = "opened bigint NOT NULL, closed bigint NOT NULL"
WHERE = "last > 10"


class LastInOrder:
    """When the last row was closed that was closed after it was opened."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["closed"] if row["opened"] < row["closed"] else acc

    def finish(self, acc: Any) -> Any:
        return acc


def problem() -> Problem:
    inputs = read_inputs(LastInOrder, SCHEMA, "last bigint", (), "grouped")
    assert not isinstance(inputs, Declined)
    where = parse_predicate(WHERE, inputs.output_names(), TIMEZONE)
    assert not isinstance(where, Declined)
    return inputs.problem(where, [])


def of_regions() -> Pushdown:
    """The best pre-filter that compares columns with constants alone."""
    found = synthesize(problem()).pushdown
    assert found is not None
    return found


def of_row(opened: int, closed: int) -> Env:
    return {(Scope.ROW, "opened"): opened, (Scope.ROW, "closed"): closed}


UNORDERED = of_row(7, 3)
"""A row that no table needs."""


def test_no_regions_of_single_columns_are_called_the_strongest() -> None:
    """Constants say nothing of which of two columns is greater, so rows are kept for nothing."""
    found = of_regions()
    better = verify(
        LastInOrder,
        WHERE,
        schema=SCHEMA,
        returns="last bigint",
        prefilter="opened < closed",
        residual=WHERE,
    )
    assert better.status == "proved"
    assert holds(found.prefilter, UNORDERED)
    assert found.strength != "optimal"


def test_a_table_for_each_region_is_not_enough_for_the_claim() -> None:
    certificate = Certificate.of(problem(), of_regions())
    assert isinstance(check(certificate), Verified)
    verdict = check(replace(certificate, strength="optimal"))
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "strength"
    everything = tuple(replace(w, region=SQL_TRUE) for w in certificate.witnesses)
    verdict = check(replace(certificate, strength="optimal", witnesses=everything))
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "strength"


def test_a_filter_that_never_holds_needs_no_table() -> None:
    found = search(LastInOrder, "last > 10 AND last < 10", schema=SCHEMA, returns="last bigint")
    assert (found.kind, found.prefilter, found.strength) == ("empty", "false", "optimal")
    assert found.certificate is not None
    assert found.certificate.witnesses == ()
    wider = replace(found.certificate, prefilter=SQL_TRUE, kind="none", residual=SQL_TRUE)
    assert isinstance(check(wider), Rejected)


def test_the_strongest_has_few_tables_which_speak_for_all_rows() -> None:
    """Its wrong twins, which keep more than that, are not the strongest; nor is it without one of
    the tables.
    """
    found = search(LastInOrder, WHERE, schema=SCHEMA, returns="last bigint")
    assert (found.prefilter, found.strength) == ("opened < closed", "optimal")
    certificate = found.certificate
    assert certificate is not None
    for solver in ("z3", "cvc5"):
        assert isinstance(check(certificate, solver), Verified)
    opened, closed = (Var(Scope.ROW, n, INT) for n in ("opened", "closed"))
    last = lit(INT, 2**63 - 1)
    twins: list[Term] = [
        app(Op.SQL_LE, opened, closed),
        app(Op.SQL_OR, certificate.prefilter, app(Op.SQL_EQ, opened, last)),
        app(Op.SQL_LT, opened, app(Op.SQL_INT_ADD, closed, lit(INT, 1))),
        SQL_TRUE,
    ]
    for wider in twins:
        changed = replace(certificate, prefilter=wider)
        assert isinstance(check(replace(changed, strength="universe")), Verified)
        verdict = check(changed)
        assert isinstance(verdict, Rejected)
        assert verdict.condition == "strength"
    for i in range(len(certificate.witnesses)):
        fewer = certificate.witnesses[:i] + certificate.witnesses[i + 1 :]
        verdict = check(replace(certificate, witnesses=fewer))
        assert isinstance(verdict, Rejected)
        assert verdict.condition == "strength"
