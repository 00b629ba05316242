"""Untrusted. ``presieve why CODE``: what a code in square brackets means, in the terminal.

Codes of declines have a page each in ``docs/declined``, codes of assumptions an entry each in
``docs/assumptions.md``; both are part of the wheel.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import presieve
from presieve.cli import options as opt
from presieve.cli import output
from presieve.errors import UsageError

INDEX = "declined/README.md"
ASSUMPTIONS = "assumptions.md"
GROUP = "Assumptions: what a proof rests on"
"""What the list of codes calls those of ``docs/assumptions.md``."""
CLOSE = 2
"""How many letters may be wrong in a code for which another one is suggested."""

_HEADING = re.compile(r"^## (.+)$")
_LISTED = re.compile(r"^- \[`([a-z-]+)`\]\([a-z-]+\.md\): (.+)$")
_ENTRY = re.compile(r"^## `([a-z-]+)`: (.+)$", re.M)


@dataclass(frozen=True, slots=True)
class Listed:
    """A code, its short title, the heading that it stands under, and what is said of it."""

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
    found = {one.code: one for one in (*declines(), *assumptions())}
    if code is None:
        _list(list(found.values()), json=json)
        return
    code = code.strip("[]` ").lower()
    if code not in found:
        raise UsageError(f"there is no code {code!r}{_near(code, found)}")
    if json:
        output.as_json({"code": code, "title": found[code].title, "text": found[code].text})
    else:
        _show(found[code].text)


def folder() -> Path:
    """Where the pages are: in the package in a wheel, in the documentation of a checkout."""
    package = Path(presieve.__file__).parent
    places = (package, package.parent.parent / "docs")
    for place in places:
        if (place / INDEX).is_file() and (place / ASSUMPTIONS).is_file():
            return place
    raise UsageError(f"the pages of codes are missing: there is no {package / INDEX}")


def declines() -> Iterator[Listed]:
    """The codes of declines, as the index has them."""
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


def _near(code: str, codes: Iterable[str]) -> str:
    meant = [c for c in codes if _distance(code, c) <= CLOSE]
    if meant:
        return f"; did you mean {' or '.join(sorted(meant))}?"
    return "; `presieve why` lists all of them"


def _distance(a: str, b: str) -> int:
    """How many letters must be put in, left out or exchanged (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


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
