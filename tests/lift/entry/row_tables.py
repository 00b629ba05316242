"""Functions that treat each row of a table by itself, and some that do not."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

LIMIT = 3

# --- applyInPandas --------------------------------------------------------------------------------


def same(pdf):
    return pdf


def high_scores(pdf):
    return pdf[pdf["score"] > LIMIT]


def put_in(pdf):
    pdf["w"] = pdf["score"] * 2.0
    return pdf[pdf.level == "error"].reset_index(drop=True)


def assigned(pdf):
    good = pdf[(pdf.n > 1) & pdf["level"].notna()]
    return good.assign(w=good["n"] > 5)


def marked(key, pdf):
    pdf.loc[pdf["level"] == "warn", "score"] = -1.0
    return pdf.sort_values("n")


def chosen_columns(pdf):
    return pdf[["level", "score"]].dropna(subset=["score"])


def wheres(pdf):
    pdf = pdf.copy()
    pdf["kind"] = np.where(pdf["score"] > 1, "high", "low")
    return pdf


def larger(pdf):
    return pdf[pdf["n"] == pdf["w"]]


def in_place_of(pdf):
    return pdf.assign(n=pdf["n"].where(pdf["score"] > 1, pdf["w"]))


# --- mapInPandas and mapInArrow -------------------------------------------------------------------


def map_same(batches):
    for pdf in batches:  # noqa: UP028
        yield pdf


def map_from(batches):
    yield from batches


def map_filter(batches):
    """Only what matters."""
    for pdf in batches:
        yield pdf[pdf.score > 2]


def map_assign(batches):
    for pdf in batches:
        pdf["w"] = pdf["score"] + 1.5
        kept = pdf[pdf["level"].isin(["error", "warn"])]
        yield kept


def map_larger(batches):
    for pdf in batches:
        yield pdf.assign(high=pdf["n"] > 2)


def map_other(batches):
    for pdf in batches:
        pdf["high"] = ~(pdf["n"] != 1)
        yield pdf


def map_filled(batches):
    for pdf in batches:
        yield pdf[pdf["n"].isin([1, 2])].assign(high=True)


def map_lambdas(batches):
    for pdf in batches:
        yield pdf.assign(w=lambda d: d["score"] * 2.0, high=lambda d: d["w"] > LIMIT)


def map_lists(batches):
    for pdf in batches:
        out = {"score": [], "w": []}
        for row in pdf.itertuples():
            if row.level is None:
                continue
            out["score"].append(row.score)
            out["w"].append(row.score * 2.0 if row.score > LIMIT else -1.0)
        yield pd.DataFrame(out)


def map_texts(batches):
    """Of all rows: the table is empty where the batch is."""
    for pdf in batches:
        out = {"level": [], "w": []}
        for row in pdf.itertuples():
            out["level"].append(row.level or "none")
            out["w"].append(row.score * 2.0)
        yield pd.DataFrame(out)


def map_some_texts(batches):
    for pdf in batches:
        out = {"level": [], "score": [], "n": []}
        for row in pdf.itertuples():
            if row.score > LIMIT:
                out["level"].append(row.level)
                out["score"].append(row.score)
                out["n"].append(row.n)
        yield pd.DataFrame(out)


def map_records(batches):
    for pdf in batches:
        out = []
        for row in pdf.to_dict("records"):
            if row["level"] is not None:
                high = row["score"] > LIMIT
                out.append({"level": row["level"], "score": row["score"], "high": high})
        yield pd.DataFrame(out, columns=["level", "score", "high"])


def map_missing(batches):
    for pdf in batches:
        yield pdf.assign(gone=pdf["n"].isna())


def arrow_same(batches):
    for batch in batches:  # noqa: UP028
        yield batch


def arrow_filter(batches):
    for batch in batches:
        high = pc.greater(batch["score"], 2)
        yield batch.filter(pc.and_(high, pc.is_valid(batch.column("level"))))


def arrow_select(batches):
    for b in batches:
        yield b.filter(pc.greater(b.column("score"), 1)).select(["level", "n"])


def arrow_computed(batches):
    for batch in batches:
        table = pa.Table.from_batches([batch])
        product = pc.multiply(table["score"], pc.cast(table["n"], pa.float64()))
        table = table.append_column("total", product)
        yield from table.select(["level", "total"]).to_batches()


def arrow_mixed(batches):
    for batch in batches:
        table = pa.Table.from_batches([batch]).filter(pc.is_valid(batch["level"]))
        w = pc.add(pc.divide(table["score"], table["n"]), 1)
        table = table.add_column(0, "w", w).drop(["n"])
        for piece in table.to_batches():  # noqa: UP028
            yield piece


def arrow_integers(batches):
    for batch in batches:
        doubled = pc.add(pc.multiply(batch["n"], 2), pc.subtract(1, batch["n"]))
        yield batch.set_column(1, "n", doubled).rename_columns(["score", "w", "level", "d"])


def arrow_checked(batches):
    for batch in batches:
        columns = [batch["n"], pc.multiply_checked(batch["n"], 3), batch["level"]]
        yield pa.RecordBatch.from_arrays(columns, names=["n", "w", "level"])


def arrow_chosen(batches):
    for batch in batches:
        kind = pc.if_else(pc.greater(batch["n"], 1), batch["level"], "small")
        known = pc.fill_null(batch["score"], 0.5)
        yield pa.RecordBatch.from_pydict({"kind": kind, "score": known, "n": batch["n"]})


def arrow_texts(batches):
    for batch in batches:
        warned = pc.or_(pc.starts_with(batch["level"], "w"), pc.ends_with(batch["level"], "n"))
        hit = pc.or_kleene(warned, pc.match_substring(batch["level"], pattern="rr"))
        listed = pc.is_in(batch["level"], value_set=pa.array(["error", "é", "warn"]))
        yield batch.append_column("high", pc.and_(hit, listed)).remove_column(3)


def arrow_numbers(batches):
    for batch in batches:
        table = pa.table({"n": batch["n"].cast("int64"), "score": batch["score"]})
        keep = pc.is_in(table["n"], pa.array([1, 2, 6]))
        yield from table.filter(pc.or_(keep, pc.is_nan(table["score"]))).to_batches()


# --- not row by row -------------------------------------------------------------------------------


def above_mean(pdf):
    return pdf[pdf["n"] > pdf["n"].mean()]


def large_group(pdf):
    pdf["level"] = np.where(pdf["n"] > len(pdf), "many", "few")
    return pdf


def carried(batches):
    seen = 0
    for pdf in batches:
        pdf["n"] = pdf["n"] + seen
        seen = 1
        yield pdf


def one_batch(batches):
    for pdf in batches:
        if len(pdf) > 1:
            continue
        yield pdf


def twice(batches):
    for pdf in batches:
        yield pdf
        yield pdf


def read_on(batches):
    for pdf in batches:
        next(batches)
        yield pdf


def in_one(batches):
    yield pd.concat(list(batches))


def numbered(pdf):
    pdf["n"] = pdf.index
    return pdf


def neighbours(pdf):
    pdf["score"] = pdf["score"].shift(1)
    return pdf


def first_rows(pdf):
    return pdf.head(2)


def no_twins(pdf):
    return pdf.drop_duplicates("level")


def with_key(key, pdf):
    pdf["level"] = key[0]
    return pdf


def missing_numbers(pdf):
    """Whether the integers are doubles hangs on the other rows."""
    pdf["n"] = pdf["n"].where(pdf["score"] > 1)
    return pdf


def other_columns(pdf):
    return pdf[["level", "n"]]


def nothing(pdf):
    pdf["n"] = 1


def arrow_yields_tables(batches):
    for batch in batches:
        yield pa.Table.from_batches([batch])


def arrow_of_table(batches):
    for batch in batches:
        table = pa.Table.from_batches([batch])
        yield batch.set_column(0, "score", pc.add(table["score"], 1))


def arrow_quotient(batches):
    for batch in batches:
        yield batch.set_column(1, "n", pc.divide(batch["n"], 2))


def arrow_other_rows(batches):
    for batch in batches:
        high = batch.filter(pc.greater(batch["n"], 1))
        yield high.set_column(0, "score", batch["score"])


def arrow_renamed(batches):
    for batch in batches:
        yield batch.rename_columns(["s", "n", "level"])


def arrow_upper(batches):
    for batch in batches:
        yield batch.set_column(2, "level", pc.utf8_upper(batch["level"]))


def arrow_listed_array(batches):
    for batch in batches:
        words = pa.array(["a", "b"])
        keep = pc.greater(batch["n"], 1) if words[0] == "a" else pc.less(batch["n"], 1)
        yield batch.filter(keep)


def captures_a_table(pdf):
    def high():
        return pdf["score"] > LIMIT

    pdf["score"] = 0.0
    return pdf[high()]


def captures_a_column(pdf):
    score = pdf["score"]
    high = lambda: score > LIMIT  # noqa: E731
    score[score > 1] = 0.0
    return pdf[high()]


REFUSED = [
    ("map_some_texts", "return-shape"),
    ("captures_a_table", "mutation"),
    ("captures_a_column", "mutation"),
    ("above_mean", "two-passes"),
    ("large_group", "two-passes"),
    ("carried", "mixed-types"),
    ("one_batch", "early-exit"),
    ("twice", "unsupported-expression"),
    ("read_on", "mixed-types"),
    ("in_one", "unknown-loop"),
    ("numbered", "unsupported-operation"),
    ("neighbours", "not-a-fold"),
    ("first_rows", "unknown-call"),
    ("no_twins", "unknown-call"),
    ("with_key", "mixed-types"),
    ("missing_numbers", "unsupported-operation"),
    ("other_columns", "return-shape"),
    ("nothing", "return-shape"),
    ("arrow_yields_tables", "return-shape"),
    ("arrow_of_table", "unsupported-operation"),
    ("arrow_quotient", "unsupported-operation"),
    ("arrow_other_rows", "unsupported-operation"),
    ("arrow_renamed", "return-shape"),
    ("arrow_upper", "unknown-call"),
    ("arrow_listed_array", "unsupported-expression"),
]
