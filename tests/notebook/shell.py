"""A shell that runs cells."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell


class Shell:
    """Runs cells, and has what they print, show and raise."""

    def __init__(self, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._capsys = capsys

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]

    def run(self, cell: str) -> str:
        """What a cell prints. Raises what it raises."""
        self._capsys.readouterr()
        done = self.shell.run_cell(cell, store_history=True)  # type: ignore[no-untyped-call]
        out = self._capsys.readouterr()
        done.raise_error()
        return str(out.out)

    def fails(self, cell: str) -> str:
        """What the reader of a cell sees that ends with an error."""
        self._capsys.readouterr()
        done = self.shell.run_cell(cell, store_history=True)  # type: ignore[no-untyped-call]
        out = self._capsys.readouterr()
        assert not done.success
        return str(out.out + out.err)
