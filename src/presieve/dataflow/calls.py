# SPDX-License-Identifier: Apache-2.0
"""Trusted. Calls: of models, of the user's own functions, and of code that is not followed.

Code that is not followed gets its arguments, and so may read all that they hold.
:mod:`presieve.dataflow.libraries` says whether it may change them, or do something that outlives
the call.
"""

from __future__ import annotations

import ast
from functools import reduce
from types import FunctionType

from presieve.dataflow import (  # noqa: F401
    column_methods,
    constructors,
    containers_of_items,
    grouping,
    merge_and_concat,
    table_methods,
)
from presieve.dataflow.abstract_values import (
    DATA,
    NONE,
    NOWHERE,
    PANDAS,
    WINDOW,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    BoundMethod,
    Class,
    Function,
    Grouped,
    Indexer,
    Items,
    Library,
    OpaqueValue,
    Ref,
    Row,
    Table,
    Value,
    join_all,
    packages_of,
    reach_of,
    union_of_packages,
)
from presieve.dataflow.analysis_state import AnalysisState, join_states
from presieve.dataflow.closures import free_names
from presieve.dataflow.context import (
    OUTSIDE,
    ActiveCall,
    Analysis,
    EvaluatedCall,
    Given,
    Returned,
    constant_of,
)
from presieve.dataflow.free_names import of_object
from presieve.dataflow.iteration import item_of, listed_items, rows_of
from presieve.dataflow.libraries import (
    MODELS,
    of_function,
    of_method,
    of_unknown,
    package_of,
    sees_variables,
)
from presieve.dataflow.objects import construct, own_method
from presieve.dataflow.python_operators import join_written
from presieve.dataflow.transfer_functions import find_transfer
from presieve.python_library.changed_arguments import may_change_argument, may_write_argument
from presieve.python_library.descriptions import NOT_DESCRIBED, Change
from presieve.python_library.method_catalogue import CATALOGUE, Owner, describe

_DEPTH = 8


def call(a: Analysis, s: AnalysisState, node: ast.Call) -> Value:
    """Evaluate a call expression."""
    callee = a.evaluator.evaluate(a, node.func, s)
    args, named, listed = _arguments(a, s, node)
    match callee:
        case Class() if listed and (made := construct(a, s, callee, Given(args, named, node))):
            return made
        case Ref() if listed and (own := own_method(a, s, callee, "__call__")):
            return inline_call(a, s, own[0], Given([*own[1], *args], named, node))
        case BoundMethod(Ref() as ref, name) if listed and (own := own_method(a, s, ref, name)):
            function, first = own
            return inline_call(a, s, function, Given([*first, *args], named, node))
        case Function() if listed:
            return inline_call(a, s, callee, Given(args, named, node))
        case Library(path):
            invocation = EvaluatedCall(a, s, callee, path, args, named, node)
            if _reads_the_clock(invocation):
                a.effect("clock", f"{ast.unparse(node.func)}() reads the clock", node)
            value = _apply_transfer("function", invocation) if listed else None
            return value if value is not None else of_package(invocation)
        case BoundMethod(owner, name):
            owner = _without_class(a, owner)
            invocation = EvaluatedCall(a, s, owner, name, args, named, node)
            value = _apply_transfer(_kind_of(s, owner), invocation) if listed else None
            return value if value is not None else unknown_method(invocation)
    return _unknown_callee(a, s, node, (_without_class(a, callee), *args, *named.values()))


def _without_class(a: Analysis, value: Value) -> Value:
    """Return what a call by a class from outside that is not read may reach: as any unknown code,
    it is taken to make something new.
    """
    places = reach_of(value) if isinstance(value, OpaqueValue) else NOWHERE
    are_classes = (p.site[0] == OUTSIDE and isinstance(a.outside[p.site[1]], type) for p in places)
    return OpaqueValue() if places and all(are_classes) else value


def _arguments(
    a: Analysis, s: AnalysisState, node: ast.Call
) -> tuple[list[Value], dict[str, Value], bool]:
    """Evaluate the arguments of a call, by position and by name, and tell whether these are all:
    items that the program lists may be passed with ``*`` and ``**``.
    """
    args: list[Value] = []
    named: dict[str, Value] = {}
    listed = True
    for part in node.args:
        if not isinstance(part, ast.Starred):
            args.append(a.evaluator.consume(a, part, s))
            continue
        value = a.evaluator.consume(a, part.value, s)
        items = listed_items(s, value)
        listed = listed and items is not None
        args += (value,) if items is None else items
    for keyword in node.keywords:
        value = a.evaluator.consume(a, keyword.value, s)
        items_ = s.items(value) if keyword.arg is None else None
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif items_ is not None and items_.kind == "dict" and items_.fields is not None:
            listed = listed and not (named.keys() & dict(items_.fields).keys())
            named |= dict(items_.fields)
        else:
            named["**"], listed = value, False
    return args, named, listed


def _unknown_callee(
    a: Analysis, s: AnalysisState, node: ast.Call, parts: tuple[Value, ...]
) -> Value:
    """Call a value that is no function of the program. ``parts``: the value, and its arguments."""
    callee, written = parts[0], f"{ast.unparse(node.func)}()"
    a.branches_on(callee, node)
    packages = packages_of(callee)
    # Data is not called: it is something else that was put among the data.
    unknown = packages is None or packages <= PANDAS
    if unknown:
        a.may_change(s, reach_of(callee), node, written)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        a.does(written, of_unknown(name), node)
    elif packages is not None:
        calls_methods = packages & {"operator", "_operator", "functools", "_functools"}
        for part in parts if calls_methods else (callee,):
            a.changes(reach_of(part), node, written)
    for part in parts:
        a.escapes(s, part, node, written, kept=unknown)
        callback(EvaluatedCall(a, s, callee, "", [*parts[1:]], {}, node), part)
    return OpaqueValue(s.reach(*parts), None if unknown else packages)


def _apply_transfer(owner: Owner | None, invocation: EvaluatedCall) -> Value | None:
    facts = NOT_DESCRIBED if owner is None else describe(owner, invocation.name)
    transfer = None if owner is None else find_transfer(owner, invocation.name)
    if owner in ("table", "function") and _is_asked_for_no_copy(invocation):
        transfer = None  # the result shares its memory with an argument
    value = None if transfer is None else transfer(invocation._replace(facts=facts))
    if owner in ("column", "table", "groups", "window"):
        for argument in invocation.values:
            if invocation.s.items(argument) is not None:
                invocation.a.hides_cells(invocation.s, argument)
    if value is None or not (facts.separate or _is_by_row(invocation.s, value)):
        parts = (invocation.owner, *invocation.values)
        fixed = all(map(invocation.s.is_made_once, parts)) or _applied_to(invocation) is not None
        if not fixed and not _is_message(invocation):
            invocation.a.branches_on(invocation.owner, invocation.node)
    return value


def _is_asked_for_no_copy(invocation: EvaluatedCall) -> bool:
    copy = invocation.named.get("copy")
    return copy is not None and constant_of(invocation.s, copy) is not True


def _is_by_row(s: AnalysisState, value: Value) -> bool:
    """Whether a value has an item or a row for each row of a table, made from that row alone."""
    if isinstance(value, AbstractColumn):
        return value.rowwise
    table, items = s.table(value), s.items(value)
    of_list = items is not None and items.each is not None
    return rows_of(s, value) is not None or of_list or (table is not None and table.rowwise)


def _is_message(invocation: EvaluatedCall) -> bool:
    """Whether a call does nothing but write a message."""
    if isinstance(invocation.owner, Library):
        doing = of_function(invocation.name)
        return doing is not None and doing.kind == "message"
    doing = of_method(invocation.s.packages(invocation.owner), invocation.name)
    return doing is not None and doing.kind == "message" and invocation.name in CATALOGUE["logger"]


def _kind_of(s: AnalysisState, owner: Value) -> Owner | None:
    if s.table(owner) is not None:
        return "table"
    if s.items(owner) is not None:
        return "object"
    match owner:
        case Indexer(AbstractColumn(), name=how) if how == WINDOW:
            return "window"
        case AbstractColumn() | Indexer(AbstractColumn()):
            return "column"
        case Grouped():
            return "groups"
    return None


def of_package(invocation: EvaluatedCall) -> Value:
    """Call a function of a package that has no model: it reads its arguments, and changes none of
    them unless it is known to.
    """
    a, s, node = invocation.a, invocation.s, invocation.node
    written = ast.unparse(node.func)
    doing = of_function(invocation.name)
    if doing is not None:
        a.does(f"{written}()", doing, node)
        if sees_variables(invocation.name):
            a.shows_variables(s, node, f"{written}()")
    changes = unknown = doing is not None and doing.is_of_unknown_code
    changes = changes or bool(invocation.named.keys() & {"out", "inplace"}) or _writes(invocation)
    for value in invocation.values:
        a.observe(s, value, node, f"{written}() may read all columns")
        if changes:
            if not unknown and isinstance(value, Class | Function | Library):
                a.effect("state", f"{written}() changes what was there before the call", node)
            if unknown:
                a.may_change(s, reach_of(value), node, f"{written}()")
            else:
                a.changes(reach_of(value), node, f"{written}()")
            a.escapes(s, value, node, f"{written}()", kept=unknown)
            if s.packages(value) is None:
                a.runs_unknown(f"{written}()", "changes what is not known", node)
        callback(invocation, value)
    if invocation.name.startswith(_DEFERRING):
        _keep_arguments(invocation)
    packages: frozenset[str] | None = None
    if not unknown:
        # The function may return its arguments.
        own = DATA | {package_of(invocation.name)}
        packages = union_of_packages((own, *map(s.packages, invocation.values)))
    made_once = all(map(s.is_made_once, invocation.values))
    if invocation.name == "builtins.float":
        return AbstractScalar(fixed=made_once, double=True)
    return OpaqueValue(
        s.reach(*invocation.values), packages, fixed=made_once and packages is not None
    )


APPLIED = frozenset(
    ("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples")
)
"""Methods of models that give an item for each row of their argument, made from that row."""


def _applied_to(invocation: EvaluatedCall) -> AllocationSite | None:
    """The rows to which a model is applied that depends on none of them; None for other calls."""
    owner = invocation.owner
    if not isinstance(owner, OpaqueValue) or not owner.fixed or invocation.name not in APPLIED:
        return None
    if len(invocation.args) != 1 or invocation.named:
        return None
    given = invocation.args[0]
    table = invocation.s.table(given)
    if table is not None:
        alone = table.rest is None and all(c.rowwise and not c.mixed for c in table.all_columns)
        return table.rows if alone and table.rowwise else None
    alone = isinstance(given, AbstractColumn) and given.rowwise and not given.mixed
    return given.rows if isinstance(given, AbstractColumn) and alone else None


def _reads_the_clock(invocation: EvaluatedCall) -> bool:
    """Whether a word asks for the current time, as in ``pd.Timestamp("now")``."""
    times = ("pandas.", "numpy.datetime64")
    words = [constant_of(invocation.s, v) for v in invocation.values]
    return invocation.name.startswith(times) and bool(
        {"now", "today"} & {w for w in words if type(w) is str}
    )


def _writes(invocation: EvaluatedCall) -> bool:
    """Whether a function of a package may change an argument."""
    named = {n: constant_of(invocation.s, v) for n, v in invocation.named.items()}
    return may_change_argument(invocation.name, len(invocation.args), named)


def unknown_method(invocation: EvaluatedCall) -> Value:
    """Call a method that has no model: it reads all that its owner and its arguments reach."""
    a, s, node = invocation.a, invocation.s, invocation.node
    written = ast.unparse(node.func)
    packages = s.packages(invocation.owner)
    doing = of_method(packages, invocation.name)
    if doing is not None and not (invocation.name.startswith("to_") and not invocation.values):
        a.does(f"{written}()", doing, node)
    for value in (invocation.owner, *invocation.values):
        a.observe(s, value, node, f"{written}() may read all columns")
        callback(invocation, value)
    gives = _of_model(invocation, packages)
    name = invocation.name
    still = bool(gives or find_transfer("table", name) or find_transfer("column", name))
    still = still and not may_write_argument(name, len(invocation.args))
    change = _change_of_object(name)
    may_change = change in (Change.STORES, Change.REMOVES)
    if still and may_change and not isinstance(invocation.owner, AbstractColumn):
        a.changes(reach_of(invocation.owner), node, f"{written}()")
    if doing is not None and doing.kind == "message" and invocation.name in CATALOGUE["logger"]:
        return NONE
    if not still or invocation.named.keys() & {"inplace", "out"} or packages is None:
        _change_owner(invocation, packages)
    if isinstance(invocation.owner, OpaqueValue) and packages is not None and not gives:
        for value in invocation.values if not still or change is Change.STORES else ():
            if not isinstance(value, Function | BoundMethod):  # which callback() accounts for
                a.stores(s, value, node, f"{written}()")
            if change is Change.STORES:  # it may be taken out and changed later
                a.escapes(s, value, node, f"{written}()", kept=True)
    if gives == "table" or _is_new_table(invocation, packages):
        any_column = AbstractColumn(memory=s.reach(invocation.owner) if gives is None else NOWHERE)
        return s.make(invocation.site(), lambda place: Table((), place, any_column, sure=False))
    if gives == "items" and invocation.args:
        table, handed = s.table(invocation.args[0]), invocation.args[0]
        of = handed.rows if isinstance(handed, AbstractColumn) else None
        alone = _applied_to(invocation) is not None
        rows = of if table is None else table.rows
        return OpaqueValue(packages=DATA | {"numpy"}, rows=rows, rowwise=alone)
    if packages is not None and name in _GIVES_TEXTS and not isinstance(invocation.owner, Ref):
        return AbstractScalar(text=True)
    return OpaqueValue(s.reach(invocation.owner, *invocation.values), packages)


_GIVES_TEXTS = frozenset(
    (
        *("capitalize", "decode", "format", "hexdigest", "isoformat", "join", "ljust", "lower"),
        *("lstrip", "replace", "rjust", "rstrip", "strftime", "strip", "title", "upper", "zfill"),
    )
)
"""Methods of single values that never give a number."""


def _change_owner(invocation: EvaluatedCall, packages: frozenset[str] | None) -> None:
    """Account for a method that may change its owner, and one that is not known also arguments."""
    a, s, owner, node = invocation.a, invocation.s, invocation.owner, invocation.node
    written = f"{ast.unparse(node.func)}()"
    if packages is not None:
        a.changes(reach_of(owner), node, written)
        a.escapes(s, owner, node, written)
        return
    a.may_change(s, reach_of(owner), node, written)
    for value in (owner, *invocation.values):
        a.escapes(s, value, node, written, kept=True)


def _of_model(invocation: EvaluatedCall, packages: frozenset[str] | None) -> str | None:
    """What a method of a fitted model returns (a kind of ``MODELS``); None if that is unknown."""
    if not isinstance(invocation.owner, OpaqueValue) or packages is None:
        return None
    return next(
        (
            methods.get(invocation.name)
            for package, methods in MODELS.items()
            if package in packages <= PANDAS | {package}
        ),
        None,
    )


def _is_new_table(invocation: EvaluatedCall, packages: frozenset[str] | None) -> bool:
    """Whether a method returns a table about which nothing else is known. Any pandas object with a
    ``reset_index`` returns a copy, with its labels as columns; one with a ``to_frame`` is no table.
    """
    own = isinstance(invocation.owner, OpaqueValue) and packages is not None and packages <= PANDAS
    accepted = {"reset_index": {"names"}, "to_frame": {"name"}}.get(invocation.name)
    return (
        own and accepted is not None and not invocation.args and invocation.named.keys() <= accepted
    )


def _change_of_object(method: str) -> Change:
    """How a method of this name changes an object of Python's own."""
    return describe("object", method).changes


def callback(invocation: EvaluatedCall, value: Value) -> None:
    """Account for a function passed as an argument: it may be called any number of times."""
    if isinstance(value, Function):
        later = _may_call_later(invocation)
        reach = invocation.s.reach(invocation.owner, *invocation.values)
        argument = OpaqueValue(reach, PANDAS if later is False else None)
        result = called_back(invocation.a, invocation.s, value, argument, invocation.node)
        invocation.a.hides(invocation.s, result)
        if later:
            captures(invocation.a, invocation.s, value, invocation.node)
    elif isinstance(value, BoundMethod):
        _account_for_method(invocation, value)
    elif isinstance(value, AbstractTuple):
        for item in value.items:
            if isinstance(item, Function | BoundMethod | Library):
                callback(invocation, item)
    elif isinstance(value, Library):
        doing = of_function(value.path)
        if doing is not None:
            invocation.a.does(f"{value.path}()", doing, invocation.node)
    elif isinstance(value, Ref) and (items_ := invocation.s.items(value)) is not None:
        for inner in (*(items_.fixed or ()), *(v for _, v in items_.fields or ())):
            if isinstance(inner, Function | Library):
                callback(invocation, inner)


_DEFERRING = ("functools.", "itertools.", "collections.", "builtins.map", "builtins.filter")
"""Functions that keep the functions that they are given."""


def _keep_arguments(invocation: EvaluatedCall) -> None:
    """Account for arguments that a function gets later, or their items: it may change them then."""
    a, s, node = invocation.a, invocation.s, invocation.node
    if not any(isinstance(v, Function | BoundMethod) for v in invocation.values):
        return
    by_item = invocation.name.startswith("builtins.")
    for value in invocation.values:
        kept = item_of(a, s, value, node) if by_item else value
        if not isinstance(kept, Row):
            a.escapes(s, kept, node, "a function that is kept", kept=True)


def _may_call_later(invocation: EvaluatedCall) -> bool:
    """Whether a function that is passed as an argument may be called after the call has ended."""
    if isinstance(invocation.owner, Library):
        doing = of_function(invocation.name)
        unknown = doing is not None and doing.is_of_unknown_code
        return unknown or invocation.name.startswith(_DEFERRING)
    return invocation.s.packages(invocation.owner) is None


def captures(a: Analysis, s: AnalysisState, function: Function, node: ast.AST) -> None:
    """Account for a function that may be called at any time: what its variables hold, now or later,
    has been handed over.
    """
    names = free_names(function.node)
    a.captured |= names
    for frame in s.frames:
        for name in names & frame.keys():
            a.escapes(s, frame[name], node, "a function that is kept", kept=True)


def _account_for_method(invocation: EvaluatedCall, method: BoundMethod) -> None:
    """Account for a method passed to a function, which may call it any number of times."""
    a, s = invocation.a, invocation.s
    packages = s.packages(method.owner)
    doing = of_method(packages, method.name)
    if s.items(method.owner) is None and doing is not None:
        a.does(f".{method.name}()", doing, invocation.node)
    if _change_of_object(method.name) is not Change.NOTHING and s.table(method.owner) is None:
        a.changes(reach_of(method.owner), invocation.node, f".{method.name}()")
        a.escapes(s, method.owner, invocation.node, f".{method.name}()")


def called_back(
    a: Analysis, s: AnalysisState, function: Function, argument: Value, node: ast.AST
) -> Value:
    """The value of a function that is called any number of times, with any arguments. Who puts it
    where it is not followed must say so (``hides``).
    """
    count = len(function.node.args.args) + len(function.node.args.posonlyargs)
    before = s.copy()
    a.alone = False
    value: Value = OpaqueValue()
    for _ in range(2):
        # The second call starts from what the first has changed; a third would see nothing new.
        value = inline_call(a, s, function, Given([argument] * count, {}, node))
        s.become(join_states(before, s))
    return value


def inline_call(a: Analysis, s: AnalysisState, function: Function, arguments: Given) -> Value:
    """Evaluate a call of the user's own function by following its body."""
    node = arguments.node
    inside = any(f.node is function.node for f in a.stack)
    frame = (
        _bind_arguments(a, s, function, arguments) if len(a.stack) < _DEPTH and not inside else None
    )
    if frame is None:
        a.unfollowed.add((node, function.node))
        for value in arguments.values:
            a.escapes(s, value, node, "a call that is not followed", kept=True)
        if not inside:
            a.effect("unread", f"{ast.unparse(node)} is not followed", node)
        return OpaqueValue(s.reach(*arguments.values))
    a.followed.add((node, function.node))
    parent = function.frame if function.frame >= 0 else None
    a.stack.append(ActiveCall(function.owner, parent, function.node, node))
    s.frames.append(frame)
    finals, a.finals = a.finals, []
    a.returns.append([])
    body = function.node.body
    if isinstance(function.node, ast.Lambda):
        assert isinstance(body, ast.expr)
        a.returns[-1].append(Returned(a.evaluator.evaluate(a, body, s), s.copy()))
    elif any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(function.node)):
        a.unfollowed.add((node, function.node))
        values = AbstractTuple(tuple(frame.values()))
        a.escapes(s, values, node, "a generator of the user's", kept=True)
        a.effect("unread", "a generator of the user's is not followed", node)
        a.returns[-1].append(Returned(OpaqueValue(), s.copy()))
    else:
        assert isinstance(body, list)
        if a.evaluator.block(a, body, s):
            a.returns[-1].append(Returned(NONE, s.copy()))
    ends = a.returns.pop()
    a.finals = finals
    a.stack.pop()
    return _meet(s, ends)


def _meet(s: AnalysisState, ends: list[Returned]) -> Value:
    if not ends:  # it raises
        s.frames.pop()
        return OpaqueValue(packages=DATA)
    s.become(reduce(join_states, (e.state for e in ends)))
    s.frames.pop()
    return join_written([(e.node, e.value) for e in ends])


def _bind_arguments(
    a: Analysis, s: AnalysisState, function: Function, arguments: Given
) -> dict[str, Value] | None:
    """Map parameters to arguments; None if they do not fit."""
    spec, (args, named, _) = function.node.args, arguments
    names = [p.arg for p in (*spec.posonlyargs, *spec.args)]
    keyword = [p.arg for p in spec.kwonlyargs]
    others = {n: v for n, v in named.items() if n not in (*names, *keyword)}
    if (len(args) > len(names) and not spec.vararg) or (others and not spec.kwarg):
        return None
    env: dict[str, Value] = dict(zip(names, args, strict=False))
    if named.keys() & env.keys():
        return None
    env.update({n: v for n, v in named.items() if n not in others})
    owner = a.owners[function.owner]
    is_owner_itself = function.frame < 0 and owner.source.node is function.node
    defaults = _defaults(owner.function) if is_owner_itself else {}
    for name in (*names, *keyword):
        if name not in env:
            default = defaults.get(name, ...)
            if default is not ...:
                env[name] = of_object(a, s, default, f"{owner.function.__name__}({name})")
            elif is_owner_itself or not (spec.defaults or spec.kw_defaults):
                return None
            else:
                env[name] = OpaqueValue()
    if spec.vararg:
        env[spec.vararg.arg] = AbstractTuple(tuple(args[len(names) :]))
    if spec.kwarg:
        rest = Items("dict", join_all(others.values()), None, tuple(others.items()))
        env[spec.kwarg.arg] = s.make(a.site(arguments.node, 7), lambda _: rest)
    return env


def _defaults(function: FunctionType) -> dict[str, object]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    default_values = function.__defaults__ or ()
    positional: dict[str, object] = dict(
        zip(names[len(names) - len(default_values) :], default_values, strict=True)
    )
    return {**positional, **(function.__kwdefaults__ or {})}
