"""What is not understood is declined, with its code and its line, and nothing escapes."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from tests.lift import refused
from tests.lift.execution import folds
from tests.lift.models import decimal_folds
from tests.support.lifting import columns, declined, lifted, request

import presieve.lift
from presieve.lift import FrameFunction, LiftRequest, RowClass, SeriesFunction, lift
from presieve.lift.codes import CODES
from presieve.records import replace
from presieve.semantics.types import SchemaColumn

ONE = request("v double", "o double")
TWO = request("v double, n bigint", "o double")


def _marked() -> list[tuple[FunctionType, str, int]]:
    source = inspect.getsource(refused)
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
            for number, line in enumerate(lines, node.lineno):
                if match := re.search(r"# ([a-z]+(-[a-z]+)*)$", line):
                    found.append((getattr(refused, node.name), match[1], number))
    return found


@pytest.mark.parametrize(
    ("function", "code", "line"), _marked(), ids=lambda x: getattr(x, "__name__", str(x))
)
def test_declined_with_code_and_line(function: FunctionType, code: str, line: int) -> None:
    names = inspect.signature(function).parameters
    asked = request(
        ", ".join(f"{n} {'bigint' if n == 'n' else 'double'}" for n in names), "o double"
    )
    found = declined(function, asked, SeriesFunction(tuple(names)))
    assert found.span is not None
    assert (found.code, found.span.line) == (code, line), str(found)
    assert found.span.file == refused.__file__


def test_every_code_is_registered_and_used() -> None:
    lift = Path(presieve.lift.__file__).parent
    # What aggregates mean is read by both, and declines in the name of both.
    files = [*lift.rglob("*.py"), lift.parent / "semantics" / "aggregates.py"]
    text = "\n".join(p.read_text() for p in sorted(files) if p.name != "codes.py")
    pattern = r"(?:DeclineSignal|decline|_decline)\(\s*\"([a-z-]+)\""
    used = set(re.findall(pattern, text))
    used |= set(re.findall(r"return \"([a-z]+-[a-z]+)\", f", text))
    used |= {"mixed-types"}
    assert used <= set(CODES), used - set(CODES)
    assert set(CODES) <= set(re.findall(r"\"([a-z-]+)\"", text)) | used


# --- sources ------------------------------------------------------------------------------------


def _made() -> Any:
    space: dict[str, Any] = {}
    exec("def made(v):\n    return 0.0\n", space)
    return space["made"]


def test_no_source() -> None:
    assert declined(_made(), ONE, SeriesFunction(("v",))).code == "no-source"


def _module(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


COUNT = """
def count(v):
    n = 0
    for x in v:
        if x > {limit}:
            n += 1
    return n
"""


@pytest.mark.parametrize(
    ("then", "code"),
    [
        (COUNT.format(limit=6), "source-mismatch"),
        (COUNT.format(limit=5.0), "source-mismatch"),
        ("\n" + COUNT.format(limit=5), "source-mismatch"),
        ("def count(v:\n", "no-source"),
        ("", "no-source"),
    ],
)
def test_stale_source(tmp_path: Path, then: str, code: str) -> None:
    path = tmp_path / "stale_source.py"
    function = _module(path, COUNT.format(limit=5)).count
    asked = request("v double", "o bigint")
    lifted(function, asked, SeriesFunction(("v",)))
    path.write_text(then + "# changed\n")
    assert declined(function, asked, SeriesFunction(("v",))).code == code


def test_lambdas() -> None:
    """One of two that are the same is not told from the other, in which names may differ."""
    both = [lambda v: v, lambda v: len(v)]
    assert declined(both[0], ONE, SeriesFunction(("v",))).code == "return-shape"
    lifted(both[1], request("v double", "o bigint"), SeriesFunction(("v",)))
    twins = [lambda v: len(v), lambda v: len(v)]
    assert declined(twins[0], ONE, SeriesFunction(("v",))).code == "source-mismatch"


def test_wrapper_is_what_is_lifted() -> None:
    @functools.wraps(folds.size)
    def wrapper(*args: Any) -> Any:
        return folds.size(*args) + 1

    assert declined(wrapper, request("v int", "o bigint"), SeriesFunction(("v",))).code in (
        "unknown-columns",
        "unknown-call",
    )


def test_hidden_signature() -> None:
    def plain(v: Any) -> Any:
        return len(v)

    plain.__signature__ = inspect.signature(folds.ratio)  # type: ignore[attr-defined]
    assert declined(plain, ONE, SeriesFunction(("v",))).code == "source-mismatch"


def test_closure_constants_are_read() -> None:
    def make(limit: float) -> Any:
        def count(v: Any) -> Any:
            n = 0
            for x in v:
                if x > limit:
                    n += 1
            return n

        return count

    asked = request("v double", "o bigint")
    three = lifted(make(3.0), asked, SeriesFunction(("v",))).fold
    four = lifted(make(4.0), asked, SeriesFunction(("v",))).fold
    assert three != four


# --- forms and columns ----------------------------------------------------------------------------


def test_form_is_found_out() -> None:
    teams = request("team string, score double", "team string, first double, second double", "team")
    for function in (folds.top2_itertuples, folds.top2_iterrows, folds.top2_zip):
        assert lifted(function, teams).fold.outputs[0].name == "team"
    by_name = request("k int, n int", "o double")
    assert [c.name for c in lifted(folds.ratio, by_name).fold.columns] == ["k", "n"]
    by_position = request("g string, x double", "o double", "g")
    assert [c.name for c in lifted(folds.top2_second, by_position).fold.columns] == ["x"]
    unclear = request("x double, y double", "o double")
    assert declined(folds.top2_second, unclear).code == "unknown-columns"


def test_udf_objects() -> None:
    from pyspark.sql.types import DoubleType, IntegerType

    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    udf = pandas_udf(folds.count_errors, IntegerType())
    asked = request("level string", "o int")
    assert lifted(udf, asked).fold.name == "count_errors"
    assert declined(udf.asNondeterministic(), asked).code == "impure-random"
    scalar = pandas_udf(folds.identity, DoubleType())
    assert declined(scalar, ONE).code == "unsupported-form"


def test_unsupported_objects() -> None:
    for obj in (5, "f", len, object(), type, sys):
        assert declined(obj, ONE).code == "not-a-function"
    assert declined(folds.Top2, ONE, SeriesFunction(("v",))).code == "not-a-function"
    assert declined(folds.size, ONE, RowClass()).code == "not-a-function"


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("score decimal(39,2)", "column-type"),
        ("score decimal(2,-3)", "column-type"),
        ("score float", "column-type"),
        ("score array<int>", "column-type"),
        ("other double", "unknown-column"),
    ],
)
def test_columns(schema: str, code: str) -> None:
    asked = request(schema, "o double")
    assert declined(folds.top2_second, asked, SeriesFunction(("score",))).code == code


def test_collated_text_is_not_text() -> None:
    asked = request("score string", "o string")
    collated = replace(asked.schema[0], type="string collate UTF8_LCASE")
    lifted(folds.top2_second, asked)
    found = declined(folds.top2_second, replace(asked, schema=(collated,)))
    assert found.code == "column-type"


def test_columns_that_are_not_read_may_be_of_any_type() -> None:
    asked = request("team string, score double, x array<int>", "a double, b double", "team")
    found = lifted(folds.Top2, asked)
    assert [c.name for c in found.fold.columns] == ["score"]
    assert [k.name for k in found.fold.keys] == ["team"]


def test_double_keys_are_normalized_by_spark() -> None:
    asked = request("team double, score double", "team double, first double, second double", "team")
    assert declined(folds.top2_zip, asked).code == "key-type"


@pytest.mark.parametrize("zone", ["UTC", "GMT", "+05:30", "UTC-08:00", "Etc/GMT+5"])
def test_zones_with_a_fixed_offset(zone: str) -> None:
    asked = request("ts timestamp", "o timestamp", timezone=zone)
    lifted(folds.latest_before, asked)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "CET", "", "+5", "+19:00"])
def test_zones_that_change(zone: str) -> None:
    asked = request("ts timestamp", "o timestamp", timezone=zone)
    found = declined(folds.latest_before, asked)
    assert found.code == "timestamp-zone"
    assert "column ts is a timestamp" in found.reason
    assert "cast it to timestamp_ntz" in found.reason
    lifted(folds.latest_before, request("ts timestamp_ntz", "o timestamp_ntz", timezone=zone))


def test_instants_and_times_without_zone_do_not_meet() -> None:
    for schema in ("a timestamp, b timestamp_ntz", "a timestamp_ntz, b date"):
        asked = request(schema, "n int")
        assert declined(folds.ordered, asked).code == "unsupported-operation"
    asked = request("ts timestamp", "o timestamp_ntz")
    assert declined(folds.latest_before, asked).code == "return-type"
    asked = request("ts timestamp_ntz", "o timestamp")
    assert declined(folds.latest_before, asked).code == "return-type"


def test_zone_moves_constants_not_columns() -> None:
    texts = {}
    for zone in ("UTC", "+01:00"):
        fold = lifted(
            folds.latest_before, request("ts timestamp", "o timestamp", timezone=zone)
        ).fold
        texts[zone] = str(fold.fields)
    hour = 3_600_000_000
    assert texts["UTC"].replace("1577836800000000", str(1577836800000000 - hour)) == texts["+01:00"]


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("team bigint, score double", "iterrows-types"),
        ("team bigint, score bigint", "iterrows-types"),
        ("team string, score double, t timestamp", "iterrows-types"),
        ("team string, score double, t timestamp_ntz", "iterrows-types"),
        ("team string, score double, t interval", "iterrows-types"),
    ],
)
def test_iterrows_changes_types(schema: str, code: str) -> None:
    kind = schema.split(",")[0].split()[1]
    asked = request(schema, f"team {kind}, first double, second double", "team")
    assert declined(folds.top2_iterrows, asked).code == code
    anchored = request(
        schema.replace("string", "string NOT NULL"),
        "team string, first double, second double",
        "team",
    )
    if "string" in schema:
        lifted(folds.top2_iterrows, anchored)


@pytest.mark.parametrize(
    ("returns", "code"),
    [
        ("team string, first double", "return-shape"),
        ("team string, first double, third double", "return-shape"),
        ("team string, first string, second double", "return-type"),
        ("team string, first decimal(10,2), second double", "return-type"),
        ("team string, first double NOT NULL, second double", "return-null"),
    ],
)
def test_returned_columns(returns: str, code: str) -> None:
    asked = request("team string, score double", returns, "team")
    assert declined(folds.top2_itertuples, asked).code == code


@pytest.mark.parametrize(
    ("function", "schema", "returns", "code"),
    [
        (decimal_folds.total, "price decimal(10,2)", "decimal(20,2)", "unsupported-operation"),
        (decimal_folds.negated, "price decimal(10,2)", "decimal(10,2)", "unsupported-operation"),
        (decimal_folds.from_int, "price decimal(10,2)", "decimal(10,2)", "unsupported-operation"),
        (decimal_folds.against_nan, "price decimal(10,2)", "bigint", "unsupported-operation"),
        (decimal_folds.as_text, "price decimal(10,2)", "bigint", "unsupported-operation"),
        (decimal_folds.as_float, "price decimal(10,2)", "bigint", "unsupported-operation"),
        (decimal_folds.against_text, "price decimal(10,2)", "bigint", "unsupported-operation"),
        (decimal_folds.computed, "price decimal(10,2)", "bigint", "unsupported-operation"),
        (decimal_folds.unreadable, "price decimal(10,2)", "bigint", "always-raises"),
        (decimal_folds.too_fine, "price decimal(10,2)", "bigint", "unsupported-constant"),
        # digits that the declared type may not have: Arrow would raise
        (decimal_folds.highest, "price decimal(10,2)", "decimal(9,2)", "return-type"),
        (decimal_folds.highest, "price decimal(10,2)", "decimal(12,1)", "return-type"),
        (decimal_folds.highest, "price decimal(10,2)", "decimal(10,3)", "return-type"),
        (decimal_folds.highest, "price decimal(10,2)", "double", "return-type"),
        (decimal_folds.highest, "price double", "decimal(10,2)", "return-type"),
        (decimal_folds.highest, "price bigint", "decimal(20,0)", "return-type"),
    ],
)
def test_decimals(function: FunctionType, schema: str, returns: str, code: str) -> None:
    found = declined(function, request(schema, f"o {returns}"), SeriesFunction(("price",)))
    assert found.code == code, found


@pytest.mark.parametrize("type_", ["double", "bigint"])
def test_decimals_beside_columns_of_other_numbers(type_: str) -> None:
    asked = request(f"price decimal(10,2), x {type_}", "n bigint")
    found = declined(decimal_folds.against_column, asked, SeriesFunction(("price", "x")))
    assert found.code == "unsupported-operation"


def test_returned_columns_are_matched_by_name() -> None:
    returns = "second double, first double, team string"
    asked = request("team string, score double", returns, "team")
    assert [o.name for o in lifted(folds.top2_itertuples, asked).fold.outputs] == [
        "second",
        "first",
        "team",
    ]


def test_classes() -> None:
    asked = request("v double", "n bigint")
    assert lifted(folds.AnyBig, asked) == lifted(folds.AnyBig(10.0), asked)
    assert lifted(folds.AnyBig, asked).fold != lifted(folds.AnyBig(11.0), asked).fold
    assert declined(folds.Counting, asked).code == "mutation"
    assert declined(folds.Computed, asked).code == "needs-instance"
    assert lifted(folds.Computed(), asked).fold.fields[0].name == "acc"
    assert declined(folds.Property(), asked).code == "unsupported-constant"
    patched = folds.AnyBig()
    patched.reduce = lambda acc, row: 7  # type: ignore[method-assign]
    assert declined(patched, asked).code == "not-a-function"


def test_nothing_is_printed_and_nothing_runs(capsys: pytest.CaptureFixture[str]) -> None:
    lift(refused.prints, SeriesFunction(("v",)), ONE)
    lift(refused.writes_global, SeriesFunction(("v",)), ONE)
    lift(folds.Computed, RowClass(), ONE)
    assert capsys.readouterr() == ("", "")
    assert refused.TOTAL == 0


def test_frame_form_needs_a_parameter() -> None:
    found = declined(folds.size, ONE, FrameFunction(takes_key=True))
    assert found.code == "unknown-columns"


def test_timestamps_with_a_zone_are_no_constants() -> None:
    found = declined(folds.aware, request("ts timestamp", "o timestamp"))
    assert found.code == "unsupported-constant"


@pytest.mark.parametrize(
    ("type_", "advice"),
    [
        ("struct<f:double>", "select the fields"),
        ("unsupported:struct", "select the fields"),
        ("array<bigint>", "select what is needed"),
        ("map<string,bigint>", "select what is needed"),
        ("char(3)", "pads or cuts"),
        ("string collate UTF8_LCASE", "no collation"),
        ("interval", "convert it"),
    ],
)
def test_a_type_that_is_not_supported(type_: str, advice: str) -> None:
    """The message names the column and its type, and says what could be done."""
    schema = (SchemaColumn("v", type_), SchemaColumn("team", "string"))
    asked = LiftRequest(schema, ("team",), columns("m double"))
    found = declined(folds.sum_positive, asked, SeriesFunction(("v",)))
    assert found.code == "column-type"
    assert f"column v is of type {type_.removeprefix('unsupported:')}, which" in found.reason
    assert advice in found.reason
    output = LiftRequest(columns("v double"), (), (SchemaColumn("m", type_),))
    told = declined(folds.sum_positive, output)
    assert told.code == "return-type"
    assert f"output column m is of type {type_.removeprefix('unsupported:')}" in told.reason


@pytest.mark.parametrize("type_", ["struct<f:double>", "array<bigint>", "interval", "char(3)"])
def test_a_type_that_is_not_read_matters_in_no_form(type_: str) -> None:
    def asked(columns_: str, returns: str, keys: str = "") -> LiftRequest:
        return LiftRequest(
            (*columns(columns_), SchemaColumn("odd", type_)),
            tuple(k for k in keys.split(",") if k),
            columns(returns),
        )

    lifted(folds.Top2, asked("team string, score double", "a double, b double", "team"))
    lifted(folds.sum_positive, asked("v double", "t double"), SeriesFunction(("v",)))
    lifted(folds.sum_positive, asked("v double", "t double", "odd"), SeriesFunction(("v",)))
    scores, returns = "team string, score double", "team string, first double, second double"
    for fold in (folds.top2_itertuples, folds.top2_zip):
        takes_key = fold is folds.top2_itertuples
        form = FrameFunction(takes_key, ("team", "odd"))
        lifted(fold, asked(scores, returns, "team"), form)
    if type_ != "interval":
        more = "team string, score double, n bigint NOT NULL"
        lifted(folds.top2_iterrows, asked(more, returns, "team"), FrameFunction())


def test_a_key_of_another_type_is_declined_where_it_is_read() -> None:
    schema = (*columns("k bigint, d date"), SchemaColumn("f", "float"))
    asked = LiftRequest(schema, ("k", "d"), columns("k bigint, d date, f boolean"))
    found = declined(folds.key_types, asked, FrameFunction(True, ("k", "d", "f")))
    assert found.code == "key-type"
    assert "grouping column f" in found.reason


def test_bytes_are_no_label() -> None:
    asked = request("team string, score double", "o double", "team")
    assert declined(folds.bytes_as_label, asked, FrameFunction()).code == "unsupported-expression"
