"""No file that a clean may delete is missed: the horizon is the one that the clean plan published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine import Table
from nbcc.engine.audit import gather
from nbcc.engine.config.concurrency import OPTIMISTIC
from nbcc.engine.storage import Storage
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.text import render
from tests.builders.tables import batch, make_table

from .corpus.kind import TIMELINE

STEPS: dict[str, Callable[[Table, int], object]] = {
    "upsert": lambda table, number: table.upsert(batch(("k", number, "a"))),
    "bulk": lambda table, number: table.bulk_insert(batch(("k", number, "a"))),
    "overwrite": lambda table, number: table.insert_overwrite(batch(("k", number, "a"))),
    "delete": lambda table, number: table.delete_partition(["part=p"]),
    "compact": lambda table, number: table.compact(),
    "compact_logs": lambda table, number: table.log_compact(),
    "savepoint": lambda table, number: table.savepoint(),
    "clean": lambda table, number: table.clean(retained=1),
    "archive": lambda table, number: table.archive(1),
}

HISTORIES = (
    "upsert overwrite clean",
    "bulk overwrite clean",
    "upsert compact overwrite clean upsert",
    "upsert compact upsert delete clean",
    "upsert overwrite overwrite clean",
    "upsert upsert compact_logs upsert compact upsert clean upsert archive",
    "upsert compact savepoint upsert compact upsert compact clean",
)


def played(folder: Path, steps: str, table_type: str = "MERGE_ON_READ") -> Table:
    mode: dict[str, Any] = {"concurrency_mode": OPTIMISTIC} if table_type == "COPY_ON_WRITE" else {}
    table = make_table(folder, table_type=table_type, **mode)
    for number, step in enumerate(steps.split()):
        STEPS[step](table, number)
    return table


def right(storage: Storage) -> None:
    found = validate(storage, opened=True)
    assert found.verdict == "OK", render(found)


@pytest.mark.parametrize("steps", HISTORIES)
def test_a_cleaned_table_is_right(steps: str, tmp_path: Path) -> None:
    table = played(tmp_path / "t", steps)
    assert any(gather(table.context.storage).cleans), "nothing was cleaned"
    right(table.context.storage)


def test_a_cleaned_table_without_logs_is_right(tmp_path: Path) -> None:
    table = played(tmp_path / "t", "upsert upsert upsert clean upsert", "COPY_ON_WRITE")
    assert not validate(table.context.storage).diagnostics


def test_the_horizon_holds_from_the_plan_on(tmp_path: Path) -> None:
    """A cleaner that dies during its deletes has published the horizon before the first delete."""
    table = played(tmp_path / "t", "upsert compact upsert compact upsert compact")
    planned = table.run("schedule_clean", policy="KEEP_LATEST_COMMITS", retained=1)
    assert planned is not None
    plan = table.context.commits.clean(planned.requested)
    table.context.storage.delete(plan.paths[0])
    assert gather(table.context.storage).horizon == plan.horizon
    right(table.context.storage)


def test_behind_the_horizon_of_another_engine_nothing_is_asked_for(tmp_path: Path) -> None:
    """Its plan names only the earliest instant that it retained; what overlaps it is given up as well."""
    from nbcc.engine.timeline.cleans import CleanPlan, encode_clean, encode_clean_plan

    table = played(tmp_path / "t", "upsert compact upsert compact upsert")
    storage = table.context.storage
    bases = (file for file in gather(storage).files.values() if file.path.endswith(".parquet"))
    first = min(bases, key=lambda file: file.requested).path
    kept = table.timeline()[-1]
    partition, _, name = first.rpartition("/")
    plan = CleanPlan("KEEP_LATEST_COMMITS", {partition: (name,)}, kept, kept.requested)
    requested, completed = table.context.clock.take(), table.context.clock.take()
    storage.put(f"{TIMELINE}/{requested}.clean.requested", encode_clean_plan(plan, storage.url))
    storage.delete(first)
    assert not [c for c in validate(storage).diagnostics if c.gravity == "BROKEN"], "while it is pending"
    storage.put(f"{TIMELINE}/{requested}_{completed}.clean", encode_clean(plan, requested, 0))
    assert not [c for c in validate(storage).diagnostics if c.gravity == "BROKEN"]
    horizon = gather(storage).horizon
    assert horizon is not None
    assert horizon >= kept.requested


def test_a_plan_may_take_more_logs_than_a_world_has_actors(tmp_path: Path) -> None:
    right(played(tmp_path / "t", f"{'upsert ' * 20}compact upsert").context.storage)
