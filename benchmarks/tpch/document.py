"""Untrusted. What is recorded of TPC-H without pushdown: a part of ``docs/magicpush.md``, and all.

    python -m benchmarks.tpch.document

writes the part below the heading of the experiment, and ``benchmarks/results/tpch-pushdown.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from benchmarks.pages import DOCS, RESULTS
from benchmarks.tpch.outcome import EXCLUDED, INFERRED, Line, Outcome, outcome, read

PAGE = DOCS / "magicpush.md"
RECORD = RESULTS / "tpch-pushdown.md"
HEADING = "## TPC-H without the optimizer's pushdown\n"

_SHOWN = {
    "spark": "Spark",
    "stripped": "without rules",
    "presieve": "presieve",
    "functions": "functions",
}
"""The forms of the main table, with their names there."""

_OUTCOMES: tuple[Outcome, ...] = ("same", "fewer", "more", "other")
"""Beside the filters of Spark; *other* is fewer of these, and some that Spark does not have."""

_JOINS = {
    "Inner": "inner",
    "LeftOuter": "left outer",
    "LeftSemi": "left semi",
    "LeftAnti": "left anti",
}

_INTRODUCTION = """
MagicPush takes queries whose filters stand above joins of whole tables, as in their text, and asks
whether it finds the filters that PostgreSQL puts at the scans (section 7.2). It finds them for all
18 queries in which a filter can move. Here the same is asked of Spark 4.3, at scale 0.01: rules of
its optimizer that push filters are excluded. Each query runs in five forms:

- *Spark*: no rule is excluded.
- *without rules*: the rules are excluded.
- *presieve*: likewise; the query is what `optimize(df, cost="always")` returns.
- *functions*: as *presieve*, and each table is behind a Python function that returns its rows
  (`mapInPandas`, with `compile="never"`). Spark moves no filter below such a function.
- *both*: no rule is excluded, and presieve optimizes.

"""
_MORE = """
[The record](../benchmarks/results/tpch-pushdown.md) has the excluded rules, every query, and every
filter that presieve leaves or adds, with the reason.
"""
_RECORD = """\
# TPC-H without the optimizer's pushdown

[MagicPush on Spark](../../docs/magicpush.md#tpc-h-without-the-optimizers-pushdown) says what is
asked and has the totals. Measured on 26 November 2026 at scale 0.01, on Spark 4.3.
`python -m benchmarks.tpch.pushdown` records the experiment in `benchmarks/tpch/pushdown.csv`, and
`python -m benchmarks.tpch.document` makes this page. Only counts of filters and rows are recorded,
which do not depend on the machine.

The queries are in `benchmarks/tpch/standard.py`, with the validation parameters of the standard.
Comparisons between columns of two tables are in `ON`, all others in `WHERE`: the standard has both
in `WHERE`, and without pushdown Spark would join by cross products. These rules are taken out of
the optimizer with `spark.sql.optimizer.excludedRules`:

{excluded}

Spark lets all of them be excluded. `PushDownPredicates` runs the two rules after it, which are also
in batches of their own. `ReorderJoin` moves filters into conditions of joins. A filter directly
above its scan is at the scan without the rules, too: all filters of Q1, Q4, Q6, Q15 and Q22, and
those of most subqueries. In Q4 and Q22 a rule that cannot be excluded does it:
`RewritePredicateSubquery` replaces EXISTS and IN by joins, and puts the other conjuncts of the same
`WHERE` below these.

The tables count conjuncts at or directly above the scans of all tables, each as often as a scan
has it, as Spark's planner collects them (`PhysicalOperation`). `IS NOT NULL` is not counted: Spark
has {not_null} such conditions at scans, on columns without NULL. *Rows* are those out of scans and
filters. In Q18 and Q20 Spark also copies a semi-join to the other side of a join, and reads the
table of the subquery once more.

## All queries

"""


def generated(lines: Sequence[Line]) -> str:
    """What stands below the heading of the page."""
    queries = _by_query(lines)
    return _INTRODUCTION.lstrip() + _totals(queries) + "\n" + _summary(lines) + _MORE


def record(lines: Sequence[Line]) -> str:
    """Every query, and every filter that differs from those of Spark."""
    queries = _by_query(lines)
    parts = [
        _RECORD.format(
            excluded="\n".join(f"- `{rule}`" for rule in EXCLUDED),
            not_null=sum(r.not_null for r in lines),
        ).rstrip("\n")
        + "\n",
        _table(queries),
        "## Filters that presieve leaves, tables without functions\n",
        _missing(lines, "presieve"),
        "## Filters that presieve leaves below functions\n",
        _missing(lines, "functions"),
        _codes(queries),
        "## Filters that Spark does not have\n",
        _added(lines),
    ]
    return "\n".join(parts)


def _by_query(lines: Sequence[Line]) -> dict[str, list[Line]]:
    return {name: list(found) for name, found in groupby(lines, lambda r: r.query.name)}


def page(text: str, lines: Sequence[Line]) -> str:
    """The page, with its last part made anew."""
    above, heading, _ = text.partition(HEADING)
    assert heading, f"{PAGE.name} has no {HEADING}"
    return above + heading + "\n" + generated(lines)


def _totals(queries: Mapping[str, Sequence[Line]]) -> str:
    counted = {form: _sum(queries, form) for form in (*_SHOWN, "both")}
    outcomes = {
        form: Counter(outcome(lines, form) for lines in queries.values())
        for form in ("stripped", "presieve", "functions", "both")
    }
    equal = sum(lines[0].query.equal for lines in queries.values())
    head = ("form", "filters at scans", "of them Spark's", "rows", *_OUTCOMES)
    return "\n".join(
        (
            f"Results are equal in all five forms for {equal} of {len(queries)} queries.\n",
            f"| {' | '.join(head)} |",
            "|" + "---|" * len(head),
            *(_total(form, counted, outcomes.get(form), queries) for form in counted),
            "",
        )
    )


def _summary(lines: Sequence[Line]) -> str:
    moved = sum(len(line.left("stripped")) for line in lines)
    back = moved - sum(len(line.left("presieve")) for line in lines)
    more = sum(len(line.added("presieve")) for line in lines)
    wanted = sum(len(line.at["spark"].conjuncts) for line in lines)
    below = wanted - sum(len(line.left("functions")) for line in lines)
    return (
        f"Of the {moved} filters that the rules bring to the scans, presieve brings"
        f" {back or 'none'} there in plans without functions. It does so only because the rules are"
        f" excluded; otherwise it leaves such filters to the optimizer. It adds {more} filters that"
        " Spark does not have, some in place of equivalent ones, as in Q7 and Q16. Below functions"
        f" it brings {below} of Spark's {wanted} filters to the scans.\n"
    )


def _total(
    form: str,
    counted: Mapping[str, tuple[int, int]],
    outcomes: Counter[Outcome] | None,
    queries: Mapping[str, Sequence[Line]],
) -> str:
    filters, rows = counted[form]
    shared = filters - sum(len(r.added(form)) for lines in queries.values() for r in lines)
    found = [str(outcomes[o]) if outcomes else "" for o in _OUTCOMES]
    return f"| {_name(form)} | {filters} | {shared} | {rows:,} | {' | '.join(found)} |"


def _sum(queries: Mapping[str, Sequence[Line]], form: str) -> tuple[int, int]:
    at = [r.at[form] for lines in queries.values() for r in lines]
    return sum(len(a.conjuncts) for a in at), sum(a.rows for a in at)


def _name(form: str) -> str:
    return _SHOWN.get(form, form)


def _table(queries: Mapping[str, Sequence[Line]]) -> str:
    names = list(_SHOWN.values())
    rows = [f"rows: {name}" for name in names]
    head = ("query", *names, "presieve is", "functions is", *rows)
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name, found in queries.items():
        one = {name: found}
        sums = [_sum(one, form) for form in _SHOWN]
        kinds = [outcome(found, form) for form in ("presieve", "functions")]
        cells = (name, *(str(n) for n, _ in sums), *kinds, *(f"{n:,}" for _, n in sums))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _missing(lines: Iterable[Line], form: str) -> str:
    made = ["| query | table | filter | operators between it and the scan |", "|---|---|---|---|"]
    for line in lines:
        places = line.places if form == "presieve" else line.function_places
        for text, place in zip(line.left(form), places, strict=True):
            where = "none: Spark infers this filter" if place == INFERRED else _between(place)
            made.append(f"| {line.query.name} | {line.table} | {_code(text)} | {where} |")
    return "\n".join(made) + "\n"


def _between(place: str) -> str:
    """``5 Inner join`` as ``5 inner joins``."""
    parts = []
    for part in place.split(", "):
        number, name = part.split(" ", 1)
        kind = name.removesuffix(" join")
        if kind == name:
            parts.append(f"`{name}`" if number == "1" else f"{number} `{name}`")
        else:
            plural = "" if number == "1" else "s"
            parts.append(f"{number} {_JOINS.get(kind, kind)} join{plural}")
    return ", ".join(parts)


def _codes(queries: Mapping[str, Sequence[Line]]) -> str:
    found: dict[str, list[str]] = {}
    for name, lines in queries.items():
        for code in lines[0].query.function_codes:
            found.setdefault(code, []).append(name)
    made = [
        "What presieve says of these filters, once for each code and reason. It says nothing of"
        " filters inside scalar subqueries, of the condition of the left outer join in Q13, and of"
        " the disjunction in Q7.\n",
        "| code | reason | queries |",
        "|---|---|---|",
    ]
    for code in sorted(found, key=lambda c: (-len(found[c]), c)):
        short, _, reason = code.partition(": ")
        made.append(
            f"| [`{short}`](../../docs/declined/{short}.md) | {reason} | {', '.join(found[code])} |"
        )
    return "\n".join(made) + "\n"


def _added(lines: Iterable[Line]) -> str:
    made = ["| query | table | form | filter |", "|---|---|---|---|"]
    for line in lines:
        for form in ("presieve", "both", "functions"):
            for text in line.added(form):
                made.append(f"| {line.query.name} | {line.table} | {_name(form)} | {_code(text)} |")
    return "\n".join(made) + "\n"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def main() -> None:
    """Write the page and the record."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    RECORD.write_text(record(read()), encoding="utf-8")


if __name__ == "__main__":
    main()
