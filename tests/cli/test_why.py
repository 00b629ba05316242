"""``presieve why``: the pages of decline codes, found in a checkout and in a wheel."""

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
        assert page.stem == why.INDEX or f"\n{page.stem} " in out
    assert "SQL: the filter" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "sql-types", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["title"] == "the filter mixes types"
    assert answer["text"].startswith("# `sql-types`: ")
    assert main(["why", "--json"]) == 0
    assert {"sql-types"} <= {one["code"] for one in json.loads(capsys.readouterr().out)["codes"]}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("sql-type", "there is no decline code 'sql-type'; did you mean sql-types"),
        ("erase", "did you mean may-erase-error or "),
        ("qqq", "there is no decline code 'qqq'; `presieve why` lists all of them"),
    ],
)
def test_codes_that_are_none(code: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", code]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("presieve: ")
    assert text in err
    assert len(err.splitlines()) == 1


def test_pages_are_found_in_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    target = shipped["targets"]["wheel"]["force-include"]["docs/declined"]
    package = tmp_path / "presieve"
    package.mkdir()
    monkeypatch.setattr(presieve, "__file__", str(package / "__init__.py"))
    assert main(["why"]) == 2
    assert "are missing" in capsys.readouterr().err
    (tmp_path / target).symlink_to(PAGES)
    assert why.folder() == package / "declined"
    assert main(["why", "sql-types"]) == 0
