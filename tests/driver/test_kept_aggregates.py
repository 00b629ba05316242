"""Aggregates that an earlier process has found are used, and whatever else lies there is not."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.driver import folds
from tests.driver.declared import Best
from tests.support.aggregates import problem_of

from presieve.driver.cache import kept_aggregates as keeping
from presieve.driver.cache.disk import CACHE
from presieve.driver.cache.kept_aggregates import forget_aggregates, kept_aggregates
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.smt.solver import Effort
from presieve.synthesis.aggregates.aggregate_invariant import Aggregates
from presieve.synthesis.aggregates.aggregate_search import aggregates_of

PREFIX = "__presieve_0_"


def maximum() -> Problem:
    return problem_of(folds.Maximum, "k string, v bigint NOT NULL", "m bigint", "k")


def best() -> Problem:
    """The maximum of a double, which assumes that there is no negative zero."""
    return problem_of(Best, "team string, score double", "best double", "team")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(CACHE, str(tmp_path))
    kept_aggregates.cache_clear()
    yield tmp_path
    kept_aggregates.cache_clear()


def search_again(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """Begin as a new process would, and list what is searched from now on."""
    kept_aggregates.cache_clear()
    searched: list[Problem] = []
    search = aggregates_of

    def searching(problem: Problem, prefix: str) -> Aggregates | Declined:
        searched.append(problem)
        return search(problem, prefix)

    monkeypatch.setattr(keeping, "aggregates_of", searching)
    return searched


@pytest.mark.parametrize("ask", [maximum, best])
def test_what_was_found_is_not_searched_again(
    ask: Callable[[], Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kept_aggregates(ask(), PREFIX)
    assert isinstance(first, Aggregates)
    searched = search_again(monkeypatch)
    assert kept_aggregates(ask(), PREFIX) == first
    assert searched == []
    assert kept_aggregates(ask(), "__presieve_1_") != first
    assert len(searched) == 1


def test_what_was_declined_is_not_searched_again(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declined = Declined("no-aggregate", "it is none")
    monkeypatch.setattr(keeping, "aggregates_of", lambda problem, prefix: declined)
    kept_aggregates(maximum(), PREFIX)
    searched = search_again(monkeypatch)
    assert kept_aggregates(maximum(), PREFIX) == declined
    assert searched == []


def test_a_slow_search_without_an_answer_is_not_kept(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "EFFORT", Effort(seconds=0.0))
    declined = Declined("no-aggregate", "it is none")
    monkeypatch.setattr(keeping, "aggregates_of", lambda problem, prefix: declined)
    assert kept_aggregates(maximum(), PREFIX) == declined
    assert list(directory.iterdir()) == []


def test_what_the_checker_rejects_is_forgotten(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_aggregates(maximum(), PREFIX)
    forget_aggregates(maximum(), PREFIX)
    assert list(directory.iterdir()) == []
    searched = search_again(monkeypatch)
    kept_aggregates(maximum(), PREFIX)
    assert len(searched) == 1


def _no_json(entry: Any) -> str:
    return json.dumps(entry)[:-20]


def _without_images(entry: Any) -> str:
    return json.dumps(entry | {"images": []})


def _other_images(entry: Any) -> str:
    images = [[field, "true"] for field, _ in entry["images"]]
    return json.dumps(entry | {"images": images})


def _fewer_assumptions(entry: Any) -> str:
    lines = [line for line in entry["claim"]["problem"] if "assum" not in line]
    return json.dumps(entry | {"claim": entry["claim"] | {"problem": lines}})


def _other_function(entry: Any) -> str:
    calls = [a | {"function": "shell"} for a in entry["claim"]["aggregates"]]
    return json.dumps(entry | {"claim": entry["claim"] | {"aggregates": calls}})


def _other_names(entry: Any) -> str:
    return json.dumps(entry).replace(PREFIX, "score")


@pytest.mark.parametrize(
    "damage",
    [
        _no_json,
        lambda entry: "[]",
        lambda entry: "{}",
        lambda entry: json.dumps({"declined": ["no-aggregate"]}),
        _without_images,
        _other_images,
        _fewer_assumptions,
        _other_function,
        _other_names,
    ],
)
def test_what_no_search_has_written_is_dropped(
    damage: Callable[[Any], str],
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = kept_aggregates(best(), PREFIX)
    (path,) = directory.iterdir()
    good = path.read_text()
    assert damage(json.loads(good)) != good
    path.write_text(damage(json.loads(good)))
    searched = search_again(monkeypatch)
    with caplog.at_level(logging.WARNING, logger="presieve"):
        assert kept_aggregates(best(), PREFIX) == first
    assert "dropping a cache entry" in caplog.text
    assert len(searched) == 1
    assert path.read_text() == good
