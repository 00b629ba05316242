"""Facts that many packages need are written in one file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import presieve
from presieve.ir import assumption_codes

SOURCE = Path(str(presieve.__file__)).parent
OTHER_MEANINGS = {
    "pure",  # an option
    "computed",  # a reason why a pre-filter is not the strongest
    "open-zero",  # an operator of terms
    "row-order",  # a reason why a function is not lifted
}
CODES = {v for n, v in vars(assumption_codes).items() if n.isupper()} - OTHER_MEANINGS


def _constants() -> Iterator[tuple[str, ast.expr]]:
    """Each constant and power in the source, with the file that it is in."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant | ast.BinOp):
                yield path.relative_to(SOURCE).as_posix(), node


def test_codes_of_assumptions() -> None:
    files = {f for f, n in _constants() if isinstance(n, ast.Constant) and n.value in CODES}
    assert files == {"ir/assumption_codes.py"}


def test_the_integers_that_are_doubles() -> None:
    files = {file for file, node in _constants() if ast.unparse(node) in ("2 ** 53", str(2**53))}
    assert files == {"semantics/values.py"}
