"""A good table with log compactions and a replace, and what can be done to it that no order of events explains."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from nbcc.engine.storage import Storage
from nbcc.engine.timeline import CommitMetadata, encode_plan
from nbcc.engine.timeline.compaction_plans import LOG_COMPACTION, decode_plan
from nbcc.engine.timeline.metadata import COVERS
from tests.builders.tables import batch, make_table, tick

from .corpus.kind import TIMELINE
from .golden import instant, log, set_commit, set_plan


def rewritten_table(folder: Path) -> Storage:
    """Instants 1-6 three upserts, 7-8 log compaction, 9-10 upsert, 11-12 compaction, 13-14 insert overwrite,
    15-18 two upserts, 19-20 log compaction, 21-22 upsert, 23 a pending compaction plan, 24-27 two upserts,
    28 the pending plan of a log compaction.
    """
    table = make_table(folder)
    for number in range(3):
        table.upsert(batch(("k1", number, "a")))
    table.log_compact()
    table.upsert(batch(("k2", 1, "b")))
    table.compact()
    table.insert_overwrite(batch(("k3", 1, "c")))
    for number in range(2):
        table.upsert(batch(("k3", 2 + number, "d")))
    table.log_compact()
    table.upsert(batch(("k4", 1, "e")))
    table.schedule_compaction()
    for number in range(2):
        table.upsert(batch(("k5", number, "f")))
    table.schedule_log_compaction()
    return table.context.storage


def name_of(storage: Storage, number: int) -> str:
    """The name of the log of the instant requested as tick `number`."""
    return log(number)(storage).rpartition("/")[2]


def covers(storage: Storage, number: int, *logs: int) -> None:
    """Let a log compaction say that it covers the logs of these instants."""

    def changed(commit: CommitMetadata) -> CommitMetadata:
        names = [name_of(storage, each) for each in logs]
        covered = dict.fromkeys(json.loads(commit.extra[COVERS]), names)
        return replace(commit, extra={**commit.extra, COVERS: json.dumps(covered)})

    set_commit(storage, instant(number, number + 1), changed)


def takes(storage: Storage, barrier: int, *logs: int) -> None:
    """Let a compaction plan take the logs of these instants."""
    names = tuple(name_of(storage, each) for each in logs)
    set_plan(storage, barrier, lambda plan: replace(plan, operations=(replace(plan.operations[0], logs=names),)))


def is_to_take(storage: Storage, number: int, *logs: int) -> None:
    """Let the pending plan of a log compaction take the logs of these instants."""
    path = f"{TIMELINE}/{tick(number)}.{LOG_COMPACTION}.requested"
    plan = decode_plan(storage.get(path))
    names = tuple(name_of(storage, each) for each in logs)
    changed = replace(plan, operations=(replace(plan.operations[0], logs=names),))
    storage.put(path, encode_plan(changed, LOG_COMPACTION))


def starts_from_what_was_replaced(storage: Storage) -> None:
    old = next(e.path for e in storage.list("part=p") if e.path.endswith(f"_{tick(11)}.parquet")).rpartition("/")[2]
    set_plan(storage, 23, lambda plan: replace(plan, operations=(replace(plan.operations[0], base_file=old),)))


class Impossible(NamedTuple):
    """What is done to the good table, and the event at which its history is found impossible, with the reason."""

    do: Callable[[Storage], object]
    event: str
    because: str


IMPOSSIBLE: Final[dict[str, Impossible]] = {
    "a log compaction leaves a log out": Impossible(
        lambda s: covers(s, 7, 1, 5), f"the log compaction {tick(7)} is planned",
        f"the log 1 of the write {tick(3)} must be taken",
    ),
    "a log compaction takes what completed later": Impossible(
        lambda s: covers(s, 7, 1, 3, 5, 9), f"the log compaction {tick(7)} is planned",
        f"the log 1 of the write {tick(9)} must not be taken",
    ),
    "a log compaction reaches across a replace": Impossible(
        lambda s: covers(s, 19, 9, 15, 17), f"the log compaction {tick(19)} is planned",
        f"the log 1 of the write {tick(9)} must not be taken",
    ),
    "a log compaction has another order": Impossible(
        lambda s: covers(s, 7, 3, 1, 5), f"the log compaction {tick(7)} is planned",
        "logs must be merged in this order",
    ),
    "a compaction takes what a log stands for": Impossible(
        lambda s: takes(s, 11, 1, 3, 5, 9), f"the plan {tick(11)} is made",
        f"the log of the log compaction {tick(7)} must be taken",
    ),
    "a compaction leaves a compacted log out": Impossible(
        lambda s: takes(s, 23, 21), f"the plan {tick(23)} is made",
        f"the log of the log compaction {tick(19)} must be taken",
    ),
    "a compaction starts from what was replaced": Impossible(
        starts_from_what_was_replaced, f"the plan {tick(23)} is made", "the newest base file",
    ),
    "a pending plan takes what a compaction takes": Impossible(
        lambda s: is_to_take(s, 28, 21, 24, 26), f"the log compaction {tick(28)} is planned",
        f"the log 1 of the write {tick(21)} must not be taken",
    ),
    "a pending plan takes one log": Impossible(
        lambda s: is_to_take(s, 28, 24), f"the log compaction {tick(28)} is planned",
        "there must be several logs in a slice",
    ),
}  # fmt: skip
