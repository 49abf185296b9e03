"""Makes single random defects in a table, and checks whether the engine's reader returns other rows because of a
defect.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from nbcc.engine.actions import operations
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.load import open_table
from nbcc.engine.names import RandomNames
from nbcc.simulator.audit import Report, validate
from nbcc.simulator.lockstep.control.storage import MemoryStorage

KINDS = ("truncate", "flip", "swap", "delete", "append")


@dataclass(frozen=True)
class Broken:
    """A table with one defect: of `kind`, in the files `paths`."""

    storage: MemoryStorage
    kind: str
    paths: tuple[str, ...]


def broken(whole: MemoryStorage, seed: int) -> Broken:
    """Return a copy of the files with one random defect."""
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
    """Return what the engine reads: timeline, slices and rows of the snapshot; or the name of the error class."""
    nothing: Any = None
    try:
        config = open_table(storage)
        jobs = InProcessJobs(storage, RandomNames())
        context = Context(storage, nothing, nothing, nothing, jobs, config.rules)
        reads = [operations()[name].run(context, config) for name in ("timeline", "file_slices", "snapshot")]
        return [str(reads[0].instants), str(reads[1]), str(sorted(map(str, reads[2].to_pylist())))]
    except Exception as error:
        return type(error).__name__


def wrongly_fine(whole: MemoryStorage, case: Broken, report: Report) -> bool:
    """Return whether a report calls a table fine although the engine reads it differently, or fails.

    A changed value in an otherwise intact data file is exempt, because Hudi's data files have no checksum for it.
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
