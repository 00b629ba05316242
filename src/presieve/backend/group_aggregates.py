# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find functions of groups in a plan, and replace them by Spark's own aggregates.

Lemma: an expression that gives the same result for every group, bit for bit, in whatever order the
rows come, may replace a function if it gets the same groups: the equal values of grouping columns
must be identical. No proof about the aggregates themselves covers that they get these groups and
the columns of the function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.boundary import (
    AGGREGATE,
    FLAT_MAPS,
    PROJECT,
    Boundary,
    is_boundary,
    simple_kind,
)
from presieve.backend.catalyst.list_columns import (
    is_always,
    read_list_column,
    read_value,
    struct_values,
)
from presieve.backend.catalyst.native_aggregates import child_trees, native_call
from presieve.backend.catalyst.table_operators import read_boundary
from presieve.backend.catalyst.trees import ALIAS, Node, Tree, expr_id, is_attribute, node_at, walk
from presieve.backend.catalyst.variable_columns import (
    InputAttributes,
    input_vars,
    key_columns,
)
from presieve.backend.effects.erased_errors import may_not_arrive
from presieve.backend.effects.trusted_scans import columns_to_hide, read_sources
from presieve.backend.gateway import GatewayError, Handle, PlanView, dataframe_of
from presieve.backend.open_plan import Opened, or_declined
from presieve.backend.problems.lift_functions import LiftedBoundary, read_lifted
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.problems.setting import PlanSetting
from presieve.backend.rewrite import GroupTexts, replace_groups
from presieve.backend.row_expressions import check_place, projection_of, with_calls_apart
from presieve.backend.statistics.data_check import Check, check_of
from presieve.backend.statistics.facts import BY_FOOTERS, Fact, known_facts, with_extent, within
from presieve.errors import Declined, DeclineSignal
from presieve.ir.assumption_codes import NO_NULL
from presieve.ir.fold import Assumption, Fold, Mode
from presieve.ir.ops import app, negate
from presieve.ir.sorts import Option
from presieve.ir.terms import FALSE, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.lift.forms import Lifted
from presieve.plan.algebra import Attribute, field_place, struct_id
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn, ListColumn
from presieve.semantics.assumptions import is_of_size
from presieve.semantics.types import is_key_type
from presieve.smt.side_by_side import with_raised
from presieve.sql.catalyst_values import ValueOf

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame


class GroupCall(Struct, frozen=True):
    """An operator that calls functions of groups.

    ``folds`` are the lifted functions, ``bounded`` the same functions lifted with the number of
    rows and the values of the files (as ``setting`` says), and ``outputs`` the columns that each of
    them computes. ``erases``: there may be a value that Python cannot hold, for which a function
    raises today. ``hidden`` are the names of keys whose comparisons scans must not be handed.
    """

    path: tuple[int, ...]
    operator: str
    function: str
    why: Declined | None = None
    boundary: Boundary | None = None
    input: BoundaryInput | None = None
    folds: tuple[Lifted, ...] = ()
    bounded: tuple[Lifted, ...] = ()
    setting: PlanSetting | None = None
    outputs: tuple[tuple[Attribute, ...], ...] = ()
    erases: bool = False
    hidden: frozenset[str] = frozenset()

    @property
    def loses_errors(self) -> bool:
        """Whether an error may vanish: Spark need not compute a result that nobody reads, and may
        leave out groups that nobody asks for.
        """
        return self.erases or any(with_raised(x.fold).finish_raises != FALSE for x in self.folds)


class Groups(Struct, frozen=True):
    """A plan and its functions of groups."""

    opened: Opened
    plan: Handle
    found: tuple[GroupCall, ...] = ()


@or_declined
def open_groups(opened: Opened, df: DataFrame, *, changed: bool) -> Groups:
    """Read the functions of groups in the plan of ``df``. If ``changed``, this is another plan than
    the opened one.
    """
    plan, root = with_calls_apart(opened, df, changed=changed)
    if root is None:
        return Groups(opened, plan)
    reader = _Reader(opened, PlanView(opened.gateway, plan, root))
    return Groups(opened, plan, tuple(reader.calls()))


class _Reader(Struct, frozen=True):
    opened: Opened
    view: PlanView

    def calls(self) -> Iterator[GroupCall]:
        """Yield the operators that call functions of groups and none of Spark's own aggregates."""
        for node in walk(self.view.root):
            if not is_boundary(node) or simple_kind(node) not in _OF_GROUPS:
                continue
            handle = self.view.handle(node)
            try:
                boundary = read_boundary(self.view.gateway, node, handle)
            except DeclineSignal:
                continue
            if any(call.native is not None for call in boundary.calls):
                continue
            name = ", ".join(dict.fromkeys(call.name for call in boundary.calls))
            read = GroupCall(node.path, simple_kind(node), name)
            try:
                yield self._read_call(read, node, handle, boundary)
            except DeclineSignal as signal:
                yield replace(read, why=signal.declined)

    def _read_call(
        self, read: GroupCall, node: Node, handle: Handle, boundary: Boundary
    ) -> GroupCall:
        view, gateway = self.view, self.view.gateway
        check_place(view, node)
        unread = gateway.explain_unread(handle)
        if unread is not None:
            raise DeclineSignal.of(unread)
        _check_groups(boundary)
        for conf in _FROM_FOOTERS:
            if gateway.conf(conf, "false").lower() != "false":
                reason = f"{conf} is true: extremes would be those that files tell"
                raise DeclineSignal("conf", reason)
        lifted_boundary = read_lifted(gateway, handle, boundary, self.opened.setting)
        _check_read(lifted_boundary)
        columns = input_vars(lifted_boundary.names)
        hidden = columns_to_hide(view, boundary, columns)
        below = node_at(view.root, boundary.input_path)
        sources = cache(partial(read_sources, view, boundary))
        input_ = BoundaryInput(below, lifted_boundary.names, sources)
        setting = None
        with suppress(GatewayError):
            setting = with_extent(gateway, view.plan, input_, self.opened.setting)
        bounded = lifted_boundary
        assumed = (a for x in lifted_boundary.folds for a in x.assumptions)
        if setting is not None and any(map(is_of_size, assumed)):
            bounded = read_lifted(gateway, handle, boundary, setting)
        taken = boundary.arguments
        inputs = [a for a in boundary.inputs if a.id in taken]
        incomplete, texts = may_not_arrive(view, below, inputs, taken)
        outputs_by_id = {a.id: a for a in boundary.outputs}
        return replace(
            read,
            boundary=boundary,
            input=input_,
            folds=_with_keys(lifted_boundary.folds, lifted_boundary.names),
            bounded=_with_keys(bounded.folds, lifted_boundary.names),
            setting=setting,
            outputs=tuple(tuple(outputs_by_id[i] for i in call.outputs) for call in boundary.calls),
            erases=bool(incomplete or texts),
            hidden=frozenset(columns[i].name for i in hidden if i in boundary.keys),
        )


_FROM_FOOTERS = tuple(f"spark.sql.{form}.aggregatePushdown.enabled" for form in ("parquet", "orc"))


_OF_GROUPS = FLAT_MAPS | {"Aggregate"}
"""Operators that call functions of groups."""


def _with_keys(folds: Sequence[Lifted], names: InputAttributes) -> tuple[Lifted, ...]:
    keys = key_columns(names)
    return tuple(replace(x, fold=replace(x.fold, keys=keys)) for x in folds)


def _check_groups(boundary: Boundary) -> None:
    """Raise :class:`DeclineSignal` if Spark may form other groups for a function than for its own
    aggregates, which treat NaN and the two zeros as one value and give a result for no rows.
    """
    types = {a.id: a.type for a in boundary.inputs}
    plain = boundary.all_keys_plain and all(is_key_type(types[k]) for k in boundary.keys)
    if not boundary.keys or not plain or boundary.mode is not Mode.GROUPED:
        reason = "its groups are not those of plain columns of which equal values are one"
        raise DeclineSignal("grouping-expression", reason)


def _check_read(lifted_boundary: LiftedBoundary) -> None:
    if (
        lifted_boundary.why is not None
        or lifted_boundary.boundary.single
        or lifted_boundary.unknown
    ):
        why = Declined("unsupported-form", "it is no function of groups that is read as a whole")
        raise DeclineSignal.of(lifted_boundary.why or why)
    if lifted_boundary.kept is not None:
        reason = "it gives no row for some groups: give a row of None for them, and filter it above"
        raise DeclineSignal("row-count", reason)
    if any(x.calls or x.fold.hidden for x in lifted_boundary.folds):
        raise DeclineSignal("pure-call", "a function that is not read is called")


def facts_of(groups: Groups, call: GroupCall) -> tuple[Fact, ...]:
    """Return the facts about the columns that the functions read. May open files' footers."""
    assert call.input is not None
    read = {v for x in call.folds for v in variables(x.fold.step_raises, *_terms(x.fold))}
    options = [v for v in read if v.scope is not Scope.ACC and isinstance(v.sort, Option)]
    assumptions = [Assumption(NO_NULL, "", negate(app(Op.IS_NONE, v))) for v in options]
    try:
        plan_facts = known_facts(groups.opened.gateway, groups.plan, call.input, assumptions)
    except GatewayError:
        return ()
    columns = input_vars(call.input.names)
    extents = {} if call.setting is None else call.setting.values
    between = (Fact(within(columns[i], *ends), BY_FOOTERS) for i, ends in extents.items())
    return tuple(dict.fromkeys([*plan_facts, *between]))


def _terms(fold: Fold) -> Iterator[Term]:
    yield from (f.step for f in fold.fields)
    yield from (o.term for o in fold.outputs)


def check_of_groups(groups: Groups, call: GroupCall, condition: Term) -> Check | None:
    """Prepare to count a function's input rows that satisfy a condition, if that is cheap."""
    opened = groups.opened
    try:
        assert call.input is not None
        return check_of(opened.gateway, groups.plan, call.input, condition, opened.timezone)
    except GatewayError:
        return None


# --- the plan with aggregates ---------------------------------------------------------------------


class GroupValues(Struct, frozen=True):
    """Spark's reading of the arguments of aggregates, by the names of their columns, and of the
    expressions over these columns, by the names of outputs. The variables of the aggregates'
    columns are those of the call.
    """

    arguments: Mapping[str, tuple[ValueOf, ...]]
    types: Mapping[str, str]
    lists: Mapping[str, ListColumn]
    outputs: Mapping[str, ValueOf]


class ReplacedGroups(Struct, frozen=True):
    """The DataFrame with aggregates, and their meanings by the number of the operator."""

    df: DataFrame
    values: Mapping[int, GroupValues | Declined]


@or_declined
def with_aggregates(
    groups: Groups,
    texts: Mapping[int, GroupTexts],
    columns: Mapping[int, Mapping[str, AggregateColumn | ListColumn]],
) -> ReplacedGroups:
    """Build the DataFrame with these SQL texts in place of the operators with these numbers.
    ``columns`` are the aggregates that the texts claim to call, by their names in the texts.
    """
    gateway = groups.opened.gateway
    by_path = {groups.found[i].path: text for i, text in texts.items()}
    plan = replace_groups(gateway, groups.plan, by_path)
    df, new_plan = dataframe_of(gateway, plan, groups.plan)
    nodes = [n for n in walk(gateway.tree(new_plan)) if n.kind == PROJECT]
    zone = groups.opened.timezone
    values: dict[int, GroupValues | Declined] = {}
    for i in texts:
        projection = _holding(nodes, groups.found[i])
        if isinstance(projection, Declined):
            values[i] = projection
            continue
        types = {
            a.id: a.type
            for a in gateway.attributes(gateway.node(new_plan, projection.children[0].path))
        }
        values[i] = _read_back(projection, types, groups.found[i], columns[i], zone)
    return ReplacedGroups(df, values)


def _holding(projections: Sequence[Node], call: GroupCall) -> Node | Declined:
    """Return the projection that was inserted above its aggregate."""
    assert call.boundary is not None
    projection = projection_of(projections, struct_id(call.outputs[0][0].id))
    if isinstance(projection, Declined):
        return projection
    below = projection.children[0]
    grouping: list[Tree] = below.fields["groupingExpressions"] if below.kind == AGGREGATE else []
    if [expr_id(t[0]) for t in grouping if is_attribute(t)] != list(call.boundary.keys):
        return Declined("read-back", "the groups are others")
    return projection


@or_declined
def _read_back(
    project: Node,
    types: Mapping[int, str],
    call: GroupCall,
    columns: Mapping[str, AggregateColumn | ListColumn],
    timezone: str,
) -> GroupValues:
    """Read the inserted texts back as Spark understands them, with the aggregate's types."""
    assert call.boundary is not None
    assert call.input is not None
    inputs = input_vars(call.input.names)
    terms: dict[int, Term] = {i: v for i, v in inputs.items() if i in call.boundary.keys}
    arguments: dict[str, tuple[ValueOf, ...]] = {}
    typed: dict[str, str] = {}
    lists: dict[str, ListColumn] = {}
    places: dict[tuple[int, int], Term] = {}
    for tree in project.children[0].fields["aggregateExpressions"]:
        if is_attribute(tree):
            continue
        column, number = columns[str(tree[0]["name"])], expr_id(tree[0])
        if isinstance(column, ListColumn):
            lists[column.name] = read_list_column(tree, column, inputs, timezone)
            places |= {(number, i): v for i, v in enumerate(column.results)}
            continue
        arguments[column.name] = _arguments(tree, column, inputs, timezone)
        typed[column.name] = types[number]
        terms[number] = replace(column, type=types[number]).result
    outputs: dict[str, ValueOf] = {}
    made_of = {expr_id(t[0]): t for t in project.fields["projectList"] if t[0]["class"] == ALIAS}
    for attribute in (a for attributes in call.outputs for a in attributes):
        output_value = read_value(_expression(made_of, attribute.id), terms, places, timezone)
        if output_value.type != attribute.type:
            raise _unlike(f"Spark gives {output_value.type}, and {attribute.type} is declared")
        outputs[attribute.name] = output_value
    return GroupValues(arguments, typed, lists, outputs)


def _expression(made_of: Mapping[int, Tree], attribute: int) -> Tree:
    """Return the expression for an attribute, which may be a field of a struct."""
    tree = made_of[struct_id(attribute)][1:]
    if attribute >= 0:
        return tree
    # A constructed struct is never NULL; CASE makes a column of it that may be NULL.
    if tree[0]["class"].endswith(".CaseWhen"):
        condition, *values = child_trees(tree, 0)
        if len(values) != 1 or not is_always(condition):
            raise _unlike("a struct is made under a condition")
        (tree,) = values
    return struct_values(tree)[field_place(attribute)]


def _arguments(
    tree: Tree, column: AggregateColumn, inputs: Mapping[int, Var], timezone: str
) -> tuple[ValueOf, ...]:
    """Return the arguments of an aggregate, which must be the function that ``column`` names."""
    native = native_call(tree)
    arguments = native.arguments
    is_expected = native.function == column.function and not native.condition
    if not is_expected or len(arguments) != len(column.arguments):
        raise _unlike(f"Spark has {native.name} in place of {column.function}")
    return tuple(read_value(a, inputs, {}, timezone) for a in arguments)


def _unlike(why: str) -> DeclineSignal:
    return DeclineSignal("read-back", why)
