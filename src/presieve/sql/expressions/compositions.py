# SPDX-License-Identifier: Apache-2.0
"""Trusted. Compositions of Spark's functions: their SQL text, and whether a tree has their shape.

A :class:`Form` is written as text, and the tree that Spark makes of the text is recognized by the
same form, with one expression in all places of the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Sort
from presieve.ir.terms import Lit, lit
from presieve.sql.catalyst_tree import ExprNode, type_of
from presieve.sql.emit import literal
from presieve.sql.expressions import basics
from presieve.sql.expressions.entry import Entry


class Argument(Struct, frozen=True):
    """The place of a function's argument."""


ARGUMENT = Argument()


@dataclass(frozen=True, slots=True)
class Form:
    """A call: the ``entry`` of its class, its operands, its ``text`` with ``{0}`` for the first
    one (``name(operands)`` by default), and the ``type`` to which a cast leads.
    """

    entry: Entry
    operands: tuple[Operand, ...]
    text: str = ""
    type: str = ""


Value: TypeAlias = bool | str | int | float
Operand: TypeAlias = Form | Argument | Value

_SORTS: dict[type, Sort] = {bool: BOOL, str: STRING, int: INT, float: FLOAT}


def write(form: Form, argument: str) -> str:
    """Write a form as SQL text that needs no parentheses, over an argument that needs none."""
    operands = [_write_operand(o, argument) for o in form.operands]
    if form.text:
        return form.text.format(*operands)
    return f"{form.entry.sql}({', '.join(operands)})"


def _write_operand(operand: Operand, argument: str) -> str:
    match operand:
        case Form():
            return write(operand, argument)
        case Argument():
            return argument
    return literal(literal_of(operand))


def literal_of(value: Value) -> Lit:
    """The literal of a constant in a form."""
    return lit(_SORTS[type(value)], value)


def argument_of(form: Form, node: ExprNode) -> ExprNode | None:
    """Return the argument of a tree that has the form; None if it does not have it."""
    pairs = list(_pair(form, node))
    first = next((n for o, n in pairs if isinstance(o, Argument)), None)
    return first if all(_fits(o, n, first) for o, n in pairs) else None


def _pair(operand: Operand, node: ExprNode) -> Iterator[tuple[Operand, ExprNode]]:
    """Pair each operand with the node in its place, down to the first that differ."""
    yield operand, node
    if isinstance(operand, Form) and len(operand.operands) == len(node.children):
        for inner, child in zip(operand.operands, node.children, strict=True):
            yield from _pair(inner, child)


def _fits(operand: Operand, node: ExprNode, argument: ExprNode | None) -> bool:
    match operand:
        case Form(entry, operands, _, type_):
            is_call = node.entry is entry and len(node.children) == len(operands)
            return is_call and (not type_ or _type(node) == type_)
        case Argument():
            return node == argument
    value = constant(node)
    return type(value) is type(operand) and value == operand


def constant(node: ExprNode) -> Value | None:
    """The value of a literal that is a boolean, a string, an int or a double."""
    value = node.fields.get("value")
    if node.entry is not basics.LITERAL or not isinstance(value, str):
        return None
    read = _LITERALS.get(_type(node))
    return None if read is None else read(value)


_LITERALS: dict[str, Callable[[str], Value]] = {
    "boolean": lambda text: text == "true",
    "string": str,
    "int": int,
    "double": float,
}


def _type(node: ExprNode) -> str:
    try:
        return type_of(node)
    except DeclineSignal:
        return ""
