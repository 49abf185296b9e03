"""Two operations of Hudi on one table, interleaved at their storage calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from .crashes import validated
from .tables import OPERATIONS, Operation, Tables, row

BLOCKED_MS = 2_000
"""An actor without a call for so long waits for the lock that the other one holds."""
GLANCE_MS = 40
"""How long an actor is asked that is known to wait, or while no other call is there."""
PAIRS = {
    "two upserts": ("upsert", {
        "w1": Operation("upsert", {"actor": "w1", "rows": [row("a1", 1, "by w1"), row("a3", 1, "z1")]}, (), {}),
        "w2": Operation("upsert", {"actor": "w2", "rows": [row("a1", 1, "by w2"), row("a4", 1, "z2")]}, (), {}),
    }),
    "upsert and compaction": ("compaction", {
        "w1": Operation("upsert", {"actor": "w1", "rows": [row("a1", 2, "by w1"), row("a4", 1, "z2")]}, (), {}),
        "c1": OPERATIONS["compaction"],
    }),
}  # fmt: skip


class Played(NamedTuple):
    """A history: the actors in the order of their calls, the calls, and how each operation ended."""

    order: tuple[str, ...]
    calls: tuple[str, ...]
    ends: dict[str, Any]


def play(tables: Tables, path: Path, pair: str, order: Sequence[str] = (), seed: int = 0) -> Played:
    """Interleave two operations: by `order` as far as it goes, then at random. An actor that is blocked is left out."""
    operations, rng = PAIRS[pair][1], Random(seed)
    for actor, each in operations.items():
        tables.hudi.ask("launch", str(path), actor=actor, method=each.method, given=dict(each.given))
    taken: list[str] = []
    calls: list[str] = []
    ends: dict[str, Any] = {}
    waiting: dict[str, str] = {}
    blocked: set[str] = set()
    favourite = rng.choice(sorted(operations))
    while len(ends) < len(operations):
        for actor in operations.keys() - waiting.keys() - ends.keys():
            patience = GLANCE_MS if actor in blocked or not waiting else BLOCKED_MS
            found = tables.hudi.ask("next", str(path), actor=actor, milliseconds=patience)
            if "call" in found:
                waiting[actor] = found["call"]
            elif found:
                ends[actor] = found
            elif waiting:
                blocked.add(actor)
                continue
            blocked.discard(actor)
        if not waiting:
            continue
        wanted = order[len(taken)] if len(taken) < len(order) else favourite
        chosen = wanted if wanted in waiting else sorted(waiting)[0]
        if rng.random() < 0.1:  # few switches, as in most counterexamples
            favourite = rng.choice(sorted(operations))
        calls.append(f"{chosen}: {waiting.pop(chosen)}")
        taken.append(chosen)
        tables.hudi.ask("answer", str(path), actor=chosen, proceeds=True)
    return Played(tuple(taken), tuple(calls), ends)


def judge(tables: Tables, path: Path, pair: str, played: Played) -> str:
    """Return `right`, or what is wrong after a history in which both operations ended."""
    if errors := [f"{actor}: {end['error'][:160]}" for actor, end in sorted(played.ends.items()) if "error" in end]:
        return f"error: {'; '.join(errors)}"
    rows = tables.snapshot(path)
    times = {actor: end["value"] for actor, end in played.ends.items()}
    # Of equal ordering values Hudi shows the later requested time (`merge_order = requested`).
    winner = max(("w1", "w2"), key=lambda actor: times.get(actor, ""))
    right = {
        "two upserts": {"a1": f"by {winner}", "a2": "y0", "a3": "z1", "a4": "z2"},
        "upsert and compaction": {"a1": "by w1", "a2": "y0", "a3": "z1", "a4": "z2"},
    }[pair]
    if rows != right:
        return f"wrong rows: {rows}"
    verdict = validated(path)
    return "right" if verdict == "OK" else f"validate: {verdict}"


HISTORIES = 20
"""How many histories of each pair are played."""


def histories(tables: Tables, pair: str, seeds: Iterable[int] = range(HISTORIES)) -> Iterator[dict[str, Any]]:
    """Play histories of a pair. Yield the number of switches, the verdict, and the calls if the verdict is wrong."""
    for seed in seeds:
        with tables.copy(PAIRS[pair][0]) as path:
            played = play(tables, path, pair, seed=seed)
            verdict = judge(tables, path, pair, played)
        switches = sum(one != other for one, other in pairwise(played.order))
        wrong = {"order": list(played.order), "taken": list(played.calls)} if verdict != "right" else {}
        yield {"seed": seed, "switches": switches, "verdict": verdict, **wrong}
