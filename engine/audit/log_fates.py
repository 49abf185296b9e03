"""Decides which committed logs a snapshot must contain (docs/contract.md, SNAP), and what hides the others.

`nbcc validate` reports the logs whose rows no reader sees although they must be there. `rewrite` writes the rows of
such logs again, and refuses all others. Both use this one decision.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from ..file_names import in_partition, parse_log, split_path
from ..files.group_files import BaseFile, Group, LogFile
from ..files.log_compaction import without_covered
from .amounts import several
from .record import Audit, File, listed_data_file

Kind = Literal["read", "merged", "covered", "replaced", "kept", "rewritten", "unrecorded", "left_out", "lost"]

LACKING: Final = ("lost", "left_out")
"""The fates of logs whose rows readers may lack although a snapshot must contain them."""

LOADS: Final = ("BULK_INSERT", "BULK_INSERT_PREPPED")


class Fate(NamedTuple):
    """What became of a committed log. `because` names the cause, and `over` the barrier that decided it.

    A snapshot reads the log (`read`), or its rows are in the base file of a compaction (`merged`). It must not read a
    log that a log compaction replaced (`covered`), or a replacing write (`replaced`). `kept` is a log of deletes that
    a compaction wrote, and `rewritten` a log whose rows `rewrite` has written again. `unrecorded` means that a base
    file without a plan is newer. The rows of a log are `lost` if a newer base file does not contain them, and
    `left_out` if the base file merged another number of logs than its plan lists.
    """

    kind: Kind
    because: str
    over: str = ""


class LogFates:
    """The fates of the committed logs of a table. Instants that a restore has undone do not count."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self._covers = {log: paths for commit in audit.commits.values() for log, paths in commit.covers.items()}
        self._covered = {path: log for log, paths in self._covers.items() for path in paths}
        self._replaced = {group: r for r, commit in audit.commits.items() for group in commit.groups_replaced}
        self._compactions = {r for r, commit in audit.commits.items() if commit.operation == "COMPACT"}
        self._plans: dict[Group, dict[str, tuple[str, ...]]] = {}
        for barrier, plan in sorted(audit.plans.items()):
            for each in plan.operations if barrier in audit.completed else ():
                self._plans.setdefault((each.partition, each.file_id), {})[barrier] = each.logs
        # By the counts in commits and plans: no data file is opened for it.
        self._too_few = {each[0] for each in compactions_that_left_logs_out(audit)}

    def of_group(self, group: Group, files: Sequence[File]) -> Iterator[tuple[LogFile, Fate]]:
        """Yield each log among the committed files of one file group, with the completion time that ranks it, and its
        fate. `files` are the files that completed commits list, including missing files.
        """
        logs = {file.path: file for file in files if isinstance(file, LogFile) and file.completed}
        bases = {file.requested: file for file in files if isinstance(file, BaseFile) and file.completed}
        plans = self._plans.get(group, {})
        # Reversed, so that the oldest plan that takes a log stays: the rows are in its base file first.
        taken = {name: barrier for barrier in reversed(plans) for name in plans[barrier]}
        effective = {file.path: file for file in self._visible(logs.values())}
        for path, log in logs.items():
            if (cover := logs.get(self._covered.get(path, ""))) is not None:
                yield log, Fate("covered", f"the log compaction {cover.requested} has merged it into {cover.path}")
            elif (file := effective.get(path)) is not None:
                yield file, self._fate(group, file, bases, {*plans}, taken)

    def of_file_group(self, group: Group) -> Iterator[tuple[LogFile, Fate]]:
        """Yield the fate of each committed log of one file group."""
        listed = (
            listed_data_file(stat, commit.instant)
            for commit in self._audit.commits.values()
            for stat in commit.stats
            if split_path(stat.path)[0] == group[0]
        )
        return self.of_group(group, [file for file in listed if file is not None and file.file_id == group[1]])

    def of(self, path: str) -> Fate | None:
        """Return the fate of one log, or None if no completed commit lists it."""
        partition, name = split_path(path)
        log = parse_log(name)
        fates = self.of_file_group((partition, log.file_id)) if log else ()
        return next((fate for file, fate in fates if file.path == path), None)

    def _visible(self, logs: Iterable[LogFile]) -> Iterator[LogFile]:
        found = without_covered(logs, self._covers, frozenset(), self._audit.rules) if self._covers else logs
        return (log for log in found if isinstance(log, LogFile))

    def _fate(
        self, group: Group, log: LogFile, bases: Mapping[str, BaseFile], plans: set[str], taken: Mapping[str, str]
    ) -> Fate:
        """Return the fate of a log that no log compaction replaces. `log.completed` is the time that determines its
        slice: the log of a log compaction takes the place of its newest input. `taken` maps the names of logs to the
        compactions that merged them.
        """
        if (aside := self._set_aside(group, log, plans)) is not None:
            return aside
        completed = log.completed or ""
        # A replacing write takes no files on purpose. Without its base file, another engine completed it to no effect.
        replaces = {time for time in plans if self._audit.plans[time].replaces}
        later = sorted(time for time in {*(plans - replaces), *bases} if time > completed)
        # Before `_merger`: a compaction may have merged the log, and the replace still hides its rows.
        if over := next((time for time in later if time in replaces), None):
            return Fate("replaced", f"the replace {over} hides what completed before it", over)
        if not later:
            return Fate("read", "every snapshot reads it")
        if (merger := self._merger(log.path, taken)) is not None:
            if merger in bases and bases[merger].path in self._too_few:
                return Fate("left_out", f"the compaction {merger} merged another number of logs than planned", merger)
            return Fate("merged", f"the compaction {merger} has merged it", merger)
        return self._not_taken(completed, later[0], plans, bases)

    def _set_aside(self, group: Group, log: LogFile, plans: Container[str]) -> Fate | None:
        if replace := self._replaced.get(group):
            return Fate("replaced", f"the replace {replace} hides its file group", replace)
        if log.requested in plans or log.requested in self._compactions:
            return Fate("kept", f"the compaction {log.requested} wrote it to keep deletes")
        if log.path in self._audit.rewritten:
            return Fate("rewritten", "its rows were written again")
        return None

    def _not_taken(self, completed: str, over: str, plans: Container[str], bases: Mapping[str, BaseFile]) -> Fate:
        """Return the fate of a log that completed before the barrier `over`, and that no compaction took."""
        commit = self._audit.commits.get(over)
        if over in plans:
            because = f"it completed at {completed}, before the barrier {over}, whose plan did not take it"
            return Fate("lost", f"{because}: its slice is superseded and no reader sees its rows", over)
        if commit is not None and commit.operation in LOADS:
            because = f"it completed at {completed}, before {bases[over].path} was written over it"
            return Fate("lost", f"{because}: no reader sees its rows", over)
        return Fate("unrecorded", f"the base file of {over} is newer, and no plan records what it contains", over)

    def _merger(self, path: str, taken: Mapping[str, str]) -> str | None:
        """Return the compaction that took a log, or the newest of those that took all logs that it replaces."""
        name = split_path(path)[1]
        if name in taken:
            return taken[name]
        mergers = [self._merger(each, taken) for each in self._covers.get(path, ())]
        # All inputs: if one of them was not taken, its rows are only in the log of the log compaction.
        return max((each for each in mergers if each), default=None) if all(mergers) else None


def compactions_that_left_logs_out(audit: Audit) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each base file into which a compaction merged fewer or more logs than its plan lists: the path of the base
    file, a phrase, and the paths of the planned logs.
    """
    for requested, commit in audit.commits.items():
        plan = audit.plans.get(requested)
        if plan is None:
            continue
        # Reversed, so that the first operation of a file group counts if a plan has two.
        logs = {(each.partition, each.file_id): each.logs for each in reversed(plan.operations)}
        for stat in commit.stats:
            partition, name = split_path(stat.path)
            merged = stat.log_files_compacted
            if merged is None or not name.endswith(".parquet"):
                continue
            planned = logs.get((partition, name.partition("_")[0]))
            # Either count is right: the logs in which an earlier compaction kept deletes may be counted or not.
            if planned is not None and merged not in (len(planned), len(planned) - _kept(planned, audit)):
                because = f"{several(merged, 'log')} are in it, but its plan {requested} takes {len(planned)}"
                yield stat.path, because, tuple(in_partition(partition, each) for each in planned)


def _kept(names: Iterable[str], audit: Audit) -> int:
    """Return how many of a plan's logs were written by an earlier compaction to store tombstones."""
    return sum(name is not None and name.instant in audit.plans for name in map(parse_log, names))
