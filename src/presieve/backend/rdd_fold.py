"""Trusted. Run ``aggregateByKey`` over a classic DataFrame's rows, as a DataFrame."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType, _parse_datatype_string

from presieve.backend.classic.gateway import ClassicGateway, is_classic
from presieve.backend.effects.trusted_scans import describe_scans
from presieve.backend.gateway import GatewayError, PlanView
from presieve.backend.problems.pickled import snapshot
from presieve.backend.session.settings import ALLOWED, LEGACY, SETTINGS
from presieve.backend.versions import version_of
from presieve.errors import Declined, DeclineSignal, UsageError
from presieve.semantics.types import UNSUPPORTED, SchemaColumn
from presieve.sql.emit import aside

_OTHER_IN_ROWS = ("timestamp", "timestamp_ntz", "binary")
"""Types whose values in ``Row`` differ from those that lifting assumes: local times, bytearrays."""

_OTHER_AS_KEYS = ("double", "float")
"""Python distinguishes one NaN from another, and Spark does not."""

_PADDED = "__CHAR_VARCHAR_TYPE_STRING"
"""Metadata of CHAR and VARCHAR columns, for which Spark compares padded texts."""


@dataclass(frozen=True, slots=True)
class KeyedFold:
    """A DataFrame whose rows are folded by key. ``schema`` has the columns as lifting sees them.
    Spark pickles the aggregator when the result is requested; here it is as it was before.
    """

    df: DataFrame
    aggregator: Any
    keys: tuple[str, ...]
    outputs: StructType

    @classmethod
    def of(cls, df: object, aggregator: object, keys: tuple[str, ...], returns: str) -> KeyedFold:
        """Check the names and freeze the aggregator. Raises :class:`UsageError` if ``df`` is not a
        classic DataFrame, and for names that are missing or not unique.
        """
        if not is_classic(df):
            reason = "rdd.toDF(schema) makes one of an RDD; Spark Connect has no RDDs"
            raise UsageError(f"fold_by_key takes a classic DataFrame: {reason}")
        assert isinstance(df, DataFrame)
        missing = [k for k in keys if k not in df.columns]
        if missing or not keys:
            raise UsageError(f"key {', '.join(missing) or '()'}: there is no such column")
        outputs = _parse_datatype_string(returns)
        if not isinstance(outputs, StructType):
            raise UsageError(f"returns has names and types, such as 'best double', not {returns!r}")
        for names in ([*keys, *outputs.names], df.columns):
            if len({n.lower() for n in names}) != len(names):
                raise UsageError(f"columns of the same name: {', '.join(names)}")
        return cls(df, _freeze_aggregator(aggregator), keys, outputs)

    @property
    def schema(self) -> tuple[SchemaColumn, ...]:
        """The columns of the rows; those that lifting does not support have a type for it."""
        return tuple(_column(f, f.name in self.keys) for f in self.df.schema.fields)

    @property
    def returns(self) -> tuple[SchemaColumn, ...]:
        """The columns of the aggregator's result."""
        return tuple(_column(f, False) for f in self.outputs.fields)

    def unread(self, where: str) -> str | None:
        """Return the setting or version that makes filters' meaning unknown; None if none does."""
        version = version_of(self.df.sparkSession)
        if isinstance(version, Declined):
            return version.reason
        if version.two_texts and any(quote * 2 in where for quote in "'\""):
            return f"Spark {version.name} ends a text at a quote that is written twice"
        conf = self.df.sparkSession.conf
        wanted = {**SETTINGS, "spark.sql.ansi.enabled": "true"}
        for name, value in wanted.items():
            if str(conf.get(name, value)).lower() != value:
                return name
        set_ = ClassicGateway(self.df.sparkSession).conf_names()
        legacy = (n for n in set_ if n.startswith(LEGACY) and not n.startswith(ALLOWED))
        return next(legacy, None)

    def scan_prefilter(self, prefilter: str) -> str | None:
        """Return the pre-filter in the form that the scans below may get; None if none."""
        if prefilter == "true":
            return prefilter
        try:
            gateway = ClassicGateway(self.df.sparkSession)
            plan = gateway.analyzed(self.df)
            sources = describe_scans(
                PlanView(gateway, plan, gateway.tree(plan)), ((),), native=False
            )
        except (DeclineSignal, GatewayError):
            return None
        return prefilter if sources.faithful and sources.narrow == frozenset() else aside(prefilter)

    def run(self, prefilter: str, residual: str, partitions: int | None) -> DataFrame:
        """Return the results that ``residual`` accepts of rows that ``prefilter`` accepts."""
        rows = self.df if prefilter == "true" else self.df.filter(prefilter)
        key_fields = (self.df.schema[k] for k in self.keys)
        fields = [StructField(f.name, f.dataType, f.nullable) for f in key_fields]
        result_schema = StructType([*fields, *self.outputs.fields])
        keyed, result = _mappers(self.aggregator, self.keys, self.outputs)
        fold = self.aggregator
        merged = rows.rdd.map(keyed).aggregateByKey(
            fold.zero(), fold.reduce, fold.merge, partitions
        )
        results = self.df.sparkSession.createDataFrame(merged.map(result), result_schema)
        return results if residual == "true" else results.filter(residual)


def _freeze_aggregator(aggregator: object) -> object:
    try:
        return snapshot(aggregator)
    except (pickle.PickleError, DeclineSignal, TypeError, AttributeError, ValueError) as error:
        name = type(aggregator).__name__
        raise UsageError(f"{name} cannot be sent to workers: {error}") from error


def _column(field: StructField, key: bool) -> SchemaColumn:
    type_ = field.dataType.simpleString()
    unlike = type_ in _OTHER_IN_ROWS or (key and type_ in _OTHER_AS_KEYS)
    if unlike or _PADDED in field.metadata:
        type_ = UNSUPPORTED + type_
    return SchemaColumn(field.name, type_, field.nullable)


def _mappers(aggregator: Any, keys: tuple[str, ...], outputs: StructType) -> tuple[Any, Any]:
    """Make two functions: from a row to key and row, and from key and state to the values of a
    result. They refer to nothing in this module, so workers need not have it.
    """
    names = list(outputs.names)
    doubles = [f.dataType.simpleString() == "double" for f in outputs.fields]

    def keyed(row: Any) -> Any:
        return tuple(row[k] for k in keys), row

    def result(pair: Any) -> Any:
        key, state = pair
        finish = getattr(aggregator, "finish", None)
        row_values = state if finish is None else finish(state)
        if isinstance(row_values, dict):
            if set(row_values) != set(names):
                raise ValueError(f"the fold returns {list(row_values)}, but {names} is declared")
            row_values = [row_values[n] for n in names]
        elif len(names) == 1:
            row_values = [row_values]
        values = zip(row_values, doubles, strict=True)
        return (*key, *(float(v) if d and type(v) is int else v for v, d in values))

    return keyed, result
