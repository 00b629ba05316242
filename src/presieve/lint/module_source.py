# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Objects of a module, built from its source: nothing of the module is run.

Functions are built from the module's compiled code, so the lifter reads them like loaded ones. The
names that they use are constants of the source, functions and plain classes of the module and of
its neighbours, and objects of libraries. Other names have a value only when the job runs.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any

from presieve.errors import DeclineSignal, UsageError
from presieve.lift.python.bindings import (
    ModuleText,
    UndecidedSignal,
    names_in,
    read_module,
    stars,
    value_of,
)
from presieve.lift.python.constant_expressions import compute_constant
from presieve.lift.python.container_uses import may_change
from presieve.lint.library_objects import (
    NO_OBJECT,
    call_library,
    import_library,
    is_library,
    make_dataclass,
    make_record,
    member_of,
)

AT_RUN_TIME = "only a run tells what it uses: "
"""How the reason starts if a name has a value only when the job runs: that is no obstacle."""

MODULE_NAME = "_presieve_linted"
"""The name of a module that is not loaded, so its objects are read as the source has them."""

_raises: ContextVar[bool] = ContextVar("_raises", default=True)


@contextmanager
def with_open_names() -> Iterator[None]:
    """Treat names with a value at run time only as missing, and not as the end of the reading."""
    token = _raises.set(False)
    try:
        yield
    finally:
        _raises.reset(token)


class Namespace(dict[str, object]):
    """The global names of a module, each built when it is first looked up."""

    def __init__(self, module: ModuleSource) -> None:
        super().__init__({"__name__": MODULE_NAME, "__file__": module.file})
        self.module = module
        self.open_cells: dict[str, str] = {}
        """Variables of enclosing functions without a value, and why."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.module.text.scope

    def get(self, name: str, default: Any = None) -> Any:
        """Return the object. Raises :class:`DeclineSignal`, see ``AT_RUN_TIME``."""
        if super().__contains__(name):
            return self[name]
        try:
            if name in self.open_cells and name not in self.module.text.scope:
                raise UndecidedSignal(self.open_cells[name])
            target = self.module.global_object(name)
        except UndecidedSignal as signal:
            if _raises.get():
                reason = f"{AT_RUN_TIME}{name}: {signal}"
                raise DeclineSignal("unknown-name", reason) from signal
            return default
        if target is NO_OBJECT:
            return default
        self[name] = target
        return target


class Frame:
    """A function whose inner names are looked up, and the values of its parameters, if known."""

    def __init__(self, node: ast.FunctionDef, arguments: Mapping[str, object]) -> None:
        self.node = node
        self.arguments = arguments


@dataclass(frozen=True)
class SourceScope:
    """Where an expression stands: a module, and the functions around, the outermost first."""

    module: ModuleSource
    frames: tuple[Frame, ...] = ()

    def inside(self, node: ast.FunctionDef, arguments: Mapping[str, object]) -> SourceScope:
        """Return the scope in the body of a function."""
        return SourceScope(self.module, (*self.frames, Frame(node, arguments)))

    def binding(self, name: str) -> tuple[ast.stmt, SourceScope] | None:
        """Return the one statement that binds a name, and its scope; None if nothing does, or a
        parameter. Raises :class:`UndecidedSignal` if several do.
        """
        for at in reversed(range(len(self.frames))):
            node = self.frames[at].node
            if name in _parameters(node):
                return None
            statements = names_in(node).get(name, [])
            if len(statements) > 1:
                raise UndecidedSignal(f"{node.name} binds it in several places")
            if statements:
                return statements[0], SourceScope(self.module, self.frames[: at + 1])
        statement = self.module.text.binding(name)
        return None if statement is None else (statement, SourceScope(self.module))

    def look(self, name: str) -> object:
        """Return the object that a name means. Raises :class:`UndecidedSignal`."""
        for frame in reversed(self.frames):
            if name in frame.arguments:
                return frame.arguments[name]
            if name in _parameters(frame.node):
                raise UndecidedSignal(f"a parameter of {frame.node.name} has it")
            if name in names_in(frame.node):
                break
        bound = self.binding(name)
        if bound is not None and bound[1].frames:
            return self.module.bound_object(bound[1], bound[0], name)
        target = self.module.global_object(name)
        if target is NO_OBJECT:
            target = vars(builtins).get(name, NO_OBJECT)
        if target is NO_OBJECT:
            raise UndecidedSignal(f"nothing in {self.module.path.name} defines it")
        return target


def _parameters(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return [a.arg for a in every if a is not None]


@dataclass(eq=False)
class ModuleSource:
    """A file, read and compiled. ``origins`` says where built functions are defined."""

    path: Path
    text: ModuleText
    codes: tuple[CodeType, ...]
    neighbours: dict[Path, ModuleSource | None]
    namespace: Namespace = field(init=False)
    built: dict[tuple[int, tuple[Frame, ...]], FunctionType] = field(default_factory=dict)
    origins: dict[FunctionType, tuple[SourceScope, ast.FunctionDef | ast.Lambda]] = field(
        default_factory=dict
    )
    open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.namespace = Namespace(self)

    @property
    def file(self) -> str:
        """The file's name, as messages have it."""
        return str(self.path)

    @property
    def scope(self) -> SourceScope:
        """The scope of the module itself."""
        return SourceScope(self)

    # --- names ----------------------------------------------------------------------------------

    def global_object(self, name: str) -> object:
        """Return the object that the module binds to a name, ``NO_OBJECT`` if it binds none.

        Raises :class:`UndecidedSignal` if only a run of the module tells.
        """
        statement = self.text.binding(name)
        if statement is None:
            return self._from_star(name)
        if name in self.open:
            raise UndecidedSignal("it is defined by itself")
        self.open.add(name)
        try:
            target = self.bound_object(self.scope, statement, name)
        finally:
            self.open.discard(name)
        if may_change(self.text.tree, name, target):
            raise UndecidedSignal("it may be changed in place while the module is loaded")
        return target

    def _from_star(self, name: str) -> object:
        for star in stars(self.text):
            if star.level or (star.module or "").partition(".")[0] == "pyspark":
                continue
            target = member_of(import_library(star.module or ""), name)
            if target is not NO_OBJECT:
                return target
        return NO_OBJECT

    def bound_object(self, scope: SourceScope, statement: ast.stmt, name: str) -> object:
        """Return what a statement binds to a name. Raises :class:`UndecidedSignal`."""
        match statement:
            case ast.FunctionDef():
                return self.build_decorated(scope, statement)
            case ast.ClassDef():
                return self.built_class(scope, statement)
            case ast.Assign() | ast.AnnAssign():
                value = value_of(statement, name)
                assert value is not None
                return self.evaluate(scope, value)
            case ast.Import(aliases):
                return _import_alias(aliases, name)
            case ast.ImportFrom():
                return self._imported_from(statement, name)
        raise UndecidedSignal(f"a statement {type(statement).__name__.lower()} binds it")

    def _imported_from(self, statement: ast.ImportFrom, name: str) -> object:
        aliases = [a.name for a in statement.names if (a.asname or a.name) == name]
        of_library = not statement.level and is_library(statement.module or "")
        neighbour = None if of_library else self.neighbour(statement.module or "", statement.level)
        if neighbour is None:
            return member_of(import_library(statement.module or ""), aliases[0])
        target = neighbour.global_object(aliases[0])
        if target is NO_OBJECT:
            raise UndecidedSignal(f"{neighbour.path.name} does not define it")
        return target

    def neighbour(self, name: str, level: int) -> ModuleSource | None:
        """Return the module of the same project that an import names; None if there is none."""
        folder = Path(os.path.abspath(self.path)).parent
        parts = name.split(".") if name else []
        above = [folder, *folder.parents][:_MOST_FOLDERS]
        starts = [[folder, *folder.parents][level - 1]] if level else above
        for start in starts:
            stem = start.joinpath(*parts)
            for path in (stem.with_suffix(".py") if parts else stem, stem / "__init__.py"):
                if path.is_file() and path.suffix == ".py":
                    absolute = self.path.is_absolute()
                    return self._read_neighbour(path if absolute else Path(os.path.relpath(path)))
        return None

    def _read_neighbour(self, path: Path) -> ModuleSource | None:
        if path not in self.neighbours:
            self.neighbours[path] = None
            try:
                self.neighbours[path] = read_source(path, self.neighbours)
            except UsageError:
                return None
        return self.neighbours[path]

    # --- functions and classes ------------------------------------------------------------------

    def function(self, scope: SourceScope, node: ast.FunctionDef | ast.Lambda) -> FunctionType:
        """Build a function without its decorators. Raises :class:`UndecidedSignal`."""
        key = (id(node), scope.frames)
        if key in self.built:
            return self.built[key]
        code = self._code_of(node)
        defaults = tuple(self.evaluate(scope, d) for d in node.args.defaults)
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        named = {a.arg: self.evaluate(scope, d) for a, d in pairs if d is not None}
        cells = tuple(CellType() for _ in code.co_freevars)
        function = FunctionType(code, self.namespace, code.co_name, defaults or None, cells)
        function.__kwdefaults__ = named or None
        self.built[key], self.origins[function] = function, (scope, node)
        for name, cell in zip(code.co_freevars, cells, strict=True):
            try:
                cell.cell_contents = scope.look(name)
            except UndecidedSignal as signal:
                self.namespace.open_cells[name] = str(signal)
        return function

    def _code_of(self, node: ast.FunctionDef | ast.Lambda) -> CodeType:
        lines = [node.lineno]
        name = "<lambda>"
        if isinstance(node, ast.FunctionDef):
            lines += [d.lineno for d in node.decorator_list]
            name = node.name
        place = (name, min(lines))
        codes = [c for c in self.codes if (c.co_name, c.co_firstlineno) == place]
        if isinstance(node, ast.Lambda) and len(codes) > 1:
            codes = [c for c in codes if _is_around(node, c)]
        if not codes:
            raise UndecidedSignal("Python leaves it out")
        return codes[0]

    def build_decorated(self, scope: SourceScope, node: ast.FunctionDef) -> object:
        """Build a function, and apply its decorators. Those of Spark are left out: presieve reads
        the function below them.
        """
        target: object = self.function(scope, node)
        for decorator in reversed(node.decorator_list):
            if not self.is_of_spark(decorator):
                target = self._apply_decorator(scope, decorator, target)
        return target

    def is_of_spark(self, node: ast.expr) -> bool:
        """Return whether a decorator, or the function that makes it, is one of PySpark."""
        called = node.func if isinstance(node, ast.Call) else node
        return self.resolve_name(called).startswith("pyspark.")

    def _apply_decorator(self, scope: SourceScope, node: ast.expr, target: object) -> object:
        if isinstance(node, ast.Call) and self.resolve_name(node.func) == "functools.wraps":
            wrapped = self.evaluate(scope, node.args[0]) if node.args else None
            if not isinstance(target, FunctionType):
                raise UndecidedSignal("functools.wraps is applied to another decorator's result")
            target.__wrapped__ = wrapped  # type: ignore[attr-defined]
            return target
        if self.resolve_name(node) in ("staticmethod", "classmethod", "property"):
            return {"staticmethod": staticmethod, "classmethod": classmethod, "property": property}[
                self.resolve_name(node)
            ](target)
        decorator = self.evaluate(scope, node)
        if decorator in (functools.lru_cache, functools.cache):
            return functools.cache(target)  # type: ignore[arg-type]
        if isinstance(decorator, FunctionType) and self._origin(decorator) is not None:
            return self._apply(decorator, (target,), {})
        raise UndecidedSignal(f"only a run tells what @{ast.unparse(node)} makes of it")

    def built_class(self, scope: SourceScope, node: ast.ClassDef) -> type:
        """Build a class of methods and constants. Raises :class:`UndecidedSignal` for others."""
        if node.keywords:
            raise UndecidedSignal(f"the class {node.name} is made in a way that is not read")
        bases = [self.evaluate(scope, b) for b in node.bases]
        if any(not isinstance(b, type) or b.__module__ not in _BASES for b in bases):
            raise UndecidedSignal(f"the class {node.name} has bases that are not read")
        body: dict[str, object] = {"__module__": MODULE_NAME, "__qualname__": node.name}
        annotated = (s.target for s in node.body if isinstance(s, ast.AnnAssign))
        body["__annotations__"] = {t.id: object for t in annotated if isinstance(t, ast.Name)}
        for name, statements in names_in(node).items():
            if len(statements) > 1:
                raise UndecidedSignal(f"{node.name} binds {name} in several places")
            body[name] = self.bound_object(scope, statements[0], name)
        plain = tuple(b for b in bases if isinstance(b, type))
        try:
            cls = type(node.name, plain, body)
        except (TypeError, ValueError) as error:
            raise UndecidedSignal(f"the class {node.name} cannot be built: {error}") from error
        for decorator in node.decorator_list:
            if self.is_of_spark(decorator):
                continue
            if not make_dataclass(self.evaluate(scope, decorator), cls):
                raise UndecidedSignal(
                    f"only a run tells what @{ast.unparse(decorator)} makes of it"
                )
        return cls

    # --- expressions ----------------------------------------------------------------------------

    def evaluate(self, scope: SourceScope, node: ast.expr) -> object:
        """Return the object of an expression. Raises :class:`UndecidedSignal`."""
        match node:
            case ast.Lambda():
                return self.function(scope, node)
            case ast.Name(name):
                return scope.look(name)
            case ast.Attribute(owner, name):
                neighbour = self._neighbour_of(owner)
                if neighbour is not None:
                    return neighbour.global_object(name)
                return member_of(self.evaluate(scope, owner), name, strict=True)
            case ast.Call(called):
                return self._call(scope, node, self.evaluate(scope, called))
        return compute_constant(node, partial(self._look, scope))

    def _look(self, scope: SourceScope, path: str) -> object:
        """Return what a name means, or a dotted one."""
        return self.evaluate(scope, ast.parse(path, mode="eval").body)

    def _neighbour_of(self, node: ast.expr) -> ModuleSource | None:
        """Return the module of the project that an expression names."""
        path = self.resolve_name(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        head = path.partition(".")[0]
        if not path or is_library(path) or head == "pyspark" or head not in self._imported_heads:
            return None
        return self.neighbour(path, 0)

    @functools.cached_property
    def _imported_heads(self) -> frozenset[str]:
        return frozenset(p.partition(".")[0] for p in self.aliases.values())

    def _call(self, scope: SourceScope, node: ast.Call, called: object) -> object:
        if isinstance(called, FunctionType) and self._origin(called) is not None:
            values = [self._value_or_open(scope, a) for a in node.args]
            named = {k.arg: self._value_or_open(scope, k.value) for k in node.keywords if k.arg}
            return self._apply(called, tuple(values), named)
        if not any(isinstance(a, ast.Starred) for a in node.args):
            values = [self.evaluate(scope, a) for a in node.args]
            named = {k.arg: self.evaluate(scope, k.value) for k in node.keywords if k.arg}
            target = call_library(called, values, named)
            if target is NO_OBJECT:
                target = make_record(called, values, named)
            if target is not NO_OBJECT:
                return target
        return compute_constant(node, partial(self._look, scope))

    def _value_or_open(self, scope: SourceScope, node: ast.expr) -> object:
        try:
            return self.evaluate(scope, node)
        except UndecidedSignal:
            return NO_OBJECT

    def _origin(
        self, function: FunctionType
    ) -> tuple[SourceScope, ast.FunctionDef | ast.Lambda] | None:
        home = function.__globals__
        return home.module.origins.get(function) if isinstance(home, Namespace) else None

    def _apply(
        self, function: FunctionType, values: tuple[object, ...], named: Mapping[str, object]
    ) -> object:
        """Return what a function gives that only defines names and returns an expression."""
        origin = self._origin(function)
        assert origin is not None
        scope, node = origin
        names = _parameters(node)
        if len(values) > len(node.args.args) or not set(named) <= set(names):
            raise UndecidedSignal(f"{function.__name__} is called in a way that is not read")
        defaults = function.__defaults__ or ()
        arguments = dict(zip(names[len(node.args.args) - len(defaults) :], defaults, strict=False))
        arguments |= function.__kwdefaults__ or {}
        arguments |= dict(zip(names, values, strict=False)) | dict(named)
        arguments = {n: v for n, v in arguments.items() if v is not NO_OBJECT}
        if isinstance(node, ast.Lambda):
            raise UndecidedSignal("a lambda makes it")
        *body, last = node.body
        plain = (ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Expr, ast.Import, ast.ImportFrom)
        if not isinstance(last, ast.Return) or last.value is None:
            raise UndecidedSignal(f"{node.name} returns it in a way that is not read")
        calls = [
            s for s in body if isinstance(s, ast.Expr) and not isinstance(s.value, ast.Constant)
        ]
        if calls or not all(isinstance(s, plain) for s in body):
            raise UndecidedSignal(f"{node.name} does more than define and return it")
        return scope.module.evaluate(scope.inside(node, arguments), last.value)

    @functools.cached_property
    def aliases(self) -> Mapping[str, str]:
        """The imported names of the file, and the full name of each."""
        names: dict[str, str] = {}
        for node in ast.walk(self.text.tree):
            match node:
                case ast.Import(aliases):
                    for a in aliases:
                        names[a.asname or a.name.partition(".")[0]] = (
                            a.name if a.asname else a.name.partition(".")[0]
                        )
                case ast.ImportFrom(module, aliases, 0):
                    names |= {a.asname or a.name: f"{module}.{a.name}" for a in aliases}
        return names

    def resolve_name(self, node: ast.expr) -> str:
        """Return the full name of an imported object, such as ``pyspark.sql.functions.udf``. For a
        name of the file itself, return the name; for another expression, the empty text.
        """
        match node:
            case ast.Name(name):
                bound = self.text.scope.get(name, [])
                if any(isinstance(s, ast.FunctionDef | ast.ClassDef) for s in bound):
                    return name
                if name in self.aliases:
                    return self.aliases[name]
                spark = [s.module or "" for s in stars(self.text) if not s.level]
                homes = [m for m in spark if m.startswith("pyspark.")]
                own = self.text.scope.get(name)
                home = next((m for m in homes if _may_hold(m, name)), None)
                return name if own or home is None else f"{home}.{name}"
            case ast.Attribute(owner, name):
                before = self.resolve_name(owner)
                return f"{before}.{name}" if before else ""
        return ""


_MOST_FOLDERS = 5
"""How many folders above a file may be the root of its project."""
_BASES = ("builtins", "abc", "presieve.aggregator", MODULE_NAME)
"""Modules whose classes may be bases."""


def read_source(path: Path, neighbours: dict[Path, ModuleSource | None]) -> ModuleSource:
    """Read and compile a file. Raises :class:`UsageError` if it cannot be read, and SyntaxError or
    ValueError if it is not Python.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    code = compile(data, str(path), "exec", dont_inherit=True)
    linecache.checkcache(str(path))
    text = read_module(path.stem, str(path), "".join(linecache.getlines(str(path))))
    return ModuleSource(path, text, tuple(_codes(code)), neighbours)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _is_around(node: ast.Lambda, code: CodeType) -> bool:
    """Return whether code was compiled from this lambda, by the places of its instructions."""
    places = [p for p in code.co_positions() if None not in p and p[2] != p[3]]
    body = node.body
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    inside = (first <= (p[0], p[2]) and (p[1], p[3]) <= last for p in places)
    return bool(places) and all(inside)


def _import_alias(aliases: list[ast.alias], name: str) -> object:
    for alias in aliases:
        top = alias.name.partition(".")[0]
        if name == (alias.asname or top):
            module = import_library(alias.name)
            return module if alias.asname else import_library(top)
    raise UndecidedSignal("another import binds it")


def _may_hold(module: str, name: str) -> bool:
    """Return whether a star import of a module of PySpark may give a name."""
    return name in _OF_STARS.get(module, ())


_TYPES = (
    *("DataType", "StringType", "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType"),
    *("FloatType", "DoubleType", "DecimalType", "BinaryType", "DateType", "TimestampType"),
    *("TimestampNTZType", "ArrayType", "MapType", "StructType", "StructField"),
)
_OF_STARS: Mapping[str, tuple[str, ...]] = {
    "pyspark.sql.functions": ("udf", "pandas_udf", "udtf", "arrow_udf", "arrow_udtf", "col"),
    "pyspark.sql.types": _TYPES,
}
"""The names of PySpark that matter, by the module whose star import gives them."""
