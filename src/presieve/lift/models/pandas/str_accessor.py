# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns of texts, element by element (``column.str``): Python's own methods.

Sources: pandas 2.3 ``core/strings/object_array.py``: Spark creates an array of objects, and pandas
calls Python's method on each text. Missing elements stay missing, or become ``na``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import partial

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, INT, STRING, Option, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Term, int_lit, none_lit, string_lit
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.builtins import padded_texts, regular_expressions, strings
from presieve.lift.models.pandas.column_arithmetic import strict_in_both
from presieve.lift.models.pandas.series import check_aligned, keep_missing, like, vector
from presieve.lift.models.registry import Model, method
from presieve.lift.values.symbolic import Known, ListV, Scalar, TupleV, Value, constant_of
from presieve.lift.values.text_parts import FindingsV, SplitV
from presieve.lift.values.whole_columns import AccessV, NumberedV, PartV, SplitsV, VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    fold_constants,
    is_missing,
    ite,
    or_,
    some,
    unwrap_option,
)


def _texts(call: ModelCall, owner: Value) -> VectorV | None:
    return _column(call.m, owner)


def _column(m: SymbolicMachine, owner: Value) -> VectorV | None:
    column = vector(m, owner.of) if isinstance(owner, AccessV) else None
    if column is None or column.loose or column.array:
        return None  # a column of doubles has no texts
    return column if strip(column.term.sort) == STRING else None


def _of_elements(v: VectorV, term: Term) -> VectorV:
    """Build a column of ``term`` for each text; missing elements stay missing."""
    return VectorV(keep_missing(v, term), v.rows, None, False, v.ordered, by=v.by)


def _call_on_each(call: ModelCall, v: VectorV, model: Model) -> VectorV | None:
    """Apply the model of a Python text method to each element."""
    element = model(call, Scalar(unwrap_option(v.term)))
    return _of_elements(v, element.term) if isinstance(element, Scalar) else None


@method(AccessV, "str.upper", "str.lower", arguments=0, fresh=True, owner=_texts)
def change_case(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.upper()`` and ``column.str.lower()``."""
    return _call_on_each(call, v, strings.change_case)


@method(
    AccessV,
    *("str.strip", "str.lstrip", "str.rstrip"),
    arguments=range(2),
    fresh=True,
    owner=_texts,
)
def strip_texts(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.strip()``, ``lstrip`` and ``rstrip``, also of constant characters."""
    return _call_on_each(call, v, strings.strip_text)


@method(
    AccessV,
    *("str.capitalize", "str.title", "str.casefold", "str.swapcase"),
    arguments=0,
    fresh=True,
    owner=_texts,
)
def recase(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.title()``, ``capitalize``, ``casefold`` and ``swapcase``."""
    return _call_on_each(call, v, strings.recase)


@method(AccessV, "str.zfill", arguments=1, fresh=True, owner=_texts)
def fill_with_zeros(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.zfill(width)`` of a constant width."""
    return _call_on_each(call, v, padded_texts.fill_with_zeros)


@method(
    AccessV,
    *("str.rjust", "str.ljust"),
    arguments=range(1, 3),
    keywords=("fillchar",),
    fresh=True,
    owner=_texts,
)
def justify(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.rjust(width, fillchar)`` and ``ljust``, with constants."""
    return _pad(v, call.args, call.named, before=call.name == "rjust")


@method(
    AccessV,
    "str.pad",
    arguments=1,
    keywords=("side", "fillchar"),
    fresh=True,
    owner=_texts,
)
def pad_texts(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.pad(width, side, fillchar)`` on the left or on the right, with constants."""
    side = constant_of(call.named["side"], STRING) if "side" in call.named else "left"
    if side not in ("left", "right"):
        return None
    return _pad(v, call.args, call.named, before=side == "left")


def _pad(
    v: VectorV, args: Sequence[Value], named: Mapping[str, Value], *, before: bool
) -> VectorV | None:
    given = (*args, named["fillchar"]) if "fillchar" in named else (*args,)
    width = constant_of(given[0], INT)
    fill = constant_of(given[1], STRING) if len(given) == 2 else " "
    if type(width) is not int or not isinstance(fill, str) or len(given) > 2:
        return None
    padded = padded_texts.pad(unwrap_option(v.term), width, fill, before=before)
    return None if padded is None else _of_elements(v, padded)


@method(
    AccessV, "str.cat", arguments=range(1, 3), keywords=("sep", "na_rep"), fresh=True, owner=_texts
)
def concatenate(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.cat(other, sep)`` of a column, or a list of columns, of the same table."""
    others = call.flow.dereference(call.args[0])
    columns = others.items if isinstance(others, ListV | TupleV) else (others,)
    given = (*call.args[1:], *(call.named[n] for n in ("sep",) if n in call.named))
    between = constant_of(given[0], STRING) if given else ""
    filler = constant_of(call.named["na_rep"], STRING) if "na_rep" in call.named else None
    if len(given) > 1 or not isinstance(between, str) or ("na_rep" in call.named) != bool(filler):
        return None
    texts = [v, *(c for c in map(partial(vector, call.m), columns) if c is not None)]
    if len(texts) <= len(columns) or any(
        t.loose or t.array or strip(t.term.sort) != STRING for t in texts
    ):
        return None
    for text in texts[1:]:
        check_aligned(v, text)
    terms = [t.term for t in texts]
    if filler is not None:
        terms = [ite(is_missing(t), string_lit(str(filler)), unwrap_option(t)) for t in terms]
    joined = terms[0]
    for term in terms[1:]:
        start = strict_in_both(Op.TEXT_CONCAT, joined, string_lit(between)) if between else joined
        joined = strict_in_both(Op.TEXT_CONCAT, start, term)
    return like(joined, v)


@method(AccessV, "str.removeprefix", arguments=1, fresh=True, owner=_texts)
def without_prefix(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.removeprefix(prefix)`` of a constant."""
    return _call_on_each(call, v, strings.without_prefix)


@method(AccessV, "str.removesuffix", arguments=1, fresh=True, owner=_texts)
def without_suffix(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.removesuffix(suffix)`` of a constant."""
    return _call_on_each(call, v, strings.without_suffix)


@method(AccessV, "str.replace", arguments=2, keywords=("regex",), fresh=True, owner=_texts)
def replace_in_texts(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.replace(part, by)`` of constants, also with ``regex=True``."""
    if _is_false(call.named.get("regex", Scalar(FALSE))):
        return _call_on_each(call, v, strings.replace_text)
    if call.named["regex"] != Scalar(TRUE):
        return None
    text = unwrap_option(v.term)
    replaced = regular_expressions.substitute_in(call, call.args[0], call.args[1], text)
    return None if replaced is None else _of_elements(v, replaced)


@method(AccessV, "str.extract", arguments=1, keywords=("expand",), fresh=True, owner=_texts)
def extract_groups(call: ModelCall, v: VectorV) -> VectorV | PartV | NumberedV | None:
    """``column.str.extract(pattern, expand=False)`` of a constant pattern with one group, which
    takes part in each match; without ``expand`` a table of its groups, all named or none.
    """
    is_table = not _is_false(call.named.get("expand", Scalar(TRUE)))
    text = unwrap_option(v.term)
    groups = regular_expressions.find_groups(call, call.args[0], text)
    if groups is None:
        return None
    columns = [_group_column(v, groups.there, g) for g in groups.terms]
    if not is_table:
        return columns[0] if len(columns) == 1 else None
    if None in groups.names:
        return NumberedV(tuple(columns)) if set(groups.names) == {None} else None
    names = tuple(str(n) for n in groups.names)
    made = tuple(zip(names, columns, strict=True))
    return PartV(names, v.rows, v.ordered, made, v.by)


def _group_column(v: VectorV, there: Term, group: Term) -> VectorV:
    """Build the column of what a group matches in each text; missing where nothing matches."""
    term = ite(there, some(group), none_lit(STRING))
    if isinstance(v.term.sort, Option):
        term = ite(is_missing(v.term), none_lit(STRING), term)
    return like(term, v)


def _parts_or_texts(call: ModelCall, owner: Value) -> SplitsV | VectorV | None:
    if isinstance(owner, AccessV) and isinstance(owner.of, SplitsV):
        return owner.of
    return _column(call.m, owner)


@method(AccessV, "str.len", arguments=0, fresh=True, owner=_parts_or_texts)
def lengths(call: ModelCall, of: SplitsV | VectorV) -> VectorV | None:
    """``column.str.len()``, also of ``column.str.split(separator)``."""
    match of:
        case VectorV():
            return _numbers(call, of, apply_function(Op.TEXT_LENGTH, unwrap_option(of.term)))
        case SplitsV(v, SplitV() as parts):
            number = strings.count_parts(parts)
            return None if number is None else _numbers(call, v, number)
        case SplitsV(v, FindingsV() as words):
            return _numbers(call, v, regular_expressions.count_findings(words))
    return None


@method(AccessV, "str.find", "str.rfind", arguments=1, fresh=True, owner=_texts)
def place_of(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.find(part)`` and ``rfind`` of a constant."""
    place = strings.place_of(call, Scalar(unwrap_option(v.term)))
    return _numbers(call, v, place.term) if isinstance(place, Scalar) else None


@method(
    AccessV,
    *("str.isdigit", "str.isdecimal", "str.isnumeric", "str.isalpha", "str.isalnum"),
    *("str.isspace", "str.islower", "str.isupper"),
    arguments=0,
    fresh=True,
    owner=_texts,
)
def is_of_kind(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.isdigit()`` and the like."""
    of_kind = strings.is_of_kind(call, Scalar(unwrap_option(v.term)))
    return _of_elements(v, of_kind.term) if isinstance(of_kind, Scalar) else None


@method(AccessV, "str.count", arguments=1, fresh=True, owner=_texts)
def count_matches(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.count(pattern)`` of a constant pattern."""
    number = regular_expressions.count_in(call, call.args[0], unwrap_option(v.term))
    return None if number is None else _numbers(call, v, number)


def _numbers(call: ModelCall, v: VectorV, term: Term) -> VectorV:
    """Build a column of an integer for each text: doubles, if one is missing."""
    loose = call.m.columns.single and isinstance(v.term.sort, Option)
    return replace(_of_elements(v, term), loose=loose)


@method(AccessV, "str.startswith", arguments=1, keywords=("na",), fresh=True, owner=_texts)
def starts_with(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.startswith(text, na=False)`` of a constant string, or of a tuple of them."""
    return _condition_column(call, v, strings.starts_with_any(unwrap_option(v.term), call.args[0]))


@method(AccessV, "str.endswith", arguments=1, keywords=("na",), fresh=True, owner=_texts)
def ends_with(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.endswith(text, na=False)`` of a constant string, or of a tuple of them."""
    return _condition_column(call, v, strings.ends_with_any(unwrap_option(v.term), call.args[0]))


@method(
    AccessV,
    *("str.contains", "str.match", "str.fullmatch"),
    arguments=1,
    keywords=("na", "regex", "case"),
    fresh=True,
    owner=_texts,
)
def contains(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.contains(text, na=False)``, ``match`` and ``fullmatch`` of a constant pattern;
    also with ``regex=False`` or ``case=False``.
    """
    case = call.named.get("case", Scalar(TRUE))
    plain = _is_false(call.named.get("regex", Scalar(TRUE)))
    pattern, flags = _pattern_of(call.args[0])
    if pattern is None or (plain and call.name != "contains"):
        return None
    if not (case == Scalar(TRUE) or (_is_false(case) and not plain and not flags)):
        return None
    flags |= 0 if case == Scalar(TRUE) else int(re.IGNORECASE)
    text = unwrap_option(v.term)
    if call.name == "contains" and pattern and not flags:
        if plain or re.escape(pattern) == pattern:
            return _condition_column(
                call, v, apply_function(Op.TEXT_CONTAINS, text, string_lit(pattern))
            )
    if plain:
        return None
    how = "search" if call.name == "contains" else call.name
    return _condition_column(call, v, regular_expressions.matches(how, pattern, flags, text))


def _pattern_of(value: Value) -> tuple[str | None, int]:
    """Return a constant pattern, perhaps a compiled one, and its flags."""
    if isinstance(value, Known) and isinstance(value.target, re.Pattern):
        pattern = value.target.pattern
        flags = value.target.flags & ~int(re.UNICODE)
        return (pattern if isinstance(pattern, str) else None), flags
    text = constant_of(value, STRING)
    return (text if isinstance(text, str) else None), 0


def _condition_column(call: ModelCall, v: VectorV, condition: Term | None) -> VectorV | None:
    """Build a column of a condition on each text; missing texts stay missing or become ``na=``."""
    if condition is None or "na" not in call.named:
        return None if condition is None else _of_elements(v, condition)
    filler = call.named["na"]
    if not isinstance(filler, Scalar) or filler.base != BOOL or not isinstance(filler.term, Lit):
        return None
    if isinstance(v.term.sort, Option):
        absent = is_missing(v.term)
        no = filler.term == FALSE
        condition = and_(negate(absent), condition) if no else or_(absent, condition)
    return VectorV(condition, v.rows, None, False, v.ordered, by=v.by)


# --- parts of texts -------------------------------------------------------------------------------


@method(
    AccessV,
    "str.slice",
    arguments=range(3),
    keywords=("start", "stop"),
    fresh=True,
    owner=_texts,
)
def slice_by_method(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.slice(start, stop)`` with constant bounds; ``stop`` must not be negative."""
    named = {k.arg: k.value for k in call.node.keywords}
    ends = dict(zip(("start", "stop"), call.node.args, strict=False)) | named
    if len(ends) < len(call.node.args) + len(named):
        return None
    nodes = (None if _is_none(ends.get(n)) else ends.get(n) for n in ("start", "stop"))
    return _slice(call.m, call.flow, v, ast.Slice(*nodes))


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


@method(
    AccessV,
    *("str.split", "str.rsplit"),
    arguments=range(2),
    keywords=("n", "expand"),
    owner=_texts,
)
def split_texts(call: ModelCall, v: VectorV) -> SplitsV | NumberedV | None:
    """``column.str.split(separator, n=1)`` and ``rsplit`` of a constant text, or of white space, of
    which one part or their number is used; with ``expand`` the first part.
    """
    separator = constant_of(call.args[0], STRING) if call.args else None
    if call.args and (not isinstance(separator, str) or not separator):
        return None
    plain = separator is None or len(str(separator)) == 1 or call.name == "rsplit"
    if not plain and re.escape(str(separator)) != separator:
        return None  # a regular expression
    most = constant_of(call.named["n"], INT) if "n" in call.named else -1
    if type(most) is not int or (most > 0 and not call.args):
        return None
    counted = (*call.args, Scalar(int_lit(most))) if most > 0 else call.args
    element = call._replace(args=counted, named={})
    parts = strings.split(element, Scalar(unwrap_option(v.term)))
    if not isinstance(parts, SplitV | FindingsV):
        return None
    splits = SplitsV(v, parts)
    if _is_false(call.named.get("expand", Scalar(FALSE))):
        return splits
    if not isinstance(parts, SplitV) or v.rows != TRUE:
        return None  # of no text, or texts without words, there is no column
    first = item_of(splits, Scalar(int_lit(0)))
    return None if first is None else NumberedV((first,))


@method(AccessV, "str.partition", "str.rpartition", arguments=1, fresh=True, owner=_texts)
def partition(call: ModelCall, v: VectorV) -> NumberedV | None:
    """``column.str.partition(separator)`` of a constant, of which the first column is used."""
    sides = strings.partition(call, Scalar(unwrap_option(v.term)))
    first = sides.items[0] if isinstance(sides, TupleV) and v.rows == TRUE else None
    # Of missing texts alone, pandas makes one column, and of no text none.
    return NumberedV((_of_elements(v, first.term),)) if isinstance(first, Scalar) else None


@method(AccessV, "str.get", arguments=1, fresh=True, owner=_parts_or_texts)
def item(call: ModelCall, of: SplitsV | VectorV) -> VectorV | None:
    """``column.str.split(separator).str.get(place)``, or ``.str[place]``; of texts a character."""
    return item_of(of, call.args[0])


def item_at(m: SymbolicMachine, owner: AccessV, key: Value) -> VectorV | None:
    """Evaluate ``column.str[place]``."""
    of = owner.of if isinstance(owner.of, SplitsV) else _column(m, owner)
    return None if of is None else item_of(of, key)


def item_of(of: SplitsV | VectorV, key: Value) -> VectorV | None:
    """Return the part, or the character, at a place of each text; missing if there is none. If
    there is none in all texts, pandas makes a column of doubles.
    """
    place = constant_of(key, INT)
    if type(place) is not int:
        return None
    v = of.of if isinstance(of, SplitsV) else of
    found = _part_at(of, place)
    if found is None:
        return None
    part, lacks = found
    term = ite(lacks, none_lit(STRING), some(part)) if lacks != FALSE else part
    if isinstance(v.term.sort, Option):
        term = ite(is_missing(v.term), none_lit(STRING), some(term))
    may_lack = lacks != FALSE
    return VectorV(term, v.rows, None, False, v.ordered, by=v.by, loose=may_lack, gaps=may_lack)


def _part_at(of: SplitsV | VectorV, place: int) -> tuple[Term, Term] | None:
    """Return a part of a text, and whether the text has none at this place."""
    match of:
        case SplitsV(_, SplitV() as parts):
            return strings.find_part(parts, place)
        case SplitsV(_, FindingsV() as words):
            return regular_expressions.find_word(words, place)
        case VectorV(term) if place >= 0:
            text = unwrap_option(term)
            rest = apply_function(Op.TEXT_TAIL, text, int_lit(place)) if place else text
            part = apply_function(Op.TEXT_HEAD, rest, int_lit(1))
            return part, fold_constants(app(Op.PY_EQ, part, string_lit("")))
    return None


def _is_false(value: Value) -> bool:
    return isinstance(value, Scalar) and value.term == FALSE


def slice_texts(m: SymbolicMachine, flow: Flow, owner: AccessV, where: ast.Slice) -> VectorV | None:
    """Evaluate ``column.str[a:b]`` with constant bounds; ``b`` must not be negative."""
    v = _column(m, owner) if owner.by == "str" else None
    return None if v is None else _slice(m, flow, v, where)


def _slice(m: SymbolicMachine, flow: Flow, v: VectorV, where: ast.Slice) -> VectorV | None:
    text_slice = strings.slice_text(m, flow, Scalar(unwrap_option(v.term)), where)
    return None if text_slice is None else _of_elements(v, text_slice.term)
