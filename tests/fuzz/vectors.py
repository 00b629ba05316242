"""Random functions of whole columns, in which Series, masks and tables have several names and are
changed in place: what a name means later depends on whether two names are one object.

Most statements that change something must be declined, or be read as what pandas makes of them.
Each program binds a few names, changes at most a few objects, and gives reductions of what it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.fuzz.conditions import Col
from tests.fuzz.ingredients import Out
from tests.fuzz.kinds import KINDS, NUMBERS
from tests.fuzz.programs import HEADER, NAME, Program
from tests.support.lifting import columns as schema_columns

from presieve.records import replace

FORMS = {"frame": 70, "reduction": 30}
HELPERS = (
    "def changed(s):\n    s -= 100\n    return s\n",
    "def bump(s):\n    s += 1\n",
    "def raised(s, by=7):\n    s = s + by\n    return s\n",
    "def same(s):\n    return s\n",
    "def cleared(t):\n    t[{c!r}] = 0\n    return t\n",
    "def doubled(t):\n    t = t.copy()\n    t[{c!r}] *= 2\n    return t\n",
)
"""Functions that change what they are given, or seem to."""
SECOND = "G"
"""The name of a function beside the one in question."""


@dataclass(frozen=True)
class Name:
    """A variable: a ``table``, a ``series`` of some type, or a ``mask``. Those of one ``rows`` have
    the same index.
    """

    text: str
    sort: str
    rows: int = 0
    kind: str = ""


@dataclass
class Vectors:
    """Makes the body of one function."""

    random: Random
    columns: tuple[Col, ...]
    names: list[Name]
    lines: list[str] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    _fresh: list[str] = field(default_factory=lambda: list("zyxwvutsrqponm"))
    _rows: int = 0

    def grow(self, binds: int, changes: int) -> None:
        """Bind names and change objects, in a random order."""
        todo = [self.bind] * binds + [self.change] * changes
        self.random.shuffle(todo)
        for one in (self.bind, *todo):
            one()

    # --- what there is -------------------------------------------------------------------------

    def some(self, sort: str, like: Name | None = None, kind: str = "") -> Name | None:
        """A variable of this sort, with the rows of another one."""
        found = [
            n
            for n in self.names
            if n.sort == sort
            and (like is None or n.rows == like.rows)
            and (not kind or n.kind == kind)
        ]
        return self.random.choice(found) if found else None

    def column(self) -> Col:
        """A column of numbers."""
        return self.random.choice([c for c in self.columns if c.kind in NUMBERS])

    def constant(self, kind: str) -> str:
        """A constant of a type."""
        return KINDS[kind].constant(self.random)[0]

    def series(self, like: Name | None = None) -> Name | None:
        """A Series, by name or as the column of a table."""
        named, table = self.some("series", like), self.some("table", like)
        if table is None or (named is not None and self.random.random() < 0.6):
            return named
        c = self.column()
        forms = ('{t}["{c}"]', "{t}.{c}", '{t}.loc[:, "{c}"]')
        text = self.random.choices(forms, (20, 10, 1))[0].format(t=table.text, c=c.name)
        return Name(text, "series", table.rows, c.kind)

    def condition(self, like: Name | None = None) -> Name | None:
        """A mask, by name or as a comparison."""
        named = self.some("mask", like)
        if named is not None and self.random.random() < 0.5:
            return named
        s = self.series(like)
        if s is None:
            return named
        tests = ("{s} > {a}", "{s} >= {a}", "{s} < {a}", "{s}.notna()", "{s}.isna()", "{s} != {s}")
        weights = (6, 3, 3, 1, 1, 0.5)
        test = self.random.choices(tests, weights)[0].format(s=s.text, a=self.constant(s.kind))
        return Name(f"({test})", "mask", s.rows)

    # --- statements ----------------------------------------------------------------------------

    def bind(self) -> None:
        """A new name, for something new or for an object that has a name."""
        makers: list[tuple[Callable[[], Name | None], int]] = [
            (self.series, 8),
            (self.condition, 4),
            (self._computed, 4),
            (self._table, 5),
        ]
        found = self.random.choices([m for m, _ in makers], [w for _, w in makers])[0]()
        if found is None or not self._fresh:
            return
        name = replace(found, text=self._fresh.pop())
        roll = self.random.random()
        other = self.some(found.sort)
        if roll < 0.08 and other is not None and self._fresh:
            second = replace(other, text=self._fresh.pop())
            self.lines.append(f"{name.text}, {second.text} = {found.text}, {other.text}")
            self.names.append(second)
        elif roll < 0.13 and found.sort == "series":
            self.lines += [f'held = {{"s": {found.text}}}', f'{name.text} = held["s"]']
        elif roll < 0.17 and other is not None and other.rows == found.rows:
            condition = self.random.choice((f"len({other.text}) > 1", "True"))
            self.lines.append(f"{name.text} = {found.text} if {condition} else {found.text}")
        elif roll < 0.22 and found.sort == "series":
            helper = self.random.choice(HELPERS[:1] + HELPERS[2:4])
            self.lines.append(f"{name.text} = {self._called(helper)}({found.text})")
        elif roll < 0.26 and found.sort == "table":
            self.lines.append(
                f"{name.text} = {self._called(self.random.choice(HELPERS[4:]))}({found.text})"
            )
        else:
            self.lines.append(f"{name.text} = {found.text}")
        self.names.append(name)

    def _called(self, helper: str) -> str:
        self.helpers.add(helper.format(c=self.column().name))
        return helper.split("(")[0].removeprefix("def ")

    def _computed(self) -> Name | None:
        """A Series of its own, computed from another."""
        s = self.series()
        if s is None:
            return None
        a = self.constant(s.kind)
        forms = [
            "{s} + {a}",
            "{s} * 2",
            "{s}.copy()",
            "{s}.abs()",
            "{s}.fillna({a})",
            "{s}.clip(lower={a})",
        ]
        m = self.condition(s)
        if m is not None:
            forms += ["{s}.where({m}, {a})", "{s}.mask({m}, {a})"]
        mask = m.text if m is not None else ""
        text = self.random.choice(forms).format(s=s.text, a=a, m=mask)
        return Name(text, "series", s.rows, s.kind)

    def _table(self) -> Name | None:
        """A table: another name, a copy, or some of its rows."""
        t = self.some("table")
        if t is None:
            return None
        c, other = self.column(), self.column()
        same = (
            "{t}",
            "{t}",
            "{t}.copy()",
            "{t}.assign({c}={t}.{d} + 1)",
            "{t}.assign({c}={t}.{d})",
            "{t}.copy(deep=False)",
        )
        if self.random.random() < 0.5:
            return replace(
                t, text=self.random.choice(same).format(t=t.text, c=c.name, d=other.name)
            )
        m = self.condition(t)
        forms = [
            '{t}.sort_values("{c}")',
            '{t}.sort_values("{c}", ascending=False)',
            "{t}.head(2)",
            '{t}.dropna(subset=["{c}"])',
            "{t}[:]",
        ]
        if m is not None:
            forms += ["{t}[{m}]", "{t}.loc[{m}]", "{t}[{m}]", "{t}[{m}].copy()"]
        mask = m.text if m is not None else ""
        self._rows += 1
        text = self.random.choice(forms).format(t=t.text, c=c.name, m=mask)
        return Name(text, "table", self._rows)

    def change(self) -> None:
        """Change an object in place, or seem to."""
        line = self.random.choices((self._of_series, self._of_mask, self._of_table), (6, 3, 5))[0]()
        if line is None:
            return
        t = self.some("table")
        if self.random.random() < 0.08 and t is not None:
            self.lines += [f"if len({t.text}) > 1:", f"    {line}"]
        else:
            self.lines.append(line)

    def _of_series(self) -> str | None:
        s = self.some("series")
        if s is None:
            return None
        m, a, b = self.condition(s), self.constant(s.kind), self.constant(s.kind)
        forms = [
            "{s} += {a}",
            "{s} -= {a}",
            "{s} *= 2",
            "{s} += {a}",
            "{s}.iloc[0] = {a}",
            "{s}.fillna({a}, inplace=True)",
            "{s}.clip(lower={a}, inplace=True)",
            "{s}.values[0] = {a}",
            "{s}.sort_values(inplace=True)",
            "np.add({s}, {a}, out={s})",
        ]
        if m is not None:
            forms += ["{s}[{m}] = {a}", "{s}.loc[{m}] = {a}", "{s}.mask({m}, {a}, inplace=True)"]
        if self.random.random() < 0.15:
            return f"{self._called(HELPERS[1])}({s.text})"
        mask = m.text if m is not None else ""
        return self.random.choice(forms).format(s=s.text, m=mask, a=a, b=b)

    def _of_mask(self) -> str | None:
        m = self.some("mask")
        other = self.condition(m) if m is not None else None
        if m is None or other is None:
            return None
        forms = ("{m} &= {o}", "{m} |= {o}", "{m} ^= {o}", "{m} = {m} & {o}", "{m}[{o}] = False")
        return self.random.choice(forms).format(m=m.text, o=other.text)

    def _of_table(self) -> str | None:
        t = self.some("table")
        if t is None:
            return None
        c, m, s = self.column(), self.condition(t), self.series(t)
        a = self.constant(c.kind)
        forms = [
            '{t}["{c}"] = {a}',
            '{t}["{c}"] += {a}',
            "{t}.{c} += {a}",
            "{t}.{c} = {a}",
            '{t}.loc[:, "{c}"] = {a}',
            '{t}.sort_values("{c}", inplace=True)',
            "{t}.fillna({a}, inplace=True)",
            '{t}["{c}"].fillna({a}, inplace=True)',
            '{t}["{c}"].clip(lower={a}, inplace=True)',
            "{t}.iloc[0, -1] = {a}",
        ]
        if m is not None:
            forms += ['{t}.loc[{m}, "{c}"] = {a}', '{t}["{c}"][{m}] = {a}'] * 3
        if s is not None:
            forms += ['{t}["{c}"] = {s}', '{t}["n"] = {s}', '{t}["{c}"] = {s}']
        text = {"t": t.text, "c": c.name, "a": a}
        text |= {"m": m.text if m else "", "s": s.text if s else ""}
        return self.random.choice(forms).format(**text)

    # --- results -------------------------------------------------------------------------------

    def out(self) -> Out:
        """A reduction of something that has a name."""
        for _ in range(20):
            found = self._out(self.random.random())
            if found is not None:
                return found
        first = self.names[0]
        return Out(f"len({first.text})", "bigint", False, (">=", ">"), _FEW)

    def _out(self, roll: float) -> Out | None:
        if roll < 0.15:
            n = self.some(self.random.choice(("table", "series")))
            return None if n is None else Out(f"len({n.text})", "bigint", False, (">=", ">"), _FEW)
        if roll < 0.3:
            m = self.condition()
            if m is None:
                return None
            if self.random.random() < 0.3:
                return Out(f"{m.text}.any()", "boolean", False, ("",))
            return Out(f"{m.text}.sum()", "bigint", False, (">=", ">"), _FEW)
        s = self.series()
        if s is None:
            return None
        kind = "double" if s.kind == "double" else "bigint"
        m = self.condition(s) if self.random.random() < 0.4 else None
        text = s.text if m is None else f"{s.text}[{m.text}]"
        how = self.random.choice(("max", "max", "max", "min", "sum"))
        favour = ("<", "<=") if how == "min" else (">", ">=")
        return Out(f"{text}.{how}()", kind, True, favour)


_FEW = (("1", "1"), ("2", "2"), ("3", "3"), ("0", "0"))


def make(random: Random) -> Program:
    """A random program."""
    form = random.choices(tuple(FORMS), tuple(FORMS.values()))[0]
    columns = _columns(random, 0.4)
    made = Vectors(random, columns, [Name("pdf", "table")])
    if form == "reduction":
        made.names = [Name(c.name, "series", 0, c.kind) for c in columns]
    made.grow(random.choice((0, 1, 1, 2, 3)), random.choice((0, 1, 1, 1, 2, 3)))
    outs = [made.out() for _ in range(1 if form == "reduction" else random.choice((1, 1, 2)))]
    if form == "frame":
        cells = ", ".join(f'"o{i}": [{o.text}]' for i, o in enumerate(outs))
        lines = [f"def {NAME}(pdf: pd.DataFrame):", *_indented(made.lines)]
        lines.append(f"    return pd.DataFrame({{{cells}}})")
    else:
        lines = _reduction(NAME, columns, made, outs[0])
    return _program(form, made, lines, outs)


def with_second(random: Random, program: Program) -> Program:
    """A function of Series with another one beside it, which gets the same columns."""
    columns = tuple(
        Col(c.name, c.type, c.nullable, False, c.name)
        for c in schema_columns(program.schema)
        if c.name in program.columns
    )
    names = [Name(c.name, "series", 0, c.kind) for c in columns]
    made = Vectors(random, columns, names)
    made.grow(0, random.choice((1, 2)))
    out = replace(made.out(), favour=())
    lines = ["", *made.helpers, "", *_reduction(SECOND, columns, made, out)]
    returns = f"{program.returns}, second {out.kind}"
    return replace(program, source=program.source + "\n".join(lines) + "\n", returns=returns)


def make_rows(random: Random) -> Program:
    """A random function that gives back rows of its table, for ``mapInPandas`` and its like."""
    columns = _columns(random, 1.0)
    made = Vectors(random, columns, [Name("pdf", "table")])
    made.grow(random.choice((0, 1, 1, 2)), random.choice((0, 1, 1, 1, 2)))
    table = made.some("table") or made.names[0]
    condition = made.condition(table) if random.random() < 0.7 else None
    given = table.text if condition is None else f"{table.text}[{condition.text}]"
    if random.random() < 0.4:
        c, s = made.column().name, made.series(table)
        given = f"({given}).assign({c}={s.text if s else 0})"
    if random.random() < 0.7:
        form, head, last = "batches", f"def {NAME}(batches):", f"yield {given}"
        lines = [head, "    for pdf in batches:", *_indented(_indented([*made.lines, last]))]
    else:
        form, head, last = "rows", f"def {NAME}(pdf):", f"return {given}"
        lines = [head, *_indented([*made.lines, last])]
    outs = [Out(c.name, c.kind, True, (">", ">=", "<")) for c in columns]
    program = _program(form, made, lines, outs)
    return replace(program, returns=program.schema, keys="", outs=tuple(outs))


def _columns(random: Random, nullable: float) -> tuple[Col, ...]:
    kinds = random.choices(("int", "bigint", "double"), (1, 1, 8), k=random.choice((1, 2, 2)))
    return tuple(
        Col("abc"[i], kind, random.random() < nullable, False, "abc"[i])
        for i, kind in enumerate(kinds)
    )


def _reduction(name: str, columns: tuple[Col, ...], made: Vectors, out: Out) -> list[str]:
    typed = ", ".join(f"{c.name}: pd.Series" for c in columns)
    head, last = f"def {name}({typed}) -> object:", f"return {out.text}"
    return [head, *_indented([*made.lines, last])]


def _indented(lines: list[str]) -> list[str]:
    return ["    " + x for x in lines]


def _program(form: str, made: Vectors, lines: list[str], outs: list[Out]) -> Program:
    named = [replace(o, text=f"o{i}") for i, o in enumerate(outs)]
    helpers = "\n\n".join(sorted(made.helpers)) + ("\n\n" if made.helpers else "")
    source = "import numpy as np\n" + HEADER + helpers + "\n".join(lines) + "\n"
    schema = ", ".join(c.ddl for c in (Col("g", "string", True, False), *made.columns))
    returns = ", ".join(f"{o.text} {o.kind}" for o in named)
    return Program(form, source, schema, "g", returns, "grouped", tuple(named))
