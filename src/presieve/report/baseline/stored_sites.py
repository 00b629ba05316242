# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The parts of a job that a baseline keeps: filters above functions, functions, and
files with derived filters. They have no lines, times, sizes or paths, so that they change only if
the job or its plan does.
"""

from __future__ import annotations

import re
from typing import ClassVar, TypeAlias

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.report.drawing.drawn_plan import conjuncts
from presieve.sql.lexer import Token, tokens


class FilterSite(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A filter above a function, an aggregate, a window or a join.

    Attributes:
        operator: Spark's operator.
        function: The function or the aggregate.
        filter: The filter, in Spark SQL.
        kind: As in :class:`presieve.report.report_data.BoundaryReport`.
        prefilter: The conjuncts of the filter below the function.
        scan: Those of them that reach the file scan.
        assuming: The codes of the assumptions of the proof.
        declined: The codes of the reasons why not more was pushed.
    """

    operator: str
    function: str
    filter: str
    kind: str = "none"
    prefilter: tuple[str, ...] = ()
    scan: tuple[str, ...] = ()
    assuming: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()

    section: ClassVar[str] = "filters"
    is_kept: ClassVar[bool] = True

    @property
    def is_better_than_written(self) -> bool:
        """Whether presieve changes something here."""
        return self.kind != "none"


class FunctionSite(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A Python function.

    Attributes:
        operator: Spark's operator.
        function: The function.
        runs_as: The form of what runs in place of the function; empty if the function runs.
        columns: The columns that it reads, if the others are no longer read.
        assuming: The codes of what else may change.
        declined: The codes of the reasons why it runs in Python, and why it gets all columns.
    """

    operator: str
    function: str
    runs_as: str = ""
    columns: tuple[str, ...] = ()
    assuming: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()

    section: ClassVar[str] = "functions"
    is_kept: ClassVar[bool] = True
    filter: ClassVar[str] = ""

    @property
    def is_better_than_written(self) -> bool:
        """Whether presieve changes something here."""
        return bool(self.runs_as or self.columns)


class DerivedSite(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Files, or rows of an operator, and the filter that is derived for them.

    Attributes:
        operator: Spark's operator; empty for files.
        function: The name of the files, or the functions of the operator.
        filter: The condition above them, in Spark SQL.
        derived: The conjuncts of the derived filter.
        assuming: The codes of what else may change.
        declined: The codes of the reasons why no filter is added.
    """

    operator: str
    function: str
    filter: str
    derived: tuple[str, ...] = ()
    assuming: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()

    section: ClassVar[str] = "derived"

    @property
    def is_better_than_written(self) -> bool:
        """Whether presieve changes something here."""
        return bool(self.derived)

    @property
    def is_kept(self) -> bool:
        """Whether a baseline has it. There are more files without a derived filter than with."""
        return bool(self.derived)


Site: TypeAlias = FilterSite | FunctionSite | DerivedSite


def title_of(site: Site) -> str:
    """The operator and the function, or the files."""
    return f"{site.operator or 'Files'} {site.function}".strip()


def split_filter(condition: str) -> tuple[str, ...]:
    """The conjuncts of a filter; none if it keeps all rows."""
    return () if condition in ("", "true") else conjuncts(condition)


_STRICT = {">=": ">", "<=": "<"}
_CAST = re.compile(r"\bCAST ((?:(?!\bCAST\b).)+?) AS \w+( \?(?: , \?)?)?(?= |$)", re.I)
_NEGATIVE = re.compile(r"(^|[=<>+*/%,] |\b(?:AND|OR|NOT|IN|BETWEEN|WHEN|THEN|ELSE) )- \?")
_TYPED = re.compile(r"\b(?:DATE|TIMESTAMP|TIMESTAMP_NTZ|TIMESTAMP_LTZ) \?")
_LIST = re.compile(r"\?(?: , \?)+")


def shape_of(condition: str) -> str:
    """What a condition has in common with one of other constants: its text without constants,
    casts and brackets, and without the difference between ``<`` and ``<=``. Two texts of one
    filter, as Catalyst prints it and as presieve writes it, have one shape.
    """
    try:
        words = [_word(t) for t in tokens(condition)]
    except DeclineSignal:
        return condition
    text = " ".join(filter(None, words))
    before = ""
    while before != text:
        before, text = text, _CAST.sub(r"\1", text)
    return _LIST.sub("?", _TYPED.sub("?", _NEGATIVE.sub(r"\1?", text)))


def _word(token: Token) -> str:
    if token.kind in ("number", "string"):
        return "?"
    return "" if token.is_operator("(", ")") else _STRICT.get(token.text, token.text)


def shapes_of(conditions: tuple[str, ...]) -> frozenset[str]:
    """The shapes of several conditions."""
    return frozenset(map(shape_of, conditions))


def names_in(condition: str) -> tuple[str, ...]:
    """The words of a condition that may be columns, sorted."""
    words = re.findall(r"[^\W\d]\w*", shape_of(condition))
    return tuple(sorted({w for w in words if not w.isupper()}))
