"""A shell of IPython in this process, as a notebook's kernel has one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from tests.notebook.shell import Shell
from traitlets.config import Config

import presieve


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    """The shell takes some of Python's own things for itself, which are put back."""
    names = ("displayhook", "excepthook")
    kept = {name: getattr(sys, name) for name in names}
    main = sys.modules["__main__"]
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"
    made: Any = InteractiveShell.instance(config=config)
    try:
        made.run_line_magic("load_ext", "presieve")
        yield Shell(made, capsys)
    finally:
        made.run_line_magic("unload_ext", "presieve")
        made.reset(new_session=False)
        made.restore_sys_module_state()
        InteractiveShell.clear_instance()
        sys.modules["__main__"] = main
        vars(sys).pop("ps1", None)
        for name, value in kept.items():
            setattr(sys, name, value)
        vars(presieve).pop("load_ipython_extension", None)
        vars(presieve).pop("unload_ipython_extension", None)
