# SPDX-License-Identifier: Apache-2.0
"""Trusted. Words for reasons: the names of Python's syntax, and the advice for each code."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from typing import Final

_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Invert: "~",
}

_SYNTAX: Final[dict[type[ast.AST], str]] = {
    ast.JoinedStr: "a formatted string (f-string)",
    ast.Lambda: "a lambda that is not called immediately",
    ast.GeneratorExp: "a generator expression",
    ast.SetComp: "a set comprehension",
    ast.Starred: "an argument with *",
    ast.Slice: "a slice",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Await: "await",
    ast.With: "a with block",
    ast.AsyncWith: "a with block",
    ast.ClassDef: "a class that is defined inside the function",
    ast.AsyncFunctionDef: "a function that is defined inside the function",
    ast.TryStar: "try and except",
}

AS_CONSTANT = "write the value as a constant of the module, "
"""Stands in front of an assignment."""

NO_GROUPING = " is no grouping column: "
"""Stands between a column and the advice to group by it."""

_COLUMN = "compute it in a column below the function"

_ADVICE: Final[dict[str, str]] = {
    "no-source": "put it in a file or a notebook cell",
    "source-mismatch": "import the file again, and give each lambda a line of its own",
    "not-a-function": "write it out with def",
    "key-type": "group by a column of another type, or do not read the key inside",
    "impure-clock": "read it before the pipeline is built, and pass the value on by a closure",
    "impure-random": "compute it in a column below the function, and store these rows first",
    "impure-io": "remove it, or return the output as a column",
    "impure-global": "keep it in a variable of the function",
    "mutation": "keep what is needed in variables of the function",
    "unknown-call": _COLUMN + ", or in a function that is declared with pure=",
    "unknown-name": "define it before the function is passed on",
    "unsupported-constant": "pass a value of Python's own type instead, by a closure",
    "unsupported-statement": "write it with assignments and if",
    "unsupported-expression": _COLUMN + ", or write it in simpler steps",
    "unsupported-operation": _COLUMN + ", or write it in simpler steps",
    "mixed-types": "initialize it with None, or with a value of its later type",
    "inexact-conversion": "cast the column to double or int below the function",
    "maybe-unbound": "assign it first, for example None",
    "too-large": _COLUMN,
    "nested-loop": _COLUMN + ", or loop over constants",
    "unknown-loop": "loop over the columns themselves, or over itertuples(index=False)",
    "early-exit": "let the loop run to its end, and keep the result in a variable",
    "early-return": "decide after the loop",
    "group-size": "use it after the loop",
    "two-passes": "compute the value of the group in a step below",
    "return-shape": "return the declared columns, or declare the returned ones",
    "return-type": "declare the type that is returned, or convert in the function",
    "return-null": "declare it without NOT NULL, or return a value in any case",
    "row-count": "return one row with more columns",
}
"""Advice for the reasons that do not give any themselves."""


def operator(op: ast.AST) -> str:
    """Return how Python writes an operator."""
    return _OPERATORS.get(type(op), type(op).__name__)


def syntax(node: ast.AST) -> str:
    """Return the name of a kind of expression or statement."""
    return _SYNTAX.get(type(node)) or f"{type(node).__name__.lower()} is syntax that"


def add_advice(code: str, reason: str) -> str:
    """Add advice to the reason, unless it has a colon and so gives advice itself."""
    advice = _ADVICE.get(code)
    bare_reason = re.sub(r"^variable \w+: ", "", reason)
    return reason if advice is None or ": " in bare_reason else f"{reason}: {advice}"


def named_columns(wanted: object, names: Sequence[str]) -> str:
    """Name the existing column that was probably meant; if none is close, list all of them."""
    near = difflib.get_close_matches(str(wanted), names, n=1)
    return f"is {near[0]} meant?" if near else f"there are {', '.join(names)}"
