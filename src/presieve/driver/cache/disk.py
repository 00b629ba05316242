"""Untrusted. Texts that are kept between processes: a file for each, and not too many of them.

A file appears whole or not at all, under a name that says what it answers, so that processes which
write at once need no locks. What is read may be anything that anybody wrote there: whoever asked
checks it. Nothing here raises because of what the disk does or holds; then there is no text.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger("presieve")

CACHE = "PRESIEVE_CACHE"
"""The environment variable with the directory, or a word that means none or the usual one."""

_OFF = frozenset({"off", "0", "false", "no"})
_USUAL = frozenset({"", "on", "1", "true", "yes"})

COUNT = 4096
"""Files that are kept; those used longest ago go first."""

BYTES = 64 * 2**20
"""What the files may hold together."""

LARGEST = 2**20
"""Bytes of one text; a larger one is neither written nor read."""

_OURS = re.compile(r"[0-9a-f]{64}\.json|\.[0-9a-f]{64}\.[0-9a-f]{16}")
"""Files of any other name were not written here, and are left alone."""

_LEFT_BEHIND = 3600.0
"""Seconds after which a file that is not yet whole has no writer any more."""


@dataclass(frozen=True, slots=True)
class Store:
    """Texts by name (64 hexadecimal digits) in a directory, which is made at the first one."""

    directory: Path
    count: int = COUNT
    size: int = BYTES

    def path(self, name: str) -> Path:
        """The file of a text."""
        return self.directory / f"{name}.json"

    def get(self, name: str) -> bytes | None:
        """The text, cut off where it is too large; None where there is none."""
        path = self.path(name)
        try:
            if not path.is_file():  # reading a pipe would wait for a writer
                return None
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
        except OSError as problem:
            logger.info("the cache cannot be read: %s", problem)
            return None
        with contextlib.suppress(OSError):  # of a cache that others fill, one may read only
            os.utime(path)
        return data

    def put(self, name: str, text: str) -> None:
        """Keep a text, in place of the one of that name; then see that there are not too many."""
        data = text.encode()
        if len(data) > LARGEST:
            return
        part = self.directory / f".{name}.{os.urandom(8).hex()}"
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            # For the owner alone, as the directory: filters hold values of somebody's data.
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "wb") as file:
                file.write(data)
            part.replace(self.path(name))
        except OSError as problem:
            logger.info("nothing is stored in the cache: %s", problem)
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            return
        self._shrink()

    def drop(self, name: str) -> None:
        """Forget a text."""
        with contextlib.suppress(OSError):
            self.path(name).unlink(missing_ok=True)

    def held(self) -> tuple[int, int]:
        """How many files there are, and their bytes."""
        sizes = [f.size for f in self._files()]
        return len(sizes), sum(sizes)

    def clear(self) -> int:
        """Forget everything. How many files there were."""
        files = list(self._files())
        for file in files:
            file.remove()
        return len(files)

    def _shrink(self) -> None:
        """Below the bounds by an eighth, so that not every text that comes makes another one go."""
        files = sorted(self._files(), key=lambda f: (f.used, f.path))
        for file in list(files):
            if file.is_part and file.used < time.time() - _LEFT_BEHIND:
                file.remove()
                files.remove(file)
        count, size = len(files), sum(f.size for f in files)
        if count <= self.count and size <= self.size:
            return
        for file in files:
            if count <= self.count * 7 // 8 and size <= self.size * 7 // 8:
                return
            file.remove()
            count, size = count - 1, size - file.size

    def _files(self) -> Iterator[_File]:
        with contextlib.suppress(OSError), os.scandir(self.directory) as found:
            for entry in found:
                if not _OURS.fullmatch(entry.name):
                    continue
                with contextlib.suppress(OSError):  # another process may have removed it
                    stat = entry.stat(follow_symlinks=False)
                    yield _File(entry.path, stat.st_mtime, stat.st_size)


@dataclass(frozen=True, slots=True)
class _File:
    """``used`` in seconds since the epoch: when it was last written or read."""

    path: str
    used: float
    size: int

    @property
    def is_part(self) -> bool:
        """Whether it is not whole, or not yet."""
        return os.path.basename(self.path).startswith(".")

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def default_store() -> Store | None:
    """The one that the environment asks for as it is now; None where it is switched off."""
    asked = os.environ.get(CACHE, "")
    if asked.lower() in _OFF:
        return None
    try:
        usual = asked.lower() in _USUAL
        directory = _user_directory() / "solutions" if usual else Path(asked).expanduser()
        return Store(directory.absolute())
    except (OSError, RuntimeError) as problem:  # no home, or no working directory
        logger.info("there is no cache: %s", problem)
        return None


def _user_directory() -> Path:
    """Where the platform keeps what can be made again."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named) / "presieve"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "presieve"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "presieve" / "Cache"
    return Path.home() / ".cache" / "presieve"
