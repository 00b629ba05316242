# SPDX-License-Identifier: Apache-2.0
"""Trusted. Reads a condition of Catalyst's from its leaves up, with a meaning for each expression.

A reader is a subclass. It says what its values and truth values are, and what each expression makes
of them; an expression without an entry has an unknown value.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from presieve.records import replace
from presieve.semantics.values import INTEGERS
from presieve.sql.catalyst_tree import JSON_TYPES, ExprNode
from presieve.sql.expressions import basics, choices, composites, predicates
from presieve.sql.expressions.entry import Entry
from presieve.sql.monotone import describe_monotone
from presieve.sql.monotone_times import printed_day
from presieve.sql.piecewise import END_DAY, FIRST_DAY, Monotone, Zones
from presieve.sql.prefixes import BEGINNINGS

V = TypeVar("V")
T = TypeVar("T")


class ConditionFold(ABC, Generic[V, T]):
    """A reader with values of type ``V`` and truth values of type ``T``.

    ``as_truth`` and ``of_truth`` convert between a boolean value and a truth. ``all``, ``some`` and
    ``opposite`` are AND, OR and NOT; ``same`` is ``<=>``.
    """

    def __init__(self, zones: Zones) -> None:
        self.zones = zones

    def truth(self, node: ExprNode) -> T:
        """The truth of a predicate."""
        rule = _TRUTHS.get(node.entry)
        return self.as_truth(self.value(node)) if rule is None else rule(self, node)

    def value(self, node: ExprNode) -> V:
        """The value of an expression."""
        rule = _VALUES.get(node.entry)
        if rule is not None:
            return rule(self, node)  # type: ignore[no-any-return]
        if node.entry in _TRUTHS:
            return self.of_truth(self.truth(node))
        return self.image(describe_monotone(node, self.zones))

    def field(self, node: ExprNode) -> V:
        """The value of a struct's field."""
        field_node = field_of(node)
        return self.image(None) if field_node is None else self.value(field_node)

    def contained(self, node: ExprNode) -> T:
        """The truth of ``array_contains``: that of ``IN``, if the elements are known."""
        membership = membership_of(node)
        return self.as_truth(self.image(None)) if membership is None else self.member(membership)

    def each_truth(self, node: ExprNode) -> list[T]:
        """The truth values of the children."""
        return [self.truth(child) for child in node.children]

    @abstractmethod
    def as_truth(self, value: V) -> T: ...

    @abstractmethod
    def of_truth(self, truth: T) -> V: ...

    @abstractmethod
    def image(self, function: Monotone | None) -> V:
        """The value of a monotone function, or of something unknown."""

    @abstractmethod
    def attribute(self, node: ExprNode) -> V: ...

    @abstractmethod
    def literal(self, node: ExprNode) -> V: ...

    @abstractmethod
    def case_value(self, node: ExprNode) -> V:
        """The value of the first branch whose condition is true."""

    @abstractmethod
    def first(self, node: ExprNode) -> V:
        """The first operand that is not NULL."""

    @abstractmethod
    def extreme(self, node: ExprNode, *, greatest: bool) -> V:
        """The greatest or the least of the operands that are not NULL."""

    @abstractmethod
    def one_of(self, node: ExprNode) -> V:
        """The value of one of the children."""

    @abstractmethod
    def between(self, node: ExprNode) -> V:
        """A value between those of the two children, whichever is less."""

    @abstractmethod
    def all(self, node: ExprNode) -> T: ...

    @abstractmethod
    def some(self, node: ExprNode) -> T: ...

    @abstractmethod
    def opposite(self, truth: T) -> T: ...

    @abstractmethod
    def comparison(self, node: ExprNode) -> T:
        """The truth of a comparison that is NULL if an operand is NULL."""

    @abstractmethod
    def same(self, node: ExprNode) -> T: ...

    @abstractmethod
    def member(self, node: ExprNode) -> T:
        """The truth of ``IN``. A hash table of doubles, as Spark may use, tells the zeros apart."""

    @abstractmethod
    def is_null(self, node: ExprNode) -> T: ...

    @abstractmethod
    def is_nan(self, node: ExprNode) -> T:
        """The truth of ``isnan``, which is false for NULL."""

    @abstractmethod
    def at_least_n(self, node: ExprNode) -> T:
        """The truth of ``AtLeastNNonNulls``: at least n operands are neither NULL nor NaN."""

    @abstractmethod
    def text_match(self, node: ExprNode) -> T:
        """The truth of a match, which needs the beginning that all matching texts have."""


def field_of(node: ExprNode) -> ExprNode | None:
    """The expression of a struct's field; for one of several structs, one of several of these."""
    (struct,), place = node.children, node.fields.get("ordinal")
    if (
        struct.entry is composites.CREATE_NAMED_STRUCT
        and isinstance(place, int)
        and 2 * place + 1 < len(struct.children)
    ):
        return struct.children[2 * place + 1]
    if struct.entry is not basics.ONE_OF:
        return None
    fields = [field_of(replace(node, children=(child,))) for child in struct.children]
    known_fields = tuple(f for f in fields if f is not None)
    return replace(struct, children=known_fields) if len(known_fields) == len(fields) else None


def membership_of(node: ExprNode) -> ExprNode | None:
    """Return ``array_contains`` as ``IN``; None if the elements of the array are not known."""
    array, value = node.children
    if array.entry is composites.CREATE_ARRAY:
        elements = array.children
    else:
        literals = _elements_of(array)
        if literals is None:
            return None
        elements = literals
    return replace(node, name=predicates.IN.class_name, children=(value, *elements))


def _elements_of(array: ExprNode) -> tuple[ExprNode, ...] | None:
    """Return the elements of a constant array of integers or days."""
    type_, text = array.fields.get("dataType"), array.fields.get("value")
    element_type = type_.get("elementType") if isinstance(type_, Mapping) else None
    if array.entry is not basics.LITERAL or not isinstance(text, str):
        return None
    name = JSON_TYPES.get(element_type) if isinstance(element_type, str) else None
    if not _NUMBERS.fullmatch(text) or name not in (*INTEGERS, "date"):
        return None
    texts = [None if n == "null" else n for n in text[1:-1].split(",")]
    if name == "date":
        days = [None if n is None else int(n) for n in texts]
        if not all(day is None or FIRST_DAY <= day < END_DAY for day in days):
            return None
        texts = [None if day is None else str(printed_day(day)) for day in days]
    fields = {"class": array.name, "num-children": 0, "dataType": element_type}
    return tuple(replace(array, fields={**fields, "value": text}) for text in texts)


_NUMBERS = re.compile(r"\[(?:(?:-?\d+|null)(?:,(?:-?\d+|null))*)\]", re.ASCII)

_Rule = Callable[[ConditionFold[Any, Any], ExprNode], Any]

_TRUTHS: Mapping[Entry, _Rule] = {
    predicates.AND: lambda f, node: f.all(node),
    predicates.OR: lambda f, node: f.some(node),
    predicates.NOT: lambda f, node: f.opposite(f.truth(node.children[0])),
    **dict.fromkeys(predicates.COMPARISONS, lambda f, node: f.comparison(node)),
    predicates.EQUAL_NULL_SAFE: lambda f, node: f.same(node),
    predicates.IN: lambda f, node: f.member(node),
    composites.ARRAY_CONTAINS: lambda f, node: f.contained(node),
    predicates.IS_NULL: lambda f, node: f.is_null(node),
    predicates.IS_NOT_NULL: lambda f, node: f.opposite(f.is_null(node)),
    predicates.IS_NAN: lambda f, node: f.is_nan(node),
    predicates.AT_LEAST_N_NON_NULLS: lambda f, node: f.at_least_n(node),
    **dict.fromkeys(BEGINNINGS, lambda f, node: f.text_match(node)),
}
_VALUES: Mapping[Entry, _Rule] = {
    basics.ATTRIBUTE: lambda f, node: f.attribute(node),
    basics.LITERAL: lambda f, node: f.literal(node),
    **dict.fromkeys(choices.CASES, lambda f, node: f.case_value(node)),
    choices.COALESCE: lambda f, node: f.first(node),
    choices.GREATEST: lambda f, node: f.extreme(node, greatest=True),
    choices.LEAST: lambda f, node: f.extreme(node, greatest=False),
    composites.GET_STRUCT_FIELD: lambda f, node: f.field(node),
    basics.ONE_OF: lambda f, node: f.one_of(node),
    basics.IN_BETWEEN: lambda f, node: f.between(node),
}

TRUTH_VALUED, VALUED = frozenset(_TRUTHS), frozenset(_VALUES)
"""Expressions that are true, false or NULL, and others that are read."""
