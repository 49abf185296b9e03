"""Reports of users and findings (specs/bugs.toml, specs/findings), played on Apache Hudi at its storage calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from nbcc.engine.lock.hudi_file import HudiFileLock
from nbcc.model import Step
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.simulator.lockstep.schedule import Choose
from tests.builders.hudi_calls import END, ONE, Script, scripted
from tools.hudi_calls.cast import EARLY, FILE_LOCK, STALLS, Cast, writer
from tools.hudi_calls.labels import named
from tools.hudi_calls.play import Played, play
from tools.hudi_calls.tables import NEW, OLD, Tables, row
from tools.hudi_calls.verdict import RIGHT, UNDONE, explained, judged_recovery, validated, verdict
from tools.peers.hudi.release import NEWEST

WRITERS = {"w1": writer("w1", 2), "w2": writer("w2", 3)}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    made = Tables(tmp_path_factory.mktemp("hudi"))
    yield made
    made.hudi.close()


def errors(played: Played) -> dict[str, str]:
    return {actor: end["error"] for actor, end in played.ends.items() if "error" in end}


def instants(path: Path, ending: str) -> int:
    return len([*(path / ".hoodie" / "timeline").glob(f"[0-9]*{ending}")])


def test_two_cleans_plan_two_rollbacks_of_one_failed_write(tables: Tables) -> None:
    """The later one finds nothing to remove, and fails. The next clean runs its plan again, and completes it."""
    with tables.copy("rollback") as path:
        parts = (("s1", "rename rollback requested"), ("s9", "put heartbeat"), ("s1", END), ("s9", END))
        played = scripted(tables, path, "rollback", {"s1": "clean", "s9": "clean"}, *parts)
        assert (instants(path, ".rollback.requested"), instants(path, ".rollback")) == (2, 1)
        assert "Could not delete instant" in errors(played)["s9"]
        assert judged_recovery(tables, path, OLD) == RIGHT
        assert instants(path, ".rollback") == 2


def test_a_second_compactor_finds_the_plan_of_a_live_one(tables: Tables) -> None:
    """One call plans, runs and commits. No second plan has the logs of a pending one."""
    with tables.copy("compaction") as path:
        actors = {"c1": "compaction", "c2": "compaction"}
        played = scripted(tables, path, "compaction", actors, ("c1", "put base"), ("c2", END), ("c1", END))
        assert "finds no logs to compact" in errors(played)["c2"]
        assert (tables.snapshot(path), instants(path, ".commit")) == (NEW, 1)


def test_a_live_writer_whose_heartbeat_expired_is_rolled_back(tables: Tables) -> None:
    with tables.copy("upsert") as path:
        parts = (("w1", "put log"), ("w1", ONE), ("w1", STALLS), ("s9", END), ("w1", END))
        played = scripted(tables, path, "upsert", {"w1": "upsert", "s9": "clean"}, *parts)
        assert "FileNotFoundException" in errors(played)["w1"]
        assert (tables.snapshot(path), instants(path, ".rollback")) == (OLD, 1)


def test_a_writer_that_stalls_before_its_inflight_instant_commits_after_its_rollback(tables: Tables) -> None:
    with tables.copy("upsert") as path:
        parts = (("w1", "rename deltacommit inflight"), ("w1", STALLS), ("s9", END), ("w1", END))
        played = scripted(tables, path, "upsert", {"w1": "upsert", "s9": "clean"}, *parts)
        assert not errors(played)
        assert (instants(path, ".rollback"), instants(path, ".deltacommit")) == (1, 2)
        assert tables.snapshot(path) == NEW
        assert validated(path).startswith("BROKEN")


def test_a_clean_that_two_clients_run_completes_twice(tables: Tables) -> None:
    with tables.copy("clean") as path:
        parts = (("s1", "put clean inflight"), ("s1", ONE), ("s9", END), ("s1", END))
        played = scripted(tables, path, "clean", {"s1": "clean", "s9": "clean"}, *parts)
        assert not errors(played)
        assert (instants(path, ".clean.requested"), instants(path, ".clean")) == (1, 2)
        assert validated(path).startswith("BROKEN")


def test_a_clean_undoes_the_commit_for_whose_lock_it_waits(tables: Tables) -> None:
    """The clean has listed the pending write, waits for the lock, and plans without another look."""
    with tables.copy("upsert") as path:
        parts = (("w1", "rename deltacommit completed"), ("w1", STALLS), ("s9", END), ("w1", ONE), ("s9", END))
        played = scripted(tables, path, "upsert", {"w1": "upsert", "s9": "clean"}, *parts)
        assert not errors(played)
        assert "w1" in played.completed
        assert (tables.snapshot(path), instants(path, ".rollback")) == (OLD, 1)
        assert "undone-and-completed" in validated(path)
        assert explained(played, verdict(tables, path, played)) == UNDONE[0]


def test_a_manifest_of_a_dead_archiver_fails_later_archives(tables: Tables) -> None:
    with tables.copy("archive") as path:
        parts = (("s2", "rename archive manifest"), ("s2", ACTOR_CRASHES), ("s3", END))
        played = scripted(tables, path, "archive", {"s2": "archive", "s3": "archive"}, *parts)
        assert "NumberFormatException" in errors(played)["s3"]
        assert judged_recovery(tables, path, NEW, archives=True) == RIGHT  # there is nothing to archive yet
        assert "NumberFormatException" in judged_recovery(tables, path, NEW, archives=True)


def test_an_archive_before_the_first_clean_fails(tables: Tables) -> None:
    with tables.copy("clean") as path:
        assert "Index -1 out of bounds" in errors(scripted(tables, path, "clean", {"s2": "archive"}))["s2"]
        assert judged_recovery(tables, path, NEW, archives=True) == RIGHT


def test_with_early_detection_a_writer_fails_by_markers_that_were_just_removed(tables: Tables) -> None:
    """w2 finds the marker folder of w1. w1 completes and deletes it, and w2 lists a folder that does not exist."""
    with tables.copy("upsert", EARLY) as path:
        parts = (("w1", "put log"), ("w1", ONE), ("w2", "stat marker"), ("w2", ONE), ("w1", END), ("w2", END))
        played = scripted(tables, path, "upsert", WRITERS, *parts, mode="optimistic, early detection")
        assert [*errors(played)] == ["w2"]
        assert "IOException occurs during checking marker file conflict" in errors(played)["w2"]


def test_a_query_by_requested_time_misses_a_write_that_completed_late(tables: Tables) -> None:
    """The commit time in the rows of Hudi is the requested one: a consumer that remembers the newest one misses w1."""
    with tables.copy("upsert") as path:

        def ask(step: str, **arguments: object) -> Any:
            return tables.hudi.ask(step, str(path), **arguments)

        ask("start", actor="w1")
        ask("data", actor="w1", rows=WRITERS["w1"][1]["rows"])
        ask("upsert", actor="w2", rows=[row("a2", 3, "by w2")])
        newest = max(time for *_, time in ask("read", kind="snapshot"))
        ask("commit", actor="w1")
        rows = ask("read", kind="snapshot")
        assert {value for *_, value, _ in rows} == {"by w1", "of w1", "by w2"}
        assert [each for each in rows if each[-1] > newest] == []


class LocksMeanwhile(Script):
    """Takes the lock file of a table for another client, between a client's unlock and the delete of its close."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._lock, self._file = HudiFileLock(path.as_uri()), path / ".hoodie" / "lock"
        self._calls: list[str] = []
        self.is_there: list[bool] = []

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        if self._calls.count("delete lock") == 2 and len(self.is_there) == 1:
            self.is_there.append(self._file.exists())
        self._calls.append(named(str(dict(enabled[0].args)["call"])))
        if self._calls[-1] == "delete lock" and self._calls.count("delete lock") == 2:
            assert self._lock.try_once()
            self.is_there.append(self._file.exists())
        return super().next(choose, enabled)


def test_a_client_that_closes_deletes_the_lock_file_of_another(tables: Tables) -> None:
    with tables.copy("upsert", FILE_LOCK) as path:
        schedule = LocksMeanwhile(path)
        played = play(tables, path, Cast("upsert", "non-blocking, lock file", {"w1": WRITERS["w1"]}), schedule)
        assert not errors(played)
        assert schedule.is_there == [True, False]


def test_the_bundle_has_no_module_of_flink(tables: Tables) -> None:
    tables.prepared("upsert")  # the process of Hudi has its bundle
    jars = Path.home() / ".ivy2" / "jars"
    names = ZipFile(jars / f"org.apache.hudi_hudi-spark3.5-bundle_2.12-{NEWEST}.jar").namelist()
    assert not [name for name in names if "flink" in name.lower() or name.startswith("org/apache/hudi/sink/")]
