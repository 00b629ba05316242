"""Random tables for one pair: around the constants of fold and filter, and nasty values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from random import Random

from tests.fuzz.execute import Row
from tests.fuzz.kinds import KINDS, fits, neighbours, value_sort

from presieve.driver.fold_inputs import Inputs
from presieve.ir.fold import Assumption, Problem
from presieve.ir.sorts import Decimal, Sort, strip
from presieve.ir.terms import Scope, Term, literal_value
from presieve.ir.walk import literals, variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.types import decimal_type
from presieve.semantics.values import Value

POOL = 60
"""Random rows of one pair; there are up to as many again with one odd value each."""


def terms_of(problem: Problem) -> list[Term]:
    """All terms whose constants matter."""
    fold = problem.fold
    fields = [t for f in fold.fields for t in (f.init, f.step)]
    facts = (a.term for a in problem.assumptions)
    return [*fields, *(o.term for o in fold.outputs), fold.step_raises, problem.where, *facts]


def values(problem: Problem, kind: str, nullable: bool) -> tuple[list[Value], list[Value]]:
    """Values for a column: those around the constants, and all others."""
    found: dict[Sort, dict[str, Value]] = {}
    for x in literals(*terms_of(problem)):
        value = literal_value(x)
        for v in neighbours(value):
            found.setdefault(strip(x.sort), {})[repr(v)] = v
        for v in _units(value, strip(x.sort), kind):
            found.setdefault(value_sort(kind), {})[repr(v)] = v
    around = found.get(value_sort(kind), {}).values()
    near: list[Value] = [v for v in around if v is not None and fits(v, kind)]
    known = KINDS[kind]
    others: list[Value] = [v for v in (*known.usual, *known.nasty) if fits(v, kind)]
    if nullable:
        near, others = [*near, None], [*others, None]
    return near or others, others


def _units(value: Value, sort: Sort, kind: str) -> list[int]:
    """A number of any sort and what is beside it, as units of a decimal type."""
    digits = decimal_type(kind)
    if digits is None or isinstance(value, bool | str | tuple | None):
        return []
    if isinstance(value, float) and not math.isfinite(value):
        return []
    number = Fraction(value) / 10 ** (sort.scale if isinstance(sort, Decimal) else 0)
    below = math.floor(number * 10 ** digits[1])
    return [below - 1, below, below + 1, below + 2]


def lawful(problem: Problem, row: Row, key: Row) -> bool:
    """Whether the row obeys every assumption of the problem."""
    return obeys(problem.assumptions, row, key)


def obeys(assumptions: Iterable[Assumption], row: Row, key: Row) -> bool:
    """Whether the row obeys the assumptions."""
    env = {(Scope.ROW, n): v for n, v in row.items()} | {(Scope.KEY, n): v for n, v in key.items()}
    return all(evaluate(a.term, env) is True for a in assumptions)


def lawful_key(problem: Problem, key: Row) -> bool:
    """Whether the key of a group obeys every assumption about keys alone."""
    about = [a for a in problem.assumptions if all(v.scope is Scope.KEY for v in variables(a.term))]
    return obeys(about, {}, key)


def _possible(problem: Problem, scope: Scope, name: str, found: list[Value]) -> list[Value]:
    """The values that no assumption about this column alone excludes."""
    alone = [
        a.term
        for a in problem.assumptions
        if {(v.scope, v.name) for v in variables(a.term)} == {(scope, name)}
    ]
    return [v for v in found if all(evaluate(t, {(scope, name): v}) is True for t in alone)]


def rows_of(random: Random, problem: Problem, inputs: Inputs) -> tuple[list[Row], list[Row]]:
    """Some keys, and lawful rows without the keys' values; there may be none."""
    pools = {}
    for c in inputs.schema:
        scope = Scope.KEY if c.name in inputs.keys else Scope.ROW
        near, others = (
            _possible(problem, scope, c.name, found)
            for found in values(problem, c.type, c.nullable)
        )
        if not near and not others:
            return [], []
        pools[c.name] = near or others, others or near
    keys = [
        {n: random.choice(pools[n][random.random() < 0.3]) for n in inputs.keys} for _ in range(3)
    ]
    rows = []
    for _ in range(POOL):
        strange = random.choice((0.0, 0.15, 0.5))
        row = {n: random.choice(p[random.random() < strange]) for n, p in pools.items()}
        rows.append(row)
    odd = [(n, v) for n, (_, others) in pools.items() for v in others]
    for n, v in random.sample(odd, min(len(odd), POOL)):
        rows.append({**random.choice(rows[:POOL]), n: v})  # each alone among usual values
    return keys, [r for r in rows if lawful(problem, r, keys[0])]


def tables(random: Random, rows: list[Row], count: int) -> Iterator[list[int]]:
    """Tables as indices of rows: short ones more often, with ties and duplicates."""
    for i in range(count):
        few = random.sample(range(len(rows)), min(len(rows), random.choice((1, 2, 4, POOL))))
        length = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7)[i % 10]
        yield [random.choice(few) for _ in range(length)]
