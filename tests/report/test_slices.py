"""The lines that matter to an output: without all the others it is the same when it is run."""

from __future__ import annotations

import ast
import inspect
import itertools
import random
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
from tests.report import sliced

from presieve.report.source.slices import Definition, lines_for

FUNCTIONS: list[tuple[Any, tuple[str, ...]]] = [
    (sliced.top_two, ("first", "second", "rounds")),
    (sliced.streak, ("longest", "errors", "last")),
    (sliced.until_stop, ("total", "seen", "note")),
    (sliced.in_a_dict, ("n", "sum", "kinds")),
    (sliced.heap, ("third", "count")),
    (sliced.early, ("found", "at")),
    (sliced.chained, ("low", "high", "width")),
    (sliced.Pair, ("best", "n", "share")),
    (sliced.Keyed, ("low", "n")),
    (sliced.Part, ("first", "count")),
]
CASES = [
    pytest.param(item, outputs, output, id=f"{item.__name__}-{output}")
    for item, outputs in FUNCTIONS
    for output in outputs
]


class Without(ast.NodeTransformer):
    """Statements outside of some lines do nothing; what they would have assigned is a stranger."""

    def __init__(self, lines: frozenset[int]) -> None:
        self.lines = lines
        self.dropped = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.If | ast.For | ast.Match) and node.lineno not in self.lines:
            self.dropped += 1
            return [ast.copy_location(self._stranger(n), node) for n in _assigned(node)] or (
                ast.copy_location(ast.Pass(), node)
            )
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno not in self.lines:
            self.dropped += 1
            return [ast.copy_location(self._stranger(n), node) for n in _assigned(node)]
        if isinstance(node, ast.AugAssign | ast.Break | ast.Continue | ast.Expr):
            if node.lineno not in self.lines:
                self.dropped += 1
                return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def _stranger(self, name: ast.expr) -> ast.stmt:
        return ast.Assign([name], ast.Constant(1))


def _assigned(node: ast.AST) -> list[ast.expr]:
    found = [n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute)]
    return [n for n in found if isinstance(n.ctx, ast.Store)]


def parsed(item: Any) -> Definition:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(item))).body
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    return node


def marked(item: Any, output: str, outputs: tuple[str, ...]) -> list[str]:
    """The text of the lines that matter."""
    lines = textwrap.dedent(inspect.getsource(item)).splitlines()
    found = lines_for(parsed(item), {output}, outputs)
    return [lines[n - 1].strip() for n in sorted(found)]


def runner(item: Any, made: Any, outputs: tuple[str, ...]) -> Callable[[list[Any]], dict[str, Any]]:
    """How to run ``made``, which is ``item`` or what is left of it."""

    def run(rows: list[Any]) -> dict[str, Any]:
        if not isinstance(item, type):
            return dict(made(rows))
        fold = made()
        if hasattr(fold, "eval"):
            for row in rows:
                fold.eval(row)
            return dict(zip(outputs, next(iter(fold.terminate())), strict=True))
        acc = fold.zero()
        for row in rows:
            acc = fold.reduce(acc, row)
        return dict(fold.finish(acc))

    return run


def tables() -> list[list[Any]]:
    draw = random.Random(7)
    kinds = ("error", "stop", "ok", "ok")
    some = [None, 0, 1, 5, 9]
    return [
        [{"score": draw.choice(some), "kind": draw.choice(kinds)} for _ in range(n)]
        for n, _ in itertools.product(range(7), range(40))
    ]


@pytest.mark.parametrize(("item", "outputs", "output"), CASES)
def test_what_does_not_matter_can_be_left_out(
    item: Any, outputs: tuple[str, ...], output: str
) -> None:
    node = parsed(item)
    cut = Without(lines_for(node, {output}, outputs))
    tree = ast.fix_missing_locations(ast.Module([cut.visit(node)], []))
    namespace = dict(vars(sliced))
    exec(compile(tree, "sliced", "exec"), namespace)  # our own function, from this repository
    whole, rest = (runner(item, made, outputs) for made in (item, namespace[str(item.__name__)]))
    for rows in tables():
        assert rest(rows).get(output) == whole(rows).get(output)


def test_lines_that_do_not_matter_are_not_marked() -> None:
    outputs = ("first", "second", "rounds")
    rounds = marked(sliced.top_two, "rounds", outputs)
    assert "rounds += 1" in rounds
    assert "continue" in rounds
    assert not [x for x in rounds if x.startswith(("first", "elif", "second"))]
    assert "rounds += 1" not in marked(sliced.top_two, "second", outputs)
    errors = marked(sliced.streak, "errors", ("longest", "errors", "last"))
    assert errors == [
        "def streak(rows: list[Row]) -> dict[str, Any]:",
        "longest = current = errors = 0",
        "for row in rows:",
        'if row["kind"] == "error":',
        "errors = errors + 1",
        'return {"longest": longest, "errors": errors, "last": last}',
    ]


def test_of_the_state_of_a_class_the_parts_that_matter_are_followed() -> None:
    best = marked(sliced.Pair, "best", ("best", "n", "share"))
    assert "best = score" in best
    assert not [x for x in best if x.startswith(("errors", "n +=", "share"))]
    low = marked(sliced.Keyed, "low", ("low", "n"))
    assert '"low": None,' in low
    assert '"n": 0,' not in low
    assert 'acc["n"] += 1' not in low
    count = marked(sliced.Part, "count", ("first", "count"))
    assert "self.count = 0" in count
    assert "self.first = None" not in count


def test_nothing_matters_where_the_filter_reads_nothing_of_a_function() -> None:
    node = parsed(sliced.top_two)
    assert lines_for(node, set(), ("first", "second", "rounds")) == frozenset()


def test_of_a_lambda_everything_matters() -> None:
    node = ast.parse("f = (lambda x:\n    x + 1)").body[0]
    assert isinstance(node, ast.Assign)
    assert isinstance(node.value, ast.Lambda)
    assert lines_for(node.value, {"y"}, ("y",)) == {1, 2}
