"""Random programs: nothing escapes, and what is lifted gives what Python gives, errors included."""

from __future__ import annotations

import importlib.util
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.lift.lifting import interpreted, request, run_class
from tests.lift.programs import COLUMNS, Programs

from presieve.ir.text import parse_fold, print_fold
from presieve.ir.wellformed import check_fold
from presieve.lift import Lifted, Request, RowClass, lift
from presieve.semantics.interpret import Raised
from presieve.semantics.values import INT_RANGES, Value, same

INFINITE = float("inf")
VALUES: dict[str, list[Value]] = {
    "a": [None, 0, 1, -3, 2, 2**31 - 1, -(2**31), 10],
    "b": [0, 1, -1, 3, 2**53 + 1, -(2**63), 2**63 - 1, 7],
    "x": [None, 0.0, -0.0, 1.5, 2.5, INFINITE, -INFINITE, 1e308, -3.0],
    "y": [0.0, -0.0, 2.5, -1.0, INFINITE, 5e-324, 3.0],
    "s": [None, "", "a", "b"],
    "f": [None, True, False],
    "d": [None, 0, 18321, -5],
}
SCHEMA = ", ".join(f"{n} {t}" for n, t in COLUMNS.items())
PROGRAMS = 60


def _load(path: Path, text: str) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        spec.loader.exec_module(module)
    return module


def _check(cls: Any, found: Lifted, asked: Request, rows: list[dict[str, Value]]) -> None:
    real, model = run_class(cls, asked, rows), interpreted(found, rows, {})
    limits = [INT_RANGES.get(c.type) for c in asked.returns]
    if isinstance(real, tuple):
        for value, limit in zip(real, limits, strict=True):
            if limit and isinstance(value, int) and not limit[0] <= value <= limit[1]:
                real = Raised()  # what does not fit is assumed away, and counts as an error
                break
    if isinstance(real, Raised) or isinstance(model, Raised):
        assert type(real) is type(model), (real, model, rows)
    else:
        assert same(model, real), (real, model, rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [3, 14, 15, 92])
def test_random_programs(seed: int, tmp_path: Path) -> None:
    source, dice = Programs(seed), random.Random(seed)
    made = [source.program(f"C{i}") for i in range(PROGRAMS)]
    module = _load(tmp_path / f"programs_{seed}.py", "\n".join(text for text, _ in made))
    lifted = 0
    for i, (_, (p, q)) in enumerate(made):
        cls = getattr(module, f"C{i}")
        asked = request(SCHEMA, f"p {p}, q {q}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            found = lift(cls, RowClass(), asked)
        if not isinstance(found, Lifted):
            assert found.span is not None
            continue
        lifted += 1
        check_fold(found.fold)
        assert parse_fold(print_fold(found.fold)) == found.fold
        for _ in range(20):
            size = dice.choice([1, 1, 2, 3, 5])
            rows = [{n: dice.choice(VALUES[n]) for n in COLUMNS} for _ in range(size)]
            _check(cls, found, asked, rows)
    assert lifted > PROGRAMS // 5
