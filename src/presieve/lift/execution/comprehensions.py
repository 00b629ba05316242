# SPDX-License-Identifier: Apache-2.0
"""Trusted. Comprehensions, and reductions of generators, over values that are known when lifting:
they are unrolled, one round after the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import FALSE, TRUE, Term, int_lit
from presieve.lift.execution.growing_lists import append_item
from presieve.lift.execution.heap import box_contents
from presieve.lift.execution.inlining import is_own, settled_branch
from presieve.lift.execution.state import (
    Comparison,
    Flow,
    ModelCall,
    Operation,
    SymbolicMachine,
    merge_choices,
)
from presieve.lift.execution.unrolling import MOST, elements
from presieve.lift.models.builtins import chosen_characters, composite_values
from presieve.lift.models.builtins.arithmetic import binary, number
from presieve.lift.models.builtins.comparisons import boolean, compare, truth
from presieve.lift.models.builtins.plain_calls import is_builtin, only_parameter
from presieve.lift.models.registry import function
from presieve.lift.python.names import is_function
from presieve.lift.values.join_values import as_growing, merge
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    DictV,
    GrowingV,
    Known,
    ListV,
    PerhapsV,
    Scalar,
    Unbound,
    Value,
    constant_of,
)
from presieve.semantics.smart_constructors import and_, or_

EXTREMES = ("min", "max")


@dataclass(slots=True)
class _Rounds:
    """The rounds of a comprehension on the path ``flow``.

    Its variables are its own, and have no value before the loop that sets them. ``over`` are the
    conditions under which an earlier round has ended the whole loop.
    """

    m: SymbolicMachine
    generators: Sequence[ast.comprehension]
    flow: Flow
    over: list[Term] = field(default_factory=list)
    count: int = 0
    watched: dict[int, Value] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Flow, Term]]:
        """Yield each round's path, and the condition under which the tests before it hold."""
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
        self, at: int, items: Sequence[Value], env: dict[str, Value], condition: Term
    ) -> Iterator[tuple[Flow, Term]]:
        g = self.generators[at]
        outer_condition = condition
        for item in items:
            condition = outer_condition
            if isinstance(item, PerhapsV):
                condition, item = and_(outer_condition, item.there), item.item
            path = self._path(env, condition)
            self.m.bind(g.target, box_contents(self.m, path, item), path)
            env, filtered = path.env, condition
            for test in g.ifs:
                filtered = and_(filtered, self.m.condition(test, path))
                self.settle(path, test)
                path = self._path(env, filtered)
                if filtered == FALSE:
                    break
            if filtered == FALSE:
                continue
            if at + 1 < len(self.generators):
                iterable = self.generators[at + 1].iter
                inner, watched = elements(self.m, iterable, path)
                self.settle(path, iterable)
                self.watched |= {n: path.heap[n] for n in watched}
                yield from self._loop(at + 1, inner, dict(env), filtered)
                continue
            self.count += 1
            if self.count > MOST:
                raise self.m.decline("too-large", f"more than {MOST} iterations", g.iter)
            self.settle(path, g.iter)
            yield self._path(env, filtered), filtered

    def settle(self, path: Flow, node: ast.AST) -> None:
        """Take over a round's objects. Declines if an object changes that a loop is over."""
        settled_branch(self.flow, path)
        if any(self.flow.heap[n] != v for n, v in self.watched.items()):
            reason = "a call changes an object while a comprehension iterates over it"
            raise self.m.decline("mutation", reason, node)

    def _path(self, env: dict[str, Value], condition: Term) -> Flow:
        flow = self.flow
        path = Flow(dict(env), flow.conds, flow.facts, heap=dict(flow.heap))
        for term in self.over:
            path = path.branch(negate(term))
        return path.branch(condition)


def comprehension(m: SymbolicMachine, node: ast.ListComp | ast.DictComp, flow: Flow) -> Value:
    """Return a list, or a dict with strings for keys whose size does not depend on the row."""
    listed: ListV | GrowingV = ListV(())
    keys: dict[str, Value] = {}
    rounds = _Rounds(m, node.generators, flow)
    for path, reached in rounds:
        if isinstance(node, ast.ListComp):
            item = m.evaluate(node.elt, path)
            if reached == TRUE and isinstance(listed, ListV):
                listed = ListV((*listed.items, item))
            else:
                listed = _append(as_growing(listed), reached, m.force(item, path))
        elif reached == TRUE:
            key = _string_key(m.evaluate(node.key, path))
            keys[key] = m.evaluate(node.value, path)
        else:
            reason = "how many items a dict has depends on the row"
            raise DeclineSignal("unsupported-expression", reason)
        rounds.settle(path, node)
        if reached == TRUE:
            flow.facts |= path.facts
            if path.ended:
                flow.ended = True
                break
    if isinstance(node, ast.ListComp):
        return listed
    return DictV(tuple(keys), tuple(keys.values()))


_MOST_OPTIONAL = 12
"""Maximum number of items of a list whose length depends on the row: the place of each depends on
all before it.
"""


def _append(growing: GrowingV, reached: Term, item: Value) -> GrowingV:
    """Append an item that is in the list if the condition holds."""
    if len(growing.items) + len(growing.pending) >= _MOST_OPTIONAL:
        reason = "how many items a comprehension has depends on the row, and there may be many"
        raise DeclineSignal("unsupported-expression", reason)
    longer = merge(reached, append_item(growing, item), growing)
    assert isinstance(longer, GrowingV)
    return longer


READING_AT_ONCE = frozenset(
    f"builtins.{n}" for n in ("tuple", "list", "set", "frozenset", "sorted")
)
"""Functions that read an iterator to its end before they do anything else."""


def read_at_once(m: SymbolicMachine, node: ast.expr, flow: Flow) -> ast.expr:
    """Return a generator, or ``map`` of a function, as the list of its items, where it is read to
    its end at once; every other expression as it is.
    """
    match node:
        case ast.GeneratorExp(element, generators):
            return ast.copy_location(ast.ListComp(element, generators), node)
        case ast.Call(ast.Name("map"), [of, iterable], []) if is_builtin(m, flow, "map"):
            listed = _list_of_calls(m, flow, of, iterable)
            return node if listed is None else ast.copy_location(listed, node)
    return node


def _list_of_calls(
    m: SymbolicMachine, flow: Flow, of: ast.expr, iterable: ast.expr
) -> ast.expr | None:
    """Return ``map(f, xs)`` as ``[f(x) for x in xs]``. Not for functions of the program: ``map``
    takes a StopIteration of theirs for its end.
    """
    name = only_parameter(of)
    if isinstance(of, ast.Lambda) and name is not None:
        calls = [n for n in ast.walk(of.body) if isinstance(n, ast.Call)]
        if not all(_is_of_library(m, flow, c.func, name) for c in calls):
            return None
        value = of.body
    elif _is_of_library(m, flow, of, ""):
        name = "$item"
        value = ast.Call(of, [ast.Name(name, ast.Load())], [])
    else:
        return None
    generator = ast.comprehension(ast.Name(name, ast.Store()), iterable, [], 0)
    return ast.fix_missing_locations(ast.copy_location(ast.ListComp(value, [generator]), of))


def _is_of_library(m: SymbolicMachine, flow: Flow, of: ast.expr, item: str) -> bool:
    """Return whether a function is one of a library, or a method of ``item``, and not ``next``."""
    match of:
        case ast.Attribute(ast.Name(owner), _) if owner == item:
            return True
        case ast.Name(name) if name not in flow.env:
            function: object = m.names.resolve(name)
        case ast.Attribute(ast.Name(owner), _) if owner not in flow.env:
            function = m.evaluate(of, flow)
        case _:
            return False
    is_next = isinstance(function, Known) and is_function(function, "builtins.next")
    return isinstance(function, Known) and not is_own(function.target) and not is_next


def _string_key(value: Value) -> str:
    text = constant_of(value, STRING)
    if text is not None:
        return str(text)
    raise DeclineSignal("unsupported-expression", "a dict with keys that are not strings")


@function(
    *("builtins.any", "builtins.all", "builtins.sum", "builtins.min", "builtins.max"),
    unevaluated=True,
)
def reduction(call: ModelCall) -> Value | None:
    """``any``, ``all``, ``min``, ``max`` and ``sum`` (of integers) of a generator, list, tuple."""
    m, flow, name, _, _, node = call
    if name in EXTREMES and len(node.args) != 1:
        return None  # of several values
    of_characters = None if name in EXTREMES else chosen_characters.reduce_characters(call)
    if of_characters is not None:
        return of_characters
    of_array = _over_array(call) if len(node.args) == 1 and not node.keywords else None
    if of_array is not None:
        return of_array
    default = next((k.value for k in node.keywords if k.arg == "default"), None)
    others = any(k.arg != "default" or name not in EXTREMES for k in node.keywords)
    if len(node.args) != 1 or others:
        raise call.decline("unknown-call", f"{name} without exactly one argument")
    elt: ast.expr
    if isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
        generator = node.args[0]
        lazy = isinstance(generator, ast.GeneratorExp)
        generators, elt = generator.generators, generator.elt
    else:
        lazy = True
        elt = ast.copy_location(ast.Name("$item", ast.Load()), node)
        item = ast.copy_location(ast.Name("$item", ast.Store()), node)
        generators = [ast.comprehension(item, node.args[0], [], 0)]
    rounds = _Rounds(m, generators, flow)
    values = ((path, reached, m.evaluate(elt, path)) for path, reached in rounds)
    if name in EXTREMES:
        default_value = None if default is None else m.evaluate(default, flow)
        return _fold_extreme(call, rounds, values, default_value)
    hits: list[Term] = []
    total: Value = Scalar(int_lit(0), LITERAL)
    for path, reached, value in values:
        if name == "sum":
            total = _add_value(call._replace(flow=path), reached, total, value)
        else:
            is_true = truth(m, path, value)
            hits.append(and_(reached, is_true if name == "any" else negate(is_true)))
        rounds.settle(path, node)
        if name != "sum" and lazy:
            rounds.over.append(hits[-1])
    if name == "sum":
        return total
    any_hit = or_(*hits)
    return boolean(flow.decide(any_hit if name == "any" else negate(any_hit)))


@function("builtins.len", unevaluated=True)
def length_of_choice(call: ModelCall) -> Value | None:
    """``len([c for c in text if c.isdigit()])``."""
    return chosen_characters.reduce_characters(call)


@function("builtins.next", unevaluated=True)
def first_item(call: ModelCall) -> Value | None:
    """``next((x for x in xs if test), default)``; StopIteration if there is none."""
    m, flow, node = call.m, call.flow, call.node
    if node.keywords or not 1 <= len(node.args) <= 2:
        return None
    generator, *defaults = node.args
    # The first iterable is evaluated before the default, which must not change it.
    acts = any(isinstance(n, ast.NamedExpr | ast.Call) for d in defaults for n in ast.walk(d))
    if not isinstance(generator, ast.GeneratorExp) or acts:
        return None
    default = m.force(m.evaluate(defaults[0], flow), flow) if defaults else None
    rounds = _Rounds(m, generator.generators, flow)
    reached_items: list[tuple[Term, Value]] = []
    for path, reached in rounds:
        reached_items.append((reached, m.force(m.evaluate(generator.elt, path), path)))
        rounds.settle(path, node)
        rounds.over.append(reached)
        if reached == TRUE:
            break
    if default is None:
        m.fail(flow, negate(or_(*(reached for reached, _ in reached_items))), StopIteration)
        default = reached_items.pop()[1] if reached_items else NONE
    items = [item for _, item in reached_items]
    return merge_choices([reached for reached, _ in reached_items], [*items, default], merge)


def _over_array(call: ModelCall) -> Value | None:
    """Evaluate a reduction of a column's array; None for other sources."""
    m, flow, (of,) = call.m, call.flow, call.node.args
    source = of.generators[0].iter if isinstance(of, ast.GeneratorExp | ast.ListComp) else of
    if not isinstance(source, ast.Name | ast.Attribute | ast.Subscript | ast.BoolOp):
        return None
    array = m.evaluate(source, flow)
    if not composite_values.is_composite(array):
        return None
    value = composite_values.evaluate_reduction(call, array, of)
    if value is None:
        raise call.decline("unsupported-expression", f"{call.name} of these elements of an array")
    return value


def _fold_extreme(
    call: ModelCall,
    rounds: _Rounds,
    values: Iterable[tuple[Flow, Term, Value]],
    default: Value | None,
) -> Value:
    """Return CPython's ``min`` or ``max``: only a strictly better value replaces the best."""
    m, node = call.m, call.node
    op = ast.Lt() if call.name == "min" else ast.Gt()
    best: Value | None = None
    nonempty: Term = FALSE
    for path, reached, value in values:
        if best is None:
            best, nonempty = value, reached
        else:
            among = path.branch(nonempty)
            pair = m.force(value, among), m.force(best, among)
            better = compare(Comparison(m, among, op, *pair))
            taken = and_(reached, or_(negate(nonempty), and_(nonempty, better)))
            best, nonempty = merge(taken, value, best), or_(nonempty, reached)
        rounds.settle(path, node)
    if best is None:
        if default is None:
            raise call.decline("always-raises", "min or max of nothing")
        return default
    if default is None:
        m.fail(rounds.flow, negate(nonempty))
        return best
    return merge(nonempty, best, default)


def _add_value(call: ModelCall, reached: Term, total: Value, value: Value) -> Value:
    """Add one more value to the sum so far, if the round counts."""
    m, flow = call.m, call.flow
    if number(m, flow, value).base != INT:
        reason = "sum() of floats rounds differently from adding them one by one"
        raise call.decline("unsupported-operation", reason)
    return merge(reached, binary(Operation(m, flow, ast.Add(), total, value)), total)
