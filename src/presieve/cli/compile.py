# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve compile``: a function of rows or of groups as expressions of Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from presieve.cli import output
from presieve.cli import shared_options as opt
from presieve.cli.load import load_fold
from presieve.driver.options import Options
from presieve.errors import Declined
from presieve.report.sentences import why as more
from presieve.sql.quoted_names import quote

if TYPE_CHECKING:
    from presieve.backend.probe_dataframe import OneCall
    from presieve.driver.stages.group_aggregates import GroupDecision
    from presieve.driver.stages.row_expressions import CompileDecision


def command(
    target: opt.Target,
    *,
    schema: opt.Schema,
    returns: Annotated[
        str | None,
        typer.Option(
            metavar="DDL",
            help="The type of what it returns, or the columns, if it does not declare them.",
        ),
    ] = None,
    keys: opt.Keys = "",
    reorder: opt.Reorder = None,
    declare: opt.Declare = None,
    json: opt.Json = False,
    save: opt.Save = None,
) -> None:
    """Write a function as an expression of Spark that is proved to give the same.

    It is a scalar UDF, an aggregate UDF or class, or a function of the table of a group: then pass
    the grouping columns. What the proof rests on is listed. A local session is started, whose
    analyzer resolves the expression. Exits with 0 if there is one and with 1 if there is none.
    """
    from presieve.demo.demo_session import session
    from presieve.driver.one_function import compile_function
    from presieve.sql.ddl import parse_schema

    output.check_writable(save)
    parse_schema(schema)
    options = Options.of(opt.read_given_options(reorder=reorder, declare=declare))
    with output.quiet():
        call = _call(load_fold(target), target, (schema, returns), opt.names(keys))
        with session() as spark:
            decision = compile_function(spark, call, options)
    verified = () if isinstance(decision, Declined) else _accepted_certificates(decision)
    if save is not None and verified:
        output.write(save, verified[0].certificate.text())
    answer = _answer(decision, call.keys)
    if json:
        output.as_json(answer)
    else:
        output.fields(_fields(answer, save))
    if not verified:
        raise typer.Exit(1)


def _call(
    function: Any, target: str, declared: tuple[str, str | None], keys: tuple[str, ...]
) -> OneCall:
    from presieve.backend.probe_dataframe import VALUE, OneCall
    from presieve.lift.entry.row_class import is_row_class
    from presieve.spark import group_fold
    from presieve.sql.ddl import parse_returns

    schema, returns = declared
    if is_row_class(function):
        aggregate = group_fold(function, returns)
        return OneCall(function, schema, returns, keys, aggregate)
    if returns is not None:
        parse_returns(returns if keys else f"{VALUE} {returns}", target)
    return OneCall(function, schema, returns, keys)


def _accepted_certificates(decision: CompileDecision | GroupDecision) -> Sequence[Any]:
    """The accepted certificates, or none."""
    if isinstance(decision.verified, tuple):
        return decision.verified
    return () if decision.verified is None else (decision.verified,)


def _answer(
    decision: CompileDecision | GroupDecision | Declined, keys: Sequence[str]
) -> dict[str, object]:
    verified = () if isinstance(decision, Declined) else _accepted_certificates(decision)
    if isinstance(decision, Declined) or not verified:
        why = decision if isinstance(decision, Declined) else decision.declined
        assert why is not None
        return {"compiled": False, "code": why.code, "declined": str(why)}
    return {
        "compiled": True,
        "function": decision.site.function,
        **_texts(decision, keys),
        "solver": verified[0].solver,
        "conditions": verified[0].seconds,
    }


def _texts(decision: CompileDecision | GroupDecision, keys: Sequence[str]) -> dict[str, object]:
    """The expression in SQL and in the DataFrame API, and the assumptions of its proof."""
    from presieve.driver.stages.row_expressions import CompileDecision

    if isinstance(decision, CompileDecision):
        text = decision.text
        type_ = decision.site.outputs[0].type
        return {"type": type_, "sql": text, "dataframe": f"F.expr({text!r})", "assumptions": []}
    assert decision.texts is not None
    below, above = decision.texts.aggregates, decision.columns
    passed = [k for k in keys if k not in above]
    grouping, aggregates = _references(keys), ", ".join(_in_python(below))
    columns = ", ".join(filter(None, (_references(passed), *_in_python(above))))
    return {
        "type": ", ".join(
            f"{a.name} {a.type}" for outputs in decision.site.outputs for a in outputs
        ),
        "sql": _in_sql((keys, below), (passed, above)),
        "dataframe": f"df.groupBy({grouping}).agg({aggregates}).select({columns})",
        "assumptions": [{"code": a.code, "text": a.text} for a in decision.assumed],
    }


_Columns: TypeAlias = "tuple[Sequence[str], Mapping[str, str]]"
"""The names of columns that are passed through, and the texts of computed ones."""


def _references(names: Sequence[str]) -> str:
    """Columns as arguments of the DataFrame API, which reads an unquoted dot as a field of a
    struct.
    """
    return ", ".join(repr(quote(name)) for name in names)


def _in_python(columns: Mapping[str, str]) -> Iterator[str]:
    return (f"F.expr({sql!r}).alias({name!r})" for name, sql in columns.items())


def _in_sql(below: _Columns, above: _Columns) -> str:
    inner, outer = (
        ", ".join((*map(quote, passed), *(f"{sql} AS {quote(n)}" for n, sql in computed.items())))
        for passed, computed in (below, above)
    )
    keys = ", ".join(map(quote, below[0]))
    return f"SELECT {outer} FROM (SELECT {inner} FROM rows GROUP BY {keys})"


def _fields(answer: dict[str, object], save: Path | None) -> Iterator[tuple[str, str]]:
    if not answer["compiled"]:
        yield "declined", str(answer["declined"])
        yield "more", more((str(answer["code"]),))
        return
    for name in ("function", "type", "sql", "dataframe"):
        yield name, str(answer[name])
    seconds, assumptions = answer["conditions"], answer["assumptions"]
    assert isinstance(seconds, dict)
    assert isinstance(assumptions, list)
    for assumption in assumptions:
        yield "assuming", f"{assumption['text']} [{assumption['code']}]"
    proved = ", ".join(f"{name} {taken:.3f} s" for name, taken in seconds.items())
    yield "proved", f"{proved} ({answer['solver']})"
    if save is not None:
        yield "certificate", str(save)
