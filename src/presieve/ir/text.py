# SPDX-License-Identifier: Apache-2.0
"""Trusted. Printing and parsing of sorts, terms, folds and problems; ``parse(print(x)) == x``.

S-expressions. Atoms: ``row.score:Float?`` is a variable with its sort, ``5:Int`` a literal,
``9050:Decimal2`` the decimal 90.50, ``"a"`` a string literal, ``0x4056800000000000:Float`` a float
by its bits. A subterm that occurs more than once is printed once, as ``(let ((#1 ...)) ...)``, so
that shared terms stay small.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeAlias

from presieve.errors import PresieveError
from presieve.ir.fold import Assumption, Column, Field, Fold, Mode, Output, Problem
from presieve.ir.ops import app
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    OPAQUE,
    SEQUENCE,
    STRING,
    TEXTS,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ArrayOf,
    Decimal,
    MapOf,
    Option,
    Sort,
    StructOf,
    Tuple,
)
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var
from presieve.ir.walk import subterms

SExp: TypeAlias = "str | list[SExp]"

_NAMES: dict[str, Sort] = {
    "Bool": BOOL,
    "Int": INT,
    "Float": FLOAT,
    "String": STRING,
    "Binary": BINARY,
    "Date": DATE,
    "Timestamp": TIMESTAMP,
    "TimestampNTZ": TIMESTAMP_NTZ,
    "Sequence": SEQUENCE,
    "Opaque": OPAQUE,
}
_OPS = {op.value: op for op in Op}
_SCOPES = {s.value: s for s in Scope}


class TextError(PresieveError):
    """The text is not IR."""


# --- printing -------------------------------------------------------------------------------


def print_sort(sort: Sort) -> str:
    """``Int``, ``Decimal2``, ``Float?`` (an option), ``<Int,String?>`` (a tuple)."""
    match sort:
        case Option(of):
            return print_sort(of) + "?"
        case Tuple(of):
            return "<" + ",".join(print_sort(s) for s in of) + ">"
        case Decimal(scale):
            return f"Decimal{scale}"
        case ArrayOf(of):
            return f"Array<{print_sort(of)}>"
        case MapOf(keys, of):
            return f"Map<{print_sort(keys)},{print_sort(of)}>"
        case StructOf(names, of):
            fields = (f"{n}={print_sort(s)}" for n, s in zip(names, of, strict=True))
            return f"Struct<{','.join(fields)}>"
        case _:
            return type(sort).__name__


def _print_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name, re.ASCII) else json.dumps(name)


def _print_leaf(term: Var | Lit) -> str:
    if isinstance(term, Var):
        return f"{term.scope.value}.{_print_name(term.name)}:{print_sort(term.sort)}"
    if term.value is None:
        return f"none:{print_sort(term.sort)}"
    base = term.sort.of if isinstance(term.sort, Option) else term.sort
    if isinstance(term.value, bool):
        text = "true" if term.value else "false"
    elif isinstance(term.value, int):
        text = f"0x{term.value:016x}" if base == FLOAT else str(term.value)
    else:
        text = json.dumps(term.value)
    return f"{text}:{print_sort(term.sort)}"


def print_term(term: Term) -> str:
    """The term as one line of text."""
    nodes = list(subterms(term))
    uses: dict[int, int] = {}
    for node in nodes:
        if isinstance(node, App):
            for a in node.args:
                uses[id(a)] = uses.get(id(a), 0) + 1
    names: dict[int, str] = {}
    bindings: list[str] = []
    texts: dict[int, str] = {}
    for node in nodes:
        if not isinstance(node, App):
            texts[id(node)] = _print_leaf(node)
            continue
        text = "(" + " ".join([node.op.value, *(texts[id(a)] for a in node.args)]) + ")"
        if uses.get(id(node), 0) > 1:
            names[id(node)] = f"#{len(names) + 1}"
            bindings.append(f"({names[id(node)]} {text})")
            text = names[id(node)]
        texts[id(node)] = text
    body = texts[id(term)]
    return f"(let ({' '.join(bindings)}) {body})" if bindings else body


def print_fold(fold: Fold) -> str:
    """The fold as indented text."""
    lines = [f"(fold {json.dumps(fold.name)}"]
    for place, columns in (("column", fold.columns), ("key", fold.keys)):
        for c in columns:
            tag = "hidden" if c.hidden else place
            lines.append(
                f"  ({tag} {json.dumps(c.name)} {print_sort(c.sort)} {json.dumps(c.type)})"
            )
    for f in fold.fields:
        lines.append(f"  (field {json.dumps(f.name)} {print_sort(f.sort)}")
        lines.append(f"    {print_term(f.init)}")
        lines.append(f"    {print_term(f.step)})")
    for o in fold.outputs:
        head = f"  (output {json.dumps(o.name)} {print_sort(o.sort)} {json.dumps(o.type)}"
        lines.append(f"{head} {print_term(o.term)}{' checked' if o.checked else ''})")
    lines.append(f"  (raises {print_term(fold.step_raises)} {print_term(fold.finish_raises)}))")
    return "\n".join(lines)


def print_problem(problem: Problem) -> str:
    """Fold, filter, mode and assumptions as indented text."""
    lines = [f"(problem {problem.mode.value}", print_fold(problem.fold)]
    lines.append(f"  (where {print_term(problem.where)})")
    lines += ["  (on-demand)"] if problem.on_demand else []
    for a in problem.assumptions:
        lines.append(f"  (assume {json.dumps(a.code)} {json.dumps(a.text)} {print_term(a.term)})")
    return "\n".join(lines) + ")"


# --- parsing --------------------------------------------------------------------------------

_TOKEN = re.compile(r'\s*(?:(\()|(\))|((?:"(?:[^"\\]|\\.)*"|[^\s()"])+))', re.ASCII)


def _tokens(text: str) -> Iterator[str]:
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            raise TextError(f"cannot read {text[position : position + 20]!r}")
        position = match.end()
        yield match[0].strip()


def read_expression(text: str) -> SExp:
    """Read one s-expression. Raises :class:`TextError` if the text is not exactly one."""
    stack: list[list[SExp]] = [[]]
    for token in _tokens(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise TextError("a parenthesis is closed that was not opened")
            closed_list = stack.pop()
            stack[-1].append(closed_list)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise TextError("not one balanced expression")
    return stack[0][0]


def _split_sorts(text: str) -> list[str]:
    """Split ``<a,b>`` at the commas that are not inside of other such parentheses."""
    parts, depth, start = [], 0, 1
    for i in range(1, len(text)):
        depth += {"<": 1, ">": -1}.get(text[i], 0)
        if (text[i] == "," and depth == 0) or (depth < 0):
            parts.append(text[start:i])
            start = i + 1
    return [p for p in parts if p]


def _parse_composed(kind: str, parts: list[str]) -> Sort:
    if kind == "Struct":
        fields = [p.partition("=") for p in parts]
        return StructOf(tuple(n for n, _, _ in fields), tuple(parse_sort(s) for *_, s in fields))
    sorts = tuple(parse_sort(p) for p in parts)
    if kind == "":
        return Tuple(sorts)
    if len(sorts) != {"Array": 1, "Map": 2}[kind]:
        raise TextError(f"{kind} of {len(sorts)} sorts")
    return ArrayOf(*sorts) if kind == "Array" else MapOf(*sorts)


def parse_sort(text: str) -> Sort:
    """Inverse of :func:`print_sort`."""
    if text.endswith("?"):
        of = parse_sort(text[:-1])
        if isinstance(of, Option):
            raise TextError(f"an option of an option: {text!r}")
        return Option(of)
    kind, opening, _ = text.partition("<")
    if opening and text.endswith(">") and kind in ("", "Array", "Map", "Struct"):
        return _parse_composed(kind, _split_sorts(text[len(kind) :]))
    if match := re.fullmatch(r"Decimal(0|[1-9]\d{0,3})", text, re.ASCII):
        return Decimal(int(match[1]))
    if text not in _NAMES:
        raise TextError(f"no sort is called {text!r}")
    return _NAMES[text]


_VAR = re.compile(r'(row|key|acc|twin|out)\.("(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$]*):(.+)', re.ASCII)
_LIT = re.compile(r'("(?:[^"\\]|\\.)*"|none|true|false|0x[0-9a-f]{16}|-?\d+):(.+)', re.ASCII)


def _parse_leaf(text: str) -> Term:
    if match := _VAR.fullmatch(text):
        name = json.loads(match[2]) if match[2].startswith('"') else match[2]
        return Var(_SCOPES[match[1]], name, parse_sort(match[3]))
    if match := _LIT.fullmatch(text):
        return _parse_literal(match[1], parse_sort(match[2]), text)
    raise TextError(f"neither a variable nor a literal: {text!r}")


def _parse_literal(text: str, sort: Sort, atom: str) -> Lit:
    base = sort.of if isinstance(sort, Option) else sort
    if text == "none" and isinstance(sort, Option):
        return Lit(sort, None)
    if text in ("true", "false") and base == BOOL:
        return Lit(sort, text == "true")
    if text.startswith("0x") and base == FLOAT:
        return Lit(sort, int(text, 16))
    if text.startswith('"') and base in TEXTS:
        return Lit(sort, json.loads(text))
    counts = base in (INT, DATE, TIMESTAMP, TIMESTAMP_NTZ) or isinstance(base, Decimal)
    if counts and re.fullmatch(r"-?\d+", text):
        return Lit(sort, int(text))
    raise TextError(f"not a literal of its sort: {atom!r}")


def _term(node: SExp, names: dict[str, Term]) -> Term:
    if isinstance(node, str):
        return names[node] if node in names else _parse_leaf(node)
    if node and node[0] == "let":
        if len(node) != 3 or isinstance(node[1], str):
            raise TextError("let takes bindings and a body")
        names = dict(names)
        for binding in node[1]:
            if len(binding) != 2 or not isinstance(binding[0], str):
                raise TextError("a binding is a name and a term")
            names[binding[0]] = _term(binding[1], names)
        return _term(node[2], names)
    if not node or not isinstance(node[0], str) or node[0] not in _OPS:
        raise TextError(f"no operator: {node[:1]!r}")
    return app(_OPS[node[0]], *(_term(a, names) for a in node[1:]))


def parse_term(text: str) -> Term:
    """Inverse of :func:`print_term`. Raises :class:`PresieveError` if the text is not a term."""
    return _term(read_expression(text), {})


def _string(node: SExp) -> str:
    if not isinstance(node, str) or not node.startswith('"'):
        raise TextError(f"a quoted string is expected, not {node!r}")
    return str(json.loads(node))


def _atom(node: SExp) -> str:
    if not isinstance(node, str):
        raise TextError(f"an atom is expected, not {node!r}")
    return node


def _sections(node: SExp, head: str) -> list[list[SExp]]:
    if isinstance(node, str) or not node or node[0] != head:
        raise TextError(f"({head} ...) is expected")
    return [s for s in node[2:] if not isinstance(s, str)]


def _fold(node: SExp) -> Fold:
    columns: dict[str, list[Column]] = {"column": [], "key": []}
    fields: list[Field] = []
    outputs: list[Output] = []
    raises: tuple[Term, Term] | None = None
    for section in _sections(node, "fold"):
        match section:
            case ["column" | "key" | "hidden" as tag, name, sort, type_]:
                hidden = tag == "hidden"
                column = Column(_string(name), parse_sort(_atom(sort)), _string(type_), hidden)
                columns["key" if tag == "key" else "column"].append(column)
            case ["field", name, sort, init, step]:
                sort_ = parse_sort(_atom(sort))
                fields.append(Field(_string(name), sort_, _term(init, {}), _term(step, {})))
            case ["output", name, sort, type_, term, *flags] if flags in ([], ["checked"]):
                sort_ = parse_sort(_atom(sort))
                value = _term(term, {})
                outputs.append(Output(_string(name), sort_, _string(type_), value, bool(flags)))
            case ["raises", step, finish]:
                raises = (_term(step, {}), _term(finish, {}))
            case _:
                raise TextError(f"not a part of a fold: {section[:1]!r}")
    if raises is None:
        raise TextError("the fold does not say when it raises")
    return Fold(
        _string(node[1]),
        tuple(columns["column"]),
        tuple(columns["key"]),
        tuple(fields),
        tuple(outputs),
        *raises,
    )


def parse_fold(text: str) -> Fold:
    """Inverse of :func:`print_fold`, except for the span."""
    return _fold(read_expression(text))


def parse_problem(text: str) -> Problem:
    """Inverse of :func:`print_problem`."""
    node = read_expression(text)
    sections = _sections(node, "problem")
    try:
        mode = Mode(_atom(node[1]))
    except ValueError:
        raise TextError(f"no mode: {node[1]!r}") from None
    where: Term | None = None
    on_demand = False
    assumptions: list[Assumption] = []
    for section in sections[1:]:
        match section:
            case ["where", term]:
                where = _term(term, {})
            case ["on-demand"]:
                on_demand = True
            case ["assume", code, text_, term]:
                assumptions.append(Assumption(_string(code), _string(text_), _term(term, {})))
            case _:
                raise TextError(f"not a part of a problem: {section[:1]!r}")
    if where is None:
        raise TextError("the problem has no filter")
    return Problem(_fold(sections[0]), where, mode, tuple(assumptions), on_demand)
