# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve verify``: checks whether a hand-written pushdown is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from presieve.cli import output, project_options
from presieve.cli import shared_options as opt
from presieve.cli.load import load_beside, load_fold
from presieve.driver.options import Options
from presieve.report import progress
from presieve.report import verdict_text as tell
from presieve.report.verdict import page

if TYPE_CHECKING:
    from presieve.report.verdict import Verdict

EXIT = {"proved": 0, "refuted": 1, "unknown": 2}

Prefilter: TypeAlias = Annotated[
    str, typer.Option(metavar="SQL", help="The filter on keys and input columns to check.")
]
Residual: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="What replaces --where above the fold; default: --where."),
]
Html: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write the answer as a page.")
]


def command(
    target: opt.Target,
    *,
    schema: opt.Schema,
    where: opt.Where,
    prefilter: Prefilter,
    residual: Residual = None,
    returns: opt.Returns = None,
    keys: opt.Keys = "",
    mode: opt.ModeOption = opt.ModeChoice.GROUPED,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
    json: opt.Json = False,
    html: Html = None,
    save: opt.Save = None,
) -> None:
    """Prove a pushdown, or show a table on which it changes the result.

    Exits with 0 if it is proved, 1 if it is refuted, and 2 if neither.
    """
    from presieve.driver.verify import verify

    output.check_writable(html, save)
    progress.in_terminal()
    written = opt.read_given_options(policy=policy, budget=budget, declare=declare, pure=pure)
    chosen = Options.of(written, project_options.of_fold(target, schema))
    with output.quiet():
        fold = load_fold(target)
        verdict = verify(
            fold,
            where,
            schema=schema,
            prefilter=prefilter,
            residual=residual,
            returns=returns,
            keys=opt.names(keys),
            mode=mode.value,
            budget=chosen.budget,
            policy=chosen.policy,
            declare=chosen.declare,
            pure=load_beside(target, chosen.pure),
        )
    _write(verdict, save, html)
    if json:
        output.as_json(verdict.to_json())
    else:
        _show(verdict, save, keyed=bool(keys))
    raise typer.Exit(EXIT[verdict.status])


def _write(verdict: Verdict, save: Path | None, html: Path | None) -> None:
    if save is not None and verdict.certificate is not None:
        output.write(save, verdict.certificate.text())
    if html is not None:
        output.write(html, page(verdict))


STYLES = {"proved": "bold green", "refuted": "bold red", "unknown": "bold yellow"}


def _show(verdict: Verdict, save: Path | None, *, keyed: bool) -> None:
    output.line(tell.headline(verdict), STYLES[verdict.status])
    output.fields([*_fields(verdict), ("seconds", f"{verdict.seconds:.3f}")])
    counterexample = verdict.counterexample
    if counterexample is not None:
        output.print_small_table(tell.input_grid(counterexample))
        output.print_small_table(tell.result_grid(counterexample))
        output.line(tell.why(counterexample))
        passed = [
            name
            for name in counterexample.differs
            if any(name in row for row in counterexample.rows)
        ]
        if passed and not keyed:
            output.line(f"All rows are one group here; if that is wrong, pass --keys {passed[0]}.")
    if verdict.certificate is not None:
        certificate_note = (
            f"certificate in {save}" if save else "--save CERT.json saves the certificate"
        )
        output.line(f"{certificate_note}; `presieve check` checks it again", "dim")
    repair = verdict.repair
    if repair is not None:
        output.line(f"{tell.repair_title(repair)}:", "bold")
        output.fields(tell.repair_fields(repair))
    elif verdict.status == "refuted":
        output.line(f"{tell.NO_REPAIR}.")


def _fields(verdict: Verdict) -> Iterator[tuple[str, str]]:
    if verdict.claim is not None:
        yield from tell.tell_claim(verdict.claim)
    yield from tell.tell_proof(verdict)
    yield from tell.not_known(verdict)
