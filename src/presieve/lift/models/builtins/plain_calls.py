# SPDX-License-Identifier: Apache-2.0
"""Trusted. Whether a name means a function of Python, and what a lambda takes."""

from __future__ import annotations

import ast

from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.python.names import is_function
from presieve.lift.values.symbolic import Known


def is_builtin(m: SymbolicMachine, flow: Flow, name: str) -> bool:
    """Return whether a name means the function of Python with that name."""
    function = None if name in flow.env else m.names.resolve(name)
    return isinstance(function, Known) and is_function(function, f"builtins.{name}")


def only_parameter(function: ast.expr) -> str | None:
    """Return the only parameter of a lambda, which is plain and has no default."""
    match function:
        case ast.Lambda(ast.arguments([], [given], None, [], [], None, [])):
            return given.arg
    return None
