"""The lists of functions and methods in ``docs/understands.md`` and ``docs/operators.md``.

``python -m tests.docs.understands`` writes them, from the tables in which models register.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from presieve.lift.execution import calls
from presieve.lift.models.registry import FUNCTIONS, METHODS, SYNTAX, RegisteredModel
from presieve.lift.values import arrow_values, symbolic, text_parts, whole_columns
from presieve.semantics.aggregates import FUNCTIONS as AGGREGATES

ROOT = Path(__file__).parent.parent.parent
UNDERSTANDS, OPERATORS = ROOT / "docs/understands.md", ROOT / "docs/operators.md"
GENERATED = re.compile(
    r"(?<=<!-- generated -->\n).*(?=<!-- end of what is generated -->)", re.DOTALL
)
AGGREGATE_ROW = re.compile(r"^(\| Spark's own aggregates \(HAVING\))[^|]*", re.MULTILINE)

OWNERS: dict[str, tuple[type, ...]] = {
    "columns": (whole_columns.SeriesV, whole_columns.VectorV, whole_columns.AccessV),
    "tables": (whole_columns.FrameV, whole_columns.PartV, symbolic.TableV),
    "results of `value_counts`, `nlargest` and `head`": (
        whole_columns.FrequencyV,
        whole_columns.TopV,
    ),
    "arrays, tables and scalars of pyarrow": (
        *(arrow_values.ArrowColumnV, arrow_values.ArrayV, arrow_values.BatchV, arrow_values.CellV),
    ),
    "strings": (symbolic.Scalar, symbolic.ElementsV),
    "lists and deques": (symbolic.ListV, symbolic.GrowingV),
    "dicts": (symbolic.DictV, symbolic.MapV, symbolic.CountsV, symbolic.Known),
    "sets": (symbolic.SetV,),
    "differences of dates and times": (symbolic.DaysV, symbolic.DurationV),
    "matches of regular expressions": (text_parts.MatchV,),
}
"""The types of the owners of methods under the headings of the page."""

PACKAGES = {
    "builtins.": "Python's own functions",
    "numpy.": "NumPy",
    "pandas.": "pandas",
    "pyarrow.compute.": "`pyarrow.compute`",
    "pyarrow.": "pyarrow",
    "": "The standard library",
}
"""The headings of functions, by how their paths begin."""


def understands() -> str:
    """What ``docs/understands.md`` says now."""
    assert calls.MODELS
    parts = [_table(title, rows) for title, rows in _sections()]
    text = "\n".join(parts) + "\n"
    found, count = GENERATED.subn(lambda _: text, UNDERSTANDS.read_text(encoding="utf-8"))
    assert count == 1, f"{UNDERSTANDS.name} has no place for the lists"
    return found


def operators() -> str:
    """What ``docs/operators.md`` says now."""
    names = ", ".join(f"`{name}`" for name in AGGREGATES)
    found, count = AGGREGATE_ROW.subn(rf"\1: {names} ", OPERATORS.read_text(encoding="utf-8"))
    assert count == 1, f"{OPERATORS.name} has no row of Spark's own aggregates"
    return found


def _sections() -> Iterator[tuple[str, list[tuple[str, RegisteredModel]]]]:
    functions = [(path.lstrip("_"), e) for path, e in (*FUNCTIONS.items(), *SYNTAX.items())]
    for prefix, title in PACKAGES.items():
        short = prefix in ("builtins.", "pyarrow.compute.")
        own = [(path, e) for path, e in functions if path.startswith(prefix)]
        functions = [(path, e) for path, e in functions if not path.startswith(prefix)]
        yield title, [(path.removeprefix(prefix) if short else path, e) for path, e in own]
    for title, types in OWNERS.items():
        found = ((name, e) for (type_, name), e in METHODS.items() if type_ in types)
        yield f"Methods of {title}", [(name, e) for name, e in found if name != "*"]


def _table(title: str, rows: Iterable[tuple[str, RegisteredModel]]) -> str:
    """One row for each model, in the order of registration, and what is refused below."""
    known: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for name, entry in rows:
        named = refused if entry.refusal else known
        names = named.setdefault(entry.refusal or summary(entry), [])
        if name not in names:
            names.append(name)
    lines = [f"### {title}", "", "| name | supported use |", "|---|---|"]
    lines += [f"| {_names(names)} | {text} |" for text, names in known.items()]
    if refused:
        lines += ["", "Declined with a reason:", ""]
        lines += [f"- {_names(names)}: {text}" for text, names in refused.items()]
    return "\n".join([*lines, ""])


def summary(entry: RegisteredModel) -> str:
    """The first paragraph of the model's docstring, as Markdown."""
    first = (entry.model.__doc__ or "").split("\n\n")[0]
    return " ".join(first.split()).replace("``", "`").replace("|", "\\|")


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    UNDERSTANDS.write_text(understands(), encoding="utf-8")
    OPERATORS.write_text(operators(), encoding="utf-8")
