"""Trusted. Comprehensions, and reductions of generators, over what is known when lifting: they are
written out, one round after the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from presieve.ir.ops import negate
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import FALSE, TRUE, Term, int_lit
from presieve.lift.execution.heap import boxed
from presieve.lift.execution.inlining import settled_branch
from presieve.lift.execution.state import Call, Comparison, Flow, Machine, Operation
from presieve.lift.execution.unrolling import MOST, elements
from presieve.lift.models.builtins.arithmetic import binary, number
from presieve.lift.models.builtins.comparisons import boolean, compare, truth
from presieve.lift.models.registry import function
from presieve.lift.values.merge import merge
from presieve.lift.values.symbolic import (
    LITERAL,
    DictV,
    ListV,
    PerhapsV,
    Scalar,
    Unbound,
    Value,
    constant_of,
)
from presieve.semantics.build import and_, or_

EXTREMES = ("min", "max")


class _Rounds:
    """The rounds of a comprehension that stands on the path ``flow``.

    Its variables are its own, and have no value before the loop that sets them. ``over`` are the
    conditions under which an earlier round has ended it all.
    """

    def __init__(
        self,
        m: Machine,
        generators: Sequence[ast.comprehension],
        flow: Flow,
    ) -> None:
        self.m, self.generators, self.flow = m, generators, flow
        self.over: list[Term] = []
        self.count = 0
        self.watched: dict[int, Value] = {}

    def __iter__(self) -> Iterator[tuple[Flow, Term]]:
        """Each round's path, and the condition under which the tests before it hold."""
        for g in self.generators:
            if g.is_async:
                reason = "an asynchronous comprehension"
                raise self.m.decline("unsupported-expression", reason, g.iter)
        # The first loop's source is evaluated outside.
        first, watched = elements(self.m, self.generators[0].iter, self.flow)
        self.watched = {n: self.flow.heap[n] for n in watched}
        targets = [n for g in self.generators for n in ast.walk(g.target)]
        own: dict[str, Value] = {n.id: Unbound() for n in targets if isinstance(n, ast.Name)}
        return self._loop(0, first, {**self.flow.env, **own}, TRUE)

    def _loop(
        self, at: int, items: Sequence[Value], env: dict[str, Value], given: Term
    ) -> Iterator[tuple[Flow, Term]]:
        g = self.generators[at]
        always = given
        for item in items:
            given = always
            if isinstance(item, PerhapsV):
                given, item = and_(always, item.there), item.item
            here = self._path(env, given)
            self.m.bind(g.target, boxed(self.m, here, item), here)
            env, passed = here.env, given
            for test in g.ifs:
                passed = and_(passed, self.m.condition(test, here))
                self.settle(here, test)
                here = self._path(env, passed)
                if passed == FALSE:
                    break
            if passed == FALSE:
                continue
            if at + 1 < len(self.generators):
                iterable = self.generators[at + 1].iter
                inner, watched = elements(self.m, iterable, here)
                self.settle(here, iterable)
                self.watched |= {n: here.heap[n] for n in watched}
                yield from self._loop(at + 1, inner, dict(env), passed)
                continue
            self.count += 1
            if self.count > MOST:
                raise self.m.decline("too-large", f"more than {MOST} iterations", g.iter)
            self.settle(here, g.iter)
            yield self._path(env, passed), passed

    def settle(self, here: Flow, node: ast.AST) -> None:
        """After something that is evaluated in a round: what a loop goes over must not change."""
        settled_branch(self.flow, here)
        if any(self.flow.heap[n] != v for n, v in self.watched.items()):
            reason = "a call changes an object while a comprehension iterates over it"
            raise self.m.decline("mutation", reason, node)

    def _path(self, env: dict[str, Value], given: Term) -> Flow:
        flow = self.flow
        here = Flow(dict(env), flow.conds, flow.facts, heap=dict(flow.heap))
        for term in self.over:
            here = here.branch(negate(term))
        return here.branch(given)


def comprehension(
    m: Machine,
    node: ast.ListComp | ast.DictComp,
    flow: Flow,
) -> Value:
    """A list, or a dict with texts for keys, of so many items whatever the row is."""
    items: list[Value] = []
    keys: dict[str, Value] = {}
    rounds = _Rounds(m, node.generators, flow)
    for here, given in rounds:
        if given != TRUE:
            reason = "how many items a comprehension has depends on the row"
            raise m.decline("unsupported-expression", reason, node)
        if isinstance(node, ast.ListComp):
            items.append(m.evaluate(node.elt, here))
        else:
            key = _text(m, m.evaluate(node.key, here), node)
            keys[key] = m.evaluate(node.value, here)
        rounds.settle(here, node)
        flow.facts |= here.facts
        if here.ended:
            flow.ended = True
            break
    if isinstance(node, ast.ListComp):
        return ListV(tuple(items))
    return DictV(tuple(keys), tuple(keys.values()))


def _text(m: Machine, value: Value, node: ast.AST) -> str:
    found = constant_of(value, STRING)
    if found is not None:
        return str(found)
    raise m.decline("unsupported-expression", "a dict with keys that are not strings", node)


@function(
    *("builtins.any", "builtins.all", "builtins.sum", "builtins.min", "builtins.max"),
    unevaluated=True,
)
def reduction(call: Call) -> Value | None:
    """``any``, ``all``, ``min``, ``max`` and ``sum`` (of integers) of a generator, list, tuple."""
    m, flow, name, _, _, node = call
    if name in EXTREMES and len(node.args) != 1:
        return None  # of values
    default = next((k.value for k in node.keywords if k.arg == "default"), None)
    others = any(k.arg != "default" or name not in EXTREMES for k in node.keywords)
    if len(node.args) != 1 or others:
        raise call.decline("unknown-call", f"{name} without exactly one argument")
    elt: ast.expr
    if isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
        what = node.args[0]
        lazy = isinstance(what, ast.GeneratorExp)
        generators, elt = what.generators, what.elt
    else:
        lazy = True
        elt = ast.copy_location(ast.Name("$item", ast.Load()), node)
        item = ast.copy_location(ast.Name("$item", ast.Store()), node)
        generators = [ast.comprehension(item, node.args[0], [], 0)]
    rounds = _Rounds(m, generators, flow)
    values = ((here, given, m.evaluate(elt, here)) for here, given in rounds)
    if name in EXTREMES:
        other = None if default is None else m.evaluate(default, flow)
        return _extreme(call, rounds, values, other)
    hits: list[Term] = []
    total: Value = Scalar(int_lit(0), LITERAL)
    for here, given, value in values:
        if name == "sum":
            total = _more(call._replace(flow=here), given, total, value)
        else:
            wanted = truth(m, here, value, node)
            hits.append(and_(given, wanted if name == "any" else negate(wanted)))
        rounds.settle(here, node)
        if name != "sum" and lazy:
            rounds.over.append(hits[-1])
    if name == "sum":
        return total
    found = or_(*hits)
    return boolean(flow.decided(found if name == "any" else negate(found)))


def _extreme(
    call: Call,
    rounds: _Rounds,
    values: Iterable[tuple[Flow, Term, Value]],
    default: Value | None,
) -> Value:
    """CPython's ``min`` and ``max``: a later value replaces the best only if strictly better."""
    m, node = call.m, call.node
    op = ast.Lt() if call.name == "min" else ast.Gt()
    best: Value | None = None
    found: Term = FALSE
    for here, given, value in values:
        if best is None:
            best, found = value, given
        else:
            among = here.branch(found)
            pair = m.force(value, among), m.force(best, among)
            better = compare(Comparison(m, among, op, *pair, node))
            taken = and_(given, or_(negate(found), and_(found, better)))
            best, found = merge(taken, value, best), or_(found, given)
        rounds.settle(here, node)
    if best is None:
        if default is None:
            raise call.decline("always-raises", "min or max of nothing")
        return default
    if default is None:
        m.fail(rounds.flow, negate(found))
        return best
    return merge(found, best, default)


def _more(call: Call, given: Term, total: Value, value: Value) -> Value:
    """The sum so far and one more, where the round counts."""
    m, flow, node = call.m, call.flow, call.node
    if number(m, flow, value, node).base != INT:
        reason = "sum() of floats rounds differently from adding them one by one"
        raise call.decline("unsupported-operation", reason)
    return merge(given, binary(Operation(m, flow, ast.Add(), total, value, node)), total)
