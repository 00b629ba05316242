# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Reads Spark's drawing of a plan back into operators, in the order of its lines.

The drawing is all that both classic sessions and Spark Connect provide of an optimized plan. The
operators are only shown to people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"^((?:[: ]  )*(?:[:+]- )?)(.*)$")
_STAGE = re.compile(r"^\*\(\d+\) ")
_NAME = re.compile(r"[^\s\[(<]+")
_NUMBER = re.compile(r"(?<=[\w)\]`])#\d+L?\b")


@dataclass(eq=False, slots=True)
class DrawnOperator:
    """An operator: its name, the rest of Spark's text (without the numbers of attributes), and the
    operator that reads its rows. The last ``children`` of an operator stands right below it, and
    all others, with what is below them, so many ``steps`` to the right.
    """

    name: str
    detail: str
    parent: DrawnOperator | None = None
    children: tuple[DrawnOperator, ...] = ()
    steps: int = 0

    def ancestors(self) -> Iterator[DrawnOperator]:
        """The operators above, the nearest first."""
        operator = self.parent
        while operator is not None:
            yield operator
            operator = operator.parent


def parse(text: str) -> tuple[DrawnOperator, ...]:
    """Parse what ``QueryPlan.toString`` draws, parents first; nothing if it is no such drawing.

    A line that is not indented like an operator belongs to the previous one, because literals may
    hold newlines.
    """
    rows: list[tuple[int, str]] = []
    for line in text.rstrip().splitlines():
        match = _LINE.match(line)
        prefix, operator_text = (match[1], match[2]) if match else ("", line)
        marked = prefix.endswith("- ")
        if marked == bool(rows):
            rows.append((len(prefix) if marked else 0, operator_text))
        elif marked:
            return ()
        else:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}")
    return _link_parents(rows) if rows and rows[0][1].strip() else ()


def _link_parents(rows: list[tuple[int, str]]) -> tuple[DrawnOperator, ...]:
    """Operators of rows with the columns where they start: the parent of each is the last row that
    starts left of it.
    """
    operators: list[DrawnOperator] = []
    path: list[tuple[int, DrawnOperator]] = []
    for column, row_text in rows:
        while path and path[-1][0] >= max(column, 1):
            path.pop()
        text = _STAGE.sub("", row_text).strip()
        name = _NAME.match(text)
        head = name[0] if name else ""
        operator = DrawnOperator(head, _NUMBER.sub("", text[len(head) :]).strip())
        if path:
            operator.parent = path[-1][1]
            operator.parent.children += (operator,)
        path.append((column, operator))
        operators.append(operator)
    for operator in operators:
        for child in operator.children:
            child.steps = operator.steps + (child is not operator.children[-1])
    return tuple(operators)


def conjuncts(condition: str) -> tuple[str, ...]:
    """Split a condition as Catalyst prints it, with parentheses around every AND."""
    inner = _strip_parentheses(condition)
    parts = _split_outside(inner, " AND ")
    if len(parts) == 1:
        return (inner,)
    return tuple(p for part in parts for p in conjuncts(part))


def _strip_parentheses(text: str) -> str:
    """Strip parentheses around the whole text."""
    text = text.strip()
    while text.startswith("(") and _closing_position(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closing_position(text: str) -> int | None:
    """The position at which the first parenthesis is closed."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at
    return None


def _split_outside(text: str, separator: str) -> list[str]:
    """Split a text at the separators outside parentheses and brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            start = at + len(separator)
    return [*parts, text[start:]]


def output_names(detail: str) -> tuple[str, ...]:
    """The names of the expressions in the last list in brackets that a text ends with; of an
    expression without a name of its own, its text.
    """
    depth, start = 0, len(detail)
    for at in range(len(detail) - 1, -1, -1):
        depth += (detail[at] in ")]") - (detail[at] in "([")
        if depth == 0:
            start = at
            break
    listed = detail[start + 1 : -1] if detail.endswith("]") else ""
    return tuple(part.rpartition(" AS ")[2].strip() for part in _split_outside(listed, ", "))
