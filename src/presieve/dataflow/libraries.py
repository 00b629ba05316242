# SPDX-License-Identifier: Apache-2.0
"""Trusted. Packages that only compute, and those of their functions that do more.

A function of such a package is taken to depend on its arguments only: it writes to no file,
network or database, reads no clock, and does not change its arguments, unless it is listed here.
Nobody notices if it is called less often.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

COMPUTING: Mapping[str, str] = MappingProxyType(
    {
        "bisect": "searches sorted lists",
        "builtins": "Python's own types and functions",
        "calendar": "the Gregorian calendar",
        "cmath": "complex numbers",
        "collections": "containers",
        "copy": "copies of objects",
        "dataclasses": "records",
        "datetime": "dates and times as values",
        "dateutil": "dates and times as values",
        "decimal": "decimal numbers",
        "enum": "enumerations",
        "fractions": "rational numbers",
        "functools": "functions of functions",
        "hashlib": "digests of bytes",
        "heapq": "heaps in lists",
        "itertools": "iterators",
        "json": "texts to values and back",
        "lightgbm": "fits and applies models",
        "math": "elementary functions",
        "numbers": "kinds of numbers",
        "numpy": "arrays",
        "operator": "operators as functions",
        "pandas": "tables",
        "prophet": "fits and applies models",
        "pyarrow": "columns",
        "pytz": "time zones",
        "re": "regular expressions",
        "scipy": "numerical algorithms",
        "sklearn": "fits and applies models",
        "statistics": "statistics of numbers",
        "statsmodels": "fits and applies models",
        "string": "constants of characters",
        "textwrap": "texts",
        "types": "types of Python",
        "typing": "annotations, which do nothing",
        "unicodedata": "properties of characters",
        "warnings": "messages, which nothing depends on",
        "xgboost": "fits and applies models",
        "zlib": "compressed bytes",
        "zoneinfo": "time zones",
    }
)
"""Top-level packages, each with the reason why a call may be omitted."""

MESSAGES = frozenset(("logging", "tqdm", "traceback", "warnings"))
"""Packages that only write messages, as ``print`` does."""
_IO = "reads or writes outside of the function"
_CLOCK = "reads the clock"
_RANDOM = "is random"
_VARIABLES = "can see all variables"

_OTHERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("os", "io", "pathlib", "shutil", "subprocess", "socket"), _IO),
        **dict.fromkeys(("requests", "urllib", "http", "boto3", "pickle", "joblib"), _IO),
        **dict.fromkeys(("sqlite3", "psycopg2", "mlflow", "tempfile", "sys"), _IO),
        **dict.fromkeys(("random", "secrets", "uuid"), _RANDOM),
        "time": _CLOCK,
    }
)
_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("builtins.open", "builtins.input", "builtins.breakpoint"), _IO),
        **dict.fromkeys(("builtins.exec", "builtins.eval"), _VARIABLES),
        "builtins.__import__": "runs any code",
        **dict.fromkeys(("builtins.id", "builtins.hash"), _RANDOM),
        **dict.fromkeys(("builtins.setattr", "builtins.delattr"), "changes an object"),
        **dict.fromkeys(("builtins.globals", "builtins.locals", "builtins.vars"), _VARIABLES),
        **dict.fromkeys(("builtins.dir", "inspect", "sys._getframe", "pandas.eval"), _VARIABLES),
        **dict.fromkeys(("json.dump", "numpy.save", "numpy.savetxt", "numpy.savez"), _IO),
        **dict.fromkeys(("numpy.load", "numpy.loadtxt", "numpy.fromfile", "numpy.memmap"), _IO),
        **dict.fromkeys(("pyarrow.parquet", "pyarrow.csv", "pyarrow.fs", "pyarrow.dataset"), _IO),
        **dict.fromkeys(("sklearn.datasets", "statsmodels.datasets", "scipy.datasets"), _IO),
        **dict.fromkeys(("pandas.io", "pandas.set_option", "pandas.options"), _IO),
        **dict.fromkeys(("scipy.io", "numpy.DataSource"), _IO),
        "numpy.random": _RANDOM,
    }
)
"""Functions and modules that do more, by the start of their path."""
_METHODS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("today", "now", "utcnow"), _CLOCK),
        **dict.fromkeys(("sample", "shuffle", "rvs"), _RANDOM),
        **dict.fromkeys(("tofile", "dump", "save", "save_model", "savefig", "write"), _IO),
        **dict.fromkeys(("save_weights", "export_model", "dump_model", "to_file", "close"), _IO),
    }
)
"""Methods of objects of computing packages that do more."""
_WRITERS = frozenset(
    (
        *("to_clipboard", "to_csv", "to_excel", "to_feather", "to_gbq", "to_hdf", "to_html"),
        *("to_json", "to_latex", "to_markdown", "to_orc", "to_parquet", "to_pickle", "to_sql"),
        *("to_stata", "to_string", "to_xml", "plot", "hist", "boxplot"),
    )
)


MODELS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("lightgbm", "sklearn", "xgboost"),
            MappingProxyType(
                dict.fromkeys(
                    ("predict", "predict_proba", "decision_function", "score_samples"), "items"
                )
            ),
        ),
        "prophet": MappingProxyType({"predict": "table", "make_future_dataframe": "table"}),
    }
)
"""The results of methods of fitted models: an array with a row for each row of their argument, in
order (``items``; it may have one dimension or two), or a table of their own.
"""


class Doing(Struct, frozen=True):
    """What else a call does: ``effect``, ``clock``, ``random``, ``message`` or ``unknown``."""

    kind: str
    reason: str


_KINDS = {_CLOCK: "clock", _RANDOM: "random"}


def sees_variables(path: str) -> bool:
    """Whether a function looks up variables of its caller by their names."""
    doing = of_function(path)
    return doing is not None and doing.reason == _VARIABLES


def _doing(reason: str) -> Doing:
    return Doing(_KINDS.get(reason, "effect"), reason)


def of_function(path: str) -> Doing | None:
    """What calling a function of a package does besides returning a value; None if nothing."""
    if path == "builtins.print":
        return Doing("message", "prints")
    if path == "pickle.dumps":
        return None  # a value as bytes
    parts = path.split(".")
    for size in range(len(parts), 0, -1):
        reason = _FUNCTIONS.get(".".join(parts[:size]))
        if reason is not None:
            return _doing(reason)
    package = parts[0]
    if package in MESSAGES:
        return Doing("message", "writes messages")
    if package in _OTHERS:
        return _doing(_OTHERS[package])
    if package == "pandas" and parts[-1].startswith("read_"):
        return _doing(_IO)
    if package == "pandas" and parts[-1] in _WRITERS:
        return _doing(_IO)
    if parts[-1] in _METHODS:
        return _doing(_METHODS[parts[-1]])
    if package not in COMPUTING:
        return Doing("unknown", "is not known")
    return None


def of_method(packages: frozenset[str] | None, name: str) -> Doing | None:
    """What else calling a method does, by the packages its owner may be of; None if nothing."""
    if packages is None or not packages <= COMPUTING.keys() | MESSAGES:
        return Doing("unknown", "is not known")
    if packages <= MESSAGES:
        return Doing("message", "writes messages")
    if name in _WRITERS:
        return _doing(_IO)
    return _doing(_METHODS[name]) if name in _METHODS else None


def imports_quietly(path: str) -> bool:
    """Whether importing a module has no noticeable effect."""
    package = path.partition(".")[0]
    return package in COMPUTING or package in MESSAGES or package in _OTHERS
