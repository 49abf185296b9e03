"""Judges a copy that a stream has made under kills: after each trigger it equals the source as of its offset."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from nbcc import Table
from nbcc.engine.timeline import completion_of, load
from nbcc.engine.writes.idempotency import EXTRA
from nbcc.simulator.audit import validate


class Published(NamedTuple):
    """The progress that the stream had published in the source at a moment, and the completion times of the copy's
    writes, listed afterwards.
    """

    progress: str
    completed: frozenset[str]


def triggers(folder: Path) -> list[int]:
    """The numbers of the triggers that Spark's commit log lists."""
    return sorted(int(path.name) for path in (folder / "checkpoint" / "commits").glob("[0-9]*"))


def offset(folder: Path, number: int) -> str:
    """Return the completion time in the source until which a trigger reads."""
    lines = (folder / "checkpoint" / "offsets" / str(number)).read_text("utf-8").splitlines()
    return str(json.loads(lines[2])["completed"])


def compare(folder: Path, published: Sequence[Published]) -> dict[str, Any]:
    """Return the figures of a copy, and under `broken` what is wrong with it:

    - `wrong_triggers`: triggers in Spark's commit log after which the copy differs from the source as of their offset;
    - `doubled_batches`: batches that several instants have committed;
    - `early_progress`: progress that the stream published before the copy had the batch of this offset;
    - `unequal`: the copy differs from the source at the end, or the stream's progress is not the last offset;
    - `validate`: the tables that `nbcc validate` calls broken.
    """
    source, copy = (Table.open(None, folder / name) for name in ("source", "copy"))
    query = json.loads((folder / "checkpoint" / "metadata").read_text("utf-8"))["id"]
    commits = copy.context.commits
    batches = [
        (commits.commit(instant).extra[EXTRA], completion_of(instant))
        for instant in load(copy.context.storage).completed
        if instant.writes and EXTRA in commits.commit(instant).extra
    ]
    at, wrong, state = dict(batches), list[int](), list[tuple[str, int]]()
    numbers = triggers(folder)
    for number in numbers:
        if completed := at.get(f"{query}/{number}"):
            state = _rows(copy.as_of(completed))
        if state != _rows(source.as_of(offset(folder, number))):
            wrong.append(number)
    offsets = {offset(folder, number): at.get(f"{query}/{number}") for number in numbers}
    broken = {
        "wrong_triggers": wrong,
        "doubled_batches": sorted(batch for batch, count in Counter(b for b, _ in batches).items() if count > 1),
        "early_progress": sorted({each.progress for each in published if _is_early(each, offsets)}),
        "unequal": [*_unequal(source, copy), *_progress(source, max(offsets, default=""))],
        "validate": [n for n, t in (("source", source), ("copy", copy)) if _is_broken(t)],
    }
    return {
        "triggers": len(numbers),
        "without_commit": sum(f"{query}/{number}" not in at for number in numbers),
        "source_commits": sum(instant.writes for instant in load(source.context.storage).completed),
        "published": len(published),
        "broken": {name: found for name, found in broken.items() if found},
    }


def _is_early(published: Published, offsets: dict[str, str | None]) -> bool:
    """`offsets`: the offset of a trigger -> when its batch completed; None if it needed no commit."""
    if published.progress not in offsets:
        return published.progress > min(offsets, default="")  # what a stream publishes at its start is before them all
    completed = offsets[published.progress]
    return completed is not None and completed not in published.completed


def _unequal(source: Table, copy: Table) -> list[str]:
    return [] if _rows(copy.snapshot()) == _rows(source.snapshot()) else ["rows"]


def _progress(source: Table, last: str) -> list[str]:
    return [] if set(source.consumers().values()) == {last} else ["progress"]


def _is_broken(table: Table) -> bool:
    return validate(table.context.storage, opened=True, rivals=False).verdict == "BROKEN"


def _rows(rows: pa.Table) -> list[tuple[str, int]]:
    """The rows in order, so that a key that is there twice makes a difference."""
    return sorted((row["id"], row["ts"]) for row in rows.to_pylist())
