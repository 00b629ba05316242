"""Random functions: what the analysis says holds when they are run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.dataflow.grammar import NAMES, batch_function, group_function
from tests.dataflow.trial import (
    answer,
    loaded,
    wrong_columns,
    wrong_keys,
    wrong_rows,
    wrong_rows_of_groups,
)

from presieve.errors import DeclineSignal


def _tried(seed: int, groups: int, batches: int, folder: Path) -> Counter[str]:
    random = Random(seed)
    texts = {f"f{i}": group_function(random, f"f{i}") for i in range(groups)}
    texts |= {f"b{i}": batch_function(random, f"b{i}") for i in range(batches)}
    count: Counter[str] = Counter()
    for name, function in loaded(texts, str(folder / f"random_{seed}.py")).items():
        form = "group" if name.startswith("f") else "batches"
        try:
            said = answer(function, "group" if form == "group" else "batches")
        except DeclineSignal:
            continue
        if form == "group":
            wrong = (
                wrong_keys(function, said, random)
                or wrong_columns(function, said, random)
                or wrong_rows_of_groups(function, said, random)
            )
            count["passes of groups"] += bool(said.passes)
            count["keys"] += "k" in said.keys
            count["columns"] += said.reads is not None and said.reads < set(NAMES)
        else:
            wrong = wrong_rows(function, said, random)
            count["passes"] += bool(said.passes)
        assert wrong is None, f"{texts[name]}\n{wrong}"
    return count


@pytest.mark.costly
@pytest.mark.parametrize("seed", [1, 2])
def test_answers_hold(seed: int, tmp_path: Path) -> None:
    count = _tried(seed, 120, 60, tmp_path)
    assert count["keys"] > 30
    assert count["columns"] > 8
    assert count["passes"] > 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_answers_hold_on_many(seed: int, tmp_path: Path) -> None:
    _tried(seed, 250, 100, tmp_path)
