"""The scripts of the gallery: rows are equal, and what a person would have written is not."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import presieve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"

# Of each script: the kind, the pre-filter, the residual where it is another, and what is certain to
# be in the scan.
EXPECTED: dict[str, tuple[str, str, str | None, str]] = {
    "candles": (
        "partial",
        "at < TIMESTAMP '2026-03-02 09:35:00Z' OR at >= TIMESTAMP '2026-03-02 15:55:00Z'",
        None,
        "Or(LessThan(at,2026-03-02 09:35:00.0),GreaterThanOrEqual(at,2026-03-02 15:55:00.0))",
    ),
    "visits": (
        "partial",
        "at >= TIMESTAMP '2026-03-02 22:00:00Z'",
        None,
        "GreaterThanOrEqual(at,2026-03-02 22:00:00.0)",
    ),
    "podium": (
        "split",
        "points >= 950.0D AND NOT isnan(points)",
        "games >= 3",
        "GreaterThanOrEqual(points,950.0)",
    ),
    "sensors": (
        "partial",
        "celsius > 80.0D AND NOT isnan(celsius)",
        None,
        "GreaterThan(value,80.0)",
    ),
    "access_log": (
        "exact",
        "status IS NOT NULL AND (status >= 500 OR ms > 30000)",
        "true",
        "Or(GreaterThanOrEqual(status,500),GreaterThan(ms,30000))",
    ),
    "payments": ("exact", "amount > 9000.0D", "true", "GreaterThan(amount,9000.0)"),
}


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, Any]]:
    """The modules, found as Python finds them for a script, and pickled by value as a script's."""
    from pyspark import cloudpickle

    sys.path.insert(0, str(GALLERY))
    found: dict[str, Any] = {name: importlib.import_module(name) for name in EXPECTED}
    for module in found.values():
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    yield found
    for module in found.values():
        cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]
        del sys.modules[module.__name__]
    sys.modules.pop("showing", None)
    sys.path.remove(str(GALLERY))


@pytest.fixture(scope="module")
def page() -> Any:
    """``scripts/gallery.py``."""
    spec = spec_from_file_location("gallery_page", ROOT / "scripts" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def regions(page: Any) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = page.regions(page.PAGE.read_text(encoding="utf-8"))
    return found


def test_every_script_is_on_the_page(regions: dict[tuple[str, str], str]) -> None:
    assert {p.stem for p in GALLERY.glob("*.py")} == {*EXPECTED, "showing"}
    parts = ("pipeline", "found", "by_hand", "refuted")
    assert list(regions) == [(name, part) for name in EXPECTED for part in parts]


def test_scripts_load_before_there_is_a_session() -> None:
    """As they must where they run by themselves: a type in words would ask Spark to read it."""
    code = "import " + ", ".join(EXPECTED)
    done = subprocess.run([sys.executable, "-c", code], cwd=GALLERY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_script_by_itself(regions: dict[tuple[str, str], str], name: str) -> None:
    command = [sys.executable, str(GALLERY / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, refuted = (regions[name, part].split("\n", 1)[1] for part in ("found", "refuted"))
    assert done.stdout == found.removesuffix("```\n") + "\n" + refuted.removesuffix("```\n")


@pytest.mark.parametrize("name", EXPECTED)
def test_script(
    spark: SparkSession,
    scripts: dict[str, Any],
    page: Any,
    regions: dict[tuple[str, str], str],
    name: str,
    tmp_path: Path,
) -> None:
    shown = scripts[name].main(spark, tmp_path)
    kind, prefilter, residual, scanned = EXPECTED[name]
    (boundary,) = shown.report.boundaries
    assert (boundary.kind, boundary.prefilter) == (kind, prefilter)
    assert boundary.residual == (boundary.where if residual is None else residual)
    assert scanned in boundary.pushed_to_scan
    runs = shown.measured
    assert shown.equal
    assert runs.written.rows == runs.optimized.rows > 0
    assert runs.optimized.scanned < runs.written.scanned / 4
    verdict = shown.wrong.verdict
    assert verdict.status == "refuted"
    assert verdict.counterexample.original != verdict.counterexample.optimized
    have_holes(tmp_path)
    made = page.blocks(name, shown, importlib.import_module("showing"))
    stale = [part for part, block in made.items() if regions[part] != block]
    assert not stale, "out of date: run scripts/gallery.py --write"


def have_holes(folder: Path) -> None:
    """The script's tables have NULL, and NaN where there are doubles."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    columns = [c for path in folder.glob("*.parquet") for c in pq.read_table(path).columns]
    doubles = [c for c in columns if str(c.type) in ("double", "float")]
    assert any(c.null_count for c in columns)
    assert not doubles or any(pc.any(pc.is_nan(c)).as_py() for c in doubles)


def test_other_questions(spark: SparkSession, scripts: dict[str, Any], tmp_path: Path) -> None:
    """What the page says of filters beside those of the pipelines."""
    podium, sensors, log = (scripts[n] for n in ("podium", "sensors", "access_log"))
    third = presieve.synthesize(
        podium.podium,
        "third >= 950",
        schema="player string, points double",
        returns=podium.PODIUM,
        keys="player",
    )
    quiet = presieve.synthesize(
        sensors.alarms, "alarms = 0", schema="celsius double", returns="alarms bigint"
    )
    assert third.prefilter == "points IS NOT NULL AND NOT isnan(points)"
    assert quiet.kind == "none"
    assert not quiet.declined
    other = presieve.synthesize(
        log.verdict,
        "verdict <> 'served'",
        schema="status int, ms bigint",
        returns="verdict string",
        mode="row",
    )
    assert (other.kind, other.residual) == ("exact", "true")
    assert other.prefilter.startswith("status IS NULL OR ")
    scripts["payments"].tables(spark, tmp_path)
    (alone,) = presieve.explain(scripts["payments"].pipeline(spark)).boundaries
    assert alone.prefilter == "amount > 9000.0D OR isnan(amount)"
    counted = spark.sql(
        "SELECT account, max(amount) AS largest, count(*) AS n FROM payments GROUP BY account"
        " HAVING max(amount) > 9000"
    )
    assert presieve.optimize(counted) is counted
