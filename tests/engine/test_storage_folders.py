"""On a file system, the folder of the markers of an instant, or of a batch, is removed with its last file."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.engine.storage import LocalStorage, NotFound

MARKERS = ".hoodie/.temp/20260101000000000"


def test_a_folder_of_markers_is_removed_with_its_last_file(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    marks = [f"{MARKERS}/p=1/a", f"{MARKERS}/p=1/b", f"{MARKERS}/c", "p=1/data"]
    for path in marks:
        assert storage.put_if_absent(path, b"")
    storage.delete_all(marks[:1])
    assert (tmp_path / MARKERS / "p=1").is_dir()
    storage.delete_all(marks[1:])
    assert [*(tmp_path / ".hoodie/.temp").iterdir()] == []
    assert (tmp_path / "p=1").is_dir(), "the folder of a partition stays"


def test_writes_leave_no_folder_of_markers(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64())])
    table = Table.create(None, str(tmp_path), schema, record_key="id", ordering_fields="ts")
    for number in range(3):
        table.upsert(pa.table({"id": ["a"], "ts": [number]}, schema=schema), batch_id=f"b{number}")
    assert [*(tmp_path / ".hoodie/.temp").iterdir()] == []
    assert len([*(tmp_path / ".hoodie/.nbcc/batches").iterdir()]) == 3


@pytest.mark.parametrize("folder", [MARKERS, f"{MARKERS}/p=1/q=2"])
def test_a_put_and_the_removal_of_its_empty_folder_do_not_disturb_each_other(tmp_path: Path, folder: str) -> None:
    """Two processes work in one folder, so that each deletes what may be the last file while the other creates one."""

    def work(name: str) -> int:
        storage = LocalStorage(str(tmp_path), {"durable": "false"})
        for number in range(400):
            path = f"{folder}/{name}{number}"
            storage.put(path, b"x") if number % 2 else storage.put_if_absent(path, b"x")
            assert storage.get(path) == b"x"
            storage.delete(path)
            with pytest.raises(NotFound):
                storage.get(path)
        return 400

    with ThreadPoolExecutor(3) as several:
        assert [*several.map(work, "abc")] == [400, 400, 400]


def test_a_put_goes_on_while_others_remove_its_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a process may be interrupted after each `mkdir`, until another one has removed the folder."""
    removals, make = iter(range(50)), os.mkdir

    def made_and_removed(name: str, *args: int, **given: int) -> None:
        make(name, *args, **given)
        if name == "q=2" and next(removals, None) is not None:
            os.rmdir(tmp_path / MARKERS / "p=1" / name)

    monkeypatch.setattr(os, "mkdir", made_and_removed)
    storage = LocalStorage(str(tmp_path))
    assert storage.put_if_absent(f"{MARKERS}/p=1/q=2/a", b"x")
    assert storage.get(f"{MARKERS}/p=1/q=2/a") == b"x"
    assert next(removals, None) is None, "the folder was removed each time"
