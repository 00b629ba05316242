"""Trusted. Calls: of models, of the user's own functions, and of what is not followed.

What is not followed gets its arguments, and so may read all that they hold. Whether it may change
them, or do something that outlives the call, says :mod:`presieve.dataflow.libraries`.
"""

from __future__ import annotations

import ast
import inspect
import sys
from types import FunctionType

from presieve.dataflow import columns, constructors, grouping, items, joins, tables  # noqa: F401
from presieve.dataflow.context import Analysis, Call, Frame, Given, constant_of
from presieve.dataflow.libraries import (
    MESSAGE_METHODS,
    MODELS,
    of_function,
    of_method,
    sees_variables,
)
from presieve.dataflow.outside import of_object
from presieve.dataflow.registry import (
    COLUMN_METHODS,
    FUNCTIONS,
    GROUPED_METHODS,
    ITEMS_METHODS,
    SEPARATE,
    TABLE_METHODS,
    WINDOW_METHODS,
    Model,
)
from presieve.dataflow.state import State, join_states
from presieve.dataflow.values import (
    DATA,
    NONE,
    NOWHERE,
    WINDOW,
    Column,
    Function,
    Grouped,
    Indexer,
    Library,
    Method,
    Opaque,
    Ref,
    Table,
    TupleV,
    Value,
    is_fixed,
    join,
    packages_of,
    reach_of,
)

_DEPTH = 8


def call(a: Analysis, s: State, node: ast.Call) -> Value:
    """The value of a call as it is written."""
    callee = a.evaluator.evaluate(a, node.func, s)
    starred = any(isinstance(x, ast.Starred) for x in node.args)
    args = [
        a.evaluator.consumed(a, x.value if isinstance(x, ast.Starred) else x, s) for x in node.args
    ]
    named = {k.arg or "**": a.evaluator.consumed(a, k.value, s) for k in node.keywords}
    listed = not starred and "**" not in named
    match callee:
        case Function() if listed:
            return inlined(a, s, callee, Given(args, named, node))
        case Library(path):
            made = Call(a, s, callee, path, args, named, node)
            if _reads_the_clock(made):
                a.effect("clock", f"{ast.unparse(node.func)}() reads the clock", node)
            found = _modelled(FUNCTIONS.get(path), made) if listed else None
            return found if found is not None else of_package(made)
        case Method(owner, name):
            made = Call(a, s, owner, name, args, named, node)
            found = _modelled(_method(s, owner, name), made) if listed else None
            return found if found is not None else unknown_method(made)
    a.branches_on(callee, node)
    a.changes(reach_of(callee), node, f"{ast.unparse(node.func)}()")
    for part in (callee, *args, *named.values()):
        a.escapes(s, part, node, f"{ast.unparse(node.func)}()")
    if packages_of(callee) is None:
        a.effect("unknown", f"{ast.unparse(node.func)}() is not known", node)
    given = (callee, *args, *named.values())
    return Opaque(s.reachable(frozenset().union(*map(reach_of, given))), packages_of(callee))


def _modelled(model: Model | None, made: Call) -> Value | None:
    found = None if model is None else model(made)
    if found is None or model not in SEPARATE:
        given = (made.owner, *made.args, *made.named.values())
        if not all(is_fixed(v) for v in given) and not _is_message(made):
            made.a.branches_on(made.owner, made.node)
    return found


def _is_message(made: Call) -> bool:
    """Whether nothing but a message comes of a call."""
    if isinstance(made.owner, Library):
        doing = of_function(made.name)
        return doing is not None and doing.kind == "message"
    doing = of_method(made.s.packages(made.owner), made.name)
    return doing is not None and doing.kind == "message" and made.name in MESSAGE_METHODS


def _method(s: State, owner: Value, name: str) -> Model | None:
    if s.table(owner) is not None:
        return TABLE_METHODS.get(name)
    if s.items(owner) is not None:
        return ITEMS_METHODS.get(name)
    match owner:
        case Indexer(Column(), name=how) if how == WINDOW:
            return WINDOW_METHODS.get(name)
        case Column() | Indexer(Column()):
            return COLUMN_METHODS.get(name)
        case Grouped():
            return GROUPED_METHODS.get(name)
        case Indexer(Grouped()):
            return None
    return None


def of_package(made: Call) -> Value:
    """A function of a package that has no model: it reads its arguments, and changes none."""
    a, s, node = made.a, made.s, made.node
    written = ast.unparse(node.func)
    doing = of_function(made.name)
    if doing is not None:
        a.effect(doing.kind, f"{written}() {doing.reason}", node)
        if sees_variables(made.name):
            a.shows_variables(s, node, f"{written}()")
    given = [*made.args, *made.named.values()]
    changes = doing is not None and doing.kind == "unknown"
    changes = changes or bool(made.named.keys() & {"out", "inplace"}) or _writes(made)
    for value in given:
        a.observe(s, value, node, f"{written}() may read all columns")
        if changes:
            a.changes(reach_of(value), node, f"{written}()")
            a.escapes(s, value, node, f"{written}()")
            if s.packages(value) is None:
                a.effect("unknown", f"{written}() changes what is not known", node)
        callback(made, value)
    held = [s.packages(v) for v in given]
    known: frozenset[str] | None = None
    if None not in held and not (doing is not None and doing.kind == "unknown"):
        # What is given may come back.
        known = DATA.union((made.name.partition(".")[0],), *(h for h in held if h))
    return Opaque(s.reachable(frozenset().union(*map(reach_of, given))), known)


def _reads_the_clock(made: Call) -> bool:
    """Whether a time is asked for by its word, as in ``pd.Timestamp("now")``."""
    times = ("pandas.", "numpy.datetime64")
    words = [constant_of(made.s, v) for v in (*made.args, *made.named.values())]
    return made.name.startswith(times) and bool(
        {"now", "today"} & {w for w in words if type(w) is str}
    )


_IN_PLACE = (
    *("setitem", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod"),
    *("imul", "ior", "ipow", "irshift", "isub", "itruediv", "ixor"),
)
_CHANGING = frozenset(
    (
        *("numpy.copyto", "numpy.fill_diagonal", "numpy.place", "numpy.put", "numpy.putmask"),
        *("random.shuffle", "numpy.random.shuffle", "bisect.insort", "bisect.insort_left"),
        *("bisect.insort_right", "builtins.next", "builtins.setattr", "builtins.delattr"),
        *(f"{module}.{name}" for module in ("operator", "_operator") for name in _IN_PLACE),
    )
)
"""Functions of packages that change an argument."""


_CLASSES = (
    *("builtins.dict.", "builtins.list.", "builtins.set.", "collections.", "pandas.DataFrame."),
    *("pandas.Series.", "pandas.core."),
)
_REMOVING = frozenset(
    (
        *("clear", "discard", "pop", "popitem", "popleft", "remove", "reverse", "sort"),
        *("__delitem__", "__iadd__", "__ior__", "__setattr__"),
    )
)


def _writes(made: Call) -> bool:
    """Whether a function of a package changes an argument, as numpy's do with ``out``."""
    path, count = made.name, len(made.args)
    if path in _CHANGING or path.startswith("heapq."):
        return True
    if path.startswith(_CLASSES):
        return path.rpartition(".")[2] in _KEEPING | _REMOVING
    if not path.startswith("numpy."):
        return False
    found: object = sys.modules.get("numpy")
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    inputs = getattr(found, "nin", None)
    if isinstance(inputs, int):
        return count > inputs
    try:
        names = [*inspect.signature(found).parameters] if callable(found) else []
    except ValueError:
        return count > 1
    return "out" in names[:count] or not names


def unknown_method(made: Call) -> Value:
    """A method that has no model: it reads all that its owner and its arguments reach."""
    a, s, node = made.a, made.s, made.node
    written = ast.unparse(node.func)
    packages = s.packages(made.owner)
    doing = of_method(packages, made.name)
    if doing is not None and not (made.name.startswith("to_") and not [*made.args, *made.named]):
        a.effect(doing.kind, f"{written}() {doing.reason}", node)
    given = [*made.args, *made.named.values()]
    for value in (made.owner, *given):
        a.observe(s, value, node, f"{written}() may read all columns")
        callback(made, value)
    gives = _of_model(made, packages)
    still = made.name in TABLE_METHODS or made.name in COLUMN_METHODS or gives is not None
    if still and made.name in _OF_CONTAINERS and not isinstance(made.owner, Column):
        a.changes(reach_of(made.owner), node, f"{written}()")
    if doing is not None and doing.kind == "message" and made.name in MESSAGE_METHODS:
        return NONE
    if not still or made.named.keys() & {"inplace", "out"} or packages is None:
        a.changes(reach_of(made.owner), node, f"{written}()")
        a.escapes(s, made.owner, node, f"{written}()")
        if packages is None:
            for value in given:
                a.escapes(s, value, node, f"{written}()")
    if made.name in _KEEPING and isinstance(made.owner, Opaque):
        # It comes out again as anything.
        for value in given:
            a.escapes(s, value, node, f"{written}()")
    if gives == "table" or _is_new_table(made, packages):
        held = Column(memory=s.reachable(reach_of(made.owner)) if gives is None else NOWHERE)
        return s.make(made.site(), lambda place: Table((), place, held, sure=False))
    if gives == "items" and made.args:
        table, handed = s.table(made.args[0]), made.args[0]
        of = handed.rows if isinstance(handed, Column) else None
        return Opaque(packages=DATA | {"numpy"}, rows=of if table is None else table.rows)
    reach = s.reachable(frozenset().union(*map(reach_of, (made.owner, *given))))
    return Opaque(reach, packages)


def _of_model(made: Call, packages: frozenset[str] | None) -> str | None:
    """What a method of a model gives; None where that is not known."""
    if not isinstance(made.owner, Opaque) or packages is None:
        return None
    return next(
        (
            methods.get(made.name)
            for package, methods in MODELS.items()
            if package in packages <= _DATA | {package}
        ),
        None,
    )


def _is_new_table(made: Call, packages: frozenset[str] | None) -> bool:
    """Whether a method gives a table of which nothing else is known: whatever it is of pandas that
    has ``reset_index`` gives a copy, with its labels as columns; what has ``to_frame`` is no table.
    """
    own = isinstance(made.owner, Opaque) and packages is not None and packages <= _DATA
    known = {"reset_index": {"names"}, "to_frame": {"name"}}.get(made.name)
    return own and known is not None and not made.args and made.named.keys() <= known


_KEEPING = frozenset(
    (
        *("add", "append", "appendleft", "extend", "extendleft", "insert", "put", "setdefault"),
        *("update", "__setitem__"),
    )
)
"""Methods by which a container keeps what it is given."""
_OF_CONTAINERS = frozenset(("add", "insert", "pop", "update"))
"""Methods that change lists, sets and dicts, and do not change a Series or DataFrame, or do."""


def callback(made: Call, value: Value) -> None:
    """A function that is given to another one may be called, any number of times."""
    if isinstance(value, Function):
        reach = frozenset().union(*map(reach_of, (made.owner, *made.args, *made.named.values())))
        called_back(made.a, made.s, value, Opaque(made.s.reachable(reach), _DATA), made.node)
    elif isinstance(value, Method):
        _called_later(made, value)
    elif isinstance(value, Library):
        doing = of_function(value.path)
        if doing is not None:
            made.a.effect(doing.kind, f"{value.path}() {doing.reason}", made.node)
    elif isinstance(value, Ref) and (items_ := made.s.items(value)) is not None:
        for inner in (*(items_.fixed or ()), *(v for _, v in items_.fields or ())):
            if isinstance(inner, Function | Library):
                callback(made, inner)


_ASKING = frozenset(("count", "endswith", "format", "get", "index", "items", "join", "keys")) | {
    *("match", "replace", "search", "split", "startswith", "strip", "values", "__contains__"),
    *("__getitem__", "lower", "upper", "title"),
}
"""Methods of Python's values and containers that change nothing."""


def _called_later(made: Call, method: Method) -> None:
    """A method that is given to a function, which may call it any number of times."""
    a, s = made.a, made.s
    packages = s.packages(method.owner)
    doing = of_method(packages, method.name)
    if s.items(method.owner) is None and doing is not None:
        a.effect(doing.kind, f".{method.name}() {doing.reason}", made.node)
    if method.name not in _ASKING and s.table(method.owner) is None:
        a.changes(reach_of(method.owner), made.node, f".{method.name}()")
        a.escapes(s, method.owner, made.node, f".{method.name}()")


_DATA = DATA | {"pandas", "numpy"}


def called_back(a: Analysis, s: State, function: Function, argument: Value, node: ast.AST) -> Value:
    """What a function gives that somebody calls, any number of times, with anything."""
    count = len(function.node.args.args) + len(function.node.args.posonlyargs)
    before = s.copy()
    a.alone = False
    value: Value = Opaque()
    for _ in range(2):
        # A second time on what the first one has changed: then nothing new can be seen.
        value = inlined(a, s, function, Given([argument] * count, {}, node))
        s.become(join_states(before, s))
    return value


def inlined(a: Analysis, s: State, function: Function, given: Given) -> Value:
    """The value of a function of the user's, by following its body."""
    node = given.node
    inside = any(f.node is function.node for f in a.stack)
    frame = _bound(a, s, function, given) if len(a.stack) < _DEPTH and not inside else None
    if frame is None:
        for value in given.values:
            a.escapes(s, value, node, "a call that is not followed")
        if not inside:
            a.effect("unknown", f"{ast.unparse(node)} is not followed", node)
        return Opaque(s.reachable(frozenset().union(*map(reach_of, given.values))))
    parent = function.frame if function.frame >= 0 else None
    a.stack.append(Frame(function.owner, parent, function.node, node))
    s.frames.append(frame)
    finals, a.finals = a.finals, []
    a.returns.append([])
    body = function.node.body
    if isinstance(function.node, ast.Lambda):
        assert isinstance(body, ast.expr)
        a.returns[-1].append((a.evaluator.evaluate(a, body, s), s.copy()))
    elif _yields(function.node):
        a.escapes(s, TupleV(tuple(frame.values())), node, "a generator of the user's")
        a.effect("unknown", "a generator of the user's is not followed", node)
        a.returns[-1].append((Opaque(), s.copy()))
    else:
        assert isinstance(body, list)
        if a.evaluator.block(a, body, s):
            a.returns[-1].append((NONE, s.copy()))
    ends = a.returns.pop()
    a.finals = finals
    a.stack.pop()
    return _meet(s, ends)


def _meet(s: State, ends: list[tuple[Value, State]]) -> Value:
    if not ends:  # it raises
        s.frames.pop()
        return Opaque(packages=DATA)
    value, state = ends[0]
    for other, there in ends[1:]:
        value, state = join(value, other), join_states(state, there)
    s.become(state)
    s.frames.pop()
    return value


def _yields(node: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(node))


def _bound(a: Analysis, s: State, function: Function, given: Given) -> dict[str, Value] | None:
    """The parameters with their arguments; None where they do not fit, or are gathered."""
    spec, (args, named, _) = function.node.args, given
    names = [p.arg for p in (*spec.posonlyargs, *spec.args)]
    if spec.vararg or spec.kwarg or len(args) > len(names):
        return None
    env: dict[str, Value] = dict(zip(names, args, strict=False))
    if named.keys() & env.keys():
        return None
    env.update(named)
    keyword = [p.arg for p in spec.kwonlyargs]
    owner = a.owners[function.owner]
    whole = function.frame < 0 and owner.source.node is function.node
    defaults = _defaults(owner.function) if whole else {}
    for name in (*names, *keyword):
        if name not in env:
            found = defaults.get(name, ...)
            if found is not ...:
                env[name] = of_object(a, s, found, f"{owner.function.__name__}({name})")
            elif whole or not (spec.defaults or spec.kw_defaults):
                return None
            else:
                env[name] = Opaque()
    return env if env.keys() <= {*names, *keyword} else None


def _defaults(function: FunctionType) -> dict[str, object]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    given = function.__defaults__ or ()
    found: dict[str, object] = dict(zip(names[len(names) - len(given) :], given, strict=True))
    return {**found, **(function.__kwdefaults__ or {})}
