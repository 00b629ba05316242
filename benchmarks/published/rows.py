"""Untrusted. U_P, the universe of pre-filters (appendix C): clauses of the filter said of the
columns that feed its outputs, conditions of the steps, and disjunctions of these.

The formula of the appendix is lost in the text that we have; what stands here follows its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

from benchmarks.published.clauses import (
    Clause,
    clause_term,
    clauses,
    compared,
    contrary,
)
from benchmarks.published.flow import Flow, Trend, nullable_columns
from presieve.errors import SortError
from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_disjunction, sql_disjuncts
from presieve.ir.sorts import FLOAT, strip
from presieve.ir.terms import Lit, Op, Term, Var, lit, literal_value
from presieve.ir.walk import variables
from presieve.ir.wellformed import output_var
from presieve.smt.solver import Effort, Sat, Solver
from presieve.smt.two_runs import Runs

MOST_ATOMS = 400
"""Wider disjunctions are left out where there would be more atoms than this."""

_MANY = 10
"""More base conditions than this are not built from clauses and literals both."""


@dataclass(frozen=True, slots=True)
class RowAtom:
    """A disjunction of base conditions, by their numbers, as Spark SQL over ROW."""

    base: frozenset[int]
    term: Term


def row_atoms(
    flow: Flow, trends: dict[str, Trend], solver: Solver, effort: Effort
) -> list[RowAtom]:
    """The universe. An atom whose base is part of another's is the stronger one.

    The strongest pre-filter must keep some row, or the bounds say nothing of it: an atom that
    contradicts wider ones is left out.
    """
    atoms = sorted(_disjunctions(flow, trends), key=lambda a: -len(a.base))
    return _compatible(flow.problem, atoms, solver, effort)


def _compatible(
    problem: Problem, atoms: list[RowAtom], solver: Solver, effort: Effort
) -> list[RowAtom]:
    runs = Runs(problem, [a.term for a in atoms])
    row = runs.row("r")
    for j, atom in enumerate(atoms):
        runs.encoder.lines.append(f"(declare-const p{j} Bool)")
        runs.encoder.fact(f"(=> p{j} {runs.is_true(atom.term, row)})")
    solver.add(runs.encoder.take())
    names = [f"p{j}" for j in range(len(atoms))]
    if isinstance(solver.check(names, effort), Sat):
        return atoms
    kept: list[int] = []
    for j in range(len(atoms)):
        if isinstance(solver.check([*(names[k] for k in kept), names[j]], effort), Sat):
            kept.append(j)
    return [atoms[j] for j in kept]


def _disjunctions(flow: Flow, trends: dict[str, Trend]) -> list[RowAtom]:
    base = base_conditions(flow, trends)
    width, atoms = 0, 0
    while width < len(base) and atoms + comb(len(base), width + 1) <= MOST_ATOMS:
        width += 1
        atoms += comb(len(base), width)
    return [
        RowAtom(frozenset(chosen), sql_disjunction(base[i] for i in chosen))
        for size in range(1, width + 1)
        for chosen in combinations(range(len(base)), size)
        if not _is_tautology(base[i] for i in chosen)
    ]


def _zero(op: Op, constant: Lit) -> Lit:
    """Of both zeros the one with which a file scan loses neither (:mod:`presieve.semantics.scan`);
    to the comparison itself they are one.
    """
    if strip(constant.sort) != FLOAT or literal_value(constant) != 0:
        return constant
    signs = {Op.SQL_GE: -0.0, Op.SQL_LE: 0.0}
    return lit(constant.sort, signs[op]) if op in signs else constant


def _is_tautology(terms: Iterable[Term]) -> bool:
    """Together the literals leave nothing out but NULL and NaN."""
    literals = {x for t in terms for x in sql_disjuncts(t)}
    if any(contrary(x) in literals for x in literals):
        return True
    bounds = [c for c in map(compared, literals) if c is not None]
    return any(
        a == b and _covers(low, high, _LOW[op] + _HIGH[other])
        for op, a, low in bounds
        for other, b, high in bounds
        if op in _LOW and other in _HIGH
    )


def _covers(low: Lit, high: Lit, signs: str) -> bool:
    """Whether every value is above ``low`` or below ``high``."""
    a, b = literal_value(low), literal_value(high)
    if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
        return False
    return a < b or (a == b and "=" in signs)


_LOW = {Op.SQL_GE: ">=", Op.SQL_GT: ">"}
_HIGH = {Op.SQL_LE: "<=", Op.SQL_LT: "<"}


def base_conditions(flow: Flow, trends: dict[str, Trend]) -> list[Term]:
    """Conditions on a row that atoms are disjunctions of, each once."""
    parts = clauses(flow.problem.where)
    whole = [t for c in parts for t in _images(flow, trends, c)]
    single = [t for c in parts for x in c for t in _images(flow, trends, (x,))]
    branches = [clause_term(c) for t in flow.conditions for c in clauses(t)]
    columns = [app(Op.SQL_NOT, app(Op.SQL_IS_NULL, v)) for v in nullable_columns(flow.problem)]
    fewer = min((list(dict.fromkeys(x)) for x in (whole, single)), key=len)
    both = list(dict.fromkeys([*whole, *single]))
    return list(dict.fromkeys([*(both if len(both) <= _MANY else fewer), *branches, *columns]))


def _images(flow: Flow, trends: dict[str, Trend], clause: Clause) -> Iterator[Term]:
    """A clause over outputs, said of the columns that feed them. Literals that nothing feeds, and
    tests for NULL, are left out.
    """
    images = [t for literal in clause for t in _image(flow, trends, literal)]
    if len(clause) == 1:
        yield from images
    elif images:
        yield sql_disjunction(dict.fromkeys(images))


def _image(flow: Flow, trends: dict[str, Trend], literal: Term) -> Iterator[Term]:
    comparison = compared(literal)
    if comparison is None:
        return
    op, output, constant = comparison
    for field in _fields(flow, output):
        for feeder in flow.feeders.get(field, ()):
            yield from _said_of(feeder, op, constant, trends.get(field, "either"))


def _fields(flow: Flow, output: Var) -> Iterable[str]:
    """The fields that an output is computed from."""
    terms = {output_var(o.name, o.sort): o.term for o in flow.problem.fold.outputs}
    return [v.name for v in variables(terms[output])] if output in terms else []


def _said_of(feeder: Term, op: Op, constant: Lit, trend: Trend) -> Iterator[Term]:
    """A comparison with a constant. Equality of what only grows asks for rows that are as great,
    and where no trend is known both one-sided forms are tried.
    """
    turned = {"grows": (Op.SQL_GE,), "shrinks": (Op.SQL_LE,), "either": (Op.SQL_GE, Op.SQL_LE)}
    for chosen in turned[trend] if op is Op.SQL_EQ else (op,):
        try:
            if chosen is Op.SQL_NOT:
                yield app(Op.SQL_NOT, app(Op.SQL_EQ, feeder, constant))
            else:
                yield app(chosen, feeder, _zero(chosen, constant))
        except SortError:
            return
