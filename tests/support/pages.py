"""Pages of the documentation: their code, run as a reader would run it.

The blocks of a page are written to a Python file at the very lines where they stand in the page, so
that the source of a function is where ``inspect`` looks for it, and a traceback names the page's
own line. They run as one file, as they would in a script: how Python compiles a call depends on the
imports around it. (Sybil runs blocks under the page's name: the text around a function is no Python
then, and its byte code is not that of its source.)
"""

from __future__ import annotations

import contextlib
import doctest
import io
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent.parent

_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->", re.S)
_OUTPUT = "<!-- output -->"
_INVISIBLE = "<!-- invisible-code-block: python\n"
"""How a page begins a comment of code that its reader need not see (Sybil's words)."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page. ``line`` is that of its first line of text, from 1.

    ``role``: ``run``, ``not run`` (``note`` says why), or ``output``, which is what the blocks
    above it print; ``...`` in it stands for any text.
    """

    language: str
    text: str
    line: int
    role: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page by its path below the root."""

    name: str
    blocks: tuple[Block, ...]

    @property
    def path(self) -> Path:
        return ROOT / self.name

    @property
    def python(self) -> list[Block]:
        """The blocks that run."""
        return [b for b in self.blocks if b.language == "python" and b.role == "run"]

    @property
    def headings(self) -> dict[str, int]:
        """The line of each heading, from 1."""
        tokens = MarkdownIt("commonmark").parse(self.path.read_text(encoding="utf-8"))
        return {
            text.content: heading.map[0] + 1
            for heading, text in itertools.pairwise(tokens)
            if heading.type == "heading_open" and heading.map
        }

    @property
    def needs_spark(self) -> bool:
        """Whether a block uses ``spark`` without making one."""
        names = {n for b in self.python for n in re.findall(r"\w+", _without_comments(b.text))}
        return "spark" in names


def _without_comments(code: str) -> str:
    return re.sub(r"#.*|^(from|import) .*|\bpresieve\.spark\b", "", code, flags=re.M)


@cache
def pages() -> tuple[Page, ...]:
    """The README and every page of docs, examples, proofs and results of benchmarks."""
    folders = ("docs", "examples", "proofs", "benchmarks/results")
    inside = [p for d in folders for p in sorted((ROOT / d).rglob("*.md"))]
    return tuple(page(p) for p in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *inside))


def page(path: Path) -> Page:
    """Read a page."""
    tokens = MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8"))
    found = []
    before: Token | None = None
    for token in tokens:
        if token.type in {"fence", "code_block"}:
            found.append(_block(token, before))
        elif token.type == "html_block" and token.content.startswith(_INVISIBLE):
            assert token.map is not None
            code = token.content.split("\n", 1)[1].rpartition("-->")[0]
            found.append(Block("python", code, token.map[0] + 2, "run"))
        before = token
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    return Page(name, tuple(found))


def _block(token: Token, before: Token | None) -> Block:
    fence = token.type == "fence"
    language = token.info.split()[0] if fence and token.info.strip() else ""
    assert token.map is not None
    line = token.map[0] + (2 if fence else 1)
    comment = before.content.strip() if before is not None and before.type == "html_block" else ""
    if comment == _OUTPUT:
        return Block(language, token.content, line, "output")
    if said := _NOT_RUN.fullmatch(comment):
        return Block(language, token.content, line, "not run", said[1])
    return Block(language, token.content, line, "run")


class PageFails(AssertionError):
    """A block of a page fails; the message names page and line."""


def run(found: Page, folder: Path, **given: Any) -> dict[str, Any]:
    """Run a page's blocks from top to bottom in one namespace, which begins with ``given``.

    ``folder`` is an empty one for the file with the page's code; the working folder is ``work`` in
    it. Returns the namespace. Raises :class:`PageFails` where a block raises or prints something
    else than the page shows.
    """
    stem = re.sub(r"\W", "_", found.name.removesuffix(".md"))
    file = folder / f"{stem}.py"
    text = _as_file(found)
    file.write_text(text, encoding="utf-8")
    module = ModuleType("__main__")  # as of a script or notebook, whose functions go by value
    module.__file__ = str(file)
    out = io.StringIO()

    def compare(index: int) -> None:
        _compare(found, found.blocks[index], out.getvalue())
        out.truncate(out.seek(0))

    vars(module).update(given, **{_COMPARE: compare})
    with contextlib.ExitStack() as undo:
        undo.callback(sys.modules.__setitem__, "__main__", sys.modules["__main__"])
        sys.modules["__main__"] = module
        undo.enter_context(contextlib.redirect_stdout(out))
        (folder / "work").mkdir(exist_ok=True)
        undo.enter_context(contextlib.chdir(folder / "work"))
        try:
            exec(compile(text, str(file), "exec", dont_inherit=True), vars(module))
        except (Exception, SystemExit) as error:
            raise _failure(found, error, file, out.getvalue()) from error
    return vars(module)


_COMPARE = "compare_with_output_of_the_page"


def _as_file(found: Page) -> str:
    """The page's Python code, each line where it is in the page, and a call at each output."""
    lines: list[str] = []
    for index, block in enumerate(found.blocks):
        if block.role == "output" or block in found.python:
            lines += [""] * (block.line - 1 - len(lines))
            output = block.role == "output"
            lines += [f"{_COMPARE}({index})"] if output else block.text.splitlines()
    return "\n".join(lines) + "\n"


def _failure(found: Page, error: BaseException, file: Path, printed: str) -> PageFails:
    if isinstance(error, PageFails):
        return error
    line = _line_of(error, file) or 1
    code = found.path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return PageFails(f"{found.name}:{line}: {code}\n{what}\n{printed}")


def _line_of(error: BaseException, file: Path) -> int | None:
    """The last line of the page that the error passed."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _compare(found: Page, block: Block, printed: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if not doctest.OutputChecker().check_output(block.text, printed, flags):
        raise PageFails(f"{found.name}:{block.line}: the page shows other output than\n{printed}")


@contextlib.contextmanager
def as_readers_have_it(spark: SparkSession, folder: Path) -> Iterator[None]:
    """A session whose working folder is that of a page, without the settings of the tests. What a
    page changes is put back.
    """
    files = _local_files(spark)
    before = files.getWorkingDirectory()
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path  # type: ignore[union-attr]
    files.setWorkingDirectory(path(str(folder / "work")))
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    compiling = str(spark.conf.get("spark.presieve.compile"))
    spark.conf.unset("spark.presieve.compile")
    try:
        yield
    finally:
        files.setWorkingDirectory(before)
        spark.conf.set("spark.sql.session.timeZone", zone)
        spark.conf.set("spark.presieve.compile", compiling)
        spark.catalog.clearCache()
        for view in spark.catalog.listTables():
            if view.isTemporary:
                spark.catalog.dropTempView(view.name)


def _local_files(spark: SparkSession) -> Any:
    """The JVM's local file system, which has a working folder of its own."""
    context = spark.sparkContext
    system = context._jvm.org.apache.hadoop.fs.FileSystem  # type: ignore[union-attr]
    return system.get(context._jsc.hadoopConfiguration())
