"""Trusted. Loops and comprehensions over what is known when lifting, such as a tuple of constants
or the keys of a dict: they are written out, one round after the other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from presieve.ir.ops import negate
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import FALSE, TRUE, Lit, Term, int_lit, literal_value, string_lit
from presieve.lift.arithmetic import binary, number
from presieve.lift.build import and_, or_
from presieve.lift.compare import boolean, truth
from presieve.lift.inline import Evaluate, settled_branch
from presieve.lift.machine import (
    Exit,
    ExitKind,
    Flow,
    Machine,
    join_heaps,
    merge_envs,
    path_conditions,
)
from presieve.lift.merge import merge
from presieve.lift.names import constant, is_function
from presieve.lift.objects import boxed
from presieve.lift.values import (
    LITERAL,
    DictV,
    Known,
    ListV,
    Scalar,
    TupleV,
    Value,
    describe,
    is_tagged,
)

_MOST = 100
"""Rounds of one loop."""

REDUCTIONS = ("builtins.any", "builtins.all", "builtins.sum")

Bind = Callable[[Machine, ast.expr, Value, Flow], None]
Execute = Callable[[Machine, list[ast.stmt], Flow], None]


def elements(m: Machine, node: ast.expr, flow: Flow, evaluate: Evaluate) -> list[Value]:
    """What a loop goes over. Declines ``nested-loop`` where that is not known when lifting."""
    found = _elements(m, node, flow, evaluate)
    if len(found) > _MOST:
        raise m.decline("too-large", f"a loop of {len(found)} rounds", node)
    return found


def _elements(m: Machine, node: ast.expr, flow: Flow, evaluate: Evaluate) -> list[Value]:
    match node:
        case ast.Call(ast.Name("range" | "enumerate" | "zip" as name), args, []):
            if name not in flow.env and is_function(_known(m, name), f"builtins.{name}"):
                return _made(m, name, args, flow, evaluate, node)
        case ast.Call(ast.Attribute(ast.Name() | ast.Attribute() as owner, part), [], []):
            known = _pairs(m, flow, evaluate(m, owner, flow))
            if known is not None and part == "items":
                return [TupleV(pair) for pair in known]
            if known is not None and part in ("keys", "values"):
                return [pair[part == "values"] for pair in known]
    value = flow.opened(evaluate(m, node, flow))
    match value:
        case TupleV(items) | ListV(items) if not is_tagged(value):
            return list(items)
        case DictV(names, _):
            return [Scalar(string_lit(n)) for n in names]
        case Known(known_as, target) if type(target) in (list, dict):
            assert isinstance(target, list | dict)
            return [constant(x, known_as, m.columns.zone) for x in target]
    reason = (
        f"only one loop, over the rows, is supported, and loops over constants: {describe(value)}"
    )
    raise m.decline("nested-loop", reason, node)


def _pairs(m: Machine, flow: Flow, value: Value) -> list[tuple[Value, Value]] | None:
    """Keys and values of a dict that certainly has them, or of a constant one."""
    found = flow.opened(value)
    if isinstance(found, DictV):
        keys = (Scalar(string_lit(n)) for n in found.names)
        return list(zip(keys, found.items, strict=True))
    if isinstance(found, Known) and type(found.target) is dict:
        zone, name = m.columns.zone, found.name
        return [(constant(k, name, zone), constant(v, name, zone)) for k, v in found.target.items()]
    return None


def _known(m: Machine, name: str) -> Known:
    found = m.names.resolve(name)
    return found if isinstance(found, Known) else Known(name, None)


def _made(
    m: Machine, name: str, args: list[ast.expr], flow: Flow, evaluate: Evaluate, node: ast.AST
) -> list[Value]:
    """What ``range``, ``enumerate`` or ``zip`` give."""
    if name == "range":
        ends = [_whole(m, evaluate(m, a, flow), node) for a in args]
        if not 1 <= len(ends) <= 3 or (len(ends) == 3 and ends[2] == 0):
            raise m.decline("always-raises", "this use of range", node)
        if len(range(*ends)) > _MOST:
            raise m.decline("too-large", f"a loop of {len(range(*ends))} rounds", node)
        return [Scalar(int_lit(i), LITERAL) for i in range(*ends)]
    parts = [_elements(m, a, flow, evaluate) for a in args]
    if name == "enumerate" and len(parts) == 1:
        return [TupleV((Scalar(int_lit(i), LITERAL), x)) for i, x in enumerate(parts[0])]
    if name == "zip" and parts:
        return [TupleV(row) for row in zip(*parts, strict=False)]
    raise m.decline("unsupported-expression", f"this use of {name}", node)


def _whole(m: Machine, value: Value, node: ast.AST) -> int:
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.base == INT:
        return int(value.term.value or 0)
    raise m.decline("nested-loop", "the number of rounds depends on the row", node)


# --- statements ---------------------------------------------------------------------------------


def loop(
    m: Machine, node: ast.For, flow: Flow, evaluate: Evaluate, bind: Bind, execute: Execute
) -> None:
    """``for target in iter: body``, with ``continue``, ``break`` and ``return`` inside."""
    if node.orelse:
        raise m.decline("unsupported-statement", "for with else", node)
    items = elements(m, node.iter, flow, evaluate)
    outer, m.exits, m.loops = m.exits, [], m.loops + 1
    left: list[Exit] = []
    broken: list[Flow] = []
    here = flow.branch(TRUE)
    for item in items:
        if here.ended:
            break
        m.exits = []
        bind(m, node.target, boxed(m, here, item), here)
        execute(m, node.body, here)
        going = [e.flow for e in m.exits if e.kind is ExitKind.CONTINUE]
        broken += [e.flow for e in m.exits if e.kind is ExitKind.BREAK]
        left += [e for e in m.exits if e.kind is ExitKind.RETURN]
        here = _joined(flow, [*going, *([] if here.ended else [here])])
    m.exits, m.loops = [*outer, *left], m.loops - 1
    end = _joined(flow, [*broken, *([] if here.ended else [here])])
    flow.env, flow.heap, flow.facts = end.env, end.heap, end.facts
    flow.conds, flow.ended = end.conds, end.ended


def _joined(base: Flow, paths: Sequence[Flow]) -> Flow:
    """The paths as one, all of which have started where ``base`` stands."""
    if not paths:
        return replace(base, ended=True)
    if len(paths) == 1:
        return paths[0]
    start = len(base.conds)
    own = [replace(p, conds=p.conds[start:]) for p in paths]
    taken = path_conditions(own)
    env, heap = own[-1].env, own[-1].heap
    for i in reversed(range(len(taken))):
        env = merge_envs(taken[i], own[i].env, env)
        heap = join_heaps(taken[i], own[i].heap, heap)
    facts = own[0].facts.intersection(*(p.facts for p in own[1:]))
    reached = or_(*(and_(*p.conds) for p in own))
    conds = base.conds if reached == TRUE else (*base.conds, reached)
    return Flow(env, conds, facts | base.facts, heap=heap)


# --- expressions --------------------------------------------------------------------------------

Condition = Callable[[Machine, ast.expr, Flow], Term]


def _rounds(
    m: Machine, generators: list[ast.comprehension], flow: Flow, evaluate: Evaluate
) -> list[list[tuple[ast.expr, Value]]]:
    """What the variables of a comprehension are in each round."""
    for g in generators:
        if g.is_async:
            raise m.decline("unsupported-expression", "an asynchronous comprehension", g.iter)
    sources = [elements(m, g.iter, flow, evaluate) for g in generators]
    found = [
        list(zip((g.target for g in generators), values, strict=True))
        for values in product(*sources)
    ]
    if len(found) > _MOST:
        raise m.decline("too-large", f"a comprehension of {len(found)} rounds", generators[0].iter)
    return found


def _bind(m: Machine, target: ast.expr, value: Value, flow: Flow) -> None:
    from presieve.lift.statements import bind  # which stands above expressions

    bind(m, target, value, flow)


def comprehension(
    m: Machine,
    node: ast.ListComp | ast.DictComp,
    flow: Flow,
    evaluate: Evaluate,
    condition: Condition,
) -> Value:
    """A list, or a dict with texts for keys, of so many items whatever the row is."""
    items: list[Value] = []
    keys: dict[str, Value] = {}
    outside = dict(flow.env)
    for variables in _rounds(m, node.generators, flow, evaluate):
        for target, value in variables:
            _bind(m, target, value, flow)
        tests = [condition(m, test, flow) for g in node.generators for test in g.ifs]
        if not all(isinstance(t, Lit) for t in tests):
            reason = "how many items a comprehension has depends on the row"
            raise m.decline("unsupported-expression", reason, node)
        if FALSE not in tests and isinstance(node, ast.ListComp):
            items.append(evaluate(m, node.elt, flow))
        elif FALSE not in tests and isinstance(node, ast.DictComp):
            keys[_text(m, evaluate(m, node.key, flow), node)] = evaluate(m, node.value, flow)
        flow.env = dict(outside)
    if isinstance(node, ast.ListComp):
        return ListV(tuple(items))
    return DictV(tuple(keys), tuple(keys.values()))


def _text(m: Machine, value: Value, node: ast.AST) -> str:
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.base == STRING:
        return str(literal_value(value.term))
    raise m.decline("unsupported-expression", "a dict with other keys than texts", node)


def reduction(
    m: Machine,
    function: Known,
    node: ast.Call,
    flow: Flow,
    evaluate: Evaluate,
    condition: Condition,
) -> Value:
    """``any``, ``all`` or ``sum`` of a generator, a list or a tuple."""
    name = str(getattr(function.target, "__name__", ""))
    if len(node.args) != 1 or node.keywords:
        raise m.decline("unknown-call", f"{name} with other arguments than one", node)
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
    outside, here = dict(flow.env), flow
    hits: list[Term] = []
    total: Value = Scalar(int_lit(0), LITERAL)
    for variables in _rounds(m, generators, flow, evaluate):
        for target, value in variables:
            _bind(m, target, value, here)
        inner, given = _tested(m, generators, here, condition)
        value = evaluate(m, elt, inner)
        if name == "sum":
            total = _more(m, inner, given, total, value, node)
        else:
            wanted = truth(m, inner, value, node)
            hits.append(and_(given, wanted if name == "any" else negate(wanted)))
        settled_branch(m, flow, inner, node)
        here = replace(here, env=dict(outside), heap=flow.heap)
        if name != "sum" and lazy:
            here = here.branch(negate(hits[-1]))
    flow.env = outside
    if name == "sum":
        return total
    found = or_(*hits)
    return boolean(flow.decided(found if name == "any" else negate(found)))


def _tested(
    m: Machine, generators: list[ast.comprehension], here: Flow, condition: Condition
) -> tuple[Flow, Term]:
    """The path on which the tests of a round hold, and when that is."""
    given: Term = TRUE
    for test in (t for g in generators for t in g.ifs):
        passed = condition(m, test, here)
        given = and_(given, passed)
        here = here.branch(passed)
    return here.branch(TRUE), given


def _more(m: Machine, flow: Flow, given: Term, total: Value, value: Value, node: ast.AST) -> Value:
    """The sum so far and one more, where the round counts."""
    if number(m, flow, value, node).base != INT:
        reason = "sum() of floats rounds in another way than adding them up one by one"
        raise m.decline("unsupported-operation", reason, node)
    return merge(given, binary(m, flow, ast.Add(), total, value, node), total)
