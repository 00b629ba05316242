# SPDX-License-Identifier: Apache-2.0
"""Trusted. The columns that a generator makes of one row, as expressions of that row.

Each row that comes out of ``explode(array(a, b))`` has the value of ``a`` or of ``b``; each row of
``explode(sequence(a, b))`` has a value between them (``generators.scala``,
``collectionOperations.scala``).
"""

from __future__ import annotations

from collections.abc import Mapping

from presieve.backend.catalyst.native_aggregates import child_trees
from presieve.backend.catalyst.trees import EXPRESSIONS, LITERAL, Node, Tree, expr_id, make_tree
from presieve.sql.expressions import composites
from presieve.sql.expressions.basics import IN_BETWEEN, ONE_OF
from presieve.sql.expressions.entry import class_names

ARRAY = composites.CREATE_ARRAY.class_name
SEQUENCE = EXPRESSIONS + "Sequence"
STACK = composites.STACK.class_name
_OF_ARRAYS = class_names((composites.EXPLODE, composites.POS_EXPLODE, composites.INLINE))

OF_ONE_ROW = _OF_ARRAYS | {STACK}
"""Generators that make rows from one row alone. A table function in Python may keep a state."""


def read_generated_columns(node: Node) -> Mapping[int, Tree]:
    """Return the generated columns, by number, that are known as expressions of the row."""
    generator: Tree = node.fields["generator"]
    outputs: list[Tree] = node.fields["generatorOutput"]
    values = _of_stack(generator, len(outputs)) if generator[0]["class"] == STACK else None
    if values is None:
        element = _read_element(generator)
        values = [] if element is None else [element]
    # Positions come before the elements.
    pairs = list(zip(reversed(outputs), reversed(values), strict=False))
    outer = bool(node.fields.get("outer"))
    return {expr_id(o[0]): _or_null(v, o) if outer else v for o, v in pairs}


def _read_element(generator: Tree) -> Tree | None:
    """Return an element of an array as an expression. A NULL array makes no row."""
    if generator[0]["class"] not in _OF_ARRAYS - {composites.INLINE.class_name}:
        return None
    array = generator[1]["class"]
    parts = child_trees(generator, 1)
    if array == ARRAY and parts:
        return make_tree(ONE_OF.class_name, *parts)
    # Without a step the sequence goes up or down; a step in the wrong direction raises.
    return make_tree(IN_BETWEEN.class_name, *parts[:2]) if array == SEQUENCE else None


def _of_stack(generator: Tree, columns: int) -> list[Tree] | None:
    """Return the columns of ``stack(n, ...)``; None if values are missing at its end."""
    rows, *values = child_trees(generator, 0)
    if rows[0].get("value") != str(len(values) // columns) or len(values) % columns:
        return None
    return [make_tree(ONE_OF.class_name, *values[place::columns]) for place in range(columns)]


def _or_null(value: Tree, output: Tree) -> Tree:
    null = make_tree(LITERAL, value=None, dataType=output[0]["dataType"])
    return make_tree(ONE_OF.class_name, value, null)
