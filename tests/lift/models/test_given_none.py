"""Functions that raise for None."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from presieve.lift.models.builtins.given_none import ERRORS
from presieve.lift.models.registry import path_of
from presieve.lift.values.symbolic import Known

OTHERS = {"datetime.datetime.strptime": ("%Y",)}
"""Arguments besides the first."""


@pytest.mark.parametrize("path", ERRORS)
def test_the_error_is_of_this_class(path: str) -> None:
    module, *names = path.split(".")
    if module == "urllib":
        module, names = "urllib.parse", names[1:]
    function: Any = importlib.import_module(module)
    for name in names:
        function = getattr(function, name)
    assert path_of(Known(path, function)) == path
    with pytest.raises(Exception) as raised:  # noqa: PT011
        function(None, *OTHERS.get(path, ()))
    assert type(raised.value) is ERRORS[path]
