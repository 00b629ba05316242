"""Trusted. The fields of a struct that a function of groups gives, as attributes of their own.

Spark has a number for the struct alone; :func:`presieve.plan.algebra.field_id` gives a field's. A
filter that reads ``top.second`` reads a field; who reads the struct as a whole reads all of its
fields.
"""

from __future__ import annotations

from collections.abc import Set

from presieve.backend.catalyst.trees import ATTRIBUTE, EXPRESSIONS, JsonNode, Tree, simple_type
from presieve.plan.algebra import MOST_FIELDS, Attribute, field_id, struct_id

GET = EXPRESSIONS + "GetStructField"


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
    """The expression with attributes for fields of struct columns."""
    found: Tree = []
    for node in tree:
        if found and found[-1]["class"] == GET and _is_struct(node):
            found[-1] = _field(node, int(found[-1]["ordinal"]))
        else:
            found.append(node)
    return found


def _is_struct(node: JsonNode) -> bool:
    return bool(
        node["class"] == ATTRIBUTE
        and struct_fields(int(node["exprId"]["id"]), str(node["name"]), node["dataType"])
    )


def _field(struct: JsonNode, place: int) -> JsonNode:
    field = struct["dataType"]["fields"][place]
    return {
        "class": ATTRIBUTE,
        "num-children": 0,
        "name": f"{struct['name']}.{field['name']}",
        "dataType": field["type"],
        "nullable": True,
        "metadata": field.get("metadata", {}),
        "exprId": {"id": field_id(int(struct["exprId"]["id"]), place)},
    }


def with_all_fields(read: Set[int], outputs: Set[int]) -> frozenset[int]:
    """Those that are read, and all fields of structs that are."""
    return frozenset(read) | {i for i in outputs if struct_id(i) in read}
