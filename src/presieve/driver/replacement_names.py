# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What the names stand for in the expressions that replace functions of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from presieve.compiling.group_aggregates import name_held, name_taken
from presieve.driver.stages.group_aggregates import GroupDecision
from presieve.ir.inner_names import HELD, ROW
from presieve.ir.terms import Term
from presieve.ir.walk import variables
from presieve.report.remarks import InnerName
from presieve.semantics.aggregates import AggregateColumn, ListColumn


def replacement_names(decision: GroupDecision) -> tuple[InnerName, ...]:
    """Return the names of aggregate columns and what is within them, in the order of the text."""
    if decision.texts is None:
        return ()
    return tuple(
        name
        for reduced in decision.reduced
        for column in reduced.found.columns
        for name in _names_of(column, decision.site.function)
    )


def _names_of(column: AggregateColumn | ListColumn, function: str) -> Iterator[InnerName]:
    if isinstance(column, AggregateColumn):
        yield InnerName(column.name, _aggregate_words(column))
        return
    fields = zip(name_held(column), column.fields, strict=True)
    held = _join_pairs((name, field.name.removeprefix(f"{column.name}.")) for name, field in fields)
    yield InnerName(column.name, f"what `{function}` has after the last row of a group: {held}")
    yield InnerName(HELD, "the same before each row")
    taken = _join_pairs((name, variable.name) for variable, name in name_taken(column).items())
    yield InnerName(ROW, f"a row of the group: {taken}" if taken else "a row of the group")


def _aggregate_words(column: AggregateColumn) -> str:
    """Name the function and the columns that it reads; its whole text is in the expression."""
    over = _columns(column.argument)
    by = f", chosen by {_columns(column.by)}" if column.by is not None else ""
    return f"`{column.function}` of {over}{by}" if over else f"`{column.function}` of the rows"


def _columns(term: Term) -> str:
    names = dict.fromkeys(v.name for v in variables(term))
    return ", ".join(f"`{name}`" for name in names)


def _join_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"`{name}` is `{held}`" for name, held in pairs)
