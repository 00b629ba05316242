"""Functions of the corpus written with pandas, on whole columns and tables."""

# mypy: ignore-errors

from __future__ import annotations

import datetime as dt

import pandas as pd
from tests.corpus.runner import Entry, Filter

NAN = float("nan")
SECONDS = [None, NAN, 1.0, 21599.0, 21600.0, 25200.0, 50000.0, 68400.0, 79200.0, 79201.0, 90000.0]
TIMES = [None, *(dt.datetime(2024, 1, day) for day in (1, 2, 9, 10, 11, 20, 21))]
GAINS = [None, -700, -50, -1, 0, 1, 40, 100, 900]


def span(pdf: pd.DataFrame) -> pd.DataFrame:
    """D02: the first and the last departure of a stop."""
    return pd.DataFrame(
        {"start_time": [pdf["departure_time"].min()], "end_time": [pdf["departure_time"].max()]}
    )


def trips(pdf: pd.DataFrame) -> pd.DataFrame:
    """D02: how many departures there are, and how many of them in the day."""
    day = pdf[(pdf["departure_time"] >= 25200) & (pdf["departure_time"] <= 68400)]
    return pd.DataFrame([{"num_trips": len(pdf), "by_day": len(day)}])


def headways(pdf: pd.DataFrame) -> pd.DataFrame:
    """D02: the mean time between two departures of the day."""
    day = pdf[pdf["departure_time"].between(25200, 68400)]
    gaps = day["departure_time"].sort_values().diff()
    return pd.DataFrame({"mean_headway": [gaps.mean() / 60]})


def expectancy(profit_abs: pd.Series) -> float:
    """D06: what a trade brings, in doubles."""
    wins = profit_abs[profit_abs > 0]
    losses = profit_abs[profit_abs < 0]
    if len(profit_abs) == 0:
        return 0.0
    return (wins.sum() + losses.sum()) / len(profit_abs)


def mean_win(profit_abs: pd.Series) -> float:
    """D06: the mean win alone."""
    return profit_abs[profit_abs > 0].mean()


def expectancy_in_cents(pdf: pd.DataFrame) -> pd.DataFrame:
    """D06: wins, losses and what they add up to, in whole cents."""
    wins = pdf.loc[pdf["cents"] > 0, "cents"]
    return pd.DataFrame(
        {
            "profit_sum": [wins.sum()],
            "wins": [(pdf["cents"] > 0).sum()],
            "win_rate": [(pdf["cents"] > 0).mean()],
        }
    )


def profit_in_cents(cents: pd.Series) -> int:
    """D06: the sum of the wins."""
    return cents[cents > 0].sum()


def longest_streak(x: pd.Series) -> int:
    """D08: with shift and cumsum."""
    up = x.dropna() > 0
    return up.groupby((up != up.shift()).cumsum()).cumcount().max()


def longest_streak_loop(x: pd.Series) -> int:
    """D08: with a loop."""
    current = best = 0
    for value in x:
        if value > 0:
            current += 1
            if current > best:
                best = current
        elif not pd.isna(value):
            current = 0
    return best


def count_inside(x: pd.Series) -> int:
    """D10: how many values lie in the range."""
    return ((x >= 0) & (x <= 1)).sum()


def count_inside_strict(x: pd.Series) -> float:
    """D10: with skipna=False a missing value makes the result missing."""
    if x.isna().any():
        return NAN
    return x.between(0, 1).sum() / 1


def last_true(pdf: pd.DataFrame) -> pd.DataFrame:
    """D12: when the flag was last up."""
    up = pdf.dropna()
    up = up[up["b"] == True]  # noqa: E712
    if up.empty:
        return pd.DataFrame({"last": [None]})
    return pd.DataFrame({"last": [up["t"].iloc[-1]]})


def average_gap(t: pd.Series) -> float:
    """D14: the mean number of seconds between two events, of times in seconds."""
    if t.count() < 2:
        return None
    return (int(t.max()) - int(t.min())) / int(t.count() - 1)


def tracked(pdf: pd.DataFrame) -> pd.DataFrame:
    """D16: what the extent is made of."""
    return pd.DataFrame({"begin": [pdf["started_at"].min()], "end": [pdf["finished_at"].max()]})


def in_range(x: pd.Series) -> int:
    """D20: how many values lie in a half-open range."""
    return (x.ge(2) & x.lt(5)).sum()


def channel_state(pdf: pd.DataFrame) -> pd.DataFrame:
    """D22: the worst state of a group of channels."""
    if (pdf["status"] == "Critical").any():
        state = "Critical"
    elif (pdf["status"] == "Warning").any():
        state = "Warning"
    elif (pdf["partial_service"] != "none(0)").any():
        state = "Partial"
    else:
        state = "Good"
    return pd.DataFrame({"state": [state]})


def many_units(pdf: pd.DataFrame) -> pd.DataFrame:
    """D22: whether there is more than one unit."""
    return pd.DataFrame({"several": [pdf["unit"].nunique() > 1]})


def gaps_between(pdf: pd.DataFrame) -> pd.DataFrame:
    """D24: mean and deviation of the days between transactions."""
    days = pdf["transaction_date"].sort_values().diff().dt.days
    return pd.DataFrame({"avg_days": [days.mean()], "std_days": [days.std()]})


def robust_price(x: pd.Series) -> float:
    """D26: the greatest value where it stands out, else the median."""
    x = x[x != 0]
    if x.empty:
        return 0.0
    low, high = x.min(), x.max()
    if high / low > 2:
        return high
    return x.median()


def accounts(pdf: pd.DataFrame) -> pd.DataFrame:
    """D32: an account with what is overdue, and the riskiest of its deals."""
    worst = pdf.loc[pdf["risk"].idxmax(), "account"]
    quiet = pdf["quiet_days"].max()
    return pd.DataFrame(
        {
            "deals": [len(pdf)],
            "account": [worst],
            "quiet": [0 if pd.isna(quiet) else quiet],
            "overdue": [pdf["past_due"].sum()],
        }
    )


def overdue(pdf: pd.DataFrame) -> pd.DataFrame:
    """D32: how many deals are overdue."""
    return pd.DataFrame({"overdue": [pdf["past_due"].sum()]})


def lifespan(pdf: pd.DataFrame) -> pd.DataFrame:
    """P24: first and last time."""
    return pd.DataFrame({"first": [pdf["ts"].min()], "last": [pdf["ts"].max()]})


def most_common(s: pd.Series) -> str:
    """P24: the mode."""
    return s.mode().iloc[0]


def extremes(pdf: pd.DataFrame) -> pd.DataFrame:
    """P26: least, greatest and how many."""
    return pd.DataFrame({"low": [pdf["n"].min()], "high": [pdf["n"].max()]})


def counted(pdf: pd.DataFrame) -> pd.DataFrame:
    """P26: how many numbers there are, and the least; None where there is none."""
    low = pdf["n"].min()
    return pd.DataFrame({"low": [None if pd.isna(low) else low], "n": [pdf["n"].count()]})


def delays(pdf: pd.DataFrame) -> pd.DataFrame:
    """P30: flights, cancellations and the worst delay."""
    return pd.DataFrame(
        {
            "num_flights": [len(pdf)],
            "rate": [pdf["cancelled"].sum() / len(pdf)],
            "worst": [pdf["arr_delay"].max()],
        }
    )


def worst_delay(arr_delay: pd.Series) -> float:
    """P30: the worst delay alone."""
    return arr_delay.dropna().max()


def clicks(pdf: pd.DataFrame) -> pd.DataFrame:
    """P32: clicks with the first and the last."""
    return pd.DataFrame({"start_time": [pdf["at"].min()], "end_time": [pdf["at"].max()]})


def counted_clicks(pdf: pd.DataFrame) -> pd.DataFrame:
    """P32: how many clicks there are, and when the first one was."""
    return pd.DataFrame({"clicks": [len(pdf)], "start_time": [pdf["at"].min()]})


def best_match(pdf: pd.DataFrame) -> pd.DataFrame:
    """P34: the best of the scores above the threshold."""
    good = pdf[pdf["score"] > 70]
    return pd.DataFrame({"best": [good["score"].max()]})


def encounters(pdf: pd.DataFrame) -> pd.DataFrame:
    """P18: how many users met how often."""
    users = pd.concat([pdf["user"], pdf["other"]]).nunique()
    return pd.DataFrame({"n_users": [users], "total": [len(pdf)]})


def late_signal(pdf: pd.DataFrame) -> pd.DataFrame:
    """P28: marks the last day of every release."""
    pdf["signal"] = (pdf["day"] == pdf["day"].max()).astype(int)
    return pdf


def at_home(pdf: pd.DataFrame) -> pd.DataFrame:
    """D18: the place where somebody is most often."""
    places = pdf.groupby(["lat", "lng"]).size()
    lat, lng = places.idxmax()
    return pd.DataFrame({"lat": [lat], "lng": [lng]})


BOTH = (
    "start_time is an output, too, and any row may be the first: no row can go. With end_time "
    "alone the corpus is right."
)
FIRST = (
    "the first time is an output, too: only rows without a time can go. With the last time alone "
    "the corpus is right."
)
NULLS = "ours: rows without a number are counted nowhere."
OWN = "the pre-filter depends on the filter: its constant is one of the function's own, too."

_SPAN = ("departure_time double", "start_time double, end_time double")
_D = {"departure_time": SECONDS}
_X = {"x": [None, NAN, -1.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 5.0]}
_STATES = ["Good", "Warning", "Critical", None]

ENTRIES = [
    Entry(
        "D02",
        span,
        f"g string, {_SPAN[0]}",
        _SPAN[1],
        _D,
        lift="hard",
        variant="span",
        filters=(
            Filter("start_time < 21600 AND end_time > 79200", "★"),
            Filter(
                "end_time > 79200",
                "★",
                BOTH,
            ),
        ),
    ),
    Entry(
        "D02",
        trips,
        f"g string, {_SPAN[0]}",
        "num_trips bigint, by_day bigint",
        _D,
        lift="hard",
        variant="counts",
        filters=(Filter("num_trips >= 3", "○"),),
    ),
    Entry(
        "D02",
        headways,
        f"g string, {_SPAN[0]}",
        "mean_headway double",
        _D,
        lift="hard",
        variant="headways",
        declined="not-a-fold",
        because="neighbouring rows",
    ),
    Entry(
        "D06",
        expectancy,
        "g string, profit_abs double",
        "e double",
        {"profit_abs": _X["x"]},
        variant="doubles",
        filters=(Filter("e > 0.2", "○"),),
    ),
    Entry(
        "D06",
        mean_win,
        "g string, profit_abs double",
        "win double",
        {"profit_abs": _X["x"]},
        variant="mean win",
        filters=(Filter("win > 2", "☆"),),
    ),
    Entry(
        "D06",
        expectancy_in_cents,
        "g string, cents int",
        "profit_sum bigint, wins bigint, win_rate double",
        {"cents": GAINS},
        variant="cents",
        filters=(Filter("win_rate > 0.5", "○"), Filter("wins >= 2", "○")),
    ),
    Entry(
        "D06",
        profit_in_cents,
        "g string, cents int",
        "profit bigint",
        {"cents": GAINS},
        variant="profit",
        filters=(Filter("profit > 0", "☆"), Filter("profit >= 100", "☆")),
    ),
    Entry(
        "D08",
        longest_streak,
        "g string, x double",
        "best bigint",
        _X,
        lift="hard",
        variant="shifted",
        declined="not-a-fold",
        because="neighbouring rows",
    ),
    Entry(
        "D08",
        longest_streak_loop,
        "g string, x double",
        "best bigint",
        _X,
        lift="hard",
        variant="loop",
        filters=(
            Filter("best >= 3", "☆"),
            Filter("best = 0", "○"),
            Filter("best < 2", "○"),
        ),
    ),
    Entry(
        "D10",
        count_inside,
        "g string, x double",
        "n bigint",
        _X,
        filters=(Filter("n >= 5", "☆"), Filter("n > 0", "☆"), Filter("n = 0", "○")),
    ),
    Entry(
        "D10",
        count_inside_strict,
        "g string, x double",
        "n double",
        _X,
        variant="strict",
        filters=(Filter("n >= 2", "☆"), Filter("n IS NULL", "☆")),
    ),
    Entry(
        "D12",
        last_true,
        "g string, t timestamp, b boolean",
        "last timestamp",
        {"t": TIMES, "b": [None, True, False]},
        filters=(
            Filter("last > timestamp'2024-01-10'", "☆"),
            Filter("last IS NOT NULL", "☆"),
            Filter("last IS NULL", "○"),
        ),
    ),
    Entry(
        "D14",
        average_gap,
        "g string, t int",
        "gap double",
        {"t": [None, 0, 5, 60, 61, 86400, 200000]},
        filters=(Filter("gap < 60", "☆"), Filter("gap > 86400", "☆"), Filter("gap >= 0", "☆")),
    ),
    Entry(
        "D16",
        tracked,
        "g string, started_at timestamp, finished_at timestamp",
        "begin timestamp, end timestamp",
        {"started_at": TIMES, "finished_at": TIMES},
        filters=(Filter("begin <= timestamp'2024-01-02' AND end >= timestamp'2024-01-20'", "★"),),
    ),
    Entry(
        "D18",
        at_home,
        "g string, lat double, lng double",
        "lat double, lng double",
        {"lat": _X["x"], "lng": _X["x"]},
        lift="hard",
        declined="not-a-fold",
        because="regroups the rows",
    ),
    Entry(
        "D20",
        in_range,
        "g string, x double",
        "n bigint",
        _X,
        lift="hard",
        filters=(Filter("n >= 5", "☆"), Filter("n >= 1", "☆")),
    ),
    Entry(
        "D22",
        channel_state,
        "g string, status string, partial_service string",
        "state string",
        {"status": _STATES, "partial_service": ["none(0)", "some(1)", None]},
        lift="collection",
        filters=(
            Filter(
                "state = 'Critical'",
                "★",
                OWN,
            ),
            Filter("state = 'Good'", "○"),
            Filter(
                "state IN ('Critical', 'Warning')",
                "★",
                OWN,
            ),
        ),
    ),
    Entry(
        "D22",
        many_units,
        "g string, unit string",
        "several boolean",
        {"unit": [None, "a", "b", "c"]},
        lift="collection",
        variant="units",
        filters=(Filter("several", "REAL"),),
    ),
    Entry(
        "D24",
        gaps_between,
        "g string, transaction_date timestamp",
        "avg_days double, std_days double",
        {"transaction_date": TIMES},
        lift="hard",
        declined="not-a-fold",
        because="neighbouring rows",
    ),
    Entry(
        "D26",
        robust_price,
        "g string, x double",
        "v double",
        _X,
        lift="hard",
        declined="numpy-scalar",
        because="numpy scalar",
    ),
    Entry(
        "D32",
        accounts,
        "g string, account string, risk double, quiet_days int, past_due boolean NOT NULL",
        "deals bigint, account string, quiet int, overdue bigint",
        {
            "account": ["a", "b", None],
            "risk": [None, NAN, 0.1, 0.9],
            "past_due": [True, False],
            "quiet_days": [None, 3, 29, 30, 31, 90],
        },
        lift="hard",
        filters=(
            Filter("deals >= 2", "REAL", "every row is a deal: none can go."),
            Filter("quiet > 30", "○"),
        ),
    ),
    Entry(
        "D32",
        overdue,
        "g string, past_due boolean NOT NULL",
        "overdue bigint",
        {"past_due": [True, False]},
        lift="hard",
        variant="overdue",
        filters=(Filter("overdue > 0", "☆"),),
    ),
    Entry(
        "P18",
        encounters,
        "g string, user string, other string",
        "n_users bigint, total bigint",
        {"user": ["a", "b"], "other": ["a", "c"]},
        lift="hard",
        declined="unknown-call",
        because="concat",
    ),
    Entry(
        "P24",
        lifespan,
        "g string, ts timestamp",
        "first timestamp, last timestamp",
        {"ts": TIMES},
        lift="hard",
        variant="range",
        filters=(
            Filter("first <= timestamp'2024-01-02' AND last >= timestamp'2024-01-20'", "★"),
            Filter(
                "last >= timestamp'2024-01-20'",
                "★",
                FIRST,
            ),
        ),
    ),
    Entry(
        "P24",
        most_common,
        "g string, s string",
        "m string",
        {"s": ["a", "b", None]},
        lift="hard",
        variant="mode",
        declined="not-a-fold",
        because="needs all values",
    ),
    Entry(
        "P26",
        extremes,
        "g string, n bigint NOT NULL",
        "low bigint, high bigint",
        {"n": [-(2**63), -5, -1, 0, 1, 100, 101, 2**53 + 1, 2**63 - 1]},
        filters=(Filter("low < 0 AND high > 100", "★"),),
    ),
    Entry(
        "P26",
        counted,
        "g string, n int",
        "low int, n bigint",
        {"n": [None, -5, 0, 100, 101]},
        variant="count",
        filters=(Filter("n >= 3", "○", NULLS), Filter("low IS NOT NULL", "REAL")),
    ),
    Entry(
        "P28",
        late_signal,
        "g string, day int",
        "g string, day int, signal int",
        {"day": [1, 2, 3]},
        lift="hard",
        declined="two-passes",
        because="takes two passes",
    ),
    Entry(
        "P30",
        delays,
        "g string, arr_delay double, cancelled int NOT NULL",
        "num_flights bigint, rate double, worst double",
        {"arr_delay": [None, NAN, -5.0, 10.0, 119.0, 120.0, 121.0], "cancelled": [0, 1]},
        lift="collection",
        filters=(Filter("num_flights >= 3", "○"), Filter("rate > 0.05", "○")),
    ),
    Entry(
        "P30",
        worst_delay,
        "g string, arr_delay double",
        "worst double",
        {"arr_delay": [None, NAN, -5.0, 10.0, 119.0, 120.0, 121.0]},
        lift="collection",
        variant="worst",
        filters=(Filter("worst > 120", "★"),),
    ),
    Entry(
        "P32",
        clicks,
        "g string, at bigint",
        "start_time bigint, end_time bigint",
        {"at": [None, 1, 99, 100, 101, 199, 200, 201]},
        filters=(Filter("start_time <= 100 AND end_time >= 200", "★"),),
    ),
    Entry(
        "P32",
        counted_clicks,
        "g string, at bigint NOT NULL",
        "clicks bigint, start_time bigint",
        {"at": [1, 99, 100, 101]},
        variant="count",
        filters=(Filter("clicks > 3", "○"),),
    ),
    Entry(
        "P34",
        best_match,
        "g string, score double",
        "best double",
        {"score": [None, NAN, 10.0, 70.0, 71.0, 80.0, 81.0, 90.0, 99.0]},
        filters=(Filter("best > 80", "★"), Filter("best >= 90", "★"), Filter("best > 0", "☆")),
    ),
]
