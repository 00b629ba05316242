"""The picture of a plan: what is read of Spark's drawing, what is aligned, marked and folded."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.report.examples import SPLIT
from tests.report.pages import outline
from tests.report.plans import CASES, DECLINED, EMPTY, EXACT, LONG, SIMPLE, WRITTEN, wordy

from presieve.backend.statistics.metrics import Measurement
from presieve.report import html, sentences
from presieve.report.drawing.aligned import MOST_IN_A_ROW, align
from presieve.report.drawing.picture import WIDTH, Picture, Pictures, pictures
from presieve.report.drawing.tree import PlanNode, conjuncts, parse
from presieve.report.report_data import Measured, ReportData


def drawn(data: ReportData) -> Pictures:
    found = pictures(data)
    assert found is not None
    return found


def tags(picture: Picture) -> list[tuple[str, str]]:
    return [(b.content.title, b.content.tag) for b in picture.boxes]


def written(picture: Picture, role: str) -> list[tuple[str, str]]:
    (box,) = (b for b in picture.boxes if b.content.role == role)
    return [(line.sign, line.text) for line in box.content.lines]


def labels(picture: Picture) -> list[str]:
    return [e.label for e in picture.edges if e.label]


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
    scan = PlanNode("FileScan", "parquet [b] two lines of a literal")
    assert parse(text) == PlanNode(
        "Join",
        "Inner, (k = k)",
        (
            PlanNode(
                "Filter",
                "(a > scalar-subquery [])",
                (
                    PlanNode("Aggregate", "[max(b) AS m]", (PlanNode("Range", "(0, 4)"),)),
                    PlanNode("Relation", "[a] parquet"),
                ),
            ),
            PlanNode(
                "InMemoryRelation",
                "[b], StorageLevel(disk)",
                (PlanNode("ColumnarToRow", "", (scan,)),),
            ),
        ),
    )


@pytest.mark.parametrize("text", ["", "\n", "+- Filter x\n"])
def test_what_is_no_drawing_is_none(text: str) -> None:
    assert parse(text) is None


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
        there = {(b.content.full, b.y) for b in after.boxes}
        moved = [b for b in before.boxes if (b.content.full, b.y) not in there]
        assert [b.content.role for b in moved] == ["written"]


def test_a_filter_that_is_gone_leaves_a_place() -> None:
    before, after = drawn(EXACT).sides
    assert [b.content.role for b in before.boxes] == ["written", "function", "scan"]
    assert [b.content.role for b in after.boxes] == ["ghost", "function", "prefilter", "scan"]


def test_one_picture_where_the_plan_stays() -> None:
    found = drawn(DECLINED)
    (only,) = found.sides
    assert tags(only) == [("Filter", "filter, kept"), ("bad", "function"), ("Relation", "scan")]
    assert found.roles == ("function", "stays", "scan")


def test_another_plan_altogether_takes_the_place_of_the_first() -> None:
    before, after = drawn(EMPTY).sides
    assert [b.content.title for b in before.boxes][:2] == ["Filter", "top_two"]
    assert [b.content.title for b in after.boxes] == ["LocalRelation"]
    assert before.boxes[0].y == after.boxes[0].y


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
    assert labels(drawn(data).sides[1]) == ["about 3.4% of them"]


def test_sizes_that_may_be_those_of_another_scan_are_not_shown() -> None:
    (size,) = SIMPLE.sizes
    data = replace(SIMPLE, sizes=(size, replace(size, rows=7)))
    assert "200,000" not in str(drawn(data))


def test_of_a_large_plan_what_has_no_part_is_folded() -> None:
    found = drawn(LONG)
    assert found.operators == 27
    for picture, filtered in zip(found.sides, ([], [("Filter", "pre-filter")]), strict=True):
        assert tags(picture) == [
            ("20 operators", ""),
            ("Join", ""),
            ("Filter", "residual" if filtered else "filter as written"),
            ("top_two", "function"),
            ("Project", ""),
            *filtered,
            ("Relation", "scan"),
            ("Project", ""),
            ("Relation", ""),
        ]
    first = found.sides[0].boxes[0].content
    assert [line.text for line in first.lines] == [
        "15 Window, Union, Range, Join, Project, Relation"
    ]


def test_folding_counts_every_operator_once() -> None:
    for picture, text in zip(drawn(LONG).sides, (LONG.plan_before, LONG.plan_after), strict=True):
        tree = parse(text)
        assert tree is not None
        counted = sum(
            int(b.content.title.split()[0]) if b.content.role == "folded" else 1
            for b in picture.boxes
        )
        assert counted == tree.size


@pytest.mark.parametrize("name", CASES)
def test_boxes_neither_overlap_nor_leave_the_picture(name: str) -> None:
    for picture in drawn(CASES[name]).sides:
        boxes = sorted(picture.boxes, key=lambda b: b.y)
        for above, below in pairwise(boxes):
            assert above.y + above.content.height < below.y
        assert all(b.x > 0 and b.x + b.width < WIDTH for b in boxes)
        assert boxes[-1].y + boxes[-1].content.height < picture.height
        assert len(picture.edges) == len(boxes) - 1
        assert all(e.top < e.bottom for e in picture.edges)


def test_long_texts_are_cut_and_the_rest_is_counted() -> None:
    before, after = drawn(wordy()).sides
    assert written(before, "written")[-1] == ("", "and 27 more")
    assert written(after, "prefilter")[-1] == ("", "and 27 more")
    for box in (*before.boxes, *after.boxes):
        assert all(len(line.text) <= 52 for line in box.content.lines)
        assert len(box.content.title) <= 45
        assert len(box.content.lines) <= 14


def test_long_texts_are_wrapped_at_spaces_and_commas_and_keep_their_sign() -> None:
    parts = "Or(LessThanOrEqual(epoch,1767268800000000),GreaterThanOrEqual(epoch,1769774400000000))"
    (report,) = SIMPLE.boundaries
    data = replace(SIMPLE, boundaries=(replace(report, pushed_to_scan=(parts, "x" * 70)),))
    assert written(drawn(data).sides[1], "scan")[2:6] == [
        ("+", "Or(LessThanOrEqual(epoch,1767268800000000),"),
        ("+", "  GreaterThanOrEqual(epoch,1769774400000000))"),
        ("+", "x" * 49),
        ("+", "  " + "x" * 21),
    ]


@pytest.mark.parametrize("height", [MOST_IN_A_ROW + 1, 1200])
def test_no_picture_of_what_nobody_would_look_at(height: int) -> None:
    text = "".join(f"{'   ' * (i - 1)}{'+- ' if i else ''}Window w\n" for i in range(height))
    assert pictures(replace(SIMPLE, plan_before=text)) is None
    assert pictures(replace(SIMPLE, boundaries=())) is None


def test_trees_that_share_nothing_are_aligned_in_time() -> None:
    def chain(name: str) -> PlanNode:
        op = PlanNode(name, "0")
        for i in range(1, MOST_IN_A_ROW):
            op = PlanNode(name if i % 2 else "Filter", str(i) + name, (op,))
        return op

    found = align(chain("Sort"), chain("Window"))
    assert found is not None
    assert sum(p.before is not None for p in found.walk()) == MOST_IN_A_ROW


@pytest.mark.parametrize("name", CASES)
def test_pages_with_pictures_are_well_formed(name: str) -> None:
    whole = outline(html.page("t", [html.Section(CASES[name])]))
    assert {"figure", "figcaption", "svg", "title", "desc"} <= whole.tags
    outline(html.notebook_fragment(CASES[name]))


def test_the_answer_is_one_sentence_for_each_function() -> None:
    def told(data: ReportData) -> list[str]:
        return ["".join(text for text, _ in sentence) for sentence in sentences.answer(data)]

    assert told(SIMPLE) == [
        "Only rows with score >= 90.0D still reach top_two, about 3.4% of them. This holds if"
        " column score holds no NaN."
    ]
    assert told(DECLINED) == [
        "Nothing is pushed below bad: time.time() is not known (jobs/teams.py:40:9)."
    ]
    assert told(EMPTY) == ["The filter above top_two is never true."]
    assert told(replace(SIMPLE, boundaries=(SPLIT,) * 5))[-1] == "2 more below."
    sure = replace(SPLIT, assumptions=(), estimated_selectivity=0.0)
    assert told(replace(SIMPLE, boundaries=(sure,))) == [
        "Only rows with score >= 90.0D still reach top_two, almost none of them. This is proven"
        " without assumptions."
    ]
    erasing = replace(sure, assumptions=({"code": "may-erase-error", "text": "it may"},))
    assert told(replace(SIMPLE, boundaries=(erasing,)))[0].endswith(
        "This is proven without assumptions. An error on a dropped row may disappear."
    )
