# SPDX-License-Identifier: Apache-2.0
"""Trusted. The meaning of column names over the operators that an expression stands on.

Names are resolved as in Spark 4.3. Names that are neither columns of the relation nor fields in
them (columns that a projection left out) decline. Sources: ``UnresolvedAttribute``,
``AttributeSeq`` and ``ColumnResolutionHelper``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from presieve.backend.connect.resolved_plan import (
    UNKNOWN,
    Expression,
    Operator,
    ResolvedColumn,
    inside,
)
from presieve.errors import DeclineSignal
from presieve.ir.terms import Var
from presieve.plan.algebra import struct_id, variable_of
from presieve.sql.quoted_names import join_names

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


class OperatorScope(Struct, frozen=True):
    """The operators that an expression reads, and the session's time zone."""

    operators: tuple[Operator, ...]
    timezone: str

    @property
    def fields(self) -> tuple[ResolvedColumn, ...]:
        """All columns."""
        return tuple(f for o in self.operators for f in o.output)

    def field(self, number: int) -> ResolvedColumn:
        """Return the column, or field of a struct, with this number, which must exist here."""
        column = next(f for f in self.fields if f.id == struct_id(number))
        if number == column.id:
            return column
        return next(f for f in inside(column).values() if f.id == number)

    def find_field(self, expression: Expression) -> ResolvedColumn:
        """Return the field of ``column.getField(name)``. Raises :class:`DeclineSignal`."""
        value = expression.unresolved_extract_value
        if (
            value.child.WhichOneof("expr_type") != "unresolved_attribute"
            or value.extraction.WhichOneof("expr_type") != "literal"
            or value.extraction.literal.WhichOneof("literal_type") != "string"
        ):
            raise DeclineSignal("sql-unsupported", "only fields of structs are extracted")
        column = self.find(value.child.unresolved_attribute)
        return _inside(column, str(value.extraction.literal.string))

    def find(self, attribute: Expression) -> ResolvedColumn:
        """Return the column of an ``UnresolvedAttribute``. Raises :class:`DeclineSignal`."""
        name = str(attribute.unparsed_identifier)
        if attribute.is_metadata_column:
            raise DeclineSignal("sql-unsupported", f"{name} is a metadata column")
        if attribute.HasField("plan_id"):
            ids = self._numbers(int(attribute.plan_id), name)
            candidates = tuple(f for f in self.fields if f.id in ids)
        else:
            candidates = matching(self.fields, parts_of(name), name)
        if not candidates:
            names = ", ".join(f.name for f in self.fields) or "none"
            reason = f"there is no column {name}; the columns are: {names}"
            raise DeclineSignal("unknown-column", reason)
        if len(candidates) > 1:
            raise DeclineSignal("ambiguous-column", f"{name} is more than one column")
        return candidates[0]

    def _numbers(self, plan_id: int, name: str) -> set[int]:
        return {i for o in self.operators for i in _numbers(o, plan_id, name)}

    def names(self) -> dict[str, Var]:
        """Return the columns that proofs can express, by their names in SQL text."""
        return _unambiguous([(f.name, f) for f in self.fields])

    def all_names(self) -> dict[str, Var]:
        """Return the same, and the unambiguous names with a relation or a struct in front."""
        plain = {name: v for name, v in self.names().items() if "`.`" not in name}
        longer = [(join_names(f.qualifier, f.name), f) for f in self.fields if f.qualifier]
        hidden = {fold(f.name) for f in self.fields if f.qualifier == UNKNOWN}
        for column in self.fields:
            if sum(fold(f.name) == fold(column.name) for f in self.fields) == 1:
                struct_fields = inside(column).items()
                longer += [
                    (join_names(column.name, n), f)
                    for n, f in struct_fields
                    if fold(n) not in hidden
                ]
        return _unambiguous(longer) | plain


def _unambiguous(named: Sequence[tuple[str, ResolvedColumn]]) -> dict[str, Var]:
    """Return the columns with unique names and of types that proofs can express."""
    folded = [fold(name) for name, _ in named]
    variables = {}
    for (name, field), key in zip(named, folded, strict=True):
        variable = variable_of(field.attribute) if folded.count(key) == 1 else None
        if variable is not None:
            variables[name] = variable
    return variables


def _inside(column: ResolvedColumn, name: str) -> ResolvedColumn:
    matches = [f for n, f in inside(column).items() if fold(n) == fold(name)]
    if len(matches) != 1:
        reason = f"{column.name}.{name} is not supported: only plain columns and fields of structs"
        raise DeclineSignal("sql-unsupported", reason)
    return matches[0]


def fold(name: str) -> str:
    """Return a name without regard to case, as Spark compares names by default."""
    return name.upper().lower()


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of ``a.b`` or ```a.b```. Raises :class:`DeclineSignal` for other texts."""
    parts: list[str] = []
    at = 0
    while True:
        match = _PART.match(name, at)
        if match is None:
            raise DeclineSignal("sql-syntax", f"{name!r} is not a column name")
        parts.append(match[1].replace("``", "`") if match[1] is not None else match[2])
        at = match.end()
        if at == len(name):
            return tuple(parts)
        if name[at] != ".":
            raise DeclineSignal("sql-syntax", f"{name!r} is not a column name")
        at += 1


def matching(
    fields: tuple[ResolvedColumn, ...], parts: tuple[str, ...], name: str
) -> tuple[ResolvedColumn, ...]:
    """Return the columns of the name: of the relation that qualifies it, or else the field of a
    struct. Raises :class:`DeclineSignal`.
    """
    *qualifiers, last = (fold(p) for p in parts)
    if not qualifiers:
        return tuple(f for f in fields if fold(f.name) == last)
    if len(qualifiers) > 1:
        raise DeclineSignal("sql-unsupported", f"{name} is not supported: only plain columns")
    columns = tuple(
        f for f in fields if fold(f.name) == last and fold(f.qualifier) == qualifiers[0]
    )
    structs = tuple(f for f in fields if fold(f.name) == qualifiers[0])
    if not structs:
        return columns
    hidden = any(fold(f.name) == last and f.qualifier == UNKNOWN for f in fields)
    if columns or hidden or len(structs) > 1:
        reason = f"{name} is a column of a relation and a field of a struct, or one of several"
        raise DeclineSignal("ambiguous-column", reason)
    return (_inside(structs[0], last),)


def _numbers(operator: Operator, plan_id: int, name: str) -> Iterator[int]:
    """Yield the numbers that the column has in the operator's output, once for each way to it."""
    output = {f.id for f in operator.output}
    if operator.plan_id == plan_id:
        columns = matching(operator.output, parts_of(name), name)
        if len({f.id for f in columns}) > 1:
            raise DeclineSignal("ambiguous-column", f"{name} is more than one column")
        yield from (f.id for f in columns[:1])
        return
    for child in operator.children:
        for number in _numbers(child, plan_id, name):
            output_number = operator.renumbered.get(number, number)
            if output_number in output:
                yield output_number
