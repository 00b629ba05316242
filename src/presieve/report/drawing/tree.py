"""Untrusted. Reads Spark's drawing of a plan back into a tree of operators.

The drawing is all that both classic sessions and Spark Connect provide of an optimized plan. The
tree is only shown to people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(r"^((?:[: ]  )*(?:[:+]- )?)(.*)$")
_STAGE = re.compile(r"^\*\(\d+\) ")
_NAME = re.compile(r"[^\s\[(<]+")
_NUMBER = re.compile(r"(?<=[\w)\]`])#\d+L?\b")


@dataclass(frozen=True, slots=True)
class PlanNode:
    """An operator: its name, the rest of Spark's text (without the numbers of attributes), and the
    operators that it reads. ``size`` counts the operators of its subtree, ``depth`` those on the
    longest path down.
    """

    name: str
    detail: str
    children: tuple[PlanNode, ...] = ()
    size: int = field(init=False, compare=False)
    depth: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Count once: plans may be thousands of operators deep."""
        object.__setattr__(self, "size", 1 + sum(c.size for c in self.children))
        object.__setattr__(self, "depth", 1 + max((c.depth for c in self.children), default=0))

    def walk(self) -> Iterator[PlanNode]:
        """Every operator, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def parse(text: str) -> PlanNode | None:
    """Parse the tree that ``QueryPlan.toString`` draws; None if the text is not such a tree.

    A line that is not indented like an operator belongs to the previous one, because literals may
    hold newlines.
    """
    rows: list[tuple[int, str]] = []
    for line in text.rstrip().splitlines():
        match = _LINE.match(line)
        prefix, operator_text = (match[1], match[2]) if match else ("", line)
        marked = prefix.endswith("- ")
        if not rows:
            if marked:
                return None
            rows.append((0, operator_text))
        elif marked:
            rows.append((len(prefix), operator_text))
        else:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}")
    return _tree(rows) if rows and rows[0][1].strip() else None


@dataclass(slots=True)
class _Open:
    column: int
    text: str
    children: list[PlanNode]

    def close(self) -> PlanNode:
        text = _STAGE.sub("", self.text).strip()
        name = _NAME.match(text)
        head = name[0] if name else ""
        return PlanNode(head, _NUMBER.sub("", text[len(head) :]).strip(), tuple(self.children))


def _tree(rows: list[tuple[int, str]]) -> PlanNode:
    """Build a tree from rows and their start columns: each belongs to the last row left of it."""
    stack: list[_Open] = []
    for column, text in rows:
        _close(stack, column)
        stack.append(_Open(column, text, []))
    _close(stack, 1)
    return stack[0].close()


def _close(stack: list[_Open], column: int) -> None:
    """Close the operators that start at this column or right of it, except the root."""
    while len(stack) > 1 and stack[-1].column >= column:
        operator = stack.pop().close()
        stack[-1].children.append(operator)


def conjuncts(condition: str) -> tuple[str, ...]:
    """Split a condition as Catalyst prints it, with parentheses around every AND."""
    inner = _strip_parentheses(condition)
    parts = _split_at_ands(inner)
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


def _split_at_ands(text: str) -> list[str]:
    """Split a text at the ANDs outside parentheses."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and text.startswith(" AND ", at):
            parts.append(text[start:at])
            start = at + 5
    return [*parts, text[start:]]
