# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Name relations and conditions for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from presieve.backend.catalyst.leaf_conditions import SCALAR_UDFS
from presieve.backend.catalyst.trees import ATTRIBUTE, OR, Node, Tree, walk
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import class_name, each
from presieve.backend.classic.scans.plan_leaves import FILES, RELATION, RELATION_V2
from presieve.backend.gateway import Handle

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_TEXT = re.compile(r"('(?:[^'\\]|\\.)*')")
"""Strings as Spark prints them."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that would break the line, which Spark prints as they are."""


def source_name(leaf: Handle) -> str:
    """Name a relation: by its table, by its files, or by its kind and columns."""
    kind = class_name(leaf)
    if kind == RELATION:
        table = leaf.catalogTable()
        if table.isDefined():
            return str(table.get().identifier().unquotedString())
        base = leaf.relation()
        if class_name(base) == FILES:
            return files_name(base)
        kind = class_name(base)
    if kind == RELATION_V2:
        return str(leaf.name())
    columns = ", ".join(str(column.name()) for column in each(leaf.output()))
    return f"{kind.rsplit('.', 1)[-1].rstrip('$')}({columns})"


def files_name(relation: Handle) -> str:
    """Return the first path of a ``HadoopFsRelation``, and the number of further paths."""
    paths = relation.location().rootPaths()
    further_paths = int(paths.size()) - 1
    return str(paths.head().toString()) + (
        f" and {further_paths} more" if further_paths > 0 else ""
    )


def print_conjunction(plans: JvmPlans, conditions: Sequence[tuple[Handle, Tree]]) -> str:
    """Print conditions, each with its JSON, as one condition in SQL."""
    texts = [print_unqualified(plans, *condition) for condition in conditions]
    if len(texts) == 1:
        return texts[0]
    kinds = (tree[0]["class"] for _, tree in conditions)
    return " AND ".join(
        f"({text})" if kind == OR else text for text, kind in zip(texts, kinds, strict=True)
    )


def print_unqualified(plans: JvmPlans, condition: Handle, tree: Tree) -> str:
    """Print a condition in SQL with unqualified column names. ``tree`` is its JSON."""
    text = plans.sql(condition)
    long = {
        _join_names((*qualifier, name)): _quote_name(name) for qualifier, name in _columns(tree)
    }
    parts = _TEXT.split(_CONTROL.sub(_escape, text))
    for name in sorted(long, key=len, reverse=True):
        pattern = re.compile(rf"(?<![\w.`]){re.escape(name)}(?![\w`])")
        parts[::2] = [pattern.sub(lambda _, n=name: long[n], part) for part in parts[::2]]
    return _bare("".join(parts))


def _escape(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"


def name_results(text: str, root: Node) -> str:
    """Put the calls of scalar Python functions in a plan in the place of Spark's names for their
    results, such as ``pythonUDF0``.
    """
    calls: dict[str, set[str]] = {}
    for node in walk(root):
        if node.kind in SCALAR_UDFS:
            for result, call in zip(node.fields["resultAttrs"], node.fields["udfs"], strict=True):
                calls.setdefault(result[0]["name"], set()).add(f"{call[0]['name']}(..)")
    for name, called in calls.items():
        text = re.sub(rf"\b{name}\b", min(called) if len(called) == 1 else "a result", text)
    return text


def _columns(tree: Tree) -> Iterator[tuple[tuple[str, ...], str]]:
    for node in tree:
        if node["class"] == ATTRIBUTE and node.get("qualifier"):
            yield tuple(_names(node["qualifier"])), str(node["name"])


def _names(qualifier: object) -> list[str]:
    """Read a sequence of strings, which Catalyst writes as a list or as ``[a, b]``."""
    if isinstance(qualifier, str):
        return [part for part in qualifier.strip("[]").split(", ") if part]
    return [str(part) for part in qualifier] if isinstance(qualifier, list) else []


def _join_names(names: tuple[str, ...]) -> str:
    return ".".join(map(_quote_name, names))


def _quote_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _bare(text: str) -> str:
    """Remove parentheses around the whole text."""
    depth = 0
    plain = _TEXT.sub(lambda text_match: "'" * len(text_match[0]), text)
    if not (plain.startswith("(") and plain.endswith(")")):
        return text
    for char in plain[:-1]:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text
    return text[1:-1]
