"""Untrusted. The conditions under which MagicPush (SIGMOD 2023) can push a filter below an
aggregation, tested on tables of two rows.

Section 4.2.2 of that paper, with F the filter and G the pre-filter:

    1. the aggregation does not depend on the order of rows,
    2. some smaller table gives the same output,
    3. U + V fails F just where U and V both do (for superset pushdown: where U + V fails it and no
       row of V passes G, U fails it too),
    4. where U + V passes F and no row of V passes G, U alone gives the same output.

What is not refuted counts as met, as in the published estimate: this is an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random

from benchmarks.published.spacer import unsatisfiable
from presieve.ir.fold import Problem
from presieve.ir.sorts import FLOAT, INT, strip
from presieve.ir.terms import Scope, Term, lit
from presieve.semantics.fast_interpreter import CompiledProblem, State
from presieve.semantics.interpret import holds
from presieve.semantics.values import same
from presieve.smt.encodings import same_encoding
from presieve.smt.solver import Effort
from presieve.smt.two_runs import Runs
from presieve.synthesis.sampling.space import Space

_PAIRS = 3000
_ASKED = 40
"""Pairs of rows for which the solver is asked whether no single row does the same."""
_CANDIDATES = 32
"""Single rows that are tried before that."""

Pair = tuple[State, State]


@dataclass(frozen=True, slots=True)
class Preconditions:
    """Which conditions no pair of rows refutes; the third in both of its forms."""

    order: bool
    smaller: bool
    exact: bool
    partial: bool
    insensitive: bool

    @property
    def kind(self) -> str:
        """The best pushdown that they leave room for: exact, partial, or none."""
        common = self.order and self.smaller and self.insensitive
        if common and self.exact:
            return "exact"
        return "partial" if common and self.partial else "none"


def preconditions(problem: Problem, prefilter: Term) -> Preconditions:
    """Test the conditions for a problem without keys and a pre-filter for it."""
    space, random = Space(problem), Random(0)
    machine = space.machine
    rows = [space.random_row(random) for _ in range(2 * _PAIRS)]
    pairs = list(dict.fromkeys(zip(rows[:_PAIRS], rows[_PAIRS:], strict=True)))
    names = [c.name for c in problem.fold.columns]
    drops = {
        r: not holds(prefilter, {(Scope.ROW, n): v for n, v in zip(names, r, strict=True)})
        for r in dict.fromkeys(r for _, r in pairs)
    }
    passes = _passing(machine)

    def partial(a: State, b: State) -> bool:
        return passes([a, b]) or not drops[b] or not passes([a])

    return Preconditions(
        all(_same(machine, [a, b], [b, a]) for a, b in pairs),
        _smaller(space, pairs),
        all(passes([a, b]) == (passes([a]) or passes([b])) for a, b in pairs),
        all(partial(a, b) for a, b in pairs),
        all(not passes([a, b]) or not drops[b] or _same(machine, [a, b], [a]) for a, b in pairs),
    )


def _outputs(machine: CompiledProblem, rows: list[State]) -> State | None:
    state = machine.run(rows, ())
    return None if state is None else machine.finish(state, ())


def _passing(machine: CompiledProblem) -> Callable[[list[State]], bool]:
    def passes(rows: list[State]) -> bool:
        outputs = _outputs(machine, rows)
        return outputs is not None and machine.accepts(outputs, ())

    return passes


def _same(machine: CompiledProblem, rows: list[State], others: list[State]) -> bool:
    a, b = _outputs(machine, rows), _outputs(machine, others)
    if a is None or b is None:
        return a is b
    return all(same(x, y) for x, y in zip(a, b, strict=True))


def _smaller(space: Space, pairs: Sequence[Pair]) -> bool:
    """No pair of rows is known of which no single row gives the output."""
    asked = 0
    known = {_outputs(space.machine, [row]) for pair in pairs for row in pair}
    for pair in pairs:
        wanted = _outputs(space.machine, list(pair))
        if (
            wanted is None
            or wanted in known
            or any(
                _same(space.machine, list(pair), [row]) for row in _candidates(space.problem, pair)
            )
        ):
            continue
        known.add(wanted)
        asked += 1
        if _no_row(space.problem, wanted):
            return False
        if asked == _ASKED:
            break
    return True


def _candidates(problem: Problem, pair: Pair) -> Iterable[State]:
    """Single rows that may stand for two: each column from either, or the sum of both."""
    choices = []
    for column, a, b in zip(problem.fold.columns, *pair, strict=True):
        summed = []
        if strip(column.sort) in (INT, FLOAT) and a is not None and b is not None:
            summed = [a + b]  # type: ignore[operator]
        choices.append([a, b, *summed])
    return islice(product(*choices), _CANDIDATES)


def _no_row(problem: Problem, wanted: State) -> bool:
    """The solver finds that no row gives this output."""
    outputs = problem.fold.outputs
    literals = [lit(o.sort, v) for o, v in zip(outputs, wanted, strict=True)]  # type: ignore[arg-type]
    runs = Runs(problem, literals)
    row = runs.row("r")
    start = runs.initial()
    after = runs.step(start, row)
    produced = runs.outputs(after)
    for o, literal in zip(outputs, literals, strict=True):
        value = runs.encoder.term(literal, {})
        runs.encoder.fact(same_encoding(produced[Scope.OUT, o.name], value))
    return unsatisfiable([runs.encoder.take()], Effort(seconds=2.0))
