"""Ends an operation of Hudi at each of its storage calls, and judges what is left: by Hudi's reader, by
`nbcc validate`, and by Hudi's own recovery, after which a later write must be visible.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from nbcc.simulator.cli.main import run as nbcc
from nbcc.simulator.lockstep.peers.process import PeerRefused

from .tables import LATER, OLD, OPERATIONS, Tables, row


def crashes(tables: Tables, name: str, fault: str = "end") -> Iterator[dict[str, Any]]:
    """Yield the storage calls of an operation, and what was seen after a fault at each of them: the operation ends
    (`end`), it ends in the middle of a put (`tear`), or the call fails once (`fail`).
    """
    with tables.copy(name) as path:
        calls = tables.run(path, name)["calls"]
    yield {"calls": calls}
    for number, call in enumerate(calls):
        if fault == "tear" and not call.startswith("put "):
            continue
        with tables.copy(name) as path:
            yield crash(tables, path, name, number, fault)


def crash(tables: Tables, path: Path, name: str, number: int, fault: str = "end") -> dict[str, Any]:
    """Let a fault happen at call `number` of an operation, let its heartbeats expire, recover, and write again."""
    operation = OPERATIONS[name]
    ended = tables.run(path, name, number, fault)
    seen: dict[str, Any] = {"fault": fault, "call": number, "kind": ended["calls"][number].split()[0]}
    seen["completed"] = "value" in ended
    seen["left"] = judged(tables, path, (OLD if name == "upsert" else dict(operation.rows), dict(operation.rows)))
    seen["validate"] = validated(path)
    tables.end_heartbeats(path, operation.given.get("actor", "s1"))
    before = tables.snapshot(path) if seen["left"] in ("before", "after", "same") else {}
    seen["recovery"] = recovered(tables, path, {**before, **LATER})
    return seen


def judged(tables: Tables, path: Path, allowed: tuple[dict[str, str], dict[str, str]]) -> str:
    """Return which rows a reader of Hudi sees: those before or after the operation, the same, others, or an error."""
    try:
        rows = tables.snapshot(path)
    except PeerRefused as error:
        return f"error: {str(error)[:160]}"
    if allowed[0] == allowed[1] == rows:
        return "same"
    return {True: "before", False: "after"}[rows == allowed[0]] if rows in allowed else f"others: {rows}"


def recovered(tables: Tables, path: Path, rows: dict[str, str]) -> str:
    """Clean, resume a pending compaction, and write again. Return `right` if a reader then sees `rows`."""
    try:
        tables.hudi.ask("clean", str(path))
        for plan in pending_compactions(path):
            tables.hudi.ask("compact", str(path), actor="c9", instant=plan)
            tables.hudi.ask("commit_compaction", str(path), actor="c9")
        tables.hudi.ask("upsert", str(path), actor="w8", rows=[row(key, 1, value) for key, value in LATER.items()])
        found = tables.snapshot(path)
    except PeerRefused as error:
        return f"error: {str(error)[:160]}"
    return "right" if found == rows else f"wrong: {found}"


def pending_compactions(path: Path) -> list[str]:
    names = [each.name for each in (path / ".hoodie" / "timeline").glob("[0-9]*")]
    done = {name.partition("_")[0] for name in names if name.endswith(".commit")}
    planned = {name.partition(".")[0] for name in names if name.endswith(".compaction.requested")}
    return sorted(planned - done)


def validated(path: Path) -> str:
    """Return the verdict of `nbcc validate`, with its reason unless it is OK."""
    text = StringIO()
    with redirect_stdout(text):
        code = nbcc(["validate", str(path), "--json"])
    if not text.getvalue().strip():
        return f"exit code {code}"
    answer = json.loads(text.getvalue())
    return ": ".join(filter(None, (answer["verdict"], answer["because"])))
