"""Locks by the names and formats of Hudi's: one holder at a time, and what happens to the lock of the dead."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.config.coordination import Coordination, coordination_of
from nbcc.engine.config.options import PROVIDER
from nbcc.engine.errors import BadInput, Conflict, Unsupported
from nbcc.engine.lock import InProcessLock, Lock, held
from nbcc.engine.lock.hudi_file import HudiFileLock
from nbcc.engine.lock.numbered import NumberedLock
from nbcc.engine.lock.providers import lock_of
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.lock.waiting import Waiting
from nbcc.engine.lock.zookeeper import ZookeeperLock
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table
from tests.builders.threads import within
from tools.processes import Plan, play

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])
PACKAGE = "org.apache.hudi.client.transaction.lock."
NOW = 1_700_000_000_000


class Clock:
    def __init__(self) -> None:
        self.ms = NOW

    def __call__(self) -> int:
        return self.ms


Make = Callable[[Path, Clock], Waiting]
KINDS: dict[str, Make] = {
    "file": lambda folder, clock: HudiFileLock(folder.as_uri(), 0.0, 1, clock),
    "storage": lambda folder, clock: StorageLock(open_storage(folder), 0.0, 60, 10, now=clock),
    "numbered": lambda folder, clock: NumberedLock(open_storage(folder), 0.0, 60, 10, now=clock),
}


def taken(lock: Waiting) -> Waiting:
    """Held as by another process: without its threads' lock."""
    assert lock.try_once()
    return lock


@pytest.mark.parametrize("kind", KINDS)
def test_one_holder_at_a_time(kind: str, folder: Path) -> None:
    clock = Clock()
    clock.ms = time.time_ns() // 1_000_000
    first, second = (KINDS[kind](folder, clock) for _ in range(2))
    taken(first)
    with pytest.raises(Conflict, match="and 0 s were not enough"):
        second.acquire()
    first.give_back()
    with held(second):
        assert not first.try_once()
    assert first.try_once()
    first.give_back()


@pytest.mark.parametrize("kind", KINDS)
def test_the_lock_of_the_dead_runs_out(kind: str, folder: Path) -> None:
    clock = Clock()
    clock.ms = time.time_ns() // 1_000_000
    dead, other = (KINDS[kind](folder, clock) for _ in range(2))
    taken(dead)
    clock.ms += 50_000
    assert not other.try_once()
    clock.ms += 20_000
    assert other.try_once()
    if kind == "file":
        os.utime(folder / ".hoodie/lock", ns=(clock.ms * 10**6, clock.ms * 10**6))
    dead.give_back()  # it was only slow: what is another's stays
    third = KINDS[kind](folder, clock)
    assert not third.try_once()
    other.give_back()
    assert third.try_once()
    third.give_back()


def test_an_expired_lock_file_is_taken_over_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    first, second = (KINDS["file"](folder, clock) for _ in range(2))
    clock.ms = time.time_ns() // 1_000_000
    lock = folder / ".hoodie/lock"
    lock.touch()
    os.utime(lock, ns=((clock.ms - 120_000) * 10**6,) * 2)
    look, seen = Path.stat, list[Path]()

    def stat(path: Path, **given: bool) -> os.stat_result:
        found = look(path, **given)
        if path == lock and not seen:
            seen.append(path)
            assert first.try_once()  # just after the second has found it expired
        return found

    monkeypatch.setattr(Path, "stat", stat)
    assert not second.try_once()
    first.give_back()


@pytest.mark.parametrize("kind", ["storage", "numbered"])
def test_a_holder_that_renews_keeps_it(kind: str, folder: Path) -> None:
    clock = Clock()
    locks: dict[str, Callable[[], StorageLock | NumberedLock]] = {
        "storage": lambda: StorageLock(open_storage(folder), 0.0, 60, 0.01, now=clock),
        "numbered": lambda: NumberedLock(open_storage(folder), 0.0, 60, 0.01, now=clock),
    }
    holder, other = locks[kind](), locks[kind]()
    taken(holder)
    for _ in range(5):
        clock.ms += 50_000
        assert within(60.0, lambda: not other.try_once() and _beat_at(folder, kind, clock.ms))
        assert within(60.0, lambda: holder.left() == 60)
    holder.give_back()


def _beat_at(folder: Path, kind: str, now: int) -> bool:
    name = {"storage": ".locks/table_lock.json", "numbered": ".nbcc/locks/" + f"{1:020d}.heartbeat"}[kind]
    path = folder / ".hoodie" / name
    if not path.exists():
        return False
    content = json.loads(path.read_text())
    return bool(content.get("validUntil", 0) == now + 60_000 or content.get("since") == now)


def test_the_lease_is_written_as_hudi_writes_it(folder: Path) -> None:
    lock = taken(StorageLock(open_storage(folder), 0.0, now=lambda: NOW))
    path = folder / ".hoodie/.locks/table_lock.json"
    content = json.loads(path.read_text())
    assert (content["expired"], content["validUntil"]) == (False, NOW + 300_000)
    assert sorted(content) == ["expired", "owner", "validUntil"], "Hudi refuses fields that it does not know"
    lock.give_back()
    assert json.loads(path.read_text()) == {**content, "expired": True}


@pytest.mark.parametrize(("late", "free"), [(0, False), (500, False), (501, True)])
def test_hudis_lease_keeps_us_out_until_it_has_run_out_for_sure(folder: Path, late: int, free: bool) -> None:
    path = folder / ".hoodie/.locks/table_lock.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"expired": False, "validUntil": NOW, "owner": "a-jvm"}))
    lock = StorageLock(open_storage(folder), 0.0, now=lambda: NOW + late)
    assert lock.try_once() == free
    if free:
        lock.give_back()


def test_a_lease_that_was_given_back_is_free_at_once(folder: Path) -> None:
    path = folder / ".hoodie/.locks/table_lock.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"expired": True, "validUntil": NOW + 300_000, "owner": "a-jvm"}))
    lock = StorageLock(open_storage(folder), 0.0, now=lambda: NOW)
    assert lock.try_once()
    lock.give_back()


def test_hudis_lock_file_keeps_us_out_and_ours_is_where_it_looks(folder: Path) -> None:
    path = folder / ".hoodie/lock"
    path.write_text(json.dumps({"lockCreateTime": "2026-11-21 10:00:00.000", "lockThreadName": "a-jvm"}))
    with pytest.raises(Conflict, match=r"held since 2026-11-21 10:00:00\.000"):
        HudiFileLock(folder.as_uri(), 0.0).acquire()
    path.unlink()
    with held(HudiFileLock(folder.as_uri(), 0.0)):
        assert sorted(json.loads(path.read_text())) == ["lockCreateTime", "lockStacksInfo", "lockThreadName"]
    assert not path.exists()
    with pytest.raises(Unsupported, match="use StorageBasedLockProvider"):
        HudiFileLock("s3://lake/t").acquire()


def test_numbers_only_grow(folder: Path) -> None:
    lock = NumberedLock(open_storage(folder), 0.0)
    tokens = []
    for _ in range(3):
        with held(lock):
            tokens.append(lock.token)
    assert tokens == [1, 2, 3]
    assert len(list((folder / ".hoodie/.nbcc/locks").iterdir())) <= 4, "old numbers are tidied away"


@pytest.mark.parametrize(
    ("provider", "kind"),
    [
        (PACKAGE + "InProcessLockProvider", InProcessLock),
        (PACKAGE + "FileSystemBasedLockProvider", HudiFileLock),
        ("StorageBasedLockProvider", StorageLock),
        ("NumberedLockProvider", NumberedLock),
        (PACKAGE + "ZookeeperBasedLockProvider", ZookeeperLock),
    ],
)
def test_a_table_says_by_which_lock_it_is_written(provider: str, kind: type, folder: Path) -> None:
    assert isinstance(lock_of(open_storage(folder), coordination_of({PROVIDER: provider}, BadInput)), kind)
    path = folder / "t"
    options = {PROVIDER: provider, "hoodie.write.lock.wait_time_ms": "2000"}
    Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", options=options)
    table = Table.open(None, path)
    assert isinstance(table.context.lock, kind)
    assert table.config.coordination.lock_wait_ms == 2000


def test_another_provider_is_refused(folder: Path) -> None:
    with pytest.raises(BadInput, match="use one of InProcessLockProvider, FileSystemBasedLockProvider"):
        Table.create(
            None, folder / "t", SCHEMA, record_key="id", ordering_fields="ts",
            options={PROVIDER: PACKAGE + "DynamoDBBasedLockProvider"},
        )  # fmt: skip


@pytest.mark.timeout(120)
@pytest.mark.parametrize("provider", ["StorageBasedLockProvider", "NumberedLockProvider"])
def test_a_table_survives_kills_under_a_lease(provider: str, tmp_path: Path) -> None:
    """A process that is killed while it holds the lease costs the others a wait, and nothing else."""
    options = {
        PROVIDER: provider, "hoodie.write.lock.storage.validity.timeout.secs": "1",
        "hoodie.write.lock.storage.renew.interval.secs": "0", "nbcc.decision": "log",
        "hoodie.time.generator.max_expected_clock_skew_ms": "0",
    }  # fmt: skip
    report = play(Plan(kills=3, writers=2, seed=4, options=options), tmp_path)
    assert report.kept, report.text


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server of our own, from Debian's zookeeperd."""
    jars = "/usr/share/java/*"
    if shutil.which("java") is None or not Path("/usr/share/java/zookeeper.jar").exists():
        pytest.skip("NO ZOOKEEPER HERE: apt-get install zookeeperd; its lock is NOT TESTED")
    pytest.importorskip("kazoo", reason="NO KAZOO HERE: pip install 'nbcc[zookeeper]'; ZooKeeper's lock is NOT TESTED")
    folder, port = tmp_path_factory.mktemp("zookeeper"), 21_800 + os.getpid() % 1000
    config = folder / "zoo.cfg"
    config.write_text(f"tickTime=200\ndataDir={folder}\nclientPort={port}\nadmin.enableServer=false\n")
    command = ["java", "-Xmx128m", "-cp", jars, "org.apache.zookeeper.server.ZooKeeperServerMain", str(config)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield port
    server.kill()
    server.wait()


@pytest.mark.timeout(120)
def test_zookeeper_keeps_processes_apart(zookeeper: int, folder: Path) -> None:
    agreed = Coordination(
        lock="ZookeeperBasedLockProvider", zookeeper_url="127.0.0.1", zookeeper_port=zookeeper, lock_wait_ms=20_000
    )
    lock: Lock = lock_of(open_storage(folder), agreed)
    code = f"""
        import time
        from nbcc.engine.lock.zookeeper import ZookeeperLock
        lock = ZookeeperLock("file:///t", "127.0.0.1:{zookeeper}", "/hudi/table", 20.0, session_seconds=6.0)
        lock.acquire()
        print("held", flush=True)
        time.sleep(60)
    """
    other = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    assert isinstance(lock, ZookeeperLock)
    assert not lock.try_once()
    other.kill()
    other.wait()
    with held(lock):  # its session ends, and the server takes its node away
        names = lock._client.get_children("/hudi/table")
        assert all("-lock-" in name for name in names), "in Curator's queue"
