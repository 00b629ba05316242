# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Loads the object named by ``FILE.py:NAME``, and others beside it."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from presieve.driver.named_objects import find_object, inside
from presieve.errors import UsageError, suggest_name


def load_object(target: str) -> object:
    """Run the file and return the named object. Raises :class:`UsageError` if that fails.

    The file runs as a module with another name than ``__main__``, so its main part does not run.
    Its folder comes first on the path, as if Python had been started with the file.
    """
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise UsageError(f"{target}: write FILE.py:NAME, the function or class in a file")
    path = python_file(file)
    if path.suffix != ".py":
        raise UsageError(f"{file}: not a Python file; its name must end in .py")
    read_code(file, path)
    return inside(file, _module(path), name)


def load_fold(target: str) -> object:
    """:func:`load`, for a fold. Raises :class:`UsageError` if the object cannot be one."""
    fold = load_object(target)
    if not callable(fold) and not hasattr(fold, "reduce"):
        raise UsageError(
            f"{target}: a fold is a function, or a class with zero and reduce, not {fold!r}"
        )
    return fold


def python_file(name: str) -> Path:
    """The file of that name. Raises :class:`UsageError` if there is none."""
    path = Path(name)
    if path.is_file():
        return path
    what = "that is a folder; name a Python file" if path.is_dir() else "there is no such file"
    # All names have the same suffix, so they are compared without it.
    near = suggest_name(path.stem, [p.stem for p in _neighbours(path)])
    raise UsageError(f"{name}: {what}{near.replace('?', '.py?').replace(' or ', '.py or ')}")


def _neighbours(path: Path) -> list[Path]:
    try:
        return sorted(path.absolute().parent.glob("*.py"))
    except OSError:
        return []


def read_code(name: str, path: Path) -> CodeType:
    """A file's code, compiled but not run. Raises :class:`UsageError` if it is not Python."""
    try:
        return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
    except SyntaxError as error:
        line = f":{error.lineno}" if error.lineno else ""
        raise UsageError(f"{name}{line}: {error.msg}; it must be valid Python in UTF-8") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{name}: {error}; it must be valid Python in UTF-8") from error


def load_beside(target: str, names: Iterable[object]) -> list[Any]:
    """Load functions by their names: from the file of a target that was loaded before, or from a
    module. Raises :class:`UsageError` if there is none.
    """
    home = _loaded_name(Path(target.rpartition(":")[0]))
    return [find_object(str(name), home) for name in names]


def _loaded_name(path: Path) -> str:
    """A module name that shadows nothing: the file may be called types.py."""
    return f"_presieve_loaded_{path.stem}"


def _module(path: Path) -> ModuleType:
    spec = spec_from_file_location(_loaded_name(path), path)
    assert spec is not None  # its name ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # inspect finds the source of a class there
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:  # in a file that it imports
        where = f"{error.filename}:{error.lineno}"
        raise UsageError(f"{where}: {error.msg}; the file must be valid Python") from error
    except SystemExit as error:
        at = place(error, path)
        raise UsageError(
            f"{at}: the file ends the program while it is loaded; put what it does under"
            " `if __name__ == '__main__':`"
        ) from error
    except Exception as error:  # the file's code may raise anything
        at = place(error, path)
        raise UsageError(
            f"{at}: {kind(error)} while the file is loaded; put what it does, apart from its"
            " definitions, under `if __name__ == '__main__':`"
        ) from error
    return module


def place(error: BaseException, path: Path) -> str:
    """The last line of the file itself that was running: ``file:line``."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == path
    ]
    return f"{path}:{lines[-1]}" if lines else str(path)


def kind(error: Exception) -> str:
    """An exception as in the last line of its traceback."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


_TRACEBACK = "Traceback (most recent call last):"
_STACK = re.compile(r"\n\s*(?:\n|at [\w.$]+\(|JVM stacktrace)|\s+SQLSTATE: \w+")
"""Where the words of Spark's errors end: at an empty line, a stack of Java, or a code."""


def cause(error: BaseException) -> str:
    """What went wrong, in one line: an exception as in the last line of its traceback; for an error
    of a Python worker that of the worker; and the exception from which it was raised.
    """
    name, text = type(error).__name__, str(error)
    _, is_worker, trace = text.rpartition(_TRACEBACK)
    if is_worker:
        lines = trace.strip("\n").splitlines()
        last = next((n for n, line in enumerate(lines) if not line.startswith(" ")), 0)
        text = "\n".join(lines[last:])
    words = " ".join(_STACK.split(text.strip(), maxsplit=1)[0].split())
    told = f"{name}: {words}" if words else name
    source = error.__cause__
    if source is None or type(source).__name__ == "Py4JJavaError":
        return told
    return f"{told}, caused by {cause(source)}"
