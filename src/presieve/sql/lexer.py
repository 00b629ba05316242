# SPDX-License-Identifier: Apache-2.0
"""Trusted. The tokens of Spark SQL: names, numbers, strings and operators, with their positions.

Follows the lexer rules of Spark 4.3's ``SqlBaseLexer.g4`` and, between quotes,
``SparkParserUtils.unescapeSQLString``, under Spark's default configuration. Text that is not part
of the language that :mod:`presieve.sql.parse` reads (comments, variable references) declines here.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from presieve.errors import DeclineSignal, Span

Kind = Literal["word", "name", "string", "number", "operator", "end"]


class Token(Struct, frozen=True):
    """``text`` is the word as written, the name between backticks, or the content that a string
    denotes.

    ``position`` counts characters from 0.
    """

    kind: Kind
    text: str
    position: int

    def is_operator(self, *texts: str) -> bool:
        """Whether this is one of these operators."""
        return self.kind == "operator" and self.text in texts

    def is_word(self, *words: str) -> bool:
        """Whether this is one of these keywords (in upper case), written without quotes."""
        return self.kind == "word" and self.text.upper() in words


_SPACE = re.compile(r"[ \t\r\n]+")
_TOKENS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("string", re.compile(r"[rR](?:'[^']*'|\"[^\"]*\")")),
    ("string", re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"", re.DOTALL)),
    (
        "number",
        re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYFD])?(?!\w)", re.I | re.A),
    ),
    ("word", re.compile(r"[A-Za-z_]\w*", re.ASCII)),
    ("name", re.compile(r"`(?:[^`]|``)+`")),
    ("operator", re.compile(r"<=>|<>|<=|>=|==|!=|\|\||::|=>|->|[-=<>!+*/%&|^~(),.:;?\[\]]")),
)


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of ``text``; the last one has the kind ``end``.

    Raises :class:`DeclineSignal` where the text has no token of the supported language.
    """
    if "${" in text:
        why = DeclineSignal("sql-unsupported", "variable references ${...} are not supported")
        raise locate_signal(why, text, text.index("${"))
    tokens_read: list[Token] = []
    position = 0
    while True:
        if space := _SPACE.match(text, position):
            position = space.end()
        if position == len(text):
            return (*tokens_read, Token("end", "", position))
        try:
            token, position = _next(text, position)
        except DeclineSignal as signal:
            raise locate_signal(signal, text, position) from signal
        tokens_read.append(token)


SQL = "SQL"
"""Stands for a file name in positions within an SQL text."""


def locate_signal(signal: DeclineSignal, text: str, position: int) -> DeclineSignal:
    """Add a position to the signal: line and column of a character, both counted from 1."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    why = signal.declined
    return DeclineSignal(why.code, why.reason, Span(SQL, line, column))


def _next(text: str, position: int) -> tuple[Token, int]:
    if text.startswith(("--", "/*"), position):
        raise DeclineSignal("sql-unsupported", "comments are not supported; remove them")
    for kind, pattern in _TOKENS:
        if match := pattern.match(text, position):
            return Token(kind, _meaning(kind, match[0]), position), match.end()
    raise DeclineSignal("sql-syntax", f"cannot read {text[position : position + 12]!r}")


def _meaning(kind: Kind, raw: str) -> str:
    if kind == "name":
        return raw[1:-1].replace("``", "`")
    if kind != "string":
        return raw
    return _well_formed(raw[2:-1] if raw[0] in "rR" else unescape(raw))


_SIMPLE = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))|(''|\"\")", re.DOTALL
)


def unescape(quoted: str) -> str:
    r"""The content that a quoted string denotes.

    Octal ``\101`` goes before ``\0``; ``\%`` and ``\_`` keep their backslash; any other escaped
    character stands for itself; a doubled quote of the surrounding kind is one quote.
    """
    quote = quoted[0]

    def replace(match: re.Match[str]) -> str:
        unicode4, unicode8, octal, single, doubled = match.groups()
        if unicode4 or unicode8:
            return _character(int(unicode4 or unicode8, 16))
        if octal:
            return chr(int(octal, 8))
        if doubled:
            return quote if doubled[0] == quote else str(doubled)
        return f"\\{single}" if single in "%_" else _SIMPLE.get(single, single)

    return _ESCAPE.sub(replace, quoted[1:-1])


def _character(code: int) -> str:
    if code > 0x10FFFF:
        raise DeclineSignal("sql-syntax", f"there is no character U+{code:X}")
    return chr(code)


def _well_formed(text: str) -> str:
    """Two escaped surrogates are one character, as in Java; a lone one has no UTF-8 form."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise DeclineSignal("sql-unsupported", "half of a surrogate pair in a string") from None
