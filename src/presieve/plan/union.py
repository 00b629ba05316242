# SPDX-License-Identifier: Apache-2.0
"""Trusted. A copy of a conjunct moves down into one input of a union."""

from __future__ import annotations

from presieve.errors import Declined
from presieve.ir.terms import Term
from presieve.ir.walk import variables
from presieve.plan.algebra import Union, attribute_id
from presieve.plan.partitioned import rename_attributes


def through_union(below: Union, conjunct: Term) -> Term | Declined:
    """Rename the conjunct's columns to the input's; it also stays above, for the other inputs.

    Lemma: ``filter c (A ++ B) = filter c (filter c A ++ B)``.
    """
    names = dict(below.columns)
    if any(attribute_id(v) not in names for v in variables(conjunct)):
        return Declined("plan-shape", "a filter reads a column that its input does not have")
    return rename_attributes(conjunct, names)
