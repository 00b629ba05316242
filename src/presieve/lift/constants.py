"""Trusted. Whether a global constant is the same where the function runs.

A function that stands in a module of its own is pickled by name: a worker imports the module
again and sees what its source says, not what the driver has assigned since (cloudpickle,
``_should_pickle_by_reference``). Every other function takes the values of its globals along.
"""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import sys
from collections.abc import Mapping, Sequence
from types import FunctionType

from presieve.ir.fold import Assumption
from presieve.ir.terms import TRUE
from presieve.lift.names import is_calendar
from presieve.lift.source import module_tree

_COLLECTIONS = {"frozenset": frozenset, "set": set, "tuple": tuple, "list": list}


def constant_assumptions(
    function: FunctionType, node: ast.FunctionDef, names: set[str]
) -> tuple[Assumption, ...]:
    """An assumption for each global or default whose value in a worker is not certain.

    ``names`` are the globals that the function has asked for, ``node`` is its definition.
    """
    if not _by_reference(function):
        return ()
    tree, namespace = module_tree(function), function.__globals__
    found = [
        _assumption(f"global {n}", namespace[n])
        for n in sorted(names)
        if not _is_certain(n, tree, namespace)
    ]
    for name, (expression, value) in _defaults(function, node).items():
        if not _same(_constant(expression, namespace), value):
            found.append(_assumption(f"default of {name} in {function.__name__}", value))
    return tuple(found)


def helper_assumptions(
    name: str, function: FunctionType, namespace: Mapping[str, object]
) -> tuple[Assumption, ...]:
    """An assumption where a function that is called by its global name may be another one in a
    worker, which imports the module of the caller again.
    """
    module = namespace.get("__name__")
    if namespace.get(name) is not function or module == "__main__":
        return ()
    if getattr(sys.modules.get(str(module)), "__dict__", None) is not namespace:
        return ()
    if function.__name__ == name and _by_reference(function):
        return ()
    text = f"the function {name} of the module {module} is the same in the workers"
    return (Assumption("constant", text, TRUE),)


def _assumption(what: str, value: object) -> Assumption:
    text = f"the {what} is {value!r} in the workers, too: pass it by a closure to be sure"
    return Assumption("constant", text, TRUE)


def _defaults(
    function: FunctionType, node: ast.FunctionDef
) -> Mapping[str, tuple[ast.expr, object]]:
    """Each default as written and as it is."""
    positional = [*node.args.posonlyargs, *node.args.args]
    written = node.args.defaults
    values = function.__defaults__ or ()
    names = [a.arg for a in positional[len(positional) - len(written) :]]
    found = dict(zip(names, zip(written, values, strict=False), strict=False))
    for argument, expression in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if expression is not None:
            values_by_name = function.__kwdefaults__ or {}
            found[argument.arg] = (expression, values_by_name.get(argument.arg))
    return found


def _by_reference(function: FunctionType) -> bool:
    if function.__module__ in (None, "__main__"):
        return False
    found: object = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _is_certain(name: str, tree: ast.Module, namespace: dict[str, object]) -> bool:
    """Whether the module assigns the name once, at its top level, from a constant of this value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global) and name in node.names:
            return False
    stores = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name(found)], value) if found == name:
                pass
            case ast.AnnAssign(ast.Name(found), _, ast.expr() as value) if found == name:
                pass
            case _:
                continue
        own = [s for s in stores if s.lineno == statement.lineno]
        elsewhere = len(stores) - len(own)
        return elsewhere == 0 and _same(_constant(value, namespace), namespace[name])
    return False


def _same(a: object, b: object) -> bool:
    if isinstance(a, set | frozenset) and type(a) is type(b):
        assert isinstance(b, set | frozenset)
        return sorted(map(repr, a)) == sorted(map(repr, b))
    return type(a) is type(b) and repr(a) == repr(b)


class _Unknown:
    """Not a constant that can be read from the source."""


def _constant(node: ast.expr, namespace: dict[str, object]) -> object:
    """The value of a display of literals, of a collection of one, or of a date or decimal of
    literals.
    """
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        pass
    match node:
        case ast.Call(ast.Name(name), [argument], []) if name in _COLLECTIONS:
            inner = _constant(argument, namespace)
            if name not in namespace and isinstance(inner, list | tuple | set):
                return _COLLECTIONS[name](inner)
        case ast.Call(ast.Name("float"), [ast.Constant(str() as text)], []):
            if "float" not in namespace and text.lstrip("+-") in ("inf", "nan"):
                return float(text)
        case ast.Call(function, arguments, []):
            make = _maker(function, namespace)
            literals = [a.value for a in arguments if isinstance(a, ast.Constant)]
            if make is not None and len(literals) == len(arguments):
                return _made(make, literals)
    return _Unknown()


def _maker(node: ast.expr, namespace: dict[str, object]) -> type | None:
    found: object = None
    match node:
        case ast.Name(name):
            found = namespace.get(name)
        case ast.Attribute(ast.Name(name), attribute) if namespace.get(name) is dt:
            found = getattr(dt, attribute, None)
        case ast.Attribute(ast.Name(name), "Decimal") if namespace.get(name) is decimal:
            found = decimal.Decimal
        case ast.Attribute(ast.Name(name), "Timestamp"):
            found = getattr(namespace.get(name), "Timestamp", None)
    known = found is decimal.Decimal or is_calendar(found)
    return found if isinstance(found, type) and known else None


def _made(make: type, arguments: Sequence[object]) -> object:
    # A text may mean "now"; numbers, and texts that start like a date, do not.
    texts = [a for a in arguments if isinstance(a, str)]
    if make is not decimal.Decimal and not all(a[:4].isdigit() for a in texts):
        return _Unknown()
    try:
        made: object = make(*arguments)
    except (TypeError, ValueError, ArithmeticError):
        return _Unknown()
    return made
