"""The table of evaluation types says what PySpark does."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pyspark.util import PythonEvalType

from presieve.lift.evaluation_types import EVALUATION_TYPES


def test_names_and_numbers_are_those_of_pyspark() -> None:
    theirs = {getattr(PythonEvalType, t.name): number for number, t in EVALUATION_TYPES.items()}
    assert theirs == {number: number for number in EVALUATION_TYPES}


def test_their_names_say_what_the_table_says() -> None:
    for t in EVALUATION_TYPES.values():
        assert ("ITER" in t.name) == t.streamed or t.unread, t
        assert ("ARROW" in t.name) == t.arrow or t.unread or t.whole, t
        if t.operator:
            assert t.operator.endswith("InArrow") == t.arrow, t


# --- the recipe for a way of calling functions ----------------------------------------------------

READER = """
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

path = Path(find_spec("presieve").origin).parent / "lift" / "evaluation_types.py"
head, table = path.read_text(encoding="utf-8").split("_ALL = (")
name = "presieve.lift.evaluation_types"
module = sys.modules[name] = ModuleType(name)
exec(compile(f"{head}_ALL = ({sys.argv[1]}{table}", path, "exec"), vars(module))

from types import SimpleNamespace
from presieve.backend.catalyst.boundary import EVALUATION_TYPES
from presieve.lift.api import lift
from tests.support.games.udfs import top
from tests.support.lifting import request

planted = SimpleNamespace(evalType=298, func=top, deterministic=True)
lifted = lift(planted, None, request("score double", "m double"))
print(type(lifted).__name__, 298 in EVALUATION_TYPES)
"""


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ('_T(298, "SQL_PLANTED_UDF", Role.AGGREGATE),', "Lifted True"),
        ('_T(298, "SQL_PLANTED_UDF", Role.AGGREGATE, unread="planted UDFs"),', "Declined True"),
        ("", "Declined False"),
    ],
)
def test_a_planted_evaluation_type_is_lifted(row: str, answer: str) -> None:
    """Its row says what the function takes and gives: here what aggregate pandas UDFs do."""
    command = [sys.executable, "-c", READER, row]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[-2] == answer
