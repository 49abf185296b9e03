"""Every storage refuses a path that leaves the table, also one from metadata or through a symbolic link."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.audit import CountingStorage
from nbcc.engine.errors import NotATable, UnsafePath
from nbcc.engine.storage import LocalStorage, NotFound, Storage, open_storage
from nbcc.engine.storage.recording import Recording
from nbcc.engine.timeline.cleans import CleanPlan, encode_clean_plan
from nbcc.simulator.cli.main import run
from nbcc.simulator.lockstep.control.storage import MemoryStorage

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())])
OUTSIDE = ["../x", "a/../../x", "/etc/x", "", ".", "..", "a//b", "a/./b", "./a", "a/", "a\0b", "a\nb", "a\ud800"]
LINKED = "a symbolic link in it leads out"

STORAGES: dict[str, Callable[[Path], Storage]] = {
    "local": open_storage,
    "object": lambda folder: open_storage("memory:///"),
    "memory": lambda folder: MemoryStorage(),
    "recording": lambda folder: Recording(open_storage(folder)),
    "dry run": lambda folder: Recording(open_storage(folder), dry_run=True),
    "counting": lambda folder: CountingStorage(open_storage(folder)),
}
OPERATIONS: dict[str, Callable[[Storage, str], object]] = {
    "get": lambda storage, path: storage.get(path),
    "put": lambda storage, path: storage.put(path, b"x"),
    "put_if_absent": lambda storage, path: storage.put_if_absent(path, b"x"),
    "delete": lambda storage, path: storage.delete(path),
    "delete_all": lambda storage, path: storage.delete_all(["fine", path]),
    "list": lambda storage, path: storage.list(path or ".."),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kind", STORAGES)
def test_no_operation_takes_a_path_outside_the_table(kind: str, operation: str, tmp_path: Path) -> None:
    storage = STORAGES[kind](tmp_path / "t")
    (tmp_path / "x").write_text("of another table")
    for path in OUTSIDE:
        with pytest.raises(UnsafePath, match="not the path of a file below the table's folder"):
            OPERATIONS[operation](storage, path)
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


def made(folder: Path) -> Table:
    table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=1)
    for ts in (1, 2):
        table.upsert(pa.table({"id": ["k"], "part": ["p"], "ts": [ts]}, SCHEMA))
    return table


def test_a_clean_plan_deletes_nothing_of_another_table(tmp_path: Path) -> None:
    table, victim = made(tmp_path / "t"), tmp_path / "victim" / "part=p"
    made(tmp_path / "victim")
    files = sorted(path.name for path in victim.iterdir())
    logs = tuple(name for name in files if ".log." in name)
    now = str(table.settled())
    plan = encode_clean_plan(CleanPlan("KEEP_LATEST_COMMITS", {"../victim/part=p": logs}, None, now, now), "file:///t")
    (tmp_path / "t/.hoodie/timeline" / f"{int(now) + 5}.clean.requested").write_bytes(plan)
    with pytest.raises(NotATable):
        table.clean()
    assert sorted(path.name for path in victim.iterdir()) == files


# symbolic links


@pytest.fixture
def linked(tmp_path: Path) -> LocalStorage:
    """A table's folder with links to a folder and a file outside, to a folder inside, to itself and to nothing."""
    root, other = tmp_path / "t", tmp_path / "other"
    for folder in (root / "p", other):
        folder.mkdir(parents=True)
        (folder / "x").write_bytes(folder.name.encode())
    (root / "out").symlink_to(other)
    (root / "file").symlink_to(other / "x")
    (root / "in").symlink_to("p")
    (root / "same").symlink_to("p/x")
    (root / "loop").symlink_to(".")
    (root / "self").symlink_to("self")
    (root / "nothing").symlink_to("nowhere")
    (root / "later").symlink_to(tmp_path / "later")
    return LocalStorage(root.as_uri())


@pytest.mark.parametrize("path", ["out/x", "out/y", "later/y", "loop/out/x", "in/../out/x", "out/deep/y"])
@pytest.mark.parametrize("operation", ["get", "put", "put_if_absent", "delete", "delete_all"])
def test_a_link_that_leads_out_is_refused(linked: LocalStorage, operation: str, path: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafePath):
        OPERATIONS[operation](linked, path)
    assert [(each.name, each.read_bytes()) for each in (tmp_path / "other").iterdir()] == [("x", b"other")]
    assert not (tmp_path / "later").exists()


@pytest.mark.parametrize("operation", ["get", "put", "put_if_absent", "delete"])
def test_a_folder_that_becomes_a_link_is_refused(operation: str, tmp_path: Path) -> None:
    """Also where the storage has used the folder before."""
    storage, other = open_storage(tmp_path / "t"), tmp_path / "other"
    (other / "p").mkdir(parents=True)
    for file in (other / "x", other / "p" / "x"):
        file.write_bytes(b"other")
    for folder in ("p", "q/p"):
        storage.put(f"{folder}/x", b"1")
        OPERATIONS[operation](storage, f"{folder}/x")
    for place in ("p", "q"):
        (tmp_path / "t" / place).rename(tmp_path / f"{place}.old")
        (tmp_path / "t" / place).symlink_to(other)
    for path in ("p/x", "q/p/x"):
        with pytest.raises(UnsafePath):
            OPERATIONS[operation](storage, path)
    assert [file.read_bytes() for file in (other / "x", other / "p" / "x")] == [b"other"] * 2


def test_a_linked_file_outside_is_not_read_and_its_link_goes(linked: LocalStorage, tmp_path: Path) -> None:
    with pytest.raises(UnsafePath, match=LINKED):
        linked.get("file")
    linked.put("file", b"new")
    assert linked.get("file") == b"new"
    (tmp_path / "t" / "file").unlink()
    (tmp_path / "t" / "file").symlink_to(tmp_path / "other" / "x")
    assert not linked.put_if_absent("file", b"newer")
    linked.delete("file")
    assert (tmp_path / "other" / "x").read_bytes() == b"other"
    assert not (tmp_path / "t" / "file").is_symlink()


def test_links_that_stay_inside_are_followed(linked: LocalStorage) -> None:
    assert [linked.get(path) for path in ("in/x", "same", "loop/p/x", "loop/loop/in/x")] == [b"p"] * 4
    assert linked.put_if_absent("in/y", b"1")
    assert linked.get("p/y") == b"1"
    for path in ("self", "nothing", "self/x", "nothing/x"):
        with pytest.raises(NotFound):
            linked.get(path)


def test_a_listing_follows_no_link_to_a_folder_and_says_so(linked: LocalStorage) -> None:
    with pytest.warns(UserWarning, match=r"out of the table at .*: files in it are left out of listings"):
        found = [entry.path for entry in linked.list("")]
    assert found == ["file", "p/x", "same"]
    with pytest.warns(UserWarning, match="left out"):
        assert sorted(linked.paths("")) == found
    with pytest.warns(UserWarning, match="left out"):
        assert sorted(linked.sizes_but("p")[0]) == ["file", "same"]
    with pytest.raises(UnsafePath, match=LINKED):
        linked.list("out")


def test_a_table_whose_folder_is_a_link_is_a_table(tmp_path: Path) -> None:
    made(tmp_path / "t")
    (tmp_path / "link").symlink_to("t")
    assert Table.open(None, tmp_path / "link").snapshot().num_rows == 1
    storage = LocalStorage((tmp_path / "link").as_uri())
    storage.put("p/x", b"1")
    assert storage.get("p/x") == (tmp_path / "t/p/x").read_bytes()


@pytest.mark.filterwarnings("ignore:.*left out of listings")
def test_orphans_of_a_linked_folder_are_not_deleted(tmp_path: Path) -> None:
    made(tmp_path / "mine")
    made(tmp_path / "theirs")
    (tmp_path / "mine/part=p9").symlink_to(tmp_path / "theirs/part=p")
    before = sorted((tmp_path / "theirs/part=p").iterdir())
    run(["table", str(tmp_path / "mine"), "orphans", "--quarantine"])
    assert sorted((tmp_path / "theirs/part=p").iterdir()) == before


# files that are not regular


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            opened.bind(path.name)
        finally:
            os.chdir(here)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("make", [os.mkfifo, _socket])
def test_what_is_no_regular_file_is_refused_without_waiting(make: Callable[[Path], Any], tmp_path: Path) -> None:
    storage = made(tmp_path / "t").context.storage
    name = ".hoodie/timeline/20300101000000000_20300101000000001.deltacommit"
    make(tmp_path / "t" / name)
    with pytest.raises(UnsafePath, match="not a regular file"):
        storage.get(name)
    with pytest.raises(UnsafePath, match="not a regular file"):
        Table.open(None, tmp_path / "t").snapshot()
