"""``presieve why``: what codes mean, found in a checkout and in a wheel."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import presieve
from presieve.cli import why
from presieve.cli.app import main

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs" / "declined"


@pytest.mark.parametrize("code", ["sql-types", "[sql-types]", " SQL-types "])
def test_the_page_of_a_code(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", code]) == 0
    assert capsys.readouterr().out == (PAGES / "sql-types.md").read_text()


@pytest.mark.parametrize("code", ["no-nan", "[no-nan]"])
def test_the_entry_of_an_assumption(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", code]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# `no-nan`: a column holds no NaN\n\n**Assumed.** ")
    assert 'declare="NOT isnan(score)"' in out
    assert "no-null" not in out


def test_a_code_of_both_has_both_texts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "row-order"]) == 0
    shown = capsys.readouterr().out
    assert "## What to change" in shown
    assert shown.count("# `row-order`: ") == 2


def test_a_terminal_shows_it_laid_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["why", "sql-types"]) == 0
    out = capsys.readouterr().out
    assert "What to change" in out
    assert "## " not in out
    assert "```" not in out


def test_all_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why"]) == 0
    out = capsys.readouterr().out
    for page in PAGES.glob("*.md"):
        assert page.stem == "README" or f"\n{page.stem} " in out
    assert "SQL: the filter" in out
    assert "\nopen-zero " in out.partition(why.GROUP)[2]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "sql-types", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["title"] == "the filter mixes types"
    assert answer["text"].startswith("# `sql-types`: ")
    assert main(["why", "--json"]) == 0
    assert {"sql-types"} <= {one["code"] for one in json.loads(capsys.readouterr().out)["codes"]}


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("sql-type", "'sql-type'; did you mean sql-types?"),
        ("nonan", "'nonan'; did you mean no-nan?"),
        ("zero-sgin", "'zero-sgin'; did you mean zero-sign?"),
        ("exact", "'exact'; `presieve why` lists all of them"),
        ("no-zero", "'no-zero'; `presieve why` lists all of them"),
        ("", "''; `presieve why` lists all of them"),
    ],
)
def test_codes_that_are_none(code: str, end: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", code]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"presieve: there is no code {end}\n"


def test_pages_are_found_in_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    targets = shipped["targets"]["wheel"]["force-include"]
    package = tmp_path / "presieve"
    package.mkdir()
    monkeypatch.setattr(presieve, "__file__", str(package / "__init__.py"))
    assert main(["why"]) == 2
    assert "are missing" in capsys.readouterr().err
    for source, target in targets.items():
        (tmp_path / target).symlink_to(ROOT / source)
    assert why.folder() == package
    assert main(["why", "sql-types"]) == 0
    assert main(["why", "no-nan"]) == 0
