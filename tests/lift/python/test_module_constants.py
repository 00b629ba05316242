"""Which constants of an imported module are certain: those that its source decides, in any process,
and that nothing in the module may change in place.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from presieve.errors import DeclineSignal
from presieve.lift.python.shipped import global_of

IMPORTS = """
import os
import re
import string
from re import IGNORECASE, compile as pattern
import datetime as dt
import module_of_words
from module_of_words import Rules, WORDS

CODES = {"a": "one", "b": "two"}
EU = {"DE", "FR"}
MIXED = {"x", 1, 2.5}
"""
WORDS = """
import os
WORDS = ["red", "blue", "green"]
KINDS = {"warm": ["red"], "cold": ["blue"]}
ENVIRONMENT = os.environ.get("NOT_THERE", "")
CHANGED = ["a"]
CHANGED.append("b")

class Rules:
    EU = {"DE", "FR"}
    BASE = frozenset({"AT"})
    BOTH = BASE | {"CH"}
"""

CERTAIN = (
    *("re.compile('[a-z]+')", "re.compile(r'apt|unit', re.I)", "re.compile('a', re.I | re.S)"),
    *("pattern('a', flags=IGNORECASE)", "re.compile('|'.join(WORDS))", "re.compile('x' * 300)"),
    *("'CA NY TX'.split()", "tuple('a,b'.split(','))", "' x '.strip().upper()"),
    *("'-'.join(WORDS)", "f'{WORDS[0]}-{len(WORDS)}'", "f'{1.5:.2f}'", "'a{}'.format(1)"),
    *("EU | {'AT'}", "EU - {'DE'}", "EU & EU", "EU ^ {'AT'}", "EU.union({'AT'}, ['CH'])"),
    *("{**CODES, 'c': 'three'}", "CODES | {'c': 'three'}", "dict(CODES, c='three')"),
    *("{v: k for k, v in CODES.items()}", "[w.upper() for w in WORDS if w != 'red']"),
    *("{w for w in EU}", "frozenset(w.lower() for w in EU)", "sorted(w.lower() for w in EU)"),
    *("frozenset(module_of_words.WORDS)", "frozenset(Rules.EU)", "module_of_words.Rules.BOTH"),
    *("[w for ws in module_of_words.KINDS.values() for w in ws]", "sorted(EU)", "len(EU)"),
    *("CODES['a']", "CODES.get('z', 'none')", "WORDS[1:]", "[*WORDS, 'x']", "(*WORDS,)"),
    *("dict(zip(WORDS, range(3)))", "dict.fromkeys(WORDS, 0)", "list(enumerate(WORDS))"),
    *("set(string.digits)", "string.ascii_letters + '_'", "[c for c in 'abc']", "'DE' in EU"),
    *("1 if 'a' in CODES else 2", "not WORDS or 3", "any(w == 'red' for w in EU)", "max(1, 2)"),
    *("{w: [w, w.upper()] for w in WORDS}", "[(w, {'n': 1}) for w in WORDS]", "1 < 2 < 3"),
    *("[dt.date(2024, m, 1) for m in (1, 2)]", "str(5) + chr(65)", "bool(EU)", "-(5 // 2)"),
)
UNCERTAIN = (
    *("list(EU)", "tuple(EU)", "[w for w in EU]", "{w: 1 for w in EU}", "','.join(EU)"),
    *(
        "list(enumerate(EU))",
        "dict(zip(EU, range(2)))",
        "dict.fromkeys(EU)",
        "tuple(w for w in EU)",
    ),
    *("[*EU]", "str(EU)", "f'{EU}'", "repr(WORDS)", "sorted(MIXED, key=str)", "re.compile(WORDS)"),
    *("re.compile('a', len(os.environ))", "module_of_words.ENVIRONMENT", "module_of_words.CHANGED"),
    *("module_of_words.MISSING", "Rules.MISSING", "{str(w) for w in (1, '1', id(1))}"),
    *("open('module_of_words.py')", "os.getpid()", "hash('a')"),
    *("[[w for w in EU] for _ in (1,)]", "'{0.__class__}'.format(1)", "WORDS.append('x')"),
    *("max(EU, key=len)", "min(EU)", "next(iter(EU))", "EU.pop()", "{1 for x in 5}"),
)


def load(folder: Path, name: str, text: str) -> ModuleType:
    (folder / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    sys.modules.pop(name, None)
    return importlib.import_module(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    load(tmp_path, "module_of_words", WORDS)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("module_of"):
            del sys.modules[name]


def is_certain(module: ModuleType, name: str) -> bool:
    try:
        return global_of(vars(module), name) is vars(module)[name]
    except DeclineSignal as signal:
        return signal.declined.code != "by-reference"


def test_what_the_source_computes(folder: Path) -> None:
    lines = [f"C{i} = {text}" for i, text in enumerate(CERTAIN)]
    module = load(folder, "module_of_constants", IMPORTS + "\n".join(lines))
    refused = [t for i, t in enumerate(CERTAIN) if not is_certain(module, f"C{i}")]
    assert refused == []


def test_other_processes_compute_the_same(folder: Path) -> None:
    """Texts have other hashes there, so sets have another order."""
    lines = [f"C{i} = {text}" for i, text in enumerate(CERTAIN)]
    (folder / "module_of_constants.py").write_text(IMPORTS + "\n".join(lines))
    program = (
        "import module_of_constants as m\n"
        "def show(v):\n"
        "    return sorted(map(repr, v)) if isinstance(v, (set, frozenset)) else repr(v)\n"
        f"print([show(getattr(m, f'C{{i}}')) for i in range({len(CERTAIN)})])"
    )
    printed = set()
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(folder)}
        run = subprocess.run(
            (sys.executable, "-c", program),
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        printed.add(run.stdout)
    assert len(printed) == 1


@pytest.mark.parametrize("text", UNCERTAIN)
def test_what_a_process_may_compute_differently(folder: Path, text: str) -> None:
    """Neither the value of now is certain nor another one."""
    module = load(folder, "module_of_constants", IMPORTS + "C = None")
    vars(module)["C"] = ["FR", "DE"]
    (folder / "module_of_constants.py").write_text(IMPORTS + f"C = {text}")
    assert not is_certain(module, "C")
    try:
        value = eval(text, vars(module))
    except Exception:
        return
    vars(module)["C"] = value
    assert not is_certain(module, "C")


@pytest.mark.parametrize("text", ["[x for x in range(10 ** 9)]", "'a' * 10 ** 9", "2 ** 10 ** 9"])
def test_what_is_too_large_to_compute(folder: Path, text: str) -> None:
    module = load(folder, "module_of_constants", "C = None")
    (folder / "module_of_constants.py").write_text(f"C = {text}")
    assert not is_certain(module, "C")


def test_patterns_with_other_flags_or_texts(folder: Path) -> None:
    import re

    module = load(folder, "module_of_patterns", "import re\nP = re.compile('x' * 300, re.I)\n")
    assert is_certain(module, "P")
    for other in (re.compile("x" * 300), re.compile("x" * 299 + "y", re.I)):
        vars(module)["P"] = other
        assert not is_certain(module, "P")


KEYWORDS = 'KEYWORDS = {"fuel": ["shell", "exxon"], "food": ["aldi"]}\n'
READ_ONLY = (
    "def f(s):\n    for kind, words in KEYWORDS.items():\n        if any(w in s for w in words):\n"
    "            return kind\n",
    "def f(s):\n    words = KEYWORDS.get(s, [])\n    return len(words) + ('a' in words)\n",
    "def f(s):\n    return s in KEYWORDS['fuel'] or sorted(KEYWORDS['food'])[0] == s\n",
    "def f(s):\n    return [w.upper() for words in KEYWORDS.values() for w in words]\n",
    "def f(s):\n    for i, (kind, words) in enumerate(KEYWORDS.items()):\n"
    "        if s in words:\n            return kind, i\n",
    "def f(s):\n    return s.isin(KEYWORDS['fuel'])\n",
    "def f(s):\n    return s[KEYWORDS['fuel']].rename(columns=dict(KEYWORDS['food']))\n",
    "import pandas as pd\ndef f(s):\n    return pd.DataFrame(s, columns=KEYWORDS['fuel'])\n",
    "def f(s):\n    s[KEYWORDS['fuel']] = s[KEYWORDS['fuel']].sort_values(KEYWORDS['food'])\n",
    "ALL = {**KEYWORDS, 'none': []}['fuel'][0]\nSOME = [*KEYWORDS, *KEYWORDS['food']]\n",
    "import re\nP = re.compile('|'.join(KEYWORDS['fuel']))\n",
    "P = {w: k for k, words in KEYWORDS.items() for w in words}\n",
    "def f(s):\n    return next((k for k, words in KEYWORDS.items() if s in words), None)\n",
    "def f(s):\n    kinds = list(KEYWORDS)\n    kinds.append(s)\n    return kinds\n",
)
CHANGING = (
    "def f(s):\n    for kind, words in KEYWORDS.items():\n        words.append(s)\n",
    "def f(s):\n    words = KEYWORDS.get(s, [])\n    words += ['a']\n",
    "def f(s):\n    KEYWORDS['fuel'].append(s)\n",
    "def f(s):\n    KEYWORDS['fuel'][0] = s\n",
    "def f(s):\n    del KEYWORDS['fuel'][0]\n",
    "def f(s):\n    return KEYWORDS['fuel']\n",
    "def f(s):\n    return [words for words in KEYWORDS.values()]\n",
    "def f(s):\n    g(KEYWORDS['fuel'])\n",
    "def f(s):\n    x = KEYWORDS\n    y = x['fuel']\n    y.append(s)\n",
    "def f(s):\n    for i, (kind, words) in enumerate(KEYWORDS.items()):\n        words.sort()\n",
    "def f(s):\n    words = list(KEYWORDS.values())\n    words[0].append(s)\n",
    "def f(s):\n    (words, *rest) = KEYWORDS.values()\n    words.append(s)\n",
    "def f(s):\n    for words in reversed(list(KEYWORDS.values())):\n        words.clear()\n",
    "def f(s):\n    if (words := KEYWORDS['fuel']):\n        words.append(s)\n",
    "def f(s):\n    for KEYWORDS['fuel'][0] in s:\n        pass\n",
    "def f(s):\n    with s as KEYWORDS['fuel']:\n        pass\n",
    "def f(s):\n    (KEYWORDS['fuel'] if s else KEYWORDS['food']).append(s)\n",
    "def f(s, words=KEYWORDS['fuel']):\n    words.append(s)\n",
    "def f(s):\n    match KEYWORDS['fuel']:\n        case words:\n            words.append(s)\n",
    "def f(s):\n    yield from KEYWORDS.values()\n",
    "def f(s):\n    h = KEYWORDS.get\n    h('fuel').append(s)\n",
    "def f(s):\n    KEYWORDS.update(s)\n",
    "ROWS = [[1], [2]]\ndef f(s):\n    rows = ROWS\n    rows = list(rows)\n",
    "def f(s):\n    return len(KEYWORDS)\ndef len(x):\n    return x.clear()\n",
    "def f(s):\n    KEYWORDS['fuel'] += ['a']\n",
    "def f(s):\n    s.isin = KEYWORDS['fuel']\n",
    "def f(s):\n    s.map(g=KEYWORDS)\n",
    "def f(s):\n    s.loop(words=KEYWORDS['fuel'])\n",
    "def f(s):\n    s[KEYWORDS]\n",
    "def f(s):\n    return s.map(KEYWORDS['fuel'])\ndef map(x):\n    x.clear()\n",
    "PAIRS = [('a', ['b'])]\ndef f(s):\n    for a, b in PAIRS:\n        b.append(s)\n",
    "DEEP = {'a': {'b': [1]}}\ndef f(s):\n    return DEEP['a']['b']\n",
)


@pytest.mark.parametrize("text", READ_ONLY)
def test_containers_of_lists_that_are_only_read(folder: Path, text: str) -> None:
    assert is_certain(load(folder, "module_of_lists", KEYWORDS + text), "KEYWORDS")


@pytest.mark.parametrize("text", CHANGING)
def test_containers_whose_lists_may_be_changed(folder: Path, text: str) -> None:
    module = load(folder, "module_of_lists", KEYWORDS + text)
    name = next((n for n in ("PAIRS", "DEEP", "ROWS") if n in vars(module)), "KEYWORDS")
    assert not is_certain(module, name)


RECORDS = """
from dataclasses import dataclass, field
from typing import NamedTuple

class Band(NamedTuple):
    name: str
    low: float = 0.0

@dataclass(frozen=True)
class Rule:
    name: str
    words: tuple = ()

@dataclass
class Open:
    name: str

@dataclass(frozen=True)
class Holder:
    names: list = field(default_factory=list)

"""


@pytest.mark.parametrize(
    "text",
    [
        "LISTED = [Band('a'), Band('b', low=3.0)]\n",
        "LISTED = (Rule('a', ('x',)), Rule('b'))\n",
        "LISTED = {'a': Band('a'), 'b': Rule('b')}\n",
        "LISTED = [Band('a')]\ndef f(x):\n    for b in LISTED:\n        if b.low <= x:\n"
        "            return b.name\n",
        "LISTED = {'a': Band('a')}\ndef f(x):\n    return LISTED['a'].low, LISTED.get(x)\n",
    ],
)
def test_records_in_containers(folder: Path, text: str) -> None:
    assert is_certain(load(folder, "module_of_records", RECORDS + text), "LISTED")


@pytest.mark.parametrize(
    "text",
    [
        "LISTED = [Band('a')]\nLISTED.append(Band('b'))\n",
        "LISTED = [Band('a')]\ndef f(x):\n    LISTED.append(x)\n",
        "LISTED = {'a': Band('a')}\ndef f(x):\n    LISTED['b'] = x\n",
        "LISTED = [Open('a')]\n",
        "LISTED = [Holder()]\n",
        "import os\nLISTED = [Band(os.environ.get('NOT_THERE', 'a'))]\n",
        "LISTED = [Band(n) for n in ('a', 'b')]\n",
        "LISTED = [Band('a'), *[Band('b')]]\n",
        "LISTED = [Band('a'), 1]\n",
        "def made():\n    return Band('a')\nLISTED = [made()]\n",
    ],
)
def test_records_in_containers_that_another_import_may_make_otherwise(
    folder: Path, text: str
) -> None:
    assert not is_certain(load(folder, "module_of_records", RECORDS + text), "LISTED")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("LISTED = [Band('a')]\n", "LISTED[0] = Band('b')"),
        ("LISTED = [Band('a')]\n", "LISTED.append(Band('b'))"),
        ("LISTED = [Band('a')]\n", "LISTED[0] = Rule('a')"),
        ("LISTED = {'a': Band('a'), 'b': Band('b')}\n", "LISTED['a'] = LISTED.pop('a')"),
        ("LISTED = [Rule('a')]\n", "object.__setattr__(LISTED[0], 'name', 'b')"),
    ],
)
def test_records_that_the_driver_has_changed(folder: Path, text: str, other: str) -> None:
    module = load(folder, "module_of_records", RECORDS + text)
    exec(other, vars(module))
    assert not is_certain(module, "LISTED")


DECORATORS = """
import functools, os
from functools import wraps

def plain(fn):
    @functools.wraps(fn)
    def inner(*args):
        return fn(*args)
    return inner

def or_else(default=None):
    \"\"\"With an argument.\"\"\"
    def decorate(fn):
        @wraps(fn)
        def inner(*args):
            return default if None in args else fn(*args)
        return inner
    return decorate

def sometimes(fn):
    if os.environ.get("PLAIN"):
        return fn
    def inner(x):
        return None
    return inner

def marked(fn):
    def inner(x):
        return fn(x)
    inner.mark = 1
    return inner

def own_wraps(fn):
    return lambda inner: fn

def hidden(fn):
    @own_wraps(fn)
    def inner(x):
        return None
    return inner

def of_two(fn, other=plain):
    def inner(x):
        return other(fn)(x)
    return inner

def given(fn):
    return fn
"""


@pytest.mark.parametrize(
    "decorator", ["@plain", "@or_else()", "@or_else(1)", "@or_else(default='a')"]
)
def test_decorators_that_define_a_function(folder: Path, decorator: str) -> None:
    module = load(
        folder, "module_of_decorators", f"{DECORATORS}{decorator}\ndef f(x):\n    return x"
    )
    assert is_certain(module, "f")
    (default,) = [c for c in vars(module)["f"].__closure__ if not callable(c.cell_contents)] or [
        None
    ]
    if default is not None:
        default.cell_contents = 2
        assert not is_certain(module, "f")
    vars(module)["f"] = vars(module)["plain"]
    assert not is_certain(module, "f")


@pytest.mark.parametrize(
    "decorator",
    [
        "@sometimes",
        "@marked",
        "@hidden",
        "@of_two",
        "@given",
        "@or_else([])",
        "@or_else(os.getpid())",
    ],
)
def test_decorators_that_may_give_another_function(folder: Path, decorator: str) -> None:
    module = load(
        folder, "module_of_decorators", f"{DECORATORS}{decorator}\ndef f(x):\n    return x"
    )
    assert not is_certain(module, "f")
