"""Options in a session's configuration, of either kind of session."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import agg
from tests.support.games.tables import Tables, without_footers
from tests.support.running import same_rows

import presieve
from presieve.backend.session.active import settings_of
from presieve.driver import session as driver
from presieve.driver.optimize import optimize_and_report
from presieve.driver.options import OPTIONS, Options
from presieve.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def conf(spark: SparkSession, **options: str) -> Iterator[None]:
    """With these options in the session's configuration."""
    before = {f"spark.presieve.{n}": spark.conf.get(f"spark.presieve.{n}", None) for n in options}
    for name, value in options.items():
        spark.conf.set(f"spark.presieve.{name}", value)
    try:
        yield
    finally:
        for key, held in before.items():
            if held is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, held)


@pytest.fixture
def counted(spark: SparkSession, tables: Tables, tmp_path: Path) -> DataFrame:
    """Nothing is proved of it unless ``v`` is never NULL, and the files do not say so."""
    data = without_footers(spark, tmp_path / "t", "('a', 20L), ('a', 30L), ('b', 3L), (';', 9L)")
    return agg(data, "count_high", "bigint", "v").filter("m >= 1")


def test_only_what_is_set_is_there(spark: SparkSession) -> None:
    assert "spark.presieve.policy" not in settings_of(spark)
    with conf(spark, policy="strict", budget="3"):
        settings = settings_of(spark)
        assert settings["spark.presieve.policy"] == "strict"
        assert settings["spark.presieve.budget"] == "3"
        assert "spark.presieve.cost" not in settings


def test_the_policy(spark: SparkSession, counted: DataFrame) -> None:
    def changed(**options: Any) -> bool:
        report = presieve.explain(counted, cost="always", **options)
        assert (presieve.optimize(counted, cost="always", **options) is not counted) is (
            report.changed
        )
        return report.changed

    assert changed(policy="assume")
    with conf(spark, policy="strict"):
        assert not changed()
        assert changed(policy="assume"), "what a call says goes first"
    with conf(spark, policy="assume"):
        assert changed()
        assert not changed(policy="strict")


def test_what_is_written_out_goes_first_also_where_it_is_the_default(
    spark: SparkSession, counted: DataFrame
) -> None:
    with conf(spark, cost="never", policy="assume"):
        assert presieve.optimize(counted) is counted
        assert presieve.optimize(counted, cost="auto") is not counted


def test_facts_of_many_columns(
    spark: SparkSession, counted: DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    facts = "somewhere_else <> ';' ; v IS NOT NULL; `odd;name` > 1;"
    assert presieve.optimize(counted, policy="strict") is counted
    with conf(spark, declare=facts, policy="strict", cost="always"):
        fast = presieve.optimize(counted)
        assert fast is not counted
        assert presieve.optimize(counted, declare=()) is counted
    same_rows(counted, fast)
    assert "applies to no filter here" not in caplog.text, "they are about the whole session"


def test_pure_functions_by_name(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = agg(tables.plain, "high_errors", "bigint", "level", "v").filter("m >= 1")
    options: dict[str, Any] = {"policy": "assume", "cost": "always"}
    assert presieve.optimize(df, **options) is df
    with conf(spark, pure=f"{udfs.__name__}:normalize, {udfs.__name__}:weight"):
        fast = presieve.optimize(df, **options)
    assert fast is not df
    same_rows(df, fast)
    import __main__

    monkeypatch.setattr(__main__, "normalize", udfs.normalize, raising=False)
    monkeypatch.setattr(__main__, "weight", udfs.weight, raising=False)
    with conf(spark, pure="normalize,weight"):
        assert presieve.optimize(df, **options) is not df


BAD = [
    ({"policy": "lax"}, "spark.presieve.policy: policy is 'default', 'assume' or 'strict', not 'l"),
    ({"cost": ""}, "spark.presieve.cost: cost is 'auto', 'always' or 'never', not ''"),
    ({"budget": "soon"}, "spark.presieve.budget: budget is a positive number of seconds, not 'so"),
    ({"declare": "v >"}, "declare 'v >': a column or a literal is expected"),
    ({"declare": "v > 1; 'open"}, 'declare "v > 1; \'open": '),
    ({"pure": "no_such_module:f"}, "no_such_module: there is no such module"),
    ({"pure": "nothing_of_this_name"}, "there is no 'nothing_of_this_name' in it"),
]


@pytest.mark.parametrize(("options", "text"), BAD, ids=lambda x: str(x)[:30])
def test_bad_values(
    spark: SparkSession,
    counted: DataFrame,
    options: dict[str, str],
    text: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = counted.collect()
    with conf(spark, **options):
        for function in (presieve.optimize, presieve.explain):
            with pytest.raises(UsageError) as caught:
                function(counted)
            assert text in str(caught.value)
            assert "\n" not in str(caught.value)
    # A job that runs without us runs with us: it is told once, without a traceback.
    with presieve.enabled(spark), conf(spark, **options):
        assert [counted.collect(), counted.collect()] == [expected, expected]
    told = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert len(told) == 1
    assert text in told[0].getMessage()
    assert told[0].exc_info is None


def test_enabling_complains_of_bad_values(spark: SparkSession) -> None:
    with conf(spark, policy="lax"):
        with pytest.raises(UsageError, match=r"spark\.presieve\.policy: policy is"):
            presieve.enable(spark)
        with pytest.raises(UsageError), presieve.enabled(spark):
            raise AssertionError("not reached")
    assert driver.setting_of(spark) is None


def test_enabled_sessions_follow_their_configuration(
    spark: SparkSession, counted: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Options] = []

    def watched(df: DataFrame, options: Options, **how: Any) -> Any:
        seen.append(options)
        return optimize_and_report(df, options, **how)

    monkeypatch.setattr(driver, "optimize_and_report", watched)
    with presieve.enabled(spark, budget=7.0):
        counted.collect()
        with conf(spark, policy="strict", budget="3", cost="always"):
            counted.collect()
        counted.collect()
    assert [(o.policy, o.budget, o.cost) for o in seen] == [
        ("default", 7.0, "auto"),
        ("strict", 7.0, "always"),
        ("default", 7.0, "auto"),
    ]


def test_settings_of_a_project_stand_behind_a_session(spark: SparkSession) -> None:
    setting = driver.SessionSetting(
        {"cost": "never"}, otherwise={"policy": "strict", "cost": "always"}
    )
    assert setting.options(spark) == Options(policy="strict", cost="never", compile="never")
    with conf(spark, policy="assume"):
        assert setting.options(spark) == Options(policy="assume", cost="never", compile="never")


def test_every_option_is_read(spark: SparkSession) -> None:
    written = {"budget": "3", "policy": "strict", "cost": "never", "compile": "always"}
    written |= {"reorder": "true", "declare": "a > 1", "pure": "f"}
    written |= {"effects": "none"}
    assert written.keys() == OPTIONS.keys()
    with conf(spark, **written):
        found = driver.SessionSetting({}).options(spark)
    assert found == Options(3.0, "strict", "never", "always", True, ("a > 1",), ("f",), "none")
