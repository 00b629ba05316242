# SPDX-License-Identifier: Apache-2.0
"""Trusted. Check the data: Spark counts the rows of a file scan that satisfy a condition and the
filters of the plan above the scan, in a job of its own over the columns of these. Small files are
read here, without a job.

The check is made if the files are small, and its answer is about these very files: whoever keeps
the answer keys it by their paths, lengths and modification times.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from presieve.backend.catalyst.trees import references
from presieve.backend.catalyst.variable_columns import input_vars
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.rewrite import Predicate, checked_filter, predicate
from presieve.backend.statistics.footers import ScanColumns, count_answer, scan_columns
from presieve.backend.statistics.small_files import count_locally
from presieve.errors import Declined, DeclineSignal
from presieve.ir.ops import sql_conjunction
from presieve.ir.terms import FALSE, Scope, Term, Var
from presieve.ir.text import print_term
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import Attribute, variable_of
from presieve.semantics.scan import NARROW, may_lose
from presieve.sql.catalyst import expression

LARGEST = 512 * 2**20
"""Maximum size of the files in bytes: columns of them are read in about a second."""
MANY_FILES = 1000
FEW = 1000
"""More rows than this are not counted."""


class Check(Struct, frozen=True):
    """``name`` identifies the question and its files, as 64 hexadecimal digits. ``count`` returns
    the number of rows, at most ``FEW + 1``. It may raise :class:`GatewayError`.
    """

    name: str
    count: Callable[[], int]


def check_of(
    gateway: Gateway, root: Handle, source: BoundaryInput, condition: Term, timezone: str
) -> Check | None:
    """Prepare to count the rows below a boundary that satisfy a condition on its input; None if
    that is not worthwhile or possible. Joins in between are left out, and filters that are not
    understood: if the files have no such row, the input has none.
    """
    read = set(variables(condition))
    variable_by_id = {number: v for number, v in input_vars(source.names).items() if v in read}
    file_scan = scan_columns(gateway, root, source.node, variable_by_id)
    if file_scan is None:
        return None
    stamps = gateway.file_stamps(file_scan.relation)
    if not 0 < len(stamps) <= MANY_FILES or sum(size for _, size, _ in stamps) > LARGEST:
        return None
    stored = gateway.attributes(file_scan.relation)
    by_name = {a.name: a for a in stored}
    folded = [name.upper().lower() for name in by_name]
    if len(set(folded)) != len(stored):
        return None
    own = {v: Var(Scope.ROW, file_scan.columns[i].name, v.sort) for i, v in variable_by_id.items()}
    broken = rewrite(condition, lambda v: own[v])
    columns = {a.id: column for a in stored if (column := _row_variable(a)) is not None}
    columns |= {by_name[v.name].id: v for v in own.values()}
    try:
        asking = _predicate(
            [*_passed_terms(file_scan, columns, timezone), broken], columns, timezone
        )
    except DeclineSignal:
        try:
            asking = _predicate([broken], columns, timezone)
        except DeclineSignal:
            return None
    types = {a.name: a.type for a in stored if a.id in asking.attributes}
    key = json.dumps(["check 2", print_term(asking.term), timezone, sorted(types.items()), stamps])
    count_answer()
    name = hashlib.sha256(key.encode()).hexdigest()

    def count() -> int:
        rows = count_locally(gateway.parquet_files(file_scan.relation), asking.term, types)
        if rows is not None:
            return min(rows, FEW + 1)
        plan = checked_filter(gateway, asking, file_scan.relation, timezone)
        return gateway.count(plan, FEW + 1)

    return Check(name, count)


def _row_variable(attribute: Attribute) -> Var | None:
    """Return the variable for a column of the scan, unless any comparison of it may lose rows."""
    variable = None if attribute.type in NARROW else variable_of(attribute)
    return None if variable is None else Var(Scope.ROW, attribute.name, variable.sort)


def _passed_terms(
    file_scan: ScanColumns, columns: Mapping[int, Var], timezone: str
) -> Iterator[Term]:
    """Yield the conditions that the rows of the scan have passed on their way, as far as they are
    understood, over the columns of the scan.

    A condition by which a scan may lose rows is left out: the plan need not hand it to the scan.
    """
    for tree in file_scan.passed:
        if references(tree) <= columns.keys():
            term = expression(tree, columns, timezone)
            if not isinstance(term, Declined) and may_lose(term) == FALSE:
                yield term


def _predicate(terms: Iterable[Term], columns: Mapping[int, Var], timezone: str) -> Predicate:
    """Write the conjunction of conditions on the scan's columns as a filter. Raises
    :class:`DeclineSignal`.
    """
    term = sql_conjunction(dict.fromkeys(terms))
    read = set(variables(term))
    return predicate(term, {i: v for i, v in columns.items() if v in read}, timezone)
