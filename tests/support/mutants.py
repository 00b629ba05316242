"""Certificates tampered with, one place at a time, and what is true of them when they are run."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.support.synthesis.cases import CASES, Case
from tests.support.synthesis.running import solved

from presieve.certificate import Certificate
from presieve.driver.synthesize import synthesize
from presieve.ir.fold import Column
from presieve.ir.sorts import BOOL, FLOAT, STRING, Option, Sort, strip
from presieve.ir.terms import Scope, literal_value
from presieve.ir.walk import literals
from presieve.semantics.interpret import agree, evaluate, outcome, pushed_outcome
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import INT_RANGES, Value
from presieve.smt.two_runs import all_terms

Data = dict[str, Any]
BY_NAME = {c.name: c for c in CASES}
JUNK: list[object] = [None, 7, "", "junk", [], {}, ["junk"], [None], True, 1.5, "((((", "row.x:Int"]


def certificate_of(name: str) -> Certificate:
    """The certificate of a case of the table."""
    found = solved(BY_NAME[name]).certificate
    assert found is not None
    return found


def with_key_conjunct() -> Certificate:
    """One with a conjunct over the grouping key, which goes below the fold as it is."""
    case: Case = BY_NAME["max above"]
    found = synthesize(
        case.fold, "m > 100 AND g <> 'b'", schema=case.schema, returns=case.returns, keys="g"
    ).certificate
    assert found is not None
    return found


# --- mutants --------------------------------------------------------------------------------------


def field_mutants(data: Data) -> Iterator[tuple[str, object]]:
    """Fields removed, or of another type, or claiming something else."""
    for name in data:
        less = copy.deepcopy(data)
        del less[name]
        yield f"without {name}", less
        for junk in JUNK:
            if junk != data[name]:
                yield f"{name} = {junk!r}", {**data, name: junk}
    for kind in ("exact", "split", "partial", "empty", "none"):
        if kind != data["kind"]:
            yield f"kind {kind}", {**data, "kind": kind}
    for format_ in (0, 2, "1", None):
        yield f"format {format_!r}", {**data, "presieve": format_}


def invariant_mutants(data: Data) -> Iterator[tuple[str, object]]:
    """A conjunct removed, weakened to nothing, or turned around."""
    conjuncts: list[str] = data["invariant"]
    for i, text in enumerate(conjuncts):
        rest = [*conjuncts[:i], *conjuncts[i + 1 :]]
        yield f"without conjunct {i}", {**data, "invariant": rest}
        yield f"conjunct {i} true", {**data, "invariant": [*rest, "true:Bool"]}
        yield f"conjunct {i} negated", {**data, "invariant": [*rest, f"(not {text})"]}
    yield "nothing invariant", {**data, "invariant": []}
    yield "false invariant", {**data, "invariant": [*conjuncts, "false:Bool"]}


_SWAPS = [
    ("py>=", "py>"),
    ("py<=", "py<"),
    ("py>", "py>="),
    ("py<", "py<="),
    ("py=", "py<"),
    ("sql>=", "sql>"),
    ("sql<=", "sql<"),
    ("sql>", "sql>="),
    ("sql<", "sql<="),
    ("sql=", "sql<"),
    ("sql-and", "sql-or"),
    ("sql-or", "sql-and"),
    ("sql-not", "sql-null?"),
    ("sql-null?", "sql-not"),
    ("and", "or"),
    ("or", "and"),
    ("not", "or"),
    ("int+", "int-"),
    ("float*", "float+"),
    ("true", "false"),
    ("false", "true"),
    ("grouped", "global"),
    ("acc.", "twin."),
    ("acc.", "row."),
    ("row.", "acc."),
    ("out.", "row."),
    ("key.", "row."),
    ("Int?", "Int"),
    ("Float", "Int"),
    ("Bool", "Int"),
    ("String", "Int"),
    ("none:", "0:"),
    ("0:Int", "1:Int"),
    ("1:Int", "0:Int"),
    ('"bigint"', '"tinyint"'),
    ('"bigint"', '"nonsense"'),
    ('"double"', '"bigint"'),
    ('"g"', '"h"'),
    ('"x"', '"y"'),
    ('"score"', '"g"'),
    ("(key ", "(column "),
    ("(column ", "(key "),
    ("(field ", "(output "),
    ("(output ", "(field "),
    ("(raises ", "(raised "),
    ("(assume ", "(where "),
]


def _token_mutants(text: str) -> Iterator[tuple[str, str]]:
    for old, new in _SWAPS:
        ends = r"(?=[\s)])" if old[-1] not in ".: " else ""
        for found in re.finditer(rf"(?<![\w\"]){re.escape(old)}{ends}", text):
            yield (
                f"{old} -> {new} at {found.start()}",
                text[: found.start()] + new + text[found.end() :],
            )
    for found in re.finditer(r"(-?\d+)(:(?:Int|Date|Timestamp))", text):
        for move in (-1, 1):
            new = f"{int(found[1]) + move}{found[2]}"
            yield f"{found[0]} -> {new}", text[: found.start()] + new + text[found.end() :]
    for found in re.finditer(r"0x([0-9a-f]{16})", text):
        for bits in (int(found[1], 16) ^ 1, int(found[1], 16) ^ (1 << 63), 0x7FF8000000000000):
            new = f"0x{bits:016x}"
            yield f"{found[0]} -> {new}", text[: found.start()] + new + text[found.end() :]


def predicate_mutants(data: Data) -> Iterator[tuple[str, object]]:
    """Pre-filter and residual with a token changed, exchanged, or replaced by a constant."""
    for name in ("prefilter", "residual"):
        for what, text in _token_mutants(data[name]):
            yield f"{name}: {what}", {**data, name: text}
        for text in ("true:Bool?", "false:Bool?", "none:Bool?", "true:Bool"):
            if text != data[name]:
                yield f"{name} = {text}", {**data, name: text}
    swapped = {**data, "prefilter": data["residual"], "residual": data["prefilter"]}
    yield "predicates exchanged", swapped


def problem_mutants(data: Data) -> Iterator[tuple[str, object]]:
    """Fold, filter, mode and assumptions: a token changed, or a line gone or doubled."""
    text = "\n".join(data["problem"])
    for what, changed in _token_mutants(text):
        yield f"problem: {what}", {**data, "problem": changed.splitlines()}
    lines = data["problem"]
    for i, line in enumerate(lines):
        yield (
            f"without line {i}: {line.strip()[:40]}",
            {**data, "problem": lines[:i] + lines[i + 1 :]},
        )
        doubled = [*lines[: i + 1], *lines[i:]]
        yield f"line {i} twice", {**data, "problem": doubled}


def witness_mutants(data: Data) -> Iterator[tuple[str, object]]:
    """Rows, index, key and region of the witnesses changed."""
    for i, witness in enumerate(data["witnesses"]):

        def put(changed: object, i: int = i) -> Data:
            others = data["witnesses"]
            return {**data, "witnesses": [*others[:i], changed, *others[i + 1 :]]}

        rows = witness["rows"]
        yield f"witness {i}: no rows", put({**witness, "rows": []})
        yield f"witness {i}: index", put({**witness, "index": len(rows)})
        yield f"witness {i}: negative index", put({**witness, "index": -1})
        yield f"witness {i}: key", put({**witness, "key": [*witness["key"], "1:Int"]})
        yield f"witness {i}: region", put({**witness, "region": "false:Bool?"})
        yield f"witness {i}: values", put({**witness, "rows": [["1:Date"] for _ in rows]})
        yield f"witness {i}: ragged", put({**witness, "rows": [[] for _ in rows]})
        yield (
            f"witness {i}: terms",
            put({**witness, "rows": [["(int+ 1:Int 1:Int)"] for _ in rows]}),
        )
        for what, text in _token_mutants(witness["region"]):
            yield f"witness {i}: {what}", put({**witness, "region": text})


def residual_witness_mutants(data: Data) -> Iterator[tuple[str, object]]:
    """Conjunct, rows and key of the witnesses of the residual changed."""
    others = data["residual_witnesses"]
    for i, witness in enumerate(others):

        def put(changed: object, i: int = i) -> Data:
            return {**data, "residual_witnesses": [*others[:i], changed, *others[i + 1 :]]}

        rows = witness["rows"]
        yield f"residual witness {i}: no conjunct", put({**witness, "conjunct": len(others)})
        yield f"residual witness {i}: negative conjunct", put({**witness, "conjunct": -1})
        yield f"residual witness {i}: key", put({**witness, "key": [*witness["key"], "1:Int"]})
        yield f"residual witness {i}: values", put({**witness, "rows": [["1:Date"] for _ in rows]})
        yield f"residual witness {i}: ragged", put({**witness, "rows": [[], *rows]})
        terms = [["(int+ 1:Int 1:Int)"], *rows]
        yield f"residual witness {i}: terms", put({**witness, "rows": terms})


# --- what is true of them -------------------------------------------------------------------------

_NASTY: dict[Sort, list[Value]] = {
    BOOL: [True, False],
    FLOAT: [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan],
    STRING: ["", "a", "b"],
}


def _pool(certificate: Certificate, column: Column) -> list[Value]:
    """Values of a column: those mentioned of its sort, their neighbours, nasty ones, none."""
    base = strip(column.sort)
    terms = all_terms(certificate.problem, [certificate.prefilter, certificate.residual])
    mentioned = [literal_value(x) for x in literals(*terms) if strip(x.sort) == base]
    found: list[Value] = [*_NASTY.get(base, [0, 1, -1]), *(v for v in mentioned if v is not None)]
    for v in list(found):
        if isinstance(v, float):
            found += [math.nextafter(v, math.inf), math.nextafter(v, -math.inf)]
        elif isinstance(v, int) and not isinstance(v, bool):
            found += [v - 1, v + 1]
    low, high = INT_RANGES.get(column.type, (-(2**63), 2**63 - 1))
    kept = [v for v in found if not isinstance(v, int) or low <= v <= high]
    return [*kept, None] if isinstance(column.sort, Option) else kept


def is_true(certificate: Certificate, tables: int = 250) -> bool:
    """Whether original and pushdown agree on random tables that obey the assumptions."""
    random = Random(0)
    problem = certificate.problem
    fold = problem.fold
    pools = {c.name: _pool(certificate, c) for c in fold.columns}
    key_pools = {c.name: _pool(certificate, c) for c in fold.keys}
    for i in range(tables):
        keys = {n: random.choice(p) for n, p in key_pools.items()}
        rows = [{n: random.choice(p) for n, p in pools.items()} for _ in range(i % 6)]
        scopes = [(Scope.ROW, r) for r in rows] or [(Scope.ROW, {})]
        envs = [
            {
                **{(scope, n): v for n, v in row.items()},
                **{(Scope.KEY, n): v for n, v in keys.items()},
            }
            for scope, row in scopes
        ]
        if rows and not all(evaluate(a.term, e) for a in problem.assumptions for e in envs):
            continue
        try:
            before = outcome(problem, rows, keys)
        except Undefined:
            continue  # the changed fold has no value here, so nothing is claimed
        after = pushed_outcome(problem, rows, keys, certificate.prefilter, certificate.residual)
        if not agree(before, after):
            return False
    return True
