# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The steps of a search, in order: small records from which reports make text.

Nothing rests on them. They hold terms and rows as the search has them, never times. They hold no
results of running rows; a report runs the rows itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from presieve.ir.fold import Assumption, Problem
from presieve.ir.pushdown import Pushdown
from presieve.ir.terms import Term
from presieve.semantics.fast_interpreter import State
from presieve.synthesis.residual.weakening import Judgement


class Group(Struct, frozen=True):
    """A table of one group of a problem."""

    problem: Problem
    key: State
    rows: tuple[State, ...]


class Searched(Struct, frozen=True):
    """A search begins. ``without`` are assumptions that it tries to do without; ``computed`` are
    columns of the problem that stand for a term computed from a row, each with that term.
    """

    problem: Problem
    without: tuple[Assumption, ...] = ()
    computed: tuple[tuple[Term, Term], ...] = ()


class Keys(Struct, frozen=True):
    """These conjuncts are over grouping columns alone and go below as they are."""

    conjuncts: tuple[Term, ...]


class CountsScaled(Struct, frozen=True):
    """From now on tables are of this problem, in which the filter does not count as far."""

    problem: Problem


class Needed(Struct, frozen=True):
    """A region of rows has to be kept: without the row at ``index`` the group gives another result;
    or, if ``raises``, it then raises an error that was not there before.
    """

    region: Term
    group: Group
    index: int
    raises: bool = False


class Explored(Struct, frozen=True):
    """Tables were run: how many accepted ones were kept, how many regions of rows there are, and
    the regions that some table cannot do without.
    """

    accepted: int
    regions: int
    needed: tuple[Needed, ...]


class Proposed(Struct, frozen=True):
    """A candidate: it drops the regions that no table needs, as far as is known."""

    prefilter: Term


By: TypeAlias = Literal["samples", "walks", "solver"]


class Refuted(Struct, frozen=True):
    """On this group the last candidate, with the filter itself above, gives another result."""

    prefilter: Term
    group: Group
    by: By


class PutBack(Struct, frozen=True):
    """The last candidate dropped these regions; the next one keeps them."""

    needed: tuple[Needed, ...]


class Mined(Struct, frozen=True):
    """Candidates for the invariant: ``clauses`` over ``leaves`` that hold on all ``pairs`` of
    states that ``tables`` went through in both runs. Not ``attempted``: too many for the solver.
    """

    tables: int
    pairs: int
    leaves: int
    clauses: int
    attempted: bool


Obligation: TypeAlias = Literal["sync", "stutter", "alone"]


class Round(Struct, frozen=True):
    """One round of Houdini: it started with this many clauses, and these were ``killed``.

    ``by`` a model of ``sync`` or ``stutter`` (a row that passes, or does not), or ``alone``: the
    joint question was too hard, and the question about each of these clauses by itself stayed open
    as well.
    """

    clauses: int
    killed: tuple[Term, ...]
    by: Obligation


class Settled(Struct, frozen=True):
    """The outcome of the rounds: these clauses are inductive, and ``final`` says whether they imply
    that both pipelines agree at the end. ``None``: they are the remaining clauses when nothing more
    could be decided.
    """

    clauses: tuple[Term, ...]
    final: bool | None


class Tried(Struct, frozen=True):
    """Something weaker replaced a part of the filter in the residual: ``standin``, or nothing at
    all (None).

    ``refuted``: ``residual`` (as a whole, stated for the group's problem) accepts ``group``, whose
    rows pass ``prefilter``, and the filter does not; ``unproved``: no such group is known, and no
    proof was found; ``taken``.
    """

    part: Term
    standin: Term | None
    prefilter: Term
    residual: Term
    judged: Judgement
    group: Group | None = None


class Stays(Struct, frozen=True):
    """A conjunct stays in the residual. The rows of ``group``, if one was found, pass the
    pre-filter: the filter rejects it, and the residual without the conjunct, ``rest``, does not.
    """

    conjunct: Term
    prefilter: Term
    rest: Term
    group: Group | None


class Minimised(Struct, frozen=True):
    """The proof rests on this part of the inductive clauses."""

    clauses: int
    invariant: tuple[Term, ...]


class BoxesTried(Struct, frozen=True):
    """The candidate could be neither proved nor refuted: this many boxes of dropped rows are tried
    one by one, and those proved are joined.
    """

    number: int


Reason: TypeAlias = Literal[
    "guards", "resists", "raised", "keys", "hidden", "computed", "regions", "nothing", "time"
]


class Weaker(Struct, frozen=True):
    """Why the answer is not shown to be optimal, or why there is none.

    ``guards``: some regions are kept only because tables raise without them; ``resists``: a
    stronger candidate was neither proved nor refuted; ``raised``: a witness of the scaled problem
    could not be made one of the problem; ``keys``: a witness is in a group that the filter rejects
    by its key; ``computed``: over computed columns; ``regions``: there are too many; ``nothing``:
    every region is needed; ``time``: the budget is used up.
    """

    reason: Reason


class Ended(Struct, frozen=True):
    """The end of one search, and its result."""

    problem: Problem
    pushdown: Pushdown | None


class Relaxed(Struct, frozen=True):
    """The outcome of doing without assumptions.

    ``rows``: rows that obey all of them would have to be kept; ``weaker``: the answer would be
    weaker; ``taken``.
    """

    without: tuple[Assumption, ...]
    outcome: Literal["rows", "weaker", "taken"]


class Checked(Struct, frozen=True):
    """The verdict of the independent checker on the last answer: ``refused`` is empty or says why.
    Also the pushdown that it ends with.
    """

    problem: Problem
    pushdown: Pushdown
    refused: str = ""


Event: TypeAlias = (
    Searched
    | Keys
    | CountsScaled
    | Explored
    | Proposed
    | Refuted
    | PutBack
    | Mined
    | Round
    | Settled
    | Tried
    | Stays
    | Minimised
    | BoxesTried
    | Weaker
    | Ended
    | Relaxed
    | Checked
)

EventLog: TypeAlias = list[Event]
Recorder: TypeAlias = Callable[[Event], None]


def discard(_: Event) -> None:
    """Discard an event. If ``record is discard``, nothing is computed for a trace alone."""


def recorder(event_log: EventLog | None) -> Recorder:
    """The function that adds to a log of events, or discards events if there is no log."""
    return discard if event_log is None else event_log.append
