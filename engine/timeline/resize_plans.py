"""Encodes and decodes the plans of resizes, which have the form of a clustering plan of Hudi (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ..names import Generation
from .checked import Checked
from .container import decode_record, encode_record, understood
from .instant import Instant
from .metadata import RESIZES, CommitMetadata

CLUSTERING: Final = "clustering"
"""The action of a pending resize; it completes as a replacecommit."""

_STRATEGY: Final = "nbcc.resize"
"""Hudi finds no class of this name, so it never runs the plan."""


@dataclass(frozen=True, slots=True)
class ResizePlan:
    """The plan of a resize: the generation of file groups that it makes, and the file groups (partition, file id) that
    exist when it is planned. It replaces those and all others of their generation.
    """

    generation: Generation
    groups: tuple[tuple[str, str], ...]
    extra: Mapping[str, str] = field(default_factory=dict)


def encode_resize_plan(plan: ResizePlan) -> bytes:
    """Encode the content of ``<k>.clustering.requested``. The extra metadata also states the generation."""
    slices: list[dict[str, Any]] = [
        {"dataFilePath": None, "deltaFilePaths": [], "fileId": file_id, "partitionPath": partition,
         "bootstrapFilePath": None, "version": 1}
        for partition, file_id in plan.groups
    ]  # fmt: skip
    extra = {**plan.extra, RESIZES: encode_generation(plan.generation)}
    group = {"slices": slices, "metrics": {}, "numOutputFileGroups": plan.generation.buckets, "extraMetadata": None,
             "version": 1}  # fmt: skip
    clustering = {
        "inputGroups": [group] if slices else [],
        "strategy": {"strategyClassName": _STRATEGY, "strategyParams": {}, "version": 1},
        "extraMetadata": extra,
        "version": 1,
        "preserveHoodieMetadata": True,
        "missingSchedulePartitions": [],
    }
    record = {"operationType": "CLUSTER", "clusteringPlan": clustering, "extraMetadata": extra, "version": 1}
    return encode_record("requested replace", record)


def decode_resize_plan(data: bytes, name: str = "plan") -> ResizePlan | None:
    """Decode the content of a plan file; None if another engine planned to cluster the table. Raises `Damaged` if it is
    invalid. `name` is the name of the file in error messages.
    """
    if not data:
        return None  # other engines may put nothing into it
    record, checked = decode_record(data, name), Checked(name)
    with understood(name):
        extra = record.get("extraMetadata") or {}
        generation = decode_generation(extra)
        if generation is None:
            return None
        groups: list[Mapping[str, Any]] = (record.get("clusteringPlan") or {}).get("inputGroups") or []
        slices = [each for group in groups for each in group.get("slices") or ()]
        pairs = tuple((checked.partition(s.get("partitionPath") or ""), checked.name(s["fileId"])) for s in slices)
        return ResizePlan(generation, pairs, {key: value for key, value in extra.items() if key != RESIZES})


def encode_generation(generation: Generation) -> str:
    """Return the generation in the form of the extra metadata of a plan or a commit, such as ``1:8``."""
    return f"{generation.number}:{generation.buckets}"


def decode_generation(extra: Mapping[str, str]) -> Generation | None:
    """Return the generation in the extra metadata of a resize; None if it is not of a resize."""
    if RESIZES not in extra:
        return None
    number, _, buckets = extra[RESIZES].partition(":")
    if not (number.isdecimal() and buckets.isdecimal() and int(number) > 0 and int(buckets) > 0):
        raise ValueError(f"{extra[RESIZES]!r} is not the generation of a resize")
    return Generation(int(number), int(buckets))


def generation_made(commit: CommitMetadata) -> Generation | None:
    """Return the generation that a completed resize has made; None for any other commit."""
    return decode_generation(commit.extra) if commit.own else None


class HasCommits(Protocol):
    """The content of completed instants (`Commits`)."""

    def commit(self, instant: Instant) -> CommitMetadata: ...


def resizes(commits: HasCommits, completed: Iterable[Instant]) -> Iterator[tuple[Instant, Generation]]:
    """Yield the resizes among completed instants, each with the generation that it has made."""
    for instant in completed:
        if instant.action == "replacecommit" and (made := generation_made(commits.commit(instant))):
            yield instant, made
