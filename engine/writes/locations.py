"""Which keys a write may insert under a record index. Only a bulk insert inserts keys; every other write updates and
deletes those that the index has, and needs no rule between writers.

Two bulk inserts may insert one key into two partitions. Each puts its locations first, and under the lock that covers
its publication it reads the locations that have completed since it looked. The one that completes first wins.
"""

from __future__ import annotations

from dataclasses import replace

from ..config import TableConfig
from ..context import Context
from ..data.known_keys import key_in_two_partitions
from ..data.tasks import WriteTask
from ..errors import Conflict
from ..files.record_index import IndexFile, KnownKeys, index_files
from ..timeline.history import Active


def with_known_keys(
    context: Context, config: TableConfig, task: WriteTask, active: Active, *, inserts: bool = False
) -> WriteTask:
    """Return a task that compares its keys with the record index of the table. `active` is a listing of the timeline.
    """
    if config.record_index is None:
        return task
    files = counted(context, config, active)
    return replace(task, known=KnownKeys(files, config.record_index.in_table, config.buckets or 1, inserts))


def counted(context: Context, config: TableConfig, active: Active) -> tuple[IndexFile, ...]:
    """Return the index files whose locations count, the first completed one first: those with which the index was
    built, and those of completed writes. They are listed after `active`, so that no completed write lacks its files.
    """
    files = index_files(context.storage)
    done = {each.requested: each.completed or "" for each in active.completed}
    pending = {each.requested for each in active.pending}
    if config.record_index is not None:
        done[config.record_index.built] = config.record_index.built
    if any(file.instant not in done and file.instant not in pending for file in files):
        done |= {each.requested: each.completed or "" for each in context.history(active).whole.completed}
    return tuple(sorted((file for file in files if file.instant in done), key=lambda file: done[file.instant]))


def inserted_elsewhere(
    context: Context, config: TableConfig, requested: str, known: KnownKeys | None, now: Active
) -> Conflict | None:
    """Return a `Conflict` if a key of a bulk insert is in two partitions: in its own rows, or since another bulk insert
    has completed. The caller holds the table's lock.
    """
    if known is None or not known.in_table:
        return None
    own = known._replace(files=tuple(file for file in index_files(context.storage) if file.instant == requested))
    since = known._replace(files=tuple(file for file in counted(context, config, now) if file not in known.files))
    key = key_in_two_partitions(context.storage, own, since)
    if key is None:
        return None
    return Conflict(
        f"publish the bulk insert {requested}",
        f"the key {key} is in two partitions: of this batch, or of another bulk insert that has completed meanwhile",
        "insert each key into one partition; run it again without the keys that are there now",
    )
