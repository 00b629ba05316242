# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Classes of values that meet: constants of the filter traced back to columns and state.

Variables whose values are compared with or assigned to each other form a class; a constant that
meets one of them concerns all. So the ``90`` of ``first >= 90`` reaches the field ``first`` and the
column ``score`` that flows into it (Pusharoo, appendix C; here by union-find).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from presieve.ir.fold import Problem, state_vars
from presieve.ir.sorts import strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, lit, literal_value
from presieve.ir.walk import subterms, variables
from presieve.semantics.values import Value

_ORDER = {Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE}
_EQUALITY = {Op.PY_EQ, Op.SQL_EQ, Op.SQL_EQ_NULLSAFE, Op.SAME}
COMPARISONS = frozenset(_ORDER | _EQUALITY)
"""Operators whose arguments meet each other."""

_SUMS = {Op.INT_ADD, Op.INT_SUB, Op.FLOAT_ADD, Op.FLOAT_SUB}
_SUMS |= {Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB}
_PRODUCTS = {Op.INT_MUL, Op.FLOAT_MUL, Op.FLOAT_DIV}
_PRODUCTS |= {Op.SQL_INT_MUL, Op.SQL_FLOAT_MUL, Op.SQL_FLOAT_DIV}


def flow(term: Term) -> list[Term]:
    """Return the variables and literals that may *be* the term's value (not just influence it)."""
    match term:
        case Var() | Lit():
            return [term]
        case App(Op.ITE, (_, then, otherwise)):
            return [*flow(then), *flow(otherwise)]
        case App(Op.SOME | Op.GET, (inner,)):
            return flow(inner)
    return []


class Classes:
    """The classes of one problem; predicates of a hand-written pushdown may be added."""

    def __init__(self, problem: Problem, extra: Iterable[Term] = ()) -> None:
        extra = tuple(extra)
        self._parent: dict[Var, Var] = {}
        self._constants: dict[Var, dict[Lit, None]] = {}
        self._ordered: set[Var] = set()
        fold = problem.fold
        for f, v in zip(fold.fields, state_vars(fold, Scope.ACC), strict=True):
            self._meet([v, *flow(f.init), *flow(f.step)])
        for o in fold.outputs:
            self._meet([Var(Scope.OUT, o.name, o.sort), *flow(o.term)])
        steps = [t for f in fold.fields for t in (f.init, f.step)]
        raises = [fold.step_raises, fold.finish_raises]
        outputs = [o.term for o in fold.outputs]
        for term in [problem.where, *steps, *raises, *outputs, *extra]:
            self._scan(term)
        for term in extra:
            self._scan_products(term)
        self._ordered_roots = {self.root(v) for v in self._ordered}

    def constants(self, v: Var) -> tuple[Value, ...]:
        """Return the constants that the variable's values meet, in order; NaN is left out."""
        literals = {literal_value(x): None for x in self._constants.get(self.root(v), {})}
        comparable = [x for x in literals if x is not None and x == x]
        return tuple(sorted(comparable, key=lambda x: x))

    def is_ordered(self, v: Var) -> bool:
        """Whether anything in the class is compared by order; otherwise only equality matters."""
        return self.root(v) in self._ordered_roots

    def together(self, a: Var, b: Var) -> bool:
        """Whether two variables are in one class."""
        return self.root(a) == self.root(b)

    def root(self, v: Var) -> Var:
        """Return the variable that stands for the class of ``v``."""
        root = v
        while root in self._parent:
            root = self._parent[root]
        while v != root:
            self._parent[v], v = root, self._parent[v]
        return root

    def _scan(self, term: Term) -> None:
        for node in subterms(term):
            if not isinstance(node, App):
                continue
            if node.op in COMPARISONS:
                met = [x for a in node.args for x in flow(a)]
                self._meet(met)
                if node.op in _ORDER:
                    self._ordered.update(x for x in met if isinstance(x, Var))
            elif node.op in _SUMS or node.op in _PRODUCTS:
                for v in (x for a in node.args for x in flow(a) if isinstance(x, Var)):
                    neutral = [0] if node.op in _SUMS else [0, 1]
                    for n in neutral:
                        self._note(v, lit(strip(v.sort), n))

    def _scan_products(self, term: Term) -> None:
        """Note the constants with which sums and products are compared, for each of their
        variables: with the other variables at 1 or 0, the constant is reached.
        """
        for node in subterms(term):
            if isinstance(node, App) and node.op in COMPARISONS:
                inside = [v for a in node.args if isinstance(a, App) for v in variables(a)]
                for part in node.args:
                    if isinstance(part, Lit) and part.value is not None:
                        for v in inside:
                            if strip(v.sort) == strip(part.sort):
                                self._note(v, part)

    def _meet(self, parts: Iterable[Term]) -> None:
        parts = list(parts)
        variables = [p for p in parts if isinstance(p, Var)]
        for a, b in pairwise(variables):
            self._union(a, b)
        for part in parts:
            if isinstance(part, Lit) and part.value is not None and variables:
                self._note(variables[0], Lit(strip(part.sort), part.value))

    def _note(self, v: Var, constant: Lit) -> None:
        self._constants.setdefault(self.root(v), {}).setdefault(constant)

    def _union(self, a: Var, b: Var) -> None:
        a, b = self.root(a), self.root(b)
        if a != b:
            self._parent[b] = a
            for x in self._constants.pop(b, {}):
                self._note(a, x)
