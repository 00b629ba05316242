"""Filters below windows: what the checker accepts is right on random tables, wrong twins differ."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tests.support.amount import amount
from tests.support.windowed import By, Over, Row, frames

from presieve.certificate import stored
from presieve.certificate.checker import Rejected, SolverName, Verified, check
from presieve.certificate.windows import WindowCertificate, parse
from presieve.errors import PresieveError
from presieve.ir.ops import sql_conjunction
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import to_scope
from presieve.records import replace
from presieve.semantics.interpret import evaluate
from presieve.semantics.types import column
from presieve.semantics.windows import (
    CURRENT_ROW,
    Bound,
    Days,
    Distance,
    Microseconds,
    SortKey,
    Units,
    Window,
    WindowFrame,
    influence,
)
from presieve.sql.emit import emit
from presieve.sql.parse import parse_predicate
from presieve.synthesis.windows import clauses

TYPES = {"k": "int", "o": "int", "v": "double", "s": "string"}
COLUMNS = tuple(c for n, t in TYPES.items() if (c := column(n, t, True)) is not None)
VARS = {c.name: Var(Scope.ROW, c.name, c.sort) for c in COLUMNS}
VALUES = {
    "k": (0, 1, None),
    "o": (*range(8), None),
    "v": (0.0, -0.0, 1.0, 2.5, math.inf, -math.inf, math.nan, None),
    "s": ("", "a", "ab", "b", "é", None),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A window over these columns, and what its functions read."""

    by: tuple[By, ...]
    over: tuple[Over, ...]
    where: str
    below: str

    @property
    def window(self) -> Window:
        """As the checker knows it."""
        keys = tuple(SortKey(VARS[b.name], b.descending, b.nulls_first) for b in self.by)
        return Window((VARS["k"],), keys, tuple(_frame(o) for o in self.over))

    def certificate(self) -> WindowCertificate:
        """The claim that ``below`` may stand below."""
        where = to_scope(term(self.where), Scope.ROW, Scope.KEY)
        return WindowCertificate(COLUMNS, self.window, where, term(self.below))


def _frame(over: Over) -> WindowFrame:
    if not over.rows:
        return WindowFrame(_bound(over.lower), _bound(over.upper))
    before, after = over.lower is None or over.lower < 0, over.upper is None or over.upper > 0
    return WindowFrame(None if before else CURRENT_ROW, None if after else CURRENT_ROW)


def _bound(number: int | None) -> Bound:
    return Units(number) if number else None if number is None else CURRENT_ROW


def term(text: str) -> Term:
    """A condition over the columns."""
    found = parse_predicate(text, VARS, "UTC")
    assert isinstance(found, Term)
    return found


PRECEDING = Over(None, 0)
FOLLOWING = Over(0, None)
ROW_NUMBER = Over(None, 0, rows=True)
LAG = Over(-2, -1, rows=True)
LEAD = Over(1, 1, rows=True)

RIGHT = [
    Case((By("o"),), (ROW_NUMBER, LAG), "o <= 5", "o <= 5 OR o IS NULL"),
    Case((By("o", nulls_first=False),), (PRECEDING,), "o <= 5", "o <= 5"),
    Case((By("o"),), (PRECEDING,), "o < 3 OR o IS NULL", "o < 3 OR o IS NULL"),
    Case((By("o"),), (PRECEDING,), "o = 4", "o <= 4 OR o IS NULL"),
    Case((By("o", descending=True, nulls_first=False),), (PRECEDING,), "o > 2", "o > 2"),
    Case((By("v", descending=True, nulls_first=False),), (ROW_NUMBER,), "v > 1", "v > 1"),
    Case((By("v", nulls_first=False),), (PRECEDING,), "v <= 0", "v <= 0"),
    Case((By("v", nulls_first=False),), (FOLLOWING, LEAD), "v > 1", "v > 1 OR v IS NULL"),
    Case((By("s", nulls_first=False),), (PRECEDING,), "s < 'b'", "s < 'b'"),
    Case((By("o"),), (FOLLOWING, LEAD), "o >= 3 AND v > 1", "o >= 3"),
    Case((By("o"), By("v")), (PRECEDING,), "o <= 5", "o <= 5 OR o IS NULL"),
    Case(
        (By("o", nulls_first=False), By("v", nulls_first=False)),
        (ROW_NUMBER,),
        "o < 3 OR (o = 3 AND v <= 1)",
        "o < 3 OR (o = 3 AND v <= 1)",
    ),
    Case((By("o"),), (Over(-2, 0),), "o >= 3 AND o <= 5", "o >= 1 AND o <= 5"),
    Case((By("o"),), (Over(-1, 2),), "o = 4", "o >= 3 AND o <= 6"),
    Case((By("o", descending=True),), (Over(-2, 0),), "o BETWEEN 3 AND 5", "o BETWEEN 3 AND 7"),
    Case((By("o"),), (Over(-2, 0), Over(0, 1)), "o = 4", "o >= 2 AND o <= 5"),
    Case((By("o"),), (Over(None, 2),), "o <= 3", "o <= 5 OR o IS NULL"),
    Case((By("o"),), (Over(1, 3),), "o = 2", "o >= 2 AND o <= 5"),
    Case((By("o"),), (Over(None, None),), "k = 1 AND o < 3", "k = 1"),
]

WRONG = [
    Case((By("o"),), (ROW_NUMBER,), "o <= 5", "o <= 5"),
    Case((By("o"),), (PRECEDING,), "o >= 2", "o >= 2"),
    Case((By("o", nulls_first=False),), (LEAD,), "o <= 5", "o <= 5"),
    Case((By("o", nulls_first=False),), (LAG, LEAD), "o <= 5", "o <= 5"),
    Case((By("o", descending=True),), (PRECEDING,), "o > 2", "o > 2"),
    Case((By("v", nulls_first=False),), (PRECEDING,), "v > 1", "v > 1"),
    Case((By("o", nulls_first=False),), (ROW_NUMBER,), "o <= 5 AND v > 1", "o <= 5 AND v > 1"),
    Case((By("o"),), (Over(-2, 0),), "o >= 3 AND o <= 5", "o >= 2 AND o <= 5"),
    Case((By("o"),), (Over(-2, 0),), "o >= 3 AND o <= 5", "o >= 1 AND o < 5"),
    Case((By("o", descending=True),), (Over(-2, 0),), "o = 4", "o BETWEEN 2 AND 4"),
    Case((By("o"),), (Over(-2, 0), Over(0, 1)), "o = 4", "o >= 2 AND o <= 4"),
    Case((By("o"),), (Over(None, 2),), "o <= 3", "o <= 5"),
    Case((By("o"),), (Over(None, None),), "o < 3", "o < 3"),
    Case((By("o", nulls_first=False),), (PRECEDING,), "o <= 5", "k = 1"),
    Case((By("v", nulls_first=False), By("o")), (PRECEDING,), "v <= 0 AND o > 2", "o > 2"),
]


def table(seed: random.Random) -> list[Row]:
    """A small table, in which keys come several times."""
    names = list(TYPES)
    rows = range(seed.randrange(9))
    return [{"id": i, **{n: seed.choice(VALUES[n]) for n in names}} for i in rows]


def holds(condition: Term, row: Row) -> bool:
    return evaluate(condition, {(Scope.ROW, n): row[n] for n in TYPES}) is True


def kept(case: Case, rows: Sequence[Row]) -> list[tuple[int, tuple[tuple[int, ...], ...]]]:
    """What passes the filter above the window, with what its functions read."""
    where = term(case.where)
    found = frames(rows, ["k"], case.by, case.over)
    return sorted((row["id"], held) for row, held in found if holds(where, row))


def differs(case: Case, tables: int) -> bool:
    """Whether a filter below changes what passes the one above."""
    seed, below = random.Random(7), term(case.below)
    for _ in range(tables):
        rows = table(seed)
        if kept(case, rows) != kept(case, [r for r in rows if holds(below, r)]):
            return True
    return False


@pytest.mark.random
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_right_filters_are_accepted_and_change_nothing(solver: SolverName) -> None:
    for case in RIGHT:
        assert isinstance(check(case.certificate(), solver), Verified), case
        assert not differs(case, amount(1200)), case


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_wrong_twins_are_rejected_and_do_differ(case: Case) -> None:
    assert isinstance(check(case.certificate()), Rejected)
    assert differs(case, 3000)


@pytest.mark.random
def test_whatever_has_influence_is_said_to_have_it() -> None:
    seed = random.Random(11)
    for case in (*RIGHT, *WRONG):
        reaches = influence(case.window)
        for _ in range(amount(240)):
            rows = table(seed)
            by_id = {row["id"]: row for row in rows}
            for row, held in frames(rows, ["k"], case.by, case.over):
                for other in {i for ids in held for i in ids}:
                    env = {(Scope.KEY, n): row[n] for n in TYPES}
                    env |= {(Scope.ROW, n): by_id[other][n] for n in TYPES}
                    assert evaluate(reaches, env) is True, (case, row, by_id[other])


@pytest.mark.parametrize("case", [c for c in RIGHT if "k = 1" not in c.below], ids=str)
def test_the_search_is_as_strong(case: Case) -> None:
    """What is found is accepted, and keeps no row more than the filter that is known."""

    def accepted(clause: Term) -> bool:
        claim = replace(case.certificate(), prefilter=clause)
        return isinstance(check(claim), Verified)

    found = sql_conjunction(
        clauses(case.window, case.certificate().where, case.window.partition, accepted)
    )
    assert accepted(found)
    seed, below = random.Random(3), term(case.below)
    for _ in range(300):
        for row in table(seed):
            assert not holds(found, row) or holds(below, row), emit(found, "UTC")


def test_functions_that_raise_need_whole_frames() -> None:
    case = Case((By("o"),), (Over(-2, 0),), "o >= 3 AND o <= 5", "o >= 1 AND o <= 5")
    claim = replace(case.certificate(), window=replace(case.window, raises=True))
    found = check(claim)
    assert isinstance(found, Rejected)
    assert found.condition == "closed"
    closed = replace(claim, prefilter=term("o <= 5"))
    assert isinstance(check(closed), Verified)


def test_bounds_that_wrap_around_have_influence_on_all() -> None:
    case = Case((By("o"),), (Over(-2, 0),), "o >= 3 AND o <= 5", "o >= 1 AND o <= 5")
    limits = (-(2**31), 2**31 - 1)
    window = replace(case.window, limits=limits, wraps=True)
    claim = replace(case.certificate(), window=window)
    assert isinstance(check(claim), Rejected)
    near = replace(claim, prefilter=term("(o >= 1 OR o < -2147483646) AND o <= 5"))
    assert isinstance(check(near), Verified)


def test_an_upper_bound_that_leaps_over_all_rows() -> None:
    """It wraps around to the far end, so that rows there, or all, are in the frames of others."""
    wraps = {"limits": (-(2**31), 2**31 - 1), "wraps": True}
    ends = "(o < -2147483600 OR o > 2147483600 OR o IS NULL"
    for over, where, right, wrong in (
        (Over(-9, -5), "o = 50", f"{ends} OR o BETWEEN 41 AND 50)", "o <= 50 OR o IS NULL"),
        (Over(None, -5), "o <= 50", "k = k OR k IS NULL", "o <= 50 OR o IS NULL"),
    ):
        case = Case((By("o"),), (over,), where, wrong)
        claim = case.certificate()
        assert isinstance(check(claim), Verified)
        claim = replace(claim, window=replace(case.window, **wraps))
        assert isinstance(check(claim), Rejected)
        assert isinstance(check(replace(claim, prefilter=term(right))), Verified)


def test_it_is_read_back() -> None:
    for case in RIGHT:
        claim = case.certificate()
        data = json.loads(claim.text())
        assert parse(data) == claim
        assert stored.parse(data) == claim
        assert isinstance(stored.check_claim(claim, "z3"), Verified)


KEYS = {
    t: Var(Scope.ROW, "x", found.sort)
    for t in ("int", "bigint", "date", "timestamp", "timestamp_ntz", "string", "double", "boolean")
    if (found := column("x", t, True)) is not None
}
RIGHT_KIND: dict[str, type[Distance]] = {
    "int": Units,
    "bigint": Units,
    "date": Days,
    "timestamp": Microseconds,
    "timestamp_ntz": Microseconds,
}


@pytest.mark.parametrize("kind", [Units, Days, Microseconds])
@pytest.mark.parametrize("type_", KEYS)
def test_a_frame_counts_what_its_key_counts(type_: str, kind: type[Distance]) -> None:
    """No window has a frame of days over timestamps, or of microseconds over dates."""
    key = SortKey(KEYS[type_])
    for frame in (
        WindowFrame(kind(-1), CURRENT_ROW),
        WindowFrame(None, kind(1)),
        WindowFrame(kind(-2), kind(-1)),
    ):
        if RIGHT_KIND.get(type_) is kind:
            influence(Window((), (key,), (frame,)))
            continue
        with pytest.raises(PresieveError, match=f"a frame counts {kind.__name__.lower()}"):
            Window((), (key,), (frame,))


def test_a_frame_with_a_distance_has_one_key() -> None:
    frame = WindowFrame(Units(-1), CURRENT_ROW)
    for order in ((), (SortKey(VARS["o"]), SortKey(VARS["v"]))):
        with pytest.raises(PresieveError):
            Window((), order, (frame,))
    with pytest.raises(PresieveError, match="days and units"):
        Window((), (SortKey(VARS["o"]),), (WindowFrame(Days(-1), Units(1)),))


def of_days(frame: WindowFrame, where: str, below: str) -> WindowCertificate:
    """A claim about a window over dates."""
    columns = tuple(c for t in ("date",) if (c := column("x", t, True)) is not None)
    names = {"x": KEYS["date"]}
    terms = [parse_predicate(text, names, "UTC") for text in (where, below)]
    above, under = (t for t in terms if isinstance(t, Term))
    window = Window((), (SortKey(KEYS["date"]),), (frame,))
    return WindowCertificate(columns, window, to_scope(above, Scope.ROW, Scope.KEY), under)


def test_days_of_dates() -> None:
    where = "x BETWEEN DATE'2024-01-20' AND DATE'2024-01-22'"
    frame = WindowFrame(Days(-10), CURRENT_ROW)
    for first, accepted in (("10", True), ("09", True), ("11", False), ("20", False)):
        below = f"x >= DATE'2024-01-{first}' AND x <= DATE'2024-01-22'"
        claim = of_days(frame, where, below)
        for solver in ("z3", "cvc5"):
            found = check(claim, solver)
            assert isinstance(found, Verified) is accepted, first
        assert stored.parse(json.loads(claim.text())) == claim


def test_frames_as_they_were_stored_before() -> None:
    """A number by itself counts what the key counts."""
    claim = of_days(WindowFrame(Days(-10), CURRENT_ROW), "x > DATE'2024-01-20'", "x IS NOT NULL")
    data = claim.to_json()
    assert data["frames"] == [[[-10, "days"], 0]]
    assert stored.parse({**data, "frames": [[-10, 0]]}) == claim
    for name in ("microseconds", "units", "weeks"):
        with pytest.raises(PresieveError):
            stored.parse({**data, "frames": [[[-10, name], 0]]})
    old = RIGHT[12].certificate()
    assert stored.parse({**old.to_json(), "frames": [[-2, 0]]}) == old


TAMPERED = [
    {"prefilter": '(sql< row:"x":Option(Int) 3)'},
    {"where": '(sql< row:"o":Option(Int) 3)'},
    {"frames": []},
    {"frames": [[-1, "x"]]},
    {"order": [], "frames": [[-1, 0]]},
    {"wraps": True, "frames": [[-1, 0]]},
]


@pytest.mark.parametrize("change", TAMPERED, ids=str)
def test_what_is_no_claim_is_not_accepted(change: dict[str, object]) -> None:
    data = {**RIGHT[1].certificate().to_json(), **change}
    try:
        claim = stored.parse(data)
    except PresieveError:
        return
    assert isinstance(stored.check_claim(claim, "z3"), Rejected)
