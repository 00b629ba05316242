"""``presieve run``: the job cannot tell that it was not Python that started it.

These jobs start no Spark; tests/jobs has some that do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PRESIEVE = str(Path(sys.executable).with_name("presieve"))

PROGRAMS = {
    "what it sees": """
        import sys, os
        from __future__ import annotations
    """,
    "place": """
        import __main__, inspect, os, pickle, sys
        import beside

        class Thing:
            def f(self) -> nothing_of_this_name: ...

        print(__name__, __file__, __doc__, __spec__, __package__)
        print(sys.argv, sys.path[0], beside.VALUE, __main__.Thing is Thing)
        print(inspect.getsource(Thing).count("def"), pickle.loads(pickle.dumps(Thing)) is Thing)
    """,
    "crash": """
        import sys
        print("before")

        def inner():
            return {}["nothing"]

        try:
            inner()
        except KeyError as error:
            raise ValueError("why") from error
    """,
    "own hook": """
        import sys
        sys.excepthook = lambda kind, error, _: print("hook", kind.__name__, error)
        1 / 0
    """,
    "exit code": "import sys; sys.exit(7)",
    "exit text": "raise SystemExit('bye')",
    "exit none": "import sys; print('ok'); sys.exit()",
    "at exit": """
        import atexit, sys, __main__
        atexit.register(lambda: print("last", sys.argv[1:], __main__.X))
        X = 3
    """,
    "interrupt": "raise KeyboardInterrupt",
    "future": """
        def f(x: list[int]): ...
        print(f.__annotations__)
    """,
    "spawn": """
        import multiprocessing

        def work(x):
            return x + 1

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [1, 2]))
    """,
}
PROGRAMS["place"] = '"""Of the job."""\n' + textwrap.dedent(PROGRAMS["place"])


def start(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # As a console script would be, Python is started from somewhere else than the job's folder.
    job = os.path.join("sub", "job.py")
    return subprocess.run(
        [*command, job, "--quiet", "-x", "--", "a b", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.costly
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_job_runs_as_python_runs_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "beside.py").write_text("VALUE = 5\n")
    (tmp_path / "sub" / "job.py").write_text(textwrap.dedent(PROGRAMS[name]))
    expected = start([sys.executable], tmp_path)
    found = start([PRESIEVE, "run", "--quiet"], tmp_path)
    assert found.stdout == expected.stdout
    if name == "what it sees":  # Python tells it with a traceback
        assert found.returncode == 2
        assert found.stderr.startswith("presieve: sub/job.py:3: from __future__ imports must")
        return
    if name == "interrupt":  # Python dies of the signal, which a shell tells as 130
        assert (expected.returncode, found.returncode) == (-2, 130)
    else:
        assert found.returncode == expected.returncode
    assert found.stderr == expected.stderr


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("nowhere.py", None, "nowhere.py: there is no such file"),
        (".", None, ".: that is a folder; name a Python file"),
        ("a.py", b"def f(:\n", "a.py:1: invalid syntax; it must be valid Python"),
        ("b.py", b"PAR1\x00\x00", "it must be valid Python"),
        ("c.sql", b"SELECT 1 FROM t\n", "c.sql:1: invalid syntax; it must be valid Python"),
    ],
)
def test_what_is_no_job_is_told_in_one_line(
    name: str, content: bytes | None, text: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    for command in ("run", "explain"):
        done = subprocess.run(
            [PRESIEVE, command, name], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("presieve: ")
        assert text in line


def test_without_boundaries_there_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("print('done')\n")
    done = subprocess.run(
        [PRESIEVE, "run", "job.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "done\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("presieve: the job ran no filter above")


@pytest.mark.second
def test_what_follows_the_job_is_the_jobs(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import sys\nprint(sys.argv[1:], file=sys.stderr)\n")

    def start(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PRESIEVE, "run", *args], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )

    done = start("--htm", "x", "job.py")
    assert done.returncode == 2
    assert done.stderr.startswith("presieve: No such option: --htm")
    assert done.stdout == ""
    done = start("job.py", "--polic=strict", "--host", "--budget", "3", "--", "--cost", "never")
    assert done.returncode == 0
    given = "['--polic=strict', '--host', '--budget', '3', '--', '--cost', 'never']"
    seen = done.stderr.splitlines()
    assert seen[0] == given
    after = "was given to the job, as it stands after job.py; options for presieve come before that"
    assert [s for s in seen if "given to the job" in s] == [
        f"presieve: --polic {after}",
        f"presieve: --budget {after}",
    ]


@pytest.mark.costly
@pytest.mark.parametrize("command", ["run", "explain"])
def test_local_workers_are_of_the_python_that_runs_the_job(command: str, tmp_path: Path) -> None:
    """Spark starts "python3": also without an environment that is activated it is this one."""
    (tmp_path / "job.py").write_text(
        "import shutil, sys\nprint(shutil.which('python3'), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [PRESIEVE, command, "job.py"],
        cwd=tmp_path,
        env={**os.environ, "PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == str(Path(sys.executable).with_name("python3"))
