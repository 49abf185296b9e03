"""Data classes for the tasks of a record index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..files.record_index import KnownKeys
    from .tasks import BaseInput, LogInput, ReadTask, TableShape


@dataclass(frozen=True, slots=True)
class HomeTask:
    """A task that puts the records of `files` into one log of each partition that has one of their keys by the
    locations `known`. A key without a location stays in its partition. `files` are the files of a pending write in the
    file groups `file_id` of all partitions, each with its partition, in merge order. `instant` is its requested time.
    """

    shape: TableShape
    file_id: str
    files: tuple[tuple[str, LogInput | BaseInput], ...]
    known: KnownKeys
    instant: str


@dataclass(frozen=True, slots=True)
class IndexTask:
    """A task that indexes the keys of `slices`, those of one bucket. If `in_table`, no key may be in two of them."""

    slices: tuple[ReadTask, ...]
    file_id: str
    instant: str
    in_table: bool
