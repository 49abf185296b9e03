"""The metadata table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataOptions(Options):
    """The metadata table."""

    metadata_commit: Literal["before_data", "after_data"] = choice(
        "before_data",
        "the metadata table is told of an instant before it completes in the data table, or afterwards",
    )
    metadata_lock: Literal["under_lock", "outside_lock"] = choice(
        "under_lock",
        "it is told under the lock that also covers publishing, or before that lock is taken",
    )
    metadata_again: Literal["applied", "refused"] = choice(
        "applied",
        "an instant that it has already is applied again, which changes nothing, or refused",
    )
    metadata_read: Literal["after_timeline", "before_timeline"] = choice(
        "after_timeline",
        "a reader lists files through it once it is sure of its instants, or goes by what it listed before",
    )
    metadata_trust: Literal["completed", "listed"] = choice(
        "completed",
        "of what the metadata table lists a reader believes what the data table has completed, or all of it",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HasMetadataTable(Limits):
    """Limits: the metadata table."""

    metadata_table: int = limit(
        0, "1 if readers list files through a metadata table, 0 if they list the store", section="table"
    )


MECHANISM = Mechanism(options=MetadataOptions, limits=HasMetadataTable)
