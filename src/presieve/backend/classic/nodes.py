# SPDX-License-Identifier: Apache-2.0
"""Trusted. Look up the JVM's operators of a classic session's plans by path.

Each question over py4j costs time, and a step from an operator to its child takes two questions.
All operators of a plan that was read are fetched at once: ``TreeNode.map`` of Spark 4.3 visits them
in the order in which ``TreeNode.toJSON`` writes them, parents before children.
"""

from __future__ import annotations

from presieve.backend.catalyst.trees import Node, node_at, walk
from presieve.backend.classic.py4j_errors import java_constant
from presieve.backend.gateway import GatewayError, Handle


class Nodes:
    """Caches the operators of plans. The key is the number that py4j gives the root; nothing else
    gets this number while the root is kept here. An operator of a plan that was read is looked up
    in this plan, also by way of an operator above it.
    """

    __slots__ = ("_all", "_inside", "_jvm", "_known", "_places", "_same_as_read", "_trees")

    def __init__(self, jvm: Handle) -> None:
        self._jvm = jvm
        self._known: dict[str, dict[tuple[int, ...], Handle]] = {}
        self._places: dict[str, dict[tuple[int, ...], int]] = {}
        self._trees: dict[str, Node] = {}
        self._all: dict[str, Handle] = {}
        self._inside: dict[str, tuple[Handle, tuple[int, ...]]] = {}
        self._same_as_read: set[str] = set()

    def are_read(self, root: Handle, tree: Node) -> None:
        """Note that the plan was read as this tree."""
        self._known.setdefault(root._target_id, {(): root})
        self._trees[root._target_id] = tree
        self._places[root._target_id] = {n.path: i for i, n in enumerate(walk(tree))}

    def tree_of(self, root: Handle) -> Node | None:
        """Return the tree as which the plan was read; None if it was not read."""
        return self._trees.get(root._target_id)

    def kind_of(self, operator: Handle) -> str | None:
        """Return the class of an operator of a plan that was read; None for other operators."""
        whole, path = self._inside.get(operator._target_id, (operator, ()))
        tree = self.tree_of(whole)
        return None if tree is None else node_at(tree, path).kind

    def at(self, root: Handle, path: tuple[int, ...]) -> Handle:
        """Return the operator reached by following child numbers. Raises :class:`GatewayError`."""
        if root._target_id in self._inside:
            whole, above = self._inside[root._target_id]
            return self.at(whole, (*above, *path))
        operators = self._known.setdefault(root._target_id, {(): root})
        if path in operators:
            return operators[path]
        place = self._places.get(root._target_id, {}).get(path)
        if place is not None:
            operators[path] = self._as_read(root).apply(place)
            self._inside[operators[path]._target_id] = root, path
            return operators[path]
        length = max(n for n in range(len(path)) if path[:n] in operators)
        for n in range(length, len(path)):
            operators[path[: n + 1]] = operators[path[:n]].children().apply(path[n])
        return operators[path]

    def in_order(self, root: Handle) -> Handle:
        """Return all operators of a plan, parents first, as a sequence of the JVM."""
        number = root._target_id
        if number not in self._all:
            self._known.setdefault(number, {(): root})  # while the root is kept, so is its number
            self._all[number] = root.map(java_constant(self._jvm, "scala.Predef", "$conforms"))
        return self._all[number]

    def _as_read(self, root: Handle) -> Handle:
        """Return the operators of a plan that was read. Raises :class:`GatewayError` if they differ
        from the operators of its JSON.
        """
        number, operators = root._target_id, self.in_order(root)
        if number not in self._same_as_read:
            if int(operators.size()) != len(self._places[number]):
                raise GatewayError("a plan has other operators than its JSON")
            self._same_as_read.add(number)
        return operators
