# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve why CODE``: explains a code in square brackets, in the terminal.

Each code of a decline has a page in ``docs/declined``, each code of an assumption an entry in
``docs/assumptions.md``; both are part of the wheel.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

import presieve
from presieve.cli import output
from presieve.cli import shared_options as opt
from presieve.errors import UsageError
from presieve.records import replace

INDEX = "declined/README.md"
ASSUMPTIONS = "assumptions.md"
GROUP = "Assumptions: what a proof rests on"
"""The heading of the codes of ``docs/assumptions.md`` in the list of codes."""
_HEADING = re.compile(r"^## (.+)$")
_LISTED = re.compile(r"^- \[`([a-z-]+)`\]\([a-z-]+\.md\): (.+)$")
_ENTRY = re.compile(r"^## `([a-z-]+)`: (.+)$", re.M)


class Listed(Struct, frozen=True):
    """A code, its short title, the heading that it stands under, and its explanation."""

    code: str
    title: str
    group: str
    text: str


def command(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="A code, as in [unknown-call].")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Explain a code of a decline or an assumption, or list all codes.

    It also says what to change. Reports and logs show codes in square brackets. You may
    include the brackets.
    """
    entries = _merge(declines(), assumptions())
    if code is None:
        _list(list(entries.values()), json=json)
        return
    code = code.strip("[]` ").lower()
    if code not in entries:
        near = get_close_matches(code, entries, cutoff=0.8)
        remedy = (
            f"did you mean {' or '.join(near)}?" if near else "`presieve why` lists all of them"
        )
        raise UsageError(f"there is no code {code!r}; {remedy}")
    if json:
        output.as_json({"code": code, "title": entries[code].title, "text": entries[code].text})
    else:
        _show(entries[code].text)


def _merge(*lists: Iterable[Listed]) -> dict[str, Listed]:
    """The entries by code. A code of a decline that is also one of an assumption has both texts."""
    entries: dict[str, Listed] = {}
    for entry in chain.from_iterable(lists):
        first = entries.get(entry.code)
        text = entry.text if first is None else f"{first.text.rstrip()}\n\n{entry.text}"
        entries[entry.code] = replace(first or entry, text=text)
    return entries


def folder() -> Path:
    """The folder of the pages: in the package in a wheel, in the documentation of a checkout."""
    package = Path(presieve.__file__).parent
    places = (package, package.parent.parent / "docs")
    for place in places:
        if (place / INDEX).is_file() and (place / ASSUMPTIONS).is_file():
            return place
    raise UsageError(f"the pages of codes are missing: there is no {package / INDEX}")


def declines() -> Iterator[Listed]:
    """The codes of declines, as the index lists them."""
    group = ""
    for line in _page(INDEX).splitlines():
        if heading := _HEADING.match(line):
            group = heading[1]
        elif entry := _LISTED.match(line):
            yield Listed(entry[1], entry[2], group, _page(f"declined/{entry[1]}.md"))


def assumptions() -> Iterator[Listed]:
    """The codes of assumptions, in the order of their page."""
    _, *parts = _ENTRY.split(_page(ASSUMPTIONS))
    for code, title, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield Listed(code, title, GROUP, f"# `{code}`: {title}\n\n{text.strip()}\n")


def _page(name: str) -> str:
    return (folder() / name).read_text(encoding="utf-8")


def _list(all_: list[Listed], *, json: bool) -> None:
    if json:
        rows = [{"code": entry.code, "title": entry.title, "group": entry.group} for entry in all_]
        output.as_json({"codes": rows})
        return
    for group in dict.fromkeys(entry.group for entry in all_):
        print(f"{group}\n")
        output.fields((entry.code, entry.title) for entry in all_ if entry.group == group)
        print()
    print("`presieve why CODE` explains one of them.")


def _show(text: str) -> None:
    """Print formatted text in a terminal, and plain text elsewhere."""
    if not sys.stdout.isatty():
        print(text.rstrip())
        return
    from rich.markdown import Markdown
    from rich.theme import Theme

    show = output.console()
    show.push_theme(Theme({"markdown.code": "bold cyan"}))
    # The terminal's own colours and no background, so that it is readable on light and on dark.
    show.print(Markdown(text, code_theme="ansi_light", hyperlinks=False))
