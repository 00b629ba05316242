"""Untrusted. ``presieve verify``: whether a pushdown that somebody wrote by hand is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import options as opt
from presieve.cli import output
from presieve.cli.load import load, load_beside

if TYPE_CHECKING:
    from presieve.driver.verify import Verdict

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
    pure: opt.Pure = "",
    json: opt.Json = False,
) -> None:
    """Prove a pushdown, or show a table on which it changes the result.

    Exits with 0 where it is proved, 1 where it is refuted and 2 where neither could be shown.
    """
    from presieve.driver.verify import verify

    with output.quiet():
        fold = load(target)
        verdict = verify(
            fold,
            where,
            schema=schema,
            prefilter=prefilter,
            residual=residual,
            returns=returns,
            keys=opt.names(keys),
            mode=mode.value,
            budget=budget,
            policy=policy.value,
            pure=load_beside(target, opt.names(pure)),
        )
    if json:
        output.as_json(verdict.to_json())
    else:
        _show(verdict)
    raise typer.Exit(EXIT[verdict.status])


def _fields(verdict: Verdict) -> Iterator[tuple[str, str]]:
    yield "status", verdict.status
    if verdict.reason:
        yield "reason", verdict.reason
    for assumption in verdict.assumptions:
        yield "assuming", f"{assumption['text']} [{assumption['code']}]"
    yield "seconds", f"{verdict.seconds:.3f}"


def _show(verdict: Verdict) -> None:
    output.fields(_fields(verdict))
    found = verdict.counterexample
    if found is not None:
        output.table("input", found.rows)
        output.table("as written", found.original)
        output.table("with the pushdown", found.optimized)
