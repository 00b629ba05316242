"""Untrusted. Somebody's job: a file that this process runs as Python would have run it."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from itertools import takewhile
from pathlib import Path
from types import CodeType, ModuleType

import typer

from presieve.cli.load import python_file, read_code
from presieve.errors import UsageError


@dataclass(frozen=True, slots=True)
class Job:
    """A file as it was named, and what it says."""

    name: str
    path: Path
    code: CodeType


class Warned(logging.Handler):
    """What presieve warns of while a job runs, as lines, each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: dict[str, None] = {}
        logging.getLogger("presieve").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.lines[" ".join(record.getMessage().split())] = None


def read(name: str) -> Job:
    """The job in a file. :class:`UsageError` where there is none, or it is not Python."""
    if importlib.util.find_spec("pyspark") is None:
        raise UsageError("a job needs pyspark: pip install 'presieve[spark]'")
    path = python_file(name).absolute()
    return Job(name, path, read_code(name, path))


def misplaced(context: typer.Context, args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each argument of the job that looks like an option of the command, and that option: its
    name, the beginning of its name, or a slip of the pen. All that follows the job's name is the
    job's.
    """
    known = {o for p in context.command.params for o in getattr(p, "opts", ())} - {"--help"}
    for arg in takewhile(lambda a: a != "--", args):
        name = arg.partition("=")[0]
        meant = [name] if name in known else sorted(o for o in known if _is_like(name, o))
        if meant:
            yield name, meant[0]


def _is_like(name: str, option: str) -> bool:
    """Whether it is the beginning of it, has the same letters, or one more or less."""
    if len(name) <= len("--j") or not name.startswith("--"):
        return False
    short, long = sorted((name, option), key=len)
    one_left_out = (long[:i] + long[i + 1 :] for i in range(len(long)))
    return option.startswith(name) or sorted(name) == sorted(option) or short in one_left_out


def run(job: Job, args: Sequence[str]) -> None:
    """Run the job as ``__main__``, with its own ``sys.argv`` and folder. Raises what it raises.

    The process is the job's from here on: its module stays ``__main__``, for threads, for what it
    pickles and for what runs when the process ends.
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
    """Spark's local workers are the ``python3`` on PATH where nobody says otherwise: that of an
    environment that need not be activated. The workers of a cluster have a PATH of their own.
    """
    rest = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join((str(folder), rest))


def end(job: Job, args: Sequence[str]) -> int:
    """Run the job, and end as Python would: with its traceback, in which we do not occur.

    Gives the exit code. ``SystemExit`` passes through, and means what it means in Python.
    """
    try:
        run(job, args)
    except SystemExit:
        raise
    except BaseException as error:  # foreign code may raise anything
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code is not job.code:
            own = own.tb_next
        shown = error.with_traceback(own or error.__traceback__)
        sys.excepthook(type(shown), shown, shown.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
