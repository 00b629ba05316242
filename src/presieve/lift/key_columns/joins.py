"""Trusted. Joins of two tables, as far as is asked whether columns hold the key.

Source: pandas 2.3 ``core/reshape/merge.py``. A column of ``on`` has, in each row of the result, the
value of one of the two tables, whichever has the row, and a table without such a column raises.
Of ``merge_asof`` each row is one of the first table's, whose column of ``by`` it keeps. Nothing is
said of other columns: those of rows without a partner are missing.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from presieve.lift.key_columns.values import Frame

if TYPE_CHECKING:
    from presieve.lift.key_columns.expressions import Reader
    from presieve.lift.key_columns.values import Env

_MERGE = frozenset(("on", "how", "suffixes", "validate"))
_ASOF = frozenset(("on", "by", "direction", "suffixes", "tolerance", "allow_exact_matches"))


def joined(reader: Reader, node: ast.Call, env: Env) -> Frame | None:
    """``a.merge(b, on=...)``, ``pandas.merge(a, b, on=...)``, ``pandas.merge_asof(a, b, by=...)``;
    None for every other call. Declines what is not followed in the arguments.
    """
    if not isinstance(node.func, ast.Attribute):
        return None
    name, owner = node.func.attr, node.func.value
    parts = node.args
    if name == "merge" and reader.library(owner) is None:
        parts = [owner, *node.args]
    elif name not in ("merge", "merge_asof") or reader.library(owner) != "pandas":
        return None
    keywords = {k.arg: k.value for k in node.keywords}
    allowed = _MERGE if name == "merge" else _ASOF
    if len(parts) != 2 or not set(keywords) <= allowed:
        return None
    tables = [reader.value(p, env) for p in parts]
    for value in keywords.values():
        if not isinstance(value, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp | ast.Call):
            return None
        reader.value(value, env)
    a, b = tables
    if not isinstance(a, Frame) or not isinstance(b, Frame):
        return None
    shared = _texts(keywords.get("on" if name == "merge" else "by"))
    return Frame(frozenset(pair for pair in a.held & b.held if pair[0] in shared))


def _texts(node: ast.expr | None) -> frozenset[str]:
    """The names that are written out, one or a list."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    texts = [i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str)]
    return frozenset(texts) if len(texts) == len(items) else frozenset()
