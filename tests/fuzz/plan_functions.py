"""Random functions that presieve can compile, as Python source, written as users write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

PYTHON: Mapping[str, tuple[str, ...]] = {
    "tinyint": ("0", "5", "3", "127", "-128", "1"),
    "smallint": ("0", "5", "3", "32767", "-32768", "1"),
    "int": ("0", "5", "3", "2**31 - 1", "-2**31", "1"),
    "bigint": ("0", "5", "3", "2**63 - 1", "-2**63", "1"),
    "double": ("0", "0.0", "0", "-0.0", "1.5", "2.5", "3.0"),
    "date": ("dt.date(2024, 2, 29)", "dt.date(1582, 10, 15)", "dt.date(9999, 12, 31)"),
    "timestamp": ("dt.datetime(2024, 2, 29)", "dt.datetime(1900, 1, 1)", "dt.datetime(1883, 1, 1)"),
    "decimal(10,2)": ("Decimal('1.50')", "Decimal('0.00')", "Decimal('99999999.99')"),
    "string": ("'a'", "''", "'b'", "' a'"),
}
SQL: Mapping[str, tuple[str, ...]] = {
    "tinyint": ("0", "5", "3", "127", "-128", "1"),
    "smallint": ("0", "5", "3", "32767", "-32768", "1"),
    "int": ("0", "5", "3", "2147483647", "-2147483648", "1"),
    "bigint": ("0", "5", "3", "9223372036854775807L", "1"),
    "double": ("0", "0D", "-0D", "0", "0D", "1.5D", "2.5D", "3D", "3", "double('NaN')"),
    "date": ("DATE'2024-02-29'", "DATE'1582-10-15'", "DATE'9999-12-31'", "DATE'2024-01-01'"),
    "timestamp": ("TIMESTAMP'2024-02-29 00:00:00'", "TIMESTAMP'1900-01-01 00:00:00'"),
    "decimal(10,2)": ("1.50", "0", "99999999.99", "3"),
    "string": ("'a'", "''", "'b'", "' a'"),
}
"""Constants of each type, in Python and in SQL."""

NUMBERS = ("tinyint", "smallint", "int", "bigint", "double")
IMPORTS = """\
import datetime as dt
from decimal import Decimal

import pandas as pd
import pyarrow.compute as pc


"""


@dataclass(frozen=True, slots=True)
class Function:
    """A function ``f`` of a column. ``returns`` is a type, of functions of tables a schema."""

    source: str
    returns: str

    @property
    def text(self) -> str:
        """The module that defines it."""
        return IMPORTS + self.source


def _body(*lines: str) -> str:
    return "def f(v):\n" + "".join(f"    {line}\n" for line in lines)


def of_rows(random: Random, kind: str) -> Function:
    """A function of one value: passes it on, compares it, computes something of it."""
    a, b = random.choice(PYTHON[kind]), random.choice(PYTHON[kind])
    sign = random.choice(("<", "<=", ">", ">="))
    tests = [
        f"return v == {a}",
        f"return v != {a}",
        f"return v is not None and v {sign} {a}",
        f"return v in ({a}, {b})",
        "return v != v",
        f"return v is None or v {sign} {a}",
    ]
    values = [
        _body("return v"),
        _body("if v is None:", "    return None", "return v"),
        _body("return v"),
        _body(f"return {a} if v is None else v"),
        _body(f"if v is not None and v {sign} {a}:", "    return v", f"return {b}"),
    ]
    if kind in NUMBERS:
        values.append(_body("if v is None:", "    return None", "return abs(v)"))
        values.append(_body("if v is None:", "    return None", f"return -v + {a}"))
        values.append(_body("return None if v is None else v * 2"))
    cases = [
        _body(f"if v is not None and v {sign} {a}:", "    return 'high'", "return 'low'"),
        _body(
            *("if v is None:", "    return 'none'", f"if v == {a}:", "    return 'this'"),
            *(f"if v {sign} {b}:", "    return 'some'", "return 'rest'"),
        ),
    ]
    roll = random.random()
    if roll < 0.4:
        return Function(_body(random.choice(tests)), "boolean")
    if roll < 0.85:
        wide = "bigint" if kind in NUMBERS[:-1] and random.random() < 0.5 else kind
        return Function(random.choice(values), wide)
    return Function(random.choice(cases), "string")


def of_series(random: Random, kind: str) -> Function:
    """A function of a Series of pandas."""
    a, b = random.choice(PYTHON[kind]), random.choice(PYTHON[kind])
    sign = random.choice(("<", "<=", ">", ">=", "==", "!="))
    typed = "def f(v: pd.Series) -> pd.Series:\n    return "
    tests = [f"v {sign} {a}", f"v.isin([{a}, {b}])", "v.isna()", f"(v {sign} {a}) | (v == {b})"]
    values = ["v", f"v.where(v == {a}, {b})"]
    if kind in NUMBERS:
        values += ["v.abs()", f"v.fillna({a})", f"v + {a}"]
    if random.random() < 0.5:
        return Function(f"{typed}{random.choice(tests)}\n", "boolean")
    return Function(f"{typed}{random.choice(values)}\n", kind)


def of_batches(random: Random, kind: str, schema: str) -> Function:
    """A function for ``mapInPandas`` that gives rows of its table back, chosen by column ``c``."""
    a, b = random.choice(PYTHON[kind]), random.choice(PYTHON[kind])
    sign = random.choice(("<", "<=", ">", ">=", "==", "!="))
    chosen = [
        "pdf",
        f"pdf[pdf.c {sign} {a}]",
        f"pdf[(pdf.c {sign} {a}) & (pdf.id < 20)]",
        f"pdf[pdf.c.isin([{a}, {b}])]",
        "pdf[pdf.c.notna()]",
        f"pdf[~(pdf.c {sign} {a})]",
        f"pdf[pdf['c'] {sign} {a}]",
    ]
    body = f"    for pdf in batches:\n        yield {random.choice(chosen)}\n"
    return Function(f"def f(batches):\n{body}", schema)


def of_arrow(random: Random, kind: str, schema: str) -> Function:
    """A function for ``mapInArrow`` that passes batches on, or some of their rows."""
    chosen = ["batch"] * 3
    if kind in NUMBERS:
        name = random.choice(("greater", "greater_equal", "equal", "not_equal"))
        chosen.append(f"batch.filter(pc.{name}(batch.column('c'), {random.choice(PYTHON[kind])}))")
    body = f"    for batch in batches:\n        yield {random.choice(chosen)}\n"
    return Function(f"def f(batches):\n{body}", schema)


def of_groups(random: Random, kind: str, key: str) -> Function:
    """A fold for ``applyInPandas`` by ``g``, of type ``key``, which gives ``g`` and ``m``."""
    folds = ["pdf['c'].max()", "pdf['c'].min()"]
    result = kind
    if kind in ("double", "int", "bigint", "string"):
        folds = [*folds, "pdf['c'].iloc[0]"]
    if random.random() < 0.3:
        folds, result = ["len(pdf)", "int(pdf['c'].count())"], "bigint"
    row = f"{{'g': [pdf['g'].iloc[0]], 'm': [{random.choice(folds)}]}}"
    source = f"def f(pdf):\n    return pd.DataFrame({row})\n"
    return Function(source, f"g {key}, m {result}")


def of_columns(random: Random, kind: str) -> Function:
    """A fold of a Series for ``agg``."""
    fold = random.choice(("max", "min"))
    source = f"def f(v: pd.Series) -> {_hint(kind)}:\n    return v.{fold}()\n"
    return Function(source, kind)


def _hint(kind: str) -> str:
    return "float" if kind == "double" else "int"


def filter_of(random: Random, column: str, kind: str) -> str:
    """A condition on a column, in SQL."""
    if kind == "boolean":
        tests = (column, column, f"NOT {column}", f"{column} = false", f"{column} IS NULL")
        return random.choice(tests)
    constants = ("'high'", "'low'", "'this'", *SQL[kind]) if kind == "string" else SQL[kind]
    a, b = random.choice(constants), random.choice(constants)
    sign = random.choice(("<", "<=", ">", ">=", "=", "<>"))
    forms = (
        *[f"{column} {sign} {a}"] * 5,
        *(f"{column} IN ({a}, {b})", f"NOT ({column} {sign} {a})", f"{column} <=> {a}"),
        *(f"{column} BETWEEN {a} AND {b}", f"{column} {sign} {a} OR {column} = {b}"),
        *(f"{column} IS NOT NULL", f"{column} {sign} {a} AND id < 20"),
    )
    return random.choice(forms)
