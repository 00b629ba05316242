# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find expressions below a boundary that can raise, and what a pre-filter does to their
errors.

Spark moves a filter below projections, joins and more, whatever expressions they hold. A pre-filter
may therefore make an error of an expression below vanish, which is allowed but must be reported. If
the pre-filter reads a column that is computed, above a join, by an expression that can raise, Spark
may compute it for rows that the join would have dropped: that would add an error, and is declined.
The same holds if another filter, which Spark moves down from above the boundary, is evaluated after
the pre-filter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from presieve.backend.catalyst.boundary import (
    AGGREGATE,
    COGROUPS,
    FLAT_MAPS,
    LOGICAL,
    MAPS,
    PROJECT,
)
from presieve.backend.catalyst.definitions import CTE_DEFINITION, CTE_REFERENCE
from presieve.backend.catalyst.trees import (
    ALIAS,
    EXPRESSIONS,
    Node,
    Tree,
    expr_id,
    is_attribute,
    references,
    walk,
)
from presieve.sql.expressions.raising import can_raise

_KEEPING = frozenset(
    LOGICAL + name
    for name in (
        *("Project", "Filter", "SubqueryAlias", "View", "Aggregate", "Union", "GlobalLimit"),
        *("LocalLimit", "Sort", "Window", "Sample", "Distinct", "Deduplicate"),
    )
)
"""Operators through which Spark moves a filter only so that it sees no further rows, or not at all.
The other operators are joins, generators and set operations.
"""


_NAMED = (_KEEPING - {LOGICAL + "Union"}) | {LOGICAL + "Join"}
"""Operators whose results are attributes of their inputs, or have expressions of their own."""

_WINDOW = LOGICAL + "Window"
"""Spark never computes the results of a window again elsewhere: it moves no filter on them."""

_FILTER, _JOIN = LOGICAL + "Filter", LOGICAL + "Join"
_AGGREGATED = EXPRESSIONS + "aggregate.AggregateExpression"

_PYTHON_UDF = EXPRESSIONS + "PythonUDF"
"""A pre-filter never reads the result of such a function: Spark would call the function once for
the pre-filter and once for the rest.
"""

_GET_STRUCT_FIELD = EXPRESSIONS + "GetStructField"
_OF_TABLES = frozenset(LOGICAL + name for name in MAPS | FLAT_MAPS | COGROUPS)


class InputErrors(Struct, frozen=True):
    """``may_raise``: an expression below can raise. ``exposed``: the attributes that a pre-filter
    must not read. ``computed``: the attributes that are computed from something that can raise;
    None if any attribute may be. ``called``: the ``exposed`` attributes that a Python function
    computes.
    """

    may_raise: bool
    exposed: frozenset[int]
    computed: frozenset[int] | None
    called: frozenset[int] = frozenset()

    def both(self, second: InputErrors) -> InputErrors:
        """Combine the errors of two relations."""
        computed = None
        if self.computed is not None and second.computed is not None:
            computed = self.computed | second.computed
        raises = self.may_raise or second.may_raise
        called = self.called | second.called
        return InputErrors(raises, self.exposed | second.exposed, computed, called)


def errors_in_input(input_: Node, root: Node, guarded: bool) -> InputErrors:
    """Describe the errors of the relation that a pre-filter is to stand on, in the plan ``root``.

    ``guarded``: Spark may move other filters from above the boundary below it (:func:`guards`).
    They then keep rows from expressions, and a pre-filter would be evaluated before them.
    """
    own_errors = _errors_in(input_, guarded)
    references_ = [n for n in walk(input_) if n.kind == CTE_REFERENCE]
    if not references_:
        return own_errors
    shared = [_errors_in(n, guarded) for n in walk(root) if n.kind == CTE_DEFINITION]
    exposed = own_errors.exposed
    if any(s.exposed for s in shared):
        exposed |= {expr_id(t[0]) for n in references_ for t in trees(n)}
    plain = all(s.computed == frozenset() for s in shared)
    raises = own_errors.may_raise or any(s.may_raise for s in shared)
    return InputErrors(raises, exposed, own_errors.computed if plain else None, own_errors.called)


def made_by_python(input_: Node, root: Node) -> frozenset[int] | None:
    """Return the attributes that may be, where Spark calls a function with one of them, the very
    object that a scalar Python UDF below returns. None if it may be any attribute, because
    operators other than projections rename what a UDF computes.

    That is what a UDF computes, and what is computed from it, for the optimizer may reduce such an
    expression to the call. It never reduces a field of what the UDF returns: that has another type.
    What a function of tables returns is in columns.
    """
    for node in _walk_to_tables(input_):
        if node.kind == CTE_REFERENCE:
            unnamed = [d for d in walk(root) if d.kind == CTE_DEFINITION]
        else:
            unnamed = [] if node.kind in _NAMED or not _inputs(node) else [node]
        if any(_calls_python(t) for top in unnamed for n in _walk_to_tables(top) for t in trees(n)):
            return None
    aliases = _aliases(_walk_to_tables(input_))
    called = frozenset(i for i, t in aliases if _calls_python(t))
    return _with_objects(called, aliases)


def objects_of(input_: Node, attributes: Collection[int]) -> frozenset[int]:
    """Return these attributes, which UDFs compute, and the attributes that may be the very objects
    that the UDFs return.
    """
    return _with_objects(attributes, _aliases(_walk_to_tables(input_)))


def _with_objects(called: Collection[int], aliases: Collection[tuple[int, Tree]]) -> frozenset[int]:
    returned = {i for i, t in aliases if i in called and t[1]["class"] == _PYTHON_UDF}
    parts = {i for i, t in aliases if _is_part(t[1:], returned)}
    whole = [(i, t) for i, t in aliases if i not in parts]
    return _with_computed(set(called) - parts, whole)


def _is_part(tree: Tree, returned: Collection[int]) -> bool:
    """Whether an expression is a field of the struct that a UDF returns, in the expression itself
    or in the column of one of these attributes.
    """
    if tree[0]["class"] != _GET_STRUCT_FIELD:
        return False
    struct = tree[1]
    return struct["class"] == _PYTHON_UDF or (
        is_attribute(tree[1:]) and expr_id(struct) in returned
    )


def _walk_to_tables(node: Node) -> Iterator[Node]:
    """Iterate over the operators, down to those that call functions of tables."""
    yield node
    for child in _inputs(node):
        yield from _walk_to_tables(child)


def _inputs(node: Node) -> tuple[Node, ...]:
    return () if node.kind in _OF_TABLES else tuple(node.children)


def _aliases(nodes: Iterable[Node]) -> list[tuple[int, Tree]]:
    """Return the attributes that have an expression in an operator, with the expression."""
    named = (t for n in nodes for t in trees(n) if t[0]["class"] == ALIAS)
    return [(expr_id(t[0]), t) for t in named]


def _calls_python(tree: Tree) -> bool:
    return any(n["class"] == _PYTHON_UDF for n in tree)


def is_evaluated_for_the_same_rows(input_: Node) -> bool:
    """Whether a filter that Spark moves down into this relation sees no further rows there, or
    those after the filters that are there.
    """
    return all(n.kind in _KEEPING or not n.children for n in walk(input_))


def may_drop_rows(node: Node) -> bool:
    """Whether an operator may make Spark drop rows below a boundary that it is above.

    A filter may. For a join, Spark may infer filters of this side from the filters of the other
    side; for a definition, from the filters of all its references.
    """
    return node.kind in (_FILTER, _JOIN, CTE_DEFINITION)


def _errors_in(input_: Node, guarded: bool) -> InputErrors:
    may_raise = False
    exposed: set[int] = set()
    called: set[int] = set()
    computed: set[int] = set()
    keeping: dict[tuple[int, ...], bool] = {}
    for node in reversed(list(walk(input_))):
        below = all(keeping[c.path] for c in node.children)
        keeping[node.path] = below and (node.kind in _KEEPING or not node.children)
        window = node.kind == _WINDOW
        safe = window or (below and node.kind in (PROJECT, AGGREGATE))
        for tree in trees(node):
            raises = can_raise(tree)
            may_raise = may_raise or raises
            if tree[0]["class"] == ALIAS:
                if raises:
                    computed.add(expr_id(tree[0]))
                # Spark moves no filter on a result below its aggregate.
                aggregated = any(n["class"] == _AGGREGATED for n in tree)
                is_kept = safe and (window or not guarded or aggregated)
                if _calls_python(tree):
                    called.add(expr_id(tree[0]))
                elif raises and not is_kept:
                    exposed.add(expr_id(tree[0]))
    named = all(n.kind in _NAMED or not n.children for n in walk(input_))
    aliases = _aliases(walk(input_))
    erring = _with_computed(computed, aliases) if named or not computed else None
    by_python = _with_computed(called, aliases)
    return InputErrors(may_raise, _with_computed(exposed, aliases) | by_python, erring, by_python)


def _with_computed(of: Collection[int], aliases: Collection[tuple[int, Tree]]) -> frozenset[int]:
    """Add all attributes that are computed from these."""
    closed, has_grown = set(of), bool(of)
    reads = [(i, references(tree)) for i, tree in aliases] if has_grown else []
    while has_grown:
        added = {i for i, read in reads if i not in closed and read & closed}
        closed |= added
        has_grown = bool(added)
    return frozenset(closed)


def trees_raise(node: Node) -> bool:
    """Whether an expression of this operator can raise."""
    return any(can_raise(t) for t in trees(node))


def trees(node: Node) -> Iterator[Tree]:
    """Iterate over the expressions of an operator: its fields of expressions, or lists of them."""
    for value in node.fields.values():
        if isinstance(value, list) and value:
            for item in [value] if isinstance(value[0], dict) else value:
                if isinstance(item, list) and item and "class" in item[0]:
                    yield item
