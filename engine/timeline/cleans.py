"""Encodes and decodes clean plans and completed cleans (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

from ..errors import Cleaned
from ..storage import NotFound, Storage
from .archive import Archive
from .checked import Checked
from .container import decode_record, encode_record, understood
from .instant import Instant, parse_instant
from .metadata import OWN_FORMAT, OWN_KEY
from .timeline import FOLDER

HORIZON: Final = "nbcc.horizon"
"""Extra metadata of a clean of nbcc: reads as of completion times before this one are refused."""

SAVEPOINTS: Final = "savepointed_timestamps"
"""Hudi's key for the comma-separated savepoints whose files a clean kept."""

_VERSION: Final = 2  # the completed clean contains file names, the plan full URLs


@dataclass(frozen=True, slots=True)
class CleanPlan:
    """The plan of a clean.

    `files` maps each partition to the names of the files to delete. `earliest` is the oldest instant, by requested
    time, that Hudi's readers may still read after the clean. `newest` is the greatest requested time of the instants
    that had completed when the clean was planned. `horizon` is the completion time before which reads are refused; None
    if another engine planned the clean. `savepoints` contains the requested times of the savepoints whose files the
    clean keeps.
    """

    policy: str
    files: Mapping[str, tuple[str, ...]]
    earliest: Instant | None = None
    newest: str = ""
    horizon: str | None = None
    savepoints: tuple[str, ...] = ()

    @property
    def extra(self) -> dict[str, str]:
        """The extra metadata of the clean plan: ``nbcc.format``, the horizon, and the savepoints."""
        ours = {OWN_KEY: OWN_FORMAT, HORIZON: self.horizon} if self.horizon else {}
        return {**ours, SAVEPOINTS: ",".join(self.savepoints)} if self.savepoints else ours

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the files to delete, sorted by partition."""
        names = ((partition, name) for partition in sorted(self.files) for name in self.files[partition])
        return tuple(f"{partition}/{name}" if partition else name for partition, name in names)


class CleanSummary(NamedTuple):
    """What later operations need of each clean of a long history: `horizon` and `savepoints` as in `CleanPlan`."""

    horizon: str | None = None
    savepoints: tuple[str, ...] = ()


def encode_clean_plan(plan: CleanPlan, url: str) -> bytes:
    """Return the content of the file ``<t>.clean.requested``. `url` is the table's root; the file paths in Hudi's plans
    begin with it.
    """
    earliest = plan.earliest
    record: dict[str, Any] = {
        "earliestInstantToRetain": None
        if earliest is None
        else {"timestamp": earliest.requested, "action": earliest.action, "state": earliest.state.upper()},
        "lastCompletedCommitTimestamp": plan.newest,
        "policy": plan.policy,
        "filesToBeDeletedPerPartition": {},
        "version": _VERSION,
        "filePathsToBeDeletedPerPartition": {
            partition: [{"filePath": _address(url, partition, name), "isBootstrapBaseFile": False} for name in names]
            for partition, names in plan.files.items()
        },
        "partitionsToBeDeleted": [],
        "extraMetadata": plan.extra,
    }
    return encode_record("clean_plan", record)


def encode_clean(plan: CleanPlan, requested: str, millis: int) -> bytes:
    """Return the content of the timeline file that completes a clean with the given plan. `millis` is the duration of
    the clean in milliseconds.
    """
    partitions = {partition: _deleted(partition, names, plan.policy) for partition, names in plan.files.items()}
    record = {
        "startCleanTime": requested,
        "timeTakenInMillis": millis,
        "totalFilesDeleted": sum(map(len, plan.files.values())),
        "earliestCommitToRetain": plan.earliest.requested if plan.earliest else "",
        "lastCompletedCommitTimestamp": plan.newest,
        "partitionMetadata": partitions,
        "version": _VERSION,
        "bootstrapPartitionMetadata": {},
        "extraMetadata": plan.extra,
    }
    return encode_record("clean", record)


def decode_clean_plan(data: bytes, name: str = "clean plan") -> CleanPlan:
    """Decode the content of ``<t>.clean.requested``, written by nbcc or by Hudi."""
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        by_partition = record.get("filePathsToBeDeletedPerPartition") or {}
        earliest, extra = record.get("earliestInstantToRetain"), record.get("extraMetadata") or {}
        return CleanPlan(
            policy=record.get("policy") or "",
            files={
                checked.partition(partition): tuple(checked.name(info["filePath"].rpartition("/")[2]) for info in files)
                for partition, files in by_partition.items()
            },
            earliest=_retained(earliest, checked) if earliest else None,
            newest=checked.instant_or_none(record.get("lastCompletedCommitTimestamp")),
            # Plans of Hudi have no horizon. None keeps them apart from a horizon of nbcc.
            horizon=checked.instant_or_none(extra.get(HORIZON)) or None,
            savepoints=tuple(map(checked.instant, filter(None, (extra.get(SAVEPOINTS) or "").split(",")))),
        )


def _retained(earliest: Mapping[str, str], checked: Checked) -> Instant:
    return Instant(checked.instant(earliest["timestamp"]), checked.action(earliest["action"]), "completed", "")


def cleaned_away(storage: Storage, path: str) -> Cleaned | None:
    """Return the `Cleaned` error for a missing data file that a clean has deleted; None if no clean plan lists the
    file. The plans of archived cleans are searched last, because they are in the archive alone.
    """
    for requested, plan in chain(_active_plans(storage), _archived_plans(storage)):
        if path in plan.paths:
            since = f"reads from before {plan.horizon} are not answered" if plan.horizon else "another engine made it"
            return Cleaned(
                f"read {path}",
                f"the clean {requested} has deleted it: {since}",
                "read again, at a newer time, or let cleaning retain more",
            )
    return None


def _active_plans(storage: Storage) -> Iterator[tuple[str, CleanPlan]]:
    for entry in storage.list(FOLDER):
        instant = parse_instant(entry.path.rpartition("/")[2])
        if instant is None or instant.action != "clean" or instant.state != "requested":
            continue
        with suppress(NotFound):  # archived after the listing
            yield instant.requested, decode_clean_plan(storage.get(entry.path), instant.file_name)


def _archived_plans(storage: Storage) -> Iterator[tuple[str, CleanPlan]]:
    archive = Archive(storage)
    # Newest first: a reader misses a file that a recent clean deleted, rarely one of years ago.
    for instant in reversed(archive.timeline().cleans):
        row = archive.row(instant)
        if row is not None and row.plan:
            yield instant.requested, decode_clean_plan(row.plan, instant.file_name)


def _address(url: str, partition: str, name: str) -> str:
    return "/".join(part for part in (url.rstrip("/"), partition, name) if part)


def _deleted(partition: str, names: Sequence[str], policy: str) -> dict[str, Any]:
    return {
        "partitionPath": partition,
        "policy": policy,
        "deletePathPatterns": list(names),
        "successDeleteFiles": list(names),
        "failedDeleteFiles": [],
        "isPartitionDeleted": False,
    }
