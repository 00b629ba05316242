# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Turns the records of a search into the steps of a trace, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

from presieve.ir.fold import Assumption, Mode, Problem
from presieve.ir.pushdown import Pushdown, residual_strength
from presieve.ir.terms import SQL_TRUE, Scope, Term
from presieve.report import sentences
from presieve.report.small_tables import value_text
from presieve.report.trace import Exhibit, Step, TableRun, Trace
from presieve.semantics.fast_interpreter import State
from presieve.semantics.infix import words as infix
from presieve.semantics.interpret import Raised, holds, keep, key_env, run_fold
from presieve.semantics.values import to_python
from presieve.sql.emit import emit
from presieve.sql.quoted_names import InexpressibleError
from presieve.synthesis import events
from presieve.synthesis.events import Event, Group, Needed

TIMEZONE = "UTC"

Description: TypeAlias = tuple[str, tuple[str, ...], tuple[Exhibit, ...]]
"""What a step did, further lines, and the tables that show it."""

REFUTED_BY: dict[events.By, str] = {
    "samples": "one of the tables run so far",
    "walks": "a random walk",
    "solver": "the solver",
}
KILLED_BY: dict[events.Obligation, str] = {
    "sync": "by a row that passes (Sync)",
    "stutter": "by a row that is dropped (Stutter)",
    "alone": "because they stay undecided, asked one by one",
}
WEAKER: dict[events.Reason, str] = {
    "guards": "some regions stay only because a table would raise an error without their rows",
    "resists": "a stronger pre-filter was neither proved nor refuted",
    "raised": "a table with smaller counts could not be scaled to the counts in the filter",
    "keys": "a table that needs a region belongs to a group whose key the filter rejects",
    "hidden": "the values of a function that is declared pure are not known",
    "computed": "regions of computed columns have no tables over the input columns",
    "regions": "there are too many regions of rows",
    "nothing": "every region of rows is needed",
    "time": "the budget is used up",
}


def trace(events: Iterable[Event]) -> Trace:
    """Turn events into numbered steps."""
    steps = _Steps()
    return Trace(tuple(step for event in events for step in steps.steps(event)))


def _describe_exploration(event: events.Explored) -> Description:
    needed = event.needed
    text = (
        f"{number_of(event.accepted, 'table')} that the filter accepts, and others close to them; "
    )
    text += f"{number_of(event.regions, 'region')} of rows, {len(needed)} of them needed"
    return text, (), tuple(map(_exhibit_region, needed))


class _Steps:
    """Describes events one after the other, and remembers the numbers."""

    def __init__(self) -> None:
        self.search = self.step = self.candidate = self.round = 0
        self.problem: Problem | None = None

    def steps(self, event: Event) -> Iterator[Step]:
        """The step of one event."""
        if isinstance(event, events.Searched | events.Checked | events.Relaxed):
            self.search, self.step = self.search + 1, 0
        else:
            self.step += 1
        number = f"{self.search}.{self.step}" if self.step else f"{self.search}"
        text, details, exhibits = self._step(event)
        name = type(event).__name__.lower()
        yield Step(number, _NAMES.get(name, name), text, details, exhibits)

    @property
    def name(self) -> str:
        """The name of the last candidate."""
        return f"P{self.candidate}"

    def _step(self, event: Event) -> Description:
        match event:
            case events.Searched(problem, without, computed):
                self.problem = problem
                return _describe_search(problem, without, computed)
            case events.Keys(conjuncts):
                text = "over grouping columns alone, so they are pushed as they are"
                return text, tuple(map(sql, conjuncts)), ()
            case events.CountsScaled(problem):
                return self._describe_scaling(problem)
            case events.Explored():
                return _describe_exploration(event)
            case events.Proposed(prefilter):
                self.candidate += 1
                return f"{self.name} {sql(prefilter)}", (), ()
            case events.Refuted(prefilter, group, by):
                text = f"{self.name} changes the result of a table, found by {REFUTED_BY[by]}"
                return text, (), (_exhibit_refutation(prefilter, group),)
            case events.PutBack(needed):
                text = f"{number_of(len(needed), 'region')} of rows must stay"
                return text, (), tuple(map(_exhibit_region, needed))
            case events.Mined():
                return self._describe_clauses(event)
            case events.Round(clauses, killed, by):
                self.round += 1
                text = f"{self.round}: of {clauses} clauses {len(killed)} fall {KILLED_BY[by]}"
                return text, _first_few(killed), ()
            case events.Settled(clauses, final):
                return self._describe_proof(len(clauses), final), (), ()
            case events.Tried():
                return _describe_trial(event)
            case events.Stays():
                return _describe_conjunct(event)
            case events.Minimised(clauses, invariant):
                text = f"of {clauses} clauses the proof rests on {len(invariant)}"
                return text, tuple(map(infix, invariant)), ()
            case events.BoxesTried(number):
                text = f"{self.name} is undecided; it drops {number} boxes, tried one by one"
                return text, (), ()
            case events.Weaker(reason):
                return WEAKER[reason], (), ()
            case events.Ended(_, pushdown):
                return _describe_end(pushdown)
            case events.Relaxed(without, outcome):
                return _describe_relaxation(without, outcome), (), ()
            case events.Checked(_, pushdown, refused):
                verdict = f"refused ({refused})" if refused else "accepted"
                return f"{verdict}: {pushdown.kind}", _predicates(pushdown), ()
        assert_never(event)

    def _describe_scaling(self, problem: Problem) -> Description:
        if problem == self.problem:
            return "tables are of the original problem again", (), ()
        text = "the filter has large counts, so tables are of a problem with smaller ones"
        return text, (f"filter {sql(problem.where)}",), ()

    def _describe_clauses(self, event: events.Mined) -> Description:
        self.round = 0
        text = (
            f"for {self.name}: {event.clauses} clauses over {number_of(event.leaves, 'leaf')} hold "
        )
        text += f"on all {event.pairs} pairs of states of {number_of(event.tables, 'table')}"
        return text + ("" if event.attempted else ", too many to ask the solver"), (), ()

    def _describe_proof(self, clauses: int, final: bool | None) -> str:
        if final is None:
            return f"no clauses are inductive for {self.name}, or rows that pass may raise"
        proof = f"{clauses} clauses are inductive"
        if final:
            return f"{proof} and imply that {self.name}, with the filter above, changes no result"
        return f"{proof} but do not imply that {self.name} changes no result"


_NAMES = {
    "searched": "search",
    "proposed": "pre-filter",
    "putback": "put back",
    "countsscaled": "lowered",
    "mined": "invariant",
    "settled": "proof",
    "tried": "residual",
    "stays": "conjunct",
    "boxestried": "boxes",
    "weaker": "because",
    "ended": "found",
    "checked": "checker",
}


def _describe_search(
    problem: Problem, without: tuple[Assumption, ...], computed: tuple[tuple[Term, Term], ...]
) -> Description:
    grouped = problem.mode is Mode.GROUPED
    text = f"{problem.fold.name}, {'by group' if grouped else 'one group of all rows'}"
    details = [f"filter {sql(problem.where)}"]
    details += [f"with {sql(v)} for {sql(meaning)}" for v, meaning in computed]
    details += [f"without assuming that {a.text}" for a in without]
    details += [f"assuming that {a.text}" for a in problem.assumptions]
    return text, tuple(details), ()


def _describe_trial(event: events.Tried) -> Description:
    instead = "nothing" if event.standin is None else sql(event.standin)
    text = f"{instead} for {sql(event.part)}: {event.judged}"
    if event.group is None:
        return text, (), ()
    run = ran("rows that pass", event.group, event.group.rows, event.residual)
    exhibit = Exhibit(f"the filter rejects what residual {sql(event.residual)} keeps", (run,))
    return text, (), (exhibit,)


def _describe_conjunct(event: events.Stays) -> Description:
    text = f"{sql(event.conjunct)} stays"
    if event.group is None:
        return f"{text}; no group shows that it is needed", (), ()
    run = ran("rows that pass", event.group, event.group.rows, event.rest)
    why = f"the filter rejects what would be kept without it{_group_text(event.group)}"
    return text, (), (Exhibit(why, (run,)),)


def _describe_end(pushdown: Pushdown | None) -> Description:
    if pushdown is None:
        return f"none. {sentences.KINDS['none']}", (), ()
    text = f"{pushdown.kind}. {sentences.KINDS[pushdown.kind]}"
    strength = f"strength {sentences.strength(pushdown.strength)}"
    needed = residual_strength(pushdown.kind, pushdown.residual, pushdown.residual_witnesses)
    residual = f"in the residual {sentences.RESIDUAL_STRENGTHS[needed]}"
    return text, (*_predicates(pushdown), strength, residual), ()


def _predicates(pushdown: Pushdown) -> tuple[str, ...]:
    return f"pre-filter {sql(pushdown.prefilter)}", f"residual {sql(pushdown.residual)}"


def _describe_relaxation(without: tuple[Assumption, ...], outcome: str) -> str:
    outcomes = {
        "rows": "rows that satisfy it would have to stay, so it is kept",
        "weaker": "the answer would be weaker, so it is kept",
        "taken": "the answer is no weaker, so it is dropped",
    }
    return f"without assuming that {' or '.join(a.text for a in without)}: {outcomes[outcome]}"


# --- tables ---------------------------------------------------------------------------------------


def _exhibit_region(needed: Needed) -> Exhibit:
    """Show that a region is needed: a table with and without the row."""
    group, at = needed.group, needed.index
    without = group.rows[:at] + group.rows[at + 1 :]
    why = "else a table raises" if needed.raises else "its rows change a result"
    runs = (ran("with", group, group.rows), ran("without", group, without))
    region = "any row" if needed.region == SQL_TRUE else sql(needed.region)
    return Exhibit(f"{region}: {why}{_group_text(group)}", runs)


def _exhibit_refutation(prefilter: Term, group: Group) -> Exhibit:
    """Show a refutation: the whole table, and the rows that the candidate keeps."""
    fold = group.problem.fold
    names = [c.name for c in fold.columns]
    rows = [dict(zip(names, row, strict=True)) for row in group.rows]
    passed = keep(prefilter, rows, dict(zip((c.name for c in fold.keys), group.key, strict=True)))
    kept_rows = tuple(tuple(row[n] for n in names) for row in passed)
    runs = (ran("all rows", group, group.rows), ran("rows that pass", group, kept_rows))
    return Exhibit(f"two results{_group_text(group)}", runs)


def _group_text(group: Group) -> str:
    keys = (
        f"{c.name} {value_text(to_python(v, c.sort))}"
        for c, v in zip(group.problem.fold.keys, group.key, strict=True)
    )
    text = ", ".join(keys)
    return f" (in the group {text})" if text else ""


def ran(label: str, group: Group, rows: tuple[State, ...], post: Term | None = None) -> TableRun:
    """Run rows through the problem's fold, and then through the filter (or ``post``)."""
    problem, fold = group.problem, group.problem.fold
    table = [
        {c.name: to_python(v, c.sort) for c, v in zip(fold.columns, row, strict=True)}
        for row in rows
    ]
    if not rows and problem.mode is Mode.GROUPED:
        return TableRun(label, table, None, "no group")
    values = [{c.name: v for c, v in zip(fold.columns, row, strict=True)} for row in rows]
    keys = {c.name: v for c, v in zip(fold.keys, group.key, strict=True)}
    outputs = run_fold(fold, values, keys)
    if isinstance(outputs, Raised):
        return TableRun(label, table, None, "raises")
    named = list(zip(fold.outputs, outputs, strict=True))
    env = {**key_env(keys), **{(Scope.OUT, o.name): v for o, v in named}}
    result = "kept" if holds(problem.where if post is None else post, env) else "filtered out"
    return TableRun(label, table, {o.name: to_python(v, o.sort) for o, v in named}, result)


# --- words ----------------------------------------------------------------------------------------


def sql(term: Term) -> str:
    """A predicate as Spark SQL, or in infix notation if Spark SQL cannot express it."""
    try:
        return emit(term, TIMEZONE)
    except InexpressibleError:
        return infix(term)


def number_of(number: int, what: str) -> str:
    """A number with its noun, such as ``2 tables``."""
    plural = {"leaf": "leaves"}.get(what, f"{what}s")
    return f"{number} {what if number == 1 else plural}"


_LISTED = 3


def _first_few(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The texts of the first few terms, and how many more there are."""
    listed = tuple(map(infix, terms[:_LISTED]))
    return (*listed, f"and {len(terms) - _LISTED} more") if len(terms) > _LISTED else listed
