"""Untrusted. ``presieve why CODE``: the page of a decline code, in the terminal.

The pages are those of ``docs/declined``; they are part of the wheel.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import presieve
from presieve.cli import options as opt
from presieve.cli import output
from presieve.errors import UsageError

INDEX = "README"
_HEADING = re.compile(r"^## (.+)$")
_LISTED = re.compile(r"^- \[`([a-z-]+)`\]\([a-z-]+\.md\): (.+)$")


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the index: a code, its short title, and the heading that it stands under."""

    code: str
    title: str
    group: str


def command(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="A code, as in [unknown-call].")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Explain a decline code, with an example and what to change. Without CODE, list all codes.

    Reports and logs show codes in square brackets. You may include the brackets.
    """
    if code is None:
        _list(list(listed()), json=json)
        return
    code = code.strip("[]` ").lower()
    found = {one.code: one for one in listed()}
    if code not in found:
        raise UsageError(f"there is no decline code {code!r}{_near(code, list(found))}")
    text = _page(code)
    if json:
        output.as_json({"code": code, "title": found[code].title, "text": text})
    else:
        _show(text)


def folder() -> Path:
    """Where the pages are: beside the package in a wheel, in the documentation of a checkout."""
    package = Path(presieve.__file__).parent
    places = (package / "declined", package.parent.parent / "docs" / "declined")
    for place in places:
        if (place / f"{INDEX}.md").is_file():
            return place
    raise UsageError(f"the pages of decline codes are missing: there is no {places[0]}")


def listed() -> Iterator[Listed]:
    """All codes, as the index has them."""
    group = ""
    for line in _page(INDEX).splitlines():
        if heading := _HEADING.match(line):
            group = heading[1]
        elif entry := _LISTED.match(line):
            yield Listed(entry[1], entry[2], group)


def _page(name: str) -> str:
    return (folder() / f"{name}.md").read_text(encoding="utf-8")


def _near(code: str, codes: list[str]) -> str:
    inside = [c for c in codes if code and code in c]
    near = difflib.get_close_matches(code, codes, n=3, cutoff=0.5)
    meant = list(dict.fromkeys(inside + near))[:3]
    if meant:
        return f"; did you mean {' or '.join(meant)}?"
    return "; `presieve why` lists all of them"


def _list(all_: list[Listed], *, json: bool) -> None:
    if json:
        rows = [{"code": one.code, "title": one.title, "group": one.group} for one in all_]
        output.as_json({"codes": rows})
        return
    for group in dict.fromkeys(one.group for one in all_):
        print(f"{group}\n")
        output.fields((one.code, one.title) for one in all_ if one.group == group)
        print()
    print("`presieve why CODE` explains one of them.")


def _show(text: str) -> None:
    """Laid out in a terminal; as it is written where something else reads it."""
    if not sys.stdout.isatty():
        print(text.rstrip())
        return
    from rich.markdown import Markdown
    from rich.theme import Theme

    show = output.console()
    show.push_theme(Theme({"markdown.code": "bold cyan"}))
    # The terminal's own colours and no background, so that it reads on light and on dark.
    show.print(Markdown(text, code_theme="ansi_light", hyperlinks=False))
