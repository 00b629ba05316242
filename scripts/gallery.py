# SPDX-License-Identifier: Apache-2.0
"""Code and output in ``docs/gallery.md``, from the scripts in ``examples/gallery``.

    python scripts/gallery.py                      # says what is out of date: exit code 1
    python scripts/gallery.py --write [NAME ...]   # runs the scripts, or some, and writes it

A region of the page begins with ``<!-- gallery: NAME PART -->`` and ends with
``<!-- gallery: end -->``. PART is ``pipeline`` or ``by_hand`` (code), ``found`` or ``refuted``
(what the script prints).
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "examples" / "gallery"
PAGE = ROOT / "docs" / "gallery.md"

SECTIONS = {"pipeline": "the pipeline", "by_hand": "the wrong twin"}
PRINTED = ("found", "refuted")

_REGION = re.compile(
    r"(<!-- gallery: (?P<name>\w+) (?P<part>\w+) -->\n)(?P<body>.*?)(<!-- gallery: end -->)",
    re.DOTALL,
)


def regions(page: str) -> dict[tuple[str, str], str]:
    """What stands in each region of the page, by script and part."""
    return {(m["name"], m["part"]): m["body"] for m in _REGION.finditer(page)}


def code(name: str, part: str) -> str:
    """A section of a script as a block that runs: with its imports, or with its verdict."""
    text = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    body = _section(text, part)
    if part == "by_hand":
        return f'```python\n{body}\n\n\nassert by_hand().status == "refuted"\n```\n'
    shown = body + _section(text, "by_hand")
    before = text.split("# --- ")[0]
    imports = [n for n in ast.parse(before).body if isinstance(n, ast.Import | ast.ImportFrom)]
    used = [ast.unparse(n) for n in imports if _bound(n) & set(re.findall(r"\w+", shown))]
    return "```python\n" + "\n".join(used) + f"\n\n\n{body}\n```\n"


def _section(text: str, part: str) -> str:
    after = text.split(f"# --- {SECTIONS[part]} -")[1].split("# --- ")[0]
    return after.split("\n", 1)[1].strip()


def _bound(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The names that an import binds."""
    return {(a.asname or a.name).split(".")[0] for a in node.names}


def printed(text: str) -> str:
    """What a script prints, as a block."""
    return f"```text\n{text}\n```\n"


def blocks(name: str, shown: Any, showing: Any) -> dict[tuple[str, str], str]:
    """The four blocks of a script that gave ``shown``."""
    return {
        **{(name, part): code(name, part) for part in SECTIONS},
        (name, "found"): printed(showing.found(shown)),
        (name, "refuted"): printed(showing.refuted(shown.wrong)),
    }


def filled(page: str, made: Mapping[tuple[str, str], str]) -> str:
    """The page with these blocks in its regions; others stay."""
    return _REGION.sub(lambda m: m[1] + made.get((m["name"], m["part"]), m["body"]) + m[5], page)


def run(names: Sequence[str]) -> dict[tuple[str, str], str]:
    """The blocks of these scripts, made in one session."""
    import importlib

    sys.path.insert(0, str(GALLERY))
    showing = importlib.import_module("showing")
    made: dict[tuple[str, str], str] = {}
    with showing.session() as spark:
        from pyspark import cloudpickle

        for name in names:
            print(name, file=sys.stderr)
            module = importlib.import_module(name)
            cloudpickle.register_pickle_by_value(module)
            with tempfile.TemporaryDirectory() as folder:
                made |= blocks(name, module.main(spark, Path(folder)), showing)
    return made


def main(arguments: list[str]) -> int:
    """0 where the page is as it should be, or was written."""
    page = PAGE.read_text(encoding="utf-8")
    names = arguments[1:] or list(dict.fromkeys(name for name, _ in regions(page)))
    new = filled(page, run(names))
    if arguments[:1] == ["--write"]:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    old = regions(page)
    stale = [" ".join(key) for key, body in regions(new).items() if old[key] != body]
    for which in stale:
        print(f"out of date: {which}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
