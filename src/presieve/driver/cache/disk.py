# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Texts stored between processes: one file for each, in a bounded number.

A file appears as a whole or not at all, under a name that identifies its query, so processes that
write at the same time need no locks. A file may hold anything that anybody wrote there; the caller
checks it. Nothing here raises because of the state or content of the disk; there is simply no text.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

logger = logging.getLogger("presieve")

CACHE = "PRESIEVE_CACHE"
"""The environment variable that holds the directory, or a word for no cache or the default one."""

_OFF = frozenset({"off", "0", "false", "no"})
_USUAL = frozenset({"", "on", "1", "true", "yes"})

COUNT = 4096
"""Maximum number of files; the least recently used are deleted first."""

BYTES = 64 * 2**20
"""Maximum total size of the files."""

LARGEST = 2**20
"""Maximum size of a text in bytes; a larger one is neither written nor read."""

_OURS = re.compile(r"[0-9a-f]{64}\.json|\.[0-9a-f]{64}\.[0-9a-f]{16}")
"""Names of our files; files with any other name are left alone."""

_LEFT_BEHIND = 3600.0
"""Seconds after which a partial file no longer has a writer."""


class Store(Struct, frozen=True):
    """Texts by name (64 hexadecimal digits) in a directory, which the first text creates."""

    directory: Path
    count: int = COUNT
    size: int = BYTES

    def path(self, name: str) -> Path:
        """Return the file of a text."""
        return self.directory / f"{name}.json"

    def get(self, name: str) -> bytes | None:
        """Return the text, cut off if it is too large; None if there is none."""
        path = self.path(name)
        try:
            if not path.is_file():  # reading a pipe would wait for a writer
                return None
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
        except OSError as problem:
            logger.info("the cache cannot be read: %s", problem)
            return None
        with contextlib.suppress(OSError):  # a cache that others fill may be read-only
            os.utime(path)
        return data

    def put(self, name: str, text: str) -> None:
        """Store a text, replacing any text of that name; then delete files beyond the bounds."""
        data = text.encode()
        if len(data) > LARGEST:
            return
        part = self.directory / f".{name}.{os.urandom(8).hex()}"
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Only the owner may read it, like the directory: filters hold values of user data.
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
        """Delete a text."""
        with contextlib.suppress(OSError):
            self.path(name).unlink(missing_ok=True)

    def measure_size(self) -> tuple[int, int]:
        """Return the number of files and their total size in bytes."""
        sizes = [f.size for f in self._files()]
        return len(sizes), sum(sizes)

    def clear(self) -> int:
        """Delete all files and return their number."""
        files = list(self._files())
        for file in files:
            file.remove()
        return len(files)

    def _shrink(self) -> None:
        """Shrink to 7/8 of the bounds if exceeded, so that not every new text deletes another."""
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
        with contextlib.suppress(OSError), os.scandir(self.directory) as entries:
            for entry in entries:
                if not _OURS.fullmatch(entry.name):
                    continue
                with contextlib.suppress(OSError):  # another process may have removed it
                    stat = entry.stat(follow_symlinks=False)
                    yield _File(entry.path, stat.st_mtime, stat.st_size)


class _File(Struct, frozen=True):
    """A file of the store. ``used`` is the time of its last write or read (seconds since 1970)."""

    path: str
    used: float
    size: int

    @property
    def is_part(self) -> bool:
        """Whether the file is incomplete, perhaps because it is still being written."""
        return os.path.basename(self.path).startswith(".")

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def default_store() -> Store | None:
    """Return the store that the environment selects now; None if it is switched off."""
    setting = os.environ.get(CACHE, "")
    if setting.lower() in _OFF:
        return None
    try:
        usual = setting.lower() in _USUAL
        directory = _user_directory() / "solutions" if usual else Path(setting).expanduser()
        return Store(directory.absolute())
    except (OSError, RuntimeError) as problem:  # no home, or no working directory
        logger.info("there is no cache: %s", problem)
        return None


def _user_directory() -> Path:
    """Return the platform's directory for files that can be recreated."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named) / "presieve"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "presieve"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "presieve" / "Cache"
    return Path.home() / ".cache" / "presieve"
