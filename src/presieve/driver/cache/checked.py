"""Trusted. Solutions that other processes found, kept as JSON: claims, which are checked anew.

A cache is a folder that anybody may have written to. What stands there is therefore no proof: of a
certificate only predicates, invariant and tables are taken, the independent checker decides about
the very problem that is asked, and what the solution rests on is listed as always. An entry that
does not pass is dropped with a warning, and the search runs. That nothing was found within a budget
cannot be checked; believing it costs no more than an optimization.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import metadata
from typing import Any

from presieve.certificate import Certificate, Rejected, check, parse
from presieve.driver.cache.disk import Store
from presieve.driver.solve import (
    Policy,
    Solution,
    check_calls,
    check_effort,
    nothing,
    open_assumptions,
    proved,
    strictly,
)
from presieve.errors import Declined, PresieveError
from presieve.ir.fold import Assumption, Problem
from presieve.ir.text import print_problem, print_term
from presieve.semantics.assumptions import OPTIONAL

logger = logging.getLogger("presieve")

FORMAT = 1

TOLERANCE = 1.1
"""What is left of the same budget differs from one time to the next by what came before."""

_QUICK = 0.1
"""The part of its budget in which a search ends as it would with any more: no stage of it has less
than half of what is left.
"""


class _Unfit(PresieveError):
    """An entry that is not used, and why."""


@dataclass(frozen=True)
class Query:
    """A problem with all that its solution depends on. ``budget`` is what the caller set for the
    whole, ``left`` what there is of it for this problem, both in seconds.
    """

    problem: Problem
    policy: Policy
    known: Mapping[Assumption, str]
    budget: float
    left: float

    @cached_property
    def name(self) -> str:
        """Of the file, from all but the seconds."""
        facts = sorted((*_said(a), by) for a, by in self.known.items())
        key = [FORMAT, print_problem(self.problem), self.policy, facts, versions()]
        return hashlib.sha256(json.dumps(key).encode()).hexdigest()

    @cached_property
    def searched(self) -> Problem:
        """What a search under the policy starts from."""
        return strictly(self.problem, self.known) if self.policy == "strict" else self.problem


def recall(store: Store, query: Query) -> Solution | None:
    """What is kept of the problem, checked. None where there is nothing that can be used."""
    started = time.perf_counter()
    data = store.get(query.name)
    if data is None:
        return None
    try:
        solution = _solution(query, data)
        if solution is None:
            return None
        seconds = time.perf_counter() - started
        return replace(solution, known=dict(query.known), seconds=seconds)
    except _Unfit as problem:
        logger.warning("dropping a cache entry, %s: %s", store.path(query.name), problem)
        store.drop(query.name)
        return None


def keep(store: Store, query: Query, solution: Solution) -> None:
    """Keep a solution for those that ask the same."""
    within = query.left if solution.verified is None else query.budget
    quick = solution.seconds <= _QUICK * query.left
    certificate = solution.verified.certificate.to_json() if solution.verified is not None else None
    entry = {
        "presieve_cache": FORMAT,
        "name": query.name,
        "versions": versions(),
        "budget": None if quick else within,
        "declined": [[d.code, d.reason, d.span is not None] for d in solution.declined],
        "certificate": certificate,
    }
    store.put(query.name, json.dumps(entry) + "\n")


def _solution(query: Query, data: bytes) -> Solution | None:
    """None where the entry is fit, but for smaller budgets than this one."""
    try:
        entry = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _Unfit(f"not JSON ({error})") from error
    declined = _checked_form(query, entry)
    stored, budget = entry["certificate"], entry["budget"]
    wanted = query.left if stored is None else query.budget
    if budget is not None and wanted > budget * TOLERANCE:
        return None
    if stored is None:
        return nothing(query.searched, declined)
    return _proved(query, stored, declined)


def _checked_form(query: Query, entry: Any) -> tuple[Declined, ...]:
    """What was declined. Raises unless the entry is of the form that :func:`keep` writes."""
    if not isinstance(entry, dict) or entry.get("presieve_cache") != FORMAT:
        raise _Unfit("not of this format")
    if entry.get("name") != query.name or entry.get("versions") != versions():
        raise _Unfit("it answers another question, or was written by another version")
    budget = entry.get("budget", "")
    if budget is not None and (not isinstance(budget, float | int) or not budget > 0):
        raise _Unfit("its budget is none")
    if "certificate" not in entry or not isinstance(entry.get("declined"), list):
        raise _Unfit("a part is missing")
    declined = []
    for item in entry["declined"]:
        match item:
            case [str(code), str(reason), bool(spanned)]:
                span = query.problem.fold.span if spanned else None
                declined.append(Declined(code, reason, span))
            case _:
                raise _Unfit("what was declined is not said")
    return tuple(declined)


def _proved(query: Query, stored: object, declined: tuple[Declined, ...]) -> Solution:
    try:
        claim = parse(stored)
        problem = _with_assumptions(query, claim.problem)
        certificate = Certificate(
            problem,
            claim.kind,
            claim.strength,
            claim.prefilter,
            claim.residual,
            claim.invariant,
            claim.witnesses,
            claim.residual_witnesses,
        )
        checked = check(certificate, effort=check_effort(query.left))
    except (PresieveError, RecursionError) as error:
        raise _Unfit(str(error)) from error
    if isinstance(checked, Rejected):
        raise _Unfit(f"the checker does not accept it ({checked.condition}: {checked.reason})")
    if query.policy == "strict":
        if checked.may_erase_error or open_assumptions(problem, query.known):
            raise _Unfit("policy strict does not accept it")
    return proved(checked, declined, check_calls(certificate))


def _with_assumptions(query: Query, claimed: Problem) -> Problem:
    """The problem that is asked, under the assumptions of the claim: those that the function's
    meaning rests on, and such others as the search may make.
    """
    problem = query.searched
    given = {_said(a): a for a in problem.assumptions}
    wanted = [_said(a) for a in claimed.assumptions]
    if not given.keys() >= set(wanted):
        given |= {_said(a): a for a in _computed(problem)}
    if not given.keys() >= set(wanted):
        raise _Unfit("it assumes what is not to be assumed")
    if any(a.code not in OPTIONAL and _said(a) not in wanted for a in problem.assumptions):
        raise _Unfit("it does not tell what the function's meaning rests on")
    chosen = tuple(given[said] for said in wanted)
    return replace(problem, assumptions=chosen)


def _computed(problem: Problem) -> tuple[Assumption, ...]:
    # Of the search, which loads a solver; importing this module must not.
    from presieve.synthesis.forms.computed_columns import numbers
    from presieve.synthesis.invariant.minimal_assumptions import COMPUTED

    return numbers(problem, OPTIONAL, COMPUTED)


def _said(assumption: Assumption) -> tuple[str, str, str]:
    return assumption.code, assumption.text, print_term(assumption.term)


@cache
def versions() -> dict[str, str]:
    """What an answer depends on beside the question: our own code, the solver's, and Python's."""
    try:
        z3 = metadata.version("z3-solver")
    except metadata.PackageNotFoundError:
        z3 = ""
    return {"presieve": _fingerprint(), "z3": z3, "python": sys.version}


def _fingerprint() -> str:
    """Of all our modules: a version's number stays the same while somebody works on it. Empty where
    they are no files, as in an archive.
    """
    import presieve

    root = os.path.dirname(os.path.abspath(presieve.__file__))
    modules = sorted(
        os.path.join(folder, file)
        for folder, _, files in os.walk(root)
        for file in files
        if file.endswith(".py")
    )
    found = hashlib.sha256()
    for path in modules:
        with open(path, "rb") as source:
            data = source.read()
        found.update(f"{path[len(root) :]}\0{len(data)}\0".encode() + data)
    return found.hexdigest() if modules else ""
