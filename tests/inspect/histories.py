"""Random histories of an engine table on a local folder, and random damage to it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nbcc.engine import Context, Table, create_table
from nbcc.engine.config.concurrency import NON_BLOCKING, OPTIMISTIC
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.errors import NbccError
from nbcc.engine.file_names import in_partition, parse_log, split_path
from nbcc.engine.lock import InProcessLock
from nbcc.engine.names import RandomNames
from nbcc.engine.storage import Storage, open_storage
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.tables import SCHEMA, TickClock, batch, keys

Step = Callable[[Table, random.Random], object]

KEYS: Final = ("a", "b", "c", "d")


def _row(draw: random.Random, value: str) -> tuple[str, int, str]:
    return draw.choice(KEYS), draw.randrange(4), value


def _upsert(table: Table, draw: random.Random) -> object:
    names = draw.sample(KEYS, 1 + draw.randrange(2))
    return table.upsert(batch(*((name, draw.randrange(4), str(draw.random())) for name in names)))


def _dies(table: Table, draw: random.Random) -> object:
    """A write whose writer dies before it publishes, without its heartbeat."""
    requested, storage = table.context.clock.take(), table.context.storage
    for state in ("requested", "inflight"):
        storage.put(f"{FOLDER}/{requested}.deltacommit.{state}", b"")
    logs = [entry.path for entry in storage.list("part=p") if ".log." in entry.path]
    if logs:
        path = draw.choice(logs)
        name = parse_log(split_path(path)[1])
        assert name is not None
        storage.put(in_partition("part=p", str(name._replace(instant=requested))), storage.get(path))
    return requested


ANY: Final[dict[str, Step]] = {
    "upsert": _upsert,
    "delete": lambda table, draw: table.delete(keys((draw.choice(KEYS), draw.randrange(4)))),
    "clean": lambda table, draw: table.clean(retained=1 + draw.randrange(2)),
    "archive": lambda table, draw: table.archive(1 + draw.randrange(3)),
    "savepoint": lambda table, draw: table.savepoint(),
    "restore": lambda table, draw: table.run("restore", instant=None),
    "plan a restore": lambda table, draw: table.run("schedule_restore"),
}

WITH_LOGS: Final[dict[str, Step]] = {
    "overwrite": lambda table, draw: table.insert_overwrite(batch(_row(draw, "o"))),
    "delete partition": lambda table, draw: table.delete_partition(["part=p"]),
    "bulk insert": lambda table, draw: table.bulk_insert(batch(_row(draw, "l"))),
    "compact": lambda table, draw: table.compact(),
    "plan a compaction": lambda table, draw: table.schedule_compaction(),
    "run a compaction": lambda table, draw: table.run_compaction(),
    "compact logs": lambda table, draw: table.log_compact(),
    "plan a log compaction": lambda table, draw: table.schedule_log_compaction(),
    "run a log compaction": lambda table, draw: table.run_log_compaction(),
    "die": _dies,
}


def random_table(folder: Path, seed: int) -> tuple[Table, list[str]]:
    """A table after 8 to 20 random steps, and the steps. Every fourth table is COPY_ON_WRITE."""
    draw = random.Random(seed)
    on_read = bool(seed % 4)
    storage, names = open_storage(folder, {"durable": "false"}), RandomNames()
    context = Context(storage, InProcessLock(storage.url), TickClock(), names, InProcessJobs(storage, names))
    config = table_config(
        "t",
        record_key="id",
        ordering_fields="ts",
        partition_by="part",
        buckets=1,
        merge_mode="EVENT_TIME_ORDERING",
        table_type="MERGE_ON_READ" if on_read else "COPY_ON_WRITE",
        concurrency_mode=NON_BLOCKING if on_read else OPTIMISTIC,
        options={},
        schema=SCHEMA,
    )
    table, steps = create_table(context, config), {**ANY, **(WITH_LOGS if on_read else {})}
    played = []
    for _ in range(draw.randrange(8, 21)):
        name = "upsert" if draw.random() < 0.45 else draw.choice([*steps])
        try:
            steps[name](table, draw)
        except NbccError:
            continue  # what the table refuses now, such as an overwrite over a pending plan
        played.append(name)
    return table, played


def damaged(storage: Storage, draw: random.Random) -> dict[str, bytes]:
    """Remove one timeline file, all timeline files of one instant, or one data file. Return what was removed."""
    paths = [entry.path for entry in storage.list("") if not entry.path.startswith(".hoodie/")]
    data = [path for path in paths if ".log." in path or path.endswith(".parquet")]
    instants = [entry.path for entry in storage.list(FOLDER) if "/history/" not in entry.path]
    removed = [draw.choice(data if data and draw.random() < 0.4 else instants)]
    if removed[0] in instants and draw.random() < 0.5:
        requested = removed[0].rpartition("/")[2].partition("_")[0].partition(".")[0]
        removed = [path for path in instants if path.rpartition("/")[2].startswith(requested)]
    contents = {path: storage.get(path) for path in removed}
    storage.delete_all(removed)
    return contents
