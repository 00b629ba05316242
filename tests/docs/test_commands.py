"""Every `presieve ...` and `make ...` that the documentation shows is there, with its options; and
the hook of pre-commit.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
import pytest
from tests.support.commands import parse
from tests.support.pages import ROOT, pages

FOLDED = re.compile(r"\\\n\s*")
SHOWN = {"", "sh", "console", "text"}


def commands(program: str) -> Iterator[tuple[str, str]]:
    """Where a command line stands, and the line, continued lines joined."""
    for page in pages():
        for block in page.blocks:
            if block.language not in SHOWN or block.role == "output":
                continue
            for number, line in enumerate(block.text.splitlines()):
                command = line.strip().removeprefix("$ ")
                if command.startswith(f"{program} "):
                    rest = "\n".join(block.text.splitlines()[number:])
                    whole = FOLDED.sub(" ", rest).splitlines()[0].strip().removeprefix("$ ")
                    yield f"{page.name}:{block.line + number}", whole


def steps_of(block: str) -> Iterator[str]:
    """The commands of a workflow of GitHub, and of hooks of pre-commit."""
    waiting: list[Any] = [msgspec.yaml.decode(block)]
    while waiting:
        node = waiting.pop()
        waiting += (
            node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        )
        if isinstance(node, dict):
            yield from [node["run"]] if "run" in node else []
            yield from [f"{node['entry']} one.py"] if "entry" in node else []


IN_YAML = [
    (f"{page.name}:{block.line}", step)
    for page in pages()
    for block in page.blocks
    if block.language == "yaml"
    for step in steps_of(block.text)
]
PRESIEVE = [
    pytest.param(line, id=where)
    for where, line in (*commands("presieve"), *(s for s in IN_YAML if s[1].startswith("presieve")))
]
MAKE = [pytest.param(line, id=where) for where, line in commands("make")]


@pytest.mark.parametrize("line", PRESIEVE)
def test_presieve_has_what_is_shown(line: str) -> None:
    parse(line)


FENCED = re.compile(r"^```.*?^```", re.S | re.M)
IN_SENTENCES = sorted(
    {
        " ".join(command.split())
        for page in pages()
        for command in re.findall(
            r"`(presieve [a-z][^`]*)`", FENCED.sub("", page.path.read_text(encoding="utf-8"))
        )
    }
    - {"presieve bench"}  # a group of commands
)


@pytest.mark.parametrize("line", IN_SENTENCES)
def test_commands_in_sentences_are_there(line: str) -> None:
    """Many of them leave arguments out."""
    parse(f"{line} ...")


@pytest.mark.parametrize(
    "line",
    [
        "presieve nothing",
        "presieve check --no-such-option ...",
        "presieve bench nothing",
        "presieve check",
        "presieve synth ... --wher x",
        "presieve run --no x.py",
    ],
)
def test_what_is_not_there_is_seen(line: str) -> None:
    with pytest.raises(Exception, match=r"."):
        parse(line)


def test_steps_of_workflows_are_seen() -> None:
    assert sum("presieve explain" in step for _, step in IN_YAML) == 1
    assert sum("presieve lint" in step for _, step in IN_YAML) == 3
    assert list(steps_of("- jobs: {a: {steps: [{run: presieve nothing}]}}")) == ["presieve nothing"]


class Hook(msgspec.Struct, forbid_unknown_fields=True):
    """A hook in the manifest that pre-commit reads."""

    id: str
    name: str
    description: str
    entry: str
    language: Literal["python"]
    types: list[str]
    additional_dependencies: list[str]
    require_serial: bool


def test_the_hook_of_pre_commit() -> None:
    """It runs a command that there is, with the packages that a job's functions use."""
    manifest = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (hook,) = msgspec.yaml.decode(manifest, type=list[Hook])
    parse(f"{hook.entry} one.py another.py")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(hook.additional_dependencies) < set(project["optional-dependencies"]["spark"])
    page = next(p for p in pages() if p.name == "docs/howto/lint.md")
    shown = [msgspec.yaml.decode(b.text) for b in page.blocks if b.text.startswith("repos:")]
    assert [h["id"] for s in shown for r in s["repos"] for h in r["hooks"]] == [hook.id, hook.id]
    own = {r["repo"]: r["hooks"][0] for s in shown for r in s["repos"]}["local"]
    assert (own["entry"], own["types"]) == (hook.entry, hook.types)


@pytest.mark.parametrize("line", MAKE)
def test_make_has_what_is_shown(line: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    words = [w for w in shlex.split(line, comments=True)[1:] if "=" not in w]
    assert set(words) <= targets
