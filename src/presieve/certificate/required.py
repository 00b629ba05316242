# SPDX-License-Identifier: Apache-2.0
"""Trusted. What every problem must say: the types of its columns, and the assumptions without a
condition that it must list or takes on trust.

No proof rests on these assumptions. If one was deleted, the proof still holds, but for another
function: for example, one whose results are integers of any size. Here they are derived from the
problem itself. The tables of :mod:`presieve.semantics.assumptions` say how that is done for each of
them, or why it cannot be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from presieve.ir.assumption_codes import PURE
from presieve.ir.fold import Column, Fold, Output, Problem
from presieve.ir.sorts import INT, strip
from presieve.ir.terms import App, Lit, Op, Scope, Var
from presieve.ir.walk import subterms
from presieve.ir.wellformed import IllFormed, check_problem
from presieve.lift.values.ranges import column_ranges, field_ranges
from presieve.semantics.assumptions import RESULT_FITS, SUM_WITHIN, check_words, unseen_codes
from presieve.semantics.types import SchemaColumn, row_sort_of


def check_statement(problem: Problem) -> None:
    """Raises :class:`IllFormed` unless the problem makes sense, its columns have the sorts of their
    Spark types, which bound the values, and it lists the assumptions that it must list, in words
    that say what they mean.
    """
    check_problem(problem)
    check_words(problem)
    fold = problem.fold
    typed: tuple[Column | Output, ...] = (*fold.columns, *fold.keys, *fold.outputs)
    for c in typed:
        if row_sort_of(c.type) != strip(c.sort):
            raise IllFormed(f"{c.name} of type {c.type} has another sort")
    _check_assumptions(problem)


def _check_assumptions(problem: Problem) -> None:
    for output in _unbounded_results(problem.fold):
        fits = RESULT_FITS.of(name=output.name, type=output.type)
        if not output.checked and fits not in problem.assumptions:
            raise IllFormed(f"no assumption says that {fits.text}")
    for name, limit in _bounded_sums(problem.fold):
        _check_sum(problem, name, limit)
    if problem.fold.hidden and all(a.code != PURE for a in problem.assumptions):
        raise IllFormed(f"a function is called that no assumption {PURE} speaks of")


def taken_as_stored(problem: Problem) -> tuple[str, ...]:
    """List what the problem states and nothing in it shows, as sentences for a reader."""
    codes = ", ".join(f"[{code}]" for code in unseen_codes())
    checked = (
        f"that the result {o.name} is checked to fit in {o.type}, so that it never wraps around"
        for o in _unbounded_results(problem.fold)
        if o.checked
    )
    return *checked, f"that it lists all that it assumes of the kinds {codes}"


def _unbounded_results(fold: Fold) -> Iterator[Output]:
    """Yield the integer results that are not known to fit their types."""
    schema = tuple(SchemaColumn(c.name, c.type) for c in (*fold.columns, *fold.keys))
    ranges = field_ranges(fold.fields, column_ranges(schema))
    for output in fold.outputs:
        if strip(output.sort) == INT and not ranges.fits(output.term, output.type):
            yield output


_SUM = re.compile(r"(?:u\d+\.)?sum\((.*)\)(?:#\d+)?", re.DOTALL)
"""Matches fields that are sums of pandas or pyarrow, with the column, if it has a name. No variable
of Python has such a name.
"""


def _bounded_sums(fold: Fold) -> Iterator[tuple[str, int]]:
    """Yield the sums that raise at a limit according to the fold, by their columns. The error
    stands for NumPy, which wraps around there, and for doubles, which round.
    """
    for term in subterms(fold.step_raises, fold.finish_raises):
        match term:
            case App(Op.PY_GE, (Var(Scope.ACC, name, _), Lit(_, int() as limit))):
                sum_name = _SUM.fullmatch(name)
                if sum_name is not None and limit in SUM_WITHIN:
                    yield sum_name[1], limit


def _check_sum(problem: Problem, column: str, limit: int) -> None:
    """Check the assumption about a sum: for a column it has the column's name, for a computed value
    the text of the computation.
    """
    sentence = SUM_WITHIN[limit]
    if column:
        wanted = sentence.of(what=f"the sum of {column}")
        if wanted not in problem.assumptions:
            raise IllFormed(f"no assumption says that {wanted.text}")
    elif not any(sentence.says(a) for a in problem.assumptions):
        raise IllFormed(f"no assumption says that {sentence.of(what='a sum').text}")
