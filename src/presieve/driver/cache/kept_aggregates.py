# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Aggregates for functions of groups that an earlier process has found.

What a search finds is not trusted: the checker decides about the aggregates as Spark's analyzer has
read them, whoever wrote them down. So an entry is only read in a form that a search could have
given. A wrong one costs a function its aggregates, and is deleted (:func:`forget_aggregates`).
"""

from __future__ import annotations

import hashlib
import json
import time
from functools import lru_cache
from typing import Any

from presieve.certificate.claim import read_claim
from presieve.certificate.group_aggregates import (
    AggregatedCertificate,
    AggregateText,
    ListText,
    parse,
)
from presieve.certificate.row_expressions import Expression
from presieve.driver.cache.checked import answer_store, assumption_key, read_entry, versions
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.terms import TRUE, Term, Var
from presieve.ir.text import parse_term, print_problem, print_term
from presieve.records import replace
from presieve.semantics.smart_constructors import some
from presieve.smt.side_by_side import with_raised
from presieve.synthesis.aggregates.aggregate_invariant import (
    EFFORT,
    Aggregates,
    without_negative_zero,
)
from presieve.synthesis.aggregates.aggregate_search import aggregates_of

_FORMAT = 1


@lru_cache(maxsize=256)
def kept_aggregates(problem: Problem, prefix: str) -> Aggregates | Declined:
    """Return what :func:`aggregates_of` gives, from the cache if it has been found before."""
    store = answer_store()
    if store is None:
        return aggregates_of(problem, prefix)
    name = _name(problem, prefix)
    kept = read_entry(store, name, lambda entry: _read(problem, prefix, entry))
    if kept is not None:
        return kept
    started = time.perf_counter()
    answer = aggregates_of(problem, prefix)
    if isinstance(answer, Aggregates) or time.perf_counter() - started < EFFORT.seconds:
        # A longer search that found nothing may have run out of time on a busy machine.
        store.put(name, json.dumps(_entry(answer)) + "\n")
    return answer


def forget_aggregates(problem: Problem, prefix: str) -> None:
    """Delete the answer for a problem, because the checker did not accept it."""
    kept_aggregates.cache_clear()
    store = answer_store()
    if store is not None:
        store.drop(_name(problem, prefix))


def _name(problem: Problem, prefix: str) -> str:
    key = ["aggregates", _FORMAT, print_problem(problem), prefix, versions()]
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def _entry(answer: Aggregates | Declined) -> dict[str, object]:
    if isinstance(answer, Declined):
        return {"declined": [answer.code, answer.reason]}
    images = [[print_term(v), print_term(t)] for v, t in answer.images.items()]
    return {"claim": _claim(answer).to_json(), "images": images}


def _claim(aggregates: Aggregates) -> AggregatedCertificate:
    """State the aggregates as a claim. It has no texts, and bounds no sums."""
    fold = aggregates.problem.fold
    raises = aggregates.over_columns(with_raised(fold).finish_raises)
    values = {o.name: some(aggregates.over_columns(o.term)) for o in fold.outputs}
    return AggregatedCertificate(
        aggregates.problem,
        tuple(AggregateText(c, "") for c in aggregates.calls),
        aggregates.invariant,
        tuple(Expression(name, "", value, TRUE, raises) for name, value in values.items()),
        1,
        tuple(ListText(c, "") for c in aggregates.lists),
    )


def _read(problem: Problem, prefix: str, entry: Any) -> Aggregates | Declined:
    """Read an entry. Raises :class:`PresieveError` or ValueError unless a search could have
    written it.
    """
    match entry:
        case {"declined": [str(code), str(reason)]}:
            return Declined(code, reason)
        case {"claim": {"kind": "aggregated"} as stored, "images": [*pairs]}:
            claim, images = read_claim(parse, stored), dict(map(_image, pairs))
        case _:
            raise ValueError("not of this format")
    assumed = _with_assumptions(problem, claim.problem)
    calls = tuple(a.column for a in claim.aggregates)
    lists = tuple(a.column for a in claim.lists)
    aggregates = Aggregates(assumed, claim.invariant, images, calls, lists)
    if not all(c.name.startswith(prefix) for c in aggregates.columns):
        raise ValueError("its columns have other names")
    _claim(aggregates).check_form()
    return aggregates


def _image(pair: object) -> tuple[Var, Term]:
    match pair:
        case [str(field), str(image)]:
            variable, term = parse_term(field), parse_term(image)
            if isinstance(variable, Var) and term.sort == variable.sort:
                return variable, term
    raise ValueError("an image is no term of its field's sort")


def _with_assumptions(problem: Problem, claimed: Problem) -> Problem:
    """Return the problem under the assumptions of the claim: its own, and those about zeros that
    the search may add.
    """
    fold = problem.fold
    columns = [fold.column(c.name) for c in fold.columns] + [fold.key(c.name) for c in fold.keys]
    own = {assumption_key(a) for a in problem.assumptions}
    allowed = {assumption_key(a): a for a in without_negative_zero(problem, columns).assumptions}
    wanted = dict.fromkeys(assumption_key(a) for a in claimed.assumptions)
    if not own <= wanted.keys() <= allowed.keys():
        raise ValueError("it makes other assumptions")
    return replace(problem, assumptions=tuple(allowed[key] for key in wanted))
