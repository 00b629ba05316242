# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Finds what Spark calls in a module: UDFs, functions of tables, and functions of RDDs.

Source of the names and of what type hints mean: pyspark 4.3.0, ``sql/functions``,
``sql/pandas/typehints.py`` (``infer_eval_type``), ``sql/pandas/group_ops.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from presieve.lift.evaluation_types import EVALUATION_TYPES, EvaluationType
from presieve.lift.python.bindings import UndecidedSignal, names_bound
from presieve.lint.declared_types import declared_type
from presieve.lint.module_source import ModuleSource, SourceScope
from presieve.records import replace

_NUMBERS = {t.name: t for t in EVALUATION_TYPES.values()}

ROW_UDF = _NUMBERS["SQL_BATCHED_UDF"]
ARROW_ROW_UDF = _NUMBERS["SQL_ARROW_BATCHED_UDF"]
TABLE_UDF = _NUMBERS["SQL_ARROW_TABLE_UDF"]


Definition: TypeAlias = ast.expr | ast.FunctionDef | ast.ClassDef
"""A definition, or an expression that gives a function."""


@dataclass(frozen=True)
class Use:
    """A place where Spark gets a function.

    ``target`` is its definition in the module, or the expression that gives it, in ``scope``.
    ``way`` is how it is registered, such as ``applyInPandas``; ``kind`` the way in which Spark
    calls it, None if that is not known. ``returns`` is the declared type as DDL, and ``keys`` the
    grouping columns, each None if the source does not say it. ``refusal``: the code and reason why
    presieve leaves it alone, whatever the function does.
    """

    name: str
    way: str
    kind: EvaluationType | None
    target: Definition
    scope: SourceScope
    place: Definition
    returns: str | None = None
    keys: tuple[str, ...] | None = None
    refusal: tuple[str | None, str] | None = None


_TABLES: Mapping[str, tuple[str, str]] = {
    "applyInPandas": ("SQL_GROUPED_MAP_PANDAS_UDF", "SQL_COGROUPED_MAP_PANDAS_UDF"),
    "applyInArrow": ("SQL_GROUPED_MAP_ARROW_UDF", "SQL_COGROUPED_MAP_ARROW_UDF"),
    "mapInPandas": ("SQL_MAP_PANDAS_ITER_UDF", ""),
    "mapInArrow": ("SQL_MAP_ARROW_ITER_UDF", ""),
}
"""Methods that hand tables to a function: its kind after ``groupBy``, and after ``cogroup``."""
_OF_BATCHES = {
    _NUMBERS["SQL_GROUPED_MAP_PANDAS_UDF"]: _NUMBERS["SQL_GROUPED_MAP_PANDAS_ITER_UDF"],
    _NUMBERS["SQL_GROUPED_MAP_ARROW_UDF"]: _NUMBERS["SQL_GROUPED_MAP_ARROW_ITER_UDF"],
}
"""Kinds of functions whose type hints say that they take a group in batches."""
_STREAMS = ("applyInPandasWithState", "transformWithStateInPandas", "transformWithState")
_RDDS = (
    *("foldByKey", "aggregateByKey", "combineByKey", "reduceByKey", "mapPartitions"),
    *("mapPartitionsWithIndex", "flatMapValues", "mapValues"),
)
_ON_RDD = ("map", "filter", "flatMap")
_NO_PLAN = (
    None,
    "an RDD is in no plan, so presieve does not see it: write it with a DataFrame, such as"
    " groupBy().applyInPandas()",
)
_MAKERS = ("udf", "pandas_udf", "arrow_udf", "udtf", "arrow_udtf")


def find_uses(module: ModuleSource) -> list[Use]:
    """Return the uses of a module, each function once, in the order of the lines."""
    finder = _Finder(module)
    finder.walk(module.text.tree, module.scope)
    uses: dict[tuple[int, str], Use] = {}
    for use in finder.uses:
        node = _definition(use)
        stated = use.kind.name if use.kind is not None else use.way
        if use.way == "register" and any(id(node) == at for at, _ in uses):
            continue  # a UDF that is registered under a name for SQL
        uses.setdefault((id(node), stated), use)
    marked = [
        replace(u, refusal=_NONDETERMINISTIC)
        if id(_definition(u)) in finder.nondeterministic
        else u
        for u in uses.values()
    ]
    return sorted(marked, key=lambda u: (_definition(u).lineno, _definition(u).col_offset))


_NONDETERMINISTIC = ("nondeterministic-udf", "it is declared nondeterministic")


def _definition(use: Use) -> Definition:
    """Return the definition of a function; the place of its use if it has none in the module."""
    return definition(use.target, use.scope) or use.target


def definition(
    node: ast.AST, scope: SourceScope
) -> ast.FunctionDef | ast.Lambda | ast.ClassDef | None:
    """Return the definition that an expression names; None if the module has none."""
    for _ in range(_MOST_NAMES):
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            return node
        if isinstance(node, ast.Call):
            made = _find_udf_function(node, scope)
            if made is None:
                return None
            node = made
            continue
        if not isinstance(node, ast.Name):
            return None
        try:
            bound = scope.binding(node.id)
        except UndecidedSignal:
            return None
        if bound is None:
            return None
        statement, scope = bound
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else statement
        if value is None:
            return None
        node = value
    return None


def _find_udf_function(node: ast.Call, scope: SourceScope) -> ast.expr | None:
    """Return the function of which a call makes a UDF; None for other calls."""
    if _maker(scope.module, node.func) and node.args:
        return node.args[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "asNondeterministic":
        return node.func.value
    return None


def value_of_name(node: ast.Name, scope: SourceScope) -> ast.expr | None:
    """Return the expression that is assigned to a name; None if that is not known."""
    try:
        bound = scope.binding(node.id)
    except UndecidedSignal:
        return None
    statement = None if bound is None else bound[0]
    return statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None


def enclosing_class(tree: ast.Module, node: ast.AST) -> ast.ClassDef | None:
    """Return the inmost class around a node."""
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    around = [c for c in classes if any(inner is node for inner in ast.walk(c))]
    return max(around, key=lambda c: c.lineno, default=None)


def _nearest(target: ast.expr, scope: SourceScope) -> ast.expr | ast.FunctionDef:
    """Return the definition that a name has at this place, if several stand one below the other in
    the same body; other expressions as they are.
    """
    if not isinstance(target, ast.Name):
        return target
    body = scope.frames[-1].node.body if scope.frames else scope.module.text.tree.body
    bound = names_bound(body).get(target.id, [])
    plain = [s for s in bound if isinstance(s, ast.FunctionDef)]
    if len(plain) < 2 or len(set(map(id, bound))) != len(plain):
        return target
    above = [s for s in plain if s.lineno < target.lineno]
    return above[-1] if above else target


def _maker(module: ModuleSource, node: ast.expr) -> str:
    """Return which function of PySpark makes a UDF here; the empty text for none."""
    path = module.resolve_name(node)
    last = path.rpartition(".")[2]
    return last if last in _MAKERS and path.startswith("pyspark.") else ""


@dataclass
class _Finder:
    module: ModuleSource

    def __post_init__(self) -> None:
        self.uses: list[Use] = []
        self.nondeterministic: set[int] = set()
        self.decorators: set[int] = set()

    @cached_property
    def groups(self) -> Mapping[str, ast.expr]:
        """Variables that are assigned once, anywhere in the file, and their values."""
        values: dict[str, list[ast.expr]] = {}
        for node in ast.walk(self.module.text.tree):
            match node:
                case ast.Assign([ast.Name(name)], value):
                    values.setdefault(name, []).append(value)
        return {name: each[0] for name, each in values.items() if len(each) == 1}

    def walk(self, node: ast.AST, scope: SourceScope) -> None:
        """Find the uses below a node."""
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                self._decorators(node, scope)
            case ast.Call():
                self._call(node, scope)
        inner = scope.inside(node, {}) if isinstance(node, ast.FunctionDef) else scope
        body = set(map(id, node.body)) if isinstance(node, ast.FunctionDef) else set()
        for child in ast.iter_child_nodes(node):
            self.walk(child, inner if id(child) in body else scope)

    def _decorators(self, node: ast.FunctionDef | ast.ClassDef, scope: SourceScope) -> None:
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            maker = _maker(self.module, call.func if call else decorator)
            if maker:
                self.decorators.add(id(call))
                options = _options(call, 0) if call else {}
                self._udf(f"@{maker}", node, options, scope)

    def _call(self, node: ast.Call, scope: SourceScope) -> None:
        maker = _maker(self.module, node.func)
        # udf("string") makes a decorator, as does @udf(SCHEMA)
        makes_decorator = id(node) in self.decorators or not node.args
        if maker and not makes_decorator and not self._is_type(node.args[0]):
            self._udf(maker, node.args[0], _options(node, 1), scope)
        if not isinstance(node.func, ast.Attribute):
            return
        method, owner = node.func.attr, node.func.value
        if method == "asNondeterministic":
            marked = definition(owner, scope)
            self.nondeterministic |= set() if marked is None else {id(marked)}
        elif method == "register" and isinstance(owner, ast.Attribute):
            self._register(node, owner.attr, scope)
        elif method in _TABLES:
            self._table(node, method, owner, scope)
        elif method in _STREAMS and node.args:
            refusal = ("streaming", f"{method} is for streams, which are left alone")
            self._add_refusal(node.args[0], method, refusal, scope)
        elif method in _RDDS or (method in _ON_RDD and _is_rdd(owner)):
            for argument in node.args:
                if definition(argument, scope) is not None:
                    self._add_refusal(argument, method, _NO_PLAN, scope)

    def _is_type(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else node
        is_text = isinstance(node, ast.Constant | ast.JoinedStr)
        return is_text or self.module.resolve_name(called).startswith("pyspark.sql.types.")

    def _add_refusal(
        self, target: ast.expr, method: str, refusal: tuple[str | None, str], scope: SourceScope
    ) -> None:
        use = Use(_name_of(target), method, None, target, scope, target, refusal=refusal)
        self.uses.append(use)

    def _register(self, node: ast.Call, holder: str, scope: SourceScope) -> None:
        if holder not in ("udf", "udtf") or len(node.args) < 2:
            return
        target = node.args[1]
        if isinstance(target, ast.Call) and _find_udf_function(target, scope) is not None:
            return  # it is in the list by itself
        way = "register" if holder == "udf" else "udtf"
        self._udf(way, target, _options(node, 2), scope)

    def _udf(
        self, way: str, target: Definition, options: Mapping[str, ast.expr], scope: SourceScope
    ) -> None:
        place, maker = target, way.lstrip("@")
        target = _nearest(target, scope) if isinstance(target, ast.expr) else target
        node = definition(target, scope)
        if way == "register" and _own_maker(self.module, node):
            return
        returns = declared_type(options.get("returnType"), scope)
        if "returnType" not in options and maker in ("udf", "register"):
            returns = "string"
        kind, refusal = _kind(maker, node, options)
        name = _name_of(target)
        self.uses.append(Use(name, way, kind, target, scope, place, returns, refusal=refusal))

    def _table(self, node: ast.Call, method: str, owner: ast.expr, scope: SourceScope) -> None:
        arguments = dict(zip(("func", "schema"), node.args, strict=False))
        arguments |= {k.arg: k.value for k in node.keywords if k.arg}
        if "func" not in arguments:
            return
        target = _nearest(arguments["func"], scope)
        groups = self._value(owner)
        cogroup = isinstance(groups, ast.Call) and _attribute(groups) == "cogroup"
        single, both = _TABLES[method]
        kind = _NUMBERS[both if cogroup and both else single]
        if _takes_batches(definition(target, scope)):
            kind = _OF_BATCHES.get(kind, kind)
        if isinstance(groups, ast.Call) and isinstance(groups.func, ast.Attribute) and cogroup:
            groups = self._value(groups.func.value)
        returns = declared_type(arguments.get("schema"), scope)
        name = _name_of(arguments["func"])
        self.uses.append(Use(name, method, kind, target, scope, node, returns, _keys(groups)))

    def _value(self, node: ast.expr) -> ast.expr:
        """Return the value of a variable that is assigned once; other expressions as they are."""
        for _ in range(_MOST_NAMES):
            if not isinstance(node, ast.Name) or node.id not in self.groups:
                break
            node = self.groups[node.id]
        return node


_MOST_NAMES = 5


def _own_maker(module: ModuleSource, node: ast.AST | None) -> str:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    for decorator in decorators:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        maker = _maker(module, called)
        if maker:
            return maker
    return ""


def _options(node: ast.Call, first: int) -> Mapping[str, ast.expr]:
    """Return the arguments of a function that makes a UDF, by their names."""
    names = ("returnType", "functionType")
    named = {k.arg: k.value for k in node.keywords if k.arg}
    return {**dict(zip(names, node.args[first:], strict=False)), **named}


def _name_of(node: Definition) -> str:
    match node:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            return name
        case ast.Name(name) | ast.Attribute(_, name):
            return name
        case ast.Lambda():
            return "<lambda>"
    return ast.unparse(node)


def _attribute(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _is_rdd(node: ast.expr) -> bool:
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr in ("rdd", "parallelize", "textFile"):
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _keys(node: ast.expr) -> tuple[str, ...] | None:
    """Return the columns of ``groupBy``, if all of them are written as names."""
    if not isinstance(node, ast.Call) or _attribute(node) not in ("groupBy", "groupby"):
        return None
    arguments = node.args
    if len(arguments) == 1 and isinstance(arguments[0], ast.List | ast.Tuple):
        arguments = arguments[0].elts
    names = [_column(a) for a in arguments]
    return None if None in names else tuple(str(n) for n in names)


def _column(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(str(name)):
            return name
        case ast.Call(ast.Name("col") | ast.Attribute(_, "col"), [ast.Constant(str(name))]):
            return name
        case ast.Attribute(ast.Name(), name) | ast.Subscript(ast.Name(), ast.Constant(str(name))):
            return name
    return None


# --- what type hints say --------------------------------------------------------------------------


def _kind(
    maker: str, node: ast.AST | None, options: Mapping[str, ast.expr]
) -> tuple[EvaluationType | None, tuple[str, str] | None]:
    """Return the way in which Spark calls a UDF, and why presieve leaves it alone, if it does."""
    written = options.get("functionType")
    if maker in ("udf", "register"):
        return (ARROW_ROW_UDF if _is_true(options.get("useArrow")) else ROW_UDF), None
    if maker == "udtf":
        return TABLE_UDF, None
    if maker == "arrow_udtf":
        return None, ("eval-type", "it is a table function of Arrow tables, and not of rows")
    if written is not None:
        return _NUMBERS.get(_OLD.get(ast.unparse(written).rpartition(".")[2], "")), None
    return _NUMBERS[_by_hints(maker, node)], None


_OLD = {
    "SCALAR": "SQL_SCALAR_PANDAS_UDF",
    "SCALAR_ITER": "SQL_SCALAR_PANDAS_ITER_UDF",
    "GROUPED_MAP": "SQL_GROUPED_MAP_PANDAS_UDF",
    "GROUPED_AGG": "SQL_GROUPED_AGG_PANDAS_UDF",
}
"""The members of ``PandasUDFType``."""


def _by_hints(maker: str, node: ast.AST | None) -> str:
    pandas = maker == "pandas_udf"
    scalar, iterators, one, one_of_batches = (
        ("SCALAR_PANDAS", "SCALAR_PANDAS_ITER", "GROUPED_AGG_PANDAS", "GROUPED_AGG_PANDAS_ITER")
        if pandas
        else ("SCALAR_ARROW", "SCALAR_ARROW_ITER", "GROUPED_AGG_ARROW", "GROUPED_AGG_ARROW_ITER")
    )
    hint = getattr(node, "returns", None)
    written = ast.unparse(hint) if isinstance(hint, ast.expr) else ""
    last = written.strip("'\"").rpartition(".")[2]
    if not written or last in ("Series", "DataFrame", "Array"):
        kind = scalar
    elif "Iterator" in written:
        kind = iterators
    else:
        kind = one_of_batches if _takes_batches(node) else one
    return f"SQL_{kind}_UDF"


def _takes_batches(node: ast.AST | None) -> bool:
    """Return whether a type hint says that the last parameter is an iterator."""
    arguments = node.args.args if isinstance(node, ast.FunctionDef) else []
    hint = arguments[-1].annotation if arguments else None
    return hint is not None and "Iterator" in ast.unparse(hint)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
