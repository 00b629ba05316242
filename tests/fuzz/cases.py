"""Case files: a pair that once went wrong, with the table that showed it, to be replayed for ever.

A file is JSON: the program, the filter, the pushdown that was believed, and rows of one group as
values of the IR (floats as ``{"float": hex}``, so that every bit is kept).
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.fuzz.execute import Row, Runner
from tests.fuzz.loading import Loaded
from tests.fuzz.pairs import Memory
from tests.fuzz.programs import Program
from tests.fuzz.settings import PLAIN, Setting
from tests.fuzz.trial import Failure, Trial, shown

from presieve.driver.fold_inputs import read_filter, read_inputs
from presieve.driver.verify import verify
from presieve.errors import Declined
from presieve.semantics.values import Value

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """What a case file holds."""

    what: str
    program: Program
    where: str
    prefilter: str
    residual: str
    rows: tuple[Row, ...]
    told: str = ""
    setting: Setting = PLAIN


def of_failure(failure: Failure) -> Case:
    """The case that a failure leaves behind."""
    told = failure.told.strip().splitlines()[-1] if failure.told else ""
    return Case(
        failure.what,
        failure.program,
        failure.where,
        failure.prefilter,
        failure.residual,
        failure.rows,
        told,
        failure.setting,
    )


def save(case: Case, folder: Path = FOLDER) -> Path:
    """Write a case; its name is what went wrong and a digest of the pair."""
    p = case.program
    data = {
        "what": case.what,
        "told": case.told,
        "form": p.form,
        "source": p.source.splitlines(),
        "schema": p.schema,
        "keys": p.keys,
        "returns": p.returns,
        "mode": p.mode,
        "module": p.module,
        "patch": p.patch,
        "policy": case.setting.policy,
        "declare": list(case.setting.declare),
        "where": case.where,
        "prefilter": case.prefilter,
        "residual": case.residual,
        "rows": [{n: _json(v) for n, v in r.items()} for r in case.rows],
    }
    text = json.dumps(data, indent=1, ensure_ascii=True) + "\n"
    digest = sha256((p.source + case.where).encode()).hexdigest()[:8]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.what.replace(' ', '_')}_{digest}.json"
    path.write_text(text)
    return path


def load(path: Path) -> Case:
    """Read a case."""
    data: dict[str, Any] = json.loads(path.read_text())
    program = Program(
        data["form"],
        "\n".join(data["source"]) + "\n",
        data["schema"],
        data["keys"],
        data["returns"],
        data["mode"],
        module=data.get("module", False),
        patch=data.get("patch", ""),
    )
    rows = tuple({n: _value(v) for n, v in r.items()} for r in data["rows"])
    return Case(
        data["what"],
        program,
        data["where"],
        data["prefilter"],
        data["residual"],
        rows,
        data["told"],
        Setting(data.get("policy", "default"), tuple(data.get("declare", ()))),
    )


def _json(value: Value) -> object:
    return {"float": value.hex()} if isinstance(value, float) else value


def _value(data: Any) -> Value:
    return float.fromhex(data["float"]) if isinstance(data, dict) else data


def replay(case: Case, budget: float = 10.0) -> str | None:
    """What is still wrong with a case; None where nothing is."""
    load = Loaded(case.program, "case")
    with load as loaded, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = case.program
        inputs = read_inputs(loaded, p.schema, p.returns, p.keys, p.mode)
        if isinstance(inputs, Declined):
            return None
        runner = Runner(p, load.worker, inputs)
        failure = _solved_again(runner, case, budget)
        if failure is None and case.rows and case.prefilter != "true":
            failure = _believed(runner, case, budget)
    return None if failure is None else f"{failure.what}: {failure.told}"


def _solved_again(runner: Runner, case: Case, budget: float) -> Failure | None:
    """The pair solved anew, on the table of the case."""
    term = read_filter("where", case.where, runner.inputs.output_names())
    if isinstance(term, Declined):
        return None
    problem, discharged = case.setting.problem(runner.inputs, term)
    solution, _ = Memory().solve(problem, budget, case.setting.policy, discharged)
    texts = shown(runner.inputs, solution, case.where)
    if texts is None:
        return None
    trial = Trial.of(runner, solution, case.where, texts, case.setting)
    return trial.check_table(case.rows)


def _believed(runner: Runner, case: Case, budget: float) -> Failure | None:
    """The pushdown that was believed then: if it differs on the table, no proof may be found."""
    term = read_filter("where", case.where, runner.inputs.output_names())
    assert not isinstance(term, Declined)
    problem, _ = case.setting.problem(runner.inputs, term)
    nothing = (runner, problem, case.where, "true", case.where, term, term, case.setting)
    trial = Trial(*nothing).with_pushdown(case.prefilter, case.residual or case.where)
    failure = trial.check_table(case.rows)
    if failure is None:
        return None
    p = case.program
    verdict = verify(
        runner.loaded,
        case.where,
        schema=p.schema,
        prefilter=trial.prefilter_sql,
        residual=trial.residual_sql,
        returns=p.returns,
        keys=p.keys,
        mode=p.mode,
        budget=budget,
        policy=case.setting.policy,
        declare=case.setting.declare,
    )
    return failure if verdict.status == "proved" else None
