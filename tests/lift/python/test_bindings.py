"""How often a source binds a name: what is imported again is the same object."""

from __future__ import annotations

import ast

import pytest

from presieve.lift.python.bindings import names_bound

ONCE = {
    "import urllib.parse\nimport urllib.request": "urllib",
    "import math\nimport math": "math",
    "import numpy as np\nX = 1\nimport numpy as np": "np",
    "from math import floor\nfrom math import ceil, floor": "floor",
    "import os, os.path": "os",
    "import datetime as dt, math": "dt",
}
TWICE = {
    "import math as m\nimport cmath as m": "m",
    "from math import sqrt\nfrom cmath import sqrt": "sqrt",
    "from math import floor as f\nfrom math import ceil as f": "f",
    "from math import floor as f, ceil as f": "f",
    "from .a import x\nfrom ..a import x": "x",
    "import xml.dom as xml\nimport xml": "xml",
    "import math\nmath = None\nimport math": "math",
    "import math\nif FAST:\n    import math": "math",
    "import math\ndel math": "math",
}


@pytest.mark.parametrize("text", ONCE)
def test_the_same_import_binds_once(text: str) -> None:
    assert len(names_bound(ast.parse(text).body)[ONCE[text]]) == 1


@pytest.mark.parametrize("text", TWICE)
def test_other_bindings_count(text: str) -> None:
    assert len(names_bound(ast.parse(text).body)[TWICE[text]]) > 1
