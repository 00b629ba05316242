"""The lines that were typed are found in a history without empty lines and without repetitions."""

from __future__ import annotations

import codeop
import linecache
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import pytest

from presieve.lift.python.code_objects import FUTURE_FLAGS, inner_codes, same_code
from presieve.lift.python.typed_lines import find_block, read_typed


class Prompt:
    """Python's prompt before 3.13, with the history that readline keeps."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.history: list[str] = []
        self._compile = codeop.CommandCompiler()

    def type(self, text: str) -> None:
        """Type the lines. What is wrong is rejected, as the prompt does."""
        typed: list[str] = []
        for line in f"{text}\n\n".split("\n"):
            if line and line != (self.history or [""])[-1]:
                self.history.append(line)
            typed.append(line)
            try:
                code = self._compile("\n".join(typed), "<stdin>")
            except SyntaxError:
                typed = []
                continue
            if code is not None:
                exec(code, self.names)
                typed = []

    def find(self, expression: str) -> str:
        """The text in which a function is found. It makes the same code, at the same line."""
        code = self.code(expression)
        lines = find_block(code, self.history)
        assert lines is not None
        assert [*_codes_of(lines, code)]
        return "\n".join(lines)

    def code(self, expression: str) -> CodeType:
        function = eval(expression, self.names)
        assert isinstance(function, FunctionType)
        return function.__code__


def _codes_of(lines: list[str], code: CodeType) -> Iterator[CodeType]:
    whole = compile("\n".join(lines), "<stdin>", "exec", code.co_flags & FUTURE_FLAGS, True)
    for c in inner_codes(whole):
        if c.co_firstlineno == code.co_firstlineno and same_code(c, code):
            yield c


@pytest.fixture
def prompt() -> Prompt:
    return Prompt()


PLAIN = "def f(x):\n    if x > 1:\n        return x\n    return 2 * x"

WHOLE = {
    "a function": (PLAIN, "f"),
    "of one line": ("def f(x): return x", "f"),
    "with spaces in an empty line": ("def f(x):\n    y = x\n    \n    return y", "f"),
    "with comments": (
        "def f(x):\n    # first\n    y = x  # second\n    # third\n    return y",
        "f",
    ),
    "with tabs": ("def f(x):\n\tif x:\n\t\treturn 1\n\treturn 2", "f"),
    "under decorators": (f"@(lambda g: g)\n@(\n    lambda g: g\n)\n{PLAIN}", "f"),
    "inside of a function": (
        "def make(a):\n    def f(x):\n        return a + x\n    a += 1\n    return f",
        "make(1)",
    ),
    "inside of one with defaults": (
        "def make(\n    a,\n    b=2,\n):\n    def f(x, c=a):\n        return b + x\n    return f",
        "make(1)",
    ),
    "in the other": ("if False:\n    f = None\nelse:\n    def f(x):\n        return x", "f"),
    "in a try": ("try:\n    def f(x):\n        return x\nexcept TypeError:\n    pass", "f"),
    "a method": (
        "class C(object):\n    limit = 1\n    def zero(self):\n        return 0\n"
        "    @staticmethod\n    def step(acc, row):\n        return acc + row\n"
        "    def last(self):\n        return self.__x",
        "C.step",
    ),
    "a method with a private name": (
        "class C:\n    def last(self):\n        return self.__x",
        "C.last",
    ),
    "a lambda": ("f = lambda x: x + 1", "f"),
    "one of two lambdas": ("f, g = lambda x: x + 1, lambda x: x + 2", "g"),
    "a lambda in a call": ('f = dict(\n    a=1,\n    b=lambda x: x + 1,\n    c=3,\n)["b"]', "f"),
    "a lambda in a function": ("def make(a):\n    return lambda x: a + x", "make(1)"),
    "after another statement": ("a = 1; f = lambda x: x + 1", "f"),
    "a text without indentation": ('def f(x):\n    """One\nTwo\n    """\n    return x', "f"),
    "empty lines in its text": (
        'def f(x):\n    """One.\n\n    Two\n\n\n    Three.\n    """\n    return x',
        "f",
    ),
    "an empty line at the end of its text": ('def f(x):\n    """One.\n\n"""\n    return x', "f"),
    "an empty line in another text": (
        'def f(x):\n    y = x\n    z = """a\n\nb"""\n    return y, z',
        "f",
    ),
    "a line twice": ("def f(x):\n    y = next(x)\n    y = next(x)\n    return y", "f"),
    "a line three times": (
        "def f(x):\n    if x:\n        y = next(x)\n        y = next(x)\n        y = next(x)\n"
        "    return y",
        "f",
    ),
    "lines of a list twice": (
        "def f(x):\n    return [\n        0,\n        0,\n        x,\n    ]",
        "f",
    ),
    "an empty line in a list": (
        "def f(x):\n    y = [\n        1,\n\n        x,\n    ]\n    x += 1\n    x += 1\n    return",
        "f",
    ),
    "all of it": (
        'def f(x):\n    """One.\n\n    Two.\n    """\n    y = (\n\n        x\n    )\n    y += 1\n'
        "    y += 1\n    for z in y:\n        y += z\n        y += z\n    return y",
        "f",
    ),
}


@pytest.mark.parametrize(("text", "expression"), WHOLE.values(), ids=WHOLE)
def test_what_was_typed(prompt: Prompt, text: str, expression: str) -> None:
    prompt.type("before = 1")
    prompt.type(text)
    prompt.type("after = 1")
    assert prompt.find(expression) == text


def test_the_lines_of_a_method_below_a_text(prompt: Prompt) -> None:
    """Empty lines of the text above are missing: they do not matter, but the number does."""
    text = 'class C:\n    """One.\n\n    Two.\n    """\n    def f(self):\n        return 1'
    prompt.type(text)
    lines = prompt.find("C.f").split("\n")
    assert lines == ["", *(line for line in text.split("\n") if line)]


def test_the_latest_of_one_name(prompt: Prompt) -> None:
    prompt.type("def f(x):\n    return x + 1  # an old one")
    prompt.type("old = f")
    prompt.type("def f(x):\n    return x + 2")
    prompt.type("middle = f")
    prompt.type("def f(x):\n    return x + 1  # a new one")
    assert "x + 2" in prompt.find("middle")
    assert "a new one" in prompt.find("f")
    assert "a new one" in prompt.find("old"), "the code is the same"


def test_classes_with_the_same_method(prompt: Prompt) -> None:
    for name in "AB":
        prompt.type(f"class {name}:\n    def step(self, x):\n        return x")
    assert "class A" in prompt.find("A.step")
    assert "class B" in prompt.find("B.step")


def test_an_empty_line_ends_a_function(prompt: Prompt) -> None:
    """As the prompt has it: the lines below are errors, or statements of their own."""
    prompt.type("def f(x):\n    y = x + 1\n    if y:\n        return y\n\n    return 0")
    assert prompt.find("f") == "def f(x):\n    y = x + 1\n    if y:\n        return y"


def test_lines_that_are_wrong(prompt: Prompt) -> None:
    prompt.type("def f(x):\n    return x +")
    prompt.type("def f(x:\n")
    prompt.type(PLAIN)
    prompt.type("def f(x:\n")
    prompt.type('"""')
    assert prompt.find("f") == PLAIN


def test_future_statements(prompt: Prompt) -> None:
    prompt.type("from __future__ import annotations")
    text = "def make():\n    def f(x: unknown) -> unknown:\n        return x\n    return f"
    prompt.type(text)
    assert prompt.find("make") == text
    assert prompt.find("make()") == text


@pytest.mark.parametrize(
    "other",
    [
        "",
        "def g(x):\n    return x + 1",
        "def f(x):\n    return x + 2",
        "def f(x):\n    return x + 1.0",
        "def f(y):\n    return y + 1",
        "def f(x, y):\n    return x + 1",
        "def f(x):\n    return x + x",
        'def f(x):\n    return "x + 1"',
        "f = lambda x: x + 1",
        "class C:\n    def f(x):\n        return x + 1",
    ],
)
def test_other_code_is_not_taken(prompt: Prompt, other: str) -> None:
    prompt.type("def f(x):\n    return x + 1")
    prompt.history.clear()
    prompt.type("f, old = None, f")
    prompt.type(other)
    assert find_block(prompt.code("old"), prompt.history) is None


def test_a_long_history(prompt: Prompt) -> None:
    """Many versions of a function do not keep the search busy."""
    for number in range(60):
        body = "\n".join(f"    y += {n}" for n in range(number, number + 40))
        prompt.type(f"def f(x):\n    y = x\n{body}\n    return y")
    code = prompt.code("f")
    assert find_block(code, prompt.history) is not None
    assert find_block(code, prompt.history[:-42]) is None


class Readline:
    """The part of the module that reads a history."""

    def __init__(self, items: list[str]) -> None:
        self.items = items

    def get_current_history_length(self) -> int:
        return len(self.items)

    def get_history_item(self, number: int) -> str:
        return self.items[number - 1]


def test_what_was_read_stays(prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "readline", Readline(prompt.history))
    for number in 1, 2:
        prompt.type(f"def kept(x):\n    return x + 100{number}")
        prompt.type(f"kept_{number} = kept")
    codes = [prompt.code(f"kept_{number}") for number in (1, 2)]
    first, second = (read_typed(code) for code in codes)
    assert (first.file, second.file) == ("<typed kept>", "<typed kept 2>")
    prompt.history.clear()
    assert [read_typed(code) for code in codes] == [first, second]
    assert linecache.getlines(second.file) == ["def kept(x):\n", "    return x + 1002\n"]


def test_what_is_missing_is_searched_again(prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as something else was typed."""
    monkeypatch.setitem(sys.modules, "readline", Readline(prompt.history))
    text = "def missing(x):\n    return x + 1003"
    prompt.type(text)
    code = prompt.code("missing")
    prompt.history.clear()
    with pytest.raises(OSError, match="missing is not in the history"):
        read_typed(code)
    prompt.type(text)
    assert "".join(read_typed(code).lines) == f"{text}\n"


def test_without_readline(prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not loaded for this: that would change the terminal of a job."""
    monkeypatch.delitem(sys.modules, "readline", raising=False)
    prompt.type("def missing(x):\n    return x + 1004")
    with pytest.raises(OSError, match="missing is not in the history"):
        read_typed(prompt.code("missing"))
    assert "readline" not in sys.modules
