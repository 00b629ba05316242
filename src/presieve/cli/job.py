# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A user's job: a file that this process runs as Python would have run it."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import SourceFileLoader
from itertools import takewhile
from pathlib import Path
from types import CodeType, ModuleType

import typer
from msgspec import Struct

from presieve.cli.load import python_file, read_code
from presieve.errors import UsageError, install


class Job(Struct, frozen=True):
    """A file, by the name that the user gave, and its code."""

    name: str
    path: Path
    code: CodeType


class Warned(logging.Handler):
    """The warnings of presieve while a job runs, as lines, without repetitions."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: dict[str, None] = {}
        logging.getLogger("presieve").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Store a record's message."""
        self.lines[" ".join(record.getMessage().split())] = None


def read_job(name: str) -> Job:
    """Read the job in a file. Raises :class:`UsageError` if there is none, or if it is
    not Python.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise UsageError(f"a job needs pyspark: {install('spark')}")
    path = python_file(name).absolute()
    return Job(name, path, read_code(name, path))


def find_misplaced_options(
    context: typer.Context, args: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield each argument of the job that looks like an option of the command, with that option:
    the argument may be its name, the beginning of its name, or a misspelling. Everything after the
    job's name belongs to the job.
    """
    option_names = {o for p in context.command.params for o in getattr(p, "opts", ())} - {"--help"}
    for arg in takewhile(lambda a: a != "--", args):
        name = arg.partition("=")[0]
        meant = (
            [name] if name in option_names else sorted(o for o in option_names if _is_like(name, o))
        )
        if meant:
            yield name, meant[0]


def _is_like(name: str, option: str) -> bool:
    """Whether the name is the beginning of the option, has the same letters, or one
    more or less.
    """
    if len(name) <= len("--j") or not name.startswith("--"):
        return False
    short, long = sorted((name, option), key=len)
    one_left_out = (long[:i] + long[i + 1 :] for i in range(len(long)))
    return option.startswith(name) or sorted(name) == sorted(option) or short in one_left_out


def run(job: Job, args: Sequence[str]) -> None:
    """Run the job as ``__main__``, with its own ``sys.argv`` and folder. Raises what the job
    raises.

    The process is the job's from here on: its module stays ``__main__``, for threads, for objects
    that it pickles, and for code that runs when the process ends.
    """
    main = ModuleType("__main__")
    main.__file__ = str(job.path)
    main.__loader__ = SourceFileLoader("__main__", str(job.path))
    main.__dict__.update(__annotations__={}, __cached__=None)
    sys.modules["__main__"] = main
    sys.argv = [job.name, *args]
    _put_first_on_path(Path(sys.executable).parent)
    if not sys.flags.safe_path:
        sys.path[0] = str(job.path.resolve().parent)
    exec(job.code, main.__dict__)


def _put_first_on_path(folder: Path) -> None:
    """Put a folder first on PATH. By default, Spark's local workers are the ``python3`` on PATH:
    here that of this environment, which need not be activated. The workers of a cluster have their
    own PATH.
    """
    old_path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join((str(folder), old_path))


def end(job: Job, args: Sequence[str]) -> int:
    """Run the job, and end as Python would: with its traceback, without frames of presieve.

    Returns the exit code. ``SystemExit`` passes through, and means the same as in Python.
    """
    try:
        run(job, args)
    except SystemExit:
        raise
    except BaseException as error:  # the job's code may raise anything
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code is not job.code:
            own = own.tb_next
        shown = error.with_traceback(own or error.__traceback__)
        sys.excepthook(type(shown), shown, shown.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
