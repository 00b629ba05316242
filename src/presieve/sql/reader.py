# SPDX-License-Identifier: Apache-2.0
"""Trusted. Reads the tokens of an SQL text one by one, and gives errors their position."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from presieve.errors import DeclineSignal
from presieve.sql.lexer import Token, locate_signal, tokens


class TokenReader:
    """A text and the position up to which it has been read. Raises DeclineSignal as
    :func:`presieve.sql.lexer.tokens` does.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.position = 0

    @property
    def here(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    @property
    def next(self) -> Token:
        """The token after the next one."""
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Read one token. The end token is never consumed."""
        token = self.here
        self.position += token.kind != "end"
        return token

    def take_word(self, *words: str) -> bool:
        """Read one of these keywords if it comes next; return whether it does."""
        is_next = self.here.is_word(*words)
        self.position += is_next
        return is_next

    def take_operator(self, text: str) -> bool:
        """Read this operator if it comes next; return whether it does."""
        is_next = self.here.is_operator(text)
        self.position += is_next
        return is_next

    def expect(self, text: str) -> None:
        """Read this operator or keyword, or decline."""
        token = self.here
        if not (token.is_operator(text) or token.is_word(text)):
            raise self.syntax(f"{text} is expected")
        self.take()

    def syntax(self, expected: str) -> DeclineSignal:
        """The error for a token that should be something else."""
        token = self.here
        place = "at the end" if token.kind == "end" else f"here, not {token.text!r}"
        return self.decline("sql-syntax", f"{expected} {place}", token)

    def decline(self, code: str, reason: str, token: Token) -> DeclineSignal:
        """The error for a token."""
        return locate_signal(DeclineSignal(code, reason), self.text, token.position)

    @contextmanager
    def at(self, token: Token) -> Iterator[None]:
        """Attach this token's position to errors raised inside, unless they already have one."""
        try:
            yield
        except DeclineSignal as signal:
            if signal.declined.span is not None:
                raise
            raise locate_signal(signal, self.text, token.position) from signal
