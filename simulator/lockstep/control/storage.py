"""Controlled storage, whose calls the schedule can delay, and an in-memory store."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence

from nbcc.engine.storage import Entry, Listable, NotFound, Storage, confined, confined_folder, content_or_none

from .caller import Caller
from .calls import Call


class MemoryStorage(Listable):
    url = "memory://table"

    def __init__(self) -> None:
        self.objects: MutableMapping[str, bytes] = {}
        self.deleted: dict[str, Entry] = {}
        self.changes = 0  # the number of puts and deletions so far

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create the object; return False if it already exists."""
        if confined(path) in self.objects:
            return False
        self.put(path, data)
        return True

    def put(self, path: str, data: bytes) -> None:
        self.objects[confined(path)] = bytes(data)
        self.changes += 1

    def get(self, path: str) -> bytes:
        """Return the content of the object at `path`.

        Raises NotFound if there is no object at `path`.
        """
        if confined(path) not in self.objects:
            raise NotFound(path)
        return self.objects[path]

    def list(self, prefix: str) -> list[Entry]:
        folder = confined_folder(prefix) + "/" if prefix else ""
        return [Entry(path, len(data)) for path, data in sorted(self.objects.items()) if path.startswith(folder)]

    def delete(self, path: str) -> None:
        if (data := self.objects.pop(confined(path), None)) is not None:
            self.deleted[path] = Entry(path, len(data))
            self.changes += 1

    def delete_all(self, paths: Sequence[str]) -> None:
        """Delete the objects at the given paths if they exist."""
        for path in paths:
            self.delete(path)


class ControlledStorage(Listable):
    """The storage as used by one actor: the schedule can delay each call, and each call is recorded with its outcome.

    The schedule can delay both the start and the end of a listing, so that other actors' calls can occur during a
    listing. A listing contains all objects that exist during the entire listing. For an object that is put or deleted
    during the listing, the schedule decides whether the listing contains it.
    """

    def __init__(self, backend: Storage, caller: Caller) -> None:
        self._backend = backend
        self._caller = caller
        self.url = backend.url

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create the object in the wrapped store. If the object exists already, the outcome ``exists`` is recorded."""
        call = Call("put", path)
        created = self._caller.call(
            call,
            lambda: self._backend.put_if_absent(path, data),
            lambda created: "done" if self.is_new(created) else "exists",
        )
        if lost := call.text in self._caller.loses_answer:
            # Once: the repeated put of the actor must be answered.
            self._caller.loses_answer = ()
        return created and not lost

    def is_new(self, created: bool) -> bool:
        """Return whether the last put created its object. `created` is the answer to it."""
        return created

    def put(self, path: str, data: bytes) -> None:
        self._caller.call(Call("put", path), lambda: self._backend.put(path, data))

    def get(self, path: str) -> bytes:
        """Return the content of the object in the wrapped store. A get of an absent object is recorded with the outcome
        ``missing``.
        """
        data = self._caller.call(
            Call("get", path),
            lambda: content_or_none(self._backend, path),
            lambda content: "missing" if content is None else "done",
        )
        if data is None:
            raise NotFound(path)
        return data

    def delete(self, path: str) -> None:
        """Delete the object in the wrapped store. The deletion of an absent object is recorded with the outcome
        ``missing``.
        """

        def delete() -> bool:
            exists = content_or_none(self._backend, path) is not None
            self._backend.delete(path)
            return exists

        self._caller.call(Call("delete", path), delete, lambda exists: "done" if exists else "missing")

    def delete_all(self, paths: Sequence[str]) -> None:
        """Delete all objects in the wrapped store, in one call."""
        self._caller.call(Call("delete.all", paths[0]), lambda: self._backend.delete_all(paths))

    def _ended(self, prefix: str, first: Iterable[Entry], last: Iterable[Entry]) -> list[Entry]:
        before, after = {entry.path for entry in first}, {entry.path for entry in last}
        # Only the store in memory remembers deleted objects, which a listing may still show.
        deletions = self._backend.deleted.values() if isinstance(self._backend, MemoryStorage) else ()
        shown = [entry for entry in last if entry.path in before or self._caller.shows(entry.path)]
        removed = (entry for entry in deletions if entry.path.startswith(prefix) and entry.path not in after)
        return shown + [entry for entry in removed if self._caller.still_shows(entry.path)]

    def list(self, prefix: str) -> list[Entry]:
        """List the objects of the wrapped store; the schedule can delay both the start and the end of the listing."""
        # Listed twice: what is in both listings existed all the time, and the schedule decides about the rest.
        first = self._caller.call(Call("list.begin", prefix), lambda: self._backend.list(prefix))
        ended = Call("list.end", prefix)
        return self._caller.call(ended, lambda: self._ended(prefix, first, self._backend.list(prefix)))
