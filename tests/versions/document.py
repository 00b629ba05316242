"""``docs/versions.md`` and its record, which ``make versions`` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.pages import DOCS, RESULTS, ROOT
from tests.versions.features import FEATURES, WORKS

from presieve.backend.versions import VERSIONS

DOCUMENT = DOCS / "versions.md"
RECORD = RESULTS / "versions.md"
FOLDER = ROOT / "build" / "versions"

HEAD = """\
# Versions of Spark

presieve runs on Spark 3.5, 4.0, 4.1, 4.2 and 4.3, with Python 3.11 or later. On any other version,
and where PySpark and Spark have different versions, it leaves every plan as it is
([`spark-version`](declined/spark-version.md)). `make versions` builds an environment for each
version, runs the tests of Spark in it, and writes this page and the
[counts of tests](../benchmarks/results/versions.md). No test fails on any version.

Platforms number their Spark as Apache does. If yours does not, set the version that it is made of:

```text
spark.conf.set("spark.presieve.version", "4.1")
```

## Python

All tests run with Python 3.11. Earlier versions do not work: presieve compares a function's byte
code with its source by tables that Python has since 3.11, and PySpark 4.3 needs 3.11, too. presieve
can be installed with later versions, but its tests have not been run with them.

"""
FEATURES_TEXT = """\
## Features

A pipeline of each kind, as written and as optimized. Where it is rewritten, both gave the same
rows. A code says why it is declined. A scalar UDF with Arrow and a table function are declined
before 4.1: there, values go through pandas, and an integer beside a NULL becomes a float.

"""
CONNECT = """
## Spark Connect

presieve reads plans of Spark Connect {known}. On {others} it declines.
"""
TESTS = """\
# Tests on each version of Spark

Tests of pipelines, plans, functions and traps (`tests/backend`, `tests/traps`), in a classic
session; `make versions` runs them. Tests are left out where PySpark does not have the feature,
where Spark behaves differently, and where [versions](../../docs/versions.md) says that the feature
is declined (`tests/support/since.py` lists them). A version has a row here once all of its tests
were run in one go.

"""


@dataclass(frozen=True, slots=True)
class Found:
    """What one version has given."""

    spark: str
    java: str
    python: str
    features: Mapping[str, str]
    passed: int = 0
    skipped: int = 0
    failed: int = 0


def found(folder: Path) -> Found:
    """What is in the folder of a version."""
    read = json.loads((folder / "features.json").read_text(encoding="utf-8"))
    if not (folder / "tests.xml").exists():
        return Found(**read)
    suite = ElementTree.parse(folder / "tests.xml").getroot()[0]
    count = {name: int(suite.get(name, "0")) for name in ("tests", "skipped", "failures", "errors")}
    failed = count["failures"] + count["errors"]
    passed = count["tests"] - count["skipped"] - failed
    return Found(**read, passed=passed, skipped=count["skipped"], failed=failed)


def table(*rows: tuple[str, ...]) -> Iterator[str]:
    """In Markdown, the first row as its head."""
    for number, row in enumerate(rows):
        yield "| " + " | ".join(row) + " |"
        if number == 0:
            yield "|" + "---|" * len(row)


def document(of: Mapping[str, Found]) -> str:
    """The page: which feature works on which version."""
    features: list[tuple[str, ...]] = [("feature", *of)]
    features += [(name, *(f.features[name] for f in of.values())) for name in FEATURES]
    known = [v.name for v in VERSIONS.values() if v.connect]
    others = [v.name for v in VERSIONS.values() if not v.connect]
    connect = CONNECT.format(known=_listed(known), others=_listed(others))
    return HEAD + FEATURES_TEXT + "\n".join(table(*features)) + "\n" + connect


def record(of: Mapping[str, Found]) -> str:
    """How many tests passed, were left out, and failed on each version."""
    tests = [("Spark", "Python", "Java", "passed", "left out", "failed")]
    for f in of.values():
        if f.passed:
            tests.append((f.spark, f.python, f.java, str(f.passed), str(f.skipped), str(f.failed)))
    return TESTS + "\n".join(table(*tests)) + "\n"


def _listed(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def columns(text: str) -> dict[str, dict[str, str]]:
    """The table of features in the page: the answer for each feature, by version."""
    lines = text.partition("## Features")[2].splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    head, _, *rows = cells
    return {v: {row[0]: row[i] for row in rows} for i, v in enumerate(head) if i}


def main() -> None:
    """Write both."""
    newest = list(VERSIONS)[-1]
    of = {v: found(FOLDER / ("newest" if v == newest else v)) for v in VERSIONS}
    DOCUMENT.write_text(document(of), encoding="utf-8")
    RECORD.write_text(record(of), encoding="utf-8")
    works = sum(a == WORKS for f in of.values() for a in f.features.values())
    print(f"{DOCUMENT.relative_to(ROOT)}: {works} answers are {WORKS!r}")


if __name__ == "__main__":
    main()
