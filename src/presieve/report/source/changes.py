# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Changes of a job's source that do by hand what presieve proves or advises.

A change is shown only if its place is certain: the function goes to Spark at one place of its file.
What it rests on is said beside it.
"""

from __future__ import annotations

import ast
import difflib
import linecache
import os
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from presieve.errors import Declined, Span
from presieve.lift.reason_words import AS_CONSTANT, NO_GROUPING
from presieve.report.json_fields import JsonFields
from presieve.report.source.call_sites import CallSite, find_call_site
from presieve.sql.ddl import parse_returns


class SourceChange(JsonFields, Struct, frozen=True):
    """Lines of the job's own source, changed, to paste or to apply with ``patch``.

    Attributes:
        what: What is changed.
        holds: What it rests on.
        file: The file.
        diff: The changed lines as a unified diff.
    """

    what: str
    holds: str
    file: str
    diff: str


class Edit(Struct, frozen=True):
    """The text between two places of a file, by line (from 1) and byte of the line, is replaced."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


class Advised(Struct, frozen=True):
    """What a report says of a boundary: the function's name and a ``place`` in it, the filter above
    it, the proven filter below (empty if there is none) with the texts of the ``facts`` that it
    rests on, and the ``reasons`` why no more is moved.
    """

    function: str
    place: Span | None
    where: str
    prefilter: str
    facts: tuple[str, ...]
    reasons: tuple[Declined, ...]


def changes_by_hand(advised: Advised) -> tuple[SourceChange, ...]:
    """Return the changes for a boundary of one function."""
    place = advised.place
    site = find_call_site(place, advised.function) if place is not None else None
    if site is None:
        return ()
    changes = [_typed_filter(site, advised)] if advised.prefilter else []
    for why in advised.reasons:
        found = _for_reason(site, why, advised.where)
        changes += [change for change in found if change is not None]
    return tuple(dict.fromkeys(changes))


def _for_reason(site: CallSite, why: Declined, where: str) -> Iterator[SourceChange | None]:
    grouping, _, advice = why.reason.partition(NO_GROUPING)
    if advice:
        yield _one_more_key(site, grouping)
    constant = why.reason.partition(AS_CONSTANT)[2]
    if constant and why.span is not None:
        yield _bind_constant(site, why.span, constant)
    if output := _FLOAT_OUTPUT.search(why.reason):
        yield _double_output(site, output[1])
    elif column := _FLOAT_INPUT.search(why.reason):
        yield _cast_input(site, column[1])
    elif why.reason == _FLOAT_IN_FILTER:
        for name in _float_columns(site):
            if re.search(rf"\b{re.escape(name)}\b", where):
                yield _double_output(site, name)


def _float_columns(site: CallSite) -> Iterator[str]:
    if site.use.returns is not None:
        columns = parse_returns(site.use.returns, site.use.name)
        yield from (c.name for c in columns if c.type == "float")


_FLOAT_OUTPUT = re.compile(r"\boutput column (\w+) is of type float\b")
_FLOAT_INPUT = re.compile(r"\bcolumn (\w+) is of type float\b")
_FLOAT_IN_FILTER = "values of type float are not supported"


# --- filters, keys and columns --------------------------------------------------------------------


def _typed_filter(site: CallSite, advised: Advised) -> SourceChange:
    facts = "".join(f"; {fact}" for fact in dict.fromkeys(advised.facts))
    return _change(
        site,
        "filter before the function",
        f"the function stays as it is, and every use of its result is filtered by {advised.where},"
        f" which stays{facts}",
        [_called_on_table(site, f".filter({_quote(advised.prefilter)})")],
    )


def _one_more_key(site: CallSite, column: str) -> SourceChange | None:
    groups = site.groups
    if groups is None or not site.use.keys or len(site.defined.args.args) != 1:
        return None
    keys: list[ast.expr] = groups.args
    if len(keys) == 1 and isinstance(keys[0], ast.List | ast.Tuple):
        keys = keys[0].elts
    end = _end(keys[-1])
    return _change(
        site,
        f"group by {column}, too",
        f"all rows of a group have the same {column}",
        [Edit(end, end, f", {_quote(column)}")],
    )


def _cast_input(site: CallSite, column: str) -> SourceChange | None:
    functions = _functions_of_spark(site)
    if functions is None:
        return None
    name, edits = functions
    cast = f'{name}({_quote(column)}).cast("double")'
    return _change(
        site,
        f"cast {column} before the function",
        f"the function may compute with doubles: {column} has the same values, but results are not"
        " rounded to 32 bits",
        [*edits, _called_on_table(site, f".withColumn({_quote(column)}, {cast})")],
    )


def _functions_of_spark(site: CallSite) -> tuple[str, list[Edit]] | None:
    """Return how the file writes Spark's ``col``, and what to import for it."""
    last: ast.stmt | None = None
    for statement in site.module.text.tree.body:
        match statement:
            case ast.ImportFrom("pyspark.sql.functions", names):
                for alias in names:
                    if alias.name == "col":
                        return alias.asname or "col", []
            case ast.ImportFrom("pyspark.sql", names):
                for alias in names:
                    if alias.name == "functions":
                        return f"{alias.asname or 'functions'}.col", []
            case ast.Import([ast.alias("pyspark.sql.functions", str(name))]):
                return f"{name}.col", []
        last = statement if isinstance(statement, ast.Import | ast.ImportFrom) else last
    if last is None or "F" in site.module.text.scope:
        return None
    line = (last.end_lineno or last.lineno) + 1
    imported = "from pyspark.sql import functions as F\n"
    return "F.col", [Edit((line, 0), (line, 0), imported)]


def _called_on_table(site: CallSite, text: str) -> Edit:
    """Insert the call of a method after the table, on a line of its own if the chain has such."""
    end = _end(site.table)
    method = site.groups if site.groups is not None else site.call
    lines = _lines(site)
    next_line = lines[end[0]] if end[0] < len(lines) else ""
    owner = method.func
    assert isinstance(owner, ast.Attribute)
    own_line = next_line.lstrip().startswith(f".{owner.attr}(")
    if own_line and not lines[end[0] - 1].encode()[end[1] :].strip():
        indent = next_line[: len(next_line) - len(next_line.lstrip())]
        return Edit((end[0] + 1, 0), (end[0] + 1, 0), f"{indent}{text}\n")
    return Edit(end, end, text)


# --- constants and types --------------------------------------------------------------------------


def _bind_constant(site: CallSite, place: Span, constant: str) -> SourceChange | None:
    """Bind the value of an attribute to a name of the module, and read that name instead."""
    name = constant.partition(" ")[0]
    defined, module = site.defined, site.module
    if (
        place.file != module.file
        or not name.isidentifier()
        or not {name, "*"}.isdisjoint(module.text.scope)
    ):
        return None
    if defined.col_offset or any(n.id == name for n in _names(defined)):
        return None
    read = [n for n in ast.walk(defined) if isinstance(n, ast.Attribute) and _is_load(n)]
    at_place = [n for n in read if n.lineno == place.line and _column(site, n) == place.column]
    if len({ast.unparse(n) for n in at_place if n.attr.upper() == name}) != 1:
        return None
    (written,) = {ast.unparse(n) for n in at_place if n.attr.upper() == name}
    first = min([defined.lineno, *(d.lineno for d in defined.decorator_list)])
    uses = [n for n in read if ast.unparse(n) == written]
    return _change(
        site,
        f"{written} as a constant",
        f"{written} has the value {constant.partition(' = ')[2]} in every run",
        [Edit((first, 0), (first, 0), f"{constant}\n\n\n")]
        + [Edit((n.lineno, n.col_offset), _end(n), name) for n in uses],
    )


def _names(node: ast.AST) -> list[ast.Name]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Name)]


def _is_load(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _double_output(site: CallSite, column: str) -> SourceChange | None:
    edits = _double_in(site, site.schema, column)
    if not edits:
        return None
    return _change(
        site,
        f"declare {column} as double",
        f"{column} may have digits that a 32-bit float drops",
        edits,
    )


def _double_in(site: CallSite, schema: ast.expr | None, column: str) -> list[Edit]:
    match schema:
        case ast.Constant(str()) if schema.lineno == schema.end_lineno:
            start, end = (schema.lineno, schema.col_offset), _end(schema)
            written = _lines(site)[start[0] - 1].encode()[start[1] : end[1]].decode()
            pattern = rf"(?i)(\b{re.escape(column)}\b\s*:?\s+)float\b"
            doubled, times = re.subn(pattern, r"\1double", written)
            return [Edit(start, end, doubled)] if times == 1 else []
        case ast.Call():
            types = [t for n in ast.walk(schema) if (t := _float_type(n, column)) is not None]
            names = {type(t).__name__ for t in types}
            known = "DoubleType" in site.module.text.scope or "*" in site.module.text.scope
            if len(types) == 1 and (known or names == {"Attribute"}):
                end = _end(types[0])
                return [Edit((end[0], end[1] - len("FloatType")), end, "DoubleType")]
    return []


def _float_type(node: ast.AST, column: str) -> ast.expr | None:
    """Return the name ``FloatType`` in the field of a column."""
    match node:
        case ast.Call(
            ast.Name("StructField") | ast.Attribute(_, "StructField") | ast.Attribute(_, "add"),
            [ast.Constant(name), ast.Call(type_), *_],
        ) if name == column:
            match type_:
                case ast.Name("FloatType") | ast.Attribute(_, "FloatType"):
                    return type_
    return None


# --- text -----------------------------------------------------------------------------------------


def _lines(site: CallSite) -> list[str]:
    return linecache.getlines(site.module.file)


def _column(site: CallSite, node: ast.expr) -> int:
    line = _lines(site)[node.lineno - 1]
    return len(line.encode()[: node.col_offset].decode()) + 1


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _quote(text: str) -> str:
    """Return a literal of Python, in double quotes if that needs no escapes."""
    return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)


def _change(site: CallSite, what: str, holds: str, edits: Sequence[Edit]) -> SourceChange:
    before = _lines(site)
    after = list(before)
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        after = _apply_edit(after, edit)
    name = os.path.relpath(site.module.file) if _is_below(site.module.file) else site.module.file
    diff = difflib.unified_diff(before, after, name, name, n=1)
    return SourceChange(what, holds, site.module.file, "".join(_with_ends(diff)))


def _is_below(file: str) -> bool:
    return os.path.realpath(file).startswith(os.path.realpath(os.curdir) + os.sep)


def _with_ends(diff: Iterator[str]) -> Iterator[str]:
    """End each line; the last one of a file may have no end."""
    for line in diff:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _apply_edit(lines: list[str], edit: Edit) -> list[str]:
    (first, start), (last, end) = edit.start, edit.end
    if first > len(lines):
        return [*lines, edit.text]
    before = lines[first - 1].encode()[:start].decode()
    after = lines[last - 1].encode()[end:].decode()
    changed = re.findall(r".*\n|.+$", f"{before}{edit.text}{after}")
    return [*lines[: first - 1], *changed, *lines[last:]]
