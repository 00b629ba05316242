# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The file of a baseline: what presieve did for some jobs. It is sorted and has no
times, lines, machine's paths or sizes, so that its changes can be read in a review.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from presieve.errors import UsageError
from presieve.records import replace
from presieve.report.baseline.seen import SeenSite
from presieve.report.baseline.stored_sites import DerivedSite, FilterSite, FunctionSite, Site

FORMAT = 1
"""The version of the format."""


class Environment(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run depends on besides the job.

    Attributes:
        presieve: The version of presieve.
        spark: The versions of Spark, major and minor; several if the job has such sessions.
        options: The options that are not at their defaults, for each session or part of the job
            that has others.
        plan_only: Whether the job got no rows.
    """

    presieve: str
    spark: tuple[str, ...] = ()
    options: tuple[dict[str, Any], ...] = ()
    plan_only: bool = False


class JobBaseline(Struct, frozen=True, forbid_unknown_fields=True):
    """What presieve did for a job."""

    environment: Environment
    filters: tuple[FilterSite, ...] = ()
    functions: tuple[FunctionSite, ...] = ()
    derived: tuple[DerivedSite, ...] = ()

    @property
    def sites(self) -> tuple[Site, ...]:
        """All sites."""
        return (*self.filters, *self.functions, *self.derived)


class BaselineFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The jobs of a file, by their paths relative to it."""

    format: int = FORMAT
    jobs: dict[str, JobBaseline] = {}


class _Version(Struct, frozen=True):
    format: int


def read_baseline(text: bytes, name: str) -> BaselineFile:
    """Read a file. Raises :class:`UsageError` if it is none of this format."""
    remedy = "write it again with --update-baseline, after deleting it"
    try:
        version = msgspec.json.decode(text, type=_Version).format
        if version != FORMAT:
            raise UsageError(
                f"{name}: a baseline of format {version}, and this presieve reads {FORMAT}; use the"
                f" presieve that wrote it, or {remedy}"
            )
        return msgspec.json.decode(text, type=BaselineFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{name}: not a baseline: {error}; {remedy}") from error


def baseline_of(environment: Environment, seen: Iterable[SeenSite]) -> JobBaseline:
    """Make a job's baseline of the sites of a run."""
    sites = sorted((s.site for s in seen if s.site.is_kept), key=repr)
    return JobBaseline(
        environment,
        tuple(s for s in sites if isinstance(s, FilterSite)),
        tuple(s for s in sites if isinstance(s, FunctionSite)),
        tuple(s for s in sites if isinstance(s, DerivedSite)),
    )


def with_job(file: BaselineFile, name: str, job: JobBaseline) -> BaselineFile:
    """Add a job to a file, or replace it."""
    return replace(file, jobs=dict(sorted({**file.jobs, name: job}.items())))


def write_baseline(file: BaselineFile) -> str:
    """The text of a file."""
    return msgspec.json.format(msgspec.json.encode(file), indent=2).decode() + "\n"


def environment_differences(before: Environment, now: Environment) -> tuple[str, ...]:
    """Say what the two runs do not have in common, apart from the job."""
    shown: Mapping[str, Callable[[Environment], str]] = {
        "presieve": lambda e: f"presieve {e.presieve}",
        "spark": lambda e: f"Spark {' and '.join(e.spark) or 'unknown'}",
        "options": lambda e: " and ".join(map(_options, e.options)) or _options({}),
        "plan_only": lambda e: "--plan-only" if e.plan_only else "rows (no --plan-only)",
    }
    return tuple(
        f"the baseline is of a run with {text(before)}, this run has {text(now)}"
        for field, text in shown.items()
        if getattr(before, field) != getattr(now, field)
        and (now.spark or field not in ("spark", "options"))  # no DataFrame ran
    )


def _options(options: Mapping[str, Any]) -> str:
    each = (f"{name}={msgspec.json.encode(value).decode()}" for name, value in options.items())
    return f"the options {', '.join(each)}" if options else "default options"
