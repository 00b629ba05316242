"""Random conditions on the columns of a row, as Python: mostly safe, seldom raising."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from tests.fuzz.kinds import KINDS, NUMBERS, ORDERED

NAN_TESTS = (
    "{0} == {0}",
    "{0} != {0}",
    "math.isnan({0})",
    "not math.isnan({0})",
    "not pd.isna({0})",
    "not math.isinf({0})",
)


_NUMBER_TESTS = (
    "{0} // 3 {op} {1}",
    "str({0}) == str({1})",
    "'a' + str({0}) == 'a1'",
    "{0} % 5 {op} {1} % 5",
)
FUNCTION_TESTS = {
    "string": (
        "{0}.strip() == {1}",
        "{0}.strip().upper() != {1}",
        "{0}.lower() in ({1}, {2})",
        "{0}.upper() == {1}.upper()",
        "'b' in ({0} or 'x').strip().lower()",
        "{0}.lower().replace('a', '').startswith('b')",
        "len({0}) {op} 2",
        "{1}[:1] in {0}",
        "{0}.endswith({1}[-1:])",
        "{0}[:1] {op} {1}",
        "{0}[-1:] == {1}[-1:]",
        "{0}[0] == {1}[:1]",
        "'x' + {0} {op} 'x' + {1}",
        "{0}.replace('a', 'b') == {1}",
        "{0}.find({1}[:1]) {op} 0",
        "{0}.split('a')[0] == {1}",
        "{0}.split('b')[1] == {1}",
        "re.match('a|b', {0}) is not None",
    ),
    "int": _NUMBER_TESTS,
    "bigint": _NUMBER_TESTS,
    "double": (
        "math.floor({0}) {op} {1}",
        "math.isfinite({0}) and int({0}) {op} {1}",
        "math.isfinite({0}) and round({0}) {op} {1}",
        "{0} >= 0 and math.sqrt({0}) {op} abs({1})",
    ),
    "date": (
        "{0}.year {op} {1}.year",
        "{0}.month {op} 3",
        "{0}.weekday() {op} 4",
        "({1} - {0}).days {op} 3",
    ),
}
"""What functions make of a value, with constants of its kind."""


@dataclass(frozen=True)
class Col:
    """An input column. ``optional``: Python may see None there."""

    name: str
    kind: str
    nullable: bool
    optional: bool
    text: str = ""

    @property
    def ddl(self) -> str:
        """The column as Spark's DDL has it."""
        return f"{self.name} {self.kind}" + ("" if self.nullable else " NOT NULL")


@dataclass(frozen=True)
class Conditions:
    """Conditions over some columns; each column's ``text`` is how the program reads it."""

    random: Random
    columns: tuple[Col, ...]

    def any(self, depth: int = 1) -> str:
        """A condition of at most this depth."""
        roll = self.random.random()
        if depth > 0 and roll < 0.25:
            a, b = self.any(depth - 1), self.any(depth - 1)
            return self.random.choice((f"({a} and {b})", f"({a} or {b})"))
        if depth > 0 and roll < 0.32:
            return f"not ({self.any(depth - 1)})"
        return self.atom(self.random.choice(self.columns))

    def atom(self, c: Col) -> str:
        """A condition on one column, guarded against None most of the time."""
        if c.optional and self.random.random() < 0.15:
            return f"{c.text} is {self.random.choice(('', 'not '))}None"
        test = self._test(c)
        if not c.optional or self.random.random() < 0.04:
            return test
        if self.random.random() < 0.8:
            return f"({c.text} is not None and {test})"
        return f"({c.text} is None or {test})"

    def _test(self, c: Col) -> str:
        pick, kind = self.random.random(), KINDS[c.kind]
        a, b = kind.constant(self.random)[0], kind.constant(self.random)[0]
        if c.kind == "boolean":
            return self.random.choice((c.text, c.text, f"not {c.text}", f"{c.text} == {a}"))
        if pick < 0.1:
            return f"{c.text} in ({a}, {b})"
        if pick < 0.2:
            low, high = sorted((a, b), key=lambda x: eval(x, {"dt": dt, "Decimal": Decimal}))
            return f"{low} <= {c.text} {self.random.choice(('<', '<='))} {high}"
        if c.kind == "double" and pick < 0.3:
            return self.random.choice(NAN_TESTS).format(c.text)
        other = self._other(c)
        if other and pick < 0.36:
            return f"{c.text} {self._order()} {other}"
        if c.kind == "string" or pick < 0.42:
            return f"{c.text} {self.random.choice(('==', '==', '!=', '<', '>='))} {a}"
        if c.kind in ("int", "bigint") and pick < 0.47:
            return f"{c.text} % {self.random.choice((2, 3))} == {self.random.choice((0, 1))}"
        if c.kind in NUMBERS and pick < 0.51:
            return f"abs({c.text}) < {a}"
        if pick > 0.88 and c.kind in FUNCTION_TESTS:
            test = self.random.choice(FUNCTION_TESTS[c.kind])
            return f"({test.format(c.text, a, b, op=self._order())})"
        return f"{c.text} {self._order()} {a}"

    def _order(self) -> str:
        return self.random.choice(("<", "<=", ">", ">="))

    def _other(self, c: Col) -> str | None:
        """Another column of the same type that is never None."""
        same = [o.text for o in self.columns if o.kind == c.kind and o != c and not o.optional]
        return self.random.choice(same) if same and c.kind in ORDERED else None
