"""The picture of a plan: what is read of Spark's drawing, what is aligned, marked and folded."""

from __future__ import annotations

import pytest
from tests.report.examples import SPLIT
from tests.report.pages import outline
from tests.report.plans import (
    CASES,
    DECLINED,
    EMPTY,
    EXACT,
    FOLD,
    LONG,
    OPTIMIZED,
    REPLACED,
    RUNS,
    SIMPLE,
    WRITTEN,
    wordy,
)

from presieve.backend.statistics.metrics import Measurement
from presieve.records import replace
from presieve.report import html, sentences
from presieve.report.drawing.aligned import align
from presieve.report.drawing.drawn_plan import DrawnOperator, conjuncts, parse
from presieve.report.drawing.picture import MOST_OPERATORS, Picture, Pictures, pictures
from presieve.report.report_data import Measured, ReportData
from presieve.report.statements import statements


def drawn(data: ReportData) -> Pictures:
    found = pictures(data)
    assert found is not None
    return found


def tags(picture: Picture) -> list[tuple[str, str]]:
    return [(b.title, b.tag) for b in picture.boxes]


def written(picture: Picture, role: str) -> list[tuple[str, str]]:
    (box,) = (b for b in picture.boxes if b.role == role)
    return [(part.sign, part.text) for part in box.parts]


def labels(picture: Picture) -> list[str]:
    return [b.label for b in picture.boxes if b.label]


def test_a_drawing_is_read_back() -> None:
    text = (
        "Join Inner, (k#1 = k#2L)\n"
        ":- Filter (a#1 > scalar-subquery#7 [])\n"
        ":  :  +- Aggregate [max(b#9) AS m#3]\n"
        ":  :     +- Range (0, 4)\n"
        ":  +- Relation [a#1] parquet\n"
        "+- InMemoryRelation [b#2], StorageLevel(disk)\n"
        "      +- *(1) ColumnarToRow\n"
        "         +- FileScan parquet [b#2]\n"
        "two lines of a literal\n"
    )
    assert [(op.steps, op.name, op.detail, op.parent and op.parent.name) for op in parse(text)] == [
        (0, "Join", "Inner, (k = k)", None),
        (1, "Filter", "(a > scalar-subquery [])", "Join"),
        (2, "Aggregate", "[max(b) AS m]", "Filter"),
        (2, "Range", "(0, 4)", "Aggregate"),
        (1, "Relation", "[a] parquet", "Filter"),
        (0, "InMemoryRelation", "[b], StorageLevel(disk)", "Join"),
        (0, "ColumnarToRow", "", "InMemoryRelation"),
        (0, "FileScan", "parquet [b] two lines of a literal", "ColumnarToRow"),
    ]


@pytest.mark.parametrize("text", ["", "\n", "+- Filter x\n"])
def test_what_is_no_drawing_has_no_operators(text: str) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("isnotnull(a)", ("isnotnull(a)",)),
        ("((a AND (b OR (c AND d))) AND (e > 1))", ("a", "b OR (c AND d)", "e > 1")),
        ("CASE WHEN (a AND b) THEN c END", ("CASE WHEN (a AND b) THEN c END",)),
        ("(a = )) AND b", ("(a = )) AND b",)),
    ],
)
def test_conjuncts(condition: str, parts: tuple[str, ...]) -> None:
    assert conjuncts(condition) == parts


def test_what_is_moved_is_marked_and_signed() -> None:
    before, after = drawn(SIMPLE).sides
    assert tags(before) == [
        ("Filter", "filter as written"),
        ("top_two", "function"),
        ("Project", ""),
        ("Relation", "scan"),
    ]
    assert tags(after) == [
        ("Filter", "residual"),
        ("top_two", "function"),
        ("Project", ""),
        ("Filter", "pre-filter"),
        ("Relation", "scan"),
    ]
    assert written(before, "written") == [
        ("-", "isnotnull(first)"),
        ("-", "first >= 90.0"),
        ("-", "second > 9"),
        ("", "isnotnull(second)"),
    ]
    assert written(after, "residual") == [("", "isnotnull(second)")]
    assert written(after, "prefilter") == [("+", "isnotnull(score)"), ("+", "score >= 90.0")]
    assert ("+", "GreaterThanOrEqual(score,90.0)") in written(after, "scan")
    assert all(sign != "+" for sign, _ in written(before, "scan"))


def test_what_is_equal_stands_at_the_same_height() -> None:
    for data in (SIMPLE, LONG):
        before, after = drawn(data).sides
        pairs = list(zip(before.rows, after.rows, strict=True))
        beside = [(a.full, a.role) for a, b in pairs if a and (b is None or a.full != b.full)]
        assert [role for _, role in beside] == ["written"]


def test_a_filter_that_is_gone_leaves_a_place() -> None:
    before, after = drawn(EXACT).sides
    assert [b.role for b in before.boxes] == ["written", "function", "scan"]
    assert [b.role for b in after.boxes] == ["ghost", "function", "prefilter", "scan"]


def test_one_picture_where_the_plan_stays() -> None:
    found = drawn(DECLINED)
    (only,) = found.sides
    assert tags(only) == [("Filter", "filter, kept"), ("bad", "function"), ("Relation", "scan")]
    assert found.roles == ("function", "stays", "scan")


def test_another_plan_altogether_takes_the_place_of_the_first() -> None:
    before, after = drawn(EMPTY).sides
    assert [b.title for b in before.boxes][:2] == ["Filter", "top_two"]
    assert [b.title for b in after.boxes] == ["LocalRelation"]
    assert after.rows[0] is not None


def test_an_aggregate_in_the_place_of_a_function_has_its_role() -> None:
    call = (
        "FlatMapGroupsInPandas [team#0], top_two(team#0, score#1)#8, [team#10, first#11, second#12]"
    )
    assert call in SIMPLE.plan_after
    native = SIMPLE.plan_after.replace(
        call, "Aggregate [team#0], [team#0, max(score#1) AS first#11]"
    )
    before, after = drawn(replace(SIMPLE, plan_after=native)).sides
    assert ("top_two", "function") in tags(before)
    assert ("Aggregate", "replacement") in tags(after)
    assert ("Filter", "pre-filter") in tags(after)


def test_a_plan_in_three_states() -> None:
    written_, filtered, runs = drawn(REPLACED).sides
    assert [p.side for p in (written_, filtered, runs)] == ["written", "filtered", "runs"]
    assert tags(filtered) == tags(drawn(SIMPLE).sides[1])
    assert tags(runs) == [
        ("Project", ""),
        ("Filter", "residual"),
        ("Aggregate", "replacement"),
        ("Project", ""),
        ("Filter", "pre-filter"),
        ("Relation", "scan"),
    ]
    assert written(runs, "residual") == [("", "isnotnull(second)"), ("", sentences.IN_OTHER_NAMES)]
    assert written(runs, "prefilter") == [("", "isnotnull(score)"), ("", "score >= 90.0")]
    assert [part.text for part in runs.boxes[0].parts] == [
        "team, first, second",
        sentences.FROM_REPLACEMENT,
    ]
    assert labels(filtered) == labels(runs) == ["about 6,800 rows (3.4%)"]


def test_a_condition_that_spark_moves_past_the_replacement_is_not_shown_above_it() -> None:
    """Without a pre-filter: a condition on the key goes below Spark's aggregate by itself."""
    stays = replace(SPLIT, kind="none", compiled=FOLD)
    before = WRITTEN.replace("(second#12 > 9)", "(team#10 > b)")
    after = RUNS.replace("(isnotnull(score#1) AND (score#1 >= 90.0))", "(team#10 > b)")
    data = replace(REPLACED, boundaries=(stays,), plan_before=before, plan_after=after)
    first, runs = drawn(replace(data, plan_filtered="")).sides
    assert ("-", "team > b") in written(first, "written")
    assert "team > b" not in [text for _, text in written(runs, "residual")]
    assert written(runs, "prefilter") == [("+", "team > b")]


def test_the_checks_of_a_guarded_plan_are_no_pre_filters() -> None:
    call, project, filter_, scan = OPTIMIZED.splitlines()[1:]
    check = f"""\
{call[3:]}
   +- Join LeftAnti, (pmod(team#0) = __presieve_class#9)
      :- {filter_.strip()[3:]}
      :  {scan.strip()}
      +- Aggregate [pmod(team#0)], [pmod(team#0) AS __presieve_class#9]
         +- Filter (isnull(score#1) OR isnan(score#1))
            {scan.strip()}
"""
    assert project
    runs = drawn(replace(SIMPLE, plan_after=check)).sides[1]
    assert [t for _, t in tags(runs) if t] == ["function", "pre-filter", "check"]
    assert labels(runs) == ["about 6,800 rows (3.4%)"]


def test_numbers_come_from_footers_then_from_runs() -> None:
    before, after = drawn(SIMPLE).sides
    assert labels(before) == ["200,000 rows"]
    assert labels(after) == ["about 6,800 rows (3.4%)"]
    assert ("", "200,000 rows, 519 kB in 1 file") in written(before, "scan")
    ran = replace(
        SIMPLE, measured=Measured(Measurement(4.0, 3, 200_000), Measurement(1.0, 3, 50_000))
    )
    before, after = drawn(ran).sides
    assert labels(before) == ["200,000 rows measured"]
    assert labels(after) == ["about 6,800 rows (3.4%)", "50,000 rows measured"]


def test_a_share_of_what_another_filter_leaves_is_no_number_of_rows() -> None:
    def below(plan: str) -> str:
        *most, scan = plan.splitlines()
        pad = scan[: scan.index("+-")]
        return "\n".join([*most, f"{pad}+- Filter (team#0 > 1)", f"{pad}   {scan.strip()}"])

    data = replace(SIMPLE, plan_before=below(WRITTEN), plan_after=below(SIMPLE.plan_after))
    assert labels(drawn(data).sides[1]) == ["about 3.4% of the rows"]


def test_sizes_that_may_be_those_of_another_scan_are_not_shown() -> None:
    (size,) = SIMPLE.sizes
    data = replace(SIMPLE, sizes=(size, replace(size, rows=7)))
    assert "200,000" not in str(drawn(data))


def test_of_a_large_plan_what_has_no_part_is_folded() -> None:
    found = drawn(LONG)
    assert found.operators == 27
    for picture, filtered in zip(found.sides, ([], [("Filter", "pre-filter")]), strict=True):
        assert tags(picture) == [
            ("11 operators", ""),
            ("Join", ""),
            ("Filter", "residual" if filtered else "filter as written"),
            ("top_two", "function"),
            ("Project", ""),
            *filtered,
            ("Relation", "scan"),
            ("11 operators", ""),
        ]
    first = found.sides[0].boxes[0]
    assert [part.text for part in first.parts] == ["9 Window, Union, Join"]


def test_folding_counts_every_operator_once() -> None:
    for picture, text in zip(drawn(LONG).sides, (LONG.plan_before, LONG.plan_after), strict=True):
        counted = sum(int(b.title.split()[0]) if b.role == "folded" else 1 for b in picture.boxes)
        assert counted == len(parse(text))


@pytest.mark.parametrize("name", CASES)
def test_both_pictures_have_the_same_rows(name: str) -> None:
    for picture in drawn(CASES[name]).sides:
        assert len(picture.rows) == len(drawn(CASES[name]).sides[0].rows)
        assert [b.place for b in picture.boxes].count("root") == 1
        assert all(b.steps > 0 for b in picture.boxes if b.place == "branch")


def test_of_many_conjuncts_the_rest_is_counted() -> None:
    before, after = drawn(wordy()).sides
    assert written(before, "written")[-1] == ("", "and 28 more")
    assert written(after, "prefilter")[-1] == ("", "and 28 more")


@pytest.mark.parametrize("height", [MOST_OPERATORS + 1, 1200])
def test_no_picture_of_what_nobody_would_look_at(height: int) -> None:
    text = "".join(f"{'   ' * (i - 1)}{'+- ' if i else ''}Window w\n" for i in range(height))
    assert pictures(replace(SIMPLE, plan_before=text)) is None
    assert pictures(replace(SIMPLE, boundaries=())) is None


def test_plans_that_share_nothing_are_aligned_in_time() -> None:
    def chain(name: str) -> list[DrawnOperator]:
        names = ("Filter", name)
        return [DrawnOperator(names[i % 2], f"{i}{name}") for i in range(MOST_OPERATORS)]

    rows = align(chain("Sort"), chain("Window"))
    assert sum(row.cells[0] is not None for row in rows) == MOST_OPERATORS


@pytest.mark.parametrize("name", CASES)
def test_pages_with_pictures_are_well_formed(name: str) -> None:
    whole = outline(html.page("t", [html.Section(CASES[name])]))
    assert {"figure", "figcaption", "svg", "title"} <= whole.tags
    outline(html.notebook_fragment(CASES[name]))


def test_the_answer_is_one_sentence_for_each_function() -> None:
    def told(data: ReportData) -> list[str]:
        return [str(statement) for statement in statements(data)]

    assert told(SIMPLE) == [
        "Only rows with score >= 90.0D reach top_two, about 3.4% of the rows. This holds if column"
        " score holds no NaN."
    ]
    assert told(DECLINED) == [
        "Nothing is pushed below bad: time.time() is not known (jobs/teams.py:40:9)."
    ]
    assert told(EMPTY) == [
        "The filter above top_two is never true, so no row reaches it. This holds if column score"
        " holds no NaN."
    ]
    assert told(replace(SIMPLE, boundaries=(SPLIT,) * 5))[-1] == "2 more below."
    sure = replace(SPLIT, assumptions=(), estimated_selectivity=0.0)
    assert told(replace(SIMPLE, boundaries=(sure,))) == [
        "Only rows with score >= 90.0D reach top_two, almost none of the rows. This is proven,"
        " given that column n holds no NULL (NOT NULL)."
    ]
    erasing = replace(
        sure, assumptions=({"code": "may-erase-error", "text": "an error may go"},), discharged=()
    )
    assert told(replace(SIMPLE, boundaries=(erasing,)))[0].endswith(
        "This is proven without assumptions. An error may go."
    )
