"""Random functions of pandas columns and of batches that treat rows by themselves, as source."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

COLUMNS = {
    "i": "int",
    "n": "bigint",
    "m": "bigint",
    "x": "double",
    "y": "double",
    "s": "string",
    "t": "string",
    "b": "boolean",
    "d": "date",
    "c": "timestamp_ntz",
}
"""The columns of the table by name, with their types."""
RETURNS = {
    "int": "bigint",
    "double": "double",
    "text": "string",
    "mask": "boolean",
    "date": "date",
}
REALS = ("0.5", "-1.5", "2.0", "100.0", "0.1", "1e308", "3", "-2")
WHOLE = ("0", "1", "-1", "3", "10", "1000", "2**31")
ENDS = ("0, 10", "upper=3", "lower=0", "7, -1", "-1, 2**40")
REPLACED = (
    *("0, np.nan", "[np.inf, -np.inf], np.nan", "np.nan, 0", "{1: 2.5, 0: -0.0}", "1.0, 2"),
    *("{1: 0, 0: 1}", "100, None"),
)
TEXTS = ("'a'", "'ab'", "'-'", "''", "' a'", "'é'", "'7'")


@dataclass(frozen=True)
class BatchFunction:
    """The source of a function, its form (``columns``, ``map`` or ``group``), the columns of its
    input, and its declared result.
    """

    name: str
    source: str
    form: str
    columns: tuple[str, ...]
    returns: str


@dataclass
class Maker:
    """Makes expressions over columns of these names. ``of`` is how a column is written."""

    random: Random
    columns: tuple[str, ...]
    of: str
    lines: list[str] = field(default_factory=list)

    def _one(self, *texts: str) -> str:
        return self.random.choice(texts)

    def _named(self, *names: str) -> list[str]:
        return [self.of.format(n) for n in names if n in self.columns]

    def value(self, kind: str, depth: int) -> str:
        """An expression of a kind: a column with a value for each row."""
        makers = {"double": self.real, "int": self.whole, "text": self.text, "mask": self.mask}
        makers["date"] = self.date
        return makers[kind](depth)

    def real(self, depth: int) -> str:
        own = self._named("x", "y")
        if own and (depth <= 0 or self.random.random() < 0.2):
            return self.random.choice(own)
        if depth <= 0:
            return f"{self.text(0)}.map({{'a': 1.5, '-': 2.0}})"
        a, b, k = self.real(depth - 1), self.real(depth - 1), self._one(*REALS)
        forms = [f"({a} {self._one('+', '-', '*', '/')} {b})", f"({a} {self._one(*'+-*/')} {k})"]
        forms += [f"({k} {self._one(*'+-*/')} {a})", f"{a}.fillna({k})", f"{a}.abs()", f"(-{a})"]
        forms += [f"{a}.round({self._one('0', '1', '2', '3')})", f"np.sqrt({a})", f"({a} ** 2)"]
        forms += [f"{a}.clip({self._one('-1.5', '0.5')}, 100.0)", f"{a}.clip(lower=2.5)"]
        mask = self.mask(depth - 1)
        forms += [f"pd.Series(np.where({mask}, {a}, {b}))", f"{a}.where({mask}, {k})"]
        forms += [f"{a}.mask({mask})", f"({self.whole(depth - 1)} {self._one(*'+-*/')} 0.5)"]
        forms += [f"({self.whole(depth - 1)} / {self._one('7', '-3', '1000')})"]
        forms += [f"({self.whole(0)} / {self.whole(0)})", f"{self.whole(0)}.astype(float)"]
        forms.append(f"pd.Series(np.select([{mask}, {self.mask(0)}], [{a}, 1.5], default={k}))")
        forms.append(f"{self.text(0)}.map({{'a': 1.5, '-': -0.0, 'ab': 3}})")
        forms += [f"{a}.clip({self._one('0, 1', '100.0, -1.5', 'upper=0', '-0.0, 3', '0')})"]
        forms += [f"np.clip({a}, {self._one('0, 1', '2.5, 0', '-1.5, None')})", f"{a}.fillna({b})"]
        forms += [f"{a}.combine_first({b})", f"np.{self._one('floor', 'ceil', 'trunc')}({a})"]
        method, other = self._one("add", "sub", "mul", "div"), self._one(b, k)
        forms += [f"{a}.{method}({other}{self._one('', f', fill_value={k}')})"]
        forms += [
            f"((pd.Timestamp('2024-03-01') - {c}).dt.total_seconds() / {self._one('60', '7.5')})"
            for c in self._named("c")
        ]
        forms += [f"{a}.replace({self._one(*REPLACED)})", f"pd.Series([1.5] * len({a}))"]
        return self.random.choice(forms)

    def whole(self, depth: int) -> str:
        own = self._named("i", "n", "m")
        if own and (depth <= 0 or self.random.random() < 0.2):
            return self.random.choice(own)
        if depth <= 0:
            return f"{self.text(0)}.str.len()"
        a, b, k = self.whole(depth - 1), self.whole(0), self._one(*WHOLE)
        forms = [f"({a} {self._one(*'+-*')} {k})", f"({k} {self._one(*'+-')} {a})", f"(-{a})"]
        forms += [f"({a} {self._one(*'+-*')} {b})", f"({a} {self._one('%', '//')} 7)"]
        forms += [f"{a}.fillna({self._one('0', '-1')})", f"{self.text(depth - 1)}.str.len()"]
        forms += [f"{self.text(0)}.map({{'a': 1, '-': 3}})", f"{self.mask(depth - 1)}.astype(int)"]
        forms += [f"{a}.round(2)", f"{a}.astype('int64')", f"({a} ** 2)", f"{a}.abs()"]
        forms += [f"pd.Series(np.where({self.mask(depth - 1)}, 1, 0))"]
        forms += [
            f"{c}.dt.{self._one('hour', 'month', 'year', 'dayofweek')}" for c in self._named("c")
        ]
        forms += [f"{self.real(0)}.fillna(0).astype(int)", f"{self.real(0)}.astype(int)"]
        forms += [f"{self.text(0)}.map({{'a': 1, '-': 3}}).fillna(0).astype(int)"]
        numbers, edges = self._one(a, self.real(depth - 1)), self._one("[0, 1.5, 100]", "[-2, 1]")
        forms += [f"pd.Series(np.digitize({numbers}, {edges}{self._one('', ', right=True')}))"]
        side = self._one("", ", side='right'", ", 'left'")
        forms += [f"pd.Series(np.searchsorted({edges}, {numbers}{side}))"]
        forms += [f"pd.cut({numbers}, {edges}, labels=False)", f"{a}.clip({self._one(*ENDS)})"]
        split = self._one("split('-')", "split()", "split('-', n=1)", "rsplit('a', n=1)")
        forms += [f"{self.text(0)}.str.{split}.str.len()", f"{a}.{self._one('add', 'mul')}({b})"]
        since = self._one("- pd.Timestamp('2024-01-01')", "- pd.Timestamp('1969-12-31 05:00:01')")
        for c in self._named("c"):
            forms += [f"{c}.dt.quarter", f"({c} {since}).dt.{self._one('days', 'seconds')}"]
        return self.random.choice(forms)

    def text(self, depth: int) -> str:
        own = self._named("s", "t")
        if own and (depth <= 0 or self.random.random() < 0.2):
            return self.random.choice(own)
        mask = self.mask(max(depth - 1, 0)) if own or self._named("x", "y") else "None"
        if not own:
            return f"pd.Series(np.where({mask}, 'a', '-'))"
        times = self._named("c")
        a, k, j = self.text(depth - 1), self._one(*TEXTS), self._one("0", "1", "2", "-1")
        forms = [f"({a} + {k})", f"({k} + {a})", f"({a} + {self.text(0)})", f"{a}.fillna({k})"]
        forms += [f"{a}.str.{m}()" for m in ("upper", "lower", "strip")]
        forms += [f"{a}.str[:2]", f"{a}.str.slice(1, 3)", f"{a}.str[1:]", f"{a}.str.slice(0, 1)"]
        forms += [f"{a}.str.split('-').str[{j}]", f"{a}.str.split(',').str.get({j})"]
        forms += [f"{a}.str.get({self._one('0', '1')})", f"{a}.str[{self._one('0', '2')}]"]
        forms += [f"{a}.map({{'a': 'A', '-': 'dash', '': 'none'}})", f"{a}.astype(str)"]
        forms += [f"{a}.replace({{'a': '-', '-': 'a'}})", f"{a}.replace('a', 'b')"]
        forms += [f"{a}.str.replace('a', 'bb', regex=False)", f"{a}.where({mask}, {k})"]
        forms += [f"pd.Series(np.where({mask}, {a}, {k}))", f"{mask}.map({{True: 'y'}})"]
        forms += [f"pd.Series(np.select([{mask}, {self.mask(0)}], ['p', {k}], default='q'))"]
        forms += [f"{a}.apply(lambda v: v if v else {k})"]
        forms += [f"pd.Series([p if p == q else {k} for p, q in zip({own[0]}, {own[-1]})])"]
        forms += self._filled(a) + self._parts(a)
        forms += [f"{c}.dt.strftime('{self._one('%Y-%m', '%d.%m.%Y', '%H h')}')" for c in times]
        return self.random.choice(forms)

    def _filled(self, text: str) -> list[str]:
        """Texts that are put together or filled up, and names of bins."""
        width, fill = self._one("2", "3", "5"), self._one("'0'", "' '")
        forms = [f"{text}.str.{self._one('rjust', 'ljust')}({width}, {fill})"]
        more = self._one("", ", side='right'", ", fillchar='0'")
        forms += [f"{text}.str.pad({width}{more})"]
        other, sep = self.text(0), self._one("'-'", "''", "' '")
        filled = self._one("", ", na_rep='?'")
        forms += [f"{text}.str.cat({self._one(other, f'[{other}]')}, sep={sep}{filled})"]
        number = self._one(*self._named(*"xyinm"), f"{text}.str.len()")
        more = self._one("", ", right=False", ", include_lowest=True")
        bins = f"pd.cut({number}, [-1.5, 0, 2.5], labels=['a', '-']{more})"
        forms += [bins, f"{bins}.astype(str)", f"{bins}.astype(object)", f"{bins}.fillna('a')"]
        return [*forms, f"pd.Series(['a'] * len({text}))"]

    def _parts(self, text: str) -> list[str]:
        """Parts of texts."""
        place = self._one("0", "1", "-1")
        cut = self._one("split('-', n=1)", "rsplit('-', n=1)", "split()", "rsplit('a')")
        forms = [f"{text}.str.{cut}.str[{place}]", f"{text}.str.split('-', expand=True)[0]"]
        forms += [f"{text}.str.{self._one('partition', 'rpartition')}('-')[0]"]
        forms += [f"{text}.str.extract(r'([a-z]+)')[0]", f"{text}.str.extract(r'(a)-?(b)')[1]"]
        return forms

    def date(self, depth: int) -> str:
        """Dates."""
        own = [*self._named("d"), *(f"{c}.dt.date" for c in self._named("c"))]
        if not own:
            return f"pd.Series([dt.date(2024, 2, 29)] * len({self.text(0)}))"
        mask = self.mask(max(depth - 1, 0))
        return self._one(*own, f"{own[0]}.where({mask}, dt.date(1969, 12, 31))")

    def mask(self, depth: int) -> str:
        kinds = [k for k, n in (("x", "xy"), ("n", "inm"), ("s", "st")) if self._named(*n)]
        roll = self.random.random()
        if depth > 0 and roll < 0.35:
            a, b = self.mask(depth - 1), self.mask(depth - 1)
            return self._one(f"({a} & {b})", f"({a} | {b})", f"(~{a})")
        sign, depth = self._one(">", ">=", "<", "<=", "==", "!="), depth - 1
        truths = self._named("b")
        if truths and roll > 0.9:
            filled = f"{truths[0]}.fillna({self._one('True', 'False')})"
            return self._one(truths[0], f"({truths[0]} == True)", filled)
        times = self._named("c")
        if times and roll > 0.85:
            name = self._one("month_start", "month_end", "quarter_end", "year_start")
            return f"{times[0]}.dt.is_{name}"
        kind = self.random.choice(kinds)
        if kind == "x":
            a = self.real(depth)
            return self._one(
                f"({a} {sign} {self._one(*REALS)})",
                f"({a} {sign} {self.real(0)})",
                f"{a}.isna()",
                f"{a}.notna()",
                f"{a}.between(-1.5, 2.0)",
            )
        if kind == "n":
            a = self.whole(depth)
            return self._one(
                f"({a} {sign} {self._one(*WHOLE)})",
                f"({a} {sign} {self.whole(0)})",
                f"{a}.isna()",
                f"{a}.isin([0, 1, 3])",
                f"({a} {sign} 0.5)",
            )
        a = self.text(depth)
        return self._one(
            f"({a} {self._one('==', '!=')} {self._one(*TEXTS)})",
            f"{a}.isin(['a', '-'])",
            f"{a}.str.startswith('a', na=False)",
            f"{a}.str.contains('A', case=False, na=False)",
            f"{a}.str.startswith('a')",
            f"{a}.str.startswith('a').fillna({self._one('True', 'False')})",
            f"{a}.str.contains('a|-', na=True)",
            f"{a}.isna()",
            f"{a}.str.match('[a-z]+', na=False)",
            f"{a}.str.endswith('b', na=False)",
        )


def make(random: Random, name: str) -> BatchFunction:
    """A random function."""
    form = random.choice(("columns", "columns", "map", "map", "group"))
    kind = random.choice(tuple(RETURNS))
    if form == "columns":
        return _of_columns(random, name, kind)
    return _of_tables(random, name, kind, form)


def _of_columns(random: Random, name: str, kind: str) -> BatchFunction:
    columns = tuple(random.sample(tuple(COLUMNS), random.choice((1, 2, 2, 3))))
    while not {"x", "y", "i", "n", "m", "s", "t"}.intersection(columns):
        columns = tuple(random.sample(tuple(COLUMNS), 2))
    maker = Maker(random, columns, "{}")
    lines = [f"def {name}({', '.join(columns)}):"]
    if kind == "text" and random.random() < 0.3:
        lines.append(f"    r = pd.Series('none', index={columns[0]}.index)")
        for text in ("'low'", "'high'"):
            lines.append(f"    r[{maker.mask(1)}] = {text}")
        lines.append("    return r")
    else:
        lines.append(f"    return {maker.value(kind, random.choice((1, 2, 2, 3)))}")
    return BatchFunction(name, "\n".join(lines) + "\n", "columns", columns, RETURNS[kind])


def _of_tables(random: Random, name: str, kind: str, form: str) -> BatchFunction:
    columns = tuple(random.sample(tuple(COLUMNS), random.choice((2, 3, 4))))
    while not {"x", "y", "i", "n", "m", "s", "t"}.intersection(columns):
        columns = tuple(random.sample(tuple(COLUMNS), 3))
    maker = Maker(random, columns, 'pdf["{}"]')
    body = _statements(random, maker, kind)
    if form == "group":
        lines = [f"def {name}(pdf):", *(f"    {x}" for x in body[:-1])]
        lines.append(f"    return {body[-1]}")
    else:
        lines = [f"def {name}(batches):", "    low, words = 1, ['a', 'b']"]
        lines += ["    for pdf in batches:", *(f"        {x}" for x in body[:-1])]
        if random.random() < 0.2:
            lines += ["        if pdf.empty:", "            continue"]
        lines.append(f"        yield {body[-1]}")
    source = "\n".join(lines) + "\n"
    returns = ", ".join([*(f"{c} {COLUMNS[c]}" for c in columns), f"r {RETURNS[kind]}"])
    return BatchFunction(name, source, form, columns, returns)


def _statements(random: Random, maker: Maker, kind: str) -> list[str]:
    """What is done with ``pdf``; the last line is the table that is given."""
    value = maker.value(kind, random.choice((1, 2, 2)))
    names = [*maker.columns, "r"]
    columns = ", ".join(f'"{c}": {maker.of.format(c)}' for c in maker.columns)
    roll = random.random()
    if roll < 0.25:
        return [f"pdf = pdf[{maker.mask(2)}]", f'pdf["r"] = {value}', "pdf"]
    if roll < 0.4:
        return [f'pdf["r"] = {value}', f"pdf[{maker.mask(1)}]"]
    if roll < 0.55:
        return [f"pd.DataFrame({{{columns}, 'r': {value}}})"]
    if roll < 0.65:
        mask = maker.mask(1)
        return [
            f"a = pdf[{mask}]",
            f"b = pdf[~{mask}]",
            "pdf = pd.concat([a, b])",
            f'pdf["r"] = {value}',
            "pdf",
        ]
    if roll < 0.85:
        return _by_rows(random, maker, kind, names)
    return [f"pdf.assign(r={value})"]


_ROW_VALUES = {
    "double": ("{x} * 2.0 if {x} > 1.5 else 0.0", "{x} + {y}"),
    "int": ("len({s} or '')", "1 if {s} == 'a' else 2", "None if {s} == 'a' else 7"),
    "text": (
        "{s}",
        "({s} or '').strip() + 'x'",
        "'big' if {x} > 2 else 'small'",
        "{s}[:1] if {s} else None",
    ),
    "mask": ("{s} in ('a', '-')", "{x} > 1.0", "{s} is None"),
    "date": ("dt.date(2024, 2, 29) if {s} == 'a' else None",),
}


def _by_rows(random: Random, maker: Maker, kind: str, names: list[str]) -> list[str]:
    """A loop, comprehension or ``apply`` over rows."""
    own = set(maker.columns)
    value = random.choice(_ROW_VALUES[kind])
    numbers, texts = sorted(own & {"x", "y"}), sorted(own & {"s", "t"})
    if (("{x}" in value or "{y}" in value) and not numbers) or ("{s}" in value and not texts):
        return ["pdf"]

    def of(form: str) -> str:
        fills = {"x": numbers[0] if numbers else "", "y": numbers[-1] if numbers else ""}
        fills["s"] = texts[0] if texts else ""
        return value.format(**{k: form.format(v) for k, v in fills.items()})

    way = random.choice(("apply", "zip", "loop", "dicts", "some"))
    if way == "apply":
        return [f'pdf["r"] = pdf.apply(lambda row: {of("row[{0!r}]")}, axis=1)', "pdf"]
    if way == "zip":
        used = ", ".join(maker.columns)
        of_all = ", ".join(maker.of.format(c) for c in maker.columns)
        source = f"zip({of_all})" if len(maker.columns) > 1 else of_all
        return [f'pdf["r"] = [{of("{}")} for {used} in {source}]', "pdf"]
    fields = [f"row.{c}" for c in maker.columns]
    if way == "dicts":
        item = ", ".join(f"'{c}': row.{c}" for c in maker.columns)
        lines = [f"    out.append({{{item}, 'r': {of('row.{}')}}})"]
    else:
        lines = [f"    out.append(({', '.join(fields)}, {of('row.{}')}))"]
    if way == "some" and texts:
        lines = [f"    if not row.{texts[0]}:", "        continue", *lines]
    elif way == "some" and numbers:
        lines = [f"    if row.{numbers[0]} > 1.0:", *(f"    {x}" for x in lines)]
    loop = ["out = []", "for row in pdf.itertuples(index=False):", *lines]
    return [*loop, f"pd.DataFrame(out, columns={names})"]
