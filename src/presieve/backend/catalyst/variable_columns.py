# SPDX-License-Identifier: Apache-2.0
"""Trusted. The columns that the IR's variables stand for, below and above a boundary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from presieve.backend.catalyst.boundary import Boundary
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Column, Fold
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Attribute
from presieve.semantics.types import (
    SchemaColumn,
    column,
    is_key_type,
    row_column,
    row_sort_of,
    sort_of,
)


class InputAttributes(Struct, frozen=True):
    """The attributes of the input that are keys (in order) and those that are columns of rows."""

    keys: tuple[Attribute, ...]
    rows: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]
    key_outputs: dict[int, int]


def distinct(attributes: Iterable[Attribute], where: str) -> None:
    """Decline if two columns have the same name, ignoring case (Spark's default)."""
    names_seen: set[str] = set()
    for attribute in attributes:
        folded = attribute.name.upper().lower()
        if folded in names_seen:
            reason = f"two columns {where} are called {attribute.name!r}; rename one of them"
            raise DeclineSignal("ambiguous-name", reason)
        names_seen.add(folded)


def _outputs_by_name(boundary: Boundary) -> tuple[Attribute, ...]:
    """Return the outputs, whose names differ. Of what a projection passes on beside its functions,
    as of both sides of a join, columns of one name are left out: nothing is asked of them.
    """
    if boundary.kind != "Project":
        distinct(boundary.outputs, "of the function's result")
        return boundary.outputs
    repeated = repeated_names(boundary)
    for number in boundary.computed | boundary.key_outputs.keys():
        if number in repeated:
            raise DeclineSignal.of(repeated[number])
    return tuple(a for a in boundary.outputs if a.id not in repeated)


def repeated_names(boundary: Boundary) -> dict[int, Declined]:
    """Return the outputs that have the name of another one, with the reason that says so."""
    times = Counter(a.name.upper().lower() for a in boundary.outputs)
    return {
        a.id: Declined(
            "ambiguous-name", f"two columns are called {a.name!r} here; rename one of them"
        )
        for a in boundary.outputs
        if times[a.name.upper().lower()] > 1
    }


def read_names(boundary: Boundary) -> InputAttributes:
    """Read the columns that matter to a boundary. Raises :class:`DeclineSignal`."""
    by_id = {a.id: a for a in boundary.inputs}
    used = dict.fromkeys([*boundary.keys, *(i for c in boundary.calls for i in c.arguments)])
    missing = [i for i in used if i not in by_id]
    if missing:
        raise DeclineSignal("plan-shape", "a function reads a column that its input does not have")
    distinct((by_id[i] for i in used), "that the function reads")
    outputs = _outputs_by_name(boundary)
    # If each row is a group of its own, it does not matter which values are equal.
    known_sort = row_sort_of if boundary.single else sort_of
    fit = [k for k in boundary.keys if known_sort(by_id[k].type) is not None]
    keys = tuple(by_id[k] for k in fit if boundary.single or is_key_type(by_id[k].type))
    names = {k.id for k in keys}
    return InputAttributes(
        keys=keys,
        rows=tuple(by_id[i] for i in used if i not in names),
        outputs=outputs,
        key_outputs={out: key for out, key in boundary.key_outputs.items() if key in names},
    )


def schema_column(attribute: Attribute) -> SchemaColumn:
    """Return the attribute as a column for lifting."""
    return SchemaColumn(attribute.name, attribute.type, attribute.nullable)


def key_columns(names: InputAttributes) -> tuple[Column, ...]:
    """Return the grouping columns as columns of the IR."""
    columns = (row_column(k.name, k.type, k.nullable) for k in names.keys)
    return tuple(c for c in columns if c is not None)


def input_vars(names: InputAttributes) -> dict[int, Var]:
    """Map the input's attributes to their variables of ROW and KEY."""
    scopes = [(k, Scope.KEY) for k in names.keys] + [(r, Scope.ROW) for r in names.rows]
    typed = {Scope.KEY: row_column, Scope.ROW: column}
    columns = ((a, scope, typed[scope](a.name, a.type, a.nullable)) for a, scope in scopes)
    return {a.id: Var(scope, c.name, c.sort) for a, scope, c in columns if c is not None}


def output_vars(names: InputAttributes, fold: Fold) -> dict[int, Var]:
    """Map the output attributes to their variables of OUT and KEY."""
    keys = {k.id: v for k, v in zip(names.keys, key_columns(names), strict=True)}
    by_name = {o.name: o for o in fold.outputs}
    variables_by_id: dict[int, Var] = {}
    for attribute in names.outputs:
        if attribute.id in names.key_outputs:
            key = keys[names.key_outputs[attribute.id]]
            variables_by_id[attribute.id] = Var(Scope.KEY, key.name, key.sort)
        elif attribute.name in by_name:
            output = by_name[attribute.name]
            variables_by_id[attribute.id] = Var(Scope.OUT, output.name, output.sort)
    return variables_by_id


def above(names: InputAttributes, fold: Fold, residual: Term) -> tuple[Term, dict[int, Var]]:
    """Rename every variable of the residual to the column that holds it above the boundary.

    Also returns the attributes of those columns. Raises :class:`DeclineSignal` if the residual
    reads a grouping column that is not among the outputs.
    """
    named = {a.id: a.name for a in names.outputs}
    shown = {v: Var(v.scope, named[i], v.sort) for i, v in output_vars(names, fold).items()}
    for var in variables(residual):
        if var not in shown:
            raise DeclineSignal(
                "residual-column", f"the residual reads {var.name!r}, which is not an output column"
            )
    attributes = {i: shown[v] for i, v in output_vars(names, fold).items()}
    return rewrite(residual, lambda v: shown[v]), attributes
