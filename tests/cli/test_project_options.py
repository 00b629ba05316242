"""Options on the command line and in ``[tool.presieve]``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.main import get_command

from presieve.cli import job, project_options, run
from presieve.cli.app import app, main
from presieve.driver.options import OPTIONS, Options
from presieve.driver.session import SessionSetting
from presieve.errors import UsageError

FOLDS = """
import helpers


class Best:
    def zero(self):
        return None

    def reduce(self, best, row):
        return row.score if best is None or row.score > best else best

    def finish(self, best):
        return best


def loud(name: str) -> bool:
    return name.expandtabs() == name


class LoudBest(Best):
    def reduce(self, best, row):
        if not {call}(row.name):
            return best
        return row.score if best is None or row.score > best else best
"""
HELPERS = """
def loud(name: str) -> bool:
    return name.expandtabs() == name
"""
BEST = ["--schema", "name string NOT NULL, score double NOT NULL", "--where", "best > 90"]
BEST += ["--returns", "best double"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where there is no project."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


@pytest.fixture
def folds(tmp_path: Path) -> Path:
    path = tmp_path / "repo" / "src" / "folds.py"
    path.parent.mkdir(parents=True)
    path.write_text(FOLDS.replace("{call}", "loud"))
    (path.parent / "helpers.py").write_text(HELPERS)
    return path


def says(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def found(args: Sequence[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    main([*args, "--json"])
    out = capsys.readouterr().out
    answer: dict[str, object] = json.loads(out)
    return answer


@pytest.mark.parametrize("command", ["run", "explain", "synth", "verify"])
def test_every_command_has_the_options(command: str) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    shown = {o.lstrip("-"): p for p in commands[command].params for o in p.opts}
    about_plans = ("cost", "compile", "reorder", "effects")
    wanted = [n for n in OPTIONS if n not in about_plans or command in ("run", "explain")]
    assert [shown[name].metavar for name in wanted] == [OPTIONS[name].metavar for name in wanted]
    for name in wanted:
        default = OPTIONS[name].default
        end = f" Default: {default:g}." if isinstance(default, float) else f" Default: {default}."
        assert shown[name].help == OPTIONS[name].help + (end if default else "")


# --- where a project is ---------------------------------------------------------------------------


def test_the_nearest_section_counts(folds: Path, tmp_path: Path) -> None:
    assert project_options.options(folds) == {}
    says(tmp_path / "repo", '[tool.presieve]\npolicy = "strict"\nbudget = 3')
    assert project_options.options(folds) == {"policy": "strict", "budget": 3}
    near = says(folds.parent, "[tool.other]\n")
    assert project_options.options(folds)["policy"] == "strict", (
        "a file without a section says nothing"
    )
    near.write_text('[tool.presieve]\npolicy = "assume"')
    assert project_options.options(folds) == {"policy": "assume"}
    near.write_text("[tool.presieve]\n")
    assert project_options.options(folds) == {}, "an empty section is one"


def test_then_that_of_the_working_folder(folds: Path, tmp_path: Path) -> None:
    says(tmp_path / "elsewhere", '[tool.presieve]\npolicy = "strict"')
    assert project_options.options(folds) == {"policy": "strict"}
    says(tmp_path / "repo", '[tool.presieve]\npolicy = "assume"')
    assert project_options.options(folds) == {"policy": "assume"}


def test_links_are_followed(folds: Path, tmp_path: Path) -> None:
    says(tmp_path / "repo", '[tool.presieve]\npolicy = "strict"')
    link = tmp_path / "elsewhere" / "folds.py"
    link.symlink_to(folds)
    assert project_options.options(link) == {"policy": "strict"}


def test_every_option_may_stand_there(folds: Path, tmp_path: Path) -> None:
    says(
        tmp_path / "repo",
        '[tool.presieve]\nbudget = 2.5\npolicy = "strict"\ncost = "always"\n'
        'declare = ["NOT isnan(score)", "name <> \';\'"]\npure = ["helpers:loud"]\n',
    )
    assert project_options.options(folds) == {
        "budget": 2.5,
        "policy": "strict",
        "cost": "always",
        "declare": ("NOT isnan(score)", "name <> ';'"),
        "pure": ("helpers:loud",),
    }


BAD = [
    ("presieve = [", "$: not TOML in UTF-8: "),
    ("tool.presieve = 3", "$: tool.presieve is a table; write [tool.presieve] above options"),
    ("[tool.presieve]\npolcy = 'x'", "$: there is no option 'polcy'; there are budget, policy, co"),
    ("[tool.presieve]\npolcy = 'x'", "; did you mean policy?"),
    ("[tool.presieve]\npolicy = 'lax'", "$ [tool.presieve]: policy is 'default', 'assume' or"),
    ("[tool.presieve]\nbudget = true", "$ [tool.presieve]: budget is a positive number of"),
    ("[tool.presieve]\ndeclare = 1", "$ [tool.presieve]: declare is a string such as"),
]


@pytest.mark.parametrize(("text", "line"), BAD)
def test_what_is_wrong_there_is_one_line(
    text: str, line: str, folds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = says(tmp_path / "repo", text)
    assert main(["synth", f"{folds}:Best", *BEST]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert line.replace("$", str(path)) in err


def test_other_peoples_files_need_not_be_valid(folds: Path, tmp_path: Path) -> None:
    says(tmp_path / "repo", "[tool")
    assert project_options.options(folds) == {}
    says(tmp_path / "repo", "tool = 3 # not of presieve")
    assert project_options.options(folds) == {}


# --- what is done with it -------------------------------------------------------------------------


def test_a_search_goes_by_it(
    folds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synth = ["synth", f"{folds}:Best", *BEST, "--policy", "assume"]
    assert found(synth, capsys)["kind"] == "exact"
    says(tmp_path / "repo", '[tool.presieve]\npolicy = "strict"')
    assert found(synth, capsys)["kind"] == "exact", "the command line goes first"
    bare = synth[:-2]
    assert found(bare, capsys)["kind"] == "none"
    declared = found([*bare, "--declare", "NOT isnan(score)", "--declare", "score > 0"], capsys)
    assert (declared["kind"], declared["assumptions"]) == ("exact", [])
    says(
        tmp_path / "repo",
        '[tool.presieve]\npolicy = "strict"\n'
        'declare = ["NOT isnan(score)", "elsewhere IS NOT NULL"]',
    )
    assert found(bare, capsys)["kind"] == "exact", "facts on other columns are on other folds"


def test_a_condition_on_the_command_line_is_on_this_fold(
    folds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synth", f"{folds}:Best", *BEST, "--declare", "elsewhere IS NOT NULL"]) == 2
    assert "there is no column elsewhere" in capsys.readouterr().err


def test_a_check_goes_by_it(
    folds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verify = ["verify", f"{folds}:Best", *BEST, "--prefilter", "score > 90"]
    says(tmp_path / "repo", '[tool.presieve]\npolicy = "strict"')
    assert found(verify, capsys)["status"] == "refuted"
    assert found([*verify, "--declare", "NOT isnan(score)"], capsys)["status"] == "proved"
    says(tmp_path / "repo", '[tool.presieve]\npolicy = "strict"\ndeclare = "NOT isnan(score)"')
    assert found(verify, capsys)["status"] == "proved"


@pytest.mark.parametrize("call", ["loud", "helpers.loud"])
def test_pure_functions_of_the_file_and_of_modules(
    call: str, folds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folds.write_text(FOLDS.replace("{call}", call))
    synth = ["synth", f"{folds}:LoudBest", *BEST, "--policy", "assume"]
    assert found(synth, capsys)["kind"] == "none"
    name = call.replace(".", ":")
    named = found([*synth, "--pure", name], capsys)
    assert named["kind"] == "split"
    says(tmp_path / "repo", f'[tool.presieve]\npure = ["{name}"]')
    assert found(synth, capsys)["prefilter"] == named["prefilter"]


def test_a_run_goes_by_it(folds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[SessionSetting] = []
    monkeypatch.setattr(run, "enable_everywhere", seen.append)
    monkeypatch.setattr(job, "end", lambda found, args: 0)
    says(tmp_path / "repo", '[tool.presieve]\npolicy = "strict"\nbudget = 3')
    options = ["--budget", "4", "--declare", "a > 1; b > 2", "--declare", "c > 3"]
    options += ["--pure", "f,m:g", "--pure", "h"]
    assert main(["run", "--quiet", *options, str(folds)]) == 0
    (setting,) = seen
    assert setting.given == {
        "budget": 4.0,
        "declare": ("a > 1", "b > 2", "c > 3"),
        "pure": ("f", "m:g", "h"),
    }
    assert setting.otherwise == {"policy": "strict", "budget": 3}
    session = {"policy": "assume"}
    assert Options.of(setting.given, session, setting.otherwise).policy == "assume"


def test_a_call_in_python_does_not_read_it(
    folds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import presieve

    says(tmp_path / "elsewhere", '[tool.presieve]\npolicy = "lax"\nbudget = -1')
    monkeypatch.syspath_prepend(str(folds.parent))
    from importlib import import_module

    best = import_module("folds").Best
    found = presieve.synthesize(
        best, "best > 90", schema="score double NOT NULL", returns="best double", policy="assume"
    )
    assert found.kind == "exact"
    with pytest.raises(UsageError):
        project_options.options(folds)
