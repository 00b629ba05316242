# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Candidate invariants: implications between leaves that hold on all sampled pairs.

Samples are pairs of states that the two runs really reach; background are pairs of arbitrary
states. An implication that holds on all of the background is a tautology and says nothing. Sets of
samples are bit masks (Python ints), so an implication is one ``and not``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from random import Random

from msgspec import Struct

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, TEXTS, Option, Sort, Tuple, strip
from presieve.ir.terms import NONEMPTY, Op, Scope, Term, Var
from presieve.semantics.fast_interpreter import State, predicates
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import Value
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.space import Space

Pair = tuple[State, State, State]
"""Original state and twin state (each with its flag last), and the key."""

BACKGROUND = 1500
"""The number of pairs of arbitrary states, and the smaller number for a first attempt."""
FIRST_BACKGROUND = 500


class Clause(Struct, frozen=True):
    """``left -> right`` over literals: leaf ``i`` is literal ``2 i``, its negation ``2 i + 1``;
    ``left`` -1 means just ``right``.
    """

    left: int
    right: int


def literal_term(leaves: Sequence[Term], literal: int) -> Term:
    """The term of a literal."""
    leaf = leaves[literal // 2]
    return negate(leaf) if literal % 2 else leaf


def clause_term(leaves: Sequence[Term], clause: Clause) -> Term:
    """The term of a clause."""
    right = literal_term(leaves, clause.right)
    if clause.left < 0:
        return right
    return app(Op.IMPLIES, literal_term(leaves, clause.left), right)


# --- samples -----------------------------------------------------------------------------------


def walk_pairs(
    space: Space, prefilter: Callable[[State, State], bool], tables: Iterable[tuple[Table, State]]
) -> list[Pair]:
    """All pairs of states that the two runs go through on these tables, each once."""
    machine = space.machine
    pairs: dict[Pair, None] = {}
    for table, key in tables:
        start = machine.start(key)
        s: State | None = start
        t: State | None = start
        flags = (False, False)
        pairs.setdefault(((*start, False), (*start, False), key))
        for row in table:
            assert s is not None
            assert t is not None
            row_passes = prefilter(row, key)
            s = machine.step(s, row, key)
            t = machine.step(t, row, key) if row_passes else t
            if s is None or t is None:
                break
            flags = (True, flags[1] or row_passes)
            pairs.setdefault(((*s, flags[0]), (*t, flags[1]), key))
    return list(pairs)


def background_pairs(space: Space, random: Random, count: int = BACKGROUND) -> list[Pair]:
    """Pairs of arbitrary states, biased towards equal values and the constants of the problem."""
    fold = space.problem.fold
    pools = [_pool(space, Var(Scope.ACC, f.name, f.sort)) for f in fold.fields]
    shared = {s: [v for p, f in zip(pools, fold.fields, strict=True) if f.sort == s for v in p]
              for s in {f.sort for f in fold.fields}}  # fmt: skip
    columns, others = [], []
    for f in fold.fields:
        column, independent = (random.choices(shared[f.sort], k=count) for _ in range(2))
        columns.append(column)
        others.append(
            [v if random.random() < 0.4 else w for v, w in zip(column, independent, strict=True)]
        )
    flags, twins = (random.choices((False, True), k=count) for _ in range(2))
    keys = random.choices(space.keys, k=count)
    runs = zip(*columns, flags, strict=True), zip(*others, twins, strict=True)
    return list(zip(*runs, keys, strict=True))


def _pool(space: Space, v: Var) -> list[Value]:
    """Values of one field worth trying."""
    base = strip(v.sort)
    return [
        *_values(base, space.classes.constants(v)),
        *([None] if isinstance(v.sort, Option) else []),
    ]


def _values(base: Sort, constants: Sequence[Value]) -> list[Value]:
    if isinstance(base, Tuple):
        return [tuple(_values(s, ())[0] for s in base.of)]
    if base == BOOL:
        return [False, True]
    if base == FLOAT:
        numbers = [c for c in constants if isinstance(c, float)]
        around = [x for c in numbers for x in (c, c - 1.0, c + 1.0)]
        between = [(a + b) / 2 for a, b in pairwise(numbers)]
        return [*dict.fromkeys([*around, *between, 1.0, -1.0]), float("nan")]
    if any(isinstance(c, str) for c in constants):
        texts = [c for c in constants if isinstance(c, str)]
        return list(dict.fromkeys([*texts, *(c + "a" for c in texts), ""]))
    if base == INT or any(isinstance(c, int) for c in constants):
        integers = [c for c in constants if isinstance(c, int)]
        around = [x for c in integers for x in (c, c - 1, c + 1)]
        between = [(a + b) // 2 for a, b in pairwise(integers)]
        return list(dict.fromkeys([*around, *between, 1, 2, -1]))
    return ["a", "b", ""] if base in TEXTS else [1, 2, 3]


def masks(space: Space, leaves: Sequence[Term], pairs: Sequence[Pair]) -> list[int]:
    """For each literal, the set of pairs on which it is true. A leaf without a value is false."""
    return masker(space, leaves)(pairs)


def masker(space: Space, leaves: Sequence[Term]) -> Callable[[Sequence[Pair]], list[int]]:
    """Compile :func:`masks` once, for any pairs."""
    fold = space.problem.fold
    fields = [*(f.name for f in fold.fields), NONEMPTY]
    names = [(Scope.ACC, fields), (Scope.TWIN, fields), (Scope.KEY, [c.name for c in fold.keys])]
    together = predicates(leaves, names)
    alone: list[Callable[..., State]] = []

    def values(pair: Pair) -> State:
        try:
            return together(*pair)
        except _NO_VALUE:  # one leaf has no value: evaluate the leaves one by one
            if not alone:
                alone.extend(predicates([leaf], names) for leaf in leaves)
            return tuple(_value_or_none(evaluate, pair) for evaluate in alone)

    def compute_masks(pairs: Sequence[Pair]) -> list[int]:
        full = (1 << len(pairs)) - 1
        columns = zip(*map(values, pairs), strict=True)
        leaf_masks = [_mask(column) for column in columns] if pairs else [0] * len(leaves)
        return [m for mask in leaf_masks for m in (mask, full & ~mask)]

    return compute_masks


def with_reached(
    sample_masks: Sequence[int], total: int, reached: Sequence[Sequence[bool]]
) -> tuple[list[int], int]:
    """Add pairs, given by their leaves, to the samples; return the masks and the sample count."""
    masks = list(sample_masks)
    for values in reached:
        for i, value in enumerate(values):
            masks[2 * i + (not value)] |= 1 << total
        total += 1
    return masks, total


def _mask(column: Iterable[Value]) -> int:
    """The bit mask of where the column is true, with its first value as the lowest bit."""
    digits = "".join(["1" if v is True else "0" for v in column])
    return int(digits[::-1], 2)


_NO_VALUE = (Undefined, TypeError, OverflowError)
"""The errors of evaluating a term that has no value."""


def _value_or_none(evaluate: Callable[..., State], pair: Pair) -> Value:
    try:
        return evaluate(*pair)[0]
    except _NO_VALUE:
        return None


# --- implications ------------------------------------------------------------------------------


def mine(
    sample_masks: Sequence[int],
    free: Sequence[int],
    total: int,
    *,
    reduced: bool,
    surely: Sequence[int] | None = None,
) -> list[Clause]:
    """Clauses that are true of all samples (``sample_masks``) but not of all background (``free``).

    ``total`` is the number of samples. With ``reduced``, implications that follow from two others
    by transitivity are left out. Literals that are true of the same samples imply each other; if
    ``surely`` is given, implications between other literals need to hold on the samples of
    ``surely`` only.
    """
    full = (1 << total) - 1
    clauses: list[Clause] = []
    representatives: dict[int, int] = {}
    for literal, mask in enumerate(sample_masks):
        if mask == full:
            if free[literal ^ 1]:
                clauses.append(Clause(-1, literal))
        elif mask in representatives:
            representative = representatives[mask]
            clauses += [Clause(representative, literal), Clause(literal, representative)]
        elif mask:
            representatives[mask] = literal
    chosen = list(representatives.values())
    clauses += _edges(chosen, sample_masks if surely is None else surely, reduced)
    return _canonical(c for c in clauses if c.left < 0 or free[c.left] & free[c.right ^ 1])


def _edges(chosen: Sequence[int], sample_masks: Sequence[int], reduced: bool) -> list[Clause]:
    above = {
        a: [b for b in chosen if b != a and not sample_masks[a] & ~sample_masks[b]] for a in chosen
    }
    edges: list[Clause] = []
    for a, bigger in above.items():
        skip = {c for b in bigger for c in above[b]} if reduced else set()
        edges += [Clause(a, b) for b in bigger if b not in skip]
    return edges


def _canonical(clauses: Iterable[Clause]) -> list[Clause]:
    """An implication and its contrapositive are one clause."""
    unique: dict[Clause, None] = {}
    for c in clauses:
        twin = Clause(c.right ^ 1, c.left ^ 1) if c.left >= 0 else c
        if c.left >= 0 and c.left == c.right ^ 1:
            unique.setdefault(Clause(-1, c.right))
        else:
            unique.setdefault(min(c, twin, key=lambda x: (x.left, x.right)))
    return list(unique)
