"""What a power failure must not take away: an operation returns after all that it has put is durable."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.errors import BadInput, StorageError
from nbcc.engine.storage import LocalStorage, ObjectStorage, open_storage
from nbcc.engine.storage.staged_files import STAGE

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())])
COMPLETED = (".deltacommit", ".commit", ".clean", ".rollback")
TEMPORARY = (".hoodie/.heartbeat", ".hoodie/.temp", ".hoodie/.nbcc.lock")


class Disk:
    """Contents and names that a power failure would take, because nothing has synced them; seen at the system calls."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self._root = root
        self.contents, self.names, self.removed = set[str](), set[str](), set[str]()
        self.seen: list[str] = []
        self.broken: list[str] = []
        self._real: dict[str, Callable[..., Any]] = {}
        for name in ("open", "write", "fsync", "link", "rename", "mkdir", "unlink"):
            self._real[name] = getattr(os, name)
            patch.setattr(os, name, getattr(self, name))

    @property
    def puts(self) -> list[str]:
        """What was put and is not durable."""
        return sorted(path for path in self.contents | self.names if TEMPORARY[0] not in path)

    @property
    def undone(self) -> list[str]:
        """What was removed and may come back."""
        return sorted(path for path in self.removed if not _is_temporary(path))

    def _path(self, name: str = "", folder: int | None = None) -> str:
        above = os.path.dirname(name) if folder is None else os.readlink(f"/proc/self/fd/{folder}")
        return os.path.relpath(os.path.join(above, os.path.basename(name)), self._root)

    def open(self, name: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> Any:
        opened = self._real["open"](name, flags, mode, dir_fd=dir_fd)
        if flags & os.O_EXCL and STAGE not in name:
            self.names.add(self._path(name, dir_fd))
            self.seen.append(name)
        return opened

    def write(self, file: int, data: Any) -> Any:
        self.contents.add(self._path(folder=file))
        return self._real["write"](file, data)

    def fsync(self, descriptor: int) -> None:
        self._real["fsync"](descriptor)
        self.seen.append("fsync")
        path = self._path(folder=descriptor)
        self.contents.discard(path)
        folder = "" if path == "." else path
        self.names = {name for name in self.names if os.path.dirname(name) != folder}
        self.removed = {name for name in self.removed if os.path.dirname(name) != folder}

    def link(self, stage: str, name: str, *, src_dir_fd: int, dst_dir_fd: int, follow_symlinks: bool) -> None:
        self._publish("link", stage, name, dst_dir_fd, follow_symlinks=follow_symlinks)

    def rename(self, stage: str, name: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        self._publish("rename", stage, name, dst_dir_fd)

    def _publish(self, verb: str, stage: str, name: str, folder: int, **given: Any) -> None:
        path = self._path(name, folder)
        if self._path(stage, folder) in self.contents:
            self.broken.append(f"{path} gets its name before its content is durable")
        if name.endswith(COMPLETED) and (self.puts or self.undone):
            self.broken.append(f"{path} is put while {self.puts} and {self.undone} are not durable")
        self._real[verb](stage, name, src_dir_fd=folder, dst_dir_fd=folder, **given)
        self.names.add(path)
        self.seen.append(path)

    def mkdir(self, name: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        self._real["mkdir"](name, mode, dir_fd=dir_fd)
        self.names.add(self._path(name, dir_fd))

    def unlink(self, name: str, *, dir_fd: int | None = None) -> None:
        self._real["unlink"](name, dir_fd=dir_fd)
        path = self._path(name, dir_fd)
        if STAGE in name:
            return
        if self.puts and not _is_temporary(path):
            self.broken.append(f"{path} is deleted while {self.puts} are not durable")
        self.names.discard(path)
        self.removed.add(path)


def _is_temporary(path: str) -> bool:
    return any(folder in path for folder in TEMPORARY)


def rows(ts: int) -> pa.Table:
    return pa.table({"id": ["k"], "part": ["p"], "ts": [ts]}, SCHEMA)


def made(folder: Path, **given: Any) -> Table:
    return Table.create(
        None, folder, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=1, **given
    )


def lived(folder: Path, judge: Callable[[], None], **given: Any) -> Table:
    """A table after every operation that puts or deletes something; `judge` is called after each."""
    table = made(folder, **given)
    judge()
    steps: list[Callable[[], Any]] = [
        *(lambda ts=ts: table.upsert(rows(ts)) for ts in range(6)),
        table.compact,
        lambda: table.upsert(rows(7), batch_id="b"),
        table.compact,
        lambda: table.clean(retained=1),
        table.savepoint,
        lambda: table.upsert(rows(8)),
        table.restore,
        table.delete_savepoint,
        lambda: table.archive(retained=1),
        lambda: table.upsert(rows(9)),
    ]
    for step in steps:
        step()
        judge()
    return table


@pytest.mark.parametrize("decision", ["lock", "log"])
def test_an_operation_returns_after_all_it_put_is_durable(
    decision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path, monkeypatch)

    def judge() -> None:
        assert not disk.broken
        assert (disk.puts, disk.undone) == ([], [])

    lived(tmp_path / "new" / "t", judge, options={"nbcc.decision": decision})
    assert sum("new/t/part=p/" in path for path in disk.seen) > 5
    assert disk.seen.count("fsync") > 50


@pytest.mark.parametrize("off", [False, "false", " FALSE"])
def test_the_option_turns_it_off(off: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(tmp_path, monkeypatch)
    table = lived(tmp_path / "t", lambda: None, storage_options={"durable": off})
    assert "fsync" not in disk.seen
    assert disk.seen
    assert table.snapshot().num_rows == 1
    again = pickle.loads(pickle.dumps(table.context.storage))  # as an executor has it
    again.put("x", b"1")
    assert "fsync" not in disk.seen
    open_storage(tmp_path / "t").put("x", b"1")
    assert "fsync" in disk.seen


def test_a_folder_that_another_process_has_just_made_is_synced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That process may not have synced its parent when this one's put returns."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b").mkdir()
    disk = Disk(tmp_path, monkeypatch)
    disk.names |= {"a", "a/b"}
    storage = open_storage(tmp_path)
    storage.put_if_absent("a/b/x", b"1")
    assert disk.puts == []


@pytest.mark.parametrize("options", [{"durable": "perhaps"}, {"durable": 1}, {"region": "r"}, {5: 6}, "durable", 5])
def test_other_options_are_refused(options: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"storage.option"):
        made(tmp_path / "t", storage_options=options)
    assert not (tmp_path / "t").exists()


def test_an_object_store_is_given_no_such_option() -> None:
    storage = open_storage("memory:///", {"durable": "false"})
    assert isinstance(storage, ObjectStorage)
    storage.put("x", b"1")
    with pytest.raises(BadInput, match="durable='no'"):
        open_storage("memory:///", {"durable": "no"})


# what a put leaves that dies in between


@pytest.mark.parametrize("call", ["fsync", "link", "rename", "write"])
def test_a_put_that_fails_leaves_no_part_of_itself(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = LocalStorage(tmp_path.as_uri())
    storage.put("p/there", b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    for put in (storage.put, storage.put_if_absent):
        if (call, put) in (("link", storage.put), ("rename", storage.put_if_absent)):
            continue
        with pytest.raises(StorageError, match="No space left on device"):
            put("p/new", b"half")
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["there"]


def test_a_stage_that_was_left_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = LocalStorage(tmp_path.as_uri())
    monkeypatch.setattr(os, "link", lambda *_, **__: os._exit(1))
    if (child := os.fork()) == 0:
        storage.put_if_absent("p/x", b"half")
    os.waitpid(child, 0)
    (left,) = (tmp_path / "p").iterdir()
    assert left.name.startswith(STAGE)
    monkeypatch.undo()
    assert storage.list("") == []
    assert list(storage.paths("p")) == []
    assert storage.put_if_absent("p/x", b"whole")
    assert [entry[:2] for entry in storage.list("")] == [("p/x", 5)]
