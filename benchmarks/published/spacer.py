"""Untrusted. Invariant and residual from a solver of constrained Horn clauses (z3's Spacer), for a
given pre-filter: the paper's comparison with off-the-shelf solvers.

With the pre-filter fixed, the four conditions are Horn clauses in two unknown predicates, the
invariant over both states and the residual over the twin's outputs. What comes back is no term of
ours, so that the conditions are checked again here, as solver text.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from presieve.ir.fold import Problem
from presieve.ir.sorts import BOOL, FLOAT, TEXTS, Option, Sort, Tuple
from presieve.ir.terms import FALSE, Scope, Term
from presieve.semantics.scan import may_lose
from presieve.smt.encodings import Enc, OptionEnc, TupleEnc, same_encoding
from presieve.smt.floats import FloatEnc
from presieve.smt.smtlib import s_and, s_not
from presieve.smt.solver import Effort, Unsat
from presieve.smt.two_runs import EncEnv, Run, Runs
from presieve.smt.z3_solver import Z3Solver, solve_horn

Residual = Literal["weakest", "stronger", "unsolved", "unchecked"]
"""weakest: it accepts all outputs that the residual compared with accepts; stronger: not all;
unsolved: Spacer gave up or ran out of time; unchecked: the conditions were not proved again, or
float arithmetic, of which Spacer knows nothing, is in the way.
"""

_INVARIANT, _RESIDUAL = "BI", "PSI"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What Spacer found, and the seconds that it computed."""

    residual: Residual
    seconds: float


def infer(problem: Problem, prefilter: Term, residual: Term, seconds: float) -> Outcome:
    """Ask Spacer, check what it says, and compare its residual with another one."""
    if _knows_arithmetic(problem, prefilter):
        return Outcome("unchecked", 0.0)
    rules = list(_rules(problem, prefilter))
    script = "\n".join([*_declarations(problem), *(r.horn() for r in rules)])
    started = time.process_time()
    solution = solve_horn(script, seconds)
    took = time.process_time() - started
    if solution is None:
        return Outcome("unsolved", took)
    effort = Effort(seconds=10.0)
    if not all(unsatisfiable([solution, r.negation()], effort) for r in rules):
        return Outcome("unchecked", took)
    weakest = unsatisfiable([solution, _stronger(problem, residual)], effort)
    return Outcome("weakest" if weakest else "stronger", took)


# --- rules -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    """``body -> head`` for all values of what ``lines`` declare, where what they assert holds."""

    lines: tuple[str, ...]
    body: tuple[str, ...]
    head: str

    def horn(self) -> str:
        """As a closed formula."""
        declared = [" ".join(x.split()[1:]) for x in self.lines if x.startswith("(declare-const ")]
        facts = [x[len("(assert ") : -1] for x in self.lines if x.startswith("(assert ")]
        text = f"(=> (and true {' '.join([*facts, *self.body])}) {self.head})"
        for line in reversed(self.lines):
            if line.startswith("(define-fun "):
                _, name, rest = line.split(" ", 2)
                value = rest[len("() ") : -1].split(" ", 1)[1]
                text = f"(let (({name} {value})) {text})"
        variables = " ".join(f"({d[:-1]})" for d in declared)
        return f"(assert (forall ({variables}) {text}))" if declared else f"(assert {text})"

    def negation(self) -> str:
        """Satisfiable where the rule does not hold."""
        facts = [*self.body, s_not(self.head)]
        return "\n".join([*self.lines, *(f"(assert {x})" for x in facts)])


def _rules(problem: Problem, prefilter: Term) -> Iterator[_Rule]:
    runs = Runs(problem, [prefilter])
    start = runs.initial()
    yield _rule(runs, [], _related(problem, start, start))
    for kept in (True, False):
        runs = Runs(problem, [prefilter])
        s, t, row = runs.arbitrary("s"), runs.arbitrary("t"), runs.row("r")
        passes = runs.is_true(prefilter, row)
        if not kept:
            lost = runs.encoder.boolean(may_lose(prefilter), row)
            passes = f"(or {s_not(passes)} {lost})"
        body = [_related(problem, s, t), passes, s_not(runs.step_raises(s, row))]
        after = runs.step(s, row)
        head = _related(problem, after, runs.step(t, row) if kept else t)
        yield _rule(runs, body, head)
        if kept and problem.fold.step_raises != FALSE:
            yield _rule(runs, [*body, runs.step_raises(t, row)], "false")
    yield from _endings(problem, prefilter)


def _endings(problem: Problem, prefilter: Term) -> Iterator[_Rule]:
    runs = Runs(problem, [prefilter])
    s, t = runs.arbitrary("s"), runs.arbitrary("t")
    out, out_twin = runs.outputs(s), runs.outputs(t)
    accepted = runs.passes(s, problem.where)
    passes = f"({_RESIDUAL} {' '.join(_outputs(problem, out_twin))})"
    equal = s_and(
        same_encoding(out[Scope.OUT, o.name], out_twin[Scope.OUT, o.name])
        for o in problem.fold.outputs
    )
    body = [_related(problem, s, t), runs.matters(s)]
    there = runs.has_result(t)
    yield _rule(runs, [*body, accepted], passes)
    yield _rule(runs, [*body, accepted, s_not(s_and([there, equal]))], "false")
    yield _rule(runs, [*body, s_not(accepted), there, passes], "false")
    yield _rule(runs, [*body, there, runs.finish_raises(t)], "false")


def _rule(runs: Runs, body: Sequence[str], head: str) -> _Rule:
    return _Rule(tuple(runs.encoder.lines), tuple(body), head)


def _related(problem: Problem, s: Run, t: Run) -> str:
    values = [v for run in (s, t) for v in _state(problem, run)]
    return f"({_INVARIANT} {' '.join(values)})"


def _state(problem: Problem, run: Run) -> Iterator[str]:
    for f in problem.fold.fields:
        yield from _flat(run.env[Scope.ACC, f.name])
    yield run.nonempty


def _outputs(problem: Problem, out: EncEnv) -> Iterator[str]:
    for o in problem.fold.outputs:
        yield from _flat(out[Scope.OUT, o.name])


def _flat(enc: Enc) -> Iterator[str]:
    match enc:
        case OptionEnc(present, value):
            yield present
            yield from _flat(value)
        case TupleEnc(items):
            for item in items:
                yield from _flat(item)
        case FloatEnc(nan, value, negzero):
            yield from (nan, value, negzero)
        case str():
            yield enc


def _sorts(sort: Sort) -> Iterator[str]:
    match sort:
        case Option(of):
            yield "Bool"
            yield from _sorts(of)
        case Tuple(of):
            for s in of:
                yield from _sorts(s)
        case _ if sort == FLOAT:
            yield from ("Bool", "Real", "Bool")
        case _:
            yield "Bool" if sort == BOOL else "Real" if sort in TEXTS else "Int"


def _declarations(problem: Problem) -> Iterator[str]:
    state = [*(x for f in problem.fold.fields for x in _sorts(f.sort)), "Bool"]
    outputs = [x for o in problem.fold.outputs for x in _sorts(o.sort)]
    for name, sorts in ((_INVARIANT, [*state, *state]), (_RESIDUAL, outputs)):
        yield f"(declare-fun {name} ({' '.join(sorts)}) Bool)"


# --- checks ------------------------------------------------------------------------------------


def _knows_arithmetic(problem: Problem, prefilter: Term) -> bool:
    return bool(Runs(problem, [prefilter]).encoder.lines)


def _stronger(problem: Problem, residual: Term) -> str:
    """An output that the residual accepts and Spacer's does not."""
    runs = Runs(problem, [residual])
    out: EncEnv = dict(runs.keys)
    for i, o in enumerate(problem.fold.outputs):
        out[Scope.OUT, o.name] = runs.encoder.declare(f"o.{i}", o.sort)
    runs.encoder.fact(runs.is_true(residual, out))
    runs.encoder.fact(s_not(f"({_RESIDUAL} {' '.join(_outputs(problem, out))})"))
    return runs.encoder.take()


def unsatisfiable(scripts: Iterable[str], effort: Effort) -> bool:
    """Whether the solver refutes the scripts together."""
    solver = Z3Solver()
    for script in scripts:
        solver.add(script)
    return isinstance(solver.check([], effort), Unsat)
