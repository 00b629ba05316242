"""Pages that list others are plain lists of links; this makes the site's contents of them.

A page called `index` or `README` leads to the pages that it links to, in their order, each one
level below the heading that it stands under. On a code host the same list is just a list.
"""

import posixpath
import re

from sphinx.application import Sphinx

_HEADING = re.compile(r"^## (.+)$")
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+\.md)\)")
_FENCE = "```"
_TITLES = {"README": "Overview <{}>"}
"""What stands in the side bar for a page whose own title does not say what it is there."""


def sections(docname: str, text: str) -> list[tuple[str, list[str]]]:
    """Headings of the page and the documents that are linked to below each, each document once."""
    folder = posixpath.dirname(docname)
    found: list[tuple[str, list[str]]] = [("", [])]
    seen = {docname}
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith(_FENCE)
        heading = _HEADING.match(line)
        if heading and not fenced:
            found.append((heading[1], []))
        for link in _LINK.findall(line) if not fenced else ():
            other = posixpath.normpath(posixpath.join(folder, link)).removesuffix(".md")
            if other not in seen:
                seen.add(other)
                found[-1][1].append(other)
    return [(heading, documents) for heading, documents in found if documents]


def _add_contents(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == "README" or posixpath.basename(docname) not in {"index", "README"}:
        return
    for heading, documents in sections(docname, source[0]):
        # A page has one place in the contents: what the start page lists is its.
        own = documents if docname == app.config.root_doc else _below(docname, documents)
        if own:
            caption = f":caption: {heading}\n" if heading and docname.endswith("index") else ""
            entries = "\n".join(_TITLES.get(one, "{}").format(f"/{one}") for one in own)
            source[0] += f"\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def _below(docname: str, documents: list[str]) -> list[str]:
    folder = posixpath.dirname(docname)
    return [one for one in documents if posixpath.dirname(one) == folder]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _add_contents)
    return {"parallel_read_safe": True}
