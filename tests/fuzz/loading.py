"""A program as an object of the driver's, and as what its workers have."""

from __future__ import annotations

import linecache
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

from tests.fuzz.programs import NAME, Program
from tests.fuzz.references import ENVIRONMENT

MODULES = "PRESIEVE_FUZZ_MODULES"
"""Where modules are written, if workers have to find them."""


class Loaded:
    """A program that is loaded, its source where ``inspect`` finds it. Use as a context manager,
    which gives what the driver has. ``worker`` is what runs: the same, or what the module of the
    program holds where it is imported again.
    """

    def __init__(self, program: Program, label: str) -> None:
        self.object: Any
        self.worker: Any
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        if program.module:
            self.file = self._imported(program)
            return
        self.file = _shown(program.source, label)
        self.object = self.worker = _run(program.source, self.file, "fuzzed")

    def _imported(self, program: Program) -> str:
        self.folder = tempfile.TemporaryDirectory(prefix="m", dir=os.environ.get(MODULES))
        self.name = f"fuzzed_{Path(self.folder.name).name}"
        # Workers have one folder on their path, that of all modules.
        root = Path(os.environ.get(MODULES, self.folder.name))
        path = root / f"{self.name}.py"
        path.write_text(program.source)
        sys.path.insert(0, str(root))
        os.environ[ENVIRONMENT] = "1000"
        try:
            invalidate_caches()
            module = import_module(self.name)
            exec(program.patch, vars(module))
        finally:
            del os.environ[ENVIRONMENT]
        self.object = getattr(module, NAME)
        self.worker = _run(program.source, "<worker>", self.name)
        return str(path)

    def __enter__(self) -> Any:
        return self.object

    def __exit__(self, *_: object) -> None:
        linecache.cache.pop(self.file, None)
        if self.folder is not None:
            sys.path.remove(str(Path(self.file).parent))
            sys.modules.pop(self.name)
            self.folder.cleanup()


@contextmanager
def defined(source: str, label: str, name: str) -> Iterator[Any]:
    """The function of that name in a source, which ``inspect`` finds meanwhile."""
    file = _shown(source, label)
    try:
        yield _run(source, file, "fuzzed", name)
    finally:
        linecache.cache.pop(file)


def _shown(source: str, label: str) -> str:
    """The name of a file that is none, whose lines ``inspect`` finds."""
    file = f"<fuzz {label}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return file


def _run(source: str, file: str, name: str, defining: str = NAME) -> Any:
    namespace: dict[str, Any] = {"__name__": name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(source, file, "exec"), namespace)
    return namespace[defining]
