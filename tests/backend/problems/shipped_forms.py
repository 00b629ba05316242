"""Sources of modules in which it is not plain what a worker finds as ``season``, and a patch that
the driver executes in the module after its import. ``OTHER`` is a module beside it.
"""

from __future__ import annotations

OTHER = """
import os

LIMIT = 10.0
LIMITS = [10.0]


def high(value):
    return value > LIMIT


class Base:
    LIMIT = 10.0

    def high(self, value):
        return value > self.LIMIT


def configure(cls):
    cls.LIMIT = float(os.environ.get("PRESIEVE_TEST_LIMIT", "10"))
    return cls
"""

USE = """

def season(score):
    return 1 if score is not None and {test} else 0
"""


def _with(before: str, test: str) -> str:
    return before + USE.format(test=test)


SET = "import os; os.environ['PRESIEVE_TEST_LIMIT'] = '1000'"
ENVIRONMENT = 'float(os.environ.get("PRESIEVE_TEST_LIMIT", "10"))'

FORMS: dict[str, tuple[str, str]] = {
    "environment": (
        _with(f"import os\nLIMIT = {ENVIRONMENT}\n", "score > LIMIT"),
        "",
    ),
    "environment in a condition": (
        _with(
            f"import os\nLIMIT = 10.0\nif {ENVIRONMENT} > 10:\n    LIMIT = 1000.0\n",
            "score > LIMIT",
        ),
        "",
    ),
    "environment in a default": (
        f"import os\ndef season(score, limit={ENVIRONMENT}):\n"
        "    return 1 if score is not None and score > limit else 0\n",
        "",
    ),
    "environment in a keyword default": (
        f"import os\ndef season(score, *, limit={ENVIRONMENT}):\n"
        "    return 1 if score is not None and score > limit else 0\n",
        "",
    ),
    "environment in a class body": (
        _with(
            f"import os\nclass Box:\n    LIMIT = {ENVIRONMENT}\n"
            "    def high(self, x):\n        return x > self.LIMIT\n",
            "Box().high(score)",
        ),
        "",
    ),
    "definition by the environment": (
        _with(
            f"import os\nif {ENVIRONMENT} > 10:\n    def high(x): return x > 1000.0\n"
            "else:\n    def high(x): return x > 10.0\n",
            "high(score)",
        ),
        "",
    ),
    "list that the import fills": (
        _with(
            f"import os\nLIMITS = [10.0]\nif {ENVIRONMENT} > 10:\n    LIMITS[0] = 1000.0\n",
            "score > LIMITS[0]",
        ),
        "",
    ),
    "function that sets a global": (
        _with(
            "import os\nLIMIT = 10.0\ndef change():\n    global LIMIT\n"
            f"    LIMIT = {ENVIRONMENT}\nchange()\n",
            "score > LIMIT",
        ),
        "",
    ),
    "globals()": (
        _with(f"import os\nLIMIT = 10.0\nglobals()['LIMIT'] = {ENVIRONMENT}\n", "score > LIMIT"),
        "",
    ),
    "decorator of a class": (
        _with(
            "from {other} import configure\n@configure\nclass Box:\n    LIMIT = 10.0\n"
            "    def high(self, x):\n        return x > self.LIMIT\n",
            "Box().high(score)",
        ),
        "",
    ),
    "class that is passed on": (
        _with(
            "from {other} import configure\nclass Box:\n    LIMIT = 10.0\n"
            "    def high(self, x):\n        return x > self.LIMIT\nconfigure(Box)\n",
            "Box().high(score)",
        ),
        "",
    ),
    "base that changes its children": (
        _with(
            "import os\nclass Base:\n    def __init_subclass__(cls):\n"
            f"        cls.LIMIT = {ENVIRONMENT}\nclass Box(Base):\n    LIMIT = 10.0\n"
            "    def high(self, x):\n        return x > self.LIMIT\n",
            "Box().high(score)",
        ),
        "",
    ),
    "decorator of a function": (
        _with(
            "import functools, os\ndef scaled(f):\n"
            f"    limit = {ENVIRONMENT}\n    @functools.wraps(f)\n"
            "    def inner(x):\n        return x > limit\n    return inner\n"
            "@scaled\ndef high(x):\n    return x > 10.0\n",
            "high(score)",
        ),
        "",
    ),
    "made by a function": (
        _with(
            "import os\ndef make(limit):\n    def inner(x):\n        return x > limit\n"
            "    return inner\n"
            f"high = make({ENVIRONMENT})\n",
            "high(score)",
        ),
        "",
    ),
    "partial": (
        _with(
            "import functools\ndef over(limit, x):\n    return x > limit\n"
            "high = functools.partial(over, 10.0)\n",
            "high(score)",
        ),
        "high = functools.partial(over, 1000.0)",
    ),
    "lambda": (
        _with("LIMIT = 10.0\nhigh = lambda x: x > LIMIT\n", "high(score)"),
        "LIMIT = 1000.0",
    ),
    "another name of a function": (
        _with("def over(x):\n    return x > 10.0\nhigh = over\n", "high(score)"),
        "def far(x):\n    return x > 1000.0\nhigh = far",
    ),
    "function in a dict": (
        _with(
            "def over(x):\n    return x > 10.0\nTESTS = {'high': over}\n", "TESTS['high'](score)"
        ),
        "TESTS['high'] = lambda x: x > 1000.0",
    ),
    "bound method": (
        _with(
            "class Box:\n    limit = 10.0\n    def high(self, x):\n        return x > self.limit\n"
            "high = Box().high\n",
            "high(score)",
        ),
        "Box.limit = 1000.0",
    ),
    "callable object": (
        _with(
            "class Above:\n    limit = 10.0\n"
            "    def __call__(self, x):\n        return x > self.limit\nhigh = Above()\n",
            "high(score)",
        ),
        "Above.limit = 1000.0",
    ),
    "enum": (
        _with(
            "import enum\nclass Limit(enum.Enum):\n    HIGH = 10.0\n", "score > Limit.HIGH.value"
        ),
        "class Limit(enum.Enum):\n    HIGH = 1000.0",
    ),
    "imported constant": (
        _with("from {other} import LIMIT\n", "score > LIMIT"),
        "LIMIT = 1000.0",
    ),
    "imported constant, there": (
        _with("from {other} import LIMIT as HIGH\nimport {other}\n", "score > HIGH"),
        "import importlib; {other}.LIMIT = 1000.0; HIGH = {other}.LIMIT",
    ),
    "imported function": (
        _with("from {other} import high\nimport {other}\n", "high(score)"),
        "{other}.LIMIT = 1000.0",
    ),
    "imported list": (
        _with("from {other} import LIMITS\n", "score > LIMITS[0]"),
        "LIMITS[0] = 1000.0",
    ),
    "imported base": (
        _with("from {other} import Base\nclass Box(Base):\n    pass\n", "Box().high(score)"),
        "Base.LIMIT = 1000.0",
    ),
    "all of a module": (
        _with("from {other} import *\n", "high(score)"),
        "high = lambda x: x > 1000.0",
    ),
    "builtin": (
        _with("", "abs(score) > 10.0"),
        "import math; abs = lambda x: 0.0",
    ),
    "constant of a library": (
        _with("import math\n", "score > math.pi"),
        "math.pi = 1000.0",
    ),
    "function of a library": (
        _with("import math\n", "math.floor(score) > 10"),
        "math.floor = lambda x: 1000",
    ),
    "function of a library, another one": (
        _with("import math\n", "math.floor(score + 0.5) > 10"),
        "math.floor = math.ceil",
    ),
    "constant of a class": (
        _with(
            "class Box:\n    LOW = 5.0\n    LIMIT = 2 * LOW\n    def high(self, x):\n"
            "        return x > self.LIMIT\n",
            "Box().high(score)",
        ),
        "Box.LIMIT = 1000.0",
    ),
    "deleted global": (
        _with("LIMIT = 10.0\ndef abs(x):\n    return 11.0\n", "abs(score) > LIMIT"),
        "del abs",
    ),
}
