# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A report as a page, or as a fragment for notebooks: self-contained, no scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from presieve.errors import UsageError
from presieve.ir.assumption_codes import MAY_ERASE_ERROR
from presieve.report import sentences, statements
from presieve.report.drawing import picture
from presieve.report.drawing.names_in_plans import plan_names
from presieve.report.invariant_text import HEADING
from presieve.report.report_data import ReportData
from presieve.report.source.highlight import python_lines

if TYPE_CHECKING:
    from jinja2 import Environment


class Section(Struct, frozen=True):
    """A report under its own heading, with measured facts beside it, in order."""

    data: ReportData
    title: str = ""
    text: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


FATE_MARKS = {
    "below": "\N{DOWNWARDS ARROW}",
    "implied": "\N{DOWNWARDS ARROW}",
    "weakened": "\N{UP DOWN ARROW}",
    "replaced": "\N{UP DOWN ARROW}",
    "part": "\N{UP DOWN ARROW}",
    "stays": "\N{UPWARDS ARROW}",
    "spark": "\N{DOWNWARDS ARROW}",
    "nothing": "\N{UPWARDS ARROW}",
}
"""Arrows beside the fate of a conjunct: whether it is checked below or above."""


def _code_marks(text: str) -> str:
    """Render a sentence as HTML, with names between backticks as code."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a name with a backtick in it
        return escape(text)
    marked = (Markup("<code>{}</code>").format(p) if i % 2 else p for i, p in enumerate(parts))
    return Markup("").join(marked)


@cache
def _templates() -> Environment:
    import jinja2

    env = jinja2.Environment(
        loader=jinja2.PackageLoader("presieve.report"),
        autoescape=True,  # sources, SQL and names are other people's text
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["percent"] = sentences.as_percentage
    env.filters["zip"] = zip
    env.filters["code_marks"] = _code_marks
    env.globals.update(python_lines=python_lines, fate_marks=FATE_MARKS)
    env.globals.update(invariant_heading=HEADING, effects=(MAY_ERASE_ERROR,))
    env.globals.update(summary=sentences.summary, effort=sentences.effort)
    env.globals.update(measured_table=sentences.measured_table, why=sentences.why)
    env.globals.update(meaning=sentences.meaning, scan_facts=sentences.scan_facts)
    env.globals.update(tell_reason=sentences.tell_reason, with_behind=sentences.with_behind)
    env.globals.update(
        function_facts=sentences.function_facts, derived_facts=sentences.tell_derived
    )
    env.globals.update(statements=statements.statements, flow=statements.flow)
    env.globals.update(pictures=picture.pictures, ran_of=sentences.ran, plan_names=plan_names)
    env.globals.update(tags=picture.TAGS, meanings=sentences.ROLES, titles_of=sentences.side_titles)
    return env


def page(title: str, sections: Sequence[Section]) -> str:
    """A complete HTML document."""
    return render("page.html", title=title, sections=sections)


def save(
    path: str | Path, what: str, page: Callable[[], str], data: Callable[[], dict[str, Any]]
) -> None:
    """Write the page or the data, depending on the suffix of the path."""
    path = Path(path)
    match path.suffix.lower():
        case ".html" | ".htm":
            content = page()
        case ".json":
            content = json.dumps(data(), indent=2) + "\n"
        case _:
            raise UsageError(f"{path}: a {what} is saved as .html or .json")
    path.write_text(content, encoding="utf-8")


def notebook_fragment(data: ReportData) -> str:
    """The report for a notebook: a ``div`` with its own style."""
    return render("fragment.html", section=Section(data))


def render(template: str, **fields: object) -> str:
    """Fill in another template, for what is no report."""
    return _templates().get_template(template).render(**fields)
