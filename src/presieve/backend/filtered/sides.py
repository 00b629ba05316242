"""Trusted. What every operator of this kind has: filters above it, and sides that they go below."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from presieve.backend.catalyst.names import Names, distinct
from presieve.backend.catalyst.operators import FILTER, conditions
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.trees import Node
from presieve.backend.effects.raising import InputErrors, errors_in_input
from presieve.backend.effects.sources import scanned
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.problem import BoundaryInput
from presieve.errors import Declined
from presieve.ir.fold import Column
from presieve.ir.sorts import strip
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Attribute, attribute_id
from presieve.semantics.types import column
from presieve.sql.catalyst import expression
from presieve.sql.emit import normalized


@dataclass(frozen=True, slots=True)
class Side:
    """An input of an operator. ``columns`` are those that the claim reads of it, with their
    ``attributes``; ``known`` are the conditions that stand right below the operator.
    """

    columns: tuple[Column, ...]
    attributes: Mapping[int, Var]
    known: frozenset[Term]
    errors: InputErrors
    input: BoundaryInput

    @property
    def path(self) -> tuple[int, ...]:
        """Where a filter goes."""
        return self.input.node.path


@dataclass(frozen=True, slots=True)
class FilteredSite:
    """An operator with filters above it; ``number`` is its place among those of the plan, outer
    ones first, which no filter changes. ``functions`` are what it computes, for a person, and
    ``where`` is what the filters say of its rows. ``erases``: an error may be gone if there is a
    filter below. ``shared``: an exchange below is used elsewhere, too.
    """

    number: int
    operator: str
    functions: str
    where: Term
    sides: tuple[Side, ...]
    erases: bool
    shared: bool


@dataclass(frozen=True, slots=True)
class Context:
    """What sites are read with."""

    gateway: Gateway
    plan: Handle
    root: Node
    timezone: str

    def attributes(self, node: Node) -> tuple[Attribute, ...]:
        """The columns of an operator."""
        return self.gateway.attributes(self.gateway.node(self.plan, node.path))

    def side(
        self, below: Node, inputs: tuple[Attribute, ...], read: Collection[Var], *, guarded: bool
    ) -> Side:
        """The input that ``below`` gives, of which these variables are read. ``guarded`` as in
        :func:`presieve.backend.effects.raising.errors_in_input`. Raises :class:`DeclineSignal`.
        """
        names = {v.name for v in read}
        attributes, columns = columns_of(inputs)
        folded = {n.lower() for n in names}
        distinct((a for a in inputs if a.name.lower() in folded), "below the operator")
        sources = partial(scanned, self.gateway, self.plan, self.root, [below.path], native=False)
        used = tuple(a for a in inputs if a.name in names)
        return Side(
            tuple(c for c in columns if c.name in names),
            {i: v for i, v in attributes.items() if v.name in names},
            standing(below, attributes, self.timezone),
            errors_in_input(below, self.root, guarded),
            BoundaryInput(below, Names((), used, (), {}), sources),
        )


def columns_of(inputs: tuple[Attribute, ...]) -> tuple[dict[int, Var], list[Column]]:
    """The columns that proofs can speak of, as variables of ROW by attribute."""
    found = [(a.id, column(a.name, a.type, a.nullable)) for a in inputs]
    known = [(i, c) for i, c in found if c is not None]
    return {i: Var(Scope.ROW, c.name, c.sort) for i, c in known}, [c for _, c in known]


def over(site: Site, here: Mapping[int, Var]) -> Iterator[Term]:
    """What filters above say, over these variables, of what they are there."""
    for moved in site.arriving:
        if isinstance(moved.term, Declined):
            continue
        pairs = [(v, here.get(attribute_id(v))) for v in variables(moved.term)]
        if pairs and all(k is not None and strip(k.sort) == strip(v.sort) for v, k in pairs):
            yield rewrite(moved.term, lambda v: here[attribute_id(v)])


def standing(node: Node, attributes: Mapping[int, Var], timezone: str) -> frozenset[Term]:
    """The conditions of an operator that is a filter."""
    parts = conditions(node) if node.kind == FILTER else ()
    terms = (expression(c.tree, dict(attributes), timezone) for c in parts)
    return frozenset(normalized(t) for t in terms if not isinstance(t, Declined))
