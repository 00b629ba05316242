"""Trusted. Check the data: Spark counts the rows of a file scan that satisfy a condition, in a job
of its own over the columns of the condition.

The check is made if the files are small, and its answer is about these very files: whoever keeps
the answer keys it by their paths, lengths and modification times.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from presieve.backend.catalyst.variable_columns import input_vars
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.rewrite import checked_filter, predicate
from presieve.backend.statistics.footers import count_answer, scan_columns
from presieve.errors import DeclineSignal
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, variables

LARGEST = 512 * 2**20
"""Maximum size of the files in bytes: columns of them are read in about a second."""
MANY_FILES = 1000
FEW = 1000
"""More rows than this are not counted."""


@dataclass(frozen=True, slots=True)
class Check:
    """``name`` identifies the question and its files, as 64 hexadecimal digits. ``count`` returns
    the number of rows, at most ``FEW + 1``. It may raise :class:`GatewayError`.
    """

    name: str
    count: Callable[[], int]


def check_of(
    gateway: Gateway, root: Handle, source: BoundaryInput, condition: Term, timezone: str
) -> Check | None:
    """Prepare to count the rows below a boundary that satisfy a condition on its input; None if
    that is not worthwhile or possible. Filters and joins in between are left out: if the files have
    no such row, the input has none.
    """
    read = set(variables(condition))
    variable_by_id = {number: v for number, v in input_vars(source.names).items() if v in read}
    file_scan = scan_columns(gateway, root, source.node, variable_by_id)
    if file_scan is None:
        return None
    stamps = gateway.file_stamps(file_scan.relation)
    if not 0 < len(stamps) <= MANY_FILES or sum(size for _, size, _ in stamps) > LARGEST:
        return None
    by_name = {a.name: a for a in gateway.attributes(file_scan.relation)}
    folded = [name.upper().lower() for name in by_name]
    if len(set(folded)) != len(gateway.attributes(file_scan.relation)):
        return None
    own = {v: Var(Scope.ROW, file_scan.columns[i].name, v.sort) for i, v in variable_by_id.items()}
    term = rewrite(condition, lambda v: own[v])
    attributes = {by_name[v.name].id: v for v in own.values()}
    try:
        asking = predicate(term, attributes, timezone)
    except DeclineSignal:
        return None
    types = {c.name: c.type for c in file_scan.columns.values()}
    key = json.dumps(["check 1", asking.sql, sorted(types.items()), stamps])
    count_answer()
    name = hashlib.sha256(key.encode()).hexdigest()

    def count() -> int:
        plan = checked_filter(gateway, asking, file_scan.relation, timezone)
        return gateway.count(plan, FEW + 1)

    return Check(name, count)
