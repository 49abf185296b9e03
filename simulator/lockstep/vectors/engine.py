"""Reads vectors with nbcc's engine: the consumer that shows which errors of a reader the vectors find."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nbcc.engine.rules import Rules
from nbcc.model import Protocol, Query, World

from ..control.clock import tick_of
from ..systems.engine import EngineSystem
from ..systems.engine_rules import rules_of


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
    system.harness.clock.tick = max(times, default=0)
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


def _slice(entry: dict[str, Any]) -> tuple[Any, ...]:
    logs = tuple((tick_of(log["requested"]), log["version"]) for log in entry["logs"])
    return entry["file_group"], _tick(entry["barrier"]), _tick(entry["base"]), logs
