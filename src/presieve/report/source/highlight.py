# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Python source with coloured syntax, as HTML."""

from __future__ import annotations

import html
from importlib import import_module


def python_lines(text: str) -> list[str]:
    """The lines of Python source as escaped HTML, as many as ``text`` has: ``span`` elements whose
    classes begin with ``py-`` and end with Pygments' names of tokens. Without Pygments, they have
    one colour.
    """
    try:
        # Rich needs Pygments too, so it is nearly always installed; it is slow to load.
        pygments = import_module("pygments")
        lexers = import_module("pygments.lexers.python")
        formatters = import_module("pygments.formatters.html")
    except ImportError:
        return _plain(text)
    lexer = lexers.PythonLexer(stripnl=False, ensurenl=False)
    formatter = formatters.HtmlFormatter(nowrap=True, classprefix="py-")
    lines = str(pygments.highlight(text, lexer, formatter)).split("\n")
    wanted = text.count("\n") + 1
    if len(lines) == wanted + 1 and not lines[-1]:
        lines.pop()
    return lines if len(lines) == wanted else _plain(text)


def _plain(text: str) -> list[str]:
    return [html.escape(line) for line in text.split("\n")]
