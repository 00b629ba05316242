"""A declined place is a line and a column of the user's file, in characters, counted from 1."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support.lifting import declined, request

from presieve.errors import Span

HEAD = "import functools\nfrom presieve_helper import scaled\n\n\ndef same(f):\n    return f\n\n\n"

LOOP = "def fold(v):\n    n = 0\n    for x in v:\n{body}    return n\n"

CLASS = (
    "class fold:\n    def zero(self):\n        return 0\n\n    def reduce(self, acc, row):\n{body}"
)

CASES = {
    "of ASCII": (LOOP.format(body="        n = n + unknown(x)\n"), "unknown(x)"),
    "after umlauts": (LOOP.format(body='        w = "äöü"; n = n + unknown(x)\n'), "unknown(x)"),
    "after letters beyond 16 bits": (
        LOOP.format(body='        n = n if "😀😀" == x else unknown(x)\n'),
        "unknown(x)",
    ),
    "after a name of other letters": (
        LOOP.format(body="        größe = x; n = größe + unknown(größe)\n"),
        "unknown(",
    ),
    "in several lines": (
        LOOP.format(
            body='        n = (n  # größer\n             + 1 + ("é" == x) + unknown(\n x))\n'
        ),
        "unknown(",
    ),
    "after tabs": (
        LOOP.replace("    ", "\t").format(body="\t\tn = n + unknown(x)\n"),
        "unknown(x)",
    ),
    "in a method": (
        CLASS.format(body='        ü = "é"; return acc + unknown(row["v"])\n'),
        'unknown(row["v"])',
    ),
    "in a method, after tabs": (
        CLASS.replace("    ", "\t").format(body="\t\treturn acc + unknown(row)\n"),
        "unknown(row)",
    ),
    "under decorators": (
        f"@same\n@same\n{LOOP.format(body='        n = n + unknown(x)')}".replace("(x) ", "(x)\n "),
        "unknown(x)",
    ),
    "in a lambda": ('fold = lambda v: ("é", unknown(v))[1]\n', "unknown(v)"),
    "in a second lambda of a line": (
        'other, fold = (lambda v: "ö", lambda v: ("é", unknown(v))[1])\n',
        "unknown(v)",
    ),
    "in a function of the same file": (
        'def inner(é):\n    return é + unknown("ü", é)\n\n\n'
        + LOOP.format(body="        n += inner(x)\n"),
        'unknown("ü", é)',
    ),
    "in a comprehension": (
        LOOP.format(body='        n += sum(unknown(y) for y in ("ä", "ö"))\n'),
        "unknown(y)",
    ),
    "of a statement": (
        LOOP.format(body='        if x == "é": n = 1; import os\n'),
        "import os",
    ),
    "of a name that is written outside": (
        LOOP.format(body='        if x == "é": w = "ü"; global total\n        total = 1\n'),
        "global total",
    ),
    "of a decorated function as a whole": (
        "@same\ndef fold(first, second, third):\n    return first\n",
        "def fold",
    ),
}


def _module(folder: Path, name: str, text: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _expected(module: ModuleType, snippet: str) -> Span:
    assert module.__file__ is not None
    lines = Path(module.__file__).read_text(encoding="utf-8").splitlines()
    found = [(i, x.index(snippet)) for i, x in enumerate(lines, 1) if snippet in x]
    assert len(found) == 1
    return Span(module.__file__, found[0][0], found[0][1] + 1)


@pytest.fixture
def helper(tmp_path: Path) -> Any:
    text = 'def scaled(größe):\n    é = "ü"; return é, open(größe)\n'
    yield _module(tmp_path, "presieve_helper", text)
    del sys.modules["presieve_helper"]


@pytest.mark.parametrize("case", CASES)
def test_the_place_of(case: str, tmp_path: Path, helper: ModuleType) -> None:
    text, snippet = CASES[case]
    module = _module(tmp_path, "presieve_positions", HEAD + text)
    found = declined(module.fold, request("v string", "o bigint"))
    assert found.span == _expected(module, snippet), str(found)


def test_the_place_in_a_helper_of_another_file(tmp_path: Path, helper: ModuleType) -> None:
    text = HEAD + LOOP.format(body="        n = scaled(x)\n")
    module = _module(tmp_path, "presieve_positions", text)
    found = declined(module.fold, request("v string", "o bigint"))
    assert (found.code, found.span) == ("impure-io", _expected(helper, "open(größe)"))


@pytest.mark.parametrize(
    ("text", "snippet"),
    [
        ("class fold:\n    zero = 0\n    reduce = functools.partial(same)\n", "class fold"),
        ("@same\nclass fold:\n    zero = 0\n    reduce = 1\n", "class fold"),
        ("class Fold:\n    zero = 0\n    reduce = 1\n\n\nfold = Fold()\n", "class Fold"),
        ("@functools.lru_cache\ndef fold(v):\n    return 1\n", "def fold"),
    ],
)
def test_the_place_of_what_is_no_function(
    text: str, snippet: str, tmp_path: Path, helper: ModuleType
) -> None:
    module = _module(tmp_path, "presieve_positions", HEAD + text)
    found = declined(module.fold, request("v string", "o bigint"))
    assert found.code == "not-a-function"
    assert found.span == _expected(module, snippet), str(found)
