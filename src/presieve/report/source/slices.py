"""Untrusted. The lines of a function on which some of its outputs depend: a backward slice.

The slice is computed from the syntax tree and only shown to people. A statement matters if it
assigns a variable that another one that matters reads, or decides whether one is reached. In a
class the state flows from ``reduce`` to ``reduce`` and ``finish``, part by part if it is a tuple, a
dict or an object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from presieve.report.source.paths import (
    COMPOUND,
    Path,
    bodies,
    headers,
    inputs,
    overlap,
    path_of,
    reads,
    targets,
    writes,
)

Parts: TypeAlias = Set[Path]
"""The needed parts of a returned value: keys or positions; the empty path is the whole value."""

ALL: Parts = frozenset({()})

Definition: TypeAlias = ast.FunctionDef | ast.ClassDef | ast.Lambda
_METHODS = (("zero", "reduce", "finish"), ("__init__", "eval", "terminate"))


def lines_for(node: Definition, wanted: Set[str], outputs: Sequence[str]) -> frozenset[int]:
    """The lines that matter to the ``wanted`` of the ``outputs``, which are in the order of their
    declaration. Line numbers are those of the node. No lines if no output is wanted.
    """
    if not wanted:
        return frozenset()
    positions = {name: i for i, name in enumerate(outputs)}
    parts = frozenset((name,) for name in wanted) if wanted < set(outputs) else ALL
    match node:
        case ast.Lambda():
            return _lines_of(node)
        case ast.FunctionDef():
            function_slice = _Slice(node, positions)
            function_slice.close(parts)
            return frozenset({*function_slice.lines, node.lineno})
        case ast.ClassDef():
            return _lines_of_class(node, parts, positions)


def _lines_of_class(
    node: ast.ClassDef, parts_of_result: Parts, positions: Mapping[str, int]
) -> frozenset[int]:
    """The lines of the methods that make up a fold."""
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    for names in _METHODS:
        if names[1] in methods:
            first, step, last = (
                _Slice(methods[n], positions) if n in methods else None for n in names
            )
            break
    else:
        return _lines_of(node)
    assert step is not None
    shared: set[Path] = set()
    needed = parts_of_result
    if last is not None and names[0] == "zero":
        last.close(parts_of_result)
        needed = last.of_parameter(0)
    while True:
        before = (set(shared), needed)
        for method, parts in ((last, parts_of_result), (step, needed), (first, needed)):
            if method is not None:
                method.names |= shared
                method.close(parts)
                shared |= {p for p in method.names if p[0] == "self"}
        if names[0] == "zero":
            needed = frozenset({*needed, *step.of_parameter(0)}) if needed != ALL else ALL
        if (shared, needed) == before:
            break
    slices = [m for m in (first, step, last) if m is not None]
    return frozenset({node.lineno, *(n for m in slices for n in (*m.lines, m.node.lineno))})


class _Slice:
    """The lines and the variables of one function that matter; both sets only grow."""

    def __init__(self, node: ast.FunctionDef, positions: Mapping[str, int]) -> None:
        self.node = node
        self.positions = positions
        self.names: set[Path] = set()
        self.lines: set[int] = set()
        self._around: dict[ast.stmt, tuple[ast.stmt, ...]] = {}
        self._order: list[ast.stmt] = []
        self._record_blocks(node.body, ())

    def _record_blocks(self, statements: Iterable[ast.stmt], around: tuple[ast.stmt, ...]) -> None:
        for statement in statements:
            self._around[statement] = around
            self._order.append(statement)
            self._record_blocks(bodies(statement), (*around, statement))

    def of_parameter(self, number: int) -> Parts:
        """The parts of a parameter that matter; parameters count from 0 after ``self``."""
        arguments = [*self.node.args.posonlyargs, *self.node.args.args]
        static = any(path_of(d) == ("staticmethod",) for d in self.node.decorator_list)
        arguments = arguments if static else arguments[1:]
        if number >= len(arguments):
            return ALL
        name = arguments[number].arg
        parts = frozenset(p[1:] for p in self.names if p[0] == name)
        return ALL if () in parts else parts

    def close(self, parts: Parts) -> None:
        """Add everything that these parts of the function's result depend on."""
        size = -1
        while size != len(self.lines) + len(self.names):
            size = len(self.lines) + len(self.names)
            for statement in reversed(self._order):
                self._visit(statement, parts)

    def _visit(self, statement: ast.stmt, parts: Parts) -> None:
        match statement:
            case ast.Return(value) | ast.Expr(ast.Yield(value)) if value is not None:
                self._add_result(statement, value, parts)
            case ast.Return() | ast.Raise() | ast.Assert():
                self._add_statement(statement)
            case ast.Break() | ast.Continue():
                loops = [s for s in self._around[statement] if isinstance(s, ast.For | ast.While)]
                if loops and loops[-1].lineno in self.lines:
                    self._add_statement(statement)
            case ast.Assign([ast.Tuple(lefts)], value):
                self._add_unpacking(statement, lefts, value)
            case _:
                if any(overlap(w, n) for w in writes(statement) for n in self.names):
                    self._add_statement(statement)

    def _add_statement(self, statement: ast.stmt) -> None:
        """Add a statement, with everything that it reads and all statements around it."""
        self._mark(statement, _header_lines(statement))
        self.names.update(inputs(statement))

    def _mark(self, statement: ast.stmt, lines: Set[int]) -> None:
        self.lines |= lines
        for outer in self._around[statement]:
            self.lines |= _header_lines(outer)
            self.names.update(inputs(outer))

    def _add_unpacking(
        self, statement: ast.Assign, lefts: Sequence[ast.expr], value: ast.expr
    ) -> None:
        """Add ``a, b = ...``: the parts of the right side that the left side needs."""
        needed_positions = [
            i
            for i, target in enumerate(lefts)
            if any(overlap(w, n) for w in targets(target) for n in self.names)
        ]
        if not needed_positions:
            return
        self._mark(statement, _lines_of(statement))
        path = path_of(value)
        plain = not any(isinstance(x, ast.Starred) for x in lefts)
        if plain and isinstance(value, ast.Tuple) and len(value.elts) == len(lefts):
            self.names.update(reads(*(value.elts[i] for i in needed_positions)))
        elif plain and path is not None:
            self.names |= {(*path, i) for i in needed_positions}
        else:
            self.names.update(reads(value))

    def _add_result(self, statement: ast.stmt, value: ast.expr, parts: Parts) -> None:
        path = path_of(value)
        if path is not None and parts != ALL:
            self._mark(statement, _lines_of(statement))
            self.names |= {(*path, *p) for p in parts}
            places = {
                self.positions[h] for h, *_ in parts if isinstance(h, str) and h in self.positions
            }
            self.names |= {(*path, place) for place in places}
            return
        chosen = list(_parts_of_value(value, parts, self.positions))
        is_whole_value = chosen == [value]
        some = {statement.lineno, *(n for c in chosen for n in _lines_of(c))}
        self._mark(statement, _lines_of(statement) if is_whole_value else some)
        self.names.update(reads(*chosen))


def _parts_of_value(
    value: ast.expr, parts: Parts, positions: Mapping[str, int]
) -> Iterator[ast.expr]:
    """The expressions that give these parts of a returned value; otherwise the whole value."""
    heads = {p[0] for p in parts if p}
    match value:
        case _ if parts == ALL:
            yield value
        case ast.IfExp(test, then, other):
            yield test
            yield from _parts_of_value(then, parts, positions)
            yield from _parts_of_value(other, parts, positions)
        case ast.Dict(keys, values):
            yield from _values_of_keys(
                value, [getattr(k, "value", None) for k in keys], values, heads
            )
        case ast.Call(_, [], keywords) if keywords:
            yield from _values_of_keys(
                value, [k.arg for k in keywords], [k.value for k in keywords], heads
            )
        case ast.Call(_, [first, *_]) if isinstance(first, ast.Dict | ast.List):
            yield from _parts_of_value(first, parts, positions)
        case ast.List([ast.Dict() | ast.Tuple() | ast.List() as only]):
            yield from _parts_of_value(only, parts, positions)
        case ast.Tuple(elements) | ast.List(elements):
            places = {positions.get(h, -1) if isinstance(h, str) else h for h in heads}
            plain = not any(isinstance(e, ast.Starred) for e in elements)
            if plain and all(0 <= p < len(elements) for p in places):
                yield from (elements[p] for p in sorted(places))
            else:
                yield value
        case _:
            yield value


def _values_of_keys(
    dict_expression: ast.expr,
    keys: Sequence[object],
    values: Sequence[ast.expr],
    heads: Set[str | int],
) -> Iterator[ast.expr]:
    named = {h for h in heads if isinstance(h, str)}  # a position may stand for an output
    if named and named <= set(keys) and None not in keys:
        yield from (v for k, v in zip(keys, values, strict=True) if k in heads)
    else:
        yield dict_expression


def _lines_of(node: ast.AST) -> frozenset[int]:
    first = getattr(node, "lineno", 0)
    return frozenset(range(first, (getattr(node, "end_lineno", first) or first) + 1))


def _header_lines(statement: ast.stmt) -> frozenset[int]:
    """The lines of a statement without nested statements."""
    if not isinstance(statement, COMPOUND):
        return _lines_of(statement)
    ends = [getattr(n, "end_lineno", 0) or 0 for n in headers(statement)]
    return frozenset(range(statement.lineno, max(statement.lineno, *ends, 0) + 1))
