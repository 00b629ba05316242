# SPDX-License-Identifier: Apache-2.0
"""Trusted. Displays, comprehensions and f-strings, part by part."""

from __future__ import annotations

import ast

from presieve.dataflow.abstract_values import (
    NO_KEYS,
    AbstractScalar,
    AbstractTuple,
    Items,
    OpaqueValue,
    Places,
    Value,
    is_fixed,
    join_all,
    reach_of,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.assignments import bind
from presieve.dataflow.by_row.row_closures import is_closed_comprehension, loosen, names_stored
from presieve.dataflow.context import Analysis, TooLarge, constant_of
from presieve.dataflow.iteration import item_of, listed_items, rounds, rows_of

_DEEP = 6


def _is_deep(value: Value, depth: int = _DEEP) -> bool:
    """Whether a tuple nests tuples deeper than the analysis follows."""
    if isinstance(value, AbstractTuple):
        return depth == 0 or any(_is_deep(i, depth - 1) for i in value.items)
    return False


def tuple_display(a: Analysis, node: ast.Tuple, s: AnalysisState) -> Value:
    items = _spread_items(a, node.elts, s)
    if items is None:
        return OpaqueValue(_reach_of_all(a, node.elts, s))
    value = AbstractTuple(tuple(items))
    return OpaqueValue(reach_of(value)) if _is_deep(value) else value


def list_display(a: Analysis, node: ast.List | ast.Set, s: AnalysisState) -> Value:
    items = _spread_items(a, node.elts, s)
    kind = "list" if isinstance(node, ast.List) else "set"
    if items is None:
        reach = _reach_of_all(a, node.elts, s)
        return s.make(a.site(node), lambda _: Items(kind, OpaqueValue(reach)))
    return s.make(a.site(node), lambda _: Items(kind, join_all(items), tuple(items)))


def _spread_items(a: Analysis, nodes: list[ast.expr], s: AnalysisState) -> list[Value] | None:
    """The items of a display; None if a ``*`` adds items that are not listed."""
    items: list[Value] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            items.append(a.evaluator.evaluate(a, node, s))
            continue
        listed = listed_items(s, a.evaluator.evaluate(a, node.value, s))
        if listed is None:
            return None
        items += listed
    return items


def _reach_of_all(a: Analysis, nodes: list[ast.expr], s: AnalysisState) -> Places:
    parts = [
        a.evaluator.evaluate(a, n.value if isinstance(n, ast.Starred) else n, s) for n in nodes
    ]
    for part in parts:
        a.observe(s, part, nodes[0], "a display with * is not followed")
    return s.reach(*parts)


def dict_display(a: Analysis, node: ast.Dict, s: AnalysisState) -> Value:
    fields: dict[str, Value] | None = {}
    values: list[Value] = []
    for key, item in zip(node.keys, node.values, strict=True):
        value = a.evaluator.evaluate(a, item, s)
        if key is None:
            inner = s.items(value)
            has_known_fields = (
                inner is not None and inner.kind == "dict" and inner.fields is not None
            )
            if has_known_fields and fields is not None and inner is not None:
                fields.update(inner.fields or ())
                values += [v for _, v in inner.fields or ()]
            else:
                a.observe(s, value, node, "a display with ** is not followed")
                fields = None
                values.append(OpaqueValue(s.reach(value)))
            continue
        key_value = a.evaluator.evaluate(a, key, s)
        a.hides_key(s, key_value)
        name = constant_of(s, key_value)
        values.append(value)
        if isinstance(name, str) and fields is not None:
            fields[name] = value
        else:
            fields = None
    known_fields = None if fields is None else tuple(fields.items())
    return s.make(a.site(node), lambda _: Items("dict", join_all(values), None, known_fields))


def comprehension(
    a: Analysis,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    s: AnalysisState,
) -> Value:
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    if len(node.generators) == 1 and len(parts) == 1:
        listed_values = _evaluate_items(a, node, s)
        if listed_values is not None:
            return listed_values
    of_rows = _comprehension_over_rows(a, node, s)
    if of_rows is not None:
        return of_rows
    before = dict(s.env)

    def evaluate_item() -> Value:
        for g in node.generators:
            over = a.evaluator.evaluate(a, g.iter, s)
            a.branches_on(over, g.iter)
            bind(a, s, g.target, item_of(a, s, over, g.iter))
            for test in g.ifs:
                a.evaluator.evaluate(a, test, s)
        *keys, value = [a.evaluator.evaluate(a, p, s) for p in parts]
        for key in keys:
            a.hides_key(s, key)
        return value

    value = s.repeat(evaluate_item)
    _restore(s, before, names_stored([g.target for g in node.generators]))
    kind = {ast.SetComp: "set", ast.DictComp: "dict"}.get(type(node), "list")
    return s.make(a.site(node), lambda _: Items(kind, value))


def _comprehension_over_rows(
    a: Analysis,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    s: AnalysisState,
) -> Value | None:
    """A list of what a comprehension gives for each row; None if it is over something else, or if
    rows may depend on each other.
    """
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
        return None
    (g,) = node.generators
    trial = s.copy()
    rows = rows_of(trial, a.evaluator.evaluate(a, g.iter, trial))
    if rows is None or not is_closed_comprehension(s, node):
        return None
    a.by_row = True
    alone, before = a.alone, dict(s.env)
    over = a.evaluator.evaluate(a, g.iter, s)

    def evaluate_item() -> Value:
        bind(a, s, g.target, item_of(a, s, over, g.iter))
        for test in g.ifs:
            a.evaluator.evaluate(a, test, s)
        return a.evaluator.evaluate(a, node.elt, s)

    value = s.repeat(evaluate_item)
    _restore(s, before, names_stored([g.target]))
    a.alone = alone
    element, some = loosen(s, value), bool(g.ifs)
    return s.make(a.site(node), lambda _: Items("list", element, each=rows, some=some))


def evaluate_consumed(a: Analysis, node: ast.expr, s: AnalysisState) -> Value:
    """Evaluate an argument that the called function consumes at once."""
    return (
        comprehension(a, node, s)
        if isinstance(node, ast.GeneratorExp)
        else a.evaluator.evaluate(a, node, s)
    )


def generator(a: Analysis, node: ast.GeneratorExp, s: AnalysisState) -> Value:
    """A generator that is consumed later, when the values behind it may have changed."""
    values = comprehension(a, node, s)
    reach = s.reach(values)
    a.escapes(s, values, node, "a generator", kept=True)
    names = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    a.captured |= names
    for frame in s.frames:
        for name in names & frame.keys():
            a.escapes(s, frame[name], node, "a generator", kept=True)
    return OpaqueValue(reach)


def _evaluate_items(
    a: Analysis,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    start: AnalysisState,
) -> Value | None:
    """Evaluate item by item; None if the items are not listed, or a condition is unknown."""
    assert not isinstance(node, ast.DictComp)
    s, (generator,) = start.copy(), node.generators
    over = a.evaluator.evaluate(a, generator.iter, s)
    listed = rounds(a, s, over, generator.iter)
    if listed is None or not listed.whole or len(listed.items) > 64:
        return None
    before, target = dict(s.env), generator.target
    # The values so far are in the state, because the next item may make objects at the same node.
    hidden = f"<{node.lineno}:{node.col_offset}>"
    s.env[hidden] = AbstractTuple(())
    for item in listed.items:
        if rounds(a, s, over, generator.iter) != listed:
            raise TooLarge  # it changes the items that it iterates over
        bind(a, s, target, item)
        conditions = [constant_of(s, a.evaluator.evaluate(a, test, s)) for test in generator.ifs]
        if False in conditions:
            continue
        if not all(k is True for k in conditions):
            return None
        value = a.evaluator.evaluate(a, node.elt, s)
        values_so_far = s.env[hidden]
        assert isinstance(values_so_far, AbstractTuple)
        s.env[hidden] = AbstractTuple((*values_so_far.items, value))
    values_so_far = s.env.pop(hidden)
    assert isinstance(values_so_far, AbstractTuple)
    values = list(values_so_far.items)
    _restore(s, before, names_stored([target]))
    kind = "set" if isinstance(node, ast.SetComp) else "list"
    start.become(s)
    return start.make(a.site(node), lambda _: Items(kind, join_all(values), tuple(values)))


def _restore(s: AnalysisState, before: dict[str, Value], names: set[str]) -> None:
    for name in names:
        s.env.pop(name, None)
        if name in before:
            s.env[name] = before[name]


def text(a: Analysis, node: ast.JoinedStr, s: AnalysisState) -> Value:
    parts: list[Value] = []
    texts = []
    plain_parts = 0
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            part = a.evaluator.evaluate(a, piece.value, s)
            a.observe(s, part, node, "a value is formatted")
            if piece.format_spec is not None:
                parts.append(a.evaluator.evaluate(a, piece.format_spec, s))
            parts.append(part)
            plain = piece.conversion == -1 and piece.format_spec is None
            plain_parts += plain
            constant = constant_of(s, part) if plain else ...
            texts.append(str(constant) if type(constant) in (int, float) else constant)
        else:
            texts.append(constant_of(s, a.evaluator.evaluate(a, piece, s)))
    if all(isinstance(t, str) for t in texts):
        return AbstractScalar(constant="".join(str(t) for t in texts), fixed=True)
    keys = NO_KEYS
    if len(node.values) == len(parts) == plain_parts == 1 and isinstance(parts[0], AbstractScalar):
        keys = a.request.as_text(parts[0].keys)
    return AbstractScalar(keys, fixed=all(map(is_fixed, parts)))
