"""Players whose three best games all have 950 points or more.

Run it: ``python examples/gallery/podium.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from showing import Shown, Wrong, alone, compare, parquet

import presieve

# --- the pipeline ---------------------------------------------------------------------------------


def podium(pdf: pd.DataFrame) -> pd.DataFrame:
    best = pdf["points"].nlargest(3)
    return pd.DataFrame(
        {
            "player": [pdf["player"].iloc[0]],
            "total": [best.sum()],
            "third": [best.min()],
            "games": [best.count()],
        }
    )


PODIUM = "player string, total double, third double, games bigint"
STRONG = "third >= 950 AND games = 3"


def pipeline(games):
    return games.groupBy("player").applyInPandas(podium, PODIUM).filter(STRONG)


# --- the wrong twin -------------------------------------------------------------------------------


# The worst of the three is 950 or more, so other games do not matter.
def by_hand():
    return presieve.verify(
        podium,
        "third >= 950",
        schema="player string, points double",
        returns=PODIUM,
        keys="player",
        prefilter="points >= 950",
    )


# --- data and output ------------------------------------------------------------------------------


def games(spark, folder, rows=60_000, players=300):
    """In the order of points, as a ladder is; unfinished games (NULL, NaN) come first."""
    rng = np.random.default_rng(11)
    player = rng.integers(0, players, rows)
    points = (rng.normal(650, 90, players)[player] + rng.normal(0, 50, rows)).clip(0, 1000).round()
    order = np.argsort(points)
    points = points[order]
    points[:300] = np.nan
    return parquet(
        spark,
        folder,
        "games",
        {
            "player": pa.array([None if p == 7 else f"p{p:04d}" for p in player[order]]),
            "points": pa.array(points, mask=np.arange(rows) < 150),
        },
    )


def main(spark, folder: Path) -> Shown:
    df = pipeline(games(spark, folder))
    return compare(df, Wrong("third >= 950", "points >= 950", by_hand()))


if __name__ == "__main__":
    alone(main)
