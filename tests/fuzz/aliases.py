"""A supported fold with a field kept in a list or dict that has two names.

One name is written and another one read. Where both are one object the fold is what it was; where
one of them is a copy, what is read is old.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from tests.fuzz import programs
from tests.fuzz.programs import NAME, Program

from presieve.records import replace

FIELD = "p"
"""The first field of every program."""
PUT = "def put(b, v):\n    b[0] = v\n\n\n"
KEEP = "def keep(b=[0]):\n    return b\n\n\n"


@dataclass(frozen=True)
class Box:
    """How a value is held: lines that make the box and give it a second name, and how each name is
    written.
    """

    lines: tuple[str, ...]
    write: str
    read: str
    above: str = ""


BOXES = (
    (Box(("box = [p]", "twin = box"), "box[0]", "twin[0]"), 8),
    (Box(("box = twin = [p]",), "box[0]", "twin[0]"), 4),
    (Box(("box = [p]", "twin = list(box)"), "box[0]", "twin[0]"), 2),
    (Box(("box = [p]", "twin = box[:]"), "box[0]", "twin[0]"), 2),
    (Box(("box = [p]", "twin = box", "box = [p]"), "box[0]", "twin[0]"), 2),
    (Box(('box = {"v": p}', "twin = box"), 'box["v"]', 'twin["v"]'), 4),
    (Box(('box = {"v": p}', "twin = dict(box)"), 'box["v"]', 'twin["v"]'), 2),
    (Box(("box = [p]", "twin = (box, 0)"), "box[0]", "twin[0][0]"), 3),
    (Box(("box = [p]", 'twin = {"b": box}'), "box[0]", 'twin["b"][0]'), 3),
    (Box(("box = [[p]]", "twin = box[0]"), "box[0][0]", "twin[0]"), 3),
    (Box(("box = [[p]] * 2", "twin = box[1]"), "box[0][0]", "twin[0]"), 3),
    (Box(("box = [p]", "twin, other = box, box"), "other[0]", "twin[0]"), 3),
    (Box(("box = keep()", "box[0] = p", "twin = keep()"), "box[0]", "twin[0]", KEEP), 2),
)


def make(random: Random) -> Program:
    """A random program. What it says of its outputs is right where both names are one object."""
    program = programs.make(random)
    box = random.choices([b for b, _ in BOXES], [w for _, w in BOXES])[0]
    lines = program.source.splitlines()
    first = next(i for i, x in enumerate(lines) if x.startswith((f"def {NAME}", f"class {NAME}")))
    if program.form == "class":
        first = next(i for i, x in enumerate(lines) if "def reduce" in x)
    start = first + 2  # the field is there after this line
    until = next((i for i in range(start, len(lines)) if "def finish" in lines[i]), len(lines))
    indent = " " * (8 if program.form == "class" else 4)
    body = [_boxed(random, x, box) for x in lines[start:until]]
    bind = [indent + x for x in box.lines]
    above = box.above.splitlines()
    if any("put(" in x for x in body):
        above += PUT.splitlines()
    at = next(i for i, x in enumerate(lines) if x.startswith((f"def {NAME}", f"class {NAME}")))
    source = [*lines[:at], *above, *lines[at:start], *bind, *body, *lines[until:]]
    return replace(program, source="\n".join(source) + "\n")


def _boxed(random: Random, line: str, box: Box) -> str:
    """The line with the field written by one name and read by the other."""
    stored = re.match(rf"(\s*){FIELD} = (.*)$", line)
    if stored:
        value = _read(stored[2], box)
        if box.write == "box[0]" and random.random() < 0.1:
            return f"{stored[1]}put(box, {value})"
        return f"{stored[1]}{box.write} = {value}"
    changed = re.match(rf"(\s*){FIELD}( \+= |, \w+ = )(.*)$", line)
    if changed:
        return f"{changed[1]}{box.write}{changed[2]}{_read(changed[3], box)}"
    both = re.match(rf"(.*): {FIELD} = (.*)$", line)
    if both:
        return f"{_read(both[1], box)}: {box.write} = {_read(both[2], box)}"
    return _read(line, box)


def _read(text: str, box: Box) -> str:
    return re.sub(rf"\b{FIELD}\b", lambda _: box.read, text)
