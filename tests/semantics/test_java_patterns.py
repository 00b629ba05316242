"""Patterns in the plain form match what the written ones match, in Python and in Spark."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

import pytest
from tests.support.amount import amount

from presieve.ir.sorts import STRING
from presieve.ir.terms import App, Scope, Var
from presieve.semantics.java_patterns import (
    java_matcher,
    java_pattern,
    java_replacement,
    plain_matcher,
    plain_pattern,
    python_matcher,
    python_pattern,
    python_replacement,
)
from presieve.semantics.smart_constructors import group_of_match, substitute_matches
from presieve.sql.expressions.compositions import write
from presieve.sql.expressions.python_functions import compose

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN = {
    ("[A-Z]{3,8}[0-9]$", 0): "[A-Z]{3,8}[0-9]$",
    ("^\\d+", 0): "[\\d]+",
    ("(?s:.*?)(?:foo.bar)", 0): "[\\s\\S]*foo.bar",
    ("(?s:.*?)(?:^foo)", 0): "foo",
    ("(?:apt|unit)#", re.I): "(?:[Aa][Pp][Tt]|[Uu][Nn][Ii\u0130\u0131][Tt])\\#",
    ("(a|b){2}c*?", 0): "[ab]{2}c*",
    ("(ab|c){2}", 0): "(?:ab|c){2}",
    ("\\w\\W", re.ASCII): "[0-9A-Z_a-z][^0-9A-Z_a-z]",
    ("\\D\\S", 0): "[^\\d][^\\s]",
    ("a.", re.DOTALL): "a[\\s\\S]",
    ("a(?=b)(?!c)", 0): "a(?=b)(?!c)",
    ("(ab)*", 0): "(?:ab)*",
    ("(?:\\.[0-9]{3})+", 0): "(?:\\.[0-9]{3})+",
    ("\\u2028\t ", 0): "\\u2028\\x09\\ ",
}
OTHERS = [
    *(
        "\\w",
        "\\bx",
        "(ab?)*",
        "(ab|c)*",
        "(?:\U0001f600a)*",
        "(?:a[^b])*",
        "(a)\\1",
        "(?<=a)b",
        "(?:(?:ab){20}){20}",
        "\ud800",
        "(?m:^a)",
        "(?>ab)",
    ),
    *("(?i:é)", "[\\W\\d]", "(?P<n>a)(?(n)b)", "x" * 6_000),
]


@pytest.mark.parametrize(("pattern", "flags"), PLAIN)
def test_the_plain_form(pattern: str, flags: int) -> None:
    plain = plain_pattern(pattern, int(flags))
    assert plain == PLAIN[pattern, flags]
    assert plain_pattern(plain, 0) == plain


MAY_BE_EMPTY = ["(?:S|^){2}x", "(?:|a|abcd|bc){2}(d?)$", "(?:^b?){3}b", "(?:a|b*){0,2}c", "(a|){2}"]


@pytest.mark.parametrize("pattern", MAY_BE_EMPTY)
def test_repeated_groups_that_may_be_empty(pattern: str) -> None:
    """Java ends a repetition with an empty round, also if that is one too few."""
    assert plain_pattern(pattern, 0) is None
    assert plain_matcher(pattern, 0) is None


@pytest.mark.parametrize("pattern", OTHERS)
def test_patterns_without_a_plain_form(pattern: str) -> None:
    assert plain_pattern(pattern, 0) is None
    assert java_pattern(pattern) is None


def test_patterns_that_only_java_reads_so() -> None:
    """What is not written by us may mean something else there."""
    for java in ("a$", "\\d", "^(?:\\s)", "a.b", "(?i)a", "\\bx", "^(?:a", "a|b", "\\p{L}", "^a"):
        assert python_pattern(java) is None


CHARACTERS = (
    *("a", "b", "A", "k", "K", "s", "i", "0", "9", " ", "\n", "-", ".", "_", "\r", "$", "^", "#"),
    *(
        "é",
        "\u017f",
        "\u212a",
        "\u0131",
        "\u0130",
        "\u0663",
        "\u2028",
        "\x85",
        "\x1c",
        "\U0001f600",
    ),
)
FLAGS = (0, 0, re.I, re.S, re.A, re.I | re.A, re.I | re.S, re.M)


class Patterns:
    """Random patterns and texts."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return "".join(self.random.choices(CHARACTERS, k=self.random.randint(0, 7)))

    def one_of(self) -> str:
        parts = ("a-c", "A-Z", "0-5", "k", "s", "x-z", r"\d", r"\s", r"\.", r"\-", "_", "é", r"\n")
        chosen = self.random.choices(parts, k=self.random.randint(1, 3))
        return f"[{self.random.choice(('', '^'))}{''.join(chosen)}]"

    def atom(self, depth: int) -> str:
        choose = self.random.choice
        kinds = ["literal", "literal", "any", "class", "one of", "one of", "place"]
        kinds += ["group", "look", "flags"] if depth else []
        match choose(kinds):
            case "literal":
                return re.escape(choose(CHARACTERS))
            case "any":
                return "."
            case "class":
                return choose((r"\d", r"\s", r"\D", r"\S", r"\w", r"\W"))
            case "one of":
                return self.one_of()
            case "place":
                return choose(("^", "$", r"\A", r"\Z"))
            case "group":
                return f"({choose(('?:', ''))}{self.expression(depth - 1)})"
            case "look":
                return f"(?{choose('=!')}{self.expression(depth - 1)})"
        return f"(?{choose(('i', 's', 'i-s'))}:{self.expression(depth - 1)})"

    def expression(self, depth: int) -> str:
        branches = [""] if self.random.random() < 0.1 else []
        for _ in range(self.random.choice((1, 1, 1, 2))):
            atoms = [self.atom(depth) for _ in range(self.random.randint(1, 4))]
            branches.append("".join(a + self.quantifier(a) for a in atoms))
        return "|".join(branches)

    def quantifier(self, atom: str) -> str:
        if atom in ("^", "$", r"\A", r"\Z") or atom.startswith(("(?=", "(?!")):
            return ""
        kinds = ("", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "{2,}", "{1}?", "{0,1}?")
        return self.random.choice(kinds)

    def matchers(self, count: int) -> Iterator[tuple[str, int, str]]:
        """Yield patterns with flags, and how they are applied, whose matches have a plain form."""
        while count:
            pattern, flags = self.expression(2), int(self.random.choice(FLAGS))
            method = self.random.choice(("search", "search", "match", "fullmatch"))
            try:
                re.compile(pattern, flags)
            except re.error:
                continue
            if plain_matcher(pattern, flags, method) is not None:
                yield pattern, flags, method
                count -= 1

    def patterns(self, count: int) -> Iterator[tuple[str, int]]:
        """Yield patterns with flags that have a plain form."""
        while count:
            pattern, flags = self.expression(2), int(self.random.choice(FLAGS))
            pattern = self.random.choice((pattern, f"(?s:.*?)(?:{pattern})", f"(?:{pattern})\\Z"))
            try:
                re.compile(pattern, flags)
            except re.error:
                continue
            if plain_pattern(pattern, flags) is not None:
                yield pattern, flags
                count -= 1


@pytest.mark.random
def test_plain_patterns_match_the_same_texts() -> None:
    random_patterns = Patterns(1)
    for pattern, flags in random_patterns.patterns(amount(4_000)):
        plain = plain_pattern(pattern, flags)
        assert plain is not None
        java = java_pattern(plain)
        assert java is not None
        assert python_pattern(java) == plain
        for text in (random_patterns.text() for _ in range(30)):
            expected = re.compile(pattern, flags).match(text) is not None
            assert (re.match(plain, text) is not None) == expected, (pattern, flags, plain, text)


MATCHERS = {
    "(a){1}?b": "(a)b",
    "(?:(a)|b){1}?c": "(?:(a)|b)c",
    "(a)??b": "(?:(a))??b",
    "[^0-9+]": "[^\\+0-9]",
    "(?:a|b)+?c": "[ab]+?c",
    "a(?P<n>b|cd)?e": "a(?:((?:b|cd)))?e",
    "(a)|(b)": "(?:(a)|(b))",
    "x(?:\\.[0-9]{3})*(?=y)": "x(?:\\.[0-9]{3})*(?=y)",
}
OTHER_MATCHERS = ["(a)+", "(a){2}", "(?=(a))", "(ab|c)*", "\\w", "(?:(a)b){2}", "(a)\\1"]


@pytest.mark.parametrize("pattern", MATCHERS)
def test_the_plain_form_of_matches(pattern: str) -> None:
    plain = plain_matcher(pattern, 0)
    assert plain == MATCHERS[pattern]
    assert plain_matcher(pattern, 0, "match") == f"^{plain}"
    assert plain_matcher(pattern, 0, "fullmatch") == f"^{plain}\\Z"


@pytest.mark.parametrize("pattern", OTHER_MATCHERS)
def test_matches_without_a_plain_form(pattern: str) -> None:
    assert plain_matcher(pattern, 0) is None
    assert java_matcher(pattern) is None


def found(match: re.Match[str] | None) -> tuple[object, ...] | None:
    return None if match is None else (match.span(), match.groups())


@pytest.mark.random
def test_plain_matchers_find_the_same() -> None:
    patterns = Patterns(5)
    for pattern, flags, method in patterns.matchers(amount(4_000)):
        plain = str(plain_matcher(pattern, flags, method))
        assert python_matcher(str(java_matcher(plain))) == plain
        for text in (patterns.text() for _ in range(30)):
            expected = found(getattr(re.compile(pattern, flags), method)(text))
            assert found(re.search(plain, text)) == expected, (pattern, flags, method, plain, text)
            if method == "search" and re.search(plain, "") is None:
                assert re.sub(plain, "-", text) == re.sub(pattern, "-", text, flags=flags)


def calls_of(plain: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Yield what Spark is asked for a pattern, with what Python does."""
    text, groups = Var(Scope.KEY, "t", STRING), re.compile(plain).groups
    for number in range(groups + 1):
        composed = compose(cast("App", group_of_match(text, plain, 0, "search", number)))
        assert composed is not None
        yield write(composed.form, "t"), partial(group_in_python, plain, number)
    by = r"<\1$>" if groups else "-$"
    composed = compose(cast("App", substitute_matches(text, plain, 0, by)))
    if composed is not None:
        yield write(composed.form, "t"), partial(re.sub, plain, by)


def group_in_python(plain: str, number: int, text: str) -> str:
    match = re.search(plain, text)
    return (match.group(number) or "") if match else ""


@pytest.mark.spark
@pytest.mark.random
def test_spark_finds_the_same_matches(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    patterns = Patterns(6)
    texts = ["", "\n", "a\n", *(patterns.text() for _ in range(200))]
    df = spark.createDataFrame([(text,) for text in texts], "t string").coalesce(1).cache()
    chosen = list(patterns.matchers(amount(1_000, 25)))
    for start in range(0, len(chosen), 20):
        part = [str(plain_matcher(*one)) for one in chosen[start : start + 20]]
        calls = [call for plain in part for call in calls_of(plain)]
        columns = [F.expr(sql).alias(f"c{i}") for i, (sql, _) in enumerate(calls)]
        for row in df.select("t", *columns).collect():
            for i, (sql, in_python) in enumerate(calls):
                assert row[f"c{i}"] == in_python(row.t), (sql, row.t)
    df.unpersist()


@pytest.mark.spark
def test_long_texts_do_not_exhaust_the_stack(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    df = spark.range(1).select(F.expr("repeat('.123', 1000000)").alias("t"))
    java = java_pattern(str(plain_pattern("(?:\\.[0-9]{3})*x", 0)))
    matcher = java_matcher(str(plain_matcher("(?:\\.[0-9]{3})+", 0)))
    assert java is not None
    assert matcher is not None
    row = df.select(F.col("t").rlike(java), F.regexp_replace("t", matcher, "-")).first()
    assert row is not None
    assert list(row) == [False, "-"]


@pytest.mark.parametrize("by", ["", "a", "$", "$1", r"\1-\2", r"a\1$1", "{}", "é\n"])
def test_replacements(by: str) -> None:
    java = java_replacement(by)
    assert java is not None
    assert python_replacement(java) == by


@pytest.mark.parametrize("by", [r"\12", r"\0", r"\g<1>", "\\\\", r"\n"])
def test_replacements_that_java_is_not_given(by: str) -> None:
    assert java_replacement(by) is None


@pytest.mark.parametrize("java", ["$12", "$0", "\\n", "${a}", "a\\", "$"])
def test_replacements_that_only_java_reads_so(java: str) -> None:
    assert python_replacement(java) is None


SETS = [("k", re.I), ("[^k]", re.I), ("[a-z]", re.I), ("[^i-s]", re.I), ("i", re.I | re.A)]


@pytest.mark.parametrize(("pattern", "flags"), SETS)
def test_letters_whose_case_is_ignored(pattern: str, flags: int) -> None:
    plain = plain_pattern(pattern, int(flags))
    assert plain is not None
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert set(re.findall(plain, every)) == set(re.findall(pattern, every, flags))


@pytest.mark.spark
@pytest.mark.random
def test_spark_matches_the_same_texts(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    random_patterns = Patterns(3)
    texts = ["", "\n", "a\n", "a\r\n", "a\n\n", *(random_patterns.text() for _ in range(200))]
    df = spark.createDataFrame([(text,) for text in texts], "t string").coalesce(1).cache()
    chosen = list(random_patterns.patterns(amount(1_000, 25)))
    assert len(chosen) >= 40
    for start in range(0, len(chosen), 40):
        part = chosen[start : start + 40]
        forms = [java_pattern(plain_pattern(*one) or "") for one in part]
        columns = [F.col("t").rlike(str(form)).alias(f"c{i}") for i, form in enumerate(forms)]
        for row in df.select("t", *columns).collect():
            expected = [re.compile(*one).match(row.t) is not None for one in part]
            assert list(row)[1:] == expected, (row.t, part)
    df.unpersist()


@pytest.mark.spark
def test_spark_has_the_same_characters(spark: SparkSession) -> None:
    """Of every class, among all characters."""
    every = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    df = spark.createDataFrame(
        [("".join(every[i : i + 512]),) for i in range(0, len(every), 512)], "t string"
    )
    for pattern, flags in (("\\d", 0), ("\\S", 0), (".", 0), ("[^k]", re.I), ("[^\\d\\s]", 0)):
        java = str(java_pattern(plain_pattern(pattern, int(flags)) or "")).removeprefix("^")
        rest = df.selectExpr(f"length(regexp_replace(t, r'{java}', '')) AS n").groupBy().sum("n")
        expected = len(every) - len(re.findall(pattern, "".join(every), flags))
        assert rest.collect()[0][0] == expected, pattern


@pytest.mark.spark
def test_long_texts_do_not_overflow_javas_stack(spark: SparkSession) -> None:
    long = spark.range(1).selectExpr("repeat('ab', 500000) AS t")
    for pattern in (
        "[ab]*c",
        "(?s:.*?)(?:(?:ab|c){0,100}x)",
        "(?:(?:a|bc){0,10}b){0,10}\\d",
        ".*$",
    ):
        plain = plain_pattern(pattern, 0)
        assert plain is not None
        found = long.selectExpr(f"rlike(t, r'{java_pattern(plain)}')").collect()[0][0]
        assert found == (re.match(pattern, "ab" * 500_000) is not None)
