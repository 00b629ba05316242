# SPDX-License-Identifier: Apache-2.0
"""Trusted. Replace the members of PySpark's DataFrame classes that run a plan.

Classic and Connect DataFrames are hooked alike: each member of :data:`MEMBERS` that the class
itself defines is replaced by one that does the same on another DataFrame. The previous member,
which may be somebody else's replacement, is kept and put back as the very same object. The writers
of classic DataFrames are hooked to know when they write; they do the same as before.

Some members are left out on purpose: ``cache``, ``persist`` and views, which must keep referring to
the plan as it was written, so that later plans find them; transformations; and the members that
print a DataFrame by its name in a notebook.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial, wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from msgspec import Struct
from pyspark.sql import SparkSession
from pyspark.sql.dataframe import DataFrame

from presieve.backend.classic.gateway import session_uuid
from presieve.backend.classic.version_differences import ClassicDataFrame
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

FIRST_ROWS = ("take", "head", "first")
"""Actions that collect what ``limit`` makes of the DataFrame."""

WRITES = ("writeTo", "mergeInto")
"""Methods that make a writer of the DataFrame."""

LATER = ("toLocalIterator", "toJSON")
"""Actions that return before they have run."""

MEMBERS = (*ACTIONS, *WRITES, "explain", "write", "rdd")
"""All hooked members. Besides actions and writers: ``explain``, which shows the plan that would
run, and two properties.
"""

MAKE_WRITERS = (*WRITES, "write")
"""Members that return a writer."""

SAVES = (
    *("save", "saveAsTable", "insertInto", "json", "parquet", "text", "csv", "xml", "orc", "jdbc"),
    *("create", "replace", "createOrReplace", "append", "overwrite", "overwritePartitions"),
    "merge",
)
"""Methods of writers that write."""
WRITERS = {
    "pyspark.sql.readwriter": ("DataFrameWriter", "DataFrameWriterV2"),
    "pyspark.sql.merge": ("MergeIntoWriter",),
}
"""The classes of writers of classic DataFrames, by their modules."""

Through: TypeAlias = Callable[[Any, str], AbstractContextManager[Any]]
"""Maps the object on which a member is called, by its name, to the one that answers, for the time
of the call.
"""


class Writing(Struct, frozen=True):
    """What happens to writers: ``made`` is called with each new one, while the member that makes it
    still runs, and ``through`` is for the methods that write.
    """

    made: Callable[[object], None]
    through: Through


Instead: TypeAlias = Callable[..., Any]
"""Called in place of a member, with the previous member, the DataFrame that would answer, and the
arguments of a method.
"""


def session_key(spark: Any) -> str:
    """Return the identity of a session: PySpark makes several objects for one session.

    Raises :class:`GatewayError` if the session is gone.
    """
    key = _keys.get(spark)
    if key is None:
        classic = isinstance(spark, SparkSession)
        key = _keys[spark] = session_uuid(spark) if classic else str(spark.session_id)
    return key


_keys: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()


def frame_class(spark: object) -> type[DataFrame]:
    """Return the class of a session's DataFrames. Raises :class:`UsageError` if ``spark`` is no
    session.
    """
    if isinstance(spark, SparkSession):
        return ClassicDataFrame
    module = sys.modules.get("pyspark.sql.connect.session")
    if module is not None and isinstance(spark, module.SparkSession):
        from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame

        return ConnectDataFrame
    raise UsageError(f"a SparkSession is needed, not {spark!r}")


def visit_frame_classes(visit: Callable[[type[DataFrame]], None]) -> None:
    """Call ``visit`` for the DataFrame classes of all kinds of sessions that may exist in this
    process. That of Connect is slow to load, so it is visited as soon as somebody has loaded it.
    """
    visit(ClassicDataFrame)
    module = sys.modules.get(_CONNECT)
    if module is None:
        sys.meta_path.insert(0, _Watch(visit))
    else:
        visit(module.DataFrame)


_CONNECT = "pyspark.sql.connect.dataframe"


class _Watch(MetaPathFinder):
    """Waits until the module of Connect's DataFrame is loaded."""

    def __init__(self, visit: Callable[[type[DataFrame]], None]) -> None:
        self._visit = visit

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find this one module as Python would without us."""
        if name != _CONNECT or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenVisit(spec.loader, self._visit)
        return spec


class _ThenVisit(Loader):
    """Loads the module as its own loader does, then visits the class."""

    def __init__(self, loader: Loader, visit: Callable[[type[DataFrame]], None]) -> None:
        self._loader = loader
        self._visit = visit

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """See :class:`Loader`."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """See :class:`Loader`."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._visit(module.DataFrame)


class _Hooked(Struct, frozen=True):
    """One hooked member of a class: the present object and the one before."""

    owner: type
    name: str
    now: object
    before: object


class Hooks:
    """Replaced members of classes. Not safe to use from several threads at once."""

    __slots__ = ("_hooked", "_through", "_writing")

    def __init__(self, through: Through, writing: Writing) -> None:
        self._through = through
        self._writing = writing
        self._hooked: list[_Hooked] = []

    def install(self, owner: type, instead: dict[str, Instead] | None = None) -> None:
        """Hook a class, unless it is hooked. ``instead`` are members that should not run as they
        would.
        """
        if any(h.owner is owner for h in self._hooked):
            return
        for name in MEMBERS:
            made = self._writing.made if name in MAKE_WRITERS else None
            call = _Call(name, self._through, (instead or {}).get(name), made)
            self._replace(owner, call)
        if owner is not ClassicDataFrame:
            return
        for module, writers in WRITERS.items():
            for writer in writers:
                self._install_writer(find_class(module, writer))

    def _install_writer(self, owner: type | None) -> None:
        """Hook a class of writers, if this PySpark has it."""
        if owner is not None:
            for name in SAVES:
                self._replace(owner, _Call(name, self._writing.through))

    def _replace(self, owner: type, call: _Call) -> None:
        before = vars(owner).get(call.name)
        if before is not None:
            now = _replace_member(before, call)
            setattr(owner, call.name, now)
            self._hooked.append(_Hooked(owner, call.name, now, before))

    def remove(self) -> None:
        """Put the previous members back. If somebody has replaced a member since, their replacement
        stays, above one of ours that passes everything through.
        """
        for hooked in self._hooked:
            if vars(hooked.owner).get(hooked.name) is hooked.now:
                setattr(hooked.owner, hooked.name, hooked.before)
        self._hooked.clear()


def find_class(module: str, name: str) -> Any:
    """Return a class of PySpark; None if this PySpark lacks something that it needs, such as
    Connect's extra.
    """
    try:
        return getattr(import_module(module), name)
    except ImportError:
        return None


class _Call(Struct, frozen=True):
    """How a member is called: its name, on which object, what is called in its place, and who is
    told of what it returns.
    """

    name: str
    through: Through
    instead: Instead | None = None
    made: Callable[[object], None] | None = None


def _replace_member(before: Any, call: _Call) -> object:
    if isinstance(before, property):
        return property(_method(before.fget, call), doc=before.__doc__)
    if isinstance(before, cached_property):
        # It keeps its value in the object, as the one before: ``df.rdd is df.rdd``.
        replacement: cached_property[object] = cached_property(_method(before.func, call))
        replacement.__set_name__(ClassicDataFrame, call.name)
        return replacement
    return _method(before, call)


def _method(before: Any, how: _Call) -> Any:
    call = before if how.instead is None else partial(how.instead, before)

    @wraps(before)
    def call_hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with how.through(self, how.name) as answering:
            result = call(answering, *args, **kwargs)
            if how.made is not None:
                how.made(result)
            return result

    return call_hooked
