"""Where something on our side is wrong, the DataFrame comes back as it was."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.support.games.pipelines import SCORE, agg
from tests.support.games.tables import Tables
from tests.support.running import rewritten, same_rows, untouched

from presieve.backend import rewrite
from presieve.backend.catalyst.trees import MAX_DEPTH
from presieve.backend.classic import jvm_plans, py4j_errors
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.gateway import GatewayError
from presieve.driver.cache import lookup as solving
from presieve.driver.cache.process import Memory
from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Solution, solve
from presieve.errors import PresieveError
from presieve.ir.fold import Problem
from presieve.records import replace
from presieve.sql.emit import emit_checked


def test_a_filter_that_spark_reads_differently(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text says 91 where 90 was proved: reading back finds it."""
    right = emit_checked

    def wrong(*args: Any) -> str:
        return right(*args).replace("90", "91")

    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    monkeypatch.setattr(rewrite, "emit_checked", wrong)
    assert untouched(df).declined[-1].code == "read-back"
    monkeypatch.undo()
    rewritten(df)


def test_a_filter_on_another_column_of_the_same_name(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = emit_checked

    def wrong(*args: Any) -> str:
        return right(*args).replace("score", "double(v)")

    monkeypatch.setattr(rewrite, "emit_checked", wrong)
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    assert untouched(df).declined[-1].code == "read-back"


def test_only_what_the_checker_accepted_is_applied(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = solve

    def unchecked(problem: Problem, **options: Any) -> Solution:
        return replace(right(problem, **options), verified=None)

    monkeypatch.setattr(solving, "_MEMORY", Memory())
    monkeypatch.setattr(solving, "solve", unchecked)
    untouched(agg(tables.plain, "top", "double", "score").filter("m >= 90"))


def test_a_proof_is_made_once(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    right = solve
    calls = []

    def counted(problem: Problem, **options: Any) -> Solution:
        calls.append(problem)
        return right(problem, **options)

    monkeypatch.setattr(solving, "_MEMORY", Memory())
    monkeypatch.setattr(solving, "solve", counted)
    df = agg(tables.plain, "top", "double", "score")
    explain(df.filter("m >= 90"))
    optimize(df.filter("m >= 90"))
    assert len(calls) == 1
    optimize(df.filter("m >= 90.5"))
    assert len(calls) == 2


@pytest.mark.classic("private interfaces of the JVM")
@pytest.mark.parametrize("name", ["java_class", "json", "schema_json", "filter_sql", "dataframe"])
def test_private_interfaces_that_are_not_there(
    tables: Tables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    def missing(*args: Any) -> Any:
        raise GatewayError(f"no {name}")

    owner: Any = jvm_plans if name == "java_class" else ClassicGateway
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    monkeypatch.setattr(owner, name, missing)
    with caplog.at_level(logging.INFO, logger="presieve"):
        assert optimize(df) is df
    assert f"no {name}" in caplog.text


@pytest.mark.classic("private interfaces of the JVM")
def test_a_java_class_that_is_not_there(tables: Tables) -> None:
    jvm = tables.plain.sparkSession._jvm
    with pytest.raises(GatewayError, match=r"org\.apache\.spark\.Missing"):
        py4j_errors.java_class(jvm, "org.apache.spark.Missing")


@pytest.mark.classic("private interfaces of the JVM")
def test_one_edit_that_cannot_be_made_does_not_stop_another(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = ClassicGateway.filter_sql

    def only_scores(self: ClassicGateway, sql: str, child: Any) -> Any:
        if "score" not in sql:
            raise GatewayError("no such filter")
        return right(self, sql, child)

    left = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    other = agg(tables.plain, "count_high", "bigint", "v", alias="n").filter("n >= 1")
    monkeypatch.setattr(ClassicGateway, "filter_sql", only_scores)
    report = explain(left.join(other, "team"))
    assert [b.prefilter for b in report.boundaries] == [SCORE, "true"]
    assert report.changed


@pytest.mark.planted("a search that fails")
def test_a_search_that_fails(
    tables: Tables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(problem: Problem, **options: Any) -> Solution:
        raise PresieveError("a bug of ours")

    monkeypatch.setattr(solving, "_MEMORY", Memory())
    monkeypatch.setattr(solving, "solve", broken)
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    assert untouched(df).declined[0].code == "internal"
    assert "a bug of ours" in caplog.text


def test_a_plan_deeper_than_the_stack(tables: Tables) -> None:
    df = tables.plain
    for _ in range(MAX_DEPTH + 5):
        df = df.alias("t")
    df = agg(df, "top", "double", "score").filter("m >= 90")
    assert optimize(df) is df


@pytest.mark.slow
def test_a_conjunction_deeper_than_the_stack(tables: Tables) -> None:
    where = " AND ".join(f"m <> {i}" for i in range(1000))
    df = agg(tables.plain, "top", "double", "score").filter(f"({where}) AND m >= 90")
    assert untouched(df).declined[0].code == "filter-size"
    same_rows(df, optimize(df, compile="always", cost="always"))
