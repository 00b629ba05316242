"""Functions of the corpus that ran on an engine for Python: reducers, combiners, grouped maps."""

# mypy: ignore-errors

from __future__ import annotations

import time

import pandas as pd
from tests.corpus.runner import Entry, Filter

NAN = float("nan")


class LatestTags:
    """P02: the latest tags of a problem, and how many answers were right."""

    def zero(self):
        return None, None, 0, 0

    def reduce(self, acc, row):
        latest, tags, right, total = acc
        if latest is None or row.timestamp > latest:
            latest, tags = row.timestamp, row.tags
        return latest, tags, right + (1 if row.is_correct else 0), total + 1

    def finish(self, acc):
        _, tags, right, total = acc
        return tags, total, right / total if total else None


def record_per_tag(pdf: pd.DataFrame) -> pd.DataFrame:
    """P02: one record for each tag of the latest answer."""
    latest, tags = None, None
    for t, some in zip(pdf["timestamp"], pdf["tags"], strict=True):
        if latest is None or t > latest:
            latest, tags = t, some
    return pd.DataFrame({"tag": tags.split(",")})


class Engagement:
    """P04: what a learner has attempted and completed."""

    def zero(self):
        return 0, set(), set(), 0

    def reduce(self, acc, row):
        attempts, completed, days, contributions = acc
        days.add(row.day)
        if row.entity == "problem":
            if row.event == "completed":
                completed.add(row.id)
            elif row.event == "attempted":
                attempts += row.events
        elif row.entity == "discussion":
            contributions += row.events
        return attempts, completed, days, contributions

    def finish(self, acc):
        attempts, completed, days, contributions = acc
        ratio = attempts / len(completed) if completed else float("inf")
        return ratio, len(completed), len(days), contributions


class Contributions(Engagement):
    """P04: only the contributions to discussions."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        if row.entity == "discussion" and row.event == "contributed":
            acc += row.events
        return acc

    def finish(self, acc):
        return acc


class Completed:
    """P04: whether a problem was completed, and another one."""

    def zero(self):
        return None, False

    def reduce(self, acc, row):
        first, several = acc
        if row.entity == "problem" and row.event == "completed" and row.id is not None:
            if first is None:
                first = row.id
            elif row.id != first:
                several = True
        return first, several

    def finish(self, acc):
        return acc[1]


def days_of_enrollment(pdf: pd.DataFrame) -> pd.DataFrame:
    """P06: a record for each day between two events."""
    rows, previous = [], None
    for t, kind in zip(pdf["day"], pdf["event"], strict=True):
        if previous is not None:
            for day in range(previous, t):
                rows.append((day, 1 if kind == "activated" else 0))
        previous = t
    return pd.DataFrame(rows, columns=["day", "enrolled"])


class EnrolledAtEnd:
    """P06: whether the last event leaves somebody enrolled."""

    def zero(self):
        return None, 0

    def reduce(self, acc, row):
        last, _enrolled = acc
        if row.day is None or (last is not None and row.day < last):
            return acc
        return row.day, 1 if row.event == "activated" else 0

    def finish(self, acc):
        return acc[1]


def viewings(pdf: pd.DataFrame) -> pd.DataFrame:
    """P08: a record for each viewing of a video."""
    rows, start = [], None
    for event, at in zip(pdf["event"], pdf["at"], strict=True):
        if event == "play":
            start = at
        elif start is not None and event in ("pause", "stop", "seek"):
            rows.append((start, at))
            start = None
    return pd.DataFrame(rows, columns=["start", "stop"])


class LongestViewing:
    """P08: the longest viewing of a video."""

    def zero(self):
        return None, 0

    def reduce(self, acc, row):
        start, longest = acc
        if row.event == "play":
            return row.at, longest
        if row.event in ("pause", "stop", "seek") and start is not None and row.at is not None:
            return None, max(longest, row.at - start)
        return start, longest

    def finish(self, acc):
        return acc[1]


class Interruptions:
    """P16: how often a screen was switched on."""

    def zero(self):
        return "off", 0

    def reduce(self, acc, row):
        previous, starts = acc
        if row.event == "on":
            return "on", starts + (1 if previous != "on" else 0)
        return ("off", starts) if row.event == "off" else acc

    def finish(self, acc):
        return acc[1]


class ScreenMinutes:
    """P16: in how many minutes the screen was on."""

    def zero(self):
        return set()

    def reduce(self, acc, row):
        if row.event == "on":
            acc.add(row.second // 60)
        return acc

    def finish(self, acc):
        return len(acc), 840 - len(acc)


def answers(pdf: pd.DataFrame) -> pd.DataFrame:
    """P20: the time since the last answer, for each of them."""
    pdf["time_between"] = pdf["start"] - pdf["start"].shift().fillna(0)
    return pdf[["status", "time_between"]]


def port_events(pdf: pd.DataFrame) -> pd.DataFrame:
    """P22: a record for each entry to a port, and each exit."""
    rows, inside = [], False
    for distance in pdf["distance"]:
        if distance <= 3 and not inside:
            rows.append("PORT_ENTRY")
            inside = True
        elif distance >= 4 and inside:
            rows.append("PORT_EXIT")
            inside = False
    return pd.DataFrame({"event": rows})


def port_entries(distance: pd.Series) -> int:
    """P22: how often a vessel comes closer to a port than 3 after it was 4 away."""
    entries, inside = 0, False
    for d in distance:
        if d <= 3:
            if not inside:
                entries += 1
            inside = True
        elif d >= 4:
            inside = False
    return entries


class FirstRelease:
    """P28: the day of the least ratio, a text, after the first week; the earlier one of two."""

    def zero(self):
        return None

    def reduce(self, best, row):
        if row.released is None or row.released <= 7 or row.ratio is None or row.day is None:
            return best
        if best is None or (row.ratio, row.day) < best:
            return row.ratio, row.day
        return best

    def finish(self, best):
        return None if best is None else best[1]


def offline(pdf: pd.DataFrame) -> pd.DataFrame:
    """P32: whether a session is over by now."""
    over = time.time() - pdf["at"].max() > 600
    return pd.DataFrame({"status": ["offline" if over else "online"]})


def best_of_two(pdf: pd.DataFrame) -> pd.DataFrame:
    """P34: the best score above the threshold with its match, the last one of several."""
    best, matched = 0.0, None
    for score, check in zip(pdf["score"], pdf["check"], strict=True):
        if score > 70 and score >= best:
            best, matched = score, check
    return pd.DataFrame({"best": [best], "matched": [matched]})


def part(value):
    """P36: what is missing costs nothing."""
    return 0.0 if value is None else value


class Fares:
    """P36: fares, tips and miles of the trips, in several parts."""

    def zero(self):
        return 0.0, 0.0, 0

    def reduce(self, acc, row):
        price, miles, trips = acc
        fare = part(row.base) + part(row.tolls) + part(row.tax)
        return price + fare, miles + part(row.miles), trips + 1

    def finish(self, acc):
        price, miles, trips = acc
        return price / miles if miles > 0 else None, trips


class TotalFare(Fares):
    """P36: only what all trips cost."""

    def zero(self):
        return 0.0

    def reduce(self, price, row):
        return price + (part(row.base) + part(row.tolls) + part(row.tax))

    def finish(self, price):
        return price


class Issues:
    """P38: issues by scenario, weighted, with examples."""

    def zero(self):
        return 0, {}, []

    def reduce(self, acc, row):
        count, scenarios, examples = acc
        weight = 1 if row.weight is None else row.weight
        name = row.scenario or "Uncategorized"
        scenarios[name] = scenarios.get(name, 0) + weight
        if len(examples) < 5:
            examples.append(row.text)
        return count + weight, scenarios, examples

    def finish(self, acc):
        return acc[0], len(acc[2])


class ScenarioX:
    """P38: the weight of one scenario, and the one of all."""

    def zero(self):
        return 0, 0

    def reduce(self, acc, row):
        count, x = acc
        weight = 1 if row.weight is None else row.weight
        return count + weight, x + weight if row.scenario == "x" else x

    def finish(self, acc):
        return acc


class OnlyScenarioX(ScenarioX):
    """P38: the weight of one scenario alone."""

    def finish(self, acc):
        return acc[1]


SCORES = [None, NAN, 10.0, 70.0, 71.0, 80.0, 81.0, 90.0, 99.0]
MONEY = [None, NAN, 0.0, -5.0, 400.0, 1200.0]
EVENTS = "g string, entity string, event string, id string, events int"
LEARNED = {
    "entity": ["problem", "video", "discussion", None],
    "event": ["completed", "attempted", "contributed", None],
    "id": ["a", "b", None],
    "events": [0, 1, 5, 12],
}
FARES = "g string, base double, tolls double, tax double, miles double"
COSTS = {"base": MONEY, "tolls": MONEY, "tax": [None, 0.0, 1.5], "miles": [None, 0.0, 2.0, 100.0]}
ISSUES = {"scenario": ["x", "y", "", None], "weight": [None, 0, 1, 4, -1]}
SEEN = {"event": ["play", "pause", "stop", "seek", "load", None], "at": [0, 5, 30, 31, 95, 200]}

ENTRIES = [
    Entry(
        "P02",
        LatestTags,
        "g string, timestamp string NOT NULL, tags string, is_correct boolean",
        "tags string, total bigint, share double",
        {
            "timestamp": ["2024-01-01", "2024-01-02", "2024-01-03"],
            "tags": ["a", "a,b", None],
            "is_correct": [True, False, None],
        },
        (
            Filter(
                "tags IS NOT NULL", "REAL", "total is an output, too, and every row counts there."
            ),
            Filter("total >= 3", "○"),
            Filter("share < 0.3", "○"),
        ),
        lift="hard",
        variant="latest",
    ),
    Entry(
        "P02",
        record_per_tag,
        "g string, timestamp string NOT NULL, tags string",
        "tag string",
        {},
        lift="hard",
        declined="row-count",
        because="a column with exactly one value is supported",
    ),
    Entry(
        "P04",
        Engagement,
        "g string, day date, entity string, event string, id string, events int NOT NULL",
        "ratio double, completed bigint, days bigint, contributions bigint",
        {},
        lift="collection",
        declined="unsupported-operation",
        because="the size of a set of values that are not all constants",
    ),
    Entry(
        "P04",
        Contributions,
        EVENTS.replace("events int", "events int NOT NULL"),
        "contributions bigint",
        LEARNED,
        (Filter("contributions >= 10", "☆"),),
        lift="collection",
        variant="discussions",
    ),
    Entry(
        "P04",
        Completed,
        EVENTS,
        "several boolean",
        {
            "entity": ["problem", "problem", "video"],
            "event": ["completed", "completed", None],
            "id": ["a", "b", None],
            "events": [1],
        },
        (Filter("several", "☆"),),
        lift="collection",
        variant="several problems",
    ),
    Entry(
        "P06",
        days_of_enrollment,
        "g string, day int NOT NULL, event string",
        "day int, enrolled int",
        {},
        lift="hard",
        declined="nested-loop",
        because="the number of iterations depends on the row",
    ),
    Entry(
        "P06",
        EnrolledAtEnd,
        "g string, day int NOT NULL, event string",
        "enrolled int",
        {"day": [1, 2, 3], "event": ["activated", "deactivated", None]},
        (Filter("enrolled = 1", "○"),),
        lift="hard",
        variant="at the end",
    ),
    Entry(
        "P08",
        viewings,
        "g string, event string, at int NOT NULL",
        "start int, stop int",
        {},
        lift="hard",
        declined="mutation",
        because="keep the items that you need",
    ),
    Entry(
        "P08",
        LongestViewing,
        "g string, event string, at int",
        "longest bigint",
        {**SEEN, "at": [None, *SEEN["at"]]},
        (Filter("longest >= 30", "☆"), Filter("longest >= 60", "☆")),
        lift="hard",
        variant="longest",
    ),
    Entry(
        "P16",
        Interruptions,
        "g string, event string",
        "interruptions bigint",
        {"event": ["on", "off", "lock", None]},
        (Filter("interruptions >= 1", "☆"), Filter("interruptions >= 2", "☆")),
        lift="hard",
        variant="interruptions",
    ),
    Entry(
        "P16",
        ScreenMinutes,
        "g string, second bigint NOT NULL, event string",
        "screen_minutes bigint, inactive_minutes bigint",
        {},
        lift="hard",
        variant="minutes",
        declined="unsupported-operation",
        because="the size of a set of values that are not all constants",
    ),
    Entry(
        "P20",
        answers,
        "g string, status string, start double NOT NULL",
        "status string, time_between double",
        {},
        lift="hard",
        declined="not-a-fold",
        because="neighbouring rows",
    ),
    Entry(
        "P22",
        port_events,
        "g string, distance double",
        "event string",
        {},
        lift="hard",
        declined="mutation",
        because="keep the items that you need",
    ),
    Entry(
        "P22",
        port_entries,
        "g string, distance double",
        "entries bigint",
        {"distance": [None, NAN, 0.0, 2.0, 3.0, 3.5, 4.0, 9.0]},
        (Filter("entries >= 1", "☆"), Filter("entries >= 2", "☆")),
        lift="hard",
        variant="entries",
    ),
    Entry(
        "P28",
        FirstRelease,
        "g string, released int, ratio string, day string",
        "first_day string",
        {
            "released": [None, 1, 7, 8, 20],
            "ratio": [None, "0.1", "0.2", "--"],
            "day": [None, "91020230", "91020233"],
        },
        (Filter("first_day != '91020233'", "☆"), Filter("first_day IS NOT NULL", "☆")),
        lift="hard",
        variant="first day",
    ),
    Entry(
        "P32",
        offline,
        "g string, at double NOT NULL",
        "status string",
        {},
        variant="status",
        declined="impure-clock",
        because="reads the clock",
    ),
    Entry(
        "P34",
        best_of_two,
        "g string, score double, check string",
        "best double, matched string",
        {"score": SCORES, "check": ["x", "y", None]},
        (
            Filter("best > 80", "★"),
            Filter("best >= 90 AND matched != 'x'", "★"),
            Filter("best > 0", "☆"),
        ),
        variant="matched",
    ),
    Entry(
        "P36",
        Fares,
        FARES,
        "price_per_mile double, trips bigint",
        COSTS,
        (Filter("price_per_mile > 3", "○"), Filter("trips > 3", "○")),
        lift="collection",
    ),
    Entry(
        "P36",
        TotalFare,
        FARES,
        "total double",
        COSTS,
        (Filter("total > 1000", "☆"),),
        lift="collection",
        variant="total",
    ),
    Entry(
        "P38",
        Issues,
        "g string, scenario string, weight int, text string",
        "count bigint, examples bigint",
        {},
        lift="collection",
        variant="any scenario",
        declined="mutation",
        because="None may get into a list that grows: leave it out first",
    ),
    Entry(
        "P38",
        ScenarioX,
        "g string, scenario string, weight int",
        "count bigint, x bigint",
        ISSUES,
        (Filter("count >= 5", "○", "ours: an issue of weight 0 adds nothing to the count."),),
        lift="collection",
    ),
    Entry(
        "P38",
        OnlyScenarioX,
        "g string, scenario string, weight int",
        "x bigint",
        ISSUES,
        (Filter("x >= 5", "☆"),),
        lift="collection",
        variant="x",
    ),
]
