"""Functions of batches as people write them, and what makes it matter how batches are cut."""

# mypy: disable-error-code="no-untyped-def,var-annotated"
from __future__ import annotations

import collections
import logging
import re
from typing import Any

import numpy as np
import pandas as pd

LOG = logging.getLogger(__name__)
LIMITS = [10, 20, 30, 40, 50, 60, 70]
RATES = {"a": 1.5, "b": 2.5}


def constants(batches):
    for pdf in batches:
        pdf["m"] = pdf["y"] * RATES["a"] + LIMITS[1]
        yield pdf


def set_up_before(batches):
    rate = RATES["b"] + RATES.get("c", 1.0)
    for pdf in batches:
        pdf["m"] = pdf["y"] * rate
        yield pdf


def _matching(letter: re.Pattern[str]) -> Any:
    def logged(batches):
        for pdf in batches:
            LOG.debug("%d rows", len(pdf))
            print(len(pdf))
            yield pdf[pdf["s"].str.contains(letter, na=False)]

    return logged


def by_size(batches):
    for pdf in batches:
        pdf["m"] = LIMITS[len(pdf)]
        yield pdf


def counted(batches):
    n = 0
    for pdf in batches:
        n = n + 1
        pdf["m"] = n
        yield pdf


def in_a_list(batches):
    seen = [0]
    for pdf in batches:
        pdf["m"] = seen[0]
        seen[0] = 1
        yield pdf


def first_only(batches):
    first = True
    for pdf in batches:
        if first:
            yield pdf
        first = False


def stopped(batches):
    for pdf in batches:
        yield pdf
        break


def filled_from_above(batches):
    for pdf in batches:
        pdf["x"] = pdf["x"].fillna(method="ffill")
        yield pdf


def table_filled_from_above(batches):
    for pdf in batches:
        yield pdf[["t", "x"]].fillna(method="ffill")


def integers_if_all_are(batches):
    for pdf in batches:
        pdf["m"] = pdf["x"].astype(int, errors="ignore").astype(str)
        yield pdf


def by_position(batches):
    for pdf in batches:
        pdf["m"] = pdf["t"].add([1, 2])
        yield pdf


def several_at_least(batches):
    for pdf in batches:
        assert len(pdf) > 1
        yield pdf


def lengths_as_texts(batches):
    """``1`` alone, ``1.0`` beside a text that is missing."""
    for pdf in batches:
        pdf["m"] = pdf["s"].str.len().astype(str)
        yield pdf


def quotients_as_texts(batches):
    """Where one of the divisors is zero, all quotients are doubles."""
    for pdf in batches:
        pdf["m"] = (pdf["t"] // pdf["t"]).astype(str)
        yield pdf


def applied_to_chosen_rows(batches):
    """Of a table without rows, ``apply`` gives a table."""
    for pdf in batches:
        pdf = pdf[pdf["t"] > 1]
        pdf["m"] = pdf.apply(lambda row: len(row["s"] or ""), axis=1)
        yield pdf


def running_total(batches):
    for pdf in batches:
        total, sums = 0, []
        for n in pdf["t"]:
            total = total + n
            sums.append(total)
        pdf["m"] = sums
        yield pdf


def by_length_of_list(batches):
    for pdf in batches:
        out = []
        for _ in pdf["t"]:
            out.append(len(out))
        pdf["m"] = out
        yield pdf


def last_one(batches):
    for pdf in batches:
        for n in pdf["t"]:
            label = "a" if n > 1 else "b"
        pdf["m"] = label
        yield pdf


def by_label(batches):
    for pdf in batches:
        pdf["m"] = [i for i, row in pdf.iterrows()]
        yield pdf


def seen_before(batches):
    for pdf in batches:
        seen = {}
        marks = []
        for s in pdf["s"]:
            marks.append(seen.get(s, 0))
            seen[s] = 1
        pdf["m"] = marks
        yield pdf


def part_of_a_text_in_capitals(batches):
    """Where no text has two parts, there is no ``str``."""
    for pdf in batches:
        pdf["m"] = pdf["s"].str.split("b").str[1].str.upper()
        yield pdf


def lengths_of_a_table_as_texts(batches):
    for pdf in batches:
        pdf["m"] = pdf["s"].str.len()
        pdf = pdf.astype({"m": str})
        yield pdf


def numbers_as_doubles(batches):
    for pdf in batches:
        pdf["m"] = pdf["s"].str.len().astype(float)
        pdf["n"] = pdf["t"].astype("float64")
        pdf["o"] = pdf["s"].str.len().astype("Int64").astype(str)
        yield pdf


def reasons(batches):
    for pdf in batches:
        reason = pd.Series("", index=pdf.index)
        reason = reason.mask(pdf["t"] <= 0, "none").where(pdf["x"] > 1, "small")
        pdf["m"] = reason.str.upper()
        yield pdf


def rated(batches):
    for pdf in batches:
        rate = pdf["s"].map(RATES).fillna(0.5)
        pdf["m"] = (rate + np.log1p(pdf["t"].astype(float)) / 20.0).clip(0, 1)
        pdf["n"] = np.sqrt(pdf["x"].abs().astype(float)).clip(0, 2)
        yield pdf


def items_of_a_condition(batches):
    for pdf in batches:
        pdf["m"] = pdf["t"].where(pdf["x"] > 1)
        pdf["n"] = pdf["x"].mask(pdf["t"] > 1, 0.0)
        yield pdf


def labelled_by_values(batches):
    """The labels are those of another column, and assignments go by them."""
    for pdf in batches:
        pdf["m"] = pd.Series("a", index=pdf["t"].values)
        yield pdf


def chosen_by_the_mean(batches):
    for pdf in batches:
        pdf["m"] = pdf["x"].where(pdf["t"] > pdf["t"].mean(), 0.0)
        yield pdf


def masked_by_another_order(batches):
    for pdf in batches:
        later = pdf["t"].shift(1) > 1
        pdf["m"] = pdf["x"].mask(later, 0.0)
        yield pdf


def texts_of_chosen_items(batches):
    """``1`` where all are chosen, ``1.0`` where one is missing."""
    for pdf in batches:
        pdf["m"] = pdf["t"].where(pdf["x"] > 1).astype(str)
        yield pdf


def lists_by_row(batches):
    for pdf in batches:
        names, sizes = [], []
        for s, n in zip(pdf["s"], pdf["t"], strict=True):
            names.append((s or "").strip())
            sizes.append("big" if n > 1 else "small")
        pdf["m"] = names
        pdf["n"] = sizes
        yield pdf


def lambdas_by_row(batches):
    limit = 2
    for pdf in batches:
        pdf["m"] = pdf["t"].apply(lambda n: "big" if n > limit else "small")
        pdf["n"] = pdf.apply(lambda row: f"{row['s']}-{row['t']}", axis=1)
        pdf["o"] = [x * 2 for x in pdf["x"]]
        pdf["p"] = pdf["s"].map({"a": "A", "": "none"})
        yield pdf


def choices_by_row(batches):
    for pdf in batches:
        pdf["m"] = np.select([pdf["x"] > 50, pdf["x"] > 1], ["high", "mid"], default="low")
        pdf["n"] = "no"
        pdf.loc[pdf["t"] > 1, "n"] = "yes"
        yield pdf


def skipped_without_rows(batches):
    for pdf in batches:
        if pdf.empty:
            continue
        high = pdf[pdf["x"] > 1]
        yield high.assign(m=high["x"] * 2)


def given_if_there_are_rows(batches):
    for pdf in batches:
        high = pdf[pdf["x"] > 1]
        if len(high) > 0:
            yield high


def skipped_without_chosen_rows(batches):
    for pdf in batches:
        high = pdf[pdf["x"] > 1]
        if not len(high):
            continue
        high = high.assign(m=high["x"] * 2)
        yield high


def returned_generator(batches):
    limit = 1
    return (pdf[pdf["x"] > limit] for pdf in batches if len(pdf))


def _doubled(pdf):
    return pdf.assign(m=pdf["x"] * 2)


def mapped(batches):
    return map(_doubled, batches)


def yielded_from(batches):
    limit = 1
    yield from (pdf[pdf["x"] > limit] for pdf in batches if len(pdf))


def yielded_from_map(batches):
    yield from map(_doubled, batches)


def yielded_twice(batches):
    for pdf in batches:
        yield pdf[pdf["x"] > 1]
        low = pdf[pdf["x"] < 1]
        yield low
        yield pdf


def _from_nothing(pdf: Any) -> Any:
    out = pd.DataFrame()
    out["m"] = pdf["s"].str.upper()
    for name in ("k", "x", "y", "s", "t"):
        out[name] = pdf[name]
    return out[out["m"].notna()]


def built_from_nothing(batches):
    for pdf in batches:
        yield _from_nothing(pdf)


def words_of_texts(batches):
    for pdf in batches:
        pdf["m"] = pdf["s"].str.split("a")
        pdf = pdf.explode("m")
        pdf["m"] = ["" if word is None else str(word) for word in pdf["m"]]
        yield pdf


def first_rows_from_nothing(batches):
    """A new table takes the rows of a column, of which there are too few."""
    for pdf in batches:
        out = pd.DataFrame()
        first = pdf.head(2)
        for name in ("k", "x", "y", "s", "t"):
            out[name] = first[name]
        yield out


def from_nothing_but_a_column(batches):
    """The rows of a column that others do not have are missing."""
    for pdf in batches:
        out = pd.DataFrame()
        first = pdf.head(2)
        first["one"] = 1
        out["m"] = first["one"]
        for name in ("k", "x", "y", "s", "t"):
            out[name] = pdf[name]
        yield out


def changed_between(batches):
    for pdf in batches:
        yield pdf
        pdf["m"] = pdf["x"].max()
        yield pdf


def returned_in_vain(batches):
    """What a generator returns is no item: of the second batch on, nothing comes."""
    for pdf in batches:
        yield pdf.head(1)
        break
    return (pdf for pdf in batches)


def in_the_first_record(batches):
    for pdf in batches:
        records = pdf.to_dict("records")
        records[0]["t"] = 7
        yield pd.DataFrame(records, columns=["k", "x", "y", "s", "t"])


def in_the_last_dict_by_update(batches):
    for pdf in batches:
        dicts = [{"k": r.k, "x": r.x, "y": r.y, "s": r.s, "t": r.t} for r in pdf.itertuples()]
        last = dicts[-1]
        last.update({"t": 7})
        yield pd.DataFrame(dicts, columns=["k", "x", "y", "s", "t"])


def in_each_record(batches):
    for pdf in batches:
        records = pdf.to_dict("records")
        for record in records:
            record["m"] = str(record["s"])
        yield pd.DataFrame(records, columns=["k", "x", "y", "s", "t", "m"])


def field_of_some_records(batches):
    """The column is there only if a row of the batch has it."""
    for pdf in batches:
        records = pdf.to_dict("records")
        for record in records:
            if record["t"] > 1:
                record["m"] = "a"
        yield pd.DataFrame(records)[["k", "x", "y", "s", "t", "m"]]


def field_that_is_only_looked_up(batches):
    for pdf in batches:
        records = pdf.to_dict("records")
        for record in records:
            if record["t"] > 1:
                record["m"] = "a"
        out = pd.DataFrame(records)
        out["m"].isna()
        yield out[["k", "x", "y", "s", "t"]]


def field_of_some_dicts(batches):
    for pdf in batches:
        dicts = []
        for row in pdf.itertuples(index=False):
            record = {"k": row.k, "x": row.x, "y": row.y, "s": row.s, "t": row.t}
            if row.t > 1:
                record["m"] = "a"
            dicts.append(record)
        out = pd.DataFrame(dicts)
        out["z"] = out["m"]
        yield out[["k", "x", "y", "s", "t", "z"]]


def limit_in_an_ordered_dict(batches):
    limit = {"n": 0}
    known = collections.OrderedDict(n=limit)
    for pdf in batches:
        yield pdf[pdf["t"] > limit["n"]]
        known["n"]["n"] = 1


def rows_of_an_index(batches):
    for pdf in batches:
        out = pd.DataFrame()
        out.index = pd.Index(range(2))
        for name in ("k", "x", "y", "s", "t"):
            out[name] = pdf[name]
        yield out


def whole_batch_if_a_row_is_chosen(batches):
    for pdf in batches:
        if pdf[pdf["x"] > 1].empty:
            continue
        yield pdf


def batch_if_a_row_is_chosen(batches):
    for pdf in batches:
        high = pdf[pdf["x"] > 1]
        if high.empty:
            continue
        yield pdf


def marked_if_a_row_is_chosen(batches):
    for pdf in batches:
        high = pdf[pdf["x"] > 1]
        mark = "some"
        if high.empty:
            mark = "none"
        yield pdf.assign(m=mark)


def several_chosen(batches):
    for pdf in batches:
        high = pdf[pdf["x"] > 1]
        if len(high) > 1:
            yield high


def marked_by_the_part_before(batches):
    for pdf in batches:
        mark = "none"
        for number in [1, 2]:
            part = pdf[pdf["t"] == number]
            yield part.assign(m=mark)
            if part.empty:
                continue
            mark = "some"


def ended_without_rows(batches):
    for pdf in batches:
        high = pdf[pdf["x"] > 1]
        if high.empty:
            return
        yield high


KEEPING = (
    *(skipped_without_rows, given_if_there_are_rows, skipped_without_chosen_rows),
    *(returned_generator, mapped, yielded_from, yielded_from_map, yielded_twice),
    *(built_from_nothing, words_of_texts, in_each_record),
    *(lists_by_row, lambdas_by_row, choices_by_row),
    *(constants, set_up_before, numbers_as_doubles),
    *(reasons, rated, items_of_a_condition),
    _matching(re.compile("^[a-z]")),
)
SPOILED = (
    *(whole_batch_if_a_row_is_chosen, batch_if_a_row_is_chosen, marked_if_a_row_is_chosen),
    *(several_chosen, marked_by_the_part_before, ended_without_rows),
    *(first_rows_from_nothing, from_nothing_but_a_column, changed_between, returned_in_vain),
    *(in_the_first_record, in_the_last_dict_by_update),
    *(limit_in_an_ordered_dict, rows_of_an_index, field_of_some_records, field_of_some_dicts),
    field_that_is_only_looked_up,
    *(labelled_by_values, chosen_by_the_mean, masked_by_another_order, texts_of_chosen_items),
    *(by_size, counted, in_a_list, first_only, stopped, filled_from_above),
    *(table_filled_from_above, integers_if_all_are, by_position, several_at_least),
    *(lengths_as_texts, quotients_as_texts, applied_to_chosen_rows, running_total),
    *(
        lengths_of_a_table_as_texts,
        by_length_of_list,
        last_one,
        seen_before,
        part_of_a_text_in_capitals,
    ),
)
