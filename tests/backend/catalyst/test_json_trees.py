"""Reading Catalyst's JSON, without Spark."""

from __future__ import annotations

import json
from typing import Any

import pytest

from presieve.backend.catalyst.trees import (
    AND,
    ATTRIBUTE,
    parse_plan,
    references,
    simple_type,
    split_conjuncts,
    walk,
)
from presieve.backend.statistics.pushed_filters import split_list
from presieve.errors import DeclineSignal


def node(name: str, children: int, **fields: Any) -> dict[str, Any]:
    return {"class": name, "num-children": children, **fields}


def attribute(number: int) -> dict[str, Any]:
    return node(ATTRIBUTE, 0, exprId={"id": number})


def test_a_plan_is_read_in_pre_order() -> None:
    flat = [node("join", 2), node("filter", 1), node("left", 0), node("right", 0)]
    root = parse_plan(json.dumps(flat))
    assert [(n.kind, n.path) for n in walk(root)] == [
        ("join", ()),
        ("filter", (0,)),
        ("left", (0, 0)),
        ("right", (1,)),
    ]


def test_nodes_left_over_are_no_plan() -> None:
    with pytest.raises(DeclineSignal) as caught:
        parse_plan(json.dumps([node("a", 0), node("b", 0)]))
    assert caught.value.declined.code == "plan-shape"


def test_conjuncts_know_the_way_to_themselves() -> None:
    less = [node("<", 2), attribute(1), attribute(2)]
    null = [node("null?", 1), attribute(3)]
    either = [node("or", 2), node(AND, 2), attribute(4), attribute(5), attribute(6)]
    tree = [node(AND, 2), node(AND, 2), *less, *null, *either]
    parts = split_conjuncts(tree)
    assert [p.route for p in parts] == [("left", "left"), ("left", "right"), ("right",)]
    assert [p.tree for p in parts] == [less, null, either]
    assert [references(p.tree) for p in parts] == [{1, 2}, {3}, {4, 5, 6}]


@pytest.mark.parametrize(
    ("json_type", "metadata", "expected"),
    [
        ("long", {}, "bigint"),
        ("integer", {}, "int"),
        ("string", {}, "string"),
        ("string", {"comment": "a name"}, "string"),
        ("string", {"__CHAR_VARCHAR_TYPE_STRING": "char(5)"}, "char(5)"),
        ("string", {"__COLLATIONS": {"c": "icu.UNICODE_CI"}}, "string collate icu.UNICODE_CI"),
        ("string collate UTF8_LCASE", {}, "unsupported:string collate UTF8_LCASE"),
        ("decimal(10,2)", {}, "decimal(10,2)"),
        ("decimal(10,-2)", {}, "unsupported:decimal(10,-2)"),
        ("float", {}, "unsupported:float"),
        ({"type": "array", "elementType": "long"}, {}, "unsupported:array<bigint>"),
    ],
)
def test_types(json_type: object, metadata: object, expected: str) -> None:
    assert simple_type(json_type, metadata) == expected


def test_lists_of_filters() -> None:
    text = "[IsNotNull(a), In(b, [1, 2]), Or(LessThan(c,1),EqualTo(c,5))]"
    assert split_list(text) == [
        "IsNotNull(a)",
        "In(b, [1, 2])",
        "Or(LessThan(c,1),EqualTo(c,5))",
    ]
    assert split_list("[]") == []
