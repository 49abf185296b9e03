"""The judge of streams under kills, on copies that Python programs make with the files of a checkpoint of Spark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.services.consumers import publish_progress
from nbcc.engine.timeline import completion_of, load
from tools.stream_kills import lane
from tools.stream_kills.judge import Published, compare
from tools.stream_kills.lane import SCHEMA, lanes, merged

TRIGGERS = 3
KILLS = 6


def test_a_copy_of_each_trigger_is_right(tmp_path: Path) -> None:
    figures = compare(tmp_path, copied(tmp_path))
    assert figures["broken"] == {}
    assert (figures["triggers"], figures["without_commit"], figures["published"]) == (TRIGGERS, 0, TRIGGERS)


def other_rows(folder: Path) -> None:
    write(folder, "copy", 1, "k9")


def a_trigger_less(folder: Path) -> None:
    (folder / "checkpoint" / "offsets" / "1").write_text((folder / "checkpoint" / "offsets" / "0").read_text())


def a_batch_twice(folder: Path) -> None:
    """As if the ids of the batches were lost."""
    write(folder, "copy", TRIGGERS, "k2", "q/2", replay=True)


def a_progress_behind(folder: Path) -> None:
    publish_progress(Table.open(None, folder / "source").context, "copy", "20000101000000000")


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (other_rows, "unequal"),
        (a_trigger_less, "wrong_triggers"),
        (a_batch_twice, "doubled_batches"),
        (a_progress_behind, "unequal"),
    ],
)
def test_a_wrong_copy_is_seen(damage: Callable[[Path], None], named: str, tmp_path: Path) -> None:
    published = copied(tmp_path)
    damage(tmp_path)
    broken = compare(tmp_path, published)["broken"]
    assert named in broken
    assert merged([{"killed": {}, "broken": broken}, {"killed": {}, "broken": {}}])["broken"] == [broken]


def test_progress_before_the_rows_is_seen(tmp_path: Path) -> None:
    published = copied(tmp_path)
    early = Published(published[1].progress, published[0].completed)
    assert compare(tmp_path, [*published, early])["broken"] == {"early_progress": [early.progress]}


FORGETS: Final = """
import importlib.util
import sys

NAME = "nbcc.engine.writes.idempotency"


class Forgets:
    def find_spec(self, name, path=None, target=None):
        if name != NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(NAME)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            module.repeated = lambda *given: None

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Forgets())
"""
"""A `sitecustomize` by which no process finds that a batch is committed already."""


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_sink_that_commits_a_repeated_trigger_again_is_seen_in_a_live_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most kills come when the batch of a trigger is committed, and Spark's log does not say so yet."""
    monkeypatch.setattr(lane, "PHASES", ("completed",))
    (tmp_path / "sitecustomize.py").write_text(FORGETS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    figures = lanes(1, KILLS, 1e6, 1, tmp_path / "lanes", {}, lambda kills: None)
    print(figures)
    assert "doubled_batches" in figures["broken"][0]


def copied(folder: Path) -> list[Published]:
    """Make a copy by as many triggers, and return the progress that was published after each."""
    for name in ("source", "copy"):
        Table.create(None, folder / name, SCHEMA, record_key="id", ordering_fields="ts", buckets=1)
    checkpoint = folder / "checkpoint"
    for name in ("offsets", "commits"):
        (checkpoint / name).mkdir(parents=True)
    (checkpoint / "metadata").write_text(json.dumps({"id": "q"}))
    source, copy = (Table.open(None, folder / name) for name in ("source", "copy"))
    published = []
    for number in range(TRIGGERS):
        completed = write(folder, "source", number, f"k{number}")
        write(folder, "copy", number, f"k{number}", f"q/{number}")
        (checkpoint / "offsets" / str(number)).write_text(f'v1\n{{}}\n{{"completed": "{completed}", "start": "0"}}\n')
        (checkpoint / "commits" / str(number)).write_text("v1\n{}")
        publish_progress(source.context, "copy", completed)
        instants = load(copy.context.storage).completed
        published.append(Published(completed, frozenset(map(completion_of, instants))))
    return published


def write(folder: Path, name: str, number: int, key: str, batch_id: str | None = None, replay: bool = False) -> str:
    table = Table.open(None, folder / name)
    if replay:
        shutil.rmtree(folder / name / ".hoodie" / ".nbcc" / "batches")
    return completion_of(table.upsert(pa.table({"id": [key], "ts": [number]}, SCHEMA), batch_id=batch_id))
