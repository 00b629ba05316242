"""Untrusted. From ``FILE.py:NAME`` to the object of that name, and others beside it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from presieve.errors import UsageError


def load(target: str) -> object:
    """Run the file and take the object out of it. :class:`UsageError` where that fails.

    The file runs as a module of another name than ``__main__``, so its main part does not run. Its
    folder comes first on the path, as if Python had been started with it.
    """
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise UsageError(f"{target}: write FILE.py:NAME, the function or class in a file")
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"{file}: there is no such file")
    return _inside(file, _module(path), name)


def load_beside(target: str, names: Sequence[str]) -> list[Any]:
    """Functions of the file of a target that was loaded before, or of a module: ``f`` or
    ``module:f``. :class:`UsageError` where there is none.
    """
    file = target.rpartition(":")[0]
    found = []
    for name in names:
        module, _, inner = name.rpartition(":")
        home = _imported(module) if module else sys.modules[_loaded_name(Path(file))]
        found.append(_inside(module or file, home, inner))
    return found


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name}: there is no such module ({error})") from None


def _inside(where: str, found: object, name: str) -> object:
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(f"{where}: there is no {name!r} in it{_offer(found)}") from None
    return found


def _loaded_name(path: Path) -> str:
    """A name that shadows nothing: the file may be called types.py."""
    return f"_presieve_loaded_{path.stem}"


def _module(path: Path) -> ModuleType:
    spec = spec_from_file_location(_loaded_name(path), path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: not a Python file; its name must end in .py")
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # where inspect finds the source of a class
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}"
        raise UsageError(f"{where}: {error.msg}; the file must be valid Python") from error
    except Exception as error:  # foreign code may raise anything
        raise UsageError(f"{place(error, path)}: {kind(error)} while loading the file") from error
    return module


def place(error: Exception, path: Path) -> str:
    """The last line of the file itself that was running: ``file:line``."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == path
    ]
    return f"{path}:{lines[-1]}" if lines else str(path)


def kind(error: Exception) -> str:
    """An exception as the last line of its traceback would tell it."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _offer(holder: object) -> str:
    """The functions and classes that were defined there, as a remedy."""
    home = getattr(holder, "__name__", "")
    names = [
        name
        for name, value in vars(holder).items()
        if callable(value) and getattr(value, "__module__", "") == home and name[0] != "_"
    ]
    return f"; it has {', '.join(names[:8])}" if names else ""
