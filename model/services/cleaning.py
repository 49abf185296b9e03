"""What cleaning may delete: the files of slices that no read at or after the horizon needs (design: CLEAN).

The horizon H is a completion time. A read as of T ≥ H starts, in each file group, at the newest base file that was
complete at T; so whatever lies before the newest base file that was complete at H is needed by nobody. A pending plan
takes the newest base file there is, and logs of its slice: nothing that lies before.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ..files.covering import covered, standing_in
from ..files.slicing import file_slices
from ..protocol import Protocol
from ..reads.definitions import Query, log_compactions_as_of, taken
from ..reads.windows import in_window
from ..table import Clean, DataFile, Table, Victims


def horizon(table: Table, retained: int) -> int | None:
    """The completion time of the oldest of the `retained` newest completed writes; None while there are fewer."""
    done = sorted(write.completed for write in table.writes if write.completed is not None)
    return done[-retained] if len(done) >= retained else None


def oldest_kept(table: Table, group: int, at: int, protocol: Protocol) -> int:
    """The barrier of the oldest slice of a file group that is kept under the horizon `at`; 0: all of them."""
    counts: dict[str, Callable[[int, int | None], bool]] = {
        "completion": lambda barrier, completed: completed is not None and completed <= at,
        "barrier": lambda barrier, completed: completed is not None and barrier <= at,
        "any_barrier": lambda barrier, completed: barrier <= at,
    }
    here = [(p.requested, done) for p, done in zip(table.plans, table.completed, strict=True) if p.of(group)]
    here += [(write.requested, write.completed) for write in table.writes if group in write.loaded]
    return max((barrier for barrier, done in here if counts[protocol.retention](barrier, done)), default=0)


def since(table: Table, groups: int, at: int, protocol: Protocol) -> Table:
    """The table without the slices that go under a horizon, whether or not their files are gone yet (0: no horizon)."""
    oldest = (oldest_kept(table, group, at, protocol) for group in range(groups))
    return table._replace(oldest=tuple(oldest)) if at else table


def superseded(
    table: Table, groups: int, at: int, deleted: frozenset[DataFile], protocol: Protocol
) -> tuple[Victims, ...]:
    """What a clean with the horizon `at` deletes, by file group: files that are still there of slices that go."""
    found = (Victims(group, _files(table, group, at, protocol, deleted)) for group in range(groups))
    return tuple(victims for victims in found if victims.files)


def _files(table: Table, group: int, at: int, protocol: Protocol, deleted: frozenset[DataFile]) -> tuple[DataFile, ...]:
    oldest = oldest_kept(table, group, at, protocol)
    gone = [each for each in file_slices(table, group, protocol) if (each.barrier or 0) < oldest]
    bases = [DataFile(group, each.base, 0) for each in gone if each.base is not None]
    logs = [DataFile(group, *log) for each in gone for log in covered(table, group, each.logs)]
    return tuple(sorted({*bases, *logs} - deleted))


def needed(table: Table, group: int, time: float, protocol: Protocol) -> frozenset[DataFile]:
    """The files that a read of the group as of `time` opens (inf: a snapshot)."""
    barrier, writes = taken(table, group, time, protocol)
    base = () if barrier is None else (DataFile(group, barrier, 0),)
    seen = table._replace(log_compactions=log_compactions_as_of(table, time, protocol))
    logs = standing_in(seen, group, (log for write in writes for log in write.logs(group)), protocol)
    return frozenset((*base, *(DataFile(group, *log) for log in logs)))


def opened(table: Table, group: int, query: Query, until: int, protocol: Protocol) -> frozenset[DataFile]:
    """The files of the group that a query opens; `until`: the end of one that names none."""
    match query.kind:
        case "incremental":
            writes = in_window(table, query.after or 0, until, protocol)
            files = ((file, group in write.loaded) for write in writes for file in write.files_in(group))
            return frozenset(DataFile(group, requested, 0 if base else version) for (requested, version), base in files)
        case "changes":
            begin = needed(table, group, query.after or 0, protocol)
            return begin | needed(table, group, until, protocol)
        case "read_optimized":
            return frozenset(file for file in needed(table, group, inf, protocol) if not file.version)
        case "as_of":
            return needed(table, group, until, protocol)
    return needed(table, group, inf, protocol)


def needed_by_plans(table: Table) -> frozenset[DataFile]:
    """The files that pending plans take."""
    pending = [plan for plan, done in zip(table.plans, table.completed, strict=True) if done is None]
    pending += [plan for plan, done in table.log_compactions if done is None]
    return frozenset(file for plan in pending for part in plan.groups for file in part.files)


def published_horizon(cleans: tuple[Clean, ...], published: tuple[Any, ...], protocol: Protocol) -> int:
    """The horizon that readers know of: a read before it is refused. 0 without one."""
    done = {entry.requested for entry in published}
    early = protocol.horizon == "before_delete"
    return max((clean.horizon for clean in cleans if early or clean.requested in done), default=0)
