"""What the promises of docs/contract.md say and no relation states: such a promise is PROVED IN PART."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MISSING: Final[Mapping[str, tuple[str, ...]]] = {
    "SNAP": ("rows of partial updates and of a user's merge function: each record is a whole row",
             "writes that a restore has undone"),
    "ATOM": ("insert overwrites: no formula says that all their file groups change at once",),
    "INCR": ("windows over an insert overwrite, and the unset columns of partial updates",
             "consumers: which windows a consumer asks for, one after another"),
    "ACK": ("lost answers: a write that is reported as failed is in no snapshot",
            "readers of other processes after a crash, and state checkpoints that they begin with"),
    "ONCE": ("streams: the batches that a restarted query sends again",
             "a batch id with other rows is a conflict"),
    "FREE": ("how many storage operations and listings a writer needs under the lock",
             "a writer with batch ids or heartbeats is refused for no other reason than these",
             "how often a writer puts its logs again while resizes complete"),
    "QUIET": ("clustering",
              "rows in tables with rollbacks, cleans, archiving or log compactions: there a read is a set of logs",
              "services in tables with insert overwrites"),
    "CLEAN": ("files that a savepoint pins", "that a reader checks the horizon before it reads"),
    "REC": ("restores",),
    "LAWS": ("merges by a user's function",),
    "ARCH": ("rollbacks, cleans and log compactions in the archive: the relation archives writes and compactions",),
}  # fmt: skip
"""By promise, one phrase for each part that is left out."""
