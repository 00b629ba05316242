# SPDX-License-Identifier: Apache-2.0
"""Trusted. Solutions that other processes have stored as JSON; they are claims and are checked
again.

Anybody may have written to the cache folder, so its content is no proof. From a stored certificate,
only predicates, invariant and tables are used. The independent checker decides about the very
problem of the query, and the assumptions of the solution are listed as always. An entry that does
not pass is dropped with a warning, and the search runs. An entry that says that a search found
nothing within a budget cannot be checked; believing it only costs an optimization.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from presieve.certificate import Certificate, Rejected, check, parse
from presieve.driver.cache.disk import Store, default_store
from presieve.driver.solve import (
    Policy,
    Solution,
    check_calls,
    check_effort,
    nothing,
    open_assumptions,
    solution_of_certificate,
    strictly,
)
from presieve.errors import Declined, PresieveError
from presieve.ir.assumption_codes import NO_NAN
from presieve.ir.fold import Assumption, Problem
from presieve.ir.text import print_problem, print_term
from presieve.records import replace
from presieve.semantics.assumptions import OPTIONAL

logger = logging.getLogger("presieve")

T = TypeVar("T")

FORMAT = 1

TOLERANCE = 1.1
"""Factor by which the remaining seconds may exceed the recorded ones: the same budget leaves a
different remainder each time, depending on the problems before.
"""

_QUICK = 0.1
"""Fraction of its seconds. A search that ends within it would end the same way with a larger
budget, because no stage has less than half of the remaining time.
"""


class _Unfit(PresieveError):
    """Raised for an entry that cannot be used; says why."""


@dataclass(frozen=True)
class Query:
    """A problem with everything that its solution depends on.

    ``budget`` is the caller's budget for the whole optimization; ``left`` is what remains of it for
    this problem. Both are in seconds.
    """

    problem: Problem
    policy: Policy
    known: Mapping[Assumption, str]
    budget: float
    left: float

    @cached_property
    def name(self) -> str:
        """The name of the entry's file: a hash of the query without the seconds."""
        facts = sorted((*assumption_key(a), by) for a, by in self.known.items())
        key = [FORMAT, print_problem(self.problem), self.policy, facts, versions()]
        return hashlib.sha256(json.dumps(key).encode()).hexdigest()

    @cached_property
    def problem_to_search(self) -> Problem:
        """The problem from which a search under the policy starts."""
        return strictly(self.problem, self.known) if self.policy == "strict" else self.problem


def recall(store: Store, query: Query) -> Solution | None:
    """Return the stored and checked solution of the problem; None if there is no usable one."""
    started = time.perf_counter()
    solution = read_entry(store, query.name, partial(_solution, query))
    if solution is None:
        return None
    return replace(solution, known=dict(query.known), seconds=time.perf_counter() - started)


def read_entry(store: Store, name: str, read: Callable[[Any], T]) -> T | None:
    """Return what ``read`` makes of the JSON of an entry; None if there is none. An entry for which
    it raises an error is dropped with a warning.
    """
    data = store.get(name)
    if data is None:
        return None
    try:
        return read(_load(data))
    except (PresieveError, ValueError, RecursionError) as problem:
        logger.warning("dropping a cache entry, %s: %s", store.path(name), problem)
        store.drop(name)
        return None


def _load(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _Unfit(f"not JSON ({error})") from error


def keep(store: Store, query: Query, solution: Solution) -> None:
    """Store a solution for later queries of the same problem."""
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


def _solution(query: Query, entry: Any) -> Solution | None:
    """Return the solution in an entry; None if the entry is valid only for smaller budgets."""
    declined = _checked_form(query, entry)
    stored, budget = entry["certificate"], entry["budget"]
    wanted = query.left if stored is None else query.budget
    if budget is not None and wanted > budget * TOLERANCE:
        return None
    if stored is None:
        return nothing(query.problem_to_search, declined)
    return _check_claim(query, stored, declined)


def _checked_form(query: Query, entry: Any) -> tuple[Declined, ...]:
    """Return the entry's reasons. Raises _Unfit unless :func:`keep` may have written it."""
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


def _check_claim(query: Query, stored: object, declined: tuple[Declined, ...]) -> Solution:
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
    return solution_of_certificate(checked, declined, check_calls(certificate))


def _with_assumptions(query: Query, claimed: Problem) -> Problem:
    """Return the query's problem under the assumptions of the claim.

    These are the assumptions that the function's meaning rests on, and others that the search may
    make. Raises _Unfit if the claim assumes anything else or omits one that the meaning rests on.
    """
    problem = query.problem_to_search
    allowed = {assumption_key(a): a for a in problem.assumptions}
    wanted = [assumption_key(a) for a in claimed.assumptions]
    if not allowed.keys() >= set(wanted):
        allowed |= {assumption_key(a): a for a in _computed_assumptions(problem)}
    if not allowed.keys() >= set(wanted):
        raise _Unfit("it assumes what is not to be assumed")
    if any(a.code not in OPTIONAL and assumption_key(a) not in wanted for a in problem.assumptions):
        raise _Unfit("it does not tell what the function's meaning rests on")
    chosen = tuple(allowed[key] for key in wanted)
    return replace(problem, assumptions=chosen)


def _computed_assumptions(problem: Problem) -> tuple[Assumption, ...]:
    # This belongs to the search, which loads a solver; importing this module must not load one.
    from presieve.synthesis.forms.computed_columns import numbers

    return numbers(problem, OPTIONAL, NO_NAN)


def assumption_key(assumption: Assumption) -> tuple[str, str, str]:
    """Return what tells an assumption from others, whatever object it is."""
    return assumption.code, assumption.text, print_term(assumption.term)


def answer_store() -> Store | None:
    """Return the store of answers; None if it is off, or our own code cannot be hashed."""
    return default_store() if versions()["presieve"] else None


@cache
def versions() -> dict[str, str]:
    """Return the versions that an answer depends on: of our own code, the solver, and Python."""
    try:
        z3 = metadata.version("z3-solver")
    except metadata.PackageNotFoundError:
        z3 = ""
    return {"presieve": _hash_modules(), "z3": z3, "python": sys.version}


def _hash_modules() -> str:
    """Hash all our modules: the version number does not change while somebody works on them.

    Return an empty text if the modules are not files, as in an archive.
    """
    root = str(Path(__file__).absolute().parents[2])
    modules = sorted(
        os.path.join(folder, file)
        for folder, _, files in os.walk(root)
        for file in files
        if file.endswith(".py")
    )
    digest = hashlib.sha256()
    for path in modules:
        with open(path, "rb") as source:
            data = source.read()
        digest.update(f"{path[len(root) :]}\0{len(data)}\0".encode() + data)
    return digest.hexdigest() if modules else ""
