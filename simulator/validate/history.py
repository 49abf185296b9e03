"""A table's history, file group by file group, in the model's words: writes, plans, and when each of them was what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, TypeGuard

from nbcc.engine.file_names import in_partition, parse_base
from nbcc.engine.files.group_files import BaseFile, Group, LogFile

from .view import File, GroupPlan, View

MODELLED = ("deltacommit", "commit", "compaction")
LOG_COMPACT = "LOG_COMPACT"


class Written(NamedTuple):
    """A write in one file group. `names` are its log files by version; `inflight`: it went beyond requesting."""

    requested: str
    completed: str | None
    names: tuple[str, ...]
    inflight: bool


class Planned(NamedTuple):
    """A plan in one file group. `base` is the barrier of the base file that it starts from, `names` its logs.

    `given`: no plan at all, but a base file that another kind of write put there; what came before it is not told.
    `replaces`: the plan of a write that takes nothing and puts its own rows in the place of all that was there.
    """

    barrier: str
    completed: str | None
    base: str | None
    names: tuple[str, ...]
    inflight: bool
    unplanned: bool = False
    replaces: bool = False


class LogPlanned(NamedTuple):
    """The plan of a log compaction in one file group: `names` are the logs that it takes, `made` the one it puts."""

    requested: str
    completed: str | None
    names: tuple[str, ...]
    made: str


@dataclass(frozen=True)
class GroupHistory:
    """What happened in a file group, writes and log compactions by requested time, plans by barrier."""

    group: Group
    writes: tuple[Written, ...]
    plans: tuple[Planned, ...]
    log_plans: tuple[LogPlanned, ...] = ()

    @property
    def in_one_order(self) -> bool:
        """Whether its writes complete in the order in which they are requested."""
        times = [write.completed or "~" for write in self.writes]
        return all(earlier <= later for earlier, later in pairwise(times))


@dataclass(frozen=True)
class Histories:
    """The groups that the model can tell, and why the others cannot be: reason -> how many groups."""

    playable: tuple[Group, ...]
    left_out: Counter[str]
    history_of: Callable[[Group], GroupHistory]

    @property
    def groups(self) -> Iterator[GroupHistory]:
        """The history of each, made when its turn comes: those of a million files together are as big as the table."""
        return map(self.history_of, self.playable)


def histories(view: View) -> Histories:
    """The histories of all file groups."""
    untold = _untold(view)
    pending, log_plans_of = _pending_logs(view), _all_log_plans(view)

    def tell(group: Group) -> GroupHistory:
        plans = tuple(_plans(view, group))
        log_plans = tuple(log_plans_of.get(group, ()))
        services = {plan.barrier for plan in plans} | {plan.requested for plan in log_plans}
        logs = (file for file in chain(view.by_group.get(group, ()), pending.get(group, ())) if _is_log(file, view))
        writes = tuple(_writes(log for log in logs if log.requested not in services))
        return GroupHistory(group, writes, plans, log_plans)

    told, left_out = [], Counter[str]()
    for group in sorted({*pending, *view.plans, *view.by_group}):
        reason = untold.get(group) or _unplayable(view, group)
        if reason is None:
            told.append(group)
        else:
            left_out[reason] += 1
    return Histories(tuple(told), left_out, tell)


def _untold(view: View) -> dict[Group, str]:
    """Groups in which something happened that the model does not know."""
    found: dict[Group, str] = dict.fromkeys(view.replaced, "a replace put it out of sight")
    for commit in view.found.commits.values():
        action = view.found.timeline.begun_as.get((commit.instant.requested, commit.instant.completes_as))
        what = action or commit.instant.action
        compacts_logs = commit.operation == LOG_COMPACT
        # What a log compaction of another engine covers is not told by its commit.
        if not (compacts_logs and commit.own) and (compacts_logs or what not in MODELLED):
            for group in {(f.partition, f.file_id) for s in commit.stats if (f := view.counted.get(s.path))}:
                found[group] = f"the model has no {what} ({commit.operation or 'no operation'})"
    return found


def _unplayable(view: View, group: Group) -> str | None:
    known = {part.barrier for part in view.plans.get(group, ())}
    files = view.by_group.get(group, ())
    if len(files) > 1 and not known and not any(isinstance(file, LogFile) for file in files):
        return "nothing but base files that no compaction wrote"
    if any(file.requested in view.compactions and file.requested not in known for file in files):
        return "the plan of a compaction is gone"
    parts = [part for part in view.plans.get(group, ()) if not view.found.plans[part.barrier].replaces]
    if any(not part.operation.logs for part in parts):
        return "a plan takes no logs"
    given = (f for f in files if isinstance(f, BaseFile) and f.requested not in known)
    if known and any(base.requested > min(known) for base in given):
        return "a write put a base file beside compactions"
    return None


def _pending_logs(view: View) -> Mapping[Group, list[LogFile]]:
    """Per group the logs that lie there of pending instants."""
    found: dict[Group, list[LogFile]] = {}
    for file in view.found.files.values():
        if file.completed is None and view.pending(file.requested) and _is_log(file, view):
            found.setdefault((file.partition, file.file_id), []).append(file)
    return found


def _is_log(file: File, view: View) -> TypeGuard[LogFile]:
    """What no reader saw, and was written again, is told by the write that did."""
    return isinstance(file, LogFile) and file.path not in view.found.rewritten


def _writes(logs: Iterable[LogFile]) -> Iterator[Written]:
    by_write: dict[str, list[LogFile]] = {}
    for log in logs:
        by_write.setdefault(log.requested, []).append(log)
    for requested in sorted(by_write):
        files = by_write[requested]
        if len(files) > 1:
            files.sort(key=lambda log: (log.version, log.token))
        yield Written(requested, files[0].completed, tuple(f.path.rpartition("/")[2] for f in files), True)


def _plans(view: View, group: Group) -> Iterator[Planned]:
    """By barrier: the plans, and base files without one (a bulk insert, a copy-on-write write)."""
    parts = {part.barrier: part for part in view.plans.get(group, ())}
    bases = {f.requested: f for f in view.by_group.get(group, ()) if isinstance(f, BaseFile)}
    for barrier in sorted({*parts, *bases}):
        part = parts.get(barrier)
        if part is not None:
            yield _planned(view, part)
        else:
            yield Planned(barrier, bases[barrier].completed, None, (), True, unplanned=True)


def _planned(view: View, part: GroupPlan) -> Planned:
    """Logs that an earlier plan of the group kept its deletes in are part of its base, and no input of their own."""
    operation = part.operation
    base = parse_base(operation.base_file) if operation.base_file else None
    instant = base.instant if base else None
    names = tuple(
        name
        for name in operation.logs
        if view.named_after(in_partition(operation.partition, name)) not in view.found.plans
    )
    replaces = view.found.plans[part.barrier].replaces
    state = next((i.state for i in view.actions.get(part.barrier, ()) if i.writes), "completed")
    return Planned(part.barrier, part.completed, instant, names, state != "requested", replaces=replaces)


def _all_log_plans(view: View) -> Mapping[Group, list[LogPlanned]]:
    """Completed ones by what their commits say that they cover, which readers go by; pending ones by their plans."""
    done = {commit.instant.requested: commit for commit in view.found.commits.values() if commit.covers}
    found: dict[Group, list[LogPlanned]] = {}
    for requested in sorted({*view.found.log_plans, *done}):
        if requested in done:
            commit = done[requested]
            files = {file.path.rpartition("/")[2]: file for s in commit.stats if (file := view.counted.get(s.path))}
            for name, inputs in commit.covers:
                if name in files:
                    group = files[name].partition, files[name].file_id
                    made = LogPlanned(requested, commit.instant.completed, inputs, name)
                    found.setdefault(group, []).append(made)
        else:
            for each in view.found.log_plans[requested].operations:
                planned = LogPlanned(requested, None, each.logs, "")
                found.setdefault((each.partition, each.file_id), []).append(planned)
    return found
