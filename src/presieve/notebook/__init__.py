# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``%load_ext presieve``: the magics of IPython and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add ``%presieve`` and ``%%presieve``. IPython calls this on ``%load_ext presieve``."""
    from presieve.notebook.magics import PresieveMagics

    shell.register_magics(PresieveMagics)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Remove the magics, on ``%unload_ext presieve``. Enabled sessions stay enabled."""
    for magics in shell.magics_manager.magics.values():
        magics.pop("presieve", None)
