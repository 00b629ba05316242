# SPDX-License-Identifier: Apache-2.0
"""Trusted. Packages that only compute, and those of their functions that do more.

A function of such a package is taken to depend on its arguments only: it writes to no file,
network or database, reads no clock, and does not change its arguments, unless it is listed here.
Nobody notices if it is called less often.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

Effects: TypeAlias = Literal["auto", "none", "keep"]
"""What becomes of calls of code that is not known: they may be left out unless something says that
they act, they may be left out, or they stay.
"""
EFFECTS: tuple[Effects, ...] = get_args(Effects)
UNMISSED: Mapping[Effects, frozenset[str]] = MappingProxyType(
    {
        "auto": frozenset(("message", "unknown")),
        "none": frozenset(("message", "unknown", "likely")),
        "keep": frozenset(("message",)),
    }
)
"""The kinds of effects that nobody misses if a call is left out. Clocks, random numbers and state
are in none of them: they change what other calls return.
"""

COMPUTING: Mapping[str, str] = MappingProxyType(
    {
        "Levenshtein": "distances of texts",
        "_bisect": "searches sorted lists",
        "base64": "texts of bytes",
        "binascii": "texts of bytes",
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
        "difflib": "differences of texts",
        "enum": "enumerations",
        "fractions": "rational numbers",
        "functools": "functions of functions",
        "hashlib": "digests of bytes",
        "heapq": "heaps in lists",
        "html": "texts with marks",
        "ipaddress": "addresses as values",
        "itertools": "iterators",
        "jellyfish": "distances of texts",
        "json": "texts to values and back",
        "lightgbm": "fits and applies models",
        "math": "elementary functions",
        "numbers": "kinds of numbers",
        "numpy": "arrays",
        "operator": "operators as functions",
        "pandas": "tables",
        "pathlib": "names of files",
        "prophet": "fits and applies models",
        "pyarrow": "columns",
        "pytz": "time zones",
        "rapidfuzz": "distances of texts",
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
        "urllib.parse": "parts of addresses",
        "warnings": "messages, which nothing depends on",
        "xgboost": "fits and applies models",
        "zlib": "compressed bytes",
        "zoneinfo": "time zones",
    }
)
"""Top-level packages, each with the reason why a call may be omitted, and such modules of packages
that act.
"""

MESSAGES = frozenset(("logging", "tqdm", "traceback", "warnings"))
"""Packages that only write messages, as ``print`` does."""
_IO = "reads or writes outside of the function"
_READS = "reads a file"
_NAMED = "says by its name that it acts"
_CLOCK = "reads the clock"
_RANDOM = "is random"
_VARIABLES = "can see all variables"

_OTHERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("os", "io", "shutil", "subprocess", "socket", "tempfile", "ssl"), _IO),
        **dict.fromkeys(("ftplib", "smtplib", "http", "urllib", "urllib3", "paramiko"), _IO),
        **dict.fromkeys(("requests", "httpx", "aiohttp", "websocket", "grpc", "zmq"), _IO),
        **dict.fromkeys(("boto3", "botocore", "google", "azure", "s3fs", "gcsfs", "fsspec"), _IO),
        **dict.fromkeys(("sqlite3", "sqlalchemy", "psycopg", "psycopg2", "pymysql", "mysql"), _IO),
        **dict.fromkeys(("pyodbc", "oracledb", "cx_Oracle", "snowflake", "pymongo", "redis"), _IO),
        **dict.fromkeys(("cassandra", "elasticsearch", "kafka", "confluent_kafka", "pika"), _IO),
        **dict.fromkeys(("mlflow", "wandb", "sentry_sdk", "pickle", "joblib", "shelve"), _IO),
        **dict.fromkeys(("sys", "signal", "atexit"), _IO),
        **dict.fromkeys(("random", "secrets", "uuid"), _RANDOM),
        "time": _CLOCK,
    }
)
"""Packages that act, or whose results change from call to call."""
_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("builtins.open", "builtins.input", "builtins.breakpoint"), _IO),
        **dict.fromkeys(("builtins.exec", "builtins.eval"), _VARIABLES),
        "builtins.__import__": "runs any code",
        **dict.fromkeys(("builtins.id", "builtins.hash"), _RANDOM),
        **dict.fromkeys(("builtins.setattr", "builtins.delattr"), "changes an object"),
        **dict.fromkeys(("builtins.globals", "builtins.locals", "builtins.vars"), _VARIABLES),
        **dict.fromkeys(("builtins.dir", "inspect", "sys._getframe", "pandas.eval"), _VARIABLES),
        **dict.fromkeys(("base64.encode", "base64.decode", "base64.main"), _IO),
        **dict.fromkeys(("json.dump", "numpy.save", "numpy.savetxt", "numpy.savez"), _IO),
        **dict.fromkeys(("pyarrow.parquet", "pyarrow.csv", "pyarrow.fs", "pyarrow.dataset"), _IO),
        **dict.fromkeys(("sklearn.datasets", "statsmodels.datasets", "scipy.datasets"), _IO),
        **dict.fromkeys(("pandas.io", "pandas.set_option", "pandas.options"), _IO),
        **dict.fromkeys(("scipy.io", "numpy.DataSource"), _IO),
        **dict.fromkeys(("json.load", "pickle.load", "joblib.load", "os.listdir"), _READS),
        **dict.fromkeys(("numpy.load", "numpy.loadtxt", "numpy.fromfile", "numpy.memmap"), _READS),
        "numpy.random": _RANDOM,
    }
)
"""Functions and modules that do more, by the start of their path."""
_QUIET = (
    *("os.path", "os.environ", "os.getenv", "os.sep", "pickle.dumps", "sys.maxsize", "io.Bytes"),
    *("http.cookies", "http.HTTPStatus"),
)
"""The starts of paths of what only computes, in packages that act."""
_METHODS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("today", "now", "utcnow"), _CLOCK),
        **dict.fromkeys(("sample", "shuffle", "rvs"), _RANDOM),
        **dict.fromkeys(("tofile", "dump", "save", "save_model", "savefig", "write"), _IO),
        **dict.fromkeys(("save_weights", "export_model", "dump_model", "to_file"), _IO),
        **dict.fromkeys(("write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch"), _IO),
        **dict.fromkeys(("read_text", "read_bytes", "exists", "iterdir"), _READS),
    }
)
"""Methods that do more."""
_ACTING_WORDS = frozenset(
    (
        *("save", "write", "dump", "post", "put", "patch", "send", "upload", "insert", "execute"),
        *("executemany", "commit", "publish", "push", "delete", "emit", "notify", "export"),
        *("persist", "store", "flush", "savefig", "savetxt", "writelines"),
    )
)
"""What a function or method that is not known does, if it is the first word of its name."""
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
    """What else a call does: ``effect``, ``clock``, ``random``, ``message``, ``unknown``, or
    ``likely`` if only its name says that it acts.
    """

    kind: str
    reason: str

    @property
    def is_of_unknown_code(self) -> bool:
        """Whether nothing is known of the called code, which may change its arguments."""
        return self.kind in ("unknown", "likely") and self.reason != _READS


_KINDS = {_CLOCK: "clock", _RANDOM: "random", _READS: "unknown"}


def sees_variables(path: str) -> bool:
    """Whether a function looks up variables of its caller by their names."""
    doing = of_function(path)
    return doing is not None and doing.reason == _VARIABLES


def _doing(reason: str) -> Doing:
    return Doing(_KINDS.get(reason, "effect"), reason)


def package_of(path: str) -> str:
    """The package of a function or class, or the module that only computes of one that acts."""
    module = ".".join(path.split(".")[:2])
    return module if module in COMPUTING else path.partition(".")[0]


def of_function(path: str) -> Doing | None:
    """What calling a function of a package does besides returning a value; None if nothing."""
    if path == "builtins.print":
        return Doing("message", "prints")
    if path.startswith(_QUIET):
        return None
    parts = path.split(".")
    for size in range(len(parts), 0, -1):
        reason = _FUNCTIONS.get(".".join(parts[:size]))
        if reason is not None:
            return _doing(reason)
    package = package_of(path)
    if package in MESSAGES:
        return Doing("message", "writes messages")
    if package in _OTHERS:
        return _doing(_OTHERS[package])
    if package == "pandas" and parts[-1].startswith("read_"):
        return _doing(_READS)
    if package == "pandas" and parts[-1] in _WRITERS:
        return _doing(_IO)
    if parts[-1] in _METHODS:
        return _doing(_METHODS[parts[-1]])
    return None if package in COMPUTING else of_unknown(parts[-1])


def of_unknown(name: str, *, method: bool = False) -> Doing:
    """What calling a function or method of this name may do, of which nothing else is known."""
    if name in _METHODS and _METHODS[name] in (_CLOCK, _RANDOM):
        return _doing(_METHODS[name])
    logs = method and name.startswith("log_")
    if logs or name in _WRITERS or name in _METHODS or name.split("_")[0] in _ACTING_WORDS:
        return Doing("likely", _NAMED)
    return Doing("unknown", "is not known")


def of_method(packages: frozenset[str] | None, name: str) -> Doing | None:
    """What else calling a method does, by the packages its owner may be of; None if nothing."""
    acting = [_OTHERS[p] for p in sorted(packages or ()) if p in _OTHERS]
    if acting:
        return _doing(acting[0])
    if packages is None or not packages <= COMPUTING.keys() | MESSAGES:
        return of_unknown(name, method=True)
    if packages <= MESSAGES:
        return Doing("message", "writes messages")
    if name in _WRITERS:
        return _doing(_IO)
    return _doing(_METHODS[name]) if name in _METHODS else None


def imports_quietly(path: str) -> bool:
    """Whether importing a module has no noticeable effect."""
    package = package_of(path)
    return package in COMPUTING or package in MESSAGES or package in _OTHERS
