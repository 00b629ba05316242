# SPDX-License-Identifier: Apache-2.0
"""Trusted. From a function object to the syntax tree of the very code that it runs.

The source in the file may be stale, or belong to a wrapper, and what was typed at a prompt is
looked for among the lines of its history. The source is compiled again and
compared with the function's code object; unless instructions, names and constants are all the same,
the function is declined.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FunctionType
from typing import ClassVar

from msgspec import Struct

from presieve.errors import DeclineSignal, Span
from presieve.lift.python.code_objects import FUTURE_FLAGS, inner_codes, same_code
from presieve.lift.python.positions import span_of
from presieve.lift.python.returned_iterators import yielding
from presieve.lift.python.typed_lines import PROMPTS, read_typed

_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function's definition with positions; ``text`` is dedented, ``lines`` are the file's."""

    node: ast.FunctionDef
    file: str
    text: str
    lines: tuple[str, ...] = field(repr=False, compare=False)

    def span(self, node: ast.AST) -> Span:
        """Return the position of the node in the user's file."""
        return span_of(node if hasattr(node, "lineno") else self.node, self.file, self.lines)

    def stands_at(self, node: ast.FunctionDef | ast.Lambda, file: str) -> bool:
        """Return whether the definition is that node of that file."""
        own_path, node_path = os.path.realpath(self.file), os.path.realpath(file)
        place = (node.lineno, node.col_offset)
        return own_path == node_path and place == (self.node.lineno, self.node.col_offset)


def parse_function(function: FunctionType, *, generator: bool = False) -> FunctionSource:
    """Return the function's syntax tree, as the driver has it. Declines ``no-source``,
    ``source-mismatch``, ``not-a-function``. ``generator``: a function with ``yield`` is expected,
    and one that ends with a generator expression or ``map(f, items)`` yields item by item.

    Decorators are not followed: the code object of ``function`` itself counts.
    """
    code = function.__code__
    span = Span(code.co_filename, code.co_firstlineno)
    if "__signature__" in vars(function):
        raise DeclineSignal("source-mismatch", "the function hides its parameters", span)
    kind = code.co_flags & _KINDS
    if kind not in ((0, inspect.CO_GENERATOR) if generator else (0,)):
        how = "with yield and without" if generator else "without yield or"
        raise DeclineSignal("not-a-function", f"write the function {how} await", span)
    try:
        name, lines = _read_lines(function)
        text, flags = "".join(lines), code.co_flags & FUTURE_FLAGS
        file = _compile_file(text, name, flags)
    except (OSError, TypeError, SyntaxError, ValueError) as e:
        raise DeclineSignal("no-source", _explain_missing(code), span) from e
    same = _matching(code, file.codes) or _matching(code, _compile_apart(text, name, flags))
    nodes: list[ast.FunctionDef | ast.Lambda] = [
        n for n in file.owners if isinstance(n, ast.FunctionDef) and _is_at(n, code)
    ]
    if code.co_name == _LAMBDA:
        nodes = [*_lambdas(file, same)]
    if len(nodes) != 1 or len(same) != 1:
        reason = f"the source of {code.co_name} in {name} is not what is being run"
        raise DeclineSignal("source-mismatch", reason, Span(name, code.co_firstlineno))
    node = as_def(_with_private_names(nodes[0], file.owners[nodes[0]]))
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global | ast.Nonlocal):  # applies to the whole function
            variables = ", ".join(inner.names)
            reason = f"{variables} is written outside the function"
            raise DeclineSignal("impure-global", reason, span_of(inner, name, lines))
    if generator:
        loop = yielding(function, node)
        if loop is None and not kind:
            raise DeclineSignal("not-a-function", "write the function with yield", span)
        node = node if loop is None else loop
    own = "".join(lines[code.co_firstlineno - 1 : node.end_lineno])
    return FunctionSource(node, name, textwrap.dedent(own), tuple(lines))


def _read_lines(function: FunctionType) -> tuple[str, Sequence[str]]:
    """Return the function's file and its lines. Raises OSError.

    ``inspect.findsource`` would resolve the paths of all modules that are loaded.
    """
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines and file in PROMPTS:
        typed = read_typed(function.__code__)
        return typed.file, typed.lines
    if not lines and file.startswith("<"):
        lines, _ = inspect.findsource(function)  # what Python 3.13 keeps of its prompt
    if function.__code__.co_firstlineno > len(lines):
        raise OSError(f"{file} cannot be read, or has fewer lines")
    return file, lines


def _explain_missing(code: CodeType) -> str:
    if code.co_filename not in PROMPTS:
        return f"the source of {code.co_name} cannot be found or read"
    if not hasattr(sys, "ps1"):  # which a prompt has
        return f"{code.co_name} was read from standard input, of which no source is kept: {_FILE}"
    places = "use IPython or Jupyter"
    if sys.version_info < (3, 13):
        places = "use IPython, Jupyter or Python 3.13"
    what = f"{code.co_name} was typed, and is not in the history of the prompt"
    return f"{what}: {_FILE}, or {places}"


_FILE = "write it to a file"


def _with_private_names(
    node: ast.FunctionDef | ast.Lambda, enclosing_class: ast.ClassDef | None
) -> ast.FunctionDef | ast.Lambda:
    """Return the function as Python reads it inside a class, where ``__x`` is ``_Class__x``."""
    owner = enclosing_class.name.lstrip("_") if enclosing_class is not None else ""
    if not owner or not any(_Private.name(n) for n in ast.walk(node)):
        return node
    renamed_node = _Private(owner).visit(copy.deepcopy(node))
    assert isinstance(renamed_node, ast.FunctionDef | ast.Lambda)
    return renamed_node


class _Private(ast.NodeTransformer):
    """Puts the class name before names that start, but do not end, with two underscores."""

    _FIELDS: ClassVar = {
        ast.Name: "id",
        ast.Attribute: "attr",
        ast.arg: "arg",
        ast.keyword: "arg",
        ast.MatchAs: "name",
    }

    def __init__(self, owner: str) -> None:
        self.owner = owner

    @classmethod
    def name(cls, node: ast.AST) -> str:
        """Return the node's own name if it is private, else the empty text."""
        name = getattr(node, cls._FIELDS.get(type(node), ""), None)
        return name if name and name.startswith("__") and not name.endswith("__") else ""

    def visit(self, node: ast.AST) -> ast.AST:
        """Rename the node's own name and the names below it."""
        name = self.name(node)
        if name:
            setattr(node, self._FIELDS[type(node)], f"_{self.owner}{name}")
        self.generic_visit(node)
        return node


class _File(Struct, frozen=True):
    """A file's tree and code objects. ``owners``: each ``def`` and lambda, and its inmost class."""

    tree: ast.Module
    codes: tuple[CodeType, ...]
    owners: dict[ast.FunctionDef | ast.Lambda, ast.ClassDef | None]


@lru_cache(maxsize=8)
def _compile_file(text: str, file: str, flags: int) -> _File:
    """Compile a file, once for all methods of its classes.

    The whole file is compiled, because the imports around a name determine how it is called.
    """
    code = compile(text, file, "exec", flags, True)
    tree = ast.parse(text)
    return _File(tree, tuple(inner_codes(code)), dict(_functions_with_class(tree)))


@lru_cache(maxsize=8)
def _compile_apart(text: str, file: str, flags: int) -> tuple[CodeType, ...]:
    """Compile each statement by itself, as IPython does with the statements of a cell."""
    apart = [ast.Module([statement], []) for statement in ast.parse(text).body]
    return tuple(c for each in apart for c in inner_codes(compile(each, file, "exec", flags, True)))


def _matching(code: CodeType, codes: tuple[CodeType, ...]) -> list[CodeType]:
    """Return the code objects that are the same as this one, and in the same place."""
    place = code.co_name, code.co_firstlineno
    return [c for c in codes if (c.co_name, c.co_firstlineno) == place and same_code(c, code)]


def _functions_with_class(
    tree: ast.Module,
) -> Iterator[tuple[ast.FunctionDef | ast.Lambda, ast.ClassDef | None]]:
    waiting: list[tuple[ast.AST, ast.ClassDef | None]] = [(tree, None)]
    while waiting:
        node, enclosing_class = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            yield node, enclosing_class
        inside = node if isinstance(node, ast.ClassDef) else enclosing_class
        waiting += [(below, inside) for below in ast.iter_child_nodes(node)]


def _is_at(node: ast.FunctionDef, code: CodeType) -> bool:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


_LAMBDA = "<lambda>"


def _lambdas(file: _File, same: list[CodeType]) -> list[ast.Lambda]:
    """Return the lambdas from which codes were compiled: the innermost lambdas around them."""
    lambdas = []
    for code in same:
        # An instruction that has no counterpart in the text has an empty place.
        places = [p for p in code.co_positions() if p[2] != p[3]]
        around = [
            n
            for n in file.owners
            if isinstance(n, ast.Lambda) and all(_is_inside(p, n.body) for p in places)
        ]
        lambdas += (
            [max(around, key=lambda n: (n.lineno, n.col_offset))] if around and places else []
        )
    return lambdas


def _is_inside(place: tuple[int | None, ...], body: ast.expr) -> bool:
    first, last, start, end = place
    if first is None or last is None or start is None or end is None:
        return False
    after = (body.lineno, body.col_offset) <= (first, start)
    return after and (last, end) <= (body.end_lineno or 0, body.end_col_offset or 0)


def as_def(node: ast.FunctionDef | ast.Lambda, name: str = "<lambda>") -> ast.FunctionDef:
    """Return a lambda as a ``def`` with the same parameters that returns the lambda's value."""
    if isinstance(node, ast.FunctionDef):
        return node
    value = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(ast.FunctionDef(name, node.args, [value], []), node)
