"""Which keys a write may insert under a record index. A write that updates and deletes the keys of the index needs no
rule between writers.

Two writes may insert one key into two partitions. Each puts its locations first, and under the lock that covers its
publication it reads the locations that have completed since it looked. The one that completes first has the key. The
other one is refused if it is a bulk insert; else it moves its record to the partition of the key (`moved`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..config import TableConfig
from ..config.record_index import MOVED
from ..context import Context
from ..data.index_tasks import HomeTask
from ..data.known_keys import inserted_meanwhile, key_in_two_partitions
from ..data.shape import table_shape
from ..data.tasks import AnyCompaction, BaseInput, LogInput, WriteTask, WrittenFile
from ..errors import Conflict
from ..files.record_index import IndexFile, KnownKeys, index_files
from ..timeline.history import Active
from .mapping import OtherGroups, Source


def with_known_keys(
    context: Context, config: TableConfig, task: WriteTask, active: Active, *, inserts: bool = False
) -> WriteTask:
    """Return a task that compares its keys with the record index of the table. `active` is a listing of the timeline.
    """
    if config.record_index is None:
        return task
    files, index = counted(context, config, active), config.record_index
    moves = index.inserts == MOVED and not inserts
    return replace(task, known=KnownKeys(files, index.in_table, config.buckets or 1, inserts, moves))


def counted(context: Context, config: TableConfig, active: Active) -> tuple[IndexFile, ...]:
    """Return the index files whose locations count, the first completed one first: those with which the index was
    built, and those of completed writes. They are listed after `active`, so that no completed write lacks its files.
    """
    files = index_files(context.storage)
    done = {each.requested: each.completed or "" for each in active.completed}
    pending = {each.requested for each in active.pending}
    if config.record_index is not None:
        done[config.record_index.built] = config.record_index.built
    # Only a file of an archived or undone write is in neither, and the archive shows which of the two.
    if any(file.instant not in done and file.instant not in pending for file in files):
        done |= {each.requested: each.completed or "" for each in context.history(active).whole.completed}
    return tuple(sorted((file for file in files if file.instant in done), key=lambda file: done[file.instant]))


def inserted_elsewhere(
    context: Context, config: TableConfig, requested: str, known: KnownKeys | None, now: Active
) -> Conflict | None:
    """Return a `Conflict` if a key of a bulk insert is in two partitions: in its own rows, or since another write has
    completed. The caller holds the table's lock.
    """
    if known is None or not known.in_table:
        return None
    own = _own_locations(context, requested, known)
    key = key_in_two_partitions(context.storage, own, _since(known, counted(context, config, now)))
    where = "of this batch, or of another write that has completed meanwhile"
    return None if key is None else _in_two_partitions(requested, key, where)


class OtherHomes(OtherGroups):
    """Raised if another partition has a key of the write by now, by the locations `known`."""

    def __init__(self, known: KnownKeys) -> None:
        super().__init__()
        self.known = known

    def tasks(
        self, context: Context, config: TableConfig, requested: str, sources: Sequence[Source]
    ) -> Sequence[AnyCompaction]:
        """Return a task for the file groups of each bucket."""
        shape = table_shape(config, context.rules)
        by_bucket: dict[str, list[tuple[str, LogInput | BaseInput]]] = {}
        for partition, file_id, file in sources:
            by_bucket.setdefault(file_id, []).append((partition, file))
        return [HomeTask(shape, file_id, tuple(each), self.known, requested) for file_id, each in by_bucket.items()]


class Homes:
    """Finds whether the keys that a write has inserted are in another partition by the time at which it completes.

    The location that completes first decides. Completion times grow, so a key keeps its partition, and the write
    moves the record of each key at most once.
    """

    def __init__(
        self, context: Context, config: TableConfig, requested: str, known: KnownKeys | None,
        files: Sequence[WrittenFile],
    ) -> None:  # fmt: skip
        """`files` are those that the write has put. Raises `Conflict` if they insert a key into two partitions."""
        self._context, self._config, self._known = context, config, known
        self._moves = any(file.elsewhere for file in files)
        self._settled: set[str] = set()
        self._own: KnownKeys | None = None
        if known is not None and known.moves and any(file.inserts for file in files):
            self._own = _own_locations(context, requested, known)
            if key := key_in_two_partitions(context.storage, self._own, known._replace(files=())):
                raise _in_two_partitions(requested, key, "of this batch")

    def check(self, now: Active) -> None:
        """Raise `OtherHomes` if another partition has a key of the write. The caller holds the table's lock. A write
        that has inserted no key makes no request.
        """
        known, moves = self._known, self._moves
        if known is None or not known.moves:
            return
        if self._own is not None:
            counting = counted(self._context, self._config, now)
            found = inserted_meanwhile(self._context.storage, self._own, _since(known, counting), self._settled)
            self._settled |= found.keys()
            self._known = known = known._replace(files=counting)
            moves = moves or any(found.values())
        # Once: after the move the files are in the right partitions, and the next round asks only for newer locations.
        self._moves = False
        if moves:
            raise OtherHomes(known)


def _own_locations(context: Context, requested: str, known: KnownKeys) -> KnownKeys:
    return known._replace(files=tuple(file for file in index_files(context.storage) if file.instant == requested))


def _since(known: KnownKeys, counting: Sequence[IndexFile]) -> KnownKeys:
    """Return the locations that count and that the write did not know when it looked."""
    return known._replace(files=tuple(file for file in counting if file not in known.files))


def _in_two_partitions(requested: str, key: str, where: str) -> Conflict:
    return Conflict(
        f"publish the write {requested}",
        f"the key {key} is in two partitions: {where}",
        "insert each key into one partition; run it again without the keys that are there now",
    )
