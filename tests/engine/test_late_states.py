"""Actors that stall before they put a state of an instant, and wake after others have completed and archived it, or
after a restore has undone it. What they put then is ignored by each reader, and the next archiver removes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from nbcc.engine import Table
from nbcc.engine.config.options import DECISION
from nbcc.engine.errors import BadInput
from nbcc.engine.lock import InProcessLock
from nbcc.engine.timeline import Instant, load
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from nbcc.engine.timeline.timeline import FOLDER
from nbcc.engine.writes.commit_protocol import request
from tests.builders.tables import TickClock, batch, make_table, state, tick

from .hooked import during

ACTIONS = {"compaction": "compact", "logcompaction": "log_compact", "clean": "clean", "rollback": "rollback"}


LOG = {DECISION: "log"}


def grown(folder: Path, options: Mapping[str, str] = MappingProxyType({})) -> Table:
    table = make_table(folder, options=options)
    for number in range(3):
        table.upsert(batch((f"k{number}", number, "x")))
        table.compact()
    table.upsert(batch(("k0", 5, "y")))
    table.upsert(batch(("k1", 6, "y")))
    return table


def planned(table: Table, action: str) -> Instant:
    """A pending plan of the action."""
    if action == "rollback":
        failed, _ = request(replace(table.context, own_heartbeats=StoredHeartbeats(table.context.storage, 1, 0)),
                            "deltacommit")  # fmt: skip
        table.context.heartbeats.stop(failed)
    arguments = {"retained": 1} if action == "clean" else {}
    plan = table.run(f"schedule_{'log_compaction' if action == 'logcompaction' else action}", **arguments)
    assert isinstance(plan, Instant), action
    return plan


def run(table: Table, action: str, plan: Instant) -> Any:
    return table.run(f"run_{'log_compaction' if action == 'logcompaction' else action}", instant=plan)


def goes_on(table: Table, cleans: bool = True) -> None:
    """Others write, compact and archive, until what was there before is in the archive."""
    for number in range(3):
        table.upsert(batch((f"n{number}", 9, "z")))
        table.compact()
        if cleans:
            table.clean(retained=1)
    assert table.archive(retained=1)


def without_its_lock(table: Table, moment: str, meanwhile: Callable[[], Any]) -> Table:
    """The table as an actor that stalls before it puts `moment`, and whose lock others take."""
    slow = during(Table(replace(table.context), table.config), moment, meanwhile)
    return Table(replace(slow.context, lock=InProcessLock(f"{moment} {table.context.storage.url}")), slow.config)


def is_as_ever(table: Table) -> None:
    """The table answers, and the active timeline is short again after the next archiving."""
    fresh = Table(replace(table.context), table.config)
    before = state(fresh.snapshot())
    fresh.upsert(batch(("after", 9, "z")))
    fresh.compact()
    fresh.clean(retained=1)
    for _ in range(3):
        fresh.archive(retained=1)
    timeline = load(fresh.context.storage)
    assert timeline.pending == ()
    assert len(timeline.completed) <= 2
    assert state(fresh.snapshot()) == before | {("after", 9, "z")}
    whole = Counter(instant.requested for instant in fresh.context.history(timeline).whole.completed)
    assert set(whole.values()) == {1}


@pytest.mark.parametrize("cleans", [True, False])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_runner_stalls_before_it_puts_the_inflight_state(action: str, cleans: bool, tmp_path: Path) -> None:
    """It failed with `Missing` if its inputs were deleted. Otherwise it completed the plan a second time."""
    table = grown(tmp_path)
    plan = planned(table, action)
    faster: list[Instant] = []

    def others() -> None:
        faster.append(run(table, action, plan))
        goes_on(table, cleans)

    slower = during(Table(replace(table.context), table.config), f"{plan.requested}.{action}.inflight", others)
    assert run(slower, action, plan) == faster[0]
    is_as_ever(table)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_runner_stalls_before_it_reads_the_plan(action: str, tmp_path: Path) -> None:
    table = grown(tmp_path)
    plan = planned(table, action)
    faster: list[Instant] = []

    def others() -> None:
        faster.append(run(table, action, plan))
        goes_on(table)

    moment = f"{plan.requested}.{action}.requested"
    slower = during(Table(replace(table.context), table.config), moment, others, on="get")
    assert run(slower, action, plan) == faster[0]
    is_as_ever(table)


@pytest.mark.parametrize("action", ["compaction", "logcompaction"])
def test_a_restore_undoes_a_plan_before_its_runner_reads_it(action: str, tmp_path: Path) -> None:
    """It was an error of a reader, `Cleaned`."""
    table = grown(tmp_path)
    table.savepoint()
    table.upsert(batch(("k0", 7, "undone")))
    plan = planned(table, action)
    moment = f"{plan.requested}.{action}.requested"
    slower = during(Table(replace(table.context), table.config), moment, table.restore, on="get")
    with pytest.raises(BadInput, match=f"the timeline has no {action} with that requested time"):
        run(slower, action, plan)


@pytest.mark.parametrize("action", ["compaction", "logcompaction", "clean", "rollback"])
def test_a_planner_stalls_between_its_entry_and_its_plan(action: str, tmp_path: Path) -> None:
    """Its plan returned to the timeline, so that nothing was archived any more."""
    table = grown(tmp_path, LOG)

    def others() -> None:
        table.run("publish_decided")
        table.run(f"run_{'log_compaction' if action == 'logcompaction' else action}")
        goes_on(table)

    slower = without_its_lock(table, f".{action}.requested", others)
    plan = planned(slower, action)
    assert load(table.context.storage).find(plan.requested, action) == plan
    archived = table.context.commits.archive_now().timeline().find(plan.requested, action)
    assert archived is not None
    done = run(slower, action, plan)
    assert done == archived
    is_as_ever(table)


def test_a_writer_stalls_between_its_entry_and_its_commit(tmp_path: Path) -> None:
    table = grown(tmp_path, LOG)
    slower = without_its_lock(table, next_completed(table), lambda: goes_on(table))
    done = slower.upsert(batch(("late", 1, "x")))
    assert load(table.context.storage).find(done.requested) == done
    is_as_ever(table)


def test_a_restore_undoes_a_write_between_its_entry_and_its_commit(tmp_path: Path) -> None:
    table = grown(tmp_path, LOG)
    table.savepoint()

    def others() -> None:
        table.upsert(batch(("undone", 1, "x")))
        table.restore()

    slower = without_its_lock(table, next_completed(table), others)
    done = slower.upsert(batch(("late", 1, "x")))
    assert load(table.context.storage).undone == (done,)
    assert "late" not in {row["id"] for row in table.snapshot().to_pylist()}
    table.archive(retained=1)
    assert load(table.context.storage).undone == ()
    assert not list((tmp_path / FOLDER).glob(f"{done.requested}*"))


def next_completed(table: Table) -> str:
    """What the name of the completed state of the next write begins with."""
    clock = table.context.clock
    assert isinstance(clock, TickClock)
    return f"/{tick(clock.now + 1)}_"
