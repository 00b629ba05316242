"""Wrong twins of a proven pushdown: slightly stronger pre-filters, slightly weaker residuals."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from presieve.driver.fold_inputs import TIMEZONE
from presieve.driver.solve import Solution
from presieve.driver.verify import verify
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.sql.emit import emit_checked
from presieve.sql.quoted_names import InexpressibleError

if TYPE_CHECKING:
    from tests.fuzz.trial import Trial

REGION = "pre-filter"
"""A region of rows is dropped for which a witness says that it is needed: wrong for sure."""
RESIDUAL = "residual"
"""A conjunct of the residual is left out: wrong unless the search has missed a weaker residual."""

ON_ROWS = ("no-nan", "no-null")


def make(random: Random, trial: Trial, solution: Solution) -> list[tuple[str, str, str]]:
    """Which part was changed, pre-filter, residual: one is wrong for sure, the other may be."""
    found = []
    assert solution.verified is not None
    inputs = trial.runner.inputs
    try:
        witnesses = solution.verified.certificate.witnesses
        if witnesses:
            region = emit_checked(random.choice(witnesses).region, inputs.input_names(), TIMEZONE)
            stronger = f"({trial.prefilter_sql}) AND NOT (({region}) <=> true)"
            found.append((REGION, stronger, trial.residual_sql))
        parts = list(sql_conjuncts(solution.residual))
        if parts:
            parts.remove(random.choice(parts))
            weaker = emit_checked(sql_conjunction(parts), inputs.output_names(), TIMEZONE)
            found.append((RESIDUAL, trial.prefilter_sql, weaker))
    except InexpressibleError:
        return found
    return found


def judge(trial: Trial, prefilter: str, residual: str, budget: float) -> str:
    """What ``verify`` says: proved, refuted or unknown; or assumed, where it proves it under an
    assumption on the rows that the solution does without.
    """
    p = trial.runner.program
    verdict = verify(
        trial.runner.loaded,
        trial.where,
        schema=p.schema,
        prefilter=prefilter,
        residual=residual,
        returns=p.returns,
        keys=p.keys,
        mode=p.mode,
        budget=budget,
        policy=trial.setting.policy,
        declare=trial.setting.declare,
    )
    needed = {a.text for a in trial.problem.assumptions}
    more = [a for a in verdict.assumptions if a["code"] in ON_ROWS and a["text"] not in needed]
    return "assumed" if verdict.status == "proved" and more else verdict.status
