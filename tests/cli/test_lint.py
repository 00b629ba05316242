"""``presieve lint``: files are read and not run, and each finding names what stands in the way."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from presieve.cli.app import main
from presieve.cli.lint import NOTE
from presieve.cli.why import declines
from presieve.lint.findings import LintFinding, lint_file

HEAD = """\
import time
import datetime as dt
import random
import functools
from dataclasses import dataclass
import numpy as np
import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf, udf, udtf
from pyspark.sql.types import *
"""


PAGES = {None, *(entry.code for entry in declines())}
"""The codes that ``presieve why`` explains."""


def lint(tmp_path: Path, text: str, name: str = "job.py") -> list[LintFinding]:
    """The findings about a file with the usual imports."""
    path = tmp_path / name
    path.write_text(HEAD + textwrap.dedent(text))
    findings = lint_file(path)
    assert {f.code for f in findings} <= PAGES
    return findings


def only(tmp_path: Path, text: str) -> LintFinding:
    (finding,) = lint(tmp_path, text)
    return finding


def codes(findings: list[LintFinding]) -> list[str | None]:
    return [f.code for f in findings]


def line_of(finding: LintFinding) -> str:
    return Path(finding.file).read_text().splitlines()[finding.line - 1].strip()


CLEAN = """
@udf("string")
def grade(score):
    if score is None:
        return None
    return "high" if score > 90 else "low"
"""
CLOCK = """
@udf("double")
def age(born):
    return time.time() - born
"""


def test_a_clean_function(tmp_path: Path) -> None:
    finding = only(tmp_path, CLEAN)
    assert (finding.code, finding.severity, finding.function) == (None, "information", "grade")
    assert line_of(finding) == "def grade(score):"
    assert "can be read if its columns are like score double" in finding.message


def test_an_obstacle_has_a_code_and_its_line(tmp_path: Path) -> None:
    finding = only(tmp_path, CLOCK)
    assert (finding.code, finding.severity) == ("impure-clock", "obstacle")
    assert line_of(finding) == "return time.time() - born"


REGISTERED = {
    "a decorator": '@udf("double")\ndef f(x):\n    return time.time() + x',
    "a decorator of the module": """
        @F.udf(returnType=DoubleType())
        def f(x):
            return time.time() + x
    """,
    "a bare decorator": "@udf\ndef f(x):\n    return str(time.time() + x)",
    "a decorator with a type by name": (
        "TYPE = DoubleType()\n@udf(TYPE)\ndef f(x):\n    return time.time() + x"
    ),
    "a call": "def f(x):\n    return time.time() + x\ng = F.udf(f, DoubleType())",
    "a lambda": "f = udf(lambda x: time.time() + x, DoubleType())",
    "a lambda with a name": "f = lambda x: time.time() + x\ng = udf(f, 'double')",
    "SQL": "def f(x):\n    return time.time() + x\nspark.udf.register('f', f, 'double')",
    "a pandas UDF": """
        @pandas_udf("double")
        def f(x: pd.Series) -> pd.Series:
            return x + time.time()
    """,
    "an aggregate": """
        @pandas_udf("double")
        def f(x: pd.Series) -> float:
            return x.sum() + time.time()
    """,
    "a group": """
        def f(pdf):
            return pd.DataFrame({"k": [pdf["k"].iloc[0]], "t": [time.time()]})
        df.groupBy("k").applyInPandas(f, "k string, t double")
    """,
    "groups with a name": """
        SCHEMA = StructType([StructField("k", StringType()), StructField("t", DoubleType(), False)])
        def f(key, pdf):
            return pd.DataFrame({"k": [key[0]], "t": [time.time()]})
        groups = df.groupBy(F.col("k"))
        groups.applyInPandas(func=f, schema=SCHEMA)
    """,
    "two groups": """
        def f(left, right):
            left["t"] = time.time()
            return left
        df.groupBy("k").cogroup(other.groupBy("k")).applyInPandas(f, "k string, t double")
    """,
    "batches": """
        def f(batches):
            for pdf in batches:
                pdf["t"] = time.time()
                yield pdf
        df.mapInPandas(f, "k string, t double")
    """,
    "Arrow": """
        def f(table):
            return table.filter(table["t"] > time.time())
        df.groupBy("k").applyInArrow(f, "k string, t double")
    """,
    "inside of a function": """
        def main(spark):
            from pyspark.sql.functions import udf as make
            @make("double")
            def f(x):
                return time.time() + x
    """,
    "inside of a class": """
        class Job:
            @staticmethod
            def f(x):
                return time.time() + x

            def run(self, df):
                return df.select(udf(Job.f, "double")("x"))
    """,
}


@pytest.mark.parametrize("text", REGISTERED.values(), ids=list(REGISTERED))
def test_each_way_to_spark(text: str, tmp_path: Path) -> None:
    findings = lint(tmp_path, text)
    clocks = [f for f in findings if f.code in ("impure-clock", "unsupported-operation")]
    assert clocks, findings
    assert all("time.time()" in line_of(f) for f in clocks)


REFUSED = {
    "streaming": "df.groupBy('k').applyInPandasWithState(f, 'k string', 's int', 'append', 'None')",
    "nondeterministic-udf": "udf(f, 'double').asNondeterministic()",
    "unsupported-form": "@F.arrow_udf('double')\ndef g(x: 'pa.Array') -> 'pa.Array':\n    return x",
    "eval-type": "@F.arrow_udtf(returnType='x int')\nclass T:\n    def eval(self, t):\n        ...",
    "operator": "df.groupBy('k').cogroup(df.groupBy('k')).applyInPandas(h, 'k string')",
    "not-a-function": "udf(functools.partial(f, 1), 'double')",
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_left_alone_whatever_it_does(code: str, tmp_path: Path) -> None:
    functions = "def f(x):\n    return x\ndef h(left, right):\n    return left\n"
    assert codes(lint(tmp_path, functions + REFUSED[code])) == [code]


def test_a_function_of_an_rdd_is_in_no_plan(tmp_path: Path) -> None:
    text = (
        "rdd.foldByKey(0.0, lambda a, b: a + b)\ndf.rdd.map(lambda row: row.x)\nlist(map(len, []))"
    )
    findings = lint(tmp_path, text)
    assert codes(findings) == [None, None]
    assert all("an RDD is in no plan" in f.message for f in findings)


def test_nothing_of_the_file_is_run(tmp_path: Path) -> None:
    """Its top level, its classes, defaults and decorators would all leave a file or fail."""
    trace = tmp_path / "trace"
    text = f"""
        from pathlib import Path
        trace = Path({str(trace)!r})
        trace.write_text("top level")

        def mark(*_):
            trace.write_text("called")
            raise SystemExit(3)

        class Settings:
            limit = mark()

        def decorated(f):
            mark()
            return f

        @udf("double")
        @decorated
        def f(x, limit=mark()):
            return x

        @udf("double")
        def g(x):
            return x + Settings.limit

        raise SystemExit(mark())
    """
    assert codes(lint(tmp_path, text + CLEAN.replace("\n", "\n        "))) == [None, None, None]
    assert not trace.exists()


def test_neither_spark_nor_its_modules_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "job.py"
    path.write_text(HEAD + CLEAN)
    program = (
        "import sys; from presieve.cli.app import main; code = main(['lint', sys.argv[1]]);"
        "assert not {'pyspark', 'py4j', 'z3'} & set(sys.modules); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == NOTE


def test_a_file_of_the_working_folder_is_not_run_for_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sklearn.py").write_text("raise SystemExit('it was run')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "import sklearn\n@udf('double')\ndef f(x):\n    return sklearn.score(x)"
    assert codes(lint(tmp_path, text))


def test_constants_of_the_module_are_read(tmp_path: Path) -> None:
    text = """
        LIMIT, NAMES = 90 + 1, ("a", "b")

        @dataclass(frozen=True)
        class Settings:
            low: float = 0.5

        @udf("boolean")
        def f(name, score):
            return name in NAMES and score > LIMIT
    """
    assert "can be read" in only(tmp_path, text).message


RUN_TIME = {
    "a parameter": """
        def build(limit):
            @udf("boolean")
            def f(x):
                return x > limit
            return f
    """,
    "an argument of the program": """
        import sys
        LIMIT = float(sys.argv[1])
        @udf("boolean")
        def f(x):
            return x > LIMIT
    """,
    "two bindings": """
        LIMIT = 1
        if LIMIT:
            LIMIT = 2
        @udf("boolean")
        def f(x):
            return x > LIMIT
    """,
    "a module that is not a library": """
        import some_module_of_a_company as limits
        @udf("boolean")
        def f(x):
            return x > limits.LIMIT
    """,
}


@pytest.mark.parametrize("text", RUN_TIME.values(), ids=list(RUN_TIME))
def test_a_value_of_a_run_is_no_obstacle(text: str, tmp_path: Path) -> None:
    finding = only(tmp_path, text)
    assert finding.code is None
    assert "only a run tells" in finding.message


def test_a_function_that_is_made_by_another(tmp_path: Path) -> None:
    text = """
        def above(limit):
            def f(x):
                return x is not None and x > limit
            return f

        high = udf(above(90.0), "boolean")
    """
    assert "can be read" in only(tmp_path, text).message


def test_modules_of_the_project_are_read(tmp_path: Path) -> None:
    package = tmp_path / "lib"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "limits.py").write_text("raise ImportError\nLIMIT = 90\n")
    (package / "udfs.py").write_text(
        "import time\nfrom .limits import LIMIT\ndef f(x):\n    return x > LIMIT\n"
        "def g(x):\n    return time.time() + x\n"
    )
    text = """
        from lib import udfs
        from lib.udfs import f
        udf(f, "boolean")
        udf(udfs.g, "double")
    """
    assert codes(lint(tmp_path, text)) == [None, "impure-clock"]


def test_a_decorator_of_the_project(tmp_path: Path) -> None:
    text = """
        def same(function):
            return function

        def logged(function):
            @functools.wraps(function)
            def inner(*args):
                return function(*args)
            return inner

        @udf("double")
        @same
        def f(x):
            return x + 1.0

        @udf("double")
        @logged
        def g(x):
            return x + 1.0

        @udf("double")
        @functools.lru_cache
        def h(x):
            return x + 1.0
    """
    findings = {f.function: f for f in lint(tmp_path, text)}
    assert findings["f"].code is None
    assert "can be read" in findings["f"].message
    assert findings["g"].code is None
    assert "can be read if its columns are like x double" in findings["g"].message
    assert findings["h"].code == "not-a-function"


def test_methods(tmp_path: Path) -> None:
    text = """
        class Cleaner:
            def __init__(self, limit):
                self.limit = limit

            def label(self, x):
                return "high" if x > self.limit else "low"

            def apply(self, df):
                return df.select(udf(self.label)("x"))

        cleaner = Cleaner(100.0)
        other = udf(cleaner.label)
    """
    findings = lint(tmp_path, text)
    assert len(findings) == 2
    why = "only a run tells it: self.limit belongs to an object of Cleaner"
    assert all(f.code is None and why in f.message for f in findings)
    findings = lint(tmp_path, text.replace("x > self.limit", "x > 3"))
    assert len(findings) == 2
    assert all("can be read if its columns are like x double" in f.message for f in findings)


def test_what_remains_possible_is_said(tmp_path: Path) -> None:
    text = """
        def f(pdf):
            pdf["rank"] = pdf["v"].rank()
            return pdf[["k", "v", "rank"]]
        df.groupBy("k").applyInPandas(f, "k string, v double, rank double")
    """
    finding = only(tmp_path, text)
    assert finding.code == "not-a-fold"
    assert "filters on k may still move below it" in finding.message
    assert "of its table it reads only k, v" in finding.message


def test_other_effects_are_said_besides(tmp_path: Path) -> None:
    text = """
        def f(pdf):
            pdf["rank"] = pdf["v"].rank()
            pdf["noise"] = np.random.rand()
            return pdf
        df.groupBy("k").applyInPandas(f, "k string, v double, rank double, noise double")
    """
    findings = lint(tmp_path, text)
    assert codes(findings) == ["not-a-fold", "impure-random"]
    assert [line_of(f)[:11] for f in findings] == ['pdf["rank"]', 'pdf["noise"']


def test_types_are_said_where_the_answer_depends_on_them(tmp_path: Path) -> None:
    finding = only(tmp_path, "@udf('date')\ndef f(age):\n    return 65 - age")
    assert finding.code == "return-type"
    assert finding.message.endswith("(with age double)")


def test_an_iterator_of_two_columns(tmp_path: Path) -> None:
    text = """
        from typing import Iterator, Tuple

        @pandas_udf("double")
        def f(batches: Iterator[Tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
            for x, y in batches:
                yield x - y
    """
    finding = only(tmp_path, text)
    assert "unpacking" not in finding.message, finding


def test_a_decorator_of_that_name_is_not_sparks(tmp_path: Path) -> None:
    own = "def udf(f):\n    return f\n\n\n@udf\ndef g(x):\n    return open(x)\n"
    assert not lint(tmp_path, own)
    path = tmp_path / "plain.py"
    path.write_text(own)
    assert not lint_file(path)


@pytest.mark.parametrize("text", ["def f(:\n", "x = 1\n  y = 2\n", "a\0b", "# coding: nothing\n"])
def test_a_file_that_is_not_python_is_a_finding(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    assert codes(lint_file(path)) == ["no-source"]
    assert main(["lint", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"{path}:")


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A folder with a clean job, one with an obstacle, and files that are passed over."""
    folder = tmp_path / "jobs"
    for name, text in (
        ("clean.py", CLEAN),
        ("inner/clock.py", CLOCK),
        (".venv/clock.py", CLOCK),
        ("__pycache__/clock.py", CLOCK),
        ("notes.txt", CLOCK),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(HEAD + text)
    return folder


LINE = re.compile(r"(.+?):(\d+):(\d+): (info|[a-z-]+) (.+)")


def test_text(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(jobs)]) == 1
    *lines, counts, last = capsys.readouterr().out.splitlines()
    matches = [LINE.fullmatch(line) for line in lines]
    assert [m and (Path(m[1]).name, m[4]) for m in matches] == [
        ("clean.py", "info"),
        ("clock.py", "impure-clock"),
    ]
    assert counts.startswith("2 files: 2 findings, 1 obstacle; `presieve why CODE`")
    assert last == NOTE


def test_information_alone_exits_with_0(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(jobs / "clean.py"), str(jobs / "clean.py")]) == 0
    assert "1 file: 1 finding, 0 obstacles\n" in capsys.readouterr().out


def test_json(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--format", "json", str(jobs)]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["files"], answer["obstacles"], answer["note"]) == (2, 1, NOTE)
    clean, clock = answer["findings"]
    assert (clean["code"], clean["severity"]) == (None, "information")
    assert (clock["code"], clock["severity"], clock["function"]) == (
        "impure-clock",
        "obstacle",
        "age",
    )
    assert Path(clock["file"]).read_text().splitlines()[clock["line"] - 1].endswith("time() - born")


def test_github(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (jobs / "a,b:c.py").write_text(HEAD + CLOCK)
    assert main(["lint", "--format", "github", str(jobs)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::warning", "::notice", "::warning"]
    file = str(jobs / "a%2Cb%3Ac.py")
    assert lines[0].startswith(f"::warning file={file},line=14,col=")
    assert ",title=presieve impure-clock::age (@udf): " in lines[0]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "Missing argument"),
        (["nowhere.py"], "no such file"),
        (["--format", "x", "a.py"], "'x'"),
    ],
)
def test_misuse(args: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", *args]) == 2
    assert text in capsys.readouterr().err


ROOT = Path(__file__).parents[2]


def test_the_examples_of_the_project() -> None:
    findings = [f for p in sorted((ROOT / "examples").rglob("*.py")) for f in lint_file(p)]
    obstacles = {f.function: f.code for f in findings if f.code}
    assert obstacles == {"split_sessions": "not-a-fold"}
    assert len(findings) > 12


SEVERAL = """
@udf("double")
def score(x):
    y = np.frobnicate(x)
    if x > np.e_squared:
        os.system(y)
    return x + time.time()
"""


def test_all_obstacles_of_a_function_are_told(tmp_path: Path) -> None:
    findings = lint(tmp_path, SEVERAL)
    assert [(f.code, line_of(f)) for f in findings] == [
        ("unknown-call", "y = np.frobnicate(x)"),
        ("unknown-name", "if x > np.e_squared:"),
        ("impure-io", "os.system(y)"),
        ("impure-clock", "return x + time.time()"),
    ]


def test_what_follows_from_an_obstacle_is_not_told(tmp_path: Path) -> None:
    text = SEVERAL.replace("x > np.e_squared", "np.e_squared").replace("time.time()", "1.0")
    findings = lint(tmp_path, text.replace("y = np.frobnicate(x)", "y = x"))
    assert [(f.code, line_of(f)) for f in findings] == [("unknown-name", "if np.e_squared:")]


def test_what_only_a_run_tells_stands_behind_an_obstacle_as_information(tmp_path: Path) -> None:
    text = SEVERAL.replace("np.e_squared", "limit").replace("@udf", "limit = input()\n@udf")
    findings = lint(tmp_path, text)
    assert [f.severity for f in findings if "limit" in line_of(f)] == ["information"]
    assert codes(findings) == ["unknown-call", None, "impure-io", "impure-clock"]
