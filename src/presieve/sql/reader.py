"""Trusted. The tokens of an SQL text, how far they are read, and the place of what declines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from presieve.errors import DeclineSignal
from presieve.sql.lexer import Token, located, tokens


class TokenReader:
    """A text and how far it has been read. Raises what :func:`presieve.sql.lexer.tokens` does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.position = 0

    @property
    def here(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.position]

    @property
    def next(self) -> Token:
        """The one after it."""
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Read one token. The end is never read away."""
        token = self.here
        self.position += token.kind != "end"
        return token

    def take_word(self, *words: str) -> bool:
        """Read one of these keywords, if one stands here."""
        found = self.here.is_word(*words)
        self.position += found
        return found

    def take_operator(self, text: str) -> bool:
        """Read this operator, if it stands here."""
        found = self.here.is_operator(text)
        self.position += found
        return found

    def expect(self, text: str) -> None:
        """Read this operator or keyword, or decline."""
        token = self.here
        if not (token.is_operator(text) or token.is_word(text)):
            raise self.syntax(f"{text} is expected")
        self.take()

    def syntax(self, expected: str) -> DeclineSignal:
        """What to raise where something else should stand here."""
        token = self.here
        found = "at the end" if token.kind == "end" else f"here, not {token.text!r}"
        return self.decline("sql-syntax", f"{expected} {found}", token)

    def decline(self, code: str, reason: str, token: Token) -> DeclineSignal:
        """What to raise because of a token."""
        return located(DeclineSignal(code, reason), self.text, token.position)

    @contextmanager
    def at(self, token: Token) -> Iterator[None]:
        """What declines inside does so at this token, unless its place is known already."""
        try:
            yield
        except DeclineSignal as signal:
            if signal.declined.span is not None:
                raise
            raise located(signal, self.text, token.position) from signal
