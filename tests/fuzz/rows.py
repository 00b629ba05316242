"""Random functions of single rows, as Python source."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from presieve.semantics.values import INT_RANGES

T = TypeVar("T")

COLUMNS = {
    "i": "int",
    "h": "smallint",
    "n": "bigint",
    "m": "bigint",
    "x": "double",
    "y": "double",
    "s": "string",
    "t": "string",
    "d": "date",
    "b": "boolean",
    "e": "array<int>",
    "w": "array<string>",
    "k": "map<string,int>",
    "c": "timestamp",
}
"""The columns of the table by name, with their types."""

KINDS = {
    "int": "int",
    "smallint": "int",
    "bigint": "int",
    "double": "double",
    "string": "string",
    "date": "date",
    "boolean": "boolean",
    "array<int>": "ints",
    "array<string>": "texts",
    "map<string,int>": "map",
    "timestamp": "clock",
}
RETURNS = {
    "int": ("bigint", "bigint", "int", "smallint"),
    "double": (*["double"] * 9, "bigint"),
    "string": ("string",),
    "boolean": ("boolean",),
}
"""What a function of a kind of value is declared to return."""

WHOLE = ("0", "1", "-1", "2", "3", "7", "10", "60", "100", "-5", "2**31", "2**53 + 1", "10**12")
START = "datetime.datetime(2024, 1, 1)"
DIVISORS = ("1", "2", "3", "7", "10", "24", "60", "1000", "1000000", "-3", "0")
REALS = ("0.0", "-0.0", "1.0", "0.5", "2.5", "-1.5", "100.0", "0.1", "1e308", "3", "1e-320")
ODD = ('"it\'s"', "'\\\\'", "'%'", "'--'", "'{0}'", "'${x}'", "'a\\nb'", "'`'", "'\\0'")
TEXTS = (*ODD, "''", "'a'", "'ab'", "' '", "'é'", "'x'", "'-'", "'abc'", "'😀'", "'A'")
PARTS = ("'a'", "'b'", "' '", "'é'", "'ab'", "''")
PATTERNS = (r"'^a.?$'", r"'[^a-c\\s]+'", r"'(?i:AB|x)\\d?'", r"'(a|b){2}\\Z'", r"'\\ba'", "'.é'")
KEYS = ("'a'", "'b'", "''")
UNREAD = (
    *("str(json.loads({}))", "html.unescape({})", "str(ipaddress.ip_address({}))"),
    "datetime.datetime.strptime({}, '%Y').isoformat()",
)
"""Texts of texts by functions of which only the error for None is known."""
CAUGHT = ("Exception", "(TypeError, ValueError)", "ValueError", "TypeError", "json.JSONDecodeError")
MODULES = ("bisect", "dataclasses", "datetime", "html", "ipaddress", "json", "math", "re")
"""What functions use."""
OUTSIDE = """
LIMITS = [-5, 0, 7, 100]
i, n, x = 2, 1, 0.5  # parameters hide these
STEPS = (0.0, 0.5, 2.5, 100.0)
NAMES = ["", "a", "ab", "b", "x"]
RATES = {"a": 1.5, "b": 0.5, "": 2.0}


@dataclasses.dataclass(frozen=True)
class Rules:
    most: int = 7
    least: float = -1.5
    rates: dict = dataclasses.field(default_factory=lambda: {"a": 2.5, "ab": 1.0})

    def rate_of(self, text):
        return self.rates.get(text, self.least)


RULES = Rules()


class Kinds:
    FIRST = ("a", "ab")

    @staticmethod
    def doubled(number):
        return number + number

    @classmethod
    def is_first(cls, text):
        return text in cls.FIRST

    @classmethod
    def kind_of(cls, text):
        return "first" if cls.is_first(text) else text
"""
"""Constants and classes that functions find outside."""
HEAD = "".join(f"import {name}\n" for name in MODULES) + OUTSIDE
"""The beginning of a module of functions."""
RAISES = object()
"""The result of a function that raises."""
CLASSES = ("str", "int", "(int, float)", "bool", "list", "dict", "datetime.date", "(str, list)")
EMPTY = {"ints": "[]", "texts": "[]", "map": "{}"}
"""What stands for an array or a map without elements, by kind."""
CHECKED = 0.8
"""How often an argument is asked for None."""


@dataclass(frozen=True)
class RowFunction:
    """The source of a function, the columns that it is given, and its declared type."""

    name: str
    source: str
    arguments: tuple[str, ...]
    returns: str

    @property
    def is_read(self) -> bool:
        """Whether all that the function calls can be read."""
        return not any(call.partition("{")[0] in self.source for call in UNREAD)


@dataclass
class Maker:
    """Makes one function of these arguments, by kind."""

    random: Random
    arguments: dict[str, str]
    lines: list[str] = field(default_factory=list)
    locals: int = 0
    inner: dict[str, str] = field(default_factory=dict)
    """The functions of one value that are defined inside, by the kind that they take and give."""

    def _one(self, *texts: T) -> T:
        return self.random.choice(texts)

    def names(self, kind: str) -> list[str]:
        return [n for n, k in self.arguments.items() if k == kind]

    def value(self, kind: str, depth: int) -> str:
        """An expression of a kind."""
        if depth > 0 and self.random.random() < 0.12:
            first, second = self.value(kind, depth - 1), self.value(kind, depth - 1)
            return f"({first} if {self.condition(depth - 1)} else {second})"
        known = self.names(kind)
        if depth <= 0 or (known and self.random.random() < 0.25):
            return self._leaf(kind, known)
        if kind in self.inner and self.random.random() < 0.2:
            return f"{self.inner[kind]}({self.value(kind, depth - 1)})"
        made = {"int": self._whole, "double": self._real, "string": self._text}.get(kind)
        return self.condition(depth - 1) if made is None else made(depth - 1)

    def _leaf(self, kind: str, known: list[str]) -> str:
        if known and self.random.random() < 0.8:
            return self.random.choice(known)
        constants = {"int": WHOLE, "double": REALS, "string": TEXTS, "boolean": ("True", "False")}
        return self.random.choice(constants[kind])

    def _whole(self, depth: int) -> str:
        a, b = self.value("int", depth), self.value("int", depth)
        forms = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"(-{a})", f"abs({a})"]
        forms += [f"({a} {op} {self._one(*DIVISORS)})" for op in ("//", "%", "%", "//")]
        forms += [f"min({a}, {b})", f"max({a}, {b})", f"({a} + {self._one(*WHOLE)})"]
        forms += [f"({a} & {self._one('1', '6', '0b1011011')})", f"(({a} >> 3) & 1)", f"({a} << 2)"]
        forms += [f"{d}.isocalendar()[{self._one('0', '1', '2')}]" for d in self.names("date")]
        forms += [f"{d}.isocalendar().{self._one('year', 'week')}" for d in self.names("date")]
        if self.names("string"):
            forms += [f"len({self.value('string', depth)})"] * 2
        forms += [f"{d}.{part}" for d in self.names("date") for part in ("year", "month", "day")]
        forms += [f"{c}.{part}" for c in self.names("clock") for part in ("year", "month", "hour")]
        forms += [f"({c} - {START}).{self._one('days', 'seconds')}" for c in self.names("clock")]
        forms += [
            f"int(({START} - {c}).total_seconds() {self._one('/', '//')} 60)"
            for c in self.names("clock")
        ]
        born = "(2024 - {0}.year - ((6, 30) < ({0}.month, {0}.day)))"
        forms += [born.format(d) for d in self.names("date")] * 2
        if self.names("string"):
            s, part = self.value("string", depth), self._one(*PARTS[:-1])
            forms += [f"{s}.{name}({part})" for name in ("count", "find", "rfind")]
            forms += [
                f"len({s}.split())",
                f"len(re.findall('[ab]+', {s}))",
                f"len({s}.split({part}))",
                f"int(re.search('([0-9]{{1,4}})', {s} + '7').group(1))",
                f"int(re.search('b([0-9]{{1,18}})', {s}).group(1))",
            ]
            forms += self._counts(s)
        forms += [f"{e}[{self._one('0', '1', '-1')}]" for e in self.names("ints")]
        forms += [f"{f}({e})" for e in self.names("ints") for f in ("len", "sum", "max")]
        forms += [f"len({w} or [])" for w in self.names("texts")]
        forms += [f"sum(1 for q in {e} if q in (1, 7))" for e in self.names("ints")]
        forms += [f"{k}.get({self._one(*KEYS)}, {self._one(*WHOLE)})" for k in self.names("map")]
        forms += [f"{k}[{self._one(*KEYS)}]" for k in self.names("map")]
        forms += [f"({n} or 0)" for n in self.names("int")]
        forms += [f"bisect.bisect_{self._one('left', 'right')}(LIMITS, {a})", "RULES.most"]
        if self.random.random() < 0.1:  # nothing with such a slice is read
            forms += [f"(LIMITS[{v}:3] or [0])[0]" for v in self.names("int")]
            forms += [f"len(STEPS[:{v}])" for v in self.names("int")]
        forms += self._chosen("int", depth)
        forms += [f"LIMITS[{a} % 4]", f"(3, 1, 2)[{a}]", f"LIMITS[1:][{b} % 3]"]
        forms += [f"Kinds.doubled({a})", f"(5, {b})[{self.condition(depth - 1)}]"]
        return self.random.choice(forms)

    def _of_character(self) -> str:
        """A test of the character q."""
        kinds = ("isdigit", "isdecimal", "isalpha", "isalnum", "isupper", "islower", "isspace")
        members = self._one("'ab1'", "('a', 'é', ' ')", "NAMES", "' -_'")
        tests = [f"q.{self._one(*kinds)}()", f"q in {members}", f"q not in {members}"]
        first, second = self.random.choice(tests), self.random.choice([*tests, "q == 'a'"])
        return self._one(first, first, f"{first} and not {second}", f"({first} or {second})")

    def _counts(self, text: str) -> list[str]:
        """How many characters of a text pass a test."""
        test = self._of_character()
        return [
            f"len([q for q in {text} if {test}])",
            f"sum(1 for q in {text} if {test})",
            f"sum({self._of_character()} for q in {text} if {test})",
        ]

    def _chosen(self, kind: str, depth: int) -> list[str]:
        """Of some values those that pass a test."""
        values = [self.value(kind, depth) for _ in range(self.random.choice((1, 2, 3)))]
        c, d = self._leaf(kind, []), self._leaf(kind, [])
        test = self._one(f"q > {c}", f"q != {c}", f"q is not None and q < {c}", "q")
        some = f"q for q in ({', '.join(values)},) if {test}"
        if self.random.random() < 0.2:  # these raise where no value passes
            return [f"next({some})", f"[{some}][{self._one('0', '-1', '1')}]"]
        return [f"next(({some}), {d})"]

    def _real(self, depth: int) -> str:
        a, b, c = self.value("double", depth), self.value("double", depth), self._one(*REALS)
        forms = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {c})", f"({a} / {b})"]
        forms += [f"(-{a})", f"abs({a})", f"({a} * {c})", f"max({a}, {b})", f"min({a}, {c})"]
        forms += [f"({a} ** 2)", f"math.sqrt(abs({a}))", f"math.log({a})", f"math.exp({a})"]
        forms += [f"({a} // 2.5)", f"({a} % 1)"]
        if self.names("string"):
            text, number = self.value("string", depth), "-?[0-9]+(?:[.][0-9]+)?"
            forms += [f"float(re.search('{number}', {text} + '1.5').group())"]
        forms += [f"({x} or 0)" for x in self.names("double")] * 2
        forms += [f"({a} * ({x} or 0))" for x in self.names("double")]
        forms += [f"(({x} or 0) {self._one('+', '-')} {a})" for x in self.names("double")]
        forms += [f"(0 if {self.condition(depth - 1)} else {a})", f"abs({a} or 1)"]
        forms += [f"STEPS[bisect.bisect({of}, {a}) - 1]" for of in ("STEPS", "STEPS[1:]")]
        forms += [f"Kinds.doubled({a})", "RULES.least"]
        rates = ("RATES.get", "RULES.rate_of", "RULES.rates.get")
        forms += [f"{rate}({t})" for t in self.names("string") for rate in rates]
        forms += [f"round({a}, 1)", f"math.atan({a})", f"math.radians({a})"]
        if self.names("int"):
            n = self.value("int", depth)
            forms += [
                f"({n} / {c})",
                f"float({n})",
                f"({n} * {a})",
                f"({n} / 1000)",
                f"({n} + {a})",
            ]
        for c in self.names("clock"):
            unit, length = self._one("60", "3600", "86400"), self._one("days=1", "hours=7")
            forms.append(f"(({c} - {START}).total_seconds() / {unit})")
            forms.append(f"(({START} - {c}) / datetime.timedelta({length}))")
        return self.random.choice(forms)

    def _text(self, depth: int) -> str:
        a, b, k = self.value("string", depth), self._one(*TEXTS), self._one("0", "1", "2", "3")
        forms = [f"{a}.strip()", f"({a} + {b})", f"({b} + {a})", f"{a}[:{k}]", f"{a}[{k}:]"]
        forms += [f"{a}[-{k}:]", f"({a} + {self.value('string', depth)})", f"{a}[1:3]"]
        forms += [f"{a}.replace({self._one(*PARTS)}, {b})", f"{a}.strip('a ')", f"{a}.lower()"]
        p, e = self._one(*PARTS[:-1]), self._one("0", "1", "-1")
        forms += [f"{a}.{name}()" for name in ("title", "capitalize", "swapcase", "upper")]
        forms += [f"{a}[::-1]", f"{a}[1:-1]", f"{a}[-3:-{k}]", f"{a}[:-{k}]", f"{a}.zfill({k})"]
        forms += [f"{a}.{self._one('rjust', 'ljust')}({self._one('3', '1', '16')}, '0')"]
        forms += [f"{a}.split({p})[{e}]", f"{a}.split({p}, 1)[{e}]", f"{a}.rsplit({p}, 1)[{e}]"]
        forms += [f"{a}.partition({p})[{k[0]} % 3]", f"{a}.rpartition({p})[{k[0]} % 3]"]
        forms += [f"' '.join({a}.split())", f"{a}.split()[{e}]", f"re.sub('[ab]', {b}, {a})"]
        forms += [f"{a}[{a}.find({p}):]", f"{a}[: {a}.rfind({p})]", f"{a}.removesuffix({p})"]
        forms += [text.format(a) for text in UNREAD[:2]]
        by = self._one("' '", "'-'", "''")
        forms += [f"re.sub(' +', {by}, {a}).strip().lower()"] * 3
        forms += [f"'{{}}-{{x}}'.format({a}, x={self._one(*PARTS)})", f"({a} or 'A').lower()"]
        forms += [f"re.search('a(b?)', {a}).group({self._one('0', '1')})", f"('-' * {k} + {a})"]
        forms += self._joined(depth)
        if self.names("int"):
            n = self.value("int", depth)
            forms += [f"str({n})", f"('%03d' % ({n}))", f"('%s-%02d' % ({a}, {n}))"]
            forms += [f"f'{{{x}:03d}}-{{{x}}}'" for x in self.names("int")]
        forms += [f"{d}.strftime('%Y-%m-%d')" for d in self.names("date")]
        forms += [f"{d}.isoformat()" for d in self.names("date")]
        delta = self._one("weeks=2", "days=-1", "days=30, hours=50", "days=3_000_000")
        forms += [f"({d} + datetime.timedelta({delta})).isoformat()" for d in self.names("date")]
        forms += [f"','.join({w})" for w in self.names("texts")]
        forms += [f"Kinds.kind_of({a})", f"NAMES[len({a}) % 5]", f"NAMES[{k}:][len({a})]"]
        forms += [f"{w}[{e}]" for w in self.names("texts")]
        return self.random.choice(forms)

    def _joined(self, depth: int) -> list[str]:
        """Texts that pass a test, joined, and characters that are dropped or replaced."""
        a, by = self.value("string", depth), self._one("' '", "'; '", "''")
        values = [self.value("string", depth) for _ in range(self.random.choice((1, 2, 3)))]
        test = self._one("q", "q", "q is not None", "q > 'a'", "len(q) > 1")
        some = f"q{self._one('', '.strip()')} for q in ({', '.join(values)},) if {test}"
        table = self._one(
            "'ab', 'xa'", "'a', 'é', ' b'", "'', '', '-1 ]^'", "{'a': 'b', 'é': None}"
        )
        return [
            f"{by}.join([{some}])",
            f"{by}.join({some})",
            *self._chosen("string", depth),
            f"{a}.translate(str.maketrans({table}))",
            f"next((q for q in NAMES[1:] if q in {a}), {by})",
            f"''.join(q for q in {a} if {self._of_character()})",
            *(f"{d}.strftime('%A, %b %Y')" for d in self.names("date")),
        ]

    def condition(self, depth: int) -> str:
        """An expression of kind boolean."""
        roll = self.random.random()
        if depth > 0 and roll < 0.25:
            word = self._one("and", "or")
            return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"
        if depth > 0 and roll < 0.32:
            return f"(not {self.condition(depth - 1)})"
        if roll < 0.4 and self.arguments:
            name = self.random.choice(list(self.arguments))
            if self.random.random() < 0.2:
                return f"isinstance({name}, {self._one(*CLASSES)})"
            return f"({name} is {self._one('', 'not ')}None)"
        if self.random.random() < 0.4 and self._of_elements():
            return self.random.choice(self._of_elements())
        kinds = [k for k in ("int", "double", "string") if self.names(k)]
        if not kinds or (roll < 0.45 and self.names("boolean")):
            return self.random.choice(self.names("boolean") or ["True"])
        return self._compared(self.random.choice(kinds), depth)

    def _compared(self, kind: str, depth: int) -> str:
        a, b = self.value(kind, depth), self.value(kind, min(depth, 1))
        sign = self._one("<", "<=", ">", ">=", "==", "!=")
        forms = [f"({a} {sign} {b})"] * 4
        if kind == "string":
            forms += [f"{a}.startswith({self._one(*PARTS)})", f"({self._one(*PARTS)} in {a})"]
            forms += [f"Kinds.is_first({a})", f"({a} in NAMES[1:])"]
            forms += [f"({a} in ('a', 'b', ''))", f"{a}.endswith({self._one(*PARTS)})"]
            forms += [f"bool(re.{self._one('match', 'search')}({self._one(*PATTERNS)}, {a}))"]
            forms += [f"{self._one('any', 'all')}({self._of_character()} for q in {a})"] * 2
            return self.random.choice(forms)
        forms += [f"math.{self._one('isfinite', 'isinf', 'isnan')}({a})"]
        low, high = self._leaf(kind, []), self._leaf(kind, [])
        chain = f"({low} {self._one('<', '<=')} {a} {self._one('<', '<=')} {high})"
        options = ", ".join((low, high, self._leaf(kind, [])))
        return self.random.choice([*forms, chain, chain, f"({a} in ({options}))"])

    def _of_elements(self) -> list[str]:
        """Conditions on arrays, maps and moments."""
        tests = [f"({n} in {e})" for e in self.names("ints") for n in ("0", "7")]
        delta = self._one("weeks=2", "days=-1", "days=30, hours=50", "days=3_000_000")
        tests += [
            f"({d} {self._one('+', '-')} datetime.timedelta({delta}) < datetime.date(2024, 1, 1))"
            for d in self.names("date")
        ]
        tests += [
            f"(datetime.date(2024, 3, 1) - {d} > datetime.timedelta(days=7))"
            for d in self.names("date")
        ]
        tests += [f"any(q > 1 for q in {e})" for e in self.names("ints")]
        tests += [f"any(q > 1 for q in {e} or [])" for e in self.names("ints")]
        tests += [f"({t} in {w})" for w in self.names("texts") for t in ("'a'", "''")]
        tests += [f"({t} in {k})" for k in self.names("map") for t in KEYS]
        tests += [f"bool({x})" for kind in ("ints", "texts", "map") for x in self.names(kind)]
        tests += [f"({c}.year == 2024)" for c in self.names("clock")]
        length = self._one("hours=5", "days=30", "seconds=-1", "days=1, microseconds=1")
        tests += [
            f"({c} - {START} {self._one('<', '>=', '==')} datetime.timedelta({length}))"
            for c in self.names("clock")
        ]
        tests += [f"({c}.strftime('%Y-%m') > '2023-12')" for c in self.names("clock")]
        return tests

    # --- statements -------------------------------------------------------------------------------

    def body(self, kind: str, depth: int, indent: int) -> None:
        """Statements of which every path returns, or falls off."""
        pad = "    " * indent
        if self.random.random() < 0.25:
            of = self._one("int", "double", "string")
            if self.names(of):
                text = self.value(of, 2)
                self.locals += 1
                self.lines.append(f"{pad}v{self.locals} = {text}")
                self.arguments = {**self.arguments, f"v{self.locals}": of}
        if self.names("string") and self.random.random() < 0.06:
            self._unpack(pad)
        if depth == 0 or self.random.random() < 0.3:
            self.lines.append(f"{pad}{self._end(kind)}")
            return
        before = self.arguments
        word = "if"
        for _ in range(self.random.choice((1, 1, 2, 3))):
            self.lines.append(f"{pad}{word} {self.condition(2)}:")
            self.body(kind, depth - 1, indent + 1)
            self.arguments, word = before, "elif"
        if self.random.random() < 0.5:
            self.lines.append(f"{pad}else:")
            self.body(kind, depth - 1, indent + 1)
            self.arguments = before
        elif self.random.random() < 0.9:
            self.body(kind, depth - 1, indent)

    def _unpack(self, pad: str) -> None:
        """Assign the parts of a text to several variables, which fails if there are others."""
        p = self._one(*PARTS[:-1])
        how, count = self._one(
            *((f"split({p})", 2), (f"split({p})", 3), (f"split({p}, 1)", 2)),
            *((f"rsplit({p}, 1)", 2), ("split()", 2), (f"partition({p})", 3)),
        )
        names = [f"v{self.locals + i + 1}" for i in range(count)]
        self.locals += count
        self.lines.append(f"{pad}{', '.join(names)} = {self.value('string', 1)}.{how}")
        self.arguments = {**self.arguments, **dict.fromkeys(names, "string")}

    def _end(self, kind: str) -> str:
        roll = self.random.random()
        if roll < 0.07:
            return "return None"
        if roll < 0.09:
            return "raise ValueError('no')"
        return f"return {self.value(kind, 3)}"

    def define(self) -> None:
        """A function inside, which may capture parameters."""
        kind = self._one("int", "double", "string")
        before, lines, self.lines = self.arguments, self.lines, []
        self.arguments = {**before, "p": kind}
        if self.random.random() < 0.5:
            self.lines = [f"        if p is None:\n            return {self._leaf(kind, [])}"]
        self.lines.append(f"        return {self.value(kind, 2)}")
        self.lines = [*lines, "    def inner(p):", *self.lines]
        self.arguments, self.inner = before, {kind: "inner"}

    def tried(self, kind: str, depth: int) -> None:
        """Statements whose errors are caught, of which one may not be read."""
        self.lines.append("    try:")
        texts = self.names("string")
        if texts and self.random.random() < 0.8:
            unread = self._one(*UNREAD).format(self.random.choice(texts))
            if kind == "string" and self.random.random() < 0.5:
                self.lines.append(f"        return {unread}")
            self.lines.append(f"        v0 = {unread}")
            self.arguments = {**self.arguments, "v0": "string"}
        self.body(kind, depth, 2)
        self.lines.append(f"    except {self._one(*CAUGHT)}:")
        self.lines.append(f"        return {self._one('None', self._leaf(kind, []))}")

    def _replaced_by_empty(self, name: str) -> list[str]:
        """Statements that put an empty list or dict in place of an argument, mostly for None."""
        empty = EMPTY[self.arguments[name]]
        test = self._one(f"{name} is None", f"not {name}", self.condition(1))
        return self._one(
            f"    {name} = {name} or {empty}",
            f"    if {test}:\n        {name} = {empty}",
            f"    {name} = {empty} if {test} else {name}",
        ).split("\n")

    def checks(self, kind: str) -> None:
        """Mostly, arguments are asked for None first."""
        for name in [n for k in EMPTY for n in self.names(k) if self.random.random() < 0.4]:
            self.lines += self._replaced_by_empty(name)
        asked = [n for n in self.arguments if self.random.random() < CHECKED]
        if asked and self.random.random() < 0.4:
            asked = [" is None or ".join(asked)]
        for name in asked:
            default = self._leaf(kind, []) if self.random.random() < 0.4 else "None"
            self.lines += [f"    if {name} is None:", f"        return {default}"]


def make(random: Random, name: str) -> RowFunction:
    """A random function."""
    count = random.choice((1, 1, 1, 2, 2, 3))
    chosen = random.sample(list(COLUMNS), count)
    maker = Maker(random, {c: KINDS[COLUMNS[c]] for c in chosen})
    known = [k for k in ("int", "double", "string") if maker.names(k)]
    kind = random.choice([*known, *known, "boolean", "string", "int"])
    if random.random() < 0.15:
        maker.define()
    if random.random() < 0.85:
        maker.checks(kind)
    depth = random.choice((0, 1, 2))
    if random.random() < 0.15:
        maker.tried(kind, depth)
    else:
        maker.body(kind, depth, 1)
    head = f"def {name}({', '.join(chosen)}):"
    source = "\n".join([head, *maker.lines]) + "\n"
    return RowFunction(name, source, tuple(chosen), random.choice(RETURNS[kind]))


def result_of(function: Any, row: list[Any], type_: str, *, arrow: bool) -> Any:
    """What Spark stores; :data:`RAISES` where the function, or Arrow, raises."""
    try:
        result = function(*row)
    except Exception:
        return RAISES
    if type_ == "double" and isinstance(result, int):
        return float(result) if arrow else None
    if type_ not in INT_RANGES or result is None:
        return result
    if isinstance(result, float):  # with Arrow it depends on the number, and is not read
        return RAISES if arrow else None
    low, high = INT_RANGES[type_]
    if low <= result <= high:
        return result
    if arrow:
        return RAISES
    least, most = INT_RANGES["bigint"]
    return (result - low) % (high - low + 1) + low if least <= result <= most else None
