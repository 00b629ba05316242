# SPDX-License-Identifier: Apache-2.0
"""Trusted. Catalyst's operators that may stand above a boundary, as operators of our algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from typing import Protocol

from msgspec import Struct

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, PROJECT
from presieve.backend.catalyst.struct_fields import struct_fields, with_fields
from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    Conjunct,
    JsonNode,
    Node,
    Tree,
    expr_id,
    is_attribute,
    passed_on,
    references,
    simple_type,
    source_id,
    split_conjuncts,
    strip_alias,
)
from presieve.errors import Declined, DeclineSignal
from presieve.plan.algebra import (
    Alias,
    Attribute,
    Expr,
    Filter,
    JoinExistence,
    JoinNullable,
    JoinPreserved,
    Operator,
    Partitioned,
    Project,
    ProjectColumn,
    Reordered,
    Union,
    variable_of,
)
from presieve.semantics.types import is_key_type
from presieve.sql import catalyst
from presieve.sql.case_values import Value
from presieve.sql.expressions import predicates
from presieve.sql.expressions.entry import class_names

FILTER = LOGICAL + "Filter"
JOIN = LOGICAL + "Join"
UNION = LOGICAL + "Union"
WINDOW = LOGICAL + "Window"
DEDUPLICATE = LOGICAL + "Deduplicate"
DISTINCT = LOGICAL + "Distinct"
GENERATE = LOGICAL + "Generate"
SUBQUERY_ALIAS = LOGICAL + "SubqueryAlias"
VIEW = LOGICAL + "View"

_RENAMING = (SUBQUERY_ALIAS, VIEW)
MOVING = tuple(
    LOGICAL + name
    for name in (
        *("Sort", "Repartition", "RepartitionByExpression", "RebalancePartitions"),
        "ResolvedHint",
    )
)
"""Operators that only bring rows into another order or elsewhere."""
ROW_BY_ROW = frozenset((FILTER, PROJECT, *_RENAMING))
"""Operators that treat each row by itself, and leave it where it is."""

_PLANS = "org.apache.spark.sql.catalyst.plans."
_BOTH = (0, 1)
_PRESERVED_SIDES = {
    _PLANS + name: sides
    for name, sides in (
        *(("Inner$", _BOTH), ("Cross$", _BOTH), ("LeftOuter$", (0,)), ("RightOuter$", (1,))),
        *(("LeftSemi$", (0,)), ("LeftAnti$", (0,))),
    )
}
"""Sides of joins whose rows come out unchanged, any number of times."""
_NULLABLE_SIDES = {
    _PLANS + name: sides
    for name, sides in (("LeftOuter$", (1,)), ("RightOuter$", (0,)), ("FullOuter$", _BOTH))
}
"""Sides of joins that are NULL where a row of the other side has no partner."""
_MATCHED_SIDES = {
    _PLANS + name: sides
    for name, sides in (
        *(("Inner$", _BOTH), ("Cross$", _BOTH), ("LeftOuter$", (1,)), ("RightOuter$", (0,))),
        *(("LeftSemi$", _BOTH), ("LeftAnti$", (1,))),
    )
}
"""Sides of joins on which a row has no influence unless the condition is true for it."""


def preserved_sides(node: Node) -> tuple[int, ...]:
    """Return the sides of a join whose rows come out as they are, any number of times."""
    return _PRESERVED_SIDES.get(str(node.fields["joinType"].get("object")), ())


def matched_sides(node: Node) -> tuple[int, ...]:
    """Return the sides of a join whose rows have influence only where the condition is true."""
    return _MATCHED_SIDES.get(str(node.fields["joinType"].get("object")), ())


_LEFT_ALONE = (_PLANS + "LeftSemi$", _PLANS + "LeftAnti$")


def conditions(node: Node) -> tuple[Conjunct, ...]:
    """Return the conjuncts of a filter, or of the condition of a join."""
    if "condition" not in node.parsed:
        tree = node.fields.get("condition") if node.kind in (FILTER, JOIN) else None
        node.parsed["condition"] = split_conjuncts(tree) if tree else ()
    conjuncts: tuple[Conjunct, ...] = node.parsed["condition"]
    return conjuncts


def outputs(node: Node) -> tuple[int, ...] | None:
    """Return the numbers of an operator's outputs in order; None if its JSON does not tell."""
    for field in ("aggregateExpressions", "projectList", "output"):
        if field in node.fields:
            return tuple(expr_id(t[0]) for t in node.fields[field])
    if node.kind in RULES and RULES[node.kind].keeps_columns:
        return outputs(node.children[0])
    if node.kind == JOIN:
        sides = [outputs(child) for child in node.children]
        if str(node.fields["joinType"].get("object")) in _LEFT_ALONE:
            return sides[0]
        return None if None in sides else tuple(i for side in sides for i in side or ())
    if node.kind == WINDOW:
        below = outputs(node.children[0])
        window_columns = tuple(expr_id(t[0]) for t in node.fields["windowExpressions"])
        return None if below is None else below + window_columns
    return None


def follow_down(node: Node, ids: Iterable[int]) -> Iterator[tuple[Node, dict[int, set[int]]]]:
    """Yield the ``ROW_BY_ROW`` operators from here downwards, and the one below them. Each comes
    with a map from its output attributes to the attributes in ``ids`` that they become.
    """
    origins = {i: {i} for i in ids}
    while node.kind in ROW_BY_ROW:
        yield node, origins
        if node.kind == PROJECT:
            origins = passed_on(node.fields["projectList"], origins)
        (node,) = node.children
    yield node, origins


class Attributes(Protocol):
    """Asks Spark for an operator's output attributes."""

    def __call__(self, node: Node, /) -> tuple[Attribute, ...]:
        """Return the attributes in order."""


class OperatorAbove(Struct, frozen=True):
    """An operator as seen from one of those ``below`` it. ``available`` are the attributes that
    reach it from the boundary.
    """

    node: Node
    below: Node
    available: frozenset[int]
    attributes: Attributes
    timezone: str


class OperatorRule(Struct, frozen=True):
    """How an operator of Catalyst's is read. ``read`` gives None, or raises :class:`DeclineSignal`,
    for what is not understood. ``is_transparent``: every filter that is understood passes it.
    ``keeps_columns``: its output attributes are those of its first input.
    """

    read: Callable[[OperatorAbove], Operator | None]
    is_transparent: bool = False
    keeps_columns: bool = False


def read_operator(above: OperatorAbove) -> Operator | None:
    """Read an operator; None if there is no rule for it. Raises :class:`DeclineSignal` if it is not
    understood.
    """
    rule = RULES.get(above.node.kind)
    return None if rule is None else rule.read(above)


def _filter(above: OperatorAbove) -> Operator:
    return Filter(tuple(read_expr(c.tree, above.timezone) for c in conditions(above.node)))


def _project(above: OperatorAbove) -> Operator:
    columns = (_columns(t, above.timezone) for t in above.node.fields["projectList"])
    return Project(tuple(c for fields in columns for c in fields))


def _rename(above: OperatorAbove) -> Operator:
    return Alias()


def _move(above: OperatorAbove) -> Operator:
    return Reordered(_reads(above.node))


def _generate(above: OperatorAbove) -> Operator:
    return JoinPreserved(above.available, _reads(above.node))


def _union(above: OperatorAbove) -> Operator:
    columns = (_numbers(n, above.attributes) for n in (above.node, above.below))
    return Union(_pairs(*columns))


def _numbers(node: Node, attributes: Attributes) -> tuple[int, ...]:
    numbers = outputs(node)
    return tuple(a.id for a in attributes(node)) if numbers is None else numbers


def _pairs(above: tuple[int, ...], below: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Pair the columns that are the same by position."""
    if len(above) != len(below):
        raise DeclineSignal("plan-shape", "inputs of a union differ in columns")
    return tuple(zip(above, below, strict=True))


EQUALITIES = class_names((predicates.EQUAL, predicates.EQUAL_NULL_SAFE))


def attribute_of(node: JsonNode) -> Attribute:
    """Read an attribute from its JSON."""
    type_ = simple_type(node["dataType"], node.get("metadata"))
    return Attribute(expr_id(node), str(node["name"]), type_, bool(node["nullable"]))


def _read_field(attribute: Attribute) -> Expr:
    why = Declined("column-type", f"column {attribute.name!r} is of a type that is not supported")
    return Expr(variable_of(attribute) or why, frozenset((attribute.id,)))


def _join(above: OperatorAbove) -> Operator | None:
    node, child, columns = above.node, above.below.path[-1], above.available
    kind = str(node.fields["joinType"].get("object"))
    equal = equal_columns(node, child, columns)
    on = tuple(read_expr(t, above.timezone) for t, _ in known_of_side(node, child, columns))
    variables = ((number, variable_of(attribute_of(own))) for number, own in equal.items())
    pairs = tuple((number, own) for number, own in variables if own is not None)
    for sides, side in (
        (_PRESERVED_SIDES, JoinPreserved),
        (_NULLABLE_SIDES, JoinNullable),
        (_MATCHED_SIDES, JoinExistence),
    ):
        if child in sides.get(kind, ()):
            return side(columns, _reads(node), on, pairs)
    return None


def known_of_side(
    node: Node, child: int, columns: Set[int]
) -> Iterator[tuple[Tree, frozenset[int]]]:
    """Yield conditions that hold for each row with influence on one side of a join, and the columns
    that they read, all of them among ``columns``: parts of the join's condition, and filters of the
    other side on columns that equal these.
    """
    if child not in matched_sides(node):
        return
    equal = equal_columns(node, child, columns)
    for tree, read in _conditions_on(node, child, equal):
        if read <= columns:
            yield tree, read
        elif read <= equal.keys():
            translated = [equal[expr_id(n)] if n["class"] == ATTRIBUTE else n for n in tree]
            yield translated, references(translated)


def _conditions_on(
    node: Node, child: int, equal: Mapping[int, JsonNode]
) -> Iterator[tuple[Tree, frozenset[int]]]:
    """Yield the conditions of a join and of its other side, with the columns that they read."""
    if "read" not in node.parsed:
        node.parsed["read"] = tuple((c.tree, references(c.tree)) for c in conditions(node))
    yield from node.parsed["read"]
    if equal:
        yield from ((t, references(t)) for t in _filters_on(node.children[1 - child], equal))


def equal_columns(node: Node, child: int, columns: Set[int]) -> dict[int, JsonNode]:
    """Map columns of the other side of a join, by number, to columns of this side that are equal to
    them for a row and its partners. Returns nothing if rows without a partner have influence, and
    omits columns whose equal values may differ.
    """
    equal: dict[int, JsonNode] = {}
    for _, left, right in equalities(node) if child in matched_sides(node) else ():
        for own, theirs in ((left, right), (right, left)):
            if expr_id(own) in columns and expr_id(theirs) not in columns:
                equal[expr_id(theirs)] = own
    return equal


def equalities(node: Node) -> tuple[Tree, ...]:
    """Return the equalities in a join between attributes of one type whose equal values are
    identical: the operator (one of two) and both attributes.
    """
    if "equalities" not in node.parsed:
        node.parsed["equalities"] = tuple(c.tree for c in conditions(node) if _compares(c.tree))
    pairs: tuple[Tree, ...] = node.parsed["equalities"]
    return pairs


def _compares(tree: Tree) -> bool:
    attributes = [n for n in tree[1:] if n["class"] == ATTRIBUTE]
    if tree[0]["class"] not in EQUALITIES or not len(tree) - 1 == len(attributes) == 2:
        return False
    left_type, right_type = (attribute_of(n).type for n in attributes)
    return left_type == right_type and is_key_type(left_type)


def _filters_on(node: Node, columns: Iterable[int]) -> Iterator[Tree]:
    """Yield the filters through which every row below comes, in terms of some columns."""
    names = {number: number for number in columns}
    while node.kind in ALWAYS_PASSED:
        for part in conditions(node):
            if references(part.tree) <= names.keys():
                yield [
                    {**n, "exprId": {"id": names[expr_id(n)]}} if n["class"] == ATTRIBUTE else n
                    for n in part.tree
                ]
        if node.kind == PROJECT:
            columns_ = ((expr_id(t[0]), source_id(t)) for t in node.fields["projectList"])
            names = {i: names[n] for n, i in columns_ if n in names and i is not None}
        node = node.children[0]


def _distinct(above: OperatorAbove) -> Partitioned:
    return _classes(above, above.available, above.available)


def _classes_by(field: str) -> Callable[[OperatorAbove], Partitioned]:
    """Return the rule for an operator that forms classes by the plain columns in a field."""

    def read(above: OperatorAbove) -> Partitioned:
        by = _plain(above.node.fields[field]) & above.available
        return _classes(above, by, _reads(above.node))

    return read


def _classes(above: OperatorAbove, by: frozenset[int], reads: frozenset[int]) -> Partitioned:
    """Return the attributes that form classes, of types whose equal values are identical."""
    input_columns = above.attributes(above.below) if by else ()
    fit = {a.id for a in input_columns if a.id in by and is_key_type(a.type)}
    if above.node.kind != AGGREGATE:
        return Partitioned(tuple((i, i) for i in sorted(fit)), reads)
    columns = {expr_id(t[0]): source_id(t) for t in above.node.fields["aggregateExpressions"]}
    pairs = tuple((output, i) for output, i in columns.items() if i in fit)
    return Partitioned(pairs, reads, frozenset(columns))


def _plain(trees: list[Tree]) -> frozenset[int]:
    return frozenset(expr_id(t[0]) for t in trees if is_attribute(t))


def _reads(node: Node) -> frozenset[int]:
    """Return every attribute in a field of the operator, at any depth."""
    numbers: set[int] = set()
    stack: list[object] = [v for k, v in node.fields.items() if k != "num-children"]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if item.get("class") == ATTRIBUTE:
                numbers.add(expr_id(item))
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return frozenset(numbers)


def _columns(tree: Tree, timezone: str) -> tuple[ProjectColumn, ...]:
    """Read a column of a projection: an attribute, or an alias of an expression. For a struct that
    is passed on, also its fields.
    """
    inner = with_fields(strip_alias(tree))
    plain = is_attribute(inner)
    number = expr_id(tree[0])
    meaning = Expr(partial(_meaning, inner, timezone), references(inner))
    column = ProjectColumn(number, meaning, plain=plain)
    if not plain or expr_id(inner[0]) < 0 or not isinstance(inner[0]["dataType"], dict):
        return (column,)
    name, type_ = str(inner[0]["name"]), inner[0]["dataType"]
    below = struct_fields(expr_id(inner[0]), name, type_)
    above = struct_fields(number, name, type_)
    pairs = zip(above, below, strict=True)
    return (column, *(ProjectColumn(a.id, _read_field(b), plain=True) for (_, a), (_, b) in pairs))


def read_expr(tree: Tree, timezone: str) -> Expr:
    """Read an expression over attribute variables."""
    tree = with_fields(tree)
    return Expr(partial(_meaning, tree, timezone), references(tree))


def _meaning(tree: Tree, timezone: str) -> Value | Declined:
    attributes = {}
    for node in tree:
        if node["class"] == ATTRIBUTE:
            attribute = attribute_of(node)
            variable = variable_of(attribute)
            if variable is not None:
                attributes[attribute.id] = variable
    return catalyst.value(tree, attributes, timezone)


RULES: dict[str, OperatorRule] = {
    FILTER: OperatorRule(_filter, is_transparent=True, keeps_columns=True),
    PROJECT: OperatorRule(_project, is_transparent=True),
    **dict.fromkeys(_RENAMING, OperatorRule(_rename, is_transparent=True, keeps_columns=True)),
    **dict.fromkeys(MOVING, OperatorRule(_move, is_transparent=True, keeps_columns=True)),
    JOIN: OperatorRule(_join),
    GENERATE: OperatorRule(_generate),
    UNION: OperatorRule(_union, keeps_columns=True),
    AGGREGATE: OperatorRule(_classes_by("groupingExpressions")),
    WINDOW: OperatorRule(_classes_by("partitionSpec")),
    DEDUPLICATE: OperatorRule(_classes_by("keys"), keeps_columns=True),
    DISTINCT: OperatorRule(_distinct, keeps_columns=True),
}
"""The operators that filters may move past."""

ALWAYS_PASSED = frozenset(kind for kind, rule in RULES.items() if rule.is_transparent)
"""Operators that every filter passes if it is understood."""
