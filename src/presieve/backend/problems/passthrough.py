# SPDX-License-Identifier: Apache-2.0
"""Trusted. Describe functions of tables that do not lift as folds of the columns that they pass on.

Lemma (keys): if every row of ``f(D)``, for a group D with key k, has k in such a column, a filter c
on the column keeps all of ``f(D)`` or nothing, as c(k) says. So ``filter c (f D)`` is ``f D`` over
``filter c D``, which is D or no group. The fold reads no column, so a pre-filter can only be on
keys, and drops no part of a group.

The same holds for ``f(L, R)`` of the two groups of a key in ``cogroup``, one of which may be empty:
if c(k) is false, both are dropped, and the key k vanishes.

Lemma (rows): if ``f`` makes each of its rows from one row of D, whatever the other rows are, and
such a column holds that row's value, a filter c on the column keeps or drops the rows that are made
from a row, as c of that row says. So ``filter c (f D)`` is ``f (filter c D)``. Each row is a group,
and all its columns are keys.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType

from presieve.backend.catalyst.boundary import MAPS, Boundary
from presieve.backend.catalyst.variable_columns import InputAttributes, key_columns
from presieve.backend.problems.load_functions import table_request
from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import Effect, Note
from presieve.dataflow.libraries import UNMISSED, Effects
from presieve.errors import Behind, Declined
from presieve.ir.assumption_codes import EXACT_INT, NO_NULL
from presieve.ir.fold import Assumption, Column, Fold, Output
from presieve.ir.ops import app, negate
from presieve.ir.terms import Op, Scope, Var
from presieve.lift.forms import Lifted
from presieve.lift.python.shipped import function_source
from presieve.lift.reason_words import NO_GROUPING
from presieve.plan.algebra import Attribute
from presieve.records import replace
from presieve.semantics.assumptions import FEWER_MESSAGES, NO_EFFECT, assumption_of, is_exact
from presieve.semantics.fixed_offsets import fixed_offset
from presieve.semantics.smart_constructors import nan_to_null, some
from presieve.semantics.types import column, decimal_type

_COMES_BACK = frozenset(
    (
        *("boolean", "tinyint", "smallint", "int", "bigint"),
        *("string", "date", "timestamp_ntz"),
    )
)
"""Types whose values come back from pandas as they were sent, besides decimals and instants. For
integers of 64 bits, this holds if all are equal, as in a group, or none is NULL, or if they are
exact as doubles. Of doubles, NaN comes back as NULL. A time that pandas cannot hold is an error.
Where the clocks of the session's time zone are put back, two instants show the same time, of which
one comes back.
"""


@dataclass(frozen=True, slots=True)
class Unlifted:
    """A function of tables that does not lift, and the result of its analysis. ``effects``: what
    becomes of calls of unknown code. ``timezone`` is the session's.
    """

    function: FunctionType
    boundary: Boundary
    answer: Dataflow
    effects: Effects
    timezone: str

    @property
    def is_missed(self) -> bool:
        """Whether it does more than return rows, so that a dropped row might be missed."""
        return bool(self.answer.find_missed_effects(self.effects))

    def fold_of_keys(self, names: InputAttributes) -> Lifted:
        """Return the fold of the outputs that hold one of the keys, if there are any. A key that
        became a text is assumed not to be missing.
        """
        if self.is_missed:
            return self._fold(names, {})
        fold = self._fold(names, {**self.answer.texts, **self.answer.keys})
        shown = {o.name for o in fold.fold.outputs}
        made = {k for n, k in self.answer.texts.items() if n in shown}
        facts = tuple(map(_not_null, (k for k in names.keys if k.name in made and k.nullable)))
        return replace(fold, assumptions=(*facts, *fold.assumptions))

    def fold_of_rows(self, names: InputAttributes) -> Lifted:
        """Return the fold of the outputs that hold a column of their row, if there are any.
        ``names`` are the names of the boundary where each row is a group.

        Nothing else that the function makes of a row may depend on the other rows. The type that
        pandas gives a column of integers does depend on them, if it holds NULL. So if this type may
        matter, there must be none; else the values must come back unchanged.
        """
        mixed = self._find_mixed_columns()
        passes = {} if self.is_missed or mixed else self._find_passed(names)
        typed = self._find_typed_columns(names)
        facts: list[Assumption] = []
        for k in names.keys:
            variable = _variable(k)
            if variable is None or not k.nullable or k.type not in NULLS_MATTER:
                continue
            term = Var(Scope.KEY, variable.name, variable.sort)
            if k.name in typed:
                facts.append(assumption_of(NO_NULL, negate(app(Op.IS_NONE, term))))
            elif k.type == "bigint" and self.is_read(k.name):
                facts.append(assumption_of(EXACT_INT, is_exact(term)))
        fold = self._fold(names, passes, by_row=True)
        return replace(fold, assumptions=(*facts, *fold.assumptions))

    def _find_passed(self, names: InputAttributes) -> Mapping[str, str]:
        """Return the input column that each output holds, if each row is made by itself. In a group
        that may be the key, unless it is a double: of zeros and NaN, the key may be another one.
        """
        if self.answer.passes is None:
            return {}
        same = {k.name for k in names.keys if self._comes_back(k.type, by_row=False)}
        return {**{n: k for n, k in self.answer.keys.items() if k in same}, **self.answer.passes}

    def is_read(self, name: str) -> bool:
        """Whether the result may depend on a column of the input."""
        return self.answer.reads is None or name in self.answer.reads

    def _find_typed_columns(self, names: InputAttributes) -> set[str]:
        """Return the columns of the input whose type in pandas may matter."""
        types = {k.name: k.type for k in names.keys}
        returned = {a.name: a.type for a in self.boundary.outputs}
        changed = {
            source
            for name, sources in self.answer.holds.items()
            for source in sources
            if returned.get(name) != types.get(source)
        }
        return {n for n in types if self.is_read(n)} & {*self.answer.typed, *changed}

    def _find_mixed_columns(self) -> tuple[str, ...]:
        """Return the result columns whose type in pandas, which depends on the other rows, may be
        seen in the values that Spark stores.
        """
        returned = {a.name: a.type for a in self.boundary.outputs}
        mixed = self.answer.mixed.items()
        return tuple(n for n, how in mixed if returned.get(n) not in SEEN_ALIKE[how])

    def obstacle(self, number: int) -> Declined | None:
        """Say why an output, by number, is not known to hold a column of the input in every row,
        although it has the name of a grouping column, or for a function of batches of any column.
        """
        output = next((a for a in self.boundary.outputs if a.id == number), None)
        name = "" if output is None else output.name.lower()
        input_ = next((a for a in self.boundary.inputs if a.name.lower() == name), None)
        if output is None or input_ is None:
            return None
        if not self.boundary.keys or input_.id in self.boundary.keys:
            return self._obstacle(output)
        return self._not_grouped(output, input_)

    def _not_grouped(self, output: Attribute, column: Attribute) -> Declined | None:
        """Say that a filter would move if a column was a grouping column, if it would."""
        if self.boundary.beside is not None or self._compares_rows_by(column.name):
            return None
        keys = (*self.boundary.keys, column.id)
        boundary = replace(self.boundary, keys=keys)
        grouped = analyze_unlifted(self.function, boundary, self.effects, self.timezone)
        if grouped.is_missed or output.name not in grouped.answer.keys:
            return None
        reason = f"{column.name}{NO_GROUPING}if each group has one, group by it, too"
        return Declined("not-grouped", reason)

    def _compares_rows_by(self, name: str) -> bool:
        """Whether a statement that looks at several rows names the column, as ``nlargest(3, "v")``
        does: groups by the column, too, would be other groups.
        """
        lines = {n.span.line for n in self.answer.notes if n.question == "rows" and n.span}
        source = function_source(self.function, generator=self.boundary.kind in MAPS)
        return any(
            name in (getattr(node, "value", None), getattr(node, "attr", None))
            for node in ast.walk(source.node)
            if isinstance(node, ast.Constant | ast.Attribute) and source.span(node).line in lines
        )

    def _obstacle(self, output: Attribute) -> Declined | None:
        """Say what keeps filters on an output from the rows or the groups that it comes from."""
        if self.is_missed:
            first, *others = self.answer.find_missed_effects(self.effects)
            # What is unknown may be so because of a value that is unknown before.
            later = tuple(self._effect(e) for e in others if e.kind != "unknown")
            return replace(self._effect(first), behind=Behind(lambda: later))
        of_keys = {**self.answer.texts, **self.answer.keys}
        passed = of_keys if self.boundary.keys else self.answer.passes or {}
        if output.name in passed:
            if self._comes_back(output.type, by_row=not self.boundary.keys):
                mixed = () if self.boundary.keys else self._find_mixed_columns()
                return self._tell_mixed(mixed[0]) if mixed else None
            where = f" in time zone {self.timezone}" if output.type == "timestamp" else ""
            reason = (
                f"values of {output.name}, of type {output.type}, may come back from pandas as"
                f" others{where}: pass on a column of another type, such as date or bigint, and"
                " filter that"
            )
            return Declined("column-type", reason)
        if not self.boundary.keys:
            return None  # the search for values meets the same obstacle
        note = next((n for n in self.answer.notes if n.question == "keys"), None)
        reason = f"{output.name} is not known to hold the group's key in each row"
        if note is None:
            return Declined("not-a-fold", reason)
        return Declined(note.code or "not-a-fold", f"{reason}: {note.reason}", note.span)

    def _tell_mixed(self, name: str) -> Declined:
        """Say that what is stored of a column depends on which rows pandas makes it from."""
        reason = (
            f"the type of {name} in pandas depends on which other rows are there, as values may be"
            " missing or of several kinds, and Spark may store another value once rows are dropped"
        )
        return Declined("column-type", reason)

    def _effect(self, effect: Effect) -> Declined:
        cause = _cause(self.answer, effect)
        text = effect.reason if cause is None else cause.reason
        reason = f"calls of the function must stay, as it may do more than return rows: {text}"
        return Declined(effect.code if cause is None else cause.code, reason, effect.span)

    def _fold(
        self, names: InputAttributes, sources: Mapping[str, str], *, by_row: bool = False
    ) -> Lifted:
        returned_keys = {k.name: k for k in names.keys if self._comes_back(k.type, by_row=by_row)}
        outputs = []
        for a in self.boundary.outputs:
            key = returned_keys.get(sources.get(a.name, ""))
            variable = None if key is None else _variable(key)
            if variable is not None and a.type == variable.type and a.nullable:
                value = Var(Scope.KEY, variable.name, variable.sort)
                term = nan_to_null(value) if a.type == "double" else some(value)
                outputs.append(Output(a.name, term.sort, a.type, term))
        (call,) = self.boundary.calls
        source = function_source(self.function, generator=self.boundary.kind in MAPS)
        place = source.span(source.node)
        fold = Fold(call.name, (), key_columns(names), (), tuple(outputs), span=place)
        return Lifted(fold, assume_unmissed(self.answer, self.effects), source.text)

    def _comes_back(self, type_: str, *, by_row: bool) -> bool:
        """Whether it is known what comes back from pandas for each value of the type."""
        if type_ == "timestamp":
            return fixed_offset(self.timezone) is not None
        known = type_ in _COMES_BACK or decimal_type(type_) is not None
        return known or (by_row and type_ == "double")


def assume_unmissed(answer: Dataflow, effects: Effects) -> tuple[Assumption, ...]:
    """Return the assumptions that nobody misses what a call that is left out does."""
    assumed = []
    for effect in answer.effects:
        line = 0 if effect.span is None else effect.span.line
        if effect.kind == "message":
            assumed.append(FEWER_MESSAGES.of(call=effect.what, line=line))
        elif effect.kind in UNMISSED[effects]:
            assumed.append(NO_EFFECT.of(call=effect.what, line=line))
    return tuple(dict.fromkeys(assumed))


_NUMBERS = frozenset(("tinyint", "smallint", "int", "bigint", "double", "boolean"))
SEEN_ALIKE: Mapping[str, frozenset[str]] = {
    "small": _NUMBERS,
    "text": frozenset(("string",)),
    "gaps": frozenset(),
    "real": _NUMBERS - {"bigint"},
    "any": _NUMBERS - {"bigint", "double"},
}
"""The types in which Spark stores a value alike, whatever type pandas has given the column, by what
the column holds (:data:`presieve.dataflow.abstract_values.Mixed`). An integer that no double holds
is no DOUBLE alone, and rounded beside NaN; a column of NaN alone is none of dates or texts.
"""


def analyze_unlifted(
    function: FunctionType, boundary: Boundary, effects: Effects, timezone: str
) -> Unlifted:
    """Analyze the function. Raises :class:`DeclineSignal`."""
    by_id = {a.id: a.name for a in boundary.inputs}
    keys = tuple(by_id[k] for k in boundary.keys)
    answer = dataflow(table_request(function, boundary, keys))
    return Unlifted(function, boundary, answer, effects, timezone)


def _cause(answer: Dataflow, effect: Effect) -> Note | None:
    """Return what makes an effect unknown: a value that is not known in the same statement."""
    if effect.kind != "unknown" or effect.span is None:
        return None
    return next((n for n in answer.notes if n.code and _is_on_line(n, effect.span.line)), None)


def _is_on_line(note: Note, line: int) -> bool:
    return note.span is not None and note.span.line == line


NULLS_MATTER = ("boolean", "tinyint", "smallint", "int", "bigint")
"""Types for which pandas makes one kind of column with NULL and another one without."""


def _not_null(attribute: Attribute) -> Assumption:
    c = _variable(attribute)
    assert c is not None
    return assumption_of(NO_NULL, negate(app(Op.IS_NONE, Var(Scope.KEY, c.name, c.sort))))


def _variable(attribute: Attribute) -> Column | None:
    return column(attribute.name, attribute.type, attribute.nullable)
