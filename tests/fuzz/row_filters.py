"""Random functions of single rows and filters on their results: what is lifted, and what is found
for the parameters, against CPython on rows, with both of Spark's ways to take a result.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.fuzz.compiled import VALUES
from tests.fuzz.rows import COLUMNS, HEAD, RAISES, RowFunction, make, result_of

from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.driver.synthesize import synthesize
from presieve.errors import Declined
from presieve.ir.terms import App, Op, Scope, Term
from presieve.ir.walk import subterms
from presieve.semantics.interpret import evaluate, holds
from presieve.semantics.types import row_sort_of
from presieve.semantics.values import from_python, same

TRIES = 60
_CONSTANTS = {
    **dict.fromkeys(("bigint", "int", "smallint"), ("0", "1", "7", "100", "-5", "2000")),
    "double": ("0.0D", "1.0D", "2.5D", "-1.5D", "100.0D"),
    "string": ("''", "'a'", "'ab'", "'b'", "' '", "'A'", "'012'", "'2024-02-29'", "'x1'"),
}
_UNKNOWN = (Op.ELEMENTS, Op.LOCAL_TIME)
"""Functions of which only bounds are known."""


class _Udf:
    """A scalar UDF as pyspark holds it, of this evaluation type."""

    deterministic = True

    def __init__(self, func: Callable[..., Any], *, arrow: bool) -> None:
        self.func, self.evalType = func, 101 if arrow else 100


@dataclass
class Tally:
    """What came of the functions. ``wrong`` says for each fault what it is."""

    functions: int = 0
    lifted: int = 0
    filters: int = 0
    gained: int = 0
    dropped: int = 0
    wrong: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For people."""
        return (
            f"{self.functions} functions, {self.lifted} lifted in part at least, {self.filters} "
            f"filters, {self.gained} with a pre-filter, {self.dropped} rows dropped, "
            f"{len(self.wrong)} wrong"
        )


def trial(number: int, seed: int, tally: Tally) -> None:
    """One function with a few filters on its result."""
    random = Random(f"rows {seed} {number}")
    made = make(random, "f")
    arrow = number % 2 == 1
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(HEAD + made.source, _register(made, number), "exec"), scope)
    udf = _Udf(scope["f"], arrow=arrow)
    schema = ", ".join(f"{a} {COLUMNS[a]}" for a in made.arguments)
    inputs = read_inputs(udf, schema, f"r {made.returns}", (), "row", partly=True)
    tally.functions += 1
    if isinstance(inputs, Declined):
        return
    tally.lifted += 1
    rows = [[random.choice(VALUES[a]) for a in made.arguments] for _ in range(TRIES)]
    results = [result_of(scope["f"], row, made.returns, arrow=arrow) for row in rows]
    _check_meaning(made, inputs, rows, results, tally)
    for _ in range(2):
        _check_filter(made, udf, _filter(random, made.returns), rows, results, tally)


def _register(made: RowFunction, number: int) -> str:
    """Make the source known under a file name, where the lifter looks for it."""
    import linecache

    name = f"<row function {number}>"
    source = HEAD + made.source
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return name


def _env(made: RowFunction, row: list[Any]) -> dict[tuple[Scope, str], Any]:
    values = {}
    for name, value in zip(made.arguments, row, strict=True):
        sort = row_sort_of(COLUMNS[name])
        assert sort is not None
        values[Scope.KEY, name] = None if value is None else from_python(value, sort)
    return values


def _is_exact(*terms: Term) -> bool:
    nodes = (n for t in terms for n in subterms(t) if isinstance(n, App))
    return all(n.op not in _UNKNOWN for n in nodes)


def _check_meaning(
    made: RowFunction, inputs: Inputs, rows: list[list[Any]], results: list[Any], tally: Tally
) -> None:
    """Where a result is known, it is CPython's."""
    output, raises = inputs.fold.outputs[0], inputs.fold.finish_raises
    known = inputs.lifted.known
    if not _is_exact(output.term, raises, known):
        return
    for row, result in zip(rows, results, strict=True):
        env = _env(made, row)
        if evaluate(raises, env):
            if result is not RAISES:
                tally.wrong.append(f"does not raise, but {result!r}: {row}\n{made.source}")
                return
            continue
        if not evaluate(known, env):
            continue
        meant = evaluate(output.term, env)
        stored: Any = (
            result if result is RAISES or result is None else from_python(result, output.sort)
        )
        if stored is RAISES or not same(stored, meant):
            tally.wrong.append(f"{result!r} is read as {meant!r}: {row}\n{made.source}")
            return


def _filter(random: Random, type_: str) -> str:
    if type_ == "boolean":
        return random.choice(("r", "NOT r", "r IS NULL"))
    if random.random() < 0.12:
        return random.choice(("r IS NULL", "r IS NOT NULL"))
    if type_ == "string" and random.random() < 0.4:
        return _text_test(random)
    sign = random.choice(("=", "=", "=", ">", ">=", "<", "<=", "<>"))
    return f"r {sign} {random.choice(_CONSTANTS[type_])}"


def _text_test(random: Random) -> str:
    """A test of what a text begins with, ends with or contains."""
    part = random.choice(("a", "ab", "A", "aB", "1", " ", "é", "2024"))
    other = random.choice(("a", "b", "B"))
    tests = (
        *(
            f"r LIKE '{part}%'",
            f"r LIKE '%{part}'",
            f"r LIKE '%{part}%'",
            f"r LIKE '{part}%{other}'",
        ),
        *(f"startswith(r, '{part}')", f"endswith(r, '{part}')", f"contains(r, '{part}')"),
        *(f"r NOT LIKE '%{part}%'", f"left(r, {len(part)}) = '{part}'"),
    )
    return random.choice(tests)


def _check_filter(
    made: RowFunction,
    udf: _Udf,
    where: str,
    rows: list[list[Any]],
    results: list[Any],
    tally: Tally,
) -> None:
    """Rows that the pre-filter drops would not have passed; the residual accepts the others."""
    schema = ", ".join(f"{a} {COLUMNS[a]}" for a in made.arguments)
    found = synthesize(udf, where, schema=schema, returns=f"r {made.returns}", mode="row")
    tally.filters += 1
    if found.prefilter == "true":
        return
    tally.gained += 1
    inputs = read_inputs(udf, schema, f"r {made.returns}", (), "row", partly=True)
    assert isinstance(inputs, Inputs)
    names = inputs.output_names()
    wanted, above = (read_filter("where", t, names) for t in (where, found.residual))
    below = read_filter("prefilter", found.prefilter, inputs.input_names())
    assert not isinstance(wanted, Declined)
    assert not isinstance(above, Declined)
    assert not isinstance(below, Declined), str(below)
    sort = inputs.fold.outputs[0].sort
    for row, result in zip(rows, results, strict=True):
        stays = holds(below, _env(made, row))
        tally.dropped += not stays
        if result is RAISES:
            continue
        out = {(Scope.OUT, "r"): None if result is None else from_python(result, sort)}
        if holds(wanted, out) != (stays and holds(above, out)):
            what = f"{where}: {found.prefilter} and {found.residual} for {row}, {result!r}"
            tally.wrong.append(f"{what}\n{made.source}")
            return


def run(functions: int, seed: int, seconds: float, start: int) -> int:
    """Exit code 0 where nothing was wrong, else 1."""
    began, tally = time.monotonic(), Tally()
    for number in range(start, start + functions):
        if time.monotonic() - began > seconds:
            break
        seen = len(tally.wrong)
        trial(number, seed, tally)
        for what in tally.wrong[seen:]:
            print(f"{number}: {what}\n", file=sys.stderr, flush=True)
        if number % 200 == 199:
            print(tally.text(), file=sys.stderr, flush=True)
    print(tally.text())
    return 1 if tally.wrong else 0
