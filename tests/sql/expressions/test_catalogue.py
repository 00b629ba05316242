"""The catalogue of expression classes, compared with its readers and Spark's own functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from presieve.errors import Declined
from presieve.ir.sorts import FLOAT, Option
from presieve.ir.terms import Scope, Var
from presieve.sql import catalyst, catalyst_values
from presieve.sql.expressions import aggregating, basics, condition_fold, numeric, predicates
from presieve.sql.expressions.catalogue import CATALOGUE, UNLISTED, find_entry
from presieve.sql.expressions.entry import PACKAGE, Entry, never_raising
from presieve.sql.expressions.raising import can_raise
from presieve.sql.monotone import READERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pyspark.sql import SparkSession

ENTRIES = set(CATALOGUE.values())
SCALAR = {e for e in ENTRIES if not e.name.startswith("aggregate.")}

OF_OPERATORS = "Alias CommonExpressionDef Explode Inline PosExplode SortOrder Stack"
"""Parts of operators, which are no conditions or values."""
WITHOUT_MEANING = """
    AddMonths AtLeastNNonNulls CreateArray CreateNamedStruct DateDiff DateFormatClass
    DateSub DayOfWeek DayOfYear FormatNumber FromUnixTime GetMapValue GetTimestamp InSet
    IsValidUTF8 LastDay Least Lower MillisToTimestamp ParseToDate Quarter Remainder
    SecondsToTimestamp StringInstr TimestampAddInterval TruncDate TruncTimestamp TryDivide
    UnixSeconds UnixTimestamp
    Upper YearOfWeek presieve.Between presieve.OneOf
"""
"""Expressions that have no meaning of their own in the IR: a filter with one of them is declined.
"""
OF_ANY_VALUE = """
    ArrayPosition ArraySize Between CommonExpressionRef Concat Contains
    CreateArray CreateNamedStruct DateFromUnixDate ElementAt
    EndsWith Extract FormatNumber Get GetMapValue InSet IsValidUTF8 Left Length Lower MapKeys Minute
    NullIf NullIfResult Nvl Nvl2 ParseToDate Pmod RaiseError RegExpExtract RegExpReplace Remainder
    Reverse Second SplitPart Sqrt StringInstr StringReplace StringTranslate StringTrim
    StringTrimLeft StringTrimRight TryDivide
    TryElementAt Unhex Upper WeekOfYear With YearOfWeek
"""
"""Expressions that may have any value for the readers of scan filters."""

LATER = """
    Between CommonExpressionDef CommonExpressionRef IsValidUTF8 NullIfResult TimestampAddInterval
    With TimeAdd presieve.Between presieve.OneOf
"""
"""Classes that some versions of Spark do not have."""
NOT_LISTED = {"EqualNull", "ILike", "NaNvl", "NullIfZero", "ZeroIfNull"}
"""Spark's predicates and conditional functions without an entry."""


def names(entries: Collection[Entry]) -> set[str]:
    return {entry.name for entry in entries}


def test_what_has_no_meaning() -> None:
    unread = names(SCALAR - catalyst_values.RULES.keys())
    assert unread == {*WITHOUT_MEANING.split(), *OF_OPERATORS.split()}
    assert catalyst.RULES.keys() <= catalyst_values.RULES.keys() <= SCALAR


def test_what_may_have_any_value() -> None:
    predicates_known, values_known = condition_fold.TRUTH_VALUED, condition_fold.VALUED
    assert not predicates_known & values_known
    unread = names(SCALAR - predicates_known - values_known - READERS.keys())
    assert unread == {*OF_ANY_VALUE.split(), *OF_OPERATORS.split()}


def test_comparisons() -> None:
    assert predicates.MIRRORED.keys() == set(predicates.COMPARISONS)
    assert predicates.OPPOSITE.keys() == predicates.MIRRORED.keys() - {predicates.EQUAL}
    for pairs in (predicates.MIRRORED, predicates.OPPOSITE):
        assert all(pairs[value] is key for key, value in pairs.items())


def test_classes_are_found_by_their_full_names() -> None:
    assert find_entry(PACKAGE + "Literal") is basics.LITERAL
    assert find_entry(PACKAGE + "aggregate.Max") is aggregating.MAX
    for name in ("Literal", "org.example.Literal", PACKAGE, PACKAGE + "Uuid", ""):
        assert find_entry(name) is UNLISTED
    assert not UNLISTED.never_raises


def functions(spark: SparkSession) -> Iterator[Any]:
    """What Spark says of its own functions."""
    jvm: Any = spark._jvm
    registry = jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    found = registry.listFunction().iterator()
    while found.hasNext():
        yield registry.lookupFunction(found.next()).get()


def class_of(function: Any) -> str:
    """The class that a function makes; for a few, a builder is named after it."""
    return str(function.getClassName()).removesuffix("ExpressionBuilder").removesuffix("Builder")


@pytest.mark.classic("classes are those of the JVM")
def test_entries_are_classes_of_spark(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    missing = set()
    for name in CATALOGUE:
        try:
            jvm.java.lang.Class.forName(name, False, loader)
        except Exception:
            missing.add(name.removeprefix(PACKAGE))
    assert missing <= set(LATER.split())


@pytest.mark.classic("classes are those of the JVM")
def test_names_in_sql(spark: SparkSession) -> None:
    called = {function.getName(): class_of(function) for function in functions(spark)}
    for entry in ENTRIES:
        assert not entry.sql or called[entry.sql] == entry.class_name


@pytest.mark.classic("classes are those of the JVM")
def test_predicates_of_spark_have_an_entry(spark: SparkSession) -> None:
    groups = ("predicate_funcs", "conditional_funcs")
    classes = {class_of(f) for f in functions(spark) if f.getGroup() in groups}
    assert len(classes) > 15
    assert {c.removeprefix(PACKAGE) for c in classes - CATALOGUE.keys()} <= NOT_LISTED


# --- the recipe for an expression -----------------------------------------------------------------

PLANTED = PACKAGE + "Planted"
COLUMN = {
    "class": PACKAGE + "AttributeReference",
    "num-children": 0,
    "name": "x",
    "dataType": "double",
    "nullable": True,
    "metadata": {},
    "exprId": {"id": 1},
}
TREE: list[dict[str, Any]] = [{"class": PLANTED, "num-children": 1, "child": 0}, COLUMN]


def test_a_planted_expression_is_known_to_its_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its entry it does not raise, and with a rule it has a meaning: that of ``-x``."""
    x = Var(Scope.ROW, "x", Option(FLOAT))
    assert can_raise(TREE)
    assert isinstance(catalyst.expression(TREE, {1: x}, "UTC"), Declined)
    entry = never_raising("Planted", 1)
    monkeypatch.setitem(CATALOGUE, PLANTED, entry)
    assert not can_raise(TREE)
    assert isinstance(catalyst.expression(TREE, {1: x}, "UTC"), Declined)
    negative = catalyst.RULES[numeric.UNARY_MINUS]
    monkeypatch.setitem(catalyst_values.RULES, entry, negative)
    monkeypatch.setitem(catalyst.RULES, entry, negative)
    usual = [{**TREE[0], "class": PACKAGE + "UnaryMinus", "failOnError": False}, COLUMN]
    meaning = catalyst.expression(TREE, {1: x}, "UTC")
    assert not isinstance(meaning, Declined)
    assert meaning == catalyst.expression(usual, {1: x}, "UTC")
