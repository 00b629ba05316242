# SPDX-License-Identifier: Apache-2.0
"""Trusted. The fields of a struct that a function of groups returns, and the elements of an array
that a pivot returns, as attributes of their own.

Spark numbers only the struct; :func:`presieve.plan.algebra.field_id` numbers its fields. A filter
that reads ``top.second`` reads one field; an expression that reads the whole struct reads all of
its fields. The same holds for elements.
"""

from __future__ import annotations

from collections.abc import Set

from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    EXPRESSIONS,
    LITERAL,
    JsonNode,
    Tree,
    attribute_tree,
    expr_id,
    simple_type,
)
from presieve.plan.algebra import MOST_FIELDS, Attribute, field_id, struct_id

GET = EXPRESSIONS + "GetStructField"
ITEM = EXPRESSIONS + "GetArrayItem"

PIVOTED = "__pivot_"
"""The prefix of the name of a pivot's array (``PivotTransformer.scala``)."""


def struct_fields(number: int, name: str, type_: object) -> tuple[tuple[str, Attribute], ...]:
    """Return the names and attributes of the fields of a struct column, or nothing for other
    columns; ``type_`` is its type as JSON. Every field may be NULL, whatever its type says, because
    the struct may be.
    """
    if not isinstance(type_, dict) or type_.get("type") != "struct":
        return ()
    fields = type_["fields"]
    if len(fields) >= MOST_FIELDS:
        return ()
    return tuple(
        (
            str(f["name"]),
            Attribute(
                field_id(number, place),
                f"{name}.{f['name']}",
                simple_type(f["type"], f.get("metadata")),
            ),
        )
        for place, f in enumerate(fields)
    )


def with_fields(tree: Tree) -> Tree:
    """Return the expression with attributes for fields of structs and elements of pivots."""
    nodes: Tree = []
    for node in tree:
        if nodes and nodes[-1]["class"] == GET and _is_struct(node):
            nodes[-1] = _field(node, int(nodes[-1]["ordinal"]))
        elif len(nodes) > 1 and nodes[-2]["class"] == ITEM and _is_item(nodes[-1], node):
            array = nodes.pop()
            nodes[-1] = _item(array, int(node["value"]))
        else:
            nodes.append(node)
    return nodes


def _is_struct(node: JsonNode) -> bool:
    return bool(
        node["class"] == ATTRIBUTE
        and struct_fields(expr_id(node), str(node["name"]), node["dataType"])
    )


def _is_item(array: JsonNode, place: JsonNode) -> bool:
    type_ = array.get("dataType")
    if array["class"] != ATTRIBUTE or not isinstance(type_, dict) or type_.get("type") != "array":
        return False
    is_literal_place = place["class"] == LITERAL and str(place.get("value")).isdecimal()
    return str(array["name"]).startswith(PIVOTED) and is_literal_place


def _field(struct: JsonNode, place: int) -> JsonNode:
    field = struct["dataType"]["fields"][place]
    name = f"{struct['name']}.{field['name']}"
    return _part(struct, place, name, field["type"]) | {"metadata": field.get("metadata", {})}


def _item(array: JsonNode, place: int) -> JsonNode:
    return _part(array, place, f"{array['name']}[{place}]", array["dataType"]["elementType"])


def _part(parent: JsonNode, place: int, name: str, type_: object) -> JsonNode:
    return attribute_tree(field_id(expr_id(parent), place), name, type_, metadata={})[0]


def with_all_fields(read: Set[int], outputs: Set[int]) -> frozenset[int]:
    """Return the attributes that are read, and all fields of structs that are read."""
    return frozenset(read) | {i for i in outputs if struct_id(i) in read}
