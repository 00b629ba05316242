# SPDX-License-Identifier: Apache-2.0
"""Trusted. The final check of the result, for all passes.

It compares Spark's optimized form of the result with that of the plan as written. Each pass guards
what it writes; only this check sees what Spark infers from that, moves, and hands to scans. The
check only objects: a pass that it objects to is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from presieve.backend.catalyst.leaf_conditions import conjunction
from presieve.backend.catalyst.operators import EQUALITIES, UNION, conditions, outputs
from presieve.backend.catalyst.trees import (
    ALIAS,
    CAST,
    JsonNode,
    Node,
    Tree,
    end_of,
    expr_id,
    itself,
    walk,
)
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.scans.optimized import (
    METADATA,
    OptimizedScan,
    ScanCondition,
    optimized_scans,
)
from presieve.backend.classic.time_zones import zones
from presieve.backend.effects.may_raise import trees
from presieve.backend.gateway import GatewayError
from presieve.backend.open_plan import Opened
from presieve.backend.rewrite import Predicate
from presieve.certificate.checker import Rejected, check
from presieve.certificate.scan_filters import DerivedCertificate
from presieve.driver.stages.decisions import Objection
from presieve.driver.stages.explained import ExplainedCheck
from presieve.errors import Declined, DeclineSignal
from presieve.ir.ops import sql_conjunction
from presieve.ir.sorts import StructOf, strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import field_id
from presieve.semantics.scan import NARROW, Loss, losses
from presieve.semantics.types import column
from presieve.sql.catalyst import expression
from presieve.sql.catalyst_tree import build
from presieve.sql.expressions.composites import CREATE_NAMED_STRUCT
from presieve.synthesis.scan_filters import cuts, necessary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_Place: TypeAlias = tuple[int, str, str]
"""A comparison that loses rows: the number of its column, the sign, and the constant."""


def outcome_check(opened: Opened, written: DataFrame) -> OptimizedCheck | ExplainedCheck:
    """Return the check that fits the session of a DataFrame."""
    gateway = opened.gateway
    if not isinstance(gateway, ClassicGateway):
        return ExplainedCheck(gateway, written)
    return OptimizedCheck(gateway, written, gateway.conf("spark.sql.session.timeZone", "UTC"))


class OptimizedCheck:
    """Compares DataFrames with the ``written`` one in a classic session."""

    def __init__(self, gateway: ClassicGateway, written: DataFrame, timezone: str) -> None:
        self._gateway, self._written, self._timezone = gateway, written, timezone

    def objection(self, df: DataFrame, certified: Iterable[Predicate]) -> Objection | None:
        """Return why ``df`` must not be returned; None if nothing is wrong with it.

        ``certified`` are the filters whose proofs cover the rows that scans lose because of them.
        """
        if df is self._written:
            return None
        gateway = self._gateway
        if not gateway.same_output(gateway.analyze_plan(self._written), gateway.analyze_plan(df)):
            return Objection("output", "its columns are others than as written")
        try:
            scans = optimized_scans(gateway, df)
        except (GatewayError, DeclineSignal) as error:
            if self._scans_as_written is None:
                return None
            return Objection("error", f"Spark cannot optimize the rewritten plan: {error}")
        return (
            self._lossy_scan_objection(df, scans, list(certified))
            or self._lost_filter_objection(scans)
            or self._added_scan_objection(scans)
            or self._lost_pruning_objection(scans)
        )

    @cached_property
    def _scans_as_written(self) -> tuple[OptimizedScan, ...] | None:
        """The scans of the plan as written; None if Spark cannot optimize it."""
        try:
            return optimized_scans(self._gateway, self._written)
        except (GatewayError, DeclineSignal):
            return None

    def _as_written(self, scan: OptimizedScan) -> Iterator[OptimizedScan]:
        return (s for s in self._scans_as_written or () if s.columns == scan.columns)

    # Rows that scans lose

    def _lossy_scan_objection(
        self, df: DataFrame, scans: tuple[OptimizedScan, ...], certified: list[Predicate]
    ) -> Objection | None:
        suspects = [(s, c, loss) for s in scans if s.is_scan for c, loss in self._losses(s)]
        if not suspects:
            return None
        covered = {p for predicate in certified for p in _covered_places(predicate)}
        suspects = [x for x in suspects if not _is_covered(x[2], covered)]
        if suspects and self._scans_as_written is None:
            return None
        suspects = [x for x in suspects if not self._was_written(x[0], x[1], scans)]
        suspects = [x for x in suspects if not _is_of_directories(x[0], x[1])]
        if suspects:
            same = _same_columns(self._gateway.tree(self._gateway.analyze_plan(df)))
            covered = {(same.get(n, n), sign, constant) for n, sign, constant in covered}
            suspects = [x for x in suspects if not _is_covered(x[2], covered, same)]
        if not suspects:
            return None
        name = ", ".join(suspects[0][1].names.values())
        return Objection("scan", f"a scan may lose rows by a comparison with {name}")

    def _was_written(
        self, scan: OptimizedScan, condition: ScanCondition, scans: tuple[OptimizedScan, ...]
    ) -> bool:
        """Whether the plan as written has the condition wherever it reads what the scan reads."""
        before = list(self._as_written(scan))
        if before:
            return all(condition.key in {c.key for c in s.conditions} for s in before)
        originals = list(self._originals(scan, scans))
        return bool(originals) and all(condition.key_in(numbers) in k for k, numbers in originals)

    def _originals(
        self, scan: OptimizedScan, scans: tuple[OptimizedScan, ...]
    ) -> Iterator[tuple[set[str], Mapping[int, int]]]:
        """Yield the scans as written that a scan may be a copy of: the keys of their conditions,
        and their columns by those of the copy.

        A guarded plan reads its input more than once, and Spark numbers the columns of each copy
        anew. A copy reads the files that another of the ``scans`` reads, and has all conditions of
        what it is a copy of.
        """
        readers = (*scans, *(self._scans_as_written or ()))
        for output in {other.output for other in readers if scan.reads_again(other)}:
            numbers = dict(zip(scan.output, output, strict=True))
            present = {c.key_in(numbers) for c in scan.conditions}
            for original in self._scans_as_written or ():
                keys = {c.key for c in original.conditions if not c.tests_null}
                if original.output == output and keys <= present:
                    yield keys, numbers

    def _losses(self, scan: OptimizedScan) -> Iterator[tuple[ScanCondition, _Place]]:
        """Yield the comparisons that may make the scan lose rows that pass all its conditions."""
        terms = [(c, self._term(c)) for c in scan.conditions]
        every = sql_conjunction(t for _, t in terms if t is not None)
        for condition, term in terms:
            lossy = condition.lossy
            if not lossy or condition.tests_null:
                continue
            narrow = any(condition.types[n] in NARROW for n in lossy)
            if term is None or narrow:
                places: list[_Place] = [(n, "", "") for n in lossy]
            else:
                places = list(_places(losses(term, every)))
            if places and condition.offered() is not None:
                yield from ((condition, place) for place in places)

    def _term(self, condition: ScanCondition) -> Term | None:
        """Read a condition as a term whose variables are named by their column numbers.

        If Python does not have a moment, or not in this time zone, moments are read in UTC: what
        scans lose does not depend on hours (:data:`presieve.semantics.scan.STANDARD_TIME`).
        """
        variables_by_number: dict[int, Term] = {}
        for number, type_ in condition.types.items():
            of_type = column(str(number), type_, True)
            if of_type is not None:
                variables_by_number[number] = Var(Scope.ROW, of_type.name, of_type.sort)
        for tree, timezone in (
            (condition.tree, self._timezone),
            (_with_late_moments_clamped(condition.tree), "UTC"),
        ):
            term = expression(tree, variables_by_number, timezone)
            if not isinstance(term, Declined):
                return term
        return None

    # Filters that scans lose

    def _lost_filter_objection(self, scans: tuple[OptimizedScan, ...]) -> Objection | None:
        """Object to a scan that loses a filter that it has as written.

        A plan with a single scan cannot lose one, because every moved filter ends up there.
        """
        if len(scans) < 2:
            return None
        for scan in scans:
            for lost in self._lost_conditions(scan):
                if scan.is_scan and lost.offered() is not None and not self._implies(scan, lost):
                    name = ", ".join(lost.names.values())
                    return Objection("read", f"a scan would lose the filter on {name} that it has")
        return None

    def _lost_conditions(self, scan: OptimizedScan) -> Iterator[ScanCondition]:
        before = list(self._as_written(scan))
        keys = {c.key for c in scan.conditions}
        for condition in before[0].conditions if before else ():
            everywhere = all(condition.key in {c.key for c in s.conditions} for s in before)
            if everywhere and not condition.tests_null and condition.key not in keys:
                yield condition

    # Directories that Spark skips when the plan runs

    def _lost_pruning_objection(self, scans: tuple[OptimizedScan, ...]) -> Objection | None:
        """Object to a scan whose directories Spark no longer selects by the keys of a join.

        Spark selects them if the other side has a filter that looks selective
        (``PartitionPruning.isLikelySelective``). A new filter on the same columns does as well.
        """
        for scan in scans if len(scans) > 1 else ():
            before = [s.pruned_by for s in self._as_written(scan)]
            lost = frozenset.intersection(*before) - scan.pruned_by if before else frozenset()
            if lost and not any(lost <= c.names.keys() for c in self._new_conditions(scan)):
                return Objection("read", "a scan would read directories that a join's keys exclude")
        return None

    def _new_conditions(self, scan: OptimizedScan) -> Iterator[ScanCondition]:
        keys = {c.key for s in self._as_written(scan) for c in s.conditions}
        return (c for c in scan.conditions if c.key not in keys and not c.tests_null)

    # Scans that Spark drops

    def _added_scan_objection(self, scans: tuple[OptimizedScan, ...]) -> Objection | None:
        """Object to a scan of a source that Spark does not read as written, because a condition is
        never true. Spark finds that in the rewritten plan, too, unless the condition is hidden.
        """
        for scan in scans:
            is_suspect = scan.is_scan and any(c.is_hidden for c in scan.conditions)
            if is_suspect and scan.columns in self._dropped_sources:
                return Objection("read", "a scan is left that Spark drops from the plan as written")
        return None

    @cached_property
    def _dropped_sources(self) -> frozenset[frozenset[int]]:
        """The columns of each leaf of the plan as written that is not in its optimized form. Cached
        data may stand for any of them.
        """
        written = self._scans_as_written
        if written is None or any(scan.is_cached for scan in written):
            return frozenset()
        read = {number for scan in written if scan.is_scan for number in scan.columns}
        plan = self._gateway.analyze_plan(self._written)
        trees = map(self._gateway.tree, (plan, *self._gateway.subqueries(plan)))
        leaves = (frozenset(outputs(n) or ()) for t in trees for n in walk(t) if not n.children)
        return frozenset(columns for columns in leaves if columns and not columns & read)

    def _implies(self, scan: OptimizedScan, lost: ScanCondition) -> bool:
        """Whether the conditions that Spark offers to the source now imply the lost one.

        Others may imply it as well, such as one that Spark inferred from a ``CASE``, but they are
        evaluated after the rows are read.
        """
        now = [c.tree for c in scan.conditions if c.offered() is not None]
        if not now:
            return False
        named = {n["timeZoneId"] for t in (*now, lost.tree) for n in t if n.get("timeZoneId")}
        time_zones = zones(self._gateway, self._timezone, named)
        try:
            clauses = necessary(build(lost.tree, 0, 0)[0], time_zones)
            condition = conjunction(now)
            ends = cuts(build(condition, 0, 0)[0], time_zones)
            claim = DerivedCertificate(condition, clauses, time_zones, ends)
        except (DeclineSignal, OverflowError, ValueError, TypeError):
            return False
        return bool(clauses) and not isinstance(check(claim), Rejected)


def _is_of_directories(scan: OptimizedScan, condition: ScanCondition) -> bool:
    """Whether the condition selects directories, as Spark does, or reads metadata of files."""
    names = set(condition.names.values())
    return names <= {*scan.directories(), METADATA}


def _with_late_moments_clamped(tree: Tree) -> Tree:
    """Replace years after 9999, which Python does not have, by 9996, which has a 29th of February.
    Scans lose the same rows: they shift only early constants, and cut what is below a millisecond,
    which stays.
    """
    return [
        {**n, "value": _LATE_YEAR.sub("9996", n["value"])} if _is_moment(n) else n for n in tree
    ]


_LATE_YEAR = re.compile(r"^\+\d{5,}")
"""A year as Spark writes it in front of a date or a timestamp."""


def _is_moment(node: JsonNode) -> bool:
    return node.get("dataType") in ("date", "timestamp") and isinstance(node.get("value"), str)


def _places(scan_losses: Iterable[Loss]) -> Iterator[_Place]:
    """Yield the losses at columns and fields of structs. A comparison of a computed value is not
    handed to any scan.
    """
    for loss in scan_losses:
        number = _number_of(loss.column)
        if number is not None:
            constant = "" if loss.constant is None else repr(_literal(loss.constant))
            yield number, loss.sign, constant


def _number_of(column_: Term) -> int | None:
    match column_:
        case Var(name=number):
            return int(number)
        case App(Op.STRUCT_FIELD, (Var(_, number, sort), Lit(_, str() as name))):
            struct = strip(sort)
            assert isinstance(struct, StructOf)
            return field_id(int(number), struct.names.index(name))
    return None


def _literal(constant: Term) -> object:
    return literal_value(constant) if isinstance(constant, Lit) else constant


def _covered_places(predicate: Predicate) -> Iterator[_Place]:
    """Yield the places that the proof of a pre-filter covers: its comparisons, and for each column
    that it reads any comparison in a form that is not read here.
    """
    numbers = {v: n for n, v in predicate.attributes.items()}
    named = rewrite(
        predicate.term, lambda v: Var(Scope.ROW, str(numbers[v]), v.sort) if v in numbers else v
    )
    used = set(variables(predicate.term))
    read = ((n, "", "") for n, v in predicate.attributes.items() if v in used)
    return chain(_places(losses(named)), read)


def _is_covered(loss: _Place, covered: set[_Place], same: Mapping[int, int] | None = None) -> bool:
    number, sign, constant = loss
    if same is not None:
        number = same.get(number, number)
    if not sign:
        return any(n == number for n, _, _ in covered)
    return (number, sign, constant) in covered


def _column(value: Tree) -> JsonNode | None:
    """Return the column that a projected value is equal to; None if there is none.

    A cast is ignored if it is to the column's own type, which Spark leaves out, or if Spark removes
    it in comparisons (``UnwrapCastInBinaryComparison``).
    """
    if len(value) == 2 and value[0]["class"] == CAST:
        types = value[1].get("dataType"), value[0]["dataType"]
        return itself(value[1:]) if types[0] == types[1] or types in _UNWRAPPED else None
    return itself(value)


_UNWRAPPED = (("float", "double"), ("timestamp", "timestamp_ntz"))


def _same_columns(root: Node) -> dict[int, int]:
    """Map each column to one representative of the columns that equal it.

    Columns are equal by aliases, by conditions, or by their position in a union.
    """
    leader: dict[int, int] = {}

    def find(number: int) -> int:
        while leader.get(number, number) != number:
            number = leader[number]
        return number

    for node in walk(root):
        aliases = [t for t in trees(node) if t[0]["class"] == ALIAS]
        pairs = [(expr_id(t[0]), _column(t[1:])) for t in aliases]
        pairs += [pair for t in aliases for pair in _fields_of(expr_id(t[0]), t[1:])]
        for part in conditions(node):
            if part.tree[0]["class"] in EQUALITIES and len(part.tree) == 3:
                left, right = itself(part.tree[1:2]), itself(part.tree[2:])
                if left is not None:
                    pairs.append((expr_id(left), right))
        linked = [
            (number, expr_id(equal_column))
            for number, equal_column in pairs
            if equal_column is not None
        ]
        for number, equal_number in (*linked, *_by_place(node)):
            leader[find(number)] = find(equal_number)
    return {number: find(number) for number in leader}


def _fields_of(number: int, value: Tree) -> Iterator[tuple[int, JsonNode | None]]:
    """Yield the fields of a struct that is built, by number, with the columns that they equal."""
    if value[0]["class"] != CREATE_NAMED_STRUCT.class_name:
        return
    parts, start = [], 1
    while start < len(value):
        end = end_of(value, start)
        parts.append(value[start:end])
        start = end
    for place, field in enumerate(parts[1::2]):
        yield field_id(number, place), _column(field)


def _by_place(node: Node) -> Iterator[tuple[int, int]]:
    """Yield each column of a union with the columns that its rows come from."""
    if node.kind != UNION:
        return
    columns = outputs(node)
    for child in node.children:
        below = outputs(child)
        if columns is not None and below is not None:
            yield from zip(columns, below, strict=True)
