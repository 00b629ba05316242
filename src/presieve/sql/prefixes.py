# SPDX-License-Identifier: Apache-2.0
"""Trusted. Prefixes of all texts that match a pattern, and the texts that have a prefix."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from presieve.semantics.intervals import Interval
from presieve.semantics.preimages import after
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.expressions import textual
from presieve.sql.expressions.entry import Entry

_ESCAPE = "\\"
"""The escape character of LIKE if none is named."""

_LITERAL = " _-/:,;=@#%&'\"<>!~`"
"""Characters besides ASCII letters and digits that stand for themselves in a pattern."""
_FROM_NONE = "*?{"
"""After a character, these mean that it may be missing."""


def beginning_with(start: str) -> Interval:
    """All texts that begin with this one, as an interval in the order of code points."""
    return start, after(start)


def _of_like(pattern: str) -> str:
    """The part before the first special character, or before an escape of any kind."""
    for place, char in enumerate(pattern):
        if char in "%_\\":
            return pattern[:place]
    return pattern


def _of_expression(pattern: str) -> str:
    """The literal part of a regular expression after ``^``; empty with alternatives or flags."""
    if not pattern.startswith("^") or "|" in pattern or "(?" in pattern:
        return ""
    start = ""
    for char in pattern[1:]:
        if not (char.isascii() and char.isalnum()) and char not in _LITERAL:
            return start[:-1] if char in _FROM_NONE else start
        start += char
    return start


_OF_PATTERN: Mapping[Entry, Callable[[str], str]] = {
    textual.STARTS_WITH: lambda text: text,
    textual.LIKE: _of_like,
    textual.RLIKE: _of_expression,
}
BEGINNINGS = tuple(_OF_PATTERN)
"""The expressions that match texts."""


def beginning_of(node: ExprNode, pattern: object) -> str:
    """The prefix of all texts that an expression matches with a pattern; "" if none is known."""
    escape = node.fields.get("escapeChar")
    if not isinstance(pattern, str) or (node.entry is textual.LIKE and escape != _ESCAPE):
        return ""
    return _OF_PATTERN[node.entry](pattern)
