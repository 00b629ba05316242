"""Untrusted. Problems that grow in one respect, as text that a user could have written."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Growing:
    """A problem of one size; ``text`` defines a class ``Fold``."""

    text: str
    where: str
    schema: str
    returns: str

    def fold(self, directory: Path, name: str) -> Any:
        """The class, of a file: its text is what is read."""
        path = directory / f"{name}.py"
        path.write_text(self.text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Fold


def _fold(zero: str, lines: list[str], finish: str = "acc") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return (
        f"class Fold:\n    def zero(self):\n        return {zero}\n"
        f"    def reduce(self, acc, row):\n{body}\n"
        f"    def finish(self, acc):\n        return {finish}\n"
    )


def _counters(number: int) -> Growing:
    """A counter for each kind of row; there are other kinds."""
    names = [f"n{i}" for i in range(number)]
    lines = [f"{', '.join(names)} = acc"]
    for i, name in enumerate(names):
        lines += [f"{'elif' if i else 'if'} row['kind'] == 'k{i}':", f"    {name} += 1"]
    lines.append(f"return {', '.join(names)}")
    returns = ", ".join(f"{n} bigint" for n in names)
    return Growing(_fold(", ".join("0" for _ in names), lines), "n0 >= 3", "kind string", returns)


def fields(size: int) -> Growing:
    """As many counters, of which the filter reads one."""
    return _counters(size)


def conjuncts(size: int) -> Growing:
    """Eight counters, of which the filter reads so many, each with a conjunct of its own."""
    growing = _counters(8)
    where = " AND ".join(f"n{i} >= {i + 1}" for i in range(size))
    return Growing(growing.text, where, growing.schema, growing.returns)


_BEST = ["    if acc is None or row['v'] > acc:", "        return row['v']", "return acc"]


def columns(size: int) -> Growing:
    """The greatest value among rows that pass a test of each of so many columns."""
    tests = " and ".join(f"row['a{i}'] > {i}" for i in range(size))
    schema = ", ".join(f"a{i} bigint NOT NULL" for i in range(size))
    text = _fold("None", [f"if {tests}:", *_BEST])
    return Growing(text, "m > 90", f"{schema}, v bigint NOT NULL", "m bigint")


def branches(size: int) -> Growing:
    """The greatest value among rows that are above what is asked of their kind, of so many."""
    lines = ["least = 1000"]
    for i in range(size):
        lines += [f"{'elif' if i else 'if'} row['kind'] == 'k{i}':", f"    least = {10 * i}"]
    text = _fold("None", [*lines, "if row['v'] > least:", *_BEST])
    return Growing(text, "m > 90", "kind string, v bigint NOT NULL", "m bigint")


def places(size: int) -> Growing:
    """The greatest so many values in order, of which the last is given."""
    names = [f"t{i}" for i in range(size)]
    lines = [f"{', '.join(names)}, = acc", "x = row['v']"]
    for i, name in enumerate(names):
        shifted = [*names[:i], "x", *names[i:-1]]
        lines += [f"if {name} is None or x > {name}:", f"    return {', '.join(shifted)},"]
    lines.append("return acc")
    zero = ", ".join("None" for _ in names) + ","
    text = _fold(f"({zero})", lines, f"acc[{size - 1}]")
    return Growing(text, "m > 90", "v bigint NOT NULL", "m bigint")


RESPECTS: dict[str, tuple[Callable[[int], Growing], tuple[int, ...]]] = {
    "fields of the state": (fields, (2, 4, 8, 16)),
    "conjuncts of the filter": (conjuncts, (1, 2, 4, 8)),
    "columns that are read": (columns, (1, 2, 4, 8, 16, 32)),
    "branches of the step": (branches, (1, 2, 4, 8, 16)),
    "values in order": (places, (1, 2, 4, 8)),
}
"""In what respect problems grow, and the sizes that are measured."""
