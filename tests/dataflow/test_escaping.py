"""Random functions whose objects escape and alias: what the analysis says holds when they run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.dataflow.escaping_grammar import HELPERS, escaping_function
from tests.dataflow.grammar import NAMES
from tests.dataflow.trial import answer, loaded, wrong_columns, wrong_keys

from presieve.errors import DeclineSignal

TEXTS = ("a", "", "b", None)
TYPES = {"k": "string", "x": "double", "y": "bigint", "s": "string", "t": "bigint"}


def tried(seed: int, groups: int, folder: Path) -> Counter[str]:
    """Run functions of one seed, half of them with keys that are known to be texts."""
    random = Random(seed)
    texts = {f"f{i}": escaping_function(random, f"f{i}") for i in range(groups)}
    count: Counter[str] = Counter()
    functions = loaded(texts, str(folder / f"escaping_{seed}.py"), HELPERS)
    for at, (name, function) in enumerate(functions.items()):
        types = TYPES if at % 2 else {}
        try:
            said = answer(function, "group", types=types)
        except DeclineSignal:
            continue
        keys = TEXTS if types else None
        wrong = wrong_keys(function, said, random, keys)
        wrong = wrong or wrong_columns(function, said, random, keys)
        count["keys"] += "k" in said.keys
        count["keys of unknown code"] += "k" in said.keys and bool(said.find_missed_effects())
        count["columns"] += said.reads is not None and said.reads < set(NAMES)
        count["all"] += 1
        assert wrong is None, f"{texts[name]}\n{wrong}"
    return count


@pytest.mark.costly
@pytest.mark.parametrize("seed", [1, 2])
def test_answers_hold(seed: int, tmp_path: Path) -> None:
    count = tried(seed, 150, tmp_path)
    assert count["keys"] > 20
    assert count["keys of unknown code"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 30))
def test_answers_hold_on_many(seed: int, tmp_path: Path) -> None:
    tried(seed, 250, tmp_path)
