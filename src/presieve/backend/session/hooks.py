"""Trusted. The members of PySpark's DataFrame classes that run a plan, and others in their place.

Both kinds of DataFrame, classic and Connect, are hooked alike: each member of :data:`MEMBERS` that
the class itself defines is replaced by one that does the same on another DataFrame. What stood
there, perhaps somebody else's replacement, is kept and put back as the very same object.

Not among the members, on purpose: ``cache``, ``persist`` and views, which must go on standing for
the plan as it was written, so that later plans find them; transformations; and what prints a
DataFrame by its name in a notebook.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.dataframe import DataFrame

from presieve.backend.classic.gateway import session_uuid
from presieve.backend.classic.versions import ClassicDataFrame
from presieve.errors import UsageError

ACTIONS = (
    *("collect", "count", "isEmpty", "show", "take", "head", "first", "tail"),
    *(
        "toPandas",
        "_to_pandas",
        "toArrow",
        "toLocalIterator",
        "toJSON",
        "foreach",
        "foreachPartition",
    ),
    *("approxQuantile", "corr", "cov", "checkpoint", "localCheckpoint"),
)
"""Methods that run the plan, or hand it over to be run."""

WRITES = ("writeTo", "mergeInto")
"""Methods that make a writer of the DataFrame."""

MEMBERS = (*ACTIONS, *WRITES, "explain", "write", "rdd")
"""All that is hooked: also what shows the plan that would run, and two properties."""

Through: TypeAlias = Callable[[Any], AbstractContextManager[Any]]
"""From the DataFrame that a member is asked of to the one that answers, for as long as it does."""

Instead: TypeAlias = Callable[..., Any]
"""What is called in place of a member: with what was there, the DataFrame that would answer and the
arguments of a method.
"""


def session_key(spark: Any) -> str:
    """What tells sessions apart: PySpark makes several objects of one session.

    Raises :class:`GatewayError` where the session is gone.
    """
    key = _keys.get(spark)
    if key is None:
        classic = isinstance(spark, SparkSession)
        key = _keys[spark] = session_uuid(spark) if classic else str(spark.session_id)
    return key


_keys: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()


def frame_class(spark: object) -> type[DataFrame]:
    """The class of a session's DataFrames. :class:`UsageError` where it is no session."""
    if isinstance(spark, SparkSession):
        return ClassicDataFrame
    module = sys.modules.get("pyspark.sql.connect.session")
    if module is not None and isinstance(spark, module.SparkSession):
        from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame

        return ConnectDataFrame
    raise UsageError(f"a SparkSession is needed, not {spark!r}")


def frame_classes() -> tuple[type[DataFrame], ...]:
    """The classes of all sessions that there may be in this process."""
    try:
        from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
    except ImportError:  # PySpark's own word for extras of Connect that are not installed
        return (ClassicDataFrame,)
    return (ClassicDataFrame, ConnectDataFrame)


@dataclass(frozen=True, slots=True)
class _Hooked:
    """One member of a class: what stands there now, and what did before."""

    owner: type
    name: str
    now: object
    before: object


class Hooks:
    """Replaced members of classes. Not safe to use from several threads at once."""

    __slots__ = ("_hooked", "_through")

    def __init__(self, through: Through) -> None:
        self._through = through
        self._hooked: list[_Hooked] = []

    def install(self, owner: type, instead: dict[str, Instead] | None = None) -> None:
        """Hook a class, unless it is. ``instead`` are members that are not to run as they would."""
        if any(h.owner is owner for h in self._hooked):
            return
        for name in MEMBERS:
            before = vars(owner).get(name)
            if before is None:
                continue
            now = _replace_member(before, name, self._through, (instead or {}).get(name))
            setattr(owner, name, now)
            self._hooked.append(_Hooked(owner, name, now, before))

    def remove(self) -> None:
        """Put back what stood there before. Where somebody has replaced a member since, theirs
        stays, over one of ours that passes everything through.
        """
        for hooked in self._hooked:
            if vars(hooked.owner).get(hooked.name) is hooked.now:
                setattr(hooked.owner, hooked.name, hooked.before)
        self._hooked.clear()


def _replace_member(before: Any, name: str, through: Through, instead: Instead | None) -> object:
    if isinstance(before, property):
        return property(_method(before.fget, through, instead), doc=before.__doc__)
    if isinstance(before, cached_property):
        # It keeps its value in the object, as the one before: ``df.rdd is df.rdd``.
        replacement: cached_property[object] = cached_property(
            _method(before.func, through, instead)
        )
        replacement.__set_name__(ClassicDataFrame, name)
        return replacement
    return _method(before, through, instead)


def _method(before: Any, through: Through, instead: Instead | None) -> Any:
    call = before if instead is None else partial(instead, before)

    @wraps(before)
    def hooked(self: DataFrame, *args: Any, **kwargs: Any) -> Any:
        with through(self) as answering:
            return call(answering, *args, **kwargs)

    return hooked
