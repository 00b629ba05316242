# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find columns of texts that are known to be UTF-8, because of how they are computed or
read.

Strings may be any bytes if they come from Parquet, ORC or text files, from binary data that was
cast, or from anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from presieve.backend.catalyst.boundary import PYTHON_UDF
from presieve.backend.catalyst.operators import ALWAYS_PASSED, FILTER
from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    CAST,
    EXPRESSIONS,
    LITERAL,
    JsonNode,
    Node,
    Tree,
    expr_id,
    source_id,
    split_conjuncts,
    strip_alias,
)
from presieve.backend.effects.trusted_scans import describe_scans, is_faithful
from presieve.backend.gateway import PlanView
from presieve.lift.evaluation_types import Role, evaluation_type

_DECODED = (("files", "csv"), ("org.apache.spark.sql.execution.datasources.csv.CSVFileFormat",))
"""Formats that decode what they read, and replace invalid bytes by U+FFFD."""

_ANY_BYTES = ("string", "binary")


def valid_utf8(view: PlanView, node: Node, ids: Iterable[int]) -> frozenset[int]:
    """Return the output attributes of ``node``, among these texts, that are UTF-8 in every row."""
    top = node.path
    origins = {i: frozenset((i,)) for i in ids}  # from attributes of the operator to those in ids
    valid: frozenset[int] = frozenset()
    tested: frozenset[int] = frozenset()
    while node.kind in ALWAYS_PASSED and origins:
        if node.kind == FILTER:
            for conjunct in split_conjuncts(node.fields["condition"]):
                tested |= origins.get(_tested_attribute(conjunct.tree), frozenset())
        elif "projectList" in node.fields:
            valid, origins = _through(node.fields["projectList"], origins, valid)
        node = node.children[0]
    sources = partial(describe_scans, view, (top,), native=False)
    if tested and is_faithful(sources):
        valid |= tested
    if node.children or not origins:
        return valid
    names = view.gateway.source(view.handle(node)).names
    decoded = any(part == names[-len(part) :] or part == names[1:2] for part in _DECODED)
    return valid.union(*origins.values()) if decoded else valid


def _tested_attribute(tree: Tree) -> int:
    """Return the attribute of ``is_valid_utf8(x)``, or -1 if the conjunct is not such a test."""
    is_test = tree[0]["class"] == EXPRESSIONS + "IsValidUTF8"
    read = [n for n in tree if n["class"] == ATTRIBUTE]
    return expr_id(read[0]) if is_test and len(read) == 1 else -1


def _through(
    columns: list[Tree], origins: dict[int, frozenset[int]], valid: frozenset[int]
) -> tuple[frozenset[int], dict[int, frozenset[int]]]:
    """Add the attributes that a projection computes as UTF-8 to ``valid``, and map the attributes
    below that it passes on to their origins.
    """
    passed: dict[int, frozenset[int]] = {}
    for tree in columns:
        requested = origins.get(expr_id(tree[0]), frozenset())
        value, number = strip_alias(tree), source_id(tree)
        if number is not None:
            passed[number] = passed.get(number, frozenset()) | requested
        elif value[0]["class"] == LITERAL or _is_pickled(value[0]) or _is_written(value):
            valid |= requested
    return valid, passed


def _is_pickled(value: JsonNode) -> bool:
    """Whether a Python function returned the value pickled. It became a Java text in the JVM, and
    Spark encodes it (``EvaluatePython.makeFromJava``). Anything that is not Unicode, such as half a
    pair of surrogates, is replaced.
    """
    how = evaluation_type(value["evalType"]) if value["class"] == PYTHON_UDF else None
    return how is not None and how.role is Role.ROW and not how.arrow


def _is_written(value: Tree) -> bool:
    """Whether the value is a column of another type, cast to text."""
    if value[0]["class"] != CAST or len(value) != 2 or value[1]["class"] != ATTRIBUTE:
        return False
    return isinstance(value[1]["dataType"], str) and not value[1]["dataType"].startswith(_ANY_BYTES)
