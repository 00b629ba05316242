# SPDX-License-Identifier: Apache-2.0
"""Trusted. Loops over items that are known when lifting, such as a tuple of constants or the keys
of a dict: they are unrolled, one round after the other.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import INT
from presieve.ir.terms import FALSE, TRUE, Lit, int_lit, string_lit
from presieve.lift.execution import growing_lists, outer_containers
from presieve.lift.execution.aliasing import waiting
from presieve.lift.execution.heap import box_contents
from presieve.lift.execution.state import (
    Exit,
    ExitKind,
    Flow,
    SymbolicMachine,
    join_heaps,
    merge_choices,
    merge_envs,
    path_conditions,
)
from presieve.lift.python.names import is_function
from presieve.lift.values.symbolic import (
    LITERAL,
    DictV,
    GrowingV,
    Known,
    ListV,
    MapV,
    PerhapsV,
    RefV,
    Scalar,
    TupleV,
    Value,
    describe,
    is_tagged,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, or_

MOST = 100
"""Maximum rounds of one loop."""


Watched = dict[int, bool]
"""Objects over which a loop iterates, by number: whether it sees their keys only."""


def elements(m: SymbolicMachine, node: ast.expr, flow: Flow) -> tuple[list[Value], Watched]:
    """Return the items of a loop, and the objects whose changes it would see. Declines
    ``nested-loop`` if they are not known when lifting.
    """
    watched: Watched = {}
    items = _elements(m, node, flow, watched)
    if len(items) > MOST:
        raise m.decline("too-large", f"a loop of {len(items)} iterations", node)
    return items, watched


def _elements(m: SymbolicMachine, node: ast.expr, flow: Flow, watched: Watched) -> list[Value]:
    with m.at(node):
        match node:
            case ast.Call(ast.Name("range" | "enumerate" | "zip" as name), _, named):
                if (
                    {k.arg for k in named} <= _KEYWORDS[name]
                    and name not in flow.env
                    and is_function(_resolve_known(m, name), f"builtins.{name}")
                ):
                    return _generate_items(m, name, node, flow, watched)
            case ast.Call(function, [of], []) if _is_pairwise(m, function, flow):
                certain = _certain(_elements(m, of, flow, watched), "pairwise")
                return [TupleV(pair) for pair in pairwise(certain)]
            case ast.Call(
                ast.Attribute(ast.Name() | ast.Attribute() | ast.Dict() as owner, part), [], []
            ):
                if part in ("items", "keys", "values"):
                    value = m.evaluate(owner, flow)
                    entries = _pairs(m, flow, value)
                    if entries is not None:
                        _watch(watched, value, keys=part == "keys")
                        pick = {"keys": 0, "values": 1}.get(part)
                        return [TupleV(p) if pick is None else p[pick] for p in entries]
        value = m.evaluate(node, flow)
        match flow.dereference(value):
            case TupleV(items) | ListV(items) as contents if not is_tagged(contents):
                _watch(watched, value, keys=False)
                return list(items)
            case GrowingV() as contents:
                _watch(watched, value, keys=False)
                return growing_lists.rounds(contents)
            case DictV() | MapV() as contents:
                _watch(watched, value, keys=True)
                return [key for key, _ in _pairs(m, flow, contents) or ()]
            case contents if (listed := outer_containers.items_of(m, contents)) is not None:
                return list(listed.items)
            case contents if (entries := outer_containers.pairs(m, contents)) is not None:
                return [key for key, _ in entries]
        what = describe(flow.dereference(value))
        reason = f"only one loop, over the rows, is supported, and loops over constants: {what}"
        raise DeclineSignal("nested-loop", reason)


_KEYWORDS: Mapping[str, Set[str | None]] = {
    "range": frozenset(),
    "enumerate": frozenset(("start",)),
    "zip": frozenset(("strict",)),
}
"""The keywords that are read, by function."""


def _watch(watched: Watched, value: Value, *, keys: bool) -> None:
    if isinstance(value, RefV):
        watched[value.number] = keys and watched.get(value.number, True)


def _pairs(m: SymbolicMachine, flow: Flow, value: Value) -> list[tuple[Value, Value]] | None:
    """Return keys and values of a dict, or of a constant one; None if it is not a dict."""
    contents = flow.dereference(value)
    if isinstance(contents, DictV):
        keys = (Scalar(string_lit(n)) for n in contents.names)
        return list(zip(keys, contents.items, strict=True))
    if isinstance(contents, MapV):
        reason = "which keys a dict has, or the order of a dict's keys, depends on the rows"
        raise DeclineSignal("unsupported-expression", reason)
    return outer_containers.pairs(m, contents)


def _changed_object(before: Flow, path: Flow, watched: Watched, last: bool) -> Value | None:
    """Return an object that has changed. Further rounds of a loop see items that have changed
    meanwhile; a dict that has new keys makes it raise.
    """
    for number, keys in watched.items():
        old, new = before.heap[number], path.heap[number]
        same = old == new
        if (last or keys) and isinstance(old, DictV) and isinstance(new, DictV):
            same = old.names == new.names
        elif last and isinstance(old, ListV):
            same = True
        if not same:
            return old
    return None


def _resolve_known(m: SymbolicMachine, name: str) -> Known:
    value = m.names.resolve(name)
    return value if isinstance(value, Known) else Known(name, None)


def _generate_items(
    m: SymbolicMachine, name: str, node: ast.Call, flow: Flow, watched: Watched
) -> list[Value]:
    """Return the items of ``range``, ``enumerate`` or ``zip``."""
    if name == "range":
        ends = [_constant_int(m.evaluate(a, flow)) for a in node.args]
        if not 1 <= len(ends) <= 3 or (len(ends) == 3 and ends[2] == 0):
            raise DeclineSignal("always-raises", "this use of range")
        if any(abs(end) > sys.maxsize for end in ends) or len(range(*ends)) > MOST:
            raise DeclineSignal("too-large", f"a loop of more than {MOST} iterations")
        return [Scalar(int_lit(i), LITERAL) for i in range(*ends)]
    options = {k.arg: m.evaluate(k.value, flow) for k in node.keywords}
    args = node.args
    if name == "enumerate" and len(args) == 2:
        args, options = args[:1], {**options, "start": m.evaluate(args[1], flow)}
    parts = [_elements(m, a, flow, watched) for a in args]
    for part in parts:
        _certain(part, name)
    if name == "enumerate" and len(parts) == 1:
        first = _constant_int(options.get("start", Scalar(int_lit(0), LITERAL)))
        return [TupleV((Scalar(int_lit(i), LITERAL), x)) for i, x in enumerate(parts[0], first)]
    strict = options.get("strict", Scalar(FALSE))
    never_raises = (FALSE, TRUE) if len({len(p) for p in parts}) == 1 else (FALSE,)
    if name == "zip" and parts and isinstance(strict, Scalar) and strict.term in never_raises:
        return [TupleV(row) for row in zip(*parts, strict=False)]
    raise DeclineSignal("unsupported-expression", f"this use of {name}")


def _certain(items: list[Value], name: str) -> list[Value]:
    """Return items that are all there. Declines others."""
    if any(isinstance(x, PerhapsV) for x in items):
        reason = f"{name} of a list whose length depends on the rows"
        raise DeclineSignal("unsupported-expression", reason)
    return items


def _is_pairwise(m: SymbolicMachine, node: ast.expr, flow: Flow) -> bool:
    """Return whether this is ``itertools.pairwise``."""
    path = ast.unparse(node)
    if path not in ("pairwise", "itertools.pairwise") or path.partition(".")[0] in flow.env:
        return False
    function = m.evaluate(node, flow)
    return isinstance(function, Known) and is_function(function, "itertools.pairwise")


def _constant_int(value: Value) -> int:
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.base == INT:
        return int(value.term.value or 0)
    raise DeclineSignal("nested-loop", "the number of iterations depends on the row")


# --- statements ---------------------------------------------------------------------------------


def loop(m: SymbolicMachine, node: ast.For, flow: Flow) -> None:
    """Execute ``for target in iter: body``, with ``continue``, ``break`` and ``return`` inside."""
    if node.orelse:
        raise DeclineSignal("unsupported-statement", "for with else")
    items, watched = elements(m, node.iter, flow)
    frame, outer = m.frame, m.frame.take_exits()
    frame.loops += 1
    returning: list[Exit] = []
    broken: list[Flow] = []
    path = flow.branch(TRUE)
    for number, item in enumerate(items, 1):
        if path.ended:
            break
        skipped: list[Flow] = []
        if isinstance(item, PerhapsV):
            exists = path.decide(item.there)
            skipped = [path.branch(negate(exists))] if exists != TRUE else []
            path, item = path.branch(exists), item.item
        with waiting(path, items[number:]):
            m.bind(node.target, box_contents(m, path, item), path)
            m.execute(node.body, path)
        exits = frame.take_exits()
        continuing = [e.flow for e in exits if e.kind is ExitKind.CONTINUE] + skipped
        broken += [e.flow for e in exits if e.kind is ExitKind.BREAK]
        returning += [e for e in exits if e.kind is ExitKind.RETURN]
        path = _join_paths(flow, [*continuing, *([] if path.ended else [path])])
        changed = None if path.ended else _changed_object(flow, path, watched, number == len(items))
        if changed is not None:
            raise DeclineSignal("mutation", f"{describe(changed)} changes in a loop over it")
    frame.exits, frame.loops = (*outer, *returning), frame.loops - 1
    flow.become(_join_paths(flow, [*broken, *([] if path.ended else [path])]))


def _join_paths(base: Flow, paths: Sequence[Flow]) -> Flow:
    """Join paths that all started at ``base``."""
    if not paths:
        return replace(base, ended=True)
    if len(paths) == 1:
        return paths[0]
    start = len(base.conds)
    own = [replace(p, conds=p.conds[start:]) for p in paths]
    taken = path_conditions(own)
    env = merge_choices(taken, [p.env for p in own], merge_envs)
    heap = merge_choices(taken, [p.heap for p in own], join_heaps)
    facts = own[0].facts.intersection(*(p.facts for p in own[1:]))
    reached = or_(*(and_(*p.conds) for p in own))
    conds = base.conds if reached == TRUE else (*base.conds, reached)
    return Flow(env, conds, facts | base.facts, heap=heap)
