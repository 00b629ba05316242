"""Trusted. Lifting: from Python functions and classes to folds of the IR, or a reason why not."""

from presieve.lift.forms import Form, FrameFunction, Lifted, Request, RowClass, SeriesFunction
from presieve.lift.lift import lift

__all__ = [
    "Form",
    "FrameFunction",
    "Lifted",
    "Request",
    "RowClass",
    "SeriesFunction",
    "lift",
]
