# SPDX-License-Identifier: Apache-2.0
"""Trusted. From one row's step to a fold: the variables that live across rows, and their sorts.

The sorts are the least ones that hold the initial values and that a step preserves. They are found
by running the step on ever larger sorts until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.fold import Field
from presieve.ir.ops import app
from presieve.ir.sorts import INT
from presieve.ir.terms import Op, Scope, Term, Var, int_lit
from presieve.ir.walk import variables
from presieve.lift.execution.heap import frozen_variables
from presieve.lift.execution.state import (
    SIZE_FIELD,
    Exit,
    Flow,
    SymbolicMachine,
    merge_choices,
    merge_envs,
    path_conditions,
)
from presieve.lift.values.join_values import merge
from presieve.lift.values.state_fields import (
    Shape,
    field_terms,
    join_shapes,
    leaves,
    shape_of,
    symbol,
)
from presieve.lift.values.symbolic import OTHER, UNSETTLED, Value, mixed_types_signal

_ROUNDS = 20
"""Maximum rounds of the search for sorts; each enlarges a sort, and sorts have few levels."""

Step = Callable[[Mapping[str, Value]], tuple[Mapping[str, Value], Term]]
"""Maps the variables before a row to those after it, and to the condition under which it raises."""


class Loop(Struct, frozen=True):
    """A finished loop: its fields, when a row raises, and the variables after it, over ACC."""

    fields: tuple[Field, ...]
    raises: Term
    after: dict[str, Value]


def run_loop(initial: Mapping[str, Value], step: Step, names: Mapping[str, str]) -> Loop:
    """Return the fold of ``step`` over the rows from ``initial``.

    ``names`` gives the components of tuples names from the code that unpacks them. Declines
    ``mixed-types``, ``row-in-state``.
    """
    shapes = {name: shape_of(value) for name, value in initial.items()}
    for _ in range(_ROUNDS):
        fields = _field_names(shapes, names)
        start = {n: symbol(s, list(fields[n])) for n, s in shapes.items()}
        end, raises = step(start)
        grown = {n: _grow(n, s, end[n]) for n, s in shapes.items()}
        if grown == shapes:
            break
        shapes = grown
    else:
        raise DeclineSignal("mixed-types", "the types of the variables do not converge")
    built = tuple(
        Field(name, sort, init, stepped)
        for n, shape in shapes.items()
        for name, (_, sort), init, stepped in zip(
            fields[n],
            leaves(shape, n),
            field_terms(initial[n], shape),
            field_terms(end[n], shape),
            strict=True,
        )
    )
    built = tuple(f for f in built if OTHER not in f.name)
    check_fields([f.name for f in built], raises, *(f.step for f in built))
    return Loop(built, raises, dict(start))


def check_fields(fields: Iterable[str], *terms: Term) -> None:
    """Decline ``mixed-types`` if the bits of a variable without flags are used, and ``mutation`` if
    something depends on items of a dict under untracked keys.
    """
    field_names = {*fields, SIZE_FIELD}
    for v in variables(*terms):
        if v.scope is Scope.ACC and OTHER in v.name:
            reason = "it depends on what a dict holds under keys that are not constant"
            raise DeclineSignal("mutation", f"{reason}: ask for constants only")
        if v.scope is Scope.ACC and v.name not in field_names:
            name = v.name.partition(UNSETTLED)[0]
            raise mixed_types_signal(
                f"{name} is used as bit flags, and as a number that may be any"
            )


def _grow(name: str, shape: Shape, value: Value) -> Shape:
    try:
        return join_shapes(shape, shape_of(value))
    except DeclineSignal as signal:
        reason = f"variable {name}: {signal.declined.reason}"
        raise signal.saying(reason, signal.declined.span) from signal


def _field_names(shapes: Mapping[str, Shape], names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return distinct names for each variable's fields: the short ones if they are unique."""
    full = {n: [leaf for leaf, _ in leaves(s, n)] for n, s in shapes.items()}
    wanted = [names.get(leaf, leaf) for each in full.values() for leaf in each]
    unique = len(set(wanted)) == len(wanted) and SIZE_FIELD not in wanted
    if not unique:
        return full
    return {n: [names.get(leaf, leaf) for leaf in each] for n, each in full.items()}


def merge_exits(m: SymbolicMachine, exits: Sequence[Exit], flow: Flow) -> dict[str, Value]:
    """Return the variables after a block, from the paths that left it early and the other."""
    paths = [e.flow for e in exits]
    if not flow.ended:
        paths.append(flow)
    if not paths:
        raise m.decline("always-raises", "every row raises an error", m.source.node)
    envs = [frozen_variables(m, path, m.source.node) for path in paths]
    return merge_choices(path_conditions(paths), envs, merge_envs)


def merge_values(m: SymbolicMachine, exits: Sequence[Exit]) -> Value:
    """Return the value that a function returns, from all its paths."""
    if not exits:
        raise m.decline(
            "always-raises", "every path of the function raises an error", m.source.node
        )
    return merge_choices(path_conditions([e.flow for e in exits]), [e.value for e in exits], merge)


def count_rows() -> Field:
    """Return the field that counts rows."""
    one_more = app(Op.INT_ADD, Var(Scope.ACC, SIZE_FIELD, INT), int_lit(1))
    return Field(SIZE_FIELD, INT, int_lit(0), one_more)


def live_fields(fields: Sequence[Field], roots: Iterable[Term]) -> tuple[Field, ...]:
    """Return the fields that the given terms depend on, also through steps of other fields."""
    by_name = {f.name: f for f in fields}
    live_names: set[str] = set()
    waiting = [v.name for v in variables(*roots) if v.scope is Scope.ACC]
    while waiting:
        name = waiting.pop()
        if name not in live_names:
            live_names.add(name)
            step = by_name[name].step
            waiting += [v.name for v in variables(step) if v.scope is Scope.ACC]
    return tuple(f for f in fields if f.name in live_names)
