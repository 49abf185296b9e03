"""Writes one vector: the folder of the engine's table, and the model's answer to every read (docs/vectors.md)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nbcc.model import Query
from nbcc.model.mechanisms.copy_on_write import is_copy_on_write
from nbcc.model.mechanisms.schema_evolution.rules import Alterations

from ...observables import final_queries, is_answer, model_rows, model_slices, model_timeline, other_queries
from ...trace import plain, rows_of
from ..control.clock import instant_of
from ..crosscheck.history import PlayedHistory
from ..mapping import MAPPING, by_action
from ..systems.rows import schema_of
from .known import known_differences, not_compared
from .themes import VectorRun

FORMAT: Final = 1
"""The version of the files of a vector."""

ROWS: Final = by_action(MAPPING)
PARQUET: Final = pa.schema(
    [("read", pa.int32()), ("key", pa.string()), ("ordering", pa.int64()), ("value", pa.string()),
     ("requested", pa.string())]
)  # fmt: skip
CHANGES: Final = pa.schema(
    [("read", pa.int32()), ("key", pa.string()), ("op", pa.string()), ("ordering_before", pa.int64()),
     ("value_before", pa.string()), ("ordering_after", pa.int64()), ("value_after", pa.string())]
)  # fmt: skip


def write_vector(folder: Path, run: VectorRun, history: PlayedHistory, batches: Mapping[tuple[str, int], Any]) -> None:
    """Write the vector of a history that model and engine have played and on whose reads they agree."""
    expected = folder / "expected"
    expected.mkdir(parents=True)
    with history.system.folder() as table:  # type: ignore[attr-defined]  # a system with files
        shutil.copytree(table, folder / "table")
    reads = [_read(history, query, folder / "table") for query in _queries(history)]
    # Slices as of a time that a read refuses need not exist any more: their files may be cleaned.
    answered = {read["until"] for read in reads if read["kind"] == "as_of" and "rows" in read}
    _json(folder / "meta.json", _meta(run, history))
    (folder / "steps.jsonl").write_text("".join(f"{json.dumps(step)}\n" for step in _steps(history, batches)), "utf-8")
    _json(expected / "timeline.json", _instants(model_timeline(history.model, history.state)))
    _json(expected / "archived.json", _instants(_archived(history)))
    _json(expected / "slices.json", _slices(history, answered))
    _json(expected / "reads.json", reads)
    rows = [{"read": number, **row} for number, read in enumerate(reads) for row in read.get("rows", ())]
    pq.write_table(pa.Table.from_pylist(rows, PARQUET), expected / "rows.parquet")
    changes = [{"read": number, **_flat(row)} for number, read in enumerate(reads) for row in read.get("changes", ())]
    pq.write_table(pa.Table.from_pylist(changes, CHANGES), expected / "changes.parquet")


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _meta(run: VectorRun, history: PlayedHistory) -> dict[str, Any]:
    world = history.model.world
    return {
        "format": FORMAT,
        "name": run.name,
        "rule": run.rule,
        "source": run.source,
        "transitions": sorted({step.action for step in history.steps}),
        "table": {
            "type": "COPY_ON_WRITE" if is_copy_on_write(world) else "MERGE_ON_READ", "merge_mode": world.merge_mode,
             "record_key": "id", "ordering": "ts",
            "partition": "part" if world.partitions > 1 else None, "buckets": world.buckets,
            "columns": schema_of(world, world[Alterations].alterations).names,
        },
        "not_compared": not_compared(history),
        "world": world.to_mapping(),
        "protocol": history.model.protocol.differences(),
    }  # fmt: skip


def _steps(history: PlayedHistory, batches: Mapping[tuple[str, int], Any]) -> Iterator[dict[str, Any]]:
    begun: dict[tuple[str, str], int] = {}
    for step in history.steps:
        row = ROWS[step.action]
        line = {"actor": step.actor, "action": step.action, "args": plain(dict(step.args)), "operation": row.operation}
        # The n-th write of an actor has the n-th batch: its number is not part of a step.
        if row.starts:
            number = begun[step.actor, row.operation] = begun.get((step.actor, row.operation), 0) + 1
            if batch := batches.get((step.actor, number)):
                line["rows"] = list(rows_of(batch))
        if row.raises:
            line["raises"] = [row.raises] if isinstance(row.raises, str) else list(row.raises)
        yield line


def _instants(instants: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [
        {"action": action, "state": state, "requested": _time(requested), "completed": _time(completed)}
        for action, state, requested, completed in instants
    ]


def _archived(history: PlayedHistory) -> list[tuple[Any, ...]]:
    """The instants in the archive, by requested time; the newest may still be on the active timeline, too."""
    model, state = history.model, history.state
    # The component is there only in worlds with an archiver.
    archive = model.component(state, "archive") if "archive" in model.components else ()
    done = [each for each in model.component(state, "published") if each.requested in archive]
    done.sort(key=lambda each: each.requested)
    return [(each.action, "completed", each.requested, each.completed) for each in done]


def _slices(history: PlayedHistory, answered: Collection[str]) -> list[dict[str, Any]]:
    """The file slices now, and as of each completion time whose rows can be read."""
    model, state = history.model, history.state
    ends = [done for _, _, _, done in model_timeline(model, state) if done is not None and instant_of(done) in answered]
    return [
        {
            "as_of": _time(time),
            "slices": [
                {"file_group": group, "barrier": _time(barrier), "base": _time(base),
                 "logs": [{"requested": _time(requested), "version": version} for requested, version in logs]}
                for group, barrier, base, logs in model_slices(model, state, time)
            ],
        }
        for time in (None, *sorted(ends))
    ]  # fmt: skip


def _queries(history: PlayedHistory) -> Iterator[Query]:
    """The reads that were compared with the engine at the end of the history."""
    yield Query("snapshot")
    yield from final_queries(history.timeline, change_logs=history.keeps_promises)
    # A world outside the assumptions of the promises, such as one that loses locks, has no right answer here.
    if history.keeps_promises:
        yield from other_queries(history.timeline, history.model.settled(history.state))


def _read(history: PlayedHistory, query: Query, table: Path) -> dict[str, Any]:
    model, state, data = history.model, history.state, history.data
    answer = model_rows(model, state, query, data)
    read: dict[str, Any] = {"kind": query.kind, "after": _time(query.after), "until": _time(query.until)}
    if not is_answer(answer):
        return {**read, "refused": answer[0][1]}
    if query.kind == "changes":
        names = ("key", "op", "before", "after")
        cells = [
            dict(zip(names, (key, op, _cell(before), _cell(after)), strict=True)) for key, op, before, after in answer
        ]
        return {**read, "changes": cells}
    read["rows"] = [
        {"key": key, "ordering": ordering, "value": value, "requested": _time(requested)}
        for key, ordering, value, requested in answer
    ]
    if differs := known_differences(history, query, answer, table):
        read["differs"] = differs
    return read


def _cell(row: tuple[Any, ...] | None) -> dict[str, Any] | None:
    return None if row is None else {"ordering": row[0], "value": row[1]}


def _flat(change: Mapping[str, Any]) -> dict[str, Any]:
    parts = ((side, change[side] or {}) for side in ("before", "after"))
    flat = {f"{name}_{side}": part.get(name) for side, part in parts for name in ("ordering", "value")}
    return {"key": change["key"], "op": change["op"], **flat}


def _time(tick: int | None) -> str | None:
    return None if tick is None else instant_of(tick)
