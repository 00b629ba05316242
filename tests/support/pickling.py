"""Functions reach the workers as code, so that these need no path to the tests."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest


def pickled_by_value(*modules: ModuleType, scope: Any = "module", autouse: bool = True) -> Any:
    """A fixture, while which lasts the functions of the modules are pickled with their code."""

    @pytest.fixture(scope=scope, autouse=autouse)
    def registered() -> Iterator[None]:
        from pyspark import cloudpickle

        for module in modules:
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        yield
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]

    return registered
