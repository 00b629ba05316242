"""What folds are put together from: maxima, counters, firsts and lasts, flags, streaks, pairs.

Each is written in several ways. ``SKIP`` in a line stands for "on to the next row".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.fuzz.conditions import Col, Conditions
from tests.fuzz.kinds import DECIMALS, KINDS, NUMBERS, ORDERED

SKIP = "SKIP"


@dataclass(frozen=True)
class Out:
    """A field as an output: ``favour`` are operators that tend to be pushable, first ones first."""

    text: str
    kind: str
    optional: bool
    favour: tuple[str, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Part:
    """Fields with what they start with, the lines of a step, and the outputs."""

    fields: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    outs: tuple[Out, ...]


@dataclass
class Maker:
    """Makes parts over some columns. Field names are handed out in order: ``p``, ``q``..."""

    random: Random
    columns: tuple[Col, ...]
    names: list[str] = field(default_factory=lambda: list("zyxwvutsrqp"))

    def part(self) -> Part:
        """A random part."""
        makers: list[tuple[Callable[[], Part | None], int]] = [
            (self.extreme, 24),
            (self.count, 12),
            (self.total, 9),
            (self.flag, 9),
            (self.first_last, 10),
            (self.best, 8),
            (self.top_two, 7),
            (self.streak, 4),
            (self.computed, 18),
            (self.changes, 4),
            (self.clipped, 5),
        ]
        chosen = [m for m, _ in makers]
        weights = [w for _, w in makers]
        while True:
            made = self.random.choices(chosen, weights)[0]()
            if made is not None:
                return made

    def name(self) -> str:
        """A fresh field."""
        return self.names.pop()

    @property
    def conditions(self) -> Conditions:
        """Conditions on the columns."""
        return Conditions(self.random, self.columns)

    def _column(self, kinds: tuple[str, ...]) -> Col | None:
        found = [c for c in self.columns if c.kind in kinds]
        return self.random.choice(found) if found else None

    def _guarded(self, c: Col | None, lines: list[str], share: float = 0.4) -> list[str]:
        """The lines where the column is there, and sometimes only under a further condition."""
        tests = []
        if c is not None and c.optional and self.random.random() < 0.96:
            tests.append(f"{c.text} is not None")
        if self.random.random() < share:
            tests.append(self.conditions.any())
        if not tests:
            return lines
        if self.random.random() < 0.3:
            skip = " or ".join(f"not ({t})" for t in tests)
            return [f"if {skip}:", f"    {SKIP}", *lines]
        return [f"if {' and '.join(tests)}:", *("    " + x for x in lines)]

    def extreme(self) -> Part | None:
        """The largest or smallest value."""
        c = self._column(ORDERED)
        if c is None:
            return None
        m, v, up = self.name(), c.text, self.random.random() < 0.65
        less, word = (">", "max") if up else ("<", "min")
        favour = (">", ">=", "=") if up else ("<", "<=", "=")
        strict = self.random.choice((less, less, less + "="))
        start = "None"
        match self.random.randrange(5):
            case 0:
                lines = [f"{m} = {v} if {m} is None else {word}({m}, {v})"]
            case 1 if c.kind in (*NUMBERS, *DECIMALS):
                start = KINDS[c.kind].constant(self.random)[0]
                lines = [f"{m} = {word}({m}, {v})"]
            case 2:
                lines = [
                    f"if {m} is None:",
                    f"    {m} = {v}",
                    f"elif {v} {strict} {m}:",
                    f"    {m} = {v}",
                ]
            case 3:
                lines = [f"{m} = {v} if {m} is None or {v} {strict} {m} else {m}"]
            case _:
                lines = [f"if {m} is None or {v} {strict} {m}:", f"    {m} = {v}"]
        out = Out(m, c.kind, start == "None", favour)
        return Part(((m, start),), tuple(self._guarded(c, lines)), (out,))

    def count(self) -> Part:
        """A counter of rows under a condition."""
        n = self.name()
        step = self.random.choice((f"{n} += 1", f"{n} = {n} + 1", f"{n} += 2"))
        test = self.conditions.any()
        lines = [f"if {test}:", f"    {step}"]
        if self.random.random() < 0.12:
            lines += ["else:", f"    {n} = 0"]
        if self.random.random() < 0.1:
            lines = [f"{n} += int(bool({test}))"]
        few = (("1", "1"), ("2", "2"), ("3", "3"), ("0", "0"), ("5", "5"))
        return Part(((n, "0"),), tuple(lines), (Out(n, "bigint", False, (">=", ">", "="), few),))

    def total(self) -> Part | None:
        """A sum, often of what has one sign. Sums of decimals are declined."""
        c = self._column((*NUMBERS, *DECIMALS) if self.random.random() < 0.1 else NUMBERS)
        if c is None:
            return None
        s, v = self.name(), c.text
        start = "0.0" if c.kind == "double" else "0"
        kind = "double" if c.kind == "double" else "bigint"
        step = self.random.choice((f"{s} += {v}", f"{s} = {s} + {v}", f"{s} += abs({v})"))
        lines = [step]
        if self.random.random() < 0.7:
            sign = self.random.choice((">", ">=", ">", "<"))
            lines = [f"if {v} {sign} 0:", f"    {step}"]
        return Part(
            ((s, start),), tuple(self._guarded(c, lines, 0.2)), (Out(s, kind, False, (">=", ">")),)
        )

    def flag(self) -> Part:
        """Whether some row, or every row, is such."""
        f, test = self.name(), self.conditions.any()
        if self.random.random() < 0.7:
            lines = self.random.choice(
                (
                    [f"if {test}:", f"    {f} = True"],
                    [f"{f} = {f} or bool({test})"],
                    [f"{f} = True if {test} else {f}"],
                )
            )
            return Part(((f, "False"),), tuple(lines), (Out(f, "boolean", False, ("",)),))
        lines = self.random.choice(
            ([f"if {test}:", f"    {f} = False"], [f"{f} = {f} and bool({test})"])
        )
        return Part(((f, "True"),), tuple(lines), (Out(f, "boolean", False, ("NOT",)),))

    def first_last(self) -> Part:
        """The first or last value, under a condition."""
        c = self.random.choice(self.columns)
        f, v = self.name(), c.text
        if self.random.random() < 0.5:
            lines = self.random.choice(
                (
                    [f"if {f} is None:", f"    {f} = {v}"],
                    [f"{f} = {v} if {f} is None else {f}"],
                )
            )
        else:
            lines = [f"{f} = {v}"]
        guarded = self._guarded(c if self.random.random() < 0.7 else None, lines, 0.6)
        return Part(((f, "None"),), tuple(guarded), (Out(f, c.kind, True),))

    def best(self) -> Part | None:
        """The value of one column where another is largest or smallest."""
        c, w = self._column(ORDERED), self.random.choice(self.columns)
        if c is None or w.name == c.name:
            return None
        m, o = self.name(), self.name()
        less = self.random.choice((">", ">", "<", ">=", "<="))
        lines = [f"if {m} is None or {c.text} {less} {m}:", f"    {m}, {o} = {c.text}, {w.text}"]
        favour = (">", ">=", "=") if less[0] == ">" else ("<", "<=", "=")
        outs = (Out(m, c.kind, True, favour), Out(o, w.kind, True))
        return Part(((m, "None"), (o, "None")), tuple(self._guarded(c, lines, 0.2)), outs)

    def top_two(self) -> Part | None:
        """The two largest values."""
        c = self._column(ORDERED)
        if c is None:
            return None
        a, b, v = self.name(), self.name(), c.text
        less = self.random.choice((">", ">", ">="))
        lines = [
            f"if {a} is None or {v} {less} {a}:",
            f"    {a}, {b} = {v}, {a}",
            f"elif {b} is None or {v} {less} {b}:",
            f"    {b} = {v}",
        ]
        favour = (">", ">=")
        outs = (Out(a, c.kind, True, favour), Out(b, c.kind, True, favour))
        return Part(((a, "None"), (b, "None")), tuple(self._guarded(c, lines, 0.2)), outs)

    def streak(self) -> Part:
        """The longest run of rows that are such."""
        run, most = self.name(), self.name()
        test = self.conditions.any(0)
        lines = [
            f"{run} = {run} + 1 if {test} else 0",
            self.random.choice(
                (f"{most} = max({most}, {run})", f"if {run} > {most}: {most} = {run}")
            ),
        ]
        few = (("1", "1"), ("2", "2"), ("3", "3"))
        outs = (Out(most, "bigint", False, (">=", ">"), few), Out(run, "bigint", False, (), few))
        return Part(((run, "0"), (most, "0")), tuple(lines), outs)

    def computed(self) -> Part | None:
        """What is computed from a row alone: its largest value, how often it is large, its sum."""
        c = self._column(("double", "double", "double", *NUMBERS))
        if c is None:
            return None
        used, text = self._computation(c)
        doubles = "double" in {u.kind for u in used}
        kind = "double" if doubles else "bigint"
        start, a = ("0.0" if doubles else "0"), KINDS[kind].constant(self.random)[0]
        m, up = self.name(), self.random.random() < 0.7
        less = self.random.choice((">", ">=")) if up else self.random.choice(("<", "<="))
        favour = (">", ">=") if up else ("<", "<=")
        n = Out(m, "bigint", False, (">=", ">", "="), (("1", "1"), ("2", "2"), ("0", "0")))
        value, flag = Out(m, kind, False, favour), Out(m, "boolean", False, ("",))
        field, lines, out = self.random.choice(
            (
                ("None", [f"if {m} is None or v {less} {m}:", f"    {m} = v"], None),
                ("None", [f"{m} = v if {m} is None else {'max' if up else 'min'}({m}, v)"], None),
                ("0", [f"if v {less} {a}:", f"    {m} += 1"], n),
                (start, [f"if v > {start}:", f"    {m} += v"], value),
                ("False", [f"if v {less} {a}:", f"    {m} = True"], flag),
                ("None", [f"if v {less} {a}:", f"    {m} = {c.text}"], Out(m, c.kind, True)),
            )
        )
        lines = [f"v = {text}", *lines]
        tests = [f"{u.text} is not None" for u in dict.fromkeys(used) if u.optional]
        if tests:
            lines = [f"if {' and '.join(tests)}:", *("    " + x for x in lines)]
        guarded = self._guarded(None, lines, 0.25)
        return Part(((m, field),), tuple(guarded), (out or Out(m, kind, True, favour),))

    def _computation(self, c: Col) -> tuple[tuple[Col, ...], str]:
        """A product, sum or difference over a column, and the columns that it reads."""
        r = self.random
        others = [o for o in self.columns if o.kind in NUMBERS and o != c]
        same = [o for o in others if o.kind == c.kind]
        op = r.choice(("*", "*", "+", "-"))
        if not others or r.random() < 0.2:
            a = KINDS[c.kind].constant(r)[0]
            text = r.choice((f"{c.text} {op} {a}", f"{a} {op} {c.text}", f"{c.text} {op} {c.text}"))
            return (c,), text
        b = r.choice(same if same and r.random() < 0.85 else others)
        if r.random() < 0.2:
            a = KINDS[c.kind].constant(r)[0]
            factor = r.choice((b.text, f"({a} - {b.text})"))
            return (c, b), f"{c.text} * {factor} {r.choice('+-')} {a}"
        return (c, b), f"{c.text} {op} {b.text}"

    def changes(self) -> Part | None:
        """How often a value differs from the one before."""
        c = self._column((*ORDERED, "boolean"))
        if c is None:
            return None
        last, n = self.name(), self.name()
        relation = self.random.choice(("!=", "<", ">")) if c.kind != "boolean" else "!="
        lines = [
            f"if {last} is not None and {c.text} {relation} {last}:",
            f"    {n} += 1",
            f"{last} = {c.text}",
        ]
        few = (("1", "1"), ("2", "2"), ("0", "0"))
        outs = (Out(n, "bigint", False, (">=", ">"), few), Out(last, c.kind, True))
        return Part(((last, "None"), (n, "0")), tuple(self._guarded(c, lines, 0.2)), outs)

    def clipped(self) -> Part | None:
        """A value put into classes by if, elif, else; the highest class."""
        c = self._column(NUMBERS)
        if c is None:
            return None
        m = self.name()
        a, b = (KINDS[c.kind].constant(self.random)[0] for _ in range(2))
        lines = [
            f"if {c.text} < {a}:",
            "    level = 1",
            f"elif {c.text} {self.random.choice(('==', '<', '>='))} {b}:",
            "    level = 2",
            "else:",
            self.random.choice(("    level = 3", "    level = 0", f"    {SKIP}")),
            f"{m} = max({m}, level)",
        ]
        few = (("1", "1"), ("2", "2"), ("3", "3"), ("0", "0"))
        return Part(
            ((m, "0"),),
            tuple(self._guarded(c, lines, 0.2)),
            (Out(m, "bigint", False, (">=", "="), few),),
        )
