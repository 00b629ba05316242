# SPDX-License-Identifier: Apache-2.0
"""Trusted. Build filters, projections, sorts and aggregates of a classic session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presieve.backend.catalyst.trees import JsonNode
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import (
    class_name,
    each,
    java_class,
    java_constant,
    java_method,
    java_module,
    translate_errors,
)
from presieve.backend.gateway import Handle

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"
_PLANS = "org.apache.spark.sql.catalyst.plans.logical"


class Parts:
    """Builds expressions and columns for the plans of a session."""

    __slots__ = (
        "_alias",
        "_filter",
        "_named",
        "_none",
        "_project",
        "plans",
    )

    @translate_errors
    def __init__(self, plans: JvmPlans) -> None:
        """Test the features. Raises :class:`GatewayError` if an interface is missing."""
        jvm = plans.jvm
        self.plans = plans
        self._alias = java_class(jvm, f"{_EXPRESSIONS}.Alias")
        self._named = java_class(jvm, f"{_EXPRESSIONS}.NamedExpression")
        self._filter = java_class(jvm, f"{_PLANS}.Filter")
        self._project = java_class(jvm, f"{_PLANS}.Project")
        self._none = java_constant(jvm, "scala.Option", "empty")

    @translate_errors
    def output(self, plan: Handle) -> list[Handle]:
        """The output attributes of a plan."""
        return list(each(plan.output()))

    @translate_errors
    def rebuild(self, node: Handle, expressions: Sequence[Handle], child: Handle) -> Handle:
        """Rebuild a filter, projection, sort or aggregate with these expressions, in order."""
        expression_list, kind = list(expressions), str(node.nodeName())
        # The fields after the child differ between versions.
        trailing_fields = [node.productElement(i) for i in range(3, node.productArity())]
        if kind == "Filter":
            return self._filter(expression_list[0], child)
        if kind == "Sort":
            return node.copy(
                self.plans.seq(expression_list),
                getattr(node, "global")(),
                child,
                *trailing_fields,
            )
        if kind == "Aggregate":
            keys = int(node.groupingExpressions().size())
            lists = (
                self.plans.seq(part) for part in (expression_list[:keys], expression_list[keys:])
            )
            return node.copy(*lists, child, *trailing_fields)
        return self.project(expression_list, child)

    @translate_errors
    def project(self, columns: Sequence[Handle], child: Handle) -> Handle:
        """Make a projection."""
        return self._project(self.plans.seq(columns), child)

    @translate_errors
    def alias(self, expression: Handle, name: str, number: Handle | None = None) -> Handle:
        """Make a column for an expression: a new one unless a ``number`` (an exprId) is given."""
        none, number = self.plans.seq([]), number or self._named.newExprId()
        return self._alias(expression, name, number, none, self._none, none)

    @translate_errors
    def replace_attribute(self, attribute: Handle, field: JsonNode, expression: Handle) -> Handle:
        """Make a column for an expression with the name, number and metadata of an attribute, whose
        ``field`` in the schema this is.
        """
        none, metadata = self.plans.seq([]), _some_empty(self.plans.jvm)
        if field["metadata"]:
            metadata = java_method(self.plans.jvm, "scala.Option", "apply")(attribute.metadata())
        return self._alias(expression, field["name"], attribute.exprId(), none, metadata, none)

    @translate_errors
    def cast_to_double(self, expression: Handle) -> Handle:
        """Cast a float, which a double holds exactly."""
        cast = java_class(self.plans.jvm, f"{_EXPRESSIONS}.Cast")
        double = java_module(self.plans.jvm, "org.apache.spark.sql.types.DoubleType")
        return cast(expression, double, self._none)

    @translate_errors
    def attribute(self, alias: Handle) -> Handle:
        """The attribute of a column."""
        return alias.toAttribute()

    @translate_errors
    def equal_meaning(self, first: Handle, second: Handle) -> bool:
        """Whether two expressions are equal up to differences that do not matter
        (``semanticEquals``).
        """
        return bool(first.semanticEquals(second))


def _some_empty(jvm: Handle) -> Handle:
    """Return the metadata that a column without any has."""
    empty = java_constant(jvm, "org.apache.spark.sql.types.Metadata", "empty")
    return java_constant(jvm, "scala.Option", "apply", empty)


def conjuncts(condition: Handle) -> Iterator[Handle]:
    """Iterate over the conjuncts of a condition."""
    if class_name(condition) == f"{_EXPRESSIONS}.And":
        yield from conjuncts(condition.left())
        yield from conjuncts(condition.right())
    else:
        yield condition
