"""Which lock a table has by where it is stored: in the store itself, strong enough for the machines that reach it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine.config.options import PROVIDER, SKEW
from nbcc.engine.errors import Conflict, Unsupported
from nbcc.engine.lock import held
from nbcc.engine.storage import open_storage
from nbcc.engine.storage.conditional import conditional_object
from nbcc.engine.table import Table
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from nbcc.simulator.lockstep.control.storage import MemoryStorage
from nbcc.simulator.lockstep.s3.server import Bucket, s3_server

from .free_tables import SCHEMA, rows

URL = "s3://lake/t"


def made(bucket: Bucket, mode: str | None = None, **options: str) -> Table:
    return Table.create(
        None, URL, SCHEMA, record_key="id", ordering_fields="ts", concurrency_mode=mode, options=options,
        storage_options=bucket.options,
    )  # fmt: skip


def keys(table: Table) -> set[str]:
    return set(table.snapshot()["id"].to_pylist())


LOCK_KEYS = {"": "table_lock.json", "StorageBasedLockProvider": "table_lock.json", "NumberedLockProvider": ".acquired"}


@pytest.mark.parametrize("provider", LOCK_KEYS)
def test_every_lock_request_goes_to_the_store_of_the_table(
    provider: str, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3_server() as other:
        named = {"ENDPOINT": other.url, "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "y", "ALLOW_HTTP": "true"}
        for name, value in {**named, "ENDPOINT_URL": other.url, "REGION": "r"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        table = made(bucket, **({PROVIDER: provider} if provider else {}))
        table.upsert(rows("a"))
        assert other.requests == []
    assert bucket.asked("PUT", LOCK_KEYS[provider]) >= 2, "one lock for the request, one for the completion"
    assert keys(table) == {"a"}


def test_a_lock_among_the_processes_of_a_machine_stays_the_default_of_a_folder(tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts")
    table.upsert(rows("a"))
    assert not (tmp_path / "t/.hoodie/.locks").exists()


def test_the_wait_for_the_default_lock_can_be_set(tmp_path: Path) -> None:
    options = {"hoodie.write.lock.wait_time_ms": "30"}
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", options=options)
    with held(Table.open(None, tmp_path / "t").context.lock), pytest.raises(Conflict, match=r"for 0\.03 s"):
        table.upsert(rows("a"))


WEAK = [
    ({PROVIDER: "InProcessLockProvider"}, rf"set {PROVIDER}=StorageBasedLockProvider, or hoodie\.write\.conc.*=SINGLE"),
    ({PROVIDER: "FileSystemBasedLockProvider"}, rf"needs a file system.* set {PROVIDER}=StorageBasedLockProvider\."),
    ({SKEW: "0"}, f"{SKEW}=0 assumes that their clocks never differ: set it to 200"),
]


@pytest.mark.parametrize(("options", "remedy"), WEAK)
def test_a_lock_that_does_not_exclude_machines_is_refused(options: dict[str, str], remedy: str, bucket: Bucket) -> None:
    with pytest.raises(Unsupported, match=remedy):
        made(bucket, **options)
    assert not bucket.objects, "nothing is created"


@pytest.mark.parametrize("options", [{PROVIDER: "InProcessLockProvider"}, {SKEW: "0"}])
def test_a_table_of_one_writer_is_read_by_all_and_written_by_one(options: dict[str, str], bucket: Bucket) -> None:
    alone = made(bucket, "SINGLE_WRITER", **options)
    alone.upsert(rows("a"))
    many = Table.open(None, URL, bucket.options, concurrency_mode="NON_BLOCKING_CONCURRENCY_CONTROL")
    assert keys(many) == {"a"}
    before = dict(bucket.objects)
    for write in (lambda: many.upsert(rows("b")), many.compact, many.clean, many.rollback, many.archive):
        with pytest.raises(Unsupported, match=r"or hoodie\.write\.concurrency\.mode=SINGLE_WRITER if only one"):
            write()
    assert bucket.objects == before
    alone.upsert(rows("b"))
    assert keys(Table.open(None, URL, bucket.options)) == {"a", "b"}


def test_a_table_with_a_lock_file_in_an_object_store_can_be_read(bucket: Bucket) -> None:
    made(bucket, **{PROVIDER: "NumberedLockProvider"}).upsert(rows("a"))
    path = "t/.hoodie/hoodie.properties"
    message = bucket.objects[path].data
    bucket.put(path, message.replace(b"NumberedLockProvider", b"FileSystemBasedLockProvider"))
    assert b"FileSystemBasedLockProvider" in bucket.objects[path].data
    table = Table.open(None, URL, bucket.options)
    assert keys(table) == {"a"}
    with pytest.raises(Unsupported, match="FileSystemBasedLockProvider needs a file system"):
        table.upsert(rows("b"))


def test_a_storage_that_cannot_compare_names_the_lock_that_needs_it_not() -> None:
    with pytest.raises(Unsupported, match=f"set {PROVIDER}=NumberedLockProvider"):
        conditional_object(MemoryStorage(), "a")


def test_a_local_object_and_one_in_a_store_are_replaced_alike(bucket: Bucket, tmp_path: Path) -> None:
    for storage in (open_storage(tmp_path), open_storage(URL, bucket.options)):
        one = conditional_object(storage, "a/b")
        assert one.read() is None
        assert one.write(b"1", None)
        assert not one.write(b"2", None)
        known = one.read()
        assert known is not None
        assert one.write(b"2", known)
        assert not one.write(b"3", known)
        assert storage.get("a/b") == b"2"


WRITER = """
    import json, select, sys
    import pyarrow as pa
    from nbcc.engine.errors import Conflict
    from nbcc.engine.table import Table
    url, name, commits, options = sys.argv[1:]
    table = Table.open(None, url, json.loads(options))
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(commits)):
        key = f"{name}{number}"
        table.upsert(pa.table({"id": [key], "ts": pa.array([number], pa.int64())}, schema=table.config.schema))
        print(key, flush=True)
    while name == "compactor":
        table.compact()
        if select.select([sys.stdin], [], [], 0)[0]:
            break
"""


def started(url: str, name: str, commits: int, options: dict[str, Any]) -> subprocess.Popen[str]:
    """A process that has opened the table, and waits for a line to begin."""
    arguments = [url, name, str(commits), json.dumps(options)]
    command, pipe = [sys.executable, "-c", textwrap.dedent(WRITER), *arguments], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.timeout(120)
def test_two_processes_and_a_compactor_lose_no_acknowledged_key(bucket: Bucket) -> None:
    """By default, in a store that several machines can reach."""
    table = made(bucket)
    bucket.listing_seconds = 0.02  # as in a real store: time for others between a listing and the put based on it
    others = [started(URL, name, commits, bucket.options) for name, commits in (("a", 10), ("b", 10), ("compactor", 0))]
    for other in others:
        assert other.stdin is not None
        print(file=other.stdin, flush=True)
    answers = [other.communicate(None if commits else "\n") for other, commits in zip(others, (10, 10, 0), strict=True)]
    acknowledged = {key for printed, _ in answers for key in printed.split()}
    assert acknowledged - keys(table) == set(), "lost"
    assert [(other.returncode, error) for other, (_, error) in zip(others, answers, strict=True)] == [(0, "")] * 3
    assert len(acknowledged) == 20
    times = [time for instant in table.timeline() for time in (instant.requested, instant.completed)]
    assert len(set(times)) == len(times)


def test_an_in_process_lock_on_a_folder_refuses_a_second_process(tmp_path: Path) -> None:
    options, url = {PROVIDER: "InProcessLockProvider"}, str(tmp_path / "t")
    table = Table.create(None, url, SCHEMA, record_key="id", ordering_fields="ts", options=options)
    table.upsert(rows("own"))
    again = Table.open(None, url)
    again.upsert(rows("own too"))
    del again
    for name, commits in (("b", 1), ("compactor", 0)):
        other = started(url, name, commits, {})
        printed, error = other.communicate("\n")
        assert (printed, other.returncode) == ("", 1)
        assert "another process writes to it, and InProcessLockProvider excludes only the threads of one" in error
        assert f"set {PROVIDER}=StorageBasedLockProvider" in error
    assert keys(table) == {"own", "own too"}
    del table  # this process does not write any more
    other = started(url, "b", 1, {})
    assert other.communicate("\n") == ("b0\n", "")


def test_the_command_line_takes_storage_options(bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    made(bucket)
    url = bucket.options["endpoint"]
    given = [f"endpoint={url}", "access_key_id=test", "secret_access_key=s3cr3t", "region=r", "allow_http=true"]
    options = [word for option in given for word in ("--storage-option", option)]
    assert run(["inspect", URL, *options]) == Exit.AGREES
    assert run(["table", URL, "timeline", *options]) == Exit.AGREES
    capsys.readouterr()
    assert run(["inspect", URL, *options, "--storage-option", "regio=s3cr3t"]) == Exit.BAD_INPUT
    message = capsys.readouterr().err
    assert "did you mean 'region'" in message
    assert run(["inspect", URL, "--storage-option", "s3cr3t"]) == Exit.BAD_INPUT
    assert "s3cr3t" not in message + capsys.readouterr().err
