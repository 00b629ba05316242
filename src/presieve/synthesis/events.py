"""Untrusted. What a search did, in order: small records, of which reports make text.

Nothing rests on them. They hold terms and rows as the search has them, never times, and a result
of running rows is left to whoever tells of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from presieve.ir.fold import Assumption, Problem
from presieve.ir.pushdown import Pushdown
from presieve.ir.terms import Term
from presieve.semantics.compile import State
from presieve.synthesis.residual.weakening import Judgement


@dataclass(frozen=True, slots=True)
class Group:
    """A table of one group of a problem."""

    problem: Problem
    key: State
    rows: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """A search begins. ``without`` are assumptions that it tries to do without; ``computed`` are
    columns of the problem that stand for something computed from a row, each with what.
    """

    problem: Problem
    without: tuple[Assumption, ...] = ()
    computed: tuple[tuple[Term, Term], ...] = ()


@dataclass(frozen=True, slots=True)
class Keys:
    """These conjuncts are over grouping columns alone and go below as they are."""

    conjuncts: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class CountsScaled:
    """Tables are of this problem from now on, in which the filter does not count as far."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class Needed:
    """A region of rows has to be kept: without the row at ``index`` the group gives another result;
    or, where it ``raises``, it raises then, which would be an error that was not there.
    """

    region: Term
    group: Group
    index: int
    raises: bool = False


@dataclass(frozen=True, slots=True)
class Explored:
    """Tables were run: how many that the filter accepts were kept, how many regions of rows there
    are, and those that some table cannot do without.
    """

    accepted: int
    regions: int
    needed: tuple[Needed, ...]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A candidate: it drops the regions of which no table needs a row, as far as is known."""

    prefilter: Term


By: TypeAlias = Literal["samples", "walks", "solver"]


@dataclass(frozen=True, slots=True)
class Refuted:
    """On this group the last candidate, with the filter itself above, gives another result."""

    prefilter: Term
    group: Group
    by: By


@dataclass(frozen=True, slots=True)
class PutBack:
    """The last candidate dropped these regions; the next one keeps them."""

    needed: tuple[Needed, ...]


@dataclass(frozen=True, slots=True)
class Mined:
    """Candidates for the invariant: ``clauses`` over ``leaves`` that hold on all ``pairs`` of
    states that ``tables`` went through in both runs. Not ``asked``: too many for the solver.
    """

    tables: int
    pairs: int
    leaves: int
    clauses: int
    attempted: bool


Obligation: TypeAlias = Literal["sync", "stutter", "alone"]


@dataclass(frozen=True, slots=True)
class Round:
    """One round of Houdini: of so many clauses these were ``killed``.

    By a model of ``sync`` or ``stutter`` (a row that passes, or does not), or ``alone``: the
    joint question was too hard, and of these clauses by themselves it stayed open as well.
    """

    clauses: int
    killed: tuple[Term, ...]
    by: Obligation


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of the rounds: these clauses are inductive, and they imply, or not, that both
    pipelines agree at the end. ``None``: they are what was left when no more could be said.
    """

    clauses: tuple[Term, ...]
    final: bool | None


@dataclass(frozen=True, slots=True)
class Tried:
    """Something weaker was put in the place of a part of the filter in the residual: ``standin``,
    or nothing at all (None).

    ``refuted``: ``group``, of rows that pass ``prefilter``, is accepted by ``residual`` (the whole
    of it, said of the group's problem) and not by the filter; ``unproved``: no such group is known,
    and no proof was found; ``taken``.
    """

    part: Term
    standin: Term | None
    prefilter: Term
    residual: Term
    judged: Judgement
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class Stays:
    """A conjunct stays in the residual. ``group``, if one was found, is of rows that pass the
    pre-filter: the filter rejects it, and the residual without the conjunct, ``rest``, does not.
    """

    conjunct: Term
    prefilter: Term
    rest: Term
    group: Group | None


@dataclass(frozen=True, slots=True)
class Minimised:
    """Of so many inductive clauses the proof rests on these."""

    clauses: int
    invariant: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class BoxesTried:
    """The candidate could be neither proved nor refuted: so many boxes of what it drops are tried
    one by one, and those proved are joined.
    """

    number: int


Reason: TypeAlias = Literal[
    "guards", "resists", "raised", "keys", "hidden", "computed", "regions", "nothing", "time"
]


@dataclass(frozen=True, slots=True)
class Weaker:
    """Why the answer is not shown to be optimal, or there is none.

    ``guards``: some regions are kept only because tables raise without them; ``resists``: a
    stronger candidate was neither proved nor refuted; ``raised``: a witness that counts less far
    could not be made one of the problem; ``keys``: a witness is in a group that the filter rejects
    by its key; ``computed``: over computed columns; ``regions``: there are too many; ``nothing``:
    every region is needed; ``time``: the budget is used up.
    """

    reason: Reason


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of one search, and what it found."""

    problem: Problem
    pushdown: Pushdown | None


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What came of doing without assumptions.

    ``rows``: rows that obey all of them would have to be kept; ``weaker``: the answer would be a
    weaker one; ``taken``.
    """

    without: tuple[Assumption, ...]
    outcome: Literal["rows", "weaker", "taken"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the independent checker said of the last answer: nothing against it, or why it is
    refused. With which kind of pushdown it ends.
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
    """Without a trace. Where ``record is discard``, nothing is computed for a trace alone."""


def recorder(event_log: EventLog | None) -> Recorder:
    """What adds to a log of events, if there is one."""
    return discard if event_log is None else event_log.append
