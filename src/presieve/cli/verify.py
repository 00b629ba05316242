"""Untrusted. ``presieve verify``: whether a pushdown that somebody wrote by hand is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import options as opt
from presieve.cli import output
from presieve.cli.load import load

if TYPE_CHECKING:
    from presieve.driver.synthesize import Verdict

EXIT = {"proved": 0, "refuted": 1, "unknown": 2}


def command(
    target: opt.Target,
    schema: opt.Schema,
    where: opt.Where,
    prefilter: Annotated[
        str, typer.Option(metavar="SQL", help="The filter on keys and input columns to check.")
    ],
    residual: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="What replaces --where above; without it --where stays."),
    ] = None,
    returns: opt.Returns = None,
    keys: opt.Keys = "",
    mode: opt.ModeOption = opt.Mode.GROUPED,
    policy: opt.PolicyOption = opt.Policy.DEFAULT,
    budget: opt.Budget = 10.0,
    json: opt.Json = False,
) -> None:
    """Prove a pushdown, or show a table on which it changes the result.

    Exits with 0 where it is proved, 1 where it is refuted and 2 where neither could be shown.
    """
    from presieve.driver.synthesize import verify

    with output.quiet():
        verdict = verify(
            load(target),
            where,
            schema=schema,
            prefilter=prefilter,
            residual=residual,
            returns=returns,
            keys=opt.names(keys),
            mode=mode.value,
            budget=budget,
            policy=policy.value,
        )
    if json:
        output.as_json(_plain(verdict))
    else:
        _show(verdict)
    raise typer.Exit(EXIT[verdict.status])


def _plain(verdict: Verdict) -> dict[str, object]:
    found = verdict.counterexample
    return {
        "status": verdict.status,
        "counterexample": None
        if found is None
        else {"rows": found.rows, "original": found.original, "optimized": found.optimized},
        "certificate": verdict.certificate.to_json() if verdict.certificate else None,
        "reason": verdict.reason,
    }


def _show(verdict: Verdict) -> None:
    output.fields([("status", verdict.status)])
    if verdict.reason:
        output.fields([("reason", verdict.reason)])
    found = verdict.counterexample
    if found is not None:
        output.table("input", found.rows)
        output.table("as written", found.original)
        output.table("with the pushdown", found.optimized)
