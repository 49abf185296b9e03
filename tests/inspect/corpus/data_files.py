"""Damage to data files and to the folders of partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nbcc.engine.file_names import PARTITION_METADATA
from nbcc.engine.storage import Storage

from .kind import Damage, Kind, adds, bases, completed, cuts, data_files, empties, flips, logs, removes, requested_time

FOREIGN_BASE: Final = b"PAR1 of another program PAR1"


def newest_log(storage: Storage) -> str:
    """A log of the write that completed last."""
    last = max(completed(storage, ".deltacommit"), key=lambda path: path.rpartition("_")[2])
    return next(path for path in logs(storage) if f"_{requested_time(last)}.log." in path)


def newest_base(storage: Storage) -> str:
    return bases(storage)[-1]


def oldest_base(storage: Storage) -> str:
    return bases(storage)[0]


def merged_log(storage: Storage) -> str:
    """A log that a compaction has merged: the oldest of the group of the newest base file."""
    group = newest_base(storage).rpartition("/")[2].partition("_")[0]
    return next(path for path in logs(storage) if group in path)


def marks_of_partition(storage: Storage) -> str:
    return next(path for path in data_files(storage) if path.endswith(PARTITION_METADATA))


def partition_removed(storage: Storage) -> None:
    folder = bases(storage)[-1].rpartition("/")[0]
    storage.delete_all([path for path in data_files(storage) if path.startswith(f"{folder}/")])


def partition_renamed(storage: Storage) -> None:
    folder = bases(storage)[-1].rpartition("/")[0]
    for path in data_files(storage):
        if path.startswith(f"{folder}/"):
            storage.put(path.replace(folder, "elsewhere", 1), storage.get(path))
            storage.delete(path)


def copied(find: Damage, old: str, new: str) -> Damage:
    """A file is copied to a name in which `new` replaces `old`."""

    def copy(storage: Storage) -> None:
        path = str(find(storage))
        folder, _, name = path.rpartition("/")
        storage.put(f"{folder}/{name.replace(old, new, 1)}", storage.get(path))

    return copy


def other_write_token(storage: Storage) -> None:
    path = newest_base(storage)
    head, token, tail = path.rsplit("_", 2)
    storage.put(f"{head}_9-9-9_{tail}", storage.get(path))
    assert token != "9-9-9"


def other_group(storage: Storage) -> None:
    path = newest_base(storage)
    folder, _, name = path.rpartition("/")
    storage.put(f"{folder}/00000009-0000-0000-0000-000000000000-0_{name.partition('_')[2]}", storage.get(path))


def log_at(time: str) -> Damage:
    """A copy of a log appears with the name of an instant that no timeline has."""

    def add(storage: Storage) -> None:
        path = newest_log(storage)
        old = path.partition(".log.")[0].rpartition("_")[2]
        storage.put(path.replace(old, time), storage.get(path))

    return add


def base_at(time: str) -> Damage:
    def add(storage: Storage) -> None:
        path = newest_base(storage)
        storage.put(f"{path.rpartition('_')[0]}_{time}.parquet", storage.get(path))

    return add


def between_instants(storage: Storage) -> None:
    """A base file that no instant lists, with a time between the two newest writes."""
    newest = requested_time(completed(storage)[-1])
    base_at(str(int(newest) - 1))(storage)


def older_version(storage: Storage) -> None:
    """A restore from a copy put an older base file in the place of the newest one."""
    newest = newest_base(storage)
    group = newest.rpartition("/")[2].partition("_")[0]
    old = next(path for path in bases(storage) if group in path and path != newest)
    storage.put(newest, storage.get(old))


def two_logs_swapped(storage: Storage) -> None:
    one, other = newest_log(storage), merged_log(storage)
    contents = storage.get(one), storage.get(other)
    storage.put(one, contents[1])
    storage.put(other, contents[0])


MISSING = "listed-file-missing"
SIZE = "listed-file-size"
ALL_READS = "SNAP TRAVEL INCR RO"

KINDS: Final[Mapping[str, Kind]] = {
    "a log removed": Kind("1.2.0 MOR", removes(newest_log), MISSING, "SNAP TRAVEL INCR"),
    "a merged log removed": Kind("1.2.0 MOR", removes(merged_log), MISSING, "TRAVEL INCR"),
    "a log cut": Kind("1.2.0 MOR", cuts(newest_log), SIZE, "SNAP TRAVEL INCR"),
    "a log emptied": Kind("1.2.0 MOR", empties(newest_log), SIZE, "SNAP TRAVEL INCR"),
    "a log grown": Kind(
        "1.2.0 MOR", lambda s: s.put(newest_log(s), s.get(newest_log(s)) + b"#HUDI#"), SIZE, "SNAP TRAVEL INCR"
    ),
    "a byte of a log flipped": Kind(
        "1.2.0 MOR", flips(newest_log, 3), "data-file-broken", "SNAP TRAVEL INCR", deep=True
    ),
    "two logs swapped": Kind("1.2.0 MOR", two_logs_swapped, SIZE, "SNAP TRAVEL INCR"),
    "a base file removed": Kind("1.2.0 MOR", removes(newest_base), MISSING, "SNAP TRAVEL RO"),
    "the newest base file removed": Kind("1.2.0 COW", removes(newest_base), MISSING, ALL_READS),
    "an old base file removed": Kind("1.2.0 COW", removes(oldest_base), MISSING, "TRAVEL INCR"),
    "a base file cut": Kind("1.2.0 COW", cuts(newest_base), SIZE, ALL_READS),
    "a base file emptied": Kind("1.2.0 COW", empties(newest_base), SIZE, ALL_READS),
    "the end of a base file flipped": Kind(
        "1.2.0 COW", flips(newest_base, -2), "data-file-broken", ALL_READS, deep=True
    ),
    "an older version in the place of a base file": Kind("1.2.0 COW", older_version, SIZE, ALL_READS),
    "a base file doubled by another task": Kind("1.2.0 COW", other_write_token, "unlisted-file", "ATOM"),
    "a base file copied into another group": Kind("1.2.0 MOR", other_group, "unlisted-file", "ATOM"),
    "a log of an unknown instant": Kind("1.2.0 MOR", log_at("29981231235959999"), "orphan-file", "", "AT RISK"),
    "a log older than the timeline": Kind("1.2.0 MOR", log_at("20200101000000000"), "orphan-file", "ATOM ARCH"),
    "a base file older than the timeline": Kind("1.2.0 COW", base_at("20200101000000000"), "orphan-file", "ATOM ARCH"),
    "a base file of an unknown instant": Kind("1.2.0 COW", between_instants, "orphan-file", "", "AT RISK"),
    "a Parquet file of Spark": Kind(
        "1.2.0 COW", adds("part-00000-c000.snappy.parquet", FOREIGN_BASE), "foreign-file", ALL_READS
    ),
    "a Parquet file with a year in its name": Kind(
        "1.2.0 COW", adds("sales_2024.parquet", FOREIGN_BASE), "foreign-file", ALL_READS
    ),
    "a Parquet file of an export": Kind(
        "1.2.0 MOR", adds("my_sales.parquet", FOREIGN_BASE), "foreign-file", "", "AT RISK"
    ),
    "a text file": Kind("1.2.0 COW", adds("notes.txt", b"hello")),
    "a success file of Spark": Kind("1.2.0 COW", adds("_SUCCESS")),
    "an ORC file": Kind("1.2.0 COW", adds("part-00000.orc", b"ORC")),
    "a file that a copy has not finished": Kind("1.2.0 COW", adds("part-0.parquet.inprogress", b"PAR1")),
    "a partition removed": Kind("1.2.0 MOR", partition_removed, MISSING, "SNAP TRAVEL INCR RO"),
    "a partition's folder renamed": Kind("1.2.0 MOR", partition_renamed, MISSING, "SNAP TRAVEL INCR RO"),
    "a partition's metadata removed": Kind(
        "1.2.0 COW", removes(marks_of_partition), "partition-metadata-missing", "", "AT RISK"
    ),
    "a partition's metadata emptied": Kind("1.2.0 COW", empties(marks_of_partition)),
}
