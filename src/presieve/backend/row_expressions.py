# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find functions of single rows in a plan, and replace them by expressions.

Lemma: a deterministic function of a row may be computed by any expression that gives the same
result, bit for bit, and raises for the same rows. No proof about an expression itself covers the
objects that Python receives and passes on. Spark hands a function of one argument the very object
that another one returns (:mod:`presieve.backend.problems.chained_udfs`). So a function whose input
comes from another one, or that passes its result to one, is replaced only if that object and the
column's value are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from presieve.backend.catalyst.boundary import (
    FLAT_MAPS,
    MAPS,
    PROJECT,
    PYTHON_UDF,
    TABLE_FUNCTION,
    Boundary,
    BoundaryCall,
    is_boundary,
    simple_kind,
)
from presieve.backend.catalyst.failed_merges import is_within
from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.table_operators import read_boundary
from presieve.backend.catalyst.trees import (
    ALIAS,
    Node,
    Tree,
    column_id,
    expr_id,
    node_at,
    nodes_above,
    nodes_inside,
    walk,
)
from presieve.backend.catalyst.variable_columns import distinct, input_vars, read_names
from presieve.backend.effects.call_conditions import (
    CallCondition,
    may_raise_over,
    read_call_condition,
)
from presieve.backend.effects.erased_errors import may_not_arrive
from presieve.backend.effects.may_raise import (
    is_evaluated_for_the_same_rows,
    made_by_python,
    may_drop_rows,
    objects_of,
    trees,
)
from presieve.backend.effects.trusted_scans import columns_to_hide, read_sources
from presieve.backend.effects.utf8 import valid_utf8
from presieve.backend.gateway import GatewayError, Handle, PlanView, dataframe_of
from presieve.backend.open_plan import CACHED, Opened, or_declined, session_declines
from presieve.backend.problems.lift_functions import LiftedBoundary, read_lifted
from presieve.backend.problems.problem import BoundaryInput, of_bytes
from presieve.backend.problems.shared_series import check_shared
from presieve.backend.rewrite import RowTexts, replace_functions
from presieve.backend.statistics.facts import Fact, known_facts
from presieve.errors import Declined, DeclineSignal
from presieve.ir.sorts import STRING, strip
from presieve.ir.terms import FALSE, SQL_TRUE, Var
from presieve.ir.walk import variables
from presieve.lift.forms import Lifted
from presieve.plan.algebra import Attribute
from presieve.records import replace
from presieve.semantics.assumptions import OPTIONAL
from presieve.sql.catalyst_values import ValueOf, value

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame


class RowCall(Struct, frozen=True):
    """A function of single rows: a scalar UDF that is a column of a projection, or a function from
    a table to a table of its rows, each changed by itself.

    ``lifted`` is the function's fold, where each row is a group, or the reason why it is not known.
    ``outputs`` are the columns that it computes, ``positions`` their numbers in a projection (none
    for a function of tables), and ``row`` is the name of the fold's output that says whether there
    is a row, if that is not certain. ``columns`` are the variables that it reads, by attribute.
    ``as_returned``: each object that a scalar UDF returns equals the column's value; pandas chooses
    the type of a whole column by all of its values. ``erases``: there may be a value that Python
    cannot hold, for which the function raises today. ``hidden`` are the names of variables whose
    comparisons scans must not be handed
    (:func:`presieve.backend.effects.trusted_scans.columns_to_hide`). ``facts`` are what plan and
    files say of the columns on which the meaning of the function rests. ``condition`` says
    for which rows Spark calls a function that may raise. ``later`` says why the function stays,
    although it can be written, as the DataFrame may be used further.
    """

    path: tuple[int, ...]
    operator: str
    function: str
    outputs: tuple[Attribute, ...]
    positions: tuple[int, ...]
    lifted: Lifted | Declined
    columns: Mapping[int, Var] = field(default_factory=dict)
    row: str = ""
    as_returned: bool = False
    erases: bool = False
    hidden: frozenset[str] = frozenset()
    facts: tuple[Fact, ...] = ()
    condition: CallCondition = CallCondition()
    later: Declined | None = None


class Calls(Struct, frozen=True):
    """A plan and its functions of single rows."""

    opened: Opened
    plan: Handle
    found: tuple[RowCall, ...] = ()


@or_declined
def open_calls(opened: Opened, df: DataFrame, *, changed: bool) -> Calls:
    """Read the functions of rows in the plan of ``df``, another than the opened if ``changed``."""
    plan, root = with_calls_apart(opened, df, changed=changed)
    if root is None:
        return Calls(opened, plan)
    reader = _Reader(opened, PlanView(opened.gateway, plan, root))
    row_calls = tuple(c for n in walk(root) for c in reader.calls(n))
    return Calls(opened, plan, tuple(_as_objects(root, row_calls)))


def with_calls_apart(opened: Opened, df: DataFrame, *, changed: bool) -> tuple[Handle, Node | None]:
    """Return the plan of ``df`` and its tree, with calls of Python as columns of their own; no tree
    if nothing is called. Raises :class:`DeclineSignal`.
    """
    gateway, plan, root = opened.gateway, opened.plan, opened.root
    if root is None or not gateway.calls_python(plan):
        return plan, None
    if changed or opened.written is not None:
        plan = gateway.analyze_plan(df)
        root = gateway.tree(plan)
    apart = gateway.rewrite_above_cached(
        plan, lambda p: gateway.separate_functions(p, gateway.tree(p), everywhere=True)
    )
    if apart is not plan:
        plan, root = apart, gateway.tree(apart)
    against = session_declines(gateway, plan) or _too_large(root)
    if against is not None:
        raise DeclineSignal.of(against)
    return plan, root


MAX_CONDITION = 2_000
"""Maximum number of operators, columns and constants in a filter. Spark substitutes an expression
below the filter into each of its conjuncts, generates no code for so many, and evaluates them as
deeply as they are nested.
"""


def _too_large(root: Node) -> Declined | None:
    filters = (n.fields["condition"] for n in walk(root) if n.kind == FILTER)
    if any(sum(1 for _ in nodes_inside(f)) > MAX_CONDITION for f in filters):
        reason = f"a filter has more than {MAX_CONDITION} operators, columns and constants"
        return Declined("filter-size", reason)
    return None


def check_place(view: PlanView, node: Node) -> None:
    """Raise :class:`DeclineSignal` for a cached operator, or one that runs in a special way."""
    if node.fields.get("isBarrier") or node.fields.get("profile"):
        raise DeclineSignal("operator", "it runs in a barrier stage or by a resource profile")
    gateway, plan = view.gateway, view.plan
    if gateway.reads_cache():
        paths = [node.path[:n] for n in range(len(node.path) + 1)]
        if any(gateway.is_cached(gateway.node(plan, path)) for path in paths):
            raise DeclineSignal("cached", CACHED)


class _Reader(Struct, frozen=True):
    opened: Opened
    view: PlanView

    def calls(self, node: Node) -> Iterator[RowCall]:
        """Read the functions of single rows in an operator, of scalar UDFs those on columns."""
        if not is_boundary(node) or simple_kind(node) not in _OF_ROWS:
            return
        handle = self.view.handle(node)
        try:
            boundary = read_boundary(self.view.gateway, node, handle)
        except DeclineSignal:
            return
        if boundary.kind == TABLE_FUNCTION:
            return
        outputs = {a.id: a for a in boundary.outputs}
        for call in boundary.calls:
            call_outputs = tuple(outputs[i] for i in call.outputs)
            positions = (call.position,) if node.kind == PROJECT else ()
            kind = simple_kind(node)
            read = RowCall(node.path, kind, call.name, call_outputs, positions, _UNREAD)
            try:
                yield self._read_call(read, node, handle, replace(boundary, calls=(call,)))
            except DeclineSignal as signal:
                yield replace(read, lifted=signal.declined)

    def _read_call(self, read: RowCall, node: Node, handle: Handle, boundary: Boundary) -> RowCall:
        view = self.view
        (call,) = boundary.calls
        if call.fields:
            raise DeclineSignal("return-type", f"{call.name} returns a struct")
        check_place(view, node)
        if node.kind == PROJECT:
            keys = tuple(dict.fromkeys(call.arguments))
            boundary = replace(boundary, keys=keys, key_outputs={})
        lifted_boundary = read_lifted(view.gateway, handle, boundary, self.opened.setting)
        if lifted_boundary.why is not None or not lifted_boundary.boundary.single:
            raise DeclineSignal.of(lifted_boundary.why or _UNREAD)
        check_shared(view, lifted_boundary, self.opened.setting)
        (lifted,) = lifted_boundary.folds
        condition = self._condition(lifted, node, {a.id for a in read.outputs})
        columns = self._columns(lifted_boundary.boundary, lifted, condition.variables)
        inputs = [a for a in boundary.inputs if a.id in call.arguments]
        by_arrow = call.arguments if call.arrow or node.kind != PROJECT else ()
        hidden = columns_to_hide(view, boundary, columns)
        below = node_at(view.root, boundary.input_path)
        incomplete, texts = may_not_arrive(view, below, inputs, by_arrow)
        if node.kind == PROJECT:
            lifted = self._of_bytes(lifted, columns, call, node)
        later = self._why_later(call, lifted)
        return replace(
            read,
            lifted=lifted,
            columns=columns,
            row="" if lifted_boundary.kept is None else lifted_boundary.kept.name,
            as_returned=not call.whole and not lifted.converted and later is None,
            erases=bool(incomplete or texts),
            hidden=frozenset(columns[i].name for i in hidden),
            facts=self._facts(lifted_boundary, below),
            condition=condition,
            later=later,
        )

    def _facts(self, of: LiftedBoundary, below: Node) -> tuple[Fact, ...]:
        """Return facts about the columns of the function's assumptions. May open footers."""
        view, (lifted,) = self.view, of.folds
        needed = [a for a in lifted.assumptions if a.code not in OPTIONAL]
        if not needed:
            return ()
        sources = cache(partial(read_sources, view, of.boundary))
        try:
            return known_facts(
                view.gateway, view.plan, BoundaryInput(below, of.names, sources), needed
            )
        except GatewayError:
            return ()

    def _columns(
        self, boundary: Boundary, lifted: Lifted, tested: Mapping[int, Var]
    ) -> Mapping[int, Var]:
        """Return the variables that the function reads, and those ``tested`` by the condition of
        its call, by attribute; names must be unique.
        """
        fold = lifted.fold
        read = set(variables(fold.finish_raises, *(o.term for o in fold.outputs)))
        columns = {i: v for i, v in input_vars(read_names(boundary)).items() if v in read}
        columns |= tested
        names = {a.name.upper().lower() for a in boundary.inputs if a.id in columns}
        distinct((a for a in boundary.inputs if a.name.upper().lower() in names), "of the input")
        return columns

    def _why_later(self, call: BoundaryCall, lifted: Lifted) -> Declined | None:
        """Say why later uses of the DataFrame decide whether an expression may replace the
        function: another filter may make Spark evaluate the expression for more rows, and another
        function may get the object that this one returns.
        """
        if self.opened.reading.at_once:
            return None
        if lifted.fold.finish_raises != FALSE:
            return Declined("may-add-error", _LATER.format(_MORE_ROWS))
        if call.whole or lifted.converted:
            return Declined("argument-expression", _LATER.format(_AS_OBJECT))
        return None

    def _condition(self, lifted: Lifted, node: Node, outputs: Set[int]) -> CallCondition:
        """Return the condition under which a function is called that may raise. Raises
        :class:`DeclineSignal` if an expression that raises may see more rows than the function, as
        Spark moves a filter on an expression below a join, too; or if a condition above that may
        raise for a result may be evaluated before what Spark evaluates before the call.
        """
        at_risk = node.kind == PROJECT and may_raise_over(self.view, node, outputs)
        if not at_risk and lifted.fold.finish_raises == FALSE:
            return CallCondition()
        why = _OTHER_ORDER if at_risk else _EARLIER
        if not all(is_evaluated_for_the_same_rows(c) for c in node.children):
            if any(map(may_drop_rows, nodes_above(self.view.root, node.path))):
                raise DeclineSignal.of(why)
            return CallCondition()
        if node.kind != PROJECT:
            return CallCondition()  # Spark moves no filter below a function of tables.
        condition = read_call_condition(self.view, node, outputs, self.opened.timezone)
        if condition is None or (at_risk and condition.term != SQL_TRUE):
            raise DeclineSignal.of(why)
        return condition

    def _of_bytes(
        self, lifted: Lifted, columns: Mapping[int, Var], call: BoundaryCall, node: Node
    ) -> Lifted:
        """Lift the function over texts as a worker without Arrow decodes them, if not UTF-8."""
        texts = {i: v for i, v in columns.items() if strip(v.sort) == STRING}
        if call.arrow or not texts:
            return lifted
        valid = valid_utf8(self.view, node.children[0], texts)
        return of_bytes(lifted, [v for i, v in texts.items() if i not in valid])


_OF_ROWS = FLAT_MAPS | MAPS | {"Project"}
"""Operators that call functions of single rows."""

_UNREAD = Declined("unsupported-form", "it is not read")
_EARLIER = Declined(
    "may-add-error",
    "the function may raise, and a filter or join above it may have Spark evaluate an expression "
    "in its place for rows that the function is not called for",
)
_OTHER_ORDER = Declined(
    "may-add-error",
    "a condition above may raise for a result of the function, and Spark may evaluate it before "
    "another one, which it evaluates before it calls the function",
)
_LATER = (
    "{} if the DataFrame is used further; in an enabled session, where what runs is known as a "
    "whole, the function is compiled"
)
_MORE_ROWS = "the function may raise, and Spark may evaluate an expression for more rows"
_AS_OBJECT = "another function may be handed the very object that this one returns"


# --- objects that functions hand on ---------------------------------------------------------------


def _as_objects(root: Node, calls: Collection[RowCall]) -> Iterator[RowCall]:
    """Return the calls. Decline calls that get the object that another function returns, and calls
    that pass on another object than the column's value.
    """
    by_path = {n.path: n for n in walk(root)}
    takers = [(n, i) for n in by_path.values() for i in _sole_arguments(n)]
    made_attributes = {n.path: made_by_python(n.children[0], root) for n, _ in takers}
    plain = {a.id for c in calls if c.as_returned for a in c.outputs}
    fed = [(n, i) for n, i in takers if _in(i, made_attributes[n.path])]
    for call in calls:
        node = by_path[call.path]
        if not call.positions:
            yield call
            continue
        own = _sole(node.fields["projectList"][call.positions[0]][1:])
        taken = made_attributes.get(node.path)
        if own is not None and _in(own, None if taken is None else taken - plain):
            yield replace(call, lifted=_FED)
        elif not call.as_returned and any(
            n is not node
            and is_within(node.path, n.path)
            and _takes(i, call, n, made_attributes[n.path])
            for n, i in fed
        ):
            yield replace(call, lifted=_FEEDS)
        else:
            yield call


def _in(attribute: int, made_attributes: frozenset[int] | None) -> bool:
    return made_attributes is None or attribute in made_attributes


def _takes(
    argument: int, call: RowCall, node: Node, made_attributes: frozenset[int] | None
) -> bool:
    """Whether the argument of a function in ``node`` may be the result of a call below."""
    of_call = objects_of(node.children[0], [a.id for a in call.outputs])
    return made_attributes is None or argument in of_call


_FED = Declined(
    "argument-expression",
    "Spark hands the function the very object that another Python function returns",
)
_FEEDS = Declined(
    "argument-expression",
    "a Python function above may be handed the very object that this one returns",
)


def _sole_arguments(node: Node) -> Iterator[int]:
    """Iterate over the columns that are the only argument of a Python function in the operator."""
    for tree in trees(node) if node.children else ():
        for at in range(len(tree)):
            argument = _sole(tree[at : at + 2])
            if argument is not None:
                yield argument


def _sole(tree: Tree) -> int | None:
    """Return the column that is the only argument of a call."""
    if tree[0]["class"] != PYTHON_UDF or int(tree[0]["num-children"]) != 1:
        return None
    return column_id(tree[1:])


# --- the plan with expressions --------------------------------------------------------------------


class Values(Struct, frozen=True):
    """Spark's reading of the expressions for a function's outputs, in order, and of the expression
    that says whether there is a row, if there is one.
    """

    outputs: tuple[ValueOf, ...]
    row: ValueOf | None = None


class ReplacedCalls(Struct, frozen=True):
    """The DataFrame with expressions, and their meanings by the number of the call."""

    df: DataFrame
    values: Mapping[int, Values | Declined]


@or_declined
def with_expressions(calls: Calls, texts: Mapping[int, RowTexts]) -> ReplacedCalls:
    """Build the DataFrame with these SQL expressions in place of the calls with these numbers."""
    gateway = calls.opened.gateway
    columns: dict[tuple[int, ...], dict[int, str]] = {}
    tables: dict[tuple[int, ...], RowTexts] = {}
    for number, text in texts.items():
        call = calls.found[number]
        if not call.positions:
            tables[call.path] = text
            continue
        columns.setdefault(call.path, {})[call.positions[0]] = text.outputs[0]
    plan = replace_functions(gateway, calls.plan, columns, tables)
    df, new_plan = dataframe_of(gateway, plan, calls.plan)
    nodes = [n for n in walk(gateway.tree(new_plan)) if n.kind == PROJECT]
    timezone = calls.opened.timezone
    values = {i: _read_back(nodes, calls.found[i], t.row, timezone) for i, t in texts.items()}
    return ReplacedCalls(df, values)


def _read_back(
    projections: Collection[Node], call: RowCall, row: str | None, timezone: str
) -> Values | Declined:
    """Read back the expressions that were inserted, as Spark understands them."""
    node = projection_of(projections, call.outputs[0].id)
    if isinstance(node, Declined):
        return node
    outputs: list[ValueOf] = []
    for attribute in call.outputs:
        (tree,) = (t for t in node.fields["projectList"] if _makes(t, attribute.id))
        output_value = value(tree[1:], call.columns, timezone)
        if isinstance(output_value, Declined):
            return output_value
        if output_value.type != attribute.type:
            reason = f"Spark gives {output_value.type}, and {attribute.type} is declared"
            return Declined("read-back", reason)
        outputs.append(output_value)
    if row is None:
        return Values(tuple(outputs))
    below = node.children[0]
    if below.kind != FILTER:
        return Declined("read-back", "the filter of rows is missing")
    row_value = value(below.fields["condition"], call.columns, timezone)
    return row_value if isinstance(row_value, Declined) else Values(tuple(outputs), row_value)


def projection_of(projections: Collection[Node], attribute: int) -> Node | Declined:
    """Return the projection that computes an attribute."""
    making = [n for n in projections if any(_makes(t, attribute) for t in n.fields["projectList"])]
    several = Declined("read-back", "the columns stand in several places of the plan")
    return making[0] if len(making) == 1 else several


def _makes(tree: Tree, attribute: int) -> bool:
    return bool(tree[0]["class"] == ALIAS) and expr_id(tree[0]) == attribute
