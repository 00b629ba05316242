"""Trusted. The fields of a struct that a function of groups gives, and the elements of an array
that a pivot gives, as attributes of their own.

Spark has a number for the struct alone; :func:`presieve.plan.algebra.field_id` gives a field's. A
filter that reads ``top.second`` reads a field; who reads the struct as a whole reads all of its
fields. It is the same with elements.
"""

from __future__ import annotations

from collections.abc import Set

from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    EXPRESSIONS,
    LITERAL,
    JsonNode,
    Tree,
    simple_type,
)
from presieve.plan.algebra import MOST_FIELDS, Attribute, field_id, struct_id

GET = EXPRESSIONS + "GetStructField"
ITEM = EXPRESSIONS + "GetArrayItem"

PIVOTED = "__pivot_"
"""How the name of a pivot's array begins (``PivotTransformer.scala``)."""


def struct_fields(number: int, name: str, type_: object) -> tuple[tuple[str, Attribute], ...]:
    """Names and attributes of the fields of a struct column, if it is one; ``type_`` is its type as
    JSON. Whatever the fields say, any of them is NULL where the struct is.
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
    """The expression with attributes for fields of struct columns, and for elements of pivots."""
    found: Tree = []
    for node in tree:
        if found and found[-1]["class"] == GET and _is_struct(node):
            found[-1] = _field(node, int(found[-1]["ordinal"]))
        elif len(found) > 1 and found[-2]["class"] == ITEM and _is_item(found[-1], node):
            array = found.pop()
            found[-1] = _item(array, int(node["value"]))
        else:
            found.append(node)
    return found


def _is_struct(node: JsonNode) -> bool:
    return bool(
        node["class"] == ATTRIBUTE
        and struct_fields(int(node["exprId"]["id"]), str(node["name"]), node["dataType"])
    )


def _is_item(array: JsonNode, place: JsonNode) -> bool:
    type_ = array.get("dataType")
    if array["class"] != ATTRIBUTE or not isinstance(type_, dict) or type_.get("type") != "array":
        return False
    known = place["class"] == LITERAL and str(place.get("value")).isdecimal()
    return str(array["name"]).startswith(PIVOTED) and known


def _field(struct: JsonNode, place: int) -> JsonNode:
    field = struct["dataType"]["fields"][place]
    name = f"{struct['name']}.{field['name']}"
    return _part(struct, place, name, field["type"]) | {"metadata": field.get("metadata", {})}


def _item(array: JsonNode, place: int) -> JsonNode:
    return _part(array, place, f"{array['name']}[{place}]", array["dataType"]["elementType"])


def _part(whole: JsonNode, place: int, name: str, type_: object) -> JsonNode:
    return {
        "class": ATTRIBUTE,
        "num-children": 0,
        "name": name,
        "dataType": type_,
        "nullable": True,
        "metadata": {},
        "exprId": {"id": field_id(int(whole["exprId"]["id"]), place)},
    }


def with_all_fields(read: Set[int], outputs: Set[int]) -> frozenset[int]:
    """Those that are read, and all fields of structs that are."""
    return frozenset(read) | {i for i in outputs if struct_id(i) in read}
