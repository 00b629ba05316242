# SPDX-License-Identifier: Apache-2.0
"""Trusted. Derive facts about columns from the plan below a boundary, or from its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.operators import FILTER, follow_down
from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    Node,
    Tree,
    end_of,
    expr_id,
    itself,
    references,
    split_conjuncts,
    strip_alias,
)
from presieve.backend.catalyst.variable_columns import input_vars
from presieve.backend.effects.trusted_scans import is_faithful
from presieve.backend.gateway import Handle, SourceReader
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.problems.setting import PlanSetting
from presieve.backend.statistics.footers import number, ranges, rows, without_null
from presieve.errors import Declined
from presieve.ir.fold import Assumption
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import FLOAT, INT, Option, strip
from presieve.ir.terms import Op, Term, Var, float_lit, int_lit
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.sql.catalyst import expression
from presieve.sql.expressions import predicates
from presieve.sql.expressions.entry import class_names

_NULL_REJECTING = class_names((predicates.IS_NOT_NULL, *predicates.COMPARISONS))
"""Conditions that are not true if an operand is NULL."""


class Fact(Struct, frozen=True):
    """A two-valued condition that every row of the input satisfies. ``by`` says how it is known."""

    term: Term
    by: str


BY_FILTER, BY_CAST, BY_FOOTERS = "a filter below", "a cast below", "Parquet footers"


def known_facts(
    gateway: SourceReader, root: Handle, source: BoundaryInput, assumptions: Iterable[Assumption]
) -> tuple[Fact, ...]:
    """Derive facts from the plan and the files about the columns in these assumptions: which
    columns hold no NULL, which doubles are neither NaN nor -0.0, between which values integers lie,
    and what filters below say of these columns alone.
    """
    read = {v for a in assumptions for v in variables(a.term)}
    column_vars = {number: v for number, v in input_vars(source.names).items() if v in read}
    if not column_vars:
        return ()
    node = source.node
    options = {number for number, v in column_vars.items() if isinstance(v.sort, Option)}
    filtered, conditions = (
        _filtered_columns(node, options),
        tuple(_conditions(gateway, node, column_vars)),
    )
    if (filtered or conditions) and not is_faithful(source.sources):
        filtered, conditions = set(), ()
    counted = without_null(gateway, root, node, options - filtered)
    wide = {
        n for n, v in column_vars.items() if strip(v.sort) == INT and n not in filtered | counted
    }
    between = ranges(gateway, root, node, wide)
    facts = [Fact(_not_none(column_vars[i]), BY_FILTER) for i in sorted(filtered)]
    facts += [Fact(app(Op.SQL_IS_TRUE, term), BY_FILTER) for term in conditions]
    facts += [Fact(_not_none(column_vars[i]), BY_FOOTERS) for i in sorted(counted)]
    for i in sorted(i for i in _cast(node, column_vars) if strip(column_vars[i].sort) == FLOAT):
        facts += [Fact(_test_if_present(column_vars[i], test), BY_CAST) for test in _OF_CASTS]
    return (
        *facts,
        *(Fact(within(column_vars[i], *ends), BY_FOOTERS) for i, ends in between.items()),
    )


def with_extent(
    gateway: SourceReader, root: Handle, source: BoundaryInput, setting: PlanSetting
) -> PlanSetting | None:
    """Add the number of rows and the extremes of integers, according to the files, to the setting.
    None if the files do not tell.
    """
    inputs = input_vars(source.names)
    node = source.node
    count = rows(gateway, root, node)
    if count is None:
        return None
    wide = {n for n, v in inputs.items() if strip(v.sort) == INT}
    return replace(setting, rows=count, values=ranges(gateway, root, node, wide))


def _not_none(var: Var) -> Term:
    return negate(app(Op.IS_NONE, var))


_OF_CASTS: tuple[Callable[[Term], Term], ...] = (
    lambda x: negate(app(Op.IS_NAN, x)),
    lambda x: negate(app(Op.SAME, x, float_lit(-0.0))),
)
"""What holds of doubles that were cast from integers or decimals."""


def within(var: Var, low: int, high: int) -> Term:
    """Assert that an integer, if it is not None, is between these."""
    return _test_if_present(
        var,
        lambda x: conjunction([app(Op.PY_GE, x, int_lit(low)), app(Op.PY_LE, x, int_lit(high))]),
    )


def _test_if_present(var: Var, test: Callable[[Term], Term]) -> Term:
    """Apply the test to the value, if there is one; None passes."""
    if not isinstance(var.sort, Option):
        return test(var)
    return disjunction([app(Op.IS_NONE, var), test(app(Op.GET, var))])


def _filtered_columns(node: Node, ids: Iterable[int]) -> set[int]:
    """Return the output attributes that a filter below keeps from being NULL."""
    not_null: set[int] = set()
    for below, origins in follow_down(node, ids):
        if below.kind == FILTER:
            for conjunct in split_conjuncts(below.fields["condition"]):
                for attribute in _not_null(conjunct.tree):
                    not_null |= origins.get(attribute, set())
    return not_null


def _conditions(
    gateway: SourceReader, node: Node, column_vars: Mapping[int, Var]
) -> Iterator[Term]:
    """Iterate over the conditions of filters below that read only these columns."""
    timezone = ""
    for below, origins in follow_down(node, column_vars):
        if below.kind != FILTER:
            continue
        columns = {i: column_vars[min(outputs)] for i, outputs in origins.items() if outputs}
        for conjunct in split_conjuncts(below.fields["condition"]):
            read = references(conjunct.tree)
            if read and read <= columns.keys():
                timezone = timezone or gateway.conf("spark.sql.session.timeZone", "UTC")
                term = expression(conjunct.tree, columns, timezone)
                if not isinstance(term, Declined):
                    yield term


def _cast(node: Node, ids: Iterable[int]) -> set[int]:
    """Return the output attributes that a projection below casts from integers or decimals."""
    cast_ids: set[int] = set()
    for below, origins in follow_down(node, ids):
        for column in below.fields["projectList"] if below.kind == PROJECT else []:
            value = strip_alias(column)
            if itself(value) is None and number(value) is not None:
                cast_ids |= origins.get(expr_id(column[0]), set())
    return cast_ids


def _not_null(conjunct: Tree) -> tuple[int, ...]:
    """Return the attributes that are not NULL if the conjunct is true: direct operands only."""
    if conjunct[0]["class"] not in _NULL_REJECTING:
        return ()
    operands = [conjunct[1], *conjunct[end_of(conjunct, 1) :][:1]]
    return tuple(expr_id(n) for n in operands if n["class"] == ATTRIBUTE)
