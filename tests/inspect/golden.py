"""A good table, and one bad one for each rule: what was done to it, by name."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

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

TIMELINE: Final = ".hoodie/timeline"
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


def rolled_back_and_completed(storage: Storage) -> None:
    record = {"startRollbackTime": tick(9), "commitsRollback": [tick(10)]}
    fields = [
        {"name": "startRollbackTime", "type": "string"},
        {"name": "commitsRollback", "type": {"type": "array", "items": "string"}},
    ]
    content = io.BytesIO()
    schema = {"type": "record", "name": "HoodieRollbackMetadata", "fields": fields}
    fastavro.writer(content, schema, [record])
    storage.put(f"{TIMELINE}/{tick(9)}0_{tick(9)}1.rollback", content.getvalue())
    storage.put(f"{TIMELINE}/{tick(9)}0.rollback.requested", b"")


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


class Bad(NamedTuple):
    """What is done to the good table, the rule that must say so, and how bad that is."""

    do: Callable[[Storage], object]
    rule: str
    gravity: str = "BROKEN"


BAD: Final[dict[str, Bad]] = {
    "truncated-commit": Bad(truncated_commit, "unreadable"),
    "swapped-commit": Bad(lambda s: s.put(instant(10, 11), s.get(log(10)(s))), "unreadable"),
    "compaction-named-as-delta": Bad(compaction_named_as_delta, "name-and-content"),
    "rolled-back-and-completed": Bad(rolled_back_and_completed, "undone-and-completed"),
    "completion-lost": Bad(lambda s: s.delete(instant(10, 11)), "writer-gone", "AT RISK"),
    "marks-lost": Bad(lambda s: set_properties(s, nbcc__format=None), "marks-disagree"),
    "ordering-is-no-column": Bad(
        lambda s: set_properties(s, hoodie__table__ordering__fields="tt"), "properties-contradict"
    ),
    "schema-is-none": Bad(lambda s: set_properties(s, hoodie__table__create__schema="{"), "properties-contradict"),
    "metadata-table": Bad(
        lambda s: set_properties(s, hoodie__table__metadata__partitions="files"), "metadata-table-active", "AT RISK"
    ),
    "plan-gone": Bad(plan_gone, "unreadable"),
    "a-time-that-is-none": Bad(
        lambda s: rename(
            s, f"{TIMELINE}/{tick(9)}.compaction.requested", f"{TIMELINE}/{tick(9)}0.compaction.requested"
        ),
        "no-time",
    ),
    "instant-in-the-future": Bad(
        lambda s: s.put(f"{TIMELINE}/29990101000000000.deltacommit.requested", b""), "future-instant"
    ),
    "equal-times": Bad(lambda s: rename(s, instant(3, 4), instant(3, 7)), "equal-times"),
    "completed-before-requested": Bad(
        lambda s: rename(s, instant(10, 11), instant(10, 6)), "completed-before-requested"
    ),
    "completed-twice": Bad(lambda s: s.put(instant(10, 12), s.get(instant(10, 11))), "completed-twice"),
    "log-left-out-of-a-plan": Bad(log_left_out_of_a_plan, "committed-log-lost"),
    "bulk-insert-over-logs": Bad(bulk_insert_over_logs, "base-file-over-logs"),
    "plan-takes-a-later-log": Bad(plan_takes_a_later_log, "log-in-two-slices"),
    "two-plans-take-one-log": Bad(two_plans_take_one_log, "log-in-two-slices"),
    "plan-before-the-last-completed": Bad(
        lambda s: rename(s, instant(5, 6, "commit"), instant(5, 12, "commit")), "log-in-two-slices"
    ),
    "merged-fewer-than-planned": Bad(merged_fewer, "compaction-left-logs-out"),
    "plan-without-its-base": Bad(plan_without_base, "plan-from-old-base"),
    "input-of-a-plan-gone": Bad(lambda s: s.delete(log(7)(s)), "plan-cannot-run"),
    "written-after-replace": Bad(replaced_group, "written-after-replace"),
    "oldest-log-pending": Bad(oldest_log_pending, "hidden-by-a-pending-log", "AT RISK"),
    "log-gone": Bad(lambda s: s.delete(log(10)(s)), "listed-file-missing"),
    "superseded-log-gone": Bad(lambda s: s.delete(log(1)(s)), "listed-file-missing"),
    "longer-file": Bad(longer_file, "listed-file-size"),
    "fewer-rows-than-listed": Bad(fewer_rows, "data-file-broken"),
    "listed-under-a-wrong-name": Bad(listed_under_a_wrong_name, "listed-file-foreign"),
    "forgotten-write": Bad(forgotten_write, "orphan-file", "AT RISK"),
    "late-attempt": Bad(lists_nothing, "unlisted-file", "AT RISK"),
    "parquet-without-instant": Bad(
        lambda s: s.put("part=p/part-00000-c000.snappy.parquet", s.get(base(s))), "foreign-file", "AT RISK"
    ),
    "two-groups-in-a-bucket": Bad(second_group, "bucket-with-two-groups"),
    "bucket-out-of-range": Bad(bucket_beyond, "bucket-out-of-range"),
    "partition-not-marked": Bad(
        lambda s: s.delete("part=p/.hoodie_partition_metadata"), "partition-metadata-missing", "AT RISK"
    ),
    "uncommitted-base": Bad(uncommitted_base, "stray-base-file", "AT RISK"),
}
