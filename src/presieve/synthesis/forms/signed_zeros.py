# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Folds with zeros whose sign is open, searched as if it were not.

The result is claimed for the fold as it is: first without an assumption, which holds if no accepted
result is a zero with an open sign, then with the assumption that columns hold no -0.0, so that no
sign is ever open. The checker decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard, TypeVar

from presieve.ir.assumption_codes import OPEN_ZERO
from presieve.ir.fold import Assumption, Problem, state_vars
from presieve.ir.ops import app, negate
from presieve.ir.pushdown import ResidualWitness, Witness
from presieve.ir.sorts import BOOL, FLOAT, strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, float_bits
from presieve.ir.walk import subterms, variables
from presieve.records import replace
from presieve.synthesis.result import SearchResult

W = TypeVar("W", Witness, ResidualWitness)


def settle_zeros(problem: Problem) -> Problem:
    """The problem with zeros as they come, without the flags that record open signs."""
    fold = problem.fold
    outputs = tuple(replace(o, term=_plain(o.term)) for o in fold.outputs)
    ends = _plain(fold.finish_raises)
    flags = {v.name for v in _flags(problem)}
    other_steps = [f.step for f in fold.fields if f.name not in flags]
    read = {v.name for v in variables(ends, *other_steps, *(o.term for o in outputs))}
    fields = tuple(f for f in fold.fields if f.name not in flags or f.name in read)
    plain = replace(fold, outputs=outputs, finish_raises=ends, fields=fields)
    return replace(problem, fold=plain, assumptions=_others(problem))


def claims(result: SearchResult, problem: Problem) -> Iterator[SearchResult]:
    """Claim the settled problem's result for the problem itself, the best claim first."""
    mine = [a for a in problem.assumptions if a.code == OPEN_ZERO]
    claimed = replace(problem, assumptions=result.problem.assumptions)
    yield replace(result, problem=claimed)
    if result.pushdown is not None and mine:
        never = closed_signs(problem)
        claimed = replace(problem, assumptions=(*result.problem.assumptions, *mine))
        pushdown = replace(
            result.pushdown,
            invariant=(*result.pushdown.invariant, *never),
            witnesses=tuple(map(_with_positive_zeros, result.pushdown.witnesses)),
            residual_witnesses=tuple(map(_with_positive_zeros, result.pushdown.residual_witnesses)),
        )
        yield replace(result, problem=claimed, pushdown=pushdown)


def _with_positive_zeros(witness: W) -> W:
    """The same table without -0.0, which is in no row that is assumed to be there."""
    rows = (
        tuple(replace(v, value=_ZERO) if _is_negative_zero(v) else v for v in row)
        for row in witness.rows
    )
    return replace(witness, rows=tuple(rows))


def _is_negative_zero(value: Term) -> TypeGuard[Lit]:
    return isinstance(value, Lit) and strip(value.sort) == FLOAT and value.value == _NEGATIVE_ZERO


_ZERO, _NEGATIVE_ZERO = float_bits(0.0), float_bits(-0.0)


def closed_signs(problem: Problem) -> tuple[Term, ...]:
    """State that no sign is open in either run, if all columns are assumed to have no -0.0."""
    if all(a.code != OPEN_ZERO for a in problem.assumptions):
        return ()
    both = (v for name in _flags(problem) for v in (name, replace(name, scope=Scope.TWIN)))
    return tuple(negate(v) for v in both)


def has_open(problem: Problem) -> bool:
    """Whether the sign of some zero is open."""
    return bool(_flags(problem))


def _flags(problem: Problem) -> tuple[Var, ...]:
    """The fields that record whether a sign is open."""
    fold = problem.fold
    nodes = subterms(fold.finish_raises, *(o.term for o in fold.outputs))
    tests = [n.args[1] for n in nodes if isinstance(n, App) and n.op is Op.OPEN_ZERO]
    fields = [v for v in state_vars(fold, Scope.ACC) if v.sort == BOOL]
    return tuple(v for v in fields if v in tests)


def _others(problem: Problem) -> tuple[Assumption, ...]:
    return tuple(a for a in problem.assumptions if a.code != OPEN_ZERO)


def _plain(term: Term) -> Term:
    """Replace each zero with an open sign by the number itself."""
    plain_nodes: dict[int, Term] = {}
    for node in subterms(term):
        match node:
            case App(Op.OPEN_ZERO, (number, _)):
                plain_nodes[id(node)] = plain_nodes[id(number)]
            case App(op, args):
                new = tuple(plain_nodes[id(a)] for a in args)
                same = all(a is b for a, b in zip(new, args, strict=True))
                plain_nodes[id(node)] = node if same else app(op, *new)
            case _:
                plain_nodes[id(node)] = node
    return plain_nodes[id(term)]
