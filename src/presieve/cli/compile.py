"""Untrusted. ``presieve compile``: the expression of Spark that a function of single rows is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import options as opt
from presieve.cli import output
from presieve.cli.load import load_fold
from presieve.errors import Declined
from presieve.report.words import why as more

if TYPE_CHECKING:
    from presieve.driver.stages.compiled import CompileDecision


def command(
    target: opt.Target,
    schema: opt.Schema,
    returns: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="What it returns, if the function is no UDF."),
    ] = None,
    json: opt.Json = False,
    save: opt.Save = None,
) -> None:
    """Write a scalar UDF as an expression of Spark that is proved to give the same.

    It starts a local session, whose analyzer resolves the expression. Exits with 0 if there is one
    and with 1 if there is none.
    """
    from presieve.demo.session import session
    from presieve.driver.one_function import compile_function
    from presieve.sql.ddl import parse_returns, parse_schema

    output.check_writable(save)
    parse_schema(schema)
    if returns is not None:
        parse_returns(f"value {returns}", target)
    with output.quiet():
        function = load_fold(target)
        with session() as spark:
            found = compile_function(spark, function, schema, returns)
    verified = None if isinstance(found, Declined) else found.verified
    if save is not None and verified is not None:
        output.write(save, verified.certificate.text())
    answer = _answer(found)
    if json:
        output.as_json(answer)
    else:
        output.fields(_fields(answer, save))
    if verified is None:
        raise typer.Exit(1)


def _answer(found: CompileDecision | Declined) -> dict[str, object]:
    if isinstance(found, Declined) or found.verified is None:
        why = found if isinstance(found, Declined) else found.declined
        assert why is not None
        return {"compiled": False, "code": why.code, "declined": str(why)}
    return {
        "compiled": True,
        "function": found.call.function,
        "type": found.call.outputs[0].type,
        "sql": found.text,
        "dataframe": f"F.expr({found.text!r})",
        "solver": found.verified.solver,
        "conditions": found.verified.seconds,
    }


def _fields(answer: dict[str, object], save: Path | None) -> Iterator[tuple[str, str]]:
    if not answer["compiled"]:
        yield "declined", str(answer["declined"])
        yield "more", more((str(answer["code"]),))
        return
    for name in ("function", "type", "sql", "dataframe"):
        yield name, str(answer[name])
    seconds = answer["conditions"]
    assert isinstance(seconds, dict)
    proved = ", ".join(f"{name} {taken:.3f} s" for name, taken in seconds.items())
    yield "proved", f"{proved} ({answer['solver']})"
    if save is not None:
        yield "certificate", str(save)
