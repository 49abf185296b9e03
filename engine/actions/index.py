"""Makes a record index of an existing table, while no process writes to it.

The keys of the table's rows are put into files of the index first, without the lock. Under the lock, the index is then
recorded in the properties if no write has completed or begun since. An interrupted call leaves files that no look-up
reads, and the table without an index. A process that opened the table before is refused at its next write
(`writes.unknown_index`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..config import TableConfig
from ..config.properties import encode_properties
from ..config.record_index import GLOBAL_INDEX, INDEXED, INSERTS, MOVED, TYPES, UPDATES_ONLY, RecordIndex
from ..context import Context
from ..data.index_tasks import IndexTask
from ..data.tasks import ReadTask
from ..definition.load import PROPERTIES, load_properties, open_table
from ..errors import BadInput, Conflict, Unsupported
from ..names import bucket_file_id, bucket_of
from ..reads.tasks import state_tasks
from ..timeline.history import Active
from ..timeline.timeline import INDEXED as MARK
from ..writes.claims import new_time
from ..writes.decision_log import in_order
from ..writes.mapping import current_generation


def run(context: Context, config: TableConfig, type: str = "RECORD_INDEX", inserts: str = UPDATES_ONLY) -> bool:
    """Make a record index of the table. Returns False if the table has this index already.

    `type` is a value of Hudi's option hoodie.index.type. Under RECORD_INDEX or GLOBAL_RECORD_LEVEL_INDEX, a key is in
    one partition of the table; `BadInput` is raised if one is in two. Under RECORD_LEVEL_INDEX, it may be in several.

    `inserts` states which writes insert a key that the index lacks. If it is "updates_only", only `bulk_insert` does,
    and any other write of such a key raises `UnknownKey`. If it is "moved", every write does: the first one to complete
    decides the partition of the key, and a write that has the key in another one moves its record there before it
    completes, with the values of its partition columns. A table that has the index gets the new value of `inserts`.

    Updates and deletes of known keys stay non-blocking. No process may write to the table meanwhile: `Conflict` is
    raised otherwise. A process that has opened the table before must open it again: its next write raises `Conflict`.
    """
    asked = f"make a record index of the type {type}"
    if type not in TYPES:
        raise BadInput(asked, f"there are {', '.join(TYPES)}", "use one")
    _check_inserts(type, inserts)
    _refuse_unsupported(config, asked)
    with in_order(context):
        stored, active = open_table(context.storage), context.active()
        if (there := stored.record_index) is not None:
            if there.type != TYPES[type]:
                raise Unsupported(asked, f"it has one of the type {there.type}", "copy it (Table.copy)")
            if there.inserts == inserts:
                return False
            _refuse_writers(active, asked)
            _record(context, there._replace(inserts=inserts))
            return True
        _refuse_writers(active, asked)
        # Later than all that has completed, so that the check below recognises newer writes by their times.
        built = new_time(context, active)
    index = RecordIndex(TYPES[type], built, inserts)
    context.jobs.compact(list(_tasks(context, config, active, index)))
    with in_order(context):
        now = context.active()
        _refuse_writers(now, asked)
        # The second look: the keys were read without the lock, so anything that completed since may lack its location.
        if (now.greatest_completion or "") > built or open_table(context.storage).record_index is not None:
            raise _busy(asked, "a write has completed since the keys were read")
        # First the mark: writers that find it and no index continue, so this call may die in between.
        context.storage.put_if_absent(f"{MARK}{built}", index.type.encode())
        _record(context, index)
    return True


def _check_inserts(type: str, inserts: str) -> None:
    asked = f"make a record index with inserts={inserts}"
    if inserts not in INSERTS:
        raise BadInput(asked, f"there are {', '.join(INSERTS)}", "use one")
    if inserts == MOVED and TYPES[type] != GLOBAL_INDEX:
        exists = "under RECORD_LEVEL_INDEX the key alone decides its file group in each partition"
        raise BadInput(asked, exists, "make no index, or one of the type RECORD_INDEX")


def _record(context: Context, index: RecordIndex) -> None:
    """Record the index in the properties of the table, with what its writers must support."""
    values = load_properties(context.storage)
    features = ",".join(sorted({*values["nbcc.writer.features"].split(","), INDEXED}))
    changed = {"nbcc.writer.features": features, **index.to_properties()}
    context.storage.put(PROPERTIES, encode_properties({**values, **changed}))


def _tasks(context: Context, config: TableConfig, active: Active, index: RecordIndex) -> Iterator[IndexTask]:
    """Yield the task of each bucket: it reads the file groups of the bucket in all partitions."""
    by_bucket: dict[int | None, list[ReadTask]] = {}
    for task in state_tasks(context, config, context.history(active).whole):
        by_bucket.setdefault(bucket_of(task.file_id), []).append(task)
    generation = current_generation(context, config, active)
    for bucket, slices in by_bucket.items():
        yield IndexTask(tuple(slices), bucket_file_id(bucket or 0, generation), index.built, index.in_table)


def _refuse_unsupported(config: TableConfig, asked: str) -> None:
    config.check_writable()
    config.check_function()
    if not config.merge_on_read:
        raise Unsupported(asked, "it is COPY_ON_WRITE, where no two writers write to one file group", "leave it out")
    if config.coordination.decision != "lock":
        exists = f"its nbcc.decision is {config.coordination.decision}, and a bulk insert looks for keys under the lock"
        raise Unsupported(asked, exists, "convert it to nbcc.decision=lock (Table.convert), and index it then")


def _refuse_writers(active: Active, asked: str) -> None:
    if active.pending:
        first = active.pending[0]
        raise _busy(asked, f"the {first.action} requested at {first.requested} is pending")


def _busy(asked: str, exists: str) -> Conflict:
    remedy = "wait for its writer, roll it back, or run its plan (compact), and try again"
    return Conflict(asked, f"{exists}, and no process may write meanwhile", remedy)
