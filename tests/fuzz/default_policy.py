"""What the default policy makes of a solution, where there is no plan and there are no files.

It is the ladder of ``driver/stages/discharge.py`` without its checks of data: a solution that
assumes nothing of rows is used as it is; else a guard keeps groups with a row that may break an
assumption from it, under the filter as written; else there may be a solution without the
assumptions; else nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.fuzz.execute import Row, keeps

from presieve.driver.solve import Solution, strictly
from presieve.driver.stages.discharge import breaks, conditions
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import SQL_FALSE, Term

How = Literal["nothing", "plain", "guarded", "without", "refused"]


@dataclass(frozen=True)
class Treatment:
    """How a solution is used: ``solution`` is the one that is. ``breaking`` is true on the rows
    that keep their group from the pre-filter; ``why`` are the codes of what is guarded, done
    without, or refused.
    """

    how: How
    solution: Solution
    breaking: Term = SQL_FALSE
    why: tuple[str, ...] = ()

    def kept_from(self, row: Row, key: Row) -> bool:
        """Whether the group of this row is given all its rows."""
        return self.how == "guarded" and keeps(row, key, self.breaking)


def as_default(solution: Solution, search: Callable[[Problem], Solution]) -> Treatment:
    """How the default policy uses a solution; ``search`` solves another problem like it."""
    if solution.verified is None:
        return Treatment("nothing", solution)
    open_ = conditions(solution)
    if not open_:
        return Treatment("plain", solution)
    why = tuple(sorted({a.code for a in open_}))
    if sql_conjuncts(solution.prefilter):
        breaking = breaks(solution.problem, open_)
        if not isinstance(breaking, Declined):
            return Treatment("guarded", solution, breaking, why)
    bare = strictly(solution.problem, solution.known)
    if bare != solution.problem:
        again = search(bare)
        if again.verified is not None and not conditions(again):
            return Treatment("without", again, SQL_FALSE, why)
    return Treatment("refused", solution, SQL_FALSE, why)
