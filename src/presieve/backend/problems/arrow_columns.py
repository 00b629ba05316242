# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which columns a function of Arrow batches needs.

Lemma: lifting says what a function of single rows returns for a table. If it says the same for a
table of all columns and for one of fewer, the function returns the same for both. It reads the
columns that its result is computed from or that it passes on, so these are tried; a function that
counts columns or takes them by number says something else, or is declined.
"""

from __future__ import annotations

from presieve.backend.catalyst.boundary import Boundary
from presieve.backend.catalyst.table_functions import lift_or_decline, request_of
from presieve.backend.catalyst.variable_columns import read_names
from presieve.backend.gateway import Gateway
from presieve.backend.problems.setting import PlanSetting
from presieve.dataflow.analysis import Dataflow
from presieve.errors import DeclineSignal
from presieve.ir.terms import Var
from presieve.ir.walk import variables
from presieve.lift.forms import Lifted, RowsFunction
from presieve.records import replace
from presieve.semantics.assumptions import OPTIONAL
from presieve.semantics.smart_constructors import unwrap_option


def read_arrow_columns(
    gateway: Gateway, function: object, boundary: Boundary, setting: PlanSetting
) -> Dataflow:
    """Return the columns that a function of Arrow batches reads. Raises :class:`DeclineSignal` if
    it does not treat each row by itself, or if that rests on what is assumed of the data.
    """
    single = replace(boundary, keys=tuple(a.id for a in boundary.inputs), single=True)
    form = RowsFunction(
        takes_key=False, batches=True, arrow=True, by_column=gateway.version.by_column
    )
    request = request_of(single, read_names(single), setting)
    lifted = lift_or_decline(function, form, request)
    if any(a.code not in OPTIONAL for a in lifted.assumptions):
        raise DeclineSignal("operator", "what the function returns rests on what is assumed")
    fold = lifted.fold
    terms = (fold.finish_raises, lifted.kept, *(o.term for o in fold.outputs))
    shown = {o.name for o in fold.outputs}
    read = {v.name for v in variables(*terms)}
    read |= {c.name for c in request.returns if c.name not in shown}  # passed on as it is
    fewer = replace(
        request,
        schema=tuple(c for c in request.schema if c.name in read),
        keys=tuple(k for k in request.keys if k in read),
    )
    if _meaning(lifted) != _meaning(lift_or_decline(function, form, fewer)):
        raise DeclineSignal("operator", "the function counts its columns, or takes some by number")
    passed = ((o.name, unwrap_option(o.term)) for o in fold.outputs)
    passes = {name: term.name for name, term in passed if isinstance(term, Var)}
    return Dataflow({}, frozenset(read), None, passes, (), ())


def _meaning(lifted: Lifted) -> object:
    fold = lifted.fold
    return fold.outputs, fold.finish_raises, lifted.kept, lifted.assumptions
