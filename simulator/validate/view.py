"""The evidence of a table, looked at by the rules by which the table is read: what the diagnostics go by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from nbcc.engine.audit import Audit, Commit, Fault, Stat
from nbcc.engine.file_names import parse_base, parse_log, split_path
from nbcc.engine.files.group_files import BaseFile, Group, LogFile, data_file
from nbcc.engine.files.slices import FileSlice, build_slices, to_read
from nbcc.engine.timeline import CompactionOperation, Instant

TIMELINE = ".hoodie/timeline"
File = BaseFile | LogFile
SERVICES: Final = ("COMPACT", "LOG_COMPACT", "CLUSTER")


class GroupPlan(NamedTuple):
    """What a compaction plan does in one file group; `completed` is None while it is pending."""

    barrier: str
    completed: str | None
    operation: CompactionOperation


@dataclass(frozen=True)
class View:
    """`now` is the instant at which the table is read; `data` the faults inside data files, if they were opened."""

    found: Audit
    now: str
    data: tuple[Fault, ...] = ()

    @cached_property
    def counted(self) -> Mapping[str, File]:
        """The data files that completed commits list, by path; also those that are not there."""
        return self._listed[0]

    @cached_property
    def unlike(self) -> Sequence[tuple[str, Stat]]:
        """What is listed and is not simply there, with the instant that lists it, in the order of the commits.

        Gone, or of another size or instant than its commit says, or the name of no data file: mostly none.
        """
        return self._listed[1]

    @cached_property
    def _listed(self) -> tuple[dict[str, File], list[tuple[str, Stat]]]:
        """Both by one look-up of each path: among a million, to find it takes longer than all that is compared."""
        counted: dict[str, File] = {}
        unlike = []
        there = self.found.files
        for requested, commit in self.found.commits.items():
            for stat in commit.stats:
                file = there.get(stat.path)
                if file is None or file.size != stat.size or _named(file) != requested:
                    unlike.append((requested, stat))
                    file = file or data_file(stat.path, stat.size, commit.instant)
                if file is not None:
                    counted[file.path] = file
        return counted, unlike

    @property
    def unlisted(self) -> Iterable[File]:
        """As `Audit.unlisted`, by what is known here of what is listed."""
        commits, shared = self.found.commits, self.found.shared_requests
        there = ((path, f) for path, f in self.found.files.items() if f.requested in commits)
        return (f for path, f in there if path not in self.counted and f.requested not in shared)

    @cached_property
    def plans(self) -> Mapping[Group, tuple[GroupPlan, ...]]:
        """Of each file group the compaction plans that are known, by barrier."""
        by_group: dict[Group, list[GroupPlan]] = {}
        for barrier, plan in sorted(self.found.plans.items()):
            completed = self.found.completed.get(barrier)
            for operation in plan.operations:
                part = GroupPlan(barrier, completed, operation)
                by_group.setdefault((operation.partition, operation.file_id), []).append(part)
        return {group: tuple(parts) for group, parts in by_group.items()}

    @cached_property
    def replaced(self) -> Mapping[Group, Commit]:
        """The file groups that a completed replace put out of sight, each with its last replace."""
        commits = sorted(self.found.commits.values(), key=lambda commit: commit.instant.completed or "")
        return {group: commit for commit in commits for group in commit.replaced}

    @cached_property
    def compactions(self) -> frozenset[str]:
        """The requested times of completed compactions."""
        return frozenset(requested for requested, each in self.found.commits.items() if each.operation == "COMPACT")

    @cached_property
    def slices(self) -> tuple[FileSlice, ...]:
        """All file slices as of now, by the table's own rules, replaced groups left out."""
        pending = {
            group: [part.barrier for part in parts if part.completed is None] for group, parts in self.plans.items()
        }
        files = (f for f in self.counted.values() if (f.partition, f.file_id) not in self.replaced)
        return build_slices(files, {g: b for g, b in pending.items() if b}, self.found.rules)

    @cached_property
    def read(self) -> frozenset[str]:
        """The paths of the files that a snapshot reads."""
        pieces = to_read(self.slices, self.found.rules)
        return frozenset(file.path for piece in pieces for file in (piece.base, *piece.tombstones, *piece.logs) if file)

    @cached_property
    def writes(self) -> list[str]:
        """When the writes on the active timeline completed, in rising order; services change no row."""
        done = ((i, self.found.commits.get(i.requested)) for i in self.found.timeline.completed if i.writes)
        return [i.completed or "" for i, commit in done if commit and commit.operation not in SERVICES]

    @cached_property
    def superseded(self) -> Mapping[str, str]:
        """Path of a file in an older slice: when the base file that stands for its slice completed."""
        found: dict[str, str] = {}
        after: dict[Group, str] = {}
        for piece in reversed(self.slices):  # barriers rise within a group
            if until := after.get(piece.group):
                found.update((f.path, until) for f in (piece.base, *piece.tombstones, *piece.logs) if f)
            if piece.base and piece.base.completed:
                after[piece.group] = min(piece.base.completed, after.get(piece.group, "~"))
        return found

    @cached_property
    def actions(self) -> Mapping[str, tuple[Instant, ...]]:
        """The instants of the active timeline by requested time."""
        found: dict[str, list[Instant]] = {}
        for instant in self.found.timeline.instants:
            found.setdefault(instant.requested, []).append(instant)
        return {requested: tuple(instants) for requested, instants in found.items()}

    def named_after(self, path: str) -> str | None:
        """The instant in the name of a data file, None if it has none. That of a file that was listed is known."""
        file = self.found.files.get(path)
        if file is not None:
            return _named(file)
        name = split_path(path)[1]
        parsed = parse_base(name) or parse_log(name)
        return parsed.instant if parsed else None

    def pending(self, requested: str) -> bool:
        """Whether an instant of that time is on the timeline and not completed."""
        return any(i.completed is None and i.writes for i in self.actions.get(requested, ()))

    def bases(self, group: Group) -> Iterable[BaseFile]:
        """The counted base files of a file group."""
        return (f for f in self.by_group.get(group, ()) if isinstance(f, BaseFile))

    @cached_property
    def by_group(self) -> Mapping[Group, tuple[File, ...]]:
        """The counted files of each file group."""
        found: dict[Group, list[File]] = {}
        for file in self.counted.values():
            found.setdefault((file.partition, file.file_id), []).append(file)
        return {group: tuple(files) for group, files in found.items()}


def _named(file: File) -> str:
    return file.named if isinstance(file, LogFile) else file.requested


def timeline_file(instant: Instant) -> str:
    """The path of an instant's file."""
    return f"{TIMELINE}/{instant.file_name}"
