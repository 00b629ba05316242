"""A supported fold with one construct that lifting knows nothing of: it must decline, or be right.

What is lifted all the same is run like any other fold, so that a wrong reading would come out.
"""

from __future__ import annotations

from random import Random

from tests.fuzz import programs
from tests.fuzz.programs import NAME, Program

from presieve.records import replace

GLOBALS = (
    "SEEN = []",
    "TOTALS = {}",
    "LIMIT = 5",
    "def helper(x):\n    return x",
    "import math\nimport random\nimport time",
)
STATEMENTS = (
    "while {f} is {f}:\n    break",
    "for _each in (1, 2):\n    {f} = {f}",
    "try:\n    {f} = {f}\nexcept ValueError:\n    pass",
    "with open('/dev/null') as _file:\n    pass",
    "SEEN.append({f})",
    "TOTALS['n'] = {f}",
    "global COUNT\nCOUNT = 1",
    "{f} = helper({f})",
    "{f} = sum([1 for _each in (1, 2)]) and {f}",
    "{f} = {{'v': {f}}}['v']",
    "{f} = (lambda v: v)({f})",
    "{f} = {f} if time.time() > 0 else None",
    "{f} = {f} if random.random() < 2 else None",
    "{f} = {f} if math.floor(2.5) == 2 else None",
    "{f} = {f} if round(2.5) == 2 else {f}",
    "{f} = {f} if isinstance({f}, object) else {f}",
    "{f} = {f} if 'x'.upper() == 'X' else None",
    "{f} = {f} if f'{{{f}}}' else {f}",
    "{f} = {f} if sorted((2, 1))[0] == 1 else None",
    "{f} = {f} if hash('a') else {f}",
    "{f} = {f} if id({f}) else {f}",
    "{f} = {f} if 7 & 3 else {f}",
    "{f} = {f} if any((True, False)) else {f}",
    "if ({f} := {f}) is None:\n    pass",
    "match {f}:\n    case None:\n        pass",
    "del {f}\n{f} = None",
    "{f}, *_rest = ({f}, 1)",
    "print(end='')",
    "nonlocal_name = vars()",
    "assert {f} is not NotImplemented",
    "{f} = {f} if dt.date.today() else {f}",
    "async_ = getattr(row, 'a', None)",
    "import os",
    "class Inner:\n    pass",
    "def inner():\n    return 1",
    "{f} = eval('{f}')",
    "exec('pass')",
    "{f} = min(({f}, {f}), key=lambda v: 0)",
    "yield {f}",
)
KNOWN = (
    "{f} = [{f}][0]",
    "{f} = {f} if 2 ** 3 > LIMIT else {f}",
    "{f} = {f} if pd.isna(None) else {f}",
    "{f} = {f} or {f}",
    "row = None",
    "{f} = {f} if str({f}) != 'x' else {f}",
)
"""Odd, yet understood most of the time."""
KNOWN_SHARE = 0.02


def make(random: Random) -> Program:
    """A program with a strange statement somewhere in its step."""
    program = programs.make(random)
    lines = program.source.splitlines()
    field = "p" if "    p" in program.source else "acc"
    statement = (
        random.choice(KNOWN if random.random() < KNOWN_SHARE else STATEMENTS)
        .format(f=field)
        .split("\n")
    )
    at, indent = _place(random, lines, program)
    strange = [" " * indent + s for s in statement]
    above = random.choice(GLOBALS).split("\n") if "SEEN" not in statement[0] else ["SEEN = []"]
    first = next(i for i, x in enumerate(lines) if NAME in x)
    source = [*lines[:first], *above, "", *lines[first:at], *strange, *lines[at:]]
    return replace(program, source="\n".join(source) + "\n")


def _place(random: Random, lines: list[str], program: Program) -> tuple[int, int]:
    """Where a statement of the step may stand: a line number and its indentation."""
    mark = "def reduce" if program.form == "class" else "    for "
    start = next(i for i, x in enumerate(lines) if x.lstrip().startswith(mark.strip()))
    first = start + (2 if program.form == "class" else 1)
    end = first
    while end < len(lines) and lines[end].startswith("        "):
        end += 1
    if program.form == "class":
        end -= 1  # before its last return
    places = [i for i in range(first, end + 1) if i == end or lines[i][8] not in " e"]
    return random.choice(places), 8
