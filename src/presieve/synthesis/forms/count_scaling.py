# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Filters that count far, as filters that count to two or four.

``times > 7 AND prices > 18`` accepts no table of fewer than 27 rows, and the search learns from
short tables. A counter is an integer of the state to which steps add constants. The constants that
it is compared with are scaled down, in order and with room between them, and the search runs on the
scaled problem. Its samples speak for the original one: a leaf ``times > 7`` there is ``times > 2``
here. Proofs are of the original problem, so scaling can only miss something.

A sum of columns is scaled on request, to a few of the largest constants that its columns meet: a
sum of amounts up to 100 reaches a million after ten thousand rows only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product
from math import gcd
from typing import NamedTuple, TypeAlias

from presieve.ir.fold import Problem, state_vars
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, lit, literal_value
from presieve.ir.walk import subterms, variables
from presieve.ir.wellformed import output_var
from presieve.records import replace
from presieve.semantics.fast_interpreter import State
from presieve.semantics.values import Value, same
from presieve.synthesis.sampling.concrete_tables import Finding, NeededRow, difference, needs_near
from presieve.synthesis.sampling.space import Space
from presieve.universe.boxes import Cell
from presieve.universe.value_classes import COMPARISONS, Classes, flow

SHORT = 4
"""Counts up to this one are reached by short tables."""

LONGEST = 3000
"""The maximum number of rows of a witness."""

WAYS = 12
"""The number of rows whose repetition is tried, for one way of reading a table."""

_Number: TypeAlias = int | float
_Scale: TypeAlias = Mapping[_Number, _Number]
"""Maps the constants of a counter to the scaled ones: strictly increasing, zero to zero."""


@dataclass(frozen=True)
class CountScaling:
    """The scaled problem, and how its constants stand for those of the original one.

    ``scales`` has the counters of the state, and all other variables that meet their values.
    """

    original: Problem
    problem: Problem
    scales: Mapping[Var, _Scale]

    def term(self, term: Term) -> Term:
        """Rewrite a term of the original problem for the scaled one."""
        return _scale_term(term, self.scales, None)

    def unscale_witness(self, space: Space, scaled: Space, need: NeededRow) -> NeededRow | None:
        """Turn a witness of the scaled problem into one of the original problem, whose space is
        ``space``. None if that takes more than :data:`LONGEST` rows, or shows nothing.
        """
        for longer in self.repetitions(space, scaled, need):
            if difference(space, longer.table, longer.key, longer.index) == "result":
                return longer
        return None

    def repetitions(self, space: Space, scaled: Space, need: NeededRow) -> Iterator[NeededRow]:
        """Repeat rows of the table until the counters have gone as far as the original constants
        ask for, in each way of reading them, if that takes at most :data:`LONGEST` rows.
        """
        end = scaled.machine.run(need.table, need.key)
        if end is None:
            return
        fields = state_vars(self.original.fold, Scope.ACC)
        # Sums of doubles round, so they are no goals; they follow the counters. One that ends
        # without a number has none to reach.
        counters = [
            (i, self.scales[v], end[i])
            for i, v in enumerate(fields)
            if v in self.scales and strip(v.sort) == INT and end[i] is not None
        ]
        for above in product((True, False), repeat=len(counters)):
            goals = [
                _Goal(i, _original_count(s, v, a), a)
                for (i, s, v), a in zip(counters, above, strict=True)
            ]
            yield from islice(_repeat_rows(space, need, goals), WAYS)


def _original_count(scale: _Scale, value: Value, above: bool) -> int:
    """The number that is as far above the original constant as ``value`` is above the scaled one,
    or as far below the next.
    """
    assert isinstance(value, int)
    offsets = [(int(new), int(old - new)) for old, new in scale.items()]
    if above:
        return value + max(((n, d) for n, d in offsets if n <= value), default=min(offsets))[1]
    return value + min(((n, d) for n, d in offsets if n >= value), default=max(offsets))[1]


class _Goal(NamedTuple):
    """The value that a field should end with, or the nearest possible one ``above`` or below it."""

    field: int
    value: int
    above: bool


def _repeat_rows(space: Space, need: NeededRow, goals: Sequence[_Goal]) -> Iterator[NeededRow]:
    """Yield tables with rows repeated so that these fields reach their goals."""

    def extend_counts(
        counts: Sequence[int], remaining_goals: Sequence[_Goal]
    ) -> Iterator[Sequence[int]]:
        if sum(counts) > LONGEST:
            return
        if not remaining_goals:
            yield counts
            return
        goal, *others = remaining_goals
        choices = _repeatable(space, need, counts, goal)
        if choices == []:
            yield from extend_counts(counts, others)
        for _, row, repeats in sorted(choices or ()):
            yield from extend_counts(
                [n + repeats * (i == row) for i, n in enumerate(counts)], others
            )

    for counts in extend_counts([1] * len(need.table), goals):
        rows = tuple(r for r, n in zip(need.table, counts, strict=True) for _ in range(n))
        yield NeededRow(rows, need.key, sum(counts[: need.index]))


def _repeatable(
    space: Space, need: NeededRow, counts: Sequence[int], goal: _Goal
) -> list[tuple[tuple[bool, int, bool], int, int]] | None:
    """The rows whose repetition takes a field to its goal, with the number of repetitions; rows
    that hit the goal and change least come first. Empty if the field is there already, None if no
    row does it.
    """
    machine, field = space.machine, goal.field
    state: State | None = machine.start(need.key)
    steps: list[
        tuple[int, int, int]
    ] = []  # fields changed, the row's number, the change of the field
    for i, (row, count) in enumerate(zip(need.table, counts, strict=True)):
        for _ in range(count):
            state = machine.step(state, row, need.key) if state else None
        again = machine.step(state, row, need.key) if state else None
        if state is None or again is None:
            return None
        changed = sum(not same(a, b) for a, b in zip(state, again, strict=True))
        steps.append((changed, i, _number(again[field]) - _number(state[field])))
    assert state is not None
    missing = goal.value - _number(state[field])
    if missing == 0:
        return []
    useful = [(c, i, d, -(-missing // d) if goal.above else missing // d) for c, i, d in steps if d]
    return [
        ((n * d != missing, c, i == need.index), i, n) for c, i, d, n in useful if n > 0
    ] or None


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


def scale_counts(problem: Problem, classes: Classes, *, sums: bool = False) -> CountScaling | None:
    """The problem with scaled constants, or None if it does not count far. With ``sums``, the
    constants that sums of columns are compared with are scaled, too.
    """
    fold = problem.fold
    free = [fold.column(c.name) for c in fold.columns] + [fold.key(c.name) for c in fold.keys]
    scales: dict[Var, _Scale] = {}
    own = state_vars(fold, Scope.ACC)
    for v in own:
        unit = _unit(problem, classes, v, sums)
        if unit is None or any(classes.together(v, x) for x in free):
            continue
        constants = [c for c in classes.constants(v) if isinstance(c, int | float)]
        if max(map(abs, constants), default=0) > SHORT * unit:
            scales[v] = scale_of(constants, unit)
    if not scales:
        return None
    outputs = [output_var(o.name, o.sort) for o in fold.outputs]
    for v, scale in list(scales.items()):
        scales[Var(Scope.TWIN, v.name, v.sort)] = scale
        scales |= {o: scale for o in outputs if classes.together(v, o)}
    return CountScaling(problem, _problem(problem, scales), scales)


def _unit(problem: Problem, classes: Classes, v: Var, sums: bool) -> _Number | None:
    """The unit by which a field counts; None if it does not count."""
    fold = problem.fold
    own = state_vars(fold, Scope.ACC)
    family = [w for w in own if classes.together(v, w)]
    steps = [n for w in family for n in _increments(w, _step(problem, w))]
    # The longest run of a counter counts by the unit of the counter.
    steps += [n for w in own for n in _increments(w, _step(problem, v))]
    if steps and strip(v.sort) == INT:
        return gcd(*steps)
    if not sums or strip(v.sort) not in (INT, FLOAT):
        return None
    added = [x for w in family for x in _summands(w, _step(problem, w))]
    met = [abs(c) for x in added for c in classes.constants(x) if isinstance(c, int | float)]
    return max([1, *met]) if added else None


def _summands(v: Var, step: Term) -> Iterator[Var]:
    """The columns that a step adds to a field."""
    for node in subterms(step):
        if isinstance(node, App) and node.op in (Op.INT_ADD, Op.FLOAT_ADD):
            if any(v in flow(a) for a in node.args):
                yield from (x for x in variables(*node.args) if x.scope is Scope.ROW)


def _step(problem: Problem, v: Var) -> Term:
    return next(f.step for f in problem.fold.fields if f.name == v.name)


def _increments(v: Var, step: Term) -> Iterator[int]:
    """The constants, other than zero, that a step adds to a field."""
    for node in subterms(step):
        if isinstance(node, App) and node.op in (Op.INT_ADD, Op.INT_SUB):
            parts = [flow(a) for a in node.args]
            if any(v in p for p in parts):
                yield from (
                    x.value
                    for p in parts
                    for x in p
                    if isinstance(x, Lit) and isinstance(x.value, int) and x.value
                )


def scale_of(constants: Sequence[_Number], unit: _Number) -> _Scale:
    """Move constants closer to zero and to each other, with room between them if there was any, and
    keep multiples of the counting unit multiples.
    """
    scale: dict[_Number, _Number] = {0: 0}
    for sign in (1, -1):
        last: _Number = 0
        for c in sorted(abs(c) for c in constants if c * sign > 0):
            room = c - last
            scale[sign * c] = scale[sign * last] + sign * min(room, 2 * unit + room % unit)
            last = c
    return scale


def _problem(problem: Problem, scales: Mapping[Var, _Scale]) -> Problem:
    fold = problem.fold
    fields = []
    for f, v in zip(fold.fields, state_vars(fold, Scope.ACC), strict=True):
        init, step = (_scale_term(t, scales, scales.get(v)) for t in (f.init, f.step))
        fields.append(replace(f, init=init, step=step))
    outputs = [
        replace(o, term=_scale_term(o.term, scales, scales.get(output_var(o.name, o.sort))))
        for o in fold.outputs
    ]
    step_raises, finish_raises = (
        _scale_term(t, scales, None) for t in (fold.step_raises, fold.finish_raises)
    )
    smaller = replace(
        fold,
        fields=tuple(fields),
        outputs=tuple(outputs),
        step_raises=step_raises,
        finish_raises=finish_raises,
    )
    return replace(problem, fold=smaller, where=_scale_term(problem.where, scales, None))


def _scale_term(term: Term, scales: Mapping[Var, _Scale], scale: _Scale | None) -> Term:
    """Scale the literals that meet a counter, or that are (under ``scale``) a counter's value."""
    if isinstance(term, Lit):
        if scale is None or strip(term.sort) not in (INT, FLOAT):
            return term
        number = literal_value(term)
        assert not isinstance(number, str)
        return term if number is None else lit(term.sort, scale.get(number, number))
    if not isinstance(term, App):
        return term
    match term.op:
        case Op.ITE:
            inside = [None, scale, scale]
        case Op.SOME | Op.GET:
            inside = [scale]
        case op if op in COMPARISONS:
            met = [
                s for a in term.args for x in flow(a) if isinstance(x, Var) and (s := scales.get(x))
            ]
            inside = [met[0] if met else None] * len(term.args)
        case _:
            inside = [None] * len(term.args)
    args = [_scale_term(a, scales, s) for a, s in zip(term.args, inside, strict=True)]
    return app(term.op, *args)


_TRIED = 40
"""The maximum number of tables of the scaled problem that are lifted for one region."""


def lift_witnesses(
    scaling: CountScaling, original: Space, scaled: Space, finding: Finding
) -> dict[Cell, NeededRow] | None:
    """A witness of the original problem for each region that has one in the scaled problem.

    If a witness cannot be lifted, a witness for its region is searched around the lifted ones, and
    around the accepted tables of the scaled problem. None if a region is left without a witness.
    """
    lifted_needs: dict[Cell, NeededRow] = {}
    for cell, need in finding.needs.items():
        lifted = scaling.unscale_witness(original, scaled, need)
        if lifted is not None:
            lifted_needs[cell] = lifted
    lifted_tables = [(n.table, n.key) for n in lifted_needs.values()]
    for cell in [c for c in finding.needs if c not in lifted_needs]:
        others = islice(needs_near(scaled, cell, finding.accepted), _TRIED)
        attempts = (scaling.unscale_witness(original, scaled, n) for n in others)
        lifted = next(
            chain(needs_near(original, cell, lifted_tables), filter(None, attempts)), None
        )
        if lifted is None:
            return None
        lifted_needs[cell] = lifted
    return lifted_needs
