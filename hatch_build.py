# SPDX-License-Identifier: Apache-2.0
"""The text about presieve in the metadata of packages: the README without its pictures and links.

They lead to files of the source tree, which a page of a package does not have, and the project has
no public address that they could have instead. Hatchling finds this file by its name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

NOTE = "This is the README of the source tree; the pages that it names are in its folder `docs`."


class Readme(MetadataHookInterface):
    """Gives packages their long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the one dynamic field of ``pyproject.toml``."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": by_itself(text)}


def by_itself(readme: str) -> str:
    """Return a page without comments and relative links, whose words remain."""
    text = re.sub(r"<!--.*?-->\n?", "", readme, flags=re.S)
    text = re.sub(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*", "", text)
    text = re.sub(r"\[([^]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)
    return f"{text.rstrip()}\n\n{NOTE}\n"
