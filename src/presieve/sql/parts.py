"""Trusted. SQL text taken apart at its outermost ANDs, commas or semicolons.

What is not in the language whose words :mod:`presieve.sql.lexer` knows is not taken apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from presieve.errors import DeclineSignal
from presieve.sql.lexer import tokens


def conjuncts(text: str) -> tuple[str, ...]:
    """The operands of the outermost ANDs of a condition; the text itself where there are none."""
    try:
        found = tokens(text)
    except DeclineSignal:
        return (text,)
    cuts: list[int] = []
    depth = between = 0
    for token in found:
        depth += token.is_operator("(", "[") or token.is_word("CASE")
        depth -= token.is_operator(")", "]") or token.is_word("END")
        if depth:
            continue
        if token.is_word("OR", "SELECT") or token.is_operator("->", ";", "|"):
            return (text,)
        between += token.is_word("BETWEEN")
        if token.is_word("AND"):
            if not between:
                cuts.append(token.position)
            between = max(between - 1, 0)
    parts = _between(text, cuts, len("AND"))
    return parts if depth == 0 and all(parts) else (text,)


def conditions(text: str) -> tuple[str, ...]:
    """Conditions with ``;`` between them, and perhaps at the end: none of those in literals and
    quoted names. What cannot be taken apart is left as one.
    """
    try:
        cuts = [t.position for t in tokens(text) if t.is_operator(";")]
    except DeclineSignal:
        return (text,)
    return tuple(part for part in _between(text, cuts, len(";")) if part)


def arguments(text: str) -> tuple[str, ...]:
    """The arguments of a call, from what stands between its brackets. None where these do not
    match, or at words that make something else of a call of an aggregate function.
    """
    try:
        found = tokens(text)
    except DeclineSignal:
        return ()
    cuts: list[int] = []
    depth = 0
    for token in found:
        depth += token.is_operator("(", "[") - token.is_operator(")", "]")
        if depth < 0 or token.is_word("DISTINCT", "ALL", "ORDER", "IGNORE", "RESPECT", "OVER"):
            return ()
        if depth == 0 and token.is_operator(","):
            cuts.append(token.position)
    parts = _between(text, cuts, len(","))
    return parts if depth == 0 and all(parts) else ()


def calls(text: str) -> frozenset[str] | None:
    """The names, in lower case, of all that stands before a bracket, keywords too; None where that
    cannot be told.
    """
    try:
        found = tokens(text)
    except DeclineSignal:
        return None
    if any(t.is_word("SELECT", "OVER") or t.is_operator("->") for t in found):
        return None
    names = [(t, t.text.lower()) for t, after in pairwise(found) if after.is_operator("(")]
    if any(t.kind == "name" for t, _ in names):
        return None
    return frozenset(name for t, name in names if t.kind == "word")


def _between(text: str, cuts: Sequence[int], width: int) -> tuple[str, ...]:
    starts, ends = [0, *(c + width for c in cuts)], [*cuts, len(text)]
    return tuple(text[a:b].strip() for a, b in zip(starts, ends, strict=True))
