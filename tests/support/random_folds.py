"""Random folds as Python source: most of what lifting accepts, and some of what it must decline."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

COLUMNS = {
    "a": "int",
    "b": "bigint NOT NULL",
    "x": "double",
    "y": "double NOT NULL",
    "s": "string",
    "f": "boolean",
    "d": "date",
}


@dataclass(frozen=True)
class Kind:
    """Expressions of one type: columns, constants, and what a field may start with."""

    type: str
    columns: tuple[str, ...]
    constants: tuple[str, ...]
    initial: tuple[str, ...]
    unary: tuple[str, ...] = ()
    binary: tuple[str, ...] = ()


KINDS = {
    "int": Kind(
        "bigint",
        ("row.a", "row.b", "row['a']", "row[1]"),
        ("0", "1", "-3", "10**3", "7"),
        ("0", "None", "1", "None"),
        ("-{}", "abs({})", "int({})", "{} * {}"),
        ("{} + {}", "{} - {}", "{} * {}", "{} // {}", "{} % {}", "min({}, {})", "max({}, {})"),
    ),
    "float": Kind(
        "double",
        ("row.x", "row.y", "row['x']", "row[3]"),
        ("0.0", "-0.0", "2.5", "1", "float('inf')", "0"),
        ("0", "0.0", "None", "None", "-1.5"),
        ("-{}", "abs({})", "float({})"),
        ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "min({}, {})", "max({}, {}, 1.5)"),
    ),
    "text": Kind(
        "string",
        ("row.s",),
        ("''", "'a'", "'b'", "'None'"),
        ("None", "''"),
        ("str({})",),
        ("max({}, {})",),
    ),
    "bool": Kind("boolean", ("row.f",), ("True", "False"), ("None", "False"), ("bool({})",), ()),
    "date": Kind("date", ("row.d", "row['d']"), ("None",), ("None",), (), ("min({}, {})",)),
}


class Programs:
    """A source of random classes with two fields, ``p`` and ``q``, each of one kind."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kinds: dict[str, str] = {}

    def program(self, name: str) -> tuple[str, tuple[str, str]]:
        """One class as source text, and the Spark types of its two outputs."""
        start = self.start()
        lines = [
            f"class {name}:",
            "    def zero(self):",
            f"        return ({start})",
            "    def reduce(self, acc, row):",
            "        p, q = acc",
            *("        " + line for line in self.block(3, row=True)),
            "        return (p, q)",
            "    def finish(self, acc):",
            "        p, q = acc",
            *("        " + line for line in self.block(1, row=False)),
            "        return (p, q)",
        ]
        return "\n".join(lines) + "\n", self.types()

    def function(self, name: str) -> tuple[str, tuple[str, str]]:
        """The same as a function for ``applyInPandas``."""
        start = self.start()
        loop = [re.sub(r"return .*", "continue", line) for line in self.block(3, row=True)]
        last = self.block(1, row=False)
        table = r"return pd.DataFrame([\1], columns=['p', 'q'])"
        lines = [
            f"def {name}(pdf):",
            f"    p, q = {start}",
            "    for row in pdf.itertuples(index=False):",
            *("        " + re.sub(r"row\['(\w)'\]", r"row.\1", line) for line in loop),
            *("    " + re.sub(r"return (.*)", table, line) for line in last),
            "    return pd.DataFrame({'q': [q], 'p': [p]})",
        ]
        return "\n".join(lines) + "\n", self.types()

    def start(self) -> str:
        """Chooses the kinds of the two fields; what they start with."""
        self.kinds = {v: self.random.choices(tuple(KINDS), (5, 5, 2, 1, 1))[0] for v in ("p", "q")}
        return ", ".join(self.random.choice(KINDS[k].initial) for k in self.kinds.values())

    def types(self) -> tuple[str, str]:
        """The Spark types of the two fields."""
        return KINDS[self.kinds["p"]].type, KINDS[self.kinds["q"]].type

    def block(self, depth: int, *, row: bool) -> list[str]:
        """Some statements."""
        count = self.random.choice((1, 2, 2) if row else (0, 1))
        lines = [line for _ in range(count) for line in self.statement(depth, row)]
        return lines or ["pass"]

    def statement(self, depth: int, row: bool) -> list[str]:
        """One statement, as lines."""
        choice = self.random.random()
        target = self.random.choice(("p", "q"))
        if depth > 0 and choice < 0.5:
            lines = [f"if {self.test(2, row)}:"]
            lines += ["    " + x for x in self.block(depth - 1, row=row)]
            if self.random.random() < 0.5:
                lines += [self.random.choice(("else:", f"elif {self.test(1, row)}:"))]
                lines += ["    " + x for x in self.block(depth - 1, row=row)]
            return lines
        if choice < 0.53 and self.kinds["p"] == self.kinds["q"]:
            return ["p, q = q, p"]
        if choice < 0.58 and depth < 3:
            p, q = self.value(self.kinds["p"], 1, row), self.value(self.kinds["q"], 1, row)
            return [f"return ({p}, {q})"]
        if choice < 0.61:
            return [f"if {self.test(1, row)}:", "    raise ValueError('no')"]
        if choice < 0.63:
            return [f"assert {self.test(1, row)}"]
        kind = self.kinds[target]
        if choice < 0.73 and kind in ("int", "float"):
            return [f"{target} {self.random.choice('+-*')}= {self.value(kind, 1, row)}"]
        if choice < 0.8:
            value = f"t = {self.value(kind, 2, row)}"
            return [value, f"{target} = t if {self.test(1, row)} else {target}"]
        return [f"{target} = {self.value(kind, 2, row)}"]

    def atom(self, kind: str, row: bool) -> str:
        """A variable, column or constant."""
        known = KINDS[kind]
        fields = [v for v in ("p", "q") if self.kinds[v] == kind]
        choices = [*fields * 3, *known.constants]
        if row:
            choices += known.columns * 2
        if self.random.random() < 0.02:
            choices = ["None", "row.s", "0", "p"]
        return self.random.choice(choices)

    def value(self, kind: str, depth: int, row: bool) -> str:
        """An expression."""
        known = KINDS[kind]
        if depth == 0 or self.random.random() < 0.45:
            return self.atom(kind, row)
        a, b = self.value(kind, depth - 1, row), self.value(kind, depth - 1, row)
        forms = [
            *(f"({form.format(a, b)})" for form in (*known.unary, *known.binary)),
            f"({a} if {self.test(1, row)} else {b})",
            f"({a} if {self.test(1, row)} else {b})",
            f"({a} or {b})",
            f"({a} and {b})",
            f"({b} if {a} is None else {a})",
        ]
        if kind == "bool":
            forms += [f"({self.test(1, row)})"] * 3
        if kind == "int":
            forms += [f"({self.test(1, row)}) + {a}"]
        return self.random.choice(forms)

    def sure(self, kind: str) -> str:
        """A number that is never None, mostly; else a constant."""
        return {"int": "row.b", "float": "row.y"}.get(kind, self.random.choice(("1", "row.b", "2")))

    def test(self, depth: int, row: bool) -> str:
        """A condition."""
        if depth > 0 and self.random.random() < 0.4:
            a, b = self.test(depth - 1, row), self.test(depth - 1, row)
            return self.random.choice((f"({a} and {b})", f"({a} or {b})", f"(not {a})"))
        kind = self.random.choice(
            (*self.kinds.values(), *KINDS) if row else tuple(self.kinds.values())
        )
        a, b = self.value(kind, depth // 2, row), self.value(kind, depth // 2, row)
        less = self.random.choice(("<", "<=", ">", ">=")) if kind != "bool" else "=="
        return self.random.choice(
            (
                f"{a} {less} {b}",
                f"{a} {self.random.choice(('==', '!='))} {b}",
                f"{a} is None",
                f"{a} is not None",
                f"({a} is not None and {b} is not None and {a} {less} {b})",
                f"({a} is None or {b} is None or {a} {less} {b})",
                f"(({a}) is None or {b} {less} {a})",
                f"{self.atom(kind, row)} {less} {a} <= {b}",
                f"{a} in ({self.atom(kind, False)}, {self.atom(kind, False)}, None)",
                f"{a} not in ({self.atom(kind, False)}, 'a')",
                f"{a}",
                "({0}, {1}) < ({0}, {2})".format(*(self.sure(kind) for _ in range(3))),
            )
        )
