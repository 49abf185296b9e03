"""Requests of a commit in an object store, on the server of `nbcc.simulator.lockstep.s3`, with a short and a long past.

The history is written to a local folder and copied into the bucket, with compaction, cleaning and archiving on. All but
the last commits of a long history are put into its archive at once, as if they were years old. A commit touches two
file groups. It is acknowledged when its lock is released, or, without a lock, when it is published; what follows is
clean-up.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.config.options import REQUESTS, SKEW
from nbcc.engine.table import Table
from nbcc.simulator.lockstep.s3.server import Bucket, s3_server
from tools import markdown

from . import progress
from .first_snapshot import put_archive

HISTORIES: Final = (10, 10_000)
"""Numbers of commits before the one that is measured."""
GOALS: Final = {
    "lock": (10, 12), "log": (15, 17), "lock, put_if_absent": (9, 11), "log, put_if_absent": (13, 15),
    "shared": (13, 16), "free": (8, 11),
}  # fmt: skip
"""The most requests in sequence until the acknowledgement, of a lone writer and after the commit of another, by
`nbcc.decision`, and `nbcc.requests` if it is not under_lock.
"""

URL: Final = "s3://lake/t"
LATENCY_SECONDS: Final = 0.05
SERVICES_EVERY: Final = 20
RECENT: Final = 100
"""The most commits of a history that writers make: more than the active timeline keeps."""
SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64())])


def run(folder: Path, histories: tuple[int, ...] = HISTORIES) -> dict[str, Any]:
    """The requests by decision, length of the history and whether another writer committed in between."""
    rows = []
    for decision in GOALS:
        for commits in histories:
            with tempfile.TemporaryDirectory(dir=folder) as name, s3_server() as bucket:
                with progress.during(f"{commits:,} commits, nbcc.decision={decision}"):
                    _history(Path(name) / "t", commits, decision)
                _copy(Path(name) / "t", bucket)
                rows += _measured(bucket, decision, commits)
    return {"latency": LATENCY_SECONDS, "rows": rows}


def missed(result: dict[str, Any]) -> bool:
    """Whether a commit sent more requests in sequence than its goal."""
    return any(row["sequence"] > _goal(row) for row in result["rows"])


def text(result: dict[str, Any]) -> str:
    """The table of a result."""
    head = "| decision | commits before | another between | in sequence (goal) | in all | clean-up | timeline objects |"
    lines = [
        f"| {row['decision']} | {row['commits']:,} | {'yes' if row['other'] else 'no'} | {row['sequence']} "
        f"({_goal(row)}) | {row['requests']} | {row['clean_up']} | {row['timeline']} |"
        for row in result["rows"]
    ]
    return "\n".join([head, "|---|---|---|---|---|---|---|", *lines])


def page_table(result: Mapping[str, Any]) -> str:
    """Return the requests by decision in Markdown. A range says that they depend on the length of the history."""
    lengths = sorted({row["commits"] for row in result["rows"]})
    assert lengths == sorted(HISTORIES), "the recorded run is not a quick one"

    def counted(name: str, decision: str, other: bool) -> str:
        found = sorted({row[name] for row in result["rows"] if (row["decision"], row["other"]) == (decision, other)})
        return " to ".join(map(str, (found[0], found[-1]) if len(found) > 1 else found))

    names = {decision: [f"`{part}`" for part in decision.split(", ")] for decision in GOALS}
    rows = [
        (", `nbcc.requests` = ".join(parts), *(counted("sequence", decision, other) for other in (False, True)),
         counted("requests", decision, False))
        for decision, parts in names.items()
    ]  # fmt: skip
    head = ("`nbcc.decision`", "in sequence, until a lone writer's commit is acknowledged",
            "if another writer committed in between", "requests of a lone writer until then")  # fmt: skip
    return "\n".join(markdown.table(head, rows))


def _goal(row: Mapping[str, Any]) -> int:
    return GOALS[row["decision"]][row["other"]]


def _batch(ts: int) -> pa.Table:
    return pa.table({"id": [f"k{number}" for number in range(8)], "ts": [ts] * 8}, schema=SCHEMA)


def _history(path: Path, commits: int, decision: str) -> None:
    decision, _, requests = decision.partition(", ")
    options = {
        SKEW: "1", "nbcc.decision": decision, REQUESTS: requests or "under_lock",
        "hoodie.write.lock.provider": "StorageBasedLockProvider",
        "hoodie.archive.automatic": "true", "hoodie.keep.min.commits": "20", "hoodie.keep.max.commits": "30",
    }  # fmt: skip
    table = Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=2, options=options,
        storage_options={"durable": False},
    )  # fmt: skip
    for number in range(min(commits, RECENT)):
        table.upsert(_batch(number))
        if number % SERVICES_EVERY == 0:
            table.compact()
            table.clean(retained=2)
        if number == 0 and commits > RECENT:  # after a compaction, so that no reader asks for older files
            put_archive(table, commits - RECENT)


def _copy(path: Path, bucket: Bucket) -> None:
    for file in path.rglob("*"):
        if file.is_file():
            bucket.put(f"t/{file.relative_to(path).as_posix()}", file.read_bytes())


def _measured(bucket: Bucket, decision: str, commits: int) -> list[dict[str, Any]]:
    table, other = (Table.open(None, URL, bucket.options) for _ in range(2))
    table.upsert(_batch(commits))  # the first commit of a process reads what it then remembers
    alone = _commit(table, bucket, commits + 1)
    other.upsert(_batch(commits + 2))
    disturbed = _commit(table, bucket, commits + 3)
    common = {"decision": decision, "commits": commits}
    return [{**common, "other": False, **alone}, {**common, "other": True, **disturbed}]


def _commit(table: Table, bucket: Bucket, ts: int) -> dict[str, int]:
    bucket.requests.clear()
    bucket.latency_seconds = LATENCY_SECONDS  # long enough for requests to overlap
    table.upsert(_batch(ts))
    bucket.latency_seconds = 0.0
    requests = bucket.sent
    completed = next(place for place, each in enumerate(requests) if re.search(r"\d+_\d+\.deltacommit$", each.key))
    ends = (p for p, each in enumerate(requests) if p > completed and each.key.endswith("table_lock.json"))
    acknowledged = next(ends, completed) + 1
    before, after = requests[:acknowledged], requests[acknowledged:]
    timeline = sum(key.startswith("t/.hoodie/timeline/") for key in bucket.objects)
    return {
        "sequence": Bucket(requests=before).depth(), "requests": len(before), "clean_up": len(after),
        "timeline": timeline,
    }  # fmt: skip
