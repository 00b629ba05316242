"""What somebody types wrong is one clear line; the extension comes and goes."""

from __future__ import annotations

import inspect
import sys
from types import SimpleNamespace

import pytest
from tests.notebook.shell import Shell

import presieve


@pytest.mark.costly
@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("%presieve", "%presieve what? on, off, status, or a DataFrame"),
        ("%presieve frame", "%presieve frame: name 'frame' is not defined"),
        ("%presieve explain frame", "%presieve frame: name 'frame' is not defined"),
        ("%presieve df --cost always", "put options first"),
        ("%presieve [1, 2]", "%presieve [1, 2]: that is a list, not a DataFrame of Spark"),
        ("%presieve 'a", "No closing quotation"),
        ("%presieve on now", "%presieve on takes no now"),
        ("%presieve on --policy lax", "argument --policy: invalid choice: 'lax'"),
        ("%presieve --budget soon status", "argument --budget: invalid float value: 'soon'"),
        ("%%presieve --explain --cost always\n1", "--explain pushes nowhere: leave out --cost"),
        ("%%presieve --budget 0\n1", "budget is a positive number of seconds, not 0.0"),
        ("%%presieve df\n1", "%%presieve takes only options, not df"),
    ],
)
def test_mistakes(shell: Shell, cell: str, line: str) -> None:
    seen = shell.fails(cell).strip()
    assert line in seen
    assert "Traceback" not in seen
    assert len(seen.splitlines()) == 1


@pytest.mark.costly
@pytest.mark.parametrize("cell", ["%presieve on", "%presieve off", "%presieve status"])
def test_without_a_session(shell: Shell, cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from presieve.backend.session import active

    monkeypatch.setattr(active, "active_session", lambda: None)
    for each in (cell, "%%presieve\nran = True"):
        seen = shell.fails(each).strip()
        assert seen == (
            "UsageError: there is no active SparkSession: make one, then run this cell again"
        )
    assert "ran" not in shell.shell.user_ns


def test_without_pyspark(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install '.[spark]'" in shell.fails("%presieve status")


@pytest.mark.costly
@pytest.mark.parametrize(
    "cell", ["%presieve --help", "%presieve on -h", "%%presieve --help\n1 / 0"]
)
def test_help(shell: Shell, cell: str) -> None:
    seen = shell.run(cell)
    assert seen.startswith("  %presieve [--policy")
    assert "%presieve off " in seen
    assert "--measure" in seen


def test_it_is_documented(shell: Shell) -> None:
    doc = inspect.getdoc(shell.shell.find_line_magic("presieve"))  # type: ignore[no-untyped-call]
    assert doc is not None
    assert "Push filters below Python functions" in doc
    assert "--measure" in doc


def test_it_can_be_unloaded_and_loaded_again(shell: Shell) -> None:
    shell.run("%unload_ext presieve")
    assert "not found" in shell.fails("%presieve status")
    shell.run("%load_ext presieve")
    assert "what?" in shell.fails("%presieve")
    shell.run("%reload_ext presieve")
    assert "what?" in shell.fails("%presieve")


def test_the_root_has_no_more_names() -> None:
    assert not {"load_ipython_extension", "unload_ipython_extension"} & {*presieve.__all__}
    listed = SimpleNamespace(names=presieve.__dir__()).names
    assert not [n for n in listed if n.endswith("ipython_extension") and n not in vars(presieve)]
    assert sys.modules["presieve"].load_ipython_extension.__doc__
