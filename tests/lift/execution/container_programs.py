"""Random folds over a list, a dict, a set and bit flags, with further names for objects."""

from __future__ import annotations

import random
import re

TYPES = ("bigint", "boolean")
_TEXTS = ("'a'", "'b'", "'c'", "''")


def _one_name(text: str) -> str:
    for other, name in (("m", "l"), ("e", "d"), ("t", "s")):
        text = re.sub(rf"\b{other}\b", name, text)
    return text


class ContainerPrograms:
    """A source of random classes. ``l``, ``d``, ``s`` and ``f`` are the state; ``m``, ``e`` and
    ``t`` further names of the first three.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self, name: str) -> tuple[str, tuple[str, str]]:
        """One class as source text, and the Spark types of its two outputs."""
        lines = [
            f"class {name}:",
            "    def zero(self):",
            f"        return ({', '.join(self.start())})",
            "    def reduce(self, acc, row):",
            *self.names(),
            *("        " + line for line in self.block(3)),
            f"        return {self.state()}",
            "    def finish(self, acc):",
            *self.names(),
            *("        " + line for line in self.block(1, end=True)),
            f"        return ({self.number(2)}, {self.test(2)})",
        ]
        return "\n".join(lines) + "\n", TYPES

    def function(self, name: str) -> tuple[str, tuple[str, str]]:
        """The same as a function for ``applyInPandas``, where each object has one name."""
        loop = [re.sub(r"return .*", "continue", line) for line in self.block(3)]
        body = [
            f"l, d, s, f = {', '.join(self.start())}",
            "for row in pdf.itertuples(index=False):",
            *("    " + line for line in loop),
            *self.block(1, end=True),
            f"return pd.DataFrame({{'p': [{self.number(2)}], 'q': [{self.test(2)}]}})",
        ]
        lines = [f"def {name}(pdf):", *("    " + _one_name(line) for line in body)]
        return "\n".join(lines) + "\n", TYPES

    def start(self) -> tuple[str, str, str, str]:
        """What the state is before any row."""
        d = self.pick("{}", "{'a': 0, 'b': 1}", "{'a': 0}", "{'': 2, 'b': 0, 'a': 1}", "dict()")
        if self.random.random() < 0.4:
            d = self.pick("defaultdict(int)", "Counter()", "defaultdict(lambda: 4, {'b': 1})")
        f = self.pick("0", "0", "1", "5", "-1")
        s = self.pick("set()", "set()", "{'a'}", "set(['b', ''])", "frozenset()")
        return f"[{self.number(0)}, 0]", d, s, f

    def pick(self, *choices: str) -> str:
        """One of some texts."""
        return str(self.random.choice(choices))

    def names(self) -> list[str]:
        """The state, unpacked, and further names."""
        return ["        l, d, s, f = acc", "        m, e, t = l, d, s"]

    def state(self) -> str:
        """What a row leaves."""
        names = (self.pick("l", "l", "l", "m"), self.pick("d", "d", "e"), self.pick("s", "s", "t"))
        return f"({', '.join(names)}, f)"

    def block(self, depth: int, *, end: bool = False) -> list[str]:
        """Some statements."""
        count = self.random.choice((0, 1) if end else (1, 2, 2, 3))
        return [x for _ in range(count) for x in self.statement(depth, end)] or ["pass"]

    def statement(self, depth: int, end: bool) -> list[str]:
        """One statement, as lines."""
        choice = self.random.random()
        if depth > 0 and choice < 0.4:
            lines = [f"if {self.test(1, not end)}:"]
            lines += ["    " + x for x in self.block(depth - 1, end=end)]
            if self.random.random() < 0.5:
                lines += [self.pick("else:", f"elif {self.test(1, not end)}:")]
                lines += ["    " + x for x in self.block(depth - 1, end=end)]
            return lines
        if choice < 0.46 and not end and depth < 3:
            return [f"return {self.state()}"]
        key = self.key(not end)
        if choice < 0.56 and not end:
            guard = self.pick(f"if {key} in d:", f"if {key} in ('a', 'b'):", "if True:")
            change = self.pick(
                "+= 1", "= d.get('a', 3)", "-= 2", "= 7", f"= {self.number(1, True)}"
            )
            return [guard, f"    {self.pick('d', 'e')}[{key}] {change}"]
        if choice < 0.62 and not end:
            few = self.pick("if row.s in ('a', 'b', 'c'):", "if row.s is not None:", "if True:")
            return [few, f"    {self.pick('s', 't')}.add(row.s)"]
        return [self.simple(end, key)]

    def simple(self, end: bool, key: str) -> str:
        """A statement of one line."""
        number, text = self.number(1, not end), self.pick(*_TEXTS)
        return self.pick(
            f"{self.pick('l', 'm')}[{self.pick('0', '1', '-1')}] {self.pick('=', '+=')} {number}",
            f"{self.pick('l', 'm')}[0], {self.pick('l', 'm')}[1] = l[1], {number}",
            f"l = [{number}, m[0]]",
            "m = l",
            "l, m = m, l",
            f"{self.pick('d', 'e')}[{text}] = {number}",
            f"d[{text}] = d.get({text}, 0) + 1",
            f"d.setdefault({key}, {number})",
            f"{self.pick('l', 'm')}[0] += d.setdefault({text}, {number})",
            "e = d",
            f"{self.pick('s', 't')}.add({text})",
            f"{self.pick('s', 't')}.discard({self.pick(text, text, key)})",
            f"{self.pick('s', 't')} |= {{{text}, {self.pick(*_TEXTS)}}}",
            f"s = s | {{{text}}}",
            f"s = t.union([{text}])",
            f"{self.pick('s', 't')}.update({{{text}}})",
            "t = set(s)",
            f"f = f {self.pick('|', '|', '&', '^')} {self.pick('1', '2', '4', '7', '1 << 3')}",
            f"f {self.pick('|=', '|=', '&=', '^=')} {self.pick('1', '2', '6', '1 << 2')}",
            f"f = {self.pick('0', '3', 'f >> 1', 'f << 1')}",
        )

    def key(self, row: bool) -> str:
        """A key of the dict."""
        return self.pick("row.s", "row.s", *_TEXTS) if row else self.pick(*_TEXTS)

    def number(self, depth: int, row: bool = False) -> str:
        """An integer."""
        if depth == 0:
            return self.pick("0", "1", "2")
        text = self.pick(*_TEXTS)
        more = ("row.b", "row.b") if row else ()
        choices = [
            *("l[0]", "l[1]", "m[0]", "m[-1]", f"d.get({text}, 5)", f"e.get({text}, 0)", "1", "3"),
            *("len(l)", "f + 0", f"({self.number(depth - 1, row)} - 1)"),
            *more,
        ]
        if self.random.random() < 0.15:
            choices = ["len(s)", f"d[{text}]", f"(1 if {self.test(0, row)} else 0)", "len(t)"]
        return self.pick(*choices)

    def test(self, depth: int, row: bool = False) -> str:
        """A condition."""
        if depth > 0 and self.random.random() < 0.4:
            a, b = self.test(depth - 1, row), self.test(depth - 1, row)
            return self.pick(f"({a} and {b})", f"({a} or {b})", f"(not {a})")
        text, other = self.pick(*_TEXTS), self.pick(*_TEXTS)
        choices = [
            f"{text} in s",
            f"{text} not in t",
            f"{text} in d",
            f"{text} in e",
            f"s >= {{{text}, {other}}}",
            f"t <= {{{text}, {other}}}",
            f"s == {{{text}}}",
            f"{{{text}}} < s",
            "bool(s)",
            "bool(d)",
            f"f & {self.pick('1', '2', '6')} == {self.pick('0', '1', '2', '6')}",
            f"f {self.pick('==', '!=', '>', '<=')} {self.pick('0', '1', '5', '7')}",
            "f & 1 != 0",
            "s == t",
            f"{self.number(0)} < {self.number(1)}",
            f"l[0] {self.pick('<', '==', '>=')} {self.pick('m[0]', 'm[1]', '1')}",
        ]
        if row:
            choices += ["row.s is None", "row.s == 'a'", "row.b > 0", "row.s in s", "row.s in d"]
            choices += ["row.s in ('a', '')", "row.s == 'b'"]
        return self.pick(*choices)
