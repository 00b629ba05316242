"""Random functions that reduce columns and tables of a group with pandas, and tables for them."""

from __future__ import annotations

import datetime as dt
import linecache
import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from presieve.semantics.values import Value

TYPES = {
    "v": ("double", "double NOT NULL"),
    "w": ("double", "double NOT NULL"),
    "n": ("int", "bigint", "bigint NOT NULL", "int NOT NULL", "smallint"),
    "k": ("int", "bigint", "bigint NOT NULL", "int NOT NULL"),
    "s": ("string", "string NOT NULL"),
    "f": ("boolean", "boolean NOT NULL"),
    "t": ("timestamp", "timestamp_ntz", "timestamp NOT NULL"),
    "u": ("timestamp", "timestamp NOT NULL"),
    "d": ("date", "date NOT NULL"),
}
"""The columns, with the types that each of them may have."""

_KIND = {
    "double": "float",
    "int": "int",
    "bigint": "int",
    "smallint": "int",
    "string": "str",
    "boolean": "bool",
    "timestamp": "time",
    "timestamp_ntz": "time",
    "date": "date",
}
_DAY = 1577836800000000
POOLS: dict[str, list[Value]] = {
    "double": [
        *(0.0, -0.0, 1.0, 1.5, -1.5, 2.0, 5.0, 10.5, 1e308, -1e308, 5e-324),
        *(float("inf"), float("-inf"), float("nan"), float("nan"), float("nan")),
    ],
    "int": [0, 1, -1, 2, -3, 5, 7, 2**31 - 1, -(2**31)],
    "smallint": [0, 1, -1, 2, 5, 2**15 - 1, -(2**15)],
    "bigint": [0, 1, -1, 2, -3, 5, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)],
    "string": ["", "a", "b", "ab", "B", "z", " a", "\U0001f600", "ß"],
    "boolean": [True, False],
    "timestamp": [0, -1, _DAY, _DAY - 1, _DAY + 86400 * 10**6, 1600000000123456],
    "timestamp_ntz": [0, -1, _DAY, _DAY - 1, _DAY + 86400 * 10**6, 1600000000123456],
    "date": [0, -1, 18321, 18320, 18262],
}

_CONSTANTS = {
    "float": ("0", "1", "1.5", "-1.5", "5", "0.0", "10.5"),
    "int": ("0", "1", "-1", "2", "5", "1.5", "2.0", "2**31"),
    "str": ('"a"', '"b"', '""', '"ab"'),
    "time": ('pd.Timestamp("2020-01-01")', '"2020-01-01"', "dt.datetime(2020, 1, 1)"),
    "date": ("dt.date(2020, 2, 29)", "dt.date(1970, 1, 1)"),
    "bool": ("True", "False"),
}
_RESULTS = {
    "float": ("double", "double", "double", "float"),
    "int": ("bigint", "bigint", "int", "double"),
    "str": ("string",),
    "bool": ("boolean", "boolean", "bigint"),
    "time": ("timestamp", "timestamp_ntz"),
    "date": ("date",),
}


@dataclass
class Maker:
    """Makes one function. ``kinds`` are the columns' kinds; ``lines`` its body so far."""

    dice: Random
    kinds: dict[str, str]
    lines: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=lambda: ["pdf"])
    scalars: list[tuple[str, str]] = field(default_factory=list)
    names: int = 0

    def pick(self, *options: Any) -> Any:
        """One of them."""
        return self.dice.choice(options)

    def fresh(self, prefix: str) -> str:
        """A new variable."""
        self.names += 1
        return f"{prefix}{self.names}"

    # --- columns ----------------------------------------------------------------------------

    def column(self, frame: str, *kinds: str) -> tuple[str, str]:
        """A column of a table, as it stands, and its kind."""
        found = [c for c, k in self.kinds.items() if not kinds or k in kinds]
        if not found:
            return self.column(frame)
        name = self.dice.choice(found)
        text = self.pick(f'{frame}["{name}"]', f"{frame}.{name}")
        return text, self.kinds[name]

    def series(self, frame: str, depth: int = 2) -> tuple[str, str]:
        """A column made of a table's columns, and its kind."""
        text, kind = self.column(frame)
        if depth == 0 or self.dice.random() < 0.35:
            return text, kind
        match self.dice.randrange(9):
            case 0:
                return f"{text}.dropna()", kind
            case 1:
                value = self.pick(*_CONSTANTS[kind])
                return f"{text}.fillna({value})", kind
            case 2 if kind in ("float", "int"):
                ends = self.pick("1", "lower=0", "-1, 5", "upper=5", "5, -1", "0, 1.5")
                return f"{text}.clip({ends})", kind
            case 3 if kind in ("float", "int"):
                other, of = self.column(frame, "float", "int")
                op = self.pick("+", "-", "*", "/", "//", "%")
                joined = "float" if "float" in (kind, of) or op == "/" else "int"
                return f"({text} {op} {other})", joined
            case 4 if kind in ("float", "int"):
                op = self.pick("+", "-", "*", "/", "//", "%", "**")
                return f"({text} {op} {self.pick('1', '2', '0', '1.5')})", kind
            case 5:
                return f"{text}[{self.mask(frame, 1)}]", kind
            case 6 if kind in ("float", "int"):
                return f"{text}.{self.pick('abs()', 'round()', 'round(1)')}", kind
            case 7:
                return self.accessor(text, kind)
            case 8 if kind in ("float", "int"):
                other, _ = self.column(frame, kind)
                how = self.pick("where", "mask")
                rest = self.pick("", ", 0", ", 1.5", f", {other}")
                return f"{text}.{how}({self.mask(frame, 1)}{rest})", kind
        return text, kind

    def accessor(self, text: str, kind: str) -> tuple[str, str]:
        """What ``.str`` and ``.dt`` give."""
        if kind == "str":
            name, found = self.pick(
                ("len()", "int"),
                ("lower()", "str"),
                ("upper()", "str"),
                ("strip()", "str"),
                ('startswith("a")', "mask"),
                ('startswith("")', "mask"),
                ('endswith("b")', "mask"),
                ('contains("a")', "mask"),
            )
            return f"{text}.str.{name}", found
        if kind == "time":
            name = self.pick("year", "month", "day", "hour", "minute", "dayofweek", "date")
            return f"{text}.dt.{name}", "date" if name == "date" else "int"
        return text, kind

    def mask(self, frame: str, depth: int = 2) -> str:
        """A condition on a table's rows."""
        if depth and self.dice.random() < 0.3:
            a, b = self.mask(frame, depth - 1), self.mask(frame, depth - 1)
            return str(self.pick(f"(({a}) & ({b}))", f"(({a}) | ({b}))", f"~({a})"))
        text, kind = self.series(frame, min(depth, 1)) if self.dice.random() < 0.3 else ("", "")
        if not text or kind == "mask" or ".dropna()" in text:
            text, kind = self.column(frame)
        if kind == "str" and self.dice.random() < 0.2:
            how = self.pick(
                'startswith("a"', 'endswith("b"', 'contains("a"', 'startswith(("a", "b")'
            )
            return f"{text}.str.{how}{self.pick('', ', na=False')})"
        if kind == "bool" and self.dice.random() < 0.5:
            return text
        match self.dice.randrange(8):
            case 0:
                return f"{text}.{self.pick('isna', 'notna', 'isnull', 'notnull')}()"
            case 1:
                a, b = self.pick(*_CONSTANTS[kind]), self.pick(*_CONSTANTS[kind])
                return f"{text}.isin([{a}, {b}])"
            case 2 if kind not in ("bool", "str"):
                a, b = self.pick(*_CONSTANTS[kind]), self.pick(*_CONSTANTS[kind])
                return f"{text}.between({a}, {b})"
            case 3:
                other, _ = self.column(frame, kind)
                return f"({text} {self.pick('>', '<', '>=', '==', '!=')} {other})"
            case 4 if kind == "float":
                return f"{self.pick('np.isnan', 'pd.isna', 'pd.notna')}({text})"
            case 5:
                word = self.pick("gt", "ge", "lt", "le", "eq", "ne")
                return f"{text}.{word}({self.pick(*_CONSTANTS[kind])})"
        op = self.pick(">", ">=", "<", "<=", "==", "!=")
        return f"({text} {op} {self.pick(*_CONSTANTS[kind])})"

    # --- tables and reductions ----------------------------------------------------------------

    def table(self) -> str:
        """A table in a variable, maybe a new one."""
        frame = self.dice.choice(self.frames)
        if self.dice.random() < 0.55 or len(self.frames) > 3:
            return frame
        name = self.fresh("part")
        columns = list(self.kinds)
        some = ", ".join(f'"{c}"' for c in self.dice.sample(columns, min(2, len(columns))))
        made = self.pick(
            f"{frame}[{self.mask(frame)}]",
            f"{frame}.loc[{self.mask(frame)}]",
            f"{frame}[{self.mask(frame)}].copy()",
            f"{frame}.dropna(subset=[{some}])",
            f"{frame}.dropna()",
            f'{frame}.sort_values("{self.dice.choice(columns)}")',
            f'{frame}.sort_values("{self.dice.choice(columns)}", kind="stable")',
            f"{frame}.assign({self.dice.choice(columns)}={self.series(frame)[0]})",
        )
        self.lines.append(f"{name} = {made}")
        self.frames.append(name)
        return name

    def write(self) -> None:
        """A column is put into a table, or a part of it."""
        frame = self.dice.choice(self.frames)
        column = self.dice.choice(list(self.kinds))
        kind = self.kinds[column]
        mask, constant = self.mask(frame, 1), self.pick(*_CONSTANTS[kind])
        other, _ = self.column(frame, kind)
        text, found = self.series(frame)
        if found not in _CONSTANTS:
            text, found = constant, kind
        target, value, self.kinds[column] = self.pick(
            (f'{frame}["{column}"]', text, found),
            (f'{frame}["{column}"]', f"np.where({mask}, {other}, {constant})", kind),
            (f'{frame}["{column}"]', f"np.maximum({other}, {constant})", kind),
            (f'{frame}.loc[{mask}, "{column}"]', constant, kind),
        )
        self.lines.append(f"{target} = {value}")

    def reduction(self) -> tuple[str, str]:
        """A number, text or time made of all rows of a table, and its kind."""
        frame = self.table()
        text, kind = self.series(frame)
        if self.dice.random() < 0.25:
            return self.of_rows(frame)
        if kind == "mask":
            return f"{text}.{self.pick('sum', 'any', 'all', 'mean')}()", "int"
        if self.dice.random() < 0.12:
            best, _ = self.column(frame)
            which = self.pick("idxmax", "idxmin")
            inner = f'{frame}.loc[{best}.{which}(), "{self.dice.choice(list(self.kinds))}"]'
            name = inner.rsplit('"', 2)[1]
            return inner, self.kinds[name]
        how = self.pick(
            *("min()", "max()", "count()", "iloc[0]", "iloc[-1]", "nunique()", "size", "empty"),
            *("min()", "max()", "sum()", "mean()", "any()", "all()", "first", "std()", "prod()"),
            *("median()", "var()", "iloc[0]", "iloc[-1]"),
        )
        if how == "first":
            found = self.pick("np.max", "np.min", "np.sum", "len", "max", "min", "sum")
            return f"{found}({text})", "int" if found == "len" else kind
        if how in ("count()", "nunique()", "size"):
            kind = "int"
        elif how in ("empty", "any()", "all()"):
            kind = "bool"
        elif how in ("mean()", "std()", "var()", "median()"):
            kind = "float"
        return f"{text}.{how}", kind

    def of_rows(self, frame: str) -> tuple[str, str]:
        """What is made of a condition."""
        mask = self.mask(frame)
        column, kind = self.column(frame)
        name = column.rsplit(".", 1)[-1].strip('"[]').rsplit('"', 1)[-1]
        made: tuple[str, str] = self.pick(
            (f"({mask}).sum()", "int"),
            (f"({mask}).mean()", "float"),
            (f"({mask}).any()", "bool"),
            (f"({mask}).all()", "bool"),
            (f"len({frame}[{mask}])", "int"),
            (f"{frame}[{mask}].shape[0]", "int"),
            (f'{frame}.loc[{mask}, "{name}"].max()', kind),
            (f"np.where({mask}, 1, 0).sum()", "int"),
            (f"np.where({mask}, {column}, 0).max()", kind),
            (f"int(({mask}).sum())", "int"),
        )
        return made

    # --- what is made of scalars --------------------------------------------------------------

    def scalar(self) -> tuple[str, str]:
        """A scalar in a variable or as an expression."""
        if self.scalars and self.dice.random() < 0.5:
            return self.dice.choice(self.scalars)
        made = self.reduction()
        if self.dice.random() < 0.5:
            name = self.fresh("x")
            self.lines.append(f"{name} = {made[0]}")
            made = name, made[1]
            self.scalars.append(made)
        return made

    def result(self, depth: int = 2) -> tuple[str, str]:
        """An output."""
        text, kind = self.scalar()
        if depth == 0 or self.dice.random() < 0.4:
            return text, kind
        number = kind in ("float", "int")
        match self.dice.randrange(12):
            case 0 if number:
                other, of = self.result(depth - 1)
                joined = "float" if "float" in (kind, of) else "int"
                return f"({text} {self.pick('+', '-', '*', '/')} {other})", joined
            case 1 if number:
                op = self.pick("+", "-", "*", "/", "//", "%")
                return f"({text} {op} {self.pick('1', '2', '0', '1.5')})", kind
            case 2:
                return f"{self.pick('int', 'float', 'bool', 'str', 'abs', 'round')}({text})", kind
            case 3:
                other, _ = self.result(depth - 1)
                return f"({text} if {self.test()} else {other})", kind
            case 4:
                return f"(None if {self.pick('pd.isna', 'pd.isnull')}({text}) else {text})", kind
            case 5:
                return self.test(), "bool"
            case 6:
                other = self.pick(*_CONSTANTS[kind])
                return f"{self.pick('max', 'min')}({text}, {other})", kind
            case 7:
                return f"({text} {self.pick('or', 'and')} {self.pick(*_CONSTANTS[kind])})", kind
            case 8 if number:
                return f"-{text}", kind
            case 9 if number:
                return f"float({text})", "float"
        return text, kind

    def test(self) -> str:
        """A condition on scalars."""
        text, kind = self.scalar()
        match self.dice.randrange(9):
            case 0:
                return f"{self.pick('pd.isna', 'pd.notna')}({text})"
            case 1:
                return f"({text})"
            case 2:
                other, _ = self.scalar()
                return f"({text} {self.pick('>', '<', '>=', '==', '!=')} {other})"
            case 3:
                return f"({text} {self.pick('is', 'is not')} None)"
            case 4:
                return f"(not {text})"
            case 5:
                return (
                    f"({text} in ({self.pick(*_CONSTANTS[kind])}, {self.pick(*_CONSTANTS[kind])}))"
                )
            case 6 if kind == "float":
                return f"{self.pick('np.isnan', 'math.isnan')}({text})"
        op = self.pick(">", ">=", "<", "<=", "==", "!=")
        return f"({text} {op} {self.pick(*_CONSTANTS[kind])})"

    def body(self) -> tuple[str, list[str]]:
        """The lines of a function, and the types of its outputs."""
        while self.dice.random() < 0.25:
            self.write()
        if self.dice.random() < 0.2:
            test = self.test()
            self.lines.append(f"if {test}:")
            self.lines.append("    return OTHER")
        outs = [self.result() for _ in range(self.dice.choice((1, 1, 1, 2)))]
        types = [self.pick(*_RESULTS.get(k, ("double",))) for _, k in outs]
        names = [f"o{i}" for i in range(len(outs))]
        values = [text for text, _ in outs]
        made = self.pick(_as_dict, _as_list, _as_rows)
        self.lines.append(f"return {made(names, values)}")
        self.lines = [x.replace("OTHER", made(names, ["None"] * len(outs))) for x in self.lines]
        return "\n".join(f"    {x}" for x in self.lines), types


def _as_dict(names: list[str], values: list[str]) -> str:
    return (
        "pd.DataFrame({"
        + ", ".join(f'"{n}": [{v}]' for n, v in zip(names, values, strict=True))
        + "})"
    )


def _as_list(names: list[str], values: list[str]) -> str:
    return (
        "pd.DataFrame([{"
        + ", ".join(f'"{n}": {v}' for n, v in zip(names, values, strict=True))
        + "}])"
    )


def _as_rows(names: list[str], values: list[str]) -> str:
    return f"pd.DataFrame([({', '.join(values)},)], columns={names!r})"


def program(dice: Random) -> tuple[str, str, str]:
    """Source, schema and outputs of a random function ``f``."""
    names = dice.sample(list(TYPES), dice.randint(1, 4))
    types = {n: dice.choice(TYPES[n]) for n in names}
    maker = Maker(dice, {n: _KIND[t.split()[0]] for n, t in types.items()})
    text, outs = maker.body()
    schema = ", ".join(f"{n} {t}" for n, t in types.items())
    returns = ", ".join(f"o{i} {t}" for i, t in enumerate(outs))
    return f"def f(pdf: pd.DataFrame) -> pd.DataFrame:\n{text}\n", schema, returns


def load(source: str, label: str) -> Any:
    """The function, with its source where ``inspect`` finds it."""
    file = f"<pandas {label}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found: dict[str, Any] = {"pd": pd, "np": np, "dt": dt, "math": math, "__name__": __name__}
    exec(compile(source, file, "exec"), found)
    return found["f"]
