# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``%presieve`` and ``%%presieve``."""

from __future__ import annotations

import html
import importlib.util
import inspect
from argparse import REMAINDER, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from presieve.driver.optimize import explain
from presieve.driver.options import COSTS, check_values
from presieve.driver.session import SessionSetting, disable, enable, enabled_as, setting_of
from presieve.driver.solve import POLICIES
from presieve.errors import PresieveError, install
from presieve.report.collector import ReportCollector, distinct, without_boundary
from presieve.report.report import Report
from presieve.report.report_data import ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@magics_class
class PresieveMagics(Magics):
    """The two magics, which share a name and options."""

    shell: InteractiveShell

    @magic_arguments()
    @argument("--policy", choices=POLICIES, help="what a proof may rest on")
    @argument(
        "--cost",
        choices=COSTS,
        help="push where it pays (auto), wherever proven (always), or nowhere",
    )
    @argument("--budget", type=float, help="seconds of search for a DataFrame")
    @argument("--explain", action="store_true", help="run the cell as written; only report")
    @argument("--measure", action="store_true", help="run each DataFrame once more, both ways")
    @argument("-h", "--help", action="store_true", help="show this text")
    @argument("what", nargs=REMAINDER, help="on, off, status, or [explain] and a DataFrame")
    @no_var_expand
    @line_cell_magic
    def presieve(self, line: str, cell: str | None = None) -> None:
        """Push filters below Python functions, with a proof, and show what was pushed.

        %presieve on [options]         every action of the session goes through presieve
        %presieve off                  as it was
        %presieve status               whether it is on
        %presieve [options] df         what would be pushed in a DataFrame, which is not run
        %%presieve [options]           run the cell with the session enabled, and show the same
        """
        with _one_line():
            arguments = self._parse_line(line)
            if arguments.help:
                print((inspect.getdoc(self.presieve) or "").removeprefix("::\n\n"))
            elif cell is None:
                self._line(arguments)
            elif arguments.what:
                raise UsageError(f"%%presieve takes only options, not {' '.join(arguments.what)}")
            else:
                self._cell(arguments, cell)

    def _parse_line(self, line: str) -> Namespace:
        """Parse the line. Options may stand before or behind the word."""
        try:
            arguments: Namespace = parse_argstring(self.presieve, line)
        except ValueError as error:
            raise UsageError(f"%presieve {line}: {error}") from error
        if arguments.what and arguments.what[0] in ("on", "off", "status", "explain"):
            first, *other_words = arguments.what
            arguments = self.presieve.parser.parse_args(other_words, arguments)
            arguments.what.insert(0, first)
        return arguments

    def _line(self, arguments: Namespace) -> None:
        match arguments.what:
            case []:
                raise UsageError("%presieve what? on, off, status, or a DataFrame")
            case ["on"]:
                enable(_spark(), **_given_options(arguments))
                print(_status(_spark()))
            case ["off"]:
                disable(_spark())
                print(_status(_spark()))
            case ["status"]:
                print(_status(_spark()))
            case ["on" | "off" | "status", *extra_words]:
                raise UsageError(f"%presieve {arguments.what[0]} takes no {extra_words[0]}")
            case ["explain", *code] | code:
                self._explain(arguments, " ".join(code))

    def _explain(self, arguments: Namespace, code: str) -> None:
        report = explain(self._frame(code), **_given_options(arguments))
        if arguments.measure:
            report.measure()
        _show(report)

    def _frame(self, code: str) -> DataFrame:
        try:
            value = self.shell.ev(code)
        except NameError as error:
            raise UsageError(f"%presieve {code}: {error}") from error
        except SyntaxError as error:
            raise UsageError(f"%presieve {code}: {error.msg}; put options first") from error
        _needs_pyspark()
        from presieve.backend.session.active import is_frame

        if not is_frame(value):
            raise UsageError(f"%presieve {code}: that is {_a(value)}, not a DataFrame of Spark")
        return value

    def _cell(self, arguments: Namespace, cell: str) -> None:
        if arguments.explain and arguments.cost is not None:
            raise UsageError("--explain pushes nowhere: leave out --cost")
        options = _given_options(arguments)
        mine = {**options, "cost": "never"} if arguments.explain else options
        collector = _Cell(self.shell)
        # Count lines as the reader sees them: the magic's own line comes first.
        text = cell if cell.startswith("%%") else f"#\n{cell}"
        with enabled_as(_spark(), SessionSetting(mine, collector.collect, for_report=True)):
            execution = self.shell.run_cell(text, store_history=False)
        for look, places in distinct(collector.collected):
            report = Report(look.data)
            if arguments.measure:
                report = explain(collector.frames[id(look.data)], **options)
                report.measure()
            _show(report, ", ".join(places))
        if summary := without_boundary(collector.collected):
            print(summary)
        error = execution.error_before_exec or execution.error_in_exec
        if error is not None:  # its traceback is shown above; a run of all cells must stop here
            raise UsageError(f"the cell ended with {type(error).__name__}")


class _Cell(ReportCollector):
    """Collects the DataFrames of a cell, and where in the notebook they ran."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(lambda file: _cell_name(shell, file))
        self.frames: dict[int, DataFrame] = {}

    def collect(self, df: Any, data: ReportData) -> None:
        """Also keep the DataFrame, since the user may ask to measure it."""
        super().collect(df, data)
        self.frames[id(data)] = df


def _cell_name(shell: InteractiveShell, file: str) -> str | None:
    """Return the name of a cell, such as In[3]."""
    code_name = shell.compile.format_code_name(file)
    if code_name is None:
        return None
    # IPython increases the count before it runs a cell, so the magic's cell has the next number.
    next_ = shell.execution_count
    return f"In[{next_ - 1}]" if code_name[1] == f"In[{next_}]" else code_name[1]


@contextmanager
def _one_line() -> Iterator[None]:
    """Show our errors as one line without a traceback."""
    try:
        yield
    except PresieveError as error:
        raise UsageError(str(error)) from error


def _needs_pyspark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        raise UsageError(f"presieve needs pyspark: {install('spark')}")


def _spark() -> SparkSession:
    """Return the active session. Raises IPython's :class:`UsageError` if there is none."""
    _needs_pyspark()
    from presieve.backend.session.active import active_session

    session = active_session()
    if session is None:
        raise UsageError("there is no active SparkSession: make one, then run this cell again")
    return session


def _given_options(arguments: Namespace) -> dict[str, Any]:
    """Return the given options, as ``enable`` and ``explain`` take them."""
    options = {"budget": arguments.budget, "policy": arguments.policy, "cost": arguments.cost}
    return {**check_values({name: value for name, value in options.items() if value is not None})}


def _status(spark: SparkSession) -> str:
    setting = setting_of(spark)
    if setting is None:
        return "presieve is off"
    o = setting.options(spark)
    return f"presieve is on: policy {o.policy}, cost {o.cost}, budget {o.budget:g} s"


def _a(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "AEIOUaeiou" else f"a {name}"


def _show(report: Report, place: str = "") -> None:
    """Show the report as HTML if the frontend displays it, else as text."""
    text = f"{place}: {report}" if place else str(report)
    head = f"<p><b>{html.escape(place)}</b></p>" if place else ""
    both = {"text/plain": text + "\n", "text/html": head + report._repr_html_()}
    display(both, raw=True)
