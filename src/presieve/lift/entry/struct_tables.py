# SPDX-License-Identifier: Apache-2.0
"""Trusted. Structs that scalar pandas UDFs get as tables, which have the fields as columns.

The fields are read as if they were columns of the input, and in what was lifted each of them is
replaced by the field of its struct, which is NULL where the struct is NULL.

Sources, pyspark 4.3.0: ``ArrowArrayToPandasConversion`` in ``sql/conversion.py``, with
``df_for_struct``: the fields of ``arr.flatten()`` become the columns of a table. They are converted
as those of a batch of ``mapInPandas`` (:mod:`presieve.lift.entry.row_map`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import StructOf, strip
from presieve.ir.terms import Op, Scope, Term, Var, string_lit
from presieve.ir.walk import substitute
from presieve.lift.forms import Lifted, LiftRequest
from presieve.lift.values.symbolic import Value
from presieve.lift.values.whole_columns import GIVEN, TABLE, FrameV, SeriesV
from presieve.records import replace
from presieve.semantics.assumptions import restate
from presieve.semantics.types import (
    UNSUPPORTED,
    SchemaColumn,
    parts_of,
    row_column,
    row_sort_of,
)


class SpreadArguments(Struct, frozen=True):
    """The arguments of a pandas UDF, and the request in which fields stand for their structs.
    ``fields``: what each of these columns is. ``tables``: the fields of each struct.
    """

    request: LiftRequest
    arguments: tuple[Value, ...]
    fields: Mapping[Var, Term]
    tables: tuple[tuple[SchemaColumn, ...], ...] = ()

    def restore(self, lifted: Lifted, request: LiftRequest) -> Lifted:
        """Return what was lifted, as a function of the structs of the original request."""
        if not self.fields:
            return lifted

        def meaning(term: Term) -> Term:
            return substitute(term, self.fields)

        fold = lifted.fold
        types = {c.name: c for c in request.schema}
        keys = (row_column(n, types[n].type, types[n].nullable) for n in request.keys)
        outputs = tuple(replace(o, term=meaning(o.term)) for o in fold.outputs)
        fold = replace(fold, keys=tuple(k for k in keys if k is not None), outputs=outputs)
        fold = replace(fold, finish_raises=meaning(fold.finish_raises))
        assumptions = tuple(restate(a, meaning) for a in lifted.assumptions)
        return replace(lifted, fold=fold, assumptions=assumptions)


def spread_structs(request: LiftRequest, names: tuple[str, ...]) -> SpreadArguments:
    """Return the arguments of a pandas UDF that is called with these columns.

    Declines ``column-type`` if fields have the names of other columns that it gets.
    """
    types = {c.name: c for c in request.schema}
    structs = {n: c for n in names if isinstance(row_sort_of((c := types[n]).type), StructOf)}
    tables = tuple(map(_fields_of, structs.values()))
    schema = (*(types[n] for n in dict.fromkeys(names) if n not in structs), *chain(*tables))
    labels = tuple(c.name for c in schema)
    if structs and len(set(labels)) < len(labels):
        reason = "several of the columns and fields that the function gets have the same name"
        raise DeclineSignal("column-type", reason)
    arguments = tuple[Value, ...](
        FrameV(tuple(c.name for c in _fields_of(structs[n])), TABLE)
        if n in structs
        else SeriesV(n, GIVEN)
        for n in names
    )
    if not structs:
        return SpreadArguments(request, arguments, {})
    values = {n: v for n, v in request.extent.values.items() if n in labels and n in names}
    extent = replace(request.extent, values=values)
    inner = replace(request, schema=schema, keys=labels, extent=extent)
    fields = {v: t for c in structs.values() for v, t in _meanings(c)}
    return SpreadArguments(inner, arguments, fields, tables)


def _fields_of(struct: SchemaColumn) -> tuple[SchemaColumn, ...]:
    parts = parts_of(struct.type)
    assert parts is not None
    types = ((name, t if row_sort_of(t) else UNSUPPORTED + t) for name, t in parts[1].items())
    return tuple(SchemaColumn(name, type_) for name, type_ in types)


def _meanings(struct: SchemaColumn) -> list[tuple[Var, Term]]:
    """Return the fields of known types as columns, and what they are."""
    given = row_column(struct.name, struct.type, struct.nullable)
    assert given is not None
    of = strip(given.sort)
    assert isinstance(of, StructOf)
    struct_var = Var(Scope.KEY, given.name, given.sort)
    meanings: list[tuple[Var, Term]] = []
    for field in _fields_of(struct):
        known = row_column(field.name, field.type, True)
        meant = app(Op.STRUCT_FIELD, struct_var, string_lit(field.name))
        if known is not None and known.sort == meant.sort:
            meanings.append((Var(Scope.KEY, known.name, known.sort), meant))
    return meanings
