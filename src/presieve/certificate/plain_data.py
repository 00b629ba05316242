# SPDX-License-Identifier: Apache-2.0
"""Trusted. Statements of certificates as plain data for ``json``, and back: a dict for a record,
in which each field has the form of its type.

Terms and problems are in the IR's text form, so that they are read back without loss.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from presieve.ir.fold import Problem
from presieve.ir.terms import App, Lit, Term, Var
from presieve.ir.text import parse_problem, parse_term, print_problem, print_term
from presieve.records import field_names, is_record

_T = TypeVar("_T")


def write_fields(statement: Any) -> dict[str, object]:
    """The fields of a record by name; the problem, which is long, comes last."""
    values = {name: getattr(statement, name) for name in field_names(statement)}
    names = sorted(values, key=lambda name: isinstance(values[name], Problem))
    return {name: _write(values[name]) for name in names}


def _write(value: Any) -> object:
    if isinstance(value, App | Lit | Var):
        return print_term(value)
    if isinstance(value, Problem):
        return print_problem(value).splitlines()
    if isinstance(value, tuple):
        return [_write(v) for v in value]
    if hasattr(value, "to_json"):
        return value.to_json()
    return write_fields(value) if is_record(value) else value


def read_fields(cls: type[_T], data: Mapping[str, Any], may_lack: Collection[str] = ()) -> _T:
    """Inverse of :func:`write_fields`. Older certificates may lack some fields.

    Raises KeyError, TypeError, ValueError or :class:`presieve.errors.PresieveError` if ``data`` is
    malformed.
    """
    types = _types_of(cls)  # type: ignore[arg-type]
    names = [name for name in types if name in data or name not in may_lack]
    for name in sorted(names, key=lambda name: types[name] is Problem):
        if name not in data:
            raise KeyError(name)
    return cls(**{name: _read(types[name], data[name], name) for name in names})


@cache
def _types_of(cls: Any) -> Mapping[str, Any]:
    """The types of a record's fields. A certificate has many witnesses of one class."""
    types = get_type_hints(cls)
    return {name: types[name] for name in field_names(cls)}


def _read(kind: Any, data: Any, name: str) -> Any:
    if kind == Term:
        return parse_term(data)
    if kind is Problem:
        return parse_problem("\n".join(as_list(data)))
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], v, name) for v in as_list(data))
    if get_origin(kind) is Literal:
        if data not in get_args(kind):
            raise ValueError(f"{name} is none of the known ones")
        return data
    if hasattr(kind, "parse"):
        return kind.parse(data)
    if isinstance(kind, type) and is_record(kind):
        return read_fields(kind, data)
    return kind(data)


def as_list(data: object) -> list[Any]:
    """Return ``data`` if it is a list, else raise TypeError: a string or a dict is iterable too,
    and would pass for an empty list.
    """
    if not isinstance(data, list):
        raise TypeError(f"a list is expected, not {data!r}")
    return data
