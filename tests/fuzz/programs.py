"""Random folds as whole programs: classes, and functions over a group in pandas' several ways."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from tests.fuzz.conditions import Col, Conditions
from tests.fuzz.ingredients import SKIP, Maker, Out, Part
from tests.fuzz.kinds import DECIMALS, KINDS, NUMBERS

from presieve.records import replace

NAME = "F"
IMPORTS = "import datetime as dt\nimport math\nimport re\n"
IMPORTS += "from decimal import Decimal\nimport pandas as pd\n"
HEADER = IMPORTS + "\nLIMIT = 5\n\n\n"
_LETTERS = {
    "int": "a",
    "bigint": "b",
    "double": "c",
    "date": "d",
    "timestamp": "e",
    "timestamp_ntz": "i",
    "boolean": "f",
    "string": "h",
    "binary": "j",
    "decimal(10,2)": "l",
    "decimal(38,3)": "m",
}
_WEIGHTS = {
    "int": 4,
    "bigint": 4,
    "double": 6,
    "date": 2,
    "timestamp": 2,
    "timestamp_ntz": 2,
    "boolean": 2,
    "string": 3,
    "binary": 2,
    "decimal(10,2)": 2,
    "decimal(38,3)": 1,
}
_NONE_IN_PANDAS = ("string", "binary", "date", "boolean", *DECIMALS)
"""Of these types, pandas shows NULL as None."""
FORMS = {"class": 60, "itertuples": 13, "zip": 11, "iterrows": 5, "series": 11}


@dataclass(frozen=True)
class Program:
    """A fold as source text, and what is declared about it. ``outs`` help to write filters.

    ``module``: it stands in a module that workers import, and ``patch`` is what the driver does to
    that module once it has imported it.
    """

    form: str
    source: str
    schema: str
    keys: str
    returns: str
    mode: str
    outs: tuple[Out, ...] = ()
    module: bool = False
    patch: str = ""

    @property
    def of_series(self) -> bool:
        """Whether it is a function of Series, an aggregate."""
        return self.form in ("series", "reduction")

    @property
    def takes_key(self) -> bool:
        """Whether it is a function of the key and the group."""
        return f"def {NAME}(key, " in self.source

    @property
    def columns(self) -> tuple[str, ...]:
        """The parameters of a function of Series."""
        inside = self.source.split(f"def {NAME}(")[1].split(")")[0]
        return tuple(p.split(":")[0].strip() for p in inside.split(","))


def make(random: Random) -> Program:
    """A random program."""
    form = random.choices(tuple(FORMS), tuple(FORMS.values()))[0]
    columns = _columns(random, form)
    binding = random.random() < 0.4
    read = tuple(replace(c, text=_access(random, form, columns, c, binding)) for c in columns)
    if random.random() < 0.12 and form in ("class", "itertuples", "iterrows"):
        text = 'row["g"]' if form != "itertuples" else "row.g"
        read = (*read, Col("g", "string", True, True, text))
    maker = Maker(random, read)
    count = 1 if form == "series" or random.random() < 0.7 else 2
    parts = [maker.part() for _ in range(count)]
    lines = [line for p in parts for line in p.lines]
    fields = [f for p in parts for f in p.fields]
    if random.random() < 0.08:
        lines = [f"if {Conditions(random, read).any()}:", f"    {SKIP}", *lines]
    if random.random() < 0.04:
        field, start = random.choice(fields)
        lines += [f"if {Conditions(random, read).any()}:", f"    {field} = {start}"]
    outs = _outs(random, parts, 1 if form == "series" else 3)
    bind = [
        f"{c.name} = {_access(random, form, columns, c, False)}"
        for c in columns
        if any(re.search(rf"\b{c.name}\b", line) for line in lines)
    ]
    if random.random() < 0.12:
        limit = "self.limit" if form == "class" else "LIMIT"
        lines = [re.sub(r"(?<=[<>] )\d+\b(?!\.)", limit, line) for line in lines]
    keys = [Col("g", "string", len(read) > len(columns) or random.random() < 0.85, False)]
    if random.random() < 0.2:
        kind = random.choice(("bigint", "bigint", "int", "date", "boolean", "timestamp"))
        keys.append(Col("k", kind, random.random() < 0.5, False))
    grouped = random.random() < (0.8 if form == "class" else 0.95)
    program = Program(
        form,
        "",
        ", ".join(c.ddl for c in (*keys, *columns)),
        ",".join(k.name for k in keys) if grouped else "",
        ", ".join(_declared(random, n, o) for n, o in _named(outs)),
        "grouped" if grouped else "global",
        tuple(replace(o, text=n) for n, o in _named(outs)),
    )
    body = bind + lines if binding and form in ("class", "itertuples", "iterrows") else lines
    return _written(random, program, fields, body, columns, outs)


def _declared(random: Random, name: str, o: Out) -> str:
    sure = not o.optional and random.random() < 0.15
    return f"{name} {o.kind}" + (" NOT NULL" if sure else "")


def _named(outs: list[Out]) -> list[tuple[str, Out]]:
    return [
        (f"o{i}" if not o.text.isidentifier() else f"out_{o.text}", o) for i, o in enumerate(outs)
    ]


def _columns(random: Random, form: str) -> tuple[Col, ...]:
    names = random.choices(
        tuple(_WEIGHTS), tuple(_WEIGHTS.values()), k=random.choice((1, 1, 2, 2, 3))
    )
    if random.random() < 0.15:  # for what is computed from two columns
        names = ["double", "double", *names[2:]]
    found = []
    for i, kind in enumerate(names):
        name = _LETTERS[kind] + (str(i) if kind in names[:i] else "")
        nullable = random.random() < 0.45
        seen = nullable and (form == "class" or kind in _NONE_IN_PANDAS)
        found.append(Col(name, kind, nullable, seen))
    return tuple(found)


def _access(random: Random, form: str, columns: tuple[Col, ...], c: Col, binding: bool) -> str:
    """How the program reads a column."""
    if form == "series":
        return f"each_{c.name}"  # the parameters are the columns themselves
    if binding or form == "zip":
        return c.name
    if form == "class" and random.random() < 0.6:
        return f'row["{c.name}"]'
    if form == "iterrows":
        return f'row["{c.name}"]'
    return f"row.{c.name}"


def _outs(random: Random, parts: list[Part], most: int) -> list[Out]:
    """The outputs: mostly all that the parts offer, some of them changed."""
    offered = [o for p in parts for o in p.outs]
    if len(offered) > 1 and random.random() < 0.3:
        offered.remove(random.choice(offered))
    if len(offered) > most:
        offered = random.sample(offered, most)
    return [_changed(random, o, offered) if random.random() < 0.18 else o for o in offered]


def _changed(random: Random, o: Out, offered: list[Out]) -> Out:
    """The output computed from the field."""
    a = KINDS[o.kind].constant(random)[0]
    if o.optional:
        return random.choice(
            (
                Out(f"{o.text} is not None", "boolean", False, ("",)),
                replace(o, text=f"({a} if {o.text} is None else {o.text})", optional=False),
                replace(o, text=f"({o.text} if {o.text} != {a} else None)"),
            )
        )
    others = [x for x in offered if x is not o and x.kind == o.kind and not x.optional]
    if o.kind in NUMBERS:
        more = [f"({o.text} {random.choice('+-*')} {x.text})" for x in others]
        text = random.choice([f"({o.text} + 1)", f"(-{o.text})", f"({o.text} * 2)", *more * 3])
        return replace(o, text=text, favour=())
    return replace(o, text=f"({a} if {o.text} == {a} else {o.text})")


# --- text --------------------------------------------------------------------------------------


def _written(
    random: Random,
    program: Program,
    fields: list[tuple[str, str]],
    body: list[str],
    columns: tuple[Col, ...],
    outs: list[Out],
) -> Program:
    names, starts = [f for f, _ in fields], [s for _, s in fields]
    if program.form == "class":
        lines = _class(random, names, starts, body, outs)
    else:
        lines = _function(random, program, names, starts, body, columns, outs)
    return replace(program, source=HEADER + "\n".join(lines) + "\n")


def _class(
    random: Random, names: list[str], starts: list[str], body: list[str], outs: list[Out]
) -> list[str]:
    nested = len(names) > 2 and random.random() < 0.3
    state, start = _tuple(names, nested), _tuple(starts, nested)
    unpack = f"{state.removeprefix('(').removesuffix(')') if not nested else state} = acc"
    lines = [f"class {NAME}:"]
    if any("self.limit" in x for x in body):
        lines += [f"    limit = {random.choice((0, 5, 10))}", ""]
    lines += ["    def zero(self):", f"        return {start}", ""]
    lines += ["    def reduce(self, acc, row):", f"        {unpack}"]
    lines += ["        " + x.replace(SKIP, f"return {state}") for x in body]
    lines += [f"        return {state}"]
    if not nested and [o.text for o in outs] == names and random.random() < 0.4:
        return lines
    lines += ["", "    def finish(self, acc):", f"        {unpack}"]
    if random.random() < 0.1 and all(o.optional for o in outs):
        nothing = _tuple(["None"] * len(outs), False)
        lines += [f"        if {random.choice(names)} is None:", f"            return {nothing}"]
    texts = [o.text for o in outs]
    if random.random() < 0.12:
        named = ", ".join(f'"{n}": {o.text}' for n, o in _named(outs))
        return [*lines, f"        return {{{named}}}"]
    return [*lines, f"        return {_tuple(texts, False)}"]


def _tuple(items: list[str], nested: bool) -> str:
    """One value as it is, several as a tuple, the first two in one of their own if ``nested``."""
    if nested:
        return f"(({items[0]}, {items[1]}), {', '.join(items[2:])})"
    return items[0] if len(items) == 1 else f"({', '.join(items)})"


def _function(
    random: Random,
    program: Program,
    names: list[str],
    starts: list[str],
    body: list[str],
    columns: tuple[Col, ...],
    outs: list[Out],
) -> list[str]:
    plain = [c.name for c in columns]
    start = f"{', '.join(names)} = {', '.join(starts)}"
    loop = "for row in pdf.itertuples(index=False):"
    head = f"def {NAME}(pdf):"
    if program.form == "series":
        typed = ", ".join(f"{n}: pd.Series" for n in plain)
        head = f"def {NAME}({typed}) -> object:"
        over = f"zip({', '.join(plain)})" if len(plain) > 1 else plain[0]
        loop = f"for {', '.join(f'each_{n}' for n in plain)} in {over}:"
    elif program.form == "zip":
        series = [f'pdf["{n}"]' for n in plain]
        over = f"zip({', '.join(series)}, strict=True)" if len(plain) > 1 else series[0]
        loop = f"for {', '.join(plain)} in {over}:"
    elif program.form == "iterrows":
        loop = "for _, row in pdf.iterrows():"
    if program.form in ("zip", "itertuples") and random.random() < 0.2:
        head = f"def {NAME}(key, pdf):"
    lines = [head, f"    {start}", f"    {loop}"]
    lines += ["        " + x.replace(SKIP, "continue") for x in body]
    if program.form == "series":
        return [*lines, f"    return {outs[0].text}"]
    named = [f'"{n}": [{o.text}]' for n, o in _named(outs)]
    return [*lines, f"    return pd.DataFrame({{{', '.join(named)}}})"]
