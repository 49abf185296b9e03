"""Tables whose writers announce their commits, and storages that stop a writer at one of its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from nbcc.engine.config.options import DECISION
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.storage import Entry, Storage, StorageWrapper
from nbcc.engine.table import Table
from nbcc.engine.timeline.announcements import FOLDER as ANNOUNCED
from nbcc.engine.timeline.decisions import FOLDER as DECISIONS
from nbcc.engine.timeline.decisions import LogEntry, _decode
from nbcc.simulator.audit.validate import validate

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


def rows(*keys: str, ts: int = 0) -> pa.Table:
    return pa.table({"id": list(keys), "ts": pa.array([ts] * len(keys), pa.int64())}, schema=SCHEMA)


def made(path: Path, decision: str = "free", mode: str = "NON_BLOCKING_CONCURRENCY_CONTROL", **options: str) -> Table:
    return Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=1, concurrency_mode=mode,
        options={DECISION: decision, **options},
    )  # fmt: skip


def keys(table: Table) -> list[str]:
    return sorted(table.snapshot()["id"].to_pylist())


def entries(table: Table) -> list[LogEntry]:
    listed = table.context.storage.list(DECISIONS)
    return [_decode(int(each.path.rpartition("/")[2]), table.context.storage.get(each.path)) for each in listed]


def eager(table: Table) -> Table:
    """The same table, for whose rollbacks every pending write has failed."""
    return Table(replace(table.context, rules=replace(table.context.rules, failed_writes="eager")), table.config)


def assert_decided_once(table: Table) -> None:
    """Every completed instant is in one entry, with the time that it has on the timeline; times ascend."""
    items = [item for entry in entries(table) for item in entry.items if item.kind == "commit"]
    assert set(Counter((item.requested, item.action) for item in items).values()) <= {1}
    times = [item.time for item in items]
    assert times == sorted({*times})
    completed = [instant for instant in table.timeline() if instant.completed]
    assert {item.instant for item in items} == {*completed}, "what is decided is published, and nothing else"
    requested = [instant.requested for instant in table.timeline()]
    assert len({*requested, *times}) == len(requested) + len(times), "all times are distinct"
    assert validate(table.context.storage).diagnostics == (), "nbcc validate finds no fault"


class NoLock:
    """As of writers that have all lost the lock."""

    def acquire(self) -> None:
        """Hold nothing."""

    def release(self) -> None:
        """Hold nothing."""


@dataclass
class Hooked(StorageWrapper):
    """A storage that calls `hook` before its call number `at`, counted from the first announcement on."""

    inner: Storage
    at: int = -1
    hook: Callable[[], object] = lambda: None
    calls: list[str] = field(default_factory=list)

    def _call(self, verb: str, path: str) -> None:
        if self.calls or path.startswith(ANNOUNCED):
            self.calls.append(f"{verb} {path}")
            if len(self.calls) == self.at + 1:
                self.hook()

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self._call("create", path)
        return self.inner.put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        self._call("put", path)
        self.inner.put(path, data)

    def get(self, path: str) -> bytes:
        self._call("get", path)
        return self.inner.get(path)

    def list(self, prefix: str) -> list[Entry]:
        self._call("list", prefix)
        return self.inner.list(prefix)

    def delete(self, path: str) -> None:
        self._call("delete", path)
        self.inner.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        self._call("delete", ",".join(paths))
        self.inner.delete_all(paths)


def through(table: Table, storage: Hooked) -> Table:
    """The table as another process sees it, through `storage` and without a lock."""
    context: Context = replace(
        table.context, storage=storage, jobs=InProcessJobs(storage, table.context.names), lock=NoLock()
    )
    return Table(context, table.config)


@dataclass
class Forgetful(Hooked):
    """A storage that answers each conditional put that it has carried out as if the object had been there."""

    def put_if_absent(self, path: str, data: bytes) -> bool:
        super().put_if_absent(path, data)
        return False


