"""Trusted. ``merge(a, b)`` of an aggregator, over the states of its lifted fold.

The states of the fold are those of ``a`` (ACC); those of ``b`` have the same names, as TWIN.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType

from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Assumption, Fold
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.lift.entry.row_class import RowMethod, instance, state_loop
from presieve.lift.execution.row_loop import merge_values
from presieve.lift.execution.stage import Stage
from presieve.lift.forms import LiftRequest
from presieve.lift.models.builtins.sets import UntrackedSignal
from presieve.lift.python.zones import Zone
from presieve.lift.values.columns import LiftedColumns
from presieve.lift.values.state_fields import (
    Shape,
    field_terms,
    join_shapes,
    leaves,
    shape_of,
    symbol,
)
from presieve.lift.values.symbolic import Value

_OTHER = "merged:"


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged state, a term for each field of the fold in order; when ``merge`` raises; and its
    assumptions besides those of the fold.
    """

    fields: tuple[Term, ...]
    raises: Term
    assumptions: tuple[Assumption, ...]


def lift_merge(obj: object, request: LiftRequest, fold: Fold) -> Merge | Declined:
    """Lift ``merge`` of the aggregator whose rows were lifted to ``fold`` with the same request.

    Declined with the codes of :mod:`presieve.lift.codes` if it is not understood exactly.
    """
    try:
        return _lift_merge(instance(obj), request, fold)
    except UntrackedSignal:
        return Declined("unsupported-operation", "merge(a, b) of sets that distinguish constants")
    except DeclineSignal as signal:
        return signal.declined
    except RecursionError:
        return Declined("unsupported-expression", "merge is nested too deeply to be analysed")


def has_merge(obj: object) -> bool:
    """Return whether the aggregator has a ``merge`` of its own: the base class's only raises."""
    member = inspect.getattr_static(obj, "merge", None)
    function = getattr(member, "__func__", member)
    return isinstance(function, FunctionType) and function.__module__ != "presieve.aggregator"


def _lift_merge(obj: object, request: LiftRequest, fold: Fold) -> Merge:
    columns = LiftedColumns(request, False, Zone(request.timezone))
    _, _, _, loop = state_loop(obj, columns)
    old_assumptions = set(columns.recorded.assumptions)
    method = RowMethod(obj, "merge", columns)
    m = method.machine
    fields_by_name = {f.name: f for f in loop.fields}
    if any(fields_by_name.get(f.name) != f for f in fold.fields):
        raise m.decline("mixed-types", "merge returns other states than reduce", m.source.node)
    state = loop.after["acc"]
    shape = shape_of(state)
    names = [f.name for f in loop.fields]
    if len(leaves(shape, "acc")) != len(names):
        raise m.decline("mutation", "merge of dicts with keys that are not constant", m.source.node)
    twin_state = symbol(shape, [_OTHER + n for n in names])
    value = merge_values(m, method.run((state, twin_state), Stage.LOOP))
    if not _holds(shape, value, names):
        reason = "merge(a, b) returns states of other types than reduce(acc, row)"
        raise m.decline("mixed-types", reason, m.source.node)
    terms = {n: _twin(t) for n, t in zip(names, field_terms(value, shape), strict=True)}
    merged, raises = tuple(terms[f.name] for f in fold.fields), _twin(m.raised())
    _check_variables(method, fold, (*merged, raises))
    facts = (a for key, a in columns.recorded.assumptions.items() if key not in old_assumptions)
    return Merge(merged, raises, tuple(facts))


def _holds(shape: Shape, value: Value, names: list[str]) -> bool:
    """Return whether states of this shape, with these names, hold the value as it is."""
    joined = join_shapes(shape, shape_of(value))
    return (
        leaves(joined, "acc") == leaves(shape, "acc")
        and shape_of(symbol(joined, list(names))) == shape
    )


def _twin(term: Term) -> Term:
    def to_twin(v: Var) -> Term:
        mine = v.scope is Scope.ACC and v.name.startswith(_OTHER)
        return Var(Scope.TWIN, v.name.removeprefix(_OTHER), v.sort) if mine else v

    return rewrite(term, to_twin)


def _check_variables(method: RowMethod, fold: Fold, terms: Sequence[Term]) -> None:
    """Decline terms over other variables than the fold's own fields: fields that no output depends
    on are missing.
    """
    live = {f.name for f in fold.fields}
    for v in variables(*terms):
        if v.scope not in (Scope.ACC, Scope.TWIN) or v.name not in live:
            reason = f"merge(a, b) looks at {v.name}, on which no output depends"
            node = method.machine.source.node
            raise method.machine.decline("unsupported-operation", reason, node)
