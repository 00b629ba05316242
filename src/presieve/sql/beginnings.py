"""Trusted. How all texts begin that match a pattern, and which texts begin so."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from presieve.semantics.intervals import Interval

_LITERAL = " _-/:,;=@#%&'\"<>!~`"
"""What stands for itself in a regular expression, besides ASCII letters and digits."""
_FROM_NONE = "*?{"
"""After a character: it may be missing."""


def beginning_with(start: str) -> Interval:
    """All texts that begin with this one, in the order of code points."""
    head = start.rstrip(chr(0x10FFFF))
    if not head:
        return start, None
    code = ord(head[-1]) + 1
    return start, head[:-1] + chr(0xE000 if code == 0xD800 else code)


def _of_like(pattern: str) -> str:
    """What stands before the first special character, or before an escape of any kind."""
    for place, char in enumerate(pattern):
        if char in "%_\\":
            return pattern[:place]
    return pattern


def _of_expression(pattern: str) -> str:
    """What a regular expression has literally after ``^``; one with alternatives or flags has
    nothing.
    """
    if not pattern.startswith("^") or "|" in pattern or "(?" in pattern:
        return ""
    start = ""
    for char in pattern[1:]:
        if not (char.isascii() and char.isalnum()) and char not in _LITERAL:
            return start[:-1] if char in _FROM_NONE else start
        start += char
    return start


BEGINNINGS: Mapping[str, Callable[[str], str]] = {
    "StartsWith": lambda text: text,
    "Like": _of_like,
    "RLike": _of_expression,
}
"""By class of Catalyst's expressions: from the pattern to how its texts begin."""
