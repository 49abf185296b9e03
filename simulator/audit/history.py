"""The history of each file group of a table in the model's terms: writes and plans with their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, TypeGuard

from nbcc.engine.audit.record import File
from nbcc.engine.file_names import in_partition, parse_base, split_path
from nbcc.engine.files.group_files import BaseFile, Group, LogFile

from .view import PlannedGroup, TableView

MODELLED = ("deltacommit", "commit", "compaction", "replacecommit", "clustering")
"""Actions whose files have a place in the history of a file group. A replacing write or a clustering puts base files
into new file groups, as a bulk insert does, and the file groups that it hides end there.
"""
LOG_COMPACT = "LOG_COMPACT"


class Written(NamedTuple):
    """A write in one file group. `names` contains the write's log files, sorted by version. `inflight` is True if the
    write has started to write data.
    """

    requested: str
    completed: str | None
    names: tuple[str, ...]
    inflight: bool


class Planned(NamedTuple):
    """A compaction plan in one file group. `base` is the requested time of the base file that the compaction reads, and
    `names` contains the logs that it merges.

    `unplanned` is True if a write, such as a bulk insert, created the base file without a plan, so that its inputs are
    unknown. `replaces` is True if the plan belongs to a replacing write, which reads no files and hides all earlier
    files.
    """

    barrier: str
    completed: str | None
    base: str | None
    names: tuple[str, ...]
    inflight: bool
    unplanned: bool = False
    replaces: bool = False


class LogPlanned(NamedTuple):
    """The plan of a log compaction in one file group. `names` lists the logs to merge. `made` is the resulting log, or
    '' while the log compaction is pending.
    """

    requested: str
    completed: str | None
    names: tuple[str, ...]
    made: str


@dataclass(frozen=True)
class GroupHistory:
    """The events in one file group: writes, log compactions and compaction plans, each sorted by requested time."""

    group: Group
    writes: tuple[Written, ...]
    plans: tuple[Planned, ...]
    log_plans: tuple[LogPlanned, ...] = ()

    @property
    def in_one_order(self) -> bool:
        """True if the writes of the file group completed in the order in which they were requested."""
        times = [write.completed or "~" for write in self.writes]
        return all(earlier <= later for earlier, later in pairwise(times))


@dataclass(frozen=True)
class Histories:
    """The file groups whose history the model supports.

    `left_out` maps each reason for excluding file groups to the number of groups excluded for this reason. `plain` is
    the number of file groups without logs and plans: no rule orders their base files, so there is nothing to play.
    """

    playable: tuple[Group, ...]
    left_out: Counter[str]
    history_of: Callable[[Group], GroupHistory]
    plain: int = 0

    @property
    def groups(self) -> Iterator[GroupHistory]:
        """Yield the history of each supported file group. Histories are computed one at a time to save memory."""
        return map(self.history_of, self.playable)


def histories(view: TableView) -> Histories:
    """Return the histories of all file groups."""
    not_modelled = _not_modelled(view)
    pending, log_plans_of = _pending_logs(view), _all_log_plans(view)

    def history_of(group: Group) -> GroupHistory:
        plans = tuple(_plans(view, group))
        log_plans = tuple(log_plans_of.get(group, ()))
        services = {plan.barrier for plan in plans} | {plan.requested for plan in log_plans}
        logs = (file for file in chain(view.by_group.get(group, ()), pending.get(group, ())) if _is_log(file, view))
        writes = tuple(_writes(log for log in logs if log.requested not in services))
        return GroupHistory(group, writes, plans, log_plans)

    playable, left_out, plain = [], Counter[str](), 0
    for group in sorted({*pending, *view.plans, *view.by_group}):
        reason = not_modelled.get(group) or _unplayable(view, group)
        if reason is not None:
            left_out[reason] += 1
        elif _is_plain(view, group) and group not in pending:
            plain += 1
        else:
            playable.append(group)
    return Histories(tuple(playable), left_out, history_of, plain)


def _is_plain(view: TableView, group: Group) -> bool:
    files = view.by_group.get(group, ())
    return len(files) > 1 and not view.plans.get(group) and not any(isinstance(file, LogFile) for file in files)


def _not_modelled(view: TableView) -> dict[Group, str]:
    reasons: dict[Group, str] = {}
    for commit in view.audit.commits.values():
        action = view.audit.timeline.begun_as.get((commit.instant.requested, commit.instant.completes_as))
        what = action or commit.instant.action
        compacts_logs = commit.operation == LOG_COMPACT
        # The commit of another engine's log compaction does not record which logs it covers.
        if not (compacts_logs and commit.own) and (compacts_logs or what not in MODELLED):
            for group in {(f.partition, f.file_id) for s in commit.stats if (f := view.counted.get(s.path))}:
                reasons[group] = f"the model has no {what} ({commit.operation or 'no operation'})"
    return reasons


def _unplayable(view: TableView, group: Group) -> str | None:
    known = {part.barrier for part in view.plans.get(group, ())}
    files = view.by_group.get(group, ())
    if any(file.requested in view.compactions and file.requested not in known for file in files):
        return "the plan of a compaction is missing"
    parts = [part for part in view.plans.get(group, ()) if not view.audit.plans[part.barrier].replaces]
    if any(not part.operation.logs for part in parts):
        return "a plan takes no logs"
    unplanned = (f for f in files if isinstance(f, BaseFile) and f.requested not in known)
    if known and any(base.requested > min(known) for base in unplanned):
        return "a write added a base file between compactions"
    return None


def _pending_logs(view: TableView) -> Mapping[Group, list[LogFile]]:
    logs: dict[Group, list[LogFile]] = {}
    for file in view.audit.files.values():
        if file.completed is None and view.pending(file.requested) and _is_log(file, view):
            logs.setdefault((file.partition, file.file_id), []).append(file)
    return logs


def _is_log(file: File, view: TableView) -> TypeGuard[LogFile]:
    """True for a log, unless `repair` has rewritten its rows."""
    return isinstance(file, LogFile) and file.path not in view.audit.rewritten


def _writes(logs: Iterable[LogFile]) -> Iterator[Written]:
    by_write: dict[str, list[LogFile]] = {}
    for log in logs:
        by_write.setdefault(log.requested, []).append(log)
    for requested in sorted(by_write):
        files = by_write[requested]
        if len(files) > 1:
            files.sort(key=lambda log: (log.version, log.token))
        yield Written(requested, files[0].completed, tuple(f.path.rpartition("/")[2] for f in files), True)


def _plans(view: TableView, group: Group) -> Iterator[Planned]:
    """Yield the compaction plans in order of requested time. For a base file without a plan, such as that of a bulk
    insert, yield a placeholder plan with `unplanned=True`.
    """
    parts = {part.barrier: part for part in view.plans.get(group, ())}
    bases = {f.requested: f for f in view.by_group.get(group, ()) if isinstance(f, BaseFile)}
    for barrier in sorted({*parts, *bases}):
        part = parts.get(barrier)
        if part is not None:
            yield _planned(view, part)
        else:
            yield Planned(barrier, bases[barrier].completed, None, (), True, unplanned=True)


def _planned(view: TableView, part: PlannedGroup) -> Planned:
    """Return the part of a compaction plan that concerns one file group. Logs that an earlier compaction wrote to keep
    tombstones are omitted.
    """
    operation = part.operation
    base = parse_base(operation.base_file) if operation.base_file else None
    instant = base.instant if base else None
    names = tuple(
        name
        for name in operation.logs
        if view.named_after(in_partition(operation.partition, name)) not in view.audit.plans
    )
    replaces = view.audit.plans[part.barrier].replaces
    state = next((i.state for i in view.actions.get(part.barrier, ()) if i.writes), "completed")
    return Planned(part.barrier, part.completed, instant, names, state != "requested", replaces=replaces)


def _all_log_plans(view: TableView) -> Mapping[Group, list[LogPlanned]]:
    """Return the completed and pending log compactions of each file group."""
    done = {commit.instant.requested: commit for commit in view.audit.commits.values() if commit.covers}
    log_plans: dict[Group, list[LogPlanned]] = {}
    for requested in sorted({*view.audit.log_plans, *done}):
        if requested in done:
            commit = done[requested]
            files = {file.path.rpartition("/")[2]: file for s in commit.stats if (file := view.counted.get(s.path))}
            for path, covered in commit.covers.items():
                name, inputs = split_path(path)[1], tuple(split_path(each)[1] for each in covered)
                if name in files:
                    group = files[name].partition, files[name].file_id
                    made = LogPlanned(requested, commit.instant.completed, inputs, name)
                    log_plans.setdefault(group, []).append(made)
        else:
            for each in view.audit.log_plans[requested].operations:
                planned = LogPlanned(requested, None, each.logs, "")
                log_plans.setdefault((each.partition, each.file_id), []).append(planned)
    return log_plans
