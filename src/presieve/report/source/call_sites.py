# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Where a job hands a function to Spark, if its source has exactly one such place."""

from __future__ import annotations

import ast
from pathlib import Path

from msgspec import Struct

from presieve.errors import PresieveError, Span
from presieve.lint.module_source import ModuleSource, SourceScope, read_source
from presieve.lint.uses import Use, definition, find_uses, value_of_name

METHODS = ("applyInPandas", "applyInArrow", "mapInPandas", "mapInArrow")
"""Methods that hand tables to a function."""


class CallSite(Struct, frozen=True):
    """A call such as ``df.groupBy("k").applyInPandas(f, schema)``. ``table`` is the expression of
    the DataFrame before it, and ``groups`` the call of ``groupBy``, None for a function of batches.
    ``defined`` is the function's definition, in the same file.
    """

    module: ModuleSource
    use: Use
    call: ast.Call
    table: ast.expr
    groups: ast.Call | None
    defined: ast.FunctionDef

    @property
    def scope(self) -> SourceScope:
        """The scope of the call."""
        return self.use.scope

    @property
    def schema(self) -> ast.expr | None:
        """The declared result, as it is written; the value of a name that is assigned once."""
        named = {k.arg: k.value for k in self.call.keywords}
        node = self.call.args[1] if len(self.call.args) > 1 else named.get("schema")
        return value_of_name(node, self.scope) if isinstance(node, ast.Name) else node


def find_call_site(place: Span, function: str) -> CallSite | None:
    """Return the one place of a file at which the function with this name goes to Spark. ``place``
    is in the function. None if the file is not read, or the place is not certain.
    """
    try:
        module = read_source(Path(place.file), {})
        uses = find_uses(module)
    except (SyntaxError, ValueError, RecursionError, PresieveError):
        return None
    named = [u for u in uses if u.name == function and u.way in METHODS]
    if len(named) != 1 or _times(module.text.tree, function) != 1:
        return None
    defined = definition(named[0].target, named[0].scope)
    if not isinstance(defined, ast.FunctionDef):
        return None
    if not defined.lineno <= place.line <= (defined.end_lineno or defined.lineno):
        return None
    return _call_site(module, named[0], defined)


def _call_site(module: ModuleSource, use: Use, defined: ast.FunctionDef) -> CallSite | None:
    match use.place:
        case ast.Call(ast.Attribute(ast.Call(ast.Attribute(table, name)) as groups)) as call if (
            name in ("groupBy", "groupby") and use.way.startswith("apply")
        ):
            site = CallSite(module, use, call, table, groups, defined)
        case ast.Call(ast.Attribute(table, _)) as call if use.way.startswith("map"):
            site = CallSite(module, use, call, table, None, defined)
        case _:
            return None
    # After other expressions, a method is called on a part of them.
    return site if isinstance(table, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else None


def _times(tree: ast.Module, function: str) -> int:
    """Count how often the name of the function is read."""
    return sum(
        isinstance(n, ast.Name) and n.id == function and isinstance(n.ctx, ast.Load)
        for n in ast.walk(tree)
    )
