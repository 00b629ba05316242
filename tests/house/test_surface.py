"""The public surface, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import presieve

NAMES = [
    *("Aggregator", "PresieveError", "disable", "enable", "enabled"),
    *("explain", "optimize", "synthesize", "verify"),
]


def test_the_root_exports_exactly_these_names() -> None:
    assert sorted(presieve.__all__) == NAMES
    assert len(NAMES) <= 10


def test_every_exported_name_is_there_and_documented() -> None:
    for name in NAMES:
        assert getattr(presieve, name).__doc__, name
    assert set(NAMES) <= set(dir(presieve))


def test_importing_presieve_loads_no_heavy_package() -> None:
    code = (
        "import sys, presieve, logging\n"
        "heavy = {'pyspark', 'pandas', 'numpy', 'z3', 'cvc5', 'jinja2', 'typer'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "print([type(h).__name__ for h in logging.getLogger('presieve').handlers])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == ["[]", "['NullHandler']"]
