"""Random programs: nothing escapes, and what is lifted gives what Python gives, errors included."""

from __future__ import annotations

import importlib.util
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.lift.execution.container_programs import ContainerPrograms
from tests.lift.execution.list_programs import ListPrograms
from tests.lift.execution.try_programs import OPERATIONS, operations, sources
from tests.support.amount import some
from tests.support.lifting import assumed, interpreted, request, run_class, run_frame
from tests.support.random_folds import COLUMNS, Programs

from presieve.ir.text import parse_fold, print_fold
from presieve.ir.wellformed import check_fold
from presieve.lift import FrameFunction, Lifted, LiftRequest, RowClass, lift
from presieve.lift.execution import exceptions
from presieve.lift.models.builtins import given_none
from presieve.semantics.interpret import Raised
from presieve.semantics.values import INT_RANGES, Value, same

INFINITE, NAN = float("inf"), float("nan")
VALUES: dict[str, list[Value]] = {
    "a": [None, 0, 1, -3, 2, 2**31 - 1, -(2**31), 10],
    "b": [0, 1, -1, 3, 2**53 + 1, -(2**63), 2**63 - 1, 7],
    "x": [None, NAN, 0.0, -0.0, 1.5, 2.5, INFINITE, -INFINITE, 1e308, -3.0],
    "y": [NAN, 0.0, -0.0, 2.5, -1.0, INFINITE, 5e-324, 3.0],
    "s": [None, "", "a", "b"],
    "f": [None, True, False],
    "d": [None, 0, 18321, -5],
}
SCHEMA = ", ".join(f"{n} {t}" for n, t in COLUMNS.items())
PROGRAMS = 40
_IMPORTS = """
import heapq
from collections import Counter, defaultdict, deque
import pandas as pd
"""


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


def _check(obj: Any, found: Lifted, asked: LiftRequest, rows: list[dict[str, Value]]) -> None:
    if isinstance(obj, type):
        real = _fitting(run_class(obj, asked, rows), asked)
    else:
        rows = [r for r in rows if assumed(found, r, {})]
        if not rows:
            return
        real = run_frame(obj, asked, False, rows)
    model = interpreted(found, rows, {})
    if isinstance(real, Raised) or isinstance(model, Raised):
        assert type(real) is type(model), (real, model, rows)
    else:
        assert same(model, real), (real, model, rows)  # type: ignore[arg-type]


def _fitting(real: object, asked: LiftRequest) -> object:
    """What does not fit its type is assumed away, and counts as an error."""
    if isinstance(real, tuple):
        for value, column in zip(real, asked.returns, strict=True):
            low, high = INT_RANGES.get(column.type, (None, None))
            if low is not None and value is not None and not low <= value <= high:
                return Raised()
    return real


@some("seed", [3, 14, 92], of=3)
@pytest.mark.parametrize("form", [RowClass(), FrameFunction()], ids=["class", "function"])
def test_random_programs(seed: int, form: RowClass | FrameFunction, tmp_path: Path) -> None:
    check_programs(seed, form, tmp_path, PROGRAMS, 10)


def check_programs(
    seed: int, form: RowClass | FrameFunction, folder: Path, count: int, tables: int
) -> int:
    """How many of the programs were lifted; each was run on so many tables."""
    source = Programs(seed)
    write = source.program if isinstance(form, RowClass) else source.function
    lifted = check_sources([write(f"F{i}") for i in range(count)], seed, form, folder, tables)
    assert lifted > count // 5
    return lifted


@some("seed", [3, 14, 92], of=3)
@pytest.mark.parametrize("form", [RowClass(), FrameFunction()], ids=["class", "function"])
def test_random_programs_with_containers(
    seed: int, form: RowClass | FrameFunction, tmp_path: Path
) -> None:
    source = ContainerPrograms(seed)
    write = source.program if isinstance(form, RowClass) else source.function
    made = [write(f"F{i}") for i in range(PROGRAMS)]
    assert check_sources(made, seed, form, tmp_path, 10) > PROGRAMS // 8


@pytest.mark.costly
@some("seed", [3, 14], of=2, first=1)
@pytest.mark.parametrize("form", [RowClass(), FrameFunction()], ids=["class", "function"])
def test_random_programs_with_lists(
    seed: int, form: RowClass | FrameFunction, tmp_path: Path
) -> None:
    source = ListPrograms(seed)
    write = source.program if isinstance(form, RowClass) else source.function
    made = [write(f"F{i}") for i in range(PROGRAMS // 2)]
    assert check_sources(made, seed, form, tmp_path, 10) > PROGRAMS // 8


@pytest.mark.costly
@pytest.mark.parametrize("seed", [3, 14, 92])
@pytest.mark.parametrize("form", [RowClass(), FrameFunction()], ids=["class", "function"])
def test_random_programs_with_try(
    seed: int, form: RowClass | FrameFunction, tmp_path: Path
) -> None:
    """Whichever error comes first."""
    made = sources(seed, PROGRAMS, classes=isinstance(form, RowClass))
    assert check_sources(made, seed, form, tmp_path, 10) > PROGRAMS // 8


def test_the_class_of_every_error(tmp_path: Path) -> None:
    made = operations()
    assert check_sources(made, 7, RowClass(), tmp_path, 60) == len(made)
    functions = exceptions.FUNCTIONS - given_none.ERRORS.keys()
    assert all(any(f.rpartition(".")[2] in o for o in OPERATIONS) for f in functions)
    assert all(f".{name}(" in " ".join(OPERATIONS) for name in exceptions.METHODS - {"date"})


def check_sources(
    made: list[tuple[str, tuple[str, str]]],
    seed: int,
    form: RowClass | FrameFunction,
    folder: Path,
    tables: int,
) -> int:
    """How many of these programs were lifted; each was run on so many tables."""
    dice = random.Random(seed)
    text = "\n".join([_IMPORTS, *(text for text, _ in made)])
    module = _load(folder / f"programs_{seed}_{type(form).__name__}.py", text)
    lifted = 0
    for i, (_, (p, q)) in enumerate(made):
        obj = getattr(module, f"F{i}")
        asked = request(SCHEMA, f"p {p}, q {q}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            found = lift(obj, form, asked)
        if not isinstance(found, Lifted):
            assert found.span is not None
            continue
        lifted += 1
        check_fold(found.fold)
        assert parse_fold(print_fold(found.fold)) == found.fold
        for _ in range(tables):
            size = dice.choice([1, 1, 2, 3, 5])
            rows = [{n: dice.choice(VALUES[n]) for n in COLUMNS} for _ in range(size)]
            _check(obj, found, asked, rows)
    return lifted
