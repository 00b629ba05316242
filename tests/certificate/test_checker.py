"""The checker: what it accepts in a fresh process, and all that it refuses."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from tests.support import mutants
from tests.support.mutants import Data, certificate_of, is_true, with_key_conjunct

from presieve.certificate import Certificate, Rejected, Verified, check, load, parse
from presieve.errors import PresieveError, UsageError
from presieve.ir.ops import app, negate
from presieve.ir.sorts import FLOAT
from presieve.ir.terms import FALSE, SQL_FALSE, Op, Scope, Var, float_lit
from presieve.records import replace
from presieve.semantics.assumptions import assumption_of
from presieve.smt.solver import Effort

ROOT = Path(__file__).parents[2]
NAMES = ["top2", "max equal", "errors at least 1", "case study A", "case study B", "longest streak"]


def data_of(certificate: Certificate) -> Data:
    """As it is stored."""
    stored = json.loads(json.dumps(certificate.to_json()))
    assert isinstance(stored, dict)
    return stored


# --- stored, read, checked ------------------------------------------------------------------------

_CHECK = """
import sys
from presieve.certificate import Verified, check, load
for path in sys.argv[1:]:
    for solver in ("z3", "cvc5"):
        verdict = check(load(path), solver)
        assert isinstance(verdict, Verified), (path, solver, verdict)
        assert verdict.solver == solver and set(verdict.seconds) >= {"init", "sync", "stutter"}
assert not any(m.startswith("presieve.synthesis") for m in sys.modules)
print("checked", len(sys.argv) - 1)
"""


def test_certificates_check_in_a_fresh_process(tmp_path: Path) -> None:
    """With both solvers, and without the search being so much as imported."""
    paths = []
    for i, name in enumerate(NAMES):
        certificate = certificate_of(name)
        path = tmp_path / f"{i}.json"
        certificate.save(path)
        assert load(path) == certificate
        paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", _CHECK, *paths], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == (f"checked {len(NAMES)}\n", "", 0)


_SAVE = """
import sys
from tests.support.mutants import certificate_of
for name in sys.argv[1:]:
    print(repr(certificate_of(name).to_json()))
"""


@pytest.mark.second
def test_the_hash_seed_does_not_matter() -> None:
    """The same input gives the same bytes in processes with other hashes of strings."""
    told = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", _SAVE, "top2", "case study A", "first that is there"],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        )
        told.add(done.stdout)
    assert len(told) == 1
    assert "prefilter" in told.pop()


@pytest.mark.parametrize("name", NAMES)
def test_reading_inverts_writing(name: str) -> None:
    certificate = certificate_of(name)
    assert parse(data_of(certificate)) == certificate


def test_certificates_of_the_format_before_are_read() -> None:
    """It said "strongest" for what is "optimal"; a certificate of today that says so is none."""
    certificate = certificate_of("top2")
    data = {**data_of(certificate), "strength": "strongest"}
    assert certificate.strength == "optimal"
    assert parse({**data, "presieve": 1}) == certificate
    with pytest.raises(PresieveError, match="strength is none of the known ones"):
        parse(data)
    with pytest.raises(PresieveError, match="of format '3', and this presieve reads formats 1 and"):
        parse({**data, "presieve": 3})


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '"presieve"', "{}", '{"presieve": 1}', "\x00\xff", "(" * 99]
)
def test_what_is_no_certificate(content: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(UsageError, match=r"c\.json: .*certificate") as raised:
        load(path)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        load(tmp_path / "c.json")


@pytest.mark.parametrize("depth", [3_000, 200_000])
def test_nesting_without_end_is_no_certificate(depth: int, tmp_path: Path) -> None:
    data = data_of(certificate_of("top2"))
    data["prefilter"] = "(sql-not " * depth + "true:Bool?" + ")" * depth
    with pytest.raises(PresieveError):
        parse(data)
    path = tmp_path / "c.json"
    path.write_text('{"presieve": 1, "kind": ' + "[" * depth + "]" * depth + "}")
    with pytest.raises(UsageError):
        load(path)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan, 10**400])
def test_a_number_without_end_is_no_place_in_a_table(number: float) -> None:
    """JSON's ``1e999`` is read as infinity."""
    data = data_of(certificate_of("top2"))
    data["witnesses"][0]["index"] = number
    try:
        claim = parse(data)
    except PresieveError:
        return
    assert isinstance(check(claim), Rejected)


# --- the seal -------------------------------------------------------------------------------------


def test_only_the_checker_makes_a_verified() -> None:
    certificate = certificate_of("top2")
    with pytest.raises(PresieveError, match="only the checker"):
        Verified(certificate, "z3", {}, False, object())
    with pytest.raises(PresieveError, match="only the checker"):
        Verified(certificate, "z3", {}, False, None)
    with pytest.raises(TypeError):
        Verified(certificate, "z3", {}, False)  # type: ignore[call-arg]


def test_what_could_not_be_decided_is_not_accepted() -> None:
    verdict = check(certificate_of("case study B"), "z3", Effort(work=10, seconds=0.001))
    assert isinstance(verdict, Rejected)


# --- tampering ------------------------------------------------------------------------------------

FEW = ["top2", "max equal", "errors at least 1", "any error", "first that is there"]


def assert_harmless(data: object) -> bool:
    """Refused, or else really true. Says whether it was refused."""
    try:
        certificate = parse(data)
    except PresieveError:
        return True
    verdict = check(certificate)
    if isinstance(verdict, Rejected):
        assert verdict.reason
        return True
    assert is_true(certificate)
    return False


@pytest.mark.costly
@pytest.mark.parametrize("name", [*FEW, "with a conjunct over the key"])
def test_tampering_is_refused_or_harmless(name: str) -> None:
    """Whatever is changed: either the checker refuses, or the claim is true all the same.

    What is true is decided by running original and pushdown on random tables.
    """
    known = name in FEW
    data = data_of(certificate_of(name) if known else with_key_conjunct())
    every = chain(
        mutants.field_mutants(data),
        mutants.invariant_mutants(data),
        mutants.predicate_mutants(data),
        mutants.problem_mutants(data),
        mutants.witness_mutants(data),
        mutants.residual_witness_mutants(data),
    )
    refused = [assert_harmless(mutant) for _, mutant in every]
    assert sum(refused) > 0.6 * len(refused)
    assert len(refused) > 120


@pytest.mark.parametrize("name", ["case study A", "case study B"])
def test_tampering_with_predicates_of_the_case_studies(name: str) -> None:
    data = data_of(certificate_of(name))
    refused = [assert_harmless(m) for _, m in mutants.predicate_mutants(data)]
    assert sum(refused) > 0.8 * len(refused)


ALWAYS_REFUSED: list[tuple[str, str, object]] = [
    ("top2", "prefilter", "(sql> row.score:Float 0x4056c00000000000:Float)"),  # 91.0
    ("top2", "prefilter", "(sql< row.score:Float 0x4056800000000000:Float)"),
    ("top2", "prefilter", "false:Bool?"),
    ("top2", "prefilter", "(sql> row.other:Float 0x4056800000000000:Float)"),
    ("top2", "prefilter", "(py> row.score:Float 0x4056800000000000:Float)"),
    ("top2", "prefilter", "row.score:Float"),
    ("top2", "prefilter", "(sql-null? acc.first:Float?)"),
    ("top2", "prefilter", "(sql-null? out.first:Float?)"),
    ("top2", "residual", "true:Bool?"),
    ("top2", "residual", "false:Bool?"),
    ("top2", "residual", "(sql-null? row.score:Float)"),
    ("top2", "kind", "exact"),
    ("top2", "kind", "partial"),
    ("top2", "kind", "empty"),
    ("top2", "kind", "none"),
    ("top2", "presieve", 3),
    ("top2", "invariant", []),
    ("top2", "invariant", ["true:Bool"]),
    ("top2", "invariant", ["false:Bool"]),
    ("top2", "invariant", ["row.score:Float"]),
    ("top2", "invariant", ["(sql> row.score:Float 0x4056800000000000:Float)"]),
    ("errors at least 1", "prefilter", "(sql-not row.is_error:Bool)"),
    ("errors at least 5", "residual", "true:Bool?"),
]


@pytest.mark.parametrize(("name", "field", "value"), ALWAYS_REFUSED)
def test_this_is_always_refused(name: str, field: str, value: object) -> None:
    changed = {**data_of(certificate_of(name)), field: value}
    try:
        verdict = check(parse(changed))
    except PresieveError:
        return
    assert isinstance(verdict, Rejected)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("top2", '"double"', '"bigint"'),
        ("top2", '"double"', '"float"'),
        ("max equal", '"bigint"', '"nonsense"'),
        ("max equal", '"bigint"', '"string"'),
        ("top2", '"string"', '"char(3)"'),
    ],
)
def test_types_must_be_those_of_the_sorts(name: str, old: str, new: str) -> None:
    """Wherever a column's or output's type stands, each place alone."""
    data = data_of(certificate_of(name))
    lines = data["problem"]
    places = [i for i, x in enumerate(lines) if old in x and "(assume" not in x]
    assert places
    for i in places:
        changed = [*lines[:i], lines[i].replace(old, new), *lines[i + 1 :]]
        verdict = check(parse({**data, "problem": changed}))
        assert isinstance(verdict, Rejected)
        assert verdict.condition == "form"


def test_a_claim_without_its_assumption_is_refused() -> None:
    certificate = certificate_of("top2")
    (assumption,) = certificate.problem.assumptions
    assert assumption.code == "no-nan"
    bare = replace(certificate, problem=replace(certificate.problem, assumptions=()))
    verdict = check(replace(bare, witnesses=(), strength="universe"))
    assert isinstance(verdict, Rejected)
    assert not is_true(bare)


# --- vacuity --------------------------------------------------------------------------------------


def test_contradictory_assumptions_prove_nothing() -> None:
    certificate = certificate_of("top2")
    score = Var(Scope.ROW, "score", FLOAT)
    high = app(Op.PY_GT, score, float_lit(5.0))
    for impossible in ((FALSE,), (high, negate(high)), (app(Op.PY_LT, score, score),)):
        more = tuple(assumption_of("declared", t) for t in impossible)
        problem = replace(certificate.problem, assumptions=more)
        wrong = replace(
            certificate, problem=problem, witnesses=(), strength="universe", kind="empty"
        )
        wrong = replace(wrong, prefilter=SQL_FALSE, residual=SQL_FALSE, invariant=())
        for solver in ("z3", "cvc5"):
            verdict = check(wrong, solver)
            assert isinstance(verdict, Rejected)
            assert verdict.condition == "premises"
