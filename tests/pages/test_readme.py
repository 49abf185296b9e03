"""README.md and the pages in docs/ are true: their commands run as an installed nbcc does, and print what they show."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.errors import BadInput
from nbcc.simulator.trace import Trace
from tools import two_pipelines
from tools.regenerate import stale
from tools.regenerate import two_pipelines as files_of_picture

from .conftest import ROOT, Installed
from .readme import commands, programs, run_commands

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
RUN_ELSEWHERE = {"drivers.md"}  # in tests/crosscheck/test_drivers.py, in the folder of the examples


def test_the_pages_have_commands() -> None:
    assert [command.line for command in commands(README) if command.line.startswith("make")] == [
        "make demo",
        "make test",
    ]
    assert any(command.shown for command in commands(README))


def test_what_the_pages_tell_to_make_exists() -> None:
    for command in (command for page in PAGES for command in commands(page)):
        if command.line.startswith("make"):
            subprocess.run([*command.line.split(), "--dry-run"], cwd=ROOT, check=True, capture_output=True)


def spans(trace: Trace, actor: str) -> list[tuple[int, int]]:
    """The first and the last step of each instant of an actor."""
    steps = [(number, step.action) for number, step in enumerate(trace.steps) if step.actor == actor]
    begun = [number for number, action in steps if action.endswith(("requests_instant", "schedules_plan"))]
    ended = [number for number, action in steps if action.endswith("publishes_instant")]
    return [*zip(begun, ended, strict=True)]


def test_the_picture_of_two_pipelines_shows_what_the_readme_says() -> None:
    assert stale(files_of_picture()) == [], "python -m tools.regenerate two-pipelines"
    trace = two_pipelines.run()
    first, second, [(plan, compacted)] = (spans(trace, actor) for actor in ("w1", "w2", "c1"))
    during = [begun < compacted and ended > plan for begun, ended in (*first, *second)]
    assert (len(during), sum(during)) == (4, 3)
    assert all(any(a < d and c < b for c, d in second) for a, b in first)
    assert second[0][0] < plan < second[0][1]


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in RUN_ELSEWHERE], ids=lambda page: page.name)
def test_the_commands_run_in_order_and_print_what_the_page_shows(page: Path, installed: Installed) -> None:
    name = "-".join(page.relative_to(ROOT).with_suffix("").parts)  # there are two README.md
    run_commands(page, installed.in_folder(f"commands-of-{name}"))


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_the_programs_run(installed: Installed) -> None:
    found = programs(README)
    assert found
    user = installed.in_folder("programs-of-the-readme")
    for number, program in enumerate(found):
        name = f"program{number}.py"
        (user.elsewhere / name).write_text(program, encoding="utf-8")
        ran = user.run(f"python {name}")
        assert ran.returncode == 0, ran.stderr


def test_a_table_takes_the_frames_that_the_readme_names(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    when, frames = 'opened without Spark, `Table.open(None, "orders")`', "pandas DataFrames and Arrow tables"
    assert f"A table that is {when}, takes {frames} instead." in README.read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    columns = "id string, ts long, item string"
    orders = Table.create(spark, "orders", columns, record_key="id", ordering_fields="ts")
    alone = Table.open(None, "orders")
    arrow = pa.table({"id": ["a"], "ts": [1], "item": ["tea"]})
    for number, frame in enumerate((arrow, arrow.to_pandas())):
        with pytest.raises(BadInput, match="the table was opened with Spark"):
            orders.upsert(frame)
        alone.upsert(frame)
        assert len(alone.timeline()) == number + 1
    assert alone.snapshot().select(["id", "ts", "item"]) == arrow
    with pytest.raises(BadInput, match="the table was opened without Spark"):
        alone.upsert(spark.createDataFrame([("a", 1, "tea")], columns))
