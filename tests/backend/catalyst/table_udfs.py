"""Functions of tables, for mapInPandas, mapInArrow, applyInPandas and applyInArrow. Pickled by
value.
"""

# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


def same(batches):
    for pdf in batches:  # noqa: UP028
        yield pdf


def doubled(batches):
    for pdf in batches:
        pdf["w"] = pdf["score"] * 2.0
        yield pdf


def errors_only(batches):
    for pdf in batches:
        bad = pdf[pdf["level"] == "error"]
        yield bad.assign(high=bad["score"] > 10)


def renamed_level(batches):
    """The column of this name is another one now."""
    for pdf in batches:
        pdf["level"] = "error"
        yield pdf


def above_mean(batches):
    for pdf in batches:
        yield pdf[pdf["score"] > pdf["score"].mean()]


def arrow_filter(batches):
    for batch in batches:
        yield batch.filter(pc.greater(batch["v"], 1))


def arrow_times(batches):
    for batch in batches:
        mask = pc.and_(pc.is_valid(batch.column("at")), pc.greater(batch.column("score"), 2.0))
        kept = batch.filter(mask)
        columns = ["team", "at", "score"]
        yield pa.RecordBatch.from_arrays([kept.column(c) for c in columns], names=columns)


def arrow_later_times(batches):
    for batch in batches:
        yield batch.filter(pc.greater(batch.column("at"), batch.column("at")))


def lists_of_some(batches):
    """Of a batch of which no row is left, the table has columns of doubles, also for texts."""
    for pdf in batches:
        teams, scores = [], []
        for row in pdf.itertuples():
            if row.team is None or row.team.swapcase() > "B":
                continue
            teams.append(row.team)
            scores.append(row.score)
        yield pd.DataFrame({"team": teams, "score": scores})


def high_rows(pdf):
    return pdf[pdf["v"] > 1]


def high_rows_in_batches(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for pdf in batches:
        yield pdf[pdf["v"] > 1]


def less_mean(pdf):
    pdf["v"] = pdf["v"] - pdf["v"].mean()
    return pdf


def best(table: pa.Table) -> pa.Table:
    return pa.Table.from_pydict(
        {"best": [pc.max(table["score"])], "rows": [table.num_rows]},
    )


def best_of_key(key, table):
    top = -1.0
    for x in table["score"]:
        value = x.as_py()
        if value is not None and value > top:
            top = value
    return pa.table({"team": [key[0].as_py()], "best": [top]})


def two_rows(table):
    return pa.table({"best": [1.0, 2.0], "rows": [1, 2]})


def arrow_columns(batches):
    for batch in batches:
        table = pa.Table.from_batches([batch])
        product = pc.multiply(table["score"], pc.cast(table["v"], pa.float64()))
        table = table.append_column("product", product).filter(pc.is_valid(table["level"]))
        yield from table.select(["team", "v", "product"]).to_batches()


def arrow_arrays(batches):
    for batch in batches:
        sure = pc.fill_null(batch["level"], "none")
        kind = pc.if_else(pc.starts_with(sure, "in"), sure, "other")
        columns = [batch["team"], pc.subtract(batch["score"], 1), kind]
        yield pa.RecordBatch.from_arrays(columns, names=["team", "less", "kind"])


def arrow_rows(table):
    return table.filter(pc.greater(table["v"], 1))
