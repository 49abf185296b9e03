"""A process that has used a table has children: by fork and by spawn. None of them waits forever."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.errors import Unsupported
from nbcc.engine.storage import Storage, open_storage

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])
METHODS = ["fork", "spawn"]
PATIENCE = 60.0

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="a fork with threads is safe enough on Linux alone"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


def rows(ts: int) -> pa.Table:
    return pa.table({"id": ["k"], "ts": [ts]}, SCHEMA)


def reopens(folder: str, answers: Any) -> None:
    table = Table.open(None, folder)
    table.upsert(rows(2))
    table.compact()
    answers.put(table.snapshot()["ts"].to_pylist())


def puts(storage: Storage, answers: Any) -> None:
    try:
        storage.put("x", b"1")
        answers.put("put")
    except Unsupported as refused:
        answers.put(str(refused))


def opens_a_store(url: str, answers: Any) -> None:
    puts(open_storage(url), answers)


def answer_of(method: str, child: Callable[..., None], *given: Any) -> Any:
    """What the child answers; fails if it does not end in time."""
    context: Any = multiprocessing.get_context(method)
    answers = context.Queue()
    process = context.Process(target=child, args=(*given, answers), daemon=True)
    process.start()
    try:
        process.join(PATIENCE)
        assert process.exitcode == 0, "the child hangs" if process.is_alive() else "the child failed"
        return answers.get(timeout=PATIENCE)
    finally:
        process.kill()
        process.join()


@pytest.mark.parametrize("method", METHODS)
def test_a_child_uses_a_local_table_as_its_parent_does(method: str, tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts")
    table.upsert(rows(1))
    assert answer_of(method, reopens, str(tmp_path / "t")) == [2]
    table.upsert(rows(3))  # the lock is free
    assert table.snapshot()["ts"].to_pylist() == [3]


@pytest.mark.parametrize(("method", "message"), [("fork", "was forked from process"), ("spawn", "put")])
def test_a_forked_child_of_a_user_of_an_object_store_is_refused(method: str, message: str) -> None:
    """The store's threads end with a fork: a put would wait for them, also in a store that the child opens itself."""
    storage = open_storage("memory:///t")
    storage.put("x", b"1")
    for child, given in ((puts, storage), (opens_a_store, "memory:///t")):
        answer = answer_of(method, child, given)
        assert message in answer
        assert (method == "spawn") == ("get_context('spawn')" not in answer)
    storage.put("y", b"1")
