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
from .labels import CHANGES, action, seen_by_others
from .tables import kinds

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "specs" / "hudi-calls.json"
PAGE = ROOT / "docs" / "hudi-calls.md"
HEAD = """# Apache Hudi at each of its storage calls

`make interop` runs Hudi's own client one call at a time. A [file system](../tools/peers/hudi/java/nbcc) under Hudi
stops before each put, rename, list, stat, get and delete of an actor. The call proceeds, or a fault happens there:

- `end`: the actor ends before the call. All its later calls are refused.
- `tear`: the actor ends in the middle of a put, and half of the file is there. Other puts are atomic.
- `fail`: the store answers this call with an error, once. The client lives on.

`python -m tools.hudi_calls FILE` let the faults happen at each call of Hudi 1.2.0. Then three judges looked: Hudi's
reader, `nbcc validate`, and Hudi's recovery (a clean after the heartbeats have expired, a pending compaction resumed,
one more write). The table has one file group and no metadata table.
"""
PLAYED = """
## Two operations at once

Two operations were interleaved at their calls at random, with few switches. The rows of each history were compared with
the merge of both, and `nbcc validate` judged the table.
"""
MAPPED = """
## What other actors see of the calls

A call changes the table for others if it creates or deletes an instant or a data file. Each action of the model stands
for one such call of the recorded runs, or for as many as the table says.
"""
READ_BEFORE = """
Between two of these calls Hudi lists, reads, and puts temporary files, markers and heartbeats. The heartbeat is put
before the requested instant. A failed instant is removed by two deletes, inflight first: the model has one step.
"""


def summary(seen: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures: the calls of each operation, what others see, the verdict of each judge, and the histories of
    each pair.
    """
    points = list(seen)
    calls = {each["operation"]: each["calls"] for each in points if "calls" in each}
    operations = {
        name: {"calls": kinds(taken), "seen": list(seen_by_others(taken)), "faults": dict(_faults(name, points))}
        for name, taken in calls.items()
    }
    pairs: dict[str, Any] = {}
    for each in points:
        if "verdict" in each:
            pair = pairs.setdefault(each["operation"], {"histories": 0, "switches": 0, "verdicts": {}})
            pair["histories"] += 1
            pair["switches"] += each["switches"]
            pair["verdicts"][each["verdict"]] = pair["verdicts"].get(each["verdict"], 0) + 1
    return {"format": 1, "release": NEWEST, "operations": operations, "pairs": pairs}


def _faults(name: str, points: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    of_name = [each for each in points if each["operation"] == name and "fault" in each]
    for fault in dict.fromkeys(each["fault"] for each in of_name):
        mine = [each for each in of_name if each["fault"] == fault]
        counts = {judge: dict(Counter(each[judge] for each in mine)) for judge in ("validate", "recovery")}
        yield fault, {"points": len(mine), "left": dict(Counter(map(outcome, mine))), **counts}


def outcome(seen: Mapping[str, Any]) -> str:
    """Return which rows a reader sees, and whether a caller that lives got an error."""
    answer = "" if seen["fault"] != "fail" else "success, " if seen["completed"] else "error, "
    return f"{answer}{seen['left']}"


def text(figures: Mapping[str, Any]) -> str:
    return json.dumps(figures, indent=1, ensure_ascii=False) + "\n"


def load() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(FIGURES.read_text("utf-8"))
    return figures


def page(figures: Mapping[str, Any]) -> str:
    """Return the page as Markdown."""
    calls, faults, mapped = [], [], []
    for name, each in figures["operations"].items():
        changes = sum(count for kind, count in each["calls"].items() if kind in CHANGES)
        calls.append([name, sum(each["calls"].values()), changes, _words(each["calls"])])
        for fault, found in each["faults"].items():
            judged = (_words(found[judge]) for judge in ("left", "validate", "recovery"))
            faults.append([name, f"`{fault}`", found["points"], *judged])
        actions = Counter(action(name, change) for change in each["seen"])
        mapped += [[name, one, count] for one, count in actions.items()]
    pairs = [
        [name, each["histories"], each["switches"], _words(each["verdicts"])] for name, each in figures["pairs"].items()
    ]
    titles = ("Hudi's reader sees the rows", "`nbcc validate`", "after recovery")
    tables = (
        table(("operation", "calls", "of them changes", "by kind"), calls),
        ("",),
        table(("operation", "fault", "calls", *titles), faults),
        (PLAYED,),
        table(("pair", "histories", "switches", "verdict"), pairs),
        (MAPPED,),
        table(("operation", "action of the model", "calls"), mapped),
        (READ_BEFORE,),
    )
    return "\n".join((HEAD, *chain.from_iterable(tables)))


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{word}: {count}" for word, count in counts.items())
