# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve check``: checks a stored certificate again, from its own content."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import output
from presieve.cli import shared_options as opt

if TYPE_CHECKING:
    from presieve.certificate.certificate import Certificate
    from presieve.certificate.checker import Rejected, Verified
    from presieve.certificate.claim import Claim
    from presieve.certificate.group_aggregates import AggregatedCertificate
    from presieve.certificate.row_expressions import CompiledCertificate
    from presieve.certificate.scan_filters import DerivedCertificate
    from presieve.certificate.two_rows import TwoRowClaim
    from presieve.ir.fold import Assumption
    from presieve.ir.terms import Term


class SolverOption(StrEnum):
    """The solver that decides the obligations."""

    Z3 = "z3"
    CVC5 = "cvc5"


def command(
    certificate: Annotated[Path, typer.Argument(metavar="CERT.json", show_default=False)],
    solver: Annotated[
        SolverOption, typer.Option(help="The solver; cvc5 is an extra.")
    ] = SolverOption.Z3,
    json: opt.Json = False,
) -> None:
    """Check a certificate: decide each of its proof obligations again.

    They are rebuilt from the problem. It uses nothing from the search. Exits with 0 if the
    certificate holds, with 1 if not.
    """
    from presieve.certificate.checker import Rejected
    from presieve.certificate.stored import check_claim, load

    result = check_claim(load(certificate), solver.value)
    answer = (
        _rejection_answer(result, solver)
        if isinstance(result, Rejected)
        else _accepted_answer(result)
    )
    if json:
        output.as_json(answer)
    else:
        output.fields(_fields(answer))
    if not answer["verified"]:
        raise typer.Exit(1)


def _accepted_answer(result: Verified[Claim]) -> dict[str, object]:
    from presieve.certificate.certificate import Certificate
    from presieve.certificate.group_aggregates import AggregatedCertificate
    from presieve.certificate.required import taken_as_stored
    from presieve.certificate.row_expressions import CompiledCertificate
    from presieve.certificate.scan_filters import DerivedCertificate
    from presieve.certificate.two_rows import TwoRowClaim

    claim = result.certificate
    answer: dict[str, object] = {"verified": True, "solver": result.solver}
    timed = {"conditions": result.seconds, "seconds": sum(result.seconds.values())}
    if isinstance(claim, DerivedCertificate):
        fields = _scan_filter_fields(claim)
        return {**answer, "solver": f"intervals and {result.solver}", **fields}
    if isinstance(claim, TwoRowClaim):
        unchecked = ["that the operator is that of the plan", *NOT_CHECKED[2:]]
        return {**answer, **_moved_filters_fields(claim), **timed, "not_checked": unchecked}
    if isinstance(claim, Certificate):
        fields = {**_pushdown_fields(claim), "may_erase_error": result.may_erase_error}
        unchecked = list(NOT_CHECKED)
    else:
        assert isinstance(claim, CompiledCertificate | AggregatedCertificate)
        fields = _replacement_fields(claim)
        unchecked = [_MEANS, "that Spark reads the text as the value that is stored beside it"]
    stored = list(taken_as_stored(claim.problem))
    return {**answer, **fields, **timed, "taken_as_stored": stored, "not_checked": unchecked}


def _scan_filter_fields(claim: DerivedCertificate) -> dict[str, object]:
    """The fields for a filter for storage."""
    from presieve.certificate.zone_offsets import assumed_offsets, offsets_text

    columns = {
        int(number["id"]): node["name"]
        for node in claim.condition
        if isinstance(number := node.get("exprId"), dict)
    }
    sets = (
        " or ".join(f"{columns.get(n, n)} in {s}" for n, s in clause.items())
        for clause in claim.clauses
    )
    session = claim.zones.session
    return {
        "where": "the condition above the scan",
        "prefilter": "; ".join(sets),
        "rests_on": [offsets_text(*z) for z in assumed_offsets(claim).items()],
        "not_checked": [
            f"that the condition is that of the plan, in the time zone {session}",
            *NOT_CHECKED[2:],
        ],
    }


def _moved_filters_fields(claim: TwoRowClaim) -> dict[str, object]:
    """The filter above, and the filters below; columns of a join are shown with their side."""
    from presieve.certificate import joins, top_rows, windows
    from presieve.semantics.joins import with_sides
    from presieve.sql.emit import emit

    def text(term: Term, left: str = "", right: str = "") -> str:
        return emit(with_sides(term, left, right), "UTC")

    if isinstance(claim, windows.WindowCertificate):
        below = {"where": text(claim.where), "prefilter": text(claim.prefilter)}
        return {"kind": windows.KIND, **below}
    if isinstance(claim, top_rows.TopRowsCertificate):
        direction = "DESC" if claim.key.descending else "ASC"
        order = f"ORDER BY {text(claim.key.value)} {direction} LIMIT n"
        return {"kind": top_rows.KIND, "where": order, "prefilter": text(claim.below)}
    assert isinstance(claim, joins.JoinCertificate)
    below = {"left": text(claim.left), "right": text(claim.right)}
    return {"kind": joins.KIND, "where": text(claim.where, "left.", "right."), **below}


def _pushdown_fields(claim: Certificate) -> dict[str, object]:
    from presieve.sql.emit import emit

    return {
        "function": claim.problem.fold.name,
        "mode": claim.problem.mode.value,
        "kind": claim.kind,
        "strength": claim.strength,
        "residual_strength": claim.residual_strength,
        "where": emit(claim.problem.where, "UTC"),
        "prefilter": emit(claim.prefilter, "UTC"),
        "residual": emit(claim.residual, "UTC"),
        "assumptions": [_assumption(a) for a in claim.problem.assumptions],
    }


def _replacement_fields(claim: CompiledCertificate | AggregatedCertificate) -> dict[str, object]:
    """The fields for expressions that replace a function."""
    from presieve.certificate import group_aggregates, row_expressions

    calls: dict[str, object] = {"kind": row_expressions.KIND}
    if isinstance(claim, group_aggregates.AggregatedCertificate):
        texts = [f"{a.column.name}: {a.text}" for a in claim.aggregates]
        calls = {"kind": group_aggregates.KIND, "aggregates": texts, "rows": claim.rows}
    return {
        "function": claim.problem.fold.name,
        **calls,
        "expressions": [f"{e.output}: {e.text}" for e in claim.expressions],
        "assumptions": [_assumption(a) for a in claim.problem.assumptions],
    }


_MEANS = "that the problem states what the function means"
NOT_CHECKED = (
    _MEANS,
    "that the assumptions hold on the data",
    "how the predicates are put into a plan",
)
"""Statements that a certificate does not make, or cannot prove."""


def _assumption(assumption: Assumption) -> dict[str, str]:
    """The assumption's words, which the checker has compared with its term; a term that is true
    adds nothing.
    """
    from presieve.ir.text import print_term

    term = print_term(assumption.term)
    return {"code": assumption.code, "text": assumption.text, "term": term}


def _rejection_answer(result: Rejected, solver: SolverOption) -> dict[str, object]:
    return {
        "verified": False,
        "solver": solver.value,
        "condition": result.condition,
        "reason": result.reason,
    }


def _fields(answer: dict[str, object]) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), _text(value)) for name, value in answer.items()]


def _text(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}"
        case dict():
            return ", ".join(f"{name} {_text(part)} s" for name, part in value.items())
        case list():
            return "; ".join(_item(item) for item in value) or "none"
        case _:
            return str(value)


def _item(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    text = f"{item['text']} [{item['code']}]"
    return text if item["term"] == "true:Bool" else f"{text}: {item['term']}"
