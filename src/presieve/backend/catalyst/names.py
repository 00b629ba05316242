"""Trusted. Which columns the IR's variables are, below and above a boundary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from presieve.backend.catalyst.boundary import Boundary
from presieve.errors import DeclineSignal
from presieve.ir.fold import Column, Fold
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Attribute
from presieve.semantics.types import SchemaColumn, column, decimal_type, sort_of

KEY_TYPES = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "string", "binary", "date"),
    *("timestamp", "timestamp_ntz"),
)
"""Types on which grouping is equality. Decimals besides. Not doubles: Spark makes one group
of 0.0 and -0.0, and shows it under either. A grouping column of another type is like any other
column to a proof: nothing is assumed of its values in a group.
"""


def is_key_type(type_: str) -> bool:
    """Whether grouping by columns of the type is equality."""
    return type_ in KEY_TYPES or decimal_type(type_) is not None


@dataclass(frozen=True, slots=True)
class Names:
    """Attributes of the input that are keys (in order) and those that are columns of rows."""

    keys: tuple[Attribute, ...]
    rows: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]
    key_outputs: dict[int, int]


def distinct(attributes: Iterable[Attribute], where: str) -> None:
    """Decline where two columns differ in nothing but case, or not at all (Spark's default)."""
    seen: set[str] = set()
    for attribute in attributes:
        folded = attribute.name.upper().lower()
        if folded in seen:
            reason = f"two columns {where} are called {attribute.name!r}; rename one of them"
            raise DeclineSignal("ambiguous-name", reason)
        seen.add(folded)


def read_names(boundary: Boundary) -> Names:
    """The columns that matter to a boundary. Raises :class:`DeclineSignal`."""
    by_id = {a.id: a for a in boundary.inputs}
    used = dict.fromkeys([*boundary.keys, *(i for c in boundary.calls for i in c.arguments)])
    missing = [i for i in used if i not in by_id]
    if missing:
        raise DeclineSignal("plan-shape", "a function reads a column that its input does not have")
    distinct((by_id[i] for i in used), "that the function reads")
    distinct(boundary.outputs, "of the function's result")
    # Where each row is a group of its own, it does not matter what is equal to what.
    fit = [k for k in boundary.keys if sort_of(by_id[k].type) is not None]
    keys = tuple(by_id[k] for k in fit if boundary.single or is_key_type(by_id[k].type))
    names = {k.id for k in keys}
    return Names(
        keys=keys,
        rows=tuple(by_id[i] for i in used if i not in names),
        outputs=boundary.outputs,
        key_outputs={out: key for out, key in boundary.key_outputs.items() if key in names},
    )


def schema_column(attribute: Attribute) -> SchemaColumn:
    """The attribute as lifting wants it."""
    return SchemaColumn(attribute.name, attribute.type, attribute.nullable)


def key_columns(names: Names) -> tuple[Column, ...]:
    """The grouping columns as columns of the IR."""
    found = (column(k.name, k.type, k.nullable) for k in names.keys)
    return tuple(c for c in found if c is not None)


def input_vars(names: Names) -> dict[int, Var]:
    """From the input's attributes to the variables of ROW and KEY that they are."""
    scopes = [(k, Scope.KEY) for k in names.keys] + [(r, Scope.ROW) for r in names.rows]
    found = ((a, scope, column(a.name, a.type, a.nullable)) for a, scope in scopes)
    return {a.id: Var(scope, c.name, c.sort) for a, scope, c in found if c is not None}


def output_vars(names: Names, fold: Fold) -> dict[int, Var]:
    """From the output attributes to the variables of OUT and KEY that they are."""
    keys = {k.id: v for k, v in zip(names.keys, key_columns(names), strict=True)}
    by_name = {o.name: o for o in fold.outputs}
    found: dict[int, Var] = {}
    for attribute in names.outputs:
        if attribute.id in names.key_outputs:
            key = keys[names.key_outputs[attribute.id]]
            found[attribute.id] = Var(Scope.KEY, key.name, key.sort)
        elif attribute.name in by_name:
            output = by_name[attribute.name]
            found[attribute.id] = Var(Scope.OUT, output.name, output.sort)
    return found


def above(names: Names, fold: Fold, residual: Term) -> tuple[Term, dict[int, Var]]:
    """The residual with every variable called as the column is that holds it above the boundary.

    Also the attributes of those columns. Raises :class:`DeclineSignal` where a grouping column
    that the residual reads is not among the outputs.
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
