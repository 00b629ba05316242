"""What tests of plans need not find out again: the same functions and filters stand in hundreds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from presieve.ir.fold import Problem
from presieve.ir.text import print_problem
from presieve.synthesis.order import dependence

_decided: dict[str, tuple[Any, float]] = {}


@pytest.fixture(scope="module", autouse=True)
def orders_are_decided_once() -> Iterator[None]:
    """Every report asks whether the result depends on the order of rows, which takes longer than
    all else that this process does for it. Problems of one text have one answer; what the answers
    are, is tested elsewhere.
    """
    decide = dependence.decide

    def remembered(problem: Problem, budget: float) -> Any:
        text = print_problem(problem)
        found, tried = _decided.get(text, (None, 0.0))
        if found is None and budget > tried:
            found = decide(problem, budget)
            _decided[text] = found, budget
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependence, "decide", remembered)
        yield
