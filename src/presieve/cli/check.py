"""Untrusted. ``presieve check``: checks a stored certificate again, from its own content."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import output
from presieve.cli import shared_options as opt

if TYPE_CHECKING:
    from presieve.certificate.check import Rejected, Verified
    from presieve.certificate.group_aggregates import VerifiedAggregated
    from presieve.certificate.row_expressions import VerifiedCompiled
    from presieve.certificate.scan_filters import VerifiedDerived
    from presieve.certificate.stored import Accepted
    from presieve.certificate.two_rows import TwoRowClaim, VerifiedFilters
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
    from presieve.certificate.check import Rejected
    from presieve.certificate.stored import check_claim, load

    result = check_claim(load(certificate), solver.value)
    answer = (
        _rejection_answer(result, solver)
        if isinstance(result, Rejected)
        else _accepted_answer(result, solver)
    )
    if json:
        output.as_json(answer)
    else:
        output.fields(_fields(answer))
    if not answer["verified"]:
        raise typer.Exit(1)


def _accepted_answer(result: Accepted, solver: SolverOption) -> dict[str, object]:
    from presieve.certificate.check import Verified as IsVerified
    from presieve.certificate.scan_filters import VerifiedDerived as IsDerived
    from presieve.certificate.two_rows import VerifiedFilters as IsMoved

    if isinstance(result, IsVerified):
        return _pushdown_answer(result)
    if isinstance(result, IsDerived):
        return _derived_answer(result, solver)
    return (
        _moved_filters_answer(result)
        if isinstance(result, IsMoved)
        else _replacement_answer(result)
    )


def _derived_answer(result: VerifiedDerived, solver: SolverOption) -> dict[str, object]:
    """The answer for a filter for storage."""
    from presieve.certificate.zone_offsets import assumed_offsets, offsets_text

    columns = {
        int(number["id"]): node["name"]
        for node in result.certificate.condition
        if isinstance(number := node.get("exprId"), dict)
    }
    sets = (
        " or ".join(f"{columns.get(n, n)} in {s}" for n, s in clause.items())
        for clause in result.certificate.clauses
    )
    session = result.certificate.zones.session
    return {
        "verified": True,
        "solver": f"intervals and {solver.value}",
        "where": "the condition above the scan",
        "prefilter": "; ".join(sets),
        "rests_on": [offsets_text(*z) for z in assumed_offsets(result.certificate).items()],
        "not_checked": [
            f"that the condition is that of the plan, in the time zone {session}",
            *NOT_CHECKED[2:],
        ],
    }


def _moved_filters_answer(result: VerifiedFilters) -> dict[str, object]:
    """The answer for filters below a window or a join."""
    return {
        "verified": True,
        "solver": result.solver,
        **_conditions(result.certificate),
        "conditions": result.seconds,
        "seconds": sum(result.seconds.values()),
        "not_checked": ["that the operator is that of the plan", *NOT_CHECKED[2:]],
    }


def _conditions(claim: TwoRowClaim) -> dict[str, object]:
    """The filter above, and the filters below; columns of a join are shown with their side."""
    from presieve.certificate import joins, windows
    from presieve.semantics.joins import with_sides
    from presieve.sql.emit import emit

    def text(term: Term, left: str = "", right: str = "") -> str:
        return emit(with_sides(term, left, right), "UTC")

    if isinstance(claim, windows.WindowCertificate):
        below = {"where": text(claim.where), "prefilter": text(claim.prefilter)}
        return {"kind": windows.KIND, **below}
    assert isinstance(claim, joins.JoinCertificate)
    below = {"left": text(claim.left), "right": text(claim.right)}
    return {"kind": joins.KIND, "where": text(claim.where, "left.", "right."), **below}


def _pushdown_answer(result: Verified) -> dict[str, object]:
    from presieve.certificate.required import taken_as_stored
    from presieve.sql.emit import emit

    claim = result.certificate
    return {
        "verified": True,
        "solver": result.solver,
        "function": claim.problem.fold.name,
        "mode": claim.problem.mode.value,
        "kind": claim.kind,
        "strength": claim.strength,
        "residual_strength": claim.residual_strength,
        "where": emit(claim.problem.where, "UTC"),
        "prefilter": emit(claim.prefilter, "UTC"),
        "residual": emit(claim.residual, "UTC"),
        "assumptions": [_assumption(a) for a in claim.problem.assumptions],
        "may_erase_error": result.may_erase_error,
        "conditions": result.seconds,
        "seconds": sum(result.seconds.values()),
        "taken_as_stored": list(taken_as_stored(claim.problem)),
        "not_checked": list(NOT_CHECKED),
    }


def _replacement_answer(result: VerifiedCompiled | VerifiedAggregated) -> dict[str, object]:
    """The answer for expressions that replace a function."""
    from presieve.certificate import group_aggregates, row_expressions
    from presieve.certificate.required import taken_as_stored

    claim = result.certificate
    calls: dict[str, object] = {"kind": row_expressions.KIND}
    if isinstance(claim, group_aggregates.AggregatedCertificate):
        texts = [f"{a.column.name}: {a.text}" for a in claim.aggregates]
        calls = {"kind": group_aggregates.KIND, "aggregates": texts, "rows": claim.rows}
    return {
        "verified": True,
        "solver": result.solver,
        "function": claim.problem.fold.name,
        **calls,
        "expressions": [f"{e.output}: {e.text}" for e in claim.expressions],
        "assumptions": [_assumption(a) for a in claim.problem.assumptions],
        "conditions": result.seconds,
        "seconds": sum(result.seconds.values()),
        "taken_as_stored": list(taken_as_stored(claim.problem)),
        "not_checked": [_MEANS, "that Spark reads the text as the value that is stored beside it"],
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
