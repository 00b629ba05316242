# SPDX-License-Identifier: Apache-2.0
"""Trusted. What operators of this kind share: filters above, and sides for them below."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial

from msgspec import Struct

from presieve.backend.catalyst.operators import FILTER, conditions
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.trees import Node
from presieve.backend.catalyst.variable_columns import InputAttributes, distinct
from presieve.backend.effects.may_raise import InputErrors, errors_in_input
from presieve.backend.effects.trusted_scans import describe_scans
from presieve.backend.gateway import PlanView
from presieve.backend.problems.problem import BoundaryInput
from presieve.errors import Declined
from presieve.ir.fold import Column
from presieve.ir.sorts import strip
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Attribute, attribute_id
from presieve.semantics.types import column
from presieve.sql.case_values import as_filter
from presieve.sql.catalyst import expression
from presieve.sql.emit import normalize


class OperatorInput(Struct, frozen=True):
    """An input of an operator. ``columns`` are those that the claim reads, with their
    ``attributes``; ``known`` are the conditions right below the operator.
    """

    columns: tuple[Column, ...]
    attributes: Mapping[int, Var]
    known: frozenset[Term]
    errors: InputErrors
    input: BoundaryInput

    @property
    def path(self) -> tuple[int, ...]:
        """The path of the node that a filter goes above."""
        return self.input.node.path


class FilteredSite(Struct, frozen=True):
    """An operator with filters above it. ``number`` is its position among the plan's operators of
    this kind, outer ones first; filters do not change it. ``functions`` names what it computes, for
    a person, and ``where`` is what the filters say about its rows. ``erases``: a filter below may
    remove an error. ``shared``: an exchange below is used elsewhere, too.
    """

    number: int
    operator: str
    functions: str
    where: Term
    sides: tuple[OperatorInput, ...]
    erases: bool
    shared: bool


class SiteContext(Struct, frozen=True):
    """What sites are read with."""

    view: PlanView
    timezone: str

    def attributes(self, node: Node) -> tuple[Attribute, ...]:
        """Return the columns of an operator."""
        return self.view.gateway.attributes(self.view.handle(node))

    def side(
        self, below: Node, inputs: tuple[Attribute, ...], read: Collection[Var], *, guarded: bool
    ) -> OperatorInput:
        """Return the input that ``below`` gives, restricted to the variables that are read.
        ``guarded`` is as in :func:`presieve.backend.effects.may_raise.errors_in_input`. Raises
        :class:`DeclineSignal`.
        """
        names = {v.name for v in read}
        attributes, columns = columns_of(inputs)
        folded = {n.lower() for n in names}
        distinct((a for a in inputs if a.name.lower() in folded), "below the operator")
        sources = partial(describe_scans, self.view, [below.path], native=False)
        used = tuple(a for a in inputs if a.name in names)
        return OperatorInput(
            tuple(c for c in columns if c.name in names),
            {i: v for i, v in attributes.items() if v.name in names},
            standing(below, attributes, self.timezone),
            errors_in_input(below, self.view.root, guarded),
            BoundaryInput(below, InputAttributes((), used, (), {}), sources),
        )


def columns_of(inputs: tuple[Attribute, ...]) -> tuple[dict[int, Var], list[Column]]:
    """Return the columns that proofs can express, as variables of ROW by attribute."""
    columns = [(a.id, column(a.name, a.type, a.nullable)) for a in inputs]
    supported = [(i, c) for i, c in columns if c is not None]
    return {i: Var(Scope.ROW, c.name, c.sort) for i, c in supported}, [c for _, c in supported]


def over(site: Site, variables_by_id: Mapping[int, Var]) -> Iterator[Term]:
    """Yield the conditions of the filters above that these variables can express."""
    for moved in site.arriving:
        if isinstance(moved.term, Declined):
            continue
        pairs = [(v, variables_by_id.get(attribute_id(v))) for v in variables(moved.term)]
        if pairs and all(k is not None and strip(k.sort) == strip(v.sort) for v, k in pairs):
            yield rewrite(as_filter(moved.term), lambda v: variables_by_id[attribute_id(v)])


def standing(node: Node, attributes: Mapping[int, Var], timezone: str) -> frozenset[Term]:
    """Return the conditions of a filter; nothing for other operators."""
    parts = conditions(node) if node.kind == FILTER else ()
    terms = (expression(c.tree, dict(attributes), timezone) for c in parts)
    return frozenset(normalize(t) for t in terms if not isinstance(t, Declined))
