"""Untrusted. The lines of a function on which some of its outputs depend: a backward slice.

It is read off the syntax tree and only shown to people. A statement matters if it assigns what
another one that matters reads, or decides whether one is reached. In a class the state goes from
``reduce`` to ``reduce`` and ``finish``, part by part where it is a tuple, a dict or an object.
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
"""Of a value that is returned, what is asked for: keys, positions; the empty path is all of it."""

ALL: Parts = frozenset({()})

Definition: TypeAlias = ast.FunctionDef | ast.ClassDef | ast.Lambda
_METHODS = (("zero", "reduce", "finish"), ("__init__", "eval", "terminate"))


def lines_for(node: Definition, wanted: Set[str], outputs: Sequence[str]) -> frozenset[int]:
    """The lines that matter to the ``wanted`` of the ``outputs``, which stand in the order in which
    they are declared. Lines count as the node's do. No line where nothing is wanted.
    """
    if not wanted:
        return frozenset()
    positions = {name: i for i, name in enumerate(outputs)}
    asked = frozenset((name,) for name in wanted) if wanted < set(outputs) else ALL
    match node:
        case ast.Lambda():
            return _span(node)
        case ast.FunctionDef():
            found = _Slice(node, positions)
            found.close(asked)
            return frozenset(found.lines) | _title(node)
        case ast.ClassDef():
            return _of_class(node, asked, positions)


def _of_class(node: ast.ClassDef, asked: Parts, positions: Mapping[str, int]) -> frozenset[int]:
    """Of the methods that make up a fold."""
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    for names in _METHODS:
        if names[1] in methods:
            first, step, last = (_of(methods.get(n), positions) for n in names)
            break
    else:
        return _span(node)
    assert step is not None
    shared: set[Path] = set()
    needed = asked
    if last is not None and names[0] == "zero":
        last.close(asked)
        needed = last.of_parameter(0)
    while True:
        before = (set(shared), needed)
        for method, parts in ((last, asked), (step, needed), (first, needed)):
            if method is not None:
                method.names |= shared
                method.close(parts)
                shared |= {p for p in method.names if p[0] == "self"}
        if names[0] == "zero":
            needed = frozenset({*needed, *step.of_parameter(0)}) if needed != ALL else ALL
        if (shared, needed) == before:
            break
    found = [m for m in (first, step, last) if m is not None]
    return frozenset({n for m in found for n in (*m.lines, *_title(m.node))}) | _title(node)


def _of(node: ast.FunctionDef | None, positions: Mapping[str, int]) -> _Slice | None:
    return None if node is None else _Slice(node, positions)


class _Slice:
    """The lines of one function that matter, and the variables that do; both only grow."""

    def __init__(self, node: ast.FunctionDef, positions: Mapping[str, int]) -> None:
        self.node = node
        self.positions = positions
        self.names: set[Path] = set()
        self.lines: set[int] = set()
        self._around: dict[ast.stmt, tuple[ast.stmt, ...]] = {}
        self._order: list[ast.stmt] = []
        self._place(node.body, ())

    def _place(self, statements: Iterable[ast.stmt], around: tuple[ast.stmt, ...]) -> None:
        for statement in statements:
            self._around[statement] = around
            self._order.append(statement)
            self._place(bodies(statement), (*around, statement))

    def of_parameter(self, number: int) -> Parts:
        """What matters of a parameter, counted from 0 behind ``self``."""
        arguments = [*self.node.args.posonlyargs, *self.node.args.args]
        static = any(path_of(d) == ("staticmethod",) for d in self.node.decorator_list)
        arguments = arguments if static else arguments[1:]
        if number >= len(arguments):
            return ALL
        name = arguments[number].arg
        found = frozenset(p[1:] for p in self.names if p[0] == name)
        return ALL if () in found else found

    def close(self, parts: Parts) -> None:
        """Add all that these parts of what the function gives depend on."""
        size = -1
        while size != len(self.lines) + len(self.names):
            size = len(self.lines) + len(self.names)
            for statement in reversed(self._order):
                self._look(statement, parts)

    def _look(self, statement: ast.stmt, parts: Parts) -> None:
        match statement:
            case ast.Return(value) | ast.Expr(ast.Yield(value)) if value is not None:
                self._result(statement, value, parts)
            case ast.Return() | ast.Raise() | ast.Assert():
                self._matters(statement)
            case ast.Break() | ast.Continue():
                loops = [s for s in self._around[statement] if isinstance(s, ast.For | ast.While)]
                if loops and loops[-1].lineno in self.lines:
                    self._matters(statement)
            case ast.Assign([ast.Tuple(lefts)], value):
                self._unpacked(statement, lefts, value)
            case _:
                if any(overlap(w, n) for w in writes(statement) for n in self.names):
                    self._matters(statement)

    def _matters(self, statement: ast.stmt) -> None:
        """The statement does, with all that it reads and all that it is in."""
        self._mark(statement, _header_lines(statement))
        self.names.update(inputs(statement))

    def _mark(self, statement: ast.stmt, lines: Set[int]) -> None:
        self.lines |= lines
        for outer in self._around[statement]:
            self.lines |= _header_lines(outer)
            self.names.update(inputs(outer))

    def _unpacked(self, statement: ast.Assign, lefts: Sequence[ast.expr], value: ast.expr) -> None:
        """``a, b = ...``: of what is on the right, that which is asked for on the left."""
        asked = [
            i
            for i, left in enumerate(lefts)
            if any(overlap(w, n) for w in targets(left) for n in self.names)
        ]
        if not asked:
            return
        self._mark(statement, _span(statement))
        path = path_of(value)
        plain = not any(isinstance(x, ast.Starred) for x in lefts)
        if plain and isinstance(value, ast.Tuple) and len(value.elts) == len(lefts):
            self.names.update(reads(*(value.elts[i] for i in asked)))
        elif plain and path is not None:
            self.names |= {(*path, i) for i in asked}
        else:
            self.names.update(reads(value))

    def _result(self, statement: ast.stmt, value: ast.expr, parts: Parts) -> None:
        path = path_of(value)
        if path is not None and parts != ALL:
            self._mark(statement, _span(statement))
            self.names |= {(*path, *p) for p in parts}
            places = {
                self.positions[h] for h, *_ in parts if isinstance(h, str) and h in self.positions
            }
            self.names |= {(*path, place) for place in places}
            return
        chosen = list(_chosen(value, parts, self.positions))
        whole = chosen == [value]
        some = {statement.lineno, *(n for c in chosen for n in _span(c))}
        self._mark(statement, _span(statement) if whole else some)
        self.names.update(reads(*chosen))


def _chosen(value: ast.expr, parts: Parts, positions: Mapping[str, int]) -> Iterator[ast.expr]:
    """The expressions in what is returned that give these parts of it; else all of it."""
    heads = {p[0] for p in parts if p}
    match value:
        case _ if parts == ALL:
            yield value
        case ast.IfExp(test, then, other):
            yield test
            yield from _chosen(then, parts, positions)
            yield from _chosen(other, parts, positions)
        case ast.Dict(keys, values):
            yield from _of_keys(value, [getattr(k, "value", None) for k in keys], values, heads)
        case ast.Call(_, [], keywords) if keywords:
            yield from _of_keys(
                value, [k.arg for k in keywords], [k.value for k in keywords], heads
            )
        case ast.Call(_, [first, *_]) if isinstance(first, ast.Dict | ast.List):
            yield from _chosen(first, parts, positions)
        case ast.List([ast.Dict() | ast.Tuple() | ast.List() as only]):
            yield from _chosen(only, parts, positions)
        case ast.Tuple(elements) | ast.List(elements):
            places = {positions.get(h, -1) if isinstance(h, str) else h for h in heads}
            plain = not any(isinstance(e, ast.Starred) for e in elements)
            if plain and all(0 <= p < len(elements) for p in places):
                yield from (elements[p] for p in sorted(places))
            else:
                yield value
        case _:
            yield value


def _of_keys(
    whole: ast.expr, keys: Sequence[object], values: Sequence[ast.expr], heads: Set[str | int]
) -> Iterator[ast.expr]:
    named = {h for h in heads if isinstance(h, str)}  # a position may be that of an output
    if named and named <= set(keys) and None not in keys:
        yield from (v for k, v in zip(keys, values, strict=True) if k in heads)
    else:
        yield whole


def _span(node: ast.AST) -> frozenset[int]:
    first = getattr(node, "lineno", 0)
    return frozenset(range(first, (getattr(node, "end_lineno", first) or first) + 1))


def _header_lines(statement: ast.stmt) -> frozenset[int]:
    """The lines of a statement without those in it."""
    if not isinstance(statement, COMPOUND):
        return _span(statement)
    ends = [getattr(n, "end_lineno", 0) or 0 for n in headers(statement)]
    return frozenset(range(statement.lineno, max(statement.lineno, *ends, 0) + 1))


def _title(node: ast.FunctionDef | ast.ClassDef) -> frozenset[int]:
    """The line of the name."""
    return frozenset({node.lineno})
