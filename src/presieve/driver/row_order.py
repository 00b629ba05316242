# SPDX-License-Identifier: Apache-2.0
"""Trusted. Whether a pipeline's result depends on the order of rows; determined on demand.

Nothing rests on the answer: every rewrite is proved for every order.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from presieve.driver.python_rows import python_result, python_row, sorts_of
from presieve.driver.solve import Solution, strictly
from presieve.errors import PresieveError
from presieve.ir.assumption_codes import BY_GUARD
from presieve.ir.fold import Assumption, Problem
from presieve.report import row_order as orders
from presieve.report.row_order import Order, Permuted
from presieve.semantics import interpret
from presieve.semantics.interpret import Raised
from presieve.semantics.types import SchemaColumn

if TYPE_CHECKING:
    from presieve.synthesis.order.permute import Exchange

logger = logging.getLogger("presieve")

SECONDS = 2.0
"""Maximum seconds for an answer; most take a few hundredths."""


def problem_of_order(solution: Solution) -> Problem:
    """Return the problem under the assumptions listed with its solution.

    If nothing was proved, only the assumptions remain that belong to the function's meaning or are
    known to hold.
    """
    if solution.verified is not None:
        return solution.problem
    return strictly(solution.problem, solution.known)


def order_of(solution: Solution, seconds: float) -> Order:
    """Return the answer for a solved problem; rows of a witness show grouping and input columns.

    A bug of ours in the search for it must not prevent a report, so it is logged.
    """
    problem = problem_of_order(solution)
    columns = (*problem.fold.keys, *problem.fold.columns)
    schema = [SchemaColumn(c.name, c.type) for c in columns]
    try:
        of_all_rows = [a for a, by in solution.known.items() if by != BY_GUARD]
        return Question(problem, schema, of_all_rows, min(seconds, SECONDS)).answer()
    except PresieveError as error:
        logger.warning("asking for the order of rows failed, please report it", exc_info=error)
        return orders.answer_unknown()


@dataclass(slots=True)
class Question:
    """The question whether the order of rows matters for a problem.

    ``known`` are assumptions that hold anyway. ``schema`` gives the columns that rows of a witness
    show. ``seconds`` is :data:`SECONDS` unless given.
    """

    problem: Problem
    schema: Sequence[SchemaColumn]
    known: Collection[Assumption] = ()
    seconds: float | None = None
    _answer: Order | None = field(default=None, init=False, compare=False)

    def answer(self) -> Order:
        """Return the answer, which is determined at the first call."""
        if self._answer is None:
            self._answer = self._decide()
        return self._answer

    def _decide(self) -> Order:
        # The search loads a solver, and importing this module must not load one.
        from presieve.synthesis.order.dependence import Independent, decide
        from presieve.synthesis.order.permute import Exchange

        seconds = SECONDS if self.seconds is None else self.seconds
        match decide(self.problem, seconds):
            case Exchange() if self.problem.fold.hidden:
                return orders.answer_unknown(
                    "it may depend on what a function gives that is declared pure"
                )
            case Exchange() as exchange:
                witness = self._witness(exchange)
                return orders.answer_dependent(witness) if witness else orders.answer_unknown()
            case Independent():
                open_ = [a for a in self.problem.assumptions if a not in self.known]
                return orders.answer_independent([{"code": a.code, "text": a.text} for a in open_])
        return orders.answer_unknown()

    def _witness(self, exchange: Exchange) -> Permuted | None:
        """Run both orders on the reference interpreter; return None if their results agree."""
        fold = self.problem.fold
        key = dict(zip((c.name for c in fold.keys), exchange.key, strict=True))
        names = [c.name for c in fold.columns]
        tables = (exchange.table, exchange.exchanged)
        orders = [[dict(zip(names, r, strict=True)) for r in table] for table in tables]
        first, second = (interpret.outcome(self.problem, rows, key) for rows in orders)
        if isinstance(first, Raised) == isinstance(second, Raised) and interpret.agree(
            first, second
        ):
            return None
        sorts = sorts_of(self.problem)
        rows, permuted = (
            [python_row(self.schema, {**key, **r}, sorts) for r in order] for order in orders
        )
        result, permuted_result = (python_result(self.problem, o, key) for o in (first, second))
        return Permuted(rows, permuted, result, permuted_result, exchange.cause)
