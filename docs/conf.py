"""How Sphinx makes the site: `make docs`. Nothing is loaded from elsewhere, at no time."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs/_ext"))
sys.path.insert(0, str(ROOT / "src"))

project = "presieve"
author = "the presieve authors"
copyright = author
language = "en"

# The whole repository is the source, so that links between the README, docs, proofs and results
# are the same here and on a code host.
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "benchmarks/results/**.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**.md",
    "examples/**.md",
    "proofs/README.md",
]
exclude_patterns = [".venv", ".git", "build", "dist", "src", "tests", "scripts"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "contents", "commands"]
napoleon_use_ivar = True
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
# Types in signatures: other libraries have no inventory offline, and ours are often aliases.
nitpick_ignore_regex = [("py:(class|attr)", r".*")]

html_theme = "furo"
html_title = "presieve"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(ROOT / "docs/_static/scorer.js")
templates_path: list[str] = []

START = """<!doctype html>
<meta charset="utf-8">
<title>presieve</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">presieve</a>
"""


def _lead_to_start(app: Sphinx, exception: Exception | None) -> None:
    """Whoever opens the top folder of the site comes to the start page."""
    if exception is None and app.builder.format == "html":
        (Path(app.outdir) / "index.html").write_text(START, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("build-finished", _lead_to_start)
