# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The command ``presieve``."""

from presieve.cli.app import main

__all__ = ["main"]
