"""Trusted. Scalar UDFs in a plan as functions of single rows, and the plan with expressions for
them.

Lemma: a deterministic function of a row may be computed by any expression that gives the same, to
the bit, and raises where it does. What is not proved of an expression itself is what Python is
handed and hands on. Spark hands a function of one argument the very object that another one
returns (:mod:`presieve.backend.problems.chains`): so a function that is fed by another one, or
feeds one, is replaced only where that object and the column's value are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import (
    PROJECT,
    PYTHON_UDF,
    Boundary,
    Call,
    is_attribute,
    is_boundary,
    read_project,
)
from presieve.backend.catalyst.names import distinct, input_vars, read_names
from presieve.backend.catalyst.trees import Node, Tree, expr_id, walk
from presieve.backend.effects.errors import may_not_arrive
from presieve.backend.effects.raising import guards, made_by_python, trees
from presieve.backend.effects.utf8 import valid_utf8
from presieve.backend.gateway import Handle
from presieve.backend.plans import CACHED, Opened, or_declined, session_declines
from presieve.backend.problems.chains import KEPT
from presieve.backend.problems.lifting import read_lifted
from presieve.backend.rewrite import Expressions, replace_columns
from presieve.errors import Declined, DeclineSignal
from presieve.ir.sorts import STRING, strip
from presieve.ir.terms import FALSE, Var
from presieve.lift.forms import Lifted
from presieve.semantics.decoded import as_decoded
from presieve.sql.values import ValueOf, value

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

Place = tuple[tuple[int, ...], int]
"""The path of a projection and the number of one of its columns."""


@dataclass(frozen=True, slots=True)
class RowCall:
    """A scalar UDF that is a column of a projection. ``lifted``: what it gives, where each row is a
    group, or why that is not known. ``columns`` are the variables that it reads, by attribute.
    ``arrow``: its values go through Arrow. ``erases``: a value may come that Python cannot hold, so
    that the function raises today.
    """

    place: Place
    function: str
    column: str
    type: str
    lifted: Lifted | Declined
    columns: Mapping[int, Var]
    arrow: bool = False
    erases: bool = False


@dataclass(frozen=True, slots=True)
class Calls:
    """A plan and its scalar UDFs that are columns."""

    opened: Opened
    plan: Handle
    found: tuple[RowCall, ...] = ()


@or_declined
def open_calls(opened: Opened, df: DataFrame, *, changed: bool) -> Calls:
    """The scalar UDFs in the plan of ``df``, which is another one than was opened if it is
    ``changed``.
    """
    gateway, plan, root = opened.gateway, opened.plan, opened.root
    if root is None or not gateway.calls_python(plan):
        return Calls(opened, plan)
    if changed or opened.written is not None:
        plan = gateway.analyzed(df)
        root = gateway.tree(plan)
    apart = gateway.separated(plan, root, everywhere=True)
    if apart is not plan and gateway.cache_is_empty():
        plan, root = apart, gateway.tree(apart)
    against = session_declines(gateway, plan)
    if against is not None:
        raise DeclineSignal.of(against)
    projections = [n for n in walk(root) if _is_of_rows(n)]
    reader = _Reader(opened, plan, root)
    found = tuple(c for n in projections for c in reader.calls(n))
    return Calls(opened, plan, tuple(_as_objects(root, found)))


def _is_of_rows(node: Node) -> bool:
    return node.kind == PROJECT and is_boundary(node)


@dataclass(frozen=True, slots=True)
class _Reader:
    opened: Opened
    plan: Handle
    root: Node

    def calls(self, node: Node) -> Iterator[RowCall]:
        """The scalar UDFs of a projection. Those with arguments that are no columns are left
        out.
        """
        gateway = self.opened.gateway
        handle = gateway.node(self.plan, node.path)
        try:
            boundary = read_project(gateway, node, handle)
        except DeclineSignal:
            return
        outputs = {a.id: a for a in boundary.outputs}
        for call in boundary.calls:
            output = outputs[call.outputs[0]]
            place = node.path, call.position
            read = RowCall(place, call.name, output.name, output.type, _PANDAS, {}, call.arrow)
            try:
                yield self._read(read, node, handle, replace(boundary, calls=(call,)))
            except DeclineSignal as signal:
                yield replace(read, lifted=signal.declined)

    def _read(self, read: RowCall, node: Node, handle: Handle, boundary: Boundary) -> RowCall:
        gateway = self.opened.gateway
        (call,) = boundary.calls
        if call.whole:
            raise DeclineSignal.of(_PANDAS)
        self._check_place(node)
        alone = replace(boundary, keys=tuple(dict.fromkeys(call.arguments)), key_outputs={})
        found = read_lifted(gateway, handle, alone, self.opened.setting)
        if found.why is not None:
            raise DeclineSignal.of(found.why)
        (lifted,) = found.folds
        read_columns = (a for a in boundary.inputs if a.id in call.arguments)
        names = {a.name.upper().lower() for a in read_columns}
        distinct((a for a in boundary.inputs if a.name.upper().lower() in names), "of the input")
        columns = input_vars(read_names(alone))
        inputs = [a for a in boundary.inputs if a.id in columns]
        by_arrow = call.arguments if call.arrow else ()
        below = self.root, node.children[0]
        other, texts = may_not_arrive(gateway, self.plan, below, inputs, by_arrow)
        lifted = self._of_bytes(lifted, columns, call, node)
        if lifted.fold.finish_raises != FALSE:
            self._check_order(node)
        return replace(read, lifted=lifted, columns=columns, erases=bool(other or texts))

    def _check_place(self, node: Node) -> None:
        """Raise :class:`DeclineSignal` where the projection's result comes out of the cache."""
        gateway = self.opened.gateway
        if not gateway.cache_is_empty():
            paths = [node.path[:n] for n in range(len(node.path) + 1)]
            if any(gateway.is_cached(gateway.node(self.plan, path)) for path in paths):
                raise DeclineSignal("cached", CACHED)

    def _check_order(self, node: Node) -> None:
        """Raise :class:`DeclineSignal` where an expression that raises may see more rows than the
        function. Spark calls functions for rows that pass what else a filter asks, and evaluates
        expressions in any order; it infers filters from joins, too.
        """
        if any(guards(n, node.path, {}) for n in walk(self.root)):
            raise DeclineSignal("may-add-error", _EARLIER)

    def _of_bytes(
        self, lifted: Lifted, columns: Mapping[int, Var], call: Call, node: Node
    ) -> Lifted:
        """The function of what a worker without Arrow makes of texts that may be no UTF-8."""
        texts = {i: v for i, v in columns.items() if strip(v.sort) == STRING}
        if call.arrow or not texts:
            return lifted
        valid = valid_utf8(self.opened.gateway, self.plan, self.root, node.children[0], texts)
        open_ = [v for i, v in texts.items() if i not in valid]
        fold = lifted.fold
        outputs = tuple(replace(o, term=as_decoded(o.term, open_)) for o in fold.outputs)
        raises = as_decoded(fold.finish_raises, open_)
        return replace(lifted, fold=replace(fold, outputs=outputs, finish_raises=raises))


_EARLIER = (
    "the function may raise, and a filter or join above it may have Spark evaluate an expression "
    "in its place for rows that the function is not called for"
)
_PANDAS = Declined("unsupported-form", "functions of whole columns are not compiled")


# --- objects that functions hand on ---------------------------------------------------------------


def _as_objects(root: Node, calls: Collection[RowCall]) -> Iterator[RowCall]:
    """The calls; those declined that are handed what another one returns, or hand something on that
    is another object than the column's value.
    """
    by_path = {n.path: n for n in walk(root)}
    made = {path: made_by_python(n.children[0], root) for path, n in by_path.items() if n.children}
    plain = {_attribute(by_path, c) for c in calls if _gives_what_it_returns(c)}
    fed = [(n, i) for n in by_path.values() for i in _sole_arguments(n) if _in(i, made[n.path])]
    for call in calls:
        node, position = by_path[call.place[0]], call.place[1]
        own = _sole(node.fields["projectList"][position][1:])
        taken = made[node.path]
        if own is not None and _in(own, None if taken is None else taken - plain):
            yield replace(call, lifted=_FED)
        elif not _gives_what_it_returns(call) and any(_is_above(n, node) for n, _ in fed):
            yield replace(call, lifted=_FEEDS)
        else:
            yield call


def _in(attribute: int, made: frozenset[int] | None) -> bool:
    return made is None or attribute in made


def _is_above(node: Node, other: Node) -> bool:
    return node is not other and other.path[: len(node.path)] == node.path


_FED = Declined(
    "argument-expression",
    "Spark hands the function the very object that another Python function returns",
)
_FEEDS = Declined(
    "argument-expression",
    "a Python function above may be handed the very object that this one returns",
)


def _gives_what_it_returns(call: RowCall) -> bool:
    """Whether every object that it returns is the column's value."""
    if isinstance(call.lifted, Declined):
        return False
    return call.type in KEPT or (call.type == "double" and not call.arrow)


def _attribute(by_path: Mapping[tuple[int, ...], Node], call: RowCall) -> int:
    path, position = call.place
    return expr_id(by_path[path].fields["projectList"][position][0])


def _sole_arguments(node: Node) -> Iterator[int]:
    """The columns that Python functions in an operator have as their only argument."""
    for tree in trees(node) if node.children else ():
        for at in range(len(tree)):
            found = _sole(tree[at : at + 2])
            if found is not None:
                yield found


def _sole(tree: Tree) -> int | None:
    """The column that is the only argument of a call."""
    if tree[0]["class"] != PYTHON_UDF or int(tree[0]["num-children"]) != 1:
        return None
    return expr_id(tree[1]) if is_attribute(tree[1:]) else None


# --- the plan with expressions --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Replaced:
    """The DataFrame with expressions in place of functions, and what Spark makes of each."""

    df: DataFrame
    values: Mapping[Place, ValueOf | Declined]


@or_declined
def with_expressions(calls: Calls, texts: Mapping[Place, str]) -> Replaced:
    """The DataFrame with these expressions in SQL. Raises nothing, but may decline."""
    gateway = calls.opened.gateway
    by_path: dict[tuple[int, ...], dict[int, str]] = {}
    for (path, position), text in texts.items():
        by_path.setdefault(path, {})[position] = text
    expressions: Mapping[tuple[int, ...], Expressions] = by_path
    df = gateway.dataframe(replace_columns(gateway, calls.plan, expressions))
    made = gateway.analyzed(df)
    if not gateway.same_output(calls.plan, made):
        raise DeclineSignal("plan-shape", "the rewritten plan has different columns")
    nodes = {n.path: n for n in walk(gateway.tree(made))}
    known = {c.place: c for c in calls.found}
    values = {p: _read_back(calls.opened, nodes, known[p]) for p in texts}
    return Replaced(df, values)


def _read_back(
    opened: Opened, nodes: Mapping[tuple[int, ...], Node], call: RowCall
) -> ValueOf | Declined:
    """What Spark makes of the expression that was put there."""
    path, position = call.place
    tree = nodes[path].fields["projectList"][position]
    found = value(tree[1:], call.columns, opened.timezone)
    if isinstance(found, ValueOf) and found.type != call.type:
        return Declined("read-back", f"Spark gives {found.type}, and {call.type} is declared")
    return found
