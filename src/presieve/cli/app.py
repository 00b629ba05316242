# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The commands together, and the exit codes.

0 is success, 1 a negative answer, 2 a usage error or another error: one line on standard error, no
traceback.
"""

from __future__ import annotations

import os
import sys
import textwrap
import traceback
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from typer.main import get_command

import presieve
from presieve.cli import (
    bench,
    cache,
    check,
    compile,
    demo,
    explain,
    lineage,
    lint,
    run,
    saved,
    synth,
    verify,
    why,
)
from presieve.errors import PresieveError

DEBUG = "PRESIEVE_DEBUG"
"""The environment variable that shows the traceback of an error."""

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended, as in shells."""

_FOLD = """\
presieve {} jobs.py:TopTwo --schema "score double" --where "second >= 90" \\
        --returns "first double, second double"\
"""

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("presieve demo --rows 100000", "presieve demo --html report.html"),
    "run": (
        "presieve run nightly.py --date 2026-11-01",
        "presieve run --policy strict --ledger runs.jsonl nightly.py",
    ),
    "saved": ("presieve saved runs.jsonl", "presieve saved --since 2026-11-01 runs.jsonl"),
    "explain": (
        "presieve explain nightly.py --date 2026-11-01",
        "presieve explain -v --plan-only --html report.html nightly.py",
    ),
    "lineage": ("presieve lineage --where \"team = 'a' AND best > 90\" nightly.py",),
    "synth": (_FOLD.format("synth"),),
    "verify": (_FOLD.format("verify") + ' --prefilter "score >= 90"',),
    "check": ("presieve check top_two.json", "presieve check --solver cvc5 top_two.json"),
    "compile": ('presieve compile jobs.py:grade --schema "score double" --returns string',),
    "lint": ("presieve lint nightly.py", "presieve lint --format github jobs/"),
    "why": ("presieve why unknown-call", "presieve why no-nan"),
    "cache": ("presieve cache", "presieve cache --clear"),
    "bench": ("presieve bench synth", "presieve bench --help"),
}
"""Examples that end the help of each command."""


def _examples(name: str) -> str:
    r"""The end of a help text. After a \b, click leaves lines unchanged."""
    return "\b\nExamples:\n" + textwrap.indent("\n".join(EXAMPLES[name]), "  ")


START = """
\b
Examples:
  presieve demo                # three pipelines, on generated data
  presieve explain nightly.py  # what would be pushed in a job
  presieve run nightly.py      # the job, with every DataFrame optimized
  presieve why no-nan          # what a code in a report means
"""
"""The end of the program's help."""

app = typer.Typer(
    name="presieve",
    no_args_is_help=True,
    epilog=START.strip(),
    rich_markup_mode=None,
)
for _name, _module in (
    ("demo", demo),
    ("run", run),
    ("saved", saved),
    ("explain", explain),
    ("lineage", lineage),
    ("synth", synth),
    ("verify", verify),
    ("check", check),
    ("compile", compile),
    ("lint", lint),
    ("why", why),
    ("cache", cache),
):
    _settings = run.CONTEXT if _name in ("run", "explain", "lineage") else None
    app.command(_name, context_settings=_settings, epilog=_examples(_name))(_module.command)
app.add_typer(bench.app, name="bench", epilog=_examples("bench"))


def _show_version(requested: bool) -> None:
    if requested:
        print(f"presieve {presieve.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Moves filters through Python UDFs of PySpark pipelines, with a proof."""


# Typer has included its own copy of click since 0.2x; this is the base of usage errors in both.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. ``argv`` is without the program's name."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        code = get_command(app)(args=args, prog_name="presieve", standalone_mode=False)
    except PresieveError as error:
        return _stop(str(error))
    except _USAGE_ERROR as error:
        return _usage(error, args)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _stop(f"{what}; name something else, or see who may use it")
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:  # a crash must not exit with 1, which would read as an answer
        return _stop(
            f"internal error, {type(error).__name__}: {error}; please report it with the"
            f" traceback that {DEBUG}=1 shows"
        )
    if code == INTERRUPTED and args[0] != "run":  # run leaves the traceback to the job
        print("presieve: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _stop(message: str) -> int:
    """Print one line, after the traceback if it is requested; return the exit code."""
    if os.environ.get(DEBUG):
        traceback.print_exc()
    print("presieve:", " ".join(message.split()), file=sys.stderr)
    return 2


def _usage(error: Exception, args: Sequence[str]) -> int:
    """Print Click's message, and where to find help."""
    message = getattr(error, "format_message", error.__str__)()
    if not message or message.startswith("Usage: "):  # no arguments at all, so this is the help
        if message:
            print(message, file=sys.stderr)
        return 2
    message = message.replace("Value error, ", "")
    commands = {c.name for c in app.registered_commands} | {g.name for g in app.registered_groups}
    command = args[0] if args and args[0] in commands else ""
    remedy = f"presieve {command} --help".replace("  ", " ")
    return _stop(f"{message.rstrip('.')}; see `{remedy}`")
