"""Compositions of Spark's functions: their steps give what Python gives, for every character."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from operator import itemgetter, methodcaller
from typing import TYPE_CHECKING

import pytest

from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, STRING
from presieve.ir.terms import App, Lit, Op, Scope, Var, int_lit, string_lit
from presieve.sql.expressions import python_texts
from presieve.sql.expressions.compositions import write
from presieve.sql.expressions.python_functions import compose
from presieve.sql.expressions.python_texts import Steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i < 0xE000]
LETTERS = "aAΣσς.':·İßŉΐև 1ﬃᾷͅˠ^Ǆ̈́"  # noqa: RUF001


def taken(steps: Steps, text: str) -> str:
    """Take the steps as Spark does. Its patterns are Python's, too."""
    for replacement in steps.replacements:
        text = re.sub(replacement.pattern, replacement.by.replace("$1", r"\1"), text)
    dropped = steps.letters[len(steps.others) :]
    table = str.maketrans(steps.letters[: len(steps.others)], steps.others, dropped)
    return text.translate(table)


def in_python(pattern: str) -> re.Pattern[str]:
    """A pattern of Java, as Python writes it."""
    return re.compile(pattern.replace(r"\z", r"\Z"))


CASES = [
    (python_texts.steps_to_lower, str.lower),
    (python_texts.steps_to_upper, str.upper),
]


@pytest.mark.parametrize(("steps", "function"), CASES)
def test_every_character_and_its_neighbours(
    steps: Callable[[], Steps], function: Callable[[str], str]
) -> None:
    for before, after in (("", "\n"), ("A", "Σ1"), ("1", "Σ1"), ("1Σ", "A")):
        text = "".join(f"{before}{c}{after}" for c in EVERY)
        assert taken(steps(), text) == function(text)


@pytest.mark.parametrize(("steps", "function"), CASES)
def test_random_texts(steps: Callable[[], Steps], function: Callable[[str], str]) -> None:
    draw = random.Random(7)
    for _ in range(20_000):
        text = "".join(draw.choice(LETTERS) for _ in range(draw.randrange(9)))
        assert taken(steps(), text) == function(text)


@pytest.mark.parametrize(
    ("settled", "function"),
    [(python_texts.SETTLED_LOWER, str.lower), (python_texts.SETTLED_UPPER, str.upper)],
)
def test_what_is_not_settled_has_no_case_of_ascii(
    settled: str, function: Callable[[str], str]
) -> None:
    """So a comparison with a text of ASCII characters needs no steps."""
    of_ascii = [c for c in EVERY if function(c).isascii()]
    assert all(map(re.compile(f"[{settled}]").match, of_ascii))
    assert not any("Σ" in function(c) and re.match(f"[{settled}]", c) for c in EVERY)


@pytest.mark.parametrize("kind", python_texts.KINDS)
def test_kinds_of_characters(kind: str) -> None:
    pattern = in_python(str(python_texts.pattern_of_kind(kind)))
    assert [c for c in EVERY if pattern.search(c)] == [c for c in EVERY if getattr(c, kind)()]
    assert not pattern.search("")
    assert not any(pattern.search(f"{c}\n") for c in "1a") or kind == "isspace"


NUMBERS = [
    "1_0",
    "1__0",
    "_1",
    "1_",
    "1_.0",
    "1._0",
    "1e1_0",
    "1e_1",
    "inf",
    "+nan",
    "-NaN",
    "INFINITY",
    "infinit",
    ".5",
    "5.",
    ".",
    "1e999",
    "1e-999",
    "٣.٣",
    "١٢",
    "\U0001d7d8\U0001d7d9",
    "1f",
    "1d",
    "0x10",
    "½",
    "1e5.0",
    "+1",
    "-+1",
    "1_000.5",
    "e5",
    "+.e1",
]


def test_texts_of_numbers() -> None:
    draw = random.Random(3)
    texts = [*NUMBERS, "", " ", "\x1c1", "\x851\u3000", "1 2", "1\0", "1\n"]
    letters = "0123٣.eE+-_ naNif\t"
    texts += [
        "".join(draw.choice(letters) for _ in range(draw.randrange(8))) for _ in range(40_000)
    ]
    misplaced = in_python(python_texts.misplaced_underscore())
    grammar = in_python(python_texts.float_pattern())
    taken_by_float = 0
    for text in texts:
        is_number = not misplaced.search(text) and bool(grammar.search(text.replace("_", "")))
        try:
            number = float(text)
        except ValueError:
            assert not is_number, text
            continue
        assert is_number, text
        taken_by_float += 1
        plain = taken(python_texts.steps_to_ascii_number(), text)
        assert repr(float(plain)) == repr(number)
        assert plain.isascii()
        assert not set(plain) & set("_ \t\n")
        assert not re.search("[+-][nN]", plain)
    assert taken_by_float > 1_000


def constant(value: object) -> Lit:
    return int_lit(value) if isinstance(value, int) else string_lit(str(value))


TEXT, NUMBER = Var(Scope.KEY, "s", STRING), Var(Scope.KEY, "x", FLOAT)
WHOLE = Var(Scope.KEY, "i", INT)


@pytest.mark.parametrize(
    ("term", "sql"),
    [
        (app(Op.TEXT_FIND, TEXT, string_lit("a{0}'")), "(instr(s, 'a{0}\\'') - 1)"),
        (app(Op.TEXT_COUNT, TEXT, string_lit(",")), "(length(s) - length(replace(s, ',', '')))"),
        (
            app(Op.TEXT_SUBSTITUTED, TEXT, string_lit("[^0-9]+"), int_lit(0), string_lit("$")),
            "regexp_replace(s, '[^0-9]+', '\\\\$', 1)",
        ),
        (
            app(Op.TEXT_GROUP, TEXT, *map(constant, ("^a([0-9]+)", 0, "search", 1))),
            "regexp_extract(s, '^a([0-9]+)', 1)",
        ),
        (
            app(Op.TEXT_ZFILL, TEXT, int_lit(3)),
            "CASE WHEN rlike(s, '^[+-]') THEN concat(substring(s, 1, 1), substring('000', 1, "
            "(3 - length(s))), substring(s, 2, 2147483647)) ELSE concat(substring('000', 1, "
            "(3 - length(s))), s) END",
        ),
        (
            app(Op.TEXT_SLICE, TEXT, int_lit(1), int_lit(-2)),
            "substring(s, 2, (length(s) - 3))",
        ),
        (app(Op.TEXT_SLICE, TEXT, int_lit(-3), int_lit(-1)), "substring(s, -3, 2)"),
        (
            app(Op.FLOAT_ROUND, NUMBER, int_lit(2)),
            "CASE WHEN abs(s) < 4503599627370496.0D THEN CASE WHEN abs(s) = 0.005D "
            "THEN s * 2.0D ELSE CAST(format_number(s, '0.00') AS DOUBLE) END ELSE s END",
        ),
        (
            app(Op.INT_RATIO, WHOLE, int_lit(1000)),
            "CASE WHEN abs(CAST(s AS DOUBLE)) < 9007199254740992.0D THEN CAST(s AS DOUBLE) / "
            "1000.0D ELSE CAST(concat(CAST(s AS STRING), 'E-3') AS DOUBLE) END",
        ),
    ],
)
def test_written(term: App, sql: str) -> None:
    composed = compose(term)
    assert composed is not None
    assert write(composed.form, "s") == sql


@pytest.mark.parametrize(
    "term",
    [
        app(Op.TEXT_FIND, TEXT, string_lit("")),
        app(Op.TEXT_COUNT, TEXT, string_lit("ab")),
        app(Op.TEXT_WORDS, TEXT, string_lit("$")),
        app(Op.TEXT_IS, TEXT, string_lit("istitle")),
        app(Op.TEXT_ZFILL, TEXT, int_lit(0)),
        app(Op.TEXT_SLICE, TEXT, int_lit(-3), int_lit(1)),
        app(Op.TEXT_SUBSTITUTED, TEXT, *map(constant, ("a*", 0, ""))),
        app(Op.TEXT_SUBSTITUTED, TEXT, *map(constant, (r"\w", 0, ""))),
        app(Op.TEXT_SUBSTITUTED, TEXT, *map(constant, ("(a)", 0, r"\g<1>"))),
        app(Op.TEXT_GROUP, TEXT, *map(constant, (r"(\w)", 0, "search", 1))),
        app(Op.TEXT_GROUP, TEXT, *map(constant, ("a", 0, "match", 0))),
        app(Op.FLOAT_ROUND, NUMBER, int_lit(-1)),
        *(app(Op.INT_RATIO, WHOLE, int_lit(divisor)) for divisor in (1, 60, 1024)),
        app(Op.PY_EQ, app(Op.TEXT_UPPER, TEXT), string_lit("É")),
    ],
)
def test_what_has_no_form(term: App) -> None:
    assert compose(term) is None


def test_parts_and_zeros_on_spark(spark: SparkSession) -> None:
    """Texts shorter than what is left out, too, and a sign alone."""
    texts = ["", "a", "é", "\U0001f600b", "abc", "abcd", "abcde", "+", "-", "-7", "+ab", "--1"]
    calls: dict[str, Callable[[str], str]] = {}
    for start in range(-4, 4):
        for stop in range(-5, 0):
            composed = compose(app(Op.TEXT_SLICE, TEXT, int_lit(start), int_lit(stop)))
            assert composed is not None
            calls[write(composed.form, "s")] = itemgetter(slice(start, stop))
    for width in (1, 2, 4):
        composed = compose(app(Op.TEXT_ZFILL, TEXT, int_lit(width)))
        assert composed is not None
        calls[write(composed.form, "s")] = methodcaller("zfill", width)
    df = spark.createDataFrame([(text,) for text in texts], "s string")
    for row in df.selectExpr("s", *(f"{sql} AS c{i}" for i, sql in enumerate(calls))).collect():
        assert list(row)[1:] == [in_python(row.s) for in_python in calls.values()], row.s


def test_quotients_on_spark(spark: SparkSession) -> None:
    """Each is rounded once, also of integers that no double has."""
    draw = random.Random(5)
    sizes = [2**e + d for e in (0, 10, 31, 52, 53, 54, 60, 63) for d in (-3, -1, 0, 1)]
    sizes += [draw.randrange(2 ** draw.randrange(1, 64)) for _ in range(3_000)]
    # half of a last digit, rounded twice, goes to the other side
    sizes += [10**k * (2**53 + 1) + d for k in (1, 2) for d in (-1, 0, 1)]
    numbers = [n for size in sizes for n in (size, -size) if -(2**63) <= n < 2**63]
    divisors = [10**k for k in (1, 2, 3, 6, 9, 12)]
    forms = [compose(app(Op.INT_RATIO, WHOLE, int_lit(d))) for d in divisors]
    df = spark.createDataFrame([(n,) for n in numbers], "i bigint")
    texts = [write(f.form, "i") for f in forms if f is not None]
    assert len(texts) == len(divisors)
    twice = 0
    for row in df.selectExpr("i", *(f"{sql} AS c{k}" for k, sql in enumerate(texts))).collect():
        assert list(row)[1:] == [row.i / d for d in divisors], row.i
        twice += any(float(row.i) / d != row.i / d for d in divisors)
    assert twice > 100
