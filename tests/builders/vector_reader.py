"""Reads vectors with nbcc's engine, to show which errors of a reader the vectors find."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from nbcc.engine.rules import Rules
from nbcc.engine.timeline import load
from nbcc.engine.timeline.archive import Archive
from nbcc.model import Protocol, Query, World
from nbcc.simulator.lockstep.control.clock import tick_of
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.engine_rules import rules_of

WRITES: Final = ("commit", "deltacommit", "replacecommit")


def differences(vector: Path, rules: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield a sentence for each answer of the engine that is not the expected one. `rules` are rules of the engine that
    differ from those of the protocol.
    """
    meta = json.loads((vector / "meta.json").read_text("utf-8"))
    protocol = Protocol.from_mapping(meta["protocol"])
    changed = Rules.from_mapping({**asdict(rules_of(protocol)), **(rules or {})})
    system = EngineSystem(World.from_mapping(meta["world"]), protocol, changed)
    _load(system, vector / "table")
    times = [tick_of(time) for instant in _expected(vector, "timeline") for time in _times(instant)]
    # The engine's clock begins after the last time of the table. An earlier one would make its newest commits future
    # ones.
    system.harness.clock.tick = max(times, default=0)
    yield from _of_the_timeline(vector, system)
    for read in _expected(vector, "reads"):
        query = Query(read["kind"], after=_tick(read["after"]), until=_tick(read["until"]))
        try:
            answer = system.rows(query)
        except Exception as error:  # a reader that fails has no answer
            yield f"{query}: {type(error).__name__}: {error}"
            continue
        if answer != (right := _answer(read)):
            yield f"{query}: {answer} instead of {right}"
    for each in _expected(vector, "slices"):
        time = _tick(each["as_of"])
        try:
            found = system.slices() if time is None else system.slices_as_of(time)
        except Exception as error:
            yield f"slices as of {time}: {type(error).__name__}: {error}"
            continue
        if found != (right := tuple(map(_slice, each["slices"]))):
            yield f"slices as of {time}: {found} instead of {right}"


def _of_the_timeline(vector: Path, system: EngineSystem) -> Iterator[str]:
    """Compare the active timeline, the archive, and the completion time of each write: readers look it up by the
    requested time in the name of a log.
    """
    timeline, archived = (_expected(vector, name) for name in ("timeline", "archived"))
    if (found := system.timeline()) != (right := tuple(map(_instant, timeline))):
        yield f"timeline: {found} instead of {right}"
    active, archive = load(system.harness.storage), Archive(system.harness.storage)
    for expected in (*timeline, *archived):
        if expected["completed"] and expected["action"] in WRITES:
            write = active.find(expected["requested"]) or archive.find(expected["requested"])
            # Readers ask the active timeline first, and the archive only for what is missing there.
            if write is None or write.completed != expected["completed"]:
                yield f"the write requested at {expected['requested']}: {write}"
    names = {(instant.action, instant.requested, instant.completed) for instant in archive.instants()}
    if names != {(expected["action"], expected["requested"], expected["completed"]) for expected in archived}:
        yield f"archive: {names} instead of {archived}"


def _load(system: EngineSystem, table: Path) -> None:
    storage = system.harness.storage
    for path in table.rglob("*"):
        name = path.relative_to(table).as_posix()
        if path.is_file():
            storage.put(name, path.read_bytes())


def _expected(vector: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((vector / "expected" / f"{name}.json").read_text("utf-8"))
    return found


def _times(instant: dict[str, Any]) -> list[str]:
    return [instant[name] for name in ("requested", "completed") if instant[name]]


def _tick(time: str | None) -> int | None:
    return None if time is None else tick_of(time)


def _answer(read: dict[str, Any]) -> tuple[Any, ...]:
    if "refused" in read:
        return (("refused", read["refused"]),)
    if "changes" in read:
        cells = ("before", "after")
        return tuple((row["key"], row["op"], *(_cell(row[name]) for name in cells)) for row in read["changes"])
    return tuple((row["key"], row["ordering"], row["value"], tick_of(row["requested"])) for row in read["rows"])


def _cell(row: dict[str, Any] | None) -> tuple[Any, ...] | None:
    return None if row is None else (row["ordering"], row["value"])


def _instant(entry: dict[str, Any]) -> tuple[Any, ...]:
    return entry["action"], entry["state"], _tick(entry["requested"]), _tick(entry["completed"])


def _slice(entry: dict[str, Any]) -> tuple[Any, ...]:
    logs = tuple((tick_of(log["requested"]), log["version"]) for log in entry["logs"])
    return entry["file_group"], _tick(entry["barrier"]), _tick(entry["base"]), logs
