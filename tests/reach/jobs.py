"""The files of ``functions`` as jobs: main files, whose functions go to workers by value."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

FOLDER = Path(__file__).parent / "functions"


@cache
def job(name: str) -> SimpleNamespace:
    """The names of a file that is run as a job."""
    path = FOLDER / f"{name}.py"
    scope = {"__name__": "__main__", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return SimpleNamespace(**scope)


@cache
def module(name: str) -> ModuleType:
    """The file as a module, which workers import again."""
    spec = spec_from_file_location(f"reach_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found
