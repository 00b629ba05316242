# SPDX-License-Identifier: Apache-2.0
r"""Trusted. ``"".join(c for c in text if c.isdigit())``: the characters that a test keeps; and
whether there are any, ``any(c.isdigit() for c in text)``, or how many.

It is ``re.sub`` of the characters that the test drops, or ``re.search`` of one that passes.
Sources: CPython, ``Objects/unicodectype.c`` and ``Modules/_sre/sre.c``: ``\d`` is
``str.isdecimal``, and ``\s`` is ``str.isspace``. Workers have the version of Unicode from which
the classes are made.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from presieve.ir.ops import negate
from presieve.ir.sorts import STRING
from presieve.ir.terms import Op, Term
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.models.builtins.plain_calls import is_builtin, only_parameter
from presieve.lift.values.symbolic import Known, ListV, Scalar, TupleV, Value, constant_of
from presieve.semantics import pattern_prefixes
from presieve.semantics.smart_constructors import (
    apply_function,
    matches_pattern,
    substitute_matches,
)


class _Test(NamedTuple):
    """Patterns of one character: one for those that pass a test, and one for all others."""

    passes: str
    fails: str

    def negated(self) -> _Test:
        return _Test(self.fails, self.passes)


def join_characters(m: SymbolicMachine, flow: Flow, node: ast.expr) -> Value | None:
    """Evaluate ``"".join(node)`` where that chooses characters of a text; None elsewhere."""
    choice = _read_choice(m, flow, node)
    if choice is None or not choice.tests:
        return None
    test = _read_all(m, flow, choice.tests, choice.variable)
    text = None if test is None else _text_of(m, flow, choice.of)
    if test is None or text is None:
        return None
    return Scalar(substitute_matches(text, test.fails, 0, ""))


def reduce_characters(call: ModelCall) -> Value | None:
    """Evaluate ``any(c.isdigit() for c in text)``, ``all(..)``, ``sum(1 for c in text if ..)`` and
    ``len([c for c in text if ..])``; None elsewhere.
    """
    m, flow, name, node = call.m, call.flow, call.name, call.node
    if len(node.args) != 1 or node.keywords:
        return None
    match node.args[0]:
        case ast.GeneratorExp(element, [loop]) | ast.ListComp(element, [loop]):
            pass
        case _:
            return None
    if not isinstance(loop.target, ast.Name):
        return None
    item = loop.target.id
    counts = ast.unparse(element) == ("1" if name == "sum" else item)
    own = [] if name in ("sum", "len") and counts else [element]
    if name == "len" and own:
        return None
    last = _read_all(m, flow, own, item)
    tests = _read_all(m, flow, loop.ifs, item)
    text = None if last is None or tests is None else _text_of(m, flow, loop.iter)
    if last is None or tests is None or text is None:
        return None
    if name in ("any", "all"):
        wanted = _all_of([tests, last if name == "any" else last.negated()])
        there = matches_pattern(text, pattern_prefixes.anywhere(wanted.passes), 0)
        return boolean(flow.decide(there if name == "any" else negate(there)))
    dropped = _all_of([tests, last]).fails
    return Scalar(apply_function(Op.TEXT_LENGTH, substitute_matches(text, dropped, 0, "")))


def _text_of(m: SymbolicMachine, flow: Flow, node: ast.expr) -> Term | None:
    """Return the text that a loop is over; None if it is no text."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return None
    saved = m.checkpoint()
    text = m.force(m.evaluate(node, flow), flow)
    if not isinstance(text, Scalar) or text.base != STRING:
        m.rollback(saved)
        return None
    return m.scalar(flow, text).term


class _Choice(NamedTuple):
    """A text, the variable of its characters, and their tests."""

    of: ast.expr
    variable: str
    tests: Sequence[ast.expr]


def _read_choice(m: SymbolicMachine, flow: Flow, node: ast.expr) -> _Choice | None:
    """Return which characters of a text an expression yields; None for other expressions."""
    match node:
        case ast.GeneratorExp(ast.Name(item), [loop]) | ast.ListComp(ast.Name(item), [loop]):
            is_item = isinstance(loop.target, ast.Name) and loop.target.id == item
            return _Choice(loop.iter, item, loop.ifs) if is_item else None
        case ast.Call(ast.Name("filter"), [ast.Lambda() as function, of], []):
            given = only_parameter(function)
            if given is not None and is_builtin(m, flow, "filter"):
                return _Choice(of, given, [function.body])
        case ast.Call(ast.Name("filter"), [ast.Attribute(ast.Name("str"), method), of], []):
            if is_builtin(m, flow, "filter") and is_builtin(m, flow, "str"):
                called = ast.Attribute(ast.Name("$item", ast.Load()), method, ast.Load())
                return _Choice(of, "$item", [ast.Call(called, [], [])])
    return None


def _read_all(m: SymbolicMachine, flow: Flow, nodes: Sequence[ast.expr], item: str) -> _Test | None:
    """Return the test for characters that pass every one of some tests; None if one is not
    known.
    """
    tests = [_read_test(m, flow, t, item) for t in nodes]
    read = [t for t in tests if t is not None]
    return _all_of(read) if len(read) == len(tests) else None


def _read_test(m: SymbolicMachine, flow: Flow, node: ast.expr, item: str) -> _Test | None:
    """Return the patterns for a test of one character; None if it is not known."""
    match node:
        case ast.UnaryOp(ast.Not(), inner):
            test = _read_test(m, flow, inner, item)
            return None if test is None else test.negated()
        case ast.BoolOp(op, parts):
            if isinstance(op, ast.And):
                return _read_all(m, flow, parts, item)
            tests = [t for p in parts if (t := _read_test(m, flow, p, item)) is not None]
            if len(tests) < len(parts):
                return None
            return _all_of([t.negated() for t in tests]).negated()
        case ast.Call(ast.Attribute(ast.Name(name), method), [], []) if name == item:
            return _test_of_method(method)
        case ast.Compare(ast.Name(name), [op], [right]) if name == item and _is_plain(right, item):
            return _test_of_members(m, flow, op, right)
    return None


def _is_plain(node: ast.expr, item: str) -> bool:
    """Return whether what a character is compared with is a name or is written out: it raises
    nothing, and is not the character itself.
    """
    match node:
        case ast.Constant():
            return True
        case ast.Name(name) | ast.Attribute(ast.Name(name), _):
            return name != item
        case ast.Tuple(items) | ast.List(items) | ast.Set(items):
            return all(isinstance(i, ast.Constant) for i in items)
    return False


def _test_of_members(
    m: SymbolicMachine, flow: Flow, op: ast.cmpop, right: ast.expr
) -> _Test | None:
    """Return the test for ``c in "abc"``, ``c == "a"`` and their negations."""
    value = flow.dereference(m.evaluate(right, flow))
    text = constant_of(value, STRING)
    members: list[str] | None = None
    if isinstance(op, ast.Eq | ast.NotEq) and isinstance(text, str):
        members = [text]
    elif isinstance(op, ast.In | ast.NotIn) and isinstance(text, str):
        members = list(text)
    elif isinstance(op, ast.In | ast.NotIn):
        members = _constant_texts(value)
    if members is None:
        return None
    test = _of_characters(c for c in members if len(c) == 1)
    return test.negated() if isinstance(op, ast.NotEq | ast.NotIn) else test


_CONTAINERS = (set, frozenset, list, tuple)


def _constant_texts(value: Value) -> list[str] | None:
    """Return the texts of a constant list, tuple or set; None for other values."""
    target = value.target if isinstance(value, Known) else None
    # A class of the program may have an ``in`` of its own.
    if isinstance(target, set | frozenset | list | tuple) and type(target) in _CONTAINERS:
        return [str(x) for x in target] if all(type(x) is str for x in target) else None
    if isinstance(value, ListV | TupleV):
        texts = [constant_of(i, STRING) for i in value.items]
        return [str(t) for t in texts] if all(isinstance(t, str) for t in texts) else None
    return None


def _of_characters(characters: Iterable[str]) -> _Test:
    inside = "".join(map(re.escape, dict.fromkeys(characters)))
    return _Test(f"[{inside}]", f"[^{inside}]") if inside else _Test(_NONE, _ANY)


_ANY, _NONE = r"[\s\S]", r"[^\s\S]"


def _all_of(tests: Sequence[_Test]) -> _Test:
    """Return the test for characters that pass every one of some tests."""
    tests = [t for t in tests if t.passes != _ANY] or [_Test(_ANY, _NONE)]
    if len(tests) == 1:
        return tests[0]
    *before, last = tests
    passes = "".join(f"(?={t.passes})" for t in before) + last.passes
    return _Test(passes, f"(?:{'|'.join(t.fails for t in tests)})")


@cache
def _test_of_method(method: str) -> _Test | None:
    match method:
        case "isdecimal":
            return _Test(r"\d", r"\D")
        case "isspace":
            return _Test(r"\s", r"\S")
        case "isdigit" | "isnumeric" | "isalnum":
            inside = rf"\d{_ranges_of(method, but='isdecimal')}"
            return _Test(f"[{inside}]", f"[^{inside}]")
        case "isalpha" | "isupper" | "islower":
            inside = _ranges_of(method)
            return _Test(f"[{inside}]", f"[^{inside}]")
    return None


@cache
def _ranges_of(method: str, but: str = "") -> str:
    """Return the inside of a class: the characters that pass one method, and fail another one."""
    of_kind = (c for c in map(chr, range(sys.maxunicode + 1)) if getattr(c, method)())
    return _ranges(c for c in of_kind if not but or not getattr(c, but)())


def _ranges(characters: Iterable[str]) -> str:
    """Return characters, in their order, as ranges of a class."""
    ranges: list[list[int]] = []
    for number in map(ord, characters):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return "".join(chr(a) if a == b else f"{chr(a)}-{chr(b)}" for a, b in ranges)
