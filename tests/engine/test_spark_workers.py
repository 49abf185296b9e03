"""A session that the user made: its Python workers are tested before the first job, and one sentence names the cure.
A line for the user that a worker writes reaches the driver's standard error.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nbcc.engine.errors import CannotRun, Damaged, NbccError, StorageError
from nbcc.engine.spark import failures, interpreter, sources, worker
from nbcc.engine.spark.console import _follow

PROGRAM = """
from pyspark.sql import SparkSession
from nbcc import NbccError, Table, session
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
for asked in (lambda: Table.create(spark, "t", "id string, ts long", record_key="id", ordering_fields="ts"),
              lambda: Table.open(spark, "t"), session):
    try:
        asked().upsert(spark.createDataFrame([("a", 1)], "id string, ts long"))
    except NbccError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_session_with_another_python_is_refused_in_one_sentence(tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(other)], check=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "PYTHON"))}
    path = f"{other / 'bin'}{os.pathsep}{os.environ['PATH']}"
    program = f"import sys; sys.path[:0] = {[*filter(None, sys.path)]!r}\n{PROGRAM}"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={**environment, "PATH": path},
        text=True, capture_output=True, check=False,
    )  # fmt: skip
    start = "CannotRun Asked to use this SparkSession, but its Python workers run python3, which cannot import fastavro"
    assert ran.returncode == 0, ran.stderr
    assert [line.startswith(start) for line in ran.stdout.splitlines()] == [True] * 3
    assert f"set PYSPARK_PYTHON={sys.executable} in the environment before the session is made" in ran.stdout
    assert "Traceback" not in ran.stderr


def session_of(python: str, application: str, master: str = "local[2]", **more: Any) -> Any:
    context = SimpleNamespace(pythonExec=python, applicationId=application, master=master, **more)
    return SimpleNamespace(_sc=context, addArtifacts=lambda *_, **__: None)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    def made(body: str) -> str:
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\necho run >> {tmp_path}/runs\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return made


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo 2.7", r"which is Python 2\.7, not 3\.\d+: set PYSPARK_PYTHON="),
        ("exit 1", "which cannot import fastavro, numpy, obstore, pyarrow: set PYSPARK_PYTHON="),
    ],
)
def test_an_interpreter_that_cannot_do(script: Callable[[str], str], tmp_path: Path, body: str, message: str) -> None:
    spark = session_of(script(body), f"app {body}")
    for _ in range(2):
        with pytest.raises(CannotRun, match=message):
            interpreter.prepare_workers(spark)
    assert (tmp_path / "runs").read_text("utf-8") == "run\n", "it is tested once for each session"


def test_an_interpreter_that_will_do(script: Callable[[str], str]) -> None:
    interpreter.prepare_workers(session_of(script(f'exec {sys.executable} "$@"'), "app that works"))
    interpreter.prepare_workers(session_of(sys.executable, "app with this Python"))


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="which does not run"):
        interpreter.prepare_workers(session_of(str(tmp_path / "none"), "app without"))


def test_the_workers_of_a_cluster_run_one_task() -> None:
    def parallelize(numbers: list[int], _: int) -> Any:
        return SimpleNamespace(map=lambda probe: SimpleNamespace(collect=lambda: [probe(each) for each in numbers]))

    def fails(*_: Any) -> Any:
        raise RuntimeError("100 lines of traceback")

    interpreter.prepare_workers(session_of("python3.99", "app", "spark://here:7077", parallelize=parallelize))
    with pytest.raises(CannotRun, match=r"python3\.99, on which a task failed .*: set PYSPARK_PYTHON="):
        interpreter.prepare_workers(session_of("python3.99", "other app", "spark://here:7077", parallelize=fails))


def test_session_is_at_the_top_and_loads_no_spark() -> None:
    line = "import sys, nbcc; nbcc.session; print('pyspark' in sys.modules, sys.modules['nbcc'].session.__module__)"
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", line], env=here, text=True, capture_output=True, check=True)
    assert ran.stdout == "False nbcc.engine.spark.session\n"


def test_tasks_need_the_versions_that_the_package_needs() -> None:
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8"))["project"]
    needed = dict(each.split(">=") for each in project["dependencies"])
    assert {name: ".".join(map(str, floor)) for name, floor in worker.FLOORS.items()} == {
        name: needed[name] for name in worker.FLOORS
    }


def test_a_worker_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal: Any = worker.refusal.__wrapped__
    here = sources.home_of_sources()
    assert refusal("any", here) is None
    assert refusal(sources.digest_of_sources(), "other machine:/folder") is None
    exists, remedy = refusal("0123456789abcdef", "other machine:/folder")
    assert re.fullmatch(r"its Python \S+ imports another nbcc from /\S+ than the driver", exists)
    assert remedy.startswith("install the driver's nbcc there")
    monkeypatch.setattr(worker, "FLOORS", {"numpy": (1, 26), "pyarrow": (999,)})
    exists, remedy = refusal("any", here)
    assert re.fullmatch(r"its Python \S+ has pyarrow \d\S+", exists)
    assert remedy.endswith("on every executor: pip install 'numpy>=1.26' 'pyarrow>=999'")
    monkeypatch.setattr(worker, "FLOORS", {"no_such_package": (1,)})
    assert refusal("any", here)[0].endswith("has no no_such_package that can be imported")


@pytest.mark.parametrize("error", [Damaged("read a: b", "it has 3 bytes, but few", "restore it: now"),
                                   StorageError("write 'x'", "the store answered: no", "ask, then wait")])  # fmt: skip
def test_an_error_of_a_task_is_the_error_of_the_driver(error: NbccError) -> None:
    text = f"Job aborted: Task 0 failed 4 times\nnbcc.engine.errors.{type(error).__name__}: {error}\n\n\tat org.apache"
    found = failures.error_of_task(text)
    assert (type(found), str(found)) == (type(error), str(error))
    refused = failures.error_of_task("x: RuntimeError: Asked to run a task of nbcc on h, but it lacks y: install it.\n")
    assert isinstance(refused, CannotRun)
    assert failures.error_of_task("ValueError: Asked to run a task of nbcc on h, but it lacks y: install it.") is None


def test_an_archive_of_the_sources_is_enough_to_run_tasks(tmp_path: Path) -> None:
    code = "import nbcc.engine.data.jobs\n"
    code += "from nbcc.engine.spark import sources as s; print(s.digest_of_sources(), s.home_of_sources())"
    ran = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, text=True, capture_output=True, check=True,
                         env={**os.environ, "PYTHONPATH": sources.archive_of_sources()})  # fmt: skip
    digest, home = ran.stdout.split()
    assert digest == sources.digest_of_sources()
    assert home.endswith(f"/nbcc-{digest}.zip/nbcc")


def test_nbcc_is_sent_again_after_a_failed_attempt() -> None:
    sent: list[str] = []

    def add(path: str, pyfile: bool) -> None:
        sent.append(path)
        if len(sent) == 1:
            raise ConnectionError("the server is busy")

    rows = SimpleNamespace(mapInArrow=lambda task, schema: SimpleNamespace(collect=list))
    spark: Any = SimpleNamespace(session_id="session that fails once", addArtifacts=add, range=lambda count: rows)
    with pytest.raises(ConnectionError):
        interpreter.prepare_workers(spark)
    for _ in range(2):
        interpreter.prepare_workers(spark)
    assert len(sent) == 2


def test_lines_for_the_user_are_shown_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    ended = threading.Event()
    ended.set()
    lines = "INFO a\nnbcc ignores x\noptions.py:1: UserWarning: nbcc ignores y\nWARN nbcc ignores b\nnbcc ignores half"
    _follow(io.StringIO(lines), ended)
    assert capsys.readouterr().err == "nbcc ignores x\nnbcc ignores y\n"
