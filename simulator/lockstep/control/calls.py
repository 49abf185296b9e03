"""A controlled call: one request of an actor to the storage, lock, clock or jobs that the simulator controls."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TIMELINE = re.compile(r"^\.hoodie/timeline/(?P<requested>\d+)(?:_(?P<completed>\d+))?\.(?P<rest>[a-z.]+)$")
_LOG = re.compile(
    r"^(?:(?P<partition>.*)/)?\.(?P<file>[^/_]+)_(?P<instant>\d+)\.log\.(?P<version>\d+)_(?P<token>[^/]+)$"
)
_ANNOUNCEMENT = re.compile(r"^\.hoodie/\.nbcc/announced/(?P<requested>\d+)\.(?P<rest>[a-z.]+)$")
_BASE = re.compile(r"^(?:(?P<partition>.*)/)?(?P<file>[^/_]+)_(?P<token>[^/_]+)_(?P<instant>\d+)\.parquet$")

DECISIONS = ".hoodie/.nbcc/decisions"
CLAIMS = ".hoodie/.nbcc/times"
CUTS = ".hoodie/.nbcc/cuts"
CHECKPOINTS = ".hoodie/.nbcc/state"
FLOOR = ".hoodie/.nbcc/floor"
BATCHES = ".hoodie/.nbcc/batches"
ANNOUNCED = ".hoodie/.nbcc/announced"
INDEX = ".hoodie/.nbcc/index"
ARCHIVE = ".hoodie/timeline/history/"
_FOLDERS = {
    ".hoodie/.temp": "marker", DECISIONS: "decision", CLAIMS: "claim", CUTS: "cut", CHECKPOINTS: "checkpoint",
    FLOOR: "floor", BATCHES: "batch", ANNOUNCED: "announced", INDEX: "index",
    f"{ARCHIVE}_version_": "version", ARCHIVE: "archive",
}  # fmt: skip


class Call(NamedTuple):
    """One call of an actor to the controlled storage, lock, clock or jobs.

    ``verb`` is ``put``, ``get``, ``list.begin``, ``list.end``, ``delete``, ``delete.all``, ``lock.acquire``,
    ``lock.release``, ``clock.take``, ``clock.read``, ``clock.wait`` or ``jobs.<name>``. ``path`` is the path of the
    object: the prefix for a listing, the first path for ``delete.all``, and '' for lock and clock.
    """

    verb: str
    path: str = ""

    @property
    def text(self) -> str:
        """Return the call as text, for example ``put deltacommit.requested``, ``list.end timeline`` or ``clock.take``.
        """
        return f"{self.verb} {kind_of(self.path)}" if self.path and self.verb != "delete.all" else self.verb


@lru_cache(maxsize=1 << 12)
def kind_of(path: str) -> str:
    """Return the kind of object at a path of a Hudi table, as one word.

    A pending timeline file has the kind ``<action>.<state>`` (``deltacommit.requested``), a completed one ``<action>``.
    """
    if path.rstrip("/") == ".hoodie/timeline":
        return "timeline"
    for folder, kind in _FOLDERS.items():
        if path.startswith(folder):
            return kind
    if match := _TIMELINE.match(path):
        return match["rest"]
    if path.endswith(".hoodie_partition_metadata"):
        return "partition_metadata"
    return "log" if _LOG.match(path) else "base" if _BASE.match(path) else "file"


def parsed(path: str) -> dict[str, str]:
    """Return the fields in the file name of a timeline file, data file or announcement. A timeline file has requested
    and completed times, an announcement a requested time; a data file has partition, file id, instant, version and
    token.
    """
    for pattern in (_TIMELINE, _LOG, _BASE, _ANNOUNCEMENT):
        if match := pattern.match(path):
            return {name: text for name, text in match.groupdict().items() if text is not None}
    return {}
