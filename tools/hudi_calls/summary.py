"""The figures of Hudi's storage calls: specs/hudi-calls.json, and the page docs/hudi-calls.md that is made of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ..markdown import table
from ..peers.hudi.release import NEWEST
from .labels import CHANGES, FIGURES, seen_by_others
from .soak import RUNS, STATE, TOURS, State, fingerprint, size
from .soak import load as load_run
from .tables import kinds
from .tours import fingerprint as of_tours
from .tours import runs
from .verdict import without_numbers

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "hudi-calls.md"
HEAD = """# Apache Hudi at each of its storage calls

`make interop` runs Hudi's own client one call at a time. A [file system](../tools/peers/hudi/java/nbcc) under Hudi
stops before each put, rename, list, stat, get and delete of an actor. The call proceeds, or a fault happens there:

- `end`: the actor ends before the call. All its later calls are refused.
- `tear`: the actor ends in the middle of a put, and half of the file is there. Other puts are atomic.
- `fail`: the store answers this call with an error, once. The client lives on.
- `stall`: the actor waits before the call, and its heartbeat looks expired. Another client cleans until it has ended
  or waits for the lock. Then the actor goes on.

`python -m tools.hudi_calls FILE` let the faults happen at each call of Hudi 1.2.0. Then three judges looked: Hudi's
reader, `nbcc validate`, and Hudi's recovery (a clean after the heartbeats have expired, a pending compaction resumed,
one more write; after a fault in an archive one more archive). Tables with the same files are judged once. A table
has one file group and no metadata table.
"""
STALLED = """
After a stall the same judges look when both actors have ended. In all there were {} faults.
"""
PLAYED = """
## Random histories

One to three writers and up to two services (a compaction, a clean, a rollback, an archive) are interleaved at their
calls. Of each history the table, concurrency mode, actors, schedule and up to two faults (`end`, `fail`, `stall`) are
drawn. Rows must be the merge of the completed writes. A success must be a completed write, and only a fault or a
conflict may cause an error. An optimistic writer must not complete if another one has completed since its inflight
instant. Then the judges of the faults look. All actors read the clock of one process, so that Hudi waits 1 ms for each
time that it takes, and not 200 ms for the clocks of others.

The lock is that of the process, unless a mode names another provider of Hudi's bundle: a lock file, a lease (the
storage-based lock, on a [store of local files](../tools/peers/hudi/java/locks/FolderLockProvider.java) in place of S3),
or ZooKeeper, whose server is in the same process. Calls for a lock file or a lease are steps, too. An actor that has
found such a lock taken tries again once the lock is free, or if no other actor can go on. Early detection compares
direct markers, or asks the timeline server of its client. With `NoopLockProvider` the judges see two optimistic writers
complete during each other ([test](../tests/interop/test_hudi_calls.py)).
"""
SHRUNK = """
The first history that shows a finding is shrunk: a random one, a run of a tour, or the run of a test among calls of
others. `python -m tools.hudi_calls.soak --replay RUN` plays its run again.
"""
TOURED = """
## Tours of the model

A tour takes every step from every state of a small world, in the fewest runs. On Hudi a step of the model is the calls
of its actor up to the one that stands for it in the table below. The worlds are two writers with a compactor, and a
writer that stalls with a rollbacker, under the protocol `hudi-1.2.0`.
"""
MAPPED = """
## What other actors see of the calls

A call changes the table for others if it creates or deletes an instant, a data file or the version of the archive. It
sees others if it lists, gets or stats what such a call of any operation changes. The actions of the model are computed
from calls that were recorded with a lock file: the reads of an action are those since the change before it. In the
model an action is one step. On Hudi others can act between its changes, and between a read without the lock and its
change; [what is not modelled](../specs/boundary.md) names each such action.
"""
READ_BEFORE = """
Hudi also puts temporary files, markers and heartbeats. The heartbeat is put before the requested instant.
"""


def summary(seen: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures: the calls of each operation, what others see, and the verdict of each judge."""
    points = list(seen)
    calls = {each["operation"]: each["calls"] for each in points if "calls" in each}
    operations = {
        name: {
            "calls": kinds(taken),
            "seen": list(seen_by_others(taken)),
            "faults": dict(_faults(name, points)),
            "stalls": dict(Counter(map(outcome, (each for each in points if _stalled(name, each))))),
        }
        for name, taken in calls.items()
    }
    return {"format": 1, "release": NEWEST, "operations": operations}


def _stalled(name: str, seen: Mapping[str, Any]) -> bool:
    return seen["operation"] == name and seen.get("fault") == "stall"


def _faults(name: str, points: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    of_name = [each for each in points if each["operation"] == name and each.get("fault", "stall") != "stall"]
    for fault in dict.fromkeys(each["fault"] for each in of_name):
        mine = [each for each in of_name if each["fault"] == fault]
        counts = {
            judge: dict(Counter(without_numbers(each[judge]) for each in mine)) for judge in ("validate", "recovery")
        }
        yield fault, {"points": len(mine), "left": dict(Counter(map(outcome, mine))), **counts}


def outcome(seen: Mapping[str, Any]) -> str:
    """Return what a reader sees or the verdict of a stall, and whether a caller that lives got an error."""
    answer = "" if seen["fault"] not in ("fail", "stall") else "success, " if seen["completed"] else "error, "
    return f"{answer}{seen.get('left') or seen['verdict']}"


def text(figures: Mapping[str, Any]) -> str:
    return json.dumps(figures, indent=1, ensure_ascii=False) + "\n"


def load() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(FIGURES.read_text("utf-8"))
    return figures


def page(figures: Mapping[str, Any]) -> str:
    """Return the page as Markdown."""
    calls, faults, stalls, mapped = [], [], [], []
    for name, each in figures["operations"].items():
        changes = sum(count for kind, count in each["calls"].items() if kind in CHANGES)
        calls.append([name, sum(each["calls"].values()), changes, _words(each["calls"])])
        for fault, found in each["faults"].items():
            judged = (_words(found[judge]) for judge in ("left", "validate", "recovery"))
            faults.append([name, f"`{fault}`", found["points"], *judged])
        stalls.append([name, sum(each["stalls"].values()), _words(each["stalls"])])
        mapped += [
            [name, one, group["changes"], *(_words(group[reads]) or "none" for reads in ("before", "locked"))]
            for one, group in each["groups"].items()
        ]
    titles = ("Hudi's reader sees the rows", "`nbcc validate`", "after recovery")
    tables = (
        table(("operation", "calls", "of them changes", "by kind"), calls),
        ("",),
        table(("operation", "fault", "calls", *titles), faults),
        (STALLED.format(fault_count(figures)),),
        table(("operation", "stalls", "answer to the actor, and verdict"), stalls),
        (PLAYED, *played(), SHRUNK, *shrunk(), TOURED, *toured()),
        (MAPPED,),
        table(("operation", "action of the model", "changes", "reads without the lock", "reads under it"), mapped),
        (READ_BEFORE,),
    )
    return "\n".join((HEAD, *chain.from_iterable(tables)))


def fault_count(figures: Mapping[str, Any]) -> int:
    """Return how many faults there were in all operations."""
    operations = figures["operations"].values()
    stalls: int = sum(sum(each["stalls"].values()) for each in operations)
    others: int = sum(fault["points"] for each in operations for fault in each["faults"].values())
    return stalls + others


def played() -> Iterator[str]:
    """Yield what the random histories have shown so far."""
    state = State.load(STATE, fingerprint())
    yield (
        f"So far {state.histories:,} histories: {state.calls:,} calls, {state.switches:,} switches, {state.faults:,} "
        f"faults, {state.seconds / max(1, state.histories):.1f} s for one."
    )
    yield ""
    rows = [[mode, sum(counts.values()), _words(counts)] for mode, counts in sorted(state.verdicts.items())]
    yield from table(("mode", "histories", "verdicts: right, or a finding"), rows)


def shrunk() -> Iterator[str]:
    """Yield the shortest runs of findings that are stored."""
    rows = []
    for path in sorted(RUNS.glob("*.json")):
        found = f"[{path.stem}](../specs/findings/{path.stem}.md)"
        rows.append([found, *size(*load_run(path)), f"[run](../specs/soak/{RUNS.name}/{path.name})"])
    yield from table(("finding", "actors", "faults", "switches", "steps", "run"), rows)


def toured() -> Iterator[str]:
    """Yield what the tours have shown."""
    state = State.load(TOURS, of_tours())
    verdicts = (_words(each) for each in state.verdicts.values())
    yield f"{state.histories:,} of {len(runs()):,} runs: {state.calls:,} calls, {', '.join(verdicts)}."


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{word}: {count}" for word, count in counts.items())
