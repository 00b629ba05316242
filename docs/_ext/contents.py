"""Pages that list others are plain lists of links; this makes the site's contents of them.

A page called `index` or `README` leads to the pages that it links to, in their order, each one
level below the heading that it stands under. Pages in a folder with a `README` are led by that,
others by the start page. What is linked to by neither comes last. On a code host the same list is
just a list.
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
    start = app.config.root_doc
    if docname == "README" or posixpath.basename(docname) not in {"index", "README"}:
        return
    found = sections(docname, source[0])
    # A page has one place in the contents: below the page that leads its folder, or the start page.
    own = {d for _, below in found for d in below if (_led_by(app, d) or start) == docname}
    found = [(heading, [d for d in below if d in own]) for heading, below in found]
    listed = {document for _, documents in found for document in documents}
    others = sorted(set(app.env.found_docs) - listed - {docname})
    left = [d for d in others if (_led_by(app, d) or start) == docname]
    for heading, documents in [*found, ("", left)]:
        if documents:
            caption = f":caption: {heading}\n" if heading and docname == start else ""
            entries = "\n".join(_TITLES.get(one, "{}").format(f"/{one}") for one in documents)
            source[0] += f"\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def _led_by(app: Sphinx, docname: str) -> str | None:
    """The page that leads to the pages of this one's folder, if there is one."""
    leading = posixpath.join(posixpath.dirname(docname), "README")
    found = leading not in {"README", docname} and leading in app.env.found_docs
    return leading if found else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _add_contents)
    return {"parallel_read_safe": True}
