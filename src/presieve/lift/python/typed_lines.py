# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The source of what was typed at Python's prompt, from the history of its lines.

Before Python 3.13 the prompt keeps no source: a function that is typed there has the file
``<stdin>``. But readline keeps the lines, for the arrow keys. The latest lines are searched that
compile to the code that runs; :mod:`presieve.lift.python.source` compares them once more.

The history has no empty lines, and no line that is the same as the line before it. Inside of a
function both can matter: they are put back where the code has more lines than the history.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count, islice
from types import CodeType

from msgspec import Struct

from presieve.lift.python.code_objects import FUTURE_FLAGS, inner_codes, same_code

PROMPTS = ("<stdin>", "<console>")
"""The files of what is typed at a prompt that keeps no source."""

_MOST_DEFINITIONS = 200
_MOST_ENDS = 50
_MOST_REPAIRS = 50
_LAMBDA = "<lambda>"


class TypedSource(Struct, frozen=True):
    """What was typed in one go, up to the prompt for the next. ``file`` names it in messages."""

    file: str
    lines: tuple[str, ...]


def read_typed(code: CodeType) -> TypedSource:
    """Return what was typed to make this code. Raises OSError if it is not in the history."""
    return _read_typed(code, code.co_qualname)


@lru_cache(maxsize=256)
def _read_typed(code: CodeType, qualname: str) -> TypedSource:
    """Find it once: the same text makes the same code, whatever is typed later."""
    history = _read_history()
    block = _find_once(code, qualname, len(history), history[-1] if history else "")
    if block is None:
        raise OSError(f"{qualname} is not in the history")
    lines = [f"{line}\n" for line in block]
    return TypedSource(_keep_lines(qualname, lines), tuple(lines))


@lru_cache(maxsize=256)
def _find_once(code: CodeType, _qualname: str, _length: int, _last: str) -> list[str] | None:
    """Search a history of this length, with this last line. What is not there is not searched for
    again, until something else is typed.
    """
    return find_block(code, _read_history())


def _read_history() -> list[str]:
    """Return the lines of the history, if this process has loaded readline, as a prompt does."""
    readline = sys.modules.get("readline")
    if readline is None:
        return []
    length = readline.get_current_history_length()
    items = (readline.get_history_item(i) for i in range(1, length + 1))
    # What is pasted in brackets is one item with several lines.
    return [line for item in items if item for line in item.split("\n")]


def _keep_lines(qualname: str, lines: list[str]) -> str:
    """Put the lines where reports look for those of files, and return the name of their file."""
    name = qualname.partition(".")[0].strip("<>")
    for number in count(1):
        file = f"<typed {name}>" if number == 1 else f"<typed {name} {number}>"
        entry = linecache.cache.setdefault(file, (len("".join(lines)), None, lines, file))
        if entry[2:3] == (lines,):
            return file
    raise AssertionError


# --- the search -----------------------------------------------------------------------------------


def find_block(code: CodeType, history: Sequence[str]) -> list[str] | None:
    """Return the latest lines that compile to this code, which then has its own line numbers; None
    if there are none.
    """
    for at in islice(_list_definitions(code, history), _MOST_DEFINITIONS):
        fitting = None
        for block in _list_blocks(code, history, at):
            above = _count_lines_above(block, code)
            if above is not None:
                fitting = fitting or [""] * above + list(block)
                if _find_difference(block, code) is None:  # also of lines
                    return [""] * above + list(block)
        if fitting is not None:
            return fitting
    return None


def _list_definitions(code: CodeType, history: Sequence[str]) -> Iterator[int]:
    """Yield the lines that may define the function, the latest first."""
    name = re.escape(code.co_name)
    pattern = r".*\blambda\b" if code.co_name == _LAMBDA else rf"\s*def\s+{name}\b"
    definition = re.compile(pattern)
    return (i for i in range(len(history) - 1, -1, -1) if definition.match(history[i]))


def _list_blocks(code: CodeType, history: Sequence[str], at: int) -> Iterator[Sequence[str]]:
    """Yield what may have been typed in one go around a definition."""
    for first in range(at, max(at - _find_last_line(code), -1), -1):
        if _can_start_statement(history[first]):
            yield from _cut_blocks(code, history, first, at)


def _cut_blocks(
    code: CodeType, history: Sequence[str], first: int, at: int
) -> Iterator[Sequence[str]]:
    """Yield the lines from the first on that can be parsed, with the definition; the whole first.

    The prompt ends a statement at an empty line, which the history does not have: lines after it
    that were rejected because of their indentation look as if they belonged to it.
    """
    rest = range(at + 1, len(history))
    ends = [
        *islice((i for i in rest if _can_start_statement(history[i])), _MOST_ENDS),
        len(history),
    ]
    whole = next((end for end in ends if _parse(history[first:end]) is not None), ends[0])
    yield history[first:whole]
    yield from islice(_put_lines_back(history[first:whole], code), _MOST_REPAIRS)
    for end in range(whole - 1, at, -1):
        yield history[first:end]


def _can_start_statement(line: str) -> bool:
    """Return whether a statement can start with the line, or the line above it end one."""
    return bool(line[:1].strip())


def _count_lines_above(block: Sequence[str], code: CodeType) -> int | None:
    """Return how many lines have to stand above the block to have this code at its place; None if
    it is not in the block.
    """
    same = (c for c in _compile(block, code) if same_code(c, code))
    above = (code.co_firstlineno - c.co_firstlineno for c in same)
    return min((n for n in above if n >= 0), default=None)


def _parse(block: Sequence[str]) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse("\n".join(block) + "\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _compile(block: Sequence[str], code: CodeType) -> list[CodeType]:
    """Return the code objects of the block that have the name of this one."""
    flags = code.co_flags & FUTURE_FLAGS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = compile("\n".join(block) + "\n", PROMPTS[0], "exec", flags, True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [c for c in inner_codes(whole) if c.co_qualname == code.co_qualname]


def _find_last_line(code: CodeType) -> int:
    places = (p for c in (code, *inner_codes(code)) for p in c.co_positions())
    return max((line for p in places for line in p[:2] if line is not None), default=0)


# --- lines that the history does not have ---------------------------------------------------------


def _put_lines_back(block: Sequence[str], code: CodeType) -> Iterator[Sequence[str]]:
    """Yield the block with the empty lines of its texts, then with repeated and empty lines too."""
    extents = [_find_last_line(c) - c.co_firstlineno for c in _compile(block, code)]
    if extents and max(extents) < _find_last_line(code) - code.co_firstlineno:
        yield from _add_lines(_fill_texts(block, code), code)


class _Difference(Struct, frozen=True):
    """Where the code of a block begins to differ: the number of instructions before, and the lines
    of the block, from 0, in or below which a line may be missing.
    """

    instructions: int
    lines: range


def _add_lines(block: Sequence[str], code: CodeType) -> Iterator[Sequence[str]]:
    yield block
    difference = _find_difference(block, code)
    for i in difference.lines if difference is not None else ():
        for line in (block[i], ""):
            more = [*block[: i + 1], line, *block[i + 1 :]]
            if _is_nearer(more, code, difference):
                yield from _add_lines(more, code)


def _is_nearer(block: Sequence[str], code: CodeType, difference: _Difference | None) -> bool:
    later = _find_difference(block, code)
    if later is None or difference is None:
        return bool(_compile(block, code))
    return later.instructions > difference.instructions


def _find_difference(block: Sequence[str], code: CodeType) -> _Difference | None:
    """Return where the block differs from the code; None if it does not, or cannot be compiled."""
    wanted = _list_marks(code)
    differences = []
    for c in _compile(block, code):
        own = _list_marks(c)
        pairs = zip(own, wanted, strict=False)
        same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(own), len(wanted)))
        around = [line for _, line in own[max(same - 1, 0) : same + 1]]
        if same < len(wanted) and around:
            # Instructions of the line below a missing one may begin like those of that one.
            above = max((line for _, line in own[:same] if line < min(around)), default=0)
            first, last = c.co_firstlineno - 1 + above, c.co_firstlineno + max(around)
            differences.append(_Difference(same, range(first, min(last, len(block)))))
    return max(differences, key=lambda d: d.instructions, default=None)


def _list_marks(code: CodeType) -> list[tuple[int, int]]:
    """Return each instruction, and its line, from that of the function on."""
    marks = []
    for c in (code, *inner_codes(code)):
        for operation, place in zip(c.co_code[::2], c.co_positions(), strict=True):
            line = place[0] if place[0] is not None else c.co_firstlineno
            marks.append((operation, line - code.co_firstlineno))
    return marks


def _fill_texts(block: Sequence[str], code: CodeType) -> list[str]:
    """Put back the empty lines of texts in several lines, which the code has as constants."""
    codes = (code, *inner_codes(code))
    wanted = [t for c in codes for t in c.co_consts if isinstance(t, str) and "\n\n" in t]
    tree = _parse(block)
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Constant)] if tree is not None else []
    lines = list(block)
    for node in sorted(nodes, key=lambda n: n.lineno, reverse=True):
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        if isinstance(node.value, str) and last - first > 1:
            fillings = (_fill_text(lines[first:last], node.value, text) for text in wanted)
            lines[first:last] = next((f for f in fillings if f is not None), lines[first:last])
    return lines


def _fill_text(source: Sequence[str], text: str, wanted: str) -> list[str] | None:
    """Return the source of the text with empty lines, so that it is the wanted text; None if other
    lines differ.
    """
    parts, targets = text.split("\n"), wanted.split("\n")
    if len(parts) != len(source):
        return None
    filled = list[str]()
    used = 0
    for number, target in enumerate(targets, 1):
        is_last = used == len(parts) - 1
        # Python 3.13 removes the indentation of docstrings.
        same = used < len(parts) and parts[used].strip() == target.strip()
        if same and is_last == (number == len(targets)):
            filled.append(source[used])
            used += 1
        elif target == "":
            filled.append("")
        else:
            return None
    return filled if used == len(parts) else None
