"""What importing presieve loads, and what that costs over a bare interpreter."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

HEAVY = {"pyspark", "pandas", "pyarrow", "numpy", "z3", "cvc5", "jinja2", "typer", "rich"}
PROCESSOR_MS = 60


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def loaded(statement: str) -> set[str]:
    """Names of the modules that the statement loads into a bare interpreter."""
    code = f"import sys; bare = set(sys.modules); {statement}; new = set(sys.modules) - bare"
    return set(json.loads(run(f"{code}; import json; print(json.dumps(sorted(new)))")))


def test_importing_presieve_loads_one_module_of_ours_and_the_standard_library() -> None:
    new = loaded("import presieve")
    assert {name for name in new if name.split(".")[0] == "presieve"} == {"presieve"}
    assert {name.split(".")[0] for name in new} - {"presieve"} <= sys.stdlib_module_names
    assert "typing" not in new


@pytest.mark.costly
@pytest.mark.parametrize(
    "used",
    [
        "presieve.synthesize",
        "presieve.verify",
        "presieve.optimize; presieve.explain; presieve.enable; presieve.disable; presieve.enabled",
        "presieve.Aggregator; presieve.PresieveError; presieve.UsageError",
        "presieve.Report; presieve.Synthesis",
    ],
)
def test_no_name_of_the_surface_loads_what_is_heavy_before_it_is_called(used: str) -> None:
    new = loaded(f"import presieve; {used}")
    assert any(name.startswith("presieve.") for name in new)
    assert HEAVY.isdisjoint(name.split(".")[0] for name in new)


def test_the_version_without_metadata() -> None:
    """As in an archive of the sources, which is sent along with a job."""
    fails = "def none(name): raise metadata.PackageNotFoundError(name)"
    code = f"from importlib import metadata\n{fails}\nmetadata.version = none"
    assert run(f"{code}\nimport presieve; print(presieve.__version__)") == "unknown\n"


def test_the_log_has_a_handler_and_prints_nothing() -> None:
    kinds = "[type(h).__name__ for h in logging.getLogger('presieve').handlers]"
    assert run(f"import presieve, logging; print({kinds})") == "['NullHandler']\n"


def test_importing_presieve_costs_little() -> None:
    """In processor time, and the least of a few pairs: what else runs here must not count."""
    code = "pass", "import presieve"
    pairs = [[processor_ms(c) for c in code] for _ in range(6)]
    assert min(with_us - bare for bare, with_us in pairs) <= PROCESSOR_MS


def processor_ms(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(code)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
