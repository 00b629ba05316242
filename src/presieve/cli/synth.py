# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve synth``: finds a proven pushdown of a filter through one fold."""

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
from presieve.report import synthesis_text as tell
from presieve.report.sentences import why as more

if TYPE_CHECKING:
    from presieve.driver.synthesize import Synthesis


Trace: TypeAlias = Annotated[
    bool, typer.Option("--trace", help="Show the steps of the search first.")
]


def command(
    target: opt.Target,
    *,
    schema: opt.Schema,
    where: opt.Where,
    returns: opt.Returns = None,
    keys: opt.Keys = "",
    mode: opt.ModeOption = opt.ModeChoice.GROUPED,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
    json: opt.Json = False,
    trace: Trace = False,
    save: opt.Save = None,
) -> None:
    """Find the strongest pre-filter of a fold that can be proved.

    Exits with 0 if something can be pushed and with 1 if nothing can.
    """
    from presieve.driver.synthesize import synthesize

    output.check_writable(save)
    progress.in_terminal()
    written = opt.read_given_options(policy=policy, budget=budget, declare=declare, pure=pure)
    chosen = Options.of(written, project_options.of_fold(target, schema))
    with output.quiet():
        fold = load_fold(target)
        synthesis = synthesize(
            fold,
            where,
            schema=schema,
            returns=returns,
            keys=opt.names(keys),
            mode=mode.value,
            budget=chosen.budget,
            policy=chosen.policy,
            declare=chosen.declare,
            pure=load_beside(target, chosen.pure),
            trace=trace,
        )
    if save is not None and synthesis.certificate is not None:
        output.write(save, synthesis.certificate.text())
    if json:
        output.as_json(synthesis.to_json())
    else:
        _show(synthesis, save)
    if synthesis.kind == "none":
        raise typer.Exit(1)


def _show(synthesis: Synthesis, save: Path | None) -> None:
    if synthesis.trace is not None:
        output.trace(synthesis.trace)
    output.fields(_fields(synthesis, save))


def _fields(synthesis: Synthesis, save: Path | None) -> Iterator[tuple[str, str]]:
    yield from tell.fields(synthesis)
    yield "row order", str(synthesis.order)
    for why, around in tell.tell_declined(synthesis):
        yield "declined", "\n".join([why, *around])
    if synthesis.declined:
        yield "more", more(str(d["code"]) for d in synthesis.declined)
    yield "effort", tell.effort(synthesis)
    if save is not None and synthesis.certificate is not None:
        yield "certificate", str(save)
