"""synth, verify and check on a user's file: answers, exit codes, and standard output kept clean."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from presieve.cli.app import main
from presieve.demo import udfs

JOBS = Path(__file__).with_name("jobs.py")
TOP_TWO = [
    f"{JOBS}:TopTwo",
    *("--schema", "team string, score double NOT NULL", "--keys", "team"),
    *("--returns", "first double, second double"),
    *("--where", "first >= 90 AND second >= 90"),
]
ERRORS = [f"{JOBS}:CountErrors", "--schema", "error boolean NOT NULL", "--returns", "n bigint"]


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The one object on standard output. What the file prints goes to standard error."""
    out, err = capsys.readouterr()
    assert "a user's file may print" in err
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def test_synth_finds_the_split(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *TOP_TWO, "--json"]) == 0
    found = answer(capsys)
    assert found["kind"] == "split"
    assert found["prefilter"] == "score >= 90.0D"
    assert found["residual"] == "second IS NOT NULL"
    assert found["declined"] == []
    assert [set(a) for a in found["assumptions"]] == [{"code", "text"}]
    assert found["certificate"]["kind"] == "split"
    assert set(found) == {
        *("kind", "prefilter", "residual", "invariant", "strength", "certificate"),
        *(
            "assumptions",
            "declined",
            "seconds",
            "solver_calls",
            "order",
            "residual_strength",
            "optimal",
        ),
    }
    assert found["order"]["status"] == "independent"
    assert found["residual_strength"] == "needed"


def test_synth_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *TOP_TWO]) == 0
    out = capsys.readouterr().out
    for text in ("split", "score >= 90.0D", "second IS NOT NULL", "[no-nan]", "order of rows"):
        assert text in out
    assert "every conjunct is needed" in out


def test_synth_tells_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *TOP_TWO, "--trace", "--json"]) == 0
    steps = answer(capsys)["trace"]
    assert [s["id"] for s in steps][:3] == ["1", "1.1", "1.2"]
    tried = [s for s in steps if s["event"] == "residual" and "refuted" in s["text"]]
    (shown,) = tried[0]["exhibits"]
    (run,) = shown["runs"]
    assert run["result"] == "kept"
    assert len(run["rows"]) == 1
    assert run["outputs"]["second"] is None
    assert main(["synth", *TOP_TWO, "--trace"]) == 0
    out = capsys.readouterr().out
    texts = ["1 search", "pre-filter  P1 score >= 90.0D", "without  (score", "filtered out"]
    texts += ["conjunct  second IS NOT NULL stays"]
    texts += ["residual  second IS NOT NULL for second >= 90.0D: taken", "checker  accepted: split"]
    for text in texts:
        assert text in out
    assert out.index("1 search") < out.index("strength  ")


def test_synth_shows_that_the_order_of_rows_matters(capsys: pytest.CaptureFixture[str]) -> None:
    fold = [f"{JOBS}:LatestError", "--schema", "error boolean NOT NULL", "--returns", "e boolean"]
    assert main(["synth", *fold, "--where", "e"]) == 1
    out = capsys.readouterr().out
    for text in ("depends on the order of rows", "(error False), (error True): (e True)"):
        assert text in out
    assert "(error True), (error False): filtered out" in out


def test_nothing_to_push_is_a_negative_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *ERRORS, "--where", "n <= 5", "--json"]) == 1
    assert answer(capsys)["kind"] == "none"
    assert main(["synth", *ERRORS, "--where", "n >= 1", "--json"]) == 0
    assert answer(capsys)["kind"] == "exact"


def test_strict_declines_what_needs_an_assumption(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *TOP_TWO, "--policy", "strict", "--json"]) == 1
    assert answer(capsys)["kind"] == "none"
    target = f"{udfs.__file__}:open_close"
    args = ["--schema", "symbol string, price double, epoch bigint", "--keys", "symbol"]
    returns = "symbol string, open_price double, open_epoch bigint, close_price double"
    returns += ", close_epoch bigint"
    where = ["--returns", returns, "--where", "open_epoch <= 5"]
    assert main(["synth", target, *args, *where, "--policy", "strict"]) == 1
    out = capsys.readouterr().out
    assert "epoch holds no NULL" in out
    assert "[assumption]" in out


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_saved_certificate_is_checked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], solver: str
) -> None:
    path = tmp_path / "c.json"
    assert main(["synth", *TOP_TWO, "--save", str(path)]) == 0
    capsys.readouterr()
    assert main(["check", str(path), "--solver", solver, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verified"] is True
    assert found["solver"] == solver
    assert found["prefilter"] == "score >= 90.0D"
    assert found["residual_strength"] == "needed"
    assert set(found["conditions"]) == {"init", "sync", "stutter", "final", "strength"}
    assert main(["check", str(path), "--solver", solver]) == 0
    assert "second IS NOT NULL" in capsys.readouterr().out


WITHOUT_CVC5 = """
import sys
sys.modules["cvc5"] = None  # importing it fails, as where it is not installed
from presieve.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.second
def test_cvc5_may_be_missing(tmp_path: Path) -> None:
    stored = str(tmp_path / "c.json")

    def run(*args: str) -> tuple[int, str]:
        command = [sys.executable, "-c", WITHOUT_CVC5, *args]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stderr

    assert run("synth", *TOP_TWO, "--save", stored)[0] == 0
    assert run("verify", *TOP_TWO, "--prefilter", "score >= 80")[0] == 0
    assert run("check", stored) == (0, "")
    code, said = run("check", stored, "--solver", "cvc5")
    assert code == 2
    assert "the solver cvc5 is not installed: run pip install '.[cvc5]' in a checkout" in said
    assert len(said.splitlines()) == 1


def test_a_forged_certificate_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    assert main(["synth", *TOP_TWO, "--save", str(path)]) == 0
    capsys.readouterr()
    forged = json.loads(path.read_text())
    other = forged["prefilter"].replace("0x4056800000000000", "0x4056c00000000000")  # 90.0 to 91.0
    assert other != forged["prefilter"]
    path.write_text(json.dumps({**forged, "prefilter": other}))
    assert main(["check", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verified"] is False
    assert found["condition"] in {"init", "sync", "stutter", "final"}
    assert found["reason"]


WORDS = '"column score holds no NaN"'
TERM = "(not (nan? row.score:Float))"
"""What the certificate assumes, in words and as it is."""


@pytest.mark.costly
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WORDS, '"column v holds no NaN"'),
        (WORDS, '""'),
        (WORDS, '"nothing"'),
        ('"no-nan"', '"pure"'),
        ('"no-nan"', '"known"'),
        (TERM, "true:Bool"),
        (TERM, f"(and {TERM} (py> row.score:Float 0x4024000000000000:Float))"),
        (TERM, f"(or {TERM} (py> row.score:Float 0x4024000000000000:Float))"),
        (TERM, f"(not {TERM})"),
    ],
)
def test_what_is_assumed_is_told(
    old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other words than those of the condition are no certificate."""
    path = tmp_path / "c.json"
    assert main(["synth", *TOP_TWO, "--save", str(path)]) == 0
    capsys.readouterr()
    good = json.loads(path.read_text())
    lines = [line.replace(old, new) for line in good["problem"] if "(assume" in line]
    assert lines != [line for line in good["problem"] if "(assume" in line]
    rest = [line for line in good["problem"] if "(assume" not in line]
    path.write_text(json.dumps({**good, "problem": [*rest, *lines]}))
    assert main(["check", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["condition"]) == (False, "form")


def test_a_check_tells_its_conditions_and_its_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    assert main(["synth", *TOP_TWO, "--save", str(path)]) == 0
    capsys.readouterr()
    assert main(["check", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["assumptions"] == [
        {"code": "no-nan", "text": "column score holds no NaN", "term": TERM}
    ]
    assert any("function" in line for line in found["not_checked"])
    assert main(["check", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"column score holds no NaN [no-nan]: {TERM}" in out
    assert "not checked" in out


@pytest.mark.parametrize(
    ("predicates", "code", "status"),
    [
        (["--prefilter", "score >= 90"], 0, "proved"),
        (["--prefilter", "score >= 90", "--residual", "second IS NOT NULL"], 0, "proved"),
        (["--prefilter", "score > 91"], 1, "refuted"),
        (["--prefilter", "score >= 90", "--residual", "true"], 1, "refuted"),
    ],
)
def test_verify(
    capsys: pytest.CaptureFixture[str], predicates: list[str], code: int, status: str
) -> None:
    assert main(["verify", *TOP_TWO, *predicates, "--json"]) == code
    found = answer(capsys)
    assert found["status"] == status
    if status == "refuted":
        table = found["counterexample"]
        assert table["rows"]
        assert table["original"] != table["optimized"]
    else:
        assert found["certificate"]


@pytest.mark.parametrize("keys", ["", "team"])
def test_verify_tells_of_keys_that_are_not_given(
    keys: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "folds.py"
    path.write_text(
        "import pandas as pd\n\n\ndef best(pdf):\n"
        "    team = pdf['team'].iloc[0]\n    best = pdf['score'].max()\n"
        "    return pd.DataFrame({'team': [team], 'best': [best]})\n"
    )
    given = ["--schema", "team string, score double", "--returns", "team string, best double"]
    told = ["--where", "best > 90", "--prefilter", "score > 90"]
    assert main(["verify", f"{path}:best", *given, *told, "--keys", keys]) == (keys == "")
    out = capsys.readouterr().out
    assert ("if that is wrong, pass --keys team." in out) is (keys == "")


def test_verify_for_people_shows_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", *TOP_TWO, "--prefilter", "score > 91"]) == 1
    out = capsys.readouterr().out
    for text in ("Refuted: the pre-filter drops too much", "drops", "as written", "as pushed"):
        assert text in out
    assert "the filter rejects it" in out
    assert "score >= 90.0D" in out  # what would do


def test_verify_writes_a_page_and_a_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, stored = tmp_path / "v.html", tmp_path / "c.json"
    files = ["--html", str(page), "--save", str(stored)]
    assert main(["verify", *TOP_TWO, "--prefilter", "score > 91", *files]) == 1
    assert "<mark>NULL</mark>" in page.read_text()
    assert not stored.exists()
    assert main(["verify", *TOP_TWO, "--prefilter", "score >= 90", *files]) == 0
    assert "column score holds no NaN" in page.read_text()
    capsys.readouterr()
    assert main(["check", str(stored)]) == 0


@pytest.mark.parametrize(
    "args",
    [
        ["synth", *ERRORS, "--where", "n >="],
        ["synth", *ERRORS, "--where", "m > 1"],
        ["synth", f"{JOBS}:CountErrors", "--schema", "error", "--where", "n > 1"],
        ["synth", *ERRORS, "--where", "n >= 1", "--budget", "-1"],
        ["synth", *ERRORS, "--where", "n >= 1", "--keys", "user"],
        ["synth", *ERRORS, "--where", "n >= 1", "--save", "/nowhere/at/all/c.json"],
        ["verify", *ERRORS, "--where", "n >= 1", "--prefilter", "m > 1"],
    ],
)
def test_mistakes_are_one_line(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    complaint = [line for line in err.splitlines() if line.startswith("presieve: ")]
    assert len(complaint) == 1
    assert "internal error" not in complaint[0]


SLOW = [
    f"{JOBS}:SlowErrors",
    *("--schema", "level string, ms bigint NOT NULL", "--returns", "n bigint"),
    *("--where", "n >= 2"),
]


def test_functions_that_are_declared_pure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synth", *SLOW, "--json"]) == 1
    (declined,) = answer(capsys)["declined"]
    assert "declare it with pure=[normalize]" in declined["reason"]
    stored = tmp_path / "slow.json"
    pure = ["--pure", "normalize", "--policy", "strict"]
    assert main(["synth", *SLOW, *pure, "--json", "--save", str(stored)]) == 0
    assert answer(capsys)["prefilter"] == "ms > 500"
    assert main(["check", str(stored), "--solver", "cvc5"]) == 0
    assert "normalize changes nothing, never raises" in capsys.readouterr().out
    assert main(["verify", *SLOW, *pure, "--prefilter", "ms >= 500"]) == 0
    assert main(["verify", *SLOW, *pure, "--prefilter", "level = 'error'"]) == 2


def test_pure_functions_that_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    for name, line in (
        ("normalise", "there is no 'normalise' in it"),
        ("no_such_module:f", "no_such_module: there is no such module"),
        ("math:nothing", "math: there is no 'nothing' in it"),
        ("math:sqrt", "sqrt has no known result type"),
    ):
        assert main(["synth", *SLOW, "--pure", name]) == 2
        assert line in capsys.readouterr().err


def test_what_is_declined_says_where_and_how_to_learn_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    args = ["synth", *TOP_TWO[:-1], "first >= 90 AND round(second) > 3"]
    assert main(args) == 1
    out = capsys.readouterr().out
    assert "[sql-unsupported] the function round is not supported (where:1:17)" in out
    assert "presieve why sql-unsupported" in out
