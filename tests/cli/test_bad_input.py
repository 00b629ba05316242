"""Bad input of every kind: one clear line that says what, where and what to do, and exit code 2.

``$`` stands for the folder with the files of ``FILES``, and J for a file of functions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import ledger

from presieve.cli.app import main
from presieve.cli.load import load_object
from presieve.errors import UsageError

JOBS = Path(__file__).with_name("jobs.py")

FILES: dict[str, bytes] = {
    "syntax.py": b"x = 1\ndef f(:\n",
    "latin.py": b"x = '\xe9'\n",
    "nul.py": b"x = 1\x00\n",
    "raises.py": b"x = 1\nraise RuntimeError('no cluster')\n",
    "exits.py": b"import sys\nsys.exit(3)\n",
    "empty.py": b"",
    "number.py": b"f = 3\n",
    "text.txt": b"f = 3\n",
    "truncated.json": b'{"presieve": 1, "kin',
    "list.json": b"[]",
    "text.json": b'"x"',
    "later.json": b'{"presieve": 3}',
    "words.json": b'{"presieve": "one"}',
    "parts.json": b'{"presieve": 1}',
    "huge.json": b'{"presieve": ' + b"9" * 6000 + b"}",
    "large.json": b'{"presieve": 1e999}',
    "deep.json": b"[" * 100_000,
    "empty.json": b"",
    "null.json": b"null",
    "binary.json": bytes(range(256)),
    "problem.json": json.dumps(
        {
            "presieve": 1,
            "kind": "exact",
            "strength": "universe",
            "witnesses": [],
            "problem": ["x"],
            "prefilter": "y",
            "residual": "z",
            "invariant": [],
        }
    ).encode(),
}

SYNTH = ["synth", "J:CountErrors", "--returns", "n bigint"]
SCHEMA = ["--schema", "error boolean NOT NULL, x bigint"]
WHERE = ["--where", "n >= 1"]
FOUND = [*SYNTH, *SCHEMA, *WHERE]
VERIFY = ["verify", *FOUND[1:]]


def of(target: str) -> list[str]:
    """The search on another target."""
    return ["synth", target, "--returns", "n bigint", *SCHEMA, *WHERE]


def where(text: str) -> list[str]:
    return [*SYNTH, *SCHEMA, "--where", text]


def schema(text: str) -> list[str]:
    return [*SYNTH, "--schema", text, *WHERE]


CASES: list[tuple[list[str], str]] = [
    # a target
    (of("jobs.py"), "jobs.py: write FILE.py:NAME"),
    (of(":f"), ":f: write FILE.py:NAME"),
    (of("$/nowhere.py:f"), "$/nowhere.py: there is no such file"),
    (of("$/sintax.py:f"), "$/sintax.py: there is no such file; did you mean syntax.py?"),
    (of("$:f"), "$: that is a folder; name a Python file"),
    (of("$/syntax.py:f"), "$/syntax.py:2: invalid syntax; it must be valid Python in UTF-8"),
    (of("$/latin.py:f"), "$/latin.py:1: (unicode error)"),
    (of("$/nul.py:f"), "$/nul.py: source code string cannot contain null bytes; it must"),
    (of("$/raises.py:f"), "$/raises.py:2: RuntimeError: no cluster while the file is loaded; put"),
    (of("$/exits.py:f"), "$/exits.py:2: the file ends the program while it is loaded; put what"),
    (of("$/empty.py:f"), "$/empty.py: there is no 'f' in it"),
    (of("$/number.py:f"), "a fold is a function, or a class with zero and reduce, not 3"),
    (of("$/text.txt:f"), "$/text.txt: not a Python file; its name must end in .py"),
    (of("J:CountError"), "there is no 'CountError' in it; did you mean CountErrors"),
    (of("J:toptwo"), "there is no 'toptwo' in it; did you mean TopTwo?"),
    (of("J:TopTwo.reduec"), "there is no 'TopTwo.reduec' in it; did you mean reduce?"),
    (of("J:wholly_other"), "there is no 'wholly_other' in it; it has TopTwo, CountErrors"),
    # a schema
    (schema(""), "schema is empty; write a string such as 'team string"),
    (schema("error"), "a type should stand where the end stands"),
    (schema("error boolen"), "should stand where 'boolen' stands; did you mean boolean?"),
    (schema("error boolean NOT"), "NULL, after NOT, should stand where the end stands"),
    (schema("error boolean, error int"), "has two columns called 'error'"),
    (schema("error array<"), "a type should stand where the end stands"),
    (schema("a b c d"), "a type should stand where 'b' stands"),
    ([*FOUND, "--returns", ""], "returns is empty; write a string such as 'best double'"),
    ([*FOUND, "--returns", "n"], "a type should stand where the end stands"),
    # SQL
    (where(""), "where is empty; write a string such as 'score > 90'"),
    (where("  "), "where is empty"),
    (where("n >="), "where 'n >=': a column or a literal is expected at the end"),
    (where("n > 1;"), "expected here, not ';' (line 1, column 6)"),
    (where("n > 1 extra"), "not 'extra'"),
    (where("'abc"), "cannot read"),
    (where("nn > 1"), "there is no column nn; the columns are: n; did you mean n?"),
    (where("other > 1"), "there is no column other; the columns are: n"),
    ([*VERIFY, "--prefilter", ""], "prefilter is empty"),
    ([*VERIFY, "--prefilter", "errr"], "the columns are: error, x; did you mean error?"),
    ([*VERIFY, "--prefilter", "error >"], "prefilter 'error >': a column or a literal"),
    ([*VERIFY, "--prefilter", "n > 1"], "prefilter 'n > 1': there is no column n"),
    ([*VERIFY, "--prefilter", "error", "--residual", ""], "residual is empty"),
    ([*VERIFY, "--prefilter", "error", "--residual", "m > 1"], "there is no column m"),
    (VERIFY, "Missing option '--prefilter'"),
    # options
    ([*FOUND, "--keys", "user"], "key 'user' is not a column of the schema: error, x"),
    ([*FOUND, "--keys", "eror"], "did you mean error?"),
    ([*FOUND, "--mode", "group"], "'--mode': 'group' is not one of 'grouped', 'global'; see"),
    ([*FOUND, "--policy", "lax"], "--policy: policy is 'default', 'assume' or 'strict', not 'lax'"),
    ([*FOUND, "--budget", "0"], "budget is a positive number of seconds, not 0.0"),
    ([*FOUND, "--budget", "nan"], "budget is a positive number of seconds, not nan"),
    ([*FOUND, "--budget", "inf"], "budget is a positive number of seconds, not inf"),
    ([*FOUND, "--budget", "ten"], "budget is a positive number of seconds, not 'ten'"),
    ([*FOUND, "--pure", "f"], "there is no 'f' in it"),
    ([*FOUND, "--pure", "no_such_module:f"], "no_such_module: there is no such module"),
    ([*FOUND, "--pure", ".:f"], ".: not the name of a module; write MODULE:FUNCTION"),
    ([*FOUND, "--pure", "math:pi"], "is not a function"),
    ([*FOUND, "--save", "$/nowhere/c.json"], "there is no folder $/nowhere; make it, or name"),
    ([*FOUND, "--save", "$"], "$: that is a folder; name a file in it"),
    ([*FOUND, "--save", "/proc/c.json"], "/proc/c.json: it cannot be written: No such file"),
    ([*VERIFY, "--prefilter", "error", "--html", "$/no/v.html"], "there is no folder $/no; make"),
    ([*VERIFY, "--prefilter", "error", "--save", "$"], "$: that is a folder; name a file in it"),
    (["explain", "--html", "$/no/page.html", "$/empty.py"], "there is no folder $/no; make it"),
    (["explain", "--html"], "Option '--html' requires an argument"),
    (["demo", "--html", "$/no/page.html"], "there is no folder $/no; make it, or name another"),
    (["demo", "--data", "$/empty.py"], "$/empty.py: that is a file; name a folder"),
    (["demo", "--rows", "1"], "--rows"),
    # jobs
    (["run", "$/nowhere.py"], "$/nowhere.py: there is no such file"),
    (["explain", "$/emty.py"], "$/emty.py: there is no such file; did you mean empty.py"),
    (["run", "$"], "$: that is a folder; name a Python file"),
    (["run", "$/latin.py"], "$/latin.py:1: (unicode error)"),
    (["explain", "$/syntax.py"], "$/syntax.py:2: invalid syntax"),
    (["run", "--budget", "0", "$/empty.py"], "budget is a positive number of seconds, not 0.0"),
    (["run"], "Missing argument 'JOB.py'; see `presieve run --help`"),
    # certificates
    (["check", "$/nowhere.json"], "$/nowhere.json: No such file or directory"),
    (["check", "$"], "$: Is a directory"),
    (["check", "$/truncated.json"], "$/truncated.json: not JSON, so not a certificate"),
    (["check", "$/empty.json"], "$/empty.json: not JSON, so not a certificate"),
    (["check", "$/binary.json"], "$/binary.json: not JSON, so not a certificate"),
    (["check", "$/deep.json"], "$/deep.json: not JSON, so not a certificate"),
    (["check", "$/huge.json"], "$/huge.json: not JSON, so not a certificate"),
    (["check", "J"], "not JSON, so not a certificate"),
    (["check", "$/list.json"], '$/list.json: not a certificate, which begins with "presieve": 2'),
    (["check", "$/text.json"], "$/text.json: not a certificate"),
    (["check", "$/null.json"], "$/null.json: not a certificate"),
    (["check", "$/later.json"], "of format '3', and this presieve reads formats 1 and 2; use the"),
    (["check", "$/words.json"], "of format 'one', and this presieve reads formats 1 and 2"),
    (["check", "$/large.json"], "of format 'inf'"),
    (["check", "$/parts.json"], "$/parts.json: not a complete certificate: it has no 'kind'"),
    (["check", "$/problem.json"], "$/problem.json: (problem ...) is expected"),
    (["check", "$/list.json", "--solver", "yices"], "'yices' is not one of 'z3', 'cvc5'"),
    (["check"], "Missing argument 'CERT.json'"),
    # the rest
    (["synt"], "No such command 'synt'. Did you mean 'synth'?"),
    (["why", "wholly-other"], "`presieve why` lists all of them"),
    (["cache", "--clean"], "No such option: --clean"),
    (["bench", "nope"], "No such command 'nope'; see `presieve bench --help`"),
    (["bench", "synth", "--suite", "$/no"], "holds no benchmark families; run this in a checkout"),
    (["bench", "synth", "--only", "nope"], "is called nope"),
    (["bench", "synth", "--again"], "--ledger FILE says which"),
    (["bench", "synth", "--again", "--ledger", "$/no"], "$/no: the ledger cannot be read: No such"),
    (["bench", "synth", "--again", "--ledger", "$"], "the ledger cannot be read: Is a directory"),
    (["bench", "synth", "--again", "--ledger", "$/binary.json"], "no ledger, which has a JSON"),
    (["bench", "synth", "--again", "--ledger", "$/list.json"], "no ledger, which has a JSON"),
    (["bench", "synth", "--again", "--ledger", "$/text.json"], "no ledger, which has a JSON"),
    (["bench", "synth", "--again", "--ledger", "$/truncated.json"], "no ledger, which has a JSON"),
    (["bench", "synth", "--again", "--ledger", "$/deep.json"], "no ledger, which has a JSON"),
    (["bench", "synth", "--again", "--ledger", "$/later.json"], "has no run of synth; make one"),
    (["bench", "synth", "--ledger", "$"], "$: the ledger cannot be written: Is a directory"),
    (["bench", "spark", "--sizes", "many"], "--sizes are numbers of rows, 1000 or more each"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (path / name).write_bytes(content)
    return path


@pytest.mark.parametrize(("args", "text"), CASES, ids=lambda x: x if isinstance(x, str) else None)
def test_one_line(
    args: list[str], text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def named(word: str) -> str:
        return word.replace("$", str(folder)).replace("J", str(JOBS), word[:1] == "J")

    code = main([named(a) for a in args])
    out, err = capsys.readouterr()
    (line,) = [x for x in err.splitlines() if x != "a user's file may print"]
    assert line.startswith("presieve: ")
    assert text.replace("$", str(folder)) in line
    assert "internal error" not in line
    assert "Traceback" not in err
    assert (code, out) == (2, "")


def test_a_command_of_commands_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: presieve bench")


def test_a_ledger_is_looked_at_before_anything_is_measured(tmp_path: Path) -> None:
    def run() -> dict[str, object]:
        raise AssertionError("it was measured")

    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="the ledger cannot be written"):
        ledger.line_of("synth", tmp_path / "file" / "ledger", again=False, run=run)


def test_a_file_that_somebody_else_owns(tmp_path: Path) -> None:
    locked = tmp_path / "locked.py"
    locked.write_text("def f(): ...\n")
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        load_object(f"{locked}:f")


JOB_FILES = {
    "exit.py": "import sys\nprint('begun')\nsys.exit(3)\n",
    "interrupt.py": "raise KeyboardInterrupt\n",
    "session.py": "spark.range(3).show()\n",
    "java.py": "class E(Exception): ...\nraise E('[JAVA_GATEWAY_EXITED] Java gateway exited.')\n",
}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "code", "last"),
    [
        ("exit.py", 2, "presieve: exit.py: the job ended with 3; what ran before it is reported"),
        ("interrupt.py", 130, "presieve: interrupted"),
        ("session.py", 2, "a job makes its session: spark = SparkSession.builder.getOrCreate()"),
        ("java.py", 2, "Spark needs Java 17 or 21 on PATH or in JAVA_HOME"),
    ],
)
def test_a_job_that_does_not_end_well_is_told_in_one_line(
    name: str, code: int, last: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(JOB_FILES[name])
    done = subprocess.run(
        [sys.executable, "-m", "presieve", "explain", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == code
    assert last in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_without_pyspark_a_job_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "pyspark" else real(name, *a)
    )
    for command in (["run"], ["explain"], ["demo"], ["bench", "spark"]):
        job = [str(folder / "empty.py")] if command[0] in ("run", "explain") else []
        assert main([*command, *job]) == 2
        assert "pip install '.[spark]'" in capsys.readouterr().err
