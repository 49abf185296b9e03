"""A good table, and one bad one for each rule: what was done to it, by name."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import fastavro

from nbcc.engine.actions import operations
from nbcc.engine.clock import to_instant
from nbcc.engine.config.properties import decode_properties, encode_properties
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.names import bucket_file_id
from nbcc.engine.storage import Storage
from nbcc.engine.timeline import (
    CommitMetadata,
    CompactionPlan,
    Instant,
    decode_commit,
    decode_plan,
    encode_commit,
    encode_plan,
)
from tests.builders.tables import EPOCH, batch, keys, make_table, tick

from .corpus.kind import TIMELINE, Damage, Kind

GROUP: Final = bucket_file_id(0)


def good_table(folder: Path) -> Storage:
    """Instants 1-2 upsert, 3-4 upsert, 5-6 compaction, 7-8 upsert and delete, 9 a pending plan, 10-11 upsert."""
    table = make_table(folder)
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "a")))
    table.upsert(batch(("k1", 2, "b")))
    table.compact()
    table.delete(keys(("k2", 5)))
    operations()["schedule_compaction"].run(table.context, table.config)
    table.upsert(batch(("k3", 1, "c")))
    return table.context.storage


def log(number: int) -> Callable[[Storage], str]:
    """The path of the log of the write requested as tick `number`."""
    return lambda storage: next(e.path for e in storage.list("part=p") if f"_{tick(number)}.log." in e.path)


def instant(requested: int, completed: int, action: str = "deltacommit") -> str:
    return f"{TIMELINE}/{Instant(tick(requested), action, 'completed', tick(completed)).file_name}"


def base(storage: Storage) -> str:
    return next(entry.path for entry in storage.list("") if entry.path.endswith(".parquet"))


def rename(storage: Storage, old: str, new: str) -> None:
    storage.put(new, storage.get(old))
    storage.delete(old)


def set_properties(storage: Storage, **changes: Any) -> None:
    """Change properties; '__' stands for the dots, None removes."""
    values = decode_properties(storage.get(PROPERTIES))
    for name, value in changes.items():
        key = name.replace("__", ".")
        values.pop(key, None)
        if value is not None:
            values[key] = value
    storage.put(PROPERTIES, encode_properties(values))


def set_commit(storage: Storage, path: str, change: Callable[[CommitMetadata], CommitMetadata]) -> None:
    storage.put(path, encode_commit(change(decode_commit(storage.get(path)))))


def set_plan(storage: Storage, barrier: int, change: Callable[[CompactionPlan], CompactionPlan]) -> None:
    path = f"{TIMELINE}/{tick(barrier)}.compaction.requested"
    storage.put(path, encode_plan(change(decode_plan(storage.get(path)))))


def truncated_commit(storage: Storage) -> None:
    path = instant(10, 11)
    storage.put(path, storage.get(path)[:-40])


def compaction_named_as_delta(storage: Storage) -> None:
    rename(storage, instant(5, 6, "commit"), instant(5, 6, "deltacommit"))


def rolled_back_and_completed(storage: Storage, at: int = 9) -> None:
    record = {"startRollbackTime": tick(at), "commitsRollback": [tick(10)]}
    fields = [
        {"name": "startRollbackTime", "type": "string"},
        {"name": "commitsRollback", "type": {"type": "array", "items": "string"}},
    ]
    content = io.BytesIO()
    schema = {"type": "record", "name": "HoodieRollbackMetadata", "fields": fields}
    fastavro.writer(content, schema, [record])
    storage.put(f"{TIMELINE}/{tick(at)}0_{tick(at)}1.rollback", content.getvalue())
    storage.put(f"{TIMELINE}/{tick(at)}0.rollback.requested", b"")


def plan_gone(storage: Storage) -> None:
    rename(storage, f"{TIMELINE}/{tick(9)}.compaction.requested", f"{TIMELINE}/{tick(9)}.compaction.inflight")


def two_plans_take_one_log(storage: Storage) -> None:
    taken = log(1)(storage).rpartition("/")[2]
    set_plan(storage, 9, lambda plan: _with_logs(plan, (*plan.operations[0].logs, taken)))


def _with_logs(plan: CompactionPlan, logs: tuple[str, ...]) -> CompactionPlan:
    return replace(plan, operations=(replace(plan.operations[0], logs=logs),))


def log_left_out_of_a_plan(storage: Storage) -> None:
    set_plan(storage, 5, lambda plan: _with_logs(plan, plan.operations[0].logs[1:]))


def plan_takes_a_later_log(storage: Storage) -> None:
    later = log(10)(storage).rpartition("/")[2]
    set_plan(storage, 9, lambda plan: _with_logs(plan, (*plan.operations[0].logs, later)))


def plan_without_base(storage: Storage) -> None:
    set_plan(storage, 9, lambda p: replace(p, operations=(replace(p.operations[0], base_file=None),)))


def replaced_group(storage: Storage) -> None:
    commit = CommitMetadata((), "DELETE_PARTITION", replaced={"part=p": (GROUP,)})
    storage.put(f"{TIMELINE}/{tick(5)}5_{tick(5)}7.replacecommit", encode_commit(commit))


def oldest_log_pending(storage: Storage) -> None:
    for path in (base(storage), instant(5, 6, "commit"), f"{TIMELINE}/{tick(5)}.compaction.requested"):
        storage.delete(path)
    for path in (f"{TIMELINE}/{tick(n)}.compaction.{state}" for n in (5, 9) for state in ("requested", "inflight")):
        storage.delete(path)
    first = min(entry.path for entry in storage.list(TIMELINE))
    rename(storage, log(1)(storage), log(1)(storage).replace(tick(1), tick(0)))
    storage.delete(instant(1, 2))
    assert first
    storage.put(f"{TIMELINE}/{tick(0)}.deltacommit.requested", b"")
    storage.put(f"{TIMELINE}/{tick(0)}.deltacommit.inflight", b"")
    storage.put(f"{TIMELINE}/{to_instant(EPOCH - 9)}_{to_instant(EPOCH - 8)}.clean", storage.get(instant(3, 4)))


def uncommitted_base(storage: Storage) -> None:
    storage.put(f"{TIMELINE}/{tick(6)}.deltacommit.requested", b"")
    storage.put(base(storage).replace(tick(5), tick(6)), b"PAR1")


def second_group(storage: Storage) -> None:
    path = instant(10, 11)
    other = "00000000-b2da-4f62-b84c-6a5dfba3629c-0"
    old = log(10)(storage)
    rename(storage, old, old.replace(GROUP, other))

    def moved(commit: CommitMetadata) -> CommitMetadata:
        return replace(commit, stats=tuple(s._replace(path=s.path.replace(GROUP, other)) for s in commit.stats))

    set_commit(storage, path, moved)


def bulk_insert_over_logs(storage: Storage) -> None:
    path = base(storage).replace(tick(5), tick(12))
    storage.put(path, storage.get(base(storage)))
    stat = decode_commit(storage.get(instant(5, 6, "commit"))).stats[0]
    loaded = stat._replace(path=path, prev_base_file=None, log_files_compacted=0)
    commit = decode_commit(storage.get(instant(10, 11)))
    storage.put(instant(12, 13), encode_commit(replace(commit, stats=(loaded,), operation="BULK_INSERT")))


def bucket_beyond(storage: Storage) -> None:
    set_properties(storage, nbcc__buckets="0")


def longer_file(storage: Storage) -> None:
    path = log(10)(storage)
    storage.put(path, storage.get(path) + b"#HUDI#")


def fewer_rows(storage: Storage) -> None:
    set_commit(storage, instant(10, 11), lambda c: replace(c, stats=tuple(s._replace(writes=7) for s in c.stats)))


def listed_under_a_wrong_name(storage: Storage) -> None:
    def renamed(commit: CommitMetadata) -> CommitMetadata:
        return replace(commit, stats=tuple(s._replace(path=s.path.replace(tick(10), tick(8))) for s in commit.stats))

    set_commit(storage, instant(10, 11), renamed)


def lists_nothing(storage: Storage) -> None:
    set_commit(storage, instant(10, 11), lambda commit: replace(commit, stats=()))


def merged_fewer(storage: Storage) -> None:
    def fewer(commit: CommitMetadata) -> CommitMetadata:
        return replace(commit, stats=tuple(s._replace(log_files_compacted=1) for s in commit.stats))

    set_commit(storage, instant(5, 6, "commit"), fewer)


def forgotten_write(storage: Storage) -> None:
    for path in (instant(10, 11), *(f"{TIMELINE}/{tick(10)}.deltacommit.{s}" for s in ("requested", "inflight"))):
        storage.delete(path)


def bad(
    do: Damage, rule: str, promises: str = "", gravity: str = "BROKEN", also: str = "", verdict: str = ""
) -> Kind:  # fmt: skip
    """What is done to the good table, the rule that must say so, the promises that are broken, and how bad that is."""
    return Kind("ours MOR", do, rule, promises, gravity, deep=True, also=also, verdict=verdict)


BAD: Final[dict[str, Kind]] = {
    "truncated-commit": bad(truncated_commit, "unreadable", "SNAP TRAVEL INCR ATOM RO"),
    "swapped-commit": bad(
        lambda s: s.put(instant(10, 11), s.get(log(10)(s))), "unreadable", "SNAP TRAVEL INCR ATOM RO",
    ),
    "compaction-named-as-delta": bad(
        compaction_named_as_delta, "name-and-content", "QUIET PART MONO", also="equal-times",
    ),
    "rolled-back-and-completed": bad(
        rolled_back_and_completed, "undone-and-completed", "REC MONO", also="no-time unreadable",
    ),
    "completion-lost": bad(lambda s: s.delete(instant(10, 11)), "writer-gone", gravity="AT RISK"),
    "marks-lost": bad(
        lambda s: set_properties(s, nbcc__format=None), "marks-disagree", "SNAP TRAVEL INCR RO", also="unreadable",
    ),
    "ordering-is-no-column": bad(
        lambda s: set_properties(s, hoodie__table__ordering__fields="tt"),
        "properties-contradict", "SNAP TRAVEL INCR RO",
    ),
    "schema-is-none": bad(
        lambda s: set_properties(s, hoodie__table__create__schema="{"), "properties-contradict", "SNAP TRAVEL INCR RO",
    ),
    "metadata-table": bad(
        lambda s: set_properties(s, hoodie__table__metadata__partitions="files"),
        "metadata-table-active", gravity="AT RISK",
    ),
    "plan-gone": bad(plan_gone, "unreadable", "QUIET PROGRESS"),
    "a-time-that-is-none": bad(
        lambda s: rename(s, *(f"{TIMELINE}/{tick(9)}{more}.compaction.requested" for more in ("", "0"))),
        "no-time", "MONO",
    ),
    "instant-in-the-future": bad(
        lambda s: s.put(f"{TIMELINE}/29990101000000000.deltacommit.requested", b""), "future-instant", "SNAP INCR MONO",
    ),
    "equal-times": bad(
        lambda s: rename(s, instant(3, 4), instant(3, 7)), "equal-times", "QUIET PART MONO", also="log-in-two-slices",
    ),
    "completed-before-requested": bad(
        lambda s: rename(s, instant(10, 11), instant(10, 6)), "completed-before-requested", "MONO",
    ),
    "completed-twice": bad(lambda s: s.put(instant(10, 12), s.get(instant(10, 11))), "completed-twice", "TRAVEL MONO"),
    "log-left-out-of-a-plan": bad(
        log_left_out_of_a_plan, "committed-log-lost", "SNAP INCR RO QUIET PART", also="compaction-left-logs-out",
    ),
    "bulk-insert-over-logs": bad(bulk_insert_over_logs, "base-file-over-logs", "SNAP INCR RO PART"),
    "plan-takes-a-later-log": bad(plan_takes_a_later_log, "log-in-two-slices", "QUIET PART"),
    "two-plans-take-one-log": bad(two_plans_take_one_log, "log-in-two-slices", "QUIET PART"),
    "plan-before-the-last-completed": bad(
        lambda s: rename(s, instant(5, 6, "commit"), instant(5, 12, "commit")), "log-in-two-slices", "QUIET PART",
    ),
    "merged-fewer-than-planned": bad(merged_fewer, "compaction-left-logs-out", "SNAP INCR RO QUIET"),
    "plan-without-its-base": bad(plan_without_base, "plan-from-old-base", "SNAP INCR RO QUIET PART"),
    "input-of-a-plan-gone": bad(
        lambda s: s.delete(log(7)(s)), "plan-cannot-run", "SNAP TRAVEL INCR CLEAN PROGRESS", also="listed-file-missing",
    ),
    "written-after-replace": bad(replaced_group, "written-after-replace", "SNAP INCR MONO", also="no-time"),
    "oldest-log-pending": bad(
        oldest_log_pending,
        "hidden-by-a-pending-log", "CLEAN", gravity="AT RISK", also="writer-gone unreadable", verdict="BROKEN",
    ),
    "log-gone": bad(lambda s: s.delete(log(10)(s)), "listed-file-missing", "SNAP TRAVEL INCR"),
    "superseded-log-gone": bad(lambda s: s.delete(log(1)(s)), "listed-file-missing", "TRAVEL INCR"),
    "longer-file": bad(longer_file, "listed-file-size", "SNAP TRAVEL INCR"),
    "fewer-rows-than-listed": bad(fewer_rows, "data-file-broken", "SNAP TRAVEL INCR"),
    "listed-under-a-wrong-name": bad(listed_under_a_wrong_name, "listed-file-foreign", "SNAP TRAVEL INCR ATOM"),
    "forgotten-write": bad(forgotten_write, "orphan-file", gravity="AT RISK"),
    "late-attempt": bad(lists_nothing, "unlisted-file", gravity="AT RISK"),
    "parquet-without-instant": bad(
        lambda s: s.put("part=p/part-00000-c000.snappy.parquet", s.get(base(s))), "foreign-file", gravity="AT RISK",
    ),
    "two-groups-in-a-bucket": bad(second_group, "bucket-with-two-groups", "KEY"),
    "bucket-out-of-range": bad(
        bucket_beyond, "bucket-out-of-range", "SNAP TRAVEL INCR RO KEY", also="properties-contradict",
    ),
    "partition-not-marked": bad(
        lambda s: s.delete("part=p/.hoodie_partition_metadata"), "partition-metadata-missing", gravity="AT RISK",
    ),
    "uncommitted-base": bad(
        uncommitted_base,
        "stray-base-file", "MONO", gravity="AT RISK", also="equal-times writer-gone", verdict="BROKEN",
    ),
}  # fmt: skip
