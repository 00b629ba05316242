# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which of its arguments a scalar UDF reads, and which fields of a struct that
only it is given.

Lemma: if a function does the same whatever an argument is, NULL may stand in its place. The rows
and the other arguments stay as they are, and Spark may leave out what only computes this one, with
the order of rows that it makes. An argument is not read if the code never mentions the parameter;
or if the column may be NULL, the meaning of the whole function has no variable of it, and the
function neither raises nor writes a message, in which it might be shown, nor returns another object
than its column has. As for functions of tables, an error vanishes that only computing or sending
the argument raises.

pandas chooses the type of an integer column by whether it has a NULL, so integers stay for
functions of whole columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, starmap
from types import FunctionType

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT, Boundary, BoundaryCall, is_boundary
from presieve.backend.catalyst.native_aggregates import child_trees
from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.struct_fields import GET
from presieve.backend.catalyst.table_operators import read_boundary
from presieve.backend.catalyst.trees import (
    Node,
    Tree,
    column_id,
    expr_id,
    itself,
    simple_type,
    strip_alias,
)
from presieve.backend.catalyst.variable_columns import input_vars
from presieve.backend.effects.may_raise import made_by_python
from presieve.backend.gateway import PlanView
from presieve.backend.problems.column_pruning import ColumnUse, Input
from presieve.backend.problems.lift_functions import read_lifted
from presieve.backend.problems.load_functions import load_function
from presieve.backend.problems.setting import PlanSetting
from presieve.errors import DeclineSignal
from presieve.ir.assumption_codes import MESSAGES
from presieve.ir.terms import FALSE, App, Lit, Op, Term, Var
from presieve.ir.walk import variables
from presieve.lift.python.positions import place_of
from presieve.lift.python.receivers import BoundFunction, split_receiver
from presieve.lift.python.unread_parameters import fields_read, unread_parameters
from presieve.plan.algebra import Attribute
from presieve.records import replace
from presieve.semantics.smart_constructors import get
from presieve.sql.expressions.composites import CREATE_NAMED_STRUCT


def read_argument_uses(view: PlanView, node: Node, setting: PlanSetting) -> Iterator[ColumnUse]:
    """Yield what the scalar UDFs of a projection read, of those that do not read all."""
    if node.kind != PROJECT or not is_boundary(node):
        return
    try:
        boundary = read_boundary(view.gateway, node, view.handle(node))
    except DeclineSignal:
        return
    if boundary.kind != "Project":
        return
    for call in boundary.calls:
        with suppress(DeclineSignal):
            reader = _Reader(view, node, replace(boundary, calls=(call,)), setting)
            for use in (reader.read_arguments(), *reader.read_structs()):
                if len(use.inputs[0].read) < len(use.inputs[0].columns):
                    yield use


@dataclass(frozen=True)
class _Reader:
    """Reads the only call of the ``boundary`` in a projection. Methods may raise
    :class:`DeclineSignal`.
    """

    view: PlanView
    node: Node
    boundary: Boundary
    setting: PlanSetting

    @property
    def call(self) -> BoundaryCall:
        """The call."""
        return self.boundary.calls[0]

    @cached_property
    def loaded(self) -> BoundFunction:
        """The function, and the object that it is a method of."""
        gateway, call = self.view.gateway, self.call
        if call.streamed or not call.arguments:
            raise DeclineSignal("eval-type", f"{call.name} takes batches, or no arguments")
        handle = gateway.row_function(self.view.handle(self.node), call.position)
        return split_receiver(load_function(gateway, handle, call))

    def read_arguments(self) -> ColumnUse:
        """Return what the call reads of its arguments."""
        function, receiver, _ = self.loaded
        by_id = {a.id: a for a in self.boundary.inputs}
        arguments = tuple(by_id[i] for i in self.call.arguments)
        unread: Set[int] = set()
        if isinstance(function, FunctionType):
            before = int(receiver is not None)
            unread = {i - before for i in unread_parameters(function)} & {*range(len(arguments))}
        if len(unread) < len(arguments):
            unread |= {i for i in self._not_in_meaning() if arguments[i].nullable}
        if self.call.whole:
            unread = {i for i in unread if arguments[i].type in _OF_ONE_TYPE}
        given = Input(self.node.children[0], arguments, frozenset(range(len(arguments))) - unread)
        return self._use(self.node, self.call.position, function, given)

    def _use(self, node: Node, position: int, function: object, given: Input) -> ColumnUse:
        span = place_of(function.__code__) if isinstance(function, FunctionType) else None
        name, call = self.call.name, self.call
        return ColumnUse(-1, node, name, span, (given,), call=call, position=position)

    def read_structs(self) -> Iterator[ColumnUse]:
        """Yield what the call reads of structs that the projection below builds for it alone,
        beside filters in between on fields.
        """
        below, conditions = self.node.children[0], []
        while below.kind == FILTER:
            conditions.append(below.fields["condition"])
            below = below.children[0]
        if below.kind != PROJECT:
            return
        uses = Counter(column_id([n]) for t in self.node.fields["projectList"] for n in t)
        places = {expr_id(tree[0]): i for i, tree in enumerate(below.fields["projectList"])}
        for at, number in enumerate(self.call.arguments):
            place = places.get(number)
            if place is None or uses[number] != 1:
                continue
            columns = _struct_columns(below.fields["projectList"][place])
            asked = set(chain.from_iterable(_fields_asked(t, number) for t in conditions))
            read = self._read_fields(at, columns)
            if read is None or None in asked:
                continue
            kept = {i for i, a in enumerate(columns) if a.name in read or _stays(a, self.call)}
            needed = frozenset(kept | {i for i in asked if i is not None})
            given = Input(below.children[0], columns, needed)
            yield self._use(below, place, self.loaded.function, given)

    def _read_fields(self, at: int, columns: Sequence[Attribute]) -> Set[str] | None:
        """Return the names of the fields that are read of the argument at this place; None if that
        is not known.
        """
        names = [a.name for a in columns]
        if not names or len(set(names)) < len(names):
            return None
        function, receiver, _ = self.loaded
        if isinstance(function, FunctionType):
            at_function = at + (receiver is not None)
            read = fields_read(function, at_function, names, is_table=self.call.whole)
            if read is not None:
                return read
        meaning = self.meaning
        if meaning is None:
            return None
        struct = meaning.columns[self.call.arguments[at]]
        fields = set(_fields_in(meaning.terms, struct))
        return None if None in fields else {f for f in fields if f is not None}

    def _not_in_meaning(self) -> Set[int]:
        meaning = self.meaning
        if meaning is None:
            return set()
        read = set(variables(*meaning.terms))
        return {i for i, n in enumerate(self.call.arguments) if meaning.columns[n] not in read}

    @cached_property
    def meaning(self) -> _Meaning | None:
        """The meaning of a function of values if it shows no argument in an error, a message
        or an object that the column converts, and none is another function's result; else None.
        """
        made = made_by_python(self.node.children[0], self.view.root)
        if self.call.whole or made is None or not made.isdisjoint(self.call.arguments):
            return None  # Spark may hand on the very object that another function returns
        keys = tuple(dict.fromkeys(self.call.arguments))
        boundary = replace(self.boundary, keys=keys, key_outputs={})
        try:
            handle = self.view.handle(self.node)
            read = read_lifted(self.view.gateway, handle, boundary, self.setting)
        except DeclineSignal:
            return None
        if read.why is not None or read.known or len(read.folds) != 1:
            return None
        (lifted,) = read.folds
        shows = lifted.fold.finish_raises != FALSE or lifted.converted
        shows |= any(a.code == MESSAGES for a in lifted.assumptions)
        if shows or lifted.calls or len(lifted.fold.outputs) < len(self.call.outputs):
            return None
        terms = (*(o.term for o in lifted.fold.outputs), *(a.term for a in lifted.assumptions))
        return _Meaning(terms, input_vars(read.names))


class _Meaning(Struct, frozen=True):
    """All that a function computes or assumes, over the variables of its columns."""

    terms: tuple[Term, ...]
    columns: Mapping[int, Var]


def _fields_in(terms: Iterable[Term], struct: Var) -> Iterator[str | None]:
    """Yield the names of the fields of a struct that terms read, and None for the whole."""
    pending, visited = list(terms), set[int]()
    while pending:
        term = pending.pop()
        match term:
            case App(Op.STRUCT_FIELD, (of, Lit(_, str() as name))) if of in (struct, get(struct)):
                yield name
            case App(Op.IS_NONE, (of,)) if of == struct:
                pass
            case App(_, args) if id(term) not in visited:
                visited.add(id(term))
                pending += args
            case Var() if term == struct:
                yield None


def _fields_asked(condition: Tree, struct: int) -> Iterator[int | None]:
    """Yield the places of the fields of a struct that a condition reads, and None for the whole."""
    for parent, node in pairwise([*condition[:1], *condition]):
        if column_id([node]) == struct:
            yield int(parent["ordinal"]) if parent["class"] == GET else None


def _stays(field: Attribute, call: BoundaryCall) -> bool:
    """Whether a field that is not read must stay as it is: a NULL would be of another type."""
    return field.id < 0 or not field.nullable or (call.whole and field.type not in _OF_ONE_TYPE)


def _struct_columns(column: Tree) -> tuple[Attribute, ...]:
    """Return the fields of a struct that a column builds, with the columns of the input that they
    are; the number of a field that is none is negative. Nothing for another column.
    """
    tree = strip_alias(column)
    if not tree or tree[0]["class"] != CREATE_NAMED_STRUCT.class_name:
        return ()
    parts = child_trees(tree, 0)
    names = [str(name[0].get("value")) for name in parts[::2]]
    return tuple(starmap(_field, zip(names, parts[1::2], strict=True)))


def _field(name: str, value: Tree) -> Attribute:
    column = itself(value)
    if column is None:
        return Attribute(-1, name, "")
    type_ = simple_type(column["dataType"], column.get("metadata"))
    return Attribute(expr_id(column), name, type_, bool(column["nullable"]))


_OF_ONE_TYPE = ("string", "date", "timestamp", "timestamp_ntz", "double")
"""The types of columns whose type in pandas does not depend on whether there is a NULL."""
