"""Derives file slices, plans and replaced file groups from the audit of a table (its parsed files)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from nbcc.engine.audit import Audit, Commit, DamagedFile
from nbcc.engine.audit.log_fates import LogFates
from nbcc.engine.audit.record import SERVICES, File
from nbcc.engine.audit.removed_instants import removed_instants
from nbcc.engine.file_names import PARTITION_METADATA, parse_base, parse_log, split_path
from nbcc.engine.files.group_files import BaseFile, Group, LogFile, data_file
from nbcc.engine.files.log_compaction import without_covered
from nbcc.engine.files.slices import FileSlice, build_slices, newest_bases, to_read
from nbcc.engine.timeline import CompactionOperation, Instant, WriteStat

TIMELINE = ".hoodie/timeline"


class PlannedGroup(NamedTuple):
    """The part of a compaction plan that concerns one file group. `completed` is None while the plan is pending."""

    barrier: str
    completed: str | None
    operation: CompactionOperation


@dataclass(frozen=True)
class TableView:
    """The input of the rules that diagnose a table. `now` is the current time as a timestamp. `data` contains the
    faults in the contents of data files, if the contents were checked.
    """

    audit: Audit
    now: str
    data: tuple[DamagedFile, ...] = ()

    @property
    def counted(self) -> Mapping[str, File]:
        """The data files listed in completed commits, by path, including missing files."""
        return self._listed[0]

    @property
    def mismatches(self) -> Sequence[tuple[str, WriteStat]]:
        """Files that differ from their entry in a commit: they are missing, are not data files, or have another size or
        instant.

        Each file is a pair: the commit's requested time, and the file's entry (`WriteStat`) in the commit metadata.
        """
        return self._listed[1]

    @cached_property
    def _listed(self) -> tuple[dict[str, File], list[tuple[str, WriteStat]]]:
        # One look-up of each path serves both: among a million paths a look-up costs more than all comparisons.
        counted: dict[str, File] = {}
        mismatches = []
        files = self.audit.files
        for requested, commit in self.audit.commits.items():
            for stat in commit.stats:
                file = files.get(stat.path)
                if file is None or file.size != stat.size or _named(file) != requested:
                    mismatches.append((requested, stat))
                    file = file or data_file(stat.path, stat.size, commit.instant)
                if file is not None:
                    counted[file.path] = file
        return counted, mismatches

    @property
    def unlisted(self) -> Iterable[File]:
        """The data files that are not listed in the commit of their instant."""
        commits, shared = self.audit.commits, self.audit.shared_requests
        files = ((path, f) for path, f in self.audit.files.items() if f.requested in commits)
        return (f for path, f in files if path not in self.counted and f.requested not in shared)

    @cached_property
    def plans(self) -> Mapping[Group, tuple[PlannedGroup, ...]]:
        """The readable compaction plans of each file group, sorted by requested time."""
        by_group: dict[Group, list[PlannedGroup]] = {}
        for barrier, plan in sorted(self.audit.plans.items()):
            completed = self.audit.completed.get(barrier)
            for operation in plan.operations:
                part = PlannedGroup(barrier, completed, operation)
                by_group.setdefault((operation.partition, operation.file_id), []).append(part)
        return {group: tuple(parts) for group, parts in by_group.items()}

    @cached_property
    def replaced(self) -> Mapping[Group, Commit]:
        """Maps each file group that a completed replace hides to the newest replace that hides it."""
        commits = sorted(self.audit.commits.values(), key=lambda commit: commit.instant.completed or "")
        return {group: commit for commit in commits for group in commit.groups_replaced}

    @cached_property
    def compactions(self) -> frozenset[str]:
        return frozenset(requested for requested, each in self.audit.commits.items() if each.operation == "COMPACT")

    @cached_property
    def slices(self) -> tuple[FileSlice, ...]:
        """All current file slices, including slices that a clean may delete. Replaced file groups have no slices. The
        log of a log compaction takes the place of its inputs.
        """
        pending = {
            group: [part.barrier for part in parts if part.completed is None] for group, parts in self.plans.items()
        }
        files: Iterable[File] = (f for f in self.counted.values() if (f.partition, f.file_id) not in self.replaced)
        covers = {path: covered for commit in self.audit.commits.values() for path, covered in commit.covers.items()}
        files = without_covered(files, covers, frozenset(), self.audit.rules) if covers else files
        return build_slices(files, {g: b for g, b in pending.items() if b}, self.audit.rules)

    @cached_property
    def read(self) -> frozenset[str]:
        """The paths of the files that a snapshot reads."""
        pieces = to_read(self.slices, self.audit.rules)
        return frozenset(file.path for piece in pieces for file in (piece.base, *piece.tombstones, *piece.logs) if file)

    @cached_property
    def newest_bases(self) -> frozenset[str]:
        """The paths of the files that a read-optimised read reads."""
        return frozenset(piece.base.path for piece in newest_bases(self.slices) if piece.base)

    @cached_property
    def fates(self) -> LogFates:
        """Which committed logs a snapshot must contain."""
        return LogFates(self.audit)

    @cached_property
    def removed(self) -> Mapping[str, str]:
        """The instants whose timeline files were removed after they had completed, each with the proof."""
        return removed_instants(self.audit)

    @cached_property
    def moved(self) -> Mapping[str, str]:
        """Maps the path of each missing file to the path of a file of the same name and size in another folder."""
        absent = {s.path: s.size for _, s in self.mismatches if s.path not in self.audit.listing}
        if not absent:
            return {}
        by_name = {(split_path(file.path)[1], file.size): file.path for file in self.audit.files.values()}
        found = ((path, by_name.get((split_path(path)[1], size))) for path, size in absent.items())
        return {path: other for path, other in found if other}

    @property
    def unread_archive(self) -> bool:
        """True if a part of the archive cannot be read, so that instants may be in it."""
        return any(fault.kind == "archive" for fault in self.audit.faults)

    @property
    def unknown_cleans(self) -> bool:
        """True if a clean may have deleted files, and cannot be read."""
        return self.unread_archive or any(fault.kind == "clean" for fault in self.audit.faults)

    @property
    def is_without_instants(self) -> bool:
        """True if the table has data files, and neither an active nor an archived instant."""
        return bool(self.audit.files) and not (
            self.audit.timeline.instants or self.audit.archive or self.unread_archive
        )

    @cached_property
    def cleaned(self) -> Mapping[str, str]:
        """Maps the name of each file that a clean deletes to the requested time of the clean."""
        plans = ((r, names) for r, plan in self.audit.clean_plans.items() for names in plan.files.values())
        done = ((clean.instant.requested, clean.deleted) for clean in self.audit.cleans)
        return {name: requested for requested, names in (*plans, *done) for name in names}

    @cached_property
    def writes(self) -> list[str]:
        """The completion times of writes (not table services) on the active timeline, in ascending order."""
        done = ((i, self.audit.commits.get(i.requested)) for i in self.audit.timeline.completed if i.writes)
        return [i.completed or "" for i, commit in done if commit and commit.operation not in SERVICES]

    @cached_property
    def superseded(self) -> Mapping[str, str]:
        """Map the path of each file that newer reads do not need to the time since when they do not: a newer base file
        of its file group first completed, or a log compaction that replaced it.
        """
        superseded: dict[str, str] = {}
        after: dict[Group, str] = {}
        for piece in reversed(self.slices):  # barriers rise within a group
            if until := after.get(piece.group):
                superseded.update((f.path, until) for f in (piece.base, *piece.tombstones, *piece.logs) if f)
            for log in piece.logs:
                superseded.update(self._inputs(log, after.get(piece.group, "~")))
            if piece.base and piece.base.completed:
                after[piece.group] = min(piece.base.completed, after.get(piece.group, "~"))
        return superseded

    def _inputs(self, log: LogFile, until: str) -> Iterator[tuple[str, str]]:
        done = min(until, self.audit.completed.get(log.requested, "~"))
        for each in log.covers:
            yield each.path, done
            yield from self._inputs(each, done)

    @cached_property
    def strangers(self) -> tuple[str, ...]:
        """The paths in the folders of the table's data files that are neither data files nor metadata of a partition.
        """
        files = self.audit.files
        others = [path for path in self.audit.listing if path not in files and not path.startswith(".hoodie/")]
        folders = {file.partition for file in files.values()} | {partition for partition, _ in self.by_group}
        folders |= {split_path(path)[0] for path in others if path.endswith(PARTITION_METADATA)}
        return tuple(path for path in others if split_path(path)[0] in folders and _is_strange(split_path(path)[1]))

    @cached_property
    def actions(self) -> Mapping[str, tuple[Instant, ...]]:
        """Maps each requested time on the active timeline to its instants."""
        actions: dict[str, list[Instant]] = {}
        for instant in self.audit.timeline.instants:
            actions.setdefault(instant.requested, []).append(instant)
        return {requested: tuple(instants) for requested, instants in actions.items()}

    def named_after(self, path: str) -> str | None:
        """Return the instant in the name of a data file, or None if the name contains no instant."""
        file = self.audit.files.get(path)
        if file is not None:
            return _named(file)
        name = split_path(path)[1]
        parsed = parse_base(name) or parse_log(name)
        return parsed.instant if parsed else None

    def pending(self, requested: str) -> bool:
        """Return True if a write or compaction with this requested time is pending on the timeline, and no restore has
        undone it.
        """
        instants = () if requested in self.audit.undone else self.actions.get(requested, ())
        return any(instant.completed is None and instant.writes for instant in instants)

    def bases(self, group: Group) -> Iterable[BaseFile]:
        return (f for f in self.by_group.get(group, ()) if isinstance(f, BaseFile))

    @cached_property
    def by_group(self) -> Mapping[Group, tuple[File, ...]]:
        files: dict[Group, list[File]] = {}
        for file in self.counted.values():
            files.setdefault((file.partition, file.file_id), []).append(file)
        return {group: tuple(members) for group, members in files.items()}


def _named(file: File) -> str:
    return file.named if isinstance(file, LogFile) else file.requested


def _is_strange(name: str) -> bool:
    log = parse_log(name)  # logs of change data are not data files of a table
    return name != PARTITION_METADATA and not (log is not None and log.cdc) and not name.endswith(".crc")


def timeline_file(instant: Instant) -> str:
    """Return the path of the timeline file for an instant's current state."""
    return f"{TIMELINE}/{instant.file_name}"
