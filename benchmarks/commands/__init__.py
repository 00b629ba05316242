"""Untrusted. The commands below ``presieve bench``."""

from __future__ import annotations

import typer

from benchmarks.commands import (
    cold,
    compiled,
    operators,
    scale,
    scan_filters,
    spark,
    synth,
    tpch,
    wide,
)

app = typer.Typer(rich_markup_mode=None)
app.command("spark")(spark.command)
app.command("scale")(scale.command)
app.command("tpch")(tpch.command)
app.command("wide")(wide.command)
app.command("cold")(cold.command)
app.command("compiled")(compiled.command)
app.command("operators")(operators.command)
app.command("scan-filters")(scan_filters.command)
app.command("synth")(synth.command)
