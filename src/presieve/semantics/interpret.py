# SPDX-License-Identifier: Apache-2.0
"""Trusted. The reference interpreter: terms, folds and pushdowns on concrete values.

It is written to be read, not to be fast; all faster implementations are tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from presieve.ir.fold import Fold, Mode, Problem
from presieve.ir.terms import Lit, Op, Scope, Term, Var, literal_value
from presieve.semantics.operator_meanings import MEANINGS
from presieve.semantics.values import Value, same

Env: TypeAlias = Mapping[tuple[Scope, str], Value]
Row: TypeAlias = Mapping[str, Value]
State: TypeAlias = Mapping[tuple[Scope, str], Value]


class Raised(Struct, frozen=True):
    """Python would raise in this run: there is no result, and the whole query fails."""


class Nothing(Struct, frozen=True):
    """The group is not in the result."""


class Result(Struct, frozen=True):
    """The group is in the result, with these output columns (in the fold's order)."""

    outputs: tuple[Value, ...]


Outcome: TypeAlias = Raised | Nothing | Result


def evaluate(term: Term, env: Env) -> Value:
    """The value of a term. ``ITE``, ``AND``, ``OR`` and ``IMPLIES`` evaluate only the arguments
    they need.

    Raises :class:`presieve.semantics.operator_meanings.Undefined` where the term has no value.
    """
    values: dict[int, Value] = {}

    def go(t: Term) -> Value:
        if isinstance(t, Var):
            return env[t.scope, t.name]
        if isinstance(t, Lit):
            return literal_value(t)
        if id(t) not in values:
            values[id(t)] = _apply(t.op, t.args, go)
        return values[id(t)]

    return go(term)


def _apply(op: Op, args: tuple[Term, ...], go: Callable[[Term], Value]) -> Value:
    if op is Op.ITE:
        condition, then, otherwise = args
        return go(then) if go(condition) else go(otherwise)
    if op is Op.AND:
        return all(go(a) for a in args)
    if op is Op.OR:
        return any(go(a) for a in args)
    if op is Op.IMPLIES:
        return not go(args[0]) or bool(go(args[1]))
    return MEANINGS[op](*[go(a) for a in args])  # type: ignore[no-any-return]


def key_env(keys: Mapping[str, Value]) -> dict[tuple[Scope, str], Value]:
    """The environment of a group's key."""
    return {(Scope.KEY, name): value for name, value in keys.items()}


def start(fold: Fold, keys: Env) -> State:
    """The state before the first row of a group with this key."""
    return {(Scope.ACC, f.name): evaluate(f.init, keys) for f in fold.fields}


def advance(fold: Fold, state: State, row: Row, keys: Env) -> State | Raised:
    """The state after one more row, or :class:`Raised` if Python raises."""
    env = {**keys, **state, **{(Scope.ROW, n): v for n, v in row.items()}}
    if evaluate(fold.step_raises, env):
        return Raised()
    return {(Scope.ACC, f.name): evaluate(f.step, env) for f in fold.fields}


def finish(fold: Fold, state: State, keys: Env) -> tuple[Value, ...] | Raised:
    """The output columns, or :class:`Raised` if Python raises."""
    env = {**keys, **state}
    if evaluate(fold.finish_raises, env):
        return Raised()
    return tuple(evaluate(o.term, env) for o in fold.outputs)


def run_fold(
    fold: Fold, rows: Sequence[Row], keys: Mapping[str, Value]
) -> tuple[Value, ...] | Raised:
    """``finish(step(... init ...))``: the output columns, or :class:`Raised` if Python raises."""
    env = key_env(keys)
    state: State | Raised = start(fold, env)
    for row in rows:
        if isinstance(state, Raised):
            return state
        state = advance(fold, state, row, env)
    return state if isinstance(state, Raised) else finish(fold, state, env)


def holds(predicate: Term, env: Env) -> bool:
    """Whether a filter keeps: it must be true; NULL is not enough."""
    return evaluate(predicate, env) is True


def keep(prefilter: Term, rows: Sequence[Row], keys: Mapping[str, Value]) -> list[Row]:
    """The rows that the pre-filter keeps."""
    env = key_env(keys)
    return [
        r for r in rows if holds(prefilter, {**env, **{(Scope.ROW, n): v for n, v in r.items()}})
    ]


def outcome(
    problem: Problem, rows: Sequence[Row], keys: Mapping[str, Value], post: Term | None = None
) -> Outcome:
    """The pipeline's result for one group: its fold, then the filter (``where``, or ``post``)."""
    if problem.mode is Mode.GROUPED and not rows:
        return Nothing()
    return apply_filter(problem, run_fold(problem.fold, rows, keys), key_env(keys), post)


def apply_filter(
    problem: Problem, outputs: tuple[Value, ...] | Raised, keys: Env, post: Term | None = None
) -> Outcome:
    """Apply the filter (``where`` unless ``post`` is given) to the outputs of a group."""
    if isinstance(outputs, Raised):
        return outputs
    names = [o.name for o in problem.fold.outputs]
    env = {**keys, **{(Scope.OUT, n): v for n, v in zip(names, outputs, strict=True)}}
    return Result(outputs) if holds(problem.where if post is None else post, env) else Nothing()


def pushed_outcome(
    problem: Problem,
    rows: Sequence[Row],
    keys: Mapping[str, Value],
    prefilter: Term,
    residual: Term,
) -> Outcome:
    """The rewritten pipeline's result for the same group."""
    return outcome(problem, keep(prefilter, rows, keys), keys, residual)


def agree(original: Outcome, optimized: Outcome) -> bool:
    """Whether the rewrite is right on this group: the same result, and no new error.

    If the original run raises, any result is allowed: the error may be erased, which is reported
    elsewhere.
    """
    if isinstance(original, Raised):
        return True
    if isinstance(original, Result) and isinstance(optimized, Result):
        return same(original.outputs, optimized.outputs)
    return type(original) is type(optimized)
