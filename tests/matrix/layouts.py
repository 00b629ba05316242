"""Tables by layout and data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.matrix.cells import Data, Files
from tests.matrix.harvest import Given

if TYPE_CHECKING:
    pass

Layout = Callable[[Files, Data], Given]
