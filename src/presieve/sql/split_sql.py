# SPDX-License-Identifier: Apache-2.0
"""Trusted. Splits SQL text at its outermost ANDs, commas or semicolons.

Text that :mod:`presieve.sql.lexer` does not support is not split.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from presieve.errors import DeclineSignal
from presieve.sql.lexer import tokens


def conjuncts(text: str) -> tuple[str, ...]:
    """The operands of the outermost ANDs of a condition; the text itself if there are none."""
    try:
        text_tokens = tokens(text)
    except DeclineSignal:
        return (text,)
    cuts: list[int] = []
    depth = between = 0
    for token in text_tokens:
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
    parts = _split_at(text, cuts, len("AND"))
    return parts if depth == 0 and all(parts) else (text,)


def conditions(text: str) -> tuple[str, ...]:
    """Split conditions that are separated, and perhaps ended, by ``;``; those in literals and
    quoted names do not count. Text that cannot be split stays one.
    """
    try:
        cuts = [t.position for t in tokens(text) if t.is_operator(";")]
    except DeclineSignal:
        return (text,)
    return tuple(part for part in _split_at(text, cuts, len(";")) if part)


def arguments(text: str) -> tuple[str, ...]:
    """Split the text between a call's brackets into its arguments. Return none if brackets do not
    match, or at words that change the meaning of an aggregate function's call.
    """
    try:
        text_tokens = tokens(text)
    except DeclineSignal:
        return ()
    cuts: list[int] = []
    depth = 0
    for token in text_tokens:
        depth += token.is_operator("(", "[") - token.is_operator(")", "]")
        if depth < 0 or token.is_word("DISTINCT", "ALL", "ORDER", "IGNORE", "RESPECT", "OVER"):
            return ()
        if depth == 0 and token.is_operator(","):
            cuts.append(token.position)
    parts = _split_at(text, cuts, len(","))
    return parts if depth == 0 and all(parts) else ()


def calls(text: str) -> frozenset[str] | None:
    """The names, in lower case, of all before a bracket, also keywords; None if not determined."""
    try:
        text_tokens = tokens(text)
    except DeclineSignal:
        return None
    if any(t.is_word("SELECT", "OVER") or t.is_operator("->") for t in text_tokens):
        return None
    names = [(t, t.text.lower()) for t, after in pairwise(text_tokens) if after.is_operator("(")]
    if any(t.kind == "name" for t, _ in names):
        return None
    return frozenset(name for t, name in names if t.kind == "word")


def _split_at(text: str, cuts: Sequence[int], width: int) -> tuple[str, ...]:
    starts, ends = [0, *(c + width for c in cuts)], [*cuts, len(text)]
    return tuple(text[a:b].strip() for a, b in zip(starts, ends, strict=True))
