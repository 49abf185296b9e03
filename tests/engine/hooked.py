"""A storage that lets others act at a given moment of an operation, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nbcc.engine import Context, Table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.storage import Entry, Storage, StorageWrapper


@dataclass
class Hooked(StorageWrapper):
    """Before the first put (or what `on` names) of a path that contains `moment`, `meanwhile` happens."""

    inner: Storage
    moment: str = ""
    meanwhile: Callable[[], Any] | None = None
    calls: list[str] = field(default_factory=list)
    on: str = "put"

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self._reached("put", path)
        return self.inner.put_if_absent(path, data)

    def get(self, path: str) -> bytes:
        self._reached("get", path)
        return self.inner.get(path)

    def _reached(self, verb: str, path: str) -> None:
        if self.meanwhile is not None and verb == self.on and self.moment in path:
            happens, self.meanwhile = self.meanwhile, None
            happens()
        self.calls.append(f"{verb} {path}")

    def list(self, prefix: str) -> list[Entry]:
        self.calls.append(f"list {prefix}")
        return self.inner.list(prefix)

    def delete(self, path: str) -> None:
        self.calls.append(f"delete {path}")
        self.inner.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.delete(path)


@dataclass
class Recorded:
    """A lock or a clock that notes its calls among those of the storage."""

    inner: Any
    calls: list[str]

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            return found(*arguments)

        return call


def during(table: Table, moment: str, meanwhile: Callable[[], Any], on: str = "put") -> Table:
    """The table as an actor for whom `meanwhile` happens just before it first puts a path that contains `moment`."""
    return Table(_with(table.context, Hooked(table.context.storage, moment, meanwhile, on=on)), table.config)


def watched(table: Table) -> tuple[Table, list[str]]:
    """The table as an actor whose accesses are noted in the list, and that list."""
    storage = Hooked(table.context.storage)
    context = _with(table.context, storage)
    noted = replace(context, lock=Recorded(context.lock, storage.calls), clock=Recorded(context.clock, storage.calls))
    return Table(noted, table.config), storage.calls


def _with(context: Context, storage: Hooked) -> Context:
    return replace(context, storage=storage, jobs=InProcessJobs(storage, context.names))
