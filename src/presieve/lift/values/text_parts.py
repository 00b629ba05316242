# SPDX-License-Identifier: Apache-2.0
"""Trusted. Symbolic values for the parts of a text, and for what a pattern matches in it."""

from __future__ import annotations

from msgspec import Struct

from presieve.ir.terms import Term


class SplitV(Struct, frozen=True):
    """The result of ``text.split(separator)``. ``counted``: the number of parts is not bounded.
    ``once``: the text is cut once at most; ``last``: from its end on.
    """

    text: Term
    separator: Term
    counted: bool
    once: bool = False
    last: bool = False


class FindingsV(Struct, frozen=True):
    """All matches of a pattern in a text, in order. ``group``: what is kept of each."""

    text: Term
    pattern: str
    flags: int
    group: int = 0


class MatchV(Struct, frozen=True):
    """The match of a regular expression in a text; it is None unless ``there`` holds. ``method`` is
    how the pattern is applied.
    """

    there: Term
    text: Term
    pattern: str
    flags: int
    method: str
