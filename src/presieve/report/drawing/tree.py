"""Untrusted. Spark's drawing of a plan, read back as a tree of operators.

The drawing is all that classic sessions and Spark Connect both give of an optimized plan. What is
read here is only shown.
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
    """An operator: its name, what else Spark says of it (without the numbers of attributes), and
    the operators that it reads. ``size`` counts those from here down, ``depth`` those in a row.
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
    """The tree that ``QueryPlan.toString`` draws; None where the text is none.

    A line that is indented like no operator belongs to the one before: literals may hold newlines.
    """
    rows: list[tuple[int, str]] = []
    for line in text.rstrip().splitlines():
        found = _LINE.match(line)
        prefix, rest = (found[1], found[2]) if found else ("", line)
        marked = prefix.endswith("- ")
        if not rows:
            if marked:
                return None
            rows.append((0, rest))
        elif marked:
            rows.append((len(prefix), rest))
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
    """Rows with the columns at which they start: each belongs to the last one left of it."""
    stack: list[_Open] = []
    for column, text in rows:
        _close(stack, column)
        stack.append(_Open(column, text, []))
    _close(stack, 1)
    return stack[0].close()


def _close(stack: list[_Open], column: int) -> None:
    """Finish the operators that start at this column or right of it, but for the root."""
    while len(stack) > 1 and stack[-1].column >= column:
        done = stack.pop().close()
        stack[-1].children.append(done)


def conjuncts(condition: str) -> tuple[str, ...]:
    """The parts of a condition as Catalyst prints it, where every AND has parentheses."""
    inner = _bare(condition)
    parts = _split(inner)
    if len(parts) == 1:
        return (inner,)
    return tuple(p for part in parts for p in conjuncts(part))


def _bare(text: str) -> str:
    """Without parentheses around the whole."""
    text = text.strip()
    while text.startswith("(") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closing(text: str) -> int | None:
    """Where the first parenthesis is closed."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at
    return None


def _split(text: str) -> list[str]:
    """At the ANDs outside of parentheses."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and text.startswith(" AND ", at):
            parts.append(text[start:at])
            start = at + 5
    return [*parts, text[start:]]
