"""A fault at each storage call of an operation of Hudi. Then Hudi's reader, `nbcc validate` and Hudi's own recovery
judge what is left.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from nbcc.model import Step

from .cast import CALL, STALLS, Cast
from .play import Ordered, play
from .tables import OPERATIONS, Tables
from .verdict import judged, judged_recovery, validated, verdict

LONGEST = 200
"""No operation makes more calls."""
FAULTS = ("end", "tear", "fail", "stall")


def points(tables: Tables, name: str, fault: str, skipped: Collection[int] = ()) -> Iterator[dict[str, Any]]:
    """Yield the storage calls of an operation, and what was seen after a fault at each of them: the operation ends
    (`end`), it ends in the middle of a put (`tear`), the call fails once (`fail`), or it waits while the heartbeat
    expires and another client cleans (`stall`).
    """
    with tables.copy(name) as path:
        calls = tables.run(path, name)["calls"]
    yield {"calls": calls}
    for number, call in enumerate(calls):
        if number in skipped or (fault == "tear" and not call.startswith("put ")):
            continue
        with tables.copy(name) as path:
            yield point(tables, path, name, number, fault)


def point(tables: Tables, path: Path, name: str, number: int, fault: str) -> dict[str, Any]:
    """Let a fault happen at call `number` of an operation, and judge what is left."""
    return stall(tables, path, name, number) if fault == "stall" else crash(tables, path, name, number, fault)


def stall(tables: Tables, path: Path, name: str, number: int) -> dict[str, Any]:
    """Let an operation wait before its call `number` until another client has cleaned, or waits for a lock."""
    operation = OPERATIONS[name]
    actor = operation.given.get("actor", "s1")
    cast = Cast(name, "non-blocking", {actor: (operation.method, operation.given), "s9": ("clean", {})})
    steps = [Step(actor, CALL)] * number + [Step(actor, STALLS)] + [Step("s9", CALL)] * LONGEST
    played = play(tables, path, cast, Ordered(steps))
    failed = sorted(each for each, end in played.ends.items() if "error" in end)
    state = ("stall", name, *failed, *played.completed, *files(path))
    if state not in tables.judged:
        tables.judged[state] = {"verdict": verdict(tables, path, played)}
    return {"fault": "stall", "call": number, "completed": actor not in failed, **tables.judged[state]}


def crash(tables: Tables, path: Path, name: str, number: int, fault: str) -> dict[str, Any]:
    """Let a fault happen at call `number` of an operation, let its heartbeats expire, recover, and write again."""
    operation = OPERATIONS[name]
    ended = tables.run(path, name, number, fault)
    seen: dict[str, Any] = {"fault": fault, "call": number, "kind": ended["calls"][number].split()[0]}
    seen["completed"] = "value" in ended
    state = (name, number if fault == "tear" else "", *files(path))
    if state not in tables.judged:
        left, valid = judged(tables, path, operation), validated(path)
        tables.end_heartbeats(path, operation.given.get("actor", "s1"))
        rows = operation.rows if left == "after" else operation.start
        recovery = judged_recovery(tables, path, rows, archives=name == "archive")
        tables.judged[state] = {"left": left, "validate": valid, "recovery": recovery}
    return {**seen, **tables.judged[state]}


def files(path: Path) -> tuple[str, ...]:
    """Return the files and folders of a table, with instants by their order and without random parts of names: tables
    with the same ones are judged once.
    """
    names = sorted(each.relative_to(path).as_posix() for each in path.rglob("*"))
    instants = sorted({instant for name in names for instant in re.findall(r"\d{17}", name)})
    number = {instant: f"t{place}" for place, instant in enumerate(instants)}
    known = (re.sub(r"\d{17}", lambda found: number[found[0]], name) for name in names)
    return tuple(sorted(re.sub(r"[0-9a-f]{8}-[-0-9a-f]{27}|_\d+-\d+-\d+", "", name) for name in known))
