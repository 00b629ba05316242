"""An assumption without a condition cannot be deleted from a certificate where it is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.support.sentences import fill

import presieve
from presieve.certificate import Certificate, Rejected, Verified, check, stored
from presieve.certificate.claim import Claim
from presieve.certificate.required import taken_as_stored
from presieve.cli.app import main
from presieve.ir.fold import Assumption
from presieve.ir.terms import TRUE
from presieve.records import replace
from presieve.semantics.assumptions import CONDITIONS, SENTENCES, AssumptionNeed, unseen_codes

if TYPE_CHECKING:
    from pathlib import Path


class Total:
    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row.v

    def finish(self, acc: Any) -> Any:
        return acc


class Negated(Total):
    def finish(self, acc: Any) -> Any:
        return -acc


class Tripled(Total):
    def finish(self, acc: Any) -> Any:
        return 3 * acc


class Product(Total):
    def zero(self) -> Any:
        return 1

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc * row.v if row.v > 1 else acc


class Rows(Total):
    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row.v > 5 else acc


class Highest(Total):
    def reduce(self, acc: Any, row: Any) -> Any:
        return max(acc, row.v)


class Scaled(Highest):
    def finish(self, acc: Any) -> Any:
        return acc * 1000


class Both:
    def zero(self) -> Any:
        return (0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        total, count = acc
        return (total + row.v, count + 1) if row.v > 0 else acc

    def finish(self, acc: Any) -> Any:
        return acc


def pandas_sum(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"m": [pdf["v"].sum()]})


def pandas_two_sums(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"m": [pdf["v"].sum()], "c": [pdf["w"].sum()]})


def pandas_sum_of_some(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"m": [pdf.loc[pdf["w"] > 5, "v"].sum()]})


def pandas_computed_sum(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"m": [pdf["v"].where(pdf["v"] > 5, 0).sum()]})


def arrow_sum(v: pa.Array) -> Any:
    return pc.sum(v)


def arrow_loop(v: pa.Array) -> int:
    total = 0
    for x in v.to_pylist():
        total += x
    return total


V = "v bigint NOT NULL"


@dataclass(frozen=True, slots=True)
class Case:
    """A function, and how many assumptions about sizes it comes with."""

    function: object
    where: str
    returns: str
    sizes: int
    schema: str = "v bigint NOT NULL, w bigint NOT NULL"
    mode: str = "global"

    def certificate(self) -> Certificate:
        found = presieve.synthesize(
            *(self.function, self.where), schema=self.schema, returns=self.returns, mode=self.mode
        )
        assert found.certificate is not None, found
        return found.certificate


NEEDED = {
    "a sum": Case(Total, "m <> 0", "m bigint", 1),
    "a sum as int": Case(Total, "m <> 0", "m int", 1),
    "a sum of ints as int": Case(Total, "m <> 0", "m int", 1, "v int NOT NULL"),
    "a sum as smallint": Case(Total, "m <> 0", "m smallint", 1, "v int NOT NULL"),
    "a negated sum": Case(Negated, "m <> 0", "m bigint", 1),
    "a sum times three": Case(Tripled, "m <> 0", "m bigint", 1),
    "a product": Case(Product, "m > 1", "m bigint", 1),
    "a count as int": Case(Rows, "m > 0", "m int", 1),
    "a count as tinyint": Case(Rows, "m > 0", "m tinyint", 1),
    "an extreme of a wider type": Case(Highest, "m > 5", "m int", 1),
    "an extreme that is scaled": Case(Scaled, "m > 5", "m int", 1, "v int NOT NULL"),
    "two outputs": Case(Both, "m > 0 AND c > 0", "m bigint, c int", 2),
    "one of two outputs": Case(Both, "m > 0 AND c > 0", "m bigint, c bigint", 1),
    "a sum of pandas": Case(pandas_sum, "m <> 0", "m bigint", 2, mode="grouped"),
    "two sums of pandas": Case(pandas_two_sums, "m <> 0", "m bigint, c bigint", 4, mode="grouped"),
    "a sum of some rows": Case(pandas_sum_of_some, "m <> 0", "m bigint", 2, mode="grouped"),
    "a sum beside NULL": Case(pandas_sum, "m <> 0", "m bigint", 2, "v bigint", "grouped"),
    "a computed sum": Case(pandas_computed_sum, "m <> 0", "m bigint", 2, V, "grouped"),
    "a sum of pyarrow": Case(arrow_sum, "m <> 0", "m bigint", 1, V, "grouped"),
}
"""With how many assumptions about sizes, of which each is needed."""


def with_assumptions(claim: Certificate, assumptions: tuple[Assumption, ...]) -> Certificate:
    return replace(claim, problem=replace(claim.problem, assumptions=assumptions))


def without_each(claim: Certificate) -> Iterator[tuple[Assumption, Certificate]]:
    """The certificate without one of its assumptions that have no condition."""
    assumptions = claim.problem.assumptions
    for deleted in assumptions:
        if deleted.term == TRUE:
            rest = tuple(a for a in assumptions if a is not deleted)
            yield deleted, with_assumptions(claim, rest)


def read_back(claim: Certificate) -> Verified[Claim] | Rejected:
    return stored.check_claim(stored.parse(json.loads(claim.text())), "z3")


@pytest.mark.parametrize("name", NEEDED)
def test_each_assumption_about_a_size_is_needed(name: str) -> None:
    claim = NEEDED[name].certificate()
    assert isinstance(read_back(claim), Verified)
    deleted = list(without_each(claim))
    assert len(deleted) == NEEDED[name].sizes
    for assumption, forged in deleted:
        found = read_back(forged)
        assert isinstance(found, Rejected)
        assert found.condition == "form"
        assert found.reason.startswith("no assumption says that "), assumption
    everything = with_assumptions(claim, ())
    assert isinstance(read_back(everything), Rejected)


@pytest.mark.parametrize("name", NEEDED)
def test_an_assumption_of_another_size_is_none(name: str) -> None:
    """Of another result, another type, or another sum."""
    claim = NEEDED[name].certificate()
    others = {"result m": "result n", "bigint": "decimal", "in int:": "in bigint:", "64": "63"}
    others |= {"smallint": "int", "tinyint": "int", "sum of v": "sum of u"}
    for old, new in others.items():
        changed = tuple(
            replace(a, text=a.text.replace(old, new)) for a in claim.problem.assumptions
        )
        if changed != claim.problem.assumptions and old != "pc.sum":
            assert isinstance(read_back(with_assumptions(claim, changed)), Rejected), old


FREE = {
    "a count": Case(Rows, "m > 0", "m bigint", 0),
    "an extreme": Case(Highest, "m > 5", "m bigint", 0),
    "an extreme of a narrower type": Case(Highest, "m > 5", "m bigint", 0, "v int NOT NULL"),
    "a sum of ints": Case(Total, "m <> 0", "m bigint", 0, "v smallint NOT NULL"),
    "a sum of integers in pyarrow": Case(arrow_loop, "m <> 0", "m bigint", 0, V, "grouped"),
}


@pytest.mark.parametrize("name", FREE)
def test_what_fits_or_is_checked_needs_none(name: str) -> None:
    claim = FREE[name].certificate()
    assert not list(without_each(claim))
    assert isinstance(read_back(claim), Verified)


def test_that_a_result_is_checked_is_taken_as_it_is_stored() -> None:
    """Arrow refuses an integer that does not fit. Who deletes that needs the assumption."""
    claim = FREE["a sum of integers in pyarrow"].certificate()
    said = "that the result m is checked to fit in bigint, so that it never wraps around"
    assert said in taken_as_stored(claim.problem)
    fold = claim.problem.fold
    outputs = tuple(replace(o, checked=False) for o in fold.outputs)
    problem = replace(claim.problem, fold=replace(fold, outputs=outputs))
    assert said not in taken_as_stored(problem)
    assert isinstance(read_back(replace(claim, problem=problem)), Rejected)
    for name in ("a count", "a sum of ints"):
        assert not any("checked" in s for s in taken_as_stored(FREE[name].certificate().problem))


def test_problems_of_before_are_read() -> None:
    """An output without a word on checks is one that may wrap around."""
    claim = NEEDED["two outputs"].certificate()
    text = claim.text()
    assert "checked" not in text
    for number in (1, 2):
        data = {**json.loads(text), "presieve": number}
        assert stored.parse(data) == claim
        assert isinstance(stored.check_claim(stored.parse(data), "z3"), Verified)


def test_how_each_is_known_to_be_needed() -> None:
    """What is said of sentences is what the checker does; of no other code one is missed."""
    needs = {s.need for s in SENTENCES}
    assert needs == set(AssumptionNeed)
    assert set(unseen_codes()) == {
        *(s.code for s in SENTENCES if s.need is AssumptionNeed.NOTHING),
        *(code for code, (_, need) in CONDITIONS.items() if need is AssumptionNeed.NOTHING),
    }
    claim = FREE["a count"].certificate()
    for s in SENTENCES:
        more = with_assumptions(claim, (fill(s),))
        assert isinstance(check(more), Verified)


def checked(path: Path, claim: Certificate, *options: str) -> int:
    path.write_text(claim.text())
    return main(["check", str(path), *options])


def test_a_check_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    claim = NEEDED["a sum"].certificate()
    assert checked(path, claim) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "the result m fits in bigint" in out
    assert "taken as stored that it lists all that it assumes of the kinds [no-null]," in out
    for _, forged in without_each(claim):
        assert checked(path, forged) == 1
        out = " ".join(capsys.readouterr().out.split())
        assert "no assumption says that the result m fits in bigint" in out
    assert checked(path, FREE["a sum of integers in pyarrow"].certificate(), "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert any("the result m is checked to fit" in line for line in answer["taken_as_stored"])
