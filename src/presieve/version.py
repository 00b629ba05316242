# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Which presieve this is."""

from __future__ import annotations


def read_version() -> str:
    """Return the version in the package's metadata; a bare folder on the path has none."""
    from importlib import metadata

    try:
        return metadata.version("presieve")
    except metadata.PackageNotFoundError:
        return "unknown"
