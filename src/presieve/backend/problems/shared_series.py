# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find scalar pandas UDFs that may get one and the same Series.

Spark computes UDFs of neighbouring projections together (``ExtractPythonUDFs``), and hands one
Series to all of them that take the column (``worker.py``, ``SQL_SCALAR_PANDAS_UDF``). A function
that changes the Series in place changes the input of the others. Functions that lift change
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT, PYTHON_UDF, is_boundary, read_project
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    Node,
    Tree,
    end_of,
    expr_id,
    references,
    walk,
)
from presieve.backend.effects.may_raise import trees
from presieve.backend.gateway import PlanView
from presieve.backend.problems.lift_functions import LiftedBoundary, read_lifted
from presieve.backend.problems.setting import PlanSetting
from presieve.errors import Declined, DeclineSignal
from presieve.lift.evaluation_types import EVALUATION_TYPES
from presieve.records import replace

_WHOLE = frozenset(number for number, kind in EVALUATION_TYPES.items() if kind.whole)


def check_shared(view: PlanView, read: LiftedBoundary, setting: PlanSetting) -> None:
    """Raise :class:`DeclineSignal` if a function of the plan that does not lift may change a Series
    that one of the boundary's functions takes.
    """
    if read.boundary.kind != "Project" or not any(c.whole for c in read.boundary.calls):
        return
    nodes = list(walk(view.root))
    made_from = {
        expr_id(t[0]): references(t) for n in nodes for t in trees(n) if t[0]["class"] == ALIAS
    }
    taken = _origins({i for c in read.boundary.calls if c.whole for i in c.arguments}, made_from)
    for node in nodes:
        open_ = [
            _WholeCall(expr_id(t[0]), c)
            for t in trees(node)
            for c in _calls(t)
            if not taken.isdisjoint(_attributes_read(c, made_from))
        ]
        why = _why_not_followed(view, node, setting, open_) if open_ else None
        if why is not None:
            raise DeclineSignal.of(_decline(open_[0], why, taken))


class _WholeCall(Struct, frozen=True):
    """A call of a function of whole columns, and the number of the column that it is in."""

    column: int
    tree: Tree

    @property
    def name(self) -> str:
        return str(self.tree[0].get("name"))


def _decline(call: _WholeCall, why: Declined, taken: Set[int]) -> Declined:
    """Say what a call that is not followed may do to a function that takes its result, or that
    takes the same columns. ``taken`` are the columns that the function's values come from.
    """
    if call.column in taken:
        reason = f"{call.name}, whose result is taken, is not followed: {why.reason}"
        return replace(why, reason=reason)
    shared = (n["name"] for n in call.tree if n["class"] == ATTRIBUTE and expr_id(n) in taken)
    names = ", ".join(dict.fromkeys(map(str, shared))) or "the same column"
    reason = f"{call.name} takes {names}, too, and may change it in place: {why.reason}"
    return Declined("mutation", reason, why.span)


def _calls(tree: Tree) -> Iterator[Tree]:
    """Iterate over the calls of functions of whole columns in an expression."""
    for at, node in enumerate(tree):
        if node["class"] == PYTHON_UDF and node["evalType"] in _WHOLE:
            yield tree[at : end_of(tree, at)]


def _attributes_read(call: Tree, made_from: Mapping[int, frozenset[int]]) -> frozenset[int]:
    return _origins(references(call), made_from)


def _origins(
    numbers: frozenset[int] | set[int], made_from: Mapping[int, frozenset[int]]
) -> frozenset[int]:
    """Return these attributes, and all attributes that they are computed from."""
    origins: set[int] = set()
    pending = set(numbers)
    while pending:
        number = pending.pop()
        origins.add(number)
        pending |= made_from.get(number, frozenset()) - origins
    return frozenset(origins)


def _why_not_followed(
    view: PlanView, node: Node, setting: PlanSetting, calls: Sequence[_WholeCall]
) -> Declined | None:
    """Say why these calls of an operator are not all understood; None if they are."""
    elsewhere = Declined("operator", f"{calls[0].name} is not called in a projection")
    if node.kind != PROJECT or not is_boundary(node):
        return elsewhere
    columns = node.fields["projectList"]
    places = [i for i, t in enumerate(columns) if any(t[1:] == c.tree for c in calls)]
    try:
        gateway, handle = view.gateway, view.handle(node)
        boundary = read_project(gateway, node, handle)
        wanted = tuple(c for c in boundary.calls if c.position in places)
        if len(wanted) != len(calls):
            return elsewhere
        keys = tuple(dict.fromkeys(i for c in wanted for i in c.arguments))
        wanted_boundary = replace(boundary, calls=wanted, keys=keys, key_outputs={})
        return read_lifted(gateway, handle, wanted_boundary, setting).why
    except DeclineSignal as signal:
        return signal.declined
