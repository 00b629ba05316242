# SPDX-License-Identifier: Apache-2.0
"""Trusted. Remove columns from a plan that functions of tables need not be handed.

Spark reads, exchanges and sends all columns below such a function, because it does not look into
it. With a projection below the function, it leaves out the other columns down to the scan
(``ColumnPruning``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.boundary import simple_kind
from presieve.backend.catalyst.exchange_reuse import sharing_exchange
from presieve.backend.catalyst.sites import boundaries
from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.effects.trusted_scans import ignores_corrupt_files
from presieve.backend.gateway import Gateway, Handle, PlanView, dataframe_of
from presieve.backend.open_plan import CACHED, Opened, or_declined, session_declines
from presieve.backend.problems.column_pruning import (
    TABLES,
    ColumnUse,
    has_tables,
    may_raise,
    read_column_use,
)
from presieve.backend.problems.unread_arguments import read_argument_uses
from presieve.backend.rewrite import KeptColumns, prune_arguments, prune_plan
from presieve.backend.row_expressions import with_calls_apart
from presieve.backend.unpushed_functions import python_functions
from presieve.errors import Declined
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame


class OtherFunction(Struct, frozen=True):
    """A function that is not handed tables: Spark's name for its operator, and its input and
    output. ``unread`` is the name of its kind for people, if no rule reads this kind.
    """

    operator: str
    function: str
    form: str
    unread: str


class TableFunctions(Struct, frozen=True):
    """A plan and its functions of tables, if ``root`` is not None; ``others`` are for reports."""

    gateway: Gateway
    plan: Handle
    root: Node | None = None
    uses: tuple[ColumnUse, ...] = ()
    others: tuple[OtherFunction, ...] = ()

    @property
    def view(self) -> PlanView:
        """The plan with its tree, which there must be."""
        assert self.root is not None
        return PlanView(self.gateway, self.plan, self.root)


@or_declined
def open_functions(opened: Opened, df: DataFrame, *, changed: bool) -> TableFunctions:
    """Read the functions of tables in the plan of ``df``. If ``changed``, this is another plan than
    the opened one.
    """
    gateway, plan, root = opened.gateway, opened.plan, opened.root
    others = tuple(_others(root)) if root is not None and opened.reading.for_report else ()
    if root is None or not has_tables(root):
        return TableFunctions(gateway, plan, others=others)
    if changed or opened.written is not None:
        plan = gateway.analyze_plan(df)
        root = gateway.tree(plan)
    against = session_declines(gateway, plan) or ignores_corrupt_files(gateway)
    uses: list[ColumnUse] = []
    view = PlanView(gateway, plan, root)
    for number, node in enumerate(boundaries(root)):
        if simple_kind(node) in TABLES:
            use = read_column_use(view, number, node, opened.setting)
            why = against or _decline_cached(view, node)
            uses.append(use if why is None else replace(use, declined=why))
    return TableFunctions(gateway, plan, root, tuple(uses), others)


def _others(root: Node) -> Iterator[OtherFunction]:
    for node, name, kind in python_functions(root):
        if simple_kind(node) not in TABLES:
            form = "" if kind is None else kind.role.value
            unread = "functions of an unknown kind" if kind is None else kind.unread
            yield OtherFunction(simple_kind(node), name, form, unread)


def _decline_cached(view: PlanView, node: Node) -> Declined | None:
    """Decline if the function's result, or something that contains it, comes from the cache."""
    gateway, plan = view.gateway, view.plan
    if not gateway.reads_cache():
        return None
    paths = [node.path[:n] for n in reversed(range(len(node.path) + 1))]
    paths += [child.path for child in node.children]
    cached = any(gateway.is_cached(gateway.node(plan, path)) for path in paths)
    return Declined("cached", CACHED) if cached else None


def kept_columns(
    functions: TableFunctions, *, strict: bool
) -> Mapping[tuple[int, ...], KeptColumns]:
    """Return the columns that are handed over from now on, by the paths of the operators that
    change. ``strict``: also keep the columns whose computation or transfer may raise.

    If several functions share an exchange, each of them is handed all columns that one of them
    needs, so that they continue to share it.
    """
    columns_by_path: dict[tuple[int, ...], KeptColumns] = {}
    if functions.root is None:
        return columns_by_path
    view = functions.view
    by_path = {u.node.path: u for u in functions.uses}
    for path, use in by_path.items():
        if path in columns_by_path or not _leaves_out(use):
            continue
        equal = [by_path[p] for p in sharing_exchange(view, use.node)]
        if not all(_leaves_out(u) for u in equal):
            continue
        of_inputs = zip(*(u.inputs for u in equal), strict=True)
        needed = tuple(frozenset().union(*(i.read for i in inputs)) for inputs in of_inputs)
        if strict:
            pairs = zip(needed, use.inputs, strict=True)
            needed = tuple(n | may_raise(view, i) for n, i in pairs)
        if any(len(n) < len(i.columns) for n, i in zip(needed, use.inputs, strict=True)):
            columns_by_path |= {u.node.path: needed for u in equal}
    return columns_by_path


def _leaves_out(use: ColumnUse) -> bool:
    return use.declined is None and any(len(i.read) < len(i.columns) for i in use.inputs)


def erases(view: PlanView, use: ColumnUse, columns: KeptColumns) -> bool:
    """Whether an error of computing or sending a removed column may vanish."""
    pairs = zip(use.inputs, columns, strict=True)
    return any(may_raise(view, i) - n for i, n in pairs)


class Arguments(Struct, frozen=True):
    """A plan, with calls as columns of their own, and the scalar UDFs that do not read all of their
    arguments.
    """

    view: PlanView
    uses: tuple[ColumnUse, ...] = ()


@or_declined
def open_arguments(opened: Opened, df: DataFrame, *, changed: bool) -> Arguments | None:
    """Read the scalar UDFs in the plan of ``df``, another than the opened one if ``changed``."""
    plan, root = with_calls_apart(opened, df, changed=changed)
    if root is None or ignores_corrupt_files(opened.gateway) is not None:
        return None
    view = PlanView(opened.gateway, plan, root)
    uses = (u for node in walk(root) for u in read_argument_uses(view, node, opened.setting))
    return Arguments(view, tuple(u for u in uses if _decline_cached(view, u.node) is None))


def kept_arguments(arguments: Arguments, use: ColumnUse, *, strict: bool) -> frozenset[int]:
    """Return the numbers of the arguments that a scalar UDF gets from now on. ``strict``: also
    those whose computation or transfer may raise.
    """
    (given,) = use.inputs
    return given.read | may_raise(arguments.view, given) if strict else given.read


@or_declined
def without_arguments(
    arguments: Arguments, kept: Iterable[tuple[ColumnUse, frozenset[int]]]
) -> DataFrame:
    """Build the DataFrame in which scalar UDFs get NULL in place of other arguments."""
    by_path: dict[tuple[int, ...], dict[int, frozenset[int]]] = {}
    for use, numbers in kept:
        by_path.setdefault(use.node.path, {})[use.position] = numbers
    view = arguments.view
    plan = prune_arguments(view.gateway, view.plan, by_path)
    return dataframe_of(view.gateway, plan, view.plan)[0]


@or_declined
def prune(
    functions: TableFunctions, columns_by_path: Mapping[tuple[int, ...], KeptColumns]
) -> DataFrame:
    """Build the DataFrame in which these operators, by path, hand over fewer columns."""
    plan = prune_plan(functions.gateway, functions.plan, columns_by_path)
    return dataframe_of(functions.gateway, plan, functions.plan)[0]
