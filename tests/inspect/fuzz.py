"""Breaking a table a little, and asking the engine's own reader whether anybody would notice."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from nbcc.engine.actions import operations
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.load import open_table
from nbcc.engine.names import RandomNames
from nbcc.simulator.control.storage import MemoryStorage
from nbcc.simulator.validate import Report, validate

KINDS = ("truncate", "flip", "swap", "delete", "append")


@dataclass(frozen=True)
class Broken:
    """A table with one thing wrong: `kind` was done to `paths`."""

    storage: MemoryStorage
    kind: str
    paths: tuple[str, ...]


def broken(whole: MemoryStorage, seed: int) -> Broken:
    """A copy with one random defect."""
    draw = random.Random(seed)
    copy = MemoryStorage()
    copy.objects = dict(whole.objects)
    kind = draw.choice(KINDS)
    paths = sorted(copy.objects)
    path = draw.choice([p for p in paths if copy.objects[p]] if kind in ("truncate", "flip") else paths)
    data = copy.objects[path]
    if kind == "delete":
        copy.delete(path)
    elif kind == "truncate":
        copy.put(path, data[: draw.randrange(len(data))])
    elif kind == "append":
        copy.put(path, data + draw.randbytes(1 + draw.randrange(8)))
    elif kind == "flip":
        at = draw.randrange(len(data))
        copy.put(path, data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :])
    else:
        other = draw.choice(paths)
        copy.put(path, whole.objects[other])
        copy.put(other, data)
        return Broken(copy, kind, (path, other))
    return Broken(copy, kind, (path,))


def answer(storage: MemoryStorage) -> Any:
    """What the engine's reader sees: timeline, slices, rows of the snapshot; the error's class if it fails."""
    nothing: Any = None
    try:
        config = open_table(storage)
        jobs = InProcessJobs(storage, RandomNames())
        context = Context(storage, nothing, nothing, nothing, jobs, config.rules)
        told = [operations()[name].run(context, config) for name in ("timeline", "file_slices", "snapshot")]
        return [str(told[0].instants), str(told[1]), str(sorted(map(str, told[2].to_pylist())))]
    except Exception as error:
        return type(error).__name__


def wrongly_fine(whole: MemoryStorage, case: Broken, report: Report) -> bool:
    """Whether a judgement calls fine what the engine reads differently, or not at all.

    Left out: another value in a row of a data file that is otherwise whole. Hudi's files have no checksums for it.
    """
    if not report.fine:
        return False
    before, after = answer(whole), answer(case.storage)
    if before == after:
        return False
    value_changed = isinstance(after, list) and after[:2] == before[:2] and case.kind == "flip"
    return not (value_changed and not case.paths[0].startswith(".hoodie/"))


def judge(storage: MemoryStorage) -> Report:
    return validate(storage, opened=True)
