"""Draws the pictures of the theory: `python docs/images/make_pictures.py` writes them."""

from html import escape
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
INK, GREY, BLUE, ORANGE = "#1f2933", "#9aa5b1", "#0b5394", "#a64b00"
FONT = 'font-family="system-ui, sans-serif" font-size="15"'


class Picture:
    """Shapes on a white ground, with a title and a description for those who do not see them."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.shapes = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img" {FONT}>',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"'
            f' markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="{INK}"/>',
            "</marker></defs>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        ]

    def text(self, x: float, y: float, words: str, color: str = INK, bold: bool = False) -> None:
        weight = ' font-weight="600"' if bold else ""
        place = f'x="{x}" y="{y}" fill="{color}" text-anchor="middle"{weight}'
        self.shapes.append(f"<text {place}>{escape(words)}</text>")

    def box(
        self, x: float, y: float, width: float, words: str, color: str = INK, dash: str = ""
    ) -> None:
        """A box around its words, by its centre. ``dash``: how its edge is broken."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(
            f'<rect x="{x - width / 2}" y="{y - 18}" width="{width}" height="36" rx="5"'
            f' fill="#ffffff" stroke="{color}" stroke-width="2"{dashed}/>'
        )
        self.text(x, y + 5, words, color)

    def arrow(self, x1: float, y1: float, x2: float, y2: float, dash: str = "") -> None:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(
            f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{INK}" stroke-width="1.5" fill="none"'
            f' marker-end="url(#tip)"{dashed}/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, color: str, width: float) -> None:
        self.shapes.append(
            f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{color}" stroke-width="{width}"/>'
        )

    def save(self, name: str) -> None:
        text = "\n".join([*self.shapes, "</svg>"]) + "\n"
        (HERE / name).write_text(text, encoding="utf-8")


def pushdown() -> None:
    picture = Picture(
        660, 400, "A pushdown",
        "Left: scan, Python function, filter. Right: the pre-filter stands between scan and"
        " function, and the residual stands above in the place of the filter.",
    )  # fmt: skip
    function, scan = ("Python function", INK, ""), ("scan", INK, "")
    written = [("filter φ", INK, ""), function, None, scan]
    pushed = [("residual ψ", ORANGE, "6 3"), function, ("pre-filter P", BLUE, "2 2"), scan]
    for x, heading, steps in ((165, "as written", written), (495, "pushed down", pushed)):
        picture.text(x, 30, heading, bold=True)
        heights = [80, 165, 250, 335]
        shown = [(y, step) for y, step in zip(heights, steps, strict=True) if step]
        for y, (words, color, dash) in shown:
            picture.box(x, y, 170, words, color, dash)
        for (above, _), (below, _) in pairwise(shown):
            picture.arrow(x, below - 18, x, above + 19)
    picture.text(165, 385, "every row reaches Python")
    picture.text(495, 385, "rows with P reach Python")
    picture.text(330, 207, "same result", INK)
    picture.save("pushdown.svg")


def needed() -> None:
    picture = Picture(
        660, 150, "Needed rows",
        "A line of scores from 80 to 100. Scores over 90 are needed and kept, 90 and those below it"
        " are removable.",
    )  # fmt: skip
    at = {score: 60 + (score - 80) * 27 for score in range(80, 101)}
    picture.line(at[80], 75, at[90], 75, GREY, 3)
    picture.line(at[90], 75, at[100], 75, BLUE, 7)
    for score in (80, 85, 90, 95, 100):
        picture.line(at[score], 66, at[score], 84, INK, 1.5)
        picture.text(at[score], 106, str(score))
    picture.shapes.append(
        f'<circle cx="{at[90]}" cy="75" r="6" fill="#ffffff" stroke="{INK}" stroke-width="2"/>'
    )
    picture.text((at[80] + at[90]) / 2, 46, "removable: best > 90 never changes", INK)
    picture.text((at[90] + at[100]) / 2, 46, "needed: P keeps them", BLUE)
    picture.text(330, 138, "score, with the filter best > 90")
    picture.save("needed.svg")


def two_runs() -> None:
    picture = Picture(
        720, 270, "Two runs",
        "Rows 80, 95, 88, 97. The run over all rows has the states None, 80, 95, 95, 97; the run"
        " over rows above 90 has None, None, 95, 95, 97. The states are related after each row.",
    )  # fmt: skip
    rows, kept = [80, 95, 88, 97], [False, True, False, True]
    states: list[tuple[int | None, int | None]] = [(None, None)]
    for row, keep in zip(rows, kept, strict=True):
        s, t = states[-1]
        states.append((max(s or 0, row), max(t or 0, row) if keep else t))
    xs = [150 + 130 * i for i in range(5)]
    picture.text(50, 65, "all rows")
    picture.text(50, 205, "rows with P")
    picture.text(50, 135, "related by I")
    for x, (s, t) in zip(xs, states, strict=True):
        picture.box(x, 60, 64, "None" if s is None else str(s))
        picture.box(x, 200, 64, "None" if t is None else str(t), BLUE)
        picture.line(x, 80, x, 180, GREY, 1.5)
    for x, row, keep in zip(xs, rows, kept, strict=False):
        picture.text(x + 65, 25, f"row {row}")
        picture.arrow(x + 34, 60, x + 97, 60)
        picture.arrow(x + 34, 200, x + 97, 200, "" if keep else "3 4")
        picture.text(x + 65, 250, "Sync" if keep else "Stutter", INK, bold=True)
    picture.save("two_runs.svg")


if __name__ == "__main__":
    pushdown()
    needed()
    two_runs()
