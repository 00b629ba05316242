# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lifting: from Python functions and classes to folds of the IR, or a reason why not."""

from presieve.lift.api import lift
from presieve.lift.forms import (
    ArrayFunction,
    Form,
    FrameFunction,
    Lifted,
    LiftRequest,
    RowClass,
    SeriesFunction,
    TableFunction,
)

__all__ = [
    "ArrayFunction",
    "Form",
    "FrameFunction",
    "LiftRequest",
    "Lifted",
    "RowClass",
    "SeriesFunction",
    "TableFunction",
    "lift",
]
