"""Pipelines that are built anew, as by a job's next run, ask what was answered before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import TOP2, agg
from tests.support.games.tables import Tables
from tests.support.running import same_rows

from presieve.driver.cache import lookup as solving
from presieve.driver.cache.disk import CACHE, Store
from presieve.driver.cache.process import Memory
from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def pipelines(tables: Tables) -> list[DataFrame]:
    from pyspark.sql import functions as F

    top2 = tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2)
    most = tables.strange.groupBy("team").agg(F.max("v").alias("most"), F.count("*").alias("n"))
    return [
        agg(tables.strange, "top", "double", "score").filter("m >= 90"),
        top2.filter("first >= 90 AND second >= 90"),
        most.filter("most > 9"),
        tables.empty.groupBy("team").applyInPandas(udfs.top2, TOP2).filter("first < 3"),
    ]


def as_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "_MEMORY", Memory())


def never(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError("this was searched before")


def test_the_next_run_does_not_search_and_gives_the_same(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    as_another_process(monkeypatch)
    first = [explain(df).to_json() for df in pipelines(tables)]
    assert any(b["prefilter"] != "true" for report in first for b in report["boundaries"])
    entries, _ = Store(tmp_path).measure_size()
    assert entries >= 3
    as_another_process(monkeypatch)
    monkeypatch.setattr(solving, "solve", never)
    optimized: list[tuple[DataFrame, DataFrame]] = []
    for df, before in zip(pipelines(tables), first, strict=True):
        again = explain(df).to_json()
        assert [told(b) for b in again["boundaries"]] == [told(b) for b in before["boundaries"]]
        optimized.append((df, optimize(df)))
        assert (optimized[-1][1] is not df) == before["changed"]
    assert Store(tmp_path).measure_size()[0] == entries
    for df, better in optimized:  # with --compiled, functions are compiled here, and kept
        same_rows(df, better)


EFFORT = ("seconds", "solver_calls")


def told(boundary: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in boundary.items() if name not in EFFORT}
    # How long a check of the data took is told once.
    known = [{**d, "by": d["by"].partition(",")[0]} for d in boundary["discharged"]]
    return {**kept, "discharged": known}


def test_a_cache_full_of_rubbish_changes_nothing(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    as_another_process(monkeypatch)
    first = [explain(df).to_json() for df in pipelines(tables)]
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-40])
    as_another_process(monkeypatch)
    for df, before in zip(pipelines(tables), first, strict=True):
        again = explain(df).to_json()
        assert [told(b) for b in again["boundaries"]] == [told(b) for b in before["boundaries"]]
        same_rows(df, optimize(df))
