"""Failed writers: heartbeats, rollback in Hudi's formats, and writers that wake after they were rolled back."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.data.shape import table_shape
from nbcc.engine.data.tasks import WriteTask
from nbcc.engine.errors import BadInput, Conflict
from nbcc.engine.file_names import marker_folder
from nbcc.engine.storage import Entry
from nbcc.engine.timeline import load_rollback_plan
from nbcc.engine.timeline.container import decode_record
from nbcc.engine.timeline.heartbeats import FOLDER as HEARTBEATS
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from nbcc.engine.writes.batch import as_upserts
from tests.builders.heartbeats import Died, Heartbeats, dies
from tests.builders.tables import batch, make_table, tick

from .free_tables import eager
from .hooked import during


@pytest.fixture
def heartbeats() -> Heartbeats:
    return Heartbeats()


@pytest.fixture
def table(tmp_path: Path, heartbeats: Heartbeats) -> Table:
    made = make_table(tmp_path)
    made = Table(replace(made.context, own_heartbeats=heartbeats), made.config)
    made.upsert(batch(("k1", 1, "a")))
    return made


def dies_before(table: Table, moment: str) -> None:
    """A write of k2 whose process dies just before it puts a path that contains `moment`."""
    with pytest.raises(Died):
        during(table, moment, dies).upsert(batch(("k2", 1, "b")))


def paths(table: Table, folder: str = "") -> list[str]:
    return [entry.path for entry in table.context.storage.list(folder)]


def keys_of(table: Table) -> list[str]:
    return [row["id"] for row in table.snapshot().to_pylist()]


def test_a_live_writer_is_left_alone(table: Table, heartbeats: Heartbeats) -> None:
    dies_before(table, "_" + tick(3))  # no completed file, but its heartbeat is still renewed
    assert heartbeats.beating == {tick(3)}
    assert table.rollback() == ()
    with pytest.raises(BadInput, match="its writer is alive"):
        table.rollback(tick(3))


@pytest.mark.parametrize("moment", [".requested", ".inflight", ".log.", f"{tick(3)}_"])
def test_a_dead_writer_leaves_nothing_after_the_rollback(table: Table, heartbeats: Heartbeats, moment: str) -> None:
    before = paths(table)
    dies_before(table, moment)
    heartbeats.beating.clear()
    done = table.rollback()
    assert [instant.action for instant in done] == ([] if moment == ".requested" else ["rollback"])
    assert [path for path in paths(table) if path not in before and ".rollback" not in path] == []
    assert keys_of(table) == ["k1"]
    assert [instant.state for instant in table.timeline()] == ["completed"] * (1 + len(done))


def test_plan_and_metadata_are_those_that_hudi_writes(table: Table, heartbeats: Heartbeats) -> None:
    dies_before(table, f"{tick(3)}_")
    [log] = [path for path in paths(table) if ".log." in path and tick(3) in path and ".marker" not in path]
    heartbeats.beating.clear()
    [done] = table.rollback()
    plan = load_rollback_plan(table.context.storage, done.requested)
    assert (plan.target, plan.action, plan.files) == (tick(3), "deltacommit", (log,))
    read = table.context.storage.get(f".hoodie/timeline/{done.requested}.rollback.requested")
    request = decode_record(read, "plan")["RollbackRequests"][0]
    assert request["filesToBeDeleted"] == [f"{table.context.storage.url}/{log}"]
    assert (request["fileId"], request["latestBaseInstant"], request["logBlocksToBeDeleted"]) == ("", "", {})
    record = decode_record(table.context.storage.get(f".hoodie/timeline/{done.file_name}"), "rollback")
    assert (record["commitsRollback"], record["totalFilesDeleted"]) == ([tick(3)], 1)
    assert record["instantsRollback"] == [{"commitTime": tick(3), "action": "deltacommit"}]
    assert record["partitionMetadata"]["part=p"]["successDeleteFiles"] == [f"{table.context.storage.url}/{log}"]


def test_a_sleeper_that_was_rolled_back_is_refused_and_leaves_nothing(table: Table, heartbeats: Heartbeats) -> None:
    def meanwhile() -> None:
        heartbeats.beating.clear()
        table.rollback()

    with pytest.raises(Conflict, match="it has been rolled back"):
        during(table, ".log.", meanwhile).upsert(batch(("k2", 1, "b")))
    assert keys_of(table) == ["k1"]
    assert [path for path in paths(table) if tick(3) in path] == []


def test_a_sleeper_whose_rollback_is_only_planned_is_refused(table: Table, heartbeats: Heartbeats) -> None:
    def meanwhile() -> None:
        heartbeats.beating.clear()
        table.schedule_rollback()

    with pytest.raises(Conflict, match="it has been rolled back"):
        during(table, ".log.", meanwhile).upsert(batch(("k2", 1, "b")))
    done = table.run_rollback()
    assert done is not None
    assert done.completed
    assert keys_of(table) == ["k1"]


@pytest.mark.parametrize("archived", [False, True], ids=["on the timeline", "archived"])
def test_a_sleeper_that_puts_its_instant_again_after_its_rollback(
    table: Table, heartbeats: Heartbeats, archived: bool
) -> None:
    """Its own heart says that it lives: others could not see it beat."""

    def meanwhile() -> None:
        blind = Table(replace(table.context, own_heartbeats=Heartbeats()), table.config)
        assert [instant.action for instant in blind.rollback()] == ["rollback"]
        blind.upsert(batch(("k3", 1, "c")))
        if archived:
            blind.compact()
            assert "rollback" in {instant.action for instant in blind.archive(retained=1)}

    with pytest.raises(Conflict, match="it has been rolled back"):
        during(table, f"{tick(3)}.deltacommit.inflight", meanwhile).upsert(batch(("k2", 1, "b")))
    assert keys_of(table) == ["k1", "k3"]
    assert [path for path in paths(table) if tick(3) in path] == []


def test_a_stalled_write_undoes_itself_before_another_process_does(table: Table, heartbeats: Heartbeats) -> None:
    with pytest.raises(Conflict, match="its heartbeat stopped"):
        during(table, ".log.", heartbeats.beating.clear).upsert(batch(("k2", 1, "b")))
    assert [path for path in paths(table) if tick(3) in path] == []


def test_a_rollback_that_died_is_finished_by_another(table: Table, heartbeats: Heartbeats) -> None:
    dies_before(table, f"{tick(3)}_")
    heartbeats.beating.clear()

    def death() -> None:
        raise Died

    plan = table.schedule_rollback()
    assert plan is not None
    with pytest.raises(Died):
        during(table, f"{plan.requested}_", death).run_rollback()
    assert [path for path in paths(table) if tick(3) in path] == []
    assert [instant.requested for instant in table.rollback()] == [plan.requested]
    assert table.rollback() == ()


def test_two_that_run_one_rollback_complete_it_once(table: Table, heartbeats: Heartbeats) -> None:
    dies_before(table, f"{tick(3)}_")
    heartbeats.beating.clear()
    plan = table.schedule_rollback()
    assert plan is not None
    faster: list[object] = []
    slow = during(table, ".rollback.inflight", lambda: faster.append(table.run_rollback(plan)))
    assert [slow.run_rollback(plan)] == faster
    assert sum(instant.action == "rollback" for instant in table.timeline()) == 1


def test_a_file_put_after_the_rollback_is_not_read_and_keeps_its_marker(
    table: Table, heartbeats: Heartbeats
) -> None:
    dies_before(table, f"{tick(3)}_")
    heartbeats.beating.clear()
    table.rollback()
    task = WriteTask(table_shape(table.config, table.context.rules), tick(3), 1 << 20)
    [late] = table.context.jobs.write(as_upserts(batch(("k2", 1, "late")), table.config), task)
    assert keys_of(table) == ["k1"]
    table.compact()
    assert keys_of(table) == ["k1"]
    assert paths(table, marker_folder(tick(3))) == [f"{marker_folder(tick(3))}/{late.path}.marker.CREATE"]


def test_eager_rolls_back_every_pending_write(table: Table, heartbeats: Heartbeats) -> None:
    dies_before(table, f"{tick(3)}_")
    assert [instant.action for instant in eager(table).rollback()] == ["rollback"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [(tick(1), "it is completed"), (tick(9), "no write with that requested time")],
)
def test_what_cannot_be_rolled_back(table: Table, asked: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        table.rollback(asked)
    with pytest.raises(BadInput, match="no rollback with that requested time"):
        table.run_rollback(asked)


def test_a_failed_compaction_is_not_rolled_back(table: Table) -> None:
    plan = table.schedule_compaction()
    assert table.rollback() == ()
    assert table.run_compaction(plan) is not None


# Heartbeats as files


class Clock:
    """Seconds, moved by hand."""

    now = 1000.0


@dataclass
class Store:
    """A store that knows when something was last put."""

    clock: type[Clock]
    beats: dict[str, float] = field(default_factory=dict)
    beaten: threading.Event = field(default_factory=threading.Event)

    def put(self, path: str, data: bytes) -> None:
        assert data == b""
        self.beats[path] = self.clock.now
        self.beaten.set()

    def list(self, prefix: str) -> list[Entry]:
        return [Entry(path, 0, put) for path, put in self.beats.items() if path.startswith(prefix)]

    def delete(self, path: str) -> None:
        self.beats.pop(path, None)


def heartbeats_of(store: Store, interval: float = 60.0) -> StoredHeartbeats:
    return StoredHeartbeats(store, interval, 2, now=lambda: store.clock.now)  # type: ignore[arg-type]  # what heartbeats need


def test_a_heartbeat_is_an_empty_file_whose_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clock, "now", 1000.0)
    store = Store(Clock)
    writer, cleaner = heartbeats_of(store), heartbeats_of(store)
    writer.start(tick(1))
    assert list(store.beats) == [f"{HEARTBEATS}/{tick(1)}"]
    assert cleaner.is_alive(tick(1))
    assert not cleaner.is_alive(tick(2)), "without a file there is no life"
    monkeypatch.setattr(Clock, "now", 1121.0)
    assert not cleaner.is_alive(tick(1))
    store.beats[f"{HEARTBEATS}/{tick(1)}"] = 1121.0
    assert cleaner.is_alive(tick(1))
    assert not writer.is_alive(tick(1)), "what was missed once stays missed: another actor may have acted on it"
    writer.stop(tick(1))
    assert store.beats == {}


def test_a_heartbeat_is_renewed_by_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clock, "now", 1000.0)
    store = Store(Clock)
    heartbeats = heartbeats_of(store, interval=0.01)
    heartbeats.start(tick(1))
    for _ in range(3):
        store.beaten.clear()
        assert store.beaten.wait(10)
    heartbeats.stop(tick(1))


def test_a_write_beats_while_it_lasts(tmp_path: Path) -> None:
    seen: list[str] = []
    made = make_table(tmp_path)
    during(made, ".log.", lambda: seen.extend(paths(made, HEARTBEATS))).upsert(batch(("k1", 1, "a")))
    assert seen == [f"{HEARTBEATS}/{tick(1)}"]
    assert paths(made, HEARTBEATS) == []
