"""Random folds with ``try``, handlers, errors that are raised on purpose, and helper functions."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

TYPES = ("double", "bigint")
_ERRORS = ("ZeroDivisionError", "TypeError", "ValueError", "KeyError", "IndexError")
_CAUGHT: tuple[str, ...] = (
    *("except ZeroDivisionError:", "except TypeError:", "except (ValueError, TypeError):"),
    *("except Exception:", "except:", "except ArithmeticError:", "except LookupError:"),
    *("except AttributeError as e:", "except (KeyError, AttributeError, OverflowError):"),
    *("except (TypeError, ZeroDivisionError) as e:", "except Exception as e:"),
)
_WITH_ERROR = (
    *("raise ValueError('no') from e", "raise e", "LOG.debug('%s %s', e, str(e))"),
    "LOG.debug(f'{e} {type(e).__name__}', repr(e))",
)
_CODE = """
import logging
import math
import re

LOG = logging.getLogger("tried")
PATTERN = re.compile("a")
CODES = {"a": 1, "b": 0}

def helper(w, v):
    k, n = 7, 77
    if w is None:
        raise KeyError("w")
    w = w / v
    if w > 2:
        return w
    return math.sqrt(w)

def guarded(w, n):
    v = 1.0
    try:
        v = w / n
    except ZeroDivisionError:
        raise ValueError("n")
    return v
"""


class TryPrograms:
    """A source of random classes. ``n`` is an integer, ``v`` a float, ``w`` one of the row."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        """One of some texts."""
        return str(self.random.choice(choices))

    def program(self, name: str) -> tuple[str, tuple[str, str]]:
        """One class as source text, and the Spark types of its two outputs."""
        lines = [
            f"class {name}:",
            "    def zero(self):",
            "        return (0.0, 0)",
            "    def reduce(self, acc, row):",
            "        v, n = acc",
            "        w, k = 1.5, 1",
            *("        " + line for line in self.block(2)),
            "        return (v, n)",
            "    def finish(self, acc):",
            "        return (acc[0], acc[1] % 1000)",
        ]
        return "\n".join(lines) + "\n", TYPES

    def function(self, name: str) -> tuple[str, tuple[str, str]]:
        """The same as a function for ``applyInPandas``."""
        lines = [
            f"def {name}(pdf):",
            "    v, n, w, k = 0.0, 0, 1.5, 1",
            "    for row in pdf.itertuples(index=False):",
            "        w, k = 1.5, 1",
            *("        " + line for line in self.block(2)),
            "    return pd.DataFrame({'p': [v], 'q': [n % 1000]})",
        ]
        left = [re.sub(r"return \(.*\)$", "continue", line) for line in lines[:-1]]
        return "\n".join([*left, lines[-1]]) + "\n", TYPES

    def block(self, depth: int) -> list[str]:
        """Statements, with one ``try`` at least where there is room for it."""
        lines = [] if self.random.random() < 0.5 else [self.statement()]
        if depth == 2 and self.random.random() < 0.3:
            return lines + self.loop()
        lines += self.attempt(depth) if depth else [self.statement()]
        return lines + ([self.statement()] if self.random.random() < 0.5 else [])

    def statement(self) -> str:
        """One line, which may raise."""
        number = self.pick("w", "row.x", "row.y", "1.0", "row.a", "k")
        choices: tuple[Callable[[], str], ...] = (
            lambda: f"w = {number} / {self.pick('row.y', 'row.x', 'row.a', '2.0')}",
            lambda: f"w = math.sqrt({self.pick('row.y', 'row.x', 'w')})",
            lambda: f"k = int({self.pick('row.x', 'row.y', 'row.a')})",
            lambda: "k = CODES[row.s]",
            lambda: f"k = len(row.s) + {self.pick('row.a', '1')}",
            lambda: "k = 7 % row.a",
            lambda: f"w = {self.pick('helper', 'guarded')}({number}, row.y)",
            lambda: "n = n + 1",
            lambda: "v = v + w",
            lambda: "n = n + (k if row.f else 2)",
            lambda: f"if row.{self.pick('f', 'a', 's')}: raise {self.pick(*_ERRORS)}('no')",
            lambda: "if row.b > 0 and w > row.y: return (w, k % 1000)",
            lambda: "w = row.x if row.y / 2 > 1 else row.y / row.a",
            lambda: "if row.s.startswith('a') or 1 / row.y > 2: k = 4",
            lambda: "assert row.a",
            lambda: "k = row.s.index('b')",
            lambda: f"k = len(row.s.{self.pick('strip', 'upper', 'lower')}())",
            lambda: "k = len(row.s.split('b')[1])",
            lambda: "k = 5 if row.s[0] == 'a' else 3",
            lambda: f"{self.pick('w', 'k')} = {self.pick('float', 'int')}(row.s)",
            lambda: "w, k = row.y / row.x, k + 1",
        )
        return self.random.choice(choices)()

    def loop(self) -> list[str]:
        """Rounds that are left where something is caught, or go on."""
        inner = [*self.attempt(1), self.statement(), "v = v + w"]
        left = self.pick("continue", "break", "n = n + 10", "return (v, n)")
        lines = [line.replace("n = n + 10", left) for line in inner]
        here = self.pick("n = n + 1", "if row.f: continue", "if row.f: break")
        lines = [
            line[: -len("n = n + 1")] + here if line.endswith("n = n + 1") else line
            for line in lines
        ]
        numbers = self.pick("(2, 0, 1)", "(1, 3)", "range(3)")
        test = self.pick("if c / w > 1: continue", "k = 6 // c", "w = c / row.y", "pass")
        return [f"for c in {numbers}:", *("    " + line for line in [*lines, test])]

    def attempt(self, depth: int) -> list[str]:
        """One ``try`` with handlers, and what is inside of them."""
        lines = ["try:", *("    " + x for x in self.block(depth - 1))]
        if self.random.random() < 0.4:
            lines.append("    " + self.statement())
        handlers = dict.fromkeys(self.pick(*_CAUGHT) for _ in range(self.random.choice([1, 1, 2])))
        for handler in sorted(handlers, key=lambda h: h == "except:"):
            inner = self.pick("pass", "n = n + 10", "k = -1", "return (v, n)", "raise", "w = -2.0")
            if handler.endswith(" as e:") and self.random.random() < 0.5:
                lines += [handler, "    " + self.pick(*_WITH_ERROR)]
                continue
            lines += [handler, "    " + (self.statement() if inner == "pass" else inner)]
        if self.random.random() < 0.3:
            lines += ["else:", "    " + self.statement()]
        return lines


def sources(seed: int, count: int, *, classes: bool) -> list[tuple[str, tuple[str, str]]]:
    """So many programs, after what they call."""
    source = TryPrograms(seed)
    write = source.program if classes else source.function
    made = [write(f"F{i}") for i in range(count)]
    return [(_CODE + made[0][0], TYPES), *made[1:]]


_CLASSES = (
    *("TypeError", "ValueError", "OverflowError", "ZeroDivisionError", "AttributeError"),
    *("IndexError", "KeyError", "AssertionError", "RuntimeError", "Exception"),
)
OPERATIONS = [
    *("row.x / row.y", "7 // row.a", "7 % row.a", "row.a / 2", "row.x * row.y", "row.x + row.a"),
    *("-row.x", "abs(row.x)", "row.x < row.y", "row.s < 'b'", "row.d < row.d", "row.a ** 2"),
    *("min(row.x, row.y)", "max(row.a, 3)", "row.x in (1.5, 2.5)", "row.s == 'a'", "not row.s"),
    *("float(row.x)", "float(row.s)", "float(row.a)", "int(row.x)", "int(row.s)", "int(row.f)"),
    *("bool(row.x)", "len(row.s)", "round(row.x)", "round(row.x, 1)", "round(row.a)"),
    *(f"math.{name}(row.x)" for name in ("floor", "ceil", "trunc", "sqrt", "fabs")),
    *(f"math.{name}(row.x)" for name in ("isnan", "isinf", "isfinite")),
    *(f"re.{name}('a', row.s)" for name in ("match", "search", "fullmatch")),
    *(f"row.s.{name}()" for name in ("upper", "lower", "strip", "lstrip", "rstrip", "isdigit")),
    *(f"row.s.{name}()" for name in ("isdecimal", "isnumeric", "isalpha", "isalnum", "isspace")),
    *(f"row.s.{name}()" for name in ("isupper", "islower", "title", "capitalize", "casefold")),
    *("row.s.swapcase()", "row.s.zfill(3)", "' '.join(row.s.split())", "re.findall('a', row.s)"),
    *(f"row.s.{name}('a')" for name in ("removesuffix", "rfind", "rindex")),
    *("row.s.partition('a')[0]", "row.s.rpartition('a')[0]", "row.s.rsplit('a', 1)[0]"),
    *(
        "re.sub('a', 'b', row.s)",
        "re.match('(a)', row.s).group(1)",
        "re.match('(a)', row.s).groups()",
    ),
    *(f"row.s.{name}('a')" for name in ("removeprefix", "startswith", "endswith", "find")),
    *("row.s.index('a')", "row.s.count('a')", "row.s.replace('a', 'b')", "row.s.split('a')[0]"),
    *("row.s.split('a')[1]", "row.s[0]", "row.s[-1]", "row.s[1:]", "row.s + 'a'", "'a' in row.s"),
    *("CODES[row.s]", "CODES.get(row.s)", "PATTERN.match(row.s)", "PATTERN.search(row.s)"),
    *("PATTERN.fullmatch(row.s)", "row.d.year", "row.d.weekday()", "row.d.isoweekday()"),
    *("row.x * ((row.b ** 3) ** 3) ** 3", "float(((row.b ** 3) ** 3) ** 3)", "assert row.a"),
    *("row.d.toordinal()", "(row.d - row.d).days", "helper(row.x, row.y)"),
    *(
        "guarded(row.x, row.y)",
        "row.x / row.y if row.f else float(row.s)",
        "row.f and 1 / row.y > 2",
    ),
]
"""What may stand in a body, as it may raise."""


def operations() -> list[tuple[str, tuple[str, str]]]:
    """For every operation a program that tells the class of its error."""
    made = []
    for number, operation in enumerate(OPERATIONS):
        lines = [
            f"class F{number}:",
            "    def zero(self):",
            "        return (0.0, 0)",
            "    def reduce(self, acc, row):",
            "        try:",
            f"            {operation}",
        ]
        for code, name in enumerate(_CLASSES, 1):
            lines += [f"        except {name}:", f"            return (0.5, {code})"]
        lines += ["        return (acc[0], 0)"]
        made.append(("\n".join(lines) + "\n", TYPES))
    return [(_CODE + made[0][0], TYPES), *made[1:]]
