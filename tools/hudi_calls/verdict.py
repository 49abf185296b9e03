"""Judges what Hudi has left: by its rows, by `nbcc validate`, and by Hudi's recovery, after which a later write must be
visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from itertools import permutations
from pathlib import Path

from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.simulator.cli.main import run as nbcc
from nbcc.simulator.lockstep.peers.process import PeerRefused

from .cast import CALL, FAILS, LEASE_FILE, LOCK_FILE, STALLS
from .labels import WRITES, label
from .play import Played
from .tables import LATER, Operation, Tables, row

RIGHT = "right"
NOTHING_TO_DO = ("Hudi finds no logs to compact", "min() arg is an empty sequence", "StopIteration")
"""Errors of a service that has nothing to do."""
REFUSALS = ("HoodieWriteConflictException", "EarlyConflictDetectionException")
"""Errors by which optimistic writers give way."""
WRONG_ROWS = "rows {} instead of {}"
LOCKED = "Unable to acquire the lock"
"""The error of a client that gives up. It is right if another client has left the lock file, which never expires."""


def verdict(tables: Tables, path: Path, played: Played) -> str:
    """Return `right`, or the first thing that is wrong after a history, without its numbers."""
    found = next(_wrong(tables, path, played), RIGHT)
    return without_numbers(found).replace(str(path), "")


def without_numbers(text: str) -> str:
    """Return a text without the instants and random names of one run."""
    return re.sub(r"[0-9a-f]{8}-[-0-9a-f]{27}|\d{4,}", "N", text)


def _wrong(tables: Tables, path: Path, played: Played) -> Iterator[str]:
    cast = played.cast
    for actor, end in sorted(played.ends.items()):
        if "error" not in end and actor in cast.writers and actor not in played.completed:
            yield f"{actor} succeeded, and its write is not completed"
        if "error" in end and not _expected(played, actor, end["error"]):
            yield f"error of {actor}: {end['error']}"
    yield from missed_conflicts(played)
    try:
        rows = tables.snapshot(path)
    except PeerRefused as error:
        yield f"a reader gets an error: {error!s}"
        return
    expected = cast.rows({*played.completed})
    if rows != expected:
        yield WRONG_ROWS.format(rows, expected)
    if (answer := validated(path)) != "OK":
        yield f"validate: {answer}"
    for actor in cast.actors:
        tables.end_heartbeats(path, actor)
    for lock in (LOCK_FILE, LEASE_FILE):  # that of a dead client outlives the history: an operator deletes it
        (path / lock.removeprefix("/")).unlink(missing_ok=True)
    if (answer := judged_recovery(tables, path, expected)) != RIGHT:
        yield f"after recovery {answer}"


def _expected(played: Played, actor: str, error: str) -> bool:
    if played.faulty(actor) or any(reason in error for reason in NOTHING_TO_DO):
        return True
    if LOCKED in error and played.cast.mode.endswith(("lock file", "lease")):
        return leaves_lock(played)
    return played.cast.mode.startswith("optimistic") and any(reason in error for reason in REFUSALS)


def leaves_lock(played: Played) -> bool:
    """Return whether an actor has died, or failed at a call on the lock: it looks at the lock before it releases it."""
    return any(step.action == ACTOR_CRASHES or (step.action == FAILS and call.endswith((LOCK_FILE, LEASE_FILE)))
               for step, call in zip(played.steps, played.calls, strict=True))  # fmt: skip


def missed_conflicts(played: Played) -> Iterator[str]:
    """Two optimistic writers of one file group: neither may complete between the inflight instant of the other one and
    its completion.
    """
    if played.cast.mode.startswith("optimistic"):
        for one, other in permutations(sorted(played.completed), 2):
            if played.started[one] < played.completed[other] < played.completed[one]:
                yield f"{other} completed during {one}, and {one} completed"


def judged(tables: Tables, path: Path, operation: Operation) -> str:
    """Return which rows a reader of Hudi sees: those before or after the operation, the same, others, or an error."""
    try:
        rows = tables.snapshot(path)
    except PeerRefused as error:
        return f"error: {str(error)[:160]}"
    if rows == operation.start == operation.rows:
        return "same"
    return "before" if rows == operation.start else "after" if rows == operation.rows else f"others: {rows}"


def judged_recovery(tables: Tables, path: Path, rows: Mapping[str, str], archives: bool = False) -> str:
    """Clean, resume a pending compaction, write again, and archive if asked to. Return `right` if a reader then sees
    `rows` and the later ones.
    """
    try:
        tables.hudi.ask("clean", str(path))
        for plan in pending_compactions(path):
            tables.hudi.ask("compact", str(path), actor="c9", instant=plan)
            tables.hudi.ask("commit_compaction", str(path), actor="c9")
        tables.hudi.ask("upsert", str(path), actor="w8", rows=[row(key, 1, value) for key, value in LATER.items()])
        if archives:
            tables.hudi.ask("archive", str(path))
        found = tables.snapshot(path)
    except PeerRefused as error:
        return f"error: {str(error)[:160]}"
    return "right" if found == {**rows, **LATER} else f"wrong: {found}"


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
    broken = (each["rule"] for each in answer.get("diagnostics", ()) if each["gravity"] == answer["verdict"])
    return " ".join(filter(None, (answer["verdict"], answer["because"], *broken)))


EXPLAINED = (
    (r"error of s\d: .*Index -1 out of bounds", "archive-before-the-first-clean", ""),
    (r"error of (s|b|roll)\d: .*Could not delete instant", "second-rollback-of-one-write", ""),
    (r"(error of s\d|after recovery error): .*NumberFormatException", "manifest-of-a-dead-archiver", ""),
    (r"error of w\d: .*checking marker file conflict", "early-detection-fails-by-a-removed-folder", ""),
    (r"validate: BROKEN undone-and-completed", "stalled-write-commits-after-its-rollback", STALLS),
    (r"validate: BROKEN completed-twice", "clean-completed-twice", ""),
)
"""Verdicts of known findings: a pattern, the name of the finding, and a fault of a writer that it needs."""
UNDONE = ("clean-undoes-a-commit", "commit-undone-by-a-planned-rollback")
"""The findings that explain lost rows, and commits that were rolled back, if they are those that they predict: the
rollback is planned after or before the write completes.
"""
INSTANTS = ("deltacommit requested", "deltacommit inflight")
SHOWN = (*WRITES, "deltacommit completed")
"""What a reader needs of a write. A rollback deletes the files that markers name, and its instant in any case."""


def explained(played: Played, found: str) -> str:
    """Return `right`, the finding that explains a verdict, or an empty text."""
    if found == RIGHT:
        return RIGHT
    completed, lost = {*played.completed}, undone(played, SHOWN)
    if lost and found == WRONG_ROWS.format(played.cast.rows(completed - {*lost}), played.cast.rows(completed)):
        return min(lost.values())
    if found.startswith("validate: BROKEN undone-and-completed") and (removed := undone(played, INSTANTS)):
        return min(removed.values())
    faults = {"", *(fault for actor in played.cast.writers for fault in played.faulty(actor))}
    return next((name for pattern, name, fault in EXPLAINED if fault in faults and re.match(pattern, found)), "")


def undone(played: Played, labels: Collection[str]) -> dict[str, str]:
    """Return the completed writers of which a finding predicts that files with these labels are deleted, each with the
    finding: they stalled, and an actor that was at work when they completed has deleted such a file since.
    """
    began: dict[str, int] = {}
    stalled: dict[str, int] = {}
    planned: dict[str, int] = {}
    writer_of: dict[str, str] = {}
    found = {}
    for number, (step, call) in enumerate(zip(played.steps, played.calls, strict=True), start=1):
        began.setdefault(step.actor, number)
        verb, _, path = call.partition(" ")
        writer = writer_of.get(path, step.actor)
        if step.action == STALLS:
            stalled.setdefault(step.actor, number)
        elif step.action == CALL and verb in ("put", "rename"):
            if label(path) in labels:
                writer_of[path] = step.actor
            elif label(path) == "rollback requested":
                planned[step.actor] = number
        elif step.action == CALL and verb == "delete" and writer != step.actor:
            completed = played.completed.get(writer, 0)
            if max(stalled.get(writer, number), began[step.actor]) < completed < number:
                found[writer] = UNDONE[planned.get(step.actor, number) < completed]
    return found
