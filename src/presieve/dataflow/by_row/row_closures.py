# SPDX-License-Identifier: Apache-2.0
"""Trusted. Code that is run once for each row and sees no other row: loops, comprehensions and
functions that pandas calls.

Lemma: let a piece of code be run for the rows of a table, one after the other. If all that it reads
besides its row is fixed, or was bound by the same run, and if it changes no object from before
except by appending to lists that it does not read, then what it gives for a row is made from that
row alone, and so is each item that it appends.

That nothing from before is changed is a matter of syntax here: the code may call methods that
change nothing, and functions. Of functions of the program, the same is asked.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from presieve.dataflow.abstract_values import (
    AbstractColumn,
    AbstractScalar,
    Function,
    Items,
    OpaqueValue,
    Ref,
    Value,
    is_fixed,
    reach_of,
)
from presieve.dataflow.analysis_state import AnalysisState, map_object, values_of
from presieve.python_library.descriptions import Change
from presieve.python_library.method_catalogue import describe
from presieve.records import replace

_LABELS = frozenset(("name", "Index", "index"))
"""Attributes of a row that depend on the other rows."""
_ODD = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Await, ast.Delete)
_DEPTH = 5


def filled_lists(s: AnalysisState, node: ast.For) -> dict[str, Ref]:
    """The empty lists to which a loop appends, by name."""
    lists: dict[str, Ref] = {}
    for call in _appending(node.body):
        assert isinstance(call.func, ast.Attribute)
        owner = call.func.value
        value = s.env.get(owner.id) if isinstance(owner, ast.Name) else None
        items = s.items(value) if isinstance(value, Ref) else None
        if (
            isinstance(owner, ast.Name)
            and isinstance(value, Ref)
            and items == Items("list", None, ())
        ):
            lists[owner.id] = value
    return lists


def appends_once(node: ast.For, name: str) -> bool:
    """Whether each round that comes to its end appends one item to the list of this name."""
    calls = [c for c in _appending(node.body) if _owner(c) == name]
    whole = [c for s in node.body if (c := _append(s)) is not None and _owner(c) == name]
    leaves = any(isinstance(n, ast.Continue) for s in node.body for n in ast.walk(s))
    return len(calls) == len(whole) == 1 and not leaves


def is_closed_loop(s: AnalysisState, node: ast.For, lists: Iterable[str]) -> bool:
    """Whether a loop over rows sees no other row than that of the round."""
    stored = names_stored([node.target, *node.body])
    if stored.intersection(lists) or any(map(_leaves, node.body)):
        return False
    start = names_stored([node.target])
    if _find_bound_names(node.body, stored, start) is None:
        return False
    own = stored | {id(_owner_node(c)) for c in _appending(node.body)}
    return _reads_fixed(s, node.body, own, frozenset(lists))


def is_closed_function(s: AnalysisState, function: Function, depth: int = 0) -> bool:
    """Whether a function that is called with a row sees nothing else that is not fixed."""
    if function.frame < 0:
        # The names are those of a module: who changes an object of it is found out elsewhere.
        return not _has_odd_parts([function.node])
    if depth > _DEPTH or not _has_plain_defaults(function.node):
        return False
    arguments = function.node.args
    own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
    return _reads_fixed(s, body, own | names_stored(body), frozenset(), depth)


def _has_plain_defaults(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether all defaults are written constants. Any other is made where the function is made,
    perhaps from other rows, and is one object for all calls.
    """
    defaults = (*function.args.defaults, *filter(None, function.args.kw_defaults))
    return all(isinstance(d, ast.Constant) for d in defaults)


def is_closed_comprehension(s: AnalysisState, node: ast.ListComp | ast.GeneratorExp) -> bool:
    """Whether what a comprehension over rows gives for a row sees no other row."""
    (generator,) = node.generators
    parts: list[ast.AST] = [node.elt, *generator.ifs]
    return _reads_fixed(s, parts, names_stored([generator.target]), frozenset())


def names_stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are bound in these nodes, also inside of comprehensions and lambdas."""
    names: set[str] = set()
    for n in (n for node in nodes for n in ast.walk(node)):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            names.add(n.id)
        elif isinstance(n, ast.arg):
            names.add(n.arg)
        elif isinstance(n, ast.FunctionDef):
            names.add(n.name)
        elif isinstance(n, ast.ExceptHandler):
            names |= set() if n.name is None else {n.name}
    return names


def forget_rounds(s: AnalysisState, node: ast.For) -> None:
    """Forget what the last round of a loop has bound: it depends on the last row."""
    for name in names_stored([node.target, *node.body]) & s.env.keys():
        value = s.env[name]
        scalar = isinstance(value, AbstractScalar)
        s.env[name] = (
            AbstractScalar() if scalar else OpaqueValue(reach_of(value), s.packages(value))
        )


def loosen(s: AnalysisState, element: Value | None) -> Value | None:
    """An item that depends on its row, also if it is one of several constants."""

    def loose(value: Value) -> Value:
        if isinstance(value, AbstractScalar) and value.fixed:
            text, whole = value.is_text, value.is_whole
            return AbstractScalar(value.keys, text=text, whole=whole)
        return (
            replace(value, fixed=False)
            if isinstance(value, AbstractColumn | OpaqueValue)
            else value
        )

    for place in s.reach(*(() if element is None else (element,))):
        thing = s.heap.get(place)
        if isinstance(thing, Items):
            s.heap[place] = map_object(thing, loose)
    return None if element is None else loose(element)


# --- syntax ---------------------------------------------------------------------------------------


def _append(statement: ast.AST) -> ast.Call | None:
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(), "append"), [_], []) as call):
            return call
    return None


def _appending(body: Iterable[ast.AST]) -> Iterator[ast.Call]:
    for statement in body:
        for n in ast.walk(statement):
            call = _append(n)
            if call is not None:
                yield call


def _owner_node(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def _owner(call: ast.Call) -> str:
    owner = _owner_node(call)
    assert isinstance(owner, ast.Name)
    return owner.id


def _leaves(node: ast.AST, *, inside: bool = False) -> bool:
    """Whether a statement of a loop may end the loop."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return False
    if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.Break):
        return not inside
    inner = inside or isinstance(node, ast.For | ast.While)
    return any(_leaves(child, inside=inner) for child in ast.iter_child_nodes(node))


def _find_bound_names(body: list[ast.stmt], own: set[str], known: set[str]) -> set[str] | None:
    """The own names that are certainly bound after the statements; None if one may be read that the
    same round has not bound.
    """
    for statement in body:
        match statement:
            case ast.If(test, then, orelse):
                if not _reads_only_bound([test], own, known):
                    return None
                ends = [_find_bound_names(b, own, known) for b in (then, orelse)]
                live = [e for e, b in zip(ends, (then, orelse), strict=True) if not _jumps(b)]
                if None in ends:
                    return None
                known = (
                    known.union(set.intersection(*(e for e in live if e is not None)))
                    if live
                    else own
                )
            case ast.For(target, over, inner, orelse):
                if not _reads_only_bound([over], own, known) or orelse:
                    return None
                if _find_bound_names(inner, own, known | names_stored([target])) is None:
                    return None
            case ast.Assign() | ast.AnnAssign() | ast.Expr() | ast.Raise() | ast.Assert():
                if not _reads_only_bound([statement], own, known):
                    return None
                known = known | names_stored([statement])
            case ast.Continue() | ast.Pass() | ast.Import() | ast.ImportFrom():
                pass
            case ast.Try(inner, handlers, orelse, final):
                if final or _find_bound_names(inner, own, known) is None:
                    return None
                after = _find_bound_names([*inner, *orelse], own, known)
                for h in handlers:
                    caught = _find_bound_names(h.body, own, known | ({h.name} if h.name else set()))
                    if caught is None or after is None:
                        return None
                    after = after if _jumps(h.body) else after & caught
                known = after or known
            case ast.AugAssign(target, _, value):
                if not _reads_only_bound([target, value], own, known, stores=True):
                    return None
            case _:
                return None
    return known


def _jumps(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Continue | ast.Raise)


def _reads_only_bound(
    nodes: Iterable[ast.AST], own: set[str], known: set[str], *, stores: bool = False
) -> bool:
    """Whether all own names that are read are known to be bound. Names of comprehensions and of
    functions inside are bound there.
    """
    inner: set[str] = set()
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.comprehension):
                inner |= names_stored([n.target])
            elif isinstance(n, ast.arg):
                inner.add(n.arg)
    read = {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and (stores or isinstance(n.ctx, ast.Load))
    }
    return (read & own) - inner <= known


def _has_odd_parts(nodes: Iterable[ast.AST]) -> bool:
    every = [n for node in nodes for n in ast.walk(node)]
    return any(isinstance(n, _ODD) for n in every) or any(
        isinstance(n, ast.Attribute) and n.attr in _LABELS for n in every
    )


def _reads_fixed(
    s: AnalysisState,
    nodes: Iterable[ast.AST],
    own: Collection[str | int],
    lists: frozenset[str],
    depth: int = 0,
) -> bool:
    """Whether the code reads nothing but its own names, and what is fixed. ``own`` are these names,
    and the identities of the nodes that only append to a list.
    """
    nodes = list(nodes)
    if _has_odd_parts(nodes):
        return False
    parents = {id(c): p for node in nodes for p in ast.walk(node) for c in ast.iter_child_nodes(p)}
    for n in (n for node in nodes for n in ast.walk(node)):
        if not isinstance(n, ast.Name) or id(n) in own:
            continue
        if n.id in lists:
            return False
        if n.id in own:
            continue
        value = next((f[n.id] for f in reversed(s.frames) if n.id in f), None)
        if value is None or is_fixed(value):
            if not isinstance(value, Function) or is_closed_function(s, value, depth + 1):
                continue
            return False
        items = s.items(value)
        # What a method of an object of the program does is not said by its name.
        container = items is not None and items.of is None
        constants = items is not None and container and all(map(is_fixed, values_of(items)))
        if not constants or not _only_reads(n, parents.get(id(n)), parents):
            return False
    return True


def _only_reads(name: ast.Name, parent: ast.AST | None, parents: dict[int, ast.AST]) -> bool:
    """Whether a list or dict of constants is read here, and neither changed nor handed on."""
    match parent:
        case ast.Subscript(value, _, ast.Load()):
            return value is name
        case ast.Compare():
            return True
        case ast.Attribute(_, method):
            call = parents.get(id(parent))
            nothing = describe("object", method).changes is Change.NOTHING
            return nothing and isinstance(call, ast.Call) and call.func is parent
        case ast.comprehension(_, over) | ast.For(_, over):
            return over is name
        case ast.Call(ast.Name("len" | "sorted" | "min" | "max" | "sum" | "any" | "all")):
            return True
    return False
